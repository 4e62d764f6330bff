//! The table of attacks.

use super::*;

#[test]
fn no_attack_is_silent() {
    let governed = Governed {
        local: [".claude", ".rulebook", "rulebook.toml", "agents.md"].map(str::to_owned).to_vec(),
        absolute: ["/home/me/.claude", "/usr/local/bin/rulebook", "/home/me/.local/state/rulebook"]
            .map(str::to_owned)
            .to_vec(),
        roots: vec!["/repo".to_owned()],
        home: Some("/home/me".to_owned()),
    };
    let table = include_str!("../../tests/guard/attacks.tsv");
    let rows = table.lines().filter(|row| !row.starts_with('#'));
    let rows: Vec<Vec<&str>> = rows.map(|row| row.splitn(3, '\t').collect()).collect();
    let mut wrong = Vec::new();
    for row in &rows {
        let [verdict, tool, about] = row[..] else { panic!("{row:?}") };
        let about = about.replace("\\n", "\n");
        let mut call = ToolCall { name: tool.to_owned(), pending: true, ..ToolCall::default() };
        match tool {
            "Bash" => call.command = Some(about.clone()),
            "apply_patch" => call.input = Some(about.clone().into()),
            _ => call.paths = vec![about.clone()],
        }
        let found = match governed.threats(&call, &|_| None).iter().map(|threat| threat.truth).max() {
            Some(Truth::Yes) => "stopped",
            Some(_) => "unknown",
            None => "free",
        };
        if found != verdict {
            wrong.push(format!("{tool} {about}: {found}, wanted {verdict}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(rows.iter().filter(|row| row[0] != "free").count() >= 140);
}

#[test]
fn links_are_followed() {
    let governed = Governed {
        local: vec![".rulebook".to_owned(), "claude.md".to_owned()],
        roots: vec!["/repo".to_owned()],
        ..Governed::default()
    };
    let real = |path: &str| {
        let links = [("lnk", "/repo/CLAUDE.md"), ("/repo/lnk", "/repo/CLAUDE.md"), ("ld", "/repo/.rulebook")];
        let lead = |(link, to): &(&str, &str)| {
            let rest = path.strip_prefix(link).filter(|rest| rest.is_empty() || rest.starts_with('/'))?;
            Some(format!("{to}{rest}"))
        };
        links.iter().find_map(lead)
    };
    let threats = |call: &ToolCall| {
        let found = governed.threats(call, &real).into_iter().filter(|one| one.truth == Truth::Yes);
        found.map(|one| one.what).collect::<Vec<_>>()
    };
    for (path, what) in [
        ("lnk", &["lnk -> /repo/CLAUDE.md"][..]),
        ("/repo/lnk", &["/repo/lnk -> /repo/CLAUDE.md"]),
        ("ld/rules/a.md", &["ld/rules/a.md -> /repo/.rulebook/rules/a.md"]),
        ("CLAUDE.md", &["CLAUDE.md"]),
        ("other", &[]),
    ] {
        let call = ToolCall {
            name: "Write".to_owned(),
            pending: true,
            paths: vec![path.to_owned()],
            ..ToolCall::default()
        };
        assert_eq!(threats(&call), what, "{path}");
    }
    let linked = Governed { absolute: vec!["/repo/d/r.md".to_owned()], ..governed.clone() };
    for (path, is_threat) in [
        ("d/r.md", true),
        ("/repo/d/r.md", true),
        ("./d/../d/r.md", true),
        ("d/x.md", false),
        ("e/d/r.md", false),
    ] {
        let call = ToolCall {
            name: "Write".to_owned(),
            pending: true,
            paths: vec![path.to_owned()],
            ..ToolCall::default()
        };
        assert_eq!(!linked.threats(&call, &|_| None).is_empty(), is_threat, "{path}");
    }
    for (line, is_threat) in [
        ("echo x > lnk", true),
        ("sed -i s/a/b/ lnk", true),
        ("rm ld/rules/a.md", true),
        ("rm ld/rules/*.md", true),
        ("rm -rf ld/$X", true),
        ("cd ld/rules && rm a.md", true),
        ("for f in lnk; do echo x > \"$f\"; done", true),
        ("cat lnk > other", false),
        ("rm other/a.md", false),
    ] {
        let command = Some(line.to_owned());
        let call = ToolCall { name: "Bash".to_owned(), pending: true, command, ..ToolCall::default() };
        assert_eq!(!threats(&call).is_empty(), is_threat, "{line}");
    }
}
