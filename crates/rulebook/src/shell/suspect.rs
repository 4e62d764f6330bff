//! Commands in the words of a program that may run them: which programs do is not known.

use super::command::{Command, Redirect, Word};

/// Programs that run none of their words.
#[rustfmt::skip]
const INERT: &[&str] = &[
    "[", "[[", ":", "ack", "ag", "alias", "apropos", "cat", "cd", "declare", "diff", "echo", "egrep", "export", "false",
    "fgrep", "gh", "git", "grep", "head", "jq", "less", "local", "ls", "man", "more", "printf", "read", "readonly", "rg",
    "set", "tail", "tee", "test", "tldr", "true", "type", "typeset", "unset", "wc", "whatis", "whereis", "which",
];
/// How many words are tried as the name of a command, and the longest text that is searched.
const MAX_STARTS: usize = 64;
const MAX_TEXT: usize = 16 << 10;

/// Whether a program runs none of its words.
pub(super) fn is_inert(name: &str) -> bool {
    INERT.contains(&name)
}

impl Command {
    /// Whether its words or its input contain a command, which it may run.
    pub(crate) fn may_run(&self, is_match: &dyn Fn(&str) -> bool) -> bool {
        let name = self.name();
        let name = name.as_deref().unwrap_or_default();
        let rest = self.words.get(1..).unwrap_or_default();
        if self.words.is_empty() || rest.is_empty() && self.redirects.is_empty() || is_inert(name) {
            return false;
        }
        let texts: Vec<&str> = rest.iter().map(|word: &Word| word.text.as_str()).collect();
        if contains(&texts, is_match) {
            return true;
        }
        let read = self.redirects.iter().filter_map(Redirect::text).map(|word| word.text.as_str());
        let long = texts.into_iter().filter(|text| text.contains(char::is_whitespace));
        long.chain(read).any(|text| {
            let text = &text[..text.floor_char_boundary(MAX_TEXT)];
            text.split(['\n', ';', '|', '&'])
                .any(|line| contains(&line.split_whitespace().collect::<Vec<_>>(), is_match))
        })
    }
}

/// Whether a command starts at one of the words.
fn contains(words: &[&str], is_match: &dyn Fn(&str) -> bool) -> bool {
    (0..words.len().min(MAX_STARTS)).any(|at| {
        // What a program puts around a command: `exec=git`, `EXEC:git`, `!git`, `nixpkgs#git`, a quote, a version.
        let first = words[at].rsplit(['=', ':', '!', '#', '(', '"', '\'', '`']).find(|part| !part.is_empty());
        let rest = || words[at + 1..].iter().map(|word| word.trim_end_matches(['"', '\'', ')', '`']));
        let rest = rest().filter(|word| *word != "--").collect::<Vec<_>>().join(" ");
        first.is_some_and(|first| {
            let plain = first.rsplit('/').next().unwrap_or(first);
            let plain = plain.split('@').next().filter(|name| !name.is_empty()).unwrap_or(plain);
            [first, plain]
                .iter()
                .any(|name| is_match(&format!("{name} {rest}")) || rest.is_empty() && is_match(name))
        })
    })
}
