//! A simple command: its words, its redirections, and the folder it runs in.

use std::borrow::Cow;
use std::ops::Range;

/// The most words that one word may be.
const MAX_VALUES: usize = 64;

/// A word without its quotes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Word {
    /// The text. Variables, substitutions and wildcards appear as written.
    pub text: String,
    /// The parts whose text is not known.
    pub holes: Vec<Range<usize>>,
    /// Where a `*` is a wildcard.
    pub(crate) stars: Vec<usize>,
    /// Whether a part that is not known is not quoted: it may become several words.
    pub(super) may_split: bool,
    /// What a hole may be, if the line says so.
    pub(super) values: Vec<(Range<usize>, Vec<Word>)>,
}

/// Returns several words as one, with blanks between them.
pub(super) fn joined<'w>(words: impl IntoIterator<Item = &'w Word>) -> Word {
    words.into_iter().fold(Word::default(), |mut line, word| {
        line.push_word(word);
        line
    })
}

impl Word {
    /// A word whose text is known.
    pub(crate) fn known(text: impl Into<String>) -> Word {
        Word { text: text.into(), ..Word::default() }
    }

    /// A word of which nothing is known.
    pub(super) fn hole(text: &str) -> Word {
        let mut word = Word::default();
        word.push_hole(text);
        word
    }

    /// Its text, if all of it is known.
    pub fn as_known(&self) -> Option<&str> {
        self.holes.is_empty().then_some(self.text.as_str())
    }

    /// Adds text that is not known.
    pub(super) fn push_hole(&mut self, shown: &str) {
        let start = self.text.len();
        self.text.push_str(shown);
        self.holes.push(start..self.text.len());
    }

    /// Adds a word after a blank.
    pub(super) fn push_word(&mut self, other: &Word) {
        if !self.text.is_empty() {
            self.text.push(' ');
        }
        self.append(other);
    }

    /// Adds a word without a blank.
    pub(super) fn append(&mut self, other: &Word) {
        let by = self.text.len();
        self.text.push_str(&other.text);
        self.holes.extend(other.holes.iter().map(|hole| hole.start + by..hole.end + by));
        self.stars.extend(other.stars.iter().map(|star| star + by));
        self.values
            .extend(other.values.iter().map(|(hole, is)| (hole.start + by..hole.end + by, is.clone())));
        self.may_split |= other.may_split;
    }

    /// The part after its last `/`, if that part is known.
    pub(super) fn last_part(&self) -> Option<&str> {
        let start = self.text.rfind('/').map_or(0, |at| at + 1);
        let is_known = self.stars.is_empty() && self.holes.iter().all(|hole| hole.end <= start);
        Some(&self.text[start..]).filter(|part| is_known && !part.is_empty())
    }

    /// The words that it may be, if it has holes and the line gives each of them a value.
    pub(crate) fn possible(&self) -> Option<Vec<Word>> {
        let is_given = self.holes.iter().all(|hole| self.values.iter().any(|(known, _)| known == hole));
        if self.holes.is_empty() || !is_given {
            return None;
        }
        let mut words = vec![Word::default()];
        let mut at = 0;
        for hole in &self.holes {
            let (_, values) = self.values.iter().find(|(known, _)| known == hole)?;
            if words.len() * values.len() > MAX_VALUES {
                return None;
            }
            let before = self.part(at..hole.start);
            let with = |start: &Word| {
                let parts = values.iter().map(|value| [&before, value]);
                parts.map(|parts| parts.into_iter().fold(start.clone(), Word::joined)).collect::<Vec<_>>()
            };
            words = words.iter().flat_map(with).collect();
            at = hole.end;
        }
        let rest = self.part(at..self.text.len());
        Some(words.into_iter().map(|word| word.joined(&rest)).collect())
    }

    fn joined(mut self, other: &Word) -> Word {
        self.append(other);
        self
    }

    /// A part without holes.
    fn part(&self, range: Range<usize>) -> Word {
        let stars = self.stars.iter().filter(|star| range.contains(star)).map(|star| star - range.start);
        Word { stars: stars.collect(), ..Word::known(&self.text[range]) }
    }

    /// What is after a position.
    pub(super) fn tail(&self, start: usize) -> Word {
        let moved = |range: &Range<usize>| range.start - start..range.end - start;
        let holes = self.holes.iter().filter(|hole| hole.start >= start);
        let stars = self.stars.iter().filter(|star| **star >= start);
        let values = self.values.iter().filter(|(hole, _)| hole.start >= start);
        Word {
            text: self.text[start..].to_owned(),
            holes: holes.map(moved).collect(),
            stars: stars.map(|star| star - start).collect(),
            may_split: self.may_split,
            values: values.map(|(hole, is)| (moved(hole), is.clone())).collect(),
        }
    }

    /// The file that it names relative to the current folder, if it starts with `$PWD/`.
    fn below_here(&self) -> Option<Word> {
        let end = self.holes.first().filter(|hole| hole.start == 0)?.end;
        let is_here = matches!(&self.text[..end], "$PWD" | "${PWD}") && self.text[end..].starts_with('/');
        is_here.then(|| self.tail(end + 1))
    }

    /// The word with another text of the same length in place of one.
    pub(super) fn replaced(self, text: &str, by: &str) -> Word {
        debug_assert_eq!(text.len(), by.len());
        Word { text: self.text.replace(text, by), ..self }
    }

    /// Whether its known text contains a subscript with a substitution, which arithmetic runs.
    pub(super) fn has_subscript(&self) -> bool {
        let Some(start) = self.text.find('[') else { return false };
        let mut marks = self.text.match_indices("$(").chain(self.text.match_indices('`'));
        marks.any(|(at, _)| at > start && !self.holes.iter().any(|hole| hole.contains(&at)))
    }
}

/// A here-document.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Document {
    /// The word that ends it.
    pub end: String,
    /// Whether tabs before that word are ignored.
    pub is_indented: bool,
    /// Whether the end is quoted: then the body is taken as it is.
    pub is_quoted: bool,
    /// Its text; `None` if the line ended before it.
    pub body: Option<Word>,
}

/// A redirection.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Redirect {
    /// Output, or errors, to a file.
    Write {
        /// The file.
        file: Word,
        /// Whether it is the output, and not errors or another descriptor.
        is_output: bool,
        /// Whether the file keeps what it has.
        is_append: bool,
    },
    /// Input from a file.
    Read(Word),
    /// Input from a here-document.
    Document(Document),
    /// Input from a word: `<<< text`.
    Text(Word),
}

impl Redirect {
    pub(super) fn is_input(&self) -> bool {
        !matches!(self, Redirect::Write { .. })
    }

    /// The text that it gives to the command, as far as the line contains it.
    pub(crate) fn text(&self) -> Option<&Word> {
        match self {
            Redirect::Text(word) => Some(word),
            Redirect::Document(document) => document.body.as_ref(),
            Redirect::Write { .. } | Redirect::Read(_) => None,
        }
    }

    pub(super) fn len(&self) -> usize {
        self.text().map_or(0, |word| word.text.len())
    }

    pub(super) fn document(&self) -> Option<&Document> {
        if let Redirect::Document(document) = self { Some(document) } else { None }
    }
}

/// A simple command.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Command {
    /// Its name and arguments.
    pub words: Vec<Word>,
    /// Its redirections.
    pub redirects: Vec<Redirect>,
    /// The folder that `cd` commands before it lead to, relative to where the line starts; `None` if it is not known.
    pub folder: Option<String>,
    /// The pipeline it is part of.
    pub(super) pipeline: usize,
    /// The chain of `&&` it is part of.
    pub(super) chain: usize,
    /// Whether another command of the pipeline writes its input.
    pub(super) is_piped: bool,
    /// Whether it may run after commands that follow it: it is in a loop, a function or a trap.
    pub(crate) is_delayed: bool,
    /// The file that gets the output of the compound command that it is part of, and whether it keeps what it has.
    pub(super) group_output: Option<(Word, bool)>,
    /// The commands among its words and in its input that write files: it may run them.
    pub(crate) suspected: Vec<Command>,
}

impl Command {
    /// The command as one line: words without quotes, separated by blanks.
    pub fn line(&self) -> Word {
        self.words.iter().fold(Word::default(), |mut line, word| {
            line.push_word(word);
            line
        })
    }

    /// Its name without folder, `.exe` and upper case; `None` if it is not known. The folder need not be known.
    pub fn name(&self) -> Option<Cow<'_, str>> {
        let first = self.words.first().filter(|name| name.stars.is_empty())?;
        first.as_known().or_else(|| first.last_part()).map(plain_name)
    }

    /// The file that gets its output, through a redirection, a program such as `tee`, or the compound command around it, and
    /// whether it keeps what it has.
    pub(super) fn output(&self) -> Option<(Word, bool)> {
        self.outputs().find(|(file, _)| file.as_known().is_some_and(|file| file != "/dev/null"))
    }

    /// The same, for a file whose name is not known.
    pub(super) fn unknown_output(&self) -> Option<Word> {
        let is_unknown = |file: &Word| file.as_known().is_none() && !file.text.starts_with(">(");
        self.outputs().map(|(file, _)| file).find(is_unknown)
    }

    fn outputs(&self) -> impl Iterator<Item = (Word, bool)> {
        let redirected = self.redirects.iter().find_map(|redirect| match redirect {
            Redirect::Write { file, is_output: true, is_append } => Some((file.clone(), *is_append)),
            _ => None,
        });
        let all = redirected.into_iter().chain(self.copied()).chain(self.group_output.clone());
        all.map(|(file, is_append)| (file.below_here().unwrap_or(file), is_append))
    }

    /// The file to which it copies its input.
    fn copied(&self) -> Option<(Word, bool)> {
        let is_copier = |word: &Word| matches!(&*word.text, "tee" | "sponge" | "dd");
        let at = self.words.iter().position(is_copier)?;
        let after = &self.words[at + 1..];
        let is_append = after.iter().any(|word| matches!(&*word.text, "-a" | "--append" | "oflag=append"));
        let is_file = |word: &&Word| !word.text.starts_with('-');
        let file = if self.words[at].text == "dd" {
            after.iter().find(|word| word.text.starts_with("of="))?.tail("of=".len())
        } else {
            let is_known = |word: &&Word| is_file(word) && word.holes.is_empty();
            after.iter().find(is_known).or_else(|| after.iter().find(is_file))?.clone()
        };
        Some((file, is_append))
    }
}

/// A program's name without folder, `.exe` and upper case.
pub(super) fn plain_name(name: &str) -> Cow<'_, str> {
    let last = name.rsplit(['/', '\\']).next().unwrap_or(name);
    let is_plain = !last.bytes().any(|byte| byte.is_ascii_uppercase()) && !last.ends_with(".exe");
    if is_plain {
        return Cow::Borrowed(last);
    }
    let lower = last.to_ascii_lowercase();
    Cow::Owned(lower.strip_suffix(".exe").map(str::to_owned).unwrap_or(lower))
}
