//! Lines of a patch that may be incomplete.

/// What happens to the rest of a line.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Rest {
    #[default]
    Held,
    Added,
    Plain,
    /// Text that the patch removes.
    Removed,
    Dropped,
}

impl Rest {
    /// What a line of a hunk does, by its first character.
    pub(super) fn of(held: &str) -> Rest {
        match held.as_bytes().first() {
            Some(b'+') => Rest::Added,
            Some(b'-') => Rest::Removed,
            _ => Rest::Dropped,
        }
    }
}

/// Whether a held line is complete.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Line {
    Open,
    Ended,
}

/// What to do with a held line.
#[derive(Clone, Copy, Debug)]
pub(super) enum Verdict {
    /// It is too short to decide.
    Wait,
    /// Hold it to its end, then read it as a header.
    Header,
    Rest(Rest),
}

/// Whether `held` starts with `text`; `Some(false)` if it is too short to decide, and `None` if it does not.
pub(super) fn starts_with(held: &str, text: &str) -> Option<bool> {
    let is_whole = held.starts_with(text);
    (is_whole || text.starts_with(held)).then_some(is_whole)
}
