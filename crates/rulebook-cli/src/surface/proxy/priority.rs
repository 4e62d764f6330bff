//! Threads beside the one that serves streams.

/// Gives this thread the processor only when the streams leave it.
pub(super) fn lower() {
    // Elsewhere this would lower the whole process. Without permission all threads stay equal.
    #[cfg(target_os = "linux")]
    let _ = rustix::process::setpriority_process(None, 10);
}
