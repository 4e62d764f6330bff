//! Parsing: a source in, a rule (or its rejection) and diagnostics out.

use std::cmp::Reverse;
use std::ops::Range;

use super::fields::{Fields, Said};
use super::{Bare, Broken, Format, Keys, keys};
use crate::condition::{Condition, Ground};
use crate::diagnostic::{self, Code, Diagnostic, Severity, nearest};
use crate::frontmatter::{self, Field, Header, Problem, Tier, Value};
use crate::rule::{Activation, Basis, Rank, Rule, normalize_id};
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
        Unreadable::NotAFile { kind } => (Code::NotAFile, format!("is {kind}")),
        Unreadable::OutsideRoot { target } => {
            (Code::OutsideRoot, format!("is a link that leads out of its root, to `{target}`"))
        }
    };
    Diagnostic::whole(code, &origin.display, message)
}

/// One file being read: its text, and what is told of it so far.
pub(super) struct Reader<'t> {
    pub(super) text: &'t str,
    pub(super) origin: &'t Origin,
    diagnostics: Vec<Diagnostic>,
}

impl Reader<'_> {
    pub(super) fn format(&self) -> &'static Format {
        self.origin.format
    }

    pub(super) fn ground(&self) -> Ground {
        let base = (!self.origin.folder.is_empty()).then(|| (self.origin.root, self.origin.folder.clone()));
        Ground { dialect: self.format().dialect, base }
    }

    pub(super) fn tell(
        &mut self,
        code: Code,
        span: Range<usize>,
        message: impl Into<String>,
    ) -> &mut Diagnostic {
        let diagnostic = Diagnostic::at(code, &self.origin.display, self.text, span, message);
        self.diagnostics.push(diagnostic);
        self.diagnostics.last_mut().expect("just pushed")
    }

    fn read(mut self) -> Parsed {
        let reading = frontmatter::read(self.text, self.format().tier);
        let strict = self.format().keys == Keys::Strict;
        for problem in reading.problems {
            self.tell_problem(problem);
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

    /// A problem of the header, with what this format's agent makes of it.
    fn tell_problem(&mut self, problem: Problem) {
        let format = self.format();
        let told = self.tell(problem.code, problem.span, problem.message);
        match (problem.code, problem.fix) {
            (Code::UnquotedValue, _) if format.unquoted => {
                told.severity = Severity::Note;
                told.help = format!(
                    "nothing to do for {}, which reads it so; other tools lose the whole header",
                    format.agent
                );
            }
            (Code::UnquotedValue, Some(fix)) => {
                told.help = format!("write `{}`", diagnostic::shown(&fix.replacement));
                // A quoted pattern means the same here, and to every YAML reader.
                told.fix = Some(fix).filter(|_| format.keys == Keys::All);
            }
            (_, fix) => told.fix = fix,
        }
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
                    "description" => {
                        told.severity = Severity::Note;
                        told.help = "nothing to do".to_owned();
                    }
                    "globs" => told.help = format!("write `{}:` with a list", format.paths_key),
                    _ => {
                        told.help =
                            format!("leave it out: without `{}` the rule is always on", format.paths_key);
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
                    told.help = format!("write `{}:`", format.paths_key);
                }
                _ => {}
            }
            return;
        }
        let own = |key: &&str| !keys::PATHS.contains(key) || *key == format.paths_key;
        let near = nearest(&key, keys::known(format).filter(own));
        let told = self.tell(
            Code::UnknownKey,
            field.key_span.clone(),
            format!("`{}` is not a key of {} rules; it is ignored", diagnostic::shown(&key), format.agent),
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
            let told = self.tell(Code::Unreachable, span, message);
            if format.bare == Bare::Inactive {
                told.help = "add `globs: [\"src/**\"]` or `alwaysApply: true`".to_owned();
            }
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
