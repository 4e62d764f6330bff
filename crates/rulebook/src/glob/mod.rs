//! Glob dialects: parsed once, matched in linear time.
