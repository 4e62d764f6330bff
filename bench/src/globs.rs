//! Generates realistic globs and the paths of a large repository. Every run generates the same.

const AREAS: &[&str] = &["apps", "packages", "services", "libs", "tools", "crates"];
const NAMES: &[&str] = &[
    "web", "mobile", "admin", "ui", "config", "testing", "api", "billing", "search", "auth", "core", "cli",
    "shared", "gateway", "worker", "mailer", "catalog", "orders", "users", "media",
];
const FOLDERS: &[&str] = &[
    "src",
    "src/components",
    "src/routes",
    "src/hooks",
    "src/models",
    "src/handlers",
    "src/state",
    "tests",
    "tests/fixtures",
    "migrations",
    "internal/store",
    "cmd",
    "lib",
    "__tests__",
    "docs",
];
const FILES: &[&str] = &[
    "index", "main", "user", "order", "invoice", "session", "router", "store", "schema", "client", "cache",
    "queue", "metrics", "theme", "layout", "button", "table", "form", "dialog", "list",
];
const EXTENSIONS: &[&str] = &[
    "ts",
    "tsx",
    "js",
    "jsx",
    "py",
    "go",
    "rs",
    "rb",
    "java",
    "kt",
    "swift",
    "md",
    "scss",
    "css",
    "json",
    "yml",
    "sql",
    "test.ts",
    "spec.ts",
    "stories.tsx",
];
const LOOSE: &[&str] =
    &["Dockerfile", "Makefile", "package.json", "tsconfig.json", "README.md", ".env", "Cargo.toml"];

/// Deterministic pseudo-random numbers (xorshift).
struct Dice(u64);

impl Dice {
    fn below(&mut self, n: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as usize % n
    }

    fn pick<'a>(&mut self, list: &[&'a str]) -> &'a str {
        list[self.below(list.len())]
    }
}

/// Generates distinct patterns.
pub fn patterns(count: usize) -> Vec<String> {
    let mut dice = Dice(0x9e37_79b9_7f4a_7c15);
    let mut patterns: Vec<String> = Vec::with_capacity(count);
    let mut known = std::collections::HashSet::new();
    let mut round = 0;
    while patterns.len() < count {
        round += 1;
        let (area, name, folder) = (dice.pick(AREAS), dice.pick(NAMES), dice.pick(FOLDERS));
        let (file, extension, other) = (dice.pick(FILES), dice.pick(EXTENSIONS), dice.pick(EXTENSIONS));
        let pattern = match dice.below(16) {
            0 => format!("{area}/{name}/**"),
            1 => format!("{area}/{name}/{folder}/**/*.{extension}"),
            2 => format!("{area}/*/{folder}/**"),
            3 => format!("**/*.{extension}"),
            4 => format!("**/*.{{{extension},{other}}}"),
            5 => format!("**/{folder}/**"),
            6 => format!("**/{file}_*.{extension}"),
            7 => format!("{area}/{name}/{folder}/*.{extension}"),
            8 => format!("**/{}", dice.pick(LOOSE)),
            9 => format!("{area}/{name}/{folder}/{file}.{extension}"),
            10 => format!("{area}/{name}/**/*.{{{extension},{other}}}"),
            11 => format!("{{{area},{}}}/**/*.{extension}", dice.pick(AREAS)),
            12 => format!("**/{folder}/**/*.{extension}"),
            13 => format!("**/{file}*.{extension}"),
            14 => format!("{area}/{name}/{folder}/**"),
            _ => format!("{area}/**/{file}.{{{extension},{other}}}"),
        };
        // Some kinds have few distinct patterns.
        let pattern = if round > count * 20 { format!("{area}/{name}/{folder}/{round}/**") } else { pattern };
        if known.insert(pattern.clone()) {
            patterns.push(pattern);
        }
    }
    patterns
}

/// Generates paths of files.
pub fn paths(count: usize) -> Vec<String> {
    let mut dice = Dice(0x2545_f491_4f6c_dd1d);
    let path = |_| {
        let (area, name, folder) = (dice.pick(AREAS), dice.pick(NAMES), dice.pick(FOLDERS));
        let file = match dice.below(12) {
            0 => dice.pick(LOOSE).to_owned(),
            1 => format!("{}_{}.{}", dice.pick(FILES), dice.below(90), dice.pick(EXTENSIONS)),
            _ => format!("{}.{}", dice.pick(FILES), dice.pick(EXTENSIONS)),
        };
        match dice.below(4) {
            0 => format!("{area}/{name}/{file}"),
            1 => format!("{area}/{name}/{folder}/{}/{file}", dice.pick(NAMES)),
            _ => format!("{area}/{name}/{folder}/{file}"),
        }
    };
    (0..count).map(path).collect()
}
