use super::*;
use crate::diagnostic::Code;

/// The tier with the fields as `key=value`, and the body.
fn read_all(text: &str, reach: Tier) -> (String, &str) {
    let reading = read(text, reach);
    let header = match &reading.header {
        Header::Absent => "absent".to_owned(),
        Header::Broken => "broken".to_owned(),
        Header::Read { fields, tier } => {
            let fields: Vec<String> =
                fields.iter().map(|field| format!("{}={}", field.key, plain(&field.node))).collect();
            format!("{tier:?}: {}", fields.join(" "))
        }
    };
    (header, reading.body)
}

fn plain(node: &Node) -> String {
    match &node.value {
        Value::Null => "null".to_owned(),
        Value::Bool(value) => value.to_string(),
        Value::Int(value) => value.to_string(),
        Value::Float(value) => value.clone(),
        Value::Text(value) => format!("{value:?}"),
        Value::List(items) => format!("[{}]", items.iter().map(plain).collect::<Vec<_>>().join(" ")),
        Value::Map(fields) => {
            format!(
                "{{{}}}",
                fields.iter().map(|f| format!("{}={}", f.key, plain(&f.node))).collect::<Vec<_>>().join(" ")
            )
        }
    }
}

#[track_caller]
fn check(text: &str, header: &str, body: &str) {
    assert_eq!(read_all(text, Tier::Lines), (header.to_owned(), body), "{text:?}");
}

#[test]
fn valid_yaml_is_read() {
    check("---\na: 1\nb: [x, 'y z']\n---\nbody\n", "Yaml: a=1 b=[\"x\" \"y z\"]", "body\n");
    check("---\na:\n  b: true\n---\n", "Yaml: a={b=true}", "");
    check("---\n---\nbody", "Yaml: ", "body");
    check("---\n# only a comment\n---\nbody", "Yaml: ", "body");
    check("--- \na: 1\n---\t\nbody", "Yaml: a=1", "body");
    check("\u{feff}\n\n---\na: 1\n---\nbody", "Yaml: a=1", "body");
    check("---\r\na: 1\r\n---\r\nbody\r\n", "Yaml: a=1", "body\r\n");
    check("---\na: !!str 1\n---\n", "Yaml: a=\"1\"", "");
    check("---\na: |\n  ---\n  x\n---\nbody", "Yaml: a=\"---\\nx\\n\"", "body");
}

#[test]
fn a_file_without_a_header_is_all_body() {
    check("", "absent", "");
    check("body", "absent", "body");
    check("---", "absent", "---");
    check("----\na: 1\n----\n", "absent", "----\na: 1\n----\n");
    check(" ---\na: 1\n---\n", "absent", " ---\na: 1\n---\n");
    check("# Title\n---\na: 1\n---\n", "absent", "# Title\n---\na: 1\n---\n");
    check("\u{feff}body", "absent", "body");
}

#[test]
fn text_that_looks_like_a_header_is_reported() {
    #[track_caller]
    fn check(text: &str, reported: &str) {
        let problems = read(text, Tier::Lines).problems;
        assert_eq!(problems.first().map_or("", |problem| &text[problem.span.clone()]), reported, "{text:?}");
    }
    check("----\nglobs: a\n----\n", "globs: a");
    check(" ---\n  paths: a\n", "paths: a");
    check("<!-- x -->\n# T\n---\ntrigger: glob\n---\n", "trigger: glob");
    check("{\"alwaysApply\": true}", "{\"alwaysApply\": true}");
    check("+++\ndescription = 'x'\n", "description = 'x'");
    check("---\\nglobs: a", "---\\nglobs: a");
    check("text\n---\nglobs: a\n---\n", "");
    check("# T\n\ntext: more\n", "");
    check(&"\n".repeat(99), "");
}

#[test]
fn unquoted_values_are_read_as_written() {
    check("---\nglobs: *.ts,*.tsx\n---\n", "Quoted: globs=\"*.ts,*.tsx\"", "");
    check("---\nglobs: !**/x\n---\n", "Quoted: globs=\"!**/x\"", "");
    check("---\nglobs: {a,b}/**\n---\n", "Quoted: globs=\"{a,b}/**\"", "");
    check("---\nglobs: [*.rs, *.toml]\n---\n", "Quoted: globs=[\"*.rs\" \"*.toml\"]", "");
    check("---\nglobs: [ab]*\n---\n", "Quoted: globs=\"[ab]*\"", "");
    check("---\nglobs:\n- **/*.ts\n- 'b'\n---\n", "Quoted: globs=[\"**/*.ts\" \"b\"]", "");
    check("---\nglobs: *.ts # why\nb: 2\n---\n", "Quoted: globs=\"*.ts\" b=2", "");
    check("---\ndescription: a: b\n---\n", "Quoted: description=\"a: b\"", "");
    check("---\ndescription: é: ß\nglobs: *.ts\n---\n", "Quoted: description=\"é: ß\" globs=\"*.ts\"", "");
    check(
        "---\ndescription: |\n  a: *b\nglobs: *.ts\n---\n",
        "Quoted: description=\"a: *b\\n\" globs=\"*.ts\"",
        "",
    );
    check("---\nglobs: *.ts\nalwaysApply: true\n---\n", "Quoted: globs=\"*.ts\" alwaysApply=true", "");
    check("---\nx: @scope/**\n---\n", "Quoted: x=\"@scope/**\"", "");
}

#[test]
fn a_fence_with_text_on_its_line_is_separated() {
    check("---\na: 1\n---# Title\nbody", "Fenced: a=1", "# Title\nbody");
    check("---\nglobs: *.ts\n---\\\nbody", "Fenced: globs=\"*.ts\"", "\\\nbody");
    check("---\na: 1\n---# Title\nbody\n\n---\nmore", "Fenced: a=1", "# Title\nbody\n\n---\nmore");
}

#[test]
fn invalid_yaml_is_read_line_by_line() {
    check("---\na: [x\nb: true\nc: 3\nd: 'q'\ne:\n---\n", "Lines: a=\"[x\" b=true c=3 d=\"q\"", "");
    check("---\na: [x\ng:\n  - *.ts\n  - b\n---\n", "Lines: a=\"[x\" g=[\"*.ts\" \"b\"]", "");
    check("---\na: 1\nb: 2\n\n# body", "Lines: a=1 b=2", "\n# body");
    check("---\nnot a header\n", "broken", "---\nnot a header\n");
}

#[test]
fn tiers_beyond_the_permitted_one_are_not_used() {
    #[track_caller]
    fn check(text: &str, reach: Tier, header: &str) {
        assert_eq!(read_all(text, reach).0, header, "{text:?}");
    }
    check("---\ng: *.ts\n---\n", Tier::Yaml, "broken");
    check("---\na: 1\n---# T\n", Tier::Quoted, "broken");
    check("---\na: [x\n---\n", Tier::Fenced, "broken");
    check("---\na: 1\n", Tier::Fenced, "broken");
    check("---\n---\n---\na: 1\n---\n", Tier::Yaml, "Yaml: ");
}

#[test]
fn spans_cover_the_written_text() {
    for text in [
        "---\nkey: value\n---\n",
        "---\nkey: *value\n---\n",
        "\u{feff}---\r\nkey: 'value'\r\n---\r\n",
        "---\nkey: [bad\n---\n",
        "---\n\u{a0}key: [bad\n---\n",
    ] {
        let Header::Read { fields, .. } = read(text, Tier::Lines).header else { panic!("{text:?}") };
        assert_eq!(&text[fields[0].key_span.clone()], "key", "{text:?}");
        let written = &text[fields[0].node.span.clone()];
        assert!(["value", "*value", "'value'", "[bad"].contains(&written), "{written:?}");
    }
}

#[test]
fn anchors_and_oversized_headers_are_rejected() {
    #[track_caller]
    fn check(header: &str, code: Code) {
        let text = format!("---\n{header}\n---\n");
        let reading = read(&text, Tier::Yaml);
        assert_eq!(reading.header, Header::Broken);
        assert_eq!(reading.problems[0].code, code);
    }
    check("a: &x [1]", Code::HeaderAnchor);
    check("a: *x", Code::HeaderAnchor);
    check("a: &x 1\nb: *x", Code::HeaderAnchor);
    check("<<: {a: 1}", Code::HeaderAnchor);
    check(&"[".repeat(100_000), Code::HeaderTooLarge);
    check(&"[".repeat(20_000), Code::HeaderTooDeep);
    check(&"- ".repeat(20_000), Code::HeaderTooDeep);
    check(&format!("a: {}", "{a: ".repeat(40)), Code::HeaderTooDeep);
}

/// Keys, values and spans for comparison. The spans of lists are left out: the YAML parser ends them differently.
fn summary(fields: &[Field]) -> Vec<String> {
    let spans = |node: &Node| match &node.value {
        Value::List(items) => items.iter().map(|item| item.span.clone()).collect(),
        _ => vec![node.span.clone()],
    };
    let shown = |field: &Field| {
        format!("{} {:?} {} {:?}", field.key, field.key_span, plain(&field.node), spans(&field.node))
    };
    fields.iter().map(shown).collect()
}

#[track_caller]
fn compare(header: &str) -> bool {
    let Some(simple) = simple::read(header, 0..header.len()) else { return false };
    let mut problems = Vec::new();
    let yaml = yaml::parse(header, 0..header.len(), &[], &mut problems).map_err(|problem| problem.message);
    assert_eq!(Ok(summary(&simple)), yaml.map(|fields| summary(&fields)), "{header:?}");
    assert!(problems.is_empty());
    true
}

#[test]
fn the_simple_reader_agrees_with_yaml() {
    for header in [
        "paths:\n  - \"apps/web/**\"\n  - 'b'\n",
        "paths: [\"a/**\", b, 3]\nmode: act\n",
        "description: Some words, and more\nglobs: src/**/*.ts,lib/**\nalwaysApply: true\npriority: 50\n",
        "a: []\nb:   x  \r\nc: \"\"\n",
        "list:\n- a\n- b\nnext: 1\n",
    ] {
        assert!(compare(header), "{header:?} is simple");
    }
    let others = [
        "a: b: c",
        "a: *b",
        "a:",
        "a: 'it''s'",
        "a: \"x\\n\"",
        "a: [\"x, y\"]",
        "a: b # c",
        "a: x\n  y",
        "a: é",
        "a: 1\na: 2",
        "a:b",
        "- a",
        "a:\n  - x\n - y",
        "a: [x",
        "a: -x",
        "a: {b: c}",
    ];
    for header in others {
        assert!(!compare(&format!("{header}\n")), "{header:?} is not simple");
    }
}

proptest::proptest! {
    #![proptest_config(proptest::test_runner::Config { cases: 4096, ..Default::default() })]

    #[test]
    fn the_simple_reader_agrees_with_yaml_on_any_header(
        header in "(((a|b_c|D9)(: |:  |:)([ -~]{0,6}|[a-z][ -~]{0,8}|\\[[ -~]{0,8}\\]|\"[ -~]{0,5}\"|'[ -~]{0,5}')|( |  )?- ?[ -~]{0,6}|[ -~]{0,5})(\n|\r\n| \n)){0,5}"
    ) {
        compare(&header);
    }

    #[test]
    fn no_text_panics_and_no_body_is_lost(text in "(---\n|: |- |\\PC|\n|\r|\u{feff}|[*&!{}\\[\\]\"'#|>]|key: ){0,40}") {
        for reach in [Tier::Yaml, Tier::Quoted, Tier::Fenced, Tier::Lines] {
            let reading = read(&text, reach);
            proptest::prop_assert!(text.ends_with(reading.body));
            proptest::prop_assert_eq!(&text[reading.body_start..], reading.body);
        }
    }
}
