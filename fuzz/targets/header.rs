//! Any text as a header in every tier: all spans are within the text.
#![no_main]

use libfuzzer_sys::fuzz_target;
use rulebook::frontmatter::{Header, Program, Tier, read, read_raw};

fuzz_target!(|text: &str| {
    for tier in [Tier::Yaml, Tier::Native(Program::ClaudeCode), Tier::Native(Program::CopilotCli), Tier::Native(Program::QwenCode), Tier::Quoted, Tier::Fenced, Tier::Lines] {
        let reading = read(text, tier);
        assert!(text.is_char_boundary(reading.body_start) && text[reading.body_start..].ends_with(reading.body));
        if let Header::Read { fields, .. } = &reading.header {
            for field in fields {
                assert!(text.get(field.key_span.clone()).is_some());
            }
        }
    }
    read_raw(text);
});
