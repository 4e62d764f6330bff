//! Hosts: what a session needs to know about the agent it is for.

use crate::evidence::{Input, ToolCall};

/// A moment of a conversation at which a host reports.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Moment {
    /// A session, or a sub-agent, starts or is resumed.
    Start,
    /// The user sent a message.
    Prompt,
    /// A tool is about to run.
    Before,
    /// A tool ran.
    After,
    /// The context is being compacted, or was.
    Compact,
    /// The agent ends its turn.
    Stop,
    /// The host loaded one of its own files.
    Load,
}

/// How a tool call touches a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Touch {
    /// It reads it.
    Read,
    /// It writes it.
    Write,
    /// It runs a shell command with it.
    Shell,
}

impl Touch {
    /// How a call touches its files.
    pub fn of(call: &ToolCall) -> Touch {
        match () {
            () if call.shell_command().is_some() => Touch::Shell,
            () if call.is_write() => Touch::Write,
            () => Touch::Read,
        }
    }

    pub(super) fn verb(self) -> &'static str {
        match self {
            Touch::Read => "reads files",
            Touch::Write => "writes files",
            Touch::Shell => "runs commands",
        }
    }
}

/// What a host takes, and what it does by itself.
#[derive(Clone, Copy, Debug)]
pub struct HostProfile<'a> {
    /// Its name, which `agent` conditions match.
    pub name: &'a str,
    /// How many characters of context it takes at once.
    pub cap: usize,
    /// The moments at which context reaches the model.
    pub context_at: &'a [Moment],
    /// Whether context before a tool reaches the model too, although `context_at` lacks it: then only rules about the call
    /// itself are delivered there.
    pub call_context: bool,
    /// Whether it takes a refusal at the end of a turn.
    pub stops: bool,
    /// Whether it asks the user about a call if it is told to.
    pub asks: bool,
    /// Whether it shows notices to the user; if not, the model is asked to pass them on.
    pub shows_notices: bool,
    /// The touches for which it does not apply its own path rules.
    pub misses: &'a [Touch],
    /// The moments whose context is lost when the session is resumed.
    pub forgets: &'a [Moment],
}

impl<'a> HostProfile<'a> {
    /// A host that takes any context at any moment, and reads nothing by itself.
    pub fn plain(name: &'a str) -> HostProfile<'a> {
        HostProfile {
            name,
            cap: usize::MAX,
            context_at: &[Moment::Start, Moment::Prompt, Moment::Before, Moment::After],
            call_context: false,
            stops: false,
            asks: false,
            shows_notices: true,
            misses: &[],
            forgets: &[],
        }
    }

    /// Whether context reaches the model at this moment.
    pub fn takes_context(&self, moment: Moment) -> bool {
        self.context_at.contains(&moment)
    }
}

/// What a host reports, and when.
#[derive(Clone, Debug)]
pub struct Report<'a> {
    /// The host.
    pub host: HostProfile<'a>,
    /// The moment.
    pub moment: Moment,
    /// What is new: the message, the tool calls, mode and model.
    pub input: Input,
    /// The files of each of these calls, relative to their root, or absolute if there are several roots.
    pub paths: Vec<Vec<String>>,
    /// The file that the host loaded by itself, as displayed, and its reason.
    pub loaded: Option<(String, String)>,
    /// Whether what was delivered before may have left the context.
    pub is_compaction: bool,
    /// Whether an earlier session is resumed.
    pub is_resume: bool,
    /// The folder in which its commands run, if it is not the first root.
    pub folder: Option<String>,
}

impl<'a> Report<'a> {
    /// A report of nothing but a moment.
    pub fn new(host: HostProfile<'a>, moment: Moment) -> Report<'a> {
        let is_compaction = moment == Moment::Compact;
        Report {
            host,
            moment,
            input: Input::default(),
            paths: Vec::new(),
            loaded: None,
            is_compaction,
            is_resume: false,
            folder: None,
        }
    }

    /// The call this is about.
    pub(super) fn call(&self) -> Option<&ToolCall> {
        self.input.tools.last()
    }

    /// Its files.
    pub(super) fn touched(&self) -> &[String] {
        self.paths.last().map_or(&[], Vec::as_slice)
    }
}
