//! Facts that conditions ask the disk for: what a workspace is made of, and what its files say.

use std::fs::{self, File};
use std::io::Read;
use std::path::Path;

use rulebook::evidence::{Evidence, Roots};

/// Files at a root, and the tags they stand for.
const MARKERS: &[(&str, &[&str])] = &[
    ("CMakeLists.txt", &["cpp"]),
    ("Cargo.toml", &["rust"]),
    ("Dockerfile", &["docker"]),
    ("Gemfile", &["ruby"]),
    ("Package.swift", &["swift"]),
    ("angular.json", &["angular", "frontend"]),
    ("build.gradle", &["java"]),
    ("build.gradle.kts", &["java", "kotlin"]),
    ("composer.json", &["php"]),
    ("deno.json", &["deno", "typescript"]),
    ("go.mod", &["go"]),
    ("lerna.json", &["monorepo"]),
    ("mix.exs", &["elixir"]),
    ("nx.json", &["monorepo"]),
    ("package.json", &["javascript", "node"]),
    ("pnpm-workspace.yaml", &["monorepo"]),
    ("pom.xml", &["java"]),
    ("pubspec.yaml", &["dart"]),
    ("pyproject.toml", &["python"]),
    ("requirements.txt", &["python"]),
    ("setup.py", &["python"]),
    ("tsconfig.json", &["typescript"]),
    ("turbo.json", &["monorepo"]),
];

/// Packages a `package.json` depends on, and the tags they stand for.
const PACKAGES: &[(&str, &[&str])] = &[
    ("@angular/core", &["angular", "frontend"]),
    ("@nestjs/core", &["nestjs"]),
    ("express", &["express"]),
    ("next", &["nextjs", "react", "frontend"]),
    ("nuxt", &["nuxt", "vue", "frontend"]),
    ("react", &["react", "frontend"]),
    ("svelte", &["svelte", "frontend"]),
    ("typescript", &["typescript"]),
    ("vue", &["vue", "frontend"]),
];

const MAX_MANIFEST: u64 = 1 << 20;

/// How much of a file the `content` condition sees.
const MAX_CONTENT: u64 = 1 << 20;

/// The tags of what lies at a root; sorted.
pub(crate) fn derived_tags(root: &Path) -> Vec<String> {
    let markers = MARKERS.iter().filter(|(name, _)| root.join(name).is_file()).flat_map(|(_, tags)| *tags);
    let mut tags: Vec<String> = markers.map(|tag| (*tag).to_owned()).collect();
    let manifest = root.join("package.json");
    if fs::metadata(&manifest).is_ok_and(|metadata| metadata.is_file() && metadata.len() < MAX_MANIFEST)
        && let Ok(text) = fs::read_to_string(&manifest)
        && let Ok(json) = serde_json::from_str::<serde_json::Value>(&text)
    {
        let depends = |name: &str| {
            ["dependencies", "devDependencies", "peerDependencies"]
                .iter()
                .any(|key| json[key].get(name).is_some())
        };
        let found = PACKAGES.iter().filter(|(name, _)| depends(name)).flat_map(|(_, tags)| *tags);
        tags.extend(found.map(|tag| (*tag).to_owned()));
    }
    tags.sort();
    tags.dedup();
    tags
}

/// The texts of the files in evidence, by position; files that are none or not readable are left out.
pub(crate) fn contents(evidence: &Evidence, roots: &Roots) -> Vec<(usize, String)> {
    let read = |at: usize| {
        let seen = &evidence.paths[at];
        let root = Path::new(&roots.roots[seen.root].path);
        // A link may lead out of the root: what lies there is nobody's evidence.
        let path = fs::canonicalize(root.join(&seen.path)).ok().filter(|path| path.starts_with(root))?;
        let file =
            fs::metadata(&path).ok().filter(fs::Metadata::is_file).and_then(|_| File::open(&path).ok())?;
        let mut bytes = Vec::new();
        file.take(MAX_CONTENT).read_to_end(&mut bytes).ok()?;
        Some((at, String::from_utf8_lossy(&bytes).into_owned()))
    };
    (0..evidence.paths.len()).filter_map(read).collect()
}
