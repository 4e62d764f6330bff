//! The team's toggles: `rules.disabled_ids` of a `rulebook.toml`, edited in place.

use std::io;
use std::ops::Range;
use std::path::Path;

use rulebook::id::normalize_id;
use toml_edit::{Array, Document, DocumentMut, Item, RawString, Table, TomlError, Value};

use crate::read;
use crate::settings::MAX_TEXT;
use crate::toggles::{Changed, Switch};
use crate::write::{self, Audience, Owner, naming};

/// The name of the team's settings, in a root.
pub const TEAM_FILE: &str = "rulebook.toml";

/// Adds an id to the file's `rules.disabled_ids`, or removes it, and leaves everything else as it is.
///
/// A missing file is created to switch an id off. Removing the last id leaves an empty list, so that its comments stay.
///
/// # Errors
/// If the file cannot be read, edited or written, or is a link to another folder.
pub fn set_team_switch(path: &Path, id: &str, to: Switch) -> io::Result<Changed> {
    let owner = Owner::Repository(write::folder(path));
    owner.check(path).map_err(|error| naming("cannot write", path, &error))?;
    let _lock =
        write::lock_folder(write::folder(path)).map_err(|error| naming("cannot write", path, &error))?;
    let text = read::text(path, MAX_TEXT).map_err(|error| naming("cannot read", path, &error))?;
    let edited = edit(&text.unwrap_or_default(), id, to).map_err(|fault| {
        io::Error::new(io::ErrorKind::InvalidData, format!("`{}`: {fault}", path.display()))
    })?;
    match edited {
        Some(edited) => write::replace(path, &edited, Audience::Default, owner).map(|()| Changed::Yes),
        None => Ok(Changed::No),
    }
}

/// The entries of `rules.disabled_ids` in the text of a settings file, with their byte ranges. A text that is not TOML has
/// none.
#[must_use]
pub fn switches(text: &str) -> Vec<(Range<usize>, String)> {
    let Ok(document) = Document::parse(text) else { return Vec::new() };
    let ids = document.get("rules").and_then(|rules| rules.get("disabled_ids")).and_then(Item::as_array);
    let entries = ids.into_iter().flatten();
    entries.filter_map(|entry| Some((entry.span()?, entry.as_str()?.to_owned()))).collect()
}

/// The text with the toggle set; `None` if it was set already.
fn edit(text: &str, id: &str, to: Switch) -> Result<Option<String>, String> {
    let mut document: DocumentMut = text.parse().map_err(|error| locate(text, &error))?;
    let is_it = |entry: &Value| entry.as_str().is_some_and(|entry| normalize_id(entry) == normalize_id(id));
    let ids = disabled_ids(&mut document)?;
    let places: Vec<usize> =
        ids.iter().enumerate().filter(|(_, entry)| is_it(entry)).map(|(at, _)| at).collect();
    match to {
        Switch::Off if places.is_empty() => add(ids, id),
        Switch::On if !places.is_empty() => places.into_iter().rev().for_each(|at| remove(ids, at)),
        _ => return Ok(None),
    }
    Ok(Some(restore(text, &document.to_string())))
}

fn locate(text: &str, error: &TomlError) -> String {
    let start = error.span().map_or(0, |span| text.floor_char_boundary(span.start));
    format!("line {}: {}", text[..start].matches('\n').count() + 1, error.message())
}

/// The list, created if it does not exist.
fn disabled_ids(document: &mut DocumentMut) -> Result<&mut Array, String> {
    if !document.contains_key("rules") {
        // Comments after the last table stay above the new one.
        let above = document.trailing().as_str().unwrap_or_default().to_owned();
        let gap = if document.is_empty() && above.is_empty() { "" } else { "\n" };
        let mut rules = Table::new();
        rules.decor_mut().set_prefix(format!("{above}{gap}"));
        document.set_trailing("");
        document.insert("rules", Item::Table(rules));
    }
    let rules = document["rules"].as_table_like_mut().ok_or("`rules` must be a table")?;
    let ids = rules.entry("disabled_ids").or_insert_with(|| Item::Value(Array::new().into()));
    ids.as_array_mut().ok_or_else(|| "`rules.disabled_ids` must be a list".to_owned())
}

/// Appends an entry, on its own line if the others are.
fn add(ids: &mut Array, id: &str) {
    let indent = indent(ids);
    // Without a trailing comma, the text after the last entry is its suffix.
    let last = ids.len().checked_sub(1).and_then(|at| ids.get_mut(at));
    let suffix = last.map(|last| {
        let suffix = raw(last.decor().suffix());
        last.decor_mut().set_suffix("");
        suffix
    });
    let after = suffix.unwrap_or_default() + &raw(Some(ids.trailing()));
    let (before, after) = match indent {
        Some(indent) => {
            ids.set_trailing_comma(true);
            let closing = after.rsplit_once('\n').map_or("", |(_, closing)| closing);
            (format!("{}\n{indent}", after.trim_end()), format!("\n{closing}"))
        }
        None if ids.is_empty() => (String::new(), String::new()),
        None => (" ".to_owned(), after),
    };
    let mut entry = Value::from(id);
    entry.decor_mut().set_prefix(before);
    ids.push_formatted(entry);
    ids.set_trailing(after);
}

/// The indentation of entries that are on their own lines.
fn indent(ids: &Array) -> Option<String> {
    let before = ids.iter().last().map(|last| raw(last.decor().prefix()));
    let inner =
        before.as_deref().and_then(|before| before.rsplit_once('\n')).map(|(_, indent)| indent.to_owned());
    inner.or_else(|| (ids.is_empty() && raw(Some(ids.trailing())).contains('\n')).then(|| "  ".to_owned()))
}

/// Removes an entry with the comment on its line; comments on other lines stay.
fn remove(ids: &mut Array, at: usize) {
    let removed = ids.remove(at);
    let before = raw(removed.decor().prefix());
    let next = ids.get(at).map(|next| raw(next.decor().prefix()));
    let is_last = next.is_none();
    let after = raw(removed.decor().suffix()) + &next.unwrap_or_else(|| raw(Some(ids.trailing())));
    let joined = match after.split_once('\n') {
        Some((_, below)) => {
            let (line, above) = before.split_once('\n').unwrap_or((&before, ""));
            let above =
                if above.trim().is_empty() { String::new() } else { format!("\n{}", above.trim_end()) };
            format!("{}{above}\n{below}", line.trim_end())
        }
        None if is_last && !before.contains('#') => after,
        None => before,
    };
    match ids.get_mut(at) {
        Some(next) => next.decor_mut().set_prefix(joined),
        None => ids.set_trailing(joined),
    }
}

fn raw(text: Option<&RawString>) -> String {
    text.and_then(RawString::as_str).unwrap_or_default().replace("\r\n", "\n")
}

/// Restores the byte order mark and the line ends of the old text.
fn restore(old: &str, edited: &str) -> String {
    let mark = if old.starts_with('\u{feff}') { "\u{feff}" } else { "" };
    let edited = if old.contains("\r\n") { edited.replace('\n', "\r\n") } else { edited.to_owned() };
    format!("{mark}{edited}")
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[track_caller]
    fn check(before: &str, to: Switch, after: Option<&str>) {
        assert_eq!(edit(before, "x", to), Ok(after.map(str::to_owned)), "{before:?}");
    }

    #[test]
    fn an_id_is_added_after_the_others() {
        for (before, after) in [
            ("", "[rules]\ndisabled_ids = [\"x\"]\n"),
            ("# ours\n", "# ours\n\n[rules]\ndisabled_ids = [\"x\"]\n"),
            (
                "[budget] # b\ntokens = 1\n# end\n",
                "[budget] # b\ntokens = 1\n# end\n\n[rules]\ndisabled_ids = [\"x\"]\n",
            ),
            ("[rules] # r\nenabled = true\n", "[rules] # r\nenabled = true\ndisabled_ids = [\"x\"]\n"),
            ("rules = { enabled = true }\n", "rules = { enabled = true , disabled_ids = [\"x\"] }\n"),
            ("rules.enabled = true\nb = 1\n", "rules.enabled = true\nrules.disabled_ids = [\"x\"]\nb = 1\n"),
            ("rules.disabled_ids = ['a'] # c\n", "rules.disabled_ids = ['a', \"x\"] # c\n"),
            ("rules.disabled_ids = [ 'a' ]\n", "rules.disabled_ids = [ 'a', \"x\" ]\n"),
            ("rules.disabled_ids = [ ]\n", "rules.disabled_ids = [\"x\"]\n"),
            ("rules.disabled_ids = ['a',]\n", "rules.disabled_ids = ['a', \"x\",]\n"),
            ("[rules.more]\na = 1\n", "[rules]\ndisabled_ids = [\"x\"]\n[rules.more]\na = 1\n"),
            (
                "rules.disabled_ids = [\n    'a',\n  ]\n",
                "rules.disabled_ids = [\n    'a',\n    \"x\",\n  ]\n",
            ),
            ("rules.disabled_ids = [\n]\n", "rules.disabled_ids = [\n  \"x\",\n]\n"),
            (
                "rules.disabled_ids = [ # top\n\t'a', # A\n\t# end\n]\n",
                "rules.disabled_ids = [ # top\n\t'a', # A\n\t# end\n\t\"x\",\n]\n",
            ),
            ("rules.disabled_ids = [\n  'a' # A\n]\n", "rules.disabled_ids = [\n  'a', # A\n  \"x\",\n]\n"),
            ("\u{feff}[rules]\r\ndisabled_ids = []\r\n", "\u{feff}[rules]\r\ndisabled_ids = [\"x\"]\r\n"),
        ] {
            check(before, Switch::Off, Some(after));
            check(after, Switch::Off, None);
        }
    }

    #[test]
    fn an_id_is_removed_with_its_own_comment_only() {
        for (before, after) in [
            ("rules.disabled_ids = ['x'] # c\n", "rules.disabled_ids = [] # c\n"),
            ("rules.disabled_ids = ['x', 'a', \"X\"]\n", "rules.disabled_ids = ['a']\n"),
            ("rules.disabled_ids = ['a', 'x', 'b']\n", "rules.disabled_ids = ['a', 'b']\n"),
            (
                "rules.disabled_ids = [ # top\n  'a', # A\n  # own\n  'x', # X\n  'b', # B\n]\n",
                "rules.disabled_ids = [ # top\n  'a', # A\n  # own\n  'b', # B\n]\n",
            ),
            ("rules.disabled_ids = [\n  'a', # A\n  'x' # X\n]\n", "rules.disabled_ids = [\n  'a' # A\n]\n"),
            (
                "rules.disabled_ids = [ # top\n  # own\n  'x' ]\n",
                "rules.disabled_ids = [ # top\n  # own\n  ]\n",
            ),
            (
                "rules.disabled_ids = [\n  'x'\n  # own\n  , 'a'\n]\n",
                "rules.disabled_ids = [\n  # own\n   'a'\n]\n",
            ),
            ("rules.disabled_ids = [\n  'x', # X\n  # end\n]\n", "rules.disabled_ids = [\n  # end\n]\n"),
        ] {
            check(before, Switch::On, Some(after));
            check(after, Switch::On, None);
        }
        check("", Switch::On, None);
        check("[rules]\n", Switch::On, None);
    }

    #[test]
    fn a_file_that_cannot_be_edited_is_an_error() {
        #[track_caller]
        fn check(text: &str, fault: &str) {
            assert_eq!(edit(text, "x", Switch::Off), Err(fault.to_owned()));
        }
        check("a = 1\na = 2\n", "line 2: duplicate key");
        check("rules = 3\n", "`rules` must be a table");
        check("rules.disabled_ids = 'a'\n", "`rules.disabled_ids` must be a list");
    }

    #[test]
    fn the_file_is_created_and_keeps_its_mode() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("rulebook.toml");
        assert_eq!(set_team_switch(&path, "x", Switch::On).unwrap(), Changed::No);
        assert!(!path.exists());
        assert_eq!(set_team_switch(&path, "my-rule@cline", Switch::Off).unwrap(), Changed::Yes);
        assert_eq!(fs::read_to_string(&path).unwrap(), "[rules]\ndisabled_ids = [\"my-rule@cline\"]\n");
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            fs::set_permissions(&path, fs::Permissions::from_mode(0o664)).unwrap();
            assert_eq!(set_team_switch(&path, "My-Rule@cline", Switch::On).unwrap(), Changed::Yes);
            assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o664);
        }
    }

    #[cfg(unix)]
    #[test]
    fn a_link_to_another_folder_is_not_followed() {
        let (folder, elsewhere) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let (path, target) = (folder.path().join("rulebook.toml"), elsewhere.path().join("mine.toml"));
        fs::write(&target, "a = 1\n").unwrap();
        std::os::unix::fs::symlink(&target, &path).unwrap();
        assert!(set_team_switch(&path, "x", Switch::Off).is_err());
        assert_eq!(fs::read_to_string(&target).unwrap(), "a = 1\n");
    }
}
