//! SARIF: what `check --format sarif` prints is held to the standard's own schema (`sarif/`, under its own licence).

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::process::Command;

use serde_json::{Value, json};

/// What is wrong with a value, by JSON Schema draft 4. A keyword that is not known here fails the test.
fn faults(schema: &Value, root: &Value, value: &Value, at: &str, found: &mut Vec<String>) {
    for (keyword, wanted) in schema.as_object().unwrap() {
        let is_fine = match keyword.as_str() {
            "$ref" => {
                let pointer = wanted.as_str().unwrap().strip_prefix('#').unwrap();
                faults(root.pointer(pointer).unwrap(), root, value, at, found);
                true
            }
            "type" => is_of(wanted.as_str().unwrap(), value),
            "enum" => wanted.as_array().unwrap().contains(value),
            "pattern" => value.as_str().is_none_or(|text| is_match(wanted.as_str().unwrap(), text)),
            "format" => match (wanted.as_str().unwrap(), value.as_str()) {
                ("uri", Some(text)) => is_match("^[a-z]+:[!-~]*$", text),
                ("uri-reference", Some(text)) => is_match("^[!-~]*$", text),
                ("date-time", _) | (_, None) => true,
                (other, _) => panic!("the format `{other}` is not checked here"),
            },
            "minimum" => value.as_i64().is_none_or(|number| number >= wanted.as_i64().unwrap()),
            "maximum" => value.as_f64().is_none_or(|number| number <= wanted.as_f64().unwrap()),
            "minItems" => value.as_array().is_none_or(|items| items.len() as u64 >= wanted.as_u64().unwrap()),
            "uniqueItems" => value
                .as_array()
                .is_none_or(|items| (1..items.len()).all(|nth| !items[..nth].contains(&items[nth]))),
            "required" => {
                let has = |key: &Value| value.get(key.as_str().unwrap()).is_some();
                !value.is_object() || wanted.as_array().unwrap().iter().all(has)
            }
            "items" => {
                for (nth, item) in value.as_array().into_iter().flatten().enumerate() {
                    faults(wanted, root, item, &format!("{at}/{nth}"), found);
                }
                true
            }
            "properties" => {
                for (key, schema) in wanted.as_object().unwrap() {
                    if let Some(inner) = value.get(key) {
                        faults(schema, root, inner, &format!("{at}/{key}"), found);
                    }
                }
                true
            }
            "additionalProperties" => {
                let known = |key: &str| schema["properties"].get(key).is_some();
                for (key, inner) in value.as_object().into_iter().flatten().filter(|(key, _)| !known(key)) {
                    match wanted {
                        Value::Bool(true) => {}
                        Value::Bool(false) => found.push(format!("{at}: `{key}` is not known")),
                        schema => faults(schema, root, inner, &format!("{at}/{key}"), found),
                    }
                }
                true
            }
            "anyOf" => fitting(wanted, root, value) > 0,
            "oneOf" => fitting(wanted, root, value) == 1,
            "$schema" | "id" | "title" | "description" | "default" | "definitions" => true,
            other => panic!("the keyword `{other}` is not checked here"),
        };
        if !is_fine {
            found.push(format!("{at}: {keyword} {wanted} does not fit {value}"));
        }
    }
}

fn fitting(schemas: &Value, root: &Value, value: &Value) -> usize {
    let fits = |schema: &&Value| {
        let mut found = Vec::new();
        faults(schema, root, value, "", &mut found);
        found.is_empty()
    };
    schemas.as_array().unwrap().iter().filter(fits).count()
}

fn is_of(kind: &str, value: &Value) -> bool {
    match kind {
        "object" => value.is_object(),
        "array" => value.is_array(),
        "string" => value.is_string(),
        "integer" => value.is_i64() || value.is_u64(),
        "number" => value.is_number(),
        "boolean" => value.is_boolean(),
        other => panic!("the type `{other}` is not checked here"),
    }
}

fn is_match(pattern: &str, text: &str) -> bool {
    regex::Regex::new(pattern).unwrap().is_match(text)
}

fn validate(report: &Value) -> Vec<String> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/sarif/sarif-2.1.0-rtm.5.json");
    let schema: Value = serde_json::from_slice(&fs::read(path).unwrap()).unwrap();
    let mut found = Vec::new();
    faults(&schema, &schema, report, "", &mut found);
    found
}

/// A workspace with every kind of problem: of a place, of a file, with a fix, in odd names, in a second root, at home.
fn report() -> Value {
    let folder = tempfile::tempdir().unwrap();
    let put = |path: &str, text: &str| {
        let path = folder.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    };
    put("one/.rulebook/rules/a b%,:é.md", "---\nglobs: *.ts\n---\nOne.\u{200b}\n");
    put("one/.rulebook/rules/copy.md", "One.\u{200b}");
    put("two/.clinerules/all.md", "---\npaths: ['**']\n---\nTwo.");
    put("two/rulebook.toml", "nope = 1\n");
    put("home/.cursor/rules/own.mdc", "---\nglobs: 3\n---\nMine.");
    let output = Command::new(env!("CARGO_BIN_EXE_rulebook"))
        .args(["--root", "one", "--root", "two", "check", "--format", "sarif"])
        .current_dir(folder.path())
        .env_clear()
        .env("HOME", folder.path().join("home"))
        .output()
        .unwrap();
    serde_json::from_slice(&output.stdout).unwrap()
}

#[test]
fn a_report_is_valid_by_the_standards_schema() {
    let report = report();
    assert_eq!(validate(&report), Vec::<String>::new());
    let results = report["runs"][0]["results"].as_array().unwrap();
    let rules = report["runs"][0]["tool"]["driver"]["rules"].as_array().unwrap();
    for result in results {
        assert_eq!(rules[result["ruleIndex"].as_u64().unwrap() as usize]["id"], result["ruleId"]);
    }
    let of = |code: &str| results.iter().find(|result| result["ruleId"] == code).unwrap();
    let file = |code: &str| of(code)["locations"][0]["physicalLocation"]["artifactLocation"].clone();
    let odd = json!({ "uri": ".rulebook/rules/a%20b%25%2C%3A%C3%A9.md", "uriBaseId": "one" });
    assert_eq!(file("unquoted-value"), odd);
    assert_eq!(file("always-glob"), json!({ "uri": ".clinerules/all.md", "uriBaseId": "two" }));
    assert_eq!(file("unknown-setting"), json!({ "uri": "rulebook.toml", "uriBaseId": "two" }));
    let own = file("wrong-type");
    assert!(own["uri"].as_str().unwrap().ends_with("/home/.cursor/rules/own.mdc"), "{own}");
    let change = &of("unquoted-value")["fixes"][0]["artifactChanges"][0]["replacements"][0];
    assert_eq!(change["deletedRegion"], json!({ "byteOffset": 11, "byteLength": 4 }));
    assert_eq!(change["insertedContent"], json!({ "text": "\"*.ts\"" }));
}

/// The corpus's files, each under a name of its own.
#[test]
fn a_report_of_every_header_people_write_is_valid() {
    let folder = tempfile::tempdir().unwrap();
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("../rulebook/tests/corpus");
    for page in fs::read_dir(corpus).unwrap() {
        let page = page.unwrap().path();
        let name = page.file_stem().unwrap().to_str().unwrap().to_owned();
        let text = fs::read_to_string(&page).unwrap();
        for (nth, block) in text.split("```file ").skip(1).enumerate() {
            let (path, rest) = block.split_once('\n').unwrap();
            let path = folder.path().join(path.replace("case", &format!("{name}{nth}")));
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, rest.split_once("```").unwrap().0).unwrap();
        }
    }
    let output = Command::new(env!("CARGO_BIN_EXE_rulebook"))
        .args(["check", "--format", "sarif"])
        .current_dir(folder.path())
        .env_clear()
        .env("HOME", folder.path().join("home"))
        .output()
        .unwrap();
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(validate(&report), Vec::<String>::new());
    let results = report["runs"][0]["results"].as_array().unwrap();
    let codes: BTreeSet<&str> = results.iter().filter_map(|result| result["ruleId"].as_str()).collect();
    assert!(codes.len() >= 25, "{codes:?}");
}

#[test]
fn a_report_that_is_wrong_is_found_out() {
    #[track_caller]
    fn check(pointer: &str, change: impl Fn(&mut Value), fault: &str) {
        let mut report = report();
        change(report.pointer_mut(pointer).unwrap());
        let found = validate(&report).join("\n");
        assert!(found.contains(fault), "{found}");
    }
    let result = "/runs/0/results/0";
    check("", |report| drop(report.as_object_mut().unwrap().remove("runs")), "required");
    check("/version", |version| *version = json!("2.0"), "enum");
    check(result, |result| result["nope"] = json!(1), "`nope` is not known");
    check(result, |result| result["level"] = json!("notice"), "enum");
    check(result, |result| result["message"] = json!({}), "anyOf");
    let place = format!("{result}/locations/0/physicalLocation");
    check(&place, |place| place["region"]["startLine"] = json!(0), "minimum");
    check(&place, |place| place["artifactLocation"]["uri"] = json!("a b"), "format");
}
