//! `guard`: agents may not change what governs them.

use rulebook::guard::GuardMode;
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
    let answer = json!({
        "version": VERSION, "guard": mode.map_or("off", GuardMode::name), "governed": governed.local,
        "governedAbsolute": governed.absolute, "changed": changed,
    });
    out::print_answer(args.json, &answer, || {
        let mut text = match mode {
            None => "guard: off\n".to_owned(),
            Some(GuardMode::Ask) => "guard: on; asks before an agent changes what governs it, and refuses where the host cannot ask\n".to_owned(),
            Some(GuardMode::Refuse) => "guard: on; refuses what changes what governs an agent\n".to_owned(),
        };
        for file in &changed {
            text.push_str(&format!("changed since the last event: {}\n", out::clean(file)));
        }
        text
    })
}
