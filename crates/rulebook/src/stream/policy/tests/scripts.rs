//! Sessions as scripts: every line a step, after `->` what it leads to.

use super::*;

/// Runs a script and writes what happened; with a resume after every step, the same must happen.
#[track_caller]
fn check(script: &str) {
    let script: Vec<&str> = script.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    let run = |between: fn(&Policy) -> Policy| -> Vec<String> {
        let mut policy = Policy::default();
        script
            .iter()
            .map(|line| {
                let step = line.split(" -> ").next().unwrap();
                let outcome = step_of(&mut policy, step);
                policy = between(&policy);
                if outcome.is_empty() { step.to_owned() } else { format!("{step} -> {outcome}") }
            })
            .collect()
    };
    assert_eq!(run(Policy::clone), script);
    assert_eq!(run(resumed), script, "resumed after every step");
}

fn step_of(policy: &mut Policy, step: &str) -> String {
    let (verb, rest) = step.split_once(' ').unwrap_or((step, ""));
    match verb {
        "start" => policy.turn_started(),
        "end" => policy.turn_ended(),
        "compact" => policy.compacted(),
        "turns" => (0..rest.parse().unwrap()).for_each(|_| {
            policy.turn_started();
            policy.turn_ended();
        }),
        "deliver" => policy.delivered(ClaimId(rest.parse().unwrap())),
        "release" => policy.released(ClaimId(rest.parse().unwrap())),
        "limit" => policy.set_max_interrupts(rest.parse().unwrap()),
        "remind" => return reminders(policy),
        "claims" => return claims(policy),
        "armed" => return armed(policy),
        _ => return action(policy.decide(&window(step))),
    }
    String::new()
}

/// `text a, tool b`
fn window(step: &str) -> Vec<TriggerMatch> {
    let matches = step.split(", ").map(|part| part.split_once(' ').unwrap());
    matches.map(|(source, rule)| found(OutputSource::named(source).unwrap(), rule)).collect()
}

fn action(action: Action) -> String {
    match action {
        Action::Nothing => "nothing".to_owned(),
        Action::Interrupt { claim, rules, context } => {
            format!("interrupt {} {} {}", claim.0, context.name(), rules.join(" "))
        }
        Action::RemindLater { rules, why } => format!("later {why:?} {}", rules.join(" ")),
    }
}

fn reminders(policy: &mut Policy) -> String {
    let Some((claim, reminders)) = policy.reminders() else { return "nothing".to_owned() };
    let rules: Vec<String> = reminders
        .iter()
        .map(|it| {
            let call = it.call.as_ref().map(|call| format!("@{call}")).unwrap_or_default();
            format!("{} {:?} {}{call}", it.rule, it.why, it.source.name())
        })
        .collect();
    format!("{} {}", claim.0, rules.join(", "))
}

fn claims(policy: &Policy) -> String {
    let claims = policy.claims();
    let lines: Vec<String> =
        claims.iter().map(|it| format!("{} {:?} {}", it.id.0, it.means, it.rules.join(" "))).collect();
    if lines.is_empty() { "nothing".to_owned() } else { lines.join(", ") }
}

/// The rules that are not armed are what a test is about.
fn armed(policy: &Policy) -> String {
    let off: Vec<&str> =
        RULES.iter().filter(|(rule, modes)| !policy.is_armed(rule, modes)).map(|(rule, _)| *rule).collect();
    if off.is_empty() { "all".to_owned() } else { format!("all but {}", off.join(" ")) }
}

#[test]
fn the_mode_says_which_source_interrupts() {
    check("start\n text a -> interrupt 1 discard a");
    check("start\n thinking a -> interrupt 1 discard a");
    check("start\n tool a -> interrupt 1 discard a");
    check("start\n text prose -> interrupt 1 discard prose");
    check("start\n thinking prose -> interrupt 1 discard prose");
    check("start\n tool prose -> later Mode prose\n end\n remind -> 1 prose Mode tool@call");
    check("start\n text tool -> later Mode tool\n end\n remind -> 1 tool Mode text");
    check("start\n thinking tool -> later Mode tool\n end\n remind -> 1 tool Mode thinking");
    check("start\n tool tool -> interrupt 1 discard tool");
    check(
        "start\n text never -> later Mode never\n tool never -> nothing\n end\n remind -> 1 never Mode text",
    );
}

#[test]
fn rules_of_one_window_go_together() {
    check("start\n text never, text a, tool prose -> interrupt 1 discard never a prose");
    check("start\n text a, text a, tool a -> interrupt 1 discard a");
    check("start\n text never, text never, text tool -> later Mode never tool");
    // The source that interrupts counts, wherever it is in the window.
    check("start\n text tool, tool tool -> interrupt 1 discard tool");
    // A rule that is not armed stays behind.
    check(
        "start\n text a -> interrupt 1 discard a\n deliver 1\n end\n start\n text b, text a -> interrupt 2 discard b",
    );
}

#[test]
fn one_rule_that_discards_is_enough() {
    check("start\n text keep -> interrupt 1 keep keep");
    check("start\n text keep, text a -> interrupt 1 discard keep a");
    check("start\n text keep -> interrupt 1 keep keep\n text a -> interrupt 1 discard a");
    check("start\n text a -> interrupt 1 discard a\n text keep -> interrupt 1 discard keep");
}

/// Peers leave the retry unchecked, or interrupt it for ever.
#[test]
fn the_retry_is_watched_until_the_budget_is_spent() {
    for (rule, after) in [("a", "nothing"), ("gap0", "interrupt 5 discard gap0"), ("gap2", "nothing")] {
        check(&format!(
            "start
             text {rule} -> interrupt 1 discard {rule}
             deliver 1
             start
             text {rule} -> interrupt 2 discard {rule}
             deliver 2
             tool {rule} -> interrupt 3 discard {rule}
             deliver 3
             text {rule} -> later Budget {rule}
             text {rule} -> nothing
             end
             remind -> 4 {rule} Budget text
             remind -> nothing
             deliver 4
             start
             text {rule} -> {after}"
        ));
    }
}

#[test]
fn the_budget_is_the_turns_not_the_rules() {
    check(
        "start
         text a -> interrupt 1 discard a
         deliver 1
         text b -> interrupt 2 discard b
         deliver 2
         text a -> interrupt 3 discard a
         deliver 3
         text keep, text never -> later Budget keep never
         end
         remind -> 4 keep Budget text, never Mode text
         deliver 4
         start
         text gap2 -> interrupt 5 discard gap2",
    );
    check("limit 0\n start\n text a -> later Budget a\n text a -> nothing");
    check("limit 1\n start\n text a -> interrupt 1 discard a\n release 1\n text a -> later Budget a");
}

#[test]
fn a_spent_budget_is_reported_even_for_a_rule_that_waits() {
    check(
        "limit 0
         start
         text tool -> later Mode tool
         tool tool -> later Budget tool
         tool tool -> nothing
         end
         remind -> 1 tool Budget tool@call",
    );
}

#[test]
fn once_lasts_until_the_text_has_left_the_context() {
    check(
        "start
         text a -> interrupt 1 discard a
         deliver 1
         end
         turns 100
         armed -> all but a
         start
         text a -> nothing
         compact
         text a -> interrupt 2 discard a
         deliver 2
         end
         armed -> all but a
         compact
         armed -> all",
    );
    check("start\n text a -> interrupt 1 discard a\n compact\n deliver 1\n end\n armed -> all but a");
}

#[test]
fn a_gap_is_counted_in_completed_turns_from_the_delivery() {
    check(
        "start
         text gap2 -> interrupt 1 discard gap2
         deliver 1
         end
         armed -> all but gap2
         compact
         armed -> all but gap2
         start
         text gap2 -> nothing
         end
         start
         text gap2 -> interrupt 2 discard gap2
         release 2
         text gap2 -> interrupt 3 discard gap2",
    );
    // A retry is no new turn: it makes no gap pass.
    check(
        "start\n text gap2 -> interrupt 1 discard gap2\n deliver 1\n start\n start\n end\n armed -> all but gap2",
    );
    // A turn that ended before the delivery is no part of the gap.
    check(
        "start
         text a -> interrupt 1 discard a
         text gap2 -> interrupt 1 discard gap2
         end
         deliver 1
         turns 1
         armed -> all but a gap2
         turns 1
         armed -> all but a",
    );
}

#[test]
fn a_rule_is_reminded_of_once_a_turn() {
    check(
        "start
         text never0 -> later Mode never0
         remind -> 1 never0 Mode text
         text never0 -> nothing
         deliver 1
         text never0 -> nothing
         end
         start
         text never0 -> later Mode never0",
    );
    check(
        "start\n text never -> later Mode never\n remind -> 1 never Mode text\n deliver 1\n compact\n text never -> later Mode never",
    );
}

#[test]
fn a_released_rule_is_as_if_it_had_not_fired() {
    check(
        "start\n text a -> interrupt 1 discard a\n release 1\n armed -> all\n claims -> nothing\n end\n armed -> all",
    );
    check(
        "start\n text never -> later Mode never\n end\n remind -> 1 never Mode text\n release 1\n remind -> nothing\n armed -> all",
    );
    // The delivery before still holds.
    check(
        "start
         text a -> interrupt 1 discard a
         deliver 1
         text a -> interrupt 2 discard a
         release 2
         end
         armed -> all but a",
    );
    // Compaction reaches what lies below a claim.
    check(
        "start
         text a -> interrupt 1 discard a
         deliver 1
         text a -> interrupt 2 discard a
         compact
         release 2
         end
         armed -> all",
    );
}

#[test]
fn a_claim_stays_open_until_it_is_settled() {
    check(
        "start
         text a, text never -> interrupt 1 discard a never
         text a -> nothing
         end
         claims -> 1 Interrupt a never
         start
         text a -> nothing
         text b -> interrupt 2 discard b
         turns 20
         compact
         claims -> 1 Interrupt a never, 2 Interrupt b
         deliver 1
         release 2
         claims -> nothing",
    );
}

#[test]
fn unknown_and_settled_claims_are_ignored() {
    check("deliver 7\n release 7\n armed -> all");
    check("start\n text a -> interrupt 1 discard a\n deliver 2\n release 0\n claims -> 1 Interrupt a");
    check("start\n text a -> interrupt 1 discard a\n deliver 1\n release 1\n end\n armed -> all but a");
    check("start\n text a -> interrupt 1 discard a\n release 1\n deliver 1\n end\n armed -> all");
}

/// Deltas arrive until the abort takes effect.
#[test]
fn matches_before_the_output_stops_join_the_interrupt() {
    check(
        "start
         text a -> interrupt 1 discard a
         text a -> nothing
         text b -> interrupt 1 discard b
         tool prose, text a -> interrupt 1 discard prose
         claims -> 1 Interrupt a b prose
         deliver 1
         end
         armed -> all but a b prose",
    );
    check("limit 1\n start\n text a -> interrupt 1 discard a\n text b -> interrupt 1 discard b");
}

#[test]
fn what_waits_goes_with_an_interrupt() {
    check(
        "start
         text never -> later Mode never
         text a -> interrupt 1 discard a never
         deliver 1
         end
         remind -> nothing
         armed -> all but a never",
    );
    check(
        "start\n text tool -> later Mode tool\n tool tool -> interrupt 1 discard tool\n end\n remind -> nothing",
    );
}

#[test]
fn without_a_turn_there_is_nothing_to_stop() {
    check(
        "text a -> later NoTurn a\n text a -> nothing\n remind -> 1 a NoTurn text\n deliver 1\n text a -> nothing",
    );
    check("end\n end\n armed -> all");
    check(
        "text never0 -> later Mode never0\n remind -> 1 never0 Mode text\n deliver 1\n text never0 -> nothing",
    );
}

#[test]
fn an_empty_window_does_nothing() {
    assert_eq!(Policy::default().decide(&[]), Action::Nothing);
}

#[test]
fn what_counts_is_how_the_rule_acts_now() {
    let mut policy = Policy::default();
    policy.turn_started();
    policy.decide(&[found(OutputSource::Text, "a")]);
    policy.delivered(ClaimId(1));
    policy.turn_ended();
    let gap = |gap| StreamModes { repeat: RepeatMode::AfterGap, gap, ..DEFAULT };
    assert_eq!([gap(1), gap(2), DEFAULT].map(|modes| policy.is_armed("a", &modes)), [true, false, false]);
}

#[test]
fn the_state_has_a_version_and_another_is_refused() {
    let state = serde_json::to_value(Policy::default()).unwrap();
    assert_eq!(state["version"], 1);
    let mut other = state;
    other["version"] = 2.into();
    let error = serde_json::from_value::<Policy>(other).unwrap_err().to_string();
    assert_eq!(error, "stream state has version `2`, only `1` can be read");
}

#[test]
fn a_forged_state_is_no_danger() {
    let mut state = serde_json::to_value(Policy::default()).unwrap();
    for key in ["now", "next_claim"] {
        state[key] = u64::MAX.into();
    }
    for key in ["max_interrupts", "interrupts"] {
        state[key] = u32::MAX.into();
    }
    let mut policy: Policy = serde_json::from_value(state).unwrap();
    for step in
        ["text a", "end", "start", "text b", "text never", "remind", "deliver 0", "turns 3", "compact"]
    {
        step_of(&mut policy, step);
    }
}
