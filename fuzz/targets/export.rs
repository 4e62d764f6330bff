//! The number of a target, then a rule file: its copy is read as the proof says, and a block can be added and taken out again.
#![no_main]

use libfuzzer_sys::fuzz_target;
use rulebook::export::{Blocks, Meant, TARGETS, block, draft};
use rulebook::format::FORMATS;
use rulebook::parse::{Entry, parse};
use rulebook_fuzz::rule_file;

fuzz_target!(|data: &[u8]| {
    let [of, to, text @ ..] = data else { return };
    let Ok(text) = std::str::from_utf8(text) else { return };
    let format = &FORMATS[usize::from(*of) % FORMATS.len()];
    let target = &TARGETS[usize::from(*to) % TARGETS.len()];
    let Entry::Rule(rule) = parse(rule_file(format, text.to_owned())).entry else { return };
    if let Ok(draft) = draft(&Meant::of(&rule), target, "a", "a.md") {
        assert!(!draft.path.starts_with('/') && !draft.path.contains(".."), "{}", draft.path);
    }
    let new = block("a.md", text);
    let with = Blocks::of(text).with("a.md", &new);
    assert!(with.contains(&new));
    if Blocks::of(text).get("a.md").is_none() && !text.contains("of a.md") {
        assert_eq!(Blocks::of(&with).get("a.md"), Some(new.as_str()));
        assert_eq!(Blocks::of(&with).without("a.md"), text);
    }
});
