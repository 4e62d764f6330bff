use std::collections::HashSet;

use super::{Audience, State, evaluate, rivals};
use crate::agent::Agent;
use crate::evidence::{Evidence, Seen};
use crate::format::FormatId;
use crate::parse::parse;
use crate::resolve::{Identity, Rulebook, Switches, resolve};
use crate::source::{Origin, Scope, Source};

const ALWAYS: &str = "---\nalwaysApply: true\n---\n";

/// Makes a book of files, each with its format, path and text. A path that starts with a digit is in that root, one that
/// starts with `~` is the user's.
fn book(files: &[(&str, &str, &str)]) -> Rulebook {
    let entries = files.iter().map(|(format, path, text)| {
        let format = FormatId::named(format).unwrap();
        let (root, inner) = path.split_once('/').unwrap();
        let mut origin = Origin::named(format, inner);
        origin.root = root.parse().unwrap_or_default();
        origin.scope = if root == "~" { Scope::User } else { Scope::Workspace };
        origin.display = (*path).to_owned();
        origin.path = format!("/{path}");
        parse(Source { origin, text: Ok((*text).into()) }).entry
    });
    resolve(entries, &Switches::default())
}

/// Returns the state of every rule, sorted by file: its name, or the winner and the step.
fn states(book: &Rulebook, paths: &[(usize, &str)], audience: Audience<'_>) -> Vec<String> {
    let seen =
        |(root, path): &(usize, &str)| Seen { path: (*path).to_owned(), root: *root, sources: Vec::new() };
    let evidence = Evidence { paths: paths.iter().map(seen).collect(), ..Evidence::default() };
    let line = |verdict: &super::Verdict<'_>| {
        let state = match &verdict.state {
            State::Stack => "on".to_owned(),
            State::Overridden { winner, by } => format!("{} by {by}", winner.origin.display),
            State::Inactive(why) => why.detail.clone(),
            state => format!("{state:?}"),
        };
        format!("{}: {state}", verdict.rule.origin.display)
    };
    let mut lines: Vec<String> = evaluate(book, &evidence, audience).verdicts.iter().map(line).collect();
    lines.sort();
    lines
}

#[test]
fn rivals_are_the_rules_that_override_each_other() {
    let cursor = [ALWAYS, "Cursor."].concat();
    let book = book(&[
        ("rulebook", "0/.rulebook/rules/db.md", "Native."),
        ("cursor", "0/.cursor/rules/db.mdc", &cursor),
        ("cursor", "1/.cursor/rules/db.mdc", "---\nalwaysApply: true\n---\nOther root."),
        ("cline", "0/.clinerules/db.md", "Cline."),
        ("cline", "0/.clinerules/other.md", "Cline."),
    ]);
    let rivals_of = |display: &str| -> Vec<String> {
        let rule = book.rules().map(|(rule, _)| rule).find(|rule| rule.origin.display == display).unwrap();
        let one = |rival: super::Rival<'_>| {
            let word = if rival.wins { "loses to" } else { "beats" };
            format!("{word} {} by {}", rival.rule.origin.display, rival.by)
        };
        rivals(&book, rule).map(one).collect()
    };
    let check = |display: &str, want: &[&str]| assert_eq!(rivals_of(display), want, "{display}");
    check("0/.cursor/rules/db.mdc", &["loses to 0/.rulebook/rules/db.md by priority"]);
    check("1/.cursor/rules/db.mdc", &[]);
    check(
        "0/.clinerules/db.md",
        &["loses to 0/.rulebook/rules/db.md by priority", "beats 0/.clinerules/other.md by duplicate"],
    );
}

#[test]
fn rules_of_different_roots_do_not_override_each_other() {
    let rule = |body: &str| format!("---\nglobs: '*.ts'\n---\n{body}");
    let book = book(&[
        ("cursor", "0/.cursor/rules/a.mdc", &rule("A")),
        ("cursor", "1/.cursor/rules/a.mdc", &rule("B")),
        (FormatId::AgentsMd.name(), "0/AGENTS.md", "Root 0."),
        (FormatId::AgentsMd.name(), "1/AGENTS.md", "Root 1."),
    ]);
    let check =
        |paths: &[(usize, &str)], want: &[&str]| assert_eq!(states(&book, paths, Audience::any()), want);
    check(
        &[(0, "x.ts"), (1, "x.ts")],
        &["0/.cursor/rules/a.mdc: on", "0/AGENTS.md: on", "1/.cursor/rules/a.mdc: on", "1/AGENTS.md: on"],
    );
    // Each root's own rule is used there.
    check(
        &[(1, "x.ts")],
        &[
            "0/.cursor/rules/a.mdc: 1/.cursor/rules/a.mdc by folder",
            "0/AGENTS.md: no evidence path is in its root",
            "1/.cursor/rules/a.mdc: on",
            "1/AGENTS.md: on",
        ],
    );
    // A conditional rule applies in a root that has no such rule.
    let a = "0/.cursor/rules/a.mdc: on";
    assert!(states(&book, &[(2, "x.ts")], Audience::any()).contains(&a.to_owned()));
}

#[test]
fn an_agent_gets_the_copy_that_it_reads() {
    let lines = "one\ntwo\nthree\nfour\n";
    let (first, second) = (format!("{ALWAYS}{lines}five"), format!("{lines}5"));
    let book = book(&[
        ("cursor", "0/.cursor/rules/a.mdc", &first),
        ("claude", "0/.claude/rules/a.md", &second),
        ("rulebook", "0/.rulebook/rules/b.md", &first),
        ("claude", "0/.claude/rules/b.md", &second),
        ("cursor", "0/.cursor/rules/b.mdc", &format!("{ALWAYS}Something else.")),
    ]);
    let any = [
        "0/.claude/rules/a.md: 0/.cursor/rules/a.mdc by copy",
        "0/.claude/rules/b.md: 0/.rulebook/rules/b.md by priority",
        "0/.cursor/rules/a.mdc: 0/.rulebook/rules/b.md by duplicate",
        "0/.cursor/rules/b.mdc: 0/.rulebook/rules/b.md by priority",
        "0/.rulebook/rules/b.md: on",
    ];
    assert_eq!(states(&book, &[], Audience::any()), any);
    let claude = Agent::named("claude").unwrap();
    let reads: HashSet<String> = ["/0/.claude/rules/a.md", "/0/.claude/rules/b.md"].map(str::to_owned).into();
    let own = [
        "0/.claude/rules/a.md: on",
        "0/.claude/rules/b.md: 0/.claude/rules/a.md by duplicate",
        "0/.cursor/rules/a.mdc: 0/.claude/rules/a.md by copy",
        "0/.cursor/rules/b.mdc: 0/.rulebook/rules/b.md by priority",
        "0/.rulebook/rules/b.md: 0/.claude/rules/b.md by copy",
    ];
    assert_eq!(states(&book, &[], Audience::agent(claude, &reads)), own);
}

#[test]
fn for_xcsh_a_name_is_one_rule() {
    let files: &[(&str, &str, &str)] = &[
        ("cursor", "0/.cursor/rules/a.mdc", "---\nalwaysApply: true\n---\nA"),
        ("cline", "0/.clinerules/a.md", "B"),
    ];
    let kept = ["0/.clinerules/a.md: on", "0/.cursor/rules/a.mdc: on"];
    let by_name = ["0/.clinerules/a.md: 0/.cursor/rules/a.mdc by priority", "0/.cursor/rules/a.mdc: on"];
    assert_eq!(states(&book(files), &[], Audience::any()), kept);
    let named = book(files).identified_by(Identity::Name);
    assert_eq!(states(&named, &[], Audience::any()), by_name);
    let reads = HashSet::new();
    for (agent, want) in [("xcsh", &by_name), ("omp", &by_name), ("cursor", &kept)] {
        let audience = Audience::agent(Agent::named(agent).unwrap(), &reads);
        assert_eq!(&states(&book(files), &[], audience), want, "{agent}");
    }
}

#[test]
fn a_name_refers_to_a_file_then_to_a_key_then_to_an_id() {
    let book = book(&[
        ("cursor", "0/.cursor/rules/a.mdc", &format!("{ALWAYS}A")),
        ("cursor", "~/.cursor/rules/a.mdc", &format!("{ALWAYS}B")),
        ("cline", "0/.clinerules/a.md", "C"),
        ("cline", "0/.clinerules/a@cursor.md", "D"),
    ]);
    let check = |name: &str, want: &[&str]| {
        let found = book.lookup(name).into_iter().map(|(rule, _)| rule.origin.display.as_str());
        assert_eq!(found.collect::<Vec<_>>(), want, "{name}");
    };
    check("A", &["0/.cursor/rules/a.mdc", "~/.cursor/rules/a.mdc", "0/.clinerules/a.md"]);
    check("rule://a", &["0/.cursor/rules/a.mdc", "~/.cursor/rules/a.mdc", "0/.clinerules/a.md"]);
    check("A@cursor", &["0/.cursor/rules/a.mdc", "~/.cursor/rules/a.mdc"]);
    check("~/.cursor/rules/a.mdc", &["~/.cursor/rules/a.mdc"]);
    check("/0/.clinerules/a.md", &["0/.clinerules/a.md"]);
    check("b", &[]);
    // Every rule has a name of its own.
    let addresses: Vec<&str> = book.rules().map(|(rule, _)| rule.address()).collect();
    assert_eq!(addresses, ["a", "~/.cursor/rules/a.mdc", "a@cline", "a@cursor@cline"]);
    for (rule, _) in book.rules() {
        assert!(std::ptr::eq(book.read(rule.address()).unwrap(), rule), "{}", rule.address());
    }
}

#[test]
fn a_reason_keeps_the_first_paths_and_one_of_each_root() {
    let book = book(&[("cursor", "0/.cursor/rules/a.mdc", "---\nglobs: \"**/*.ts\"\n---\nA.")]);
    let seen = |at: usize| Seen { path: format!("src/{at:04}.ts"), root: at / 500, sources: Vec::new() };
    let evidence = Evidence { paths: (0..1_001).map(seen).collect(), ..Evidence::default() };
    let evaluation = evaluate(&book, &evidence, Audience::any());
    let reason = &evaluation.verdicts[0].because[0];
    let kept: Vec<usize> = (0..100).chain([500, 1_000]).collect();
    assert_eq!((&reason.seen, reason.more), (&kept, 899));
}
