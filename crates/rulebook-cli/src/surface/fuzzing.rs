//! What the fuzz targets run of the servers: their messages, without pipes and sockets.

pub use super::acp::fuzzing::relay_lines as acp;
pub use super::lsp::fuzzing::answer_messages as lsp;
pub use super::wire::fuzzing::exchange as wire;
