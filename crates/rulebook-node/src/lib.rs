//! Rulebook for Node. Calls that use the disk run on Node's threads for such work and return promises; deltas of a stream
//! are answered at once. `index.js` adds the types of JavaScript: this file passes JSON texts.

#![allow(clippy::needless_pass_by_value, reason = "Node passes owned texts")]

mod work;

use napi::bindgen_prelude::{AsyncTask, Either};
use napi_derive::napi;
use rulebook_json::{Book, ErrorCode, JsonError, Session, Shared};

use work::Work;

/// Why a call has no answer; `index.js` throws it.
#[napi(object)]
pub struct Failure {
    /// The kind of the error.
    pub code: String,
    /// What is wrong, and what to do.
    pub message: String,
}

impl From<JsonError> for Failure {
    fn from(error: JsonError) -> Failure {
        Failure { code: error.code.name().to_owned(), message: error.message }
    }
}

/// What a call returns to `index.js`.
type Answer<T> = Either<T, Failure>;

fn answer<T>(result: Result<T, JsonError>) -> Answer<T> {
    match result {
        Ok(value) => Either::A(value),
        Err(error) => Either::B(error.into()),
    }
}

/// Opens a workspace.
#[napi]
pub fn open(options: String) -> AsyncTask<Work<NativeBook>> {
    Work::task(move || Book::open(&options).map(|book| NativeBook { book: Shared::new(book) }))
}

/// Opens a workspace of texts.
#[napi]
pub fn of_texts(options: String) -> AsyncTask<Work<NativeBook>> {
    Work::task(move || Book::of_texts(&options).map(|book| NativeBook { book: Shared::new(book) }))
}

/// Answers one event of a host as `rulebook hook HOST` does.
#[napi]
pub fn hook(host: String, event: String) -> AsyncTask<Work<Option<String>>> {
    Work::task(move || {
        let answer = rulebook_cli::answer_hook(None, &host, event.as_bytes());
        let failed = |error| JsonError::new(ErrorCode::BadRequest, format!("{error:#}"));
        Ok(answer.map_err(failed)?.map(|answer| answer.to_string()))
    })
}

/// The rules of a workspace.
#[napi]
pub struct NativeBook {
    book: Shared<Book>,
}

#[napi]
impl NativeBook {
    /// Which rules each agent has, and why.
    #[napi]
    pub fn explain(&self, request: String) -> AsyncTask<Work<String>> {
        self.task(move |book| book.explain(&request))
    }

    /// The text for the model.
    #[napi]
    pub fn prompt(&self, request: String) -> AsyncTask<Work<String>> {
        self.task(move |book| book.prompt(&request))
    }

    /// One rule's text.
    #[napi]
    pub fn read(&self, name: String) -> AsyncTask<Work<String>> {
        self.task(move |book| book.read(&name))
    }

    /// One rule file.
    #[napi]
    pub fn file(&self, path: String) -> AsyncTask<Work<String>> {
        self.task(move |book| book.file(&path))
    }

    /// Every problem that `check` reports.
    #[napi]
    pub fn diagnostics(&self) -> AsyncTask<Work<String>> {
        self.task(|book| book.diagnostics())
    }

    /// Opens or resumes a session.
    #[napi]
    pub fn session(&self, agent: String, id: String) -> AsyncTask<Work<NativeSession>> {
        self.task(move |book| {
            book.session(&agent, &id).map(|session| NativeSession { session: Shared::new(session) })
        })
    }

    /// Drops the book; later calls fail.
    #[napi]
    pub fn close(&self) {
        self.book.close();
    }

    /// Questions run at the same time: only the handle is shared.
    fn task<T>(&self, call: impl FnOnce(&Book) -> Result<T, JsonError> + Send + 'static) -> AsyncTask<Work<T>>
    where
        Work<T>: napi::Task,
    {
        let book = self.book.clone();
        Work::task(move || call(&book.with(|book| Ok(book.clone()))?))
    }
}

/// The memory of one conversation.
#[napi]
pub struct NativeSession {
    session: Shared<Session>,
}

#[napi]
impl NativeSession {
    /// Decides one request to the model.
    #[napi]
    pub fn turn(&self, input: String) -> AsyncTask<Work<String>> {
        self.task(move |session| session.turn(&input))
    }

    /// The request is being made.
    #[napi]
    pub fn begin(&self) -> AsyncTask<Work<()>> {
        self.task(Session::begin)
    }

    /// More text of the model's answer.
    #[napi]
    pub fn text(&self, delta: String) -> Answer<String> {
        answer(self.session.with_now(|session| session.text(&delta)))
    }

    /// More of the model's thinking.
    #[napi]
    pub fn thinking(&self, delta: String) -> Answer<String> {
        answer(self.session.with_now(|session| session.thinking(&delta)))
    }

    /// More arguments of a tool call.
    #[napi]
    pub fn tool(&self, id: String, name: String, delta: String) -> Answer<String> {
        answer(self.session.with_now(|session| session.tool(&id, &name, &delta)))
    }

    /// The answer ended.
    #[napi]
    pub fn end(&self) -> Answer<String> {
        answer(self.session.with_now(Session::end))
    }

    /// The request was sent.
    #[napi]
    pub fn sent(&self) -> AsyncTask<Work<()>> {
        self.task(Session::sent)
    }

    /// The context was compacted or cleared.
    #[napi]
    pub fn compacted(&self) -> AsyncTask<Work<()>> {
        self.task(|session| {
            session.compacted();
            Ok(())
        })
    }

    /// Why the session is no longer kept.
    #[napi]
    pub fn lost(&self) -> Answer<Option<String>> {
        answer(self.session.with_now(|session| Ok(session.lost().map(str::to_owned))))
    }

    /// Ends an open turn and drops the session; later calls fail.
    #[napi]
    pub fn close(&self) -> AsyncTask<Work<()>> {
        let session = self.session.clone();
        Work::task(move || {
            session.close();
            Ok(())
        })
    }

    fn task<T>(
        &self,
        call: impl FnOnce(&mut Session) -> Result<T, JsonError> + Send + 'static,
    ) -> AsyncTask<Work<T>>
    where
        Work<T>: napi::Task,
    {
        let session = self.session.clone();
        Work::task(move || session.with(call))
    }
}
