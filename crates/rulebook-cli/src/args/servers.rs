//! What is asked of what goes on running.

use std::ffi::OsString;
use std::net::SocketAddr;
use std::path::PathBuf;

use clap::{Args as ClapArgs, ValueHint};

// Which sessions are followed.
#[derive(Debug, ClapArgs)]
pub(crate) struct Watch {
    /// Only this session, as `rulebook sessions` lists it
    #[arg(value_name = "SESSION")]
    pub(crate) session: Option<String>,

    /// Begin with what was told before
    #[arg(long)]
    pub(crate) past: bool,
}

// How the page is served.
#[derive(Debug, ClapArgs)]
pub(crate) struct Ui {
    /// Open it in the browser
    #[arg(long)]
    pub(crate) open: bool,

    /// The port on the loopback address; default: one that is free
    #[arg(long, value_name = "PORT", default_value_t = 0, hide_default_value = true)]
    pub(crate) port: u16,
}

#[derive(Debug, ClapArgs)]
pub(crate) struct Proxy {
    /// Where to listen; default: this machine alone, on a free port that is printed
    #[arg(long, value_name = "ADDRESS")]
    pub(crate) listen: Option<SocketAddr>,

    /// The model's server, for every wire or, as `NAME=URL`, for one; may be given several times. Default: the providers' own
    #[arg(long, value_name = "URL")]
    pub(crate) upstream: Vec<String>,

    /// Listen where other machines reach it; needs a token
    #[arg(long, requires = "token")]
    pub(crate) allow_remote: bool,

    /// A secret that clients put behind the address, `http://HOST:PORT/TOKEN`, or into the header `x-rulebook-token`
    #[arg(long, value_name = "TOKEN", env = "RULEBOOK_PROXY_TOKEN", hide_env_values = true)]
    pub(crate) token: Option<String>,

    /// Write requests and answers into a folder, without secrets; `rulebook stream` reads the answers
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub(crate) record: Option<PathBuf>,

    /// When something fails here, let nothing pass that is not watched
    #[arg(long)]
    pub(crate) fail_closed: bool,

    /// A program to run, told of the server by its variables; the server ends with it
    #[arg(last = true, value_name = "COMMAND", value_hint = ValueHint::CommandWithArguments)]
    pub(crate) command: Vec<OsString>,
}
