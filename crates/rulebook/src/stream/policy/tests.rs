//! Tests of the policy: scripts of a session with what each step leads to, laws over random sessions, and the texts.

mod laws;
mod scripts;
mod texts;

use super::{Action, ClaimId, ContextMode, InterruptMode, Match, Modes, Policy, RepeatMode, Source};

const DEFAULT: Modes = Modes {
    interrupt: InterruptMode::Always,
    context: ContextMode::Discard,
    repeat: RepeatMode::Once,
    gap: 10,
};

/// The rules every test knows, by names that say how they act.
const RULES: &[(&str, Modes)] = &[
    ("a", DEFAULT),
    ("b", DEFAULT),
    ("keep", Modes { context: ContextMode::Keep, ..DEFAULT }),
    ("prose", Modes { interrupt: InterruptMode::ProseOnly, ..DEFAULT }),
    ("tool", Modes { interrupt: InterruptMode::ToolOnly, ..DEFAULT }),
    ("never", Modes { interrupt: InterruptMode::Never, ..DEFAULT }),
    ("never0", Modes { interrupt: InterruptMode::Never, repeat: RepeatMode::AfterGap, gap: 0, ..DEFAULT }),
    ("gap0", Modes { repeat: RepeatMode::AfterGap, gap: 0, ..DEFAULT }),
    ("gap2", Modes { repeat: RepeatMode::AfterGap, gap: 2, ..DEFAULT }),
];

fn modes(rule: &str) -> Modes {
    RULES.iter().find(|(name, _)| *name == rule).expect("tests use rules of the table").1
}

fn found(source: Source, rule: &str) -> Match {
    Match {
        rule: rule.to_owned(),
        source,
        modes: modes(rule),
        call: (source == Source::Tool).then(|| "call".to_owned()),
    }
}

fn resumed(policy: &Policy) -> Policy {
    serde_json::from_str(&serde_json::to_string(policy).unwrap()).unwrap()
}
