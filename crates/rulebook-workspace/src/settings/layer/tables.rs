//! Reads the tables of a layer that are not plain keys: `[agents.NAME]`, entries of `rules.extra_paths` and `[[remote]]`.

use std::collections::BTreeSet;
use std::ops::Range;

use rulebook::agent::{Agent, NamedAgent, Purpose};
use rulebook::diagnostic::Code;
use rulebook::format::FormatId;
use toml::Spanned;
use toml::de::{DeArray, DeTable, DeValue};

use super::super::keys::Key;
use super::super::text::cut;
use super::super::values::Remote;
use super::protection::effect_on;
use super::{Reading, replace};

impl Reading<'_> {
    /// Reads `[agents.NAME]`.
    pub(super) fn agent(&mut self, name: &str, span: Range<usize>, value: &Spanned<DeValue<'_>>) {
        let DeValue::Table(table) = value.get_ref() else { return };
        match Agent::find(name, Purpose::View) {
            Ok(NamedAgent { agent, product }) => {
                let surfaces = product.map_or(&[][..], |product| product.surfaces);
                let surfaces = surfaces.iter().filter_map(|name| Agent::named(name));
                let others = surfaces.filter(|surface| surface.name != agent.name);
                self.agent_keys(agent, table);
                let reported = (self.diagnostics.len(), self.unreported);
                others.for_each(|surface| self.agent_keys(surface, table));
                self.diagnostics.truncate(reported.0);
                self.unreported = reported.1;
            }
            Err(unknown) => {
                let message = || unknown.to_string();
                self.report_with_help(Code::UnknownSetting, span, message, || unknown.help());
            }
        }
    }

    /// Reads the settings of one agent.
    fn agent_keys(&mut self, agent: &'static Agent, table: &DeTable<'_>) {
        // The last one is the one that is read.
        let each = &mut self.settings.agents.each;
        let known = each.iter().position(|(name, _)| *name == agent.name);
        let earlier = known.map(|at| each.remove(at).1).unwrap_or_default();
        each.push((agent.name, earlier));
        self.table("agents.NAME", table);
    }

    /// Reads `{path = "team/rules", format = "opencode"}`: the path as written, and the format. Returns `None` if the
    /// format is wrong, which is reported.
    pub(super) fn extra_path<'t>(
        &mut self,
        key: &Key,
        item: &Spanned<DeValue<'_>>,
        table: &'t DeTable<'_>,
    ) -> Option<(Option<&'t str>, Option<FormatId>)> {
        for (name, _) in
            table.iter().filter(|(name, _)| !matches!(name.get_ref().as_ref(), "path" | "format"))
        {
            let message = || format!("`{}` is not a key of an entry of `{}`", cut(name.get_ref()), key.path);
            self.report_with_help(Code::UnknownSetting, name.span(), message, || {
                "write `{path = \"…\", format = \"…\"}`".to_owned()
            });
        }
        let Some(path) = table.get("path").and_then(|path| path.get_ref().as_str()) else {
            let message = || format!("an entry of `{}` needs a `path`, in quotes", key.path);
            self.report_with_help(Code::WrongType, item.span(), message, || {
                "write `{path = \"…\", format = \"…\"}`".to_owned()
            });
            return None;
        };
        let Some(named) = table.get("format") else { return Some((Some(path), None)) };
        let format = self.format(key, named)?;
        if format.row().rule_folder().is_none() {
            let message = || format!("`{format}` has no rule folder; the entry is ignored");
            self.report_with_help(Code::BadValue, named.span(), message, || {
                "name a format with a rule folder, see `rulebook formats`".to_owned()
            });
            return None;
        }
        Some((Some(path), Some(format)))
    }

    /// Reads `[[remote]]`. The copy of an entry with any error is kept as it is: a partial entry could be fetched without
    /// its hash.
    pub(super) fn remotes(&mut self, key: &'static Key, entries: &DeArray<'_>) {
        let mut names: BTreeSet<String> = BTreeSet::new();
        for entry in entries.iter() {
            let DeValue::Table(table) = entry.get_ref() else {
                self.reject(Code::WrongType, key, entry);
                continue;
            };
            let (reported, unreported) = (self.diagnostics.len(), self.unreported);
            self.settings.remotes.push(Remote::default());
            self.table(key.path, table);
            let Some(mut remote) = self.settings.remotes.pop() else { continue };
            remote.is_held = reported < self.diagnostics.len() || unreported < self.unreported;
            let named = match remote.name.as_str() {
                "" => "this remote".to_owned(),
                name => format!("`{}`", cut(name)),
            };
            let (wrong, help) = if remote.name.is_empty() || remote.url.is_empty() && !remote.is_held {
                ("it needs a `name` and a `url`", "add what is missing")
            } else if !names.insert(remote.name.clone()) {
                ("another remote above has the same name", "give each its own name")
            } else {
                let effect = effect_on(&[&cut(&remote.name)]);
                self.diagnostics[reported..].iter_mut().for_each(|fault| fault.protect(&effect));
                remote.faults = self.diagnostics[reported..].to_vec();
                replace(&mut self.settings.remotes, remote);
                continue;
            };
            self.settings.remotes_left_out += 1;
            self.report_with_help(
                Code::Protection,
                entry.span(),
                || format!("{named} is left out: {wrong}"),
                || help.to_owned(),
            );
        }
    }
}
