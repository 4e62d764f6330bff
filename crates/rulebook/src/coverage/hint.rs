//! Hints: corrections of patterns that match no file.

use std::collections::{BTreeMap, HashMap, HashSet};

use super::{Coverage, Dead};
use crate::agent::Agent;
use crate::condition::Facts;
use crate::diagnostic::{Code, Diagnostic, Severity, shown};
use crate::evidence::{Evidence, Seen};
use crate::glob::{Glob, split_list};

/// How many patterns get a hint.
const MAX_HINTED: usize = 200;

/// Possible corrections of dead patterns, to be tested against the files.
#[derive(Debug)]
pub struct Hints<'c> {
    coverage: &'c Coverage<'c>,
    guesses: Vec<Guess>,
    faults: Vec<Fault>,
}

/// Dead patterns that are one fault: all patterns of a rule, or one pattern of a rule whose other patterns match.
#[derive(Debug)]
struct Fault {
    /// The positions of the dead patterns, at least one.
    dead: Vec<usize>,
    is_whole_rule: bool,
}

/// A possible correction of a dead pattern.
#[derive(Debug)]
struct Guess {
    /// The position of the dead pattern.
    dead: usize,
    /// The position of its rule.
    rule: usize,
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
    /// As it is, in the other dialect that its agent may use.
    Undocumented,
    /// Files of the same kind anywhere. It is no correction.
    Kind,
}

impl<'c> Hints<'c> {
    /// Makes guesses for dead patterns.
    pub fn new(coverage: &'c Coverage<'c>, dead: &[Dead]) -> Hints<'c> {
        let mut guesses = Vec::new();
        for (at, dead) in dead.iter().enumerate().take(MAX_HINTED) {
            let format = coverage.rules[dead.rule].rule.origin.format;
            let base = &coverage.patterns[dead.at].paths.base;
            let rival = Agent::owner_of(format.id).and_then(|agent| agent.known_by().rival);
            let mut guess = |written: String, case, base: Option<(usize, String)>| {
                let dialect = rival.filter(|_| case == Case::Undocumented).unwrap_or(format.dialect);
                let glob = Glob::new(&written, dialect).ok();
                let rule = dead.rule;
                guesses.extend(glob.map(|glob| Guess { dead: at, rule, written, glob, case, base }));
            };
            if rival.is_some() {
                guess(dead.pattern.clone(), Case::Undocumented, base.clone());
            }
            for written in variants(&dead.pattern, base.as_ref().map(|(_, folder)| folder.as_str())) {
                guess(written, Case::AsIs, base.clone());
            }
            if let Some(written) = of_its_kind(&dead.pattern) {
                guess(written, Case::Kind, None);
            }
            let lower = base.as_ref().map(|(root, folder)| (*root, folder.to_lowercase()));
            guess(dead.pattern.to_lowercase(), Case::Lower, lower);
        }
        Hints { coverage, guesses, faults: faults(coverage, dead) }
    }

    /// Counts how many of these files each guess matches that its rule does not apply to. A rule is not for
    /// its own file.
    pub fn count(&self, files: Vec<Seen>) -> Vec<usize> {
        let lower = |seen: &Seen| Seen { path: seen.path.to_lowercase(), ..seen.clone() };
        let lower = Evidence { paths: files.iter().map(lower).collect(), ..Evidence::default() };
        let as_is = Evidence { paths: files, ..Evidence::default() };
        let folders = || {
            let bases = self.guesses.iter().filter_map(|guess| guess.base.as_ref());
            let bases = bases.map(|(root, folder)| (*root, folder.as_str()));
            bases.chain(self.coverage.folders.iter().copied())
        };
        let (as_is, lower) = (Facts::new(&as_is, folders()), Facts::new(&lower, folders()));
        let mut reached: HashMap<usize, Vec<usize>> = HashMap::new();
        let count = |guess: &Guess| {
            let facts = if guess.case == Case::Lower { &lower } else { &as_is };
            let found = facts.view(guess.base.as_ref()).matches(&guess.glob);
            if found.is_empty() {
                return 0;
            }
            let rule = &self.coverage.rules[guess.rule];
            let reached = reached.entry(guess.rule).or_insert_with(|| rule.matching(&as_is));
            let own = &rule.rule.origin.display;
            let is_new =
                |at: &usize| reached.binary_search(at).is_err() && as_is.evidence.paths[*at].path != *own;
            found.iter().filter(|at| is_new(at)).count()
        };
        self.guesses.iter().map(count).collect()
    }

    /// Reports each rule none of whose patterns matches, with the first guess that matches something, unless its agent may
    /// read the patterns so that they do. Where other patterns of the rule match, a pattern is reported only with a guess:
    /// `**/*.jsx` beside `**/*.js` is for files to come. `text` returns the text of the file that contains a pattern.
    pub fn report(&self, dead: &[Dead], counts: &[usize], text: &dyn Fn(&Dead) -> String) -> Vec<Diagnostic> {
        let report = |fault: &Fault| {
            let first = &dead[fault.dead[0]];
            let tried = self.guesses.iter().zip(counts);
            let tried = tried.filter(|(guess, _)| fault.dead.contains(&guess.dead));
            let (kinds, tried): (Vec<_>, Vec<_>) = tried.partition(|(guess, _)| guess.case == Case::Kind);
            let is_template =
                fault.is_whole_rule && is_of_template(fault.dead.iter().map(|at| dead[*at].pattern.as_str()));
            let hint = tried.into_iter().find(|(_, count)| **count > 0).filter(|_| !is_template);
            // The rule is for files to come.
            let of_kind = |at: &usize| kinds.iter().find(|(guess, _)| guess.dead == *at);
            let is_early = hint.is_none()
                && fault.dead.iter().all(|at| {
                    is_for_tests(&dead[*at].pattern) || of_kind(at).is_some_and(|(_, count)| **count == 0)
                });
            let is_warning = fault.is_whole_rule && !is_early && !is_template;
            let severity = if is_warning { Severity::Warning } else { Severity::Note };
            let found =
                first.located(&message(fault.dead.iter().map(|at| dead[*at].pattern.as_str())), &text(first));
            Some(match hint {
                Some((guess, _)) if guess.case == Case::Undocumented => return None,
                _ if split_list(&first.pattern).len() > 1 => {
                    found.severity(severity).help("this is one pattern; make each pattern a list entry")
                }
                Some((guess, count)) => found.severity(severity).help(match guess.case {
                    Case::Lower => format!("in a different case it would match {}", files(*count)),
                    _ => format!("write `{}`, which matches {}", shown(&guess.written), files(*count)),
                }),
                None if is_template => found.severity(severity).help(OTHER_PROJECT),
                None if fault.is_whole_rule => found.severity(severity),
                None => return None,
            })
        };
        self.faults.iter().filter_map(report).collect()
    }
}

fn faults(coverage: &Coverage<'_>, dead: &[Dead]) -> Vec<Fault> {
    let mut by_rule: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    for (at, dead) in dead.iter().enumerate() {
        by_rule.entry(dead.rule).or_default().push(at);
    }
    let mut all: HashMap<usize, usize> = HashMap::new();
    coverage.patterns.iter().for_each(|pattern| *all.entry(pattern.rule).or_default() += 1);
    let faults = by_rule.into_iter().flat_map(|(rule, dead)| match all[&rule] == dead.len() {
        true => vec![Fault { dead, is_whole_rule: true }],
        false => dead.into_iter().map(|at| Fault { dead: vec![at], is_whole_rule: false }).collect(),
    });
    faults.collect()
}

const OTHER_PROJECT: &str =
    "no action needed if the rule is for projects made from this one; otherwise correct the patterns";

/// Folders at the root of many projects.
const USUAL_FOLDERS: &[&str] = &[
    "app",
    "apps",
    "backend",
    "client",
    "cmd",
    "components",
    "frontend",
    "internal",
    "lib",
    "libs",
    "packages",
    "pages",
    "pkg",
    "server",
    "source",
    "spec",
    "src",
    "test",
    "tests",
];

/// Whether a rule is for several usual folders, and nothing more: a template has it for projects that are made from it. Of such
/// folders at another place, any may be meant.
fn is_of_template<'d>(mut patterns: impl Iterator<Item = &'d str>) -> bool {
    let mut folders = HashSet::new();
    let is_usual = patterns.all(|pattern| {
        let (folder, rest) = pattern.trim_start_matches("./").split_once('/').unwrap_or((pattern, ""));
        folders.insert(folder);
        USUAL_FOLDERS.contains(&folder) && !rest.contains(char::is_alphanumeric)
    });
    is_usual && folders.len() > 1
}

/// Whether a diagnostic is about all patterns of a rule.
pub(crate) fn is_about_all(found: &Diagnostic, globs: &[String]) -> bool {
    found.message == message(globs.iter().map(String::as_str))
}

/// How many patterns a message names.
const MAX_NAMED: usize = 3;

fn message<'d>(dead: impl Iterator<Item = &'d str>) -> String {
    let mut known = HashSet::new();
    let dead: Vec<&str> = dead.filter(|pattern| known.insert(*pattern)).collect();
    let more = dead.len().saturating_sub(MAX_NAMED);
    let names: Vec<String> =
        dead.iter().take(MAX_NAMED).map(|pattern| format!("`{}`", shown(pattern))).collect();
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

/// Returns a pattern for all files of the kind that a pattern is for, if it names one: `**/*.tsx` for `web/**/*.test.tsx`.
fn of_its_kind(pattern: &str) -> Option<String> {
    let (stem, extension) = pattern.rsplit('/').next()?.rsplit_once('.')?;
    let is_whole = extension.matches('{').count() == extension.matches('}').count();
    (!stem.is_empty() && is_whole && extension.contains(char::is_alphanumeric))
        .then(|| format!("**/*.{extension}"))
}

/// Whether a pattern is for tests and nothing more: `**/*.spec.*`, `tests/**`. A project without any may get some.
fn is_for_tests(pattern: &str) -> bool {
    const TESTS: &[&str] = &["e2e", "spec", "specs", "test", "tests"];
    let anywhere = pattern.strip_prefix("**/").unwrap_or(pattern);
    let (path, extension) = anywhere.rsplit_once('.').unwrap_or((anywhere, ""));
    let path = if extension.contains('/') { anywhere } else { path };
    let mut words = path.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).peekable();
    words.peek().is_some() && words.all(|word| TESTS.contains(&word))
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
