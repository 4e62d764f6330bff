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
        let found = match governed.threats(&call).iter().map(|threat| threat.truth).max() {
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
