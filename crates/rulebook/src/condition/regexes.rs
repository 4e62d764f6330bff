//! Regular expressions of conditions: weighed when a header is read, compiled when they are first asked.

use std::sync::OnceLock;

use regex_syntax::hir::{Class, Hir, HirKind};

/// A regular expression that is known to compile.
#[derive(Debug)]
pub(super) struct Pattern {
    regex: String,
    compiled: OnceLock<Option<regex::Regex>>,
}

/// How much the expressions of one condition may still weigh together.
pub(super) struct Room(usize);

/// How large all expressions of one condition may become together, roughly in states.
const MAX_ALL: usize = 8_000;
/// The same for counts within counts: in those a text soon is everywhere at once.
const MAX_NESTED: usize = 1_000;

/// The largest that is compiled, in bytes: more than what is within the bounds can take.
const COMPILED: usize = 8 << 20;
/// How much a search remembers.
const REMEMBERED: usize = 1 << 20;

impl Default for Room {
    fn default() -> Room {
        Room(MAX_ALL)
    }
}

impl Pattern {
    /// Reads an expression, or says why it is left out.
    pub(super) fn read(regex: &str, room: &mut Room) -> Result<Pattern, String> {
        let tree = regex_syntax::ParserBuilder::new().nest_limit(100).build().parse(regex);
        let tree = tree.map_err(|_| {
            let error = super::check_regex(regex).err();
            error.unwrap_or_else(|| "look-around and back-references are not available here".to_owned())
        })?;
        let Weight { whole, nested, .. } = Weight::of(&tree);
        if whole > MAX_ALL || nested > MAX_NESTED {
            return Err("it is too large when compiled".to_owned());
        }
        let left = room.0.checked_sub(whole).ok_or("it is too large together with those before it")?;
        room.0 = left;
        Ok(Pattern { regex: regex.to_owned(), compiled: OnceLock::new() })
    }

    pub(super) fn is_match(&self, text: &str) -> bool {
        let compile = || {
            let mut builder = regex::RegexBuilder::new(&self.regex);
            builder.size_limit(COMPILED).dfa_size_limit(REMEMBERED).nest_limit(100).build().ok()
        };
        self.compiled.get_or_init(compile).as_ref().is_some_and(|regex| regex.is_match(text))
    }

    pub(super) fn as_str(&self) -> &str {
        &self.regex
    }
}

/// How large an expression becomes.
#[derive(Clone, Copy, Default)]
struct Weight {
    whole: usize,
    /// The largest part that is counted within a count.
    nested: usize,
    has_counts: bool,
}

impl Weight {
    fn of(tree: &Hir) -> Weight {
        let one = |whole: usize| Weight { whole, ..Weight::default() };
        match tree.kind() {
            HirKind::Empty | HirKind::Look(_) => one(1),
            HirKind::Literal(literal) => one(literal.0.len()),
            // Ranges share most of what they become.
            HirKind::Class(Class::Unicode(class)) => one(4 + class.ranges().len() / 2),
            HirKind::Class(Class::Bytes(class)) => one(1 + class.ranges().len()),
            HirKind::Capture(capture) => Weight::of(&capture.sub),
            HirKind::Concat(all) | HirKind::Alternation(all) => {
                all.iter().map(Weight::of).fold(Weight::default(), Weight::plus)
            }
            HirKind::Repetition(repetition) => {
                let sub = Weight::of(&repetition.sub);
                let times = repetition.max.unwrap_or(repetition.min).max(1) as usize;
                let whole = sub.whole.saturating_mul(times);
                let nested = if sub.has_counts && times > 1 { whole } else { sub.nested };
                Weight { whole, nested, has_counts: sub.has_counts || times > 1 }
            }
        }
    }

    fn plus(self, other: Weight) -> Weight {
        Weight {
            whole: self.whole.saturating_add(other.whole),
            nested: self.nested.max(other.nested),
            has_counts: self.has_counts || other.has_counts,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(all: &[String], read: usize) {
        let mut room = Room::default();
        let fits = |regex: &&String| Pattern::read(regex, &mut room).is_ok();
        assert_eq!(all.iter().filter(fits).count(), read, "{:?}", all.first());
    }

    #[test]
    fn what_people_write_fits() {
        let honest = [
            r#"import .* from ['"]react['"]"#,
            r"class \w+ extends \w+Controller",
            r"(?i)todo|fixme",
            r"\d{4}-\d{2}-\d{2}T(\d{2}:){2}\d{2}",
            r"(\d{1,3}\.){3}\d{1,3}",
            r"\p{Lu}\w{2,8}Error",
            r"(?s)BEGIN.{0,500}END",
            r"^\s*(git|hub)\s+push\b.*--force",
        ];
        check(&honest.map(str::to_owned), honest.len());
        check(&(0..100).map(|at| format!(r"use{at}(State|Effect)\(")).collect::<Vec<_>>(), 100);
    }

    #[test]
    fn bombs_are_left_out_each_and_together() {
        check(&["(a{0,50}){0,50}b".to_owned(), "(?s)(.{0,40}a){0,40}z".to_owned()], 0);
        check(&[r"\w{0,100}x".to_owned(), "(a{999}){999}".to_owned(), "((a{99}){99}){99}".to_owned()], 0);
        check(&(0..900).map(|at| format!(".*a.{{5,90}}[^a]{at}")).collect::<Vec<_>>(), 17);
    }

    #[test]
    fn what_fits_compiles() {
        for regex in [r"[\w\s]{18}", r"\pL{20}x", r"(?i)\w{12}", r"(?s).{1900}", &"ü".repeat(4_000)] {
            let pattern = Pattern::read(regex, &mut Room::default()).unwrap();
            let _ = pattern.is_match("a");
            assert!(matches!(pattern.compiled.get(), Some(Some(_))), "{regex}");
        }
    }
}
