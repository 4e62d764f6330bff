//! A trigger, then a stream, as text and as tool arguments: any chunks give the same hits.
#![no_main]

use libfuzzer_sys::fuzz_target;
use rulebook::evidence::{Root, Roots};
use rulebook::format::Format;
use rulebook::parse::{Entry, parse};
use rulebook::stream::arguments::Arguments;
use rulebook::stream::{StreamKind, Monitor};
use rulebook_fuzz::rule_file;

fuzz_target!(|data: &[u8]| {
    let Some(end) = data.iter().position(|byte| *byte == b'\n') else { return };
    let (Ok(pattern), stream) = (std::str::from_utf8(&data[..end]), &data[end + 1..]) else { return };
    let cut = data.len() % 7 + 1;
    let mut arguments = Arguments::default();
    let _ = arguments.feed(stream, &mut |_| ()).and_then(|()| arguments.finish(&mut |_| ()));

    let text = format!("---\ncondition: {}\n---\nbody", serde_json::Value::from(pattern));
    let format = Format::named("rulebook").expect("the table has it");
    let Entry::Rule(rule) = parse(rule_file(format, text)).entry else { return };
    let roots =
        Roots { roots: vec![Root { name: "r".to_owned(), path: "/r".to_owned(), aliases: Vec::new() }], home: None };
    for kind in [StreamKind::Text, StreamKind::Tool("edit".to_owned())] {
        let run = |size: usize| {
            let mut monitor = Monitor::new(rule.stream_rule(), roots.clone());
            let mut hits = Vec::new();
            for chunk in stream.chunks(size.max(1)) {
                hits.extend(monitor.feed("s", &kind, chunk));
            }
            hits.extend(monitor.finish("s"));
            let gave_up = monitor.gave_up().count() > 0;
            (hits.iter().map(|hit| hit.text.clone()).collect::<Vec<_>>(), gave_up)
        };
        let ((whole, gave_up), (cut, cut_gave_up)) = (run(stream.len()), run(cut));
        if !gave_up && !cut_gave_up {
            assert_eq!(whole, cut);
        }
    }
});
