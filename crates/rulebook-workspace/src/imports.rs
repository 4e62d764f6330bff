//! Imports: files that a rule includes with `@path`.

mod meant;
mod native;
mod target;

pub(crate) use meant::resolve_meant;
pub(crate) use native::follow_native;
