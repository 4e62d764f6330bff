//! The files that `find` finds, as far as its words say.

use super::command::Word;

/// What `find` finds, as words of a shell: patterns below its folders; what is not known is a hole.
pub(super) fn found(arguments: &[Word]) -> Vec<Word> {
    let (folders, names) = tests(arguments);
    let below = |folder: &Word, name: &Word| {
        let mut below = folder.clone();
        below.append(&Word::known("/"));
        below.append(name);
        below
    };
    let any = |folder: &Word| {
        let is_inside = folder.as_known().is_some_and(|folder| !folder.starts_with(['/', '.', '~']));
        if is_inside { below(folder, &Word::hole("…")) } else { Word::hole("{}") }
    };
    match names {
        Some(names) if names.iter().all(|name| name.holes.is_empty()) => {
            let at_any_depth =
                |name: &Word| Word { stars: vec![0, 1], ..Word::known(format!("**/{}", name.text)) };
            let names: Vec<Word> = names.iter().map(at_any_depth).collect();
            folders.iter().flat_map(|folder| names.iter().map(move |name| below(folder, name))).collect()
        }
        _ => folders.iter().map(any).collect(),
    }
}

/// The folders in which `find` looks, and the names that it looks for; `None` if other files may be found too.
pub(super) fn tests(arguments: &[Word]) -> (Vec<Word>, Option<Vec<Word>>) {
    let has = |wanted: &[&str]| arguments.iter().any(|word| wanted.contains(&&*word.text));
    let is_root = |word: &&Word| !word.text.starts_with(['-', '(', '!']);
    let mut folders: Vec<Word> = arguments.iter().take_while(is_root).cloned().collect();
    if folders.is_empty() {
        folders.push(Word::known("."));
    }
    let tests = arguments.windows(2).filter(|pair| matches!(&*pair[0].text, "-name" | "-iname"));
    let names: Vec<Word> = tests.map(|pair| pair[1].clone()).collect();
    let is_any = names.is_empty() || has(&["!", "-not", "-o", "-or", ","]) && !has_only_names(arguments);
    (folders, Some(names).filter(|_| !is_any))
}

/// Whether an expression only chooses among names: `\( -name a -o -name b \) -delete`.
fn has_only_names(arguments: &[Word]) -> bool {
    let mut words = arguments.iter().skip_while(|word| !word.text.starts_with(['-', '(']));
    while let Some(word) = words.next() {
        match &*word.text {
            "-name" | "-iname" | "-type" | "-maxdepth" | "-mindepth" => drop(words.next()),
            "(" | ")" | "-o" | "-or" | "-a" | "-and" | "-delete" | "-print" | "-depth" => {}
            _ => return false,
        }
    }
    // Each alternative has a name, if brackets hold them together.
    arguments.iter().any(|word| word.text == "(")
}
