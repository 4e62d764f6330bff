//! Regular expressions of conditions: checked when a header is read, compiled on first use.

use std::ops::Range;
use std::sync::OnceLock;

use regex_syntax::hir::{Class, Hir, HirKind};

use super::value::{Report, texts};
use crate::diagnostic::Code;
use crate::frontmatter::Node;

/// A regular expression that is small enough to compile.
#[derive(Debug)]
pub(crate) struct Pattern {
    regex: String,
    compiled: OnceLock<Option<regex::Regex>>,
}

/// The remaining size for the expressions of one condition.
pub(crate) struct RegexBudget(usize);

/// The maximum size of all expressions of one condition, roughly in states.
const MAX_ALL: usize = 8_000;
/// The same for nested counted repetitions, which match at many positions at once.
const MAX_NESTED: usize = 1_000;

/// The maximum compiled size in bytes: more than an expression within the budget can take.
const MAX_COMPILED: usize = 8 << 20;
/// The maximum size of the lazy automaton in bytes.
const MAX_DFA: usize = 1 << 20;

impl Default for RegexBudget {
    fn default() -> RegexBudget {
        RegexBudget(MAX_ALL)
    }
}

impl Pattern {
    /// Reads a text or a list of texts, and reports those that are ignored.
    pub(super) fn read_all(node: &Node, budget: &mut RegexBudget, report: &mut Report<'_>) -> Vec<Pattern> {
        let all = texts(node, report).into_iter();
        all.filter_map(|(text, span)| Pattern::read(text, text, span, budget, report)).collect()
    }

    /// Reads an expression, or reports why it is ignored. `written` is its text in the header.
    pub(super) fn read(
        regex: &str,
        written: &str,
        span: &Range<usize>,
        budget: &mut RegexBudget,
        report: &mut Report<'_>,
    ) -> Option<Pattern> {
        let ignore = |error| report(Code::BadRegex, span.clone(), format!("`{written}` is ignored: {error}"));
        Pattern::parse(regex, budget).map_err(ignore).ok()
    }

    fn parse(regex: &str, budget: &mut RegexBudget) -> Result<Pattern, String> {
        let mut parser = regex_syntax::ParserBuilder::new().nest_limit(100).build();
        let tree = parser.parse(regex).map_err(parse_error)?;
        let Size { whole, nested, .. } = Size::of(&tree);
        if whole > MAX_ALL || nested > MAX_NESTED {
            return Err("it is too large".to_owned());
        }
        budget.0 =
            budget.0.checked_sub(whole).ok_or("together with the expressions before it, it is too large")?;
        Ok(Pattern { regex: regex.to_owned(), compiled: OnceLock::new() })
    }

    pub(super) fn is_match(&self, text: &str) -> bool {
        let compile = || {
            let mut builder = regex::RegexBuilder::new(&self.regex);
            builder.size_limit(MAX_COMPILED).dfa_size_limit(MAX_DFA).nest_limit(100).build().ok()
        };
        self.compiled.get_or_init(compile).as_ref().is_some_and(|regex| regex.is_match(text))
    }

    pub(super) fn as_str(&self) -> &str {
        &self.regex
    }
}

/// The estimated size of a compiled expression.
#[derive(Clone, Copy, Default)]
struct Size {
    whole: usize,
    /// The largest nested counted repetition.
    nested: usize,
    has_counts: bool,
}

impl Size {
    fn of(tree: &Hir) -> Size {
        let one = |whole: usize| Size { whole, ..Size::default() };
        match tree.kind() {
            HirKind::Empty | HirKind::Look(_) => one(1),
            HirKind::Literal(literal) => one(literal.0.len()),
            // Ranges share most of their states.
            HirKind::Class(Class::Unicode(class)) => one(4 + class.ranges().len() / 2),
            HirKind::Class(Class::Bytes(class)) => one(1 + class.ranges().len()),
            HirKind::Capture(capture) => Size::of(&capture.sub),
            HirKind::Concat(all) | HirKind::Alternation(all) => {
                all.iter().map(Size::of).fold(Size::default(), Size::plus)
            }
            HirKind::Repetition(repetition) => {
                let sub = Size::of(&repetition.sub);
                let times = repetition.max.unwrap_or(repetition.min).max(1) as usize;
                let whole = sub.whole.saturating_mul(times);
                let nested = if sub.has_counts && times > 1 { whole } else { sub.nested };
                Size { whole, nested, has_counts: sub.has_counts || times > 1 }
            }
        }
    }

    fn plus(self, other: Size) -> Size {
        Size {
            whole: self.whole.saturating_add(other.whole),
            nested: self.nested.max(other.nested),
            has_counts: self.has_counts || other.has_counts,
        }
    }
}

/// Why an expression cannot be parsed.
fn parse_error(error: regex_syntax::Error) -> String {
    use regex_syntax::ast::ErrorKind::{UnsupportedBackreference, UnsupportedLookAround};
    match error {
        regex_syntax::Error::Parse(error) => match error.kind() {
            UnsupportedLookAround | UnsupportedBackreference => {
                "look-around and back-references are not supported here".to_owned()
            }
            kind => kind.to_string(),
        },
        regex_syntax::Error::Translate(error) => error.kind().to_string(),
        _ => "it is not a valid regular expression".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(all: &[String], read: usize) {
        let mut budget = RegexBudget::default();
        let fits = |regex: &&String| Pattern::parse(regex, &mut budget).is_ok();
        assert_eq!(all.iter().filter(fits).count(), read, "{:?}", all.first());
    }

    #[test]
    fn realistic_expressions_are_accepted() {
        let expressions = [
            r#"import .* from ['"]react['"]"#,
            r"class \w+ extends \w+Controller",
            r"(?i)todo|fixme",
            r"\d{4}-\d{2}-\d{2}T(\d{2}:){2}\d{2}",
            r"(\d{1,3}\.){3}\d{1,3}",
            r"\p{Lu}\w{2,8}Error",
            r"(?s)BEGIN.{0,500}END",
            r"^\s*(git|hub)\s+push\b.*--force",
        ];
        check(&expressions.map(str::to_owned), expressions.len());
        check(&(0..100).map(|at| format!(r"use{at}(State|Effect)\(")).collect::<Vec<_>>(), 100);
    }

    #[test]
    fn invalid_expressions_are_explained() {
        #[track_caller]
        fn check(regex: &str, want: &str) {
            let error = Pattern::parse(regex, &mut RegexBudget::default()).err();
            assert_eq!(error.as_deref(), Some(want), "{regex}");
        }
        check("foo(?!bar)", "look-around and back-references are not supported here");
        check(r"(a)\1", "look-around and back-references are not supported here");
        check("(unclosed", "unclosed group");
        check("*.rs", "repetition operator missing expression");
        let nested = "(".repeat(200) + &")".repeat(200);
        check(&nested, "exceed the maximum number of nested parentheses/brackets (100)");
    }

    #[test]
    fn large_expressions_are_rejected_alone_and_together() {
        check(&["(a{0,50}){0,50}b".to_owned(), "(?s)(.{0,40}a){0,40}z".to_owned()], 0);
        check(&[r"\w{0,100}x".to_owned(), "(a{999}){999}".to_owned(), "((a{99}){99}){99}".to_owned()], 0);
        check(&(0..900).map(|at| format!(".*a.{{5,90}}[^a]{at}")).collect::<Vec<_>>(), 17);
    }

    #[test]
    fn accepted_expressions_compile() {
        for regex in [r"[\w\s]{18}", r"\pL{20}x", r"(?i)\w{12}", r"(?s).{1900}", &"ü".repeat(4_000)] {
            let pattern = Pattern::parse(regex, &mut RegexBudget::default()).unwrap();
            let _ = pattern.is_match("a");
            assert!(matches!(pattern.compiled.get(), Some(Some(_))), "{regex}");
        }
    }
}
