//! Matches of stream rules.

use serde::Serialize;

use super::changes::Change;
use super::file::File;
use super::policy::OutputSource;
use super::scope::OutputPart;
use crate::syntax::NodeMatch;
use crate::words::words;

/// A condition that matched.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Hit {
    /// The rule's name.
    pub rule: String,
    /// The condition as written.
    pub condition: String,
    /// The kind of output that contains it.
    pub scope: HitScope,
    /// The tool that is called.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tool: Option<String>,
    /// The field of the arguments.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub field: Option<String>,
    /// The file of the text, if it is known from a patch or required by the rule.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    /// The first byte of the match in the decoded text.
    pub start: usize,
    /// The byte after the match.
    pub end: usize,
    /// The line on which the match starts, counted from 1.
    pub line: usize,
    /// The matched text, cut at 200 bytes.
    pub text: String,
    /// The line of the match, as far as it is known.
    pub excerpt: String,
    /// The byte offset of the match in the excerpt.
    #[serde(skip)]
    pub lead: usize,
    /// The rule's file, as displayed: several rules may have one name.
    pub source: String,
}

words! {
    /// The kind of output that contains a hit.
    HitScope {
        /// The model's text.
        Text = "text",
        /// The model's thinking.
        Thinking = "thinking",
        /// A field of a tool call, decoded.
        Tool = "tool",
        /// The arguments of a tool call as received.
        Wire = "wire",
    }
}

impl HitScope {
    /// The source of output that modes distinguish.
    pub fn source(self) -> OutputSource {
        match self {
            HitScope::Text => OutputSource::Text,
            HitScope::Thinking => OutputSource::Thinking,
            HitScope::Tool | HitScope::Wire => OutputSource::Tool,
        }
    }
}

/// A match with the text around it.
pub(super) struct Spot<'t> {
    pub(super) start: usize,
    pub(super) end: usize,
    pub(super) line: usize,
    pub(super) text: &'t [u8],
    /// The match with some text around it, and how much of that precedes the match.
    pub(super) around: &'t [u8],
    pub(super) lead: usize,
}

/// How much text is shown on either side of a match.
pub(super) const AROUND: usize = 120;

impl Hit {
    /// A match of a condition of a rule in a part of the output.
    pub(super) fn new(
        (rule, source, condition): (&str, &str, &str),
        part: OutputPart<'_>,
        file: Option<&File>,
        spot: &Spot<'_>,
    ) -> Hit {
        let (scope, tool, field) = match part {
            OutputPart::Text => (HitScope::Text, None, None),
            OutputPart::Thinking => (HitScope::Thinking, None, None),
            OutputPart::Field { tool, field } => (HitScope::Tool, Some(tool), Some(field)),
            OutputPart::Wire { tool } => (HitScope::Wire, Some(tool), None),
        };
        let text = String::from_utf8_lossy(spot.text);
        let lead = spot.lead.min(spot.around.len());
        let line_start = spot.around[..lead].iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
        let line_end = spot.around[lead..]
            .iter()
            .position(|byte| *byte == b'\n')
            .map_or(spot.around.len(), |at| lead + at);
        Hit {
            rule: rule.to_owned(),
            condition: condition.to_owned(),
            source: source.to_owned(),
            scope,
            tool: tool.map(str::to_owned),
            field: field.map(str::to_owned),
            file: file.map(|file| file.path.clone()),
            start: spot.start,
            end: spot.end,
            line: spot.line,
            text: text[..text.floor_char_boundary(200)].to_owned(),
            excerpt: String::from_utf8_lossy(&spot.around[line_start..line_end])
                .trim_end_matches('\r')
                .to_owned(),
            lead: String::from_utf8_lossy(&spot.around[line_start..lead.max(line_start)]).len(),
        }
    }

    /// A node that a call adds.
    pub(super) fn of_node(
        (rule, source, condition): (&str, &str, &str),
        tool: &str,
        change: &Change,
        node: &NodeMatch,
    ) -> Hit {
        let text = &change.after;
        let (start, end) = (node.range.start.min(text.len()), node.range.end.min(text.len()));
        let line_start = text[..start].rfind('\n').map_or(0, |at| at + 1);
        let line_end = text[start..].find('\n').map_or(text.len(), |at| start + at);
        let matched = &text[start..end];
        Hit {
            rule: rule.to_owned(),
            condition: condition.to_owned(),
            scope: HitScope::Tool,
            tool: Some(tool.to_owned()),
            field: Some(node.kind.clone()),
            file: Some(change.file.path.clone()),
            start,
            end,
            line: text[..start].matches('\n').count() + 1,
            text: matched[..matched.floor_char_boundary(200)].to_owned(),
            excerpt: text[line_start..line_end].trim_end_matches('\r').to_owned(),
            lead: start - line_start,
            source: source.to_owned(),
        }
    }

    pub(super) fn part(&self) -> OutputPart<'_> {
        match (self.scope, &self.tool, &self.field) {
            (HitScope::Tool, Some(tool), Some(field)) => OutputPart::Field { tool, field },
            (HitScope::Wire, Some(tool), _) => OutputPart::Wire { tool },
            (HitScope::Thinking, ..) => OutputPart::Thinking,
            _ => OutputPart::Text,
        }
    }
}
