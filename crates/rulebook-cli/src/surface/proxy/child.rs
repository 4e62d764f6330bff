//! Runs a program that uses the proxy, through the variables and arguments it understands.

use std::ffi::{OsStr, OsString};
use std::process::ExitCode;
use std::sync::Arc;

use anyhow::{Context as _, anyhow};
use rulebook::evidence::json as lenient;
use serde_json::{Value, json};
use tokio::net::TcpListener;
use tokio::process::Command;
use tokio::sync::oneshot;

use super::own_servers::{OwnServer, Place, program_name};
use super::server;
use super::shared::Proxy;
use super::upstream::ROUTE;
use crate::surface::wire::WIRES;

/// Returns the address of one of the program's own servers.
fn route(base: &str, number: usize) -> String {
    format!("{base}{ROUTE}{number}")
}

/// Returns the arguments before a program's own.
fn arguments(base: &str, program: &OsStr, own: &[OwnServer]) -> Vec<String> {
    if program_name(program) != "codex" {
        return Vec::new();
    }
    let keys = own.iter().enumerate().filter_map(|(number, server)| match &server.place {
        Place::Codex(key) => Some(format!("{key}=\"{}\"", route(base, number))),
        _ => None,
    });
    let mut settings: Vec<String> = keys.collect();
    if settings.is_empty() {
        settings.push(format!("openai_base_url=\"{base}/v1\""));
    }
    settings.into_iter().flat_map(|setting| ["-c".to_owned(), setting]).collect()
}

/// Returns the variables for a program.
fn variables(
    base: &str,
    program: &OsStr,
    own: &[OwnServer],
    known: impl Fn(&str) -> Option<String>,
) -> Vec<(&'static str, String)> {
    let always =
        WIRES.iter().flat_map(|wire| wire.variables).map(|(name, below)| (*name, format!("{base}{below}")));
    let others = own.iter().enumerate().filter_map(|(number, server)| match server.place {
        Place::Variable(name) => Some((name, route(base, number))),
        _ => None,
    });
    let mut variables: Vec<(&'static str, String)> = always.chain(others).collect();
    if program_name(program) == "opencode" {
        const NAME: &str = "OPENCODE_CONFIG_CONTENT";
        let written = known(NAME).map_or(Some(json!({})), |text| lenient::read(text.as_bytes()).ok());
        // Settings that cannot be read stay as they are.
        variables.extend(
            written.filter(Value::is_object).map(|content| (NAME, opencode(base, own, content).to_string())),
        );
    }
    variables
}

/// Returns opencode's settings with the addresses of the proxy.
fn opencode(base: &str, own: &[OwnServer], mut content: Value) -> Value {
    let usual = [("anthropic", "/v1"), ("openai", "/v1"), ("google", "/v1beta")];
    for (name, below) in usual {
        content["provider"][name]["options"]["baseURL"] = json!(format!("{base}{below}"));
    }
    for (number, server) in own.iter().enumerate() {
        if let Place::Opencode(name) = &server.place {
            content["provider"][name.as_str()]["options"]["baseURL"] = json!(route(base, number));
        }
    }
    content
}

/// Runs a program until it ends, and returns its exit code.
pub(super) async fn run(
    proxy: &Arc<Proxy>,
    listener: TcpListener,
    base: &str,
    command: &[OsString],
) -> anyhow::Result<ExitCode> {
    let (program, args) = command.split_first().context("name a program after `--`")?;
    let mut child = Command::new(program)
        .args(arguments(base, program, &proxy.own_servers))
        .args(args)
        .envs(variables(base, program, &proxy.own_servers, |name| std::env::var(name).ok()))
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
    if proxy.metrics.requests.is_zero() {
        let name = program_name(program);
        crate::out::print_aside(&format!(
            "rulebook: `{name}` sent no requests through the proxy, so no rules were added; set its base URL to the address of `rulebook proxy --listen`\n"
        ));
    }
    let code = waiting.await??.code().and_then(|code| u8::try_from(code).ok());
    Ok(code.map_or(ExitCode::FAILURE, ExitCode::from))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn own(place: Place) -> Vec<OwnServer> {
        vec![OwnServer { place, url: "https://x/v1/".to_owned() }]
    }

    #[test]
    fn a_program_gets_the_variables_of_every_wire_and_the_route_to_its_own_server() {
        let own = own(Place::Variable("COPILOT_PROVIDER_BASE_URL"));
        let set = variables("http://h", OsStr::new("copilot"), &own, |_| None);
        let set: Vec<String> = set.into_iter().map(|(name, value)| format!("{name}={value}")).collect();
        assert_eq!(
            set,
            [
                "ANTHROPIC_BASE_URL=http://h",
                "ANTHROPIC_HOST=http://h",
                "OPENAI_BASE_URL=http://h/v1",
                "OPENAI_API_BASE=http://h/v1",
                "OPENAI_HOST=http://h",
                "GOOGLE_GEMINI_BASE_URL=http://h",
                "COPILOT_PROVIDER_BASE_URL=http://h/__rulebook/to/0",
            ]
        );
    }

    #[test]
    fn a_program_that_ignores_the_variables_gets_its_own_settings() {
        let codex = OsStr::new("/usr/bin/codex");
        assert_eq!(arguments("http://h", codex, &[]), ["-c", "openai_base_url=\"http://h/v1\""]);
        let chosen = own(Place::Codex("model_providers.x.base_url".to_owned()));
        let wanted = ["-c", "model_providers.x.base_url=\"http://h/__rulebook/to/0\""];
        assert_eq!(arguments("http://h", codex, &chosen), wanted);
        assert!(arguments("http://h", OsStr::new("claude"), &[]).is_empty());
        let config = |set: Option<&str>| {
            let own = own(Place::Opencode("mine".to_owned()));
            let set = variables("http://h", OsStr::new("opencode"), &own, |_| set.map(str::to_owned));
            set.into_iter().find(|(name, _)| *name == "OPENCODE_CONFIG_CONTENT").map(|(_, value)| value)
        };
        for part in [
            r#""google":{"options":{"baseURL":"http://h/v1beta"}}"#,
            r#""mine":{"options":{"baseURL":"http://h/__rulebook/to/0"}}"#,
        ] {
            assert!(config(None).unwrap().contains(part), "{part}");
            let both = config(Some(r#"{"theme":"x"}"#)).unwrap();
            assert!(both.contains(part) && both.contains("theme"), "{part}");
        }
        assert_eq!(config(Some("{ broken")), None);
    }
}
