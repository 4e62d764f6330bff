//! Any text as a host's evidence and as a message: it is collected within the limits.
#![no_main]

use libfuzzer_sys::fuzz_target;
use rulebook::evidence::{Input, Root, Roots, collect};

fuzz_target!(|text: &str| {
    let roots = Roots {
        roots: vec![Root { name: "r".to_owned(), path: "/r".to_owned(), aliases: Vec::new() }],
        home: Some("/home/you".to_owned()),
    };
    let exists = |_: usize, path: &str| path.len() % 3 == 0;
    if let Ok((input, _)) = Input::from_json(text) {
        assert!(collect(&input, &roots, &exists).0.paths.len() <= 100);
    }
    let input = Input { message: Some(text.to_owned()), ..Input::default() };
    assert!(collect(&input, &roots, &exists).0.paths.len() <= 100);
});
