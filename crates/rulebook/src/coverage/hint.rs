//! Hints: corrections of patterns that match no file.

use std::collections::{BTreeMap, HashSet};

use super::{Coverage, Dead};
use crate::condition::Facts;
use crate::diagnostic::{Code, Diagnostic, Severity, shown};
use crate::evidence::{Evidence, Seen};
use crate::glob::{Glob, split_list};

/// How many patterns get a hint.
const MAX_HINTED: usize = 200;

/// Possible corrections of dead patterns, to be tested against the files.
#[derive(Debug)]
pub struct Hints {
    guesses: Vec<Guess>,
    faults: Vec<Fault>,
}

/// A possible correction of a dead pattern.
#[derive(Debug)]
struct Guess {
    /// The position of the dead pattern.
    dead: usize,
    written: String,
    glob: Glob,
    case: Case,
    base: Option<(usize, String)>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Case {
    AsIs,
    /// Pattern and path in lower case.
    Lower,
}

impl Hints {
    /// Makes guesses for dead patterns.
    pub fn new(coverage: &Coverage<'_>, dead: &[Dead]) -> Hints {
        let mut guesses = Vec::new();
        for (at, dead) in dead.iter().enumerate().take(MAX_HINTED) {
            let dialect = coverage.rules[dead.rule].rule.origin.format.dialect;
            let base = &coverage.patterns[dead.at].paths.base;
            let mut guess = |written: String, case, base: Option<(usize, String)>| {
                let glob = Glob::new(&written, dialect).ok();
                guesses.extend(glob.map(|glob| Guess { dead: at, written, glob, case, base }));
            };
            for written in variants(&dead.pattern, base.as_ref().map(|(_, folder)| folder.as_str())) {
                guess(written, Case::AsIs, base.clone());
            }
            let lower = base.as_ref().map(|(root, folder)| (*root, folder.to_lowercase()));
            guess(dead.pattern.to_lowercase(), Case::Lower, lower);
        }
        Hints { guesses, faults: faults(coverage, dead) }
    }

    /// Counts how many of these files each guess matches.
    pub fn count(&self, files: Vec<Seen>) -> Vec<usize> {
        let lower = |seen: &Seen| Seen { path: seen.path.to_lowercase(), ..seen.clone() };
        let lower = Evidence { paths: files.iter().map(lower).collect(), ..Evidence::default() };
        let as_is = Evidence { paths: files, ..Evidence::default() };
        let folders = || self.guesses.iter().filter_map(|guess| guess.base.as_ref());
        let facts = |evidence| Facts::new(evidence, folders().map(|(root, folder)| (*root, folder.as_str())));
        let (as_is, lower) = (facts(&as_is), facts(&lower));
        let count = |guess: &Guess| {
            let facts = if guess.case == Case::AsIs { &as_is } else { &lower };
            facts.view(guess.base.as_ref()).matches(&guess.glob).len()
        };
        self.guesses.iter().map(count).collect()
    }

    /// Reports the dead patterns, with the first guess that matches something. A rule none of whose patterns matches gets
    /// one diagnostic. `text` returns the text of the file that contains a pattern.
    pub fn report(&self, dead: &[Dead], counts: &[usize], text: &dyn Fn(&Dead) -> String) -> Vec<Diagnostic> {
        let report = |fault: &Fault| {
            let first = &dead[fault.dead[0]];
            let tried = self.guesses.iter().zip(counts);
            let hint =
                tried.filter(|(_, count)| **count > 0).find(|(guess, _)| fault.dead.contains(&guess.dead));
            let found = first.located(&message(fault.dead.iter().map(|at| &dead[*at])), &text(first));
            let found = found.severity(fault.severity);
            match hint {
                _ if split_list(&first.pattern).len() > 1 => {
                    found.help("this is one pattern; make each pattern a list entry")
                }
                Some((guess, count)) => found.help(match guess.case {
                    Case::AsIs => format!("`{}` would match {}", shown(&guess.written), files(*count)),
                    Case::Lower => format!("in a different case it would match {}", files(*count)),
                }),
                None => found,
            }
        };
        self.faults.iter().map(report).collect()
    }
}

/// Dead patterns that are one fault.
#[derive(Debug)]
struct Fault {
    /// The positions of the dead patterns, at least one.
    dead: Vec<usize>,
    severity: Severity,
}

/// Groups dead patterns by fault: all patterns of a rule, or one pattern of a rule whose other patterns match.
fn faults(coverage: &Coverage<'_>, dead: &[Dead]) -> Vec<Fault> {
    let mut by_rule: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    for (at, dead) in dead.iter().enumerate() {
        by_rule.entry(dead.rule).or_default().push(at);
    }
    let mut faults = Vec::new();
    for (rule, of_rule) in by_rule {
        let all: Vec<(usize, &str)> = (coverage.patterns.iter().enumerate())
            .filter(|(_, pattern)| pattern.rule == rule)
            .map(|(at, pattern)| (at, pattern.written()))
            .collect();
        if all.len() == of_rule.len() {
            faults.push(Fault { dead: of_rule, severity: Severity::Warning });
            continue;
        }
        let is_dead = |at: usize| of_rule.iter().any(|dead_at| dead[*dead_at].at == at);
        let live: HashSet<&str> =
            all.iter().filter(|(at, _)| !is_dead(*at)).map(|(_, written)| folder_of(written)).collect();
        // `**/*.jsx` beside `**/*.js` is for files to come; `src/old/**` is probably out of date.
        let is_stale = |at: &&usize| {
            let folder = folder_of(&dead[**at].pattern);
            folder.split('/').any(|part| !part.is_empty() && !part.contains('*')) && !live.contains(folder)
        };
        let notes = of_rule.iter().filter(is_stale);
        faults.extend(notes.map(|at| Fault { dead: vec![*at], severity: Severity::Note }));
    }
    faults
}

/// Returns a pattern without its last segment.
fn folder_of(pattern: &str) -> &str {
    pattern.rsplit_once('/').map_or("", |(folder, _)| folder)
}

/// How many patterns a message names.
const MAX_NAMED: usize = 3;

fn message<'d>(dead: impl ExactSizeIterator<Item = &'d Dead>) -> String {
    let more = dead.len().saturating_sub(MAX_NAMED);
    let names: Vec<String> = dead.take(MAX_NAMED).map(|dead| format!("`{}`", shown(&dead.pattern))).collect();
    let more = if more == 0 { String::new() } else { format!(" or {more} more") };
    format!("no file in the tree matches {}{more}", names.join(", "))
}

impl Dead {
    /// Reports a problem at the pattern, if the text still contains it.
    fn located(&self, message: &str, text: &str) -> Diagnostic {
        let around = text.get(self.span.clone()).and_then(|around| find_whole(around, &self.pattern));
        match around.map(|at| self.span.start + at) {
            Some(start) => {
                Diagnostic::at(Code::DeadGlob, &self.source, text, start..start + self.pattern.len(), message)
            }
            None => Diagnostic::whole(Code::DeadGlob, &self.source, message),
        }
    }
}

/// Finds a pattern in a list, preferably as a whole entry and not as the start of a longer one.
fn find_whole(list: &str, pattern: &str) -> Option<usize> {
    let is_edge = |next: Option<char>| next.is_none_or(|c| c.is_whitespace() || ",\"'[]".contains(c));
    let is_whole = |at: &usize| {
        let (before, rest) = list.split_at(*at);
        is_edge(before.chars().next_back()) && is_edge(rest[pattern.len()..].chars().next())
    };
    let mut found = list.match_indices(pattern).map(|(at, _)| at);
    found.clone().find(is_whole).or_else(|| found.next())
}

fn files(count: usize) -> String {
    format!("{count} file{}", if count == 1 { "" } else { "s" })
}

/// Returns likely corrections of a pattern, the smallest change first.
fn variants(pattern: &str, folder: Option<&str>) -> Vec<String> {
    let tidy = pattern.replace('\\', "/");
    let tidy = tidy.trim_start_matches("./").trim_start_matches('/');
    let inner = folder.and_then(|folder| tidy.strip_prefix(folder)?.strip_prefix('/'));
    let tidy = inner.unwrap_or(tidy).trim_end_matches('/');
    // Most dialects read brackets in a folder name as a class; in some, the closing one is special too.
    let opened = tidy.replace('[', "[[]");
    let both = tidy.replace(']', "[]]").replace('[', "[[]").replace("[[]]]", "[]]");
    let all =
        [tidy.to_owned(), opened, both, format!("{tidy}/**"), format!("**/{tidy}"), format!("**/{tidy}/**")];
    let mut seen = HashSet::from([pattern.to_owned()]);
    all.into_iter().filter(|other| !tidy.is_empty() && seen.insert(other.clone())).collect()
}

#[cfg(test)]
mod tests {
    use super::{find_whole, variants};

    #[test]
    fn a_pattern_is_found_as_a_whole_entry() {
        #[track_caller]
        fn check(list: &str, pattern: &str, want: Option<usize>) {
            assert_eq!(find_whole(list, pattern), want);
        }
        check("src/**/*.tsx, src/**/*.ts", "src/**/*.ts", Some(14));
        check("[\"**/a.ts\", \"a.ts\"]", "a.ts", Some(13));
        check("a.tsx", "a.ts", Some(0));
        check("b", "a", None);
    }

    #[test]
    fn the_smallest_change_is_tried_first() {
        #[track_caller]
        fn check(pattern: &str, folder: Option<&str>, want: &[&str]) {
            assert_eq!(variants(pattern, folder), want);
        }
        check("*.ts", None, &["*.ts/**", "**/*.ts", "**/*.ts/**"]);
        check("./src/", None, &["src", "src/**", "**/src", "**/src/**"]);
        check(r"src\web\*", None, &["src/web/*", "src/web/*/**", "**/src/web/*", "**/src/web/*/**"]);
        check("web/src", Some("web"), &["src", "src/**", "**/src", "**/src/**"]);
        check("webs/a", Some("web"), &["webs/a/**", "**/webs/a", "**/webs/a/**"]);
        check("/", None, &[]);
        check(
            "app/[id]/**",
            None,
            &["app/[[]id]/**", "app/[[]id[]]/**", "app/[id]/**/**", "**/app/[id]/**", "**/app/[id]/**/**"],
        );
    }
}
