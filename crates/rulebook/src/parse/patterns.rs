//! Reports valid patterns that probably do not match what their author intended.

use std::ops::Range;

use super::reader::Reader;
use crate::agent::Agent;
use crate::condition::Paths;
use crate::diagnostic::{Code, Fix, Severity, shown};
use crate::format::{FormatId, Keys, Lists};
use crate::frontmatter::{Field, Value, quoted, scalar, unquoted};
use crate::glob::{Dialect, split_list};
use crate::hidden::shown_characters;

/// A likely mistake in a pattern.
struct Doubt {
    severity: Severity,
    /// Dialects in which it is not a mistake.
    fine_in: &'static [Dialect],
    /// Whether a pattern, without its `!`, has it.
    is_in: fn(&str) -> bool,
    /// Returns the intended pattern, for mistakes that cannot match anything.
    fixed: Option<fn(&str) -> Option<String>>,
    message: &'static str,
    help: &'static str,
}

/// Likely mistakes; the first that a pattern has is reported.
const DOUBTS: &[Doubt] = &[
    Doubt {
        severity: Severity::Warning,
        fine_in: &[],
        is_in: |pattern| pattern.contains(['“', '”', '‘', '’']),
        message: "has curly quotes, which are part of the pattern",
        fixed: None,
        help: "write straight quotes, or none",
    },
    Doubt {
        severity: Severity::Warning,
        fine_in: &[],
        is_in: |pattern| pattern.starts_with('[') && !pattern.contains(']') && pattern.contains(['"', '\'']),
        message: "is the start of a list without `]`, so brackets and quotes are part of the pattern",
        fixed: None,
        help: "close the list with `]`",
    },
    Doubt {
        severity: Severity::Warning,
        fine_in: &[],
        is_in: |pattern| pattern.starts_with('[') && pattern.contains(['"', '\'']),
        message: "is a list in quotes, so it is one pattern",
        fixed: None,
        help: "remove the outer quotes",
    },
    Doubt {
        severity: Severity::Warning,
        fine_in: &[],
        is_in: |pattern| pattern.contains(';') || pattern.contains('|') && !pattern.contains('('),
        message: "is one pattern: `;` and `|` do not separate patterns",
        fixed: None,
        help: "separate patterns with commas, or make each a list entry",
    },
    Doubt {
        severity: Severity::Warning,
        fine_in: &[],
        is_in: |pattern| pattern.contains('\\') && pattern.contains("_/_"),
        message: "looks rewritten by a Markdown formatter",
        fixed: None,
        help: "restore `**/*`, and put the value in quotes",
    },
    Doubt {
        severity: Severity::Warning,
        fine_in: &[],
        is_in: |pattern| {
            pattern
                .split('\\')
                .skip(1)
                .any(|rest| rest.starts_with(|c: char| c.is_alphanumeric() || ".*_".contains(c)))
        },
        message: "has `\\`, which escapes the next character",
        fixed: None,
        help: "write `/` between folders; a pattern is not a regular expression",
    },
    Doubt {
        severity: Severity::Warning,
        fine_in: &[Dialect::Amp],
        is_in: |pattern| pattern.starts_with("../") || pattern.starts_with("~/"),
        message: "points outside the workspace, so it matches nothing",
        fixed: None,
        help: "write it relative to the workspace",
    },
    Doubt {
        severity: Severity::Warning,
        fine_in: &[],
        is_in: |pattern| pattern.ends_with("*."),
        message: "ends in `.`, which no file name does, so it matches nothing",
        fixed: None,
        help: "write the extension, or remove the `.`",
    },
    Doubt {
        severity: Severity::Warning,
        fine_in: &[Dialect::Amp, Dialect::Claude, Dialect::Gitignore, Dialect::VsCode],
        is_in: |pattern| pattern.starts_with('/'),
        message: "starts with `/`, which no path does",
        fixed: Some(|pattern| {
            Some(pattern.strip_prefix('/')?.to_owned()).filter(|rest| rest.starts_with(is_plain))
        }),
        help: "remove the `/`: patterns are relative to the workspace",
    },
    Doubt {
        severity: Severity::Warning,
        fine_in: &[Dialect::Amp, Dialect::CopilotCli, Dialect::Picomatch, Dialect::VsCode],
        is_in: |pattern| pattern.starts_with("./"),
        message: "starts with `./`, which no path does",
        fixed: Some(|pattern| {
            Some(pattern.strip_prefix("./")?.to_owned()).filter(|rest| rest.starts_with(is_plain))
        }),
        help: "remove the `./`: patterns are relative to the workspace",
    },
    Doubt {
        severity: Severity::Warning,
        fine_in: &[],
        is_in: |pattern| pattern.matches('{').count() != pattern.matches('}').count(),
        message: "has an unbalanced brace, which is matched literally",
        fixed: None,
        help: "write `{a,b}`, or remove the brace",
    },
    Doubt {
        severity: Severity::Warning,
        fine_in: &[Dialect::Amp, Dialect::Claude, Dialect::CopilotCli, Dialect::Gitignore, Dialect::VsCode],
        is_in: |pattern| {
            let groups = pattern.split('{').skip(1).filter_map(|rest| rest.split_once('}'));
            groups.map(|(group, _)| group).any(|group| !group.contains(',') && !group.contains(".."))
        },
        message: "has braces around a single item, which are matched literally",
        fixed: None,
        help: "remove the braces",
    },
    Doubt {
        severity: Severity::Warning,
        fine_in: &[Dialect::Claude, Dialect::Gitignore],
        is_in: |pattern| pattern.ends_with('/'),
        message: "ends in `/`, which no file does",
        fixed: Some(|pattern| Some(format!("{pattern}**")).filter(|_| pattern.starts_with(is_plain))),
        help: "end it with `/**` to match the files in the folder",
    },
    Doubt {
        severity: Severity::Note,
        fine_in: &[Dialect::Claude, Dialect::Gitignore],
        is_in: |pattern| {
            let name = pattern.rsplit('/').next().unwrap_or(pattern);
            !means_no_file(pattern)
                && name.starts_with(char::is_lowercase)
                && !name.contains(['.', '*', '?', '[', '{', '('])
        },
        message: "matches a file of that name, but not the files in a folder of that name",
        fixed: None,
        help: "end it with `/**` if it is a folder",
    },
];

/// Whether a pattern is meant to match no file.
pub fn means_no_file(pattern: &str) -> bool {
    NO_FILE.contains(&pattern)
}

/// Whether people write a pattern for every file, whatever the dialect makes of it.
pub(crate) fn means_everything(pattern: &str) -> bool {
    matches!(pattern, "*" | "**" | "**/*" | "*.*" | "**/*.*")
}

/// Words that people write as a pattern for no file.
const NO_FILE: &[&str] = &["manual", "never", "none", "null"];

/// Reports a text that the agent reads as one pattern, although it is written as a list or in single quotes.
pub(super) fn report_single(field: &Field, paths: &Paths, reader: &mut Reader) {
    let format = reader.format();
    let is_text = !matches!(field.node.value, Value::List(_));
    let Some(joined) = paths.patterns().next().filter(|_| format.lists == Lists::Whole && is_text) else {
        return;
    };
    let in_brackets = joined.strip_prefix('[').and_then(|rest| rest.strip_suffix(']'));
    let in_brackets = in_brackets.filter(|_| format.id == FormatId::Qwen);
    let pieces = split_list(in_brackets.unwrap_or(joined));
    let pieces: Vec<String> = pieces.into_iter().map(|(_, piece)| quoted(unquoted(piece))).collect();
    let is_quoted = format.id == FormatId::Qwen && unquoted(joined) != joined;
    if pieces.len() < 2 && in_brackets.is_none() && !is_quoted {
        return;
    }
    let written = match (format.id, &pieces[..]) {
        (FormatId::Qwen, [one]) => one.clone(),
        // It reads brackets as text.
        (FormatId::Qwen, many) => many.iter().map(|piece| format!("\n  - {piece}")).collect(),
        (_, many) => format!("[{}]", many.join(", ")),
    };
    let message = format!("the agent reads `{}` as one pattern, which matches nothing", shown(joined));
    let diagnostic = reader.report(Code::PatternList, field.node.span.clone(), message);
    diagnostic.help = match pieces.len() {
        0 | 1 => format!("write `{}: {}`", field.key, shown_characters(&written)),
        _ => format!("write a list: `{}: {}`", field.key, shown_characters(&written)),
    };
    diagnostic.fix = Some(Fix::new(field.node.span.clone(), written)).filter(|_| !pieces.is_empty());
}

/// Reports likely mistakes in the patterns of a key, each at its position. Returns whether there are any.
pub(super) fn report_doubts(field: &Field, paths: &Paths, reader: &mut Reader) -> bool {
    let dialect = reader.format().dialect;
    if !paths.patterns().any(|pattern| doubt(pattern, dialect).is_some()) {
        return false;
    }
    let format = reader.format();
    let is_sure = format.rival.is_none() && !format.unquoted;
    let is_meant = !matches!(format.keys, Keys::Own(_));
    let end = field.node.span.end;
    let mut from = field.node.span.start;
    for pattern in paths.patterns() {
        let found = reader.text[from..end].find(pattern).map(|at| from + at);
        let at = found.unwrap_or(from);
        from = found.map_or(from, |at| at + pattern.len());
        let Some(doubt) = doubt(pattern, dialect) else { continue };
        let meant = corrected(pattern, dialect);
        let effect = match &meant {
            _ if doubt.fixed.is_none() => String::new(),
            Some(meant) if is_meant && is_sure && Agent::owner_of(format.id).is_some() => {
                format!(": {} matches nothing with it, Rulebook reads `{}`", format.agent, shown(meant))
            }
            Some(meant) if is_meant => format!(", so it is read as `{}`", shown(meant)),
            _ => ", so it matches nothing".to_owned(),
        };
        // Fixable if the dialect is known and the pattern is written as it was read.
        let fixed = meant.filter(|_| is_sure && found.is_some() && !pattern.starts_with('!'));
        let fixed = fixed.map(|fixed| replacement(field, reader.text, at..from, &fixed));
        let message = format!("`{}`: `{}` {}{effect}", field.key, shown(pattern), doubt.message);
        let diagnostic = reader.report(Code::DoubtfulGlob, at..from, message);
        diagnostic.severity = doubt.severity;
        diagnostic.help = doubt.help.to_owned();
        diagnostic.fix = fixed;
    }
    true
}

/// Replaces a pattern. The value around it is quoted if it needs quotes then.
fn replacement(field: &Field, text: &str, pattern: Range<usize>, fixed: &str) -> Fix {
    let value = match &field.node.value {
        Value::List(items) => items.iter().find(|item| item.span.end >= pattern.end),
        _ => Some(&field.node),
    };
    let value = value.map(|value| value.span.clone()).filter(|span| span.start <= pattern.start);
    let Some(value) = value.filter(|span| !text[span.clone()].starts_with(['"', '\''])) else {
        return Fix::new(pattern, fixed);
    };
    let new = [&text[value.start..pattern.start], fixed, &text[pattern.end..value.end]].concat();
    Fix::new(value, scalar(&new, text[field.node.span.clone()].starts_with('[')))
}

fn doubt(pattern: &str, dialect: Dialect) -> Option<&'static Doubt> {
    let bare = pattern.strip_prefix('!').unwrap_or(pattern);
    if is_usual(bare.as_bytes()) {
        return None;
    }
    DOUBTS.iter().find(|doubt| !doubt.fine_in.contains(&dialect) && (doubt.is_in)(bare))
}

/// Returns the intended pattern, if the written one cannot match anything and the intention is clear.
pub(crate) fn corrected(pattern: &str, dialect: Dialect) -> Option<String> {
    let (not, bare) = pattern.strip_prefix('!').map_or(("", pattern), |bare| ("!", bare));
    let mut fixed = bare.to_owned();
    while let Some(doubt) = doubt(&fixed, dialect).filter(|doubt| doubt.severity == Severity::Warning) {
        fixed = (doubt.fixed?)(&fixed)?;
    }
    (fixed != bare).then(|| [not, &fixed].concat())
}

/// Whether a pattern that starts with this character starts with a name or a star: not with `!`, `/` or a quote.
fn is_plain(c: char) -> bool {
    c.is_alphanumeric() || matches!(c, '*' | '.' | '_')
}

/// The characters of usual patterns.
const USUAL: [bool; 256] = {
    let mut usual = [false; 256];
    let mut c = 0;
    while c < 256 {
        let ascii = c as u8;
        usual[c] = ascii.is_ascii_alphanumeric() || matches!(ascii, b'_' | b'-' | b'.' | b'*' | b'/');
        c += 1;
    }
    usual
};

/// Most patterns are plain names and stars, with a star or a dot in the last segment. They have none of the mistakes above.
fn is_usual(pattern: &[u8]) -> bool {
    let mut last = pattern.iter().rev().take_while(|c| **c != b'/');
    pattern.iter().all(|c| USUAL[usize::from(*c)])
        && pattern.first().is_some_and(|c| c.is_ascii_alphanumeric() || *c == b'*')
        && last.any(|c| matches!(c, b'.' | b'*'))
        && pattern.last() != Some(&b'.')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mistakes_are_found_and_correct_patterns_are_not_reported() {
        #[track_caller]
        fn check(pattern: &str, dialect: Dialect, part: &str) {
            let found = doubt(pattern, dialect).map_or("", |doubt| doubt.message);
            assert!(found.contains(part) && part.is_empty() == found.is_empty(), "{pattern}: {found:?}");
        }
        use Dialect::{Claude, Minimatch, Picomatch, VsCode};
        check("/src/**", Picomatch, "starts with `/`");
        check("!/src/**", Picomatch, "starts with `/`");
        check("/src/**", Claude, "");
        check("./src/**", Picomatch, "");
        check("./src/**", Minimatch, "starts with `./`");
        check("../x/**", VsCode, "outside the workspace");
        check("src/", Picomatch, "ends in `/`");
        check("src/", Claude, "");
        check("src", Picomatch, "a file of that name");
        check("Makefile", Picomatch, "");
        check(".github/CODEOWNERS", Picomatch, "");
        check("src\\a\\*.cs", Picomatch, "`\\`");
        check("app/\\[lang\\]/page.tsx", Picomatch, "");
        check("docs/\\*_/_.{md,mdx}", Minimatch, "formatter");
        check("*.{ts,tsx", Picomatch, "unbalanced brace");
        check("*.{ts}", Picomatch, "around a single item");
        check("{1..3}.ts", Picomatch, "");
        check("a|b", Picomatch, "do not separate");
        check("*.(ts|js)", Picomatch, "");
        check("src/**/*.{ts,tsx}", Picomatch, "");
    }
}
