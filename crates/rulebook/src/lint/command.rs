//! Commands in the text of a rule: inline code, and lines of shell blocks.

use std::ops::Range;

/// A command that a rule names.
pub(super) struct Command<'t> {
    pub(super) words: Vec<&'t str>,
    pub(super) span: Range<usize>,
    /// The line that contains it.
    pub(super) line: &'t str,
    /// The heading above, and the last line of prose before.
    pub(super) above: [&'t str; 2],
    /// Where its code block starts, if it is in one.
    pub(super) block: Option<usize>,
}

/// The languages of blocks that contain commands.
const SHELLS: &[&str] = &["", "bash", "cmd", "console", "powershell", "sh", "shell", "terminal", "zsh"];

/// The longest line that is searched, in bytes.
const MAX_LINE: usize = 4_096;

/// How much of a line above a block counts, in bytes from its end.
const MAX_PROSE: usize = 200;

/// Finds the commands of a text, in order.
pub(super) fn commands(text: &str) -> Vec<Command<'_>> {
    let mut found = Vec::new();
    let mut above = [""; 2];
    let mut language: Option<&str> = None;
    let mut block = 0;
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        let start = at;
        at += line.len();
        // A longer line is data.
        if line.len() > MAX_LINE {
            continue;
        }
        let trimmed = line.trim();
        if let Some(info) = trimmed.strip_prefix("```").or_else(|| trimmed.strip_prefix("~~~")) {
            language = if language.is_some() { None } else { Some(info.trim_matches('`').trim()) };
            block = start;
            continue;
        }
        match language {
            Some(language) if SHELLS.contains(&language) && !trimmed.starts_with('#') => {
                let code = line.split(" #").next().unwrap_or(line);
                split(code, start, Context { line, above, block: Some(block) }, &mut found);
            }
            Some(_) => {}
            None => {
                // Each command of a block is compared with both.
                let prose = &trimmed[trimmed.ceil_char_boundary(trimmed.len().saturating_sub(MAX_PROSE))..];
                if trimmed.starts_with('#') {
                    above = [prose, ""];
                } else if !trimmed.is_empty() {
                    above[1] = prose;
                }
                let mut from = start;
                for (nth, part) in line.split('`').enumerate() {
                    if nth % 2 == 1 {
                        split(part, from, Context { line, above, block: None }, &mut found);
                    }
                    from += part.len() + 1;
                }
            }
        }
    }
    found
}

/// What surrounds a command.
#[derive(Clone, Copy)]
struct Context<'t> {
    line: &'t str,
    above: [&'t str; 2],
    block: Option<usize>,
}

/// Splits a line of shell into simple commands.
fn split<'t>(code: &'t str, start: usize, context: Context<'t>, found: &mut Vec<Command<'t>>) {
    let mut at = start;
    for piece in code.split(['&', ';', '|']) {
        let words: Vec<&str> =
            piece.split_whitespace().filter(|word| !matches!(*word, "$" | ">" | "%")).collect();
        let lead = piece.len() - piece.trim_start_matches([' ', '\t', '$', '>', '%']).len();
        if words.len() > 1 {
            let Context { line, above, block } = context;
            found.push(Command { words, span: at + lead..at + piece.trim_end().len(), line, above, block });
        }
        at += piece.len() + 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_are_in_code() {
        let text = "Run `npm test` or make it so.\n```sh\n$ cd a && make b # note\n# no\n```\n```ts\nnpm run x\n```\n";
        let found: Vec<String> =
            commands(text).iter().map(|command| text[command.span.clone()].to_owned()).collect();
        assert_eq!(found, ["npm test", "cd a", "make b"]);
    }
}
