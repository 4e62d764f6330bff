//! Reads one layer against the table of settings, and locates everything that does not fit it.

use std::collections::BTreeSet;
use std::ops::Range;

use rulebook::diagnostic::{Code, Diagnostic, nearest};
use rulebook::format::{FORMATS, Format};
use toml::Spanned;
use toml::de::{DeArray, DeInteger, DeTable, DeValue};

use super::keys::{KEYS, Key, Takes, Who, quoted};
use super::{Layer, LayerKind, Lists, MAX_TEXT, Remote, Setting, Settings};

/// The most faults that are told of one layer. Locating a fault reads the text up to it, so a file
/// made of nothing but faults would otherwise take the square of its length.
const MAX_FAULTS: usize = 100;

/// Reads a layer into the settings and the lists, and tells what is wrong with it.
pub(super) fn read(layer: &Layer, settings: &mut Settings, lists: &mut Lists) -> Vec<Diagnostic> {
    if layer.text.len() > MAX_TEXT {
        let message = format!("the file has {} bytes, more than 1 MiB", layer.text.len());
        return vec![Diagnostic::whole(Code::BadSettings, &layer.display, message)];
    }
    let document = match DeTable::parse(&layer.text) {
        Ok(document) => document,
        Err(error) => {
            let at = error.span().unwrap_or_default();
            return vec![Diagnostic::at(Code::BadSettings, &layer.display, &layer.text, at, error.message())];
        }
    };
    let mut reading = Reading { layer, settings, lists, faults: Vec::new(), untold: 0 };
    reading.table("", document.get_ref());
    reading.finish()
}

/// The most bytes of somebody's text in a message.
const MAX_SHOWN: usize = 60;

struct Reading<'r> {
    layer: &'r Layer,
    settings: &'r mut Settings,
    lists: &'r mut Lists,
    faults: Vec<Fault>,
    /// How many faults there were beyond [`MAX_FAULTS`].
    untold: usize,
}

struct Fault {
    span: Range<usize>,
    code: Code,
    message: String,
    help: Option<String>,
    /// Whether its line may hold what nobody is to see, written there by mistake.
    may_be_secret: bool,
}

impl Reading<'_> {
    /// Reads a table in the order of the file, so that of two spellings the first one counts.
    fn table(&mut self, path: &str, table: &DeTable<'_>) {
        let mut entries: Vec<_> = table.iter().collect();
        entries.sort_unstable_by_key(|(name, _)| name.span().start);
        let mut seen: Vec<&str> = Vec::new();
        for (name, value) in entries {
            match find(path, name.get_ref()) {
                Some(key) if seen.contains(&key.path) => {
                    let message = || format!("`{}` was set above in another spelling", key.path);
                    self.tell(Code::DuplicateKey, name.span(), message);
                }
                Some(key) => {
                    seen.push(key.path);
                    self.key(key, name.span(), value);
                }
                None if path.is_empty() && is_table(name.get_ref()) => self.section(name.get_ref(), value),
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
                self.tell(Code::WrongType, value.span(), message);
            }
        }
    }

    fn key(&mut self, key: &'static Key, name: Range<usize>, value: &Spanned<DeValue<'_>>) {
        if key.who == Who::Person && self.root().is_some() {
            let message = || format!("a workspace's settings may not set `{}`", key.path);
            return self.tell(Code::RefusedSetting, name, message);
        }
        let kept = match (&key.takes, value.get_ref()) {
            (Takes::Flag(put), DeValue::Boolean(on)) => {
                put(self.settings, *on);
                Ok(())
            }
            (Takes::Number(put), DeValue::Integer(number)) => {
                whole(number).map(|number| put(self.settings, number)).ok_or(Code::BadValue)
            }
            (Takes::Word(words, put), DeValue::String(word)) => {
                let place = words.iter().position(|known| *known == word.trim());
                place.map(|at| put(self.settings, at)).ok_or(Code::BadValue)
            }
            (Takes::Text { put, .. }, DeValue::String(text)) => {
                put(self.settings, text).then_some(()).ok_or(Code::BadValue)
            }
            (Takes::List { clean, .. }, DeValue::Array(items)) => {
                self.list(key, *clean, items);
                Ok(())
            }
            (Takes::Entries, DeValue::Array(entries)) => {
                self.remotes(key, entries);
                Ok(())
            }
            _ => Err(Code::WrongType),
        };
        match kept {
            Ok(()) => {
                self.settings.said.insert(key.path, self.layer.display.clone());
            }
            Err(code) => {
                self.settings.remotes_left_out += usize::from(matches!(key.takes, Takes::Entries));
                self.misfit(code, key, value);
            }
        }
    }

    fn list(&mut self, key: &'static Key, clean: fn(&str) -> String, items: &DeArray<'_>) {
        for item in items.iter() {
            let Some(text) = item.get_ref().as_str() else {
                self.misfit(Code::WrongType, key, item);
                continue;
            };
            let (sign, name) = text.trim().strip_prefix('!').map_or(("", text), |name| ("!", name));
            let name = clean(name);
            if name.is_empty() {
                self.tell(Code::BadValue, item.span(), || format!("an entry of `{}` is empty", key.path));
                self.help(|| "remove it".to_owned());
            } else if key.who == Who::Inside && self.root().is_some() && !stays_inside(&name) {
                let found = self.found(item);
                self.tell(Code::RefusedSetting, item.span(), || {
                    format!("a workspace's `{}` may not lead out of it, as {found} does", key.path)
                });
            } else if key.path == "rules.formats" && Format::named(&name).is_none() {
                self.tell(Code::BadValue, item.span(), || {
                    format!("`{}` is not a format; it is ignored", cut(&name))
                });
                let known = FORMATS.iter().map(Format::name);
                self.help(|| match nearest(&name, known.clone()) {
                    Some(near) => format!("write `{near}`"),
                    None => format!("known are {}", known.collect::<Vec<_>>().join(", ")),
                });
            } else {
                let file = self.layer.display.clone();
                let setting = Setting { value: format!("{sign}{name}"), file, root: self.root() };
                self.lists.entry(key.path).or_default().push(setting);
            }
        }
    }

    /// Reads `[[remote]]`. An entry with any fault is left out: half of one could be fetched without
    /// the hash its author meant.
    fn remotes(&mut self, key: &'static Key, entries: &DeArray<'_>) {
        let mut names: BTreeSet<String> = BTreeSet::new();
        for entry in entries.iter() {
            let DeValue::Table(table) = entry.get_ref() else {
                self.settings.remotes_left_out += 1;
                self.misfit(Code::WrongType, key, entry);
                continue;
            };
            let faults = self.faults.len() + self.untold;
            self.settings.remotes.push(Remote::default());
            self.table(key.path, table);
            let Some(remote) = self.settings.remotes.pop() else { continue };
            let (wrong, help) = if faults < self.faults.len() + self.untold {
                ("this remote is left out, because of one of its keys", "mend the key")
            } else if remote.name.is_empty() || remote.url.is_empty() {
                ("this remote is left out: it needs a `name` and a `url`", "add what is missing")
            } else if !names.insert(remote.name.clone()) {
                ("this remote is left out: one of its name stands above", "give each its own name")
            } else {
                replace(&mut self.settings.remotes, remote);
                continue;
            };
            self.settings.remotes_left_out += 1;
            self.tell(Code::BadValue, entry.span(), || wrong.to_owned());
            self.help(|| help.to_owned());
        }
    }

    fn unknown(&mut self, path: &str, name: &str, span: Range<usize>) {
        let full = join(path, self.written(span.clone()));
        self.tell(Code::UnknownSetting, span, || format!("`{}` is not a setting", cut(&full)));
        self.help(|| {
            let keys = KEYS.iter().filter(|key| key.split().0 == path).flat_map(Key::names);
            let tables =
                KEYS.iter().map(|key| key.split().0).filter(|table| path.is_empty() && !table.is_empty());
            let known: BTreeSet<&str> = keys.chain(tables).collect();
            let elsewhere = KEYS.iter().find(|key| key.names().any(|other| other == name));
            match (nearest(&cut(name), known.iter().copied()), elsewhere.map(|key| key.split().0)) {
                (Some(near), _) => format!("write `{near}`"),
                (None, Some("")) => "put it at the top, before any table".to_owned(),
                (None, Some(table)) if find("", table).is_some() => format!("put it under `[[{table}]]`"),
                (None, Some(table)) => format!("put it under `[{table}]`"),
                (None, None) => format!("remove it; known here: {}", quoted(known.into_iter())),
            }
        });
    }

    /// Tells that a value is not what its key takes.
    fn misfit(&mut self, code: Code, key: &Key, value: &Spanned<DeValue<'_>>) {
        let may_be_secret = matches!(key.path, "remote.url" | "remote.token_env");
        let found = if may_be_secret { "another text".to_owned() } else { self.found(value) };
        let message = || format!("`{}` must be {}, found {found}", key.path, key.takes.wanted());
        self.tell(code, value.span(), message);
        if let Some(fault) = self.faults.last_mut().filter(|_| may_be_secret) {
            fault.may_be_secret = true;
        }
        self.help(|| match (&key.takes, value.get_ref().as_str()) {
            (Takes::Word(words, _), Some(word)) => match nearest(&cut(word), words.iter().copied()) {
                Some(near) => format!("write `\"{near}\"`"),
                None => code.row().remedy.to_owned(),
            },
            _ => Code::WrongType.row().remedy.to_owned(),
        });
    }

    /// Text as its author wrote it: escapes are still escapes, so that it can be shown.
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

    fn tell(&mut self, code: Code, span: Range<usize>, message: impl FnOnce() -> String) {
        if self.faults.len() == MAX_FAULTS {
            self.untold += 1;
        } else {
            self.faults.push(Fault { span, code, message: message(), help: None, may_be_secret: false });
        }
    }

    /// Gives the fault told last another help than its code's.
    fn help(&mut self, help: impl FnOnce() -> String) {
        if let (0, Some(fault)) = (self.untold, self.faults.last_mut()) {
            fault.help = Some(help());
        }
    }

    fn root(&self) -> Option<usize> {
        match self.layer.kind {
            LayerKind::Workspace { root } => Some(root),
            LayerKind::User | LayerKind::Flags => None,
        }
    }

    fn finish(mut self) -> Vec<Diagnostic> {
        self.faults.sort_by_key(|fault| fault.span.start);
        let Layer { display, text, .. } = self.layer;
        let located = self.faults.into_iter().map(|fault| {
            let mut diagnostic = Diagnostic::at(fault.code, display, text, fault.span, fault.message);
            diagnostic.excerpt = diagnostic.excerpt.filter(|_| !fault.may_be_secret);
            match fault.help {
                Some(help) => diagnostic.help(help),
                None => diagnostic,
            }
        });
        let rest = (self.untold > 0).then(|| {
            let message = format!("{} more problems are not shown", self.untold);
            Diagnostic::whole(Code::BadValue, display, message).help("mend those above first")
        });
        located.chain(rest).collect()
    }
}

/// The row of a name in a table, in either spelling.
fn find(path: &str, name: &str) -> Option<&'static Key> {
    KEYS.iter().find(|key| key.split().0 == path && key.names().any(|known| known == name))
}

fn is_table(name: &str) -> bool {
    !name.is_empty() && KEYS.iter().any(|key| key.split().0 == name)
}

/// Puts a remote in the place of the one with its name, or last.
fn replace(remotes: &mut Vec<Remote>, remote: Remote) {
    match remotes.iter_mut().find(|earlier| earlier.name == remote.name) {
        Some(earlier) => *earlier = remote,
        None => remotes.push(remote),
    }
}

fn whole(number: &DeInteger<'_>) -> Option<u32> {
    u32::from_str_radix(number.as_str(), number.radix()).ok()
}

/// Whether a path, as written, stays in the folder it starts from, on any system.
fn stays_inside(path: &str) -> bool {
    let is_rooted = path.starts_with(['/', '\\', '~']) || path.as_bytes().get(1) == Some(&b':');
    let mut depth = 0;
    !is_rooted
        && path.split(['/', '\\']).all(|part| {
            depth += match part {
                "" | "." => 0,
                ".." => -1,
                _ => 1,
            };
            depth >= 0
        })
}

fn join(path: &str, name: &str) -> String {
    if path.is_empty() { name.to_owned() } else { format!("{path}.{name}") }
}

/// Somebody's text for a message: the beginning of its first line.
fn cut(text: &str) -> String {
    let line = text.lines().next().unwrap_or_default();
    let end = line.floor_char_boundary(MAX_SHOWN);
    if end == text.len() { line.to_owned() } else { format!("{}…", &line[..end]) }
}
