//! `formats`: lists the supported formats, and the agents for `--as`.

use std::fmt::Write as _;

use rulebook::agent::{AGENTS, Agent};
use rulebook::format::{FORMATS, Format, Place};
use serde_json::{Value, json};

use crate::args::Args;
use crate::out::{self, BOLD, DIM, PLAIN, Table, VERSION, paint};

pub(super) fn run(args: &Args) -> anyhow::Result<()> {
    if !args.json {
        return out::print(&show());
    }
    let formats: Vec<Value> = FORMATS.iter().map(format_json).collect();
    let agents: Vec<Value> = AGENTS.iter().map(agent_json).collect();
    out::print_json(&json!({ "version": VERSION, "formats": formats, "agents": agents }))
}

fn format_json(format: &Format) -> Value {
    let shown = |places: &[Place]| places.iter().map(Place::shown).collect::<Vec<_>>();
    let has_header = format.tier.is_some();
    json!({
        "name": format.id,
        "agent": format.agent,
        "workspace": shown(format.workspace),
        "user": shown(format.user),
        "priority": format.priority,
        "pathsKey": has_header.then_some(format.paths_key),
        "keys": if has_header { format.known_keys() } else { Vec::new() },
        "agentKeys": keys(format).0,
        "modeKey": format.modes.map(|modes| modes.key),
        "modes": format.mode_words(),
        "dialect": has_header.then(|| format.dialect.name()),
        "brokenHeader": has_header.then(|| format.broken.meaning()),
        "withoutCondition": format.bare.meaning(),
        "limit": format.limit,
        "limits": limited(format).map(|(place, limit)| json!({ "place": place, "limit": limit })).collect::<Vec<_>>(),
        "owner": Agent::owner_of(format.id).map(|agent| agent.name),
        "confidence": format.confidence.name(),
        "knowledge": format.knowledge,
    })
}

fn agent_json(agent: &Agent) -> Value {
    let known = agent.known_by();
    json!({
        "name": agent.name,
        "title": agent.title,
        "reads": agent.formats.iter().map(Format::name).collect::<Vec<_>>(),
        "fires": agent.path_rules,
        "total": agent.limit.as_ref().map(|limit| json!({ "limit": limit.most, "unit": limit.unit })),
        "confidence": known.confidence.name(),
        "knowledge": known.knowledge,
    })
}

fn show() -> String {
    let mut text = String::new();
    for format in FORMATS {
        let _ = writeln!(text, "{}  {}", paint(BOLD, format.name()), paint(DIM, format.agent));
        let mut table = Table::default();
        for (title, cell) in facts(format) {
            table.row([(DIM, title), (PLAIN, &cell)]);
        }
        table.write(&mut text, 2, &table.widths());
    }
    let names: Vec<&str> = AGENTS.iter().map(|agent| agent.name).collect();
    let _ = writeln!(
        text,
        "\n{} {}\n{}",
        paint(BOLD, "--as"),
        names.join(", "),
        paint(
            DIM,
            "`rulebook status --as AGENT` and `rulebook explain --as AGENT PATH` show what that agent does by itself"
        ),
    );
    text
}

/// Returns the places that have their own size limit.
fn limited(format: &Format) -> impl Iterator<Item = (String, usize)> {
    format.workspace.iter().chain(format.user).filter_map(|place| Some((place.shown(), place.limit?)))
}

/// Returns the keys that the format's own agent reads, and those that only Rulebook does.
fn keys(format: &Format) -> (Vec<&'static str>, Vec<&'static str>) {
    let known = if format.tier.is_some() { format.known_keys() } else { Vec::new() };
    let Some(owner) = Agent::owner_of(format.id) else { return (known, Vec::new()) };
    let readings: Vec<&Format> = owner.formats.iter().filter(|own| own.id == format.id).collect();
    let is_read = |key: &&str| {
        readings.iter().any(|own| {
            let is_ignored = own.inert.contains(key) || own.agent_ignores.contains(key);
            !is_ignored && own.tier.is_some() && own.known_keys().contains(key)
        })
    };
    known.into_iter().partition(is_read)
}

/// Returns the facts about a format, each with a title.
fn facts(format: &Format) -> Vec<(&'static str, String)> {
    let list = |places: &[Place]| places.iter().map(Place::shown).collect::<Vec<_>>().join(", ");
    let header = match (format.tier, format.modes) {
        (None, _) => "none, the whole file is the rule".to_owned(),
        (Some(_), None) => format!("`{}` ({} globs)", format.paths_key, format.dialect.name()),
        (Some(_), Some(modes)) => {
            let words = format.mode_words().join(", ");
            format!("`{}`: {words}; `{}` ({} globs)", modes.key, format.paths_key, format.dialect.name())
        }
    };
    let all = format.limit.map(|limit| format!("{limit} characters per file"));
    let limits = limited(format).map(|(place, limit)| format!("{limit} characters in {place}"));
    let (own, added) = keys(format);
    let facts = [
        ("workspace", list(format.workspace)),
        ("user", list(format.user)),
        ("header", header),
        ("keys", own.join(", ")),
        ("only with Rulebook", added.join(", ")),
        ("no condition", format.bare.meaning().to_owned()),
        ("limit", all.into_iter().chain(limits).collect::<Vec<_>>().join(", ")),
        ("based on", format!("{} (confidence: {})", format.knowledge, format.confidence.name())),
    ];
    facts.into_iter().filter(|(_, fact)| !fact.is_empty()).collect()
}
