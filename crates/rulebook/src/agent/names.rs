//! Names: every name of an agent, and the products that have several surfaces.

use super::row::Agent;
use super::table::AGENTS;
use crate::diagnostic::nearest_few;
use crate::hidden::visible_line;

/// A product with several surfaces, each of which is an agent.
#[derive(Debug)]
#[non_exhaustive]
pub struct Product {
    /// Its name in commands.
    pub name: &'static str,
    /// The name people know.
    pub title: &'static str,
    /// The names of its agents, the most used first.
    pub surfaces: &'static [&'static str],
    /// The surface that its name means where Rulebook is connected to it.
    connects: &'static str,
}

/// Every product whose name is not an agent.
pub static PRODUCTS: &[Product] = &[Product {
    name: "copilot",
    title: "GitHub Copilot",
    surfaces: &["copilot-vscode", "copilot-cli", "copilot-github"],
    connects: "copilot-cli",
}];

/// Other names of agents and products.
const ALIASES: &[(&str, &str)] = &[
    ("claude-code", "claude"),
    ("cline-sdk", "cline-cli"),
    ("codex-cli", "codex"),
    ("gemini-cli", "gemini"),
    ("github-copilot", "copilot"),
    ("qwen-code", "qwen"),
];

/// Why an agent is looked up: a product's name means another surface for each.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purpose {
    /// To connect it to Rulebook: `install`, `hook`, `proxy`.
    Connect,
    /// To answer for it.
    View,
}

/// An agent that was looked up by a name.
#[derive(Clone, Copy, Debug)]
pub struct NamedAgent {
    /// The agent.
    pub agent: &'static Agent,
    /// The product, if the name is that of a product with several surfaces.
    pub product: Option<&'static Product>,
}

impl NamedAgent {
    /// Describes which surface was chosen, if there was a choice.
    pub fn note(&self) -> Option<String> {
        let Product { name, surfaces, .. } = self.product?;
        let others: Vec<String> = surfaces
            .iter()
            .filter(|surface| **surface != self.agent.name)
            .map(|surface| format!("`{surface}`"))
            .collect();
        Some(format!("`{name}` means `{}` here; others: {}", self.agent.name, others.join(", ")))
    }
}

/// No agent has that name.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct UnknownAgent {
    /// The name.
    pub name: String,
    /// At most three similar names, most similar first.
    pub nearest: Vec<&'static str>,
}

impl UnknownAgent {
    /// Returns what to do about it.
    pub fn help(&self) -> String {
        match self.nearest.as_slice() {
            [] => "`rulebook formats` lists the agents".to_owned(),
            [one] => format!("did you mean `{one}`?"),
            [first @ .., last] => format!("did you mean `{}` or `{last}`?", first.join("`, `")),
        }
    }
}

impl std::fmt::Display for UnknownAgent {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "no agent named `{}`", visible_line(&self.name))
    }
}

impl std::error::Error for UnknownAgent {}

impl Agent {
    /// Looks up an agent by its name, an alias, or the name of its product.
    pub fn find(name: &str, purpose: Purpose) -> Result<NamedAgent, UnknownAgent> {
        let lower = name.trim().to_lowercase();
        let name = ALIASES.iter().find(|(alias, _)| *alias == lower).map_or(lower.as_str(), |(_, name)| name);
        let product = PRODUCTS.iter().find(|product| product.name == name);
        let surface = product.map_or(name, |product| match purpose {
            Purpose::Connect => product.connects,
            Purpose::View => product.surfaces[0],
        });
        match AGENTS.iter().find(|agent| agent.name == surface) {
            Some(agent) => Ok(NamedAgent { agent, product }),
            None => {
                Err(UnknownAgent { nearest: nearest_few(name, Agent::names(), 3), name: name.to_owned() })
            }
        }
    }

    /// Returns the agent of a name or alias; of a product, the surface that answers are for.
    pub fn named(name: &str) -> Option<&'static Agent> {
        Agent::find(name, Purpose::View).ok().map(|named| named.agent)
    }

    /// Returns the names of all agents and products.
    pub fn names() -> impl Iterator<Item = &'static str> {
        AGENTS.iter().map(|agent| agent.name).chain(PRODUCTS.iter().map(|product| product.name))
    }

    /// Returns the product that the agent is one surface of.
    pub fn product(&self) -> Option<&'static Product> {
        PRODUCTS.iter().find(|product| product.surfaces.contains(&self.name))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(name: &str, view: &str, connect: &str) {
        let found = [Purpose::View, Purpose::Connect]
            .map(|purpose| Agent::find(name, purpose).map(|named| named.agent.name));
        assert_eq!(found, [Ok(view), Ok(connect)]);
    }

    #[test]
    fn a_name_an_alias_and_a_product_find_an_agent() {
        check("claude", "claude", "claude");
        check("Claude-Code", "claude", "claude");
        check("cline", "cline", "cline");
        check("cline-sdk", "cline-cli", "cline-cli");
        check("copilot", "copilot-vscode", "copilot-cli");
        check("github-copilot", "copilot-vscode", "copilot-cli");
    }

    #[test]
    fn an_unknown_name_suggests_the_nearest_three() {
        let unknown = Agent::find("cusror", Purpose::View).unwrap_err();
        assert_eq!(unknown.help(), "did you mean `cursor`?");
        let unknown = Agent::find("copilot-code", Purpose::View).unwrap_err();
        assert_eq!(unknown.nearest, ["copilot-vscode", "copilot-cli"]);
        let unknown = Agent::find("something-else", Purpose::View).unwrap_err();
        assert_eq!(unknown.help(), "`rulebook formats` lists the agents");
    }

    #[test]
    fn every_surface_and_alias_is_an_agent_and_no_alias_is_one() {
        let exists = |name: &str| AGENTS.iter().any(|agent| agent.name == name);
        for product in PRODUCTS {
            assert!(!exists(product.name) && product.surfaces.contains(&product.connects));
            assert!(product.surfaces.iter().all(|surface| exists(surface)));
        }
        for (alias, name) in ALIASES {
            assert!(!exists(alias) && Agent::names().any(|known| known == *name), "{alias}");
        }
    }

    #[test]
    fn the_note_names_the_surface_and_the_others() {
        let named = Agent::find("copilot", Purpose::View).unwrap();
        let note = "`copilot` means `copilot-vscode` here; others: `copilot-cli`, `copilot-github`";
        assert_eq!(named.note().as_deref(), Some(note));
        assert_eq!(Agent::find("cursor", Purpose::View).unwrap().note(), None);
    }
}
