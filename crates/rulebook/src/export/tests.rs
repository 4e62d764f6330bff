//! Tests of exporting.

use proptest::prelude::*;

use super::*;
use crate::format::FormatId;
use crate::parse::{Entry, parse};
use crate::rule::Rule;
use crate::source::Source;

fn rule(format: FormatId, path: &str, text: &str) -> Rule {
    match parse(Source::text(format, path, text)).entry {
        Entry::Rule(rule) => *rule,
        Entry::Rejected(rejected) => panic!("{path} is rejected: {:?}", rejected.codes),
    }
}

fn draft(rule: &Rule, target: &Target, name: &str, source: &str) -> Result<Draft, Loss> {
    super::draft(&Meant::of(rule), target, name, source)
}

fn cursor(header: &str) -> Rule {
    rule(FormatId::Cursor, ".cursor/rules/a.mdc", &format!("---\n{header}\n---\nBe brief.\n"))
}

fn target(name: &str) -> &'static Target {
    Target::named(name).unwrap_or_else(|| panic!("no target {name}"))
}

/// The header that a rule of Cursor's gets, and whether the proof finds no difference.
#[track_caller]
fn check(header: &str, to: &str, want: &str, is_same: bool) {
    let draft = draft(&cursor(header), target(to), "a", "a.md")
        .unwrap_or_else(|loss| panic!("{header:?} to {to}: {loss}"));
    let written = draft.text.split("<!--").next().unwrap_or_default();
    assert_eq!((written, draft.proof.is_same()), (want, is_same), "{header:?} to {to}: {:?}", draft.proof);
}

#[test]
fn each_kind_is_written_in_the_words_of_the_target() {
    check("alwaysApply: true", "claude", "", true);
    check("alwaysApply: true", "copilot-vscode", "---\napplyTo: \"**\"\n---\n", true);
    check("alwaysApply: true", "windsurf", "---\ntrigger: always_on\n---\n", true);
    check("alwaysApply: true", "augment", "---\ntype: always_apply\n---\n", true);
    check(
        "description: D\nalwaysApply: false",
        "kiro",
        "---\ninclusion: auto\nname: a\ndescription: D\n---\n",
        true,
    );
    check("description: D\nalwaysApply: false", "copilot-vscode", "---\ndescription: D\n---\n", true);
    check("alwaysApply: false", "kiro", "---\ninclusion: manual\n---\n", true);
    check("alwaysApply: false", "trae", "---\nalwaysApply: false\n---\n", true);
    check("globs: '**/*.ts'", "cline", "---\npaths:\n  - \"**/*.ts\"\n---\n", true);
    check("globs: '**/*.ts'", "copilot-vscode", "---\napplyTo: \"**/*.ts\"\n---\n", true);
}

#[test]
fn patterns_keep_their_depth() {
    let claude = |pattern: &str| format!("---\npaths:\n  - \"{pattern}\"\n---\n");
    check("globs: src/**", "claude", &claude("/src/**"), true);
    check("globs: '*.ts'", "claude", &claude("/*.ts"), true);
    check("globs: src/**/*.ts", "claude", &claude("src/**/*.ts"), true);
    check("globs: '**'", "claude", &claude("**/*"), true);
    check("globs: src/*", "claude", "---\npaths:\n  - \"src/*\"\n  - \"!src/*/\"\n---\n", true);
    check("globs: Makefile", "claude", "---\npaths:\n  - \"/Makefile\"\n  - \"!/Makefile/\"\n---\n", true);
    check("globs: '/src/**/*.(ts|tsx)'", "claude", &claude("src/**/*.{ts,tsx}"), true);
    let list =
        "---\npaths:\n  - \"/src/**/*\"\n  - \"!/src/\"\n  - \"!/src/**/*/\"\n  - \"!src/gen/**/*\"\n---\n";
    check("globs: 'src/**,!src/gen/**'", "claude", list, true);
    check("globs: '**/*'", "copilot-vscode", "---\napplyTo: \"**/{*,.*}\"\n---\n", true);
}

#[test]
fn what_has_no_form_is_lost_and_says_why() {
    #[track_caller]
    fn check(header: &str, to: &str, want: &str) {
        let loss = draft(&cursor(header), target(to), "a", "a.md").expect_err("has no form");
        assert_eq!(loss.to_string(), want);
    }
    check("alwaysApply: false", "claude", "Claude Code has no rules that apply only when mentioned");
    check("description: D\nalwaysApply: false", "cline", "Cline in VS Code cannot offer rules to the model");
    check("globs: '**/*.ts'", "cline-cli", "Cline CLI has no rules for paths");
    check("globs: '**/*.ts'", "gemini", "Gemini CLI has no rules for paths");
    let stream = rule(FormatId::Rulebook, ".rulebook/rules/a.md", "---\ncondition: x\n---\nText.");
    let loss = draft(&stream, target("cursor"), "a", "a.md").expect_err("has no form");
    assert_eq!(loss.to_string(), "Cursor has no rules that watch the output");
    let mode = rule(FormatId::Cline, ".clinerules/a.md", "---\nmode: plan\n---\nText.");
    let loss = draft(&mode, target("cursor"), "a", "a.md").expect_err("has no form");
    assert_eq!(loss.to_string(), "Cursor has no condition `mode`");
}

#[test]
fn a_copy_that_applies_to_more_is_found() {
    #[track_caller]
    fn check(header: &str, to: &str, is_wider: bool) {
        let found = draft(&cursor(header), target(to), "a", "a.md").expect("has a form");
        assert_eq!(found.proof.is_wider(), is_wider, "{header:?} to {to}: {:?}", found.proof);
    }
    // VS Code matches at any depth.
    check("globs: src/**", "copilot-vscode", true);
    check("globs: '*.ts'", "copilot-vscode", true);
    check("globs: '**/*.ts'", "copilot-vscode", false);
    // Copilot's command line matches the name alone, too.
    check("globs: '*.ts'", "copilot-cli", true);
    check("globs: src/**", "copilot-cli", false);
}

#[test]
fn letter_case_and_undocumented_dialects_are_counted_apart() {
    let claude = draft(&cursor("globs: src/**"), target("claude"), "a", "a.md").expect("has a form").proof;
    assert!(claude.is_same() && claude.near.letter_case.count > 0 && claude.near.unknown.count == 0);
    let windsurf =
        draft(&cursor("globs: src/**"), target("windsurf"), "a", "a.md").expect("has a form").proof;
    assert!(windsurf.is_same() && windsurf.near.unknown.count > 0);
}

#[test]
fn a_description_is_left_out_where_it_would_offer_the_rule() {
    let claude =
        rule(FormatId::Claude, ".claude/rules/a.md", "---\npaths: ['*.ts']\ndescription: D\n---\nText.");
    let draft = draft(&claude, target("cursor"), "a", "a.md").expect("has a form");
    assert!(!draft.text.contains("description"), "{}", draft.text);
    assert!(draft.proof.is_same());
}

#[test]
fn a_nested_rule_stays_in_its_folder_or_gets_its_path() {
    let text = "---\nglobs: '*.ts'\n---\nText.";
    let nested = rule(FormatId::Cursor, "packages/web/.cursor/rules/a.mdc", text);
    let claude = draft(&nested, target("claude"), "a", "a.md").expect("has a form");
    assert_eq!((claude.path.as_str(), claude.proof.is_same()), ("packages/web/.claude/rules/a.md", true));
    let qwen = draft(&nested, target("qwen"), "a", "a.md").expect("has a form");
    assert_eq!((qwen.path.as_str(), qwen.proof.is_same()), (".qwen/rules/a.md", true));
    assert!(qwen.text.contains("packages/web/*.ts"), "{}", qwen.text);
    let whole = draft(&cursor("globs: src/api/**"), target("gemini"), "a", "a.md").expect("has a form");
    assert_eq!((whole.path.as_str(), whole.proof.is_same()), ("src/api/GEMINI.md", true));
}

#[test]
fn targets_are_sorted_and_every_one_reads_what_is_written_for_it() {
    assert!(TARGETS.is_sorted_by(|a, b| a.name < b.name));
    let always = cursor("alwaysApply: true");
    for target in TARGETS {
        assert!(target.name == "rulebook" || target.agent().is_some(), "{}", target.name);
        let draft =
            draft(&always, target, "a", "a.md").unwrap_or_else(|loss| panic!("{}: {loss}", target.name));
        assert!(draft.proof.is_same(), "{}: {:?}\n{}", target.name, draft.proof, draft.text);
        assert!(draft.rule.body.ends_with("Be brief."), "{}", target.name);
    }
}

#[test]
fn every_kind_that_a_target_has_comes_out_as_meant() {
    let kinds = [
        (Kind::Paths, cursor("globs: '**/*.ts'")),
        (Kind::Offered, cursor("description: D\nalwaysApply: false")),
        (Kind::Manual, cursor("alwaysApply: false")),
    ];
    for target in TARGETS {
        for (kind, rule) in &kinds {
            let has_form = target.form(*kind) != Form::No;
            let result = draft(rule, target, "a", "a.md");
            assert_eq!(result.is_ok(), has_form, "{} {kind}", target.name);
            if let Ok(draft) = result {
                assert!(draft.proof.is_same(), "{} {kind}: {:?}\n{}", target.name, draft.proof, draft.text);
            }
        }
    }
}

#[test]
fn blocks_come_out_to_the_byte() {
    for before in ["", "# Mine", "# Mine\n", "# Mine\n\n", "a\r\nb\r\n"] {
        let one = Blocks::of(before).with("a.mdc", &block("a.mdc", "One."));
        let two = Blocks::of(&one).with("b.mdc", &block("b.mdc", "Two."));
        let again = Blocks::of(&two).with("a.mdc", &block("a.mdc", "One."));
        assert_eq!(again, two, "writing twice changes nothing");
        let less = Blocks::of(&two).without("b.mdc");
        assert_eq!(less, one);
        assert_eq!(Blocks::of(&less).without("a.mdc"), before);
    }
}

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
    ]);
    (name, extension, odd, 0..if shapes == Shapes::All { 12 } else { 8usize }).prop_map(
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

/// Headers in the shapes of public rule files of one agent.
fn source(shapes: Shapes) -> impl Strategy<Value = Rule> {
    let patterns = prop::collection::vec(pattern(shapes), 1..4);
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
        "src", "app", "packages", "web", "docs", "lib", "core", "test", "x", ".github", "[id]", ".x",
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

fn tally(meant: &Rule, copy: &Rule, paths: &[String]) -> Tally {
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
