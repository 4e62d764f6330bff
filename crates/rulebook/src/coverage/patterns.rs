//! The files that each pattern of a rule matches.

use std::ops::Range;

use super::Coverage;
use crate::condition::{Facts, PathExpression};

/// One pattern of a rule, and the files that it matches by itself.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct PatternFiles {
    /// The pattern as written.
    pub pattern: String,
    /// The byte range of the rule's file that contains it, perhaps with others.
    pub span: Range<usize>,
    /// The name of the dialect in which it is matched.
    pub dialect: &'static str,
    /// Whether it excludes the files.
    pub is_exclusion: bool,
    /// Positions in the evidence, ascending.
    pub files: Vec<usize>,
    /// The positions of files for which the agent does not document whether they match.
    pub doubtful: Vec<usize>,
}

impl Coverage<'_> {
    /// The folders of nested rules, each with its root.
    pub fn folders(&self) -> impl Iterator<Item = (usize, &str)> {
        self.folders.iter().copied()
    }

    /// Returns the patterns of a rule, given by its position, with the files of the evidence that each one matches.
    pub fn patterns_in(&self, rule: usize, facts: &Facts<'_>) -> Vec<PatternFiles> {
        let mut all = Vec::new();
        let mut add = |shape: &PathExpression<'_>| {
            let PathExpression::Paths(paths) = shape else { return };
            let including: Vec<usize> = paths.including().collect();
            for (at, pattern) in paths.patterns().enumerate() {
                let Some(glob) = paths.globs(at).next() else { continue };
                let (files, doubtful) = paths.matching(at, facts);
                all.push(PatternFiles {
                    pattern: pattern.to_owned(),
                    span: paths.spans[at].clone(),
                    dialect: glob.dialect().name(),
                    is_exclusion: !including.contains(&at),
                    files,
                    doubtful,
                });
            }
        };
        let covered = &self.rules[rule];
        covered.shape.visit(&mut add);
        covered.gate.iter().for_each(|gate| gate.visit(&mut add));
        all
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::agent::Agent;
    use crate::evidence::{Evidence, Seen};
    use crate::format::FormatId;
    use crate::parse::parse;
    use crate::resolve::{Switches, resolve};
    use crate::source::{Origin, Source};

    #[test]
    fn each_pattern_has_its_own_files() {
        let text = "---\npaths: [\"src/**\", \"!src/b.ts\", \"docs/*.md\"]\n---\nBe brief.\n";
        let source = Source::text(FormatId::named("rulebook").unwrap(), ".rulebook/rules/a.md", text);
        let book = resolve([parse(source).entry], &Switches::default());
        let seen = |path: &str| Seen { path: path.to_owned(), root: 0, sources: Vec::new() };
        let paths = ["src/a.ts", "src/b.ts", "docs/x.md", "y.md"].map(seen).to_vec();
        let evidence = Evidence { paths, ..Evidence::default() };
        let coverage = Coverage::new(&book);
        let facts = coverage.facts(&evidence);
        let found = coverage.patterns_in(0, &facts);
        let found: Vec<_> = found
            .iter()
            .map(|one| {
                (one.pattern.as_str(), &text[one.span.clone()], one.is_exclusion, one.files.as_slice())
            })
            .collect();
        let wanted: [(&str, &str, bool, &[usize]); 3] = [
            ("src/**", "\"src/**\"", false, &[0, 1]),
            ("!src/b.ts", "\"!src/b.ts\"", true, &[1]),
            ("docs/*.md", "\"docs/*.md\"", false, &[2]),
        ];
        assert_eq!(found, wanted);
        assert_eq!(coverage.reached_in(&[0], &facts), [[0, 2]]);
    }

    #[test]
    fn files_in_only_one_of_the_possible_dialects_are_doubtful() {
        #[track_caller]
        fn check(glob: &str, files: &[usize], doubtful: &[usize]) {
            let cursor = Agent::named("cursor").unwrap();
            let format = cursor.formats.iter().find(|format| format.name() == "cursor").unwrap();
            let origin = Origin::at([format], ".cursor/rules/a.mdc").unwrap();
            let text = format!("---\nglobs: {glob}\n---\nBe brief.\n");
            let source = Source { origin, text: Ok(text.into()) };
            let book = resolve([parse(source).entry], &Switches::default());
            let seen = |path: &str| Seen { path: path.to_owned(), root: 0, sources: Vec::new() };
            let evidence = Evidence { paths: vec![seen("src/a.ts")], ..Evidence::default() };
            let coverage = Coverage::new(&book);
            let facts = coverage.facts(&evidence);
            let found = coverage.patterns_in(0, &facts);
            assert_eq!(
                (found[0].files.as_slice(), found[0].doubtful.as_slice()),
                (files, doubtful),
                "{glob}"
            );
        }
        check("src/**", &[0], &[]);
        check("./src/**", &[], &[0]);
        check("lib/**", &[], &[]);
    }
}
