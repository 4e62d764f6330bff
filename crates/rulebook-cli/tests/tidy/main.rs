//! House rules: file sizes, module docs, documented tables, dependencies.

#![allow(clippy::unwrap_used, reason = "a test may fail loudly")]

mod cycles;
mod disk;

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use rulebook::agent::AGENTS;
use rulebook::diagnostic::CODES;
use rulebook::format::{FORMATS, Place};
use rulebook::glob::Dialect;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap()
}

/// Returns every file below a folder with that extension, sorted.
fn files(folder: &Path, extension: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(files(&path, extension));
        } else if path.extension().is_some_and(|other| other == extension) {
            found.push(path);
        }
    }
    found.sort();
    found
}

fn sources() -> Vec<(String, String)> {
    ["crates", "tools"]
        .into_iter()
        .flat_map(|folder| files(&root().join(folder), "rs"))
        .map(|path| {
            (path.strip_prefix(root()).unwrap().display().to_string(), fs::read_to_string(path).unwrap())
        })
        .collect()
}

#[test]
fn files_are_small_and_documented() {
    for (path, text) in sources() {
        let is_tests = path.contains("/tests/") || path.ends_with("/tests.rs");
        let code = text.split("\n#[cfg(test)]\nmod tests {").next().unwrap();
        let lines = code.lines().count();
        assert!(is_tests || lines <= 400, "{path} has {lines} lines; split it by meaning");
        if !path.ends_with("/tests.rs") {
            let first = text.lines().next().unwrap_or_default();
            let sentence: String = text.lines().take_while(|line| line.starts_with("//!")).collect();
            assert!(first.starts_with("//! "), "{path} has no module documentation");
            assert!(sentence.contains(['.', ':']), "{path} does not open with a sentence");
        }
    }
}

#[test]
fn no_unfinished_code_is_left() {
    for (path, text) in sources() {
        for word in [
            concat!("todo", "!("),
            concat!("unimplemented", "!("),
            concat!("dbg", "!("),
            concat!("FIX", "ME"),
            concat!("XX", "X"),
        ] {
            assert!(path.contains("/tidy/") || !text.contains(word), "{path} has `{word}`");
        }
    }
}

#[test]
fn one_module_knows_how_the_system_writes_canonical_paths() {
    let code = |text: &str| text.split("#[cfg(test)]\nmod tests").next().unwrap().to_owned();
    let is_test =
        |path: &str| path.contains("/tests/") || path.ends_with("tests.rs") || path.starts_with("tools/");
    let calls =
        |(path, text): &(String, String)| !is_test(path) && code(text).contains(concat!("canoni", "calize("));
    let found: Vec<String> = sources().into_iter().filter(calls).map(|(path, _)| path).collect();
    assert_eq!(found, ["crates/rulebook-workspace/src/canonical.rs"]);
}

#[test]
fn only_one_declaration_is_unsafe() {
    let allows = |text: &str| text.replace("forbid(unsafe_code)", "").contains(concat!("unsafe", "_code"));
    let found: Vec<String> =
        sources().into_iter().filter(|(_, text)| allows(text)).map(|(path, _)| path).collect();
    assert_eq!(found, ["crates/rulebook-cli/src/surface/proxy/trim.rs"]);
}

#[test]
fn the_engine_has_few_and_pure_dependencies() {
    let read = |path: &str| fs::read_to_string(root().join(path)).unwrap();
    let manifest = read("crates/rulebook/Cargo.toml");
    let section = manifest.split("[dependencies]").nth(1).unwrap().split("\n[").next().unwrap();
    let mut names: Vec<&str> =
        section.lines().filter_map(|line| line.split('.').next()).filter(|name| !name.is_empty()).collect();
    names.sort_unstable();
    let allowed = [
        "fancy-regex",
        "foldhash",
        "granit-parser",
        "memchr",
        "percent-encoding",
        "regex",
        "regex-automata",
        "regex-syntax",
        "serde",
        "serde_json",
        "strsim",
    ];
    assert_eq!(names, allowed);
    let manifests = [read("Cargo.toml"), read("crates/rulebook-workspace/Cargo.toml"), manifest].concat();
    let features = ["preserve_order", "raw_value"].map(|name| manifests.contains(name));
    assert_eq!(features, [false; 2], "features of `serde_json` would change the builds of hosts");
}

#[test]
fn licences_are_permissive_and_no_package_ships_twice() {
    let version = Command::new("rustc").arg("-vV").output().unwrap();
    let version = String::from_utf8(version.stdout).unwrap();
    let host = version.lines().find_map(|line| line.strip_prefix("host: ")).unwrap();
    let output = Command::new(env!("CARGO"))
        .args(["metadata", "--format-version", "1", "--offline", "--locked", "--filter-platform", host])
        .current_dir(root())
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let metadata: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    let mut versions: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for package in metadata["packages"].as_array().unwrap() {
        let name = package["name"].as_str().unwrap();
        versions.entry(name).or_default().push(package["version"].as_str().unwrap());
        let licence = package["license"].as_str().unwrap_or("none");
        let is_permissive = |licence: &str| {
            [
                "MIT",
                "Apache-2.0",
                "Unicode-3.0",
                "Unlicense",
                "Zlib",
                "BSD-2-Clause",
                "BSD-3-Clause",
                "ISC",
                "0BSD",
                "CC0-1.0",
                "CDLA-Permissive-2.0",
            ]
            .contains(&licence.split(" WITH ").next().unwrap())
        };
        let fine = licence.split(" AND ").all(|part| {
            part.split(" OR ")
                .flat_map(|part| part.split('/'))
                .any(|part| is_permissive(part.trim_matches(['(', ')', ' '])))
        });
        assert!(fine, "{name} is under {licence}");
    }
    let shipped = shipped(&metadata);
    // `ring` needs an older version, and there is no other TLS without a C library.
    // ast-grep needs newer versions of bit sets than `fancy-regex`.
    let exceptions = ["bit-set", "bit-vec", "getrandom"];
    let several = versions.iter().filter(|(name, versions)| versions.len() > 1 && !exceptions.contains(name));
    for (name, versions) in several {
        let twice = shipped.iter().filter(|shipped| shipped == name).count();
        assert!(twice < 2, "{name} ships in {versions:?}");
    }
}

/// Returns the names of the packages that are linked into the binary, one per version. The dependencies of macros are
/// not linked.
fn shipped(metadata: &serde_json::Value) -> Vec<String> {
    let nodes = metadata["resolve"]["nodes"].as_array().unwrap();
    let node = |id: &str| nodes.iter().find(|node| node["id"] == id).unwrap();
    let packages = metadata["packages"].as_array().unwrap();
    let name =
        |id: &str| packages.iter().find(|p| p["id"] == id).unwrap()["name"].as_str().unwrap().to_owned();
    let is_macro = |id: &str| {
        let package = packages.iter().find(|p| p["id"] == id).unwrap();
        package["targets"].as_array().unwrap().iter().any(|target| target["kind"][0] == "proc-macro")
    };
    let start = packages.iter().find(|p| p["name"] == "rulebook-cli").unwrap()["id"].as_str().unwrap();
    let mut seen = vec![start];
    let mut at = 0;
    while at < seen.len() {
        for dependency in node(seen[at])["deps"].as_array().unwrap() {
            let id = dependency["pkg"].as_str().unwrap();
            let is_normal =
                dependency["dep_kinds"].as_array().unwrap().iter().any(|kind| kind["kind"].is_null());
            if is_normal && !is_macro(id) && !seen.contains(&id) {
                seen.push(id);
            }
        }
        at += 1;
    }
    seen.into_iter().map(name).collect()
}

/// Checks a page of the documentation with a generated table. `UPDATE=1` rewrites it.
#[track_caller]
fn page(name: &str, table: &str) {
    let path = root().join("docs").join(name);
    let text = fs::read_to_string(&path).unwrap();
    let (start, end) = ("<!-- table -->\n", "<!-- /table -->");
    let (before, rest) = text.split_once(start).expect("the page has a start marker");
    let (found, after) = rest.split_once(end).expect("the page has an end marker");
    if std::env::var_os("UPDATE").is_some() {
        fs::write(path, format!("{before}{start}{table}{end}{after}")).unwrap();
    } else {
        assert_eq!(found, table, "docs/{name} is out of date; run the tests with UPDATE=1");
    }
}

#[test]
fn every_diagnostic_is_documented() {
    let mut table = String::from("| code | usually | what it means | what to do |\n|---|---|---|---|\n");
    for row in CODES {
        let _ = writeln!(
            table,
            "| `{}` | {} | {} | {} |",
            row.name,
            row.severity.name(),
            row.meaning,
            row.remedy
        );
    }
    page("diagnostics.md", &table);
}

#[test]
fn every_condition_is_documented() {
    let mut table = String::from("| key | holds when |\n|---|---|\n");
    for kind in rulebook::condition::all() {
        let _ = writeln!(table, "| `{}` | {} |", kind.key, kind.holds);
    }
    page("conditions.md", &table);
}

#[test]
fn every_glob_dialect_is_documented() {
    let mut table = String::from("| dialect | patterns mean |\n|---|---|\n");
    for dialect in Dialect::all() {
        let _ = writeln!(table, "| `{}` | {} |", dialect.name(), dialect.meaning());
    }
    page("globs.md", &table);
}

#[test]
fn every_format_is_documented() {
    let list = |places: &[Place]| {
        let all: Vec<String> = places.iter().map(|place| format!("`{}`", place.shown())).collect();
        if all.is_empty() { "–".to_owned() } else { all.join(", ") }
    };
    let mut table = String::from(
        "| format | workspace | user | priority | paths key | globs | broken header | no condition given |\n|---|---|---|---|---|---|---|---|\n",
    );
    for format in FORMATS {
        let priority = format.priority.map_or("required".to_owned(), |priority| priority.to_string());
        let (workspace, user) = (list(format.workspace), list(format.user));
        let headed = |text: String| if format.tier.is_some() { text } else { "–".to_owned() };
        let _ = writeln!(
            table,
            "| `{}` | {workspace} | {user} | {priority} | {} | {} | {} | {} |",
            format.name(),
            headed(format!("`{}`", format.paths_key)),
            headed(format.dialect.name().to_owned()),
            headed(format.broken.meaning().to_owned()),
            format.bare.meaning(),
        );
    }
    page("formats.md", &table);
}

#[test]
fn every_target_is_documented() {
    use rulebook::export::{Form, Holder, Kind, Line, TARGETS};
    let say = |form: Form| match form {
        Form::No => "–".to_owned(),
        Form::Plain => "no header".to_owned(),
        Form::Header(lines) => {
            let line = |line: &Line| match line {
                Line::Name => "`name`".to_owned(),
                Line::Description => "`description`".to_owned(),
                Line::Patterns(key) => format!("`{key}`"),
                Line::Fixed(key, value) => format!("`{key}: {value}`"),
            };
            lines.iter().map(line).collect::<Vec<_>>().join(" ")
        }
    };
    let mut table = String::from(
        "| `--to` | agent | written to | always | for paths | offered | manual |\n|---|---|---|---|---|---|---|\n",
    );
    for target in TARGETS {
        let place = match target.holder {
            Holder::Files { folder, extension } => format!("`{folder}/*.{extension}`"),
            Holder::Blocks { file } => format!("blocks in `{file}`"),
        };
        let forms =
            [Kind::Always, Kind::Paths, Kind::Offered, Kind::Manual].map(|kind| match target.holder {
                Holder::Blocks { .. } if kind == Kind::Paths && target.is_nested() => {
                    "a whole folder".to_owned()
                }
                _ => say(target.form(kind)),
            });
        let _ =
            writeln!(table, "| `{}` | {} | {place} | {} |", target.name, target.title(), forms.join(" | "));
    }
    page("export.md", &table);
}

#[test]
fn every_agent_is_documented() {
    let mut table =
        String::from("| `--as` | agent | reads, in order | path-specific rules apply |\n|---|---|---|---|\n");
    for agent in AGENTS {
        let mut reads: Vec<String> = agent.formats.iter().map(|format| format!("`{}`", format.id)).collect();
        reads.dedup();
        let fires = if agent.path_rules.is_empty() { "–" } else { agent.path_rules };
        let _ = writeln!(table, "| `{}` | {} | {} | {fires} |", agent.name, agent.title, reads.join(", "));
    }
    page("agents.md", &table);
}

#[test]
fn the_readme_names_the_command_that_checks_everything() {
    let readme = fs::read_to_string(root().join("README.md")).unwrap();
    assert!(readme.contains("scripts/test"));
    assert!(readme.contains("cargo run --release -- explain crates/rulebook/src/lib.rs"));
}

/// Each guarantee names the tests that hold it.
#[test]
fn the_guarantees_name_tests_that_exist() {
    let text = fs::read_to_string(root().join("SECURITY.md")).unwrap();
    let rows: Vec<&str> = text.lines().filter(|line| line.starts_with("| ")).skip(1).collect();
    assert!(rows.len() > 20);
    for row in rows {
        let shown = row.trim_end_matches(" |").rsplit_once(" | ").unwrap().1;
        for name in shown.split(", ") {
            let name = name
                .strip_prefix('`')
                .and_then(|name| name.strip_suffix('`'))
                .unwrap_or_else(|| panic!("{row}"));
            let (path, test) = name.split_once("::").unwrap_or((name, ""));
            let path = root().join(path);
            assert!(path.exists(), "{name} does not exist");
            if !test.is_empty() {
                let code = fs::read_to_string(path).unwrap();
                let is_test =
                    code.split("#[test]").skip(1).any(|rest| rest.contains(&format!("fn {test}()")));
                assert!(is_test, "{name} is no test");
            }
        }
    }
}
