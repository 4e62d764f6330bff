//! `stream`: runs a text or a recorded model response through the stream rules.

use std::fmt::Write as _;

use anyhow::{anyhow, bail};
use rulebook::diagnostic::{Code, Diagnostic};
use rulebook::evaluate::{Audience, State, Verdict, evaluate};
use rulebook::evidence::{Input, Roots};
use rulebook::resolve::Rulebook;
use rulebook::rule::Rule;
use rulebook::stream::{Hit, Monitor, StreamKind};
use rulebook_workspace::{Reach, Workspace};
use serde_json::json;
use unicode_width::UnicodeWidthStr as _;

use super::wire::{self, Step};
use crate::args::{Args, StreamFile};
use crate::input::{open_workspace, read_file};
use crate::out::{self, BOLD, CYAN, DIM, GREEN, RED, VERSION, paint, plural};

/// The largest recording that is read, in bytes.
const MAX_FILE: usize = 256 << 20;

pub(super) fn run(args: &Args, options: &StreamFile) -> anyhow::Result<()> {
    let workspace = open_workspace(args)?;
    let loaded = workspace.load(Reach::Tree);
    let rules = watching(&workspace, &loaded.book);
    let bytes = read_file(&options.file, MAX_FILE).map_err(|error| {
        anyhow!("name a text file or a recorded stream, or `-` for standard input")
            .context(format!("cannot read `{}`: {error}", options.file.display()))
    })?;
    let steps = wire::steps(&bytes).unwrap_or_else(|| {
        let stream = "text".to_owned();
        vec![Step::Feed { stream: stream.clone(), kind: StreamKind::Text, bytes }, Step::End { stream }]
    });
    let syntax = workspace.watching_parser(&loaded.book);
    let new_monitor = || new_monitor(&rules, &workspace.roots).with_syntax(syntax.clone());
    let mut monitor = new_monitor();
    let hits = feed(&mut monitor, &steps, || usize::MAX);
    let mut diagnostics = loaded.diagnostics.clone();
    diagnostics.extend(unwatched(&monitor, &rules));
    let proved = if options.prove { Some(prove(new_monitor, &steps, &hits)?) } else { None };
    let hits: Vec<HitRow> = hits.into_iter().map(|hit| HitRow::of(hit, &rules, &workspace)).collect();
    let mut answer =
        json!({ "version": VERSION, "hits": out::shown_json(&hits)?, "diagnostics": diagnostics });
    if let Some(splits) = proved {
        answer["provedSplits"] = splits.into();
    }
    out::print_answer(args.json, &answer, || {
        let mut text = show(rules.len(), &hits, proved);
        let is_unwatched = |found: &&Diagnostic| {
            found.line == 0
                || matches!(
                    found.code,
                    Code::BadRegex | Code::BadScope | Code::BadSettings | Code::Protection
                )
        };
        for diagnostic in diagnostics.iter().filter(is_unwatched) {
            out::write_diagnostic(&mut text, diagnostic);
        }
        text
    })
}

/// A hit and its effect.
#[derive(serde::Serialize)]
struct HitRow {
    #[serde(flatten)]
    hit: Hit,
    /// Whether the output would be interrupted; otherwise the rule is added after the turn.
    interrupts: bool,
}

impl HitRow {
    fn of(hit: Hit, rules: &[Verdict<'_>], workspace: &Workspace) -> HitRow {
        let rule = rules.iter().find(|verdict| verdict.rule.origin.display == hit.source);
        let modes = rule.map(|verdict| workspace.settings.stream.modes_of(verdict.rule));
        let interrupts = modes.is_some_and(|modes| modes.interrupt.covers(hit.scope.source()));
        HitRow { hit, interrupts }
    }
}

/// Returns the stream rules that are active or wait for their conditions.
pub(super) fn watching<'b>(workspace: &Workspace, book: &'b Rulebook) -> Vec<Verdict<'b>> {
    let evidence = workspace.evidence_for(book, &Input::default());
    let watches = |state: &State| matches!(state, State::Stream | State::Inactive(_));
    let mut verdicts = evaluate(book, &evidence, Audience::any()).verdicts;
    let is_valid = |rule: &Rule| rule.stream.as_ref().is_some_and(|trigger| !trigger.is_empty());
    verdicts.retain(|verdict| is_valid(verdict.rule) && watches(&verdict.state));
    verdicts
}

pub(super) fn new_monitor(rules: &[Verdict<'_>], roots: &Roots) -> Monitor {
    Monitor::new(rules.iter().filter_map(|verdict| verdict.stream_rule()), roots.clone())
}

/// Reports triggers that the monitor left out or gave up on.
fn unwatched(monitor: &Monitor, rules: &[Verdict<'_>]) -> Vec<Diagnostic> {
    let report = |code, rule: &str, message| {
        let source = rules
            .iter()
            .map(|verdict| verdict.rule)
            .find(|other| other.name == rule)
            .map_or("", |rule| &rule.origin.display);
        Diagnostic::whole(code, source, message)
    };
    let left_out = monitor.left_out().iter().map(|(rule, condition)| {
        report(Code::BadRegex, rule, format!("`{condition}` is ignored: all triggers together are too large"))
    });
    let gave_up = monitor.gave_up().map(|(rule, condition)| {
        let message =
            format!("`{condition}` took too many steps and was not checked against all of the text");
        report(Code::BoundedRegex, rule, message)
    });
    let unjudged = monitor
        .unjudged()
        .iter()
        .map(|(place, why)| Diagnostic::whole(Code::BadSyntaxRule, place, why.clone()));
    left_out.chain(gave_up).chain(unjudged).collect()
}

/// Feeds every step to the monitor, in chunks of the given sizes.
fn feed(monitor: &mut Monitor, steps: &[Step], mut size: impl FnMut() -> usize) -> Vec<Hit> {
    let mut hits = Vec::new();
    for step in steps {
        match step {
            Step::Feed { stream, kind, bytes } => {
                let mut rest = bytes.as_slice();
                while !rest.is_empty() {
                    let (piece, more) = rest.split_at(size().clamp(1, rest.len()));
                    hits.extend(monitor.feed(stream, kind, piece));
                    rest = more;
                }
            }
            Step::End { stream } => hits.extend(monitor.finish(stream)),
        }
    }
    hits
}

/// Joins consecutive chunks of a stream, so that other splits are not only finer ones.
fn joined(steps: &[Step]) -> Vec<Step> {
    let mut all: Vec<Step> = Vec::new();
    for step in steps {
        match (all.last_mut(), step) {
            (Some(Step::Feed { stream, bytes, .. }), Step::Feed { stream: next, bytes: more, .. })
                if stream == next =>
            {
                bytes.extend_from_slice(more);
            }
            _ => all.push(step.clone()),
        }
    }
    all
}

/// Feeds the same bytes in other chunks and compares the hits: single bytes, all at once, and pseudo-random sizes. A large
/// recording gets fewer runs.
fn prove(new_monitor: impl Fn() -> Monitor, steps: &[Step], hits: &[Hit]) -> anyhow::Result<usize> {
    let sorted = |hits: &[Hit]| {
        let mut all: Vec<String> = hits.iter().map(|hit| format!("{hit:?}")).collect();
        all.sort();
        all
    };
    let wanted = sorted(hits);
    let joined = joined(steps);
    let size: usize =
        joined.iter().map(|step| if let Step::Feed { bytes, .. } = step { bytes.len() } else { 0 }).sum();
    let splits = (50_000_000 / size.max(1)).clamp(3, 25);
    for split in 0..splits {
        let mut random = (split as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
        let size = || {
            random ^= random << 13;
            random ^= random >> 7;
            random ^= random << 17;
            match split {
                0 => 1,
                1 => usize::MAX,
                _ => usize::try_from(random % (1 << (split % 13))).unwrap_or(0) + 1,
            }
        };
        if sorted(&feed(&mut new_monitor(), &joined, size)) != wanted {
            bail!(
                "different chunks of the same stream give different hits (split {split}); please report this bug"
            );
        }
    }
    Ok(splits)
}

fn show(rules: usize, hits: &[HitRow], proved: Option<usize>) -> String {
    let mut text = String::new();
    for HitRow { hit, interrupts } in hits {
        let action = if *interrupts { "would interrupt" } else { "would be added after the turn" };
        let (name, source) = (paint(RED.bold(), out::clean(&hit.rule)), out::clean(&hit.source));
        let _ = writeln!(text, "{name}  {source}  {}", paint(DIM, action));
        let parts = [hit.tool.as_deref(), hit.field.as_deref(), hit.file.as_deref()];
        let place: Vec<&str> = [Some(hit.scope.name())].into_iter().chain(parts).flatten().collect();
        let _ = writeln!(
            text,
            "  {} matched {}",
            out::clean(&place.join(" ")),
            paint(CYAN, out::clean(&hit.condition))
        );
        let number = hit.line.to_string();
        let (before, rest) = hit.excerpt.split_at(hit.excerpt.floor_char_boundary(hit.lead));
        let (before, rest) = (out::clean(before), out::clean(rest));
        let first = out::clean(hit.text.lines().next().unwrap_or_default());
        let _ = writeln!(text, "  {} {} {before}{rest}", paint(DIM, &number), paint(DIM, "|"));
        let pad = " ".repeat(number.len() + before.width() + 5);
        let _ = writeln!(text, "{pad}{}", paint(RED, "^".repeat(first.width().max(1))));
        text.push('\n');
    }
    if rules == 0 {
        return "no stream rules here: nothing was checked\n  help: a rule with `condition:` in its header watches the model's output\n".to_owned();
    }
    let watching = plural(rules, "stream rule");
    let _ = match hits.len() {
        0 => writeln!(text, "{}; {watching} checked", paint(GREEN, "no hits")),
        count => writeln!(text, "{}; {watching} checked", paint(BOLD, plural(count, "hit"))),
    };
    if let Some(splits) = proved {
        let _ = writeln!(text, "same hits with {splits} other chunk sizes, down to single bytes");
    }
    text
}
