//! The list of rules: activation, cost and state of each.

use std::collections::HashMap;

use maud::{Markup, html};
use rulebook::diagnostic::Severity;
use rulebook::rule::Activation;

use super::super::status::{Row, RuleState, STATES, state_words};
use super::cache::{CachedRules, Caches};
use super::http::{Query, Response};
use super::links::Links;
use super::live::Live;
use super::page::{self, basis_badge, first_rule, frame};
use super::problems::{class, worst_by_file};
use super::text::{Text, counted, grouped, ticks, when};

/// How many rules are on a page.
const SIZE: usize = 100;

pub(super) fn show(caches: &Caches<'_>, live: &Live, query: &Query) -> anyhow::Result<Response> {
    let rules = caches.rules()?;
    let body = html! {
        @if rules.rows.is_empty() { h1 { "Rules" } (first_rule()) } @else { (list(&rules, live, query)) }
    };
    Ok(frame("rules", "Rules", query, &rules, &body))
}

fn list(rules: &CachedRules, live: &Live, query: &Query) -> Markup {
    let worst = worst_by_file(&rules.loaded.diagnostics);
    let filter = Filter::of(query, &worst);
    let found: Vec<&Row> = rules.rows.iter().filter(|row| filter.matches(row)).collect();
    let (page, pages, part) = page::paged(query, found.len(), SIZE);
    let delivered = live.delivered(|root| rules.is_here(root));
    let count = if found.len() == rules.rows.len() {
        counted(found.len(), "rule")
    } else {
        format!("{} of {}", grouped(found.len()), counted(rules.rows.len(), "rule"))
    };
    html! {
        h1 .hidden { "Rules" }
        p .lead { (summary(rules, Links::of(query))) }
        form .filters role="search" action="rules" data-live="" {
            input type="search" name="q" value=(query.get("q")) placeholder="Filter by path, id, glob, description" aria-label="Filter rules" autocomplete="off" data-slash="";
            (states(rules, query))
            label { input type="checkbox" name="problems" value="only" checked[filter.only_problems]; "Only problems" }
            input type="hidden" name="for" value=(query.get("for"));
            button .quiet type="submit" { "Filter" }
        }
        div #live {
            p .count role="status" { (count) }
            @if found.is_empty() {
                p .none { "No rule matches the filter. " a href=(Links::of(query).to("rules", &[])) { "Show all" } }
            } @else {
                (table(rules, &found[part], query, &delivered, &worst))
                (page::pager("rules", query, page, pages, ["← Previous", "Next →"]))
            }
        }
    }
}

/// The filter in the query.
struct Filter<'q> {
    words: Vec<String>,
    state: &'q str,
    only_problems: bool,
    worst: &'q HashMap<&'q str, Severity>,
}

impl<'q> Filter<'q> {
    fn of(query: &'q Query, worst: &'q HashMap<&'q str, Severity>) -> Filter<'q> {
        Filter {
            words: query.get("q").split_whitespace().map(str::to_lowercase).collect(),
            state: query.get("state"),
            only_problems: !query.get("problems").is_empty(),
            worst,
        }
    }

    fn matches(&self, row: &Row) -> bool {
        let mut texts = vec![
            row.id.as_str(),
            &row.source,
            row.format.name(),
            row.activation.map_or("", Activation::name),
        ];
        texts.extend(row.description.as_deref());
        texts.extend(row.globs.iter().chain(&row.tags).map(String::as_str));
        let has = |word: &String| texts.iter().any(|text| text.to_lowercase().contains(word.as_str()));
        (self.state.is_empty() || self.state == row.state.name())
            && (!self.only_problems || self.worst.contains_key(row.source.as_str()))
            && self.words.iter().all(has)
    }
}

fn summary(rules: &CachedRules, links: Links<'_>) -> Markup {
    let always = rules.rows.iter().filter(|row| row.is_always_on());
    let problems = Some(rules.loaded.diagnostics.len()).filter(|count| *count > 0);
    let (count, cost) = always.fold((0, 0), |(count, cost), row| (count + 1, cost + row.tokens));
    html! {
        (grouped(count)) " always on, about " (counted(cost, "token")) " per prompt."
        @if let Some(count) = problems { " " a href=(links.to("problems", &[])) { (counted(count, "problem")) } "." }
    }
}

/// A choice of states, each with the number of rules.
fn states(rules: &CachedRules, query: &Query) -> Markup {
    let count = |state| rules.rows.iter().filter(|row| row.state == state).count();
    html! {
        select name="state" aria-label="State" {
            option value="" { "Any state" }
            @for (state, name, title) in STATES {
                @if count(state) > 0 { option value=(name) selected[query.get("state") == name] { (title) " (" (grouped(count(state))) ")" } }
            }
        }
    }
}

fn table(
    rules: &CachedRules,
    rows: &[&Row],
    query: &Query,
    delivered: &HashMap<String, u64>,
    worst: &HashMap<&str, Severity>,
) -> Markup {
    let back = format!("rules{}", query.with(&[]));
    let links = Links::of(query);
    let has_deliveries = rows.iter().any(|row| delivered.contains_key(&row.source));
    html! {
        table .matrix data-rows="" {
            thead { tr {
                th scope="col" .rule-column { "Rule" } th scope="col" { "State" }
                th scope="col" .number .tokens-column { "Tokens" }
                @if has_deliveries { th scope="col" .delivered-column { "Last delivered" } }
                th scope="col" .switch-column { "Enabled for me" }
            } }
            tbody {
                @for row in rows {
                    tr {
                        th scope="row" {
                            (marker(worst.get(row.source.as_str()).copied()))
                            (links.file(&row.source))
                        }
                        td { (state(row)) }
                        td .number { (grouped(row.tokens)) }
                        @if has_deliveries { td .delivered { (last_delivered(delivered.get(&row.source))) } }
                        td .switch-cell { (switch(rules, row, &back, false)) }
                    }
                }
            }
        }
    }
}

/// The mark of a rule with problems.
fn marker(worst: Option<Severity>) -> Markup {
    html! {
        @match worst {
            Some(severity) => span class=(format!("marker {}", class(severity))) title=(format!("has a problem: {}", severity.name())) {
                span aria-hidden="true" { "!" } span .hidden { (severity.name()) " " }
            },
            None => span .marker {},
        }
    }
}

fn last_delivered(at: Option<&u64>) -> Markup {
    html! { @match at { Some(0) => "in a session", Some(at) => (when(*at)), None => span .never { "never" } } }
}

/// The state in a few words, and what it is based on if that is doubtful.
pub(super) fn state(row: &Row) -> Markup {
    let (_, words) = state_words(row);
    html! {
        span .state title=(Text(&words)) { (ticks(&words)) }
        @if let Some(basis) = row.basis.filter(|basis| basis.is_doubtful()) { " " (basis_badge(basis)) }
    }
}

/// The user's own switch. It is disabled if something else turned the rule off.
pub(super) fn switch(rules: &CachedRules, row: &Row, back: &str, is_labelled: bool) -> Markup {
    let is_on = row.state != RuleState::Disabled;
    let is_own = rules.is_switchable(row) && row.state != RuleState::Rejected;
    html! {
        form .switch-line method="post" action="toggle" {
            input type="hidden" name="id" value=(row.key);
            input type="hidden" name="to" value=(if is_on { "off" } else { "on" });
            input type="hidden" name="back" value=(back);
            @if is_labelled { span aria-hidden="true" { "Enabled for me" } }
            button .switch type="submit" role="switch" aria-checked=(is_on && row.state != RuleState::Rejected) disabled[!is_own]
                aria-label=(Text(&format!("{}: enabled for me", row.id))) title=(if is_own { "Enabled for me: your own switch. Off is off, regardless of the rule's conditions." } else { "Not switched off by you" }) {}
        }
    }
}
