//! Layers: reads one settings file against the table of settings, and locates every problem.

mod protection;
mod tables;

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use rulebook::agent::{Agent, PRODUCTS, Purpose};
use rulebook::diagnostic::{Code, Diagnostic, nearest};
use rulebook::export::{TARGETS, Target};
use rulebook::format::{FORMATS, Format, FormatId};
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::keys::{Accepts, KEYS, Key, WordOrFormats, Writer, quoted, table_name};
use super::text::{cut, join, stays_inside, whole};
use super::values::{Remote, Setting, Settings, Trust};

/// The text of one settings file, or of the flags.
#[derive(Clone, Debug)]
pub struct Layer {
    /// Where it comes from.
    pub kind: LayerKind,
    /// As shown to people: `rulebook.toml`, `~/.config/rulebook/config.toml`.
    pub display: String,
    /// TOML.
    pub text: String,
}

/// Where a layer comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LayerKind {
    /// A repository, which may be a stranger's.
    Workspace {
        /// Which of the workspace's roots, counted from 0.
        root: usize,
    },
    /// The person's own file.
    User,
    /// The command line.
    Flags,
}

/// The entries of every layer for each list, in order, by the key's path.
pub(super) type Lists = BTreeMap<&'static str, Vec<Setting>>;

/// The largest settings file that is read, in bytes.
pub(crate) const MAX_TEXT: usize = 1 << 20;

/// The most problems reported for one layer. Locating one reads the text up to it, so a file of nothing but problems
/// would otherwise take quadratic time.
const MAX_FAULTS: usize = 100;

/// Reads a layer into the settings and the lists, and reports its problems.
pub(super) fn read(layer: &Layer, settings: &mut Settings, lists: &mut Lists) -> Vec<Diagnostic> {
    if layer.text.len() > MAX_TEXT {
        let message = format!("the file has {} bytes, more than 1 MiB", layer.text.len());
        return vec![Diagnostic::whole(Code::BadSettings, &layer.display, message)];
    }
    let (document, errors) = DeTable::parse_recoverable(&layer.text);
    let Some(error) = errors.first() else {
        let mut reading = Reading::new(layer, settings, lists);
        reading.document(document.get_ref());
        return reading.finish();
    };
    let at = error.span().unwrap_or_default();
    let error = Diagnostic::at(Code::BadSettings, &layer.display, &layer.text, at, error.message());
    if layer.kind == LayerKind::User {
        Reading::keep(layer, document.get_ref(), settings, &error);
    }
    vec![error]
}

/// The setting that fails closed.
const TRUST: &str = "trust";

struct Reading<'r> {
    layer: &'r Layer,
    settings: &'r mut Settings,
    lists: &'r mut Lists,
    diagnostics: Vec<Diagnostic>,
    /// The number of problems beyond [`MAX_FAULTS`].
    unreported: usize,
}

impl<'r> Reading<'r> {
    fn new(layer: &'r Layer, settings: &'r mut Settings, lists: &'r mut Lists) -> Reading<'r> {
        Reading { layer, settings, lists, diagnostics: Vec::new(), unreported: 0 }
    }
}

impl Reading<'_> {
    fn document(&mut self, document: &DeTable<'_>) {
        self.table("", document);
        if self.root().is_none() {
            self.protect(document);
        }
    }

    /// Reads a table in the order of the file, so that the first of two spellings counts.
    fn table(&mut self, path: &str, table: &DeTable<'_>) {
        let mut entries: Vec<_> = table.iter().collect();
        // A surface overrides its product, whichever comes first.
        let is_surface = |name: &str| path == "agents" && PRODUCTS.iter().all(|product| product.name != name);
        entries.sort_unstable_by_key(|(name, _)| (is_surface(name.get_ref()), name.span().start));
        let mut seen: Vec<&str> = Vec::new();
        for (name, value) in entries {
            match find(path, name.get_ref()) {
                Some(key) if seen.contains(&key.path) => {
                    let message = || format!("`{}` is already set above, in another spelling", key.path);
                    self.report(Code::DuplicateKey, name.span(), message);
                }
                Some(key) => {
                    seen.push(key.path);
                    self.key(key, name.span(), value);
                }
                None if path.is_empty() && is_table(table_name(name.get_ref())) => {
                    self.section(table_name(name.get_ref()), value);
                }
                None if path == "agents" && matches!(value.get_ref(), DeValue::Table(_)) => {
                    self.agent(name.get_ref(), name.span(), value);
                }
                None => self.unknown(path, name.get_ref(), name.span()),
            }
        }
    }

    fn section(&mut self, name: &str, value: &Spanned<DeValue<'_>>) {
        match value.get_ref() {
            DeValue::Table(table) => self.table(name, table),
            _ => {
                let found = self.found(value);
                let message = || format!("`{name}` must be a table, found {found}");
                self.report(Code::WrongType, value.span(), message);
            }
        }
    }

    fn key(&mut self, key: &'static Key, name: Range<usize>, value: &Spanned<DeValue<'_>>) {
        if key.writer == Writer::Person && self.root().is_some() {
            let message = || format!("a workspace's settings cannot set `{}`", key.path);
            return self.report(Code::RefusedSetting, name, message);
        }
        let is_accepted = match (&key.accepts, value.get_ref()) {
            (Accepts::Flag(put), DeValue::Boolean(on)) => {
                put(self.settings, *on);
                true
            }
            (Accepts::Number { most, put }, DeValue::Integer(number)) => {
                let is_person = self.root().is_none();
                let number = whole(number).filter(|number| is_person || number <= most);
                number.map(|number| put(self.settings, number)).is_some()
            }
            (Accepts::Word { put, .. } | Accepts::Text { put, .. }, DeValue::String(text)) => {
                put(self.settings, text.trim())
            }
            (Accepts::List { clean, .. }, DeValue::Array(items)) => {
                self.list(key, *clean, items);
                true
            }
            (Accepts::List { clean, .. }, DeValue::String(_)) if key.split().0 == "export" => {
                self.list(key, *clean, std::slice::from_ref(value));
                true
            }
            (Accepts::WordOrFormats { words, put }, DeValue::String(word)) => {
                let word = words.iter().find(|known| **known == word.trim()).copied();
                word.map(|word| put(self.settings, WordOrFormats::Word(word))).is_some()
            }
            (Accepts::WordOrFormats { put, .. }, DeValue::Array(items)) => {
                let formats = items.iter().filter_map(|item| self.format(key, item)).collect();
                put(self.settings, WordOrFormats::Formats(formats));
                true
            }
            (Accepts::Entries, DeValue::Array(entries)) => {
                self.remotes(key, entries);
                true
            }
            _ => return self.reject(Code::WrongType, key, value),
        };
        if is_accepted {
            self.settings.set_by.insert(key.path, self.layer.display.clone());
        } else {
            self.reject(Code::BadValue, key, value);
        }
    }

    fn list(&mut self, key: &'static Key, clean: fn(&str) -> String, items: &[Spanned<DeValue<'_>>]) {
        for item in items {
            let (text, format) = match item.get_ref() {
                DeValue::Table(table) if key.path == "rules.extra_paths" => {
                    let Some(found) = self.extra_path(key, item, table) else { continue };
                    found
                }
                other => (other.as_str(), None),
            };
            let Some(text) = text else {
                self.reject(Code::WrongType, key, item);
                continue;
            };
            let (sign, name) = text.trim().strip_prefix('!').map_or(("", text), |name| ("!", name));
            let name = clean(name);
            if name.is_empty() {
                let message = || format!("an entry of `{}` is empty", key.path);
                self.report_with_help(Code::BadValue, item.span(), message, || "remove it".to_owned());
            } else if key.writer == Writer::Inside && self.root().is_some() && !stays_inside(&name) {
                let is_table = matches!(item.get_ref(), DeValue::Table(_));
                let found = if is_table { format!("`{}`", cut(&name)) } else { self.found(item) };
                self.report(Code::RefusedSetting, item.span(), || {
                    format!("a workspace's `{}` cannot point outside it: {found}", key.path)
                });
            } else if matches!(key.path, "rules.formats" | "rules.strict") && Format::named(&name).is_none() {
                self.unknown_format(&name, item.span());
            } else if let ("agents.used", Err(unknown)) = (key.path, Agent::find(&name, Purpose::View)) {
                let message = || format!("{unknown}; it is ignored");
                self.report_with_help(Code::BadValue, item.span(), message, || unknown.help());
            } else if key.path == "export.to" && Target::named(&name).is_none() {
                let message = || {
                    format!("`{}` is not an agent that rules can be written for; it is ignored", cut(&name))
                };
                self.report_with_help(Code::BadValue, item.span(), message, || {
                    let known = TARGETS.iter().map(|target| target.name);
                    nearest(&name, known).map_or_else(
                        || "`rulebook export` without `--to` lists them".to_owned(),
                        |near| format!("did you mean `{near}`?"),
                    )
                });
            } else {
                let file = self.layer.display.clone();
                let value = format!("{sign}{name}");
                let setting = Setting { value, file, root: self.root(), format };
                self.lists.entry(key.path).or_default().push(setting);
            }
        }
    }

    /// Reads the name of a format.
    fn format(&mut self, key: &Key, item: &Spanned<DeValue<'_>>) -> Option<FormatId> {
        let Some(name) = item.get_ref().as_str() else {
            self.reject(Code::WrongType, key, item);
            return None;
        };
        let format = FormatId::named(&name.trim().to_lowercase());
        if format.is_none() {
            self.unknown_format(name, item.span());
        }
        format
    }

    fn unknown_format(&mut self, name: &str, span: Range<usize>) {
        let message = || format!("`{}` is not a format; it is ignored", cut(name));
        self.report_with_help(Code::BadValue, span, message, || {
            let known = FORMATS.iter().map(Format::name);
            match nearest(name, known.clone()) {
                Some(near) => format!("did you mean `{near}`?"),
                None => format!("use one of {}", known.collect::<Vec<_>>().join(", ")),
            }
        });
    }

    fn unknown(&mut self, path: &str, name: &str, span: Range<usize>) {
        let full = join(path, self.written(span.clone()));
        let message = || format!("`{}` is not a setting", cut(&full));
        self.report_with_help(Code::UnknownSetting, span, message, || {
            let keys = KEYS.iter().filter(|key| key.split().0 == path).flat_map(Key::names);
            let tables =
                KEYS.iter().map(|key| key.split().0).filter(|table| path.is_empty() && is_table(table));
            let known: BTreeSet<&str> = keys.chain(tables).collect();
            let elsewhere = KEYS.iter().find(|key| key.names().any(|other| other == name));
            match (nearest(&cut(name), known.iter().copied()), elsewhere.map(|key| key.split().0)) {
                (Some(near), _) => format!("did you mean `{near}`?"),
                (None, Some("")) => "put it at the top, before any table".to_owned(),
                (None, Some(table)) if find("", table).is_some() => format!("put it under `[[{table}]]`"),
                (None, Some(table)) => format!("put it under `[{table}]`"),
                (None, None) => format!("remove it; the settings here are {}", quoted(known.into_iter())),
            }
        });
    }

    /// Reports a value that its key does not accept.
    fn reject(&mut self, code: Code, key: &Key, value: &Spanned<DeValue<'_>>) {
        // The line may contain a secret, written there by mistake.
        let may_be_secret = matches!(key.path, "remote.url" | "remote.token_env");
        let found = if may_be_secret { "another value".to_owned() } else { self.found(value) };
        let agent = self.settings.agents.each.last().map_or("NAME", |(name, _)| name);
        let path = key.path.replace("NAME", agent);
        let message = || format!("`{path}` must be {}, found {found}", key.accepts.wanted());
        let help = || match (&key.accepts, value.get_ref().as_str()) {
            (Accepts::Word { words, .. }, Some(word)) => match nearest(&cut(word), words()) {
                Some(near) => format!("did you mean `\"{near}\"`?"),
                None => code.row().remedy.to_owned(),
            },
            _ => Code::WrongType.row().remedy.to_owned(),
        };
        self.report_with_help(code, value.span(), message, help);
        if key.path == TRUST {
            self.settings.trust = Trust::Require;
            if self.layer.kind == LayerKind::User {
                self.protect_last("it counts as `require`");
            }
        } else if matches!(key.accepts, Accepts::Entries) {
            let held = self.hold(value);
            self.settings.remotes_left_out += usize::from(held.is_none());
            self.protect_last(held.as_deref().unwrap_or("no remote is used"));
        }
        if let Some(reported) = self.diagnostics.last_mut().filter(|_| may_be_secret) {
            reported.excerpt = None;
        }
    }

    /// The text as written, with its escapes, so that it is safe to print.
    fn written(&self, span: Range<usize>) -> &str {
        self.layer.text.get(span).unwrap_or_default()
    }

    /// A value for a message.
    fn found(&self, value: &Spanned<DeValue<'_>>) -> String {
        match value.get_ref() {
            DeValue::Table(_) => "a table".to_owned(),
            DeValue::Array(_) => "a list".to_owned(),
            _ => format!("`{}`", cut(self.written(value.span()))),
        }
    }

    fn report(&mut self, code: Code, span: Range<usize>, message: impl FnOnce() -> String) {
        self.report_with_help(code, span, message, || code.row().remedy.to_owned());
    }

    fn report_with_help(
        &mut self,
        code: Code,
        span: Range<usize>,
        message: impl FnOnce() -> String,
        help: impl FnOnce() -> String,
    ) {
        if self.diagnostics.len() == MAX_FAULTS {
            self.unreported += 1;
            return;
        }
        let Layer { display, text, .. } = self.layer;
        self.diagnostics.push(Diagnostic::at(code, display, text, span, message()).help(help()));
    }

    fn root(&self) -> Option<usize> {
        match self.layer.kind {
            LayerKind::Workspace { root } => Some(root),
            LayerKind::User | LayerKind::Flags => None,
        }
    }

    fn finish(mut self) -> Vec<Diagnostic> {
        self.diagnostics.sort_by_key(|diagnostic| (diagnostic.line, diagnostic.column));
        if self.unreported > 0 {
            let message = format!("{} more problems are not shown", self.unreported);
            let rest = Diagnostic::whole(Code::BadValue, &self.layer.display, message);
            self.diagnostics.push(rest.help("fix the problems above first"));
        }
        self.diagnostics
    }
}

/// The row of a name in a table, in either spelling.
fn find(path: &str, name: &str) -> Option<&'static Key> {
    KEYS.iter().find(|key| key.split().0 == path && key.names().any(|known| known == name))
}

fn is_table(name: &str) -> bool {
    !name.is_empty() && !name.contains('.') && KEYS.iter().any(|key| key.split().0 == name)
}

/// Replaces the remote with the same name, or adds this one at the end.
fn replace(remotes: &mut Vec<Remote>, remote: Remote) {
    match remotes.iter_mut().find(|earlier| earlier.name == remote.name) {
        Some(earlier) => *earlier = remote,
        None => remotes.push(remote),
    }
}
