//! What the extension asks for: its view, and the sessions of agents in this workspace with their notices.

use rulebook::agent::Agent;
use rulebook::session::Event;
use rulebook_workspace::hosts::Host;
use serde_json::{Value, json};

use super::protocol::{Place, path_of};
use super::server::Server;
use super::view::of;
use crate::out::{self, seconds};
use crate::surface::pin;
use crate::surface::session_log::{self, Listed};
use crate::surface::sessions::line;

/// How many sessions, and how many events of each, are shown.
const MAX_SESSIONS: usize = 20;
const MAX_EVENTS: usize = 100;

pub(super) fn sessions(server: &Server, _: &Place) -> Value {
    let Some(snapshot) = server.snapshot.as_deref() else { return Value::Null };
    let roots = &snapshot.workspace.roots.roots;
    let here = session_log::of_roots(&snapshot.workspace, |path| roots.iter().any(|root| root.path == path));
    let shown = here.take(MAX_SESSIONS).map(|session| {
        let listed = Listed::of(&session);
        let mut turn = 0;
        let mut events = Vec::new();
        for event in session.log.events() {
            turn += u64::from(matches!(event, Event::Prompt { .. }));
            if matches!(event, Event::Started { .. }) {
                continue;
            }
            let text = line(event, turn, None);
            let mut shown = json!({
                "turn": turn, "text": anstream::adapter::strip_str(&text).to_string(), "kind": kind(event),
            });
            match event {
                Event::Prompt { message } => {
                    shown["message"] = out::clean(message.lines().next().unwrap_or_default()).into();
                }
                Event::Delivered(delivery) if delivery.is_rule() => {
                    shown["source"] = out::clean(&delivery.source).into();
                    shown["because"] = out::clean(&delivery.because).into();
                    shown["offered"] = delivery.offered.into();
                    shown["uri"] = snapshot.rule_file(&delivery.source).map(|path| snapshot.uris.of(path)).into();
                }
                _ => {}
            }
            events.push(shown);
        }
        let events = events.split_off(events.len().saturating_sub(MAX_EVENTS));
        json!({
            "host": session.host, "title": title(&session.host), "session": session.session, "agent": session.agent,
            "turns": turn, "at": seconds(session.at), "events": events,
            "pinned": listed.pinned, "isRunning": pin::is_running(session.at),
        })
    });
    shown.collect()
}

/// The name of a host for people.
fn title(host: &str) -> &str {
    Host::named(host).map(|host| host.agent).and_then(Agent::named).map_or(host, |agent| agent.title)
}

/// What an event is about, for its symbol.
fn kind(event: &Event) -> &'static str {
    match event {
        Event::Prompt { .. } => "prompt",
        Event::Tool { .. } => "tool",
        Event::Delivered(_) => "delivered",
        Event::Refused { .. } | Event::Interrupted { .. } => "stopped",
        _ => "other",
    }
}

/// The view, and what applies to the document that is in front.
pub(super) fn view(server: &Server, place: &Place) -> Value {
    let Some(snapshot) = server.snapshot.as_deref() else { return Value::Null };
    let mut view = snapshot.view.clone().unwrap_or_else(|| of(snapshot));
    let path = path_of(&place.text_document.uri);
    let path = path.filter(|path| snapshot.located(path).is_some());
    view["here"] = path.map_or(Value::Null, |path| {
        let agents = snapshot.here(&path);
        let agents = agents.iter().map(|here| {
            json!({ "name": here.agent.name, "title": here.agent.title, "tokens": here.tokens, "rules": here.rules })
        });
        json!({ "path": snapshot.display(&path), "agents": agents.collect::<Vec<_>>() })
    });
    view
}
