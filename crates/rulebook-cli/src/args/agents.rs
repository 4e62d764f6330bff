//! Arguments that name an agent: the same names and aliases in every command.

use std::ffi::OsStr;
use std::fmt::Display;

use clap::builder::{PossibleValue, TypedValueParser};
use clap::error::ErrorKind;
use clap::{Arg, Args as ClapArgs, Command, Error};
use rulebook::agent::{Agent, Purpose, UnknownAgent};
use rulebook_workspace::hosts;

use crate::host::HostId;

#[derive(Debug, Default, ClapArgs)]
pub(crate) struct View {
    /// Show what this agent does by itself: the files it reads, its globs, its errors
    #[arg(id = "as", long, value_name = "AGENT", value_parser = AsParser, hide_possible_values = true)]
    as_agent: Option<&'static Agent>,
}

impl View {
    pub(crate) fn agent(&self) -> Option<&'static Agent> {
        self.as_agent
    }
}

/// Parses the name of an agent.
#[derive(Clone, Copy)]
pub(super) struct AsParser;

/// Parses the name of a host.
#[derive(Clone, Copy)]
pub(super) struct HostParser;

impl TypedValueParser for AsParser {
    type Value = &'static Agent;

    fn parse_ref(&self, command: &Command, _: Option<&Arg>, value: &OsStr) -> Result<&'static Agent, Error> {
        let found = Agent::find(&value.to_string_lossy(), Purpose::View);
        found.map(|found| found.agent).map_err(|unknown| unknown_agent(&unknown, command))
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        Some(Box::new(Agent::names().map(PossibleValue::new)))
    }
}

impl TypedValueParser for HostParser {
    type Value = HostId;

    fn parse_ref(&self, command: &Command, _: Option<&Arg>, value: &OsStr) -> Result<HostId, Error> {
        let found = Agent::find(&value.to_string_lossy(), Purpose::Connect);
        let agent = found.map_err(|unknown| unknown_agent(&unknown, command))?.agent;
        hosts::Host::of(agent).and_then(|row| HostId::named(row.name)).ok_or_else(|| {
            let names: Vec<&str> = HostId::NAMES.iter().map(|(name, _)| *name).collect();
            let message = format!("Rulebook cannot be wired into {} (`{}`)", agent.title, agent.name);
            error(message, &format!("hosts are {}", names.join(", ")), command)
        })
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        Some(Box::new(HostId::NAMES.iter().map(|(name, _)| PossibleValue::new(*name))))
    }
}

fn unknown_agent(unknown: &UnknownAgent, command: &Command) -> Error {
    error(unknown, &unknown.help(), command)
}

fn error(message: impl Display, help: &str, command: &Command) -> Error {
    Error::raw(ErrorKind::ValueValidation, format!("{message}\n  help: {help}\n")).with_cmd(command)
}
