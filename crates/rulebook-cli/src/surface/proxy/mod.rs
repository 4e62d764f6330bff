//! `proxy`: a server between an agent and its model that adds rules to requests and applies stream rules to responses.
//!
//! If there is nothing to add and nothing matches, every byte passes unchanged. If something fails here, the agent continues
//! without rules and the failure is reported, unless `--fail-closed` blocks it.

mod answer;
mod child;
mod coding;
mod conversation;
mod conversation_state;
mod conversations;
mod exchange;
mod hold_queue;
mod log;
mod metrics;
mod monitor_feed;
mod order;
mod own_servers;
mod passthrough;
mod priority;
mod record;
mod reply;
mod rules;
mod scribe;
mod server;
mod shared;
mod stream;
mod texts;
mod trim;
mod upstream;

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::process::ExitCode;
use std::sync::Arc;

use anyhow::{Context as _, anyhow};

use crate::args::{Args, Proxy as Options};
use crate::input::open_workspace;
use crate::out::{self, VERSION};
use log::Log;
use serde_json::json;
use shared::Proxy;
use tokio::net::{TcpListener, TcpSocket};

/// Serves until it is asked to stop, or until the program it runs has ended.
pub(super) fn run(args: &Args, options: &Options) -> anyhow::Result<ExitCode> {
    trim::return_early();
    let listen = options.listen.unwrap_or(SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), 0));
    let token = token(options, listen)?;
    let is_for_child = !options.command.is_empty();
    let log = Log::new(args.json, is_for_child);
    let proxy = Arc::new(Proxy::new(args.lasting(), options, token.clone(), log)?);
    let (args, is_json) = (args.lasting(), args.json);
    crate::surface::keep_fresh::keep_fresh(move || open_workspace(&args));
    if !is_for_child {
        raise_limit();
    }
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        // With more events per turn the task queue would grow, and stay large, when many clients disconnect at once.
        .max_io_events_per_tick(64)
        // Requests are prepared beside the streams; more threads would only take memory and processor time.
        .max_blocking_threads(4)
        .on_thread_start(priority::lower)
        .build()?;
    let code = runtime.block_on(async {
        let listener = listening(listen).map_err(|error| {
            anyhow!("name a free address with `--listen`, such as 127.0.0.1:0")
                .context(format!("cannot listen on {listen}: {error}"))
        })?;
        let address = format!("http://{}", listener.local_addr()?);
        let base = token.map_or_else(|| address.clone(), |token| format!("{address}/{token}"));
        if is_for_child {
            child::run(&proxy, listener, &base, &options.command).await
        } else {
            // A reader that closed the pipe needs no address.
            if is_json {
                let _ = out::print_json(&json!({ "version": VERSION, "url": base }));
            } else {
                let _ = out::print(&format!("{base}\n"));
                out::print_aside(&format!(
                    "set your agent's base URL to this address, such as `ANTHROPIC_BASE_URL={base}`; press Ctrl-C to stop\n"
                ));
            }
            server::serve(&proxy, listener, server::stopped()).await;
            Ok(ExitCode::SUCCESS)
        }
    });
    // A recording being written is not waited for longer than this.
    runtime.shutdown_timeout(std::time::Duration::from_millis(500));
    proxy.scribe.end();
    code
}

/// Listens with a long queue: a client that does not fit tries again only after a second.
fn listening(at: SocketAddr) -> std::io::Result<TcpListener> {
    const WAITING: u32 = 4096;
    let socket = if at.is_ipv4() { TcpSocket::new_v4() } else { TcpSocket::new_v6() }?;
    #[cfg(unix)]
    socket.set_reuseaddr(true)?;
    socket.bind(at)?;
    socket.listen(WAITING)
}

/// Returns the secret that clients must send, if any.
fn token(options: &Options, listen: SocketAddr) -> anyhow::Result<Option<String>> {
    let token = options.token.clone().filter(|token| !token.is_empty());
    if listen.ip().is_loopback() {
        return Ok(token);
    }
    if !options.allow_remote {
        return Err(anyhow!("write `--allow-remote` and a `--token`, or listen on 127.0.0.1")
            .context(format!("{listen} can be reached from other machines")));
    }
    let token = token.context("write `--token` with a secret that clients put after the address");
    let token = token.context("serving other machines requires a token")?;
    if token.len() < server::MIN_SECRET
        || !token.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_".contains(&byte))
    {
        return Err(anyhow!("use at least 16 letters, digits, `-` and `_`")
            .context("the token is too short or has characters that an address cannot contain"));
    }
    Ok(Some(token))
}

/// Allows as many connections as the system does.
fn raise_limit() {
    #[cfg(unix)]
    {
        use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
        let limit = getrlimit(Resource::Nofile);
        // If this fails, connections beyond the limit wait.
        let _ = setrlimit(Resource::Nofile, Rlimit { current: limit.maximum, maximum: limit.maximum });
    }
}
