//! Finds the rules that a message requests: `rule://NAME` and `@NAME`.

use crate::id::percent_decoded;
use crate::markdown::outside_code;
use crate::work;

/// The names that a message may request.
#[derive(Debug, Default, PartialEq, Eq)]
pub(in crate::evidence) struct Requests {
    /// Those of addresses, which are certainly meant as rules.
    pub(in crate::evidence) addresses: Vec<String>,
    /// Words after an `@` that are not existing paths.
    pub(in crate::evidence) mentions: Vec<String>,
}

const ADDRESS: &str = "rule://";

/// The most requests that are read of one message.
const MAX_REQUESTS: usize = 100;

/// Finds the requests outside code. A mention is a whole word that is not an existing path.
pub(in crate::evidence) fn requests(text: &str, exists: &dyn Fn(&str) -> bool) -> Requests {
    let mut found = Requests::default();
    if !text.contains('@') && !text.contains(ADDRESS) {
        return found;
    }
    for part in outside_code(&text[..text.floor_char_boundary(super::MAX_TEXT)]) {
        let pieces = part.lines().flat_map(outside_inline_code);
        for word in pieces.flat_map(str::split_whitespace) {
            work::count(word.len());
            if found.addresses.len() + found.mentions.len() == MAX_REQUESTS {
                return found;
            }
            if let Some((_, name)) = word.split_once(ADDRESS) {
                push(&mut found.addresses, &percent_decoded(trimmed(name)));
            } else if let Some(name) = word.trim_start_matches(OPENING).strip_prefix('@') {
                let name = trimmed(name);
                if !exists(name) {
                    push(&mut found.mentions, name);
                }
            }
        }
    }
    found
}

fn push(names: &mut Vec<String>, name: &str) {
    if !name.is_empty() && !names.iter().any(|known| known == name) {
        names.push(name.to_owned());
    }
}

/// What may precede a mention, and what ends a name.
const OPENING: &[char] = &['(', '[', '{', '"', '\'', '*', '_', '“', '‘', '«'];
const CLOSING: &[char] = &[',', ';', ':', '!', '?', ')', ']', '}', '"', '\'', '*', '>', '”', '’', '»', '|'];

/// Cuts a name at punctuation and drops full stops at its end.
fn trimmed(word: &str) -> &str {
    word.split(CLOSING).next().unwrap_or(word).trim_end_matches(['.', '_'])
}

/// Returns the parts of a line outside pairs of backticks.
fn outside_inline_code(line: &str) -> impl Iterator<Item = &str> {
    let marks = line.matches('`').count();
    line.split('`').enumerate().filter(move |(at, _)| at % 2 == 0 || *at == marks).map(|(_, part)| part)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, addresses: &[&str], mentions: &[&str]) {
        let found = requests(text, &|path| path == "src/a.ts");
        assert_eq!((found.addresses, found.mentions), (owned(addresses), owned(mentions)), "{text}");
    }

    fn owned(names: &[&str]) -> Vec<String> {
        names.iter().map(|name| (*name).to_owned()).collect()
    }

    #[test]
    fn addresses_and_whole_words_are_requests() {
        check("see rule://web and (rule://a%20b/c.)", &["web", "a b/c"], &[]);
        check("use @web, @db@cursor and **@style**.", &[], &["web", "db@cursor", "style"]);
        check("@web.mdc! @web @web", &[], &["web.mdc", "web"]);
        check("me@web.org @", &[], &[]);
    }

    #[test]
    fn code_and_existing_paths_are_not() {
        check("`@web` and `rule://web`", &[], &[]);
        check("```\n@web\n```\n", &[], &[]);
        check("an ` unpaired @web", &[], &["web"]);
        check("@src/a.ts @src/b.ts", &[], &["src/b.ts"]);
    }
}
