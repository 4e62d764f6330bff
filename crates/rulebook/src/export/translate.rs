//! Translating patterns between dialects.
//!
//! Patterns become picomatch's, relative to the root, and are then written in the other dialect. What comes out is a list
//! of candidates: comparing decides which of them means the same.

use super::brackets::with_both_readings;
use crate::glob::{Dialect, expand_braces};

/// Returns the ways to write patterns of one dialect in another, the most readable first. `folder` is the folder that the
/// patterns are relative to and shall no longer be.
pub(super) fn candidates(patterns: &[String], from: Dialect, to: Dialect, folder: &str) -> Vec<Vec<String>> {
    let mut found = ways(patterns, from, to, folder);
    let others = [
        with_both_readings(patterns, from, to),
        without_single_braces(patterns),
        spelled_all(patterns, from),
    ];
    for patterns in others.into_iter().flatten() {
        let further = ways(&patterns, from, to, folder).into_iter();
        let further: Vec<Vec<String>> = further.filter(|list| !found.contains(list)).collect();
        found.extend(further);
    }
    found
}

/// Writes `{ts}` as `ts`: braces around one word are part of a name in some dialects. `None` if nothing changes.
fn without_single_braces(patterns: &[String]) -> Option<Vec<String>> {
    let without = |pattern: &String| {
        let mut text = String::new();
        let mut rest = pattern.as_str();
        while let Some((before, (word, after))) =
            rest.split_once('{').and_then(|(before, inner)| Some((before, inner.split_once('}')?)))
        {
            let is_single = !word.is_empty() && !word.contains(['{', ',', '\\']) && !word.contains("..");
            match is_single && !before.ends_with(['$', '\\']) {
                true => text.extend([before, word]),
                false => text.extend([before, "{", word, "}"]),
            }
            rest = after;
        }
        text + rest
    };
    let all: Vec<String> = patterns.iter().map(without).collect();
    (all != patterns).then_some(all)
}

/// Adds the pattern for everything to exclusions alone, which match every other file in some dialects.
fn spelled_all(patterns: &[String], from: Dialect) -> Option<Vec<String>> {
    let excludes_all = patterns.iter().all(|pattern| !exclusion(pattern).0.is_empty());
    let is_open = excludes_all && matches!(from, Dialect::Picomatch | Dialect::Amp);
    is_open.then(|| std::iter::once("**".to_owned()).chain(patterns.iter().cloned()).collect())
}

fn ways(patterns: &[String], from: Dialect, to: Dialect, folder: &str) -> Vec<Vec<String>> {
    let mut found: Vec<Vec<String>> = Vec::new();
    let mut add = |list: Option<Vec<String>>| {
        let list = list.filter(|list| !list.is_empty() && !found.contains(list));
        found.extend(list);
    };
    if folder.is_empty() {
        if from == Dialect::Minimatch && to != from {
            let shown: Vec<String> = patterns.iter().map(|pattern| without_hidden(pattern)).collect();
            add(Some(shown).filter(|shown| shown != patterns));
        }
        add(Some(patterns.to_vec()));
    }
    // Lines that only take folders out again say nothing about files but that the line of that name is for files alone.
    let is_ordered = matches!(from, Dialect::Claude | Dialect::Gitignore);
    let (folders_out, patterns): (Vec<&String>, Vec<&String>) =
        patterns.iter().partition(|one| is_ordered && one.starts_with('!') && one.ends_with('/'));
    if folder.is_empty() && !folders_out.is_empty() {
        add(Some(patterns.iter().copied().cloned().collect()));
    }
    let is_for_files = |line: &String| folders_out.iter().any(|out| out[1..].strip_suffix('/') == Some(line));
    let rooted_line = |line: &&String| {
        let mut all = rooted(line, from, folder)?;
        all.retain(|one| !is_for_files(line) || !one.ends_with("/**"));
        Some(all)
    };
    let rooted: Option<Vec<String>> =
        patterns.iter().map(rooted_line).collect::<Option<Vec<_>>>().map(|all| all.concat());
    let Some(rooted) = rooted else { return found };
    let written = |list: &[String], tail: Tail| -> Vec<String> {
        list.iter().map(|pattern| write(pattern, to, tail)).collect()
    };
    if from == Dialect::Minimatch && to != Dialect::Minimatch {
        let shown: Vec<String> = rooted.iter().map(|pattern| without_hidden(pattern)).collect();
        add(Some(written(&shown, Tail::Kept)).filter(|_| shown != rooted));
    }
    add(Some(written(&rooted, Tail::Kept)));
    let expanded: Option<Vec<Vec<String>>> = rooted.iter().map(|pattern| expand(pattern)).collect();
    let expanded = expanded.map(|all| all.concat());
    add(expanded.as_deref().map(|list| written(list, Tail::Kept)));
    if from == Dialect::Minimatch && to != Dialect::Minimatch {
        add(Some([written(&rooted, Tail::Kept), NO_HIDDEN.map(str::to_owned).to_vec()].concat()));
    }
    let plain: Vec<String> = rooted.iter().map(|pattern| without_groups(pattern)).collect();
    if to == Dialect::Minimatch && from != Dialect::Minimatch {
        let is_about_hidden = |pattern: &&String| NO_HIDDEN.contains(&pattern.as_str());
        if NO_HIDDEN.iter().all(|hidden| rooted.iter().any(|pattern| pattern == hidden)) {
            add(Some(rooted.iter().filter(|pattern| !is_about_hidden(pattern)).cloned().collect()));
        }
        for folders in HIDDEN {
            for list in [Some(&plain), expanded.as_ref()].into_iter().flatten() {
                add(Some(list.iter().map(|pattern| with_hidden(pattern, folders)).collect()));
            }
        }
    }
    if plain != rooted {
        add(Some(written(&plain, Tail::Kept)));
        let expanded = plain.iter().map(|pattern| expand(pattern)).collect::<Option<Vec<_>>>();
        add(expanded.map(|all| written(&all.concat(), Tail::Kept)));
    }
    if matches!(to, Dialect::Claude | Dialect::Gitignore) {
        for list in [Some(&plain), expanded.as_ref()].into_iter().flatten() {
            let list = written(list, Tail::Kept);
            [Names::OfFiles, Names::OfAny].into_iter().for_each(|names| add(Some(in_order(&list, names))));
        }
        // A folder with wildcards in its name may be a file too.
        let inside = |pattern: &String| match pattern.strip_suffix("/**") {
            Some(folder) if folder.contains(['*', '?', '[']) => format!("{folder}/**/*"),
            _ => pattern.clone(),
        };
        add(Some(rooted.iter().map(inside).map(|pattern| write(&pattern, to, Tail::Kept)).collect()));
    } else {
        add(Some(rooted.iter().map(|pattern| write(&spelled_out(pattern), to, Tail::Kept)).collect()));
    }
    for list in [Some(&rooted), expanded.as_ref()].into_iter().flatten() {
        add(Some(written(list, Tail::Files)));
    }
    // A name with an extension may be that of a folder.
    if is_ordered && !matches!(to, Dialect::Claude | Dialect::Gitignore) {
        let with_folders = |pattern: &String| match pattern.starts_with('!') || pattern.ends_with("/**") {
            true => vec![pattern.clone()],
            false => vec![pattern.clone(), format!("{pattern}/**")],
        };
        let all: Vec<String> = rooted.iter().flat_map(with_folders).collect();
        for folders in HIDDEN.into_iter().filter(|_| to == Dialect::Minimatch) {
            add(Some(all.iter().map(|pattern| with_hidden(pattern, folders)).collect()));
        }
        add(Some(written(&all, Tail::Kept)));
    }
    found
}

/// Excludes what minimatch's wildcards do not match.
const NO_HIDDEN: [&str; 2] = ["!**/.*", "!**/.*/**"];

/// What names with an extension are.
#[derive(Clone, Copy, PartialEq)]
enum Names {
    OfFiles,
    /// Of folders too.
    OfAny,
}

/// Arranges lines of a `.gitignore`, of which the last one that matches a path decides, and a matching folder decides for
/// everything in it. First those that would match a folder, each with a line that takes folders out again; then what is in
/// folders; then the exclusions.
fn in_order(lines: &[String], kind: Names) -> Vec<String> {
    let (exclusions, included): (Vec<&String>, Vec<&String>) =
        lines.iter().partition(|line| line.starts_with('!'));
    let (folders, names): (Vec<&String>, Vec<&String>) =
        included.into_iter().partition(|line| line.ends_with("/**"));
    let is_file = |line: &str| {
        let name = line.rsplit('/').next().unwrap_or(line);
        name.rsplit_once('.').is_some_and(|(stem, end)| !stem.is_empty() && !end.contains('*'))
    };
    let with_folders_out = |line: &String| match kind == Names::OfFiles && is_file(line) {
        true => vec![line.clone()],
        false => vec![line.clone(), format!("!{line}/")],
    };
    let names = names.into_iter().flat_map(with_folders_out);
    // Nothing can be taken out of a folder that matches.
    let inner = |line: &String| match exclusions.is_empty() {
        true => vec![line.clone()],
        false => {
            let folder = line.strip_suffix("/**").unwrap_or(line);
            vec![format!("{line}/*"), format!("!{folder}/"), format!("!{line}/*/")]
        }
    };
    let folders = folders.into_iter().flat_map(inner);
    let whole = |line: &&String| if line.ends_with("/**") { format!("{line}/*") } else { (*line).clone() };
    let exclusions = exclusions.iter().map(whole);
    names.chain(folders).chain(exclusions).collect()
}

/// Writes the groups of an expression, `(ts|tsx)`, as braces: `{ts,tsx}`.
pub(super) fn without_groups(pattern: &str) -> String {
    let mut text = String::new();
    let mut rest = pattern;
    while let Some((before, group, after)) = rest.split_once('(').and_then(|(before, inner)| {
        let (group, after) = inner.split_once(')')?;
        Some((before, group, after))
    }) {
        let is_plain = !group.is_empty() && !group.contains(['(', '{', '}', '[', ',', '!', '\\', '/']);
        let is_group = !before.ends_with(['!', '?', '*', '+', '\\']);
        if !is_plain || !is_group || after.starts_with(['?', '*', '+', '{']) {
            return pattern.to_owned();
        }
        text.push_str(before.strip_suffix('@').unwrap_or(before));
        match group.contains('|') {
            true => text.push_str(&format!("{{{}}}", group.replace('|', ","))),
            false => text.push_str(group),
        }
        rest = after;
    }
    text + rest
}

/// Whether a star at the end of a pattern may stay.
#[derive(Clone, Copy, PartialEq)]
enum Tail {
    Kept,
    /// It becomes `*.*`, because it would match folders, and with them everything below.
    Files,
}

/// Splits the `!` of an exclusion off.
fn exclusion(pattern: &str) -> (&'static str, &str) {
    match pattern.strip_prefix('!') {
        Some(rest) if !rest.starts_with('(') => ("!", rest),
        _ => ("", pattern),
    }
}

/// Rewrites a pattern as picomatch's, relative to the root. `None` if it can match nothing there.
fn rooted(pattern: &str, from: Dialect, folder: &str) -> Option<Vec<String>> {
    let (not, bare) = exclusion(pattern);
    let bare = bare.strip_prefix("./").unwrap_or(bare);
    let anywhere = |rest: &str| {
        if rest.starts_with("**/") || rest == "**" { rest.to_owned() } else { format!("**/{rest}") }
    };
    let all = match from {
        Dialect::Picomatch | Dialect::Minimatch => vec![bare.to_owned()],
        Dialect::Amp => match bare.strip_prefix('/') {
            Some(rest) => vec![rest.to_owned()],
            None if pattern.contains("./") => vec![bare.to_owned()],
            None => vec![anywhere(bare)],
        },
        Dialect::VsCode if matches!(bare, "*" | "**" | "**/*") => vec!["**".to_owned()],
        Dialect::VsCode if bare.starts_with('/') => return None,
        Dialect::VsCode => vec![anywhere(bare.strip_prefix("*/").unwrap_or(bare))],
        Dialect::CopilotCli if !bare.contains('/') => vec![anywhere(bare)],
        Dialect::CopilotCli => vec![bare.to_owned()],
        Dialect::Claude | Dialect::Gitignore => like_gitignore(bare, from),
    };
    let below = |pattern: String| match folder {
        "" => pattern,
        folder => format!("{}/{pattern}", escaped(folder)),
    };
    Some(all.into_iter().map(|pattern| format!("{not}{}", below(pattern))).collect())
}

/// A line of a `.gitignore` matches a name and, if that is a folder, everything in it.
fn like_gitignore(line: &str, dialect: Dialect) -> Vec<String> {
    let is_below = line.ends_with("/**");
    let bare = line.strip_suffix("/**").unwrap_or(line);
    let checked = if dialect == Dialect::Claude { bare } else { line };
    let is_anchored = checked.strip_suffix('/').unwrap_or(checked).contains('/');
    let is_folder = bare.ends_with('/');
    let bare = bare.trim_matches('/');
    let path = if is_anchored || bare.starts_with("**/") { bare.to_owned() } else { format!("**/{bare}") };
    let name = bare.rsplit('/').next().unwrap_or(bare);
    let everything = format!("{path}/**");
    match () {
        () if is_below || is_folder => vec![everything],
        // A file, as far as anyone can see.
        () if name.contains('.') && !name.starts_with('.') => vec![path],
        () if name == "*" || name == "**" => vec![everything, path],
        () => vec![path, everything],
    }
}

/// Writes a rooted picomatch pattern in another dialect.
fn write(pattern: &str, to: Dialect, tail: Tail) -> String {
    let (not, bare) = exclusion(pattern);
    let text = match to {
        Dialect::Picomatch | Dialect::Minimatch => bare.to_owned(),
        Dialect::Amp if bare.starts_with("**/") => bare.to_owned(),
        Dialect::Amp => format!("./{bare}"),
        // `**` alone makes a rule always on.
        Dialect::VsCode | Dialect::CopilotCli if matches!(bare, "**" | "**/*") => spelled_out(bare),
        // It has no escapes.
        Dialect::VsCode => bare.replace("\\[", "[[]").replace("\\]", "]"),
        Dialect::CopilotCli => bare.to_owned(),
        Dialect::Claude | Dialect::Gitignore => {
            let bare = match bare.strip_suffix("/*") {
                Some(folder) if tail == Tail::Files => format!("{folder}/*.*"),
                _ if bare == "**" => "**/*".to_owned(),
                _ if bare == "*" && tail == Tail::Files => "*.*".to_owned(),
                _ => bare.to_owned(),
            };
            let is_anchored = bare.strip_suffix("/**").unwrap_or(&bare).contains('/');
            if is_anchored { bare } else { format!("/{bare}") }
        }
    };
    format!("{not}{text}")
}

/// What [`with_hidden`] writes for `**` at the end of a pattern and elsewhere.
type AnyFolders = [&'static str; 2];

/// Any folders, of which two may be hidden.
///
/// minimatch 10.2 matches no hidden name after a second `**`, unlike version 11. So these names have alternatives with one.
const TWO_HIDDEN: AnyFolders = [
    "{**,**/.*,**/.*/**,**/.*/.*,**/.*/*/.*,**/.*/**/.*,**/.*/.*/**,**/.*/**/.*/**}",
    "{**/,**/.*/,**/.*/*/,**/.*/**/,**/.*/.*/,**/.*/.*/**/,**/.*/**/.*/**/}",
];

/// The same with fewer alternatives, for long lists.
const TWO_HIDDEN_SHORT: AnyFolders =
    ["{**,**/.*,**/.*/.*,**/.*/**,**/.*/**/.*,**/.*/**/.*/**}", "{**/,**/.*/,**/.*/**/,**/.*/**/.*/**/}"];

/// Any folders, of which one may be hidden: where the others would be too long.
const ONE_HIDDEN: AnyFolders = ["{**,**/.*,**/.*/.*,**/.*/**}", "{**/,**/.*/,**/.*/**/}"];

/// Each of them, the best one first.
const HIDDEN: [AnyFolders; 3] = [TWO_HIDDEN, TWO_HIDDEN_SHORT, ONE_HIDDEN];

/// What it writes for the start of a name, and the start.
const HIDDEN_NAME: &[(&str, &str)] = &[("{*,.*,}", "*"), ("{?,.}", "?"), ("{,.}", "")];

/// Undoes [`with_hidden`].
pub(super) fn without_hidden(pattern: &str) -> String {
    let folders = HIDDEN.into_iter().flat_map(|[last, inner]| [(last, "**"), (inner, "**/")]);
    let all = folders.chain(HIDDEN_NAME.iter().copied());
    all.fold(pattern.to_owned(), |text, (written, part)| text.replace(written, part))
}

/// A pattern that matches the same files, but is none of the words for "every request" that some agents know.
fn spelled_out(pattern: &str) -> String {
    match pattern {
        "**" | "**/*" => "**/{*,.*}".to_owned(),
        "*" => "{*,.*}".to_owned(),
        other => other.to_owned(),
    }
}

/// A pattern for minimatch that matches hidden files and folders too.
fn with_hidden(pattern: &str, [last_folders, folders]: AnyFolders) -> String {
    let (not, bare) = exclusion(pattern);
    let segments: Vec<&str> = bare.split('/').collect();
    let last = segments.len() - 1;
    let mut text = not.to_owned();
    for (at, segment) in segments.iter().enumerate() {
        match *segment {
            "**" if at == last => text.push_str(last_folders),
            "**" => text.push_str(folders),
            wild => match (wild.strip_prefix('*'), wild.strip_prefix('?')) {
                // The star may stand for nothing.
                (Some(rest), _) if rest.starts_with('.') => text.extend([HIDDEN_NAME[0].0, rest]),
                (Some(_), _) => text.extend([HIDDEN_NAME[2].0, wild]),
                (_, Some(rest)) => text.extend([HIDDEN_NAME[1].0, rest]),
                _ => text.push_str(wild),
            },
        }
        if at < last && *segment != "**" {
            text.push('/');
        }
    }
    text
}

fn expand(pattern: &str) -> Option<Vec<String>> {
    let (not, bare) = exclusion(pattern);
    // A list that nobody would read is no candidate.
    const MOST: usize = 64;
    let all = expand_braces(bare).filter(|all| all.len() <= MOST)?;
    Some(all.into_iter().map(|pattern| format!("{not}{pattern}")).collect())
}

/// The name of a folder as a pattern that matches it alone.
fn escaped(folder: &str) -> String {
    folder.chars().fold(String::new(), |mut text, c| {
        if "*?[]{}()!+@\\".contains(c) {
            text.push('\\');
        }
        text.push(c);
        text
    })
}
