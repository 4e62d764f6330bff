//! Looking rules up by name: as a source path, then as a key, then as a name or id.

use std::collections::HashMap;

use crate::format::FormatId;
use crate::id::normalize_id;
use crate::rule::Rule;

/// Finds the rules that each name refers to, in order. The first kind of name that some rule has counts.
///
/// All names are looked up together: the cost is linear in the number of rules and names.
pub(super) fn lookup(rules: &[Box<Rule>], names: &[&str]) -> Vec<Vec<usize>> {
    let mut found = vec![Vec::new(); names.len()];
    if names.is_empty() {
        return found;
    }
    let index = Index::new(names);
    for kind in [Kind::Path, Kind::Key, Kind::Id] {
        let is_open: Vec<bool> = found.iter().map(Vec::is_empty).collect();
        for (at, rule) in rules.iter().enumerate() {
            let names = index.find(kind, rule).iter().filter(|name| is_open[**name]);
            names.for_each(|name| found[*name].push(at));
        }
    }
    found
}

/// What a name is taken for.
#[derive(Clone, Copy)]
enum Kind {
    Path,
    Key,
    Id,
}

/// The positions of names, by what they could be.
struct Index<'n> {
    paths: HashMap<&'n str, Vec<usize>>,
    keys: HashMap<(String, FormatId), Vec<usize>>,
    ids: HashMap<String, Vec<usize>>,
}

impl<'n> Index<'n> {
    fn new(names: &[&'n str]) -> Index<'n> {
        let mut index = Index { paths: HashMap::new(), keys: HashMap::new(), ids: HashMap::new() };
        for (at, name) in names.iter().enumerate() {
            index.paths.entry(name).or_default().push(at);
            index.ids.entry(normalize_id(name)).or_default().push(at);
            if let Some((id, format)) = FormatId::split_key(name) {
                index.keys.entry((normalize_id(id), format)).or_default().push(at);
            }
        }
        index
    }

    /// Returns the positions of the names of that kind that a rule has.
    fn find(&self, kind: Kind, rule: &Rule) -> &[usize] {
        let origin = &rule.origin;
        let found = match kind {
            Kind::Path => {
                self.paths.get(origin.display.as_str()).or_else(|| self.paths.get(origin.path.as_str()))
            }
            Kind::Key if self.keys.is_empty() => None,
            Kind::Key => self.keys.get(&(rule.id.clone(), origin.format.id)),
            Kind::Id => self.ids.get(&rule.id).or_else(|| self.paths.get(rule.name.as_str())),
        };
        found.map_or(&[], Vec::as_slice)
    }
}
