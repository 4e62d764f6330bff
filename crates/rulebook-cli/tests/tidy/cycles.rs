//! Import cycles: a module may not import, directly or through others, a module that imports it.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use regex::{Captures, Regex};

use crate::{files, root};

#[test]
fn no_module_imports_itself_through_others() {
    let mut found = Vec::new();
    for name in ["rulebook", "rulebook-workspace", "rulebook-cli"] {
        let files = Modules::read(&root().join("crates").join(name).join("src")).imports();
        assert!(files.values().any(|imported| imported.len() > 5), "no imports of {name} are found");
        let mut rooms = Imports::new();
        for (module, imported) in &files {
            let others = imported.iter().map(|other| top(other)).filter(|other| *other != top(module));
            rooms.entry(top(module).to_owned()).or_default().extend(others.map(str::to_owned));
        }
        found.extend([rooms, files].iter().flat_map(cycles).map(|cycle| (name, cycle)));
    }
    assert!(found.is_empty(), "import cycles: {found:#?}");
}

fn top(module: &str) -> &str {
    module.split("::").next().unwrap_or_default()
}

/// What each module imports. The crate's root is the module `""`.
type Imports = BTreeMap<String, BTreeSet<String>>;

/// Groups of modules that reach each other.
fn cycles(imports: &Imports) -> Vec<Vec<String>> {
    let reach: BTreeMap<&str, BTreeSet<&str>> =
        imports.keys().map(|module| (module.as_str(), reached(imports, module))).collect();
    let mut found: BTreeSet<Vec<String>> = BTreeSet::new();
    for (module, reached) in reach.iter().filter(|(module, reached)| reached.contains(*module)) {
        let is_back = |other: &&&str| reach.get(**other).is_some_and(|back| back.contains(module));
        found.insert(reached.iter().filter(is_back).map(|other| (*other).to_owned()).collect());
    }
    found.into_iter().collect()
}

fn reached<'i>(imports: &'i Imports, module: &str) -> BTreeSet<&'i str> {
    let mut found = BTreeSet::new();
    let mut open: Vec<&str> = imports[module].iter().map(String::as_str).collect();
    while let Some(next) = open.pop() {
        if found.insert(next) {
            open.extend(imports.get(next).into_iter().flatten().map(String::as_str));
        }
    }
    found
}

/// The modules of a crate, without its tests.
struct Modules(BTreeMap<String, Module>);

struct Module {
    uses: Vec<Use>,
    /// The code without its `use` items.
    rest: String,
}

struct Use {
    is_public: bool,
    path: String,
    /// The name it has here.
    name: String,
}

impl Modules {
    fn read(src: &Path) -> Modules {
        let is_code = |module: &String| !module.split("::").any(|name| name == "tests");
        let all = files(src, "rs").into_iter().map(|file| {
            let path = file.strip_prefix(src).unwrap().with_extension("").display().to_string();
            let module = path.replace('/', "::");
            let module = module.strip_suffix("::mod").unwrap_or(if module == "lib" { "" } else { &module });
            (module.to_owned(), Module::read(&fs::read_to_string(&file).unwrap()))
        });
        Modules(all.filter(|(module, _)| is_code(module)).collect())
    }

    /// Which module imports items of which. An item that is exported again counts where it is defined.
    fn imports(&self) -> Imports {
        let path = Regex::new(r"\b(?:[a-z_][a-z0-9_]*::)+[A-Za-z_]\w*").unwrap();
        let mut imports = Imports::new();
        for (name, module) in &self.0 {
            let mut found = BTreeSet::new();
            let mut aliases = BTreeMap::new();
            for one in module.uses.iter().filter(|one| !one.is_public || self.is_module(name, &one.path)) {
                let Some(path) = self.absolute(name, &one.path) else { continue };
                match self.defined(&path) {
                    (other, true) => drop(found.insert(other)),
                    (_, false) => drop(aliases.insert(one.name.as_str(), path)),
                }
            }
            for used in path.find_iter(&module.rest) {
                let (first, rest) = used.as_str().split_once("::").unwrap();
                let path = match aliases.get(first) {
                    Some(path) => Some(format!("{path}::{rest}")),
                    None => self.absolute(name, used.as_str()),
                };
                if let Some((other, true)) = path.map(|path| self.defined(&path)) {
                    found.insert(other);
                }
            }
            found.remove(name);
            imports.insert(name.clone(), found);
        }
        imports
    }

    fn is_module(&self, module: &str, path: &str) -> bool {
        self.absolute(module, path).is_some_and(|path| !self.defined(&path).1)
    }

    /// A path from the crate's root; nothing for what is outside the crate.
    fn absolute(&self, module: &str, path: &str) -> Option<String> {
        let join = |above: &str, rest: &str| {
            if above.is_empty() { rest.to_owned() } else { format!("{above}::{rest}") }
        };
        let (first, rest) = path.split_once("::").unwrap_or((path, ""));
        match first {
            "crate" => Some(rest.to_owned()),
            "self" => Some(join(module, rest)),
            "super" => {
                let above = module.rsplit_once("::").map_or("", |(above, _)| above);
                if rest.starts_with("super") { self.absolute(above, rest) } else { Some(join(above, rest)) }
            }
            _ => self.0.contains_key(&join(module, first)).then(|| join(module, path)),
        }
    }

    /// The module that defines what a path names, and whether that is an item rather than the module itself.
    fn defined(&self, path: &str) -> (String, bool) {
        let ends = path.match_indices("::").map(|(at, _)| at).chain([path.len()]);
        let module =
            ends.map(|end| &path[..end]).filter(|start| self.0.contains_key(*start)).last().unwrap_or("");
        let rest = path[module.len()..].trim_start_matches("::");
        let item = rest.split("::").next().unwrap_or_default();
        if item.is_empty() || item == "self" {
            return (module.to_owned(), false);
        }
        let exported = self.0[module].uses.iter().find(|one| one.is_public && one.name == item);
        let origin = exported.and_then(|one| self.absolute(module, &one.path));
        match origin.filter(|origin| origin != path) {
            Some(origin) => self.defined(&[&origin, &rest[item.len()..]].concat()),
            None => (module.to_owned(), item != "*"),
        }
    }
}

impl Module {
    fn read(text: &str) -> Module {
        let item = Regex::new(r"(pub(?:\([^)]*\))?\s+)?\buse\s+([^;]+);").unwrap();
        let tests = Regex::new(r"\n#\[cfg\(test\)\]\s*mod \w+ \{").unwrap();
        let text = tests.split(text).next().unwrap_or_default();
        let code = Regex::new(r#"//[^\n]*|"(?:\\.|[^"\\])*""#).unwrap().replace_all(text, "");
        let mut uses = Vec::new();
        let rest = item.replace_all(&code, |found: &Captures<'_>| {
            let tree = Regex::new(r"\s+").unwrap().replace_all(&found[2], " ").into_owned();
            expand(&tree, found.get(1).is_some(), &mut uses);
            String::new()
        });
        Module { rest: rest.into_owned(), uses }
    }
}

/// The single paths of a `use` tree.
fn expand(tree: &str, is_public: bool, uses: &mut Vec<Use>) {
    let tree = tree.trim();
    if let Some((start, inner)) = tree.strip_suffix('}').and_then(|tree| tree.split_once('{')) {
        let mut depth = 0;
        let parts = inner.split(|c: char| {
            depth += i32::from(c == '{') - i32::from(c == '}');
            c == ',' && depth == 0
        });
        let parts: Vec<&str> = parts.filter(|part| !part.trim().is_empty()).collect();
        return parts.iter().for_each(|part| expand(&format!("{start}{}", part.trim()), is_public, uses));
    }
    let (path, alias) = tree.split_once(" as ").map_or((tree, None), |(path, alias)| (path, Some(alias)));
    let path = path.strip_suffix("::self").unwrap_or(path).to_owned();
    let name = alias.unwrap_or_else(|| path.rsplit("::").next().unwrap_or_default()).to_owned();
    uses.push(Use { is_public, path, name });
}
