//! `check`: what is wrong in rule files and settings, and what to write instead.

use std::fmt::Write as _;
use std::process::ExitCode;

use rulebook::diagnostic::{Diagnostic, Severity};
use rulebook_workspace::Reach;
use serde_json::json;

use super::{VERSION, fix, sarif};
use crate::args::{Args, Check, Format};
use crate::out::{self, GREEN, RED, paint, plural};

pub(super) fn run(args: &Args, options: &Check) -> anyhow::Result<ExitCode> {
    let workspace = super::open(args)?;
    let mut loaded = workspace.load(Reach::Tree);
    let mut fixed = Vec::new();
    if options.fix {
        fixed = fix::mend(&loaded);
        if !fixed.is_empty() {
            loaded = super::open(args)?.load(Reach::Tree);
        }
    }
    loaded.diagnostics.extend(workspace.dead_globs(&loaded.book, &workspace.tree(&|_| ())));
    loaded.diagnostics.sort();
    let diagnostics = &loaded.diagnostics;
    let files = loaded.book.rules().len() + loaded.book.rejected().len();
    match if args.json { Format::Json } else { options.format } {
        Format::Text => out::print(&show(diagnostics, &fixed, files))?,
        Format::Json => {
            let fixed: Vec<_> = fixed
                .iter()
                .map(|mended| json!({ "path": mended.path, "diff": mended.diff, "failed": mended.failed }))
                .collect();
            out::print_json(&json!({
                "version": VERSION, "files": files, "fixed": fixed, "diagnostics": diagnostics,
            }))?;
        }
        Format::Sarif => out::print_json(&sarif::report(diagnostics))?,
        Format::Github => out::print_raw(github(diagnostics).as_bytes())?,
    }
    let failed = diagnostics.iter().any(|diagnostic| diagnostic.severity == Severity::Error);
    Ok(ExitCode::from(u8::from(failed)))
}

fn show(diagnostics: &[Diagnostic], fixed: &[fix::Mended], files: usize) -> String {
    let mut text = String::new();
    for mended in fixed {
        let path = out::clean(&mended.path);
        let _ = match &mended.failed {
            None => writeln!(text, "{} {path}\n{}", paint(GREEN, "mended"), mended.diff),
            Some(error) => writeln!(text, "{} {path}: {error}\n", paint(RED, "not mended")),
        };
    }
    for diagnostic in diagnostics {
        out::write_diagnostic(&mut text, diagnostic);
    }
    let files = plural(files, "rule file");
    match out::count(diagnostics) {
        Some(count) => {
            let _ = writeln!(text, "{count} in {files}");
        }
        None => {
            let _ = writeln!(text, "{} in {files}", paint(GREEN, "nothing to mend"));
        }
    }
    text
}

/// Annotations of a GitHub workflow; `%`, CR and LF are escaped as it wants.
fn github(diagnostics: &[Diagnostic]) -> String {
    let data = |text: &str| text.replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A");
    let property = |text: &str| data(text).replace(':', "%3A").replace(',', "%2C");
    let mut text = String::new();
    for diagnostic in diagnostics {
        let level = if diagnostic.severity == Severity::Note { "notice" } else { diagnostic.severity.name() };
        let _ = writeln!(
            text,
            "::{level} file={},line={},col={},title={}::{}",
            property(&diagnostic.path),
            diagnostic.line.max(1),
            diagnostic.column.max(1),
            property(diagnostic.code.row().name),
            data(&format!("{}; {}", diagnostic.message, diagnostic.help)),
        );
    }
    text
}
