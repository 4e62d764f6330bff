//! Reads the fields of a header as their types, and reports wrong ones.

use super::patterns;
use super::patterns::means_everything;
use super::reader::Reader;
use crate::condition::{self, Condition, FILTERS, MatchMode, Paths};
use crate::diagnostic::{Code, Diagnostic, Fix, nearest, pasted, shown};
use crate::format::{Bare, FormatId, Keys, Lists, PlaceKind, keys};
use crate::frontmatter::{Field, Node, Value, quoted};
use crate::glob::split_list;
use crate::rule::Examples;
use crate::source::Origin;

/// The fields of a header by their canonical keys.
#[derive(Default)]
pub(super) struct Fields(pub(super) Vec<(&'static str, Field)>);

impl Fields {
    pub(super) fn find(&self, key: &str) -> Option<&Field> {
        self.0.iter().find(|(known, _)| *known == key).map(|(_, field)| field)
    }

    /// Returns a field that is present and not empty.
    pub(super) fn given(&self, key: &str) -> Option<&Field> {
        self.find(key).filter(|field| field.node.value != Value::Null)
    }

    pub(super) fn text(&self, key: &str, reader: &mut Reader) -> Option<String> {
        let field = self.given(key)?;
        match &field.node.value {
            Value::Text(text) => Some(text.clone()),
            other => {
                report_type(reader, key, &field.node, "text", other);
                None
            }
        }
    }

    pub(super) fn boolean(&self, key: &str, reader: &mut Reader) -> Option<bool> {
        let field = self.given(key)?;
        match &field.node.value {
            Value::Bool(value) => Some(*value),
            other => {
                let help = boolean_help(key, &reader.text[field.node.span.clone()]);
                report_type(reader, key, &field.node, "`true` or `false`", other).help = help;
                None
            }
        }
    }

    /// Reads `alwaysApply`. An explicit `null` counts as absent, except in the strict schema.
    pub(super) fn always_apply(&self, reader: &mut Reader) -> Option<bool> {
        match self.find("alwaysApply") {
            Some(Field { node: Node { value: Value::Null, span }, .. })
                if reader.format().keys == Keys::Strict =>
            {
                reader
                    .report(
                        Code::WrongType,
                        span.clone(),
                        "`alwaysApply` must be `true` or `false`, found nothing",
                    )
                    .help = boolean_help("alwaysApply", "");
                None
            }
            _ => self.boolean("alwaysApply", reader),
        }
    }

    pub(super) fn priority(&self, reader: &mut Reader) -> Option<u8> {
        let field = self.find("priority")?;
        match &field.node.value {
            Value::Int(value @ 0..=100) => u8::try_from(*value).ok(),
            Value::Null if reader.format().keys != Keys::Strict => None,
            _ => {
                let found = shown(&reader.text[field.node.span.clone()]);
                let message = format!("`priority` must be a whole number from 0 to 100, found `{found}`");
                reader.report(Code::BadPriority, field.node.span.clone(), message);
                None
            }
        }
    }

    pub(super) fn words(&self, key: &str, reader: &mut Reader) -> Vec<String> {
        let Some(field) = self.given(key) else { return Vec::new() };
        condition::words(&field.node, &mut |code, span, message| {
            reader.report(code, span, about(key, &message));
        })
    }

    /// Reads the paths of the rule: the format's own key, or another agent's key if that is absent.
    pub(super) fn paths(&self, reader: &mut Reader) -> Option<(&Field, Paths)> {
        let format = reader.format();
        let own = self.find(format.paths_key);
        let foreign =
            keys::PATHS.iter().filter(|key| **key != format.paths_key).find_map(|key| self.given(key));
        let own = own.filter(|own| own.node.value != Value::Null);
        if let Some(field) = foreign {
            let owner = keys::owner(&field.key).unwrap_or("no agent's");
            let message = match own {
                Some(_) if format.keys == Keys::All => {
                    Some(format!("`{}` has no effect next to `{}`", field.key, format.paths_key))
                }
                // The file is for both agents.
                Some(_) => None,
                None if format.keys == Keys::All || format.agent_ignores.contains(&field.key.as_str()) => {
                    None
                }
                None if format.aliases.iter().any(|(own, _)| *own == field.key) => None,
                // Without a key that it knows, the agent always applies the rule.
                None if format.bare == Bare::Always && is_everything(&field.node) => None,
                None => Some(format!("`{}` is {owner} key; {} itself ignores it", field.key, format.agent)),
            };
            if let Some(message) = message {
                let code = if own.is_some() { Code::DeadKey } else { Code::ForeignKey };
                let help = match own {
                    Some(_) => {
                        format!("move its patterns to `{}`, and remove `{}`", format.paths_key, field.key)
                    }
                    None => write_key(format.paths_key, field, reader),
                };
                reader.report(code, field.key_span.clone(), message).help = help;
            }
        }
        let field = own.or(foreign)?;
        if field.key == format.paths_key && !self.has_right_shape(field, reader) {
            return None;
        }
        let before = reader.diagnostics.len();
        let paths = Paths::read(&field.node, &reader.pattern_base(), &mut |code, span, message| {
            reader.report(code, span, about(&field.key, &message));
        });
        if paths.is_none() && format.lists == Lists::ListOrNever {
            return Some((field, Paths::none(format.dialect)));
        }
        // Cursor's own templates leave it empty.
        let is_template = format.id == FormatId::Cursor;
        if paths.is_none()
            && format.keys != Keys::Strict
            && !is_template
            && reader.diagnostics.len() == before
        {
            let message = format!("`{}` is empty and has no effect", field.key);
            reader.report(Code::EmptyValue, field.node.span.clone(), message);
        }
        let paths = paths?;
        patterns::report_single(field, &paths, reader);
        // The view of an agent is not corrected.
        let is_meant = !matches!(format.keys, Keys::Own(_));
        if !patterns::report_doubts(field, &paths, reader) || !is_meant {
            return Some((field, paths));
        }
        Some((field, paths.corrected(|pattern| patterns::corrected(pattern, format.dialect))))
    }

    /// Whether the agent accepts the type under its own key for paths. A wrong type is reported.
    fn has_right_shape(&self, field: &Field, reader: &mut Reader) -> bool {
        let format = reader.format();
        let is_list = matches!(field.node.value, Value::List(_));
        // Without quotes, these open a list or a map.
        let is_collection = is_list || reader.text[field.node.span.clone()].starts_with(['[', '{']);
        let (wanted, open, close) = match format.lists {
            _ if reader.is_lenient => return true,
            Lists::List | Lists::ListOrNever if !is_list => ("a list", "[", "]"),
            Lists::Text if is_collection => ("text", "\"", "\""),
            _ => return true,
        };
        let found = match field.node.value {
            Value::Text(_) if is_collection => "a map or a list",
            _ => field.node.value.kind(),
        };
        let message = format!(
            "`{}` is {found}; {} accepts only {wanted} there, so the rule is {}",
            field.key,
            format.agent,
            format.bare.outcome(),
        );
        let items = if let Value::List(items) = &field.node.value { items.len() } else { 0 };
        let written = match &field.node.value {
            Value::List(_) => {
                let texts = condition::texts(&field.node, &mut |_, _, _| {});
                texts.into_iter().map(|(text, _)| text).collect::<Vec<_>>().join(",")
            }
            _ => reader.text[field.node.span.clone()].to_owned(),
        };
        let as_written = &reader.text[field.node.span.clone()];
        let list =
            |texts: Vec<&str>| format!("[{}]", texts.into_iter().map(quoted).collect::<Vec<_>>().join(", "));
        let fixed = match &field.node.value {
            Value::Text(text) if is_collection => Some(quoted(text)),
            Value::Text(text) if !text.trim().is_empty() && !text.contains('\n') => {
                Some(list(split_list(text).into_iter().map(|(_, piece)| piece).collect()))
            }
            // A list over several lines, or with commas in its entries, cannot be written as text.
            Value::List(_) if as_written.starts_with('[') && split_list(&written).len() == items => {
                Some(quoted(&written))
            }
            _ => None,
        };
        let is_pattern = matches!(field.node.value, Value::Text(_) | Value::List(_)) && !written.is_empty();
        let pattern = match open {
            _ if is_pattern => shown(&written),
            "[" => "\"src/**\"".to_owned(),
            _ => "src/**".to_owned(),
        };
        let diagnostic = reader.report(Code::WrongType, field.node.span.clone(), message);
        diagnostic.help = format!("write `{}: {open}{pattern}{close}`", field.key);
        diagnostic.fix = fixed.map(|fixed| Fix::new(field.node.span.clone(), fixed));
        false
    }

    pub(super) fn conditions(&self, reader: &mut Reader) -> Vec<Condition> {
        let format = reader.format();
        let base = reader.pattern_base();
        let mode = mode_of_place(&reader.origin);
        condition::all()
            .filter(|kind| kind.key != "paths" && (kind.key != "tags" || format.keys == Keys::Conditions))
            .filter(|kind| !format.inert.contains(&kind.key))
            .filter_map(|kind| {
                let node = match self.given(kind.key) {
                    Some(field) => &field.node,
                    None => mode.as_ref().filter(|_| kind.key == "mode")?,
                };
                let before = reader.diagnostics.len();
                let condition = kind.build(node, &base, &mut |code, span, message| {
                    reader.report(code, span, about(kind.key, &message));
                });
                if condition.is_none() && reader.diagnostics.len() == before {
                    let message = format!("`{}` is empty and has no effect", kind.key);
                    reader.report(Code::EmptyValue, node.span.clone(), message);
                }
                condition
            })
            .collect()
    }

    /// Reports words that their key does not accept.
    pub(super) fn report_words(&self, reader: &mut Reader) {
        for (key, words) in reader.format().sets {
            let Some(word) = self.text(key, reader).filter(|word| !words.contains(&word.as_str())) else {
                continue;
            };
            let span = self.find(key).expect("read above").node.span.clone();
            let message = format!("`{}` is not a value of `{key}`", shown(&word));
            let names: Vec<String> = words.iter().map(|word| format!("`{word}`")).collect();
            reader.report(Code::BadValue, span, message).help = format!("write one of {}", names.join(", "));
        }
    }

    /// Reads Cody's regular expressions for files.
    pub(super) fn filters(&self, reader: &mut Reader) -> Option<Condition> {
        if reader.format().aliases != FILTERS {
            return None;
        }
        let families = FILTERS.iter().filter_map(|(key, _)| Some((*key, self.given(key)?)));
        let base = reader.pattern_base();
        condition::filters::read(families, &base, &mut |code, span, message| {
            reader.report(code, span, message);
        })
    }

    pub(super) fn combine(&self, reader: &mut Reader) -> MatchMode {
        match self.text("match", reader).as_deref() {
            None | Some("all") => MatchMode::All,
            Some("any") => MatchMode::Any,
            Some(other) => {
                let span = self.find("match").expect("read above").node.span.clone();
                reader.report(
                    Code::BadValue,
                    span,
                    format!("`match` must be `all` or `any`, found `{}`", shown(other)),
                );
                MatchMode::All
            }
        }
    }

    /// Reports `fires` and `clean` in a rule without anything that they could test.
    pub(super) fn report_texts(&self, reader: &mut Reader) {
        let span = self.find("examples").expect("read before").key_span.clone();
        let message = "`fires` and `clean` in `examples` cannot be tested: the rule has no `condition` or `ast`, and no `forbids` or `requires` about commands or files";
        reader.report(Code::DeadKey, span, message).help =
            "write paths in `match` and `miss`, or remove the examples".to_owned();
    }

    /// Reads `examples: {match: …, miss: …, fires: …, clean: …}`, each a text or a list.
    pub(super) fn examples(&self, reader: &mut Reader) -> Option<Examples> {
        let field = self.given("examples")?;
        let mut examples = Examples::default();
        let Value::Map(kinds) = &field.node.value else {
            report_type(
                reader,
                "examples",
                &field.node,
                "a map of `match`, `miss`, `fires`, `clean`",
                &field.node.value,
            );
            return None;
        };
        for kind in kinds {
            let list = match kind.key.as_str() {
                "match" => &mut examples.matches,
                "miss" => &mut examples.misses,
                "fires" => &mut examples.fires,
                "clean" => &mut examples.clean,
                other => {
                    let near = nearest(other, ["match", "miss", "fires", "clean"]);
                    let message = format!(
                        "`examples` accepts `match`, `miss`, `fires` and `clean`, found `{}`",
                        shown(other)
                    );
                    examples.unknown.push(other.to_owned());
                    let diagnostic = reader.report(Code::UnknownKey, kind.key_span.clone(), message);
                    if let Some(near) = near {
                        diagnostic.help = format!("did you mean `{near}`?");
                    }
                    continue;
                }
            };
            let texts = condition::texts(&kind.node, &mut |code, span, message| {
                reader.report(code, span, about("examples", &message));
            });
            list.extend(texts.into_iter().map(|(text, _)| text.to_owned()));
        }
        Some(examples)
    }
}

/// A problem of a value as a sentence about its key.
fn about(key: &str, message: &str) -> String {
    let rest = message.strip_prefix("each item ").map(|rest| format!("each item of `{key}` {rest}"));
    match rest {
        Some(message) => message,
        None if message.starts_with("must ") => format!("`{key}` {message}"),
        None => format!("`{key}`: {message}"),
    }
}

/// Returns what to write instead of a value that is neither `true` nor `false`.
fn boolean_help(key: &str, written: &str) -> String {
    let word = written.trim_matches(['"', '\'']).to_ascii_lowercase();
    match word.as_str() {
        "true" | "yes" | "on" | "1" => format!("write `{key}: true`, without quotes"),
        "false" | "no" | "off" | "0" => format!("write `{key}: false`, without quotes"),
        _ => format!("write `{key}: true` or `{key}: false`"),
    }
}

/// Whether a value is a pattern for every file.
pub(super) fn is_everything(node: &Node) -> bool {
    let patterns = condition::texts(node, &mut |_, _, _| {});
    !patterns.is_empty() && patterns.iter().all(|(text, _)| means_everything(text))
}

/// Returns the mode that a file's folder or name stands for, as a value of its header.
fn mode_of_place(origin: &Origin) -> Option<Node> {
    let mode = match origin.place.shape {
        PlaceKind::Modes { prefix, .. } => origin.inner.strip_prefix(prefix)?.split_once('/')?.0,
        _ => origin.place.mode?,
    };
    Some(Node { value: Value::Text(mode.to_owned()), span: 0..0 })
}

fn report_type<'r>(
    reader: &'r mut Reader,
    key: &str,
    node: &Node,
    wanted: &str,
    found: &Value,
) -> &'r mut Diagnostic {
    let raw = shown(&reader.text[node.span.clone()]);
    let message = format!("`{key}` must be {wanted}, found {} (`{raw}`)", found.kind());
    let diagnostic = reader.report(Code::WrongType, node.span.clone(), message);
    diagnostic.help = format!("write {wanted}");
    diagnostic
}

/// Says to write a value under another key.
pub(super) fn write_key(key: &str, field: &Field, reader: &Reader) -> String {
    let value = &reader.text[field.node.span.clone()];
    match value.contains('\n') {
        true => format!("write `{key}:` with the same list"),
        false => format!("write `{key}: {}`", pasted(value)),
    }
}
