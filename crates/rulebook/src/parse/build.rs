//! Building: a header's fields become a rule, its activation and what that rests on.

use std::sync::Arc;

use super::fields::Fields;
use super::reader::Reader;
use crate::condition::{Condition, MatchMode};
use crate::diagnostic::{Code, Diagnostic};
use crate::format::{Bare, FormatId, Keys, StatedActivation};
use crate::frontmatter::{Field, Tier};
use crate::rule::{Activation, Basis, Position, Rule};
use crate::source::Origin;

/// What made fields of a header.
#[derive(Clone, Copy)]
pub(super) enum ReadBy {
    Tier(Tier),
    /// It could not be read; the rule is what a file without a header is.
    Nobody,
}

/// Makes the rule; its body is put in by the caller, who owns the text.
pub(super) fn build(
    mut reader: Reader<'_>,
    header: &Fields,
    id: Option<String>,
    read_by: ReadBy,
    body_start: usize,
) -> (Rule, Vec<Diagnostic>) {
    let format = reader.format();
    let description = header.text("description", &mut reader).filter(|text| !text.trim().is_empty());
    let priority =
        header.priority(&mut reader).unwrap_or_else(|| format.default_priority(reader.origin.place));
    let enabled = header.boolean("enabled", &mut reader).unwrap_or(true)
        && !header.boolean("disabled", &mut reader).unwrap_or(false);
    let mut stream = header.trigger(&mut reader);
    let paths = header.paths(&mut reader);
    let globs = paths.iter().flat_map(|(_, paths)| paths.patterns()).map(str::to_owned).collect();
    let tags = if format.keys == Keys::Conditions { Vec::new() } else { header.words("tags", &mut reader) };
    let mut conditions = header.conditions(&mut reader);
    conditions.extend(header.filters(&mut reader));
    let combine = header.combine(&mut reader);
    let said = header.said(&mut reader);
    let examples = header.examples(&mut reader);
    header.report_words(&mut reader);
    match (paths, &mut stream) {
        // For a stream rule the globs are a gate on what it watches, not on whether it does.
        (Some((_, paths)), Some(trigger)) => {
            trigger.gate = Some(Arc::new(paths.into_gate()));
        }
        // Shown to the model, and asked by nobody.
        (Some((field, _)), None) if format.inert.contains(&field.key.as_str()) => {}
        (Some((field, paths)), None) if !report_dead(&mut reader, header, field, said) => {
            let rest = std::mem::replace(&mut conditions, vec![Condition::new("paths", paths)]);
            conditions.extend(rest);
        }
        _ => {}
    }
    let (activation, basis) = match &stream {
        Some(_) => (Activation::Stream, Basis::Explicit),
        None => decide(said, !conditions.is_empty(), description.is_some(), header.bare(format)),
    };
    if activation == Activation::Never
        && said != Some(StatedActivation::Off)
        && format.bare != Bare::Undocumented
    {
        report_unreachable(&mut reader, header);
    }
    if activation == Activation::Always
        && let Some(field) = header.not_always()
        && !format.agent_ignores.contains(&"alwaysApply")
    {
        let message = "`alwaysApply: false` has no effect: a rule without conditions is always on";
        reader.tell(Code::DeadKey, field.key_span.clone(), message).help =
            format!("say when it comes on, with `{}` or a `description`", format.paths_key);
    }
    if reader.text[body_start..].trim().is_empty() {
        let end = reader.text.trim_end().len();
        reader.tell(Code::EmptyBody, end..end, "there is no text below the header, so nothing to deliver");
    }
    let is_offered = activation == Activation::OnRequest
        || format.modes.is_none()
            && description.is_some()
            && !matches!(format.bare, Bare::Always | Bare::Inactive | Bare::Undocumented);
    let activation = scoped(activation, &reader.origin);
    let basis = match read_by {
        ReadBy::Tier(Tier::Yaml) => basis,
        ReadBy::Tier(_) => Basis::Repaired,
        ReadBy::Nobody => Basis::FailOpen,
    };
    let is_mandatory = header.boolean("alwaysEnabled", &mut reader).unwrap_or(false);
    let (blank, diagnostics) = blank(reader, id, priority, body_start);
    let rule = Rule {
        description,
        tags,
        activation,
        basis,
        conditions,
        combine,
        globs,
        is_offered,
        enabled,
        is_mandatory,
        stream: stream.map(Box::new),
        examples: examples.map(Box::new),
        ..blank
    };
    (rule, diagnostics)
}

/// The rule of a file whose header cannot be read: the whole file, always on.
pub(super) fn fail_open(mut reader: Reader<'_>, body_start: usize) -> (Rule, Vec<Diagnostic>) {
    for diagnostic in &mut reader.diagnostics {
        diagnostic.message.push_str("; the whole file is taken as the rule, always on");
    }
    let priority = reader.format().default_priority(reader.origin.place);
    blank(reader, None, priority, body_start)
}

/// A rule as far as its origin tells: always on, or on in its folder.
fn blank(reader: Reader<'_>, id: Option<String>, priority: u8, body_start: usize) -> (Rule, Vec<Diagnostic>) {
    let id = id.unwrap_or_else(|| reader.id());
    let Reader { text, origin, diagnostics } = reader;
    let rule = Rule {
        priority,
        position: Position { depth: origin.depth(), place: position_of_place(&origin) },
        name: if origin.format.id == FormatId::Remote { origin.display.clone() } else { id.clone() },
        id,
        description: None,
        body: String::new(),
        tags: Vec::new(),
        activation: scoped(Activation::Always, &origin),
        basis: Basis::FailOpen,
        conditions: Vec::new(),
        combine: MatchMode::All,
        globs: Vec::new(),
        is_offered: false,
        enabled: true,
        is_mandatory: false,
        stream: None,
        examples: None,
        body_line: text[..body_start].bytes().filter(|&byte| byte == b'\n').count() + 1,
        origin,
    };
    (rule, diagnostics)
}

/// Returns the position of the file's place among the places of its format. Imported and fetched files, whose place
/// is not among them, come first.
fn position_of_place(origin: &Origin) -> Option<usize> {
    let mut places = origin.format.workspace.iter().chain(origin.format.user);
    places.position(|place| place == origin.place)
}

/// A nested rule is for its folder: being always on becomes being on there.
fn scoped(activation: Activation, origin: &Origin) -> Activation {
    match activation {
        Activation::Always if origin.nest().is_some() => Activation::When,
        other => other,
    }
}

/// How a rule comes on, and why that is so.
fn decide(
    said: Option<StatedActivation>,
    has_conditions: bool,
    is_described: bool,
    bare: Bare,
) -> (Activation, Basis) {
    match said {
        Some(StatedActivation::Manual) => (Activation::Manual, Basis::Explicit),
        Some(StatedActivation::Off) => (Activation::Never, Basis::Explicit),
        Some(StatedActivation::Offered) if is_described => (Activation::OnRequest, Basis::Explicit),
        _ if has_conditions => (Activation::When, Basis::Explicit),
        Some(StatedActivation::Always) => (Activation::Always, Basis::Explicit),
        Some(StatedActivation::AlwaysHere) => (Activation::Always, Basis::Default),
        Some(StatedActivation::Glob | StatedActivation::Offered) => (Activation::Never, Basis::Explicit),
        None => match bare {
            Bare::Always => (Activation::Always, Basis::Default),
            Bare::Inactive | Bare::Undocumented => (Activation::Never, Basis::Default),
            Bare::Listed => (Activation::OnRequest, Basis::Default),
            _ if is_described => (Activation::OnRequest, Basis::Inferred),
            Bare::OfferedElseAlways => (Activation::Always, Basis::Default),
            Bare::OfferedElseManual => (Activation::Manual, Basis::Default),
            Bare::OfferedElseUnreachable => (Activation::Never, Basis::Default),
        },
    }
}

/// Whether paths have no effect beside what the header says of the activation; that is told.
fn report_dead(
    reader: &mut Reader<'_>,
    header: &Fields,
    field: &Field,
    said: Option<StatedActivation>,
) -> bool {
    let (message, help) = match said {
        // These two agents say so themselves.
        Some(StatedActivation::Always)
            if matches!(reader.format().id, FormatId::Cursor | FormatId::Opencode) =>
        {
            return true;
        }
        Some(StatedActivation::Always | StatedActivation::AlwaysHere) => {
            ("on a rule that is always on", None)
        }
        Some(StatedActivation::Off) => ("on a rule that is off", None),
        Some(StatedActivation::Offered | StatedActivation::Manual) => {
            let mode = reader.format().modes.and_then(|modes| header.find(modes.key));
            let key = header.called().or(mode).map_or("trigger", |field| &field.key);
            (&*format!("beside this `{key}`"), Some("let the rule come on by its paths, or leave them out"))
        }
        Some(StatedActivation::Glob) | None => return false,
    };
    let told = reader.tell(
        Code::DeadKey,
        field.key_span.clone(),
        format!("`{}` has no effect {message}", field.key),
    );
    if let Some(help) = help {
        told.help = help.to_owned();
    }
    true
}

fn report_unreachable(reader: &mut Reader<'_>, header: &Fields) {
    let span = header.0.first().map_or(0..0, |(_, field)| field.key_span.clone());
    if reader.format().bare == Bare::Inactive {
        reader
            .tell(
                Code::Unreachable,
                span,
                "has neither `globs` nor `alwaysApply: true`, so it never comes on",
            )
            .help = "add `globs: [\"src/**\"]` or `alwaysApply: true`".to_owned();
    } else {
        let asks_no_paths = reader.format().inert.contains(&reader.format().paths_key);
        let message = "has neither a description nor conditions, so nothing can bring it on";
        let told = reader.tell(Code::Unreachable, span, message);
        if asks_no_paths {
            told.help = "add a `description` or `alwaysApply: true`".to_owned();
        }
    }
}
