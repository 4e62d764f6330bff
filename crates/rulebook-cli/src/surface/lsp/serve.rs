//! The loop that answers the editor.

use std::collections::VecDeque;

use anyhow::Context as _;
use crossbeam_channel::select;
use lsp_server::{Connection, ErrorCode, Message, Notification, Request, RequestId, Response};
use serde_json::{Value, json};

use super::requests::{self, BadParams};
use super::server::{Server, Walk};
use super::watcher::News;

/// How an editor ends the connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum End {
    /// As the protocol says, or by closing the stream.
    Clean,
    /// With `exit` before `shutdown`.
    Abrupt,
}

/// Answers the editor until it ends the connection.
pub(super) fn serve(mut server: Server, connection: &Connection) -> anyhow::Result<End> {
    if !server.roots().is_empty() {
        server.check_soon(Walk::Again);
    }
    let mut queue: VecDeque<Message> = VecDeque::new();
    let mut end = End::Abrupt;
    loop {
        let pause = server.pause();
        if !queue.iter().any(|message| is_ready(&server, message)) {
            select! {
                recv(connection.receiver) -> message => match message {
                    Ok(message) => queue.push_back(message),
                    Err(_) => {
                        server.evidence.remove();
                        return Ok(End::Clean);
                    }
                },
                recv(server.worker.results) -> result => server.accept(result.context("the check failed")?),
                recv(server.news) -> news => hear(&mut server, news.context("the disk cannot be watched")?),
                default(pause) => {}
            }
        }
        queue.extend(connection.receiver.try_iter());
        cancel(&server, &mut queue);
        server.tick();
        let Some(at) = queue.iter().position(|message| is_ready(&server, message)) else { continue };
        match queue.remove(at) {
            Some(Message::Request(request)) if end == End::Clean => {
                let message = "the server was shut down".to_owned();
                server.send(Response::new_err(request.id, ErrorCode::InvalidRequest as i32, message).into());
            }
            Some(Message::Request(request)) => {
                // The notification to exit, which follows, may be in the queue already.
                if request.method == "shutdown" {
                    server.evidence.remove();
                    server.send(Response::new_ok(request.id, ()).into());
                    end = End::Clean;
                } else {
                    answer(&mut server, request);
                }
            }
            Some(Message::Notification(notification)) if notification.method == "exit" => {
                server.evidence.remove();
                return Ok(end);
            }
            Some(Message::Notification(notification)) => note(&mut server, notification),
            Some(Message::Response(answer)) => server.hear_answer(&answer),
            None => {}
        }
    }
}

fn hear(server: &mut Server, news: News) {
    match news {
        News::State => server.check_soon(Walk::Not),
        News::Sessions => server.notify("rulebook/sessionsChanged", Value::Null),
    }
}

/// Whether a message can be handled now: requests wait for the first check.
fn is_ready(server: &Server, message: &Message) -> bool {
    !server.is_starting() || !matches!(message, Message::Request(request) if request.method != "shutdown")
}

/// Answers cancelled requests that were not handled yet.
fn cancel(server: &Server, queue: &mut VecDeque<Message>) {
    let cancelled = |message: &Message| match message {
        Message::Notification(Notification { method, params }) if method == "$/cancelRequest" => {
            serde_json::from_value::<RequestId>(params["id"].clone()).ok()
        }
        _ => None,
    };
    let ids: Vec<RequestId> = queue.iter().filter_map(cancelled).collect();
    queue.retain(|message| match message {
        Message::Request(request) if ids.contains(&request.id) => {
            let code = ErrorCode::RequestCanceled as i32;
            server.send(Response::new_err(request.id.clone(), code, "cancelled".to_owned()).into());
            false
        }
        message => cancelled(message).is_none(),
    });
}

pub(super) fn answer(server: &mut Server, request: Request) {
    let Request { id, method, params } = request;
    if method == "initialize" {
        let message = "`initialize` was answered before".to_owned();
        server.send(Response::new_err(id, ErrorCode::InvalidRequest as i32, message).into());
        return;
    }
    let response = match requests::answer(server, &method, params) {
        Some(Ok(answer)) => Response::new_ok(id, answer),
        Some(Err(error)) => {
            let is_unreadable = error.is::<BadParams>();
            let code = if is_unreadable { ErrorCode::InvalidParams } else { ErrorCode::RequestFailed };
            Response::new_err(id, code as i32, format!("{error:#}"))
        }
        None => {
            let message = format!("`{method}` is not supported");
            Response::new_err(id, ErrorCode::MethodNotFound as i32, message)
        }
    };
    server.send(response.into());
}

pub(super) fn note(server: &mut Server, notification: Notification) {
    let Notification { method, params } = notification;
    if let Err(error) = requests::note(server, &method, params) {
        server.notify("window/logMessage", json!({ "type": 2, "message": format!("{method}: {error:#}") }));
    }
}
