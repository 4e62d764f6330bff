//! Properties of every workspace: each rule has one state, only ranks decide the order, nothing is lost, nothing panics.

#![allow(clippy::unwrap_used, reason = "a test may fail loudly")]

use std::collections::{BTreeMap, BTreeSet};

use proptest::prelude::*;
use rulebook::condition::MatchMode;
use rulebook::coverage::{Coverage, Listing};
use rulebook::evaluate::{Audience, State, Verdict, applies, evaluate};
use rulebook::evidence::{Evidence, Roots, Seen, Via};
use rulebook::explain::explain;
use rulebook::format::{FORMATS, Format, SameId};
use rulebook::parse::{Entry, parse};
use rulebook::render::{Budget, estimate_tokens, render};
use rulebook::resolve::{Off, OffBy, Rulebook, Switches, resolve};
use rulebook::rule::Step;
use rulebook::source::{Origin, Scope, Source, Unreadable};

/// A rule file: its format, place, folder, name and text.
#[derive(Clone, Debug)]
struct File {
    format: usize,
    place: usize,
    scope: Scope,
    folder: &'static str,
    name: &'static str,
    fields: Vec<&'static str>,
    body: &'static str,
    broken: bool,
}

const FIELDS: &[&str] = &[
    "alwaysApply: true",
    "alwaysApply: false",
    "description: some words",
    "priority: 50",
    "priority: 7",
    "priority: 900",
    "globs: src/**",
    "globs: ['*.ts', '!b.ts']",
    "paths: ['packages/**']",
    "globs: *.ts,*.tsx",
    "enabled: false",
    "mode: act",
    "when: paths:src/** OR mode:plan",
    "condition: foo",
    "trigger: model_decision",
    "trigger: manual",
    "match: any",
    "id: shared",
    "tags: [a]",
    "keywords: word",
    "unknown: key",
    "globs: 3",
];

const NAMES: &[&str] = &["a.md", "b.md", "c.md", "sub/a.md", "README.md"];
const FOLDERS: &[&str] = &["", "", "", "packages/web", "packages"];
const BODIES: &[&str] = &["one", "two", "three", "", "the same", "the same", ".clinerules/a.md\nforged"];
const PATHS: &[&str] = &["src/a.ts", "a.ts", "b.ts", "packages/web/x.ts", "packages/api/y.rs", "docs/z.md"];

fn file() -> impl Strategy<Value = File> {
    let scope = prop::sample::select(vec![Scope::Workspace, Scope::Workspace, Scope::User, Scope::Extra]);
    (
        (0..with_places().len(), 0..3usize, scope),
        (prop::sample::select(FOLDERS), prop::sample::select(NAMES)),
        prop::sample::subsequence(FIELDS, 0..5),
        (prop::sample::select(BODIES), prop::bool::weighted(0.1)),
    )
        .prop_map(|((format, place, scope), (folder, name), fields, (body, broken))| {
            let mut seen = BTreeSet::new();
            let first = |field: &&str| seen.insert(field.split(':').next().unwrap().to_owned());
            let fields = fields.into_iter().filter(first).collect();
            let folder = if scope == Scope::Workspace { folder } else { "" };
            File { format, place, scope, folder, name, fields, body, broken }
        })
}

/// The formats with files in a workspace.
fn with_places() -> Vec<&'static Format> {
    FORMATS.iter().filter(|format| !format.workspace.is_empty()).collect()
}

fn source(file: &File) -> Source {
    let format = with_places()[file.format];
    let place = &format.workspace[file.place % format.workspace.len()];
    let inner = if place.files().is_none() { place.path } else { file.name };
    let place_path = if inner == place.path { String::new() } else { format!("{}/", place.path) };
    let slash = if file.folder.is_empty() { "" } else { "/" };
    let display =
        format!("{}{}{slash}{place_path}{inner}", file.scope.name().replace("workspace", ""), file.folder);
    let mut origin = Origin::new(format, place, display);
    origin.scope = file.scope;
    origin.folder = file.folder.to_owned();
    origin.inner = inner.to_owned();
    let close = if file.broken { "" } else { "---\n" };
    let is_raw = format.tier.is_none() || place.is_raw();
    let header = if file.fields.is_empty() || is_raw {
        String::new()
    } else {
        format!("---\n{}\n{close}", file.fields.join("\n"))
    };
    let text = if file.broken && file.fields.is_empty() {
        Err(Unreadable::NotUtf8 { valid_up_to: 0 })
    } else {
        Ok(format!("{header}{}", file.body).into())
    };
    Source { origin, text }
}

/// One file per path: a later file replaces an earlier one.
fn workspace() -> impl Strategy<Value = Vec<File>> {
    prop::collection::vec(file(), 0..14).prop_map(|files| {
        files
            .into_iter()
            .map(|file| (source(&file).origin.path, file))
            .collect::<BTreeMap<_, _>>()
            .into_values()
            .collect()
    })
}

fn some_evidence() -> impl Strategy<Value = Evidence> {
    (
        prop::sample::subsequence(PATHS, 0..4),
        prop::option::of(prop::sample::select(vec!["act", "plan"])),
        prop::bool::ANY,
    )
        .prop_map(|(paths, mode, requested)| {
            let seen = |path: &&str| Seen { path: (*path).to_owned(), root: 0, sources: vec![Via::Tab] };
            let mut paths: Vec<Seen> = paths.iter().map(seen).collect();
            paths.sort();
            let requested = if requested { vec!["shared".to_owned(), "a".to_owned()] } else { Vec::new() };
            Evidence { paths, mode: mode.map(str::to_owned), requested, ..Evidence::default() }
        })
}

fn switches() -> Switches {
    Switches { all: None, ids: vec![("c".to_owned(), Off { by: OffBy::Toggle, file: None })] }
}

fn book(files: &[File]) -> Rulebook {
    resolve(files.iter().map(|file| parse(source(file)).entry), &switches())
}

/// Everything that a surface could show, as text.
fn shown(book: &Rulebook, evidence: &Evidence) -> String {
    let evaluation = evaluate(book, evidence, Audience::any());
    let target = explain(None, book, &evaluation, evidence, &Roots::default());
    let evaluation = evaluation.within(Budget { tokens: Some(40) }, |_| true);
    let text = render(&evaluation).text;
    format!("{}\n{text}", serde_json::to_string_pretty(&target).unwrap())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 512, ..ProptestConfig::default() })]

    #[test]
    fn every_file_ends_in_exactly_one_state(files in workspace(), evidence in some_evidence()) {
        let book = book(&files);
        let evaluation = evaluate(&book, &evidence, Audience::any());
        let mut states: Vec<&str> = evaluation.verdicts.iter().map(|v| v.rule.origin.path.as_str()).collect();
        states.extend(book.rejected().iter().map(|rejected| rejected.origin.path.as_str()));
        states.sort_unstable();
        let mut all: Vec<String> = files.iter().map(|file| source(file).origin.path).collect();
        all.sort();
        prop_assert_eq!(states, all);
    }

    #[test]
    fn a_text_is_delivered_once_and_losers_name_their_winner(files in workspace(), evidence in some_evidence()) {
        let book = book(&files);
        let evaluation = evaluate(&book, &evidence, Audience::any());
        let applies = |state: &State| matches!(state, State::Stack | State::Offered | State::Stream);
        let mut bodies = BTreeSet::new();
        for verdict in evaluation.verdicts.iter().filter(|verdict| applies(&verdict.state)) {
            prop_assert!(!verdict.rule.body.is_empty());
            if matches!(verdict.state, State::Stack) {
                prop_assert!(bodies.insert(verdict.rule.body.as_str()), "one text is delivered twice");
            }
        }
        for verdict in &evaluation.verdicts {
            match &verdict.state {
                // The winner may be a copy of another rule; then that rule is delivered.
                State::Overridden { winner, .. } => {
                    let state = &evaluation.verdicts.iter().find(|v| std::ptr::eq(v.rule, *winner)).unwrap().state;
                    let is_shown = applies(state) || matches!(state, State::Overridden { .. });
                    prop_assert!(is_shown, "the winner does not apply");
                }
                State::Stack => prop_assert!(verdict.rule.id != "c", "a disabled rule applies"),
                State::Inactive(why) => prop_assert!(!why.detail.is_empty()),
                _ => {}
            }
            if evidence.paths.is_empty() {
                prop_assert!(verdict.because.iter().all(|reason| reason.condition != "paths"), "a path rule applies without evidence");
            }
        }
    }

    #[test]
    fn only_cline_rules_and_files_found_by_location_share_a_key(files in workspace(), evidence in some_evidence()) {
        let book = book(&files);
        let evaluation = evaluate(&book, &evidence, Audience::any());
        let mut keys = BTreeSet::new();
        for verdict in &evaluation.verdicts {
            let is_on = matches!(verdict.state, State::Stack | State::Offered | State::Stream);
            let keeps_all = verdict.rule.is_located() || verdict.rule.origin.format.same_id == SameId::KeepAll;
            if is_on && !keeps_all {
                prop_assert!(keys.insert(verdict.rule.key()), "two of key {}", verdict.rule.key());
            }
        }
    }

    #[test]
    fn a_rule_of_another_format_overrides_only_by_name_copy_or_duplicate(
        files in workspace(),
        evidence in some_evidence(),
    ) {
        let book = book(&files);
        for verdict in evaluate(&book, &evidence, Audience::any()).verdicts {
            let State::Overridden { winner, by } = verdict.state else { continue };
            let [a, b] = [winner, verdict.rule].map(|rule| rule.origin.format);
            let is_strong = a.same_id == SameId::FirstOfAll || b.same_id == SameId::FirstOfAll;
            if a.id != b.id && !matches!(by, Step::Copy | Step::Duplicate) {
                prop_assert!(is_strong, "{} over {}", winner.origin.display, verdict.rule.origin.display);
                let is_users_own = winner.origin.scope == Scope::User;
                prop_assert!(!is_users_own || verdict.rule.origin.scope != Scope::Workspace);
            }
        }
    }

    #[test]
    fn explain_shows_the_stack_in_the_order_of_the_prompt(files in workspace(), evidence in some_evidence()) {
        let book = book(&files);
        let evaluation = evaluate(&book, &evidence, Audience::any());
        let shown = explain(None, &book, &evaluation, &evidence, &Roots::default()).stack;
        let shown: Vec<&str> = shown.iter().map(|rule| rule.source.as_str()).collect();
        let prompt = render(&evaluation);
        let delivered: Vec<&str> = prompt.applied.iter().map(|verdict| verdict.rule.origin.display.as_str()).collect();
        prop_assert_eq!(shown, delivered);
        let is_conditional = |verdict: &&Verdict| !verdict.because.is_empty();
        let first = prompt.applied.iter().position(&is_conditional).unwrap_or(prompt.applied.len());
        prop_assert!(prompt.applied[first..].iter().all(is_conditional));
    }

    #[test]
    fn the_order_of_files_has_no_effect(files in workspace(), evidence in some_evidence(), seed in any::<u64>()) {
        let mut shuffled = files.clone();
        let len = shuffled.len().max(1);
        for at in 0..shuffled.len() {
            let other = usize::try_from(seed.rotate_left(u32::try_from(at).unwrap()) % len as u64).unwrap();
            shuffled.swap(at, other);
        }
        prop_assert_eq!(shown(&book(&files), &evidence), shown(&book(&shuffled), &evidence));
    }

    #[test]
    fn the_order_of_keys_has_no_effect(files in workspace(), evidence in some_evidence()) {
        // An unreadable header is text, and text has an order.
        let files: Vec<File> = files
            .into_iter()
            .filter(|file| !file.broken && !file.fields.contains(&"globs: *.ts,*.tsx"))
            .collect();
        let mut turned = files.clone();
        turned.iter_mut().for_each(|file| file.fields.reverse());
        prop_assert_eq!(shown(&book(&files), &evidence), shown(&book(&turned), &evidence));
    }

    #[test]
    fn a_rule_that_does_not_apply_has_no_effect_on_others(files in workspace(), evidence in some_evidence()) {
        let whole = book(&files);
        let evaluation = evaluate(&whole, &evidence, Audience::any());
        let inactive: BTreeSet<&str> = evaluation
            .verdicts
            .iter()
            .filter(|verdict| matches!(verdict.state, State::Inactive(_)))
            .map(|verdict| verdict.rule.origin.path.as_str())
            .collect();
        let kept: Vec<File> =
            files.iter().filter(|file| !inactive.contains(source(file).origin.path.as_str())).cloned().collect();
        // Its id may be that of an offered rule, which is then named by its key.
        let delivered = |book: &Rulebook| {
            let evaluation = evaluate(book, &evidence, Audience::any());
            let prompt = render(&evaluation);
            let source = |verdict: &Verdict<'_>| verdict.rule.origin.display.clone();
            let offered = evaluation.verdicts.iter().filter(|verdict| matches!(verdict.state, State::Offered));
            let texts: Vec<String> = prompt.applied.iter().map(|verdict| verdict.rule.body.to_string()).collect();
            (texts, offered.map(source).collect::<Vec<String>>())
        };
        prop_assert_eq!(delivered(&whole), delivered(&book(&kept)));
    }

    #[test]
    fn a_budget_omits_whole_rules(files in workspace(), evidence in some_evidence(), limit in 0usize..80) {
        let book = book(&files);
        let evaluation = evaluate(&book, &evidence, Audience::any());
        let whole = render(&evaluation);
        let evaluation = evaluation.clone().within(Budget { tokens: Some(limit) }, |_| true);
        let cut = render(&evaluation);
        prop_assert_eq!(cut.applied.len() + cut.omitted.len(), whole.applied.len());
        prop_assert!(whole.tokens > limit || cut.omitted.is_empty(), "a text of {} tokens is cut", whole.tokens);
        prop_assert!(cut.applied.is_empty() || cut.tokens <= limit, "{} tokens of {limit}", cut.tokens);
    }

    #[test]
    fn coverage_agrees_with_explain_for_every_file(files in workspace()) {
        let book = book(&files);
        let coverage = Coverage::new(&book);
        let mut one_by_one = coverage.tally(Listing::All);
        let seen = |path: &str| Seen { path: path.to_owned(), root: 0, sources: Vec::new() };
        for path in PATHS {
            let mut tally = coverage.tally(Listing::All);
            coverage.add(vec![seen(path)], &mut tally);
            let report = coverage.report(&tally, &Roots::default());
            let evidence = Evidence { paths: vec![seen(path)], ..Evidence::default() };
            let mut tokens = Some(0);
            for verdict in evaluate(&book, &evidence, Audience::any()).verdicts {
                let rule = verdict.rule;
                let reached = report.rules.iter().find(|row| row.source == rule.origin.display);
                let always = report.always.iter().find(|row| row.source == rule.origin.display);
                let stream = report.stream.iter().find(|row| row.source == rule.origin.display);
                let everywhere =
                    always.map(|row| row.overridden).or_else(|| stream.map(|row| row.overridden));
                let is_on = matches!(verdict.state, State::Stack | State::Stream);
                let is_covered = match reached {
                    Some(row) => row.files > row.overridden,
                    None => everywhere == Some(0),
                };
                let is_conditional = reached.is_some_and(|row| !row.further.is_empty());
                // `explain` does not show whether the paths of a stream rule match a file.
                let is_gated = rule.stream.is_some() && !rule.globs.is_empty();
                if is_conditional {
                    tokens = None;
                } else if !is_gated {
                    prop_assert_eq!(is_covered, is_on, "{} at {}", rule.origin.display, path);
                }
                if let (State::Stack, Some(tokens)) = (&verdict.state, &mut tokens) {
                    *tokens += estimate_tokens(&rule.body);
                }
            }
            if let Some(tokens) = tokens {
                prop_assert_eq!(report.cost[0].max, tokens, "at {}", path);
            }
            coverage.add(vec![seen(path)], &mut one_by_one);
        }
        let mut at_once = coverage.tally(Listing::All);
        coverage.add(PATHS.iter().map(|path| seen(path)).collect(), &mut at_once);
        let shown = |tally| serde_json::to_string(&coverage.report(&tally, &Roots::default())).unwrap();
        prop_assert_eq!(shown(one_by_one), shown(at_once));
    }

    #[test]
    fn a_rule_reaches_the_files_it_applies_to(files in workspace()) {
        let book = book(&files);
        let coverage = Coverage::new(&book);
        let tree: Vec<Seen> =
            PATHS.iter().map(|path| Seen { path: (*path).to_owned(), root: 0, sources: Vec::new() }).collect();
        for (at, (rule, off)) in book.rules().enumerate() {
            let further = coverage.further(at);
            let is_gated = rule.stream.is_some() && !rule.globs.is_empty();
            // If any condition suffices, the others must not hold; otherwise they must.
            let asks_paths = rule.conditions.iter().any(|c| matches!(c.key, "paths" | "when"));
            let is_any = rule.combine == MatchMode::Any && asks_paths;
            let others = |word: &str| (!is_any).then(|| word.to_owned());
            let alone = |file: &Seen| {
                let paths = vec![file.clone()];
                let evidence = Evidence {
                    paths,
                    mode: others("act"),
                    message: others("word"),
                    tags: others("a").map(|tag| vec![tag]),
                    ..Evidence::default()
                };
                off.is_none() && applies(rule, &evidence)
            };
            let reached = coverage.reached(&[at], &tree).remove(0);
            let is_bound = !rule.globs.is_empty() || further.contains(&"mode") || !rule.origin.folder.is_empty();
            if is_gated || (!further.is_empty() && (!is_bound || reached.is_empty())) {
                continue;
            }
            let want: Vec<usize> = (0..tree.len()).filter(|at| alone(&tree[*at])).collect();
            prop_assert_eq!(reached, want, "{}", rule.origin.display);
        }
    }

    #[test]
    fn no_text_panics_in_any_format(text in "(---\n|globs: |paths: |when: |\\PC|\n|[*&!{}\\[\\]\"'#|>,]|priority: 5\n|description: x\n){0,30}") {
        for format in 0..with_places().len() {
            let file = File {
                format, place: 0, scope: Scope::Workspace, folder: "", name: "a.md", fields: Vec::new(), body: "", broken: false,
            };
            let mut source = source(&file);
            source.text = Ok(text.as_str().into());
            let parsed = parse(source);
            for found in &parsed.diagnostics {
                prop_assert!(!found.message.is_empty() && !found.help.is_empty());
            }
            if let Entry::Rejected(rejected) = &parsed.entry {
                prop_assert!(!rejected.codes.is_empty() && !parsed.diagnostics.is_empty());
            }
        }
    }
}
