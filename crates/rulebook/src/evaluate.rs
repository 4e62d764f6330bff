//! Evaluating: a rulebook and the evidence in, a verdict for every rule out.

use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap};

use crate::agent::Conflicts;
use crate::condition::{ConditionResult, Facts, Truth};
use crate::evidence::Evidence;
use crate::format::Bare;
use crate::hidden::visible_line;
use crate::resolve::{Off, Rulebook};
use crate::rule::{Activation, Rule, Step};

/// What becomes of every rule, in the order of precedence.
#[derive(Clone, Debug)]
pub struct Evaluation<'r> {
    /// One for each rule that is not rejected.
    pub verdicts: Vec<Verdict<'r>>,
}

/// A rule's answer to the evidence.
#[derive(Clone, Debug)]
pub struct Verdict<'r> {
    /// The rule.
    pub rule: &'r Rule,
    /// The one bucket it ends in.
    pub state: State<'r>,
    /// What held.
    pub because: Vec<Reason>,
}

/// Where a rule ends.
#[derive(Clone, Debug)]
pub enum State<'r> {
    /// It applies.
    Stack,
    /// The agent may ask for it.
    Offered,
    /// It watches the model's output.
    Stream,
    /// It does not apply.
    Inactive(WhyNot),
    /// It would apply, but another says it.
    Overridden {
        /// Who.
        winner: &'r Rule,
        /// What decided.
        by: Step,
    },
    /// Somebody switched it off.
    Disabled(Off),
}

/// Why a rule does not apply.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WhyNot {
    /// The condition that failed, or `manual`, `unreachable`, `no-condition`, `empty`.
    pub reason: &'static str,
    /// The same for people.
    pub detail: String,
}

/// A condition that held.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reason {
    /// Its key.
    pub condition: &'static str,
    /// What of it matched, as written.
    pub matched: Vec<String>,
    /// Positions of the evidence paths it rests on.
    pub seen: Vec<usize>,
}

/// Gives every rule its verdict.
pub fn evaluate<'r>(book: &'r Rulebook, evidence: &Evidence) -> Evaluation<'r> {
    let facts = Facts::new(evidence, book.rules().filter_map(|(rule, _)| rule.origin.nest()));
    let standings: Vec<Standing<'r>> = book.rules().map(|(rule, off)| stand(rule, off, &facts)).collect();
    let is_here = |rule: &Rule| !facts.below(rule.origin.root, &rule.origin.folder).is_empty();
    Evaluation { verdicts: decide(standings, book.conflicts(), is_here) }
}

/// A verdict on its way.
struct Standing<'r> {
    verdict: Verdict<'r>,
    /// Offered for its description although its conditions do not hold: gives way to any rule that does apply.
    unmet: Option<WhyNot>,
}

impl Standing<'_> {
    fn applies(&self) -> bool {
        matches!(self.verdict.state, State::Stack | State::Offered | State::Stream)
    }

    /// Nobody may switch it off, and its conditions hold.
    fn is_mandatory(&self) -> bool {
        self.verdict.rule.is_mandatory && self.unmet.is_none()
    }
}

/// A rule by itself: no other rule is considered yet.
fn stand<'r>(rule: &'r Rule, off: Option<&Off>, facts: &Facts<'_>) -> Standing<'r> {
    let mut because = Vec::new();
    let mut unmet = None;
    let state = match off {
        Some(off) => State::Disabled(off.clone()),
        None => match judge(rule, facts, &mut because) {
            Ok(state) => state,
            Err(why) if rule.is_offered && !matches!(why.reason, "folder" | "empty" | "manual") => {
                unmet = Some(why);
                State::Offered
            }
            Err(why) => State::Inactive(why),
        },
    };
    Standing { verdict: Verdict { rule, state, because }, unmet }
}

/// The bucket of a rule whose conditions hold, or why they do not.
fn judge<'r>(rule: &'r Rule, facts: &Facts<'_>, because: &mut Vec<Reason>) -> Result<State<'r>, WhyNot> {
    if rule.body.is_empty() {
        return Err(WhyNot::new("empty", "there is no text to deliver"));
    }
    let is_always = rule.activation == Activation::Always && rule.conditions.is_empty();
    let is_requested = facts.evidence.requested.iter().any(|name| rule.is_called(name));
    if is_requested && rule.stream.is_none() && !is_always {
        because.push(Reason { condition: "requested", matched: vec![rule.name.clone()], seen: Vec::new() });
        return Ok(State::Stack);
    }
    because.extend(ask_folder(rule, facts)?);
    because.extend(ask_conditions(rule, facts)?);
    bucket(rule)
}

/// Where a rule ends by itself once its conditions hold.
fn bucket<'r>(rule: &Rule) -> Result<State<'r>, WhyNot> {
    match rule.activation {
        Activation::Stream => Ok(State::Stream),
        Activation::Always | Activation::When => Ok(State::Stack),
        Activation::OnRequest => Ok(State::Offered),
        Activation::Manual => Err(WhyNot::new("manual", "it comes on when the user asks for it by name")),
        Activation::Never if rule.origin.format.bare == Bare::Inactive => {
            Err(WhyNot::new("no-condition", "it has neither `globs` nor `alwaysApply: true`"))
        }
        Activation::Never if rule.origin.format.bare == Bare::Undocumented => {
            Err(WhyNot::new("undocumented", "the agent does not document what a rule like this is"))
        }
        Activation::Never => Err(WhyNot::new("unreachable", "nothing in its header can bring it on")),
    }
}

/// A nested rule is for the evidence below its folder.
fn ask_folder(rule: &Rule, facts: &Facts<'_>) -> Result<Option<Reason>, WhyNot> {
    let Some((root, folder)) = rule.origin.nest() else { return Ok(None) };
    match facts.below(root, folder) {
        [] => {
            let folder = visible_line(folder);
            Err(WhyNot::new("folder", format!("no evidence path lies below `{folder}`")))
        }
        seen => Ok(Some(Reason {
            condition: "folder",
            matched: vec![visible_line(folder).into_owned()],
            seen: seen.to_vec(),
        })),
    }
}

fn ask_conditions(rule: &Rule, facts: &Facts<'_>) -> Result<Vec<Reason>, WhyNot> {
    let answers: Vec<_> =
        rule.conditions.iter().map(|condition| (condition.key, condition.evaluate(facts))).collect();
    let truth = rule.combine.combine(answers.iter().map(|(_, answer)| answer.truth));
    if truth == Truth::Yes {
        let held = answers.into_iter().filter(|(_, answer)| answer.truth == Truth::Yes);
        return Ok(held
            .map(|(condition, ConditionResult { matched, seen, .. })| Reason {
                condition,
                matched: matched.into_iter().map(shown).collect(),
                seen,
            })
            .collect());
    }
    let failed = answers.iter().filter(|(_, answer)| answer.truth != Truth::Yes);
    let details: Vec<&str> = failed.map(|(_, answer)| answer.detail.as_str()).collect();
    let reason =
        answers.iter().find(|(_, answer)| answer.truth == truth).map_or("no-condition", |(key, _)| key);
    Err(WhyNot::new(reason, shown(details.join("; "))))
}

/// A pattern or a path as it is handed on: reasons are delivered too.
fn shown(text: String) -> String {
    match visible_line(&text) {
        Cow::Borrowed(_) => text,
        Cow::Owned(shown) => shown,
    }
}

impl WhyNot {
    fn new(reason: &'static str, detail: impl Into<String>) -> WhyNot {
        WhyNot { reason, detail: detail.into() }
    }
}

/// Whether a rule, alone with this evidence, is in the stack or watches the stream.
pub fn applies(rule: &Rule, evidence: &Evidence) -> bool {
    let state = judge(rule, &Facts::new(evidence, rule.origin.nest()), &mut Vec::new());
    matches!(state, Ok(State::Stack | State::Stream))
}

/// Where a rule ends whose conditions hold, alone; nothing where they cannot bring it on.
pub(crate) fn at_best(rule: &Rule) -> Option<State<'_>> {
    bucket(rule).ok().filter(|_| !rule.body.is_empty())
}

/// What becomes of rules, in order, whose conditions hold, among each other. One that is off is a nested
/// `enabled: false` whose folder it is.
pub(crate) fn settle<'r>(
    rules: impl IntoIterator<Item = (&'r Rule, Option<&'r Off>)>,
    conflicts: Conflicts,
) -> Vec<Verdict<'r>> {
    let stand = |(rule, off): (&'r Rule, Option<&'r Off>)| {
        let state = match off {
            Some(off) => State::Disabled(off.clone()),
            None => bucket(rule).unwrap_or_else(State::Inactive),
        };
        Standing { verdict: Verdict { rule, state, because: Vec::new() }, unmet: None }
    };
    decide(rules.into_iter().map(stand).collect(), conflicts, |_| true)
}

/// The rules among each other. `is_here` tells whether a nested rule's folder is concerned.
fn decide<'r>(
    mut standings: Vec<Standing<'r>>,
    conflicts: Conflicts,
    is_here: impl Fn(&Rule) -> bool,
) -> Vec<Verdict<'r>> {
    bury(&mut standings, is_here);
    if conflicts == Conflicts::FirstWins {
        override_ids(&mut standings);
        override_duplicates(&mut standings);
    }
    standings.into_iter().map(|standing| standing.verdict).collect()
}

/// `enabled: false` in a nested folder switches rules of its id off there.
fn bury(standings: &mut [Standing<'_>], is_here: impl Fn(&Rule) -> bool) {
    let mut tombs: HashMap<&str, &Rule> = HashMap::new();
    for Standing { verdict, .. } in standings {
        let Verdict { rule, state, .. } = verdict;
        if let Some(tomb) = tombs.get(rule.id.as_str())
            && !matches!(state, State::Disabled(_))
            && !rule.is_mandatory
        {
            *state = State::Disabled(tomb.tombstone());
        }
        if !rule.enabled && !rule.origin.folder.is_empty() && is_here(rule) {
            tombs.entry(&rule.id).or_insert(rule);
        }
    }
}

/// One winner an id: the first in order that applies. What is merely offered yields to what applies, and both to what
/// nobody may switch off, which itself yields to none.
fn override_ids(standings: &mut [Standing<'_>]) {
    let mut winners: HashMap<&str, usize> = HashMap::with_capacity(standings.len());
    let turns: [fn(&Standing<'_>) -> bool; 3] =
        [|standing| standing.is_mandatory(), |standing| standing.unmet.is_none(), |_| true];
    for is_turn in turns {
        for (at, standing) in standings.iter().enumerate() {
            if standing.applies() && is_turn(standing) {
                winners.entry(&standing.verdict.rule.id).or_insert(at);
            }
        }
    }
    for at in 0..standings.len() {
        let winner = winners.get(standings[at].verdict.rule.id.as_str()).copied();
        let yields = standings[at].applies() && !standings[at].is_mandatory();
        let Some(winner) = winner.filter(|winner| *winner != at && yields) else { continue };
        let winner_rule = standings[winner].verdict.rule;
        let Standing { verdict, unmet } = &mut standings[at];
        verdict.state = match unmet.take() {
            Some(why) if at < winner => State::Inactive(why),
            _ if at < winner && winner_rule.is_mandatory => {
                State::Overridden { winner: winner_rule, by: Step::Enabled }
            }
            _ => State::Overridden {
                winner: winner_rule,
                by: winner_rule.rank().decided_by(&verdict.rule.rank()),
            },
        };
    }
}

/// The same text is delivered once, and not offered beside; the one that nobody may switch off delivers it.
fn override_duplicates<'r>(standings: &mut [Standing<'r>]) {
    // By length first: most texts differ in it, and need not be looked at.
    let mut said: BTreeMap<(usize, &'r str), &'r Rule> = BTreeMap::new();
    let turns: [fn(&Standing<'r>) -> bool; 3] = [
        |standing| matches!(standing.verdict.state, State::Stack) && standing.is_mandatory(),
        |standing| matches!(standing.verdict.state, State::Stack),
        |standing| matches!(standing.verdict.state, State::Offered),
    ];
    for is_turn in turns {
        for Standing { verdict, .. } in standings.iter_mut().filter(|standing| is_turn(standing)) {
            let body = verdict.rule.body.as_str();
            let winner = *said.entry((body.len(), body)).or_insert(verdict.rule);
            if !std::ptr::eq(winner, verdict.rule) {
                verdict.state = State::Overridden { winner, by: Step::Duplicate };
            }
        }
    }
}
