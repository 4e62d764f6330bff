//! Writes sessions on a thread of its own, in order: no request waits for a file, unless very many wait to be written.

use crate::lock::lock;
use std::sync::mpsc::{Sender, channel};
use std::sync::{Arc, Mutex};
use std::thread::{self, JoinHandle};

use tokio::sync::Semaphore;

/// Something to write.
type Task = Box<dyn FnOnce() + Send>;

/// The thread that writes.
pub(super) struct Scribe {
    /// `None` after it has ended.
    thread: Mutex<Option<(Sender<Task>, JoinHandle<()>)>>,
    /// One permit for each task that may still be sent.
    room: Arc<Semaphore>,
}

impl Scribe {
    /// The most tasks that wait before new requests wait too.
    const MOST: usize = 512;

    pub(super) fn new() -> Scribe {
        let (sender, tasks) = channel::<Task>();
        let thread = thread::spawn(move || {
            super::priority::lower();
            tasks.into_iter().for_each(|task| task());
        });
        Scribe { thread: Mutex::new(Some((sender, thread))), room: Arc::new(Semaphore::new(Scribe::MOST)) }
    }

    /// Waits until a task can be sent: what waits to be written stays in memory.
    pub(super) async fn has_room(&self) {
        drop(self.room.acquire().await);
    }

    /// Writes after everything before is written. Requests that had room may exceed it, each by the few tasks it sends.
    pub(super) fn write(&self, task: impl FnOnce() + Send + 'static) {
        let thread = lock(&self.thread);
        if let Some((sender, _)) = thread.as_ref() {
            let permit = Arc::clone(&self.room).try_acquire_owned();
            // A thread that panicked has reported it.
            let _ = sender.send(Box::new(move || {
                task();
                drop(permit);
            }));
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

#[cfg(test)]
mod tests {
    use super::*;
    use futures_util::FutureExt as _;
    use std::sync::mpsc::sync_channel;

    #[test]
    fn requests_wait_while_too_much_is_unwritten() {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        let scribe = Scribe::new();
        let (release, released) = sync_channel::<()>(0);
        scribe.write(move || released.recv().unwrap());
        for _ in 1..Scribe::MOST {
            scribe.write(|| {});
        }
        assert_eq!(scribe.room.available_permits(), 0);
        assert_eq!(scribe.has_room().now_or_never(), None);
        release.send(()).unwrap();
        runtime.block_on(scribe.has_room());
        scribe.end();
        assert_eq!(scribe.room.available_permits(), Scribe::MOST);
    }
}
