//! `watch`: follows the sessions of agents live, one line per event.

use std::thread;
use std::time::Duration;

use anyhow::Context as _;
use rulebook::session::Event;
use serde_json::json;

use super::follow::{Followed, Follower, News};
use super::{session_log, sessions};
use crate::args::{Args, Watch};
use crate::input::open_workspace;
use crate::json;
use crate::out::{self, DIM, VERSION, paint};

/// The time between two scans.
const INTERVAL: Duration = Duration::from_millis(200);

pub(super) fn run(args: &Args, options: &Watch) -> anyhow::Result<()> {
    let workspace = open_workspace(args)?;
    let state = workspace.homes.state.as_ref();
    let state = state.context("no folder for sessions: set HOME or XDG_STATE_HOME")?;
    let mut follower = Follower::new(state.join("rulebook"));
    let mut is_past = !options.past;
    let known = session_log::all(&workspace).0;
    let known: Vec<&str> = known.iter().map(|session| session.session.as_str()).collect();
    if let Some(wanted) = options.session.as_deref().filter(|wanted| !known.contains(wanted)) {
        let help = out::suggestion(wanted, known.iter().copied(), "`rulebook sessions` lists the sessions");
        match args.json {
            true => out::print_json(&json!({ "version": VERSION, "waitingFor": wanted, "help": help }))?,
            false => {
                out::print_aside(&format!(
                    "waiting for session `{}`, which does not exist yet; {help}\n",
                    out::clean(wanted)
                ));
            }
        }
    }
    if !args.json {
        out::print_aside("watching sessions; press Ctrl-C to stop\n");
    }
    loop {
        let mut text = String::new();
        follower.scan(|_, session, news| {
            let is_wanted = options.session.as_ref().is_none_or(|wanted| *wanted == session.session);
            if is_wanted && !is_past {
                news.iter().for_each(|news| text.push_str(&line(args, session, news)));
            }
        });
        is_past = false;
        if !text.is_empty() {
            out::print(&text)?;
        }
        if out::is_unread() {
            return Ok(());
        }
        thread::sleep(INTERVAL);
    }
}

fn line(args: &Args, session: &Followed, news: &News) -> String {
    let Followed { host, session, agent, root, .. } = session;
    let News { turn, at, event } = news;
    if args.json {
        let line = json!({
            "version": VERSION, "host": host, "session": session, "agent": agent, "root": root, "turn": turn,
            "at": at, "fact": event,
        });
        return String::from_utf8_lossy(&json::line(&line).unwrap_or_default()).into_owned();
    }
    let agent = agent.as_ref().map(|agent| format!("/{agent}")).unwrap_or_default();
    let name = out::clean(&format!("{host}/{session}{agent}"));
    let text = match event {
        Event::Started { root, .. } => format!("session started in {}", out::clean(root)),
        event => sessions::line(event, *turn, None),
    };
    format!("{} {text}\n", paint(DIM, name))
}
