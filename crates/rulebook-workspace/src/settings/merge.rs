//! Merging layers: later over earlier.

use std::collections::BTreeMap;

use rulebook::diagnostic::Diagnostic;

use super::keys::{Accepts, KEYS};
use super::layer::{self, Layer, Lists};
use super::values::{Setting, Settings};

/// Merges layers, later over earlier, and reports every problem in them.
///
/// A later single value replaces an earlier one. Lists are joined without duplicates; an entry `!x` removes an earlier
/// `x`.
#[must_use]
pub fn merge(layers: &[Layer]) -> (Settings, Vec<Diagnostic>) {
    let mut settings = Settings::default();
    let mut lists = Lists::new();
    let mut diagnostics = Vec::new();
    for layer in layers {
        diagnostics.extend(layer::read(layer, &mut settings, &mut lists));
    }
    for key in KEYS {
        if let (Accepts::List { put, .. }, Some(items)) = (&key.accepts, lists.remove(key.path)) {
            put(&mut settings, join(items));
        }
    }
    (settings, diagnostics)
}

/// Lets each `!x` remove the `x` before it, and each `x` the `!x`; an entry keeps its first position.
///
/// The same text in two roots' files makes two entries, because relative paths differ by root.
fn join(items: Vec<Setting>) -> Vec<Setting> {
    let mut kept: Vec<Option<Setting>> = Vec::new();
    let mut positions: BTreeMap<String, Vec<usize>> = BTreeMap::new();
    for item in items {
        let opposite = item.value.strip_prefix('!').map_or_else(|| format!("!{}", item.value), str::to_owned);
        for at in positions.remove(&opposite).into_iter().flatten() {
            kept[at] = None;
        }
        let same = positions.entry(item.value.clone()).or_default();
        let roots = same.iter().filter_map(|&at| kept[at].as_ref()).map(|earlier| earlier.root);
        if !roots.into_iter().any(|root| root.is_none() || item.root.is_none() || root == item.root) {
            same.push(kept.len());
            kept.push(Some(item));
        }
    }
    kept.into_iter().flatten().collect()
}
