//! Runs a program that uses the proxy, through the variables and arguments it understands.

use std::ffi::{OsStr, OsString};
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;

use anyhow::{Context as _, anyhow};
use serde_json::json;
use tokio::net::TcpListener;
use tokio::process::Command;
use tokio::sync::oneshot;

use super::server;
use super::shared::Proxy;
use crate::surface::wire::WIRES;

/// Variables that are set only if they were set before: otherwise they would change what the client does.
const IF_SET: &[(&str, &str)] = &[("COPILOT_PROVIDER_BASE_URL", "/v1")];

/// A program that ignores the variables of providers, and how it gets the address.
struct Program {
    name: &'static str,
    /// Arguments before its own.
    args: fn(&str) -> Vec<String>,
    /// Variables, unless they are set already.
    variables: fn(&str) -> Vec<(&'static str, String)>,
}

const PROGRAMS: &[Program] = &[
    Program {
        name: "codex",
        args: |base| vec!["-c".to_owned(), format!("openai_base_url=\"{base}/v1\"")],
        variables: |_| Vec::new(),
    },
    Program {
        name: "opencode",
        args: |_| Vec::new(),
        variables: |base| {
            let at = |below: &str| json!({ "options": { "baseURL": format!("{base}{below}") } });
            let all = json!({ "anthropic": at("/v1"), "openai": at("/v1"), "google": at("/v1beta") });
            vec![("OPENCODE_CONFIG_CONTENT", json!({ "provider": all }).to_string())]
        },
    },
];

/// Returns the row of a program that needs its own arguments or variables.
fn known(program: &OsStr) -> Option<&'static Program> {
    let name = Path::new(program).file_stem()?;
    PROGRAMS.iter().find(|known| name == known.name)
}

/// Returns the variables for a program.
fn variables(
    base: &str,
    own: Option<&Program>,
    is_set: impl Fn(&str) -> Option<String>,
) -> Vec<(&'static str, String)> {
    let always =
        WIRES.iter().flat_map(|wire| wire.variables).map(|(name, below)| (*name, format!("{base}{below}")));
    let others = IF_SET.iter().filter_map(|(name, below)| {
        let known = is_set(name)?;
        let below = if known.trim_end_matches('/').ends_with(below) { below } else { "" };
        Some((*name, format!("{base}{below}")))
    });
    let own = own.map(|own| (own.variables)(base)).unwrap_or_default();
    let own = own.into_iter().filter(|(name, _)| is_set(name).is_none());
    always.chain(others).chain(own).collect()
}

/// Runs a program until it ends, and returns its exit code.
pub(super) async fn run(
    proxy: &Arc<Proxy>,
    listener: TcpListener,
    base: &str,
    command: &[OsString],
) -> anyhow::Result<ExitCode> {
    let (program, args) = command.split_first().context("name a program after `--`")?;
    let own = known(program);
    let mut child = Command::new(program)
        .args(own.map(|own| (own.args)(base)).unwrap_or_default())
        .args(args)
        .envs(variables(base, own, |name| std::env::var(name).ok()))
        .spawn()
        .map_err(|error| {
            anyhow!("name a program on your `PATH` after `--`")
                .context(format!("`{}` cannot be run: {error}", program.to_string_lossy()))
        })?;
    let (ended, stop) = oneshot::channel();
    let waiting = tokio::spawn(async move {
        let status = loop {
            tokio::select! {
                status = child.wait() => break status,
                // A terminal signals the program too, and the program decides.
                () = server::stopped() => {}
            }
        };
        let _ = ended.send(());
        status
    });
    let stopped = async { drop(stop.await) };
    server::serve(proxy, listener, stopped).await;
    let code = waiting.await??.code().and_then(|code| u8::try_from(code).ok());
    Ok(code.map_or(ExitCode::FAILURE, ExitCode::from))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_gets_the_variables_of_every_wire_and_its_own_if_they_were_set() {
        let set = variables("http://h", None, |name| {
            (name == "COPILOT_PROVIDER_BASE_URL").then(|| "https://x/v1/".to_owned())
        });
        let set: Vec<String> = set.into_iter().map(|(name, value)| format!("{name}={value}")).collect();
        assert_eq!(
            set,
            [
                "ANTHROPIC_BASE_URL=http://h",
                "OPENAI_BASE_URL=http://h/v1",
                "OPENAI_API_BASE=http://h/v1",
                "GOOGLE_GEMINI_BASE_URL=http://h",
                "COPILOT_PROVIDER_BASE_URL=http://h/v1",
            ]
        );
    }

    #[test]
    fn a_program_that_ignores_the_variables_gets_its_own() {
        let codex = known(OsStr::new("/usr/bin/codex")).unwrap();
        assert_eq!((codex.args)("http://h"), ["-c", "openai_base_url=\"http://h/v1\""]);
        let opencode = known(OsStr::new("opencode"));
        let config = |is_set: bool| {
            let set = variables("http://h", opencode, |_| is_set.then(|| "{}".to_owned()));
            set.into_iter().find(|(name, _)| *name == "OPENCODE_CONFIG_CONTENT").map(|(_, value)| value)
        };
        assert!(config(false).unwrap().contains(r#""google":{"options":{"baseURL":"http://h/v1beta"}}"#));
        assert_eq!(config(true), None);
        assert!(known(OsStr::new("claude")).is_none());
    }
}
