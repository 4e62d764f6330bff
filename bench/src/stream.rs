//! Generates conditions of stream rules and a text that matches none of them. Every run generates the same.

use rulebook::evidence::{Root, Roots};
use rulebook::format::FormatId;
use rulebook::parse::{Entry, parse};
use rulebook::rule::Rule;
use rulebook::source::Source;
use rulebook::stream::Monitor;

/// Realistic conditions. `{W}` and `{w}` are replaced by a word, to generate many.
const SHAPES: &[&str] = &[
    r"\bnew\s+(Set|Map){W}\b",
    r"console\.log{W}\(",
    r":\s*any{W}\b",
    r"(?m)^\s*print{W}\(",
    r"catch\s*\({w}[^)]*\)\s*\{\s*\}",
    r"TODO{W}\b",
    r#"password{W}\s*=\s*["']"#,
    r"\beval{W}\(",
    r"(?i)select\s+\*\s+from\s+{w}",
    r"\.innerHTML{W}\s*=",
    r#"import\s+.*\s+from\s+['"]lodash{w}['"]"#,
    r#"\brequire\(\s*['"](fs|path){w}['"]"#,
    r"\bas\s+unknown\s+as\s+{W}\w+",
    r"@ts-ignore{W}\b",
    r"\.unwrap{W}\(\)\s*;",
    r"\bdbg{W}!\(",
    r"(?m)^\s*except{W}\s*:",
    r"setTimeout{W}\([^,]*,\s*0\)",
    r"http://[a-z0-9.-]+{w}/",
    r"AKIA{W}[0-9A-Z]{16}",
];

const WORDS: &[&str] =
    &["", "Legacy", "Raw", "Unsafe", "Sync", "Debug", "Internal", "Once", "Deep", "Global"];

/// Lines of code that almost match the conditions. They match at no position, since the peer reads the end of the text so
/// far as the end of a word. `$` is a name, `#` a number.
const LINES: &[&str] = &[
    "import { $, $ } from \"./$\";",
    "export function $($: string, $: number): Promise<$> {",
    "  const $ = new Master($, #);",
    "  const $: allOf<$> = await $.load(#);",
    "  console.info(`$ ${$}`);",
    "  if ($ === undefined || $.length > #) {",
    "    return $.map(($) => $.id ?? #);",
    "  }",
    "  try { $($); } catch (error) { report(error, #); }",
    "  passwordHash = digest($, #);",
    "  setTimeout($, #00);",
    "  println!(\"{} of {}\", $, $);",
    "  let $ = $.iter().filter(|$| $.is_open()).unwrap_or_default();",
    "def $(self, $, $=#):",
    "    except ValueError as $:",
    "        raise $Error(f\"{$} is not #\") from $",
    "// See https://example.com/$/# for the TASKS of $.",
    "  # naïve: größer als #, «$»",
    "SELECT $, $ FROM $ WHERE $ = #;",
    "}",
    "",
];

const NAMES: &[&str] = &[
    "user", "order", "invoice", "session", "router", "store", "schema", "client", "cache", "queue", "metric",
    "theme", "layout", "account", "payment", "token", "buffer", "index", "entry", "cursor",
];

/// Generates conditions, one of each form before the second of any.
pub fn conditions(count: usize) -> Vec<String> {
    let of_word = |word: &'static str| {
        SHAPES.iter().map(move |shape| shape.replace("{W}", word).replace("{w}", &word.to_lowercase()))
    };
    let made: Vec<String> = WORDS.iter().copied().flat_map(of_word).take(count).collect();
    assert_eq!(made.len(), count, "there are not so many");
    made
}

/// Generates at least this many bytes of code.
pub fn text(bytes: usize) -> String {
    let mut dice = Dice(0x9e37_79b9_7f4a_7c15);
    let mut text = String::with_capacity(bytes + 200);
    while text.len() < bytes {
        for sign in LINES[dice.below(LINES.len())].chars() {
            match sign {
                '$' => name(&mut text, &mut dice),
                '#' => text.push_str(&(dice.below(900) + 1).to_string()),
                other => text.push(other),
            }
        }
        text.push('\n');
    }
    text.truncate(text.ceil_char_boundary(bytes));
    text
}

/// The text in lines of this many characters.
pub fn in_lines(text: &str, width: usize) -> String {
    let is_end = |at: usize| at % width == width - 1;
    text.chars().enumerate().map(|(at, c)| if is_end(at) { '\n' } else { plain(c) }).collect()
}

/// Replaces characters that JSON strings escape.
fn plain(c: char) -> char {
    if matches!(c, '\n' | '"' | '\\') { ' ' } else { c }
}

/// The text as the arguments of a tool call, on one line.
pub fn arguments(text: &str) -> String {
    let mut out = String::from(r#"{"file_path":"src/index.ts","content":""#);
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            other => out.push(other),
        }
    }
    out.push_str("\"}");
    out
}

fn name(text: &mut String, dice: &mut Dice) {
    text.push_str(NAMES[dice.below(NAMES.len())]);
    if dice.below(3) == 0 {
        text.push('_');
        text.push_str(NAMES[dice.below(NAMES.len())]);
    }
}

/// Generates rules with one condition each.
pub fn rules_of(count: usize) -> Vec<Rule> {
    let rule = |(at, condition): (usize, &String)| match parse(source(at, "condition", condition)).entry {
        Entry::Rule(rule) if rule.stream.is_some() => *rule,
        other => panic!("{condition}: {other:?}"),
    };
    conditions(count).iter().enumerate().map(rule).collect()
}

/// A rule file with one key in its header.
pub fn source(at: usize, key: &str, value: &str) -> Source {
    let name = format!(".rulebook/rules/rule-{at}.md");
    let value = value.replace('\'', "''");
    let text = format!("---\n{key}: '{value}'\n---\nDo it the way this project does.\n");
    Source::text(FormatId::Rulebook, &name, text)
}

/// A monitor for the rules.
pub fn monitor(rules: &[Rule]) -> Monitor {
    let roots = Roots { roots: vec![Root { path: "/repo".to_owned(), ..Root::default() }], home: None };
    Monitor::new(rules.iter().filter_map(Rule::stream_rule), roots)
}

/// Deterministic pseudo-random numbers (xorshift).
struct Dice(u64);

impl Dice {
    fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % limit as u64) as usize
    }
}
