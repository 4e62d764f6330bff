//! Tests of the policy: scripted sessions, laws over random sessions, and the texts.

mod laws;
mod scripts;
mod texts;

use super::{
    Action, ClaimId, ContextMode, InterruptMode, OutputSource, Policy, RepeatMode, StreamModes, TriggerMatch,
};

const DEFAULT: StreamModes = StreamModes {
    interrupt: InterruptMode::Always,
    context: ContextMode::Discard,
    repeat: RepeatMode::Once,
    gap: 10,
};

/// The rules of all tests, named after their modes.
const RULES: &[(&str, StreamModes)] = &[
    ("a", DEFAULT),
    ("b", DEFAULT),
    ("keep", StreamModes { context: ContextMode::Keep, ..DEFAULT }),
    ("prose", StreamModes { interrupt: InterruptMode::ProseOnly, ..DEFAULT }),
    ("tool", StreamModes { interrupt: InterruptMode::ToolOnly, ..DEFAULT }),
    ("never", StreamModes { interrupt: InterruptMode::Never, ..DEFAULT }),
    (
        "never0",
        StreamModes { interrupt: InterruptMode::Never, repeat: RepeatMode::AfterGap, gap: 0, ..DEFAULT },
    ),
    ("gap0", StreamModes { repeat: RepeatMode::AfterGap, gap: 0, ..DEFAULT }),
    ("gap2", StreamModes { repeat: RepeatMode::AfterGap, gap: 2, ..DEFAULT }),
];

fn modes(rule: &str) -> StreamModes {
    RULES.iter().find(|(name, _)| *name == rule).expect("tests use rules of the table").1
}

fn found(source: OutputSource, rule: &str) -> TriggerMatch {
    TriggerMatch {
        rule: rule.to_owned(),
        source,
        modes: modes(rule),
        is_mandatory: false,
        call: (source == OutputSource::Tool).then(|| "call".to_owned()),
    }
}

fn resumed(policy: &Policy) -> Policy {
    serde_json::from_str(&serde_json::to_string(policy).unwrap()).unwrap()
}

#[test]
fn other_rules_cannot_use_up_the_interrupts_of_a_mandatory_rule() {
    let mut policy = Policy::new(1);
    policy.turn_started();
    let stops = |action: &Action| matches!(action, Action::Interrupt { .. });
    let mut decide = |(rule, is_mandatory): (&str, bool)| {
        let action = policy.decide(&[TriggerMatch { is_mandatory, ..found(OutputSource::Text, rule) }]);
        if let Action::Interrupt { claim, .. } = action {
            policy.delivered(claim);
        }
        stops(&action)
    };
    let rules = [("a", false), ("b", false), ("gap0", true), ("gap2", true)];
    assert_eq!(rules.map(&mut decide), [true, false, true, false]);
}
