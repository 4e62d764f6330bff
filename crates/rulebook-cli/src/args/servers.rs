//! Arguments of the commands that keep running.

#[cfg(any(feature = "acp", feature = "proxy"))]
use std::ffi::OsString;
#[cfg(feature = "proxy")]
use std::{net::SocketAddr, path::PathBuf};

use clap::Args as ClapArgs;
#[cfg(any(feature = "acp", feature = "proxy"))]
use clap::ValueHint;

#[derive(Debug, ClapArgs)]
pub(crate) struct Watch {
    /// Only this session; `rulebook sessions` lists the ids
    #[arg(value_name = "SESSION")]
    pub(crate) session: Option<String>,

    /// Start with the events so far
    #[arg(long)]
    pub(crate) past: bool,
}

#[cfg(feature = "lsp")]
#[derive(Debug, ClapArgs)]
pub(crate) struct Lsp {
    /// Accepted because editors add it; has no effect
    #[arg(long)]
    pub(crate) stdio: bool,
}

#[cfg(feature = "ui")]
#[derive(Debug, ClapArgs)]
pub(crate) struct Ui {
    /// Open the page in the browser
    #[arg(long)]
    pub(crate) open: bool,

    /// The port on the loopback address [default: a free one]
    #[arg(long, value_name = "PORT", default_value_t = 0, hide_default_value = true, value_parser = port)]
    pub(crate) port: u16,
}

/// Reads the number of a port.
#[cfg(feature = "ui")]
fn port(word: &str) -> Result<u16, String> {
    word.parse().map_err(|_| "must be a number from 0 to 65535".to_owned())
}

#[cfg(feature = "acp")]
#[derive(Debug, ClapArgs)]
pub(crate) struct Acp {
    /// The agent to run, with the arguments that make it speak ACP
    #[arg(last = true, required = true, value_name = "AGENT", value_hint = ValueHint::CommandWithArguments)]
    pub(crate) command: Vec<OsString>,
}

#[cfg(feature = "proxy")]
#[derive(Debug, ClapArgs)]
pub(crate) struct Proxy {
    /// The address to listen on [default: a free port on the loopback address, which is printed]
    #[arg(long, value_name = "ADDRESS", value_parser = address)]
    pub(crate) listen: Option<SocketAddr>,

    /// The model's server, for all APIs or, as `NAME=URL`, for one; can be given several times [default: the providers' servers]
    #[arg(long, value_name = "URL")]
    pub(crate) upstream: Vec<String>,

    /// Allow an address that other machines can reach; requires a token
    #[arg(long, requires = "token")]
    pub(crate) allow_remote: bool,

    /// A secret that clients append to the address, `http://HOST:PORT/TOKEN`, or send in the header `x-rulebook-token`
    #[arg(long, value_name = "TOKEN", env = "RULEBOOK_PROXY_TOKEN", hide_env_values = true)]
    pub(crate) token: Option<String>,

    /// Write requests and responses into a folder, without secrets; `rulebook stream` reads the responses
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub(crate) record: Option<PathBuf>,

    /// Block what the proxy cannot read or watch, instead of passing it on
    #[arg(long)]
    pub(crate) fail_closed: bool,

    /// Run this command with its base URLs set to the proxy; the proxy stops when the command ends
    #[arg(last = true, value_name = "COMMAND", value_hint = ValueHint::CommandWithArguments)]
    pub(crate) command: Vec<OsString>,
}

/// Reads an address to listen on: `8093`, `:8093`, `localhost:8093`, `127.0.0.1:8093`. A port alone is on the loopback
/// address.
#[cfg(feature = "proxy")]
fn address(text: &str) -> Result<SocketAddr, String> {
    let text = text.trim().trim_start_matches("http://").trim_end_matches('/');
    let (host, port) = text.rsplit_once(':').unwrap_or(("", text));
    let local = matches!(host, "" | "localhost").then(|| port.parse::<u16>().ok()).flatten();
    match local {
        Some(port) => Ok(SocketAddr::from(([127, 0, 0, 1], port))),
        None => text.parse().map_err(|_| {
            "write a port or an address with a port, such as `8093` or `127.0.0.1:8093`".to_owned()
        }),
    }
}

#[cfg(all(test, feature = "proxy"))]
mod tests {
    use super::*;

    #[test]
    fn a_port_alone_is_on_the_loopback_address() {
        #[track_caller]
        fn check(text: &str, want: Option<&str>) {
            assert_eq!(address(text).ok().map(|found| found.to_string()).as_deref(), want, "{text}");
        }
        check("8093", Some("127.0.0.1:8093"));
        check(":8093", Some("127.0.0.1:8093"));
        check("localhost:8097", Some("127.0.0.1:8097"));
        check("http://127.0.0.1:1/", Some("127.0.0.1:1"));
        check("0.0.0.0:1", Some("0.0.0.0:1"));
        check("[::1]:1", Some("[::1]:1"));
        check("99999", None);
        check("example.com:80", None);
        check("localhost", None);
    }
}
