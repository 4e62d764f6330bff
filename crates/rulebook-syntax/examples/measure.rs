//! What bench/code measures: `parse FILE N`, `once FILE`, `twice FILE`, `edit FILE`, `stream`.

use std::sync::Arc;
use std::time::{Duration, Instant};

use rulebook::evidence::Roots;
use rulebook::format::FormatId;
use rulebook::parse::{Entry, parse};
use rulebook::rule::Rule;
use rulebook::source::Source;
use rulebook::stream::{Monitor, StreamKind};
use rulebook::syntax::{FileText, NodeMatch, Syntax, SyntaxTrigger};
use rulebook_syntax::Grammars;

#[derive(Debug, Default)]
struct Code(Grammars);

impl Syntax for Code {
    fn read(&self, _: usize, _: &str, _: usize) -> FileText {
        FileText::Absent
    }

    fn find(&self, trigger: &SyntaxTrigger, grammar: &str, text: &str) -> Result<Vec<NodeMatch>, String> {
        self.0.find(trigger, grammar, text)
    }
}

fn rule(header: &str) -> Rule {
    let source = Source::text(FormatId::Rulebook, ".rulebook/rules/r.md", format!("---\n{header}\n---\nx"));
    match parse(source).entry {
        Entry::Rule(rule) => *rule,
        Entry::Rejected(_) => panic!("{header}"),
    }
}

fn main() {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let read = |file: &str| std::fs::read_to_string(file).expect("the file can be read");
    match words.as_slice() {
        ["parse", file, times] => {
            let text = read(file);
            // Another text each time, so that each is parsed.
            for at in 0..times.parse::<usize>().expect("a number") {
                let grammars = Grammars::default();
                grammars.parse("typescript", &text[..text.len() - at]).expect("it parses");
            }
        }
        ["stream"] => println!("{}", stream()),
        [how, file] => {
            let text = read(file);
            let grammars = Grammars::default();
            grammars.parse("typescript", &text).expect("it parses");
            let middle = text.floor_char_boundary(text.len() / 2);
            let edited =
                format!("{}{}", &text[..middle], text[middle..].replacen("list.length", "list.size", 1));
            match *how {
                "twice" => Grammars::default().parse("typescript", &edited).expect("it parses"),
                "edit" => grammars.parse("typescript", &edited).expect("it parses"),
                _ => {}
            }
        }
        _ => eprintln!("see the first line of this file"),
    }
}

/// A call of 400 KB in deltas of 8 bytes, watched by 50 conditions, without and with 50 syntax triggers, until it ends.
fn stream() -> String {
    let conditions: Vec<Rule> = (0..50).map(|at| rule(&format!("condition: unwanted{at}Call"))).collect();
    let syntax: Vec<Rule> =
        (0..50).map(|at| rule(&format!("ast: {{language: ts, pattern: 'unwanted{at}($$$)'}}"))).collect();
    let line = "const list = [a, 'text'].map((x) => x.trim()); // new Set(1)\n";
    let call =
        serde_json::json!({ "path": "src/a.ts", "content": line.repeat(400_000 / line.len()) }).to_string();
    let watch = |with: bool| {
        let rules = conditions.iter().chain(syntax.iter().filter(|_| with));
        let code: Arc<dyn Syntax> = Arc::new(Code::default());
        let mut monitor =
            Monitor::new(rules.filter_map(Rule::stream_rule), Roots::default()).with_syntax(Some(code));
        let started = Instant::now();
        for piece in call.as_bytes().chunks(8) {
            assert!(monitor.feed("call", &StreamKind::Tool("write".to_owned()), piece).is_empty());
        }
        started.elapsed()
    };
    let (mut least, mut most) = (Duration::MAX, Duration::MAX);
    for _ in 0..15 {
        least = least.min(watch(false));
        most = most.min(watch(true));
    }
    let ratio = most.as_secs_f64() / least.as_secs_f64();
    format!(
        "a call of 400 KB until it ends: {:.1} ms with 50 conditions, {:.1} ms with 50 ast rules too: {ratio:.2} ×; goal ≤ 1.2 ×",
        least.as_secs_f64() * 1e3,
        most.as_secs_f64() * 1e3
    )
}
