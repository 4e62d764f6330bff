//! One file being read: its text, where it stands, and what is told of it.

use std::ops::Range;

use super::fields::Fields;
use super::{Format, Keys, Lists, keys};
use crate::agent::Agent;
use crate::condition::{PatternBase, Splits};
use crate::diagnostic::{Code, Diagnostic, Fix, Severity, nearest, report_first, shown};
use crate::frontmatter::{Field, Problem, Tier};
use crate::hidden;
use crate::source::Origin;

/// A file on its way to a rule.
pub(super) struct Reader<'t> {
    pub(super) text: &'t str,
    pub(super) origin: Origin,
    pub(super) diagnostics: Vec<Diagnostic>,
}

impl<'t> Reader<'t> {
    pub(super) fn new(text: &'t str, origin: Origin) -> Reader<'t> {
        Reader { text, origin, diagnostics: Vec::new() }
    }

    /// The id the file has by its name.
    pub(super) fn id(&self) -> String {
        self.format().id_of(&self.origin)
    }

    pub(super) fn format(&self) -> &'static Format {
        self.origin.format
    }

    pub(super) fn ground(&self) -> PatternBase {
        let base = self.origin.nest().map(|(root, folder)| (root, folder.to_owned()));
        let format = self.format();
        let splits = match format.lists {
            Lists::Whole => Splits::Nothing,
            Lists::Deep => Splits::Items,
            _ => Splits::Texts,
        };
        // What an agent itself makes of a file is not mended.
        let words = !matches!(format.keys, Keys::Own(_));
        PatternBase { dialect: format.dialect, rival: format.rival, splits, splits_whitespace: words, base }
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

    /// A problem of the header, with what this format's agent makes of it.
    pub(super) fn report_problem(&mut self, problem: Problem) {
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
                told.help = format!("write `{}`", shown(&fix.replacement));
                // A quoted pattern means the same here, and to every YAML reader; who has one is known of few.
                let reads_yaml = |way: &Format| way.name == format.name && way.tier <= Some(Tier::Values);
                let owner = Agent::owner_of(format);
                let is_yaml = owner.is_some_and(|owner| owner.formats.iter().any(reads_yaml));
                told.fix = Some(fix).filter(|_| format.keys == Keys::All || is_yaml);
            }
            (_, fix) => told.fix = fix,
        }
    }

    /// What is hidden in keys and values that the file writes as escapes; what stands there as it is was told before.
    pub(super) fn report_escaped(&mut self, fields: &[Field]) {
        let ends = fields
            .first()
            .map(|field| field.key_span.start)
            .zip(fields.last().map(|field| field.node.span.end));
        let written = ends.and_then(|(start, end)| self.text.get(start..end)).unwrap_or(self.text);
        if memchr::memchr(b'\\', written.as_bytes()).is_none() {
            return;
        }
        let mut found = Vec::new();
        for field in fields {
            field.each_text(&mut |value, span| {
                found.extend(hidden::report_escaped(value, self.text, span.clone(), &self.origin.display));
            });
        }
        report_first(found.into_iter(), |told| told, &mut self.diagnostics);
    }

    /// Parts known keys from the rest, which is told.
    pub(super) fn sort_fields(&mut self, fields: Vec<Field>) -> Fields {
        let format = self.format();
        let mut sorted = Fields::default();
        let mut unknown = Vec::new();
        for field in fields {
            match keys::canonical(format, &field.key) {
                Some(key) if sorted.find(key).is_none() => sorted.0.push((key, field)),
                Some(key) => {
                    let message =
                        format!("`{}` says again what `{key}` says; the first one counts", field.key);
                    self.tell(Code::DuplicateKey, field.key_span, message);
                }
                None => unknown.push(field),
            }
        }
        unknown.iter().for_each(|field| self.report_unknown(field, &sorted));
        for key in format.agent_ignores {
            let is_dead = *key == "globs" && sorted.given(format.paths_key).is_some();
            if let Some(field) = sorted.find(key).filter(|_| !is_dead) {
                let message = format!("{} itself ignores `{key}`; it counts here", format.agent);
                let told = self.tell(Code::ForeignKey, field.key_span.clone(), message);
                match *key {
                    "description" => {
                        told.severity = Severity::Note;
                        told.help = "nothing to do".to_owned();
                    }
                    "globs" | "paths" if format.agent_ignores.contains(&format.paths_key) => {
                        told.help =
                            format!("{} has no key for paths: to it the rule is always on", format.agent);
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

    /// `known` are the other fields of the header.
    fn report_unknown(&mut self, field: &Field, known: &Fields) {
        let format = self.format();
        let key = field.key.clone();
        let seems = |seen: &String| keys::known(format).find(|known| known.eq_ignore_ascii_case(seen));
        if let Some(known) = hidden::skeleton(&key).as_ref().and_then(seems) {
            let message = format!("this only looks like `{known}`: it has other letters, and is ignored");
            self.tell(Code::LookAlike, field.key_span.clone(), message);
            return;
        }
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
        let own =
            |key: &&str| format.keys == Keys::All || !keys::PATHS.contains(key) || *key == format.paths_key;
        let is_paths = keys::PATHS.contains(&key.as_str()) || keys::INVENTED.contains(&key.as_str());
        let near = if is_paths && keys::known(format).any(|known| known == format.paths_key) {
            Some(format.paths_key)
        } else {
            nearest(&key, keys::known(format).filter(own))
        };
        let told = self.tell(
            Code::UnknownKey,
            field.key_span.clone(),
            format!("`{}` is not a key of {} rules; it is ignored", shown(&key), format.agent),
        );
        if let Some(near) = near {
            told.help = format!("did you mean `{near}`?");
            // One slip of the finger, in a key that is not there otherwise and that the agent knows.
            let is_slip = strsim::damerau_levenshtein(&key, near) == 1;
            let is_there = keys::canonical(format, near).is_some_and(|key| known.find(key).is_some());
            let is_free = !is_there && !format.agent_ignores.contains(&near);
            told.fix = (is_slip && is_free).then(|| Fix::new(field.key_span.clone(), near));
        }
    }
}
