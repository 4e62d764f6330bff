//! Hits as the model, the policy and the ledger are told of them.

use rulebook::session::Event;
use rulebook::stream::Hit;
use rulebook::stream::policy::{self, OutputSource};

use super::rules::Watching;

pub(super) fn source(hit: &Hit) -> OutputSource {
    hit.scope.source()
}

pub(super) fn places(hits: &[&Hit]) -> Vec<policy::MatchedText> {
    let place = |hit: &Hit| {
        let line = matches!(source(hit), OutputSource::Text | OutputSource::Thinking)
            .then(|| format!("{} line {}", hit.scope, hit.line));
        let tool = hit.tool.as_ref().map(|tool| format!("tool {tool}"));
        let parts = [line, tool, hit.field.clone(), hit.file.clone()];
        parts.into_iter().flatten().collect::<Vec<_>>().join(", ")
    };
    hits.iter().map(|hit| policy::MatchedText { text: hit.text.clone(), place: place(hit) }).collect()
}

pub(super) fn interrupted(rule: &Watching, hit: &Hit, action: &str) -> Event {
    Event::Interrupted {
        rule: rule.id.clone(),
        path: rule.path.clone(),
        source: source(hit).name().to_owned(),
        text: hit.text.clone(),
        file: hit.file.clone(),
        action: action.to_owned(),
    }
}
