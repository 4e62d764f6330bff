//! Generates a workspace: rule files, evidence and optionally many other files. Every run generates the same.

use std::fmt::Write as _;
use std::fs::{self, File};
use std::io;
use std::path::Path;

/// The number of paths in evidence.
pub const PATHS: usize = 100;

/// A rule file.
#[derive(Clone, Debug)]
pub struct RuleFile {
    /// The path relative to the root.
    pub path: String,
    /// The content.
    pub text: String,
}

/// Folders in globs; the evidence uses every second one.
const FOLDERS: &[&str] = &[
    "apps/web/src/components",
    "apps/web/src/routes",
    "apps/web/tests",
    "apps/mobile/src/screens",
    "apps/mobile/src/state",
    "packages/ui/src/button",
    "packages/ui/src/table",
    "packages/config/src",
    "packages/testing/src",
    "services/api/src/handlers",
    "services/api/src/models",
    "services/api/tests",
    "services/billing/app",
    "services/billing/migrations",
    "services/search/cmd",
    "services/search/internal/index",
    "crates/core/src",
    "crates/core/tests",
    "crates/cli/src",
    "docs/guides",
    "docs/reference",
    "infra/modules/network",
    "scripts",
    ".github/workflows",
];

const NAMES: &[&str] = &[
    "index", "main", "user", "order", "invoice", "session", "router", "store", "schema", "client", "cache",
    "queue", "metrics", "theme", "layout",
];

/// Extensions in globs; the evidence uses every second one.
const EXTENSIONS: &[&str] =
    &["ts", "vue", "tsx", "kt", "py", "swift", "go", "rb", "rs", "java", "md", "scss", "test.ts", "sql"];

const WORDS: &[&str] = &[
    "prefer",
    "small",
    "functions",
    "name",
    "values",
    "after",
    "what",
    "they",
    "hold",
    "return",
    "early",
    "errors",
    "carry",
    "context",
    "avoid",
    "global",
    "state",
    "tests",
    "cover",
    "behaviour",
    "keep",
    "public",
    "surface",
    "narrow",
    "log",
    "once",
    "validate",
    "input",
    "at",
    "the",
    "edge",
    "write",
    "migrations",
    "that",
    "can",
    "be",
    "reverted",
    "document",
    "why",
];

/// SplitMix64.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) % sides as u64) as usize
    }

    fn pick<'a>(&mut self, from: &[&'a str]) -> &'a str {
        from[self.roll(from.len())]
    }
}

/// Generates rule files: 80 % Cline, 10 % Cursor, 10 % native; 70 % have one to four globs.
pub fn rule_files(count: usize) -> Vec<RuleFile> {
    let mut dice = Dice(1);
    (0..count).map(|number| rule_file(number, &mut dice)).collect()
}

fn rule_file(number: usize, dice: &mut Dice) -> RuleFile {
    let globs: Vec<String> =
        if dice.roll(10) < 7 { (0..1 + dice.roll(4)).map(|_| glob(dice)).collect() } else { Vec::new() };
    let area = dice.pick(&["api", "data", "style", "tests", "web"]);
    let (path, header) = match number % 10 {
        3 => (format!(".cursor/rules/{area}-{number:04}.mdc"), cursor_header(number, &globs)),
        7 => (format!(".rulebook/rules/{area}-{number:04}.md"), list_header("priority: 60\n", &globs)),
        1 | 5 => (format!(".clinerules/{area}/{number:04}.md"), list_header("", &globs)),
        _ => (format!(".clinerules/{number:04}-{area}.md"), list_header("", &globs)),
    };
    RuleFile { path, text: header + &body(number, dice) }
}

/// Cursor writes globs unquoted on one line, which is often not valid YAML.
fn cursor_header(number: usize, globs: &[String]) -> String {
    let always = globs.is_empty();
    format!(
        "---\ndescription: Conventions {number}\nglobs: {}\nalwaysApply: {always}\n---\n",
        globs.join(",")
    )
}

fn list_header(other: &str, globs: &[String]) -> String {
    let paths: String = globs.iter().map(|glob| format!("  - \"{glob}\"\n")).collect();
    match (other, paths.as_str()) {
        ("", "") => String::new(),
        (_, "") => format!("---\n{other}---\n\n"),
        _ => format!("---\n{other}paths:\n{paths}---\n\n"),
    }
}

fn glob(dice: &mut Dice) -> String {
    let folder = dice.pick(FOLDERS);
    let top = folder.split('/').next().unwrap_or(folder);
    let extension = dice.pick(EXTENSIONS);
    let name = dice.pick(NAMES);
    match dice.roll(100) {
        0..=19 => format!("**/*.{extension}"),
        20..=41 => format!("{folder}/**"),
        42..=56 => format!("{folder}/**/*.{extension}"),
        57..=66 => format!("{top}/*/src/**/*.{{ts,tsx}}"),
        67..=73 => format!("{folder}/*.{extension}"),
        74..=79 => format!("**/{name}.*"),
        80..=89 => format!("{folder}/{name}.{extension}"),
        90..=95 => format!("{top}/**/{{tests,migrations}}/**"),
        96..=97 => format!("**/{name}?(-*).{extension}"),
        _ => format!("{top}/**/[a-m]*.{extension}"),
    }
}

/// About 1.4 KB of Markdown, different for every rule.
fn body(number: usize, dice: &mut Dice) -> String {
    let mut text = format!("# Convention {number}\n");
    while text.len() < 1300 {
        if dice.roll(6) == 0 {
            let _ = write!(text, "\n## On {}\n\n", dice.pick(NAMES));
        }
        text.push_str("- ");
        for _ in 0..8 + dice.roll(6) {
            text.push_str(dice.pick(WORDS));
            text.push(' ');
        }
        text.push('\n');
    }
    text
}

/// The paths in evidence, without duplicates.
pub fn paths() -> Vec<String> {
    let mut dice = Dice(2);
    let mut paths: Vec<String> = Vec::new();
    while paths.len() < PATHS {
        let folder = FOLDERS[2 * dice.roll(FOLDERS.len() / 2)];
        let extension = EXTENSIONS[2 * dice.roll(EXTENSIONS.len() / 2)];
        let path = format!("{folder}/{}.{extension}", dice.pick(NAMES));
        if !paths.contains(&path) {
            paths.push(path);
        }
    }
    paths
}

/// The evidence as a host sends it.
fn evidence(paths: &[String]) -> String {
    let list = |paths: &[String]| paths.iter().map(|path| format!("{path:?}")).collect::<Vec<_>>().join(",");
    let calls: Vec<String> =
        paths[70..].iter().map(|path| format!("{{\"name\":\"read_file\",\"path\":{path:?}}}")).collect();
    format!(
        "{{\"message\":\"Why does the total differ?\",\"openTabs\":[{}],\"visibleEditors\":[{}],\"modified\":[{}],\"tools\":[{}]}}\n",
        list(&paths[..40]),
        list(&paths[40..50]),
        list(&paths[50..70]),
        calls.join(",")
    )
}

/// Writes a workspace: rule files, the evidence, the files in evidence, and `others` further files.
///
/// `evidence.json` is the evidence, `files.txt` lists the rule files.
pub fn write(root: &Path, rules: usize, others: usize) -> io::Result<()> {
    fs::create_dir_all(root.join(".git"))?;
    let files = rule_files(rules);
    for RuleFile { path, text } in &files {
        put(&root.join(path), text)?;
    }
    let paths = paths();
    for path in &paths {
        put(&root.join(path), "")?;
    }
    for folder in 0..others.div_ceil(100) {
        let folder = format!("{}/part{:02}/{folder:04}", FOLDERS[folder % FOLDERS.len()], folder % 40);
        fs::create_dir_all(root.join(&folder))?;
        for file in 0..100 {
            File::create(root.join(format!("{folder}/f{file:02}.ts")))?;
        }
    }
    let list: String = files.iter().map(|file| file.path.clone() + "\n").collect();
    fs::write(root.join("files.txt"), list)?;
    fs::write(root.join("evidence.json"), evidence(&paths))
}

/// Writes a workspace for `coverage`: rule files and empty files, 250 per folder.
pub fn write_tree(root: &Path, rules: usize, files: usize) -> io::Result<()> {
    const A_FOLDER: usize = 250;
    fs::create_dir_all(root.join(".git"))?;
    for RuleFile { path, text } in rule_files(rules) {
        put(&root.join(path), &text)?;
    }
    for number in 0..files {
        let folder = number / A_FOLDER;
        let folder = format!("{}/part{:02}/{folder:04}", FOLDERS[folder % FOLDERS.len()], folder % 40);
        if number % A_FOLDER == 0 {
            fs::create_dir_all(root.join(&folder))?;
        }
        let (name, extension) = (NAMES[number % NAMES.len()], EXTENSIONS[number % EXTENSIONS.len()]);
        File::create(root.join(format!("{folder}/{name}-{:03}.{extension}", number % A_FOLDER)))?;
    }
    Ok(())
}

fn put(path: &Path, text: &str) -> io::Result<()> {
    path.parent().map_or(Ok(()), fs::create_dir_all)?;
    fs::write(path, text)
}
