//! `secret`: text that looks like a key or a token. Its value is never shown.

use std::borrow::Cow;
use std::ops::Range;
use std::sync::LazyLock;

use regex::{Regex, RegexSet};

use super::page::Page;
use crate::diagnostic::{Code, Diagnostic, Excerpt, report_first};

/// Kinds of secrets and their patterns, specific ones first. The group matches the secret part.
const KINDS: &[(&str, &str)] = &[
    ("a GitHub token", r"(?-u:\b)gh[pousr]_([A-Za-z0-9]{36,})"),
    ("a GitHub token", r"(?-u:\b)github_pat_([A-Za-z0-9_]{50,})"),
    ("a GitLab token", r"(?-u:\b)glpat-([A-Za-z0-9_.-]{20,})"),
    ("an Anthropic key", r"(?-u:\b)sk-ant-([A-Za-z0-9_-]{32,})"),
    ("an OpenRouter key", r"(?-u:\b)sk-or-v1-([0-9a-f]{64})"),
    ("an API key", r"(?-u:\b)sk-([A-Za-z0-9_-]{32,})"),
    ("a Stripe key", r"(?-u:\b)[sr]k_live_([A-Za-z0-9]{24,})"),
    ("an AWS access key", r"(?-u:\b)(?:AKIA|ASIA)([A-Z2-7]{16})(?-u:\b)"),
    ("a Google key", r"(?-u:\b)AIza([A-Za-z0-9_-]{35})"),
    ("a Slack token", r"(?-u:\b)xox[abeoprs]-(?:[0-9]+-)+([A-Za-z0-9]{20,})"),
    ("an npm token", r"(?-u:\b)npm_([A-Za-z0-9]{36})(?-u:\b)"),
    ("a PyPI token", r"(?-u:\b)pypi-AgE([A-Za-z0-9_-]{50,})"),
    ("a Hugging Face token", r"(?-u:\b)hf_([A-Za-z0-9]{34})(?-u:\b)"),
    ("a SendGrid key", r"(?-u:\b)SG\.([A-Za-z0-9_-]{22}\.[A-Za-z0-9_-]{43})"),
    ("a JSON web token", r"(?-u:\b)eyJ[A-Za-z0-9_-]{10,}\.eyJ[A-Za-z0-9_-]{10,}\.([A-Za-z0-9_-]{20,})"),
    (
        "a private key",
        r"-----BEGIN (?:[A-Z]+ )*PRIVATE KEY(?: BLOCK)?-----\s+(?:[A-Za-z-]+: .*\s+)*([A-Za-z0-9+/=]{40,})",
    ),
];

/// How many characters of a secret are shown: the prefix of its kind.
const SHOWN: usize = 4;

/// One expression per kind, and a set that selects the expressions to run.
static EXPRESSIONS: LazyLock<(RegexSet, Vec<Regex>)> = LazyLock::new(|| {
    let patterns = KINDS.iter().map(|(_, pattern)| pattern);
    let set = RegexSet::new(patterns.clone()).expect("a test compiles them");
    (set, patterns.map(|pattern| Regex::new(pattern).expect("a test compiles them")).collect())
});

/// Replaces everything that looks like a key or a token by its kind.
pub fn without_secrets(text: &str) -> Cow<'_, str> {
    let found = secrets(text);
    if found.is_empty() {
        return Cow::Borrowed(text);
    }
    let mut clean = String::with_capacity(text.len());
    let mut written = 0;
    for (name, span) in found {
        clean.push_str(&text[written..span.start]);
        clean.push_str(&format!("[{name}]"));
        written = span.end;
    }
    clean.push_str(&text[written..]);
    Cow::Owned(clean)
}

pub(super) fn lint(page: &Page<'_>, diagnostics: &mut Vec<Diagnostic>) {
    let found = secrets(&page.text);
    report_first(found.into_iter(), |(name, span)| report(page, name, span), diagnostics);
}

fn report(page: &Page<'_>, name: &str, span: Range<usize>) -> Diagnostic {
    let start = &page.text[span.start..span.start + SHOWN];
    let message = format!("looks like {name}: `{start}…`, {} characters", span.len());
    let mut diagnostic = page.report(Code::Secret, span, message);
    // The excerpt appears in logs, and the line may contain another secret, so the rest of it is blanked.
    if let Some(excerpt) = &mut diagnostic.excerpt {
        let before = " ".repeat(excerpt.line.chars().count().min(diagnostic.column - 1));
        *excerpt = Excerpt { line: format!("{before}{start}…"), width: SHOWN + 1 };
    }
    diagnostic
}

/// Finds text that looks like a secret and not like a placeholder, in order and without overlaps.
pub fn secrets(text: &str) -> Vec<(&'static str, Range<usize>)> {
    let (set, expressions) = &*EXPRESSIONS;
    let mut found: Vec<(&str, Range<usize>)> = Vec::new();
    for kind in set.matches(text) {
        for hit in expressions[kind].captures_iter(text) {
            let (Some(whole), Some(value)) = (hit.get(0), hit.get(1)) else { continue };
            if is_random(value.as_str()) {
                found.push((KINDS[kind].0, whole.start()..value.end()));
            }
        }
    }
    // The stable sort keeps specific kinds first, so they win over general ones at the same position.
    found.sort_by_key(|(_, span)| span.start);
    found.dedup_by(|later, earlier| later.1.start < earlier.1.end);
    found
}

/// Words of placeholders.
const WORDS: &[&str] = &[
    "example",
    "placeholder",
    "redacted",
    "changeme",
    "dummy",
    "fake",
    "sample",
    "secret",
    "your",
    "token",
    "here",
    "xxxx",
    "0000",
    "1234",
    "abcd",
    "....",
    // The signature of the example on jwt.io.
    "sflkxwrjsmekkf2qt4fwpmejf36pok6yjv_adqssw5c",
];

/// Whether a value looks random: it contains no known word, mixes kinds of characters, and repeats few of them.
fn is_random(value: &str) -> bool {
    let has = |is: fn(&u8) -> bool| value.bytes().any(|byte| is(&byte));
    let (lower, upper, digit) =
        (has(u8::is_ascii_lowercase), has(u8::is_ascii_uppercase), has(u8::is_ascii_digit));
    let is_slug = value.contains(['-', '_']) && !(lower && upper);
    let is_mixed = !lower || upper || digit;
    let written = value.to_ascii_lowercase();
    is_mixed && !is_slug && is_varied(value) && !WORDS.iter().any(|word| written.contains(word))
}

/// Whether the probability that two random bytes of it are equal is below one in six.
fn is_varied(value: &str) -> bool {
    let mut counts = [0usize; 256];
    value.bytes().for_each(|byte| counts[usize::from(byte)] += 1);
    6 * counts.iter().map(|count| count * count).sum::<usize>() < value.len() * value.len()
}
