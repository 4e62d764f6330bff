//! Patterns of triggers: regular expressions as people write them for JavaScript, made into ones that run in linear time.

mod class;
mod javascript;
#[cfg(test)]
mod tests;

use regex_syntax::ast::{self, Ast};

use super::fallback;
use super::scope::StreamScope;
pub(super) use class::holds;
pub(super) use javascript::NEVER;
use javascript::Respelled;

/// One condition of a trigger.
#[derive(Clone, Debug)]
pub struct Pattern {
    /// As its author wrote it.
    pub written: String,
    /// As it is run.
    pub regex: String,
    /// On what.
    pub engine: Engine,
    /// Whether nothing at all matches: such a condition fires with the first sign of output.
    pub matches_empty: bool,
    /// How large its part of an automaton becomes, roughly.
    pub weight: usize,
    /// How much of that a text can be in at once, which is what a byte may cost.
    pub active: usize,
    /// What it watches, where that is not what the rest of its trigger does.
    pub scope: Option<StreamScope>,
}

/// What runs a pattern.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Engine {
    /// The automaton: exact, linear.
    Automaton,
    /// For look-around and back-references: line by line on a bounded window.
    Fallback,
}

/// The longest pattern that is read, in bytes, and the longest that goes to the fallback.
const MAX_LEN: usize = 64 << 10;
const MAX_FALLBACK: usize = 16 << 10;
const MAX_NEST: u32 = 100;
/// The largest automaton, of one pattern and of all together, and how much of it a text may be in at once.
pub(super) const MAX_WHOLE: usize = 200_000;
const MAX_ACTIVE: usize = 20_000;
/// The same for a pattern without counts: nobody writes that much out by hand.
const MAX_WRITTEN: usize = 5_000;
/// The same for counts within counts: in those a text soon is everywhere at once.
const MAX_NESTED: usize = 5_000;

/// Whether people meant a glob: `*.rs`, `src/**/*.ts`.
pub fn is_glob(written: &str) -> bool {
    let is_plain = !written.contains(['\\', '^', '$', '+', '|', '(', ')', ' ']);
    let starts = written.starts_with("*.") || written.starts_with("**/");
    is_plain && (starts || (written.contains('/') && written.contains("/*")))
}

/// Reads a pattern, or says why it cannot be.
pub fn read(written: &str) -> Result<Pattern, String> {
    let within = |most: usize| {
        let length = written.len();
        if length > most {
            Err(format!("it is {length} bytes long, at most {most} are read"))
        } else {
            Ok(())
        }
    };
    within(MAX_LEN)?;
    let Respelled { regex, engine, by_line } = javascript::respell(written)?;
    let (least, size) = match engine {
        Engine::Fallback => {
            within(MAX_FALLBACK)?;
            (fallback::check(&regex)?, Size::default())
        }
        Engine::Automaton => {
            let parsed = ast::parse::ParserBuilder::new().nest_limit(MAX_NEST).build().parse(&regex);
            let tree = parsed.map_err(|error| error.kind().to_string())?;
            (least(&tree, by_line)?, Size::of(&tree).check()?)
        }
    };
    let matches_empty = engine == Engine::Automaton && least == 0;
    let Size { whole: weight, active, .. } = size;
    Ok(Pattern { written: written.to_owned(), regex, engine, matches_empty, weight, active, scope: None })
}

/// Why a pattern is of no use.
pub(super) const NOTHING_MATCHES: &str = "it can never match";
const BEYOND_ENDS: &str = "it can never match: without `(?m)`, `^` and `$` are the ends of the whole text";

/// How long a match is at least.
fn least(tree: &Ast, by_line: bool) -> Result<usize, &'static str> {
    let of = |tree: &Ast| least(tree, by_line);
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
                if is_beyond && !by_line {
                    return Err(BEYOND_ENDS);
                }
                before = before.saturating_add(length);
            }
            Ok(total)
        }
        Ast::Alternation(alternation) => {
            // One that can never match leaves the others.
            let all = alternation.asts.iter().map(of);
            all.min_by_key(|least| least.unwrap_or(usize::MAX)).unwrap_or(Ok(0))
        }
        Ast::Group(group) => of(&group.ast),
        Ast::Repetition(repetition) => match times(&repetition.op.kind) {
            (0, _) => Ok(0),
            (times, _) => of(&repetition.ast).map(|length| length.saturating_mul(times)),
        },
        Ast::ClassBracketed(class) if matches!(class.kind, ast::ClassSet::BinaryOp(_)) => {
            Err(NOTHING_MATCHES)
        }
        _ => Ok(1),
    }
}

/// How often something is repeated: at least, and written out at most.
fn times(kind: &ast::RepetitionKind) -> (usize, usize) {
    let (least, most) = match kind {
        ast::RepetitionKind::ZeroOrOne | ast::RepetitionKind::ZeroOrMore => (0, 1),
        ast::RepetitionKind::OneOrMore => (1, 1),
        ast::RepetitionKind::Range(ast::RepetitionRange::Exactly(times)) => (*times, *times),
        ast::RepetitionKind::Range(ast::RepetitionRange::AtLeast(least)) => (*least, *least),
        ast::RepetitionKind::Range(ast::RepetitionRange::Bounded(least, most)) => (*least, *most),
    };
    (least as usize, most.max(1) as usize)
}

/// How large an automaton becomes, roughly: one for each sign, counted repetitions written out. Nothing is compiled for
/// it: a process that watches no stream must not pay for those that do.
#[derive(Clone, Copy, Default)]
struct Size {
    whole: usize,
    /// How much of it a text can be in at once, which is what a byte may cost.
    active: usize,
    has_counts: bool,
    /// The largest part that is counted within a count.
    nested: usize,
}

impl Size {
    fn of(tree: &Ast) -> Size {
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
            // A class takes several steps of bytes.
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
            Size { has_counts: true, .. } => Err("it is too large when its repetitions are written out"),
            Size { has_counts: false, .. } => Err("it is too large"),
        }
    }
}
