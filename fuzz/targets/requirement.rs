//! A header with requirements, then calls, one per line, each a tool and its shell line or file: a session follows them.
#![no_main]

use libfuzzer_sys::fuzz_target;
use rulebook::evaluate::{Audience, evaluate};
use rulebook::evidence::{Evidence, Input, Root, Roots, ToolCall};
use rulebook::format::FormatId;
use rulebook::parse::parse;
use rulebook::resolve::{Switches, resolve};
use rulebook::session::{Event, HostProfile, Moment, Report, Session, Situation};
use rulebook::source::Source;

fuzz_target!(|text: &str| {
    let (header, calls) = text.split_once("\n---\n").unwrap_or((text, ""));
    let parsed = parse(Source::text(FormatId::Rulebook, "a.md", format!("---\n{header}\n---\nbody")));
    let book = resolve([parsed.entry], &Switches::default());
    let roots = Roots { roots: vec![Root { path: "/".to_owned(), ..Root::default() }], home: None };
    let host = HostProfile { stops: true, asks: true, ..HostProfile::plain("test") };
    let evidence = Evidence::default();
    let evaluation = evaluate(&book, &evidence, Audience::any());
    let situation = Situation::new(&evaluation, &evidence, &roots);
    let mut session = Session::default();
    for line in calls.lines().take(50) {
        let (name, of) = line.split_once(' ').unwrap_or((line, ""));
        let (paths, command) = match name {
            "turn" => {
                session.apply(Event::prompt(of));
                continue;
            }
            "Bash" => (Vec::new(), Some(of.to_owned())),
            _ => (vec![of.to_owned()], None),
        };
        let call =
            ToolCall { name: name.to_owned(), paths: paths.clone(), command, pending: true, ..ToolCall::default() };
        let is_stop = name == "stop";
        let report = Report {
            paths: vec![paths.clone(); usize::from(!is_stop)],
            input: Input { tools: (!is_stop).then(|| call.clone()).into_iter().collect(), ..Input::default() },
            ..Report::new(host, if is_stop { Moment::Stop } else { Moment::Before })
        };
        let mut draft = session.draft(&report, &situation, Vec::new());
        let mut events = session.observe(&report);
        events.extend(draft.events());
        let reply = draft.reply(&[], None);
        events.into_iter().for_each(|event| session.apply(event));
        if reply.refusal.is_none() && !is_stop {
            session.apply(Event::tool(&ToolCall { pending: false, ..call }, paths));
        }
    }
    let rules = book.rules().map(|(rule, _)| rule);
    let _ = session.requirements(rules, &host, &roots);
});
