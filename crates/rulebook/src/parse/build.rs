//! Builds a rule from the fields of its header.

use std::sync::Arc;

use super::fields::{Fields, is_everything};
use super::reader::Reader;
use super::skill;
use crate::condition::{self, Condition, MatchMode};
use crate::diagnostic::{Code, Diagnostic, Severity, any_of};
use crate::format::{Bare, Broken, Format, FormatId, Keys, StatedActivation};
use crate::frontmatter::{Field, Tier};
use crate::glob::split_list;
use crate::markdown::has_words;
use crate::requirement::Requirements;
use crate::rule::{Activation, Basis, Body, Examples, Position, Rule};
use crate::source::Origin;

/// Which reader read the header.
#[derive(Clone, Copy)]
pub(super) enum ReadBy {
    Tier(Tier),
    /// None could; the rule is read as a file without a header.
    None,
}

/// Builds the rule without its body, which the caller adds.
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
    let is_disabled = header.boolean("disabled", &mut reader).unwrap_or(false);
    let enabled = header.boolean("enabled", &mut reader).unwrap_or(true) && !is_disabled;
    if format.id == FormatId::Skill {
        skill::report_skill(&mut reader, header, description.as_deref());
    }
    let mut stream = header.trigger(&mut reader);
    let before = reader.diagnostics.len();
    let paths = header.paths(&mut reader);
    let is_wrong_type = reader.diagnostics[before..].iter().any(|found| found.code == Code::WrongType);
    let globs = paths.iter().flat_map(|(_, paths)| paths.patterns()).map(str::to_owned).collect();
    let tags = if format.keys == Keys::Conditions { Vec::new() } else { header.words("tags", &mut reader) };
    let mut conditions = header.conditions(&mut reader);
    conditions.extend(header.filters(&mut reader));
    let combine = header.combine(&mut reader);
    let stated = header.stated_activation(&mut reader);
    let examples = header.examples(&mut reader);
    let requirements = header.requirements(&mut reader);
    let is_tested = stream.is_some() || requirements.as_ref().is_some_and(Requirements::is_about_lines);
    if examples.as_ref().is_some_and(Examples::has_texts) && !is_tested {
        header.report_texts(&mut reader);
    }
    let repeat = header.repeat(&mut reader);
    header.report_words(&mut reader);
    let is_everything = paths.as_ref().is_some_and(|(_, paths)| format.everything.covers(paths.patterns()))
        && stream.is_none();
    let stated = stated.or(is_everything.then_some(StatedActivation::Always));
    let has_paths = paths.is_some();
    let fails_open = is_wrong_type && !has_paths && format.broken == Broken::Open;
    // What the key decides is not documented where it is absent.
    let is_undocumented = stated.is_none() && format.modes.is_some() && format.bare == Bare::Undocumented;
    match (paths, &mut stream) {
        _ if is_everything || is_undocumented => {}
        // The globs of a stream rule select the files it watches.
        (Some((field, paths)), Some(trigger)) => {
            trigger.gate = Some(Arc::new(paths.into_gate()));
            if !trigger.is_empty() && !trigger.watches_calls() {
                let message = format!(
                    "`{}` has no effect: the rule watches prose only, which is for no file",
                    field.key
                );
                reader.report(Code::DeadKey, field.key_span.clone(), message).help =
                    format!("add `tool` to `scope`, or remove `{}`", field.key);
            }
        }
        // Only shown to the model.
        (Some((field, _)), None) if format.inert.contains(&field.key.as_str()) => {}
        // Nothing activates the rule, which is reported together with the paths.
        (Some(_), None) if stated == Some(StatedActivation::Offered) && description.is_none() => {}
        (Some((field, paths)), None) if !report_dead(&mut reader, header, field, stated) => {
            let rest = std::mem::replace(&mut conditions, vec![Condition::new("paths", paths)]);
            conditions.extend(rest);
        }
        _ => {}
    }
    let (activation, basis) = match &stream {
        Some(trigger) if trigger.is_empty() => (Activation::Never, Basis::Explicit),
        Some(_) => (Activation::Stream, Basis::Explicit),
        None if skill::is_unlisted(&mut reader, header) => (Activation::Never, Basis::Explicit),
        None => decide(stated, !conditions.is_empty(), description.is_some(), header.bare(format)),
    };
    if activation == Activation::Never
        && stream.is_none()
        && !format.needs_folder_name
        && stated != Some(StatedActivation::Off)
        && format.bare != Bare::Undocumented
    {
        report_unreachable(&mut reader, header, stated, has_paths, body_start);
    }
    // Of a file that is always on, one key is reported.
    let is_reported = stated == Some(StatedActivation::AlwaysHere) && has_paths;
    if activation == Activation::Always
        && !is_reported
        && let Some(field) = header.not_always()
    {
        let is_ignored = format.agent_ignores.contains(&"alwaysApply");
        let who = if is_ignored { format.agent } else { "a rule without conditions" };
        let (message, help) = match is_ignored {
            true => (
                format!(
                    "`alwaysApply: false` has no effect: {who} always applies a rule without `{}`",
                    format.paths_key
                ),
                format!("add `{}`, or remove the key", format.paths_key),
            ),
            false => (
                format!("`alwaysApply: false` has no effect: {who} is always on"),
                format!("add `{}` or a `description`", format.paths_key),
            ),
        };
        reader.report(Code::DeadKey, field.key_span.clone(), message).help = help;
    }
    if !has_words(&reader.text[body_start..]) {
        let end = reader.text.trim_end().len();
        let is_header = body_start > 0 && end > 0;
        let message = match is_header {
            true => "there is no text after the header",
            false if end == 0 => "the file is empty",
            false => "the file has no words",
        };
        let found = reader.report(Code::EmptyBody, end..end, message);
        if !is_header {
            found.help = "write the rule, or remove the file".to_owned();
        }
    }
    let is_offered = activation == Activation::OnRequest
        || format.modes.is_none()
            && description.is_some()
            && (format.offers_scoped || !has_paths)
            && activation != Activation::Never
            && !matches!(format.bare, Bare::Always | Bare::Inactive | Bare::Undocumented);
    let activation = scoped(activation, &reader.origin);
    let basis = match read_by {
        ReadBy::Tier(Tier::Yaml) if !fails_open || activation != Activation::Always => basis,
        ReadBy::Tier(Tier::Yaml) => Basis::FailOpen,
        // What the header states keeps the rule from being on, however it was read.
        ReadBy::Tier(_) if activation == Activation::Never && stated.is_some() => basis,
        ReadBy::Tier(_) => Basis::Repaired,
        ReadBy::None => Basis::FailOpen,
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
        is_disabled,
        is_mandatory,
        stream: stream.map(Arc::new),
        requirements: requirements.map(Arc::new),
        repeat,
        examples: examples.map(Box::new),
        ..blank
    };
    (rule, diagnostics)
}

/// Builds the rule of a file whose header cannot be read: the whole file, always on.
pub(super) fn fail_open(mut reader: Reader<'_>, body_start: usize) -> (Rule, Vec<Diagnostic>) {
    // Problems of the header come first.
    if let Some(cause) = reader.diagnostics.first_mut() {
        cause.message.push_str("; the whole file, header included, becomes an always-on rule");
    }
    let priority = reader.format().default_priority(reader.origin.place);
    blank(reader, None, priority, body_start)
}

/// Builds a rule from its origin alone: always on, or on in its folder.
fn blank(reader: Reader<'_>, id: Option<String>, priority: u8, body_start: usize) -> (Rule, Vec<Diagnostic>) {
    let id = id.unwrap_or_else(|| reader.id());
    let Reader { text, origin, diagnostics, .. } = reader;
    let rule = Rule {
        priority,
        position: position(&origin),
        name: if origin.format.id == FormatId::Remote { origin.display.clone() } else { id.clone() },
        id,
        description: None,
        body: Body::default(),
        tags: Vec::new(),
        activation: scoped(Activation::Always, &origin),
        basis: Basis::FailOpen,
        conditions: Vec::new(),
        combine: MatchMode::All,
        globs: Vec::new(),
        is_offered: false,
        enabled: true,
        is_disabled: false,
        is_mandatory: false,
        stream: None,
        requirements: None,
        repeat: None,
        examples: None,
        imports: Vec::new(),
        inlined: Vec::new(),
        copy_of: Vec::new(),
        follows_source: false,
        alias: None,
        body_line: text[..body_start].bytes().filter(|&byte| byte == b'\n').count() + 1,
        origin,
    };
    (rule, diagnostics)
}

/// Returns the position of a file's rule among rules of equal priority, scope and format.
pub(super) fn position(origin: &Origin) -> Position {
    Position { depth: origin.depth(), place: position_of_place(origin) }
}

/// Returns the position of the file's place among the places of its format. Imported and fetched files, whose place
/// is not among them, come first.
fn position_of_place(origin: &Origin) -> Option<usize> {
    let mut places = origin.format.workspace.iter().chain(origin.format.user);
    places.position(|place| place == origin.place)
}

/// Restricts a nested rule to its folder: "always" becomes "when".
fn scoped(activation: Activation, origin: &Origin) -> Activation {
    match activation {
        Activation::Always if origin.nest().is_some() => Activation::When,
        other => other,
    }
}

/// Decides the activation and its basis.
pub(super) fn decide(
    stated: Option<StatedActivation>,
    has_conditions: bool,
    is_described: bool,
    bare: Bare,
) -> (Activation, Basis) {
    match stated {
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
            Bare::Manual => (Activation::Manual, Basis::Explicit),
            _ if is_described => (Activation::OnRequest, Basis::Inferred),
            Bare::OfferedElseAlways => (Activation::Always, Basis::Default),
            Bare::OfferedElseManual => (Activation::Manual, Basis::Default),
            Bare::OfferedElseUnreachable => (Activation::Never, Basis::Default),
        },
    }
}

/// Reports paths that have no effect because of the stated activation. Returns whether they have none.
fn report_dead(
    reader: &mut Reader<'_>,
    header: &Fields,
    field: &Field,
    stated: Option<StatedActivation>,
) -> bool {
    let (message, help) = match stated {
        // Patterns for everything say the same.
        Some(StatedActivation::Always) if is_everything(&field.node) => return true,
        Some(StatedActivation::Always) if header.is_always() => {
            report_beside_always(reader, field);
            return true;
        }
        Some(StatedActivation::AlwaysHere) => (
            "here: this file is always on, whatever its header says".to_owned(),
            Some("move it to the rule folder, or remove the key".to_owned()),
        ),
        Some(StatedActivation::Always) => ("in a rule that is always on".to_owned(), None),
        Some(StatedActivation::Off) => ("in a rule that is off".to_owned(), None),
        Some(StatedActivation::Offered | StatedActivation::Manual) => {
            let mode = reader.format().modes.and_then(|modes| header.find(modes.key));
            let key = header.called().or(mode).map_or("trigger", |field| &field.key);
            let by_paths = word_for(reader.format(), StatedActivation::Glob);
            let help = match by_paths.filter(|_| header.called().is_none()) {
                Some(word) => format!("write `{word}` to apply the rule to these files, or remove them"),
                None => "activate the rule by its paths, or remove them".to_owned(),
            };
            (format!("with this `{key}`"), Some(help))
        }
        Some(StatedActivation::Glob) | None => return false,
    };
    let message = format!("`{}` has no effect {message}", field.key);
    let diagnostic = reader.report(Code::DeadKey, field.key_span.clone(), message);
    if let Some(help) = help {
        diagnostic.help = help;
    }
    true
}

/// Returns the key and the word that state an activation: `trigger: glob`.
fn word_for(format: &Format, activation: StatedActivation) -> Option<String> {
    let modes = format.modes?;
    let word = modes.words.iter().find(|(_, stated)| *stated == activation)?.0;
    Some(format!("{}: {word}", modes.key))
}

/// Reports patterns that the agent documents to have no effect. Patterns for everything mean the same.
fn report_beside_always(reader: &mut Reader<'_>, field: &Field) {
    let format = reader.format();
    let is_own_view = matches!(format.keys, Keys::Own(_));
    let says_more = reader.text[field.node.span.clone()].contains(|c: char| c.is_alphanumeric());
    // Another key decides for the agent, whose view is reported.
    let decides = format.modes.is_none_or(|modes| modes.key == "alwaysApply");
    // Patterns for kinds of files say what the rule is about.
    let texts = condition::texts(&field.node, &mut |_, _, _| {});
    let mut pieces = texts.iter().flat_map(|(text, _)| split_list(text)).map(|(_, piece)| piece);
    let is_about_kinds = pieces.all(is_for_a_kind);
    if !is_own_view && says_more && decides && !is_about_kinds {
        let message = format!("`{}` has no effect beside `alwaysApply: true`", field.key);
        let diagnostic = reader.report(Code::DeadKey, field.key_span.clone(), message);
        diagnostic.severity = Severity::Note;
        let instead = match format.agent_ignores.contains(&"alwaysApply") {
            true => format.paths_key,
            false => "alwaysApply: false",
        };
        diagnostic.help = format!("write `{instead}` to apply the rule to these files only, or remove it");
    }
}

/// Whether a pattern is for all files of some kinds: `**/*.py`, `*.{ts,tsx}`.
fn is_for_a_kind(pattern: &str) -> bool {
    let name = pattern.trim().trim_start_matches("**/");
    name.strip_prefix("*.").is_some_and(|kind| !kind.contains(['/', '*', '.']))
}

/// Whether the first line of a text is one that belongs into a header.
fn starts_with_description(text: &str) -> bool {
    let first = text.lines().find(|line| !line.trim().is_empty());
    first.and_then(|line| line.strip_prefix("description:")).is_some_and(|value| !value.trim().is_empty())
}

/// Reports a rule that nothing can activate, with the keys of its format that would.
fn report_unreachable(
    reader: &mut Reader<'_>,
    header: &Fields,
    stated: Option<StatedActivation>,
    has_paths: bool,
    body_start: usize,
) {
    let span = header.0.first().map_or(0..0, |(_, field)| field.key_span.clone());
    let format = reader.format();
    let always = word_for(format, StatedActivation::Always).unwrap_or_else(|| "alwaysApply: true".to_owned());
    let keys = match stated {
        Some(StatedActivation::Glob) => vec![format.paths_key],
        Some(StatedActivation::Offered) => vec!["description"],
        _ if format.bare == Bare::Inactive => vec![format.paths_key, &always],
        _ if format.inert.contains(&format.paths_key) => vec!["description", &always],
        _ => vec!["description", format.paths_key, &always],
    };
    // A key of this name in another spelling is the cause, and is reported.
    let is_meant = |found: &&mut Diagnostic| {
        found.code == Code::UnknownKey
            && keys.iter().any(|key| found.help == format!("did you mean `{key}`?"))
    };
    if let Some(cause) = reader.diagnostics.iter_mut().find(is_meant) {
        cause.message.push_str(", so nothing activates the rule");
        return;
    }
    let is_in_text = keys.contains(&"description") && starts_with_description(&reader.text[body_start..]);
    let keys = any_of(&keys);
    let field = stated.and(format.modes).and_then(|modes| header.find(modes.key));
    let with =
        field.map(|field| format!("with `{}` and ", &reader.text[field.key_span.start..field.node.span.end]));
    let message = format!("{}without {keys}, nothing activates the rule", with.unwrap_or_default());
    let by_paths = word_for(format, StatedActivation::Glob)
        .filter(|_| has_paths && stated == Some(StatedActivation::Offered));
    let help = match by_paths {
        _ if is_in_text => "move `description: …` from the start of the text into the header".to_owned(),
        Some(word) => {
            format!("add {keys}, or write `{word}` to apply the rule to its `{}`", format.paths_key)
        }
        None => format!("add {keys}"),
    };
    reader.report(Code::Unreachable, span, message).help = help;
}
