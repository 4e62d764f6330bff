//! From a host's input to evidence, and to the rules within its reach.

use std::path::Path;

use rulebook::agent::{Agent, Wiring};
use rulebook::diagnostic::{Code, Diagnostic};
use rulebook::evaluate::{Audience, Evaluation, evaluate};
use rulebook::evidence::{Evidence, Input, collect};
use rulebook::resolve::Rulebook;

use crate::agents::UsedAgent;
use crate::facts::FileTexts;
use crate::sources::{Loaded, Sources};
use crate::views::AgentView;
use crate::workspace::Workspace;
use crate::{facts, git};

/// Evidence, and the rules within its reach.
#[derive(Debug)]
#[non_exhaustive]
pub struct Prepared<'w> {
    /// The evidence, with the facts that the rules need.
    pub evidence: Evidence,
    /// The rules within its reach, as meant.
    pub book: Rulebook,
    /// Of settings, files and evidence.
    pub diagnostics: Vec<Diagnostic>,
    sources: Sources<'w>,
}

impl Prepared<'_> {
    /// Gives every rule its verdict.
    pub fn evaluate(&self) -> Evaluation<'_> {
        evaluate(&self.book, &self.evidence, Audience::any())
    }

    /// The rule files within reach, for other views of them.
    pub fn sources(&self) -> &Sources<'_> {
        &self.sources
    }

    /// What an agent that is wired in this way reads by itself.
    pub fn view(&self, agent: &'static Agent, wired: &[Wiring]) -> AgentView {
        self.sources.view(UsedAgent::new(agent, wired))
    }
}

impl Workspace {
    /// Makes evidence of a host's input, with what is known on disk.
    pub fn evidence(&self, input: &Input) -> (Evidence, Vec<Diagnostic>) {
        let exists =
            |root: usize, path: &str| self.files.exists(&Path::new(&self.roots.roots[root].path).join(path));
        let (mut evidence, diagnostics) = collect(input, &self.roots, &exists);
        evidence.os.get_or_insert_with(|| rulebook::evidence::system_name(std::env::consts::OS).to_owned());
        if evidence.env.is_none() {
            evidence.env.clone_from(&self.settings.workspace.env);
        }
        (evidence, diagnostics)
    }

    /// Collects the evidence of a host's input, and the rules within its reach.
    ///
    /// The tree is walked only if the input requests a rule that is not within reach.
    pub fn prepare(&self, input: &Input) -> Prepared<'_> {
        let (mut evidence, reported) = self.evidence(input);
        let mut sources = Sources::above(self, &evidence.paths);
        let mut loaded = sources.meant();
        if !unknown_requests(&loaded.book, &evidence).is_empty() {
            sources.widen();
            loaded = sources.meant();
        }
        let Loaded { book, mut diagnostics } = loaded;
        diagnostics.extend(reported);
        diagnostics.extend(unknown_requests(&book, &evidence));
        self.add_facts(&book, &mut evidence);
        Prepared { evidence, book, diagnostics, sources }
    }

    /// Reads files of the workspace as they are now.
    pub fn texts(&self) -> FileTexts {
        FileTexts::new(&self.files, &self.roots, self.readable_folders())
    }

    /// Makes evidence of a host's input, with the facts that some rule needs.
    pub fn evidence_for(&self, book: &Rulebook, input: &Input) -> Evidence {
        let (mut evidence, _) = self.evidence(input);
        self.add_facts(book, &mut evidence);
        evidence
    }

    /// Adds the facts that some rule needs, and no others.
    fn add_facts(&self, book: &Rulebook, evidence: &mut Evidence) {
        let needs = book.needs();
        if needs.branch && evidence.branch.is_none() {
            evidence.branch =
                self.roots.roots.iter().find_map(|root| git::branch(&self.files, Path::new(&root.path)));
        }
        if needs.content {
            evidence.contents = facts::contents(&self.files, evidence, &self.roots, &self.readable_folders());
        }
        if needs.syntax {
            evidence.parser = self.parser();
        }
        if needs.tags {
            let tags = evidence.tags.get_or_insert_with(Vec::new);
            tags.extend(self.settings.workspace.tags.iter().cloned());
            let folders = self.readable_folders();
            let roots = self.roots.roots.iter();
            tags.extend(
                roots.flat_map(|root| facts::derived_tags(&self.files, Path::new(&root.path), &folders)),
            );
            tags.sort();
            tags.dedup();
        }
    }
}

/// Reports the requests for rules that do not exist.
pub(crate) fn unknown_requests(book: &Rulebook, evidence: &Evidence) -> Vec<Diagnostic> {
    let is_missing = |name: &&String| !book.rules().any(|(rule, _)| rule.is_called(name));
    let report = |name: &String| {
        let message = format!("no rule named `{name}`, so the request is ignored");
        Diagnostic::whole(Code::UnknownId, "evidence", message).did_you_mean(name, book.ids())
    };
    evidence.requested.iter().filter(is_missing).map(report).collect()
}
