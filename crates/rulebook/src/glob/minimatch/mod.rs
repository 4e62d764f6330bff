//! minimatch's dialect: braces are expanded, then each segment of the pattern is matched separately.

mod class;
mod segment;

use super::braces;
use super::error::GlobError;
use super::regex::Node;

/// The expression for a pattern without its leading `!`.
pub(super) fn translate(pattern: &str) -> Result<Node, GlobError> {
    let mut patterns = braces::expand(pattern)?;
    patterns.sort_unstable();
    patterns.dedup();
    Node::whole(patterns.iter().map(|pattern| translate_expanded(pattern)))
}

/// The expression for a pattern without braces.
fn translate_expanded(pattern: &str) -> Result<Node, GlobError> {
    let segments = segments(pattern);
    let walkable = walkable();
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
        nodes.push(segment::translate(segment)?);
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
fn walkable() -> Node {
    Node::Sequence(vec![Node::visible_unit(), Node::any_number(Node::segment_unit())])
}
