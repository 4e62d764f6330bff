//! The agents used in a workspace, and how each one is connected to Rulebook.

use std::collections::{BTreeSet, HashSet};
use std::path::Path;

use rulebook::agent::{AGENTS, Agent, PRODUCTS, Wiring};
use rulebook::format::{Base, FormatId, Place, PlaceKind};

use crate::hosts::{HOSTS, Host};
use crate::settings::Setting;
use crate::storage::{FileEntry, Storage};
use crate::wiring::{WiredBy, is_hook_command};
use crate::workspace::Workspace;

/// Where agents and their wiring are searched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AgentSearch {
    /// In the workspace only, so that the answer is the same for everyone.
    Workspace,
    /// In the workspace and in the user's home folder.
    WorkspaceAndHome,
}

/// An agent that answers are for.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct UsedAgent {
    /// The agent.
    pub agent: &'static Agent,
    /// What shows that it is used: `wired`, a settings file, or a path of the agent.
    pub origin: String,
    /// How it is connected to Rulebook.
    pub wired: Vec<Wiring>,
}

impl UsedAgent {
    /// An agent that is connected in this way.
    pub fn new(agent: &'static Agent, wired: &[Wiring]) -> UsedAgent {
        UsedAgent { agent, origin: String::new(), wired: wired.to_vec() }
    }
}

/// File names that several agents read, or that people use for other things. They show nothing.
const GENERIC: &[&str] = &["AGENTS.md", "AGENT.md", "replit.md", "rules.md"];

/// Folders that belong to no single agent.
const SHARED_FOLDERS: &[&str] = &[".github", ".agents", ".agent", ".idx"];

impl Workspace {
    /// The agents used here, sorted by name; empty if nothing shows which. The tree is not walked.
    ///
    /// Those of the setting `agents.used`; else those that are wired, or have a rule folder, a rule file or a settings
    /// folder of their own at a root; else those with a configuration folder in the home, if that is searched.
    pub fn agents_used(&self, search: AgentSearch) -> Vec<UsedAgent> {
        let used =
            |agent: &'static Agent, origin| UsedAgent { agent, origin, wired: self.wiring(agent, search) };
        let named = &self.settings.agents.used;
        if !named.is_empty() {
            return AGENTS
                .iter()
                .filter_map(|agent| {
                    let setting = named.iter().find(|setting| names(setting, agent))?;
                    Some(used(agent, setting.file.clone()))
                })
                .collect();
        }
        let roots: Vec<Root<'_>> =
            self.roots.roots.iter().map(|root| Root::new(&self.files, root.path.as_ref())).collect();
        let here = AGENTS.iter().filter_map(|agent| {
            let found = self.wirings(agent, search);
            let origin = if found.iter().any(|found| !found.is_shared) {
                "wired"
            } else {
                let marker = markers(agent).find(|marker| roots.iter().any(|root| root.has(marker)))?;
                if found.is_empty() { marker } else { "wired" }
            };
            Some(UsedAgent { agent, origin: origin.to_owned(), wired: distinct(&found) })
        });
        let here: Vec<UsedAgent> = here.collect();
        if !here.is_empty() || search == AgentSearch::Workspace {
            return here;
        }
        AGENTS.iter().filter_map(|agent| Some(used(agent, self.home_marker(agent)?))).collect()
    }

    /// One agent, with its wiring, whether or not it is used here.
    pub fn agent(&self, agent: &'static Agent, search: AgentSearch) -> UsedAgent {
        UsedAgent { agent, origin: String::new(), wired: self.wiring(agent, search) }
    }

    /// How an agent is connected to Rulebook.
    pub fn wiring(&self, agent: &Agent, search: AgentSearch) -> Vec<Wiring> {
        distinct(&self.wirings(agent, search))
    }

    fn wirings(&self, agent: &Agent, search: AgentSearch) -> Vec<WiredBy> {
        let Some(host) = Host::of(agent) else { return Vec::new() };
        let roots = self.roots.roots.iter();
        let mut found: Vec<WiredBy> = roots
            .flat_map(|root| host.wired_among(&self.files, root.path.as_ref(), &is_hook_command))
            .collect();
        let surface = host.surface(agent);
        found.retain(|found| surface.is_none_or(|surface| surface.in_workspace.contains(&found.wiring)));
        if search == AgentSearch::WorkspaceAndHome {
            let at_home = host.wired_at_home(&self.homes, &is_hook_command).into_iter();
            found.extend(
                at_home.filter(|found| surface.is_none_or(|surface| surface.at_home.contains(&found.wiring))),
            );
        }
        // The files of a host show that its own agent is used, not another surface.
        found.iter_mut().for_each(|found| found.is_shared |= surface.is_some());
        found
    }

    /// The configuration folder of an agent in the home, as shown to people.
    fn home_marker(&self, agent: &Agent) -> Option<String> {
        let host = Host::of(agent).filter(|host| host.agent == agent.name);
        let of_host = host.into_iter().flat_map(|host| {
            host.home_markers.iter().filter_map(|marker| host.user_path(&self.homes, marker))
        });
        if let Some(found) = of_host.into_iter().find(|found| self.files.exists(&found.path)) {
            return Some(found.shown);
        }
        let places = agent.owns.into_iter().flat_map(|format| format.row().user);
        let folder = |place: &Place| {
            let folder = Path::new(place.path).parent().filter(|folder| folder.components().count() > 0)?;
            let path = self.homes.base(place.base)?.join(folder);
            let is_own = matches!(place.base, Base::Home | Base::Config);
            (is_own && self.files.is_folder(&path)).then(|| self.homes.shown(&path))
        };
        places.filter(|_| host.is_none()).find_map(folder)
    }
}

fn distinct(found: &[WiredBy]) -> Vec<Wiring> {
    let wired: BTreeSet<Wiring> = found.iter().map(|found| found.wiring).collect();
    wired.into_iter().collect()
}

/// Whether a setting names an agent, or the product it is a surface of.
fn names(setting: &Setting, agent: &Agent) -> bool {
    let product = PRODUCTS.iter().find(|product| product.name == setting.value);
    product.map_or(setting.value == agent.name, |product| product.surfaces.contains(&agent.name))
}

/// The names in a root folder, so that most paths need no lookup.
struct Root<'r> {
    files: &'r Storage,
    path: &'r Path,
    names: Option<HashSet<String>>,
}

impl<'r> Root<'r> {
    fn new(files: &'r Storage, path: &'r Path) -> Root<'r> {
        let name = |entry: FileEntry| entry.name.into_string().ok();
        let names = files.list(path).ok().map(|entries| entries.filter_map(name).collect());
        Root { files, path, names }
    }

    fn has(&self, marker: &str) -> bool {
        let (head, rest) = marker.split_once('/').unwrap_or((marker, ""));
        let has_head = self.names.as_ref().is_none_or(|names| names.contains(head));
        has_head && (rest.is_empty() || self.files.exists(&self.path.join(marker)))
    }
}

/// Paths of a workspace that show that an agent is used: its rule folders, its rule files, its settings folder.
fn markers(agent: &Agent) -> impl Iterator<Item = &'static str> {
    let places = agent.owns.map_or(&[][..], |format| format.row().workspace);
    let is_folder =
        |place: &&Place| matches!(place.shape, PlaceKind::Folder { .. } | PlaceKind::Modes { .. });
    let (folders, files): (Vec<&Place>, Vec<&Place>) = places.iter().partition(is_folder);
    let paths = folders.into_iter().chain(files).map(|place| place.path);
    let paths = paths.filter(|path| !path.is_empty() && !GENERIC.contains(path));
    let heads = places.iter().filter(|place| place.path.contains('/')).map(Place::head);
    let heads = heads.filter(|head| head.starts_with('.') && !SHARED_FOLDERS.contains(head));
    // The files of one host may be those of another surface of the same product.
    let host = HOSTS.iter().find(|host| host.agent == agent.name && agent.product().is_none());
    let of_host = host.map_or(&[][..], |host| host.markers).iter().copied();
    paths
        .chain(heads.collect::<Vec<_>>())
        .chain(of_host)
        .chain(own_skills(agent))
        .collect::<Vec<_>>()
        .into_iter()
}

/// Folders of skills that no other agent reads.
fn own_skills(agent: &Agent) -> impl Iterator<Item = &'static str> {
    fn skills(agent: &Agent) -> impl Iterator<Item = &'static str> {
        let formats = agent.formats.iter().filter(|format| format.id == FormatId::Skill);
        formats.flat_map(|format| format.workspace).map(|place| place.path)
    }
    let is_own =
        |path: &&str| AGENTS.iter().filter(|other| skills(other).any(|known| known == *path)).count() == 1;
    skills(agent).filter(is_own)
}

#[cfg(test)]
mod tests;
