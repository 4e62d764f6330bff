//! A small chart: the tokens rules cost, turn by turn.

use maud::{Markup, html};
use rulebook::session::Event;

use super::page::{counted, grouped};

/// How many bars there are at most; turns share one where there are more.
const MAX_BARS: usize = 120;

/// How wide a bar is at most, in parts of a hundred.
const MAX_WIDTH: f64 = 6.0;

/// How high a bar is at most: above it is room for what happened.
const ROOM: f64 = 82.0;

/// What some turns came to.
#[derive(Clone, Copy, Debug, Default)]
struct Bar {
    tokens: usize,
    is_compacted: bool,
    is_interrupted: bool,
}

/// Nothing where no rule was given.
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
    let label = format!("Tokens spent on rules: {} in {}", grouped(total), counted(turns.len(), "turn"));
    html! {
        figure .chart {
            svg role="img" aria-label=(label) height="72" width="100%" {
                @for (at, bar) in bars.iter().enumerate() {
                    @let height = bar.tokens as f64 / most as f64 * ROOM;
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
                "Tokens spent on rules by turn: ~" (grouped(total)) " in all, at most ~" (grouped(most)) " at once."
                @if bars.iter().any(|bar| bar.is_compacted) { " " span .sign .compacted {} " compaction" }
                @if bars.iter().any(|bar| bar.is_interrupted) { " " span .sign .interrupted {} " interrupt" }
            }
        }
    }
}

/// What every turn came to; what came before the first belongs to it.
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

/// A length of the whole, as SVG writes it.
pub(super) fn percent(share: f64) -> String {
    format!("{share:.3}%")
}
