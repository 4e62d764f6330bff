//! What a command does with its arguments, by the table of programs.

use super::command::{Command, Word};
use super::effects::{Effect, Given, Note, OUTPUTS, Program, given};
use super::found::tests;
use super::git::git_command;
use super::starters::{STARTERS, starts_others};
use super::targets::{archive, copies};
use super::touched::Touched;

/// Extensions that programs remove when they unpack a file.
const PACKED: &[&str] = &[".Z", ".bz2", ".gz", ".lz4", ".lzma", ".xz", ".zst"];
/// Options with which a program removes what it copies.
const REMOVING: &[&str] = &["--remove-files", "--remove-source-files"];

impl Command {
    /// What it does with its arguments.
    pub(super) fn uses(&self, arguments: &[Word]) -> Uses {
        let mut uses = Uses { touched: vec![Touched::Named; arguments.len()], more: Vec::new() };
        let Some(name) = self.name() else { return uses };
        let after_command = |at: usize| at + Program::of_git(&arguments[at..]).map_or(1, |(_, count)| count);
        let first =
            if name == "git" { git_command(arguments).map_or(arguments.len(), after_command) } else { 0 };
        let program = self.program();
        // The options of the command that it starts are not its own.
        let starter = STARTERS.iter().find(|starter| starter.name == name && program.is_some());
        let end =
            starter.and_then(|starter| starter.start(arguments)).map_or(arguments.len(), |start| start.at);
        let words = arguments[..end].iter().enumerate().skip(first);
        let flags = program.map_or("", |program| program.flags);
        let is_given =
            |options: &[&str]| words.clone().any(|(_, word)| given(&word.text, options, flags).is_some());
        if program.is_some_and(|program| is_given(program.unless) && !is_given(program.despite)) {
            return uses;
        }
        let outputs = match program {
            Some(program) => program.outputs,
            None if starts_others(&name) => &[],
            None => OUTPUTS,
        };
        let valued = program.map_or(&[][..], |program| program.valued);
        let mut values = Vec::new();
        let mut has_target = false;
        let mut folder = None;
        if matches!(&*name, "bsdtar" | "tar") {
            uses.more.extend(archive(arguments).map(|file| (file, Touched::Written)));
        }
        for (at, word) in words.clone() {
            match given(&word.text, outputs, flags) {
                Some(Given::Alone) => {
                    values.push(at + 1);
                    has_target = true;
                    folder = arguments.get(at + 1).cloned();
                    if let Some(touched) = uses.touched.get_mut(at + 1) {
                        *touched = Touched::Written;
                    }
                }
                Some(Given::Joined(start)) if word.text[..start].ends_with('=') => {
                    has_target = true;
                    folder = Some(word.tail(start));
                    uses.touched[at] = Touched::Written;
                }
                // What follows a letter of another program is rarely a file.
                Some(Given::Joined(_)) if program.is_none() => {}
                Some(Given::Joined(start)) => {
                    has_target = true;
                    let file = word.tail(start);
                    folder = Some(file.clone());
                    uses.more.extend((file.text != "-").then_some((file, Touched::Written)));
                }
                None => {}
            }
            if matches!(given(&word.text, valued, flags), Some(Given::Alone)) {
                values.push(at + 1);
            }
        }
        let Some(program) = program else { return uses };
        if !program.with.is_empty() && !is_given(program.with) && !is_given(REMOVING) {
            return uses;
        }
        let is_signed = |word: &Word| {
            let rest = word.text.strip_prefix('-').filter(|rest| !rest.is_empty());
            rest.is_some_and(|rest| rest.chars().all(|c| program.signed.contains(c)))
        };
        let is_named = is_given(valued) || words.clone().any(|(_, word)| is_signed(word));
        let own = if is_named { 0 } else { program.own };
        let is_file = |(at, word): &(usize, &Word)| {
            !word.text.is_empty() && !word.text.starts_with('-') && !values.contains(at)
        };
        let files: Vec<usize> = words.clone().filter(is_file).map(|(at, _)| at).skip(own).collect();
        let is_all = is_given(REMOVING) || is_given(program.links);
        let effect = if is_all { Effect::Writes } else { program.effect };
        let written = if program.is(Note::Moves) { Touched::Moved } else { Touched::Written };
        let (first, last) = (files.len().min(1), files.len().saturating_sub(1));
        if program.outputs.contains(&"--target-directory") || effect == Effect::Last {
            let (target, sources) = match &folder {
                Some(folder) => (Some(folder), &files[..]),
                None => (files.last().map(|at| &arguments[*at]), &files[..last]),
            };
            let is_folder = folder.is_some() || sources.len() > 1;
            let sources = sources.iter().map(|at| &arguments[*at]);
            uses.more
                .extend(target.into_iter().flat_map(|target| copies(target, is_folder, sources.clone())));
        }
        let is_several = files.len() > 1 || files.iter().any(|at| !arguments[*at].holes.is_empty());
        let (touched, files) = match effect {
            Effect::Reads => return uses,
            Effect::Deletes => return deletes(arguments, uses),
            Effect::Writes | Effect::Packs => (written, &files[..]),
            Effect::Opens => (Touched::Opened, &files[..]),
            Effect::Queries => {
                let asks = files.get(1).is_some_and(|at| is_query(&arguments[*at].text));
                (if asks { Touched::Opened } else { written }, &files[..first])
            }
            Effect::Creates => (Touched::Created, &files[..]),
            Effect::First => (written, &files[..first]),
            Effect::Last if has_target || !is_several => return uses,
            Effect::Last => (Touched::Written, &files[last..]),
            Effect::Restores => {
                let dashes = words.clone().find(|(_, word)| word.text == "--").map(|(at, _)| at);
                let after = files.iter().take_while(|at| dashes.is_some_and(|dashes| **at < dashes)).count();
                if let Some(at) =
                    files.first().filter(|at| dashes.is_none() && may_be_branch(&arguments[**at]))
                {
                    uses.touched[*at] = Touched::Opened;
                    (written, &files[1..])
                } else {
                    (written, &files[after..])
                }
            }
        };
        let link = (name == "ln" && is_given(&["-s", "--symbolic"]) && !is_given(&["-r", "--relative"]))
            .then(|| files.last().map(|last| (*last, &arguments[*last])))
            .flatten();
        for at in files {
            // What a link leads to is relative to the link.
            if let Some((last, link)) = link.filter(|(last, _)| at != last) {
                debug_assert!(last > *at);
                uses.more.push((beside(link, &arguments[*at]), touched));
                continue;
            }
            uses.touched[*at] = touched;
            let word = &arguments[*at];
            let packed = PACKED.iter().find(|end| word.text.ends_with(**end) && effect == Effect::Packs);
            if let Some(end) = packed {
                let stem = Word { text: word.text[..word.text.len() - end.len()].to_owned(), ..word.clone() };
                uses.more.push((stem, touched));
            }
        }
        uses
    }
}

/// Whether a statement of a database asks something. A function that it calls may write nevertheless.
fn is_query(statement: &str) -> bool {
    const QUERIES: &[&str] = &[".schema", ".tables", "explain", "pragma", "select", "with"];
    let first = statement.split_whitespace().next().unwrap_or_default().to_ascii_lowercase();
    QUERIES.contains(&first.trim_end_matches(';')) && !statement.trim_end_matches(';').contains(';')
}

/// Whether a word may be a branch or a commit as well as a file: it has no extension and no mark of a path.
fn may_be_branch(word: &Word) -> bool {
    let is_path = |text: &str| text.starts_with(['.', '/', '~', ':']) || text.ends_with('/');
    let last = word.text.rsplit('/').next().unwrap_or(&word.text);
    !is_path(&word.text) && !last.contains('.') && word.stars.is_empty()
}

/// A path as it is read from the folder of a link.
fn beside(link: &Word, path: &Word) -> Word {
    let is_folder = |link: &str| link.ends_with('/') || matches!(link, "." | "..") || link.ends_with("/..");
    let folder = match link.as_known() {
        _ if path.text.starts_with(['/', '~']) => None,
        Some(link) if is_folder(link) => Some(link.trim_end_matches('/')),
        Some(link) => link.rsplit_once('/').map(|(folder, _)| folder),
        None => None,
    };
    let mut beside = Word::known(folder.map(|folder| format!("{folder}/")).unwrap_or_default());
    beside.append(path);
    beside
}

/// What a command does with its arguments, and the files that are parts of them.
pub(super) struct Uses {
    pub(super) touched: Vec<Touched>,
    pub(super) more: Vec<(Word, Touched)>,
}

/// What `find` removes: with tests of names, only what they match.
fn deletes(arguments: &[Word], mut uses: Uses) -> Uses {
    if !arguments.iter().any(|word| word.text == "-delete") {
        return uses;
    }
    let (folders, names) = tests(arguments);
    let below = |folder: &Word| match &names {
        None => vec![folder.clone()],
        Some(names) => names
            .iter()
            .map(|name| {
                let mut below = folder.clone();
                below.append(&Word::known("/**/"));
                below.append(name);
                below
            })
            .collect(),
    };
    uses.more.extend(folders.iter().flat_map(below).map(|file| (file, Touched::Written)));
    uses
}
