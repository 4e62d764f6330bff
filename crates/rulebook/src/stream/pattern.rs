//! Patterns of triggers: regular expressions in JavaScript's syntax, translated for engines that run in linear time.

mod class;
mod engine;
mod guard;
mod javascript;
#[cfg(test)]
mod tests;

use regex_syntax::ast::{self, Ast};

use super::fallback;
use super::scope::StreamScope;
use crate::work;
pub(super) use class::{ascii_members, contains};
pub use engine::Engine;
pub(super) use engine::{NEVER, NEVER_MATCHES};
pub(super) use guard::guard;
use javascript::Translated;

/// One condition of a trigger.
#[derive(Clone, Debug)]
pub struct Pattern {
    /// The pattern as written.
    pub written: String,
    /// The translated pattern.
    pub regex: String,
    /// The engine that runs it.
    pub engine: Engine,
    /// Whether it matches the empty text: such a condition fires with the first character of output.
    pub matches_empty: bool,
    /// The approximate size of its part of the automaton.
    pub weight: usize,
    /// The maximum number of its states that are active at once, which is the cost of a byte.
    pub active: usize,
    /// Its scope, if it differs from that of the trigger.
    pub scope: Option<StreamScope>,
}

/// The maximum length of a pattern in bytes, and of a pattern for the fallback.
const MAX_LEN: usize = 64 << 10;
const MAX_FALLBACK: usize = 16 << 10;
const MAX_NEST: u32 = 100;
/// The maximum size of the automaton, for one pattern and for all together, and the maximum number of active states.
pub(super) const MAX_WHOLE: usize = 200_000;
const MAX_ACTIVE: usize = 20_000;
/// The maximum number of active states of a pattern without counted repetitions.
const MAX_WRITTEN: usize = 5_000;
/// The same for nested counted repetitions, in which many states are soon active at once.
const MAX_NESTED: usize = 5_000;

/// Whether the pattern is probably meant as a glob: `*.rs`, `src/**/*.ts`.
pub(crate) fn is_glob(written: &str) -> bool {
    let is_plain = !written.contains(['\\', '^', '$', '+', '|', '(', ')', ' ']);
    let starts = written.starts_with("*.") || written.starts_with("**/");
    is_plain && (starts || (written.contains('/') && written.contains("/*")))
}

/// Reads a pattern, or returns why it is invalid.
pub(crate) fn read(written: &str) -> Result<Pattern, String> {
    let within = |limit: usize| {
        let length = written.len();
        if length > limit { Err(format!("it has {length} bytes, the limit is {limit}")) } else { Ok(()) }
    };
    within(MAX_LEN)?;
    let Translated { regex, engine, is_multiline } = javascript::translate(written)?;
    let (matches_empty, size) = match engine {
        Engine::Fallback => {
            within(MAX_FALLBACK)?;
            fallback::check(&regex)?;
            (false, Size::default())
        }
        Engine::Automaton => {
            let parsed = ast::parse::ParserBuilder::new().nest_limit(MAX_NEST).build().parse(&regex);
            let tree = parsed.map_err(|error| error.kind().to_string())?;
            (min_length(&tree, is_multiline)? == 0, Size::of(&tree).check()?)
        }
    };
    let Size { whole: weight, active, .. } = size;
    Ok(Pattern { written: written.to_owned(), regex, engine, matches_empty, weight, active, scope: None })
}

const BEYOND_ENDS: &str =
    "it can never match: without `(?m)`, `^` and `$` match only at the ends of the whole text";

/// The minimum length of a match, or why there is none.
fn min_length(tree: &Ast, is_multiline: bool) -> Result<usize, &'static str> {
    let of = |tree: &Ast| min_length(tree, is_multiline);
    work::count(1);
    match tree {
        Ast::Empty(_) | Ast::Flags(_) | Ast::Assertion(_) => Ok(0),
        Ast::Concat(concat) => {
            let lengths = concat.asts.iter().map(of).collect::<Result<Vec<usize>, _>>()?;
            let total = lengths.iter().fold(0usize, |sum, length| sum.saturating_add(*length));
            let mut before = 0usize;
            for (tree, length) in concat.asts.iter().zip(lengths) {
                let is = |kind| matches!(tree, Ast::Assertion(assertion) if assertion.kind == kind);
                let is_beyond = (is(ast::AssertionKind::StartLine) && before > 0)
                    || (is(ast::AssertionKind::EndLine) && before < total);
                if is_beyond && !is_multiline {
                    return Err(BEYOND_ENDS);
                }
                before = before.saturating_add(length);
            }
            Ok(total)
        }
        Ast::Alternation(alternation) => {
            // An alternative that never matches is ignored.
            let all = alternation.asts.iter().map(of);
            all.min_by_key(|length| length.unwrap_or(usize::MAX)).unwrap_or(Ok(0))
        }
        Ast::Group(group) => of(&group.ast),
        Ast::Repetition(repetition) => match times(&repetition.op.kind) {
            (0, _) => Ok(0),
            (times, _) => of(&repetition.ast).map(|length| length.saturating_mul(times)),
        },
        Ast::ClassBracketed(class) if matches!(class.kind, ast::ClassSet::BinaryOp(_)) => Err(NEVER_MATCHES),
        _ => Ok(1),
    }
}

/// The minimum number of repetitions, and how often the automaton contains the repeated part.
fn times(kind: &ast::RepetitionKind) -> (usize, usize) {
    let (min, max) = match kind {
        ast::RepetitionKind::ZeroOrOne | ast::RepetitionKind::ZeroOrMore => (0, 1),
        ast::RepetitionKind::OneOrMore => (1, 1),
        ast::RepetitionKind::Range(ast::RepetitionRange::Exactly(times)) => (*times, *times),
        ast::RepetitionKind::Range(ast::RepetitionRange::AtLeast(min)) => (*min, *min),
        ast::RepetitionKind::Range(ast::RepetitionRange::Bounded(min, max)) => (*min, *max),
    };
    (min as usize, max.max(1) as usize)
}

/// The approximate size of an automaton: one per character, with counted repetitions expanded. It is computed without
/// compiling, so that processes that watch no stream do not pay for it.
#[derive(Clone, Copy, Default)]
struct Size {
    whole: usize,
    /// The maximum number of active states, which is the cost of a byte.
    active: usize,
    has_counts: bool,
    /// The largest nested counted repetition.
    nested: usize,
}

impl Size {
    fn of(tree: &Ast) -> Size {
        work::count(1);
        let one = |whole| Size { whole, active: whole, ..Size::default() };
        match tree {
            Ast::Concat(concat) => concat.asts.iter().map(Size::of).fold(Size::default(), Size::plus),
            Ast::Alternation(alternation) => {
                let (counted, plain): (Vec<Size>, Vec<Size>) =
                    alternation.asts.iter().map(Size::of).partition(|size| size.has_counts);
                let longest = plain.iter().map(|size| size.active).max().unwrap_or(0);
                let whole = plain.into_iter().fold(Size::default(), Size::plus).whole;
                counted.into_iter().fold(Size { whole, active: longest, ..Size::default() }, Size::plus)
            }
            Ast::Group(group) => Size::of(&group.ast),
            Ast::Repetition(repetition) => {
                let Size { whole, active, has_counts, nested } = Size::of(&repetition.ast);
                let (_, times) = times(&repetition.op.kind);
                let active = active.saturating_mul(times);
                Size {
                    whole: whole.saturating_mul(times),
                    active,
                    has_counts: has_counts || times > 1,
                    nested: if has_counts && times > 1 { active } else { nested },
                }
            }
            // A class takes several states.
            Ast::ClassBracketed(class) => match &class.kind {
                ast::ClassSet::Item(ast::ClassSetItem::Union(union)) => one(8 + 2 * union.items.len()),
                _ => one(8),
            },
            Ast::ClassUnicode(_) => one(500),
            _ => one(1),
        }
    }

    fn plus(self, other: Size) -> Size {
        Size {
            whole: self.whole.saturating_add(other.whole),
            active: self.active.saturating_add(other.active),
            has_counts: self.has_counts || other.has_counts,
            nested: self.nested.max(other.nested),
        }
    }

    fn check(self) -> Result<Size, &'static str> {
        let fits = self.whole <= MAX_WHOLE && self.active <= MAX_ACTIVE && self.nested <= MAX_NESTED;
        match self {
            Size { active, has_counts: false, .. } if active > MAX_WRITTEN => Err("it is too long"),
            _ if fits => Ok(self),
            Size { has_counts: true, .. } => Err("it is too large with its repetitions expanded"),
            Size { has_counts: false, .. } => Err("it is too large"),
        }
    }
}
