//! A bar chart of the tokens that rules use in each turn.

use maud::{Markup, html};
use rulebook::session::Event;

use super::text::{counted, grouped};

/// The most bars; with more turns, several share one.
const MAX_BARS: usize = 120;

/// The widest bar, in percent.
const MAX_WIDTH: f64 = 6.0;

/// The most turns in the table; the latest are kept.
const MAX_ROWS: usize = 200;

/// One or several turns.
#[derive(Clone, Copy, Debug, Default)]
struct Bar {
    tokens: usize,
    is_compacted: bool,
    is_interrupted: bool,
}

/// Draws the chart; empty if no rule was delivered.
pub(super) fn chart(facts: &[Event]) -> Markup {
    let turns = turns(facts);
    let total: usize = turns.iter().map(|bar| bar.tokens).sum();
    if total == 0 {
        return html! {};
    }
    let share = turns.len().div_ceil(MAX_BARS);
    let bars: Vec<Bar> = turns.chunks(share).map(merge).collect();
    let most = bars.iter().map(|bar| bar.tokens).max().unwrap_or(1);
    let top = rounded_up(most);
    let width = (100.0 / bars.len() as f64).min(MAX_WIDTH);
    let label = format!("Tokens of rules per turn: {} in {}", grouped(total), counted(turns.len(), "turn"));
    html! {
        figure .chart {
            figcaption {
                "Tokens of rules " (if share > 1 { format!("per {share} turns") } else { "per turn".to_owned() }) ", estimated"
                @if bars.iter().any(|bar| bar.is_compacted) { " " span .mark .compacted {} " compaction" }
                @if bars.iter().any(|bar| bar.is_interrupted) { " " span .mark .interrupted {} " interrupt" }
            }
            div .plot {
                div .scale aria-hidden="true" { span { (grouped(top)) } span { (grouped(top / 2)) } span { "0" } }
                svg role="img" aria-label=(label) height="96" width="100%" {
                    @for y in ["0", "50%", "100%"] { line .axis x1="0" x2="100%" y1=(y) y2=(y) {} }
                    @for (at, bar) in bars.iter().enumerate() {
                        @let height = bar.tokens as f64 / top as f64 * 100.0;
                        @let x = at as f64 * width;
                        @if bar.is_compacted { line .compacted x1=(percent(x + width)) x2=(percent(x + width)) y1="0" y2="100%" {} }
                        rect .slot x=(percent(x)) width=(percent(width)) y="0" height="100%" {
                            title { "Turn " (at * share + 1) ": " (counted(bar.tokens, "token")) }
                        }
                        rect .bar x=(percent(x + width * 0.1)) width=(percent(width * 0.8)) y=(percent(100.0 - height)) height=(percent(height)) {}
                        @if bar.is_interrupted { circle .interrupted cx=(percent(x + width * 0.5)) cy="4" r="4" {} }
                    }
                }
                svg .turns aria-hidden="true" height="16" width="100%" {
                    @for at in ticks(bars.len()) { text x=(percent((at as f64 + 0.5) * width)) y="12" text-anchor="middle" { (at * share + 1) } }
                }
                span .unit aria-hidden="true" { "turn" }
            }
            (table(&turns))
        }
    }
}

/// The same numbers as a table.
fn table(turns: &[Bar]) -> Markup {
    let first = turns.len().saturating_sub(MAX_ROWS);
    html! {
        details #numbers {
            summary { "Numbers" }
            @if first > 0 { p .detail { "The latest " (MAX_ROWS) " turns." } }
            table .data {
                thead { tr { th scope="col" .number { "Turn" } th scope="col" .number { "Tokens" } th scope="col" { "Events" } } }
                tbody { @for (at, bar) in turns.iter().enumerate().skip(first) {
                    tr { td .number { (at + 1) } td .number { (grouped(bar.tokens)) }
                        td { @if bar.is_compacted { "compaction " } @if bar.is_interrupted { "interrupt" } } }
                } }
            }
        }
    }
}

/// Rounds up to a number whose half is easy to read.
fn rounded_up(most: usize) -> usize {
    let power = 10_usize.pow(most.max(1).ilog10());
    let steps = [1, 2, 4, 6, 8, 10].map(|step| step * power);
    steps.into_iter().find(|step| *step >= most).unwrap_or(most).max(2)
}

/// The bars that have a number below them: the first, the last, and a few between.
fn ticks(bars: usize) -> Vec<usize> {
    let step = bars.div_ceil(8).max(1);
    let mut ticks: Vec<usize> = (0..bars).step_by(step).collect();
    if ticks.last().is_some_and(|last| bars - 1 - last >= step.div_ceil(2)) {
        ticks.push(bars - 1);
    }
    ticks
}

/// Returns a bar for each turn. Events before the first turn belong to it.
fn turns(facts: &[Event]) -> Vec<Bar> {
    let mut turns = vec![Bar::default()];
    let mut is_first = true;
    for fact in facts {
        if matches!(fact, Event::Prompt { .. }) && !std::mem::replace(&mut is_first, false) {
            turns.push(Bar::default());
        }
        let Some(bar) = turns.last_mut() else { continue };
        match fact {
            Event::Delivered(delivery) => bar.tokens += delivery.tokens,
            Event::Compacted => bar.is_compacted = true,
            Event::Interrupted { .. } | Event::Refused { .. } => bar.is_interrupted = true,
            _ => {}
        }
    }
    turns
}

fn merge(bars: &[Bar]) -> Bar {
    Bar {
        tokens: bars.iter().map(|bar| bar.tokens).sum(),
        is_compacted: bars.iter().any(|bar| bar.is_compacted),
        is_interrupted: bars.iter().any(|bar| bar.is_interrupted),
    }
}

/// Formats a length for SVG.
pub(super) fn percent(share: f64) -> String {
    format!("{share:.3}%")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_axis_ends_at_a_round_number() {
        let rounded = [0, 1, 3, 38, 100, 101, 999, 1_240].map(rounded_up);
        assert_eq!(rounded, [2, 2, 4, 40, 100, 200, 1000, 2000]);
    }

    #[test]
    fn the_axis_names_the_first_and_the_last_turn() {
        assert_eq!(ticks(1), [0]);
        assert_eq!(ticks(4), [0, 1, 2, 3]);
        assert_eq!(ticks(120).first().zip(ticks(120).last()), Some((&0, &119)));
        assert!(ticks(120).len() <= 10);
    }
}
