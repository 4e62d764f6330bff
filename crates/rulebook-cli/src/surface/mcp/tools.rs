//! The tools: what each takes, and what it answers.

use std::sync::Arc;

use anyhow::{Context as _, anyhow};
use rmcp::ErrorData;
use rmcp::handler::server::tool::schema_for_input;
use rmcp::model::{ErrorCode, JsonObject, Tool, ToolAnnotations};
use rmcp::schemars::{self, JsonSchema};
use rulebook::diagnostic::{Code, Diagnostic};
use rulebook::evidence::Input;
use rulebook::explain;
use rulebook::render::{Budget, Notice, render};
use rulebook_workspace::Reach;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use super::{MARKDOWN, Server, hook};
use crate::out;
use crate::surface::{VERSION, explain as explaining, prompt, read};

/// What a tool says: to the model, and to programs.
pub(super) struct Said {
    pub(super) texts: Vec<String>,
    pub(super) structured: Option<Value>,
}

/// A tool as it is written down.
struct Row {
    name: &'static str,
    description: &'static str,
    schema: fn() -> Result<Arc<JsonObject>, String>,
    call: fn(&Server, Value) -> anyhow::Result<Said>,
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
        description: "Why each rule applies to a path or does not: the pattern that decided, who overrides whom, \
            what is switched off or rejected.",
        schema: schema_for_input::<Work>,
        call: |server, arguments| explain_work(server, &decoded::<Work>(arguments)?),
    },
    Row {
        name: "hook",
        description: "For hooks that call a tool, not for models: answers an event with the JSON a hook would print, \
            with the rules that apply to it and were not yet given in its session.",
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
    /// What the user asked for, in their own words
    #[serde(default)]
    message: String,
}

/// A rule by its name.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Named {
    /// `rule://NAME`, or the name alone
    name: String,
}

/// The tools as clients are told of them.
pub(super) fn list() -> Vec<Tool> {
    let tool = |row: &Row| {
        let schema = (row.schema)().expect("the arguments of a tool are an object");
        let annotations = ToolAnnotations::new().read_only(true).idempotent(true).open_world(false);
        Tool::new(row.name, row.description, schema).with_annotations(annotations)
    };
    TOOLS.iter().map(tool).collect()
}

/// Calls a tool. What it cannot do is for the model to read; a tool that is not there is the client's mistake.
pub(super) fn call(server: &Server, name: &str, arguments: Value) -> Result<anyhow::Result<Said>, ErrorData> {
    let Some(row) = TOOLS.iter().find(|row| row.name == name) else {
        let names: Vec<&str> = TOOLS.iter().map(|row| row.name).collect();
        let told = format!("there is no tool `{}`; there are {}", out::clean(name), names.join(", "));
        return Err(ErrorData::new(ErrorCode::INVALID_PARAMS, told, None));
    };
    let called = (row.call)(server, arguments);
    Ok(called.with_context(|| format!("`{name}` cannot answer")))
}

fn decoded<T: DeserializeOwned>(arguments: Value) -> anyhow::Result<T> {
    serde_json::from_value(arguments).map_err(|error| anyhow!("its arguments do not fit: {error}"))
}

impl Work {
    fn input(&self) -> Input {
        let message = Some(self.message.clone()).filter(|message| !message.is_empty());
        Input { arguments: self.paths.clone(), message, ..Input::default() }
    }
}

fn rules_for(server: &Server, work: &Work) -> anyhow::Result<Said> {
    let workspace = server.asks.workspace()?;
    let asked = workspace.ask(&work.input());
    let evaluation = asked.evaluate();
    let rendered = render(&evaluation, Budget { tokens: workspace.settings.budget.tokens });
    let notice = Notice::of(&rendered);
    // What is wrong in rule files is for people to mend, and `explain` tells it.
    let outside = |told: &&Diagnostic| told.code == Code::EvidenceOutside;
    let told: Vec<Diagnostic> = asked.diagnostics.iter().filter(outside).cloned().collect();
    let structured = prompt::answer(&workspace, &asked, &rendered, notice.as_ref(), &told);

    let mut reasons = Vec::new();
    let stack = explain::explain(None, &asked.book, &evaluation, &asked.evidence, &workspace.roots).stack;
    for rule in &stack {
        let why = explaining::because(&rule.because);
        reasons.push(format!("{} applies ({}): {why}", out::clean(&rule.name), out::clean(&rule.source)));
    }
    reasons.extend(rendered.omitted.iter().map(|cut| {
        format!("{} is over the budget: read it as rule://{}", cut.rule.name, read::encoded(&cut.rule.name))
    }));
    reasons.extend(told.iter().map(|told| out::clean(&told.message)));
    let mut texts = vec![rendered.text.clone(), reasons.join("\n")];
    texts.retain(|text| !text.is_empty());
    if texts.is_empty() {
        texts.push("no rule applies".to_owned());
    }
    Ok(Said { texts, structured: Some(serde_json::to_value(structured)?) })
}

fn read_rule(server: &Server, named: &Named) -> anyhow::Result<Said> {
    let book = server.asks.workspace()?.load(Reach::Tree).book;
    let rule = book.read(&named.name).map_err(|_| read::unknown(&named.name, &book))?;
    let structured = json!({
        "version": VERSION,
        "uri": format!("rule://{}", read::encoded(&rule.name)),
        "name": rule.name,
        "source": rule.origin.display,
        "mimeType": MARKDOWN,
        "text": rule.body,
    });
    Ok(Said { texts: vec![rule.body.clone()], structured: Some(structured) })
}

fn explain_work(server: &Server, work: &Work) -> anyhow::Result<Said> {
    let workspace = server.asks.workspace()?;
    let answer = explaining::answer(&workspace, &work.input(), None)?;
    let text = anstream::adapter::strip_str(&answer.text()).to_string();
    Ok(Said { texts: vec![text], structured: Some(answer.json()) })
}
