use super::reach::Level;
use super::*;
use crate::agent::AGENTS;
use crate::format::{FORMATS, Files, Format, Place, PlaceKind};

/// A file with everyone who would read it at this place.
fn readers(path: &str) -> Readers {
    let at = |format: &'static Format| {
        let found = |place: &'static Place| {
            let (folder, inner) = place.split(path)?;
            Some(Origin {
                folder: folder.to_owned(),
                inner: inner.to_owned(),
                ..Origin::new(format, place, path)
            })
        };
        format.workspace.iter().find_map(found)
    };
    let meant = FORMATS.iter().find_map(at);
    let agents = AGENTS
        .iter()
        .flat_map(|agent| agent.formats.iter().filter_map(at).take(1).map(move |origin| (agent, origin)));
    Readers { meant: meant.into_iter().collect(), agents: agents.collect() }
}

#[track_caller]
fn check(path: &str, before: &str, after: &str) {
    let fixed = fix(before, &readers(path), &[]).unwrap_or_else(|| before.to_owned());
    assert_eq!(fixed, after, "{path}");
}

#[test]
fn a_pattern_is_quoted_where_yaml_needs_it() {
    for path in [".continue/rules/a.md", ".kiro/steering/a.md"] {
        let key = if path.starts_with(".kiro") { "inclusion: fileMatch\nfileMatchPattern" } else { "globs" };
        let text = |value: &str| format!("---\n{key}: {value}\n---\nText\n");
        check(path, &text("/**/*.ts"), &text("\"**/*.ts\""));
        check(path, &text("/src/**"), &text("src/**"));
        check(path, &text("\"/src/**\""), &text("\"src/**\""));
    }
    check(
        ".clinerules/a.md",
        "---\npaths:\n  - /**/*.ts\n---\nText\n",
        "---\npaths:\n  - \"**/*.ts\"\n---\nText\n",
    );
}

#[test]
fn qwen_needs_a_block_list_and_double_quotes() {
    let text = |value: &str| format!("---\npaths: {value}\n---\nText\n");
    let path = ".qwen/rules/a.md";
    check(path, &text("['src/**', lib/**]"), &text("\n  - \"src/**\"\n  - \"lib/**\""));
    check(path, &text("src/**,lib/**"), &text("\n  - \"src/**\"\n  - \"lib/**\""));
    check(path, &text("'src/**'"), &text("\"src/**\""));
}

#[test]
fn a_code_block_is_closed_at_the_end() {
    check(".clinerules/a.md", "Text\n```ts\nlet a;\n", "Text\n```ts\nlet a;\n```\n");
    check(".clinerules/a.md", "Text\n  ```ts\nlet a;\n", "Text\n  ```ts\nlet a;\n");
}

#[test]
fn a_fence_on_the_last_line_is_removed() {
    for path in [".claude/rules/a.md", ".claude/skills/a/SKILL.md"] {
        let header = "---\nname: a\ndescription: d\n---\n";
        check(path, &format!("{header}# A\n\ntext\n\n```\n"), &format!("{header}# A\n\ntext\n\n"));
    }
    check(".claude/rules/a.md", "# A\n\ntext\n~~~", "# A\n\ntext\n");
    // Nothing would be left.
    check(".claude/rules/a.md", "```\n", "```\n");
    check(
        ".claude/skills/a/SKILL.md",
        "---\nname: a\ndescription: d (x: y) z\n---\nA\n",
        "---\nname: a\ndescription: \"d (x: y) z\"\n---\nA\n",
    );
}

#[test]
fn patterns_under_a_key_that_no_agent_has_are_the_paths_that_were_meant() {
    let text = |key: &str, value: &str| format!("---\n{key}: {value}\n---\nText\n");
    for value in ["src/**", "\"src/**, *.md\""] {
        check(".claude/rules/a.md", &text("scope", value), &text("paths", value));
    }
    for value in ["backend", "src/app", "\"*\"", "all files in src/**", "https://x.y/**"] {
        check(".claude/rules/a.md", &text("scope", value), &text("scope", value));
    }
    check(".claude/rules/a.md", &text("exclude", "dist/**"), &text("exclude", "dist/**"));
    let both = "---\nscope: src/**\npaths: docs/**\n---\nText\n";
    check(".claude/rules/a.md", both, both);
}

#[test]
fn values_are_quoted_and_keys_renamed_if_the_agent_then_does_what_was_meant() {
    check(
        ".clinerules/a.md",
        "---\ndescription: DB: x\n---\nText\n",
        "---\ndescription: \"DB: x\"\n---\nText\n",
    );
    check(".claude/rules/a.md", "---\nglobs: src/**\n---\nText\n", "---\npaths: src/**\n---\nText\n");
    check(".clinerules/a.md", "---\nglobs: src/**\n---\nText\n", "---\npaths: [\"src/**\"]\n---\nText\n");
    // `paths` counts, so the other key is not needed.
    let both = "---\npaths: src/**\nglobs: lib/**\n---\nText\n";
    check(".claude/rules/a.md", both, both);
}

#[test]
fn a_pattern_that_no_file_can_match_is_not_written() {
    let text = "---\nglobs: /**/*.\n---\nText\n";
    check(".continue/rules/a.md", text, text);
}

#[test]
fn a_header_that_stays_invalid_is_not_changed() {
    for text in [
        "---\npaths: ['src/**', lib/**]\nname: [a\n---\nText\n",
        "---\npaths:\n  - /src/**\nname: {a\n---\nText\n",
        "---\npaths:\n  - /src/**\nname: a\tb\n---\nText\n```\n",
        "---\npaths: /src/**\nglobs: /src/**\nname: a\nname: b\n---\nText\n",
    ] {
        for path in [".qwen/rules/a.md", ".clinerules/a.md", ".continue/rules/a.md"] {
            check(path, text, text);
        }
    }
}

#[test]
fn a_key_that_the_agent_ignores_today_gets_no_effect() {
    let text = "---\nglobs: src/**\nalwaysAply: true\n---\nText\n";
    check(".cursor/rules/a.mdc", text, text);
}

/// Pseudorandom numbers, the same in every run.
struct Numbers(u64);

impl Numbers {
    fn pick<'t>(&mut self, list: &[&'t str]) -> &'t str {
        list[self.below(list.len())]
    }

    fn below(&mut self, end: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).unwrap() % end
    }
}

const PATTERNS: &[&str] = &[
    "/**/*.ts",
    "./src/**",
    "/src/**/*.{ts,tsx}",
    "*.ts",
    "/**/*.",
    "**/*.ts,**/*.tsx",
    "src/, lib/",
    "src/** lib/**",
    "[src/**, /lib/**]",
    "[\"/src/**\", '*.ts']",
    "[*.ts, src/**",
    "[\"src/**\",]",
    "\"src/**\",",
    "src/**,",
    "\"*.ts",
    "'/a/**', '/b/**'",
    "\n  - /src/**\n  - *.ts",
    "\n  - './a/'",
    "\n- src/**\n- lib/**",
    "\n  - src/**,\n  - \"lib/**\"",
    "\n  src/**\n  lib/**",
    "{src,lib}/**",
    "{\"a\":\"b\"}",
    "!/src/**",
    "/*: x",
    "",
    "[]",
    "3",
    "true",
    "null",
    "src/** # note",
    "@src/**",
    "\"**/*.ts\", src",
    "|\n  src/**\n  lib/**",
    "\"src\\d/**\"",
    "**",
];

const TEXTS: &[&str] = &[
    "what it is for",
    "yes: no",
    "DB: x",
    "\"x",
    "'it''s'",
    "it's: 'so'",
    "[a",
    "{a",
    "\"a\", b",
    "*bold* text",
    "@team: read",
    "a # b",
    "> \n",
    "|\n  a: b",
    "\"a \\d\"",
    "- a",
    "`code`: x",
    "true",
    "a\tb",
    "x:",
];

/// A header with several lines, each of which may be wrong.
fn header(numbers: &mut Numbers, origin: &Origin) -> String {
    let format = origin.format;
    let mut lines = Vec::new();
    for _ in 0..=numbers.below(4) {
        let mode = format.modes.map_or("trigger", |modes| modes.key);
        let words: Vec<&str> =
            format.mode_words().into_iter().chain(["Glob", "file-match", "always-on"]).collect();
        lines.push(match numbers.below(8) {
            0..=2 => {
                let key = numbers.pick(&[format.paths_key, format.paths_key, "globs", "paths", "globz"]);
                format!("{key}: {}", numbers.pick(PATTERNS))
            }
            3 | 4 => format!("description: {}", numbers.pick(TEXTS)),
            5 => format!("alwaysApply: {}", numbers.pick(&["true", "false", "\"true\"", "no", ""])),
            6 => format!("{mode}: {}", numbers.pick(&words)),
            _ => format!(
                "{}: {}",
                numbers.pick(&["name", "tags", "alwaysAply", "author"]),
                numbers.pick(TEXTS)
            ),
        });
    }
    let lines = lines.join("\n");
    let body = numbers.pick(&["Text\n", "Text\n", "# Title\n\n```ts\nlet a;\n"]);
    match numbers.below(12) {
        0 => format!("---\n{lines}\n---# Title\n{body}"),
        1 => format!("---\n{lines}\n\n{body}"),
        2 => format!("---\n{lines}\n---\n{body}").replace('\n', "\r\n"),
        3 => format!("\u{feff}---\n{lines}\n---\n{body}"),
        4 => format!("\n---\n{lines}\n---\n\n{body}"),
        _ => format!("---\n{lines}\n---\n{body}"),
    }
}

/// A file in every folder that some format reads.
fn places() -> impl Iterator<Item = String> {
    FORMATS.iter().flat_map(|format| format.workspace).filter_map(|place| match place.shape {
        PlaceKind::Folder { files: Files::Ending(ends), .. } => Some(format!("{}/a.{}", place.path, ends[0])),
        _ => None,
    })
}

/// How many headers are generated for each place.
const CASES: usize = 40;

/// The laws of fixing, over every place of every format and generated headers.
#[test]
fn fixes_are_valid_run_once_and_lead_every_agent_towards_what_was_meant() {
    let mut numbers = Numbers(17);
    let mut count = 0;
    for path in places() {
        let readers = readers(&path);
        for _ in 0..CASES {
            let before = header(&mut numbers, &readers.meant[0]);
            let Some(after) = fix(&before, &readers, &[]) else { continue };
            count += 1;
            check_fixed(&path, &before, &after, &readers);
        }
    }
    assert!(count > 3 * CASES, "only {count} fixes");
}

/// Compares with what the author meant before the fix, so that a fix cannot justify itself.
#[track_caller]
fn check_fixed(path: &str, before: &str, after: &str, readers: &Readers) {
    let case = format!("{path}\n{before}\n=>\n{after}");
    assert_eq!(fix(after, readers, &[]), None, "the second run changes something: {case}");
    let reach = if readers.meant[0].format.unquoted { Tier::Quoted } else { Tier::Yaml };
    assert!(!matches!(frontmatter::read(after, reach).header, Header::Broken), "not valid: {case}");
    let views = |text: &str| {
        let own = |(_, origin): &(&Agent, Origin)| parse(source(origin, text));
        readers.agents.iter().map(own).collect::<Vec<_>>()
    };
    let [meant, still] = [before, after].map(|text| parse_leniently(source(&readers.meant[0], text)));
    let (then, now) = (views(before), views(after));
    let paths = probe::paths(then.iter().chain(&now).chain([&meant, &still]));
    let reach = |parsed: &Parsed| Reach::of(parsed, &paths).0;
    let goal = reach(&meant);
    assert_eq!(goal, reach(&still), "another meaning: {case}");
    for ((then, now), (agent, origin)) in then.iter().zip(&now).zip(&readers.agents) {
        let (then, now) = (reach(then), reach(now));
        let lost = then.iter().zip(&now).zip(&goal).filter(|((then, now), goal)| now < then && now < goal);
        // Patterns mean something else in another dialect.
        let has_dialect = origin.format.dialect != readers.meant[0].format.dialect;
        let is_always = then.iter().all(|level| *level == Level::Applied);
        if lost.count() > 0 {
            assert!(has_dialect && is_always, "{} is further from what was meant: {case}", agent.name);
            assert!(now.contains(&Level::Applied), "{} lost the rule: {case}", agent.name);
        }
        for ((then, now), goal) in then.iter().zip(&now).zip(&goal) {
            assert!(now <= then.max(goal), "{} is wider than meant: {case}", agent.name);
        }
    }
}
