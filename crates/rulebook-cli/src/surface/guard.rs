//! `guard`: agents may not change what governs them.

use rulebook::agent::Wiring;
use rulebook::guard::GuardMode;
use rulebook_workspace::{AgentSearch, UsedAgent};
use serde_json::json;

use crate::args::{Args, GuardTask};
use crate::input::open_workspace;
use crate::out::{self, VERSION};

pub(super) fn run(args: &Args, task: &GuardTask) -> anyhow::Result<()> {
    let workspace = open_workspace(args)?;
    match task {
        GuardTask::On { refuse } => {
            workspace.set_guard(Some(if *refuse { GuardMode::Refuse } else { GuardMode::Ask }))?;
        }
        GuardTask::Off => workspace.set_guard(None)?,
        GuardTask::Status => {}
    }
    let (mode, changed) = (workspace.guard(), workspace.guard_changes());
    let governed = workspace.governed();
    let (guarded, unguarded): (Vec<_>, Vec<_>) = workspace
        .agents_used(AgentSearch::WorkspaceAndHome)
        .into_iter()
        .partition(|used| used.wired.iter().any(|wiring| matches!(wiring, Wiring::Hook | Wiring::Proxy)));
    let names = |agents: &[UsedAgent]| agents.iter().map(|used| used.agent.name).collect::<Vec<_>>();
    let (guarded, unguarded) = (names(&guarded), names(&unguarded));
    let answer = json!({
        "version": VERSION, "guard": mode.map_or("off", GuardMode::name), "governed": governed.local,
        "governedAbsolute": governed.absolute, "changed": changed, "guarded": guarded, "notGuarded": unguarded,
    });
    let covered = match (guarded.as_slice(), unguarded.as_slice()) {
        ([], _) => {
            "no agent used here runs Rulebook's hooks, so nothing is guarded; run `rulebook install AGENT`\n"
                .to_owned()
        }
        (some, []) => format!("guarded: {}\n", some.join(", ")),
        (some, others) => {
            format!("guarded: {}\nnot guarded (not wired): {}\n", some.join(", "), others.join(", "))
        }
    };
    out::print_answer(args.json, &answer, || {
        let mut text = match mode {
            None => "guard: off\n".to_owned(),
            Some(GuardMode::Ask) => "guard: on; changes to rules, hooks and settings need your approval, and are refused where the agent cannot ask\n".to_owned(),
            Some(GuardMode::Refuse) => "guard: on; agents cannot change rules, hooks and settings\n".to_owned(),
        };
        if mode.is_some() {
            text.push_str(&covered);
        }
        for file in &changed {
            text.push_str(&format!("changed since the last event: {}\n", out::clean(file)));
        }
        text
    })
}
