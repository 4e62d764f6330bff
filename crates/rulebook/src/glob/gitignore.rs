//! Lines of a `.gitignore` as read by git and by the library that Claude Code uses.

use super::error::{GlobError, MAX_ALTERNATIVES};

/// The program that reads the line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Reader {
    Git,
    /// ignore before 7.0.6 (npm), after expanding braces one group at a time.
    Claude,
}

/// What an expression matches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Reach {
    /// A path, by itself or through a folder above it.
    Below,
    /// A path by itself; a folder ends in a slash.
    Entry,
}

/// The lines without braces that a pattern expands to.
pub(super) fn lines(pattern: &str, reader: Reader) -> Result<Vec<String>, GlobError> {
    match reader {
        Reader::Git => Ok(vec![pattern.to_owned()]),
        Reader::Claude => expand(pattern),
    }
}

/// Expands braces: the first `{` pairs with the first `}`, repeatedly.
fn expand(pattern: &str) -> Result<Vec<String>, GlobError> {
    let mut found = Vec::new();
    let mut open = vec![pattern.to_owned()];
    while let Some(pattern) = open.pop() {
        let group = pattern.split_once('{').and_then(|(before, rest)| {
            let (words, after) = rest.split_once('}')?;
            (!words.is_empty()).then_some((before, words, after))
        });
        let Some((before, words, after)) = group else {
            found.push(pattern);
            continue;
        };
        open.extend(words.rsplit(',').map(|word| [before, word.trim(), after].concat()));
        if found.len() + open.len() > MAX_ALTERNATIVES {
            return Err(GlobError::TooManyAlternatives);
        }
    }
    Ok(found)
}

/// The expression for a line without braces and without its leading `!`; `None` if it matches nothing.
pub(super) fn translate(line: &str, reader: Reader, reach: Reach) -> Option<String> {
    let line = if reader == Reader::Claude { line.strip_suffix("/**").unwrap_or(line) } else { line };
    let bare = match reader {
        Reader::Claude => trimmed(line, |c| c.is_whitespace() || c == '\u{feff}'),
        Reader::Git => trimmed(line, |c| c == ' '),
    };
    // Claude's library checks for slashes before it trims whitespace.
    let checked = if reader == Reader::Claude { line } else { bare };
    let is_anchored = checked.strip_suffix('/').unwrap_or(checked).contains('/');
    let (line, folders_only) = bare.strip_suffix('/').map_or((bare, false), |line| (line, true));
    let line = match reader {
        // `/**` here matches any number of folders, including none.
        Reader::Claude if folders_only => line.strip_suffix("/**").unwrap_or(line),
        _ => line,
    };
    let line = line.strip_prefix('/').unwrap_or(line);
    let translator = Translator {
        chars: line.chars().collect(),
        at: 0,
        reader,
        is_anchored,
        after_literal_globstar: false,
        source: String::new(),
    };
    let body = translator.run()?;
    let start = if is_anchored { "" } else { "(?:[^]*\\/)?" };
    let end = match (reach, folders_only) {
        (Reach::Below, false) => "(?:\\/[^]*)?",
        (Reach::Below, true) => "\\/[^]*",
        (Reach::Entry, false) => "\\/?",
        (Reach::Entry, true) => "\\/",
    };
    (!body.is_empty()).then(|| format!("{start}{body}{end}"))
}

/// The line without trailing blanks, unless the first of them is escaped.
fn trimmed(line: &str, is_blank: impl Fn(char) -> bool) -> &str {
    let bare = line.trim_end_matches(is_blank);
    let escapes = bare.len() - bare.trim_end_matches('\\').len();
    let kept = line[bare.len()..].chars().next().filter(|_| escapes % 2 == 1);
    &line[..bare.len() + kept.map_or(0, char::len_utf8)]
}

struct Translator {
    chars: Vec<char>,
    at: usize,
    reader: Reader,
    is_anchored: bool,
    /// The last thing read was a `**/` right after literals.
    after_literal_globstar: bool,
    source: String,
}

impl Translator {
    fn run(mut self) -> Option<String> {
        // In an anchored pattern, git compares the literals before the first wildcard separately, and treats the rest as a
        // new pattern.
        let literals = self.chars.iter().take_while(|c| !matches!(c, '*' | '?' | '[' | '\\')).count();
        let start = if self.reader == Reader::Git && self.is_anchored { literals } else { 0 };
        let mut leads = true;
        while let Some(&c) = self.chars.get(self.at) {
            self.at += 1;
            match c {
                '*' => {
                    let starts_new = self.at - 1 == start;
                    self.stars(starts_new, &mut leads);
                    continue;
                }
                '?' => self.source += "[^\\/]",
                '[' if self.reader == Reader::Git => self.class()?,
                '[' => self.raw_class()?,
                '\\' => {
                    self.at += 1;
                    match *self.chars.get(self.at - 1)? {
                        c if self.reader == Reader::Claude && JS_ESCAPES.contains(c) => {
                            self.source.extend(['\\', c]);
                        }
                        c => push_literal(&mut self.source, c),
                    }
                }
                c => push_literal(&mut self.source, c),
            }
            leads = false;
            self.after_literal_globstar = false;
        }
        Some(self.source)
    }

    /// Reads stars after the first one. `leads`: only `**/` has been read so far.
    fn stars(&mut self, starts_new: bool, leads: &mut bool) {
        let is_whole = self.at == 1 || self.chars[self.at - 2] == '/';
        let begins = is_whole || starts_new;
        let more = self.chars[self.at..].iter().take_while(|&&c| c == '*').count();
        self.at += more;
        let is_run = match self.reader {
            Reader::Git => more >= 1,
            // A second `**/` right after the first is two single stars.
            Reader::Claude => more == 1 && (!*leads || self.at == 2),
        };
        let rest = &self.chars[self.at..];
        match rest {
            [] if is_run && begins => {
                self.source += if is_whole && !self.after_literal_globstar { "[^]+" } else { "[^]*" }
            }
            ['/', ..] if is_run && begins => {
                self.source += "(?:[^]*\\/)?";
                self.at += 1;
                self.after_literal_globstar = !is_whole;
                return;
            }
            ['\\', '/', ..] if is_run && begins && self.reader == Reader::Git => self.source += "[^]*",
            [] if is_whole && more == 0 => self.source += "[^\\/]+",
            _ => self.source += "[^\\/]*",
        }
        *leads = false;
        self.after_literal_globstar = false;
    }

    /// Reads a bracket expression as git does. `None` if it is unclosed, which makes the pattern match nothing.
    fn class(&mut self) -> Option<()> {
        let negated = matches!(self.chars.get(self.at), Some('!' | '^'));
        self.at += usize::from(negated);
        let mut members = String::new();
        let mut low: Option<char> = None;
        let first = self.at;
        loop {
            let mut c = *self.chars.get(self.at)?;
            self.at += 1;
            if c == ']' && self.at > first + 1 {
                break;
            }
            if c == '[' && self.chars.get(self.at) == Some(&':') {
                let len = self.chars[self.at..].iter().position(|&c| c == ']')?;
                let name: String = self.chars[self.at + 1..self.at + len].iter().collect();
                if let Some(name) = name.strip_suffix(':') {
                    members += CLASSES.iter().find(|row| row.0 == name)?.1;
                    self.at += len + 1;
                    low = None;
                    continue;
                }
            }
            let is_range = c == '-' && self.chars.get(self.at).is_some_and(|&c| c != ']');
            if let Some(low) = low.take_if(|_| is_range) {
                c = self.member()?;
                if low <= c {
                    push_range(&mut members, low, c);
                }
                continue;
            }
            if c == '\\' {
                self.at -= 1;
                c = self.member()?;
            }
            push_range(&mut members, c, c);
            low = Some(c);
        }
        self.source += &match negated {
            true => format!("[^\\/{members}]"),
            false => format!("(?!\\/)[{members}]"),
        };
        Some(())
    }

    fn member(&mut self) -> Option<char> {
        if self.chars.get(self.at) == Some(&'\\') {
            self.at += 1;
        }
        self.at += 1;
        self.chars.get(self.at - 1).copied()
    }

    /// Reads a bracket expression as Claude's library does: up to the first `]`, without negation.
    fn raw_class(&mut self) -> Option<()> {
        let len = self.chars[self.at..].iter().position(|&c| c == ']')?;
        let body = &self.chars[self.at..self.at + len];
        self.at += len + 1;
        // A class must not match the slash between segments.
        let is_range_over =
            |three: &[char]| matches!(three, [low, '-', high] if (*low..=*high).contains(&'/'));
        if body.contains(&'/') || body.windows(3).any(is_range_over) {
            self.source += "(?!\\/)";
        }
        self.source.push('[');
        let mut rest = body;
        while let [c, after @ ..] = rest {
            rest = match after {
                ['-', high @ '0'..='z', after @ ..] if ('0'..='z').contains(c) => {
                    // A reversed range is ignored.
                    if c <= high {
                        push_raw(&mut self.source, *c);
                        self.source.push('-');
                        push_raw(&mut self.source, *high);
                    }
                    after
                }
                [escape, after @ ..] if *c == '\\' && JS_ESCAPES.contains(*escape) => {
                    self.source.extend(['\\', *escape]);
                    after
                }
                after => {
                    push_raw(&mut self.source, *c);
                    after
                }
            };
        }
        self.source.push(']');
        Some(())
    }
}

/// Letters that Claude's library leaves escaped, and that have a meaning in JavaScript's regular expressions.
const JS_ESCAPES: &str = "dDwWsSnrtvf";

/// Writes a class member that JavaScript does not read as a negation.
fn push_raw(source: &mut String, c: char) {
    if matches!(c, '^' | '/' | '\\') {
        source.push('\\');
    }
    source.push(c);
}

fn push_literal(source: &mut String, c: char) {
    if c.is_ascii() && !c.is_alphanumeric() {
        source.push('\\');
    }
    source.push(c);
}

fn push_range(members: &mut String, low: char, high: char) {
    push_literal(members, low);
    members.push('-');
    push_literal(members, high);
}

/// Git's named classes.
const CLASSES: &[(&str, &str)] = &[
    ("alnum", "0-9A-Za-z"),
    ("alpha", "A-Za-z"),
    ("blank", r" \t"),
    ("cntrl", r"\x00-\x1f\x7f"),
    ("digit", "0-9"),
    ("graph", r"!-~"),
    ("lower", "a-z"),
    ("print", r" -~"),
    ("punct", r"!-\/:-@\[-`\{-~"),
    ("space", r" \t\n\r"),
    ("upper", "A-Z"),
    ("xdigit", "0-9A-Fa-f"),
];
