//! What is told of patterns that can be read and probably do not do what their author meant.

use super::reader::Reader;
use crate::condition::Paths;
use crate::diagnostic::{Code, Fix, Severity, shown};
use crate::format::Lists;
use crate::frontmatter::{Field, Value, quoted};
use crate::glob::{Dialect, split_list};
use crate::hidden::shown_characters;

/// One thing odd about a pattern.
struct Doubt {
    severity: Severity,
    /// In which dialects it is as it should be.
    fine_in: &'static [Dialect],
    /// Whether it is there, in a pattern without its `!`.
    is_in: fn(&str) -> bool,
    /// What was meant, where nothing else can be: a match of the pattern with it is none today.
    mended: fn(&str) -> Option<String>,
    message: &'static str,
    help: &'static str,
}

/// The first that is there is told.
const DOUBTS: &[Doubt] = &[
    Doubt {
        severity: Severity::Warning,
        fine_in: &[],
        is_in: |pattern| pattern.contains(['“', '”', '‘', '’']),
        message: "has curly quotes, which are part of the pattern",
        mended: |_| None,
        help: "write straight quotes, or none",
    },
    Doubt {
        severity: Severity::Warning,
        fine_in: &[],
        is_in: |pattern| pattern.starts_with('[') && pattern.contains(['"', '\'']),
        message: "is a list within quotes, so it is one pattern",
        mended: |_| None,
        help: "take the outer quotes off",
    },
    Doubt {
        severity: Severity::Warning,
        fine_in: &[],
        is_in: |pattern| pattern.contains(';') || pattern.contains('|') && !pattern.contains('('),
        message: "is one pattern: neither `;` nor `|` parts two",
        mended: |_| None,
        help: "put commas between patterns of a text, or give each an entry of a list",
    },
    Doubt {
        severity: Severity::Warning,
        fine_in: &[],
        is_in: |pattern| pattern.contains('\\') && pattern.contains("_/_"),
        message: "looks rewritten by a formatter of Markdown",
        mended: |_| None,
        help: "write `**/*` again, and put the value in quotes",
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
        message: "has `\\`, which only takes the meaning from the next character",
        mended: |_| None,
        help: "write `/` between folders; a pattern is no regular expression",
    },
    Doubt {
        severity: Severity::Warning,
        fine_in: &[Dialect::Amp],
        is_in: |pattern| pattern.starts_with("../") || pattern.starts_with("~/"),
        message: "leads out of the workspace, so it matches nothing",
        mended: |_| None,
        help: "write it relative to the workspace",
    },
    Doubt {
        severity: Severity::Warning,
        fine_in: &[Dialect::Amp, Dialect::Claude, Dialect::Gitignore, Dialect::VsCode],
        is_in: |pattern| pattern.starts_with('/'),
        message: "starts with `/`, which no path does, so it matches nothing",
        mended: |pattern| {
            Some(pattern.strip_prefix('/')?.to_owned()).filter(|rest| rest.starts_with(is_plain))
        },
        help: "leave the `/` out: patterns are relative to the workspace",
    },
    Doubt {
        severity: Severity::Warning,
        fine_in: &[Dialect::Amp, Dialect::CopilotCli, Dialect::Picomatch, Dialect::VsCode],
        is_in: |pattern| pattern.starts_with("./"),
        message: "starts with `./`, which no path does, so it matches nothing",
        mended: |pattern| {
            Some(pattern.strip_prefix("./")?.to_owned()).filter(|rest| rest.starts_with(is_plain))
        },
        help: "leave the `./` out: patterns are relative to the workspace",
    },
    Doubt {
        severity: Severity::Warning,
        fine_in: &[],
        is_in: |pattern| pattern.matches('{').count() != pattern.matches('}').count(),
        message: "has a brace without its other, so both are part of the pattern",
        mended: |_| None,
        help: "write `{a,b}`, or no brace",
    },
    Doubt {
        severity: Severity::Warning,
        fine_in: &[Dialect::Amp, Dialect::Claude, Dialect::Gitignore, Dialect::VsCode],
        is_in: |pattern| {
            let groups = pattern.split('{').skip(1).filter_map(|rest| rest.split_once('}'));
            groups.map(|(group, _)| group).any(|group| !group.contains(',') && !group.contains(".."))
        },
        message: "has braces around one thing, which are then part of the pattern",
        mended: |_| None,
        help: "leave the braces out",
    },
    Doubt {
        severity: Severity::Warning,
        fine_in: &[Dialect::Claude, Dialect::Gitignore],
        is_in: |pattern| pattern.ends_with('/'),
        message: "ends in `/`, which no file does, so it matches nothing",
        mended: |pattern| Some(format!("{pattern}**")).filter(|_| pattern.starts_with(is_plain)),
        help: "write `/**` at the end for what is in the folder",
    },
    Doubt {
        severity: Severity::Note,
        fine_in: &[Dialect::Claude, Dialect::Gitignore],
        is_in: |pattern| {
            let name = pattern.rsplit('/').next().unwrap_or(pattern);
            name.starts_with(char::is_lowercase) && !name.contains(['.', '*', '?', '[', '{', '('])
        },
        message: "is the name of a file; what is in a folder of that name does not match",
        mended: |_| None,
        help: "write `/**` at the end if it is a folder",
    },
];

/// Tells of a comma list that its agent takes for one pattern.
pub(super) fn report_glued(field: &Field, paths: &Paths, reader: &mut Reader) {
    let format = reader.format();
    let is_text = !matches!(field.node.value, Value::List(_));
    let Some(glued) = paths.patterns().next().filter(|_| format.lists == Lists::Whole && is_text) else {
        return;
    };
    let pieces: Vec<&str> = split_list(glued).into_iter().map(|(_, piece)| piece).collect();
    if pieces.len() > 1 {
        let message = format!("it takes `{}` as one pattern, which matches nothing", shown(glued));
        let list = format!("[{}]", pieces.iter().map(|piece| quoted(piece)).collect::<Vec<_>>().join(", "));
        let told = reader.tell(Code::PatternList, field.node.span.clone(), message);
        told.help = format!("write a list: `{}: {}`", field.key, shown_characters(&list));
        told.fix = Some(Fix::new(field.node.span.clone(), list));
    }
}

/// Tells what is odd about the patterns under a key, each where it stands.
pub(super) fn report_doubts(field: &Field, paths: &Paths, reader: &mut Reader) {
    let dialect = reader.format().dialect;
    if !paths.patterns().any(|pattern| doubt(pattern, dialect).is_some()) {
        return;
    }
    let is_sure = reader.format().rival.is_none() && !reader.format().unquoted;
    let end = field.node.span.end;
    let mut from = field.node.span.start;
    for pattern in paths.patterns() {
        let found = reader.text[from..end].find(pattern).map(|at| from + at);
        let at = found.unwrap_or(from);
        from = found.map_or(from, |at| at + pattern.len());
        let Some(doubt) = doubt(pattern, dialect) else { continue };
        // Where the dialect is known, and the pattern stands as it was read.
        let mended = (doubt.mended)(pattern).filter(|_| is_sure && found.is_some());
        let message = format!("`{}`: `{}` {}", field.key, shown(pattern), doubt.message);
        let told = reader.tell(Code::DoubtfulGlob, at..from, message);
        told.severity = doubt.severity;
        told.help = doubt.help.to_owned();
        told.fix = mended.map(|mended| Fix::new(at..from, mended));
    }
}

fn doubt(pattern: &str, dialect: Dialect) -> Option<&'static Doubt> {
    let bare = pattern.strip_prefix('!').unwrap_or(pattern);
    if is_usual(bare.as_bytes()) {
        return None;
    }
    DOUBTS.iter().find(|doubt| !doubt.fine_in.contains(&dialect) && (doubt.is_in)(bare))
}

/// Whether a pattern that starts so starts with a name or a star: no `!`, no `/`, no quote.
fn is_plain(c: char) -> bool {
    c.is_alphanumeric() || matches!(c, '*' | '.' | '_')
}

/// Most patterns are plain names and stars with a star or a dot in the last one: nothing above is about those.
fn is_usual(pattern: &[u8]) -> bool {
    let is_plain = |c: &u8| c.is_ascii_alphanumeric() || matches!(c, b'_' | b'-' | b'.' | b'*' | b'/');
    let last = pattern.rsplit(|c| *c == b'/').next().unwrap_or_default();
    pattern.iter().all(is_plain)
        && pattern.first().is_some_and(|c| c.is_ascii_alphanumeric() || *c == b'*')
        && last.iter().any(|c| matches!(c, b'.' | b'*'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slip_is_seen_and_what_people_mean_is_not() {
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
        check("../x/**", VsCode, "out of the workspace");
        check("src/", Picomatch, "ends in `/`");
        check("src/", Claude, "");
        check("src", Picomatch, "the name of a file");
        check("Makefile", Picomatch, "");
        check(".github/CODEOWNERS", Picomatch, "");
        check("src\\a\\*.cs", Picomatch, "`\\`");
        check("app/\\[lang\\]/page.tsx", Picomatch, "");
        check("docs/\\*_/_.{md,mdx}", Minimatch, "formatter");
        check("*.{ts,tsx", Picomatch, "without its other");
        check("*.{ts}", Picomatch, "around one thing");
        check("{1..3}.ts", Picomatch, "");
        check("a|b", Picomatch, "parts two");
        check("*.(ts|js)", Picomatch, "");
        check("src/**/*.{ts,tsx}", Picomatch, "");
    }
}
