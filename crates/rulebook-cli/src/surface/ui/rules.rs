//! The view of the rules: every rule with what brings it on, what it costs and where it stands.

use std::collections::{BTreeMap, HashMap};

use maud::{Markup, html};
use rulebook::diagnostic::Diagnostic;
use rulebook::rule::Activation;

use super::super::status::{Row, RuleState, state_words};
use super::cache::{CachedRules, Caches};
use super::http::{Query, Response};
use super::live::Live;
use super::page::{
    self, Text, counted, frame, grouped, name, rule_link, state_badge, state_title, tokens, when,
};

/// How many rules a page has.
const SIZE: usize = 100;

/// How many problems are listed; `check` has them all.
const MAX_PROBLEMS: usize = 50;

pub(super) fn show(looks: &Caches<'_>, live: &Live, asked: &Query) -> anyhow::Result<Response> {
    let look = looks.rules()?;
    let body = if look.rows.is_empty() { empty() } else { list(&look, live, asked) };
    Ok(frame("rules", "Rules", &look, &body))
}

fn empty() -> Markup {
    html! {
        section .empty {
            h1 { "No rule files here yet" }
            p { "Rulebook reads the files your agents already have. Write one, and it appears here:" }
            pre { code { "mkdir -p .rulebook/rules\necho 'Answer briefly.' > .rulebook/rules/style.md" } }
            p { "Or keep them where your agent looks: " code { ".cursor/rules/" } ", " code { ".clinerules/" } ", " code { "CLAUDE.md" } ", "
                code { "AGENTS.md" } " and three dozen others; " code { "rulebook formats" } " lists them." }
        }
    }
}

fn list(look: &CachedRules, live: &Live, asked: &Query) -> Markup {
    let wanted = Wanted::of(asked);
    let found: Vec<&Row> = look.rows.iter().filter(|row| wanted.takes(row)).collect();
    let (page, pages, part) = page::paged(asked, found.len(), SIZE);
    let delivered = live.delivered(|root| look.is_here(root));
    html! {
        h1 { "Rules" }
        p .lead { (summary(look)) }
        form .filters role="search" action="rules" data-live="" {
            input type="search" name="q" value=(wanted.words.join(" ")) placeholder="Search id, file, glob, description" aria-label="Search rules" autocomplete="off" data-slash="";
            (choice("format", "Every format", asked, look.rows.iter().map(|row| row.format.name())))
            (choice("scope", "Every scope", asked, look.rows.iter().map(|row| row.scope.name())))
            input type="hidden" name="state" value=(asked.get("state"));
            button .quiet type="submit" { "Search" }
        }
        div #live {
            (states(look, &wanted, asked))
            @if found.is_empty() {
                p .none { "No rule is like that. " a href="rules" { "Show all" } }
            } @else {
                (table(look, &found[part], asked, &delivered))
                (page::pager("rules", asked, page, pages, ["← Before", "Next →"]))
            }
        }
        (problems(&look.loaded.diagnostics))
    }
}

/// What is asked for.
struct Wanted<'q> {
    words: Vec<String>,
    format: &'q str,
    scope: &'q str,
    state: &'q str,
}

impl<'q> Wanted<'q> {
    fn of(asked: &'q Query) -> Wanted<'q> {
        Wanted {
            words: asked.get("q").split_whitespace().map(str::to_lowercase).collect(),
            format: asked.get("format"),
            scope: asked.get("scope"),
            state: asked.get("state"),
        }
    }

    fn takes(&self, row: &Row) -> bool {
        (self.state.is_empty() || self.state == row.state.name()) && self.takes_in_any_state(row)
    }

    fn takes_in_any_state(&self, row: &Row) -> bool {
        let is = |wanted: &str, has: &str| wanted.is_empty() || wanted == has;
        let mut texts = vec![
            row.id.as_str(),
            &row.source,
            row.format.name(),
            row.activation.map_or("", Activation::name),
        ];
        texts.extend(row.description.as_deref());
        texts.extend(row.globs.iter().chain(&row.tags).map(String::as_str));
        let has = |word: &String| texts.iter().any(|text| text.to_lowercase().contains(word.as_str()));
        is(self.format, row.format.name()) && is(self.scope, row.scope.name()) && self.words.iter().all(has)
    }
}

fn summary(look: &CachedRules) -> Markup {
    let always = look.rows.iter().filter(|row| row.is_always_on());
    let mend = Some(look.loaded.diagnostics.len()).filter(|count| *count > 0);
    let (count, cost) = always.fold((0, 0), |(count, cost), row| (count + 1, cost + row.tokens));
    html! {
        (counted(look.rows.len(), "rule file")) ". " (grouped(count)) " always on, "
        "about " (counted(cost, "token")) " of every prompt."
        @if let Some(count) = mend { " " a href="#problems" { (counted(count, "thing")) " to mend" } "." }
    }
}

fn choice<'r>(key: &str, all: &str, asked: &Query, has: impl Iterator<Item = &'r str>) -> Markup {
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    has.for_each(|one| *counts.entry(one).or_default() += 1);
    html! {
        select name=(key) aria-label=(all) {
            option value="" { (all) }
            @for (one, count) in counts {
                option value=(one) selected[asked.get(key) == one] { (one) " (" (grouped(count)) ")" }
            }
        }
    }
}

/// The states as a row of links, each with how many rules are in it.
fn states(look: &CachedRules, wanted: &Wanted<'_>, asked: &Query) -> Markup {
    let mut counts: HashMap<RuleState, usize> = HashMap::new();
    let mut all = 0;
    for row in look.rows.iter().filter(|row| wanted.takes_in_any_state(row)) {
        *counts.entry(row.state).or_default() += 1;
        all += 1;
    }
    let link = |name: &str, title: &str, count: usize| {
        html! {
            a href=(format!("rules{}", asked.with(&[("state", name), ("page", "")]))) aria-current=[(wanted.state == name).then_some("true")] {
                (title) " " span .count { (grouped(count)) }
            }
        }
    };
    html! {
        nav .chips aria-label="State" {
            (link("", "All", all))
            @for state in page::STATES {
                @if let Some(count) = counts.get(&state) { (link(state.name(), state_title(state), *count)) }
            }
        }
    }
}

fn table(look: &CachedRules, rows: &[&Row], asked: &Query, delivered: &HashMap<String, u64>) -> Markup {
    let back = format!("rules{}", asked.with(&[]));
    html! {
        table .rules data-rows="" {
            thead { tr {
                th scope="col" { "On" } th scope="col" { "Rule" } th scope="col" { "Format" } th scope="col" { "Scope" }
                th scope="col" { "Comes on" } th scope="col" .number { "Tokens" } th scope="col" { "State now" } th scope="col" { "Last delivered" }
            } }
            tbody {
                @for row in rows {
                    tr {
                        td .switch-cell { (switch(look, row, &back)) }
                        th scope="row" {
                            (rule_link(&row.id, &row.source))
                            span .source { (name(&row.source)) }
                        }
                        td data-title="Format" { (row.format) }
                        td data-title="Scope" { (row.scope) }
                        td data-title="Comes on" { (comes_on(row)) }
                        td .number data-title="Tokens" { (tokens(row.tokens)) }
                        td .now data-title="Now" { (state_badge(row.state)) " " (detail(row)) }
                        td data-title="Delivered" {
                            @match delivered.get(&row.source) {
                                Some(0) => "in a session",
                                Some(at) => (when(*at)),
                                None => span .never { "never" },
                            }
                        }
                    }
                }
            }
        }
    }
}

/// What brings it on, and why that is so.
fn comes_on(row: &Row) -> Markup {
    html! {
        @match (row.activation, row.basis) {
            (Some(activation), Some(basis)) => { (activation.name()) " " span class=(format!("basis {}", basis.name())) { (basis.name()) } }
            _ => "–",
        }
    }
}

/// Its state in a few words, without the word the mark has.
pub(super) fn detail(row: &Row) -> Markup {
    let (_, words) = state_words(row);
    let words = match row.state {
        RuleState::Stack => "",
        state => words.strip_prefix(state.name()).unwrap_or(&words).trim_start_matches([':', ' ']),
    };
    html! { span .detail { (page::ticks(words)) } }
}

/// The person's own switch. One who did not throw it cannot throw it back.
pub(super) fn switch(look: &CachedRules, row: &Row, back: &str) -> Markup {
    let is_on = row.state != RuleState::Disabled;
    let is_own = look.is_switchable(row) && row.state != RuleState::Rejected;
    let said = if is_on { "on" } else { "off" };
    html! {
        form method="post" action="toggle" {
            input type="hidden" name="id" value=(row.id);
            input type="hidden" name="to" value=(if is_on { "off" } else { "on" });
            input type="hidden" name="back" value=(back);
            button .switch type="submit" role="switch" aria-checked=(is_on && row.state != RuleState::Rejected) disabled[!is_own]
                aria-label=(Text(&format!("{} is {said}", row.id))) title=(if is_own { "your own switch: off means off whatever its conditions say" } else { "not switched off by you" }) {}
        }
    }
}

fn problems(diagnostics: &[Diagnostic]) -> Markup {
    let mut worst: Vec<&Diagnostic> = diagnostics.iter().collect();
    worst.sort_by_key(|told| told.severity);
    worst.truncate(MAX_PROBLEMS);
    html! {
        @if !worst.is_empty() {
            section aria-labelledby="problems" {
                h2 #problems { "What to mend " span .count { (grouped(diagnostics.len())) } }
                (page::problems(&worst))
                @if diagnostics.len() > worst.len() {
                    p { "And " (grouped(diagnostics.len() - worst.len())) " more: " code { "rulebook check" } " shows them all." }
                }
            }
        }
    }
}
