//! A program that is run behind the server, and told of it by the variables it knows.

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

/// Variables of clients that are set only where the client is set up to use them: else they would change what it does.
const WHERE_SET: &[(&str, &str)] = &[("COPILOT_PROVIDER_BASE_URL", "/v1")];

/// A program that heeds no variable of a provider, and how it is told.
struct Other {
    program: &'static str,
    /// Words before its own.
    words: fn(&str) -> Vec<String>,
    /// Variables, where nothing is said in them.
    variables: fn(&str) -> Vec<(&'static str, String)>,
}

const OTHERS: &[Other] = &[
    Other {
        program: "codex",
        words: |base| vec!["-c".to_owned(), format!("openai_base_url=\"{base}/v1\"")],
        variables: |_| Vec::new(),
    },
    Other {
        program: "opencode",
        words: |_| Vec::new(),
        variables: |base| {
            let at = |below: &str| json!({ "options": { "baseURL": format!("{base}{below}") } });
            let all = json!({ "anthropic": at("/v1"), "openai": at("/v1"), "google": at("/v1beta") });
            vec![("OPENCODE_CONFIG_CONTENT", json!({ "provider": all }).to_string())]
        },
    },
];

/// How a program is told that has a way of its own.
fn other(program: &OsStr) -> Option<&'static Other> {
    let name = Path::new(program).file_stem()?;
    OTHERS.iter().find(|other| name == other.program)
}

/// What a program is told.
fn variables(
    base: &str,
    own: Option<&Other>,
    is_set: impl Fn(&str) -> Option<String>,
) -> Vec<(&'static str, String)> {
    let always =
        WIRES.iter().flat_map(|wire| wire.variables).map(|(name, below)| (*name, format!("{base}{below}")));
    let others = WHERE_SET.iter().filter_map(|(name, below)| {
        let known = is_set(name)?;
        let below = if known.trim_end_matches('/').ends_with(below) { below } else { "" };
        Some((*name, format!("{base}{below}")))
    });
    let own = own.map(|own| (own.variables)(base)).unwrap_or_default();
    let own = own.into_iter().filter(|(name, _)| is_set(name).is_none());
    always.chain(others).chain(own).collect()
}

/// Runs a program until it ends; its end is ours.
pub(super) async fn run(
    proxy: &Arc<Proxy>,
    listener: TcpListener,
    base: &str,
    command: &[OsString],
) -> anyhow::Result<ExitCode> {
    let (program, args) = command.split_first().context("name a program behind `--`")?;
    let own = other(program);
    let mut child = Command::new(program)
        .args(own.map(|own| (own.words)(base)).unwrap_or_default())
        .args(args)
        .envs(variables(base, own, |name| std::env::var(name).ok()))
        .spawn()
        .map_err(|error| {
            anyhow!("name a program that is on your `PATH` behind `--`")
                .context(format!("`{}` cannot be run: {error}", program.to_string_lossy()))
        })?;
    let (ended, stop) = oneshot::channel();
    let waiting = tokio::spawn(async move {
        let status = loop {
            tokio::select! {
                status = child.wait() => break status,
                // A terminal asks the program too, which decides for itself.
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
    fn a_program_is_told_of_every_wire_and_of_its_own_where_it_uses_it() {
        let told = variables("http://h", None, |name| {
            (name == "COPILOT_PROVIDER_BASE_URL").then(|| "https://x/v1/".to_owned())
        });
        let told: Vec<String> = told.into_iter().map(|(name, value)| format!("{name}={value}")).collect();
        assert_eq!(
            told,
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
    fn a_program_that_heeds_no_variable_is_told_its_own_way() {
        let codex = other(OsStr::new("/usr/bin/codex")).unwrap();
        assert_eq!((codex.words)("http://h"), ["-c", "openai_base_url=\"http://h/v1\""]);
        let opencode = other(OsStr::new("opencode"));
        let told = |is_set: bool| {
            let told = variables("http://h", opencode, |_| is_set.then(|| "{}".to_owned()));
            told.into_iter().find(|(name, _)| *name == "OPENCODE_CONFIG_CONTENT").map(|(_, value)| value)
        };
        assert!(told(false).unwrap().contains(r#""google":{"options":{"baseURL":"http://h/v1beta"}}"#));
        assert_eq!(told(true), None);
        assert!(other(OsStr::new("claude")).is_none());
    }
}
