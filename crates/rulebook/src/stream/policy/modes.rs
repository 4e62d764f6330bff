//! The modes of a stream rule: when it interrupts, whether the output is kept, when it may fire again.

use serde::{Deserialize, Serialize};

use crate::words::words;

words! {
    /// Which matches stop the output. The others are delivered after the turn.
    #[derive(Default)]
    InterruptMode {
        /// Every match.
        #[default]
        Always = "always",
        /// A match in text or thinking.
        ProseOnly = "prose-only",
        /// A match in a tool call.
        ToolOnly = "tool-only",
        /// No match.
        Never = "never",
    }
}

words! {
    /// Whether stopped output is kept. The later variant wins where rules differ.
    #[derive(Default)]
    ContextMode {
        /// It stays in the conversation.
        Keep = "keep",
        /// It is removed before the retry.
        #[default]
        Discard = "discard",
    }
}

words! {
    /// When a rule that was delivered may fire again in a later turn.
    #[derive(Default)]
    RepeatMode {
        /// When the delivered text left the model's context.
        #[default]
        Once = "once",
        /// When enough turns were completed since.
        AfterGap = "after-gap",
    }
}

words! {
    /// The part of the output a match is in.
    #[derive(Default)]
    OutputSource {
        /// The answer's text.
        #[default]
        Text = "text",
        /// The model's thinking.
        Thinking = "thinking",
        /// The arguments of a tool call.
        Tool = "tool",
    }
}

/// How a rule acts on a match.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(default)]
pub struct StreamModes {
    /// Which matches stop the output.
    #[serde(rename = "interruptMode")]
    pub interrupt: InterruptMode,
    /// Whether the stopped output is kept.
    #[serde(rename = "contextMode")]
    pub context: ContextMode,
    /// When the rule may fire again.
    #[serde(rename = "repeatMode")]
    pub repeat: RepeatMode,
    /// For `after-gap`: how many turns must be completed after the delivery. The turn of the delivery counts once it is
    /// completed.
    #[serde(rename = "repeatGap")]
    pub gap: u32,
}

impl Default for StreamModes {
    fn default() -> StreamModes {
        StreamModes {
            interrupt: InterruptMode::default(),
            context: ContextMode::default(),
            repeat: RepeatMode::default(),
            gap: 10,
        }
    }
}

impl InterruptMode {
    /// Whether a match in that part of the output stops it.
    pub fn covers(self, source: OutputSource) -> bool {
        match self {
            InterruptMode::Always => true,
            InterruptMode::ProseOnly => source != OutputSource::Tool,
            InterruptMode::ToolOnly => source == OutputSource::Tool,
            InterruptMode::Never => false,
        }
    }
}
