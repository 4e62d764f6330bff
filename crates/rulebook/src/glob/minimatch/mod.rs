//! Minimatch's dialect: braces are expanded, then every folder's part of the pattern stands alone.

mod class;
mod portion;

use super::braces;
use super::error::GlobError;
use super::regex::Node;

/// What minimatch is told beside the pattern.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Options {
    /// Wildcards take names that begin with a dot.
    pub(super) dot: bool,
    /// A pattern without a slash is found at any depth.
    pub(super) match_base: bool,
}

/// The expression for a pattern without its leading `!`.
pub(super) fn translate(pattern: &str, options: Options) -> Result<Node, GlobError> {
    let mut patterns = braces::expand(pattern)?;
    patterns.sort_unstable();
    patterns.dedup();
    Node::whole(patterns.iter().map(|pattern| row(pattern, options)))
}

/// One pattern without braces, matched folder by folder.
fn row(pattern: &str, options: Options) -> Result<Node, GlobError> {
    let mut parts = parts(pattern);
    if options.match_base && parts.len() == 1 {
        parts.insert(0, GLOBSTAR);
        parts.dedup();
    }
    let walkable = walkable(options);
    let mut nodes = Vec::new();
    for (at, part) in parts.iter().enumerate() {
        let is_last = at + 1 == parts.len();
        if *part == GLOBSTAR {
            nodes.push(Node::any_number(Node::Sequence(vec![walkable.clone(), Node::char('/')])));
            if is_last {
                nodes.push(Node::optional(walkable.clone()));
            }
            continue;
        }
        nodes.push(portion::translate(part, options.dot)?);
        match is_last {
            false => nodes.push(Node::char('/')),
            // Without a slash of its own it may be a folder all the same.
            true if !part.is_empty() => nodes.push(Node::optional(Node::char('/'))),
            true => {}
        }
    }
    Ok(Node::Sequence(nodes))
}

const GLOBSTAR: &str = "**";

/// Split at slashes, with `..` and repeated `**` resolved.
fn parts(pattern: &str) -> Vec<&str> {
    let mut parts: Vec<&str> = Vec::new();
    let pieces: Vec<&str> = pattern.split('/').collect();
    let last = pieces.len() - 1;
    let pieces = pieces.into_iter().enumerate().filter(|(at, piece)| {
        // Slashes in a row are one; at either end there is a part without a name.
        !piece.is_empty() || *at == 0 || *at == last
    });
    let mut before = None;
    for (_, piece) in pieces {
        if piece.is_empty() && before == Some("") {
            continue;
        }
        before = Some(piece);
        match (piece, parts.last()) {
            (GLOBSTAR, Some(&GLOBSTAR)) => {}
            ("..", Some(&last)) if !matches!(last, "" | "." | ".." | GLOBSTAR) => {
                parts.pop();
            }
            _ => parts.push(piece),
        }
    }
    if parts.is_empty() { vec![""] } else { parts }
}

/// A folder that `**` walks over.
fn walkable(options: Options) -> Node {
    let first = if options.dot { Node::segment_unit() } else { Node::visible_unit() };
    Node::Sequence(vec![first, Node::any_number(Node::segment_unit())])
}
