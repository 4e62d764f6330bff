//! `stream`: a text, or a recorded answer of a model, through the stream rules.

mod sse;
mod wires;

use std::fmt::Write as _;
use std::io::Read as _;
use std::path::Path;
use std::process::ExitCode;

use anyhow::{Context as _, anyhow, bail};
use rulebook::evaluate::{State, evaluate};
use rulebook::evidence::{Input, Roots};
use rulebook::resolve::Rulebook;
use rulebook::rule::Rule;
use rulebook::stream::policy::Source;
use rulebook::stream::{Hit, Kind, Monitor};
use rulebook_workspace::{Reach, Workspace};
use serde_json::json;

use super::VERSION;
use crate::args::{Args, StreamFile};
use crate::out::{self, BOLD, CYAN, DIM, GREEN, RED, paint, plural};

/// The largest recording that is read.
const MAX_FILE: u64 = 256 << 20;

/// What happens to one stream of a recording.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Step {
    /// Some bytes came.
    Feed { stream: String, kind: Kind, bytes: Vec<u8> },
    /// It ended.
    End { stream: String },
}

pub(super) fn run(args: &Args, options: &StreamFile) -> anyhow::Result<ExitCode> {
    let workspace = super::open(args)?;
    let loaded = workspace.load(Reach::Tree);
    let rules = watching(&workspace, &loaded.book);
    let bytes = read(&options.file)?;
    let steps = sse::steps(&bytes).unwrap_or_else(|| {
        let stream = "text".to_owned();
        vec![Step::Feed { stream: stream.clone(), kind: Kind::Text, bytes }, Step::End { stream }]
    });
    let hits = watch(&rules, &workspace.roots, &steps)?;
    let proved = if options.prove { Some(prove(&rules, &workspace.roots, &steps, &hits)?) } else { None };
    let hits: Vec<Shown> = hits.into_iter().map(|hit| Shown::of(hit, &rules, &workspace)).collect();
    if args.json {
        let mut answer = json!({ "version": VERSION, "hits": hits, "diagnostics": loaded.diagnostics });
        if let Some(splits) = proved {
            answer["provedSplits"] = splits.into();
        }
        out::print_json(&answer)?;
    } else {
        out::print(&show(rules.len(), &hits, proved))?;
    }
    Ok(ExitCode::SUCCESS)
}

/// A hit, and what would come of it.
#[derive(serde::Serialize)]
struct Shown {
    #[serde(flatten)]
    hit: Hit,
    source: String,
    /// Whether the output would be stopped; else the rule is added after the turn.
    interrupts: bool,
}

impl Shown {
    fn of(hit: Hit, rules: &[&Rule], workspace: &Workspace) -> Shown {
        let rule = rules.iter().find(|rule| rule.name == hit.rule);
        let own = rule.and_then(|rule| rule.stream.as_ref()).map(|trigger| trigger.modes).unwrap_or_default();
        let source = match hit.scope {
            "text" => Source::Text,
            "thinking" => Source::Thinking,
            _ => Source::Tool,
        };
        let interrupts = own.over(workspace.settings.stream.modes()).interrupt.covers(source);
        Shown { source: rule.map(|rule| rule.origin.display.clone()).unwrap_or_default(), hit, interrupts }
    }
}

/// The rules that could watch: those that do now, and those that wait for their conditions.
fn watching<'b>(workspace: &Workspace, book: &'b Rulebook) -> Vec<&'b Rule> {
    let (mut evidence, _) = workspace.gather(&Input::default());
    workspace.look_up(book, &mut evidence);
    let watches = |state: &State| matches!(state, State::Stream | State::Inactive(_));
    let verdicts = evaluate(book, &evidence).verdicts;
    verdicts.iter().filter(|v| v.rule.stream.is_some() && watches(&v.state)).map(|v| v.rule).collect()
}

fn read(file: &Path) -> anyhow::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    let read = if file == Path::new("-") {
        std::io::stdin().lock().take(MAX_FILE + 1).read_to_end(&mut bytes)
    } else {
        std::fs::File::open(file).and_then(|opened| opened.take(MAX_FILE + 1).read_to_end(&mut bytes))
    };
    let help = || anyhow!("name a text or a recorded stream, or `-` for standard input");
    read.map_err(|error| help().context(format!("`{}` cannot be read: {error}", file.display())))?;
    if bytes.len() as u64 > MAX_FILE {
        bail!("`{}` is larger than {MAX_FILE} bytes", file.display());
    }
    Ok(bytes)
}

fn watch(rules: &[&Rule], roots: &Roots, steps: &[Step]) -> anyhow::Result<Vec<Hit>> {
    let monitor = Monitor::new(rules.iter().copied(), roots.clone());
    let mut monitor =
        monitor.map_err(|error| anyhow!(error)).context("the triggers cannot be compiled together")?;
    let mut hits = Vec::new();
    for step in steps {
        hits.extend(match step {
            Step::Feed { stream, kind, bytes } => monitor.feed(stream, kind, bytes),
            Step::End { stream } => monitor.finish(stream),
        });
    }
    Ok(hits)
}

/// Runs the same bytes in other chunks: single ones, and some splits by a fixed dice.
fn prove(rules: &[&Rule], roots: &Roots, steps: &[Step], hits: &[Hit]) -> anyhow::Result<usize> {
    const SPLITS: u64 = 25;
    let sorted = |hits: &[Hit]| {
        let mut all: Vec<String> = hits.iter().map(|hit| format!("{hit:?}")).collect();
        all.sort();
        all
    };
    let wanted = sorted(hits);
    for split in 0..SPLITS {
        let mut dice = split.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
        let mut chunk = || {
            dice ^= dice << 13;
            dice ^= dice >> 7;
            dice ^= dice << 17;
            if split == 0 { 1 } else { usize::try_from(dice % (1 << (split % 11))).unwrap_or(0) + 1 }
        };
        let mut other = Vec::new();
        for step in steps {
            match step {
                Step::Feed { stream, kind, bytes } => {
                    let mut rest = bytes.as_slice();
                    while !rest.is_empty() {
                        let (bytes, more) = rest.split_at(chunk().min(rest.len()));
                        other.push(Step::Feed {
                            stream: stream.clone(),
                            kind: kind.clone(),
                            bytes: bytes.to_vec(),
                        });
                        rest = more;
                    }
                }
                Step::End { .. } => other.push(step.clone()),
            }
        }
        if sorted(&watch(rules, roots, &other)?) != wanted {
            bail!("another split of the same stream gives other hits (split {split}); please report this");
        }
    }
    Ok(usize::try_from(SPLITS).unwrap_or(0))
}

fn show(rules: usize, hits: &[Shown], proved: Option<usize>) -> String {
    let mut text = String::new();
    for Shown { hit, source, interrupts } in hits {
        let action = if *interrupts { "would interrupt" } else { "would be added after the turn" };
        let (name, source) = (paint(RED.bold(), out::clean(&hit.rule)), out::clean(source));
        let _ = writeln!(text, "{name}  {source}  {}", paint(DIM, action));
        let parts = [hit.tool.as_deref(), hit.field.as_deref(), hit.file.as_deref()];
        let place: Vec<&str> = [Some(hit.scope)].into_iter().chain(parts).flatten().collect();
        let _ = writeln!(
            text,
            "  {} matched {}",
            out::clean(&place.join(" ")),
            paint(CYAN, out::clean(&hit.condition))
        );
        let number = hit.line.to_string();
        let first = out::clean(hit.text.lines().next().unwrap_or_default());
        let excerpt = out::clean(&hit.excerpt);
        let _ = writeln!(text, "  {} {} {excerpt}", paint(DIM, &number), paint(DIM, "|"));
        if let Some((before, _)) = excerpt.split_once(&first).filter(|_| !first.is_empty()) {
            let pad = " ".repeat(number.len() + unicode_width::UnicodeWidthStr::width(before) + 5);
            let caret = "^".repeat(unicode_width::UnicodeWidthStr::width(first.as_str()));
            let _ = writeln!(text, "{pad}{}", paint(RED, caret));
        }
        text.push('\n');
    }
    let watching = plural(rules, "stream rule");
    let _ = match hits.len() {
        0 => writeln!(text, "{}: {watching} watched", paint(GREEN, "nothing fired")),
        count => writeln!(text, "{}; {watching} watched", paint(BOLD, plural(count, "hit"))),
    };
    if let Some(splits) = proved {
        let _ = writeln!(text, "the same in {splits} other splits, down to single bytes");
    }
    text
}
