//! What protects the person, where it is written so that it cannot be read: a `trust` at a place where it has no meaning, and
//! remotes under another name.

use std::ops::Range;

use rulebook::diagnostic::{Code, Diagnostic, nearest};
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::super::keys::{KEYS, table_name};
use super::super::text::{cut, join};
use super::super::values::{Remote, Settings, Trust};
use super::{Layer, Lists, MAX_FAULTS, Reading, TRUST, find, is_table, replace};

/// The other setting that protects.
const REMOTE: &str = "remote";

/// What counts instead of a `trust` that cannot be read.
const COUNTS_AS_REQUIRE: &str = "`trust` counts as `require`";

/// A key that reads like a setting that protects, at a place where it is none.
struct Misplaced<'t> {
    setting: &'static str,
    /// The table that it is in.
    table: String,
    span: Range<usize>,
    value: &'t Spanned<DeValue<'t>>,
}

impl Reading<'_> {
    /// Reads what protects the person from a file that is not TOML: the remotes whose names can be read keep their copies, and
    /// a `trust` that cannot be read counts as `require`.
    pub(super) fn keep(layer: &Layer, document: &DeTable<'_>, settings: &mut Settings, error: &Diagnostic) {
        let (mut found, mut lists) = (Settings::default(), Lists::new());
        let mut reading = Reading::new(layer, &mut found, &mut lists);
        reading.document(document);
        let names_trust = |line: &str| {
            let name = line.split('=').next().unwrap_or_default().trim();
            line.trim_start().starts_with(TRUST) || name != line.trim() && reads_like("", name) == Some(TRUST)
        };
        if found.set_by.contains_key(TRUST) || found.trust == Trust::Require {
            settings.trust = found.trust;
        } else if layer.text.lines().any(names_trust) {
            settings.trust = Trust::Require;
        }
        settings.remotes_left_out += found.remotes_left_out;
        for Remote { name, url, .. } in found.remotes {
            let faults = vec![error.clone()];
            replace(&mut settings.remotes, Remote { name, url, is_held: true, faults, ..Remote::default() });
        }
    }

    /// Lets what protects count wherever it is written: somebody who misplaced or misspelled it wants to be protected.
    pub(super) fn protect(&mut self, document: &DeTable<'_>) {
        let mut found = Vec::new();
        collect("", document, &mut found);
        for Misplaced { setting, table, span, value } in found {
            let (instead, help) = match (setting, table.as_str()) {
                (TRUST, table) => {
                    self.settings.trust = Trust::Require;
                    let help = if table.is_empty() {
                        "did you mean `trust`?"
                    } else {
                        "put `trust` at the top, before any table"
                    };
                    (COUNTS_AS_REQUIRE.to_owned(), help)
                }
                _ => {
                    let Some(effect) = self.hold(value) else { continue };
                    (effect, "write `[[remote]]` before each remote")
                }
            };
            let full = join(&table, self.written(span.clone()));
            let fault = self.reported(span, &format!("`{}` is not a setting", cut(&full)));
            fault.protect(&instead);
            help.clone_into(&mut fault.help);
            let fault = fault.clone();
            self.blame(&fault);
        }
    }

    /// Holds the remotes in a value that is no list of tables under `[[remote]]`: one remote, several by name, or a list under another
    /// name. Returns what happens to them; `None` if there are none.
    pub(super) fn hold(&mut self, value: &Spanned<DeValue<'_>>) -> Option<String> {
        let mut names = Vec::new();
        for (key, table) in entries(value.get_ref()) {
            let (reported, unreported) = (self.diagnostics.len(), self.unreported);
            self.settings.remotes.push(Remote::default());
            self.table(REMOTE, table);
            self.diagnostics.truncate(reported);
            self.unreported = unreported;
            let Some(mut remote) = self.settings.remotes.pop() else { continue };
            if remote.name.is_empty() {
                key.unwrap_or_default().clone_into(&mut remote.name);
            }
            remote.is_held = true;
            names.push(cut(&remote.name));
            let is_known = self.settings.remotes.iter().any(|known| known.name == remote.name);
            if remote.name.is_empty() {
                self.settings.remotes_left_out += 1;
            } else if !is_known {
                self.settings.remotes.push(remote);
            }
        }
        names.retain(|name| !name.is_empty());
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        (!names.is_empty()).then(|| effect_on(&names))
    }

    /// Says what counts instead of the setting that was reported last.
    pub(super) fn protect_last(&mut self, instead: &str) {
        if let Some(fault) = self.diagnostics.last_mut() {
            fault.protect(instead);
            let fault = fault.clone();
            self.blame(&fault);
        }
    }

    /// Names the problem of the remotes that were held because of it.
    fn blame(&mut self, fault: &Diagnostic) {
        let held =
            self.settings.remotes.iter_mut().filter(|remote| remote.is_held && remote.faults.is_empty());
        held.for_each(|remote| remote.faults.push(fault.clone()));
    }

    /// The problem that is reported at a place, or a new one.
    fn reported(&mut self, span: Range<usize>, message: &str) -> &mut Diagnostic {
        let Layer { display, text, .. } = self.layer;
        let fault = Diagnostic::at(Code::UnknownSetting, display, text, span, message);
        let place = (fault.line, fault.column);
        let known = self.diagnostics.iter().position(|known| (known.line, known.column) == place);
        let at = known.unwrap_or_else(|| {
            self.diagnostics.push(fault);
            self.diagnostics.len() - 1
        });
        &mut self.diagnostics[at]
    }
}

/// What happens to remotes whose settings cannot be read.
pub(super) fn effect_on(names: &[&str]) -> String {
    let shown: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
    let shown = shown.join(", ");
    match names {
        [_] => format!("{shown} is not fetched until this is fixed; a copy fetched earlier stays in use"),
        _ => format!("{shown} are not fetched until this is fixed; copies fetched earlier stay in use"),
    }
}

/// The tables of remotes in a value, each with its name if it is written as a key: `[remote]`, `[remote.NAME]`, `[[remotes]]`.
fn entries<'t>(value: &'t DeValue<'t>) -> Vec<(Option<&'t str>, &'t DeTable<'t>)> {
    let is_entry = |table: &DeTable<'_>| table.contains_key("name") || table.contains_key("url");
    let tables: Vec<(Option<&str>, &DeTable<'_>)> = match value {
        DeValue::Table(table) if is_entry(table) => vec![(None, table)],
        DeValue::Table(table) => table
            .iter()
            .filter_map(|(key, value)| Some((Some(&**key.get_ref()), value.get_ref().as_table()?)))
            .collect(),
        DeValue::Array(items) => {
            items.iter().filter_map(|item| Some((None, item.get_ref().as_table()?))).collect()
        }
        _ => Vec::new(),
    };
    tables.into_iter().filter(|(_, table)| is_entry(table)).collect()
}

/// Collects the keys of a table, and of those in it, that read like a setting that protects and are not known where they are.
fn collect<'t>(path: &str, table: &'t DeTable<'t>, found: &mut Vec<Misplaced<'t>>) {
    for (key, value) in table {
        let name = &**key.get_ref();
        let is_known = find(path, name).is_some() || path.is_empty() && is_table(table_name(name));
        let setting = if is_known || found.len() == MAX_FAULTS { None } else { reads_like(path, name) };
        if let Some(setting) = setting {
            found.push(Misplaced { setting, table: path.to_owned(), span: key.span(), value });
        }
        let inner = match path {
            "" => table_name(name).to_owned(),
            "agents" => "agents.NAME".to_owned(),
            path => join(path, name),
        };
        match value.get_ref() {
            _ if setting == Some(REMOTE) => {}
            DeValue::Table(table) => collect(&inner, table, found),
            DeValue::Array(items) => {
                let tables = items.iter().filter_map(|item| item.get_ref().as_table());
                tables.for_each(|table| collect(&inner, table, found));
            }
            _ => {}
        }
    }
}

/// The setting that protects that an unknown key in a table reads like.
fn reads_like(table: &str, name: &str) -> Option<&'static str> {
    let known = KEYS.iter().filter(|key| key.split().0 == table).flat_map(super::Key::names);
    let tables = KEYS.iter().map(|key| key.split().0).filter(|known| table.is_empty() && is_table(known));
    match nearest(&cut(name), known.chain(tables).chain([TRUST, REMOTE])) {
        Some(TRUST) => Some(TRUST),
        Some(REMOTE) => Some(REMOTE),
        _ => cut(name).to_lowercase().contains(TRUST).then_some(TRUST),
    }
}
