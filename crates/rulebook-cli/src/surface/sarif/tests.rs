//! Reports are held to SARIF 2.1.0 (OASIS standard, 27 March 2020): every code, with every kind of location.

use std::collections::BTreeSet;

use rulebook::diagnostic::{CODES, Diagnostic, Fix, Severity};
use rulebook::evidence::{Root, Roots};
use serde_json::{Value, json};

use super::report;

/// What a property holds.
enum Holds {
    Text,
    /// An absolute URI.
    Uri,
    UriReference,
    /// An integer, at least this.
    Number(i64),
    Word(&'static [&'static str]),
    Object(&'static str),
    List(&'static str),
    /// A list that is not empty.
    Items(&'static str),
    /// An object whose properties may have any name.
    Map(&'static Holds),
}
use Holds::{Items, List, Map, Number, Object, Text, Uri, UriReference, Word};

const LEVELS: Holds = Word(&["none", "note", "warning", "error"]);
const REQUIRED: bool = true;
const OPTIONAL: bool = false;

/// The objects of the standard that reports use, each with its section and its properties. The standard has more of both: a
/// report that uses more fails until they are added here.
type Properties = &'static [(&'static str, bool, Holds)];
const STANDARD: &[(&str, &str, Properties)] = &[
    (
        "sarifLog",
        "3.13",
        &[
            ("$schema", OPTIONAL, Uri),
            ("version", REQUIRED, Word(&["2.1.0"])),
            ("runs", REQUIRED, List("run")),
        ],
    ),
    (
        "run",
        "3.14",
        &[
            ("tool", REQUIRED, Object("tool")),
            ("columnKind", OPTIONAL, Word(&["utf16CodeUnits", "unicodeCodePoints"])),
            ("originalUriBaseIds", OPTIONAL, Map(&Object("artifactLocation"))),
            ("results", OPTIONAL, List("result")),
        ],
    ),
    ("tool", "3.18", &[("driver", REQUIRED, Object("toolComponent"))]),
    (
        "toolComponent",
        "3.19",
        &[
            ("name", REQUIRED, Text),
            ("version", OPTIONAL, Text),
            ("informationUri", OPTIONAL, Uri),
            ("rules", OPTIONAL, List("reportingDescriptor")),
        ],
    ),
    (
        "reportingDescriptor",
        "3.49",
        &[
            ("id", REQUIRED, Text),
            ("shortDescription", OPTIONAL, Object("multiformatMessageString")),
            ("help", OPTIONAL, Object("multiformatMessageString")),
            ("helpUri", OPTIONAL, Uri),
            ("defaultConfiguration", OPTIONAL, Object("reportingConfiguration")),
        ],
    ),
    ("multiformatMessageString", "3.12", &[("text", REQUIRED, Text)]),
    ("reportingConfiguration", "3.50", &[("level", OPTIONAL, LEVELS)]),
    (
        "result",
        "3.27",
        &[
            ("ruleId", OPTIONAL, Text),
            ("ruleIndex", OPTIONAL, Number(0)),
            ("level", OPTIONAL, LEVELS),
            ("message", REQUIRED, Object("message")),
            ("locations", OPTIONAL, List("location")),
            ("partialFingerprints", OPTIONAL, Map(&Text)),
            ("fixes", OPTIONAL, List("fix")),
        ],
    ),
    // 3.11.8: a message has a text, or the id of one; reports have no ids.
    ("message", "3.11", &[("text", REQUIRED, Text)]),
    ("location", "3.28", &[("physicalLocation", OPTIONAL, Object("physicalLocation"))]),
    // 3.29.3: a location has a file, or an address in memory.
    (
        "physicalLocation",
        "3.29",
        &[("artifactLocation", REQUIRED, Object("artifactLocation")), ("region", OPTIONAL, Object("region"))],
    ),
    // 3.4.3: a file has a URI, or an index into `artifacts`, which reports do not have.
    ("artifactLocation", "3.4", &[("uri", REQUIRED, UriReference), ("uriBaseId", OPTIONAL, Text)]),
    (
        "region",
        "3.30",
        &[
            ("startLine", OPTIONAL, Number(1)),
            ("startColumn", OPTIONAL, Number(1)),
            ("endColumn", OPTIONAL, Number(1)),
            ("byteOffset", OPTIONAL, Number(0)),
            ("byteLength", OPTIONAL, Number(0)),
        ],
    ),
    (
        "fix",
        "3.55",
        &[
            ("description", OPTIONAL, Object("message")),
            ("artifactChanges", REQUIRED, Items("artifactChange")),
        ],
    ),
    (
        "artifactChange",
        "3.56",
        &[
            ("artifactLocation", REQUIRED, Object("artifactLocation")),
            ("replacements", REQUIRED, Items("replacement")),
        ],
    ),
    (
        "replacement",
        "3.57",
        &[
            ("deletedRegion", REQUIRED, Object("region")),
            ("insertedContent", OPTIONAL, Object("artifactContent")),
        ],
    ),
    ("artifactContent", "3.3", &[("text", OPTIONAL, Text)]),
];

impl Holds {
    fn check(&self, value: &Value, at: &str, faults: &mut Vec<String>) {
        let is_valid = match self {
            Text => value.is_string(),
            Uri => value.as_str().is_some_and(|uri| is_absolute(uri) && is_reference(uri)),
            UriReference => value.as_str().is_some_and(is_reference),
            Number(least) => value.as_i64().is_some_and(|number| number >= *least),
            Word(words) => value.as_str().is_some_and(|word| words.contains(&word)),
            Object(name) => return check_object(name, value, at, faults),
            List(name) | Items(name) => value.as_array().is_some_and(|items| {
                for (nth, item) in items.iter().enumerate() {
                    check_object(name, item, &format!("{at}/{nth}"), faults);
                }
                matches!(self, List(_)) || !items.is_empty()
            }),
            Map(holds) => value.as_object().is_some_and(|fields| {
                fields.iter().for_each(|(key, value)| holds.check(value, &format!("{at}/{key}"), faults));
                true
            }),
        };
        if !is_valid {
            faults.push(format!("{at}: {value}"));
        }
    }
}

fn is_absolute(uri: &str) -> bool {
    uri.split_once(':').is_some_and(|(scheme, _)| scheme.bytes().all(|byte| byte.is_ascii_lowercase()))
}

/// RFC 3986: only its characters, everything else as `%XX`, and no colon in the first segment of a relative path.
fn is_reference(uri: &str) -> bool {
    let mut pieces = uri.split('%');
    let is_plain = |text: &str| {
        text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-._~:/?#[]@!$&'()*+,;=".contains(&byte))
    };
    let is_escaped =
        |piece: &str| piece.get(..2).is_some_and(|digits| u8::from_str_radix(digits, 16).is_ok());
    let first = uri.split('/').next().unwrap_or_default();
    !uri.is_empty()
        && pieces.next().is_some_and(is_plain)
        && pieces.all(|piece| is_escaped(piece) && is_plain(piece))
        && (is_absolute(uri) || !first.contains(':'))
}

fn check_object(name: &str, value: &Value, at: &str, faults: &mut Vec<String>) {
    let (_, section, properties) = STANDARD.iter().find(|(known, ..)| *known == name).unwrap();
    let Some(fields) = value.as_object() else {
        return faults.push(format!("{at}: not an object ({section})"));
    };
    for (key, value) in fields {
        match properties.iter().find(|(known, ..)| known == key) {
            Some((.., holds)) => holds.check(value, &format!("{at}/{key}"), faults),
            None => faults.push(format!("{at}: unknown property `{key}` ({section})")),
        }
    }
    for (key, ..) in
        properties.iter().filter(|(key, is_required, _)| *is_required && !fields.contains_key(*key))
    {
        faults.push(format!("{at}: no `{key}` ({section})"));
    }
}

/// What in a report is against the standard.
fn faults(report: &Value) -> Vec<String> {
    let mut faults = Vec::new();
    check_object("sarifLog", report, "", &mut faults);
    let run = &report["runs"][0];
    let (rules, bases) = (&run["tool"]["driver"]["rules"], &run["originalUriBaseIds"]);
    let ids: BTreeSet<&str> =
        rules.as_array().into_iter().flatten().filter_map(|rule| rule["id"].as_str()).collect();
    if ids.len() != rules.as_array().map_or(0, Vec::len) {
        faults.push("two rules with one id".to_owned());
    }
    for base in bases.as_object().into_iter().flat_map(|bases| bases.values()) {
        // 3.14.14.
        if !base["uri"].as_str().is_some_and(|uri| is_absolute(uri) && uri.ends_with('/')) {
            faults.push(format!("not the URI of a folder: {base}"));
        }
    }
    for (nth, result) in run["results"].as_array().into_iter().flatten().enumerate() {
        // 3.27.6.
        let index =
            result["ruleIndex"].as_u64().and_then(|index| usize::try_from(index).ok()).unwrap_or_default();
        if rules[index]["id"] != result["ruleId"] {
            faults.push(format!("{nth}: `ruleIndex` is not the index of `ruleId`"));
        }
        let place = &result["locations"][0]["physicalLocation"];
        let changed = &result["fixes"][0]["artifactChanges"][0]["artifactLocation"];
        for file in [&place["artifactLocation"], changed].into_iter().filter(|file| !file.is_null()) {
            // 3.4.4: relative to a known base, or absolute.
            let is_relative = !file["uri"].as_str().is_some_and(is_absolute);
            if is_relative != file["uriBaseId"].as_str().is_some_and(|base| !bases[base].is_null()) {
                faults.push(format!("{nth}: {file}"));
            }
        }
        // 3.30.8: the end is exclusive.
        if place["region"]["endColumn"].as_u64() <= place["region"]["startColumn"].as_u64() {
            faults.push(format!("{nth}: an empty region"));
        }
    }
    faults
}

fn roots(names: &[&str]) -> Roots {
    let root = |name: &&str| Root {
        name: (*name).to_owned(),
        path: format!("/wörk space/{name}"),
        aliases: Vec::new(),
    };
    Roots { roots: names.iter().map(root).collect(), home: Some("/home/some one".to_owned()) }
}

/// Every code, about a file as a whole, a place in it, and a place that can be fixed.
fn diagnostics(path: &str) -> Vec<Diagnostic> {
    let text = "---\nglobs: *.ts é😀\n---\n";
    let of = |code| {
        let place = Diagnostic::at(code, path, text, 11..19, "a \"message\" \u{202e} with é\nand a line")
            .help("try {this}")
            .severity(Severity::Note);
        let fix = Fix { start: 11, end: 15, replacement: "\"*.ts\"\n\0".to_owned() };
        let mut fixable = place.clone();
        fixable.fix = Some(fix);
        [Diagnostic::whole(code, path, ""), place, fixable]
    };
    CODES.iter().flat_map(|row| of(row.code)).collect()
}

#[test]
fn a_report_of_every_code_and_location_follows_the_standard() {
    for (names, path) in [
        (&["one"][..], ".rulebook/rules/a b%,:é?#[x].md"),
        (&["one"], "a:b.md"),
        (&["one"], "~/.cursor/rules/own file.mdc"),
        (&["one"], "/elsewhere/ä.md"),
        (&["one", "two"], "two/rulebook.toml"),
        (&["one", "two"], "one/a b.md"),
        (&["one", "two"], "rulebook.toml"),
    ] {
        let diagnostics = diagnostics(path);
        let report = report(&roots(names), &diagnostics);
        assert_eq!(faults(&report), [""; 0], "{path}");
        let results = report["runs"][0]["results"].as_array().unwrap();
        let codes: BTreeSet<&str> = results.iter().filter_map(|result| result["ruleId"].as_str()).collect();
        assert_eq!((results.len(), codes.len()), (diagnostics.len(), CODES.len()));
    }
    assert_eq!(faults(&report(&roots(&["one"]), &[])), [""; 0]);
}

#[test]
fn a_location_is_relative_to_its_root_or_absolute() {
    #[track_caller]
    fn check(names: &[&str], path: &str, want: &Value) {
        let report = report(&roots(names), &diagnostics(path)[..1]);
        let location = &report["runs"][0]["results"][0]["locations"][0]["physicalLocation"];
        assert_eq!(&location["artifactLocation"], want);
    }
    let odd = json!({ "uri": "rules/a%20b%25%2C%3A%C3%A9.md", "uriBaseId": "%SRCROOT%" });
    check(&["one"], "rules/a b%,:é.md", &odd);
    check(
        &["one", "two"],
        "two/.clinerules/all.md",
        &json!({ "uri": ".clinerules/all.md", "uriBaseId": "two" }),
    );
    check(&["one"], "~/.cursor/own.mdc", &json!({ "uri": "file:///home/some%20one/.cursor/own.mdc" }));
    check(&["one"], "/etc/x.md", &json!({ "uri": "file:///etc/x.md" }));
}

#[test]
fn a_fix_replaces_bytes() {
    let report = report(&roots(&["one"]), &diagnostics("a.md")[2..3]);
    let change = &report["runs"][0]["results"][0]["fixes"][0]["artifactChanges"][0]["replacements"][0];
    assert_eq!(change["deletedRegion"], json!({ "byteOffset": 11, "byteLength": 4 }));
    assert_eq!(change["insertedContent"], json!({ "text": "\"*.ts\"\n\0" }));
}

#[test]
fn a_report_against_the_standard_is_found_out() {
    #[track_caller]
    fn check(pointer: &str, change: impl Fn(&mut Value), want: &str) {
        let mut report = report(&roots(&["one"]), &diagnostics("a.md"));
        change(report.pointer_mut(pointer).unwrap());
        let found = faults(&report);
        assert!(found.iter().any(|fault| fault.contains(want)), "{found:?}");
    }
    let remove =
        |key: &'static str| move |value: &mut Value| drop(value.as_object_mut().unwrap().remove(key));
    let set = |key: &'static str, to: Value| move |value: &mut Value| value[key] = to.clone();
    check("", remove("version"), "no `version`");
    check("", set("version", json!("2.0")), "/version");
    check("/runs/0", set("columnKind", json!("bytes")), "/columnKind");
    check("/runs/0/originalUriBaseIds/%SRCROOT%", set("uri", json!("file:///w")), "URI of a folder");
    check("/runs/0/tool/driver/rules/1", set("id", json!(CODES[0].name)), "two rules");
    let result = "/runs/0/results/2";
    check(result, set("nope", json!(1)), "unknown property `nope`");
    check(result, set("level", json!("notice")), "/level");
    check(result, set("message", json!({})), "no `text`");
    check(result, set("ruleIndex", json!(1)), "`ruleIndex`");
    check(&format!("{result}/fixes/0"), remove("artifactChanges"), "no `artifactChanges`");
    check(&format!("{result}/fixes/0"), set("artifactChanges", json!([])), "/artifactChanges");
    let place = format!("{result}/locations/0/physicalLocation");
    check(&format!("{place}/region"), set("startLine", json!(0)), "/startLine");
    check(&format!("{place}/region"), set("endColumn", json!(8)), "empty region");
    check(&format!("{place}/artifactLocation"), set("uri", json!("a b")), "/uri");
    check(&format!("{place}/artifactLocation"), set("uriBaseId", json!("two")), "two");
}
