//! `ui`: a page on the loopback address that shows the rules, what applies to a path, and the sessions live.
//!
//! A thread a connection and a request a connection: there is one person at the other end. What is shown is what the
//! commands show; the page decides nothing.

mod cache;
mod chart;
mod guard;
mod http;
mod live;
mod map;
mod page;
mod path;
mod rule;
mod rules;
mod session;
mod sessions;
mod treemap;

use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::process::{Command, ExitCode, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use anyhow::{Context as _, anyhow};
use serde_json::json;

use super::toggle::{Switch, switch_own};
use crate::args::{Args, Ui};
use crate::input::open_workspace;
use crate::out::{self, BOLD, VERSION, paint};
use cache::Caches;
use guard::Guard;
use http::{Query, Request, Response};
use live::Live;

/// How many connections are answered at once.
const MAX_CONNECTIONS: usize = 64;

pub(super) fn run(args: &Args, options: &Ui) -> anyhow::Result<ExitCode> {
    let looks = Caches::new(args);
    let state = looks.rules()?.workspace.homes.state.clone();
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, options.port)).map_err(|error| {
        anyhow!("name another with `--port`, or leave it out for one that is free")
            .context(format!("port {} cannot be used: {error}", options.port))
    })?;
    let guard = Guard::new(listener.local_addr()?.port()).context("there is no randomness for the token")?;
    let url = guard.url();
    if args.json {
        out::print_json(&json!({ "version": VERSION, "url": url }))?;
    } else {
        out::print(&format!("{}\n  only this address opens the page; Ctrl-C ends it\n", paint(BOLD, &url)))?;
    }
    if options.open {
        open(&url);
    }
    let args = args.lasting();
    super::keep_fresh::keep_fresh(move || open_workspace(&args));
    let server = Server { guard, looks, live: Live::new(state.map(|state| state.join("rulebook"))) };
    let busy = AtomicUsize::new(0);
    thread::scope(|scope| {
        for stream in listener.incoming() {
            // A connection that failed before it was one concerns nobody.
            let Ok(stream) = stream else { continue };
            if busy.fetch_add(1, Ordering::SeqCst) >= MAX_CONNECTIONS {
                busy.fetch_sub(1, Ordering::SeqCst);
                let _ = Response::plain(503, "busy").write(&stream, "GET");
                continue;
            }
            let (server, busy) = (&server, &busy);
            scope.spawn(move || {
                server.answer(&stream);
                busy.fetch_sub(1, Ordering::SeqCst);
            });
        }
    });
    Ok(ExitCode::SUCCESS)
}

/// Opens an address in the browser; where that cannot be, it stands on the terminal.
fn open(url: &str) {
    let (program, before): (&str, &[&str]) = match std::env::consts::OS {
        "macos" => ("open", &[]),
        "windows" => ("cmd", &["/C", "start", ""]),
        _ => ("xdg-open", &[]),
    };
    let mut command = Command::new(program);
    command.args(before).arg(url).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    if let Err(error) = command.spawn() {
        out::print_aside(&format!("`{program}` cannot be started ({error}): open the address yourself\n"));
    }
}

/// What the page is served from.
struct Server<'a> {
    guard: Guard,
    looks: Caches<'a>,
    live: Live,
}

impl Server<'_> {
    fn answer(&self, stream: &TcpStream) {
        let request = match Request::read(stream) {
            Ok(request) => request,
            Err(refusal) => {
                // The client is told if it is still there.
                let _ = refusal.map(|refusal| refusal.write(stream, "GET"));
                return;
            }
        };
        let response = match self.guard.admit(&request) {
            None => Response::plain(403, "forbidden"),
            Some("events") if request.method == "GET" => return self.live.stream(stream),
            Some(wanted) => self.respond(&request, wanted),
        };
        let _ = response.write(stream, &request.method);
    }

    fn respond(&self, request: &Request, wanted: &str) -> Response {
        let query = &request.query;
        let answer = match (request.method.as_str(), wanted) {
            ("GET" | "HEAD", "") => Ok(Response::elsewhere("rules".to_owned())),
            ("GET" | "HEAD", "style.css") => Ok(Response::file("text/css", include_str!("style.css"))),
            ("GET" | "HEAD", "script.js") => Ok(Response::file("text/javascript", include_str!("script.js"))),
            ("GET" | "HEAD", "icon.svg") => Ok(Response::file("image/svg+xml", include_str!("icon.svg"))),
            ("GET" | "HEAD", "rules") => rules::show(&self.looks, &self.live, query),
            ("GET" | "HEAD", "rule") => rule::show(&self.looks, &self.live, query),
            ("GET" | "HEAD", "path") => path::show(&self.looks, query),
            ("GET" | "HEAD", "explain.json") => path::explain(&self.looks, query),
            ("GET" | "HEAD", "files.json") => path::complete(&self.looks, query),
            ("GET" | "HEAD", "sessions") => sessions::show(&self.looks, &self.live, query),
            ("GET" | "HEAD", "session") => session::show(&self.looks, &self.live, query),
            ("GET" | "HEAD", "map") => map::show(&self.looks, query),
            ("POST", "toggle") => self.toggle(&request.form()),
            ("GET" | "HEAD", _) => Ok(page::missing("there is no such page")),
            _ => Ok(Response::plain(405, "not that way")),
        };
        answer.unwrap_or_else(|error| page::failed(&error))
    }

    /// Switches a rule, and goes back to where that was asked for.
    fn toggle(&self, form: &Query) -> anyhow::Result<Response> {
        let look = self.looks.rules()?;
        let id = form.get("id");
        if !look.rows.iter().any(|row| row.id == id) {
            return Ok(page::missing("no rule has that id"));
        }
        let to = if form.get("to") == "on" { Switch::On } else { Switch::Off };
        switch_own(&look.workspace, id, to)?;
        self.looks.forget();
        let back = form.get("back");
        let is_ours = back.strip_prefix("rule").is_some_and(|rest| rest.starts_with(['s', '?']));
        let is_clean = back.bytes().all(|byte| byte.is_ascii_graphic());
        Ok(Response::elsewhere(if is_ours && is_clean { back.to_owned() } else { "rules".to_owned() }))
    }
}
