//! Files that a command writes and whose names it puts together: copies in a folder, and archives.

use super::command::Word;
use super::effects::{Given, given};
use super::touched::Touched;

/// The copies of some files in a folder, relative to where the command runs. A target without an extension may be a folder.
pub(super) fn copies<'w>(
    target: &Word,
    is_folder: bool,
    sources: impl Iterator<Item = &'w Word>,
) -> Vec<(Word, Touched)> {
    // A copy elsewhere, such as in `/tmp`, is no file of the workspace.
    if target.text.starts_with(['/', '~']) {
        return Vec::new();
    }
    let folder = target.text.trim_end_matches('/');
    let last = folder.rsplit('/').next().unwrap_or(folder);
    let is_folder = is_folder || folder.len() < target.text.len() || matches!(last, "" | "." | "..");
    if !is_folder && last.contains('.') {
        return Vec::new();
    }
    let touched = if is_folder { Touched::Written } else { Touched::Opened };
    let copy = |source: &Word| {
        let name = source.as_known()?.trim_end_matches('/').rsplit('/').next()?;
        let mut copy = target.clone();
        copy.text.truncate(folder.len());
        copy.append(&Word::known(format!("/{name}")));
        Some((copy, touched)).filter(|_| !name.is_empty())
    };
    sources.filter_map(copy).collect()
}

/// The archive that `tar` makes or changes.
pub(super) fn archive(arguments: &[Word]) -> Option<Word> {
    let letters = |word: &Word, is_first: bool| {
        let text = word.text.as_str();
        let own = if is_first { Some(text.trim_start_matches('-')) } else { text.strip_prefix('-') };
        own.filter(|_| !text.starts_with("--")).map(str::to_owned)
    };
    let makes = |(at, word): (usize, &Word)| {
        matches!(&*word.text, "--append" | "--create" | "--update")
            || letters(word, at == 0).is_some_and(|letters| letters.contains(['c', 'r', 'u']))
    };
    if !arguments.iter().enumerate().any(makes) {
        return None;
    }
    let is_bundle =
        arguments.first().is_some_and(|word| !word.text.starts_with('-') && word.text.contains('f'));
    let file = if is_bundle {
        arguments.get(1).cloned()
    } else {
        arguments.iter().enumerate().find_map(|(at, word)| {
            match given(&word.text, &["-f", "--file", "--index-file"], "AcghijJklmnoOpPrsStuUvwWzZ")? {
                Given::Alone => arguments.get(at + 1).cloned(),
                Given::Joined(start) => Some(word.tail(start)),
            }
        })
    };
    file.filter(|file| file.text != "-")
}
