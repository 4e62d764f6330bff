//! One file being read: its text, its origin and its diagnostics.

use std::ops::Range;

use super::hidden;
use crate::agent::Agent;
use crate::condition::{PatternBase, Splits};
use crate::diagnostic::{Code, Diagnostic, pasted, report_first};
use crate::format::{Format, FormatId, Keys, Lists, Repeats};
use crate::frontmatter::{Field, Problem, Tier};
use crate::source::Origin;

/// A file being read.
pub(super) struct Reader<'t> {
    pub(super) text: &'t str,
    pub(super) origin: Origin,
    pub(super) diagnostics: Vec<Diagnostic>,
    /// Whether a value of the wrong type counts if its intention is clear.
    pub(super) is_lenient: bool,
}

impl<'t> Reader<'t> {
    pub(super) fn new(text: &'t str, origin: Origin) -> Reader<'t> {
        Reader { text, origin, diagnostics: Vec::new(), is_lenient: false }
    }

    /// Returns the id that the file has by its name.
    pub(super) fn id(&self) -> String {
        self.origin.id()
    }

    pub(super) fn format(&self) -> &'static Format {
        self.origin.format
    }

    pub(super) fn pattern_base(&self) -> PatternBase {
        let format = self.format();
        let base = self.origin.nest().filter(|_| !format.from_root);
        let base = base.map(|(root, folder)| (root, folder.to_owned()));
        let splits = match format.lists {
            Lists::Whole => Splits::Nothing,
            Lists::Deep => Splits::Items,
            _ => Splits::Texts,
        };
        // The view of an agent is not repaired.
        let splits_whitespace = !matches!(format.keys, Keys::Own(_));
        let is_exact = matches!(format.tier, Some(Tier::Native(_)));
        PatternBase {
            dialect: format.dialect,
            rival: format.rival,
            exclusions: format.exclusions,
            splits,
            splits_whitespace,
            is_exact,
            base,
        }
    }

    pub(super) fn report(
        &mut self,
        code: Code,
        span: Range<usize>,
        message: impl Into<String>,
    ) -> &mut Diagnostic {
        let diagnostic = Diagnostic::at(code, &self.origin.display, self.text, span, message);
        self.diagnostics.push(diagnostic);
        self.diagnostics.last_mut().expect("just pushed")
    }

    /// Reports a problem of the header, as this format's agent sees it.
    pub(super) fn report_problem(&mut self, problem: Problem) {
        let format = self.format();
        let diagnostic = self.report(problem.code, problem.span, problem.message);
        match (problem.code, problem.fix) {
            (Code::UnquotedValue | Code::UnclosedList, Some(fix)) => {
                diagnostic.help = format!("write `{}`", pasted(&fix.replacement));
                // Quoting is safe only for agents that are known to read YAML.
                let reads_yaml = |way: &Format| way.id == format.id && way.tier.is_none_or(Tier::reads_yaml);
                let owner = Agent::owner_of(format.id);
                let is_yaml = owner.is_some_and(|owner| owner.formats.iter().any(reads_yaml));
                // The agents that list skills are its readers, and each is compared.
                let is_open = format.keys == Keys::All || format.id == FormatId::Skill;
                diagnostic.fix = Some(fix).filter(|_| is_open || is_yaml);
            }
            (Code::DuplicateKey, _) => {
                let which = if format.repeats == Repeats::Last { "last" } else { "first" };
                diagnostic.message.push_str(&format!("; the {which} one is used"));
            }
            (_, fix) => diagnostic.fix = fix,
        }
    }

    /// Reports what is hidden in escapes of keys and values. Unescaped hidden text is reported elsewhere.
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
        report_first(found.into_iter(), |diagnostic| diagnostic, &mut self.diagnostics);
    }
}
