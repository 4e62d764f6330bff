//! Lints that compare rules with the files around them.

use std::collections::HashSet;

use super::*;
use crate::agent::Agent;
use crate::diagnostic::Severity;
use crate::format::FormatId;

/// The files around the rules.
#[derive(Default)]
struct Facts<'f> {
    files: &'f [&'f str],
    scripts: &'f [(Runner, &'f [&'f str])],
    /// Folders with lock files, and their package managers.
    locks: &'f [(&'f str, &'static str)],
    agents: &'f [&'f str],
    /// Files that are not rules, and their texts.
    texts: &'f [(&'f str, &'f str)],
}

#[track_caller]
fn check(files: &[(&str, &str)], facts: &Facts<'_>, want: &[&str]) {
    let found: Vec<String> = found(files, facts).iter().map(line).collect();
    assert_eq!(found, want);
}

fn found(files: &[(&str, &str)], facts: &Facts<'_>) -> Vec<Diagnostic> {
    let text_of = |rule: &Rule| {
        let own = files.iter().find(|(path, _)| *path == rule.origin.display);
        own.map(|(_, text)| (*text).to_owned())
    };
    let names =
        |names: &[&str]| Names { names: names.iter().map(|&name| name.to_owned()).collect(), is_open: false };
    let around = Surroundings {
        text_of: &text_of,
        exists: &|_, path| {
            let below = format!("{path}/");
            facts.files.iter().any(|file| *file == path || file.starts_with(&below))
        },
        text_at: &|_, path| {
            facts.texts.iter().find(|(at, _)| *at == path).map(|(_, text)| (*text).to_owned())
        },
        ending: &|_, end| {
            let ending = facts.files.iter().filter(|path| path.ends_with(end));
            ending.map(|path| (*path).to_owned()).collect()
        },
        is_link: &|_| false,
        real_path: &|_| None,
        scripts: facts.scripts.iter().map(|(runner, found)| (*runner, names(found))).collect(),
        locks: (facts.locks.iter())
            .map(|&(folder, manager)| LockFile {
                folder: (0, folder.to_owned()),
                manager,
                is_declared: false,
            })
            .collect(),
        agents: facts.agents.iter().map(|name| Agent::named(name).unwrap()).collect(),
        unused: HashSet::new(),
        parser: None,
    };
    lint_surroundings(&book(files), &around)
}

#[test]
fn a_link_to_a_missing_file_is_reported() {
    let facts = Facts { files: &["docs/a.md", ".cursor/rules/b.mdc"], ..Facts::default() };
    check(
        &[(
            ".cursor/rules/a.mdc",
            "---\nalwaysApply: true\n---\n[a](docs/a.md) [b](b.mdc) [c](mdc:docs/c.md)",
        )],
        &facts,
        &[".cursor/rules/a.mdc:4:31 warning[missing-link] the link target `docs/c.md` does not exist"],
    );
    // On a line with hidden characters, which are visible in the body.
    check(
        &[("AGENTS.md", "One\n\u{202e}x [a](docs/c.md)")],
        &facts,
        &["AGENTS.md:2:8 warning[missing-link] the link target `docs/c.md` does not exist"],
    );
    // A file of that name is named, if there is only one.
    let moved = |link: &str, files: &[&str], want: &str| {
        let text = format!("[a]({link})");
        let rules = [("AGENTS.md", text.as_str())];
        let facts = Facts { files, ..Facts::default() };
        let found = found(&rules, &facts);
        assert_eq!(found.len(), 1);
        assert!(found[0].help.starts_with(want), "{link}: {}", found[0].help);
    };
    moved("docs/041.md", &["docs/old/041.md"], "link to `docs/old/041.md`");
    moved("docs/041.md", &["docs/old/041.md", "web/041.md"], "fix or remove the link");
    moved("docs/README.md", &["README.md"], "fix or remove the link");
    moved(
        ".claude/skills/pdf/SKILL.md",
        &[".agents/skills/pdf/SKILL.md"],
        "link to `.agents/skills/pdf/SKILL.md`",
    );
    // Not looked up: the file would be outside the root.
    check(&[("AGENTS.md", "[a](../../a.md)")], &facts, &[]);
}

#[test]
fn a_script_that_no_file_has_is_reported_with_a_similar_one() {
    let facts = Facts { scripts: &[(Runner::Package, &["build", "lint"])], ..Facts::default() };
    check(
        &[(
            "AGENTS.md",
            "Run `npm run buidl`, `pnpm run lint`, `npm run <name>`, `make x` and `bun run a.ts`.",
        )],
        &facts,
        &["AGENTS.md:1:6 warning[unknown-script] no `package.json` has a script `buidl`"],
    );
    // A rule that names no script of this tree, or only those of most projects, was written for another.
    check(&[(".clinerules/a.md", "Run `npm run deploy`.")], &facts, &[]);
    check(&[(".clinerules/a.md", "Run `npm run lint` and `npm run deploy`.")], &facts, &[]);
    let facts = Facts { scripts: &[(Runner::Package, &["db:seed"])], ..Facts::default() };
    check(
        &[(".clinerules/a.md", "Run `npm run db:seed` and `npm run deploy`.")],
        &facts,
        &[".clinerules/a.md:1:28 warning[unknown-script] no `package.json` has a script `deploy`"],
    );
}

#[test]
fn a_rule_with_another_package_manager_is_reported() {
    let facts = Facts { locks: &[("", "pnpm")], ..Facts::default() };
    let rule = ".clinerules/a.md";
    let found =
        ".clinerules/a.md:1:6 warning[package-manager] uses `npm`, but the lock file is that of `pnpm`";
    check(&[(rule, "Run `npm install`.")], &facts, &[found]);
    // The nearest lock file is named.
    let nested = Facts { locks: &[("", "pnpm"), ("examples/bun", "bun")], ..Facts::default() };
    check(&[(rule, "Run `npm install`.")], &nested, &[found]);
    check(&[(rule, "Never run `npm install`.")], &facts, &[]);
    check(&[(rule, "Run `pnpm install`, or `npm install`.")], &facts, &[]);
    let block = "```sh\nnpm install x\n# or\nyarn add x\n```\n";
    check(&[(rule, block)], &facts, &[]);
    check(
        &[(rule, "```sh\nnpm install x\n```\n```sh\ncargo add x\n```\n")],
        &facts,
        &[&found.replace(":1:6 ", ":2:1 ")],
    );
    check(&[(rule, "Run `npm install -g x`, `npm publish` and `npx x`.")], &facts, &[]);
    // Scripts run with any of them.
    check(&[(rule, "Run `npm run lint` and `npm test`.")], &facts, &[]);
    check(&[(rule, "Run `npm run lint`, then `npm ci`.")], &facts, &[&found.replace(":1:6 ", ":1:27 ")]);
    // Without a lock file, most rules decide.
    check(
        &[
            (".clinerules/a.md", "Run `yarn test`."),
            (".clinerules/b.md", "Run `yarn build`."),
            (".clinerules/c.md", "Run `npm ci`."),
        ],
        &Facts::default(),
        &[".clinerules/c.md:1:6 warning[package-manager] uses `npm`, but `.clinerules/a.md` uses `yarn`"],
    );
    check(&[(rule, "Run `yarn test`."), (".clinerules/b.md", "Run `npm test`.")], &Facts::default(), &[]);
}

#[test]
fn a_file_in_an_old_place_is_reported_with_the_move() {
    let old = |path: &str| {
        let source = Source::text(FormatId::Cursor, path, "Be brief.");
        resolve([parse(source).entry], &Switches::default())
    };
    let book = old(".cursorrules");
    let around = Surroundings {
        text_of: &|_| None,
        exists: &|_, _| false,
        text_at: &|_, _| None,
        ending: &|_, _| Vec::new(),
        is_link: &|_| false,
        real_path: &|_| None,
        scripts: Vec::new(),
        locks: Vec::new(),
        agents: Vec::new(),
        unused: HashSet::new(),
        parser: None,
    };
    let found = lint_surroundings(&book, &around);
    assert_eq!(found.len(), 1);
    assert_eq!((found[0].code, found[0].severity), (Code::LegacyPlace, Severity::Note));
    assert!(found[0].help.contains("git mv .cursorrules .cursor/rules/project.mdc"), "{}", found[0].help);
    // A nested one is often part of a template.
    assert!(lint_surroundings(&old("web/.cursorrules"), &around).is_empty());
    let linked = Surroundings { is_link: &|_| true, ..around };
    assert!(lint_surroundings(&book, &linked).is_empty());
}

#[test]
fn an_import_that_an_agent_does_not_follow_is_reported() {
    let codex = Facts { agents: &["codex"], ..Facts::default() };
    check(
        &[("AGENTS.md", "@docs/style.md")],
        &codex,
        &[
            "AGENTS.md:1:1 warning[unexpanded-import] Codex reads this file and does not follow `@docs/style.md`: the model sees only the name",
        ],
    );
    let long = format!("{}\n\n@docs/style.md\n", "Be brief. ".repeat(20));
    check(
        &[("AGENTS.md", &long)],
        &codex,
        &[
            "AGENTS.md:3:1 note[unexpanded-import] Codex reads this file and does not follow `@docs/style.md`: the model sees only the name",
        ],
    );
    check(&[("AGENTS.md", "Read @docs/style.md before you start.")], &codex, &[]);
    let claude = Facts { agents: &["claude"], ..Facts::default() };
    check(&[("CLAUDE.md", "@docs/style.md")], &claude, &[]);
}

#[test]
fn an_agent_that_reads_the_imported_text_elsewhere_lacks_nothing() {
    let texts = &[("ai/gen.md", "Use tabs.\n")][..];
    let cursor = Facts { agents: &["cursor"], texts, ..Facts::default() };
    let own = "---\nalwaysApply: true\n---\nUse tabs.";
    check(&[("AGENTS.md", "@ai/gen.md"), (".cursor/rules/gen.mdc", own)], &cursor, &[]);
    check(
        &[("AGENTS.md", "@ai/gen.md"), (".cursor/rules/gen.mdc", "---\nalwaysApply: true\n---\nUse spaces.")],
        &cursor,
        &[
            "AGENTS.md:1:1 warning[unexpanded-import] Cursor reads this file and does not follow `@ai/gen.md`: the model sees only the name",
        ],
    );
}

#[test]
fn links_into_a_missing_folder_and_links_of_a_generated_file_are_one_problem() {
    let facts = Facts { files: &["docs/a.md"], ..Facts::default() };
    let links =
        |from: usize| -> String { (from..from + 3).map(|at| format!("[{at}](/gone/{at}.md)\n")).collect() };
    let (one, two) = (format!("See\n{}", links(0)), format!("See\n{}", links(3)));
    check(
        &[("AGENTS.md", &one), ("CLAUDE.md", &two)],
        &facts,
        &[
            "AGENTS.md:2:5 warning[missing-link] the folder `gone` does not exist, and 6 links in 2 files lead into it",
        ],
    );
    check(
        &[("AGENTS.md", "# Auto-generated - do not edit directly\n\n[a](a.md) [b](b.md)")],
        &facts,
        &[
            "AGENTS.md:3:5 note[missing-link] this generated file has 2 links to files that do not exist, the first to `a.md`",
        ],
    );
}

#[test]
fn skills_of_one_name_are_reported_for_the_agents_used_here() {
    let files = [
        (".claude/skills/pdf/SKILL.md", "---\nname: pdf\ndescription: a\n---\nOne."),
        (".agents/skills/pdf/SKILL.md", "---\nname: pdf\ndescription: a\n---\nTwo."),
    ];
    let entries = files.map(|(path, text)| {
        let place =
            FormatId::Skill.row().workspace.iter().find(|place| path.starts_with(place.path)).unwrap();
        let inner = path[place.path.len() + 1..].to_owned();
        let origin = Origin { inner, ..Origin::new(FormatId::Skill.row(), place, path) };
        parse(Source { origin, text: Ok(text.into()) }).entry
    });
    let book = resolve(entries, &Switches::default());
    #[track_caller]
    fn check(book: &Rulebook, agents: &[&str], want: &[&str]) {
        let around = Surroundings {
            text_of: &|_| None,
            exists: &|_, _| false,
            text_at: &|_, _| None,
            ending: &|_, _| Vec::new(),
            is_link: &|_| false,
            real_path: &|_| None,
            scripts: Vec::new(),
            locks: Vec::new(),
            agents: agents.iter().map(|name| Agent::named(name).unwrap()).collect(),
            unused: HashSet::new(),
            parser: None,
        };
        let found: Vec<String> =
            lint_surroundings(book, &around).into_iter().map(|found| found.message).collect();
        assert_eq!(found, want);
    }
    check(&book, &[], &[]);
    // It reads only one of the two folders.
    check(&book, &["claude"], &[]);
    check(
        &book,
        &["claude", "cursor", "opencode"],
        &["is another skill of the same name as `.agents/skills/pdf/SKILL.md` for Cursor, opencode"],
    );
}

#[test]
fn files_beyond_the_size_limit_of_an_agent_are_reported() {
    #[track_caller]
    fn check_sizes(files: &[(&str, usize)], want: &[&str]) {
        // No two files say the same.
        let texts: Vec<String> =
            files.iter().enumerate().map(|(at, (_, len))| format!("{at}").repeat(*len)).collect();
        let files: Vec<(&str, &str)> =
            files.iter().zip(&texts).map(|((path, _), text)| (*path, text.as_str())).collect();
        check(&files, &Facts { agents: &["codex", "augment"], ..Facts::default() }, want);
    }
    // Codex counts the files from the root down to the current folder.
    check_sizes(&[("AGENTS.md", 32_768)], &[]);
    check_sizes(
        &[("AGENTS.md", 32_770)],
        &[
            "AGENTS.md:0:0 warning[over-limit] Codex reads 32768 bytes of this file; the last 2 bytes of this file are cut",
        ],
    );
    check_sizes(
        &[("AGENTS.md", 30_000), ("a/AGENTS.md", 2_000), ("a/b/AGENTS.md", 2_000), ("c/AGENTS.md", 2_000)],
        &[
            "a/b/AGENTS.md:0:0 warning[over-limit] Codex reads 32768 bytes of this file and `AGENTS.md`, `a/AGENTS.md` together; the last 1232 bytes of this file are cut",
        ],
    );
    check_sizes(
        &[("AGENTS.md", 32_768), ("a/AGENTS.md", 9)],
        &[
            "a/AGENTS.md:0:0 warning[over-limit] Codex does not read this file: the 32768 bytes it reads are used up by `AGENTS.md`",
        ],
    );
    check_sizes(&[("AGENTS.local.md", 40_000), ("CLAUDE.md", 40_000)], &[]);
    check_sizes(
        &[(".augment/rules/a.md", 40_000), (".augment/rules/b.md", 9_513), (".augment/rules/c.md", 9)],
        &[
            ".augment/rules/b.md:0:0 warning[over-limit] Augment reads 49512 characters of this file and `.augment/rules/a.md` together, which have 49513: manual rules are left out first, guidelines last",
        ],
    );
}
