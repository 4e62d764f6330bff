//! The modes of a stream rule: when it interrupts, what becomes of the output, when it may fire again.

use serde::{Deserialize, Serialize};

/// An enum whose variants are set by a word: the words are written once, here.
macro_rules! words {
    ($(#[$about:meta])* $name:ident { $($(#[$note:meta])* $variant:ident = $word:literal,)+ }) => {
        $(#[$about])*
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        pub enum $name { $($(#[$note])* #[serde(rename = $word)] $variant,)+ }

        impl $name {
            /// Every word it can be set with, and what it means.
            pub const NAMES: &[(&str, $name)] = &[$(($word, $name::$variant)),+];

            /// The mode a word stands for.
            pub fn named(word: &str) -> Option<$name> {
                $name::NAMES.iter().find(|(name, _)| *name == word).map(|(_, mode)| *mode)
            }

            /// The word it is set with.
            pub fn name(self) -> &'static str {
                $name::NAMES[self as usize].0
            }
        }
    };
}

words! {
    /// Which matches stop the output. The others are told after the turn.
    InterruptMode {
        /// Every match.
        #[default]
        Always = "always",
        /// A match in what the model says or thinks.
        ProseOnly = "prose-only",
        /// A match in a tool call.
        ToolOnly = "tool-only",
        /// No match.
        Never = "never",
    }
}

words! {
    /// What becomes of the output that was stopped. The later one wins where rules differ.
    ContextMode {
        /// It stays in the conversation.
        Keep = "keep",
        /// It is taken out before the retry.
        #[default]
        Discard = "discard",
    }
}

words! {
    /// When a rule that was delivered may fire again in a later turn.
    RepeatMode {
        /// When the delivered text has left the model's context.
        #[default]
        Once = "once",
        /// When enough turns have been completed since.
        AfterGap = "after-gap",
    }
}

words! {
    /// Which part of the output a match stands in.
    OutputSource {
        /// What the model says.
        #[default]
        Text = "text",
        /// What the model thinks.
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
    /// What becomes of the stopped output.
    #[serde(rename = "contextMode")]
    pub context: ContextMode,
    /// When the rule may fire again.
    #[serde(rename = "repeatMode")]
    pub repeat: RepeatMode,
    /// For `after-gap`: how many turns must have been completed since the delivery. The turn of the delivery counts
    /// when it is completed.
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
