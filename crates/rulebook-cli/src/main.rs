//! The `rulebook` command: arguments → surface → exit code.

mod args;
mod out;
mod surface;

use std::process::ExitCode;

use clap::Parser;

fn main() -> ExitCode {
    let args = args::Args::parse_from(args::hoisted(std::env::args_os()));
    match surface::run(&args) {
        Ok(code) => code,
        Err(error) if is_broken_pipe(&error) => ExitCode::SUCCESS,
        Err(error) => {
            out::complain(&error);
            ExitCode::from(2)
        }
    }
}

/// A reader that went away has what it wanted.
fn is_broken_pipe(error: &anyhow::Error) -> bool {
    error.chain().any(|cause| {
        cause
            .downcast_ref::<std::io::Error>()
            .is_some_and(|error| error.kind() == std::io::ErrorKind::BrokenPipe)
    })
}
