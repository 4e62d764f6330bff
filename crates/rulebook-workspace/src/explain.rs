//! Explanations: which rules each agent has for a path and why, as data that commands, the page and bindings share.

use std::fmt;
use std::path::Path;

use rulebook::agent::{Agent, NamedAgent};
use rulebook::compare::{Difference, Outcome};
use rulebook::diagnostic::Diagnostic;
use rulebook::evaluate::InactiveReason;
use rulebook::evidence::{Evidence, Input, PathLocation, Seen};
use rulebook::explain::{Inactive, Target, explain, explain_for};
use rulebook::matrix::{Cause, CellState, Matrix, NativeReading, tokens_for_any};
use rulebook::rule::Rule;
use serde::Serialize;

use crate::agents::{AgentSearch, UsedAgent};
use crate::prepare::unknown_requests;
use crate::sources::{Loaded, Reach, Sources};
use crate::tree::Wanted;
use crate::views::Views;
use crate::workspace::Workspace;

/// The version of the JSON that answers are written in.
pub const JSON_VERSION: u32 = 1;

/// Whom an answer is for.
#[derive(Clone, Copy, Debug, Default)]
pub enum Viewpoint {
    /// The agents used here.
    #[default]
    Used,
    /// An agent that reads nothing by itself.
    Any,
    /// One agent, with what Rulebook adds.
    For(NamedAgent),
    /// One agent by itself.
    As(NamedAgent),
}

impl Viewpoint {
    /// Whom the rules are for, as JSON says it; none if the answer is what an agent does by itself.
    pub fn for_name(self) -> Option<&'static str> {
        match self {
            Viewpoint::Used | Viewpoint::Any => Some("any"),
            Viewpoint::For(named) => Some(named.agent.name),
            Viewpoint::As(_) => None,
        }
    }

    /// The agent whose own behaviour the answer shows.
    pub fn as_name(self) -> Option<&'static str> {
        match self {
            Viewpoint::As(named) => Some(named.agent.name),
            _ => None,
        }
    }
}

/// The rules for each path, and the diagnostics of the files that were read.
#[derive(Debug)]
#[non_exhaustive]
pub struct Explanation {
    /// Whom it is for.
    pub view: Viewpoint,
    /// The agents that it is about.
    pub agents: Vec<UsedAgent>,
    /// Each with the number of tokens of its rules.
    pub targets: Vec<(Target, usize)>,
    /// What the agents treat differently than it is meant.
    pub differences: Vec<Differing>,
    /// Of settings, files and evidence.
    pub diagnostics: Vec<Diagnostic>,
}

/// A rule that its own agent reads differently than the author meant.
#[derive(Debug)]
#[non_exhaustive]
pub struct Differing {
    /// The id of the rule.
    pub id: String,
    /// Its file.
    pub source: String,
    /// The agent.
    pub agent: &'static Agent,
    /// What the author meant, and what the agent does.
    pub difference: Difference,
    /// Both in a sentence.
    pub sentence: String,
}

impl Differing {
    fn new(rule: &Rule, agent: &'static Agent, difference: Difference) -> Differing {
        let sentence = difference.sentence(agent, rule);
        Differing { id: rule.id.clone(), source: rule.origin.display.clone(), agent, difference, sentence }
    }

    fn output(&self) -> DifferenceOutput<'_> {
        let Differing { id, source, agent, difference, .. } = self;
        let Difference { meant, does, why, .. } = difference;
        DifferenceOutput { id, source, agent: agent.name, meant, does, why: why.as_deref() }
    }
}

/// A path that is in none of the roots.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct OutsideRoots {
    /// The path as given.
    pub path: String,
    /// The roots.
    pub roots: Vec<String>,
}

impl fmt::Display for OutsideRoots {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let roots = if self.roots.len() == 1 { "root" } else { "roots" };
        write!(f, "`{}` is outside the {roots} `{}`", self.path, self.roots.join("` and `"))
    }
}

impl std::error::Error for OutsideRoots {}

/// A question: the root and the path as shown, and the paths of its evidence.
struct Question {
    shown: Option<(usize, String)>,
    arguments: Vec<String>,
    /// The folder whose files are meant.
    folder: Option<(usize, String)>,
}

impl Workspace {
    /// Explains each path by itself, or the evidence as a whole if there are no paths. A folder means the files below it.
    ///
    /// `each` gets the table of every target, in order.
    pub fn explain(
        &self,
        input: &Input,
        view: Viewpoint,
        mut each: impl FnMut(&Matrix<'_>, &Evidence),
    ) -> Result<Explanation, OutsideRoots> {
        let questions = self.questions(input)?;
        let (all, evidence_diagnostics) = self.evidence(input);
        // The tree is walked for folders only.
        let tree = questions.iter().any(|question| question.folder.is_some());
        let tree = tree.then(|| self.tree(Wanted::All, &|_| ()));
        let paths = self.paths_of(&questions, &all);
        let reach = tree.as_ref().map_or(Reach::Above(&paths), Reach::Walked);
        let mut sources = self.sources(reach);
        if tree.is_none() && !unknown_requests(&sources.meant().book, &all).is_empty() {
            sources.widen();
        }
        let agents = self.agents_for(view, AgentSearch::WorkspaceAndHome);
        let views = sources.views(agents.clone());
        let found = differences(&sources, &views, view);
        let diagnostics = match view {
            Viewpoint::As(named) => views.agents[0].native.reported(named.agent, &views.meant.diagnostics),
            _ => {
                let mut diagnostics = views.meant.diagnostics.clone();
                sources.report_effects(&views.meant.book, found.clone(), &mut diagnostics);
                diagnostics
            }
        };
        let differing = |(rule, agent, found): (&Rule, _, _)| Differing::new(rule, agent, found);
        let differences = found.into_iter().map(differing).collect();
        let mut explanation = Explanation { view, agents, targets: Vec::new(), differences, diagnostics };
        for question in questions {
            let input = Input { arguments: question.arguments, ..input.clone() };
            let mut evidence = self.evidence_for(&views.meant.book, &input);
            if let (Some((root, folder)), Some(tree)) = (&question.folder, &tree) {
                evidence.paths = tree.below(*root, folder);
            }
            let matrix = views.matrix(&evidence);
            let target = self.target(view, &views, &matrix, &evidence, question.shown);
            explanation.targets.push(target);
            each(&matrix, &evidence);
        }
        explanation.add_diagnostics(evidence_diagnostics);
        explanation.add_diagnostics(unknown_requests(&views.meant.book, &all));
        Ok(explanation)
    }

    /// The paths of the evidence and of all questions. Evidence as a whole has a limit, but each question is for itself.
    fn paths_of(&self, questions: &[Question], all: &Evidence) -> Vec<Seen> {
        const PART: usize = 50;
        let arguments: Vec<String> =
            questions.iter().flat_map(|question| question.arguments.clone()).collect();
        let of_part =
            |part: &[String]| self.evidence(&Input { arguments: part.to_vec(), ..Input::default() }).0.paths;
        let mut paths: Vec<Seen> =
            arguments.chunks(PART).flat_map(of_part).chain(all.paths.clone()).collect();
        paths.sort_unstable();
        paths.dedup_by(|one, other| (&one.path, one.root) == (&other.path, other.root));
        paths
    }

    /// The agents that an answer is for; none for any agent.
    pub fn agents_for(&self, view: Viewpoint, search: AgentSearch) -> Vec<UsedAgent> {
        match view {
            Viewpoint::Used => self.agents_used(search),
            Viewpoint::Any => Vec::new(),
            Viewpoint::For(named) => vec![self.agent(named.agent, search)],
            Viewpoint::As(named) => {
                let mut used = self.agent(named.agent, search);
                used.wired.clear();
                vec![used]
            }
        }
    }

    /// Returns one question per path.
    fn questions(&self, input: &Input) -> Result<Vec<Question>, OutsideRoots> {
        let on_disk = |root: usize, path: &str| Path::new(&self.roots.roots[root].path).join(path);
        let exists = |root: usize, path: &str| self.files.exists(&on_disk(root, path));
        let mut questions = Vec::new();
        for path in &input.arguments {
            questions.push(match self.roots.locate(path, &exists) {
                PathLocation::Outside => {
                    let roots = self.roots.roots.iter().map(|root| root.path.clone()).collect();
                    return Err(OutsideRoots { path: path.clone(), roots });
                }
                PathLocation::Root(root) => Question {
                    shown: Some((root, ".".to_owned())),
                    arguments: Vec::new(),
                    folder: Some((root, String::new())),
                },
                PathLocation::Inside { root, path: shown }
                    if self.files.is_folder(&on_disk(root, &shown)) =>
                {
                    Question {
                        shown: Some((root, format!("{shown}/"))),
                        arguments: Vec::new(),
                        folder: Some((root, shown)),
                    }
                }
                PathLocation::Inside { root, path: shown } => {
                    Question { shown: Some((root, shown)), arguments: vec![path.clone()], folder: None }
                }
            });
        }
        if questions.is_empty() {
            questions.push(Question { shown: None, arguments: Vec::new(), folder: None });
        }
        Ok(questions)
    }

    fn target(
        &self,
        view: Viewpoint,
        views: &Views,
        matrix: &Matrix<'_>,
        evidence: &Evidence,
        shown: Option<(usize, String)>,
    ) -> (Target, usize) {
        let (root, shown) = shown.unzip();
        let roots = &self.roots;
        let (mut target, tokens) = match (view, matrix.columns.first()) {
            (Viewpoint::For(_), Some(column)) => {
                (explain_for(shown, matrix, column, evidence, roots), column.tokens)
            }
            (Viewpoint::As(_), Some(column)) => {
                let Loaded { book, .. } = &views.agents[0].native;
                let evaluation = NativeReading::evaluate(book, evidence);
                let mut target = explain(shown, book, &evaluation, evidence, roots);
                target.add_agents(matrix);
                let cells = matrix.rows.iter().zip(&column.cells);
                for (row, cell) in cells.filter(|(_, cell)| cell.state == CellState::Unread) {
                    // Why Rulebook adds nothing is no part of what the agent does by itself.
                    let detail = match &cell.because.cause {
                        reads @ (Cause::Reads(_) | Cause::StartedIn(_)) => reads.to_string(),
                        _ => String::new(),
                    };
                    let reason = InactiveReason::Unread;
                    target.inactive.push(Inactive::new(row.id, row.key(), row.origin, reason, detail));
                }
                target.name_as_meant(matrix);
                (target, column.tokens)
            }
            _ => {
                let mut target = explain(shown, &views.meant.book, &matrix.meant, evidence, roots);
                target.add_agents(matrix);
                (target, tokens_for_any(&matrix.meant))
            }
        };
        target.root =
            root.filter(|_| roots.roots.len() > 1).map(|root: usize| roots.roots[root].name.clone());
        (target, tokens)
    }
}

/// Returns what the agents treat differently than it is meant; for any agent, what the owners of the files do.
fn differences<'v>(
    sources: &Sources<'_>,
    views: &'v Views,
    view: Viewpoint,
) -> Vec<(&'v Rule, &'static Agent, Difference)> {
    if views.agents.is_empty() {
        return sources.differences(&views.meant.book);
    }
    if matches!(view, Viewpoint::As(_)) {
        return Vec::new();
    }
    let found = views.differences().into_iter();
    found.map(|(rule, agent, difference)| (rule, agent, difference.clone())).collect()
}

impl Explanation {
    /// Adds diagnostics of other sources.
    pub fn add_diagnostics(&mut self, diagnostics: Vec<Diagnostic>) {
        self.diagnostics.extend(diagnostics);
        self.diagnostics.sort();
        self.diagnostics.dedup();
    }

    /// The answer in the shape that programs read.
    pub fn output(&self) -> ExplainOutput<'_> {
        let as_agent = match self.view {
            Viewpoint::As(named) => Some(named.agent),
            _ => None,
        };
        ExplainOutput {
            version: JSON_VERSION,
            for_agent: self.view.for_name(),
            as_agent: self.view.as_name(),
            not_searched: as_agent.and_then(not_searched),
            targets: self.targets.iter().map(|(target, _)| target).collect(),
            differences: self.differences.iter().map(Differing::output).collect(),
            diagnostics: &self.diagnostics,
        }
    }
}

/// The JSON of an explanation.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ExplainOutput<'a> {
    version: u32,
    #[serde(rename = "for")]
    for_agent: Option<&'static str>,
    #[serde(rename = "as")]
    as_agent: Option<&'static str>,
    not_searched: Option<String>,
    targets: Vec<&'a Target>,
    differences: Vec<DifferenceOutput<'a>>,
    diagnostics: &'a [Diagnostic],
}

#[derive(Debug, Serialize)]
struct DifferenceOutput<'a> {
    id: &'a str,
    source: &'a str,
    agent: &'static str,
    meant: &'a str,
    does: &'a Outcome,
    why: Option<&'a str>,
}

/// Returns a note on files of other folders that an agent applies everywhere: only a walk of the tree could find them.
pub fn not_searched(agent: &Agent) -> Option<String> {
    let places = agent.formats.iter().filter(|format| !format.scoped).flat_map(|format| format.workspace);
    let names: Vec<&str> = places.map(|place| place.path).collect();
    (!names.is_empty()).then(|| {
        format!(
            "{} also loads {} from other folders; `rulebook status --as {}` lists them",
            agent.title,
            names.join(", "),
            agent.name
        )
    })
}
