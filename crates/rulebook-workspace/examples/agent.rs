//! An agent with rules: `cargo run -p rulebook-workspace --example agent -- "fix the tests in apps/web"`.
//!
//! The model is replaced by one that repeats the message, so the example shows what Rulebook does and nothing else.

use rulebook::evidence::Input;
use rulebook_workspace::Workspace;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let user = std::env::args().nth(1).unwrap_or_else(|| "say something".to_owned());
    let workspace = Workspace::open(".")?;
    let mut session = workspace.session("my-agent", &format!("example-{}", std::process::id()))?;

    let mut turn = session.turn(Input::message(&user));
    let mut request = vec![turn.system(), user];
    if let Some(notice) = turn.notice() {
        println!("{}", notice.line());
    }

    let mut watch = turn.watch();
    loop {
        let mut retry = None;
        for delta in model(&request) {
            let step = watch.text(&delta);
            print!("{}", step.show);
            retry = step.retry;
            if retry.is_some() {
                break;
            }
        }
        if retry.is_none() {
            let step = watch.end();
            print!("{}", step.show);
            retry = step.retry;
        }
        let Some(interrupt) = retry else { break };
        println!("\n[interrupted by {}]", interrupt.rules().join(", "));
        request.push(interrupt.text().to_owned());
    }
    println!();
    turn.sent();
    Ok(())
}

/// A model that repeats the user's message, word by word, until it is told to stop.
fn model(request: &[String]) -> Vec<String> {
    match request {
        [_, user] => user.split_inclusive(' ').map(str::to_owned).collect(),
        _ => vec!["I will follow the rule.".to_owned()],
    }
}
