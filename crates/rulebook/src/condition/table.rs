//! The table of conditions.

use super::kind::ConditionKind;
use super::{command, content, keywords, named, paths};

/// Every condition except for `when`, which combines them; in the order in which reasons are given.
pub(super) static CONDITIONS: &[ConditionKind] = &[
    paths::KIND,
    named::MODE,
    named::PROVIDER,
    named::MODEL,
    named::AGENT,
    named::TAGS,
    named::OS,
    named::ENV,
    named::TOOLS,
    command::KIND,
    keywords::KIND,
    named::BRANCH,
    content::KIND,
];
