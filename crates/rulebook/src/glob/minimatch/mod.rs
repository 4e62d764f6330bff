//! minimatch's dialect: braces are expanded, then each segment of the pattern is matched separately.

mod class;
mod segment;

use super::braces;
use super::error::GlobError;
use super::regex::Node;

/// The options of minimatch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Options {
    /// Wildcards match names that start with a dot.
    pub(super) dot: bool,
    /// A pattern without a slash matches at any depth.
    pub(super) match_base: bool,
}

/// The expression for a pattern without its leading `!`.
pub(super) fn translate(pattern: &str, options: Options) -> Result<Node, GlobError> {
    let mut patterns = braces::expand(pattern)?;
    patterns.sort_unstable();
    patterns.dedup();
    Node::whole(patterns.iter().map(|pattern| translate_expanded(pattern, options)))
}

/// The expression for a pattern without braces.
fn translate_expanded(pattern: &str, options: Options) -> Result<Node, GlobError> {
    let mut segments = segments(pattern);
    if options.match_base && segments.len() == 1 {
        segments.insert(0, GLOBSTAR);
        segments.dedup();
    }
    let walkable = walkable(options);
    let mut nodes = Vec::new();
    for (at, segment) in segments.iter().enumerate() {
        let is_last = at + 1 == segments.len();
        if *segment == GLOBSTAR {
            nodes.push(Node::any_number(Node::Sequence(vec![walkable.clone(), Node::char('/')])));
            if is_last {
                nodes.push(Node::optional(walkable.clone()));
            }
            continue;
        }
        nodes.push(segment::translate(segment, options.dot)?);
        match is_last {
            false => nodes.push(Node::char('/')),
            // The pattern has no trailing slash, but may match a folder.
            true if !segment.is_empty() => nodes.push(Node::optional(Node::char('/'))),
            true => {}
        }
    }
    Ok(Node::Sequence(nodes))
}

const GLOBSTAR: &str = "**";

/// Splits at slashes and resolves `..` and repeated `**`.
fn segments(pattern: &str) -> Vec<&str> {
    let mut segments: Vec<&str> = Vec::new();
    let pieces: Vec<&str> = pattern.split('/').collect();
    let last = pieces.len() - 1;
    let pieces = pieces.into_iter().enumerate().filter(|(at, piece)| {
        // Consecutive slashes count once; a slash at either end leaves an empty segment.
        !piece.is_empty() || *at == 0 || *at == last
    });
    let mut before = None;
    for (_, piece) in pieces {
        if piece.is_empty() && before == Some("") {
            continue;
        }
        before = Some(piece);
        match (piece, segments.last()) {
            (GLOBSTAR, Some(&GLOBSTAR)) => {}
            ("..", Some(&last)) if !matches!(last, "" | "." | ".." | GLOBSTAR) => {
                segments.pop();
            }
            _ => segments.push(piece),
        }
    }
    if segments.is_empty() { vec![""] } else { segments }
}

/// A folder that `**` can match.
fn walkable(options: Options) -> Node {
    let first = if options.dot { Node::segment_unit() } else { Node::visible_unit() };
    Node::Sequence(vec![first, Node::any_number(Node::segment_unit())])
}
