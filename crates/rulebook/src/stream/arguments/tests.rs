//! Any split of the bytes gives the same fields with the same text.

use std::fmt::Write;

use proptest::prelude::*;
use serde_json::Value;

use super::*;
use crate::stream::tests::sizes;

/// All leaves, one line each with path and text; then the error.
fn read<'a>(chunks: impl IntoIterator<Item = &'a [u8]>) -> String {
    let (mut arguments, mut shown) = (Arguments::default(), Shown::default());
    let mut fed = Ok(());
    for chunk in chunks {
        let (before, earlier) = (shown.text.len(), fed);
        fed = arguments.feed(chunk, &mut |piece| shown.take(piece));
        assert!(earlier.is_ok() || (fed == earlier && shown.text.len() == before), "malformed is final");
    }
    let finished = arguments.finish(&mut |piece| shown.take(piece));
    assert_eq!(finished, fed);
    assert_eq!(arguments.finish(&mut |piece| panic!("{piece:?} after the end")), finished);
    assert_eq!((shown.is_open, shown.depth), (false, 0), "finish closes");
    shown.text
        + &finished.map_or_else(|malformed| format!("malformed at {}\n", malformed.at), |()| String::new())
}

#[derive(Default)]
struct Shown {
    text: String,
    is_open: bool,
    depth: usize,
}

impl Shown {
    fn take(&mut self, piece: Piece<'_>) {
        assert_eq!(self.is_open, matches!(piece, Piece::Text(_) | Piece::Close), "{piece:?}");
        match piece {
            Piece::Enter => self.depth += 1,
            Piece::Leave => self.depth = self.depth.checked_sub(1).expect("entered"),
            Piece::Open { path, key } => {
                assert!(path.contains(key));
                self.is_open = true;
                write!(self.text, "{path:?} = \"").unwrap();
            }
            Piece::Text(text) => {
                assert!(!text.is_empty());
                self.text.push_str(&escape(text));
            }
            Piece::Close => {
                self.is_open = false;
                self.text.push_str("\"\n");
            }
        }
    }
}

/// Escapes each character separately: `str::escape_debug` treats the first character of a text differently.
fn escape(text: &str) -> String {
    text.chars().flat_map(char::escape_debug).collect()
}

fn cut(bytes: &[u8], sizes: &[usize]) -> Vec<Vec<u8>> {
    let (mut rest, mut chunks) = (bytes, Vec::new());
    for size in sizes.iter().cycle().take(bytes.len()) {
        let (chunk, after) = rest.split_at((*size).min(rest.len()));
        chunks.push(chunk.to_vec());
        rest = after;
    }
    chunks.push(rest.to_vec());
    chunks
}

fn read_cut(bytes: &[u8], sizes: &[usize]) -> String {
    let chunks = cut(bytes, sizes);
    read(chunks.iter().map(Vec::as_slice))
}

#[track_caller]
fn check_bytes(bytes: &[u8], wanted: &str) {
    let shown = read([bytes]);
    assert_eq!(shown.trim_end().replace('\n', " | "), wanted, "{}", bytes.escape_ascii());
    assert_eq!(read_cut(bytes, &[1]), shown, "byte by byte");
    for at in 0..bytes.len() {
        assert_eq!(read([&bytes[..at], &bytes[at..]]), shown, "cut at {at}");
    }
}

#[track_caller]
fn check(json: &str, wanted: &str) {
    check_bytes(json.as_bytes(), wanted);
}

#[test]
fn the_path_of_a_field_is_reported() {
    check(r#"{"command":"ls"}"#, r#""command" = "ls""#);
    check(
        r#"{"edits":[{"old":"a","new":"b"},{"new":"c"}]}"#,
        r#""edits[0].old" = "a" | "edits[0].new" = "b" | "edits[1].new" = "c""#,
    );
    check(r#"{"a":{"b":{"c":"x"}},"d":"y"}"#, r#""a.b.c" = "x" | "d" = "y""#);
    check(r#"["a",["b"],{"c":"d"}]"#, r#""[0]" = "a" | "[1][0]" = "b" | "[2].c" = "d""#);
    check(r#" "top" "#, r#""" = "top""#);
    check(r#"{"":{"":"x"}}"#, r#""." = "x""#);
    check(r#"{"a.b":"x","\u0061\n\ud83d\ude00":"y"}"#, r#""a.b" = "x" | "a\n😀" = "y""#);
    check(r#"{"a":"x","a":"y"}"#, r#""a" = "x" | "a" = "y""#);
    check(r#"{"a":[],"b":{},"c":""}"#, r#""c" = """#);
}

#[test]
fn nested_objects_and_keys_are_reported() {
    let mut seen = String::new();
    let json = br#"{"a":"1","b":[{"a.b":["2",["3"]]},"4"],"":{"":"5"}}"#;
    let emit = &mut |piece: Piece<'_>| match piece {
        Piece::Enter => seen.push('{'),
        Piece::Leave => seen.push('}'),
        Piece::Open { key, .. } => write!(seen, "{key}=").unwrap(),
        Piece::Text(text) => seen.push_str(text),
        Piece::Close => seen.push(' '),
    };
    Arguments::default().feed(json, emit).unwrap();
    assert_eq!(seen, "a=1 {a.b=2 a.b=3 }b=4 {=5 }");
}

#[test]
fn numbers_and_literals_are_fields_but_null_is_not() {
    check(
        "[1,-0.5e+10,true,false,null,0]",
        r#""[0]" = "1" | "[1]" = "-0.5e+10" | "[2]" = "true" | "[3]" = "false" | "[5]" = "0""#,
    );
    check("12", r#""" = "12""#);
    check("12 ", r#""" = "12""#);
    check("null", "");
    check(" \t\r\n", "");
    check("{ \"a\" :\n[ 1 , 2 ] }\r\n", r#""a[0]" = "1" | "a[1]" = "2""#);
}

#[test]
fn strings_are_decoded() {
    check(r#""\"\\\/\b\f\n\r\t\u00e9\uD83D\uDE00""#, r#""" = "\"\\/\u{8}\u{c}\n\r\té😀""#);
    check("\"é😀\u{7f}\"", r#""" = "é😀\u{7f}""#);
    // Lone surrogates.
    check(r#""\ud83d""#, r#""" = "�""#);
    check(r#""\ud83dx\ude00""#, r#""" = "�x�""#);
    check(r#""\ud83d\n\ud83d\ud83d\ude00""#, r#""" = "�\n�😀""#);
    check(r#""\ud83dé\ud83d\u0041""#, r#""" = "�é�A""#);
}

#[test]
fn invalid_utf8_is_replaced_as_in_std() {
    for bytes in [
        &b"\xff"[..],
        b"\xe2\x82",
        b"\xe2\x82A",
        b"\xf0\x80\x80",
        b"\xed\xa0\x80",
        b"\xf0\x9f\x98\xf0\x9f\x98\x80",
        b"\x80\xc3",
    ] {
        let wanted = format!("\"\" = \"{}\"", escape(&String::from_utf8_lossy(bytes)));
        check_bytes(&[b"\"", bytes, b"\""].concat(), &wanted);
    }
    check_bytes(b"\"\xe2\x82\\n\"", r#""" = "�\n""#);
    check_bytes(b"{\"\xc3\":1}", r#""�" = "1""#);
    check_bytes(b"\xff", "malformed at 0");
}

#[test]
fn truncated_arguments_are_closed() {
    check(r#"{"a":"x"#, r#""a" = "x""#);
    check(r#"{"a":"x\"#, r#""a" = "x""#);
    check(r#"{"a":"x\ud83d\ud"#, r#""a" = "x""#);
    check_bytes(b"\"x\xf0\x9f", r#""" = "x""#);
    check(r#"{"a":tr"#, r#""a" = "tr""#);
    check("[-1.", r#""[0]" = "-1.""#);
    check(r#"{"a"#, "");
}

#[test]
fn invalid_json_is_reported_at_its_first_invalid_byte() {
    check(r#"{"a":"x\q"}"#, r#""a" = "x" | malformed at 8"#);
    check(r#""\u00g0""#, r#""" = "" | malformed at 5"#);
    check("[1,]", r#""[0]" = "1" | malformed at 3"#);
    check("[01]", r#""[0]" = "0" | malformed at 2"#);
    check("[1.]", r#""[0]" = "1." | malformed at 3"#);
    check("[trux]", r#""[0]" = "tru" | malformed at 4"#);
    check("[nulx]", "malformed at 4");
    check("{,}", "malformed at 1");
    check(r#"{"a":1,}"#, r#""a" = "1" | malformed at 7"#);
    check(r#"{"a" 1}"#, "malformed at 5");
    check("{1:2}", "malformed at 1");
    check("[1}", r#""[0]" = "1" | malformed at 2"#);
    check("{}{}", "malformed at 2");
    check("]", "malformed at 0");
    check("1,2", r#""" = "1" | malformed at 1"#);
    check("+1", "malformed at 0");
}

/// Python reads them if it is not strict.
#[test]
fn control_characters_are_text() {
    check("{\"a\":\"x\ny\t\u{1}\"}", r#""a" = "x\ny\t\u{1}""#);
    check("{\"a\nb\":\"x\"}", r#""a\nb" = "x""#);
}

#[test]
fn depth_is_limited() {
    let deep = |depth: usize| "[".repeat(depth) + "1" + &"]".repeat(depth);
    assert_eq!(read([deep(MAX_DEPTH).as_bytes()]), format!("\"{}\" = \"1\"\n", "[0]".repeat(MAX_DEPTH)));
    assert_eq!(read([deep(MAX_DEPTH + 1).as_bytes()]), format!("malformed at {MAX_DEPTH}\n"));
    assert_eq!(read(["[".repeat(1 << 20).as_bytes()]), format!("malformed at {MAX_DEPTH}\n"));
}

#[test]
fn paths_are_limited() {
    let long = format!("{{\"{}\":{{\"b\":1}},\"c\":2}}", "é".repeat(5000));
    let shown = format!("\"{}\" = \"1\"\n\"c\" = \"2\"\n", "é".repeat(MAX_PATH / 2 - 1));
    assert_eq!(read([long.as_bytes()]), shown);
    assert_eq!(read_cut(long.as_bytes(), &[1]), shown);
}

#[test]
fn long_strings_are_not_kept() {
    let mut arguments = Arguments::default();
    arguments.feed(b"{\"a\":\"", &mut |_| {}).unwrap();
    for _ in 0..1000 {
        arguments.feed("é\\n\\ud83d\\ude00".repeat(100).as_bytes(), &mut |_| {}).unwrap();
    }
    assert!(format!("{arguments:?}").len() < 1000, "{arguments:?}");
}

/// The leaves that serde_json reads, in the format of [`read`].
fn walk(value: &Value, path: &str, depth: usize, shown: &mut String) {
    match value {
        Value::Null => {}
        Value::String(text) => writeln!(shown, "{path:?} = \"{}\"", escape(text)).unwrap(),
        Value::Bool(_) | Value::Number(_) => writeln!(shown, "{path:?} = \"{value}\"").unwrap(),
        Value::Array(items) => {
            for (index, item) in items.iter().enumerate() {
                walk(item, &format!("{path}[{index}]"), depth + 1, shown);
            }
        }
        Value::Object(fields) => {
            for (key, item) in fields {
                let dot = if depth > 0 { "." } else { "" };
                walk(item, &format!("{path}{dot}{key}"), depth + 1, shown);
            }
        }
    }
}

fn string() -> impl Strategy<Value = String> {
    let character = prop_oneof![
        any::<char>(),
        prop::sample::select(vec!['"', '\\', '/', '\n', '\0', '\u{1f}', '.', '[', 'é', '€', '😀', 'a']),
    ];
    prop::collection::vec(character, 0..8).prop_map(String::from_iter)
}

fn value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        string().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        any::<bool>().prop_map(Value::from),
        Just(Value::Null),
    ];
    leaf.prop_recursive(5, 40, 6, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..6).prop_map(Value::from),
            prop::collection::vec((string(), inner), 0..6)
                .prop_map(|fields| Value::Object(fields.into_iter().collect())),
        ]
    })
}

/// Writes every character outside ASCII as an escape, as some providers do.
fn escaped(json: &str) -> String {
    let mut units = [0; 2];
    json.chars().fold(String::new(), |mut out, character| {
        if character.is_ascii() {
            out.push(character);
        } else {
            for unit in character.encode_utf16(&mut units) {
                write!(out, "\\u{unit:04x}").unwrap();
            }
        }
        out
    })
}

/// Pieces of JSON in any order, often almost valid.
fn soup() -> impl Strategy<Value = String> {
    let token = prop::sample::select(vec![
        "{", "}", "[", "]", ",", ":", "\"", "\"a\"", "\"k\":", "\\n", "\\u0041", "\\q", "1", "0", "-", ".",
        "5e", "+2", "true", "fal", "se", "null", "n", " ", "\n", "é", "{\"a\":", "[1,", "\"x\",",
    ]);
    prop::collection::vec(token, 0..14).prop_map(|tokens| tokens.concat())
}

proptest! {
    #[test]
    fn any_value_is_decoded_in_any_chunks(value in value(), sizes in sizes()) {
        let mut wanted = String::new();
        walk(&value, "", 0, &mut wanted);
        let compact = value.to_string();
        let pretty = serde_json::to_string_pretty(&value).unwrap();
        for json in [&compact, &pretty, &escaped(&compact)] {
            prop_assert_eq!(&read_cut(json.as_bytes(), &sizes), &wanted);
        }
    }

    #[test]
    fn a_truncated_value_gives_the_start_of_the_whole(value in value(), sizes in sizes()) {
        let json = value.to_string();
        let whole = read([json.as_bytes()]);
        for end in 0..json.len() {
            let shown = read([&json.as_bytes()[..end]]);
            prop_assert_eq!(&read_cut(&json.as_bytes()[..end], &sizes), &shown);
            prop_assert!(whole.starts_with(shown.strip_suffix("\"\n").unwrap_or(&shown)));
        }
    }

    #[test]
    fn serde_json_agrees_on_what_is_valid(json in soup()) {
        // Control characters may be in strings here.
        let json = json.replace('\n', " ");
        let shown = read([json.as_bytes()]);
        let is_malformed = shown.contains("malformed");
        let wanted = serde_json::from_str::<Value>(&json).is_err_and(|error| !error.is_eof());
        prop_assert_eq!(is_malformed, wanted, "{}", json);
    }

    #[test]
    fn any_bytes_give_the_same_result_in_any_chunks(bytes in any::<Vec<u8>>(), soup in soup(), sizes in sizes()) {
        for bytes in [&bytes[..], soup.as_bytes(), &[b"{\"a\":\"", &bytes[..], b"\"}"].concat()] {
            prop_assert_eq!(read_cut(bytes, &sizes), read([bytes]));
        }
    }

    #[test]
    fn any_invalid_utf8_is_replaced_as_in_std(bytes in prop::collection::vec(0x80u8.., 0..12), sizes in sizes()) {
        let wanted = format!("\"\" = \"{}\"\n", escape(&String::from_utf8_lossy(&bytes)));
        prop_assert_eq!(read_cut(&[b"\"", &bytes[..], b"\""].concat(), &sizes), wanted);
    }
}
