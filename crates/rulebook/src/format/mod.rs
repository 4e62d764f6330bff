//! Formats: how one agent's rule files are found and read.

pub(crate) mod config;
mod id;
pub(crate) mod keys;
pub(crate) mod place;
mod row;
pub(crate) mod table;

pub use config::{Config, ConfigEffect, ConfigKey, NAMED};
pub use id::FormatId;
pub use place::{Base, Depth, FETCHED, Files, IMPORTED, Place, PlaceKind};
pub use row::{
    ActivationKey, Bare, Broken, Confidence, Everything, Format, Ids, Keys, Lists, Repeats, SameId,
    StatedActivation, Top,
};
pub(crate) use row::{formats, numbered};
pub use table::FORMATS;
