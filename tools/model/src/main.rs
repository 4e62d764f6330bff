//! A model that plays a script: an HTTP server on loopback that speaks what coding agents speak to theirs.
//!
//! `scripted-model --script FILE [--log FILE] [--port N]` prints its port and serves until it is ended. `README.md` beside
//! this crate says what a script holds.

#![forbid(unsafe_code)]

mod http;
mod log;
mod play;
mod script;
mod wire;

use std::net::{TcpListener, TcpStream};
use std::process::ExitCode;
use std::sync::Arc;
use std::{env, thread};

use log::Log;
use script::Script;

const USAGE: &str = "usage: scripted-model --script FILE [--log FILE] [--port N]";

/// What all connections share.
struct Model {
    script: Script,
    log: Log,
}

fn main() -> ExitCode {
    match start() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("scripted-model: {error}");
            ExitCode::from(2)
        }
    }
}

fn start() -> Result<(), String> {
    let (mut script, mut log, mut port) = (None, None, 0);
    let mut words = env::args().skip(1);
    while let Some(word) = words.next() {
        let value = words.next().ok_or(USAGE)?;
        match word.as_str() {
            "--script" => script = Some(value),
            "--log" => log = Some(value),
            "--port" => port = value.parse().map_err(|_| USAGE)?,
            _ => return Err(USAGE.to_owned()),
        }
    }
    let model = Model { script: Script::read(&script.ok_or(USAGE)?)?, log: Log::open(log.as_deref())? };
    let model = Arc::new(model);
    let listener = TcpListener::bind(("127.0.0.1", port)).map_err(|error| format!("port {port}: {error}"))?;
    println!("{}", listener.local_addr().map_err(|error| error.to_string())?.port());
    for stream in listener.incoming().flatten() {
        let model = Arc::clone(&model);
        thread::spawn(move || serve(&model, stream));
    }
    Ok(())
}

/// One connection; whatever goes wrong on it ends it alone.
fn serve(model: &Model, stream: TcpStream) {
    let _ = stream.set_nodelay(true);
    let Ok(mut connection) = http::Connection::new(stream) else { return };
    while let Ok(Some(request)) = connection.read() {
        if play::answer(model, &mut connection, &request).is_err() {
            break;
        }
    }
}
