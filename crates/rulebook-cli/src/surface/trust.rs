//! `trust`: reviews the workspace's files and what changed in them, and records that the user trusts them.

use std::collections::HashSet;
use std::fmt::Write as _;

use anyhow::Context as _;
use rulebook::diagnostic::{Code, Diagnostic};
use rulebook::rule::Rule;
use rulebook::source::{Origin, Scope};
use rulebook_workspace::{Review, Reviewed, Standing};
use serde_json::{Value, json};

use crate::args::{Args, Trust};
use crate::diff::diff;
use crate::input::{open_workspace, settings_of};
use crate::out::{self, BOLD, DIM, GREEN, PLAIN, RED, Table, VERSION, YELLOW, paint, plural};

/// Diagnostics about text that people do not see.
const HIDDEN: [Code; 3] = [Code::HiddenText, Code::HiddenComment, Code::LookAlike];

/// Diagnostics about settings and records of trust that cannot be read.
const UNREADABLE: [Code; 3] = [Code::BadSettings, Code::BadState, Code::Protection];

pub(super) fn run(args: &Args, options: &Trust) -> anyhow::Result<()> {
    let workspace = open_workspace(args)?;
    let (roots, homes) = (workspace.roots.clone(), workspace.homes.clone());
    let mode = workspace.settings.trust;
    let store = workspace
        .trust_store()
        .context("no home folder found to store trust in: set HOME or XDG_STATE_HOME")?;
    let file = homes.shown(store.file());
    if options.forget {
        let mut forgotten = false;
        for root in &roots.roots {
            forgotten |= store.forget(&root.path).context("cannot remove the recorded trust")?;
        }
        let value = json!({ "version": VERSION, "mode": mode.name(), "forgotten": forgotten, "file": file });
        let what =
            if forgotten { "this workspace is no longer trusted" } else { "this workspace was not trusted" };
        return out::print_answer(args.json, &value, || format!("{what}\n  {file}\n"));
    }
    let diagnostics = workspace.diagnostics.iter();
    let diagnostics: Vec<_> =
        diagnostics.filter(|diagnostic| UNREADABLE.contains(&diagnostic.code)).cloned().collect();
    let review = workspace.review(&settings_of(&args.set)?);
    let record = || -> anyhow::Result<()> {
        for (at, root) in roots.roots.iter().enumerate().filter(|_| !options.show) {
            let of_root = review.files.iter().filter(|file| file.root == at);
            let texts: Vec<_> = of_root.map(|file| (file.path.clone(), file.text.clone())).collect();
            store.record(&root.path, &texts).context("cannot record trust")?;
        }
        Ok(())
    };
    let shown: Vec<Shown<'_>> =
        roots.roots.iter().enumerate().map(|(at, root)| Shown::new(&review, at, &root.path)).collect();
    if args.json {
        record()?;
        return out::print_json(&json!({
            "version": VERSION, "mode": mode.name(), "recorded": !options.show, "file": file,
            "roots": shown.iter().map(Shown::json).collect::<Vec<_>>(), "diagnostics": diagnostics,
        }));
    }
    // What could not be shown is not recorded.
    let mut text = String::new();
    shown.iter().for_each(|shown| shown.write(&mut text));
    out::print(&text)?;
    record()?;
    let files = plural(review.files.len(), "file");
    let is_settled =
        shown.iter().all(|shown| shown.is_trusted && shown.changed().is_empty() && shown.gone.is_empty());
    let mut text = if options.show && is_settled {
        format!("nothing to record: {files} trusted, recorded in {file}\n")
    } else if review.files.is_empty() {
        match options.show {
            true => "no rule files found; nothing recorded\n".to_owned(),
            false => format!("{} no rule files found; recorded in {file}\n", paint(GREEN, "trusted:")),
        }
    } else if options.show {
        format!("nothing recorded; run `rulebook trust` without `--show` to record {files}\n")
    } else {
        format!("{} {files} recorded in {file}\n", paint(GREEN, "trusted:"))
    };
    let line = match diagnostics.is_empty() {
        true if mode == Default::default() => {
            format!("trust mode: {} (the default)", mode.name())
        }
        true => format!("trust mode: {}", mode.name()),
        false => format!("trust counts as \"{}\"", mode.name()),
    };
    let _ = writeln!(text, "{}", paint(DIM, line));
    diagnostics.iter().for_each(|diagnostic| out::write_diagnostic(&mut text, diagnostic));
    out::print(&text)
}

/// One root of a review.
struct Shown<'r> {
    root: &'r str,
    is_trusted: bool,
    files: Vec<&'r Reviewed>,
    gone: Vec<&'r str>,
    always: Vec<&'r Rule>,
    stream: Vec<&'r Rule>,
    others: usize,
    hidden: Vec<&'r Diagnostic>,
}

impl<'r> Shown<'r> {
    fn new(review: &'r Review, at: usize, root: &'r str) -> Shown<'r> {
        let is_here =
            |origin: &Origin| origin.root == at && matches!(origin.scope, Scope::Workspace | Scope::Extra);
        let book = &review.loaded.book;
        let origins = book.rules().map(|(rule, _)| &rule.origin);
        let origins = origins.chain(book.rejected().iter().map(|rejected| &rejected.origin));
        let own: HashSet<&str> =
            origins.filter(|origin| is_here(origin)).map(|origin| origin.display.as_str()).collect();
        let is_hidden = |diagnostic: &&Diagnostic| {
            HIDDEN.contains(&diagnostic.code) && own.contains(diagnostic.path.as_str())
        };
        let rules = book.rules().filter(|(rule, off)| off.is_none() && is_here(&rule.origin));
        let (always, rest): (Vec<&Rule>, Vec<&Rule>) =
            rules.map(|(rule, _)| rule).partition(|rule| rule.is_on_here());
        let (stream, others): (Vec<&Rule>, Vec<&Rule>) =
            rest.into_iter().partition(|rule| rule.stream.is_some());
        Shown {
            root,
            is_trusted: review.trusted[at],
            files: review.files.iter().filter(|file| file.root == at).collect(),
            gone: review.gone.iter().filter(|(root, _)| *root == at).map(|(_, path)| path.as_str()).collect(),
            always,
            stream,
            others: others.len(),
            hidden: review.loaded.diagnostics.iter().filter(is_hidden).collect(),
        }
    }

    fn settings(&self) -> Option<&&'r Reviewed> {
        self.files.iter().find(|file| file.path == "rulebook.toml")
    }

    /// Returns the files that are new or changed since they were trusted.
    fn changed(&self) -> Vec<&'r Reviewed> {
        self.files.iter().copied().filter(|file| file.standing != Standing::Same).collect()
    }

    fn json(&self) -> Value {
        let ids = |rules: &[&Rule]| -> Vec<Value> {
            rules.iter().map(|rule| json!({ "id": rule.id, "source": rule.origin.display })).collect()
        };
        let files: Vec<Value> = self
            .files
            .iter()
            .map(|file| json!({ "path": file.path, "state": word(&file.standing), "diff": changed_lines(file) }))
            .collect();
        json!({
            "root": self.root, "trusted": self.is_trusted, "files": files, "gone": self.gone,
            "settings": self.settings().map(|file| &*file.text),
            "alwaysOn": ids(&self.always), "stream": ids(&self.stream), "others": self.others, "hidden": self.hidden,
        })
    }

    fn write(&self, text: &mut String) {
        let changed = self.changed();
        let state = match (self.is_trusted, changed.len() + self.gone.len()) {
            (false, _) => paint(YELLOW, "is not trusted yet"),
            (true, 0) => paint(GREEN, "is trusted, unchanged"),
            (true, count) => {
                paint(YELLOW, format!("is trusted, but {} changed since", plural(count, "file")))
            }
        };
        let _ = writeln!(text, "{} {state}", paint(BOLD, out::clean(self.root)));
        for (title, rules) in [("always on", &self.always), ("stream rules", &self.stream)] {
            if !rules.is_empty() {
                let _ = writeln!(text, "\n  {title}");
                let mut table = Table::default();
                rules.iter().for_each(|rule| table.row([(BOLD, &rule.id), (PLAIN, &rule.origin.display)]));
                table.write(text, 4, &table.widths());
            }
        }
        if self.others > 0 {
            let _ = writeln!(text, "\n  {}, conditional or offered", plural(self.others, "more rule"));
        }
        if let Some(file) = self.settings() {
            let _ = write!(text, "\n  settings ({})\n{}", file.path, indented(&diff("", &file.text)));
        }
        if !self.hidden.is_empty() {
            let _ = writeln!(text, "\n  {}", paint(RED, "hidden text"));
            for diagnostic in &self.hidden {
                let message = out::clean(&diagnostic.message);
                let _ = writeln!(text, "    {} {message}", out::place(diagnostic));
            }
        }
        if self.is_trusted && changed.len() + self.gone.len() > 0 {
            let _ = writeln!(text, "\n  changes");
            for file in changed {
                let change = if file.standing == Standing::New { "is new" } else { "changed" };
                let _ = writeln!(text, "    {} {change}", out::clean(&file.path));
                text.push_str(&indented(&changed_lines(file)));
            }
            for path in &self.gone {
                let _ = writeln!(text, "    {} was removed", out::clean(path));
            }
        }
        text.push('\n');
    }
}

fn word(standing: &Standing) -> &'static str {
    match standing {
        Standing::New => "new",
        Standing::Changed(_) => "changed",
        Standing::Same => "same",
    }
}

/// Returns what changed in a file, line by line; empty if it is unchanged.
fn changed_lines(file: &Reviewed) -> String {
    let before = match &file.standing {
        Standing::Same => return String::new(),
        Standing::New => "",
        Standing::Changed(before) => before.as_deref().unwrap_or_default(),
    };
    diff(before, &file.text)
}

fn indented(lines: &str) -> String {
    lines.lines().map(|line| format!("    {line}\n")).collect()
}
