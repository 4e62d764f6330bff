//! Paths of the evidence: any spelling a host uses, made relative to the root that contains it.

use std::borrow::Cow;

use crate::id::percent_decoded;

/// The roots of the workspace.
#[derive(Clone, Debug, Default)]
pub struct Roots {
    /// At least one in an open workspace.
    pub roots: Vec<Root>,
    /// The home folder, for `~`.
    pub home: Option<String>,
}

/// One root.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Root {
    /// The name of its folder.
    pub name: String,
    /// Absolute, with `/` as the separator and without a trailing slash (except for `/` itself).
    pub path: String,
    /// Other names of the folder: the path as given, if that is a link, and links through which paths were named.
    pub aliases: Vec<String>,
}

/// The location of a path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PathLocation {
    /// Below a root.
    Inside {
        /// The index of the root.
        root: usize,
        /// The path relative to the root.
        path: String,
    },
    /// A root itself.
    Root(usize),
    /// Outside of every root.
    Outside,
}

impl Roots {
    /// Finds the root of a path. A relative path belongs to the first root in which it exists, otherwise to the first root.
    pub fn locate(&self, path: &str, exists: &dyn Fn(usize, &str) -> bool) -> PathLocation {
        let path = path.trim();
        let path = match path.strip_prefix("file://") {
            Some(uri) => percent_decoded(uri),
            None if path.contains('\\') => Cow::Owned(path.replace('\\', "/")),
            None => Cow::Borrowed(path),
        };
        let path = path.as_ref();
        if let Some(rest) = path.strip_prefix("~/") {
            return self
                .home
                .as_ref()
                .map_or(PathLocation::Outside, |home| self.locate_absolute(&format!("{home}/{rest}")));
        }
        if path.is_empty() || is_absolute(path) {
            return if path.is_empty() { PathLocation::Outside } else { self.locate_absolute(path) };
        }
        let in_root = |root: &Root| self.locate_absolute(&[&root.path, "/", path].concat());
        let is_there = |location: &PathLocation| matches!(location, PathLocation::Inside { root, path } if exists(*root, path));
        self.roots.iter().skip(1).fold(
            self.roots.first().map_or(PathLocation::Outside, in_root),
            |found, root| {
                if is_there(&found) { found } else { Some(in_root(root)).filter(is_there).unwrap_or(found) }
            },
        )
    }

    /// Returns the spelling of a path by which [`locate`](Roots::locate) finds it again: absolute if there are several
    /// roots.
    pub fn address(&self, root: usize, path: &str) -> String {
        match self.roots.as_slice() {
            [] | [_] => path.to_owned(),
            roots => [&roots[root].path, "/", path].concat(),
        }
    }

    /// Returns a path for display. With several roots, the name of the root comes first.
    pub fn shown(&self, root: usize, path: &str) -> String {
        match self.roots.get(root).filter(|_| self.roots.len() > 1) {
            Some(root) if path.is_empty() => root.name.clone(),
            Some(root) => format!("{}/{path}", root.name),
            None if path.is_empty() => ".".to_owned(),
            None => path.to_owned(),
        }
    }

    /// The path of a mention: `@src/a.ts` and `@/src/a.ts` are relative to a root.
    pub(super) fn mentioned_path(&self, mention: &str, exists: &dyn Fn(usize, &str) -> bool) -> String {
        let path = mention.trim().trim_start_matches('@').trim_matches('"');
        match path.strip_prefix('/') {
            Some(relative) if self.locate(path, exists) == PathLocation::Outside => relative.to_owned(),
            _ => path.to_owned(),
        }
    }

    /// The longest root that contains an absolute path.
    fn locate_absolute(&self, path: &str) -> PathLocation {
        let path = resolve(path);
        self.roots
            .iter()
            .enumerate()
            .flat_map(|(at, root)| {
                std::iter::once(&root.path).chain(&root.aliases).map(move |path| (at, path))
            })
            .filter_map(|(at, root)| Some((root.len(), at, below(&path, root)?)))
            .max_by_key(|(len, at, _)| (*len, std::cmp::Reverse(*at)))
            .map_or(PathLocation::Outside, |(_, root, rest)| match rest {
                "" => PathLocation::Root(root),
                rest => PathLocation::Inside { root, path: rest.to_owned() },
            })
    }
}

/// Whether a path with `/` as the separator is absolute.
pub(crate) fn is_absolute(path: &str) -> bool {
    path.starts_with('/') || drive(path).is_some()
}

fn drive(path: &str) -> Option<char> {
    let mut chars = path.chars();
    let letter = chars.next().filter(char::is_ascii_alphabetic)?;
    (chars.next() == Some(':') && matches!(chars.next(), None | Some('/'))).then_some(letter)
}

/// The path without `.`, `..` and empty segments, and with a lower-case drive letter. Does not access the disk.
fn resolve(path: &str) -> Cow<'_, str> {
    let is_plain = |part: &[u8]| !matches!(part, b"" | b"." | b"..");
    // By bytes, because it is asked for each path of a session.
    if path.strip_prefix('/').is_some_and(|rest| rest.as_bytes().split(|byte| *byte == b'/').all(is_plain)) {
        return Cow::Borrowed(path);
    }
    let (prefix, rest) = match drive(path) {
        Some(letter) => (format!("{}:", letter.to_ascii_lowercase()), &path[2..]),
        None => (String::new(), path),
    };
    let mut parts: Vec<&str> = Vec::new();
    for part in rest.split('/') {
        match part {
            "" | "." => {}
            ".." => drop(parts.pop()),
            part => parts.push(part),
        }
    }
    Cow::Owned(format!("{prefix}/{}", parts.join("/")))
}

fn below<'p>(path: &'p str, root: &str) -> Option<&'p str> {
    let root = resolve(root);
    let rest = path.strip_prefix(root.trim_end_matches('/'))?;
    if rest.is_empty() { Some(rest) } else { rest.strip_prefix('/') }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_spelling_of_a_path_is_located() {
        let root = |path: &str| Root { path: path.to_owned(), ..Root::default() };
        let roots = Roots {
            roots: vec![
                root("/w/app"),
                root("/w/app/packages/core"),
                root("C:/repo"),
                Root { aliases: vec!["/link/to/lib".to_owned()], ..root("/w/lib") },
            ],
            home: Some("/w".to_owned()),
        };
        let on_disk = |root: usize, path: &str| (root, path) == (3, "only/lib.ts");
        let check = |path: &str, wanted: Option<(usize, &str)>| {
            let found = match roots.locate(path, &on_disk) {
                PathLocation::Inside { root, path } => Some((root, path)),
                PathLocation::Root(root) => Some((root, String::new())),
                PathLocation::Outside => None,
            };
            assert_eq!(found, wanted.map(|(root, path)| (root, path.to_owned())), "{path}");
        };
        check("src/a.ts", Some((0, "src/a.ts")));
        check("./src//b/../a.ts", Some((0, "src/a.ts")));
        check("src\\web\\a.ts", Some((0, "src/web/a.ts")));
        check("/w/app/src/a.ts", Some((0, "src/a.ts")));
        check("/w/app/packages/core/x.rs", Some((1, "x.rs")));
        check("packages/core/x.rs", Some((1, "x.rs")));
        check("c:\\repo\\src\\a.ts", Some((2, "src/a.ts")));
        check("C:/repo/src/a.ts", Some((2, "src/a.ts")));
        check("only/lib.ts", Some((3, "only/lib.ts")));
        check("file:///w/lib/a%20b.ts", Some((3, "a b.ts")));
        check("~/lib/a.ts", Some((3, "a.ts")));
        check("/link/to/lib/a.ts", Some((3, "a.ts")));
        check("../lib/a.ts", Some((3, "a.ts")));
        check("/w/app", Some((0, "")));
        check(".", Some((0, "")));
        check("/etc/passwd", None);
        check("../../etc/passwd", None);
        check("/w/application/a.ts", None);
        check("..foo/a.ts", Some((0, "..foo/a.ts")));
        check("", None);
    }
}
