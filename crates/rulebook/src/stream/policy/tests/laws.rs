//! Laws that hold for every session, whatever the model and the host do.

use std::collections::{BTreeMap, BTreeSet};

use proptest::prelude::*;

use super::*;
use crate::stream::policy::Reminder;

#[derive(Clone, Debug)]
enum Step {
    Start,
    End,
    Window(Vec<(OutputSource, &'static str)>),
    Deliver(u64),
    Release(u64),
    Compact,
    Remind,
}

#[derive(Debug, PartialEq)]
enum Outcome {
    Silent,
    Acted(Action),
    Reminded(Option<(ClaimId, Vec<String>)>),
}

fn take(policy: &mut Policy, step: &Step) -> Outcome {
    match step {
        Step::Start => policy.turn_started(),
        Step::End => policy.turn_ended(),
        Step::Deliver(claim) => policy.delivered(ClaimId(*claim)),
        Step::Release(claim) => policy.released(ClaimId(*claim)),
        Step::Compact => policy.compacted(),
        Step::Window(matches) => {
            let matches: Vec<TriggerMatch> =
                matches.iter().map(|(source, rule)| found(*source, rule)).collect();
            return Outcome::Acted(policy.decide(&matches));
        }
        Step::Remind => {
            let names = |(claim, reminders): (ClaimId, Vec<Reminder>)| {
                (claim, reminders.into_iter().map(|it| it.rule).collect())
            };
            return Outcome::Reminded(policy.reminders().map(names));
        }
    }
    Outcome::Silent
}

fn step() -> impl Strategy<Value = Step> {
    let source = proptest::sample::select(OutputSource::NAMES).prop_map(|(_, source)| source);
    let rule = proptest::sample::select(RULES).prop_map(|(rule, _)| rule);
    prop_oneof![
        2 => Just(Step::Start),
        1 => Just(Step::End),
        6 => proptest::collection::vec((source, rule), 0..4).prop_map(Step::Window),
        3 => (0..12_u64).prop_map(Step::Deliver),
        1 => (0..12_u64).prop_map(Step::Release),
        1 => Just(Step::Compact),
        1 => Just(Step::Remind),
    ]
}

/// What the host knows: a plain account to hold the policy against.
#[derive(Default)]
struct Host {
    in_turn: bool,
    interrupts: BTreeSet<ClaimId>,
    open: BTreeMap<ClaimId, BTreeSet<String>>,
}

impl Host {
    fn note(&mut self, step: &Step, outcome: &Outcome) {
        match (step, outcome) {
            (Step::Start, _) if !self.in_turn => {
                self.in_turn = true;
                self.interrupts.clear();
            }
            (Step::End, _) => self.in_turn = false,
            (Step::Deliver(claim) | Step::Release(claim), _) => {
                self.open.remove(&ClaimId(*claim));
            }
            (_, Outcome::Acted(Action::Interrupt { claim, rules, .. })) => {
                self.interrupts.insert(*claim);
                self.open.entry(*claim).or_default().extend(rules.iter().cloned());
            }
            (_, Outcome::Reminded(Some((claim, rules)))) => {
                self.open.entry(*claim).or_default().extend(rules.iter().cloned());
            }
            _ => {}
        }
    }
}

fn open(policy: &Policy) -> BTreeMap<ClaimId, BTreeSet<String>> {
    policy
        .claims()
        .iter()
        .map(|claim| (claim.id, claim.rules.iter().map(|it| (*it).to_owned()).collect()))
        .collect()
}

fn armed(policy: &Policy) -> Vec<&'static str> {
    RULES.iter().filter(|(rule, modes)| policy.is_armed(rule, modes)).map(|(rule, _)| *rule).collect()
}

proptest! {
    #![proptest_config(proptest::test_runner::Config { cases: 1024, ..Default::default() })]

    #[test]
    fn a_turn_is_interrupted_within_its_budget_and_no_claim_is_lost(
        budget in 0..4_u32,
        steps in proptest::collection::vec(step(), 0..60),
    ) {
        let (mut policy, mut host) = (Policy::new(budget), Host::default());
        for step in &steps {
            let before = armed(&policy);
            let outcome = take(&mut policy, step);
            host.note(step, &outcome);
            prop_assert!(host.interrupts.len() <= budget as usize, "{step:?}");
            prop_assert_eq!(open(&policy), host.open.clone(), "{:?}", step);
            if let Outcome::Acted(Action::Interrupt { rules, .. } | Action::RemindLater { rules, .. }) = &outcome {
                prop_assert!(!rules.is_empty());
                prop_assert_eq!(rules.iter().collect::<BTreeSet<_>>().len(), rules.len(), "{:?}", rules);
            }
            if let (Step::Window(matches), Outcome::Acted(Action::Interrupt { rules, .. })) = (step, &outcome) {
                for (_, rule) in matches.iter().filter(|(_, rule)| before.contains(rule)) {
                    prop_assert!(rules.iter().any(|it| it == rule), "{rule} was left behind");
                }
            }
        }
    }

    #[test]
    fn a_resumed_session_goes_on_as_the_original(
        before in proptest::collection::vec(step(), 0..40),
        after in proptest::collection::vec(step(), 0..40),
    ) {
        let mut original = Policy::default();
        before.iter().for_each(|step| { take(&mut original, step); });
        let mut copy = resumed(&original);
        for step in &after {
            prop_assert_eq!(take(&mut original, step), take(&mut copy, step));
            prop_assert_eq!(armed(&original), armed(&copy));
        }
        prop_assert_eq!(original, copy);
    }

    #[test]
    fn a_release_undoes_the_claim(steps in proptest::collection::vec(step(), 0..40), rule in 0..RULES.len()) {
        let mut policy = Policy::default();
        steps.iter().for_each(|step| { take(&mut policy, step); });
        let mut untouched = policy.clone();
        let Outcome::Acted(Action::Interrupt { claim, .. }) =
            take(&mut policy, &Step::Window(vec![(OutputSource::Text, RULES[rule].0)])) else { return Ok(()) };
        // A window that joined an interrupt is released with what was claimed before it.
        untouched.released(claim);
        policy.released(claim);
        for _ in 0..3 {
            prop_assert_eq!(armed(&policy), armed(&untouched));
            policy.turn_ended();
            untouched.turn_ended();
            policy.turn_started();
            untouched.turn_started();
        }
    }

    /// The model breaks the rules at every retry; the host retries as asked. It comes to an end.
    #[test]
    fn a_stubborn_model_comes_to_an_end(
        budget in 0..6_u32,
        windows in proptest::collection::vec(proptest::sample::subsequence(RULES, 1..4), 40),
        settle in proptest::collection::vec(any::<bool>(), 40),
    ) {
        let mut policy = Policy::new(budget);
        policy.turn_started();
        let (mut interrupts, mut waiting) = (0, BTreeSet::new());
        for (window, deliver) in windows.iter().zip(settle) {
            let matches: Vec<TriggerMatch> = window.iter().map(|(rule, _)| found(OutputSource::Tool, rule)).collect();
            match policy.decide(&matches) {
                Action::Interrupt { claim, .. } => {
                    interrupts += 1;
                    waiting.clear();
                    if deliver { policy.delivered(claim) } else { policy.released(claim) }
                }
                Action::RemindLater { rules, .. } => {
                    for rule in rules {
                        prop_assert!(waiting.insert(rule), "reported twice");
                    }
                }
                Action::Nothing => {}
            }
        }
        prop_assert!(interrupts <= budget);
    }
}
