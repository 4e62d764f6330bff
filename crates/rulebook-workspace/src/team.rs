//! The team's switches: `rules.disabled_ids` of a `rulebook.toml`, edited in place.

use std::fs::{self, File};
use std::io;
use std::path::Path;

use toml_edit::{Array, DocumentMut, Item, RawString, Table, TomlError, Value};

use crate::atomic::{self, Audience, naming};
use crate::bounded;
use crate::settings::MAX_TEXT;
use crate::toggles::{Changed, Switch};
use rulebook::id::normalize_id;

/// Adds an id to the file's `rules.disabled_ids`, or takes it out, and leaves everything else as it is.
///
/// A missing file is created to switch an id off. The last id taken out leaves an empty list, so
/// that comments on it stay.
pub fn set_team_switch(path: &Path, id: &str, to: Switch) -> io::Result<Changed> {
    refuse_leading_out(path)?;
    let _held = lock(atomic::folder(path)).map_err(|error| naming("cannot write", path, &error))?;
    let text = read(path).map_err(|error| naming("cannot read", path, &error))?;
    let edited = edit(&text, &normalize_id(id), to).map_err(|fault| {
        io::Error::new(io::ErrorKind::InvalidData, format!("`{}`: {fault}", path.display()))
    })?;
    match edited {
        Some(edited) => atomic::replace(path, &edited, Audience::Usual).map(|()| Changed::Yes),
        None => Ok(Changed::No),
    }
}

/// The text of a settings file; empty where there is none.
fn read(path: &Path) -> io::Result<String> {
    match bounded::read(path, MAX_TEXT)?.map(String::from_utf8) {
        None => Ok(String::new()),
        Some(Ok(text)) if text.len() <= MAX_TEXT => Ok(text),
        Some(Ok(_)) => Err(io::Error::other(format!("it is larger than {MAX_TEXT} bytes"))),
        Some(Err(_)) => Err(io::Error::other("it is not UTF-8 text")),
    }
}

/// A link to a file elsewhere would let a repository have any TOML of the person's edited.
fn refuse_leading_out(path: &Path) -> io::Result<()> {
    let (Ok(real), Ok(folder)) = (fs::canonicalize(path), fs::canonicalize(atomic::folder(path))) else {
        return Ok(());
    };
    if real.starts_with(folder) {
        return Ok(());
    }
    let message = format!("`{}` is a link to `{}`; edit that file itself", path.display(), real.display());
    Err(io::Error::new(io::ErrorKind::InvalidInput, message))
}

/// Keeps other writers out without leaving a lock file in the repository. Only Unix lets folders be
/// opened; elsewhere two people's switches at the same instant may cost one of them.
fn lock(folder: &Path) -> io::Result<Option<File>> {
    if !cfg!(unix) {
        return Ok(None);
    }
    let file = File::open(folder)?;
    file.lock()?;
    Ok(Some(file))
}

/// The text with the switch moved; `None` when it stood there already.
fn edit(text: &str, id: &str, to: Switch) -> Result<Option<String>, String> {
    let mut document: DocumentMut = text.parse().map_err(|error| locate(text, &error))?;
    let is_it = |entry: &Value| entry.as_str().is_some_and(|entry| normalize_id(entry) == id);
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

/// The list, made where there is none.
fn disabled_ids(document: &mut DocumentMut) -> Result<&mut Array, String> {
    if !document.contains_key("rules") {
        // What stands below the last table belongs above the new one.
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

/// Appends an entry, on a line of its own where the others have one.
fn add(ids: &mut Array, id: &str) {
    let indent = indent(ids);
    // What follows the last entry is its suffix if there is no comma between.
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

/// How far entries stand in, if they stand on lines of their own.
fn indent(ids: &Array) -> Option<String> {
    let before = ids.iter().last().map(|last| raw(last.decor().prefix()));
    let inner =
        before.as_deref().and_then(|before| before.rsplit_once('\n')).map(|(_, indent)| indent.to_owned());
    inner.or_else(|| (ids.is_empty() && raw(Some(ids.trailing())).contains('\n')).then(|| "  ".to_owned()))
}

/// Takes out an entry with the comment on its line; comments on lines of their own stay.
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

/// Gives the edited text the byte order mark and the line ends of the old one.
fn restore(old: &str, edited: &str) -> String {
    let mark = if old.starts_with('\u{feff}') { "\u{feff}" } else { "" };
    let edited = if old.contains("\r\n") { edited.replace('\n', "\r\n") } else { edited.to_owned() };
    format!("{mark}{edited}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(before: &str, to: Switch, after: Option<&str>) {
        assert_eq!(edit(before, "x", to), Ok(after.map(str::to_owned)), "{before:?}");
    }

    #[test]
    fn an_id_is_added_where_the_others_are() {
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
    fn an_id_is_taken_out_with_its_own_comment_only() {
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
    fn a_file_that_cannot_be_edited_is_told() {
        #[track_caller]
        fn check(text: &str, fault: &str) {
            assert_eq!(edit(text, "x", Switch::Off), Err(fault.to_owned()));
        }
        check("a = 1\na = 2\n", "line 2: duplicate key");
        check("rules = 3\n", "`rules` must be a table");
        check("rules.disabled_ids = 'a'\n", "`rules.disabled_ids` must be a list");
    }

    #[test]
    fn the_file_is_made_and_keeps_its_mode() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("rulebook.toml");
        assert_eq!(set_team_switch(&path, "x", Switch::On).unwrap(), Changed::No);
        assert!(!path.exists());
        assert_eq!(set_team_switch(&path, " My Rule", Switch::Off).unwrap(), Changed::Yes);
        assert_eq!(fs::read_to_string(&path).unwrap(), "[rules]\ndisabled_ids = [\"my-rule\"]\n");
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            fs::set_permissions(&path, fs::Permissions::from_mode(0o664)).unwrap();
            assert_eq!(set_team_switch(&path, "my-rule", Switch::On).unwrap(), Changed::Yes);
            assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o664);
        }
    }

    #[cfg(unix)]
    #[test]
    fn a_link_out_of_the_folder_is_not_followed() {
        let (folder, elsewhere) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let (path, target) = (folder.path().join("rulebook.toml"), elsewhere.path().join("mine.toml"));
        fs::write(&target, "a = 1\n").unwrap();
        std::os::unix::fs::symlink(&target, &path).unwrap();
        assert!(set_team_switch(&path, "x", Switch::Off).is_err());
        assert_eq!(fs::read_to_string(&target).unwrap(), "a = 1\n");
    }
}
