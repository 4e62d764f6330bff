//! The rules of one target as text, by what becomes of them.

use std::collections::{HashMap, HashSet};
use std::fmt::Write as _;

use anstyle::Style;
use rulebook::agent::Agent;
use rulebook::evaluate::InactiveReason;
use rulebook::evidence::Via;
use rulebook::explain::{AgentRule, Because, Inactive, Offered, Target};
use rulebook::format::Confidence;
use rulebook::matrix::{Cause, CellState, DoneBy};
use rulebook::resolve::OffBy;
use rulebook::rule::{Basis, Step};
use rulebook::shell::quoted;
use rulebook_workspace::Viewpoint;
use rulebook_workspace::team::TEAM_FILE;

use crate::out::{self, BOLD, CYAN, DIM, GREEN, PLAIN, RED, Table, YELLOW, counted, paint};

/// Prints whose view this is, and when that agent applies path-specific rules.
pub(super) fn show_agent(text: &mut String, agent: &Agent) {
    let _ =
        writeln!(text, "{}{}", paint(BOLD, format!("as {}", agent.title)), paint(DIM, ", without Rulebook"));
    match agent.path_rules.strip_prefix("never") {
        _ if agent.path_rules.is_empty() => {}
        Some(why) => _ = writeln!(text, "{}", paint(DIM, format!("path-specific rules never apply{why}"))),
        None => {
            _ = writeln!(text, "{}", paint(DIM, format!("path-specific rules apply {}", agent.path_rules)));
        }
    }
    let format = agent.known_by();
    if format.confidence != Confidence::High {
        let basis = format!("based on {} (confidence: {})", format.knowledge, format.confidence.name());
        let _ = writeln!(text, "{}", paint(DIM, basis));
    }
    text.push('\n');
}

/// Writes the rules of a target, by what becomes of them. For an agent, each rule that applies says who brings it.
pub(super) fn show(text: &mut String, title: &str, target: &Target, tokens: usize, view: Viewpoint) {
    let agent = match view {
        Viewpoint::For(named) | Viewpoint::As(named) => target.agents.get(named.agent.name),
        Viewpoint::Used | Viewpoint::Any => None,
    };
    let own = |source: &str| agent.and_then(|agent| agent.rules.iter().find(|own| own.source == source));
    let size = size(target.stack.len(), target.offered.len(), tokens);
    let _ = writeln!(text, "{}  {}", paint(BOLD, title), paint(DIM, size));
    let row = |style, id: &str, source: &str, why| {
        [(style, id.to_owned()), (PLAIN, source.to_owned()), (PLAIN, why)]
    };
    let dim = |row: [(Style, String); 3]| row.map(|(_, cell)| (DIM, cell));
    let applied = target.stack.iter().map(|rule| {
        let why = because(&rule.because);
        let own = own(&rule.source);
        let by = own.filter(|_| matches!(view, Viewpoint::For(_))).and_then(brought);
        let header = header_words(rule.basis).map(str::to_owned);
        let why: Vec<String> = by.into_iter().chain([why]).chain(own.and_then(since)).chain(header).collect();
        row(GREEN.bold(), &rule.id, &rule.source, why.join("; "))
    });
    let watching = target.stream.iter().map(|rule| row(BOLD, &rule.id, &rule.source, rule.summary()));
    let is_own_offer = |rule: &&Offered| match view {
        Viewpoint::As(_) => true,
        _ => own(&rule.source).is_some_and(|own| own.by == Some(DoneBy::Agent)),
    };
    let offer = |rule: &Offered| {
        let description = Some(rule.note()).filter(|note| !note.is_empty()).unwrap_or("(no description)");
        row(BOLD, &rule.id, &rule.source, description.to_owned())
    };
    let (own_offers, offered): (Vec<&Offered>, Vec<&Offered>) = target.offered.iter().partition(is_own_offer);
    let overridden = target
        .overridden
        .iter()
        .map(|rule| row(YELLOW, &rule.id, &rule.source, overridden_by(&rule.winner.source, rule.decided_by)));
    let (unread, inactive): (Vec<&Inactive>, Vec<&Inactive>) =
        target.inactive.iter().partition(|rule| rule.reason == InactiveReason::Unread);
    let (undocumented, inactive): (Vec<&Inactive>, Vec<&Inactive>) =
        inactive.into_iter().partition(|rule| rule.reason == InactiveReason::Undocumented);
    let has_detail = |rule: &&Inactive| !rule.detail.is_empty();
    let dimmed = |rule: &Inactive| dim(row(DIM, &rule.id, &rule.source, in_table(&rule.detail)));
    let disabled = target
        .disabled
        .iter()
        .map(|rule| row(YELLOW, &rule.id, &rule.source, off_words(&rule.id, rule.by, rule.file.as_deref())));
    let rejected = target.rejected.iter().map(|rule| {
        let codes: Vec<&str> = rule.diagnostics.iter().map(|code| code.row().name).collect();
        row(RED, &rule.id, &rule.source, codes.join(", "))
    });
    let offers = match view {
        Viewpoint::For(_) => "offered by Rulebook; the model reads them as rule://ID",
        _ => "offered; the model reads them as rule://ID",
    };
    let mut sections: Vec<(&str, Table)> = vec![
        ("in context, in this order", applied.collect()),
        ("stream rules", watching.collect()),
        ("offered by the agent", own_offers.into_iter().map(offer).collect()),
        (offers, offered.into_iter().map(offer).collect()),
        ("overridden", overridden.collect()),
        ("inactive", inactive.into_iter().map(dimmed).collect()),
        ("not documented", undocumented.into_iter().map(dimmed).collect()),
        ("not read", unread.iter().copied().filter(has_detail).map(dimmed).collect()),
        ("disabled", disabled.collect()),
        ("rejected", rejected.collect()),
    ];
    sections.retain(|(_, table)| !table.is_empty());
    let widths = sections
        .iter()
        .map(|(_, table)| table.widths())
        .reduce(|a, b| a.iter().zip(&b).map(|(a, b)| *a.max(b)).collect());
    for (title, table) in &sections {
        let _ = writeln!(text, "\n  {}", paint(CYAN, title));
        table.write(text, 4, widths.as_deref().unwrap_or_default());
    }
    let others: Vec<&str> =
        unread.iter().filter(|rule| !has_detail(rule)).map(|rule| rule.source.as_str()).collect();
    if !others.is_empty() {
        let has_reasons = unread.len() > others.len();
        /// More files are counted.
        const FEW: usize = 3;
        let files = match others.len() {
            ..=FEW => file_list(&others),
            count => {
                let other = if has_reasons { "other " } else { "" };
                format!("{count} {other}rule files (`rulebook explain PATH` shows which agents read them)")
            }
        };
        let _ = writeln!(text, "\n  {}", paint(DIM, format!("not read: {files}")));
    }
    if sections.is_empty() && others.is_empty() {
        text.push_str("\n  no rule files found; `rulebook status` searches the whole tree\n");
    }
    text.push('\n');
}

/// Describes how many rules and offers there are, and their tokens.
fn size(rules: usize, offers: usize, tokens: usize) -> String {
    match rules + offers + tokens {
        0 => "no rules".to_owned(),
        _ => format!("{}, about {}", rules_and_offers(rules, offers), counted(tokens, "token")),
    }
}

/// Counts the rules in context, and those that are offered.
pub(super) fn rules_and_offers(rules: usize, offers: usize) -> String {
    match offers {
        0 => counted(rules, "rule"),
        offers => format!("{} and {}", counted(rules, "rule"), counted(offers, "offer")),
    }
}

/// Returns the path that an answer is about; without one, what it is about instead.
pub(super) fn title(target: &Target, without_path: &str) -> String {
    match (&target.path, &target.root) {
        (Some(path), Some(root)) => out::clean(&format!("{root}/{path}")),
        (Some(path), None) => out::clean(path),
        (None, _) => without_path.to_owned(),
    }
}

/// Returns a reason as it is written in a table, whose title names the path.
pub(super) fn in_table(detail: &str) -> String {
    match detail.strip_prefix("reads ") {
        Some(files) => format!("the agent reads only {files}"),
        None => detail.replace("no evidence path matches", "does not match"),
    }
}

/// Lists files; many of one folder are counted.
pub(super) fn file_list(files: &[impl AsRef<str>]) -> String {
    /// As many files of a folder are named.
    const NAMED: usize = 3;
    let folder = |file: &str| file.rsplit_once('/').map_or(String::new(), |(folder, _)| folder.to_owned());
    let mut counts: HashMap<String, usize> = HashMap::new();
    files.iter().for_each(|file| *counts.entry(folder(file.as_ref())).or_default() += 1);
    let mut seen = HashSet::new();
    let shown = files.iter().map(AsRef::as_ref).filter_map(|file| {
        let folder = folder(file);
        match counts[&folder] {
            count if count > NAMED && !folder.is_empty() => {
                let text = format!("{folder}/ ({count} files)");
                seen.insert(folder).then_some(text)
            }
            _ => Some(file.to_owned()),
        }
    });
    out::clean(&shown.collect::<Vec<_>>().join(", "))
}

/// Returns the version since which an agent reads a file.
fn since(rule: &AgentRule) -> Option<String> {
    rule.because.since.map(|version| format!("since {version}"))
}

/// Describes who brings a rule to the agent, and how.
fn brought(rule: &AgentRule) -> Option<String> {
    match rule.state {
        CellState::Native => match rule.because.cause {
            Cause::Imported(_) => Some(rule.because.to_string()),
            _ => Some("read by the agent".to_owned()),
        },
        CellState::Added => Some("added by Rulebook".to_owned()),
        _ => None,
    }
}

/// Describes which rule is used instead of an overridden one.
pub(super) fn overridden_by(winner: &str, step: Step) -> String {
    match step {
        Step::Duplicate => format!("same text as {winner}, which is used"),
        Step::Copy => format!("copy of {winner}, which is used"),
        step => format!("{winner} is used instead: {}", precedence(step)),
    }
}

/// Describes why one of two rules is used.
fn precedence(step: Step) -> &'static str {
    match step {
        Step::Priority => "its priority is higher",
        Step::Scope => "its scope comes first",
        Step::Format => "its format comes first",
        Step::Folder => "its folder is nearer",
        Step::Path => "its path sorts first",
        Step::Enabled => "it is mandatory",
        Step::Copy | Step::Duplicate => "it has the same text",
    }
}

/// Describes a header that could not be read as written.
pub(super) fn header_words(basis: Basis) -> Option<&'static str> {
    match basis {
        Basis::Repaired => Some("header repaired"),
        Basis::FailOpen => Some("the header is invalid"),
        Basis::Explicit | Basis::Inferred | Basis::Default => None,
    }
}

/// Describes how a path became evidence. A path given to the command needs no words.
fn source_words(source: Via) -> Option<&'static str> {
    match source {
        Via::Argument => None,
        Via::Mention => Some("mentioned by the user"),
        Via::Tool => Some("used by a tool"),
        Via::Message => Some("named in the message"),
        Via::Modified => Some("modified in this task"),
        Via::Visible => Some("visible in an editor"),
        Via::Tab => Some("open in a tab"),
    }
}

/// Formats the reasons why a rule applies: `paths apps/web/** ← apps/web/a.tsx (named in the message)`.
pub(super) fn because(reasons: &[Because]) -> String {
    if reasons.is_empty() {
        return "always on".to_owned();
    }
    let mut words = Vec::new();
    for reason in reasons {
        let mut word = format!("{} {}", reason.condition, reason.matched.join(", "));
        if let Some(first) = reason.evidence.first() {
            let _ = write!(word, " ← {}", first.path);
            let sources: Vec<&str> = first.sources.iter().copied().filter_map(source_words).collect();
            if !sources.is_empty() {
                let _ = write!(word, " ({})", sources.join(", "));
            }
            if reason.further() > 0 {
                let _ = write!(word, " and {} more", reason.further());
            }
        }
        words.push(word);
    }
    words.join("; ")
}

/// Describes what disabled a rule, and what enables it.
pub(super) fn off_words(id: &str, by: OffBy, file: Option<&str>) -> String {
    let who = match (by, file) {
        (OffBy::Toggle, _) => "by you".to_owned(),
        (OffBy::UserToggle, _) => "by you, in every workspace".to_owned(),
        (by, Some(file)) => format!("by `{by}` in {file}"),
        (by, None) => format!("by `{by}`"),
    };
    format!("{who}; {}", off_remedy(id, by, file))
}

/// What enables a rule that is disabled.
pub(super) fn off_remedy(id: &str, by: OffBy, file: Option<&str>) -> String {
    let id = quoted(id);
    match by {
        OffBy::Toggle => format!("`rulebook enable {id}` enables it"),
        OffBy::UserToggle => format!("`rulebook enable {id} --user` enables it"),
        OffBy::DisabledIds if file == Some(TEAM_FILE) => format!("`rulebook enable {id} --team` enables it"),
        OffBy::DisabledIds => "remove it from that list".to_owned(),
        OffBy::Enabled => "set it to `true` there".to_owned(),
        OffBy::Header | OffBy::Disabled => "remove that line from the header".to_owned(),
    }
}
