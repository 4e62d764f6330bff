//! A remote document: its rules are parsed like files, and its problems are reported.
#![no_main]

use libfuzzer_sys::fuzz_target;
use rulebook::format::FormatId;
use rulebook::parse::parse;
use rulebook::source::Source;
use rulebook_workspace::remote::read_document;

fuzz_target!(|text: &str| {
    let Ok((rules, problems)) = read_document(text) else { return };
    assert!(rules.len() <= 1000 && problems.len() <= 11);
    for rule in rules {
        let display = rulebook::hidden::visible_line(&rule.name).into_owned();
        assert!(!display.contains('\n'));
        let _ = parse(Source::text(FormatId::Remote, &display, rule.contents));
    }
});
