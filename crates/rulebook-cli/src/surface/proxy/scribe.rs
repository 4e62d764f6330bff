//! Writes sessions on a thread of its own, in order: no request waits for a file.

use crate::lock::lock;
use std::sync::Mutex;
use std::sync::mpsc::{Sender, channel};
use std::thread::{self, JoinHandle};

/// Something to write.
type Task = Box<dyn FnOnce() + Send>;

/// The thread that writes.
pub(super) struct Scribe {
    /// `None` after it has ended.
    thread: Mutex<Option<(Sender<Task>, JoinHandle<()>)>>,
}

impl Scribe {
    pub(super) fn new() -> Scribe {
        let (sender, tasks) = channel::<Task>();
        let thread = thread::spawn(move || {
            super::priority::lower();
            tasks.into_iter().for_each(|task| task());
        });
        Scribe { thread: Mutex::new(Some((sender, thread))) }
    }

    /// Writes after everything before is written.
    pub(super) fn write(&self, task: impl FnOnce() + Send + 'static) {
        let thread = lock(&self.thread);
        if let Some((sender, _)) = thread.as_ref() {
            // A thread that panicked has reported it.
            let _ = sender.send(Box::new(task));
        }
    }

    /// Waits until everything is written.
    pub(super) fn end(&self) {
        let thread = lock(&self.thread).take();
        if let Some((sender, thread)) = thread {
            drop(sender);
            let _ = thread.join();
        }
    }
}
