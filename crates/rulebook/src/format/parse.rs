//! Parsing: a source in, a rule (or its rejection) and diagnostics out.

use std::cmp::Reverse;
use std::ops::Range;

use super::{Bare, Broken, Format, Keys, Shape, keys};
use crate::condition::{self, CONDITIONS, Condition, Ground, Match, Paths};
use crate::diagnostic::{Code, Diagnostic, Severity, nearest};
use crate::frontmatter::{self, Field, Header, Node, Tier, Value};
use crate::rule::{Activation, Basis, Rank, Rule, Trigger, normalize_id};
use crate::source::{Origin, Source, Unreadable};

/// What became of a source.
#[derive(Clone, Debug)]
pub enum Entry {
    /// It is a rule.
    Rule(Box<Rule>),
    /// It is none, and this is told.
    Rejected(Rejected),
}

/// A rule file that is not used.
#[derive(Clone, Debug)]
pub struct Rejected {
    /// The id it would have had.
    pub id: String,
    /// Where it was found.
    pub origin: Origin,
    /// Why.
    pub codes: Vec<Code>,
}

/// A source, read as far as it can be.
#[derive(Clone, Debug)]
pub struct Parsed {
    /// What became of it.
    pub entry: Entry,
    /// What is to be told about it.
    pub diagnostics: Vec<Diagnostic>,
}

/// Reads a source as its format does.
pub fn parse(source: Source) -> Parsed {
    let Source { origin, text } = source;
    match text {
        Ok(text) => Reader { text: &text, diagnostics: Vec::new(), origin: &origin }.read(),
        Err(why) => {
            let diagnostic = tell_unreadable(&origin, &why);
            let id = origin.format.id_of(origin.place, &origin.inner);
            let rejected = Rejected { id, codes: vec![diagnostic.code], origin };
            Parsed { entry: Entry::Rejected(rejected), diagnostics: vec![diagnostic] }
        }
    }
}

fn tell_unreadable(origin: &Origin, why: &Unreadable) -> Diagnostic {
    let (code, message) = match why {
        Unreadable::Refused(error) => (Code::Unreadable, format!("cannot be read: {error}")),
        Unreadable::NotUtf8 { valid_up_to } => {
            (Code::NotUtf8, format!("is not UTF-8 text: byte {} is wrong", valid_up_to + 1))
        }
        Unreadable::TooLarge { len } => {
            (Code::TooLarge, format!("is {len} bytes, at most {} are read", crate::source::MAX_SOURCE))
        }
        Unreadable::NotAFile { kind } => (Code::NotAFile, format!("is {kind}, not a file")),
        Unreadable::OutsideRoot { target } => {
            (Code::OutsideRoot, format!("is a link that leads out of its root, to `{target}`"))
        }
    };
    Diagnostic::whole(code, &origin.display, message)
}

/// One file being read: its text, and what is told of it so far.
struct Reader<'t> {
    text: &'t str,
    origin: &'t Origin,
    diagnostics: Vec<Diagnostic>,
}

impl Reader<'_> {
    fn format(&self) -> &'static Format {
        self.origin.format
    }

    fn ground(&self) -> Ground {
        let base = (!self.origin.folder.is_empty()).then(|| (self.origin.root, self.origin.folder.clone()));
        Ground { dialect: self.format().dialect, base }
    }

    fn tell(&mut self, code: Code, span: Range<usize>, message: impl Into<String>) -> &mut Diagnostic {
        let diagnostic = Diagnostic::at(code, &self.origin.display, self.text, span, message);
        self.diagnostics.push(diagnostic);
        self.diagnostics.last_mut().expect("just pushed")
    }

    fn read(mut self) -> Parsed {
        let reading = frontmatter::read(self.text, self.format().tier);
        let strict = self.format().keys == Keys::Strict;
        for problem in &reading.problems {
            let told = self.tell(problem.code, problem.span.clone(), &problem.message);
            if let Some(help) = &problem.help {
                told.help.clone_from(help);
            }
        }
        let (fields, tier) = match reading.header {
            Header::Read { fields, tier } => (fields, Some(tier)),
            Header::Absent if strict => return self.reject_headless(),
            Header::Absent => (Vec::new(), None),
            Header::Broken => match self.format().broken {
                Broken::Reject => return self.reject(None),
                Broken::Open => return self.open(reading.body, reading.body_start),
                Broken::Bare => (Vec::new(), None),
            },
        };
        let header = self.sort_fields(fields);
        let id = header.text("id", &mut self).map(|id| normalize_id(&id)).filter(|id| !id.is_empty());
        if strict && let Err(()) = self.validate(&header) {
            return self.reject(id);
        }
        self.build(&header, id, tier, reading.body, reading.body_start)
    }

    fn reject_headless(mut self) -> Parsed {
        let name = self.origin.inner.rsplit('/').next().unwrap_or_default();
        if name.eq_ignore_ascii_case("readme.md") {
            self.tell(Code::NotARule, 0..0, "has no header and is taken for documentation");
        } else {
            self.tell(Code::MissingHeader, 0..0, format!("{} rules need a header", self.format().agent));
        }
        self.reject(None)
    }

    fn reject(mut self, id: Option<String>) -> Parsed {
        if self.format().broken == Broken::Reject {
            let fatal = |d: &&mut Diagnostic| {
                !matches!(d.code, Code::NotARule | Code::UnknownKey | Code::DuplicateKey)
            };
            self.diagnostics.iter_mut().filter(fatal).for_each(|d| d.severity = Severity::Error);
        }
        let mut codes: Vec<Code> = self.diagnostics.iter().map(|d| d.code).collect();
        codes.sort_unstable();
        codes.dedup();
        let id = id.unwrap_or_else(|| self.format().id_of(self.origin.place, &self.origin.inner));
        let rejected = Rejected { id, origin: self.origin.clone(), codes };
        Parsed { entry: Entry::Rejected(rejected), diagnostics: self.diagnostics }
    }

    /// Fails open: the whole file is the body, always on.
    fn open(mut self, body: &str, body_start: usize) -> Parsed {
        for diagnostic in &mut self.diagnostics {
            diagnostic.message.push_str("; the whole file is taken as the rule, always on");
        }
        let mut parsed = self.build(&Fields::default(), None, None, body, body_start);
        if let Entry::Rule(rule) = &mut parsed.entry {
            rule.basis = Basis::FailOpen;
            rule.is_offered = false;
            rule.activation =
                if rule.origin.folder.is_empty() { Activation::Always } else { Activation::When };
        }
        parsed
    }

    /// Parts known keys from the rest, which is told.
    fn sort_fields(&mut self, fields: Vec<Field>) -> Fields {
        let format = self.format();
        let mut sorted = Fields::default();
        for field in fields {
            match keys::canonical(format, &field.key) {
                Some(key) if sorted.find(key).is_none() => sorted.0.push((key, field)),
                Some(key) => {
                    let message =
                        format!("`{}` says again what `{key}` says; the first one counts", field.key);
                    self.tell(Code::DuplicateKey, field.key_span, message);
                }
                None => self.tell_unknown(&field),
            }
        }
        for key in format.agent_ignores {
            if let Some(field) = sorted.find(key) {
                let message = format!("{} itself ignores `{key}`; it counts here", format.agent);
                let told = self.tell(Code::ForeignKey, field.key_span.clone(), message);
                match *key {
                    "description" => told.severity = Severity::Note,
                    "globs" => told.help = format!("write `{}:` with a list", format.paths_key),
                    _ => {
                        told.help =
                            format!("leave it out: without `{}` the rule is always on", format.paths_key)
                    }
                }
            }
        }
        sorted
    }

    fn tell_unknown(&mut self, field: &Field) {
        let format = self.format();
        let key = field.key.clone();
        if let Some(owner) = keys::owner(&key) {
            let message = format!("`{key}` is {owner} key; {} ignores it", format.agent);
            let told = self.tell(Code::ForeignKey, field.key_span.clone(), message);
            match key.as_str() {
                "always" => told.help = "write `alwaysApply: true`".to_owned(),
                _ if keys::PATHS.contains(&key.as_str()) => {
                    told.help = format!("write `{}:`", format.paths_key)
                }
                _ => {}
            }
            return;
        }
        let near = nearest(&key, keys::known(format));
        let told = self.tell(
            Code::UnknownKey,
            field.key_span.clone(),
            format!("`{}` is not a key of {} rules; it is ignored", shown(&key), format.agent),
        );
        if let Some(near) = near {
            told.help = format!("did you mean `{near}`?");
        }
    }

    /// The strict schema: every fault is told, any fault rejects.
    fn validate(&mut self, header: &Fields) -> Result<(), ()> {
        let before = self.diagnostics.len();
        match header.find("description").map(|field| (&field.node.value, field.node.span.clone())) {
            Some((Value::Text(text), _)) if !text.trim().is_empty() => {}
            Some((Value::Null | Value::Text(_), span)) => {
                self.tell(Code::MissingDescription, span, "`description` is empty");
            }
            Some((other, span)) => {
                self.tell(
                    Code::WrongType,
                    span,
                    format!("`description` must be text, found {}", other.kind()),
                )
                .help = "put the description in quotes".to_owned();
            }
            None => {
                self.tell(Code::MissingDescription, 0..3, "`description` is required");
            }
        }
        if header.find("priority").is_none() {
            self.tell(Code::MissingPriority, 0..3, "`priority` is required");
        }
        header.priority(self);
        if let Some(field) = header.find("globs") {
            let wrong = match &field.node.value {
                Value::List(items) => items.iter().find(|item| !matches!(item.value, Value::Text(_))),
                _ => Some(&field.node),
            };
            if let Some(node) = wrong {
                let message = format!("`globs` must be a list of strings, found {}", node.value.kind());
                self.tell(Code::WrongType, node.span.clone(), message).help =
                    "write `globs: [\"src/**\"]`".to_owned();
            }
        }
        header.always_apply(self);
        if self.diagnostics.len() == before { Ok(()) } else { Err(()) }
    }

    fn build(
        mut self,
        header: &Fields,
        id: Option<String>,
        tier: Option<Tier>,
        body: &str,
        body_start: usize,
    ) -> Parsed {
        let format = self.format();
        let origin = self.origin;
        let id = id.unwrap_or_else(|| format.id_of(origin.place, &origin.inner));
        let description = header.text("description", &mut self).filter(|text| !text.trim().is_empty());
        let priority = header.priority(&mut self).or(format.priority).unwrap_or(0);
        let enabled = header.boolean("enabled", &mut self).unwrap_or(true);
        let stream = header.trigger(&mut self);
        let paths = header.paths(&mut self);
        let globs = paths
            .as_ref()
            .map(|(_, paths)| paths.patterns().map(str::to_owned).collect())
            .unwrap_or_default();
        let tags = if format.keys == Keys::Conditions { Vec::new() } else { header.words("tags", &mut self) };
        let mut conditions = header.conditions(&mut self);
        let combine = header.combine(&mut self);
        let always = header.always(&mut self, origin.place.shape);

        let lead = body.len() - body.trim_start().len();
        let body_line = self.text[..body_start + lead].bytes().filter(|&b| b == b'\n').count() + 1;
        let body = body.trim();
        if body.is_empty() {
            let end = self.text.trim_end().len();
            self.tell(Code::EmptyBody, end..end, "there is no text below the header, so nothing to deliver");
        }

        if let Some((field, paths)) = paths {
            match (&stream, always) {
                // For a stream rule the globs are a gate on what it watches, not on whether it does.
                (Some(_), _) => {}
                (None, Some(Said::Always)) => {
                    if !matches!(format.name, "cursor" | "opencode") {
                        let span = field.key_span.clone();
                        let message = format!("`{}` has no effect on a rule that is always on", field.key);
                        self.tell(Code::DeadKey, span, message);
                    }
                }
                (None, Some(Said::Offered | Said::Manual)) => {
                    let message = format!("`{}` has no effect beside this `trigger`", field.key);
                    self.tell(Code::DeadKey, field.key_span.clone(), message).help =
                        "write `trigger: glob`".to_owned();
                }
                (None, _) => conditions.insert(0, Condition::new("paths", paths)),
            }
        }
        let (activation, basis) = match (&stream, always) {
            (Some(_), _) => (Activation::Stream, Basis::Explicit),
            (None, Some(Said::Always)) if conditions.is_empty() => (Activation::Always, Basis::Explicit),
            (None, Some(Said::Offered)) if description.is_some() => (Activation::OnRequest, Basis::Explicit),
            (None, Some(Said::Offered | Said::Glob)) if conditions.is_empty() => {
                (Activation::Never, Basis::Explicit)
            }
            (None, Some(Said::Manual)) => (Activation::Manual, Basis::Explicit),
            (None, _) if !conditions.is_empty() => (Activation::When, Basis::Explicit),
            (None, _) => bare(format.bare, description.is_some()),
        };
        if activation == Activation::Never {
            let span = header.0.first().map_or(0..0, |(_, field)| field.key_span.clone());
            let message = match format.bare {
                Bare::Inactive => "has neither `globs` nor `alwaysApply: true`, so it never comes on",
                _ => "has neither a description nor conditions, so nothing can bring it on",
            };
            self.tell(Code::Unreachable, span, message);
        }
        let basis = if tier.is_some_and(|tier| tier > Tier::Yaml) { Basis::Repaired } else { basis };
        // A nested rule is for its folder only: being always on becomes being on there.
        let activation = match activation {
            Activation::Always if !origin.folder.is_empty() => Activation::When,
            other => other,
        };
        let described_is_offered = match format.keys {
            Keys::Trigger => activation == Activation::OnRequest,
            _ => !matches!(format.bare, Bare::Always | Bare::Inactive),
        };
        let rule = Rule {
            rank: Rank {
                priority: Reverse(priority),
                scope: origin.scope,
                format: format.order(),
                depth: Reverse(origin.folder.split('/').filter(|part| !part.is_empty()).count()),
                id: id.clone(),
                path: origin.display.clone(),
            },
            name: if format.name == "remote" { origin.display.clone() } else { id.clone() },
            id,
            is_offered: described_is_offered && description.is_some(),
            description,
            body: body.to_owned(),
            tags,
            activation,
            basis,
            conditions,
            combine,
            globs,
            enabled,
            stream,
            origin: origin.clone(),
            body_line,
        };
        Parsed { entry: Entry::Rule(Box::new(rule)), diagnostics: self.diagnostics }
    }
}

/// What a rule without conditions is.
fn bare(bare: Bare, described: bool) -> (Activation, Basis) {
    match bare {
        Bare::Always => (Activation::Always, Basis::Default),
        Bare::Inactive => (Activation::Never, Basis::Default),
        _ if described => (Activation::OnRequest, Basis::Inferred),
        Bare::OfferedElseAlways => (Activation::Always, Basis::Default),
        Bare::OfferedElseManual => (Activation::Manual, Basis::Default),
        Bare::OfferedElseUnreachable => (Activation::Never, Basis::Default),
    }
}

/// What a header says about the activation, whatever the conditions.
#[derive(Clone, Copy, PartialEq)]
enum Said {
    Always,
    Glob,
    Offered,
    Manual,
}

const WINDSURF_TRIGGERS: &[(&str, Said)] = &[
    ("always_on", Said::Always),
    ("glob", Said::Glob),
    ("model_decision", Said::Offered),
    ("manual", Said::Manual),
];

/// The header's fields by the keys this project knows them by.
#[derive(Default)]
struct Fields(Vec<(&'static str, Field)>);

impl Fields {
    fn find(&self, key: &str) -> Option<&Field> {
        self.0.iter().find(|(known, _)| *known == key).map(|(_, field)| field)
    }

    /// A field that is there and not empty.
    fn given(&self, key: &str) -> Option<&Field> {
        self.find(key).filter(|field| field.node.value != Value::Null)
    }

    fn text(&self, key: &str, reader: &mut Reader) -> Option<String> {
        let field = self.given(key)?;
        match &field.node.value {
            Value::Text(text) => Some(text.clone()),
            other => {
                tell_type(reader, key, &field.node, "text", other);
                None
            }
        }
    }

    fn boolean(&self, key: &str, reader: &mut Reader) -> Option<bool> {
        let field = self.given(key)?;
        match &field.node.value {
            Value::Bool(value) => Some(*value),
            other => {
                tell_type(reader, key, &field.node, "`true` or `false`", other).help =
                    format!("write `{key}: true`, without quotes");
                None
            }
        }
    }

    /// `alwaysApply`; an explicit `null` is absent but for the strict schema.
    fn always_apply(&self, reader: &mut Reader) -> Option<bool> {
        match self.find("alwaysApply") {
            Some(Field { node: Node { value: Value::Null, span }, .. })
                if reader.format().keys == Keys::Strict =>
            {
                reader
                    .tell(
                        Code::WrongType,
                        span.clone(),
                        "`alwaysApply` must be `true` or `false`, found nothing",
                    )
                    .help = "write `alwaysApply: true`".to_owned();
                None
            }
            _ => self.boolean("alwaysApply", reader),
        }
    }

    fn priority(&self, reader: &mut Reader) -> Option<u8> {
        let field = self.find("priority")?;
        match &field.node.value {
            Value::Int(value @ 0..=100) => u8::try_from(*value).ok(),
            Value::Null if reader.format().keys != Keys::Strict => None,
            _ => {
                let found = shown(&reader.text[field.node.span.clone()]);
                // The strict schema asks twice; it is told once.
                if !reader.diagnostics.iter().any(|d| d.code == Code::BadPriority) {
                    let span = field.node.span.clone();
                    let message = format!("`priority` must be a whole number from 0 to 100, found `{found}`");
                    reader.tell(Code::BadPriority, span, message);
                }
                None
            }
        }
    }

    fn words(&self, key: &str, reader: &mut Reader) -> Vec<String> {
        let Some(field) = self.given(key) else { return Vec::new() };
        condition::words(&field.node, &mut |code, span, message| {
            reader.tell(code, span, message);
        })
    }

    fn always(&self, reader: &mut Reader, shape: Shape) -> Option<Said> {
        if matches!(shape, Shape::File { always: true, .. }) {
            return Some(Said::Always);
        }
        if let Some(trigger) = self.text("trigger", reader) {
            let spelled = trigger.trim().to_lowercase().replace('-', "_");
            let found = WINDSURF_TRIGGERS.iter().find(|(name, _)| *name == spelled);
            if found.is_none_or(|(name, _)| *name != trigger) {
                let span = self.find("trigger").expect("read above").node.span.clone();
                let message = format!("`{}` is not a trigger", shown(&trigger));
                reader.tell(Code::BadValue, span, message).help = match found {
                    Some((name, _)) => format!("write `trigger: {name}`"),
                    None => "write `always_on`, `glob`, `model_decision` or `manual`".to_owned(),
                };
            }
            if let Some((_, said)) = found {
                return Some(*said);
            }
        }
        self.always_apply(reader).filter(|always| *always).map(|_| Said::Always)
    }

    /// The paths the rule is for: the format's own key, or another agent's where that one is not there.
    fn paths(&self, reader: &mut Reader) -> Option<(&Field, Paths)> {
        let format = reader.format();
        let own = self.find(format.paths_key);
        let foreign =
            keys::PATHS.iter().filter(|key| **key != format.paths_key).find_map(|key| self.given(key));
        if let Some(field) = foreign.filter(|field| !format.agent_ignores.contains(&field.key.as_str()))
            && format.keys != Keys::All
        {
            let owner = keys::owner(&field.key).unwrap_or("another agent's");
            let message = match own {
                None => format!("`{}` is {owner} key; {} itself ignores it", field.key, format.agent),
                Some(_) => format!("`{}` is {owner} key; only `{}` counts", field.key, format.paths_key),
            };
            reader.tell(Code::ForeignKey, field.key_span.clone(), message).help =
                format!("write `{}:`", format.paths_key);
        }
        let field = own.filter(|own| own.node.value != Value::Null).or(foreign)?;
        if format.name == "cline" && field.key == "paths" && !matches!(field.node.value, Value::List(_)) {
            let message = format!(
                "`paths` must be a list, found {}; it is ignored and the rule is always on",
                field.node.value.kind()
            );
            reader.tell(Code::WrongType, field.node.span.clone(), message).help =
                format!("write `paths: [{}]`", shown(&reader.text[field.node.span.clone()]));
            return None;
        }
        let paths = Paths::read(&field.node, &reader.ground(), &mut |code, span, message| {
            reader.tell(code, span, message);
        });
        if paths.is_none() && matches!(format.bare, Bare::Always) {
            let message = format!("`{}` names no path, so the rule is always on", field.key);
            reader.tell(Code::EmptyPaths, field.node.span.clone(), message);
        }
        Some((field, paths?))
    }

    fn conditions(&self, reader: &mut Reader) -> Vec<Condition> {
        let format = reader.format();
        if !matches!(format.keys, Keys::All | Keys::Conditions) {
            return Vec::new();
        }
        let ground = reader.ground();
        CONDITIONS
            .iter()
            .filter(|kind| kind.key != "paths" && (kind.key != "tags" || format.keys == Keys::Conditions))
            .filter_map(|kind| {
                let field = self.given(kind.key)?;
                (kind.build)(&field.node, &ground, &mut |code, span, message| {
                    reader.tell(code, span, message);
                })
            })
            .collect()
    }

    fn combine(&self, reader: &mut Reader) -> Match {
        match self.text("match", reader).as_deref() {
            None | Some("all") => Match::All,
            Some("any") => Match::Any,
            Some(other) => {
                let span = self.find("match").expect("read above").node.span.clone();
                reader.tell(
                    Code::BadValue,
                    span,
                    format!("`match` must be `all` or `any`, found `{}`", shown(other)),
                );
                Match::All
            }
        }
    }

    fn trigger(&self, reader: &mut Reader) -> Option<Trigger> {
        let field = keys::TRIGGERS.iter().find_map(|key| self.given(key))?;
        let mut conditions = Vec::new();
        for (text, span) in condition::texts(&field.node, &mut |code, span, message| {
            reader.tell(code, span, message);
        }) {
            match condition::check_regex(&text) {
                Ok(()) => conditions.push(text),
                Err(error) => {
                    reader.tell(Code::BadRegex, span, format!("`{}` is left out: {error}", shown(&text)));
                }
            }
        }
        let scope = self.words("scope", reader);
        (!conditions.is_empty()).then_some(Trigger { conditions, scope })
    }
}

fn tell_type<'r>(
    reader: &'r mut Reader,
    key: &str,
    node: &Node,
    wanted: &str,
    found: &Value,
) -> &'r mut Diagnostic {
    let raw = shown(&reader.text[node.span.clone()]);
    let message = format!("`{key}` must be {wanted}, found {} (`{raw}`)", found.kind());
    let told = reader.tell(Code::WrongType, node.span.clone(), message);
    told.help = format!("write `{key}: …` as {wanted}");
    told
}

/// The user's own text for a message, cut to a length people read.
fn shown(text: &str) -> String {
    let line = text.lines().next().unwrap_or_default();
    let cut = line.floor_char_boundary(60);
    if cut == text.len() { line.to_owned() } else { format!("{}…", &line[..cut]) }
}
