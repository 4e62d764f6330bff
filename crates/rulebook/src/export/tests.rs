//! Tests of exporting.

use super::*;
use crate::format::FormatId;
use crate::parse::{Entry, parse};
use crate::rule::Rule;
use crate::source::Source;

pub(super) fn rule(format: FormatId, path: &str, text: &str) -> Rule {
    match parse(Source::text(format, path, text)).entry {
        Entry::Rule(rule) => *rule,
        Entry::Rejected(rejected) => panic!("{path} is rejected: {:?}", rejected.codes),
    }
}

pub(super) fn draft(rule: &Rule, target: &Target, name: &str, source: &str) -> Result<Draft, Loss> {
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
    let trae = draft(&claude, target("trae"), "a", "a.md").expect("has a form");
    assert!(!trae.text.contains("description"), "{}", trae.text);
    assert!(trae.proof.is_same());
    // Cursor offers only rules without patterns.
    let cursor = draft(&claude, target("cursor"), "a", "a.md").expect("has a form");
    assert!(cursor.text.contains("description"), "{}", cursor.text);
    assert!(cursor.proof.is_same());
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

/// Patterns with brackets are compared on the paths that they match at other depths, and as names.
#[test]
fn brackets_are_compared_as_classes_and_as_names() {
    #[track_caller]
    fn wider(pattern: &str, to: &str, path: &str) {
        let draft =
            draft(&cursor(&format!("globs: {pattern}")), target(to), "a", "a.md").expect("has a form");
        assert_eq!(
            draft.proof.near.wider.example.as_deref(),
            Some(path),
            "{pattern} to {to}: {}",
            draft.text
        );
    }
    wider("src/[a-c].ts", "copilot-vscode", "zz/src/a.ts");
    wider("src/[^a].ts", "copilot-vscode", "zz/src/z.ts");
    wider("app/[slug]/page.tsx", "copilot-vscode", "zz/app/s/page.tsx");
    wider("pages/[id].tsx", "copilot-vscode", "zz/pages/i.tsx");
    wider("app/[...slug]/page.tsx", "copilot-vscode", "zz/app/s/page.tsx");
    wider("v[0-9]/**/*.ts", "copilot-vscode", "zz/v0/z/z.ts");
    wider("[Tt]est/**", "copilot-vscode", "zz/Test/z");
    let list = "---\npaths:\n  - \"app/[id]/**/*.tsx\"\n  - 'app/\\[id\\]/**/*.tsx'\n---\n";
    check("globs: app/[id]/**/*.tsx", "claude", list, true);
    for to in ["copilot-cli", "kiro", "continue", "cline", "windsurf"] {
        let draft = draft(&cursor("globs: app/[id]/**/*.tsx"), target(to), "a", "a.md").expect("has a form");
        assert!(draft.proof.is_same(), "{to}: {:?}\n{}", draft.proof, draft.text);
    }
    let claude = rule(FormatId::Claude, ".claude/rules/a.md", "---\npaths: ['app/[id]/*.ts']\n---\nText.");
    let copy = draft(&claude, target("cursor"), "a", "a.md").expect("has a form");
    assert!(copy.text.contains("app/{d,i}/*.ts") && copy.proof.is_same(), "{:?}\n{}", copy.proof, copy.text);
}

#[test]
fn hidden_folders_in_a_row_are_matched() {
    for pattern in ["src/**", "**", "**/*.ts", "src/**/x/**/*.{ts,tsx}"] {
        for to in ["kiro", "continue"] {
            let found =
                draft(&cursor(&format!("globs: '{pattern}'")), target(to), "a", "a.md").expect("has a form");
            assert!(found.proof.is_same(), "{pattern} to {to}: {:?}\n{}", found.proof, found.text);
            let meant = cursor(&format!("globs: '{pattern}'"));
            let paths = ["src/.h/.n/x.ts", ".github/workflows/.x.ts", ".h/.n/x.ts", "src/a/.h/b/.n/x/c/y.ts"];
            let tally = super::laws::tally(&meant, &found.rule, &paths.map(str::to_owned));
            assert_eq!(tally.same(), 4, "{pattern} to {to}: {tally:?}\n{}", found.text);
        }
    }
}

#[test]
fn what_dialects_read_differently_is_spelled_out() {
    let copied = |from: (FormatId, &str, &str), to: &str| {
        let (format, path, header) = from;
        let rule = rule(format, path, &format!("---\n{header}\n---\nText."));
        draft(&rule, target(to), "a", "a.md").unwrap_or_else(|loss| panic!("{to}: {loss}"))
    };
    // One word in braces.
    let one = (FormatId::Claude, ".claude/rules/b.md", "paths: '**/*.{ts}'");
    for to in ["cursor", "kiro", "rulebook", "cline"] {
        let copy = copied(one, to);
        assert!(copy.proof.is_same() && copy.text.contains(".ts"), "{to}: {:?}\n{}", copy.proof, copy.text);
    }
    // Exclusions alone.
    let all_but = (FormatId::Cursor, ".cursor/rules/b.mdc", "globs: '!**/*.test.ts'\nalwaysApply: false");
    let copy = copied(all_but, "claude");
    assert!(copy.proof.is_same(), "{:?}\n{}", copy.proof, copy.text);
    // A folder of which the name has dots.
    let rest = (FormatId::Cursor, ".cursor/rules/b.mdc", "globs: app/[...slug]/page.tsx\nalwaysApply: false");
    let copy = copied(rest, "claude");
    assert!(copy.proof.is_same() && copy.text.contains("\\[...slug\\]"), "{:?}\n{}", copy.proof, copy.text);
}

/// What could only be written so that it applies nowhere is refused, with what the nearest form does.
#[test]
fn a_copy_that_applies_nowhere_is_not_the_nearest() {
    let copy =
        draft(&cursor("globs: ./src/**/*.ts"), target("copilot-vscode"), "a", "a.md").expect("has a form");
    assert!(copy.proof.is_wider(), "{:?}\n{}", copy.proof, copy.text);
}
