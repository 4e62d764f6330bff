//! Transcripts: what an agent's own record of a conversation says about the agent.

use std::path::Path;

use rulebook::agent::Agent;

use crate::read;
use crate::workspace::Workspace;

/// How much of a transcript is read. Its first lines name the version.
const HEAD: usize = 16 << 10;

/// The longest version.
const MAX_VERSION: usize = 32;

impl Workspace {
    /// Takes the version of an agent from its transcript, unless the settings name one.
    pub fn learn_version(&mut self, agent: &'static Agent, transcript: &Path) {
        if self.settings.agents.of(agent).version.is_none()
            && let Ok(Some(head)) = read::prefix(transcript, HEAD)
            && let Some(version) = version(&head)
        {
            self.settings.agents.set_version(agent, version);
        }
    }
}

/// The version in the first line that names one.
fn version(head: &[u8]) -> Option<String> {
    const KEY: &[u8] = b"\"version\":\"";
    let start = head.windows(KEY.len()).position(|bytes| bytes == KEY)? + KEY.len();
    let end = head[start..].iter().take(MAX_VERSION).position(|byte| *byte == b'"')?;
    let version = std::str::from_utf8(&head[start..start + end]).ok()?;
    version.starts_with(|c: char| c.is_ascii_digit()).then(|| version.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_line_with_a_version_counts() {
        #[track_caller]
        fn check(text: &str, wanted: Option<&str>) {
            assert_eq!(version(text.as_bytes()).as_deref(), wanted, "{text}");
        }
        check(
            "{\"type\":\"summary\"}\n{\"version\":\"2.1.197\",\"cwd\":\"/\"}\n{\"version\":\"2.2.0\"}",
            Some("2.1.197"),
        );
        check("{\"type\":\"summary\"}", None);
        check("{\"version\":\"2.1", None);
        check("{\"version\":\"x\"}", None);
    }
}
