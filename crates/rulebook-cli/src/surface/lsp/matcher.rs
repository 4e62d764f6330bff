//! The thread that knows which files of the workspace the patterns of a rule match. Preparing 100,000 files takes longer
//! than an answer may, so it is done once per walk.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::thread;

use crossbeam_channel::{Receiver, Sender, bounded, unbounded};
use rulebook::condition::Facts;
use rulebook::coverage::Coverage;
use rulebook::evidence::Evidence;
use rulebook::resolve::Rulebook;

/// Sends questions to the thread. The thread ends when this is dropped.
pub(super) struct Matcher(Sender<Question>);

/// A book, and what to find out about it.
struct Question {
    book: Rulebook,
    answer: Answer,
}

type Answer = Box<dyn FnOnce(&Coverage<'_>, &Facts<'_>) + Send>;

impl Matcher {
    /// Starts the thread, which prepares the files of a workspace with this many roots.
    pub(super) fn start(files: Arc<Evidence>, roots: usize) -> Matcher {
        let (sender, questions) = unbounded();
        thread::spawn(move || {
            let mut folders = BTreeSet::new();
            let mut waiting = None;
            while let Some(question) = answer(&files, roots, &folders, waiting, &questions) {
                folders.extend(Coverage::of_roots(&question.book, roots).folders().map(owned));
                waiting = Some(question);
            }
        });
        Matcher(sender)
    }

    /// What `find` says of a book and the files of the workspace.
    pub(super) fn ask<T: Send + 'static>(
        &self,
        book: Rulebook,
        find: impl FnOnce(&Coverage<'_>, &Facts<'_>) -> T + Send + 'static,
    ) -> Option<T> {
        let (sender, found) = bounded(1);
        let answer = Box::new(move |coverage: &Coverage<'_>, facts: &Facts<'_>| {
            // The caller waits below.
            let _ = sender.send(find(coverage, facts));
        });
        self.0.send(Question { book, answer }).ok()?;
        found.recv().ok()
    }
}

/// Answers questions about nested rules in these folders, until one is about another folder, or the sender is dropped.
fn answer(
    files: &Evidence,
    roots: usize,
    folders: &BTreeSet<(usize, String)>,
    mut waiting: Option<Question>,
    questions: &Receiver<Question>,
) -> Option<Question> {
    let facts = Facts::new(files, folders.iter().map(|(root, folder)| (*root, folder.as_str())));
    facts.prepare();
    loop {
        let question = waiting.take().or_else(|| questions.recv().ok())?;
        let coverage = Coverage::of_roots(&question.book, roots);
        if !coverage.folders().all(|folder| folders.contains(&owned(folder))) {
            return Some(question);
        }
        (question.answer)(&coverage, &facts);
    }
}

fn owned((root, folder): (usize, &str)) -> (usize, String) {
    (root, folder.to_owned())
}
