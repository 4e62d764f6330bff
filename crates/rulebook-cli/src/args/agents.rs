//! Arguments that name an agent: the same names and aliases in every command.

use std::ffi::OsStr;
use std::fmt::Display;

use clap::builder::{PossibleValue, TypedValueParser};
use clap::error::ErrorKind;
use clap::{Arg, Args as ClapArgs, Command, Error};
use rulebook::agent::{Agent, NamedAgent, Purpose, UnknownAgent};
use rulebook_workspace::Viewpoint;
use rulebook_workspace::hosts::{HOSTS, Host};

#[derive(Debug, Default, ClapArgs)]
pub(crate) struct View {
    /// Show what this agent gets: what it reads and what Rulebook adds; `any`: rules as their headers say
    #[arg(id = "for", long, value_name = "AGENT", value_parser = ForParser, hide_possible_values = true)]
    for_agent: Option<Viewpoint>,

    /// Show what this agent does by itself, without Rulebook
    #[arg(id = "as", long, value_name = "AGENT", value_parser = NamedParser, hide_possible_values = true, conflicts_with = "for")]
    as_agent: Option<NamedAgent>,
}

impl View {
    pub(crate) fn point(&self) -> Viewpoint {
        self.for_agent.or(self.as_agent.map(Viewpoint::As)).unwrap_or_default()
    }
}

/// Parses the name of an agent, or `any`.
#[derive(Clone, Copy)]
pub(super) struct ForParser;

/// Parses the name of an agent, and keeps whether it is that of a product.
#[derive(Clone, Copy)]
struct NamedParser;

/// Parses the name of an agent.
#[derive(Clone, Copy)]
pub(super) struct AsParser;

/// Parses the name of a host.
#[derive(Clone, Copy)]
pub(super) struct HostParser;

/// Parses the name of a host, and lists those that run hooks.
#[derive(Clone, Copy)]
pub(super) struct HookParser;

impl TypedValueParser for ForParser {
    type Value = Viewpoint;

    fn parse_ref(&self, command: &Command, _: Option<&Arg>, value: &OsStr) -> Result<Viewpoint, Error> {
        let name = value.to_string_lossy();
        if name == "any" {
            return Ok(Viewpoint::Any);
        }
        let found = Agent::find(&name, Purpose::View);
        found.map(Viewpoint::For).map_err(|unknown| unknown_agent(&unknown, command))
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        Some(Box::new(Agent::names().chain(["any"]).map(PossibleValue::new)))
    }
}

impl TypedValueParser for NamedParser {
    type Value = NamedAgent;

    fn parse_ref(&self, command: &Command, _: Option<&Arg>, value: &OsStr) -> Result<NamedAgent, Error> {
        let found = Agent::find(&value.to_string_lossy(), Purpose::View);
        found.map_err(|unknown| unknown_agent(&unknown, command))
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        Some(Box::new(Agent::names().map(PossibleValue::new)))
    }
}

impl TypedValueParser for AsParser {
    type Value = &'static Agent;

    fn parse_ref(
        &self,
        command: &Command,
        arg: Option<&Arg>,
        value: &OsStr,
    ) -> Result<&'static Agent, Error> {
        NamedParser.parse_ref(command, arg, value).map(|named| named.agent)
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        Some(Box::new(Agent::names().map(PossibleValue::new)))
    }
}

impl TypedValueParser for HostParser {
    type Value = &'static Host;

    fn parse_ref(&self, command: &Command, _: Option<&Arg>, value: &OsStr) -> Result<&'static Host, Error> {
        let found = Agent::find(&value.to_string_lossy(), Purpose::Connect);
        let agent = found.map_err(|unknown| unknown_agent(&unknown, command))?.agent;
        Host::of(agent).ok_or_else(|| {
            let names: Vec<&str> = HOSTS.iter().map(|host| host.name).collect();
            let (title, name) = (agent.title, agent.name);
            let (message, help) = match command.get_name() {
                "uninstall" => (
                    format!("`rulebook install` never wires {title} (`{name}`), so there is nothing to remove"),
                    String::new(),
                ),
                _ => (
                    format!("`rulebook install` cannot wire {title} (`{name}`)"),
                    format!(
                        "add the MCP server `rulebook mcp` to {title}'s settings, or run {title} through `rulebook proxy`; "
                    ),
                ),
            };
            error(message, &format!("{help}agents that can be wired: {}", names.join(", ")), command)
        })
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        Some(Box::new(HOSTS.iter().map(|host| PossibleValue::new(host.name))))
    }
}

impl TypedValueParser for HookParser {
    type Value = &'static Host;

    fn parse_ref(&self, command: &Command, arg: Option<&Arg>, value: &OsStr) -> Result<&'static Host, Error> {
        HostParser.parse_ref(command, arg, value)
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        let hosts = HOSTS.iter().filter(|host| host.runs_hooks());
        Some(Box::new(hosts.map(|host| PossibleValue::new(host.name))))
    }
}

fn unknown_agent(unknown: &UnknownAgent, command: &Command) -> Error {
    error(unknown, &unknown.help(), command)
}

fn error(message: impl Display, help: &str, command: &Command) -> Error {
    Error::raw(ErrorKind::ValueValidation, format!("{message}\n  help: {help}\n")).with_cmd(command)
}
