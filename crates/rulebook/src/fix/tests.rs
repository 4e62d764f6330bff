use super::*;
use crate::agent::AGENTS;
use crate::format::{FORMATS, Format, Place};

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

/// The laws of fixing, over every place of every agent and many headers.
#[test]
fn fixes_are_never_wider_than_meant_and_run_once() {
    let values = [
        "/**/*.ts",
        "./src/**",
        "/src/**/*.{ts,tsx}",
        "*.ts",
        "**/*.ts,**/*.tsx",
        "src/, lib/",
        "[src/**, /lib/**]",
        "[\"/src/**\", '*.ts']",
        "[*.ts, src/**",
        "\"*.ts",
        "'/a/**', '/b/**'",
        "\n  - /src/**\n  - *.ts",
        "\n  - './a/'",
        "{src,lib}/**",
        "!/src/**",
        "/*: x",
        "",
        "[]",
        "3",
        "true",
        "src/** # note",
        "@src/**",
        "\"**/*.ts\", src",
    ];
    let shapes: &[fn(&str, &str) -> String] = &[
        |key, value| format!("---\n{key}: {value}\n---\nText\n"),
        |key, value| format!("---\ndescription: a: b\n{key}: {value}\n---\nText\n"),
        |key, value| format!("---\r\n{key}: {value}\r\nalwaysApply: false\r\n---\r\nText\r\n"),
        |key, value| format!("---\n{key}: {value}\n---# Title\nText\n"),
        |key, value| format!("---\n{key}: {value}\n\nText\n"),
        |key, value| format!("---\ntrigger: Glob\ninclusion: file-match\n{key}: {value}\n---\nText\n"),
        |key, value| format!("---\nalwaysAply: true\n{key}: {value}\n---\nText\n"),
    ];
    let places = [
        ".cursor/rules/a.mdc",
        ".continue/rules/a.md",
        ".clinerules/a.md",
        ".kiro/steering/a.md",
        ".qwen/rules/a.md",
        ".claude/rules/a.md",
        ".github/instructions/a.instructions.md",
        ".windsurf/rules/a.md",
        ".rulebook/rules/a.md",
        ".opencode/rules/a.md",
        ".xcsh/rules/a.md",
        ".augment/rules/a.md",
        ".trae/rules/a.md",
    ];
    let mut count = 0;
    for path in places {
        let readers = readers(path);
        let keys = [readers.meant[0].format.paths_key, "globz"];
        let cases = keys.iter().flat_map(|key| {
            values.iter().flat_map(move |value| shapes.iter().map(move |shape| shape(key, value)))
        });
        // Every place gets other cases, and all of them together every case.
        for before in cases.skip(count % 3).step_by(3) {
            let Some(after) = fix(&before, &readers, &[]) else { continue };
            count += 1;
            assert_eq!(fix(&after, &readers, &[]), None, "{path}: {before} -> {after}");
            check_views(&before, &after, &readers);
        }
    }
    assert!(count > 300, "only {count} fixes");
}

/// No agent goes further than meant where it did not before, and none is further from it.
#[track_caller]
fn check_views(before: &str, after: &str, readers: &Readers) {
    let all =
        |text: &str| readers.agents.iter().map(|(_, origin)| parse(source(origin, text))).collect::<Vec<_>>();
    let meant = parse_leniently(source(&readers.meant[0], after));
    let (then, now) = (all(before), all(after));
    let paths = probe::paths(then.iter().chain(&now).chain([&meant]));
    let reach = |parsed: &Parsed| Reach::of(parsed, &paths);
    for ((then, now), (agent, _)) in then.iter().zip(&now).zip(&readers.agents) {
        assert!(reach(now).leads(&reach(then), &reach(&meant)), "{}: {before} -> {after}", agent.name);
    }
}
