//! Facts that conditions ask the disk for: what a workspace is made of, and what its files say.

use std::fs;
use std::path::{Path, PathBuf};

use rulebook::diagnostic::{Code, Diagnostic};
use rulebook::evidence::{Evidence, Root, Roots};

use crate::{Homes, bounded};

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

/// How much of a file is looked at: of a manifest, and by the `content` condition.
const MAX_BYTES: usize = 1 << 20;

/// A file at a root that stands for tags, and where it really lies; an error where that is outside, and it stands for none.
type Marker = (&'static str, &'static [&'static str], Result<PathBuf, PathBuf>);

fn markers(root: &Path, allowed: &[PathBuf]) -> impl Iterator<Item = Marker> {
    let there =
        MARKERS.iter().map(|(name, tags)| (name, tags, root.join(name))).filter(|row| row.2.is_file());
    there.filter_map(|(name, tags, path)| Some((*name, *tags, real(&path, allowed)?)))
}

/// The tags of what lies at a root, sorted.
pub(crate) fn derived_tags(root: &Path, allowed: &[PathBuf]) -> Vec<String> {
    let mut tags = Vec::new();
    for (name, own, file) in markers(root, allowed) {
        let Ok(file) = file else { continue };
        tags.extend(own.iter().copied());
        if name == "package.json" {
            tags.extend(packages(&file));
        }
    }
    tags.sort_unstable();
    tags.dedup();
    tags.into_iter().map(str::to_owned).collect()
}

/// Files at the roots that would say what the workspace is made of, and lie elsewhere.
pub(crate) fn report_outside(roots: &Roots, homes: &Homes, allowed: &[PathBuf]) -> Vec<Diagnostic> {
    let mut told = Vec::new();
    for Root { name: root, path, .. } in &roots.roots {
        let prefix = if roots.roots.len() > 1 { format!("{root}/") } else { String::new() };
        for (name, _, file) in markers(Path::new(path), allowed) {
            let Err(target) = file else { continue };
            let target = homes.shown(&target);
            let what = format!("is a link that leads out of its root, to `{target}`, and stands for no tag");
            told.push(Diagnostic::whole(Code::OutsideRoot, format!("{prefix}{name}"), what));
        }
    }
    told
}

/// The tags of what a `package.json` depends on.
fn packages(manifest: &Path) -> Vec<&'static str> {
    let bytes = bounded::read(manifest, MAX_BYTES).ok().flatten().filter(|bytes| bytes.len() <= MAX_BYTES);
    let json = bytes.and_then(|bytes| serde_json::from_slice::<serde_json::Value>(&bytes).ok());
    let depends = |name: &str| {
        let mut keys = ["dependencies", "devDependencies", "peerDependencies"].iter();
        json.as_ref().is_some_and(|json| keys.any(|key| json[key].get(name).is_some()))
    };
    PACKAGES.iter().filter(|(name, _)| depends(name)).flat_map(|(_, tags)| *tags).copied().collect()
}

/// The texts of the files in evidence, by position; files that are none or not readable are left out.
pub(crate) fn contents(evidence: &Evidence, roots: &Roots, allowed: &[PathBuf]) -> Vec<(usize, String)> {
    let read = |at: usize| {
        let seen = &evidence.paths[at];
        let file = real(&Path::new(&roots.roots[seen.root].path).join(&seen.path), allowed)?.ok()?;
        let mut bytes = bounded::read(&file, MAX_BYTES).ok()??;
        bytes.truncate(MAX_BYTES);
        Some((at, String::from_utf8_lossy(&bytes).into_owned()))
    };
    (0..evidence.paths.len()).filter_map(read).collect()
}

/// Where a file really lies: a link may lead out of what is allowed, and what lies there is nobody's evidence.
fn real(path: &Path, allowed: &[PathBuf]) -> Option<Result<PathBuf, PathBuf>> {
    let real = fs::canonicalize(path).ok()?;
    Some(if allowed.iter().any(|folder| real.starts_with(folder)) { Ok(real) } else { Err(real) })
}
