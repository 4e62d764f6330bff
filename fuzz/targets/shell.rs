//! A shell line: what it runs, what it touches, and whether that changes what governs an agent.
#![no_main]

use libfuzzer_sys::fuzz_target;
use rulebook::evidence::ToolCall;
use rulebook::guard::Governed;
use rulebook::shell::parse;

fuzz_target!(|line: &str| {
    let script = parse(line);
    for command in &script.commands {
        let _ = (command.name(), command.line(), command.files());
    }
    let governed = Governed {
        local: vec![".claude/settings.json".to_owned(), "rulebook.toml".to_owned()],
        absolute: vec!["/home/me/.claude".to_owned()],
        roots: vec!["/repo".to_owned()],
        home: Some("/home/me".to_owned()),
    };
    let call = |command: String| ToolCall {
        name: "Bash".to_owned(),
        command: Some(command),
        ..ToolCall::default()
    };
    governed.threats(&call(line.to_owned()), &|_| None);
    // Nothing before a command hides it.
    let forbidden = format!("echo x > rulebook.toml\n{line}");
    assert!(!governed.threats(&call(forbidden), &|_| None).is_empty());
});
