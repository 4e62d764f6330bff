//! Links within the page. Each one keeps the agent that the address names.

use maud::{Markup, html};

use super::http::{Query, query as encode};
use super::text::{Text, name, shortened};

/// Makes links for the agent in an address.
#[derive(Clone, Copy)]
pub(super) struct Links<'q> {
    agent: &'q str,
}

impl<'q> Links<'q> {
    pub(super) fn of(query: &'q Query) -> Links<'q> {
        Links { agent: query.get("for") }
    }

    /// Returns the address of a view.
    pub(super) fn to(self, view: &str, values: &[(&str, &str)]) -> String {
        let values: Vec<(&str, &str)> = values.iter().copied().chain([("for", self.agent)]).collect();
        format!("{view}{}", encode(&values))
    }

    /// Returns the address of the home view for another agent.
    pub(super) fn for_agent(self, agent: &str) -> String {
        Links { agent }.to("agents", &[])
    }

    /// A link to a rule's page.
    pub(super) fn rule(self, id: &str, source: &str) -> Markup {
        html! { a .rule href=(self.to("rule", &[("source", source)])) { (name(id)) } }
    }

    /// A link to a rule's page that shows the path of its file.
    pub(super) fn file(self, source: &str) -> Markup {
        html! { a .file href=(self.to("rule", &[("source", source)])) title=(Text(source)) { (shortened(source)) } }
    }

    /// A link to the rules for a path.
    pub(super) fn path(self, path: &str) -> Markup {
        html! { a .path href=(self.to("path", &[("path", path)])) { (name(path)) } }
    }
}
