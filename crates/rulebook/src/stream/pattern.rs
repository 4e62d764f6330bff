//! Patterns of triggers: regular expressions as people write them for JavaScript, made into ones that run in linear time.

use std::convert::Infallible;

use regex_syntax::ast::{self, Ast, visit};

use super::scope::Scope;

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
    /// What it watches, where that is not what the rest of its trigger does.
    pub scope: Option<Scope>,
}

/// What runs a pattern.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Engine {
    /// The automaton: exact, linear.
    Automaton,
    /// For look-around and back-references: line by line on a bounded window.
    Fallback,
}

/// The longest pattern that is read, in bytes.
const MAX_LEN: usize = 16 << 10;
const MAX_NEST: u32 = 100;
const MAX_WEIGHT: usize = 40_000;

/// Whether people meant a glob: `*.rs`, `src/**/*.ts`.
pub fn is_glob(written: &str) -> bool {
    let is_plain = !written.contains(['\\', '^', '$', '+', '|', '(', ')', ' ']);
    let starts = written.starts_with("*.") || written.starts_with("**/");
    is_plain && (starts || (written.contains('/') && written.contains("/*")))
}

/// Reads a pattern, or says why it cannot be.
pub fn read(written: &str) -> Result<Pattern, String> {
    if written.len() > MAX_LEN {
        return Err(format!("it is {} bytes long, at most {MAX_LEN} are read", written.len()));
    }
    let regex = respell(&unslash(written));
    let pattern = |regex, engine, empty| Pattern {
        written: written.to_owned(),
        regex,
        engine,
        matches_empty: empty,
        scope: None,
    };
    if written.contains("\\k<") {
        return fall_back(&regex).map(|()| pattern(regex, Engine::Fallback, false));
    }
    match ast::parse::ParserBuilder::new().nest_limit(MAX_NEST).build().parse(&regex) {
        Ok(tree) if weight(&tree) > MAX_WEIGHT => {
            Err("it is too large when its repetitions are written out".to_owned())
        }
        Ok(_) if regex.contains(NEVER) => Err("its class `[]` is empty, so it never matches".to_owned()),
        Ok(tree) => {
            let empty = matches_empty(&tree);
            Ok(pattern(as_javascript_means(&regex, &tree), Engine::Automaton, empty))
        }
        Err(error) if needs_fallback(error.kind()) => {
            fall_back(&regex).map(|()| pattern(regex, Engine::Fallback, false))
        }
        Err(error) => Err(error.kind().to_string()),
    }
}

/// A class with nothing in it.
const NEVER: &str = "[a&&b]";

/// Whether the empty text matches.
fn matches_empty(tree: &Ast) -> bool {
    match tree {
        Ast::Empty(_) | Ast::Flags(_) | Ast::Assertion(_) => true,
        Ast::Concat(concat) => concat.asts.iter().all(matches_empty),
        Ast::Alternation(alternation) => alternation.asts.iter().any(matches_empty),
        Ast::Group(group) => matches_empty(&group.ast),
        Ast::Repetition(repetition) => {
            let may_be_absent = match &repetition.op.kind {
                ast::RepetitionKind::ZeroOrOne | ast::RepetitionKind::ZeroOrMore => true,
                ast::RepetitionKind::Range(
                    ast::RepetitionRange::Exactly(least)
                    | ast::RepetitionRange::AtLeast(least)
                    | ast::RepetitionRange::Bounded(least, _),
                ) => *least == 0,
                ast::RepetitionKind::OneOrMore => false,
            };
            may_be_absent || matches_empty(&repetition.ast)
        }
        _ => false,
    }
}

/// How large an automaton becomes, roughly: one for each sign, counted repetitions written out. Nothing is compiled
/// for it: a process that watches no stream must not pay for those that do.
fn weight(tree: &Ast) -> usize {
    match tree {
        Ast::Concat(concat) => concat.asts.iter().map(weight).fold(0, usize::saturating_add),
        Ast::Alternation(alternation) => alternation.asts.iter().map(weight).fold(0, usize::saturating_add),
        Ast::Group(group) => weight(&group.ast),
        Ast::Repetition(repetition) => {
            let times = match &repetition.op.kind {
                ast::RepetitionKind::Range(
                    ast::RepetitionRange::Exactly(most)
                    | ast::RepetitionRange::AtLeast(most)
                    | ast::RepetitionRange::Bounded(_, most),
                ) => *most as usize,
                _ => 1,
            };
            weight(&repetition.ast).saturating_mul(times.max(1))
        }
        // A class may take several steps of bytes.
        Ast::ClassBracketed(_) | Ast::ClassUnicode(_) | Ast::ClassPerl(_) | Ast::Dot(_) => 8,
        _ => 1,
    }
}

fn fall_back(regex: &str) -> Result<(), String> {
    fancy_regex::RegexBuilder::new(regex).build().map(drop).map_err(|error| first_line(&error.to_string()))
}

fn needs_fallback(kind: &ast::ErrorKind) -> bool {
    matches!(kind, ast::ErrorKind::UnsupportedLookAround | ast::ErrorKind::UnsupportedBackreference)
}

fn first_line(text: &str) -> String {
    let line = text.lines().rev().find(|line| !line.trim().is_empty()).unwrap_or_default();
    line.trim_start_matches("error: ").to_owned()
}

/// `/pattern/flags` is a pattern too.
fn unslash(written: &str) -> String {
    let literal = written.strip_prefix('/').and_then(|rest| rest.rsplit_once('/'));
    let Some((body, flags)) =
        literal.filter(|(body, flags)| !body.is_empty() && flags.chars().all(|c| "dgimsuv".contains(c)))
    else {
        return written.to_owned();
    };
    let kept: String = flags.chars().filter(|c| "ims".contains(*c)).collect();
    if kept.is_empty() { body.to_owned() } else { format!("(?{kept}){body}") }
}

/// What JavaScript takes as it stands and the parser does not: a `{` that counts nothing, `[` and doubled signs in a
/// class, the class of everything.
fn respell(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut in_class = false;
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        let mut taken = c.len_utf8();
        match c {
            '\\' => {
                let after = rest[1..].chars().next().unwrap_or(' ');
                taken += rest[1..].chars().next().map_or(0, char::len_utf8);
                if matches!(after, 'p' | 'P' | 'u' | 'x') && rest[taken..].starts_with('{') {
                    taken += rest[taken..].find('}').map_or(0, |at| at + 1);
                }
                match after {
                    // Signs and letters that only stand for themselves there.
                    '<' | '>' => out.push(after),
                    'a' | 'A' | 'z' | 'Z' if !in_class => out.push(after),
                    '0' => out.push_str("\\x00"),
                    'b' if in_class => out.push_str("\\x08"),
                    _ => out.push_str(&rest[..taken]),
                }
                // A hyphen beside a class of signs is a hyphen.
                if in_class
                    && "dDwWsS".contains(after)
                    && rest[taken..].starts_with('-')
                    && !rest[taken..].starts_with("-]")
                {
                    taken += 1;
                    out.push_str("\\-");
                }
            }
            '[' if !in_class && rest.starts_with("[^]") => {
                taken = 3;
                out.push_str("(?s:.)");
            }
            '[' if !in_class => {
                in_class = true;
                out.push('[');
                // A `]` right behind the opening is the class's end in JavaScript; an empty class never matches.
                if rest.starts_with("[]") {
                    taken = 2;
                    in_class = false;
                    out.pop();
                    out.push_str(NEVER);
                }
            }
            '[' => out.push_str("\\["),
            ']' => {
                in_class = false;
                out.push(']');
            }
            '&' | '~' if in_class && rest[1..].starts_with(c) => {
                taken = 2;
                out.push_str(&format!("\\{c}\\{c}"));
            }
            '-' if in_class && rest.starts_with("--") => {
                taken = 2;
                out.push_str("\\--");
            }
            '{' if !in_class && !counts(rest) => out.push_str("\\{"),
            c => out.push(c),
        }
        rest = &rest[taken..];
    }
    out
}

/// Whether a `{` opens a count: `{2}`, `{2,}`, `{2,3}`.
fn counts(text: &str) -> bool {
    let Some((inner, _)) = text[1..].split_once('}') else { return false };
    let (low, high) = inner.split_once(',').unwrap_or((inner, "0"));
    let digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    !low.is_empty() && digits(low) && digits(high)
}

const SPACE: &str =
    r"\t\n\x0B\x0C\r \u{a0}\u{1680}\u{2000}-\u{200a}\u{2028}\u{2029}\u{202f}\u{205f}\u{3000}\u{feff}";

/// Puts JavaScript's meaning of `\d`, `\w`, `\s`, `\b` and `.` into the text.
fn as_javascript_means(regex: &str, tree: &Ast) -> String {
    let Ok(mut finder) = visit(tree, Finder { found: Vec::new(), dot_is_all: false });
    finder.found.sort_by_key(|(range, _)| range.start);
    let mut out = String::with_capacity(regex.len());
    let mut at = 0;
    for (range, meaning) in finder.found {
        out.push_str(&regex[at..range.start]);
        out.push_str(if meaning == DOT && finder.dot_is_all { &regex[range.clone()] } else { &meaning });
        at = range.end;
    }
    out.push_str(&regex[at..]);
    out
}

const DOT: &str = r"[^\n\r\u{2028}\u{2029}]";

struct Finder {
    found: Vec<(std::ops::Range<usize>, String)>,
    dot_is_all: bool,
}

impl Finder {
    fn add(&mut self, span: &ast::Span, meaning: impl Into<String>) {
        self.found.push((span.start.offset..span.end.offset, meaning.into()));
    }

    fn perl(&mut self, class: &ast::ClassPerl) {
        let set = match class.kind {
            ast::ClassPerlKind::Digit => "0-9",
            ast::ClassPerlKind::Word => "0-9A-Za-z_",
            ast::ClassPerlKind::Space => SPACE,
        };
        let not = if class.negated { "^" } else { "" };
        self.add(&class.span, format!("[{not}{set}]"));
    }
}

impl ast::Visitor for Finder {
    type Output = Finder;
    type Err = Infallible;

    fn finish(self) -> Result<Finder, Infallible> {
        Ok(self)
    }

    fn visit_pre(&mut self, node: &Ast) -> Result<(), Infallible> {
        match node {
            Ast::ClassPerl(class) => self.perl(class),
            Ast::Dot(span) => self.add(span, DOT),
            Ast::Assertion(assertion) => match assertion.kind {
                ast::AssertionKind::WordBoundary => self.add(&assertion.span, r"(?-u:\b)"),
                ast::AssertionKind::NotWordBoundary => self.add(&assertion.span, r"(?-u:\B)"),
                _ => {}
            },
            Ast::Flags(flags) => {
                self.dot_is_all |= flags.flags.flag_state(ast::Flag::DotMatchesNewLine) == Some(true);
            }
            Ast::Group(group) => {
                self.dot_is_all |= group
                    .flags()
                    .is_some_and(|flags| flags.flag_state(ast::Flag::DotMatchesNewLine) == Some(true));
            }
            _ => {}
        }
        Ok(())
    }

    fn visit_class_set_item_pre(&mut self, item: &ast::ClassSetItem) -> Result<(), Infallible> {
        if let ast::ClassSetItem::Perl(class) = item {
            self.perl(class);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spellings_of_javascript_mean_what_they_mean_there() {
        #[track_caller]
        fn check(written: &str, text: &str, matches: bool) {
            let pattern = read(written).unwrap();
            assert_eq!(pattern.engine, Engine::Automaton, "{written}");
            let regex = regex::bytes::Regex::new(&pattern.regex).unwrap();
            assert_eq!(regex.is_match(text.as_bytes()), matches, "{written} → {} on {text:?}", pattern.regex);
        }
        check(r"\bnew\s+(Set|Map)\b", "new Map(", true);
        check(r"\bnew\s+(Set|Map)\b", "new Mapper(", false);
        check(r"\d", "٣", false);
        check(r"\w+é", "naïve é", false);
        check(r"[\d_]x", "_x", true);
        check(r"[^\s]", "\u{feff}", false);
        check(r"\s", "\u{2003}", true);
        check(r"a.b", "a\u{2028}b", false);
        check(r"(?s)a.b", "a\nb", true);
        check(r"/FOO\/bar/i", "foo/BAR", true);
        check(r"(?i)foo", "FOO", true);
        check(r"[^]x", "\nx", true);
        check(r"function {", "function {", true);
        check(r"a{2}", "aa", true);
        check(r"x{,3}", "x{,3}", true);
        check(r"[[]a", "[a", true);
        check(r"[a&&b]", "&", true);
        check(r"\<div\>", "<div>", true);
        check(r"[\w-.]+x", "-.x", true);
        check(r"\p{Lu}", "É", true);
        check(r"\u{1F600}", "😀", true);
        check(r"\u0041\x42", "AB", true);
        check(r"foo$", "foo\n", false);
        check(r"(?m)foo$", "foo\nx", true);
    }

    #[test]
    fn what_matches_nothing_at_all_is_known() {
        for (written, empty) in [
            (".*", true),
            ("a?|b", true),
            ("^$", true),
            ("(a{0,2})*", true),
            ("a+", false),
            (r"\bfoo", false),
        ] {
            assert_eq!(read(written).unwrap().matches_empty, empty, "{written}");
        }
    }

    #[test]
    fn what_an_automaton_cannot_do_falls_back_and_what_nobody_can_is_told() {
        assert_eq!(read("console\\.log(?!ger)").unwrap().engine, Engine::Fallback);
        assert_eq!(read(r"(a)\1").unwrap().engine, Engine::Fallback);
        for bad in
            ["(", "*.rs", "[z-a]", "(?P<n", &"(".repeat(5000), &"a".repeat(20_000), "((a{1000}){1000}){1000}"]
        {
            assert!(read(bad).is_err(), "{}", &bad[..bad.len().min(20)]);
        }
    }
}
