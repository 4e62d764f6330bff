//! The `rulebook` command as a library: arguments → surface → exit code.
//!
//! The binary calls [`run`]. The API that other programs use is in `rulebook` and `rulebook-workspace`.

mod alert;
mod args;
mod code;
mod diff;
mod input;
mod json;
#[cfg(any(feature = "acp", feature = "lsp", feature = "mcp", feature = "proxy", feature = "ui"))]
mod lock;
mod out;
#[cfg(any(feature = "lsp", feature = "mcp", feature = "proxy", feature = "ui"))]
mod pace;
mod surface;

use std::ffi::OsString;
use std::path::Path;
use std::process::ExitCode;

use serde_json::Value;

/// Runs the command line, program name first, and returns its exit code.
pub fn run(args: impl IntoIterator<Item = OsString>) -> ExitCode {
    let args: Vec<OsString> = args.into_iter().collect();
    if surface::completions::answer(&args) {
        return ExitCode::SUCCESS;
    }
    let args = args::parse(args, surface::hook::say_nothing);
    match surface::run(&args) {
        Ok(code) => code,
        Err(error) if is_broken_pipe(&error) => ExitCode::SUCCESS,
        Err(error) if args.json => {
            let causes: Vec<String> = error.chain().skip(1).map(ToString::to_string).collect();
            out::print_error_json(&error.to_string(), &causes.join("; "));
            ExitCode::from(2)
        }
        Err(error) => {
            out::print_error(&error);
            ExitCode::from(2)
        }
    }
}

/// Answers one hook event as `rulebook hook HOST` does; `None` where the host needs no answer or is unknown. Without a root,
/// the event names the folder. Nothing is printed.
///
/// # Errors
///
/// Fails if the event is not JSON or the workspace cannot be opened.
pub fn answer_hook(root: Option<&Path>, host: &str, event: &[u8]) -> anyhow::Result<Option<Value>> {
    let Some(host) = surface::hook::Host::named(host) else { return Ok(None) };
    let root = root.map(Path::to_owned).into_iter().collect();
    let args = args::Args { root, set: Vec::new(), json: false, command: None };
    surface::hook::reply(&args, host, event, surface::hook::Caller::Library)
}

#[cfg(feature = "fuzzing")]
pub use surface::fuzzing;

/// A reader that closed the pipe has read all it wanted.
fn is_broken_pipe(error: &anyhow::Error) -> bool {
    error.chain().any(|cause| {
        cause
            .downcast_ref::<std::io::Error>()
            .is_some_and(|error| error.kind() == std::io::ErrorKind::BrokenPipe)
    })
}
