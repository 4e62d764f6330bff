//! The header of a syntax trigger, then a file name, then its text: nodes are in the text, and those that are found twice are the same.
#![no_main]

use libfuzzer_sys::fuzz_target;
use rulebook::format::FormatId;
use rulebook::parse::{Entry, parse};
use rulebook::source::Source;
use rulebook_syntax::Grammars;

fuzz_target!(|text: &str| {
    let Some((header, rest)) = text.split_once("\n---\n") else { return };
    let (file, code) = rest.split_once('\n').unwrap_or((rest, ""));
    let parsed = parse(Source::text(FormatId::Rulebook, "a.md", format!("---\n{header}\n---\nbody")));
    let Entry::Rule(rule) = parsed.entry else { return };
    for trigger in rule.stream.iter().flat_map(|stream| &stream.syntax) {
        let Some(grammar) = trigger.grammar(file) else { continue };
        let grammars = Grammars::default();
        let found = grammars.find(trigger, grammar, code);
        for node in found.iter().flatten() {
            assert!(code.get(node.range.clone()).is_some());
        }
        let again = grammars.find(trigger, grammar, code);
        assert_eq!(found.map(|all| all.len()).ok(), again.map(|all| all.len()).ok());
    }
});
