//! Discovery: finds rule files, in sorted order, each with the place it was found in.

mod config;
mod finder;
mod folder;
mod named;
mod nested;
mod places;
mod search;

pub(crate) use nested::Within;
pub(crate) use search::{Found, Search, root_prefix};

use rulebook::diagnostic::Diagnostic;

use finder::Finder;

/// Finds every rule file of the search, in the order in which they are read.
pub(crate) fn discover(search: &Search<'_>, within: Within<'_>) -> (Vec<Found>, Vec<Diagnostic>) {
    let mut finder = Finder::new(search);
    for root in 0..search.roots.roots.len() {
        finder.root(root);
    }
    finder.nested(within);
    finder.named(within);
    finder.extra();
    finder.remote_folders();
    finder.user();
    finder.finish()
}
