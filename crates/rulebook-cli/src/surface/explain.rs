//! `explain`: shows which rules apply to a path and why, and why the others do not.

use std::fmt::Write as _;
use std::path::Path;

use anstyle::Style;
use anyhow::anyhow;
use rulebook::agent::Agent;
use rulebook::compare::Difference;
use rulebook::diagnostic::Diagnostic;
use rulebook::evaluate::{Audience, evaluate};
use rulebook::evidence::{Input, PathLocation};
use rulebook::explain::{Because, Target, explain};
use rulebook::format::Confidence;
use rulebook::render::{Budget, render};
use rulebook::resolve::OffBy;
use rulebook::rule::Rule;
use rulebook_workspace::{Loaded, Reach, RuleFiles, Wanted, Workspace};
use serde_json::{Value, json};

use crate::args::{Args, Explain};
use crate::input::{open_workspace, read_evidence};
use crate::out::{self, BOLD, CYAN, DIM, GREEN, PLAIN, RED, Table, VERSION, YELLOW, paint, plural};

pub(super) fn run(args: &Args, options: &Explain) -> anyhow::Result<()> {
    let workspace = open_workspace(args)?;
    if let Some(id) = &options.session {
        return super::sessions::explain(args, &workspace, id);
    }
    if let Some(id) = &options.rule {
        return run_reach(args, &workspace, id);
    }
    let (input, diagnostics) = read_evidence(&options.evidence, &options.paths)?;
    let mut answer = answer(&workspace, &input, options.view.agent())?;
    answer.add_diagnostics(diagnostics);
    if args.json { out::print_json(&answer.json()) } else { out::print(&answer.text()) }
}

/// The rules for each path, and the diagnostics.
pub(super) struct Explanation {
    agent: Option<&'static Agent>,
    /// Each with the number of tokens of its rules.
    pub(super) targets: Vec<(Target, usize)>,
    pub(super) differences: Vec<Differing>,
    diagnostics: Vec<Diagnostic>,
}

/// A rule that its own agent reads differently than the author meant.
pub(super) struct Differing {
    pub(super) id: String,
    pub(super) source: String,
    agent: &'static Agent,
    difference: Difference,
}

impl Differing {
    /// Describes what the author meant and what the agent does.
    pub(super) fn description(&self) -> String {
        let Differing { agent, difference, .. } = self;
        let why = difference.why.as_ref().map(|why| format!(" ({why})")).unwrap_or_default();
        format!("meant to be {}, but {} {}{why}", difference.meant, agent.title, difference.does)
    }
}

/// Explains each path by itself, or the evidence as a whole if there are no paths.
pub(super) fn answer(
    workspace: &Workspace,
    input: &Input,
    agent: Option<&'static Agent>,
) -> anyhow::Result<Explanation> {
    let exists = |root: usize, path: &str| Path::new(&workspace.roots.roots[root].path).join(path).exists();
    let mut questions = Vec::new();
    for path in &input.arguments {
        match workspace.roots.locate(path, &exists) {
            PathLocation::Outside => {
                let roots: Vec<&str> = workspace.roots.roots.iter().map(|root| root.path.as_str()).collect();
                return Err(anyhow!("name a path inside the root, or add its folder with `--root`")
                    .context(format!("`{path}` is outside the root `{}`", roots.join("`, `"))));
            }
            PathLocation::Root(root) => questions.push((Some((root, ".".to_owned())), Vec::new())),
            PathLocation::Inside { root, path: shown } => {
                questions.push((Some((root, shown)), vec![path.clone()]));
            }
        }
    }
    if questions.is_empty() {
        questions.push((None, Vec::new()));
    }

    let (all, evidence_diagnostics) = workspace.evidence(input);
    let sources = workspace.sources(Reach::Above(&all.paths));
    let Loaded { book, diagnostics, .. } =
        agent.map_or_else(|| sources.meant(), |agent| sources.native(agent));
    let differences = if agent.is_none() { sources.differences(&book) } else { Vec::new() };
    let mut targets = Vec::new();
    for (shown, arguments) in questions {
        let input = Input { arguments, ..input.clone() };
        let evidence = workspace.evidence_for(&book, &input);
        let evaluation = evaluate(&book, &evidence, Audience::any());
        let tokens = render(&evaluation, Budget::default()).tokens;
        let (root, shown) = shown.unzip();
        let mut target = explain(shown, &book, &evaluation, &evidence, &workspace.roots);
        let roots = &workspace.roots.roots;
        target.root = root.filter(|_| roots.len() > 1).map(|root: usize| roots[root].name.clone());
        targets.push((target, tokens));
    }
    let differences = differences.into_iter().map(|(rule, agent, difference)| Differing {
        id: rule.id.clone(),
        source: rule.origin.display.clone(),
        agent,
        difference,
    });
    let mut answer = Explanation { agent, targets, differences: differences.collect(), diagnostics };
    answer.add_diagnostics(evidence_diagnostics);
    Ok(answer)
}

impl Explanation {
    fn add_diagnostics(&mut self, diagnostics: Vec<Diagnostic>) {
        self.diagnostics.extend(diagnostics);
        self.diagnostics.sort();
        self.diagnostics.dedup();
    }

    pub(super) fn json(&self) -> Value {
        let targets: Vec<&Target> = self.targets.iter().map(|(target, _)| target).collect();
        let differences: Vec<_> = self.differences.iter().map(difference_json).collect();
        json!({
            "version": VERSION, "as": self.agent.map(|agent| agent.name),
            "notSearched": self.agent.and_then(not_searched), "targets": targets,
            "differences": differences, "diagnostics": self.diagnostics,
        })
    }

    /// Formats the answer for people, with colours.
    pub(super) fn text(&self) -> String {
        let mut text = String::new();
        if let Some(agent) = self.agent {
            show_agent(&mut text, agent);
            if let Some(not_searched) = not_searched(agent) {
                text.pop();
                let _ = writeln!(text, "{}\n", paint(DIM, not_searched));
            }
        }
        for (target, tokens) in &self.targets {
            show(&mut text, target, *tokens);
        }
        show_differences(&mut text, &self.differences);
        show_count(&mut text, &self.diagnostics);
        text
    }
}

/// Prints whose view this is, and when that agent applies rules for paths.
pub(super) fn show_agent(text: &mut String, agent: &Agent) {
    let fires = if agent.path_rules.is_empty() {
        String::new()
    } else {
        format!("; rules for paths: {}", agent.path_rules)
    };
    let _ = writeln!(text, "{}{}", paint(BOLD, format!("as {}", agent.title)), paint(DIM, fires));
    let format = agent.known_by();
    if format.confidence != Confidence::High {
        let basis = format!("based on {} (confidence: {})", format.knowledge, format.confidence.name());
        let _ = writeln!(text, "{}", paint(DIM, basis));
    }
    text.push('\n');
}

/// Returns a note on files of other folders that an agent applies everywhere: only a walk of the tree could find them.
fn not_searched(agent: &Agent) -> Option<String> {
    let places = agent.formats.iter().filter(|format| !format.scoped).flat_map(|format| format.workspace);
    let names: Vec<&str> = places.map(|place| place.path).collect();
    (!names.is_empty()).then(|| {
        format!(
            "{} in other folders applies too and is not searched here: `rulebook status --as {}` lists it",
            names.join(", "),
            agent.name
        )
    })
}

fn difference_json(Differing { id, source, agent, difference }: &Differing) -> Value {
    json!({
        "id": id, "source": source, "agent": agent.name, "meant": difference.meant,
        "does": difference.does, "why": difference.why,
    })
}

fn show_differences(text: &mut String, differences: &[Differing]) {
    if differences.is_empty() {
        return;
    }
    let _ = writeln!(text, "  {}", paint(DIM, "read differently by the agent"));
    let mut table = Table::default();
    for differing in differences {
        table.row([(YELLOW, &differing.id), (PLAIN, &differing.source), (PLAIN, &differing.description())]);
    }
    table.write(text, 4, &table.widths());
    text.push('\n');
}

fn show_count(text: &mut String, diagnostics: &[Diagnostic]) {
    if let Some(count) = out::count(diagnostics) {
        let _ = writeln!(text, "{count}: run `rulebook check` for details");
    }
}

fn show(text: &mut String, target: &Target, tokens: usize) {
    let shown = target.path.as_deref().unwrap_or("given evidence");
    let shown = target.root.as_ref().map_or_else(|| shown.to_owned(), |root| format!("{root}/{shown}"));
    let _ = writeln!(
        text,
        "{}  {}",
        paint(BOLD, out::clean(&shown)),
        paint(
            DIM,
            format!("{}, about {} (estimated)", plural(target.stack.len(), "rule"), plural(tokens, "token"))
        ),
    );
    let row = |style, id: &str, source: &str, why| {
        [(style, id.to_owned()), (PLAIN, source.to_owned()), (PLAIN, why)]
    };
    let dim = |row: [(Style, String); 3]| row.map(|(_, cell)| (DIM, cell));
    let applied = target.stack.iter().map(|rule| {
        let why = because(&rule.because);
        let why = if rule.basis.is_doubtful() { format!("{why} ({})", rule.basis) } else { why };
        row(GREEN.bold(), &rule.id, &rule.source, why)
    });
    let watching = target
        .stream
        .iter()
        .map(|rule| row(BOLD, &rule.id, &rule.source, "watches the model's output".to_owned()));
    let offered = target
        .offered
        .iter()
        .map(|rule| row(BOLD, &rule.id, &rule.source, rule.description.clone().unwrap_or_default()));
    let overridden = target.overridden.iter().map(|rule| {
        let winner = if rule.winner.id == rule.id {
            rule.winner.source.clone()
        } else {
            format!("{} ({})", rule.winner.id, rule.winner.source)
        };
        let why = format!("by {winner}, decided by {}", rule.decided_by.name());
        row(YELLOW, &rule.id, &rule.source, why)
    });
    let inactive =
        target.inactive.iter().map(|rule| dim(row(DIM, &rule.id, &rule.source, rule.detail.clone())));
    let disabled = target
        .disabled
        .iter()
        .map(|rule| row(YELLOW, &rule.id, &rule.source, off_words(rule.by, rule.file.as_deref())));
    let rejected = target.rejected.iter().map(|rule| {
        let codes: Vec<&str> = rule.diagnostics.iter().map(|code| code.row().name).collect();
        row(RED, &rule.id, &rule.source, codes.join(", "))
    });
    let mut sections: Vec<(&str, Table)> = vec![
        ("applies, in this order", applied.collect()),
        ("watches the stream", watching.collect()),
        ("offered: the agent can read them as rule://ID", offered.collect()),
        ("overridden", overridden.collect()),
        ("does not apply", inactive.collect()),
        ("disabled", disabled.collect()),
        ("rejected", rejected.collect()),
    ];
    sections.retain(|(_, table)| !table.is_empty());
    let widths = sections
        .iter()
        .map(|(_, table)| table.widths())
        .reduce(|a, b| a.iter().zip(&b).map(|(a, b)| *a.max(b)).collect());
    for (title, table) in &sections {
        let _ = writeln!(text, "\n  {}", paint(CYAN, title));
        table.write(text, 4, widths.as_deref().unwrap_or_default());
    }
    if sections.is_empty() {
        text.push_str("\n  no rule files found; `rulebook status` searches the whole tree\n");
    }
    text.push('\n');
}

/// Formats the reasons why a rule applies: `paths apps/web/** ← apps/web/a.tsx (argument)`.
pub(super) fn because(reasons: &[Because]) -> String {
    if reasons.is_empty() {
        return "always on".to_owned();
    }
    let mut words = Vec::new();
    for reason in reasons {
        let mut word = format!("{} {}", reason.condition, reason.matched.join(", "));
        if let Some(first) = reason.evidence.first() {
            let sources: Vec<&str> = first.sources.iter().map(|source| source.name()).collect();
            let _ = write!(word, " ← {} ({})", first.path, sources.join(", "));
            if reason.evidence.len() > 1 {
                let _ = write!(word, " and {} more", reason.evidence.len() - 1);
            }
        }
        words.push(word);
    }
    words.join("; ")
}

/// Describes what disabled a rule.
pub(super) fn off_words(by: OffBy, file: Option<&str>) -> String {
    match (by, file) {
        (OffBy::Toggle, _) => "by you; `rulebook enable ID` turns it on again".to_owned(),
        (by, Some(file)) => format!("by `{by}` in {file}"),
        (by, None) => format!("by `{by}`"),
    }
}

/// `explain --rule`: shows which files in the tree a rule applies to.
fn run_reach(args: &Args, workspace: &Workspace, id: &str) -> anyhow::Result<()> {
    let tree = workspace.tree(Wanted::All, &|_| ());
    let loaded = workspace.load(Reach::Walked(&tree));
    let name = rulebook::id::rule_name(id);
    let called: Vec<&Rule> = loaded.book.lookup(&name).into_iter().map(|(rule, _)| rule).collect();
    let is_called = |rule: &Rule| called.iter().any(|called| std::ptr::eq(*called, rule));
    let called = loaded.book.rules().enumerate().filter(|(_, (rule, _))| is_called(rule));
    let (rules, offs): (Vec<usize>, Vec<_>) = called.map(|(at, (_, off))| (at, off)).unzip();
    if rules.is_empty() {
        return Err(super::read::unknown(&name, &loaded));
    }
    let reached = workspace.reached_by(&rules, &loaded.book, &tree);
    let tree = tree.files();
    let mut rows = Vec::new();
    for (reached, off) in reached.iter().zip(offs) {
        let activation = match off {
            Some(off) => format!("disabled {}", off_words(off.by, off.file.as_deref())),
            None => reached.rule.activation.name().to_owned(),
        };
        rows.push((reached, activation));
    }
    if args.json {
        let rules: Vec<_> = rows
            .iter()
            .map(|(RuleFiles { rule, further, files, .. }, activation)| {
                json!({
                    "id": rule.id, "key": rule.key(), "source": rule.origin.display, "comesOn": activation, "globs": rule.globs,
                    "further": further, "files": files,
                })
            })
            .collect();
        let answer =
            json!({ "version": VERSION, "rules": rules, "tree": tree, "diagnostics": loaded.diagnostics });
        return out::print_json(&answer);
    }
    let mut text = String::new();
    for (RuleFiles { rule, further, files, .. }, activation) in rows {
        // Without a condition on paths, the files were not counted.
        let asks_paths = rule.conditions.iter().any(|condition| !further.contains(&condition.key));
        let is_counted = asks_paths || further.is_empty() || !files.is_empty();
        let mut count = match is_counted {
            true => format!("{activation}; {} of {}", files.len(), plural(tree, "file")),
            false => format!("{activation}; any file"),
        };
        if !further.is_empty() {
            let _ = write!(count, ", if {} also holds", further.join(", "));
        }
        let (id, source) = (out::clean(&rule.id), out::clean(&rule.origin.display));
        let _ = writeln!(text, "{}  {source}  {}", paint(BOLD, id), paint(DIM, count));
        for file in files {
            let _ = writeln!(text, "  {}", out::clean(file));
        }
    }
    out::print(&text)
}
