//! The name of a format, then a file: it becomes a rule or is rejected, is delivered, and cannot forge a block.
#![no_main]

use libfuzzer_sys::fuzz_target;
use rulebook::evaluate::{Audience, evaluate};
use rulebook::evidence::{Evidence, Roots, Seen, Via};
use rulebook::format::Format;
use rulebook::hidden::is_hidden;
use rulebook::parse::{Entry, imports, parse};
use rulebook::render::render;
use rulebook::resolve::{Switches, resolve};
use rulebook::session::{HostProfile, Moment, Report, Session, Situation};
use rulebook_fuzz::rule_file;

fuzz_target!(|data: &str| {
    let Some((name, text)) = data.split_once('\n') else { return };
    let Some(format) = Format::named(name) else { return };
    let parsed = parse(rule_file(format, text.to_owned()));
    if let Entry::Rule(rule) = &parsed.entry {
        assert!(
            !rule.body.contains(|c: char| matches!(c, '\u{202e}' | '\u{1b}' | '\u{200b}') && is_hidden(c))
        );
        imports(&rule.body);
    }
    let book = resolve([parsed.entry], &Switches::default());
    let mut evidence = Evidence::default();
    for path in ["src/a.ts", "apps/web/b.tsx", "x"] {
        evidence.paths.push(Seen { path: path.to_owned(), root: 0, sources: vec![Via::Mention] });
    }
    let evaluation = evaluate(&book, &evidence, Audience::any());
    let _ = render(&evaluation);
    let roots = Roots::default();
    let report = Report::new(HostProfile::plain("fuzz"), Moment::Prompt);
    let due = Session::default().due(&report, &Situation::new(&evaluation, &evidence, &roots));
    if let Some(written) = due.write(10_000) {
        let ends = written.text.to_lowercase().matches("</rulebook-rule").count();
        let whole = written.deliveries.iter().filter(|delivery| delivery.is_rule() && !delivery.offered);
        assert_eq!(ends, whole.count());
    }
    let _ = rulebook::lint::lint(&book, &|_| Some(text.to_owned()));
});
