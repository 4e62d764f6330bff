//! `ui`: serves a page on the loopback address with the rules, what applies to a path, and live sessions.
//!
//! One thread and one request per connection, because the page has one user. It shows what the commands show and decides
//! nothing.

mod agents;
mod cache;
mod chart;
mod export;
mod files;
mod fixes;
mod guard;
mod http;
mod links;
mod live;
mod map;
mod matrix;
mod page;
mod path;
mod problems;
mod rule;
mod session;
mod sessions;
mod table;
mod text;
mod treemap;

use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use anyhow::{Context as _, anyhow};
use serde_json::json;

use rulebook_workspace::Reach;

use super::toggle::{Switch, switch_own};
use crate::args::{Args, Ui};
use crate::input::open_workspace;
use crate::out::{self, BOLD, VERSION, paint};
use cache::Caches;
use guard::Guard;
use http::{Query, Request, Response};
use live::Live;

/// How many connections are served at once.
const MAX_CONNECTIONS: usize = 64;

pub(super) fn run(args: &Args, options: &Ui) -> anyhow::Result<()> {
    let caches = Caches::new(args);
    let state = caches.rules()?.workspace.homes.state.clone();
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, options.port)).map_err(|error| {
        anyhow!("name another port with `--port`, or omit it to use a free one")
            .context(format!("cannot use port {}: {error}", options.port))
    })?;
    let guard = Guard::new(listener.local_addr()?.port()).context("cannot create a random token")?;
    let url = guard.url();
    if args.json {
        out::print_json(&json!({ "version": VERSION, "url": url }))?;
    } else {
        out::print(&format!(
            "{}\n  open this address in a browser; press Ctrl-C to stop\n",
            paint(BOLD, &url)
        ))?;
    }
    if options.open {
        open(&url);
    }
    let args = args.lasting();
    super::keep_fresh::keep_fresh(move || open_workspace(&args));
    let server = Server { guard, caches, live: Live::new(state.map(|state| state.join("rulebook"))) };
    let busy = AtomicUsize::new(0);
    thread::scope(|scope| {
        for stream in listener.incoming() {
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
    Ok(())
}

/// Opens an address in the browser. If that fails, the user can open the printed one.
fn open(url: &str) {
    let (program, before): (&str, &[&str]) = match std::env::consts::OS {
        "macos" => ("open", &[]),
        "windows" => ("cmd", &["/C", "start", ""]),
        _ => ("xdg-open", &[]),
    };
    let mut command = Command::new(program);
    command.args(before).arg(url).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    if let Err(error) = command.spawn() {
        out::print_aside(&format!("cannot start `{program}` ({error}); open the address yourself\n"));
    }
}

struct Server<'a> {
    guard: Guard,
    caches: Caches<'a>,
    live: Live,
}

impl Server<'_> {
    fn answer(&self, stream: &TcpStream) {
        let (method, response) = match self.response(stream) {
            Ok(Some(answer)) => answer,
            Ok(None) => return self.live.stream(stream),
            Err(refusal) => {
                let _ = refusal.map(|refusal| refusal.write(stream, "GET"));
                return;
            }
        };
        let _ = response.write(stream, &method);
    }

    /// Returns the method of a request and its response, or `None` if it is for the events.
    fn response(&self, stream: &TcpStream) -> Result<Option<(String, Response)>, Option<Response>> {
        let arriving = Request::read_head(stream)?;
        let Some(wanted) = self.guard.admit(&arriving.request).map(str::to_owned) else {
            return Ok(Some((arriving.request.method, Response::plain(403, "forbidden"))));
        };
        if wanted == "events" && arriving.request.method == "GET" {
            return Ok(None);
        }
        let request = arriving.whole()?;
        let response = self.respond(&request, &wanted);
        Ok(Some((request.method, response)))
    }

    fn respond(&self, request: &Request, wanted: &str) -> Response {
        let query = &request.query;
        let answer = match (request.method.as_str(), wanted) {
            ("GET" | "HEAD", "") => Ok(Response::redirect("agents".to_owned())),
            ("GET" | "HEAD", "style.css") => Ok(Response::file("text/css", include_str!("style.css"))),
            ("GET" | "HEAD", "script.js") => Ok(Response::file("text/javascript", include_str!("script.js"))),
            ("GET" | "HEAD", "icon.svg") => Ok(Response::file("image/svg+xml", include_str!("icon.svg"))),
            ("GET" | "HEAD", "agents") => agents::show(&self.caches, &self.live, query),
            ("GET" | "HEAD", "rule") => rule::show(&self.caches, &self.live, query),
            ("GET" | "HEAD", "path") => path::show(&self.caches, query),
            ("GET" | "HEAD", "explain.json") => path::explain(&self.caches, query),
            ("GET" | "HEAD", "files.json") => path::complete(&self.caches, query),
            ("GET" | "HEAD", "sessions") => sessions::show(&self.caches, &self.live, query),
            ("GET" | "HEAD", "session") => session::show(&self.caches, &self.live, query),
            ("GET" | "HEAD", "problems") => problems::show(&self.caches, query),
            ("GET" | "HEAD", "fix") => fixes::show(&self.caches, query),
            ("POST", "fix") => fixes::apply(&self.caches, &request.form()),
            ("GET" | "HEAD", "export") => export::show(&self.caches, query),
            ("GET" | "HEAD", "map") => map::show(&self.caches, query),
            ("POST", "toggle") => self.toggle(&request.form()),
            ("GET" | "HEAD", _) => Ok(page::missing("This page does not exist")),
            _ => Ok(Response::plain(405, "method not allowed")),
        };
        answer.unwrap_or_else(|error| page::failed(&error))
    }

    /// Turns a rule on or off, and redirects to the page with the switch.
    fn toggle(&self, form: &Query) -> anyhow::Result<Response> {
        let rules = self.caches.rules()?;
        let id = form.get("id");
        let book = rules.workspace.load(Reach::Tree).book;
        if book.lookup(id).is_empty() {
            return Ok(page::missing("No rule has this name"));
        }
        let to = if form.get("to") == "on" { Switch::On } else { Switch::Off };
        switch_own(&rules.workspace, &book, id, to)?;
        self.caches.clear();
        let back = form.get("back");
        let is_ours = ["agents", "rule"]
            .iter()
            .any(|view| back.strip_prefix(view).is_some_and(|rest| rest.is_empty() || rest.starts_with('?')));
        let is_clean = back.bytes().all(|byte| byte.is_ascii_graphic());
        Ok(Response::redirect(if is_ours && is_clean { back.to_owned() } else { "agents".to_owned() }))
    }
}
