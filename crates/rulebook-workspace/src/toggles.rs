//! Toggles: a person's own switches, kept outside the repository by the root's canonical path.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::{Path, PathBuf};

use rulebook::diagnostic::{Code, Diagnostic};
use rulebook::id::normalize_id;
use rulebook::resolve::Rulebook;
use rulebook::rule::Rule;
use serde::Serialize;
use serde_json::Value;

use crate::canonical::canonical;
use crate::write::{self, Audience, Owner, naming};
use crate::{read, state};

/// The largest file that is read, in bytes.
const MAX_FILE: usize = 16 << 20;

/// The file of a person's toggles.
#[derive(Clone, Debug)]
pub struct Toggles {
    path: PathBuf,
}

/// The rules that a person switched off, by file, key or id, as read at one moment.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Switched {
    off: BTreeMap<String, BTreeSet<String>>,
}

/// The position of a toggle.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Switch {
    /// The rule does not apply, regardless of its conditions.
    Off,
    /// The conditions decide.
    On,
}

/// Returns the changes that switch on or off the rules that a name refers to, given the names that are switched off now.
///
/// Rules are stored by key, or by file if the name is one. A stored name that refers to other rules too is replaced by
/// names of those. Mandatory rules cannot be switched.
pub fn changes<'s>(
    book: &Rulebook,
    stored: impl IntoIterator<Item = &'s str>,
    name: &str,
    to: Switch,
) -> Vec<(String, Switch)> {
    let rules = |name: &str| -> Vec<&Rule> {
        book.lookup(name).into_iter().map(|(rule, _)| rule).filter(|rule| !rule.is_mandatory).collect()
    };
    let targets = rules(name);
    let is_target = |rule: &Rule| targets.iter().any(|target| std::ptr::eq(*target, rule));
    let mut changes: BTreeMap<String, Switch> = BTreeMap::new();
    match to {
        Switch::Off => {
            let names = targets
                .iter()
                .map(|rule| if rule.is_at(name) { rule.origin.display.clone() } else { rule.key() });
            changes.extend(names.map(|name| (name, Switch::Off)));
        }
        Switch::On => {
            let keys: BTreeSet<String> = targets.iter().map(|rule| rule.key()).collect();
            for stored in stored {
                let found = rules(stored);
                let is_gone = found.is_empty() && normalize_id(stored) == normalize_id(name);
                if !is_gone && !found.iter().any(|rule| is_target(rule)) {
                    continue;
                }
                changes.insert(stored.to_owned(), Switch::On);
                for rule in found.into_iter().filter(|rule| !is_target(rule)) {
                    let key = rule.key();
                    let name = if keys.contains(&key) { rule.origin.display.clone() } else { key };
                    changes.entry(name).or_insert(Switch::Off);
                }
            }
        }
    }
    changes.into_iter().collect()
}

/// Whether a toggle was changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Changed {
    /// It was in the other position before.
    Yes,
    /// It was already in this position, and nothing was written.
    No,
}

impl Toggles {
    /// The toggles kept in a folder, which need not exist yet.
    pub fn at(state_dir: &Path) -> Toggles {
        Toggles { path: state_dir.join("toggles.json") }
    }

    /// Their file.
    pub fn file(&self) -> &Path {
        &self.path
    }

    /// Reads the toggles that can be read, and reports if there are others.
    ///
    /// This needs no lock, because writers replace the whole file.
    pub fn read(&self) -> (Switched, Option<Diagnostic>) {
        let report =
            |code, message: String| Some(Diagnostic::whole(code, self.path.display().to_string(), message));
        match self.document() {
            Ok(Document { off, fault, .. }) => {
                (Switched { off }, fault.and_then(|fault| report(Code::BadSettings, fault)))
            }
            Err(error) => (Switched::default(), report(Code::Unreadable, error.to_string())),
        }
    }

    /// Sets the toggles of some names in a root, while no other process does. A name is a file, a key or an id.
    ///
    /// When this returns, the toggle is on disk. A file that cannot be read completely is moved to
    /// `toggles.json.broken`; one of a newer version is not written to.
    ///
    /// # Errors
    /// If the file cannot be read or written, or a newer Rulebook wrote it.
    pub fn switch(&self, root: &Path, changes: &[(String, Switch)]) -> io::Result<Changed> {
        let real = canonical(root).unwrap_or_else(|_| root.to_owned());
        self.switch_in(&name(&real), changes)
    }

    /// Sets the toggles of some names for every workspace, as [`switch`](Toggles::switch) does for one.
    ///
    /// # Errors
    /// If the file cannot be read or written, or a newer Rulebook wrote it.
    pub fn switch_everywhere(&self, changes: &[(String, Switch)]) -> io::Result<Changed> {
        self.switch_in(EVERYWHERE, changes)
    }

    fn switch_in(&self, root: &str, changes: &[(String, Switch)]) -> io::Result<Changed> {
        let _lock = write::lock(&self.path).map_err(|error| naming("cannot write", &self.path, &error))?;
        let mut document = self.document().map_err(|error| naming("cannot read", &self.path, &error))?;
        let set = changes.iter().map(|(name, to)| document.set(root, name, *to));
        if set.filter(|is_changed| *is_changed).count() == 0 {
            return Ok(Changed::No);
        }
        if document.version > VERSION {
            return Err(state::newer_error(&self.path, document.version, VERSION));
        }
        if document.fault.is_some() {
            write::move_aside(&self.path)?;
        }
        let text = serde_json::to_string_pretty(&document)? + "\n";
        write::replace(&self.path, &text, Audience::Owner, Owner::Person)?;
        Ok(Changed::Yes)
    }

    fn document(&self) -> io::Result<Document> {
        match read::bytes(&self.path, MAX_FILE) {
            Ok(Some(bytes)) => Ok(Document::parse(&bytes)),
            Ok(None) => Ok(Document::default()),
            Err(error) if error.kind() == io::ErrorKind::FileTooLarge => {
                Ok(Document { fault: Some(error.to_string()), ..Document::default() })
            }
            Err(error) => Err(error),
        }
    }
}

impl Switched {
    /// The ids that are switched off in a root, given by its canonical path; sorted.
    pub fn off_ids(&self, root: &Path) -> impl Iterator<Item = &str> {
        self.off.get(&*name(root)).into_iter().flatten().map(String::as_str)
    }

    /// The ids that are switched off in every workspace; sorted.
    pub fn off_everywhere(&self) -> impl Iterator<Item = &str> {
        self.off.get(EVERYWHERE).into_iter().flatten().map(String::as_str)
    }
}

/// The name of every workspace in the file. A root is an absolute path.
const EVERYWHERE: &str = "*";

/// The version of the file that is written.
const VERSION: u64 = 1;

/// The file, in the order it is written.
#[derive(Debug, Serialize)]
struct Document {
    version: u64,
    off: BTreeMap<String, BTreeSet<String>>,
    /// Keys of other programs.
    #[serde(flatten)]
    foreign: BTreeMap<String, Value>,
    /// What could not be read.
    #[serde(skip)]
    fault: Option<String>,
}

impl Default for Document {
    fn default() -> Document {
        Document { version: VERSION, off: BTreeMap::new(), foreign: BTreeMap::new(), fault: None }
    }
}

impl Document {
    /// Reads as much as possible.
    fn parse(bytes: &[u8]) -> Document {
        let mut document = Document::default();
        match serde_json::from_slice(bytes) {
            Ok(foreign) => document.foreign = foreign,
            Err(error) => document.fault = Some(format!("not a JSON object: {error}")),
        }
        match document.foreign.remove("version").map(|version| version.as_u64().ok_or(version)) {
            Some(Ok(version)) => document.version = version,
            Some(Err(other)) => {
                document.fault = Some(format!("`version` must be a whole number, found `{other}`"));
            }
            None => {}
        }
        match document.foreign.remove("off") {
            Some(Value::Object(roots)) => roots.into_iter().for_each(|(root, ids)| document.take(root, ids)),
            Some(_) => document.fault = Some("`off` must be an object of lists of ids".to_owned()),
            None => {}
        }
        document
    }

    fn take(&mut self, root: String, ids: Value) {
        let Value::Array(ids) = ids else {
            self.fault = Some(format!("`off` has no list of ids for `{root}`"));
            return;
        };
        let known: BTreeSet<String> = ids.iter().filter_map(Value::as_str).map(str::to_owned).collect();
        if ids.iter().any(|id| !id.is_string()) {
            self.fault = Some(format!("`off` has something other than ids for `{root}`"));
        }
        self.off.insert(root, known);
    }

    /// Sets a toggle and returns whether it changed.
    fn set(&mut self, root: &str, name: &str, to: Switch) -> bool {
        match to {
            Switch::Off => self.off.entry(root.to_owned()).or_default().insert(name.to_owned()),
            Switch::On => {
                let Some(ids) = self.off.get_mut(root) else { return false };
                let was_off = ids.remove(name);
                self.off.retain(|_, ids| !ids.is_empty());
                was_off
            }
        }
    }
}

/// The name of a root in the file. A path that is not UTF-8 is written escaped, in quotes, so that no other path has the
/// same name.
fn name(root: &Path) -> Cow<'_, str> {
    root.to_str().map_or_else(|| Cow::Owned(format!("{root:?}")), Cow::Borrowed)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    const ROOT: &str = "/nowhere/root";

    fn off(name: &str) -> Vec<(String, Switch)> {
        vec![(name.to_owned(), Switch::Off)]
    }

    #[test]
    fn a_toggle_writes_nothing_else() {
        /// Switches `x` off in a file with this text, and compares without spaces and line ends.
        #[track_caller]
        fn check(before: &str, after: &str) {
            let folder = tempfile::tempdir().unwrap();
            let path = folder.path().join("toggles.json");
            fs::write(&path, before).unwrap();
            let changed = Toggles::at(folder.path()).switch(Path::new(ROOT), &off("x")).unwrap();
            assert_eq!(changed, Changed::Yes);
            let text = fs::read_to_string(&path).unwrap();
            assert!(text.ends_with("}\n"));
            assert_eq!(text.replace([' ', '\n'], ""), after);
            let broken = fs::read_to_string(folder.path().join("toggles.json.broken")).ok();
            let was_broken = Document::parse(before.as_bytes()).fault.is_some();
            assert_eq!(broken.as_deref(), was_broken.then_some(before));
        }
        let alone = r#"{"version":1,"off":{"/nowhere/root":["x"]}}"#;
        check("{}", alone);
        check(r#"{"off":{},"version":1}"#, alone);
        check("", alone);
        check("[]", alone);
        check("{\"version\":1,\"off\":{\"/nowh", alone);
        check(r#"{"version":"one"}"#, alone);
        check(r#"{"version":1,"off":3}"#, alone);
        check(
            r#"{"version":1,"off":{"/a":3,"/b":["c",4],"/nowhere/root":["y"]}}"#,
            r#"{"version":1,"off":{"/b":["c"],"/nowhere/root":["x","y"]}}"#,
        );
        check(
            r#"{"mine":{"a":[1]},"off":{"/z":["b","a"],"/nowhere/root":["y"]},"version":1}"#,
            r#"{"version":1,"off":{"/nowhere/root":["x","y"],"/z":["a","b"]},"mine":{"a":[1]}}"#,
        );
    }

    #[test]
    fn unreadable_parts_are_reported_and_the_rest_is_used() {
        #[track_caller]
        fn check(text: &str, fault: Option<&str>, off: &[&str]) {
            let folder = tempfile::tempdir().unwrap();
            fs::write(folder.path().join("toggles.json"), text).unwrap();
            let (switched, reported) = Toggles::at(folder.path()).read();
            assert_eq!(
                reported.as_ref().map(|found| (found.code, found.message.as_str())),
                fault.map(|f| (Code::BadSettings, f))
            );
            assert_eq!(switched.off_ids(Path::new(ROOT)).collect::<Vec<_>>(), off);
        }
        check(r#"{"version":1,"off":{"/nowhere/root":["b","A"]}}"#, None, &["A", "b"]);
        check(r#"{"version":9,"off":{"/nowhere/root":["a"]},"on":[]}"#, None, &["a"]);
        check("{", Some("not a JSON object: EOF while parsing an object at line 1 column 1"), &[]);
        check(
            r#"{"off":{"/nowhere/root":["a",{}]}}"#,
            Some("`off` has something other than ids for `/nowhere/root`"),
            &["a"],
        );
    }

    #[test]
    fn a_rule_stays_off_until_it_is_switched_on() {
        let folder = tempfile::tempdir().unwrap();
        let toggles = Toggles::at(&folder.path().join("not/there/yet"));
        let root = Path::new(ROOT);
        assert_eq!(toggles.read(), (Switched::default(), None));
        for (id, to, changed) in [
            ("a", Switch::On, Changed::No),
            ("a", Switch::Off, Changed::Yes),
            ("a", Switch::Off, Changed::No),
            ("b", Switch::Off, Changed::Yes),
            ("a", Switch::On, Changed::Yes),
        ] {
            assert_eq!(toggles.switch(root, &[(id.to_owned(), to)]).unwrap(), changed, "{id} {to:?}");
        }
        let (switched, reported) = toggles.read();
        assert_eq!(reported, None);
        assert_eq!(switched.off_ids(root).collect::<Vec<_>>(), ["b"]);
        assert_eq!(switched.off_ids(Path::new("/nowhere")).count(), 0);
    }

    #[test]
    fn rules_are_stored_by_key_and_records_of_ids_are_split() {
        use rulebook::format::FormatId;
        use rulebook::parse::parse;
        use rulebook::resolve::{Switches, resolve};
        use rulebook::source::Source;

        let file = |format, path| parse(Source::text(format, path, path)).entry;
        let files =
            [file(FormatId::Cursor, ".cursor/rules/a.mdc"), file(FormatId::Cline, ".clinerules/a.md")];
        let book = resolve(files, &Switches::default());
        #[track_caller]
        fn check(book: &Rulebook, stored: &[&str], name: &str, to: Switch, want: &[(&str, Switch)]) {
            let changes = changes(book, stored.iter().copied(), name, to);
            let changes: Vec<_> = changes.iter().map(|(name, to)| (name.as_str(), *to)).collect();
            assert_eq!(changes, want, "{name}");
        }
        let (on, off) = (Switch::On, Switch::Off);
        check(&book, &[], "A", off, &[("a@cline", off), ("a@cursor", off)]);
        check(&book, &[], "a@cline", off, &[("a@cline", off)]);
        check(&book, &[], ".clinerules/a.md", off, &[(".clinerules/a.md", off)]);
        check(&book, &["a@cline", "a@cursor", "b"], "a", on, &[("a@cline", on), ("a@cursor", on)]);
        // An older version stored ids.
        check(&book, &["a"], "a@cline", on, &[("a", on), ("a@cursor", off)]);
        check(&book, &["a"], "a", on, &[("a", on)]);
        check(&book, &["Gone", "b"], "gone", on, &[("Gone", on)]);
    }

    #[test]
    fn a_file_of_a_newer_version_is_not_written_to() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("toggles.json");
        let text = r#"{"version":2,"off":{}}"#;
        fs::write(&path, text).unwrap();
        let error = Toggles::at(folder.path()).switch(Path::new(ROOT), &off("a")).unwrap_err();
        assert!(error.to_string().contains("(version 2, this one knows 1)"), "{error}");
        assert_eq!(fs::read_to_string(&path).unwrap(), text);
    }

    #[test]
    fn an_error_names_the_file() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("file");
        fs::write(&file, "").unwrap();
        let error = Toggles::at(&file).switch(Path::new(ROOT), &off("a")).unwrap_err();
        assert!(error.to_string().contains("toggles.json`: "), "{error}");
    }

    #[cfg(unix)]
    #[test]
    fn the_file_is_private_and_a_root_is_known_by_its_canonical_path() {
        use std::os::unix::ffi::OsStrExt;
        use std::os::unix::fs::PermissionsExt;
        let folder = tempfile::tempdir().unwrap();
        let real = fs::canonicalize(folder.path()).unwrap();
        let (state, root, link) = (real.join("state"), real.join("root"), real.join("link"));
        fs::create_dir(&root).unwrap();
        std::os::unix::fs::symlink(&root, &link).unwrap();
        let toggles = Toggles::at(&state);
        toggles.switch(&link, &off("a")).unwrap();
        assert_eq!(toggles.read().0.off_ids(&root).collect::<Vec<_>>(), ["a"]);

        let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
        let file = state.join("toggles.json");
        assert_eq!((mode(&state), mode(&file)), (0o700, 0o600));
        fs::set_permissions(&file, fs::Permissions::from_mode(0o640)).unwrap();
        let odd = Path::new(std::ffi::OsStr::from_bytes(b"/odd/\xff"));
        toggles.switch(odd, &off("a")).unwrap();
        assert_eq!(mode(&file), 0o640);
        let switched = toggles.read().0;
        assert_eq!(switched.off_ids(odd).collect::<Vec<_>>(), ["a"]);
        assert_eq!(switched.off_ids(Path::new(std::ffi::OsStr::from_bytes(b"/odd/\xfe"))).count(), 0);
    }
}
