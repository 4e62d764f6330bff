//! How a command touches a file.

use crate::words::words;

words! {
    /// How a command touches a file.
    Touched {
        /// It may read it: the command names it.
        Named = "named",
        /// An editor opens it.
        Opened = "opened",
        /// It makes a folder.
        Created = "created",
        /// It moves or packs it: what it contains is in another file then.
        Moved = "moved",
        /// It changes, replaces or removes it.
        Written = "written",
    }
}

impl Touched {
    /// Whether the file is not the same afterwards.
    pub fn is_write(self) -> bool {
        matches!(self, Touched::Moved | Touched::Written)
    }
}
