//! Finds nodes for scripts/ast-grep: one JSON object per line, `{"ast": …, "files": [[NAME, TEXT]…]}`, answered with a list of
//! `[START, END]` for each file, or `null` for a file that the trigger is not about.

use std::io::{BufRead as _, Write as _};

use rulebook::format::FormatId;
use rulebook::parse::{Entry, parse};
use rulebook::source::Source;
use rulebook_syntax::Grammars;
use serde_json::{Value, json};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let grammars = Grammars::default();
    let mut out = std::io::stdout().lock();
    for line in std::io::stdin().lock().lines() {
        let asked: Value = serde_json::from_str(&line?)?;
        let text = format!("---\nast: {}\n---\nx", asked["ast"]);
        let parsed = parse(Source::text(FormatId::Rulebook, ".rulebook/rules/r.md", text));
        let trigger = match &parsed.entry {
            Entry::Rule(rule) => rule.stream.as_ref().and_then(|stream| stream.syntax.first()),
            Entry::Rejected(_) => None,
        };
        let faults: Vec<String> = parsed.diagnostics.iter().map(|one| one.message.clone()).collect();
        let files = asked["files"].as_array().cloned().unwrap_or_default();
        let found = |file: &Value| -> Value {
            let (name, text) = (file[0].as_str().unwrap_or_default(), file[1].as_str().unwrap_or_default());
            let Some(trigger) = &trigger else { return json!(faults) };
            let Some(grammar) = trigger.grammar(name) else { return Value::Null };
            // The words that every match contains must not hide one.
            let may_match = trigger.may_match(text);
            match grammars.find(trigger, grammar, text) {
                Ok(nodes) if !nodes.is_empty() && !may_match => {
                    json!("the words of the trigger hide a match")
                }
                Ok(nodes) => nodes.iter().map(|node| json!([node.range.start, node.range.end])).collect(),
                Err(why) => json!(why),
            }
        };
        writeln!(out, "{}", files.iter().map(found).collect::<Value>())?;
    }
    Ok(())
}
