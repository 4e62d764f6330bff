//! Hints: what a pattern that matches no file was probably meant to be.

use std::collections::HashSet;

use super::{Coverage, Dead};
use crate::condition::Facts;
use crate::diagnostic::{Code, Diagnostic, shown};
use crate::evidence::{Evidence, Seen};
use crate::glob::{Glob, split_list};

/// At most this many patterns get one.
const MAX_HINTED: usize = 200;

/// Guesses at what dead patterns were meant to be, to be put to the files again.
#[derive(Debug)]
pub struct Hints {
    guesses: Vec<Guess>,
}

/// Another pattern in the place of a dead one.
#[derive(Debug)]
struct Guess {
    /// Position among the dead.
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
    /// Makes guesses.
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
        Hints { guesses }
    }

    /// How many of these files each guess matches.
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

    /// What is to be told about the dead patterns, with the first guess that matches something. `text` is that of
    /// the file a pattern stands in.
    pub fn tell(&self, dead: &[Dead], counts: &[usize], text: &dyn Fn(&Dead) -> String) -> Vec<Diagnostic> {
        let tell = |(at, dead): (usize, &Dead)| {
            let mut tried = self.guesses.iter().zip(counts).filter(|(guess, _)| guess.dead == at);
            let told = dead.located(&text(dead));
            match tried.find(|(_, count)| **count > 0) {
                _ if split_list(&dead.pattern).len() > 1 => {
                    told.help("it is one pattern; write each of the list as an item of its own")
                }
                Some((guess, count)) => told.help(match guess.case {
                    Case::AsIs => format!("`{}` would match {}", shown(&guess.written), files(*count)),
                    Case::Lower => format!("with other capitals it would match {}", files(*count)),
                }),
                None => told,
            }
        };
        dead.iter().enumerate().map(tell).collect()
    }
}

impl Dead {
    /// The diagnostic, at the pattern where the text still has it.
    fn located(&self, text: &str) -> Diagnostic {
        let message = format!("no file of the tree matches `{}`", shown(&self.pattern));
        let around = text.get(self.span.clone()).and_then(|around| find_whole(around, &self.pattern));
        match around.map(|at| self.span.start + at) {
            Some(start) => {
                Diagnostic::at(Code::DeadGlob, &self.source, text, start..start + self.pattern.len(), message)
            }
            None => Diagnostic::whole(Code::DeadGlob, &self.source, message),
        }
    }
}

/// Where a pattern of a list stands; not as the beginning of a longer one, if it stands by itself somewhere.
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

/// What people write and mean something else by, the smallest change first.
fn variants(pattern: &str, folder: Option<&str>) -> Vec<String> {
    let tidy = pattern.replace('\\', "/");
    let tidy = tidy.trim_start_matches("./").trim_start_matches('/');
    let inner = folder.and_then(|folder| tidy.strip_prefix(folder)?.strip_prefix('/'));
    let tidy = inner.unwrap_or(tidy).trim_end_matches('/');
    // Brackets in the name of a folder are a class to most; to some, the closing one is special too.
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
    fn a_pattern_is_found_as_a_whole() {
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
