//! How much some agents read of all files of a workspace together.

use crate::agent::row::{Beyond, SizeLimit, SizeUnit};
use crate::format::{FormatId, PlaceKind};
use crate::rule::Rule;

pub(super) const AUGMENT_LIMIT: SizeLimit = SizeLimit {
    most: 49_512,
    unit: SizeUnit::Characters,
    counts: |rule| rule.origin.format.id == FormatId::Augment,
    beyond: Beyond::LeftOut("manual rules are left out first, guidelines last"),
};

pub(super) const CODEX_LIMIT: SizeLimit =
    SizeLimit { most: 32 << 10, unit: SizeUnit::Bytes, counts: is_agents_md, beyond: Beyond::Cut };

pub(super) const QODER_LIMIT: SizeLimit = SizeLimit {
    most: 100_000,
    unit: SizeUnit::Characters,
    counts: |rule| rule.origin.format.id == FormatId::Qoder,
    beyond: Beyond::Cut,
};

/// Whether a file is an AGENTS.md, or read instead of one.
fn is_agents_md(rule: &Rule) -> bool {
    matches!(rule.origin.place.shape, PlaceKind::Located { id: "agents", .. })
}
