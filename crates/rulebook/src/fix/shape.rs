//! Shapes: what the paths look like that a pattern matches, as some reader of it may see them.
//!
//! A shape only finds paths to compare readings on. Whether a pattern matches a path is for the matcher to say.

/// A pattern without braces as a sequence of folders and a name.
#[derive(Clone, Debug)]
pub(super) struct Shape(Vec<Segment>);

#[derive(Clone, Debug)]
enum Segment {
    /// `**`: any number of folders.
    Folders,
    Name(Vec<Part>),
}

/// A part of a name.
#[derive(Clone, Debug)]
enum Part {
    Text(char),
    /// `?`: one character.
    One,
    /// `*`: any characters.
    Any,
    /// `!(a|b)`: any characters but these.
    Except(Vec<String>),
    /// One of these texts. The first is the one that most readers see; of one pattern, they may see different ones.
    OneOf(Vec<Vec<Part>>),
}

/// How brackets are read: as one of their characters, as a name with the brackets, as in Next.js, or as one without, which no
/// agent reads so.
pub(super) const CLASS: usize = 0;
pub(super) const NAME: usize = 1;
pub(super) const BARE: usize = 2;

/// How many readings of a class or a group are looked at.
const MAX_READINGS: usize = 8;

/// How many steps the search for a common name may take.
const MAX_STEPS: usize = 1000;

impl Shape {
    pub(super) fn of(glob: &str) -> Shape {
        let (_, plain) = split_exclusion(glob);
        let mut segments = vec![Vec::new()];
        for part in parts(plain, plain.contains('/')) {
            match part {
                Part::Text('/') => segments.push(Vec::new()),
                part => segments.last_mut().expect("there is one").push(part),
            }
        }
        let is_folders = |parts: &[Part]| matches!(parts, [Part::Any, Part::Any]);
        let segment = |parts: Vec<Part>| match is_folders(&parts) {
            true => Segment::Folders,
            false => Segment::Name(parts),
        };
        let is_path = |parts: &Vec<Part>| !matches!(text(parts).as_str(), "" | "." | "..");
        Shape(segments.into_iter().filter(is_path).map(segment).collect())
    }

    /// A path that the pattern probably matches.
    pub(super) fn path(&self) -> String {
        self.path_as(CLASS)
    }

    /// The path if all brackets and groups are read in another way.
    pub(super) fn path_as(&self, reading: usize) -> String {
        let names = self.0.iter().map(|segment| match segment {
            Segment::Folders => "z".to_owned(),
            Segment::Name(parts) => text_as(parts, reading),
        });
        names.filter(|name| !name.is_empty()).collect::<Vec<_>>().join("/")
    }

    /// The same shape with one part decided otherwise: what the pattern matches too, or almost matches.
    pub(super) fn variations(&self) -> Vec<Shape> {
        let mut found = Vec::new();
        for (at, segment) in self.0.iter().enumerate() {
            let mut with = |names: Vec<Vec<Part>>| {
                let mut segments = self.0.clone();
                segments.splice(at..=at, names.into_iter().map(Segment::Name));
                found.push(Shape(segments));
            };
            match segment {
                // At the end, it stands for what is in a folder.
                Segment::Folders if at + 1 < self.0.len() => {
                    with(Vec::new());
                    with(vec![literal("z"), literal("z")]);
                }
                Segment::Folders => {}
                Segment::Name(parts) => {
                    // The name of a folder is hardly an extension alone.
                    let is_stem = |inner: usize| {
                        inner == 0 && at + 1 < self.0.len() && matches!(parts.get(1), Some(Part::Text('.')))
                    };
                    for (inner, part) in parts.iter().enumerate().filter(|(inner, _)| !is_stem(*inner)) {
                        for other in part.others(inner == 0) {
                            with(vec![[&parts[..inner], &other, &parts[inner + 1..]].concat()]);
                        }
                    }
                }
            }
        }
        found
    }

    /// The folders that a name with wildcards stands for, as if each were a file.
    pub(super) fn folders(&self) -> Vec<String> {
        let is_wild = |at: &usize| match &self.0[*at - 1] {
            Segment::Name(parts) => parts.iter().any(|part| !matches!(part, Part::Text(_))),
            Segment::Folders => false,
        };
        let file = |at: usize| Shape(self.0[..at].to_vec()).path() + ".zz";
        (1..self.0.len()).filter(is_wild).map(file).collect()
    }

    /// The same names at the root of a folder.
    pub(super) fn below(&self, folder: &str) -> Shape {
        let folders = std::iter::once(Segment::Name(literal(folder)));
        Shape(folders.chain(self.0.iter().cloned()).collect())
    }

    /// The same names at any depth.
    pub(super) fn anywhere(&self) -> Shape {
        Shape(std::iter::once(Segment::Folders).chain(self.0.iter().cloned()).collect())
    }

    /// Everything in what the pattern matches.
    pub(super) fn inside(&self) -> Shape {
        Shape(self.0.iter().cloned().chain([Segment::Folders]).collect())
    }

    /// A path that both patterns probably match.
    pub(super) fn shared(&self, other: &Shape) -> Option<String> {
        let mut steps = MAX_STEPS;
        let names = shared_names(&self.0, &other.0, &mut steps)?;
        (!names.is_empty()).then(|| names.join("/"))
    }
}

impl Part {
    /// What else it may stand for.
    fn others(&self, is_first: bool) -> Vec<Vec<Part>> {
        match self {
            Part::Text(_) => Vec::new(),
            // Some readers count bytes.
            Part::One => vec![literal("é")],
            Part::Any if is_first => vec![Vec::new(), literal(".z")],
            Part::Any => vec![Vec::new()],
            Part::Except(names) => {
                let of_name = |name: &String| [literal(name), literal(&format!("{name}z"))];
                names.iter().flat_map(of_name).collect()
            }
            Part::OneOf(readings) => readings[1..].to_vec(),
        }
    }
}

/// Splits the `!` of an exclusion off, and returns whether there is one.
pub(crate) fn split_exclusion(glob: &str) -> (bool, &str) {
    let rest = glob.trim_start_matches('!');
    let signs = glob.len() - rest.len();
    let signs = if rest.starts_with('(') { signs.saturating_sub(1) } else { signs };
    (signs % 2 == 1, &glob[signs..])
}

fn literal(text: &str) -> Vec<Part> {
    text.chars().map(Part::Text).collect()
}

/// The text that parts of a name probably stand for.
fn text(parts: &[Part]) -> String {
    text_as(parts, CLASS)
}

/// The text that parts of a name stand for in one reading.
fn text_as(parts: &[Part], reading: usize) -> String {
    let of_part = |part: &Part| match part {
        Part::Text(c) => c.to_string(),
        Part::One | Part::Any => "z".to_owned(),
        Part::Except(_) => "zz".to_owned(),
        Part::OneOf(readings) => text_as(readings.get(reading).unwrap_or(&readings[0]), reading),
    };
    // `***` is as good as `*`.
    let is_repeated = |at: &usize| *at > 0 && matches!(parts[*at - 1..=*at], [Part::Any, Part::Any]);
    (0..parts.len()).filter(|at| !is_repeated(at)).map(|at| of_part(&parts[at])).collect()
}

/// Reads a pattern, or a part of one, with its slashes.
fn parts(glob: &str, has_folders: bool) -> Vec<Part> {
    let mut found = Vec::new();
    let mut rest = glob;
    let groups = |inner: &str, written: String| {
        let alternatives = inner.split([',', '|']).map(|text| parts(text, has_folders));
        let is_word = !written.is_empty() && !inner.contains([',', '|']);
        let others = is_word.then(|| literal(&written));
        Part::OneOf(alternatives.take(MAX_READINGS).chain(others).collect())
    };
    while let Some(c) = rest.chars().next() {
        rest = &rest[c.len_utf8()..];
        match c {
            '\\' => match rest.chars().next().filter(|next| is_escaped(has_folders, *next)) {
                Some(next) => {
                    found.push(Part::Text(next));
                    rest = &rest[next.len_utf8()..];
                }
                None => found.push(Part::Text('/')),
            },
            '!' | '@' | '+' | '?' | '*' if rest.starts_with('(') => {
                let (group, after) = split_group(&rest[1..], ')');
                found.push(match c {
                    '!' => Part::Except(group.split('|').take(MAX_READINGS).map(str::to_owned).collect()),
                    _ => groups(group, String::new()),
                });
                rest = after;
            }
            '*' => found.push(Part::Any),
            '?' => found.push(Part::One),
            '[' => {
                let (class, after) = split_class(rest);
                found.push(Part::OneOf(readings_of_class(class)));
                rest = after;
            }
            // Around one word, some readers take them for text.
            '{' | '(' => {
                let end = if c == '{' { '}' } else { ')' };
                let (group, after) = split_group(rest, end);
                found.push(groups(group, format!("{c}{group}{end}")));
                rest = after;
            }
            c => found.push(Part::Text(c)),
        }
    }
    found
}

/// Whether a backslash escapes the next character. In a pattern without slashes it may be a separator of Windows.
fn is_escaped(has_folders: bool, next: char) -> bool {
    "[]{}()!+@".contains(next) || "*?\\".contains(next) && has_folders
}

fn split_group(text: &str, end: char) -> (&str, &str) {
    text.split_once(end).unwrap_or((text, ""))
}

/// What brackets may be, in the order of [`CLASS`], [`NAME`] and [`BARE`]; then a character that the class does not list, and the
/// other characters that it lists.
fn readings_of_class(class: &str) -> Vec<Vec<Part>> {
    let inner = class.trim_start_matches(['!', '^']);
    let is_negated = inner.len() < class.len();
    let (is, is_not) = (member(inner, is_negated), member(inner, !is_negated));
    let mut texts = vec![is.to_string(), format!("[{class}]"), class.to_owned(), is_not.to_string()];
    let listed = inner.chars().filter(|c| c.is_alphanumeric()).take(MAX_READINGS);
    for text in listed.map(String::from) {
        if !texts.contains(&text) {
            texts.push(text);
        }
    }
    texts.iter().map(|text| literal(text)).collect()
}

/// Splits what follows a bracket at the end of its class, which may start with a bracket.
pub(crate) fn split_class(text: &str) -> (&str, &str) {
    let mut start = text.len() - text.trim_start_matches(['!', '^']).len();
    start += usize::from(text[start..].starts_with(']'));
    // A named class, such as `[[:alpha:]]`.
    while text[start..].starts_with("[:")
        && let Some(end) = text[start..].find(":]")
    {
        start += end + 2;
    }
    match text[start..].find(']') {
        Some(end) => (&text[..start + end], &text[start + end + 1..]),
        None => (text, ""),
    }
}

/// A character that a class without its negation lists, or one that it does not list.
fn member(inner: &str, is_negated: bool) -> char {
    let named = [("[:digit:]", '0', 'a'), ("[:upper:]", 'A', 'a')];
    if inner.starts_with("[:") {
        let known = named.iter().find(|(name, ..)| inner.starts_with(name));
        let (is, is_not) = known.map_or(('a', '0'), |(_, is, is_not)| (*is, *is_not));
        return if is_negated { is_not } else { is };
    }
    if is_negated {
        let is_in = |c: &char| contains(inner, *c);
        return ('a'..='z').rev().chain('0'..='9').find(|c| !is_in(c)).unwrap_or('Z');
    }
    // No name is a dot.
    inner.chars().find(|c| c.is_alphanumeric()).or_else(|| inner.chars().next()).unwrap_or('z')
}

/// Whether a class without its negation lists a character.
fn contains(class: &str, c: char) -> bool {
    let all: Vec<char> = class.chars().collect();
    let is_in = |three: &[char]| three[1] == '-' && (three[0]..=three[2]).contains(&c);
    all.contains(&c) || all.windows(3).any(is_in)
}

/// Names of folders and a file that both match.
fn shared_names(one: &[Segment], other: &[Segment], steps: &mut usize) -> Option<Vec<String>> {
    *steps = steps.checked_sub(1)?;
    let wild = [Segment::Name(vec![Part::Any])];
    match (one, other) {
        ([], []) => Some(Vec::new()),
        // At the end, it stands for what is in a folder.
        ([Segment::Folders], [Segment::Folders]) => Some(vec!["z".to_owned()]),
        ([Segment::Folders], []) | ([], [Segment::Folders]) => None,
        ([Segment::Folders], rest) | (rest, [Segment::Folders])
            if !matches!(rest, [Segment::Folders, ..]) =>
        {
            let any = if rest.len() == 1 { &wild[..] } else { &[wild[0].clone(), Segment::Folders] };
            shared_names(any, rest, steps)
        }
        ([Segment::Folders, rest @ ..], _) if let Some(names) = shared_names(rest, other, steps) => {
            Some(names)
        }
        (_, [Segment::Folders, rest @ ..]) if let Some(names) = shared_names(one, rest, steps) => Some(names),
        ([Segment::Folders, ..], [Segment::Name(name), rest @ ..]) => {
            Some([vec![text(name)], shared_names(one, rest, steps)?].concat())
        }
        ([Segment::Name(name), rest @ ..], [Segment::Folders, ..]) => {
            Some([vec![text(name)], shared_names(rest, other, steps)?].concat())
        }
        ([Segment::Name(a), rest @ ..], [Segment::Name(b), others @ ..]) => {
            let name = shared_name(a, b, steps)?;
            let is_open = |parts: &[Part]| matches!(parts.first(), Some(Part::Any | Part::Except(_)));
            let name = match is_open(a) && is_open(b) && (name.is_empty() || name.starts_with('.')) {
                true => format!("z{name}"),
                false => name,
            };
            Some([vec![name], shared_names(rest, others, steps)?].concat())
        }
        _ => None,
    }
}

/// A name that both match.
fn shared_name(one: &[Part], other: &[Part], steps: &mut usize) -> Option<String> {
    *steps = steps.checked_sub(1)?;
    let followed = |c: char, rest: Option<String>| rest.map(|rest| format!("{c}{rest}"));
    match (one, other) {
        ([], []) => Some(String::new()),
        ([Part::OneOf(readings), rest @ ..], against) | (against, [Part::OneOf(readings), rest @ ..]) => {
            let read = |reading: &Vec<Part>| shared_name(&[reading, rest].concat(), against, steps);
            readings.iter().find_map(read)
        }
        ([Part::Any | Part::Except(_), rest @ ..], against)
        | (against, [Part::Any | Part::Except(_), rest @ ..])
            if let Some(name) = shared_name(rest, against, steps) =>
        {
            Some(name)
        }
        (wild @ [Part::Any | Part::Except(_), ..], [part, rest @ ..])
        | ([part, rest @ ..], wild @ [Part::Any | Part::Except(_), ..]) => match part {
            Part::Text(c) => followed(*c, shared_name(wild, rest, steps)),
            Part::One => followed('z', shared_name(wild, rest, steps)),
            _ => shared_name(wild, rest, steps),
        },
        ([Part::One, rest @ ..], [Part::One, others @ ..]) => followed('z', shared_name(rest, others, steps)),
        ([Part::One, rest @ ..], [Part::Text(c), others @ ..])
        | ([Part::Text(c), others @ ..], [Part::One, rest @ ..]) => {
            followed(*c, shared_name(rest, others, steps))
        }
        ([Part::Text(a), rest @ ..], [Part::Text(b), others @ ..]) if a == b => {
            followed(*a, shared_name(rest, others, steps))
        }
        _ => None,
    }
}
