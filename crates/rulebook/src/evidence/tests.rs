use super::*;

fn roots() -> Roots {
    Roots { roots: vec![Root { path: "/app".to_owned(), ..Root::default() }], home: None }
}

fn gather(json: &str) -> Evidence {
    let (input, diagnostics) = Input::from_json(json).unwrap();
    assert!(diagnostics.is_empty(), "{diagnostics:?}");
    collect(&input, &roots(), &|_, _| false).0
}

#[track_caller]
fn check(json: &str, wanted: &[&str]) {
    let seen: Vec<String> = gather(json)
        .paths
        .iter()
        .map(|seen| {
            format!(
                "{} {}",
                seen.path,
                seen.sources.iter().map(|via| via.name()).collect::<Vec<_>>().join("+")
            )
        })
        .collect();
    assert_eq!(seen, wanted, "{json}");
}

#[test]
fn the_sources_of_a_path_are_merged() {
    check(
        r#"{"openTabs": ["b", "a/x.ts"], "visibleEditors": ["/app/a/x.ts"], "modified": ["a\\x.ts"]}"#,
        &["a/x.ts modified+visible+tab", "b tab"],
    );
    check(
        r#"{"mentions": ["@src/a.ts", "@/src/b.ts", "src/c.ts"]}"#,
        &["src/a.ts mention", "src/b.ts mention", "src/c.ts mention"],
    );
    check(r#"{"openTabs": [".", "/app"]}"#, &[]);
    check(r#"{"paths": ["a.ts"], "openTabs": ["a.ts"]}"#, &["a.ts argument+tab"]);
}

#[test]
fn tool_targets_last_three_turns_and_written_files_the_task() {
    let tools = r#"[{"name":"read","path":"r1","turn":1},{"name":"read","path":"r2","turn":2},
                    {"name":"edit","path":"w1","turn":1},{"name":"edit","path":"w4","turn":4},
                    {"name":"write","path":"p","turn":4,"pending":true},{"name":"read","path":"r0"}]"#;
    check(
        &format!(r#"{{"tools": {tools}, "turn": 4}}"#),
        &["p tool", "r0 tool", "r2 tool", "w1 modified", "w4 tool+modified"],
    );
    check(
        &format!(r#"{{"tools": {tools}}}"#),
        &["p tool", "r0 tool", "r2 tool", "w1 modified", "w4 tool+modified"],
    );
}

#[test]
fn the_limit_keeps_the_first_source_and_the_newest_paths() {
    let tabs: Vec<String> = (0..150).map(|at| format!("\"t{at:03}\"")).collect();
    let evidence = gather(&format!(r#"{{"openTabs": [{}], "mentions": ["m"]}}"#, tabs.join(",")));
    assert_eq!((evidence.paths.len(), evidence.cut), (MAX_PATHS, 51));
    assert_eq!(evidence.paths[0].path, "m");
    assert_eq!(evidence.paths[1].path, "t051");
}

#[test]
fn only_current_tools_and_commands_count() {
    let evidence = gather(
        r#"{"tools": [{"name":"old","command":"ls","turn":1},{"name":"last","command":"cat","turn":3},
                      {"name":"next","command":"git push","turn":2,"pending":true}]}"#,
    );
    assert_eq!(evidence.tools, ["last", "next"]);
    assert_eq!(evidence.commands, ["git push"]);
}

#[test]
fn this_turns_paths_are_never_cut() {
    let old: Vec<String> =
        (0..150).map(|at| format!(r#"{{"name":"read","path":"old{at:03}","turn":3}}"#)).collect();
    let evidence = gather(&format!(
        r#"{{"tools": [{},{{"name":"read","path":"now","turn":4}}], "turn": 4, "message": "edit said.ts"}}"#,
        old.join(",")
    ));
    let paths: Vec<&str> = evidence.paths.iter().map(|seen| seen.path.as_str()).collect();
    assert_eq!((paths.len(), evidence.cut), (MAX_PATHS, 52));
    assert!(paths.contains(&"now") && paths.contains(&"said.ts") && paths.contains(&"old149"));
    assert!(!paths.contains(&"old000"));
}

#[test]
fn a_message_requests_rules() {
    let evidence =
        gather(r#"{"message": "rule://a and @b <reminder>@c</reminder>", "requested": ["rule://d"]}"#);
    assert_eq!(
        (evidence.requested, evidence.mentioned),
        (vec!["d".to_owned(), "a".to_owned()], vec!["b".to_owned()])
    );
    assert_eq!(evidence.message.as_deref(), Some("rule://a and @b "));
}
