//! A remote document: its rules are read like files, and what is wrong with it is told.
#![no_main]

use libfuzzer_sys::fuzz_target;
use rulebook::format::{FETCHED, Format, parse};
use rulebook::source::{Origin, Scope, Source};
use rulebook_workspace::remote::read_document;

fuzz_target!(|text: &str| {
    let Ok((rules, faults)) = read_document(text) else { return };
    assert!(rules.len() <= 1000 && faults.len() <= 11);
    for rule in rules {
        let display = rulebook::hidden::visible_line(&rule.name).into_owned();
        assert!(!display.contains('\n'));
        let format = Format::named("remote").expect("the table has it");
        let origin = Origin {
            format,
            place: &FETCHED,
            scope: Scope::Remote,
            display,
            path: "/c".to_owned(),
            root: 0,
            folder: String::new(),
            inner: rule.name,
        };
        parse(Source { origin, text: Ok(rule.contents) });
    }
});
