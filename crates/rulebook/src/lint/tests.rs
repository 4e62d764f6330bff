mod around;

use super::*;
use crate::diagnostic::Code;
use crate::evaluate::{Audience, State, evaluate};
use crate::evidence::{Evidence, Seen};
use crate::format::{FORMATS, Format, Place, PlaceKind};
use crate::parse::parse;
use crate::resolve::{Switches, resolve};
use crate::source::{Origin, Scope, Source};

/// A rulebook of files. The name of the folder or file gives the format, and `~/` the scope.
fn book(files: &[(&str, &str)]) -> Rulebook {
    let entries = files.iter().map(|(display, text)| {
        let (above, name) = display.rsplit_once('/').unwrap_or(("", display));
        let named = |format: &'static Format| {
            let is_it =
                |place: &&Place| place.path == name && matches!(place.shape, PlaceKind::Located { .. });
            Some((format, format.workspace.iter().find(is_it)?))
        };
        let (format, place, folder, inner) = match FORMATS.iter().find_map(named) {
            Some((format, place)) => (format, place, above, name),
            None => {
                let (folder, rest) = display.split_at(display.find('.').unwrap());
                let (agent, inner) = rest[1..].split_once('/').unwrap();
                let format = Format::named(if agent == "clinerules" { "cline" } else { agent }).unwrap();
                (format, &format.workspace[0], folder, inner)
            }
        };
        let is_user = folder == "~/";
        let origin = Origin {
            scope: if is_user { Scope::User } else { Scope::Workspace },
            folder: if is_user { String::new() } else { folder.trim_end_matches('/').to_owned() },
            inner: inner.trim_start_matches("rules/").to_owned(),
            ..Origin::new(format, place, *display)
        };
        parse(Source { origin, text: Ok((*text).into()) }).entry
    });
    resolve(entries, &Switches::default())
}

fn line(found: &Diagnostic) -> String {
    let severity = found.severity.name();
    format!(
        "{}:{}:{} {severity}[{}] {}",
        found.path,
        found.line,
        found.column,
        found.code.row().name,
        found.message
    )
}

#[track_caller]
fn check(files: &[(&str, &str)], want: &[&str]) {
    let text_of =
        |rule: &Rule| files.iter().find(|file| file.0 == rule.origin.display).map(|file| file.1.to_owned());
    let found: Vec<String> = lint(&book(files), &text_of).iter().map(line).collect();
    assert_eq!(found, want);
}

const WEB: &str = "---\npaths: ['web/**']\n---\nWeb.";
const API: &str = "---\npaths: ['api/**']\n---\nApi.";

#[test]
fn a_rule_after_one_of_its_id_that_is_always_on_is_overridden() {
    check(
        &[(".rulebook/rules/a.md", "---\nalwaysApply: true\n---\nA"), (".clinerules/a.md", WEB)],
        &[
            ".clinerules/a.md:0:0 warning[always-overridden] Rulebook never adds this rule: `.rulebook/rules/a.md` has the same id `a` and a higher priority (80 instead of 40)",
        ],
    );
    // An offer is there for every evidence too.
    check(
        &[(".rulebook/rules/a.md", "---\ndescription: x\n---\nA"), (".clinerules/a.md", WEB)],
        &[
            ".clinerules/a.md:0:0 warning[always-overridden] Rulebook never adds this rule: `.rulebook/rules/a.md` has the same id `a` and a higher priority (80 instead of 40)",
        ],
    );
    // The other way round nothing is sure, and nothing that both are on is either.
    check(
        &[(".rulebook/rules/a.md", "---\nglobs: web/**\n---\nA"), (".clinerules/a.md", "B")],
        &[
            ".clinerules/a.md:0:0 warning[duplicate-id] where both apply, Rulebook uses `.rulebook/rules/a.md` instead of this rule: it has the same id `a` and a higher priority (80 instead of 40)",
        ],
    );
}

#[test]
fn rules_with_the_same_conditions_apply_together() {
    let want = ".rulebook/rules/b.md:0:0 warning[always-overridden] Rulebook never adds this rule: `.rulebook/rules/a.md` has the same id `x` and a path that sorts first";
    let a = "---\nid: x\npaths: ['web/**', 'lib/**']\n---\nA";
    let b = "---\nid: x\npaths: ['web/**', 'lib/**']\n---\nB";
    check(&[(".rulebook/rules/a.md", a), (".rulebook/rules/b.md", b)], &[want]);
    let with_mode = "---\nid: x\npaths: ['web/**', 'lib/**']\nmode: plan\n---\nA";
    check(&[(".rulebook/rules/a.md", with_mode), (".rulebook/rules/b.md", b)], &[]);
}

/// The law of `always-overridden`, for every pair of these rules and all of this evidence.
#[test]
fn rules_reported_as_overridden_never_apply() {
    let headers = [
        "",
        "paths: ['web/**']\n",
        "paths: ['web/**']\nmode: plan\n",
        "paths: ['web/**', 'api/**']\n",
        "globs: 'web/**'\n",
        "globs: 'web/**'\ndescription: d\n",
        "description: d\n",
        "alwaysApply: true\n",
        "condition: 'x'\n",
        "globs: 'web/**'\ncondition: 'x'\n",
        "enabled: false\n",
        "trigger: manual\n",
    ];
    let folders =
        [".clinerules/", ".cursor/rules/", ".windsurf/rules/", ".xcsh/rules/", "web/.cursor/rules/"];
    let all: Vec<(String, &str)> = folders
        .iter()
        .flat_map(|folder| headers.iter().map(move |header| (format!("{folder}x.md"), *header)))
        .collect();
    let seen = |path: &str| Seen { path: path.to_owned(), root: 0, sources: Vec::new() };
    let evidences: Vec<Evidence> =
        [&[][..], &["web/a.ts"], &["api/a.ts"], &["web/a.ts", "api/a.ts"], &["web/web/a"]]
            .iter()
            .flat_map(|paths| {
                let paths: Vec<Seen> = paths.iter().map(|path| seen(path)).collect();
                let asked =
                    Evidence { requested: vec!["x".to_owned()], paths: paths.clone(), ..Evidence::default() };
                [asked, Evidence { mode: Some("plan".to_owned()), paths, ..Evidence::default() }]
            })
            .collect();
    let mut found = 0;
    for (a, b) in all.iter().flat_map(|a| all.iter().map(move |b| (a, b))).filter(|(a, b)| a.0 != b.0) {
        let text = |header: &str, body: &str| format!("---\n{header}---\n{body}");
        let book = book(&[(&a.0, &text(a.1, "A")), (&b.0, &text(b.1, "B"))]);
        for lost in lint(&book, &|_| None).iter().filter(|found| found.code == Code::AlwaysOverridden) {
            found += 1;
            for evidence in &evidences {
                let evaluation = evaluate(&book, evidence, Audience::any());
                let verdict =
                    evaluation.verdicts.iter().find(|v| v.rule.origin.display == lost.path).unwrap();
                let is_seen = matches!(verdict.state, State::Stack | State::Offered | State::Stream);
                assert!(!is_seen, "{a:?} {b:?} {evidence:?}");
            }
        }
    }
    assert!(found > 100, "only {found} cases");
}

#[test]
fn a_users_rule_that_yields_to_the_workspace_is_not_reported() {
    let always = |body: &str| format!("---\nalwaysApply: true\n---\n{body}");
    let (theirs, own) = (always("A"), always("B"));
    check(&[(".cursor/rules/a.mdc", &theirs), ("~/.cursor/rules/a.mdc", &own)], &[]);
}

#[test]
fn one_id_for_different_files_is_no_conflict() {
    let same = |a: &str, b: &str, want: &[&str]| {
        let text = |glob: &str, body: &str| format!("---\nid: x\npaths: [{glob}]\n---\n{body}");
        check(&[(".rulebook/rules/a.md", &text(a, "A")), (".rulebook/rules/b.md", &text(b, "B"))], want);
    };
    let found: &[&str] = &[
        ".rulebook/rules/b.md:0:0 warning[duplicate-id] where both apply, Rulebook uses `.rulebook/rules/a.md` instead of this rule: it has the same id `x` and a path that sorts first",
    ];
    same("'web/**'", "'api/**'", &[]);
    same("'web/**'", "'website/**'", &[]);
    same("'web/**'", "'web/ui/**'", found);
    same("'web/ui/**'", "'web/**'", found);
    same("'/web/**'", "'./web/ui/*'", found);
    same("'web/**', 'lib/**'", "'api/**', 'lib/x/*'", found);
    same("'web/**'", "'**/*.ts'", found);
    same("'*.ts'", "'web/**'", found);
    same("'web/**', '!web/x'", "'api/**'", &[]);
    same("'!web/**'", "'web/**'", found);
}

#[test]
fn nested_rules_override_outer_ones_as_they_are_meant_to() {
    check(&[(".rulebook/rules/a.md", WEB), ("pkg/.rulebook/rules/a.md", API)], &[]);
    check(&[(".rulebook/rules/a.md", WEB), ("pkg/.rulebook/rules/a.md", "B")], &[]);
    check(&[("x/.rulebook/rules/a.md", "A"), ("y/.rulebook/rules/a.md", "B")], &[]);
    check(
        &[("x/.rulebook/rules/a.md", "---\nalwaysApply: true\n---\nA"), ("x/.clinerules/a.md", "B")],
        &[
            "x/.clinerules/a.md:0:0 warning[always-overridden] Rulebook never adds this rule: `x/.rulebook/rules/a.md` has the same id `a` and a higher priority (80 instead of 40)",
        ],
    );
}

#[test]
fn a_same_id_in_another_format_is_no_conflict() {
    check(&[(".cursor/rules/a.mdc", "---\nalwaysApply: true\n---\nA"), (".clinerules/a.md", "B")], &[]);
    check(&[(".clinerules/a.md", "---\nid: x\n---\nA"), (".clinerules/b.md", "---\nid: x\n---\nB")], &[]);
}

#[test]
fn copies_that_differ_are_reported_with_the_lines() {
    let lines = |own: &str| format!("---\nalwaysApply: true\n---\none\ntwo\n\nthree\nfour\n{own}");
    let (first, second) = (lines("five"), lines("5\n"));
    let third = "one\ntwo\nthree\nfour";
    check(
        &[(".cursor/rules/a.mdc", &first), (".clinerules/a.md", &second)],
        &[
            ".clinerules/a.md:9:1 warning[drifted-copy] this file is a copy of `.cursor/rules/a.mdc`, but line 9 (`5`) is only in this file, and line 9 (`five`) is only in `.cursor/rules/a.mdc`",
        ],
    );
    check(
        &[(".cursor/rules/a.mdc", &first), (".clinerules/a.md", third)],
        &[
            ".clinerules/a.md:0:0 warning[drifted-copy] this file is a copy of `.cursor/rules/a.mdc`, but line 9 (`five`) is only in `.cursor/rules/a.mdc`",
        ],
    );
    // Case, punctuation and the names of agents do not count.
    let (cursor, cline) = (lines("“Five”: see Cursor"), lines("five see cline."));
    check(&[(".cursor/rules/a.mdc", &cursor), (".clinerules/a.md", &cline)], &[]);
    // What the header of one says, a generator writes as text for an agent without such keys.
    let header = "---\ndescription: Prisma schema and migrations\nglobs: prisma/**, db/**\n---\n";
    let (scoped, plain) = (
        format!("{header}one\ntwo\nthree\nfour\nfive"),
        "**Scope:** `prisma/**`, `db/**`\nThe schema and migrations, with Prisma.\none\ntwo\nthree\nfour\nfive",
    );
    check(&[(".cursor/rules/a.mdc", &scoped), (".clinerules/a.md", plain)], &[]);
    // So is what one says in a line of its own and the other within one.
    let (block, within) = (
        lines("**Scope**: `docs/**`, `site/**`\n## Scope\ndocs/**, site/**"),
        lines("**Scope**: `docs/**`, `site/**`"),
    );
    check(&[(".cursor/rules/a.mdc", &block), (".clinerules/a.md", &within)], &[]);
    // A long line is shown from where it differs.
    let long = |end: &str| lines(&format!("{}{end}", "same words ".repeat(9)));
    check(
        &[(".cursor/rules/a.mdc", &long("left")), (".clinerules/a.md", &long("right"))],
        &[
            ".clinerules/a.md:9:1 warning[drifted-copy] this file is a copy of `.cursor/rules/a.mdc`, but line 9 (`…me words same words right`) is only in this file, and line 9 (`…me words same words left`) is only in `.cursor/rules/a.mdc`",
        ],
    );
    // Another id, another text.
    check(&[(".cursor/rules/a.mdc", &first), (".clinerules/b.md", &second)], &[]);
    check(&[(".cursor/rules/a.mdc", &first), (".clinerules/a.md", "one\ntwo\nsix")], &[]);
}

#[test]
fn rules_that_are_switched_off_override_nothing() {
    let off = "---\nenabled: false\nid: y\n---\nB";
    check(&[(".cursor/rules/a.mdc", off), (".clinerules/b.md", "B")], &[]);
}

/// A text that is long enough to be worth a report.
fn same() -> String {
    "The same text. ".repeat(20)
}

#[test]
fn each_copy_of_a_text_is_reported_once() {
    let always = &format!("---\nalwaysApply: true\n---\n\n  {}\n", same());
    check(
        &[
            (".cursor/rules/a.mdc", always),
            (".cursor/rules/b.mdc", always),
            (".windsurf/rules/c.md", &same()),
            (".clinerules/a.md", &format!("{}\n\n", same())),
            (".clinerules/d.md", "Other"),
        ],
        &[".cursor/rules/b.mdc:0:0 warning[duplicate-body] has the same text as `.cursor/rules/a.mdc`"],
    );
    // Tools write short placeholders.
    check(&[(".clinerules/a.md", "No recent activity."), (".clinerules/b.md", "No recent activity.")], &[]);
}

#[test]
fn copies_in_sibling_folders_are_not_reported() {
    let same = &*same();
    check(&[("x/.clinerules/a.md", same), ("y/.clinerules/a.md", same)], &[]);
    check(
        &[("x/y/.clinerules/a.md", same), ("x/.clinerules/a.md", same), ("z/.clinerules/a.md", same)],
        &["x/y/.clinerules/a.md:0:0 warning[duplicate-body] has the same text as `x/.clinerules/a.md`"],
    );
    check(
        &[("x/.clinerules/a.md", same), (".clinerules/a.md", same)],
        &["x/.clinerules/a.md:0:0 warning[duplicate-body] has the same text as `.clinerules/a.md`"],
    );
}

/// Joined here, so that no scanner takes the page for a leak.
fn token(prefix: &str, rest: &str) -> String {
    format!("{prefix}{rest}")
}

#[test]
fn secrets_are_reported_and_not_shown() {
    #[track_caller]
    fn check(secret: &str, want: &str) {
        let text = format!("Use this:\nkey = \"{secret}\" // mine");
        let found = lint(&book(&[(".clinerules/a.md", &text)]), &|_| None);
        let [found] = &found[..] else { panic!("{secret}: {found:?}") };
        assert_eq!(found.message, want);
        assert_eq!((found.line, found.column), (2, 8));
        assert!(!format!("{found:?}").contains(&secret[8..]), "{found:?}");
    }
    let base62 = "q7Rw2LzX9vTn4KpB8sDf3HgY6mJc1QaE5uWi";
    check(&token("ghp_", base62), "looks like a GitHub token: `ghp_…`, 40 characters");
    check(
        &token("github_pat_", &format!("{base62}_{base62}")),
        "looks like a GitHub token: `gith…`, 84 characters",
    );
    check(&token("glpat-", &base62[..20]), "looks like a GitLab token: `glpa…`, 26 characters");
    check(
        &token("sk-ant-", &format!("api03-{base62}")),
        "looks like an Anthropic key: `sk-a…`, 49 characters",
    );
    check(&token("sk-proj-", base62), "looks like an API key: `sk-p…`, 44 characters");
    check(&token("AKIA", "Q3V7LXNWJ2ZTRK5B"), "looks like an AWS access key: `AKIA…`, 20 characters");
    check(&token("AIza", &base62[..35]), "looks like a Google key: `AIza…`, 39 characters");
    check(
        &token("xoxb-", &format!("739204815-{}", &base62[..24])),
        "looks like a Slack token: `xoxb…`, 39 characters",
    );
    check(&token("npm_", base62), "looks like an npm token: `npm_…`, 40 characters");
    check(
        &token("eyJ", &format!("hbGciOiJIUzI1NiJ9.eyJzdWIiOiI5OSJ9.{base62}")),
        "looks like a JSON web token: `eyJh…`, 74 characters",
    );
    check(
        &token("-----BEGIN ", &format!("RSA PRIVATE KEY-----\n{base62}{base62}")),
        "looks like a private key: `----…`, 104 characters",
    );
}

#[test]
fn placeholders_and_names_are_not_secrets() {
    let base62 = "q7Rw2LzX9vTn4KpB8sDf3HgY6mJc1QaE5uWi";
    for text in [
        token("sk-", "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"),
        token("sk-", "your-own-key-goes-right-here-in-this-place"),
        token("sk-", "how-to-write-rules-in-2024-for-each-agent"),
        token("AKIA", "IOSFODNN7EXAMPLE"),
        token("ghp_", "abcdefghijklmnopqrstuvwxyz0123456789"),
        token("ghp_", &"0".repeat(36)),
        token("-----BEGIN ", "PRIVATE KEY-----\n...\n"),
        token("-----BEGIN ", "RSA PRIVATE KEY----- must never be committed"),
        token("mask-", base62),
        "<your-key>, $GITHUB_TOKEN, ${{ secrets.TOKEN }}, ghp_".to_owned(),
        "AIzaShort, eyJhbGciOiJIUzI1NiJ9".to_owned(),
    ] {
        check(&[(".clinerules/a.md", &text)], &[]);
    }
}

#[test]
fn the_summary_lists_what_does_not_work_as_intended() {
    let same = &*same();
    let files: &[(&str, &str)] = &[
        (".clinerules/a.md", same),
        (".clinerules/b.md", same),
        (".clinerules/broken.md", "---\npaths: [\n---\nBroken."),
        (".clinerules/all.md", "---\npaths: ['**']\n---\nAll."),
        (".clinerules/empty.md", "---\npaths: ['x']\n---\n"),
        (".opencode/rules/r.md", "---\ndescription: x\n---\nRejected."),
        (".xcsh/rules/n.md", "Never."),
        (".cursor/rules/m.mdc", "---\nalwaysApply: false\n---\nForgotten."),
        (".windsurf/rules/m.md", "---\ntrigger: manual\n---\nOn purpose."),
    ];
    let book = book(files);
    let summary = Summary::of(&book, &lint(&book, &|_| None));
    assert_eq!(
        summary,
        Summary {
            files: 9,
            never_seen: [".clinerules/empty.md", ".opencode/rules/r.md", ".xcsh/rules/n.md"]
                .map(str::to_owned)
                .into(),
            rejected: vec![".opencode/rules/r.md".to_owned()],
            not_applied: Default::default(),
            unreadable_header: vec![".clinerules/broken.md".to_owned()],
            only_by_name: vec![".cursor/rules/m.mdc".to_owned()],
            said_twice: vec![".clinerules/b.md".to_owned()],
            always_on: AlwaysCost { rules: 2, tokens: 81, estimated: true },
        }
    );
}

#[test]
fn a_code_block_that_is_never_closed_is_reported() {
    let found: &[&str] = &[".clinerules/a.md:3:1 warning[unclosed-fence] this code block is never closed"];
    check(&[(".clinerules/a.md", "Text.\n\n```ts\nlet a;\n")], found);
    check(&[(".clinerules/a.md", "Text.\n\n~~~\nlet a;\n```\n")], found);
    check(&[(".clinerules/a.md", "```ts\nlet a;\n```\n")], &[]);
    // A block in a block, as people write it, and a tag after the fence.
    check(&[(".clinerules/a.md", "```md\n```ts\nlet a;\n```\n```\n")], &[]);
    check(&[(".clinerules/a.md", "<a>\n```md\nb\n```</a>\n")], &[]);
}
