//! Reads the requirements of a header: `requires`, `forbids` and `on-unknown`.

use std::sync::Arc;

use super::fields::Fields;
use super::reader::Reader;
use crate::condition::{CommandPattern, Paths, RegexBudget};
use crate::diagnostic::{Code, nearest, shown};
use crate::frontmatter::{Field, Node, Value};
use crate::glob::{Dialect, Glob};
use crate::requirement::{EventPattern, Forbid, OnUnknown, Require, RequireRepeat, Requirements};

const EVENTS: &[&str] = &["command", "edit", "read", "tool"];

impl Fields {
    /// Reads the requirements. Parts that cannot be read are reported, and their requirement has no effect.
    pub(super) fn requirements(&self, reader: &mut Reader) -> Option<Requirements> {
        let mut requirements = Requirements::default();
        for node in self.maps("requires") {
            requirements.requires.extend(require(node, reader).map(Arc::new));
        }
        for node in self.maps("forbids") {
            requirements.forbids.extend(forbid(node, reader).into_iter().flatten().map(Arc::new));
        }
        let word = self.text("on-unknown", reader);
        let known = word.as_deref().map(OnUnknown::named);
        if known == Some(None) {
            let span = self.find("on-unknown").expect("read above").node.span.clone();
            let found = shown(word.as_deref().unwrap_or_default());
            let message =
                format!("`on-unknown` must be `allow`, `ask` or `refuse`, found `{found}`; `refuse` is used");
            reader.report(Code::BadValue, span, message);
        }
        requirements.on_unknown = known.map(|known| known.unwrap_or(OnUnknown::Refuse)).unwrap_or_default();
        let is_empty = requirements.requires.is_empty() && requirements.forbids.is_empty();
        (!is_empty).then_some(requirements)
    }

    /// Reads `repeat`: after how many turns the text is delivered again.
    pub(super) fn repeat(&self, reader: &mut Reader) -> Option<u64> {
        let field = self.given("repeat")?;
        if let Value::Int(turns @ 1..) = field.node.value {
            return u64::try_from(turns).ok();
        }
        let message = "`repeat` must be a whole number of turns, 1 or more";
        reader.report(Code::WrongType, field.node.span.clone(), message);
        None
    }

    /// The maps of a key: one, or a list.
    fn maps(&self, key: &str) -> impl Iterator<Item = &Node> {
        let nodes: Vec<&Node> = match self.given(key).map(|field| &field.node) {
            Some(Node { value: Value::List(items), .. }) => items.iter().collect(),
            Some(node) => vec![node],
            None => Vec::new(),
        };
        nodes.into_iter()
    }
}

fn require(node: &Node, reader: &mut Reader) -> Option<Require> {
    let fields = map("requires", node, reader)?;
    let [mut act, mut before, mut after] = [const { None }; 3];
    let (mut within, mut repeat) = (None, RequireRepeat::Once);
    for field in fields {
        match field.key.as_str() {
            "do" => act = Some(event(&field.node, reader)?),
            "before" => before = Some(event(&field.node, reader)?),
            "after" => after = Some(event(&field.node, reader)?),
            "within" => match field.node.value {
                Value::Int(turns @ 1..) => within = u64::try_from(turns).ok(),
                _ => {
                    let span = field.node.span.clone();
                    reader.report(
                        Code::WrongType,
                        span,
                        "`within` must be a whole number of turns, 1 or more",
                    );
                }
            },
            "repeat" => match &field.node.value {
                Value::Text(word) if RequireRepeat::named(word).is_some() => {
                    repeat = RequireRepeat::named(word).unwrap_or(repeat);
                }
                _ => {
                    let span = field.node.span.clone();
                    reader.report(Code::BadValue, span, "`repeat` must be `once` or `always` here");
                }
            },
            other => report_key(reader, field, other, &["do", "before", "after", "within", "repeat"]),
        }
    }
    let missing = [("do", act.is_none()), ("before", before.is_none())];
    if let Some((key, _)) = missing.iter().find(|(_, is_missing)| *is_missing) {
        let message = format!("`requires` has no effect without `{key}`");
        reader.report(Code::BadRequirement, node.span.clone(), message).help =
            "write `requires: {do: {command: \"npm test*\"}, before: {command: \"git commit*\"}}`".to_owned();
    }
    let (act, before) = (act?, before?);
    if matches!(act, EventPattern::Stop) || matches!(after, Some(EventPattern::Stop)) {
        let message = "`stop` ends a turn: it can only be in `before`";
        reader.report(Code::BadRequirement, node.span.clone(), message);
        return None;
    }
    Some(Require { act, before, after, within, repeat })
}

/// What a map forbids: one event. Several are reported, and each of them is forbidden.
fn forbid(node: &Node, reader: &mut Reader) -> Option<Vec<Forbid>> {
    let fields = map("forbids", node, reader)?;
    let (mut forbidden, mut after) = (Vec::new(), None);
    for field in fields {
        match field.key.as_str() {
            "after" => after = Some(Arc::new(event(&field.node, reader)?)),
            key if EVENTS.contains(&key) => forbidden.push((key, pattern(field, reader)?)),
            other => report_key(reader, field, other, &["command", "edit", "read", "tool", "after"]),
        }
    }
    match &forbidden[..] {
        [] => {
            reader.report(Code::BadRequirement, node.span.clone(), "`forbids` has no event").help =
                "write `forbids: {command: \"git push --force*\"}`".to_owned();
        }
        [_] => {}
        several => {
            let names: Vec<String> = several.iter().map(|(key, _)| format!("`{key}`")).collect();
            let message = format!(
                "`forbids` names several events in one map ({}); each of them is forbidden",
                names.join(", ")
            );
            reader.report(Code::BadRequirement, node.span.clone(), message).help =
                "write a list, such as `forbids: [{command: \"git push*\"}, {edit: \"db/**\"}]`".to_owned();
        }
    }
    Some(forbidden.into_iter().map(|(_, event)| Forbid { event, after: after.clone() }).collect())
}

/// Reads an event: `{command: GLOB}`, or the word `stop`.
fn event(node: &Node, reader: &mut Reader) -> Option<EventPattern> {
    if node.value == Value::Text("stop".to_owned()) {
        return Some(EventPattern::Stop);
    }
    let fields = match &node.value {
        Value::Map(fields) => fields.as_slice(),
        _ => &[],
    };
    let [field] = fields else {
        let message =
            "an event is one of `{command: GLOB}`, `{edit: GLOB}`, `{read: GLOB}`, `{tool: GLOB}` and `stop`";
        reader.report(Code::BadRequirement, node.span.clone(), message);
        return None;
    };
    if !EVENTS.contains(&field.key.as_str()) {
        report_key(reader, field, &field.key, EVENTS);
        return None;
    }
    pattern(field, reader)
}

fn pattern(field: &Field, reader: &mut Reader) -> Option<EventPattern> {
    let span = field.node.span.clone();
    let Value::Text(text) = &field.node.value else {
        let message = format!("`{}` must be text, found {}", field.key, field.node.value.kind());
        reader.report(Code::WrongType, span, message);
        return None;
    };
    let base = reader.pattern_base();
    let mut report = |code, span, message: String| {
        reader.report(code, span, message);
    };
    let read =
        match field.key.as_str() {
            "command" => CommandPattern::read(text, &span, &mut RegexBudget::default(), &mut report)
                .map(EventPattern::Command),
            "edit" => Paths::read(&field.node, &base, &mut report)
                .map(|paths| EventPattern::Edit(paths.into_gate())),
            "read" => Paths::read(&field.node, &base, &mut report)
                .map(|paths| EventPattern::Read(paths.into_gate())),
            _ => Glob::new(&text.to_lowercase(), Dialect::Picomatch).ok().map(EventPattern::Tool),
        };
    if read.is_none() {
        let message = format!("`{}` cannot be read as a pattern: the requirement has no effect", shown(text));
        reader.report(Code::BadRequirement, span, message);
    }
    read
}

fn map<'n>(key: &str, node: &'n Node, reader: &mut Reader) -> Option<&'n [Field]> {
    if let Value::Map(fields) = &node.value {
        return Some(fields);
    }
    let message = format!("`{key}` must be a map or a list of maps, found {}", node.value.kind());
    reader.report(Code::WrongType, node.span.clone(), message);
    None
}

fn report_key(reader: &mut Reader, field: &Field, key: &str, known: &[&'static str]) {
    let names: Vec<String> = known.iter().map(|name| format!("`{name}`")).collect();
    let message = format!("`{}` is not a key here; it is ignored", shown(key));
    reader.report(Code::UnknownKey, field.key_span.clone(), message).help =
        match nearest(key, known.iter().copied()) {
            Some(near) => format!("did you mean `{near}`?"),
            None => format!("write one of {}", names.join(", ")),
        };
}
