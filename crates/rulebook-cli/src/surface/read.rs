//! `read`: prints the text of one rule.

use anyhow::anyhow;
use rulebook::shell::quoted;
use rulebook_workspace::{Loaded, Reach, RuleText};

use super::sections::off_remedy;
use super::toggle::rejected;
use crate::alert::{alert_line, alerts};
use crate::args::Args;
use crate::input::{open_workspace, typed_name};
use crate::out;

/// How many names an error lists as text.
const MAX_NAMES: usize = 20;

pub(super) fn run(args: &Args, name: &str) -> anyhow::Result<()> {
    let workspace = open_workspace(args)?;
    let loaded = workspace.sources(Reach::Tree).read_out();
    let name = &typed_name(&workspace, &loaded.book, name);
    let (rule, others) = loaded
        .book
        .read_all(name)
        .map_err(|_| unknown(name, &loaded, if args.json { usize::MAX } else { MAX_NAMES }))?;
    if args.json {
        return out::print_json(&RuleText::new(rule, &others, &loaded.diagnostics));
    }
    out::print_raw(format!("{}\n", rule.readable()).as_bytes())?;
    // On standard error, so that the text can be piped.
    for other in others {
        let (source, address) = (out::clean(&other.origin.display), out::clean(other.address()));
        anstream::eprintln!("also: {source} (`rulebook read {}`)", quoted(&address));
    }
    Ok(())
}

/// Returns the error for a name that cannot be read: the rule is disabled or rejected, an alert explains it, or no rule has
/// that name, and at most this many available names are listed.
pub(super) fn unknown(name: &str, loaded: &Loaded, most: usize) -> anyhow::Error {
    let plain = name.trim_start_matches("rule://");
    let disabled = loaded.book.lookup(plain).into_iter().find_map(|(rule, off)| Some((rule, off?)));
    if let Some((rule, off)) = disabled {
        let remedy = off_remedy(plain, off.by, off.file.as_deref());
        let help = format!("{remedy}; its text is in {}", rule.origin.display);
        return anyhow!(out::clean(&help)).context(format!("the rule `{}` is disabled", out::clean(plain)));
    }
    if let Some(error) = rejected(plain, &loaded.book, &loaded.diagnostics) {
        return error;
    }
    let known = loaded.book.read(name).err().map(|error| error.known).unwrap_or_default();
    let shown = out::clean(name.trim_start_matches("rule://"));
    let error = format!("no rule named `{shown}`");
    if let Some(alert) = alerts(&loaded.diagnostics).next() {
        return anyhow!(alert_line(alert)).context(error);
    }
    match known.len() {
        0 => anyhow!("no rules found; `rulebook status` shows why").context(error),
        count => {
            let more = if count > most { format!(" and {} more", count - most) } else { String::new() };
            let names: Vec<&str> = known.iter().take(most).map(String::as_str).collect();
            anyhow!("available, most similar first: {}{more}", out::clean(&names.join(", "))).context(error)
        }
    }
}
