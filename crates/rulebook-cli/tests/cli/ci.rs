//! The pre-commit hook and the GitHub action: both are read, and the steps of the action are run.

use std::fs;
use std::path::Path;
use std::process::Output;

use rulebook::format::{FORMATS, Files, PlaceKind};
use rulebook::frontmatter::{self, Field, Header, Tier, Value};

use crate::sandbox::{Sandbox, binary, path_with_binary};

/// A YAML file in the root of the repository.
pub(crate) fn yaml(name: &str) -> Value {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(name);
    read_yaml(name, &fs::read_to_string(path).unwrap())
}

pub(crate) fn read_yaml(name: &str, text: &str) -> Value {
    let indented: String = text.lines().map(|line| format!("  {line}\n")).collect();
    let page = format!("---\ntop:\n{indented}---\n");
    let Header::Read { fields, .. } = frontmatter::read(&page, Tier::Yaml).header else {
        panic!("{name} is not YAML")
    };
    fields.into_iter().next().unwrap().node.value
}

pub(crate) fn field<'v>(map: &'v Value, key: &str) -> Option<&'v Value> {
    let Value::Map(fields) = map else { panic!("`{key}` of {map:?}") };
    fields.iter().find(|field| field.key == key).map(|Field { node, .. }| &node.value)
}

pub(crate) fn text<'v>(map: &'v Value, key: &str) -> &'v str {
    let Some(Value::Text(text)) = field(map, key) else { panic!("{key} is not a text") };
    text
}

pub(crate) fn items(list: &Value) -> impl Iterator<Item = &Value> {
    let Value::List(items) = list else { panic!("{list:?} is not a list") };
    items.iter().map(|item| &item.value)
}

pub(crate) fn keys(map: &Value) -> impl Iterator<Item = &str> {
    let Value::Map(fields) = map else { panic!("{map:?} is not a map") };
    fields.iter().map(|field| field.key.as_str())
}

#[test]
fn the_hook_runs_when_any_rule_file_changes() {
    let hooks = yaml(".pre-commit-hooks.yaml");
    let [packaged, system] = items(&hooks).collect::<Vec<_>>()[..] else { panic!("two hooks") };
    for (hook, id, language) in
        [(packaged, "rulebook-check", "python"), (system, "rulebook-check-system", "system")]
    {
        let found = ["id", "language", "entry", "files"].map(|key| text(hook, key));
        assert_eq!(found, [id, language, "rulebook check", text(packaged, "files")]);
        assert_eq!(field(hook, "pass_filenames"), Some(&Value::Bool(false)));
    }
    let files = regex::Regex::new(text(packaged, "files")).unwrap();
    for place in FORMATS.iter().flat_map(|format| format.workspace) {
        let paths = match &place.shape {
            PlaceKind::Folder { files: Files::Ending(extensions), .. } => {
                extensions.iter().map(|extension| format!("{}/a.{extension}", place.path)).collect()
            }
            PlaceKind::Folder { .. } => vec![format!("{}/a.xml", place.path)],
            PlaceKind::Skills => vec![format!("{}/a/SKILL.md", place.path)],
            PlaceKind::Modes { prefix, .. } => vec![format!("{}/{prefix}code/a.md", place.path)],
            PlaceKind::File { .. } | PlaceKind::Located { .. } => vec![place.path.to_owned()],
            PlaceKind::Imported | PlaceKind::Named => Vec::new(),
        };
        for path in paths {
            assert!(files.is_match(&path), "{path}");
        }
    }
    assert!(!files.is_match("src/main.rs"));
}

#[test]
fn every_package_that_is_named_has_the_version_of_the_program() {
    let version = env!("CARGO_PKG_VERSION");
    let action = yaml("action.yml");
    let package = field(field(&action, "inputs").unwrap(), "package").unwrap();
    assert_eq!(text(package, "default"), format!("rulebook-cli@{version}"));
    let read = |name: &str| {
        fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(name)).unwrap()
    };
    let wanted = [
        ("pyproject.toml", format!("\nversion = \"{version}\"\n")),
        ("pyproject.toml", format!("[\"rulebook-cli=={version}\"]")),
        ("docs/ci.md", format!("[rulebook-cli=={version}]")),
        ("docs/ci.md", format!("`rulebook-cli@{version}`")),
    ];
    for (file, part) in wanted {
        assert!(read(file).contains(&part), "{file} lacks `{part}`");
    }
}

/// The scripts of the action, in order.
fn scripts() -> Vec<String> {
    let action = yaml("action.yml");
    let steps = field(field(&action, "runs").unwrap(), "steps").unwrap();
    items(steps)
        .filter(|step| field(step, "run").is_some())
        .map(|step| text(step, "run").to_owned())
        .collect()
}

/// Runs a step as the runner does.
fn run(sandbox: &Sandbox, script: &str, env: &[(&str, &str)]) -> Output {
    sandbox
        .program("bash")
        .args(["--noprofile", "--norc", "-e", "-o", "pipefail", "-c", script])
        .env("PATH", path_with_binary())
        .env("GITHUB_ENV", sandbox.path("env"))
        .envs(env.iter().copied())
        .output()
        .unwrap()
}

#[test]
fn the_steps_of_the_action_find_the_binary_and_check() {
    let sandbox = Sandbox::new(&[("repo/.opencode/rules/a.md", "---\npriority: 1\n---\nA")]);
    let run = |script: &str, env: &[(&str, &str)]| run(&sandbox, script, env);
    let read = |path: &str| fs::read_to_string(sandbox.path(path)).unwrap();
    let [find, check, compare] = &scripts()[..] else { panic!("three scripts") };
    for script in [find, check, compare] {
        assert!(!script.contains("${{"), "an input in a script could inject a command");
    }
    let binary = binary().to_str().unwrap();
    let package = ("PACKAGE", "rulebook-cli@1.2.3");
    assert!(run(find, &[("BINARY", ""), package]).status.success());
    sandbox.write("repo/bin/rulebook", "");
    assert!(run(find, &[("BINARY", "bin/rulebook"), package]).status.success());
    sandbox.write("repo/own", "");
    assert!(run(find, &[("BINARY", "own"), package]).status.success());
    // Without a binary the package is installed; this `npm` only notes what it is asked.
    sandbox.write(
        "runner/npm",
        "#!/bin/sh\necho \"$@\" > \"$RUNNER_TEMP/asked\"\nmkdir -p \"$RUNNER_TEMP/rulebook/node_modules/.bin\"\n",
    );
    assert!(run("chmod +x ../runner/npm", &[]).status.success());
    let runner = sandbox.path("runner").display().to_string();
    let path = format!("{runner}:/usr/bin:/bin");
    let installed = run(find, &[("BINARY", ""), package, ("PATH", &path), ("RUNNER_TEMP", &runner)]);
    assert!(installed.status.success(), "{installed:?}");
    let own = ["repo/bin/rulebook", "repo/own"].map(|path| sandbox.path(path).display().to_string());
    let wanted = [binary, &own[0], &own[1], &format!("{runner}/rulebook/node_modules/.bin/rulebook")];
    assert_eq!(read("env"), wanted.map(|path| format!("RULEBOOK={path}\n")).concat());
    assert!(read("runner/asked").ends_with(&format!("--prefix {runner}/rulebook rulebook-cli@1.2.3\n")));
    fs::remove_dir_all(sandbox.path("repo/bin")).unwrap();
    fs::remove_file(sandbox.path("repo/own")).unwrap();

    let inputs = |sarif| [("RULEBOOK", binary), ("STRICT", "true"), ("BASELINE", ""), ("SARIF", sarif)];
    let annotated = run(check, &inputs(""));
    assert_eq!(annotated.status.code(), Some(1));
    assert!(annotated.stdout.starts_with(b"::error file=.opencode/rules/a.md,"), "{annotated:?}");
    assert_eq!(run(check, &inputs("out file.sarif")).status.code(), Some(1));
    let report = read("repo/out file.sarif");
    assert!(report.contains("\"ruleId\":\"missing-description\""), "{report}");

    let commit = "git init -q -b main . && git add -A && git -c user.name=a -c user.email=a@b commit -qm a && echo A > CLAUDE.md";
    let then = "git checkout -q -b change && git add -A && git -c user.name=a -c user.email=a@b commit -qm b";
    for script in [commit, then] {
        assert!(run(script, &[]).status.success());
    }
    let file = sandbox.path("summary");
    let inputs = [("RULEBOOK", binary), ("BASE", "main"), ("GITHUB_STEP_SUMMARY", file.to_str().unwrap())];
    assert!(run(compare, &inputs).status.success());
    let summary = read("summary");
    assert!(summary.contains("| added | `CLAUDE.md` | always, 1 token |"), "{summary}");
}

#[test]
fn paths_in_reports_start_at_the_top_of_the_checkout() {
    let sandbox = Sandbox::new(&[
        ("repo/packages/web/.cursor/rules/a.mdc", "---\nglobs: 3\n---\nA"),
        ("repo/packages/api/.cursor/rules/b.mdc", "---\nglobs: 3\n---\nB"),
    ]);
    let roots = ["--root", "packages/web", "--root", "packages/api"];
    let (web, api) = ("packages/web/.cursor/rules/a.mdc", "packages/api/.cursor/rules/b.mdc");
    for (roots, files) in [(&roots[..2], &[web][..]), (&roots, &[api, web])] {
        let output = sandbox.run(&[roots, &["check", "--format", "github"]].concat());
        let text = String::from_utf8(output.stdout).unwrap();
        for file in files {
            assert!(text.contains(&format!("::warning file={file},line=2")), "{text}");
        }
        let output = sandbox.run(&[roots, &["check", "--format", "sarif"]].concat());
        let report: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
        let results = report["runs"][0]["results"].as_array().unwrap();
        let place = |result: &serde_json::Value| {
            result["locations"][0]["physicalLocation"]["artifactLocation"].clone()
        };
        let mut places: Vec<_> = results.iter().map(place).collect();
        places.dedup();
        let want: Vec<_> =
            files.iter().map(|file| serde_json::json!({ "uri": file, "uriBaseId": "%SRCROOT%" })).collect();
        assert_eq!(places, want);
    }
}
