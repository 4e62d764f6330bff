//! Wildcards against text of which parts are not known.

use super::command::Word;

/// More steps than this are not taken: then a match counts as possible.
const MAX_STEPS: usize = 1 << 20;

/// Whether a wildcard pattern matches a text: a command is not a path, so `*` matches any text.
pub(crate) fn is_wildcard_match(pattern: &str, text: &str) -> bool {
    let (pattern, text) = (pattern.as_bytes(), text.as_bytes());
    let (mut at, mut in_text) = (0, 0);
    // The last star, and up to where it matches.
    let mut star: Option<(usize, usize)> = None;
    while in_text < text.len() {
        match pattern.get(at) {
            Some(b'*') => {
                star = Some((at, in_text));
                at += 1;
            }
            Some(b'?') => {
                at += 1;
                in_text += 1;
                in_text += text[in_text..].iter().take_while(|byte| **byte & 0xc0 == 0x80).count();
            }
            Some(byte) if *byte == text[in_text] => {
                at += 1;
                in_text += 1;
            }
            _ => {
                let Some((from, until)) = star else { return false };
                star = Some((from, until + 1));
                (at, in_text) = (from + 1, until + 1);
            }
        }
    }
    pattern[at..].iter().all(|byte| *byte == b'*')
}

/// Whether some text for the holes of a line makes a wildcard pattern (`*`, `?`) match it. A word such as `--for*` stands for
/// the names of files; one that starts with a star does so too, and those are rarely options.
pub(crate) fn may_match(pattern: &str, line: &Word) -> bool {
    let pattern: Vec<char> = pattern.chars().collect();
    // `None` is a hole.
    let mut text: Vec<Option<char>> = Vec::new();
    let mut holes = line.holes.iter().peekable();
    for (at, c) in line.text.char_indices() {
        while holes.next_if(|hole| hole.end <= at).is_some() {}
        match holes.peek() {
            Some(hole) if hole.start == at => text.push(None),
            Some(hole) if hole.contains(&at) => {}
            _ if line.stars.contains(&at) && line.text[..at].ends_with(|c: char| !c.is_whitespace()) => {
                text.push(None);
            }
            _ => text.push(Some(c)),
        }
    }
    if pattern.len().saturating_mul(text.len()) > MAX_STEPS {
        return true;
    }
    // How much of the pattern the text so far may have matched.
    let mut reached = vec![false; pattern.len() + 1];
    reached[0] = true;
    skip_stars(&pattern, &mut reached);
    for token in text {
        let mut next = vec![false; pattern.len() + 1];
        match token {
            None => {
                let first = reached.iter().position(|is_reached| *is_reached);
                first.into_iter().for_each(|first| next[first..].fill(true));
            }
            Some(c) => {
                for at in (0..pattern.len()).filter(|at| reached[*at]) {
                    match pattern[at] {
                        '*' => next[at] = true,
                        wanted => next[at + 1] |= wanted == '?' || wanted == c,
                    }
                }
            }
        }
        skip_stars(&pattern, &mut next);
        reached = next;
    }
    reached[pattern.len()]
}

fn skip_stars(pattern: &[char], reached: &mut [bool]) {
    for at in 0..pattern.len() {
        if reached[at] && pattern[at] == '*' {
            reached[at + 1] = true;
        }
    }
}
