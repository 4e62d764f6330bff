//! Facts that conditions look up on disk: the tags of a workspace, and the contents of files.

use std::path::{Path, PathBuf};

use rulebook::diagnostic::{Code, Diagnostic};
use rulebook::evidence::{Evidence, Root, Roots};
use rulebook::syntax::FileText;

use crate::homes::Homes;
use crate::storage::Storage;

/// Storage at a root, and the tags they imply.
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

/// Dependencies in a `package.json`, and the tags they imply.
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

/// The most bytes that are read of a manifest, and of a file for the `content` condition.
const MAX_BYTES: usize = 1 << 20;

/// A file at a root, its tags and its canonical path; an error if that is outside, and then it has no tags.
type Marker = (&'static str, &'static [&'static str], Result<PathBuf, PathBuf>);

fn markers(files: &Storage, root: &Path, allowed: &[PathBuf]) -> impl Iterator<Item = Marker> {
    let existing =
        MARKERS.iter().map(|(name, tags)| (name, tags, root.join(name))).filter(|row| files.is_file(&row.2));
    existing.filter_map(|(name, tags, path)| Some((*name, *tags, real(files, &path, allowed)?)))
}

/// The tags that the files at a root imply; sorted.
pub(crate) fn derived_tags(files: &Storage, root: &Path, allowed: &[PathBuf]) -> Vec<String> {
    let mut tags = Vec::new();
    for (name, own, file) in markers(files, root, allowed) {
        let Ok(file) = file else { continue };
        tags.extend(own.iter().copied());
        if name == "package.json" {
            tags.extend(packages(files, &file, allowed));
        }
    }
    tags.sort_unstable();
    tags.dedup();
    tags.into_iter().map(str::to_owned).collect()
}

/// Reports the files at the roots that imply no tags because they are links to the outside.
pub(crate) fn report_outside(
    files: &Storage,
    roots: &Roots,
    homes: &Homes,
    allowed: &[PathBuf],
) -> Vec<Diagnostic> {
    let mut reported = Vec::new();
    for Root { name: root, path, .. } in &roots.roots {
        let prefix = if roots.roots.len() > 1 { format!("{root}/") } else { String::new() };
        for (name, _, file) in markers(files, Path::new(path), allowed) {
            let Err(target) = file else { continue };
            let target = homes.shown(&target);
            let message = format!("this link points to `{target}`, outside its root, and implies no tags");
            reported.push(Diagnostic::whole(Code::OutsideRoot, format!("{prefix}{name}"), message));
        }
    }
    reported
}

/// The tags of the dependencies of a `package.json`.
fn packages(files: &Storage, manifest: &Path, allowed: &[PathBuf]) -> Vec<&'static str> {
    let bytes = files.allowed_prefix(manifest, MAX_BYTES, |real| is_allowed(real, allowed)).ok().flatten();
    let json = bytes.and_then(|bytes| serde_json::from_slice::<serde_json::Value>(&bytes).ok());
    let depends = |name: &str| {
        let mut keys = ["dependencies", "devDependencies", "peerDependencies"].iter();
        json.as_ref().is_some_and(|json| keys.any(|key| json[key].get(name).is_some()))
    };
    PACKAGES.iter().filter(|(name, _)| depends(name)).flat_map(|(_, tags)| *tags).copied().collect()
}

/// The contents of the files in evidence, by position; unreadable files are left out.
pub(crate) fn contents(
    files: &Storage,
    evidence: &Evidence,
    roots: &Roots,
    allowed: &[PathBuf],
) -> Vec<(usize, String)> {
    let content = |at: usize| {
        let seen = &evidence.paths[at];
        let file = Path::new(&roots.roots[seen.root].path).join(&seen.path);
        // A link may lead outside, whose files are not evidence.
        let bytes = files.allowed_prefix(&file, MAX_BYTES, |real| is_allowed(real, allowed)).ok()??;
        Some((at, String::from_utf8_lossy(&bytes).into_owned()))
    };
    (0..evidence.paths.len()).filter_map(content).collect()
}

fn is_allowed(real: &Path, allowed: &[PathBuf]) -> bool {
    allowed.iter().any(|folder| real.starts_with(folder))
}

/// Reads files of a workspace as they are now.
#[derive(Clone, Debug)]
pub struct FileTexts {
    files: Storage,
    roots: Vec<PathBuf>,
    allowed: Vec<PathBuf>,
}

impl FileTexts {
    pub(crate) fn new(files: &Storage, roots: &Roots, allowed: Vec<PathBuf>) -> FileTexts {
        FileTexts {
            files: files.clone(),
            roots: roots.roots.iter().map(|root| PathBuf::from(&root.path)).collect(),
            allowed,
        }
    }

    /// The text of a file of at most `limit` bytes. What is outside of what may be read counts as absent.
    pub fn text(&self, root: usize, path: &str, limit: usize) -> FileText {
        let Some(root) = self.roots.get(root) else { return FileText::Absent };
        let allows = |real: &Path| is_allowed(real, &self.allowed);
        match self.files.allowed_prefix(&root.join(path), limit + 1, allows) {
            Ok(Some(bytes)) if bytes.len() > limit => FileText::TooLong,
            Ok(Some(bytes)) => String::from_utf8(bytes).map_or(FileText::Absent, FileText::Text),
            _ => FileText::Absent,
        }
    }
}

/// The canonical path; an error if a link leads outside the allowed folders.
fn real(files: &Storage, path: &Path, allowed: &[PathBuf]) -> Option<Result<PathBuf, PathBuf>> {
    let real = files.canonical(path).ok()?;
    Some(if is_allowed(&real, allowed) { Ok(real) } else { Err(real) })
}
