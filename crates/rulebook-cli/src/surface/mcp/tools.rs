//! The tools: what each takes, and what it answers.

use std::sync::Arc;

use anyhow::anyhow;
use rmcp::ErrorData;
use rmcp::handler::server::tool::schema_for_input;
use rmcp::model::{ErrorCode, JsonObject, Tool, ToolAnnotations};
use rmcp::schemars::{self, JsonSchema};
use rulebook::agent::Wiring;
use rulebook::diagnostic::{Code, Diagnostic};
use rulebook::evaluate::{Evaluation, Verdict};
use rulebook::evidence::Input;
use rulebook::explain;
use rulebook::id::rule_uri;
use rulebook::matrix::{Handling, Subject, evaluate_for, handlings};
use rulebook::render::{Budget, Notice, render};
use rulebook::rule::Rule;
use rulebook::session::{Delivery, SessionStore as _};
use rulebook_workspace::{Reach, RuleText, Viewpoint};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::{Server, hook};
use crate::alert::{alert_line, alerts};
use crate::lock::lock;
use crate::out;
use crate::surface::grid::Room;
use crate::surface::{explain as explaining, read, sections};

/// The output of a tool: for the model, and for a program that requests structured content.
///
/// One text, since some clients put several together without a space. Nothing structured unasked: Claude Code shows
/// the model that in the text's place, Copilot as well as the text.
pub(super) struct ToolOutput {
    pub(super) text: String,
    pub(super) structured: Option<Value>,
}

/// A tool as it is written down.
struct Row {
    name: &'static str,
    description: &'static str,
    schema: fn() -> Result<Arc<JsonObject>, String>,
    call: fn(&Server, Value) -> anyhow::Result<ToolOutput>,
}

const TOOLS: &[Row] = &[
    Row {
        name: "rules_for",
        description: "The rules that apply to files and a task, as text to follow, and why each applies. Call it \
            before you read or change files, with all of them at once.",
        schema: schema_for_input::<Work>,
        call: |server, arguments| rules_for(server, &decoded::<Work>(arguments)?),
    },
    Row {
        name: "read_rule",
        description: "One rule's text, by its name or `rule://NAME`. Call it when a rule is offered for the domain \
            you work in.",
        schema: schema_for_input::<Named>,
        call: |server, arguments| read_rule(server, &decoded::<Named>(arguments)?),
    },
    Row {
        name: "explain",
        description: "Why each rule applies to a path or does not: the pattern that decided, which rule overrides which, \
            what is disabled or rejected.",
        schema: schema_for_input::<Work>,
        call: |server, arguments| explain_work(server, &decoded::<Work>(arguments)?),
    },
    Row {
        name: "hook",
        description: "For hooks: answers an event with the JSON that a hook prints.",
        schema: schema_for_input::<hook::Event>,
        call: |server, arguments| hook::answer(server, &decoded::<hook::Event>(arguments)?),
    },
];

/// The work at hand.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Work {
    /// Files or folders, absolute or relative to the workspace's root; they need not exist
    #[serde(default)]
    paths: Vec<String>,
    /// What the user wants done, in the user's own words
    #[serde(default)]
    message: String,
    /// The mode you are in, such as `plan` or `act`
    #[serde(default)]
    mode: Option<String>,
    /// For programs: answer with structured content too
    #[serde(default)]
    structured: bool,
}

/// A rule by its name.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Named {
    /// `rule://NAME`, or the name alone
    name: String,
    /// For programs: answer with structured content too
    #[serde(default)]
    structured: bool,
}

/// The tools as clients see them.
pub(super) fn list() -> Vec<Tool> {
    let tool = |row: &Row| {
        let schema = (row.schema)().expect("the arguments of a tool are an object");
        let annotations = ToolAnnotations::new().read_only(true).open_world(false);
        Tool::new(row.name, row.description, schema).with_annotations(annotations)
    };
    // Hooks call theirs by name; models need not know it.
    TOOLS.iter().filter(|row| row.name != "hook").map(tool).collect()
}

/// Calls a tool. An error of the tool is for the model to read; an unknown tool is the client's mistake.
pub(super) fn call(
    server: &Server,
    name: &str,
    arguments: Value,
) -> Result<anyhow::Result<ToolOutput>, ErrorData> {
    let Some(row) = TOOLS.iter().find(|row| row.name == name) else {
        let names: Vec<_> = list().into_iter().map(|tool| tool.name).collect();
        let message = format!("unknown tool `{}`; the tools are {}", out::clean(name), names.join(", "));
        return Err(ErrorData::new(ErrorCode::INVALID_PARAMS, message, None));
    };
    Ok((row.call)(server, arguments))
}

fn decoded<T: DeserializeOwned>(arguments: Value) -> anyhow::Result<T> {
    serde_json::from_value(arguments).map_err(|error| {
        let message = format!("invalid arguments: {}", out::clean(&error.to_string()));
        anyhow!("see the tool's `inputSchema`").context(message)
    })
}

impl Work {
    fn input(&self) -> Input {
        let message = Some(self.message.clone()).filter(|message| !message.is_empty());
        Input { arguments: self.paths.clone(), message, mode: self.mode.clone(), ..Input::default() }
    }
}

/// Why a rule is listed without its text.
const GIVEN: &str = "; given before";

fn rules_for(server: &Server, work: &Work) -> anyhow::Result<ToolOutput> {
    let workspace = server.opener.workspace()?;
    let prepared = workspace.prepare(&work.input());
    // A program gets everything, and the session is the model's.
    let client = server.client.get().filter(|_| !work.structured);
    let view = client.map(|client| prepared.view(client.agent, &[Wiring::Mcp]));
    let native = view.as_ref().map(|view| view.reading(&prepared.evidence));
    let subject = view.as_ref().zip(native.as_ref()).map(|(view, native)| view.subject(native));
    let mut evaluation =
        evaluate_for(&prepared.book, &prepared.evidence, subject.as_ref(), Budget::default());
    let stack =
        explain::explain(None, &prepared.book, &evaluation, &prepared.evidence, &workspace.roots).stack;
    let mut session = lock(&server.session);
    let session = session.as_mut().filter(|_| !work.structured);
    let mut withheld = leave_out(&mut evaluation, subject.as_ref());
    let hooked = client.and_then(|client| client.session(&workspace, server.started));
    for session in session.as_deref().into_iter().chain(&hooked) {
        let given = evaluation.withhold(|rule| session.has_rule(rule));
        withheld.extend(given.into_iter().map(|rule| (rule, GIVEN)));
    }
    let evaluation = evaluation.within(workspace.settings.budget, |_| true);
    let rendered = render(&evaluation);
    if let Some(session) = session {
        let delivery = |verdict: &&Verdict<'_>| Delivery::of(verdict.rule, "`rules_for`".to_owned());
        session.record(Vec::new(), rendered.applied.iter().map(delivery).collect());
    }
    // Problems in single rule files are for people to fix, and `explain` counts them.
    let outside = prepared.diagnostics.iter().filter(|diagnostic| diagnostic.code == Code::EvidenceOutside);
    let reported: Vec<Diagnostic> = outside.chain(alerts(&prepared.diagnostics)).cloned().collect();
    let because = |rule: &explain::Applied| {
        let why = sections::because(&rule.because);
        let is_it = |(withheld, _): &&(&Rule, &str)| withheld.origin.display == rule.source;
        let before = withheld.iter().find(is_it).map_or("", |(_, why)| why);
        format!("- {} ({}): {}{before}", out::clean(&rule.name), out::clean(&rule.source), out::clean(&why))
    };
    let mut reasons: Vec<String> = stack.iter().map(because).collect();
    if withheld.iter().any(|(_, why)| *why == GIVEN) {
        let hint = "- given before: call `read_rule` if you no longer have the text";
        reasons.push(hint.to_owned());
    }
    let cut = |verdict: &&Verdict<'_>| {
        format!("- over the budget: call `read_rule` for {}", rule_uri(verdict.rule.address()))
    };
    reasons.extend(rendered.omitted.iter().map(cut));
    reasons.extend(reported.iter().map(|diagnostic| match diagnostic.code {
        Code::EvidenceOutside => format!("- {}", out::clean(&diagnostic.message)),
        _ => format!("- tell the user: {}", alert_line(diagnostic)),
    }));
    if prepared.evidence.cut > 0 {
        reasons.push(format!("- too many paths: {} were not considered", prepared.evidence.cut));
    }
    if reasons.is_empty() {
        reasons.push("- no rule applies".to_owned());
    }
    let end = if rendered.text.is_empty() { "" } else { "\n\n" };
    let text = format!("{}{end}# Why\n{}", rendered.text, reasons.join("\n"));
    let notice = Notice::of(&rendered);
    let answer = || workspace.prompt_output(&prepared, &rendered, notice.as_ref(), &reported);
    let structured = work.structured.then(|| serde_json::to_value(answer())).transpose()?;
    Ok(ToolOutput { text, structured })
}

/// Takes out the rules that `rules_for` does not return to an agent, and says why.
fn leave_out<'r>(
    evaluation: &mut Evaluation<'r>,
    subject: Option<&Subject<'_, '_>>,
) -> Vec<(&'r Rule, &'static str)> {
    let applied: Vec<&Verdict<'r>> = evaluation.stack().collect();
    let handled = applied.iter().zip(handlings(subject, &applied));
    let why = |handling: &Handling| match handling {
        Handling::Native | Handling::NativeAlways => Some("; you read this file by yourself"),
        Handling::NotAdded(_) => Some("; not for this agent"),
        _ => None,
    };
    let left: Vec<(&'r Rule, &str)> =
        handled.filter_map(|(verdict, handling)| Some((verdict.rule, why(&handling)?))).collect();
    evaluation.withhold(|rule| left.iter().any(|(left, _)| std::ptr::eq(*left, rule)));
    left
}

fn read_rule(server: &Server, named: &Named) -> anyhow::Result<ToolOutput> {
    let loaded = server.opener.workspace()?.load(Reach::Tree);
    let (rule, others) =
        loaded.book.read_all(&named.name).map_err(|_| read::unknown(&named.name, &loaded, usize::MAX))?;
    let structured =
        named.structured.then(|| serde_json::to_value(RuleText::new(rule, &others, &[]))).transpose()?;
    if let Some(session) = &mut *lock(&server.session) {
        session.record(Vec::new(), vec![Delivery::of(rule, "`read_rule`".to_owned())]);
    }
    Ok(ToolOutput { text: rule.readable().into_owned(), structured })
}

fn explain_work(server: &Server, work: &Work) -> anyhow::Result<ToolOutput> {
    let workspace = server.opener.workspace()?;
    let answer = explaining::answer(&workspace, &work.input(), Viewpoint::Used)?;
    let text = anstream::adapter::strip_str(&answer.text(Room::Unlimited)).to_string();
    let structured =
        work.structured.then(|| serde_json::to_value(answer.explanation.output())).transpose()?;
    Ok(ToolOutput { text, structured })
}
