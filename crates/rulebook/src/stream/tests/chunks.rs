//! How a stream is split does not matter, and the monitor finds what a search of the whole finds.

use proptest::prelude::*;
use serde_json::Value;

use super::*;

/// Arguments of a tool: nested objects, some of which name files.
fn arguments() -> impl Strategy<Value = Value> {
    let file =
        prop::sample::select(vec!["a.ts", "gen/b.ts", "src/c.rs", "/repo/d.ts", " "]).prop_map(Value::from);
    let text = "(foo|\n| |o|é|\"|x){0,6}".prop_map(Value::from);
    let named = (
        "(path|file_path|filename)",
        prop_oneof![file.clone(), prop::collection::vec(file, 0..3).prop_map(Value::from)],
    );
    let leaf = prop_oneof![text, Just(Value::Null), any::<bool>().prop_map(Value::from)];
    let inner = leaf.prop_recursive(4, 40, 5, move |inner| {
        let field = ("(new|old|edits)[01]?", inner.clone());
        let object = prop::collection::vec(prop_oneof![3 => field, 1 => named.clone()], 0..5);
        prop_oneof![
            prop::collection::vec(inner, 0..4).prop_map(Value::from),
            object.prop_map(|fields| Value::Object(fields.into_iter().collect())),
        ]
    });
    inner
        .prop_filter("arguments are objects or arrays", |value| value.is_object() || value.is_array())
        .prop_filter("what an edit keeps is no hit, and is tested with edits", |value| !keeps_a_match(value))
}

/// Whether an object has what a rule of the property below matches both in its old and in its new text.
fn keeps_a_match(value: &Value) -> bool {
    fn has(value: &Value, text: &str) -> bool {
        match value {
            Value::String(own) => own.contains(text),
            Value::Array(items) => items.iter().any(|item| has(item, text)),
            Value::Object(fields) => fields.values().any(|item| has(item, text)),
            _ => false,
        }
    }
    match value {
        Value::Array(items) => items.iter().any(keeps_a_match),
        Value::Object(fields) => {
            let both = fields.get("old").zip(fields.get("new"));
            let is_kept =
                |(old, new)| ["foo", "é", "o\n"].iter().any(|text| has(old, text) && has(new, text));
            both.is_some_and(is_kept) || fields.values().any(keeps_a_match)
        }
        _ => false,
    }
}

/// What the rules of the property below find in a value, by a direct search: `rule field end file`.
fn search<'v>(
    value: &'v Value,
    path: &str,
    around: &mut Vec<&'v serde_json::Map<String, Value>>,
    out: &mut Vec<String>,
) {
    match value {
        Value::Null => {}
        Value::Array(items) => {
            for (index, item) in items.iter().enumerate() {
                search(item, &format!("{path}[{index}]"), around, out);
            }
        }
        Value::Object(fields) => {
            around.push(fields);
            for (key, item) in fields {
                let dot = if path.is_empty() { "" } else { "." };
                search(item, &format!("{path}{dot}{key}"), around, out);
            }
            around.pop();
        }
        leaf => {
            let text = leaf.as_str().map_or_else(|| leaf.to_string(), str::to_owned);
            let files = around
                .iter()
                .rev()
                .map(|object| named_in(object))
                .find(|files| !files.is_empty())
                .unwrap_or_default();
            let file = |fits: &dyn Fn(&str) -> bool| files.iter().find(|file| fits(file)).cloned();
            let end = |pattern: &str| regex::Regex::new(pattern).unwrap().shortest_match(&text);
            let is_new = path.ends_with("new");
            let key = path.rsplit('.').next().unwrap().split('[').next().unwrap();
            let is_written = !matches!(key, "old" | "path" | "file_path" | "filename");
            for (rule, end, file, gated) in [
                ("free", end(r"(?-u:\b)foo(?-u:\b)"), None, false),
                (
                    "gated",
                    end(r"o+\n"),
                    file(&|file| file.ends_with(".ts") && !file.starts_with("gen/")),
                    true,
                ),
                ("scoped", end("foo|é"), file(&|file| file.ends_with(".rs")), true),
                ("field", end("foo").filter(|_| is_new), None, false),
            ] {
                let is_watched = is_written || rule == "field";
                if let Some(end) = end.filter(|_| is_watched && (!gated || file.is_some())) {
                    out.push(format!("{rule} {path} {end} {file:?}"));
                }
            }
        }
    }
}

/// The files that an object names itself.
fn named_in(object: &serde_json::Map<String, Value>) -> Vec<String> {
    fn texts(value: &Value) -> Vec<&str> {
        match value {
            Value::String(text) => vec![text],
            Value::Array(items) => items.iter().flat_map(texts).collect(),
            _ => vec![],
        }
    }
    let named = object.iter().filter(|(key, _)| matches!(key.as_str(), "path" | "file_path" | "filename"));
    let names = named.flat_map(|(_, value)| texts(value)).filter(|name| !name.trim().is_empty());
    names.map(|name| name.strip_prefix("/repo/").unwrap_or(name).to_owned()).collect()
}

proptest! {
    #[test]
    fn any_split_gives_the_hits_of_the_whole(
        text in "(foo|bar|new Map|per|é|\n|\r\n| |a|b|\\{|\\}|var|\"|x){0,40}",
        sizes in prop::collection::vec(1usize..9, 1..20),
    ) {
        let rules = [
            rule("word", r"\bnew\s+Map\b", ""),
            rule("lines", r"(?m)^foo[^\n]*bar$", ""),
            rule("end", r"bar$", ""),
            rule("class", r"[éa]{2,3}", ""),
            rule("lazy", r"foo[\s\S]*?var", ""),
            rule("around", r"foo(?!bar)", ""),
        ];
        let wire = serde_json::json!({ "path": "x.ts", "content": text }).to_string();
        for (kind, bytes) in [(StreamKind::Text, text.as_bytes()), (StreamKind::Tool("edit".to_owned()), wire.as_bytes())] {
            let sorted = |mut hits: Vec<Hit>| {
                hits.sort_by(|a, b| (&a.rule, a.start).cmp(&(&b.rule, b.start)));
                shown(&hits)
            };
            let whole = sorted(run(&rules, &kind, &[bytes]));
            let mut chunks = Vec::new();
            let mut rest = bytes;
            for size in sizes.iter().cycle() {
                if rest.is_empty() {
                    break;
                }
                let (chunk, more) = rest.split_at((*size).min(rest.len()));
                chunks.push(chunk);
                rest = more;
            }
            prop_assert_eq!(sorted(run(&rules, &kind, &chunks)), whole);
        }
    }

    #[test]
    fn a_call_gives_the_hits_of_a_search_in_each_decoded_string(value in arguments(), sizes in prop::collection::vec(1usize..9, 1..20)) {
        let rules = [
            rule("free", r"\bfoo\b", ""),
            rule("gated", r"o+\n", "globs: ['**/*.ts', '!gen/**']\n"),
            rule("scoped", "foo|é", "scope: tool:edit(*.rs)\n"),
            rule("field", "foo", "scope: 'tool:edit.*new'\n"),
        ];
        let mut wanted = Vec::new();
        search(&value, "", &mut vec![], &mut wanted);
        wanted.sort();
        for wire in [value.to_string(), serde_json::to_string_pretty(&value).unwrap()] {
            let mut rest = wire.as_bytes();
            let chunks: Vec<&[u8]> = sizes.iter().cycle().map_while(|size| rest.split_off(..(*size).min(rest.len()))).take_while(|chunk| !chunk.is_empty()).collect();
            let hits = run(&rules, &StreamKind::Tool("edit".to_owned()), &chunks);
            let mut found: Vec<String> = hits
                .iter()
                .map(|hit| format!("{} {} {} {:?}", hit.rule, hit.field.as_ref().unwrap(), hit.end, hit.file))
                .collect();
            found.sort();
            prop_assert_eq!(&found, &wanted, "{}", wire);
        }
    }

    #[test]
    fn the_monitor_finds_the_same_as_a_search_of_the_whole_text(text in "(foo|bar|new Map|per|\n| |a|b|x){0,25}") {
        for pattern in ["foo", r"(?-u:\b)foo(?-u:\b)", "a+b", "bar$", "(?m)^b", "foo|bar", "x{2}", "(?s)foo.*bar"] {
            let written = pattern.replace("(?-u:\\b)", "\\b");
            let hits = run(&[rule("r", &written, "")], &StreamKind::Text, &[text.as_bytes()]);
            let ends: Vec<usize> = hits.iter().map(|hit| hit.end).collect();
            let earliest = regex::bytes::Regex::new(pattern).unwrap().shortest_match(text.as_bytes());
            prop_assert_eq!(ends, earliest.into_iter().collect::<Vec<_>>(), "{}", pattern);
        }
    }
}

proptest! {
    #[test]
    fn no_hit_starts_below_the_settled_offset(
        text in "[abfo \\n]{0,60}",
        cuts in prop::collection::vec(1usize..6, 0..60),
        condition in prop::sample::select(vec![
            "foo", "fo+b?", r"\bfoo\b", "a[ab ]*b", r"o\s+f", "(?m)^b.*a$", "a{2,4}f", r"foo[\s\S]*ba",
            r"foo(?!b)", r"(?<=a)fo+", r"(o|f)\1 ",
        ]),
    ) {
        let rules = [rule("r", condition, ""), rule("other", "bab", "")];
        let mut watching = monitor(&rules);
        let (mut rest, mut cuts, mut settled) = (text.as_bytes(), cuts.into_iter().cycle(), 0);
        let mut looks = Vec::new();
        while !rest.is_empty() {
            let (piece, more) = rest.split_at(cuts.next().unwrap_or(3).min(rest.len()));
            rest = more;
            for hit in watching.feed("s", &StreamKind::Text, piece) {
                prop_assert!(hit.start >= settled, "{:?} below {}", hit, settled);
            }
            let now = watching.settled("s");
            prop_assert!(now >= settled && now <= text.len() - rest.len());
            settled = now;
            looks.push((text.len() - rest.len(), now));
        }
        for hit in watching.finish("s") {
            prop_assert!(hit.start >= settled, "{:?} below {}", hit, settled);
        }
        // Single bytes give the same settled offsets.
        let mut single = monitor(&rules);
        for (at, byte) in text.bytes().enumerate() {
            single.feed("s", &StreamKind::Text, &[byte]);
            let now = single.settled("s");
            if let Some((_, wanted)) = looks.iter().find(|(len, _)| *len == at + 1) {
                prop_assert_eq!(now, *wanted);
            }
        }
    }
}
