//! The list of rules: activation, cost and state of each.

use std::collections::{BTreeMap, HashMap};

use maud::{Markup, html};
use rulebook::diagnostic::Diagnostic;
use rulebook::rule::Activation;

use super::super::status::{Row, RuleState, STATES, state_words};
use super::cache::{CachedRules, Caches};
use super::http::{Query, Response};
use super::live::Live;
use super::page::{self, Text, counted, frame, grouped, name, rule_link, state_badge, tokens, when};

/// How many rules are on a page.
const SIZE: usize = 100;

/// How many problems are listed; `check` lists all.
const MAX_PROBLEMS: usize = 50;

pub(super) fn show(caches: &Caches<'_>, live: &Live, query: &Query) -> anyhow::Result<Response> {
    let rules = caches.rules()?;
    let body = if rules.rows.is_empty() { empty() } else { list(&rules, live, query) };
    Ok(frame("rules", "Rules", &rules, &body))
}

fn empty() -> Markup {
    html! {
        section .empty {
            h1 { "No rule files yet" }
            p { "Rulebook reads the rule files of your agents. Write one, and it appears here:" }
            pre { code { "mkdir -p .rulebook/rules\necho 'Answer briefly.' > .rulebook/rules/style.md" } }
            p { "Or put it where your agent reads rules: " code { ".cursor/rules/" } ", " code { ".clinerules/" } ", " code { "CLAUDE.md" } ", "
                code { "AGENTS.md" } " and many others; " code { "rulebook formats" } " lists them." }
        }
    }
}

fn list(rules: &CachedRules, live: &Live, query: &Query) -> Markup {
    let filter = Filter::of(query);
    let found: Vec<&Row> = rules.rows.iter().filter(|row| filter.matches(row)).collect();
    let (page, pages, part) = page::paged(query, found.len(), SIZE);
    let delivered = live.delivered(|root| rules.is_here(root));
    html! {
        h1 { "Rules" }
        p .lead { (summary(rules)) }
        form .filters role="search" action="rules" data-live="" {
            input type="search" name="q" value=(filter.words.join(" ")) placeholder="Search id, file, glob, description" aria-label="Search rules" autocomplete="off" data-slash="";
            (choice("format", "All formats", query, rules.rows.iter().map(|row| row.format.name())))
            (choice("scope", "All scopes", query, rules.rows.iter().map(|row| row.scope.name())))
            input type="hidden" name="state" value=(query.get("state"));
            button .quiet type="submit" { "Search" }
        }
        div #live {
            (states(rules, &filter, query))
            @if found.is_empty() {
                p .none { "No matching rules. " a href="rules" { "Show all" } }
            } @else {
                (table(rules, &found[part], query, &delivered))
                (page::pager("rules", query, page, pages, ["← Previous", "Next →"]))
            }
        }
        (problems(&rules.loaded.diagnostics))
    }
}

/// The filter in the query.
struct Filter<'q> {
    words: Vec<String>,
    format: &'q str,
    scope: &'q str,
    state: &'q str,
}

impl<'q> Filter<'q> {
    fn of(query: &'q Query) -> Filter<'q> {
        Filter {
            words: query.get("q").split_whitespace().map(str::to_lowercase).collect(),
            format: query.get("format"),
            scope: query.get("scope"),
            state: query.get("state"),
        }
    }

    fn matches(&self, row: &Row) -> bool {
        (self.state.is_empty() || self.state == row.state.name()) && self.matches_in_any_state(row)
    }

    fn matches_in_any_state(&self, row: &Row) -> bool {
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

fn summary(rules: &CachedRules) -> Markup {
    let always = rules.rows.iter().filter(|row| row.is_always_on());
    let problems = Some(rules.loaded.diagnostics.len()).filter(|count| *count > 0);
    let (count, cost) = always.fold((0, 0), |(count, cost), row| (count + 1, cost + row.tokens));
    html! {
        (counted(rules.rows.len(), "rule file")) ". " (grouped(count)) " always on, "
        "about " (counted(cost, "token")) " per prompt."
        @if let Some(count) = problems { " " a href="#problems" { (counted(count, "problem")) } "." }
    }
}

fn choice<'r>(key: &str, all: &str, query: &Query, has: impl Iterator<Item = &'r str>) -> Markup {
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    has.for_each(|one| *counts.entry(one).or_default() += 1);
    html! {
        select name=(key) aria-label=(all) {
            option value="" { (all) }
            @for (one, count) in counts {
                option value=(one) selected[query.get(key) == one] { (one) " (" (grouped(count)) ")" }
            }
        }
    }
}

/// Links to filter by state, each with the number of rules.
fn states(rules: &CachedRules, filter: &Filter<'_>, query: &Query) -> Markup {
    let mut counts: HashMap<RuleState, usize> = HashMap::new();
    let mut all = 0;
    for row in rules.rows.iter().filter(|row| filter.matches_in_any_state(row)) {
        *counts.entry(row.state).or_default() += 1;
        all += 1;
    }
    let link = |name: &str, title: &str, count: usize| {
        html! {
            a href=(format!("rules{}", query.with(&[("state", name), ("page", "")]))) aria-current=[(filter.state == name).then_some("true")] {
                (title) " " span .count { (grouped(count)) }
            }
        }
    };
    html! {
        nav .chips aria-label="State" {
            (link("", "All", all))
            @for (state, name, title) in STATES {
                @if let Some(count) = counts.get(&state) { (link(name, title, *count)) }
            }
        }
    }
}

fn table(rules: &CachedRules, rows: &[&Row], query: &Query, delivered: &HashMap<String, u64>) -> Markup {
    let back = format!("rules{}", query.with(&[]));
    html! {
        table .rules data-rows="" {
            thead { tr {
                th scope="col" { "On" } th scope="col" { "Rule" } th scope="col" { "Format" } th scope="col" { "Scope" }
                th scope="col" { "Activation" } th scope="col" .number { "Tokens" } th scope="col" { "State" } th scope="col" { "Last delivered" }
            } }
            tbody {
                @for row in rows {
                    tr {
                        td .switch-cell { (switch(rules, row, &back)) }
                        th scope="row" {
                            (rule_link(&row.id, &row.source))
                            span .source { (name(&row.source)) }
                        }
                        td data-title="Format" { (row.format) }
                        td data-title="Scope" { (row.scope) }
                        td data-title="Activation" { (activation(row)) }
                        td .number data-title="Tokens" { (tokens(row.tokens)) }
                        td .now data-title="State" { (state_badge(row.state)) " " (detail(row)) }
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

/// The activation and its basis.
fn activation(row: &Row) -> Markup {
    html! {
        @match (row.activation, row.basis) {
            (Some(activation), Some(basis)) => { (activation.name()) " " span class=(format!("basis {}", basis.name())) { (basis.name()) } }
            _ => "–",
        }
    }
}

/// The state in a few words, without the word on the badge.
pub(super) fn detail(row: &Row) -> Markup {
    let (_, words) = state_words(row);
    let words = match row.state {
        RuleState::Stack => "",
        state => words.strip_prefix(state.name()).unwrap_or(&words).trim_start_matches([':', ' ']),
    };
    html! { span .detail { (page::ticks(words)) } }
}

/// The user's own switch. It is disabled if something else turned the rule off.
pub(super) fn switch(rules: &CachedRules, row: &Row, back: &str) -> Markup {
    let is_on = row.state != RuleState::Disabled;
    let is_own = rules.is_switchable(row) && row.state != RuleState::Rejected;
    let shown = if is_on { "on" } else { "off" };
    html! {
        form method="post" action="toggle" {
            input type="hidden" name="id" value=(row.id);
            input type="hidden" name="to" value=(if is_on { "off" } else { "on" });
            input type="hidden" name="back" value=(back);
            button .switch type="submit" role="switch" aria-checked=(is_on && row.state != RuleState::Rejected) disabled[!is_own]
                aria-label=(Text(&format!("{} is {shown}", row.id))) title=(if is_own { "Your own switch. Off is off, regardless of the rule's conditions." } else { "Not turned off by you" }) {}
        }
    }
}

fn problems(diagnostics: &[Diagnostic]) -> Markup {
    let mut worst: Vec<&Diagnostic> = diagnostics.iter().collect();
    worst.sort_by_key(|diagnostic| diagnostic.severity);
    worst.truncate(MAX_PROBLEMS);
    html! {
        @if !worst.is_empty() {
            section aria-labelledby="problems" {
                h2 #problems { "Problems " span .count { (grouped(diagnostics.len())) } }
                (page::problems(&worst))
                @if diagnostics.len() > worst.len() {
                    p { "And " (grouped(diagnostics.len() - worst.len())) " more: run " code { "rulebook check" } "." }
                }
            }
        }
    }
}
