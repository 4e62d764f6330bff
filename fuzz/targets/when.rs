//! The key of a condition, then its value, in particular `when` expressions: it is read and evaluated.
#![no_main]

use libfuzzer_sys::fuzz_target;
use rulebook::evaluate::{Audience, evaluate};
use rulebook::evidence::{Evidence, Seen, Via};
use rulebook::format::Format;
use rulebook::parse::parse;
use rulebook::resolve::{Switches, resolve};
use rulebook_fuzz::rule_file;

fuzz_target!(|data: &str| {
    let Some((key, value)) = data.split_once('\n') else { return };
    if !key.bytes().all(|byte| byte.is_ascii_lowercase()) {
        return;
    }
    // JSON strings are valid YAML.
    let text = format!("---\n{key}: {}\n---\nbody", serde_json::Value::from(value));
    let format = Format::named("rulebook").expect("the table has it");
    let book = resolve([parse(rule_file(format, text)).entry], &Switches::default());
    let evidence = Evidence {
        paths: vec![Seen { path: "src/a.ts".to_owned(), root: 0, sources: vec![Via::Mention] }],
        mode: Some("act".to_owned()),
        message: Some("fix the parser".to_owned()),
        branch: Some("main".to_owned()),
        ..Evidence::default()
    };
    let _ = evaluate(&book, &evidence, Audience::any());
    let _ = evaluate(&book, &Evidence::default(), Audience::any());
});
