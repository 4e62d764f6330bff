//! Checking: every problem of the rules within reach. `check`, `status` and the web page report exactly these.

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};

use rulebook::agent::{Agent, Conflicts, Nested};
use rulebook::compare::{Difference, Outcome, report_differences};
use rulebook::diagnostic::{Code, Diagnostic, Severity};
use rulebook::format::FormatId;
use rulebook::lint::{lint, reads_skill, requires_skill_name};
use rulebook::resolve::Rulebook;
use rulebook::rule::{Activation, Rule};
use rulebook::source::Scope;

use crate::agents::AgentSearch;
use crate::recorded;
use crate::sources::{Loaded, Sources};
use crate::tree::Tree;
use crate::unread::NotRead;

impl Sources<'_> {
    /// The rules as their authors meant them, with all diagnostics: of reading, of the lints, of the agents' own views, of
    /// the files in the tree and of delivery.
    pub fn checked(&self, tree: &Tree) -> Loaded {
        let Loaded { book, mut diagnostics } = self.meant();
        let text_of = |rule: &Rule| self.text(rule).map(|text| text.to_string());
        diagnostics.extend(lint(&book, &text_of));
        let unread = self.not_read(&book, tree);
        let is_reported = |rule: &Rule, found: &Difference| {
            found.does == Outcome::Unread && unread.files.contains(&rule.origin.display)
        };
        let differences = self.differences(&book).into_iter();
        let others = differences
            .filter(|(rule, agent, found)| !is_reported(rule, found) && self.is_fault(rule, agent, found));
        report_differences(others, &mut diagnostics);
        excuse_unquoted(&book, &mut diagnostics);
        diagnostics.extend(recorded::report_drifted(&self.workspace().files, &self.workspace().roots));
        diagnostics.extend(self.around(&book, tree));
        report_dead(as_library(self.dead_globs(&book, tree), &book), &mut diagnostics);
        let mut loaded = self.with_delivery(Loaded { book, diagnostics }, &unread);
        self.keep_useful(&mut loaded.diagnostics, &loaded.book, &unread);
        self.keep_first_name(&mut loaded.diagnostics, &loaded.book);
        loaded.diagnostics.extend(unread.diagnostics);
        loaded.diagnostics.sort();
        loaded
    }

    /// The rules as their authors meant them, with the diagnostics of reading them. What agents make of a problem is reported
    /// as [`Sources::checked`] does.
    pub fn read_out(&self) -> Loaded {
        let Loaded { book, mut diagnostics } = self.meant();
        self.report_effects(&book, Vec::new(), &mut diagnostics);
        Loaded { book, diagnostics }
    }

    /// Reports what agents make of the problems of files, and not the problems: differences that are known, and those of the
    /// other agents whose files have problems.
    pub(crate) fn report_effects(
        &self,
        book: &Rulebook,
        known: Vec<(&Rule, &'static Agent, Difference)>,
        diagnostics: &mut Vec<Diagnostic>,
    ) {
        let troubled: HashSet<&str> = diagnostics.iter().map(|found| found.path.as_str()).collect();
        let owner = |rule: &Rule| {
            troubled.contains(rule.origin.display.as_str()).then(|| Agent::owner_of(rule.origin.format.id))?
        };
        let mut owners: Vec<&'static Agent> = book.rules().filter_map(|(rule, _)| owner(rule)).collect();
        owners.sort_by_key(|agent| agent.name);
        owners.dedup_by_key(|agent| agent.name);
        owners.retain(|owner| !known.iter().any(|(_, agent, _)| agent.name == owner.name));
        let others = owners.into_iter().flat_map(|agent| {
            self.differences_of(agent, book).into_iter().map(move |(rule, found)| (rule, agent, found))
        });
        let others: Vec<_> = others.collect();
        // A file that an agent does not read at all is reported for the whole tree, by `check`.
        let is_reported = |(rule, agent, found): &(&Rule, &'static Agent, Difference)| {
            found.does != Outcome::Unread && self.is_fault(rule, agent, found)
        };
        report_differences(known.into_iter().chain(others).filter(is_reported), diagnostics);
        excuse_unquoted(book, diagnostics);
        self.keep_useful(diagnostics, book, &NotRead::default());
        diagnostics.sort();
    }

    /// Whether a difference is a fault of the file. What an agent does not document is none, and neither is where this
    /// root is.
    fn is_fault(&self, rule: &Rule, agent: &Agent, found: &Difference) -> bool {
        let is_undocumented =
            agent.nested_at(rule.origin.place) == Nested::Undocumented && found.is_nested(rule);
        let is_above = rule.origin.scope == Scope::Workspace && !self.workspace().is_own(rule);
        (found.does != Outcome::Undocumented || found.is_unstated(rule))
            && !is_undocumented
            && !(is_above && found.does == Outcome::Unread)
    }

    /// Removes what is reported for a file under another name too: a text has a fault once. `diagnostics` that name an
    /// agent differ in their words.
    fn keep_first_name(&self, diagnostics: &mut Vec<Diagnostic>, book: &Rulebook) {
        let real = |rule: &Rule| self.disk.real(Path::new(&rule.origin.path)).ok();
        let files: HashMap<&str, PathBuf> =
            book.rules().filter_map(|(rule, _)| Some((rule.origin.display.as_str(), real(rule)?))).collect();
        diagnostics.sort();
        let mut known = HashSet::new();
        diagnostics.retain(|found| {
            let Some(file) = files.get(found.path.as_str()).filter(|_| found.line > 0) else { return true };
            known.insert((file.clone(), found.code, found.line, found.column, found.message.clone()))
        });
    }

    /// Removes what nobody would act on.
    fn keep_useful(&self, diagnostics: &mut Vec<Diagnostic>, book: &Rulebook, unread: &NotRead) {
        let used = self.workspace().agents_used(AgentSearch::Workspace);
        let is_used = |agent: &Agent| used.iter().any(|used| used.agent.name == agent.name);
        let is_unused = |rule: &Rule| {
            let owner = Agent::owner_of(rule.origin.format.id);
            rule.origin.scope == Scope::Workspace && owner.is_some_and(|owner| !is_used(owner))
        };
        let rules: HashMap<&str, &Rule> =
            book.rules().map(|(rule, _)| (rule.origin.display.as_str(), rule)).collect();
        for found in diagnostics.iter_mut().filter(|found| found.code == Code::SkillName) {
            let Some(rule) = rules.get(found.path.as_str()) else { continue };
            let agents = used.iter().map(|used| used.agent).filter(|agent| requires_skill_name(agent, rule));
            let titles: Vec<&str> = agents.map(|agent| agent.title).collect();
            match titles.is_empty() {
                true => found.severity = Severity::Note,
                false => found.message.push_str(&format!("; not listed by {}", titles.join(", "))),
            }
        }
        // In a template, a comment is for whoever fills it in.
        for found in diagnostics.iter_mut().filter(|found| found.code == Code::HiddenComment) {
            if rules.get(found.path.as_str()).is_some_and(|rule| is_template(&rule.origin.folder)) {
                found.severity = Severity::Note;
            }
        }
        let is_scoped_elsewhere = |rule: &Rule| {
            let is_copy = |other: &Rule| {
                other.id == rule.id
                    && other.origin.format.id != rule.origin.format.id
                    && other.activation == Activation::When
                    && other.globs == rule.globs
            };
            !rule.globs.is_empty() && book.rules().any(|(other, _)| is_copy(other))
        };
        let is_for_nobody = |rule: &Rule| {
            let is_skill = rule.origin.format.id == FormatId::Skill;
            is_skill && !used.is_empty() && !used.iter().any(|used| reads_skill(used.agent, rule))
        };
        let adds_none = !used.is_empty() && used.iter().all(|used| used.wired.is_empty());
        // Rulebook decides between rules of one id; their agent applies all of them.
        let applies_all = |rule: &Rule| {
            let owner = Agent::owner_of(rule.origin.format.id);
            owner.is_some_and(|owner| owner.conflicts == Conflicts::KeepAll)
        };
        diagnostics.retain(|found| {
            let Some(rule) = rules.get(found.path.as_str()) else { return true };
            if is_for_nobody(rule) && !is_about_safety(found.code) {
                return false;
            }
            let is_advice = found.severity == Severity::Note;
            match found.code {
                // What the agent recommends concerns what it always loads.
                Code::OverLimit if is_unused(rule) || is_advice && !is_always_loaded(rule) => false,
                Code::OverLimit if is_template(&rule.origin.folder) => false,
                // Another agent's copy is for these files.
                Code::DeadKey if is_advice && is_scoped_elsewhere(rule) => false,
                Code::AlwaysOverridden | Code::DuplicateId if adds_none && applies_all(rule) => false,
                Code::SkillDescription | Code::SkillName if is_template(&rule.origin.inner) => false,
                // Its rule has the same patterns.
                Code::DeadGlob if !rule.copy_of.is_empty() => false,
                code if compares_with_tree(code) && is_template(&rule.origin.folder) => false,
                code => is_about_safety(code) || !unread.files.contains(&found.path),
            }
        });
    }
}

/// Says of values that need quotes that their agent reads them as meant: its parser is known, and no difference explains them.
fn excuse_unquoted(book: &Rulebook, diagnostics: &mut [Diagnostic]) {
    let is_unquoted = |found: &&mut Diagnostic| found.code == Code::UnquotedValue;
    let mut unquoted = diagnostics.iter_mut().filter(is_unquoted).peekable();
    if unquoted.peek().is_none() {
        return;
    }
    let rules: HashMap<&str, &Rule> =
        book.rules().map(|(rule, _)| (rule.origin.display.as_str(), rule)).collect();
    for found in unquoted {
        let format = rules.get(found.path.as_str()).map(|rule| rule.origin.format.id);
        let owner = format.and_then(Agent::owner_of).filter(|owner| owner.has_known_parser());
        if let Some(owner) = owner {
            found.severity = Severity::Note;
            found.message.push_str(&format!("; {} reads it, other tools may not", owner.title));
        }
    }
}

fn is_always_loaded(rule: &Rule) -> bool {
    rule.activation == Activation::Always || rule.is_located()
}

/// Whether people must know about it even in a file that no agent reads.
fn is_about_safety(code: Code) -> bool {
    matches!(code, Code::Forged | Code::HiddenComment | Code::HiddenText | Code::LookAlike | Code::Secret)
}

/// Whether a problem depends on the files around the rule.
fn compares_with_tree(code: Code) -> bool {
    matches!(
        code,
        Code::AgentNever
            | Code::DeadGlob
            | Code::DriftedCopy
            | Code::DuplicateBody
            | Code::LegacyPlace
            | Code::MissingLink
            | Code::NotRead
            | Code::PackageManager
            | Code::UnknownScript
    )
}

/// Folders of files that are not in use here: for other projects, or put away.
const TEMPLATES: &[&str] = &[
    "archive",
    "archived",
    "backup",
    "boilerplate",
    "deprecated",
    "example",
    "fixture",
    "sample",
    "scaffold",
    "skeleton",
    "starter",
    "template",
    "testdata",
];

fn is_template(folder: &str) -> bool {
    let is_named = |part: &str| {
        let part = part.to_lowercase();
        part.split(['-', '_', '.']).any(|word| TEMPLATES.contains(&word.trim_end_matches('s')))
    };
    folder.split('/').any(is_named)
}

/// Reports rules for other projects once: if most rules match nothing here, that is what they are. A rule that a small
/// change would make match is for this one.
fn as_library(dead: Vec<Diagnostic>, book: &Rulebook) -> Vec<Diagnostic> {
    const FEW: usize = 5;
    let in_use = || book.rules().map(|(rule, _)| rule).filter(|rule| !is_template(&rule.origin.folder));
    let with_globs = in_use().filter(|rule| !rule.globs.is_empty()).count();
    let shown: HashSet<&str> = in_use().map(|rule| rule.origin.display.as_str()).collect();
    let dead = dead.into_iter().filter(|found| shown.contains(found.path.as_str()));
    let (others, mut own): (Vec<_>, Vec<_>) = dead.partition(|found| found.help == found.code.row().remedy);
    let count = others.len();
    if count < FEW || count * 2 <= with_globs {
        own.extend(others);
        return own;
    }
    let message = format!(
        "{count} of the {with_globs} rules with patterns match no file in the tree: they seem to be for other projects"
    );
    let found = Diagnostic::whole(Code::DeadGlob, &others[0].path, message).severity(Severity::Note);
    own.push(
        found.help("no action needed if they are; otherwise `rulebook coverage` lists the patterns to fix"),
    );
    own
}

/// Adds globs that match nothing. Where another problem of the same value explains it, only the hint is added.
fn report_dead(dead: Vec<Diagnostic>, diagnostics: &mut Vec<Diagnostic>) {
    for dead in dead {
        let is_same = |found: &&mut Diagnostic| {
            let width = found.excerpt.as_ref().map_or(0, |excerpt| excerpt.width);
            let is_here = (found.column..found.column + width).contains(&dead.column);
            // A key that the agent ignores is one fault, whatever its patterns are.
            let is_ignored = matches!(found.code, Code::AgentAlways | Code::ForeignKey);
            found.line > 0
                && found.path == dead.path
                && found.line == dead.line
                && (is_here || is_ignored && found.column < dead.column)
        };
        match diagnostics.iter_mut().find(is_same) {
            Some(other) if other.code == Code::DoubtfulGlob && dead.help != dead.code.row().remedy => {
                other.help = dead.help;
            }
            Some(_) => {}
            None => diagnostics.push(dead),
        }
    }
}
