//! Laws of exporting, tested on random rules in the shapes of public ones.

use proptest::prelude::*;

use super::tests::{draft, rule};
use super::*;
use crate::format::FormatId;
use crate::parse::{Entry, parse};
use crate::rule::Rule;
use crate::source::Source;

/// Which patterns are tried.
#[derive(Clone, Copy, PartialEq)]
enum Shapes {
    /// Those of most rule files.
    Common,
    /// Also those with which dialects differ in every way.
    All,
}

/// Patterns in the shapes of public rule files.
fn pattern(shapes: Shapes) -> impl Strategy<Value = String> {
    let name = prop::sample::select(vec!["src", "app", "packages/web", "docs", "lib/core", "test"]);
    let extension =
        prop::sample::select(vec!["ts", "tsx", "py", "md", "test.ts", "{ts,tsx}", "{js,jsx,mjs}"]);
    let odd = prop::sample::select(vec![
        "*",
        "**",
        "**/*",
        "**/*.*",
        "*.*",
        "src/**/*.*",
        "src/*",
        "src/*.*",
        "./src/**/*.ts",
        "src",
        "src/",
        "app/[id]/*.ts",
        "**/(app|lib)/*.ts",
        "**/*.(ts|tsx)",
        "*.config.{js,ts}",
        ".github/**",
        "**/.env*",
        "Makefile",
        "**/Dockerfile*",
        "*/index.ts",
        "src/*/*.ts",
        "**/test_*.py",
        "?.ts",
        "src/**/x/**/*.ts",
        "*ts",
        ".*",
        "**/*.d",
        "test*/**",
        "**/lib*/**",
        "packages/[a-x]*/**",
        "[!a]*/**",
        "**/[!e]*.ts",
        "src/!(x)/**",
        "**/!(e).test.ts",
        "*.ts/",
        "**/?.ts",
        "src/x,lib/**",
        "app/(auth)/**",
    ]);
    (name, extension, odd, 0..if shapes == Shapes::All { 14 } else { 8usize }).prop_map(
        |(name, extension, odd, shape)| match shape {
            0 => format!("**/*.{extension}"),
            1 => format!("*.{extension}"),
            2 => format!("{name}/**"),
            3 => format!("{name}/**/*.{extension}"),
            4 => format!("{name}/*.{extension}"),
            5 => format!("**/{name}/**"),
            6 => format!("{name}/**/*"),
            8.. => odd.to_owned(),
            _ => format!(
                "{name}/index.{}",
                extension.split(['{', ',']).next_back().unwrap_or("ts").trim_matches('}')
            ),
        },
    )
}

/// What public rule files exclude.
fn exclusion() -> impl Strategy<Value = &'static str> {
    prop::sample::select(vec![
        "!**/x/**",
        "!lib/**",
        "!**/*.md",
        "!**/*.test.ts",
        "!src/core/**",
        "!*.d.ts",
        "!x",
        "!**/[a-d]*.ts",
        "!**/test_*.py",
        "!.github/**",
    ])
}

/// Headers in the shapes of public rule files of one agent.
fn source(shapes: Shapes) -> impl Strategy<Value = Rule> {
    let excluded = prop::collection::vec(exclusion(), 0..if shapes == Shapes::All { 3 } else { 1 });
    let included = prop::collection::vec(pattern(shapes), 1..4);
    let patterns = (included, excluded).prop_map(|(mut all, excluded)| {
        all.extend(excluded.into_iter().map(str::to_owned));
        all
    });
    (patterns, prop::bool::ANY, 0..12usize).prop_map(|(patterns, is_described, shape)| {
        let description = if is_described { "description: Some rule\n" } else { "" };
        let commas = patterns.join(",");
        let list: String = patterns.iter().map(|pattern| format!("  - \"{pattern}\"\n")).collect();
        let (format, path, header) = match shape {
            0 => (
                FormatId::Cursor,
                ".cursor/rules/a.mdc",
                format!("{description}globs: {commas}\nalwaysApply: false\n"),
            ),
            1 => (FormatId::Cursor, ".cursor/rules/a.mdc", format!("{description}globs:\n{list}")),
            2 => (
                FormatId::Cursor,
                ".cursor/rules/a.mdc",
                format!("{description}globs: {commas}\nalwaysApply: true\n"),
            ),
            3 => (
                FormatId::Cursor,
                ".cursor/rules/a.mdc",
                format!("{description}globs:\nalwaysApply: false\n"),
            ),
            4 => (FormatId::Windsurf, ".windsurf/rules/a.md", format!("trigger: glob\nglobs: {commas}\n")),
            5 => (
                FormatId::Windsurf,
                ".windsurf/rules/a.md",
                "trigger: model_decision\ndescription: D\n".to_owned(),
            ),
            6 => (FormatId::Windsurf, ".windsurf/rules/a.md", "trigger: manual\n".to_owned()),
            7 => (
                FormatId::Kiro,
                ".kiro/steering/a.md",
                format!("inclusion: fileMatch\nfileMatchPattern: \"{}\"\n", patterns[0]),
            ),
            8 => (FormatId::Kiro, ".kiro/steering/a.md", "inclusion: auto\ndescription: D\n".to_owned()),
            9 => (
                FormatId::Copilot,
                ".github/instructions/a.instructions.md",
                format!("applyTo: \"{commas}\"\n"),
            ),
            10 => (FormatId::Claude, ".claude/rules/a.md", format!("paths:\n{list}")),
            _ => (FormatId::Cline, ".clinerules/a.md", format!("paths:\n{list}")),
        };
        rule(format, path, &format!("---\n{header}---\nBe brief.\n"))
    })
}

/// The targets that express rules for paths, and whose files mean what their agent does.
fn with_paths() -> impl Strategy<Value = &'static Target> {
    let owns = |target: &&Target| {
        let format = target.reads(&target.path("", "a")).map(|origin| origin.format.id);
        let owner = format.and_then(crate::agent::Agent::owner_of);
        target.paths != Form::No
            && (target.agent().is_none() || owner.map(|agent| agent.name) == Some(target.name))
    };
    prop::sample::select(TARGETS.iter().filter(owns).collect::<Vec<_>>())
}

/// What the author of a file with this text would mean.
fn authored(draft: &Draft) -> Option<Rule> {
    match parse(Source::text(draft.rule.origin.format.id, &draft.path, draft.text.as_str())).entry {
        Entry::Rule(rule) => Some(*rule),
        Entry::Rejected(_) => None,
    }
}

/// More paths than the proof looks at.
fn paths() -> impl Strategy<Value = Vec<String>> {
    let part = prop::sample::select(vec![
        "src",
        "app",
        "packages",
        "web",
        "docs",
        "lib",
        "core",
        "test",
        "x",
        ".github",
        "[id]",
        ".x",
        "a",
        "tests",
        "api",
        "auth",
        "(auth)",
        "src/x,lib",
    ]);
    let file = prop::sample::select(vec![
        "a.ts",
        "b.tsx",
        "c.py",
        "d.md",
        "index.ts",
        "e.test.ts",
        "Makefile",
        "f.mjs",
        ".env",
        "Dockerfile.dev",
        "vite.config.ts",
        "test_a.py",
        "b.d",
        "LICENSE",
        "test.py",
        "lib.ts",
        "e.d.ts",
        "e",
        "é.ts",
    ]);
    let path = (prop::collection::vec(part, 0..4), file)
        .prop_map(|(folders, file)| folders.into_iter().chain([file]).collect::<Vec<_>>().join("/"));
    prop::collection::vec(path, 1..40)
}

fn files(paths: &[String]) -> Vec<crate::evidence::Seen> {
    paths
        .iter()
        .map(|path| crate::evidence::Seen { path: path.clone(), root: 0, sources: Vec::new() })
        .collect()
}

pub(super) fn tally(meant: &Rule, copy: &Rule, paths: &[String]) -> Tally {
    let prover = Prover::new(vec![[meant, copy]]);
    let mut tallies = prover.start();
    prover.add(&mut tallies, files(paths));
    tallies.remove(0)
}

proptest! {
    /// No copy changes what a rule does without the report saying so: what the proof calls the same is the same on other
    /// paths too.
    #[test]
    fn no_change_is_silent(rule in source(Shapes::All), at in 0..TARGETS.len(), paths in paths()) {
        let target = &TARGETS[at];
        let Ok(draft) = draft(&rule, target, "a", "a.md") else { return Ok(()) };
        let found = tally(&rule, &draft.rule, &paths);
        if !draft.proof.is_wider() {
            prop_assert_eq!(found.wider.count, 0, "{} {:?} {:?}\n{}", target.name, found, draft.proof, draft.text);
        }
        if draft.proof.near.narrower.count == 0 && draft.proof.without_files.is_none() {
            let visible: Vec<String> = paths.iter().filter(|path| !path.contains("/.") && !path.starts_with('.')).cloned().collect();
            let found = tally(&rule, &draft.rule, &visible);
            prop_assert_eq!(found.narrower.count, 0, "{} {:?} {:?}\n{}", target.name, found, draft.proof, draft.text);
        }
    }

    /// From one agent to another and back, a rule does the same, if the other can express it.
    #[test]
    fn a_round_trip_changes_nothing(rule in source(Shapes::Common), from in with_paths(), to in with_paths(), paths in paths()) {
        let Some(rule) = draft(&rule, from, "a", "a.md").ok().and_then(|draft| authored(&draft)) else {
            return Ok(());
        };
        if rule.globs.iter().any(|glob| glob.starts_with('!')) {
            return Ok(());
        }
        // Letter case does not count, but what is not documented is not expressed.
        let is_exact = |there: &Draft| there.proof.is_same() && there.proof.near.unknown.count == 0;
        let Some(there) = draft(&rule, to, "a", "a.md").ok().filter(is_exact) else { return Ok(()) };
        let Some(copy) = authored(&there) else { return Ok(()) };
        let back = draft(&copy, from, "a", "a.md");
        let texts = || format!("{} → {}\n{:?}\n{}", from.name, to.name, rule.globs, there.text);
        let back = back.map_err(|loss| TestCaseError::fail(format!("{loss}\n{}", texts())))?;
        let again = authored(&back).expect("it was written for its reader");
        let (near, files) = (compare_readings(&Meant::of(&rule), &again), tally(&rule, &again, &paths));
        prop_assert!(near.is_same(), "{near:?}\n{}\n{}", texts(), back.text);
        prop_assert_eq!((files.wider.count, files.narrower.count), (0, 0), "{:?}\n{}\n{}", files, texts(), back.text);
    }

    /// Exporting is a function of the rule.
    #[test]
    fn exporting_twice_gives_the_same_text(rule in source(Shapes::All), at in 0..TARGETS.len()) {
        let texts: Vec<Option<String>> = (0..2).map(|_| draft(&rule, &TARGETS[at], "a", "a.md").ok().map(|draft| draft.text)).collect();
        prop_assert_eq!(&texts[0], &texts[1]);
    }
}
