//! The literals that every match of an expression has, so that only paths that have them are matched.

use super::class::{DOT, SLASH};
use super::node::{Assertion, Node, Step};

/// Literals that every match has, ignoring trailing slashes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(in super::super) struct Literals {
    /// What it starts with.
    pub(in super::super) prefix: String,
    /// What it ends with.
    pub(in super::super) suffix: String,
    /// What its last segment starts with, up to the first dot there.
    pub(in super::super) stem: Option<String>,
}

impl Node {
    pub(super) fn literals(&self) -> Literals {
        if !self.is_anchored() {
            return Literals::default();
        }
        let mut prefix = Vec::new();
        self.collect_prefix(&mut prefix);
        let mut suffix = Vec::new();
        self.collect_suffix(&mut suffix, true);
        suffix.reverse();
        let stem = self.stem().and_then(|stem| String::from_utf16(&stem).ok());
        Literals { prefix: decode_start(&prefix), suffix: decode_end(&suffix), stem }
    }

    /// Collects literals from the start; false if something else follows.
    fn collect_prefix(&self, units: &mut Vec<u16>) -> bool {
        match self {
            Node::One(Step::Unit(unit)) => {
                units.push(*unit);
                true
            }
            Node::Assert(_) | Node::LookAhead { .. } => true,
            Node::Sequence(nodes) => nodes.iter().all(|node| node.collect_prefix(units)),
            Node::Either(nodes) => collect_common(nodes, units, Node::collect_prefix),
            _ => false,
        }
    }

    /// Collects literals from the end. Slashes at the very end do not count.
    fn collect_suffix(&self, units: &mut Vec<u16>, is_end: bool) -> bool {
        let is_end = is_end && units.is_empty();
        match self {
            Node::One(Step::Unit(SLASH)) if is_end => true,
            Node::One(Step::Unit(unit)) => {
                units.push(*unit);
                true
            }
            Node::Assert(_) | Node::LookAhead { .. } => true,
            Node::Sequence(nodes) => nodes.iter().rev().all(|node| node.collect_suffix(units, is_end)),
            Node::Either(nodes) => collect_common(nodes, units, |node, own| node.collect_suffix(own, is_end)),
            Node::Repeat { body, .. } => is_end && **body == Node::One(Step::Unit(SLASH)),
            _ => false,
        }
    }

    /// What the last segment of every match starts with, up to its first dot.
    fn stem(&self) -> Option<Vec<u16>> {
        let mut nodes = Vec::new();
        self.flatten(&mut nodes);
        if let [Node::Assert(Assertion::Start), Node::Either(whole), Node::Assert(Assertion::End)] = nodes[..]
        {
            let mut stems = whole.iter().map(Node::stem);
            let first = stems.next()??;
            return stems.all(|stem| stem.as_ref() == Some(&first)).then_some(first);
        }
        let end = nodes.iter().rposition(|node| !node.is_end()).map_or(0, |at| at + 1);
        let inside = nodes[..end].iter().rposition(|node| node.may_take_slash()).map_or(0, |at| at + 1);
        if !is_boundary(&nodes[..inside]) {
            return None;
        }
        let mut stem = Vec::new();
        for node in &nodes[inside..end] {
            match node {
                Node::One(Step::Unit(DOT)) => return Some(stem),
                Node::One(Step::Unit(unit)) => stem.push(*unit),
                Node::Assert(_) | Node::LookAhead { .. } => {}
                _ => return None,
            }
        }
        (!stem.is_empty()).then_some(stem)
    }

    /// Splits sequences into their parts.
    fn flatten<'n>(&'n self, parts: &mut Vec<&'n Node>) {
        match self {
            Node::Sequence(nodes) => nodes.iter().for_each(|node| node.flatten(parts)),
            node => parts.push(node),
        }
    }

    /// Whether it matches nothing but slashes.
    fn is_end(&self) -> bool {
        match self {
            Node::One(Step::Unit(unit)) => *unit == SLASH,
            Node::Assert(_) | Node::LookAhead { .. } => true,
            Node::Repeat { body, .. } => body.is_end(),
            _ => false,
        }
    }

    fn may_take_slash(&self) -> bool {
        match self {
            Node::One(Step::Unit(unit)) => *unit == SLASH,
            Node::One(Step::Any | Step::GlobstarUnit) => true,
            Node::One(Step::Class(class)) => class.contains(SLASH),
            Node::Assert(_) | Node::LookAhead { .. } | Node::Not(_) => false,
            Node::Sequence(nodes) | Node::Either(nodes) => nodes.iter().any(Node::may_take_slash),
            Node::Repeat { body, .. } => body.may_take_slash(),
        }
    }

    /// Whether every match ends in a slash.
    fn ends_in_slash(&self) -> bool {
        match self {
            Node::One(Step::Unit(unit)) => *unit == SLASH,
            Node::Sequence(nodes) => {
                let mut last = nodes.iter().rev().skip_while(|node| node.is_empty());
                last.next().is_some_and(Node::ends_in_slash)
            }
            Node::Either(nodes) => !nodes.is_empty() && nodes.iter().all(Node::ends_in_slash),
            Node::Repeat { body, min, .. } => *min > 0 && body.ends_in_slash(),
            _ => false,
        }
    }

    /// Whether it matches the empty text only.
    fn is_empty(&self) -> bool {
        match self {
            Node::Assert(_) | Node::LookAhead { .. } => true,
            Node::Sequence(nodes) => nodes.iter().all(Node::is_empty),
            _ => false,
        }
    }
}

/// Whether everything that these match is empty or ends in a slash: a segment starts after them.
fn is_boundary(nodes: &[&Node]) -> bool {
    for node in nodes.iter().rev() {
        match node {
            Node::Assert(Assertion::Start) => return true,
            node if node.is_empty() => {}
            node if node.ends_in_slash() => return true,
            Node::Repeat { body, .. } if body.ends_in_slash() => {}
            _ => return false,
        }
    }
    true
}

/// Collects what all alternatives have in common; false if that is not all of them.
fn collect_common(
    nodes: &[Node],
    units: &mut Vec<u16>,
    collect: impl Fn(&Node, &mut Vec<u16>) -> bool,
) -> bool {
    let mut common: Option<Vec<u16>> = None;
    let mut is_all = true;
    for node in nodes {
        let mut own = Vec::new();
        is_all &= collect(node, &mut own);
        let Some(known) = &mut common else {
            common = Some(own);
            continue;
        };
        let shared = known.iter().zip(&own).take_while(|(one, other)| one == other).count();
        is_all &= shared == known.len() && shared == own.len();
        known.truncate(shared);
        if shared == 0 {
            return false;
        }
    }
    units.extend(common.unwrap_or_default());
    is_all
}

fn decode_start(units: &[u16]) -> String {
    char::decode_utf16(units.iter().copied()).map_while(Result::ok).collect()
}

fn decode_end(units: &[u16]) -> String {
    let decoded: Vec<_> = char::decode_utf16(units.iter().copied()).collect();
    let bad = decoded.iter().rposition(Result::is_err).map_or(0, |at| at + 1);
    decoded.into_iter().skip(bad).filter_map(Result::ok).collect()
}

#[cfg(test)]
mod tests {
    use super::super::super::{Dialect, Glob};

    /// What is known about every match: the folder, the last segment, and its start.
    #[track_caller]
    fn check(dialect: Dialect, pattern: &str, root: &str, last: &str, stem: Option<&str>) {
        let glob = Glob::new(pattern, dialect).unwrap();
        let found = (glob.root(), format!("{:?}", glob.last()), glob.stem());
        assert_eq!(found, (root, last.to_owned(), stem), "`{pattern}`");
    }

    #[test]
    fn alternatives_have_the_literals_that_they_share() {
        let any = "{**/,**/.*/,**/.*/**/}";
        let minimatch = |pattern: &str, root, last, stem| {
            check(Dialect::Minimatch, &pattern.replace("ANY", any), root, last, stem);
        };
        minimatch("apps/web/ANY{*,.*,}.ts", "apps/web", "Extension(\"ts\")", None);
        minimatch("apps/ANY{*,.*,}.{ts,md}", "apps", "Unknown", None);
        minimatch("{ab,ac}/ANYx.*", "", "Unknown", Some("x"));
        minimatch("a/{b,b/c}/ANYx", "a/b", "Unknown", Some("x"));
        minimatch("ANYf17.*", "", "Unknown", Some("f17"));
        minimatch("ANYf{1,2}.*", "", "Unknown", None);
        minimatch("**/", "", "Unknown", None);
    }

    #[test]
    fn a_line_of_a_gitignore_knows_its_stem() {
        let glob = Glob::new("**/f17.*", Dialect::Claude).unwrap();
        let entries = glob.entries().unwrap();
        assert_eq!(entries.iter().map(Glob::stem).collect::<Vec<_>>(), [Some("f17")]);
    }
}
