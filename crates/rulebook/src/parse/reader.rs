//! One file being read: its text, where it stands, and what is told of it.

use std::ops::Range;

use super::hidden;
use crate::agent::Agent;
use crate::condition::{PatternBase, Splits};
use crate::diagnostic::{Code, Diagnostic, Severity, report_first, shown};
use crate::format::{Format, Keys, Lists};
use crate::frontmatter::{Field, Problem, Tier};
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
        self.origin.id()
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
                let reads_yaml = |way: &Format| way.id == format.id && way.tier <= Some(Tier::Values);
                let owner = Agent::owner_of(format.id);
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
}
