//! A bar chart of the tokens that rules use in each turn.

use maud::{Markup, html};
use rulebook::session::Event;

use super::page::{counted, grouped};

/// The most bars; with more turns, several share one.
const MAX_BARS: usize = 120;

/// The widest bar, in percent.
const MAX_WIDTH: f64 = 6.0;

/// The highest bar, in percent. Markers are above it.
const MAX_HEIGHT: f64 = 82.0;

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
    let most = bars.iter().map(|bar| bar.tokens).max().unwrap_or(1).max(1);
    let width = (100.0 / bars.len() as f64).min(MAX_WIDTH);
    let label = format!("Tokens used by rules: {} in {}", grouped(total), counted(turns.len(), "turn"));
    html! {
        figure .chart {
            svg role="img" aria-label=(label) height="72" width="100%" {
                @for (at, bar) in bars.iter().enumerate() {
                    @let height = bar.tokens as f64 / most as f64 * MAX_HEIGHT;
                    @let x = at as f64 * width;
                    @if bar.is_compacted { line .compacted x1=(percent(x + width)) x2=(percent(x + width)) y1="0" y2="100%" {} }
                    rect .slot x=(percent(x)) width=(percent(width)) y="0" height="100%" {
                        title { "turn " (at * share + 1) ": ~" (grouped(bar.tokens)) " tokens" }
                    }
                    rect .bar x=(percent(x + width * 0.1)) width=(percent(width * 0.8)) y=(percent(100.0 - height)) height=(percent(height)) {}
                    @if bar.is_interrupted { circle .interrupted cx=(percent(x + width * 0.5)) cy="6" r="3.5" {} }
                }
            }
            figcaption {
                "Tokens used by rules per turn: ~" (grouped(total)) " in total, at most ~" (grouped(most)) "."
                @if bars.iter().any(|bar| bar.is_compacted) { " " span .mark .compacted {} " compaction" }
                @if bars.iter().any(|bar| bar.is_interrupted) { " " span .mark .interrupted {} " interrupt" }
            }
        }
    }
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
