//! The thread that checks the workspace, so that requests are answered meanwhile.

use std::sync::Arc;
use std::thread;

use crossbeam_channel::{Receiver, Sender, unbounded};
use rulebook_workspace::Readings;

use super::snapshot::{Files, Job, Snapshot};
use super::view;
use crate::args::Args;

/// The two ends of the thread.
pub(super) struct Worker {
    jobs: Sender<Job>,
    pub(super) results: Receiver<Result<Arc<Snapshot>, String>>,
}

impl Worker {
    pub(super) fn start(args: Args) -> Worker {
        let (jobs, receiver) = unbounded::<Job>();
        let (sender, results) = unbounded();
        thread::spawn(move || {
            let readings = Readings::default();
            let mut files: Option<Arc<Files>> = None;
            for job in &receiver {
                let taken = Snapshot::take(&args, &job, &readings, files.take()).map(|mut snapshot| {
                    snapshot.view = job.view.then(|| view::of(&snapshot));
                    snapshot
                });
                files = taken.as_ref().ok().map(|snapshot| Arc::clone(&snapshot.files));
                let result = taken.map(Arc::new).map_err(|error| format!("{error:#}"));
                if sender.send(result).is_err() {
                    return;
                }
            }
        });
        Worker { jobs, results }
    }

    /// Starts a check. The caller waits for its result before it starts another one.
    pub(super) fn check(&self, job: Job) {
        // The thread ends only with the server.
        let _ = self.jobs.send(job);
    }
}
