//! The `rulebook` command.

fn main() -> std::process::ExitCode {
    rulebook_cli::run(std::env::args_os())
}
