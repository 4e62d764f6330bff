//! Rulebook for Python. Python's global lock is released while the disk is used. The package `rulebook_py` adds the types of
//! Python: this module passes JSON texts.

use pyo3::exceptions::PyException;
use pyo3::prelude::*;
use pyo3::types::PyString;
use rulebook_json::{JsonError, Session as JsonSession, Shared};

pyo3::create_exception!(_native, RulebookError, PyException, "Why a call has no answer; `code` is its kind.");

fn raised(py: Python<'_>, error: JsonError) -> PyErr {
    let raised = RulebookError::new_err(error.message);
    match raised.value(py).setattr("code", error.code.name()) {
        Ok(()) => raised,
        Err(failed) => failed,
    }
}

/// Runs a call without Python's lock.
fn apart<T: Send>(py: Python<'_>, call: impl FnOnce() -> Result<T, JsonError> + Send) -> PyResult<T> {
    py.detach(call).map_err(|error| raised(py, error))
}

/// The rules of a workspace.
#[pyclass(frozen, module = "rulebook_py._native")]
struct Book {
    book: Shared<rulebook_json::Book>,
}

#[pymethods]
impl Book {
    #[staticmethod]
    fn open(py: Python<'_>, options: &str) -> PyResult<Book> {
        apart(py, || rulebook_json::Book::open(options)).map(|book| Book { book: Shared::new(book) })
    }

    #[staticmethod]
    fn of_texts(py: Python<'_>, options: &str) -> PyResult<Book> {
        apart(py, || rulebook_json::Book::of_texts(options)).map(|book| Book { book: Shared::new(book) })
    }

    fn explain(&self, py: Python<'_>, request: &str) -> PyResult<String> {
        self.ask(py, |book| book.explain(request))
    }

    fn prompt(&self, py: Python<'_>, request: &str) -> PyResult<String> {
        self.ask(py, |book| book.prompt(request))
    }

    fn read(&self, py: Python<'_>, name: &str) -> PyResult<String> {
        self.ask(py, |book| book.read(name))
    }

    fn file(&self, py: Python<'_>, path: &str) -> PyResult<String> {
        self.ask(py, |book| book.file(path))
    }

    fn diagnostics(&self, py: Python<'_>) -> PyResult<String> {
        self.ask(py, rulebook_json::Book::diagnostics)
    }

    fn session(&self, py: Python<'_>, agent: &str, id: &str) -> PyResult<Session> {
        self.ask(py, |book| book.session(agent, id)).map(|session| Session { session: Shared::new(session) })
    }

    fn close(&self, py: Python<'_>) {
        py.detach(|| self.book.close());
    }
}

impl Book {
    /// Questions run at the same time: only the handle is shared.
    fn ask<T: Send>(
        &self,
        py: Python<'_>,
        call: impl FnOnce(&rulebook_json::Book) -> Result<T, JsonError> + Send,
    ) -> PyResult<T> {
        apart(py, || call(&self.book.with(|book| Ok(book.clone()))?))
    }
}

/// The memory of one conversation.
#[pyclass(frozen, module = "rulebook_py._native")]
struct Session {
    session: Shared<JsonSession>,
}

#[pymethods]
impl Session {
    fn turn(&self, py: Python<'_>, input: &str) -> PyResult<String> {
        self.call(py, |session| session.turn(input))
    }

    fn begin(&self, py: Python<'_>) -> PyResult<()> {
        self.call(py, JsonSession::begin)
    }

    fn text<'py>(&self, py: Python<'py>, delta: &str) -> PyResult<Bound<'py, PyString>> {
        self.step(py, |session| session.text(delta))
    }

    fn thinking<'py>(&self, py: Python<'py>, delta: &str) -> PyResult<Bound<'py, PyString>> {
        self.step(py, |session| session.thinking(delta))
    }

    fn tool<'py>(
        &self,
        py: Python<'py>,
        id: &str,
        name: &str,
        delta: &str,
    ) -> PyResult<Bound<'py, PyString>> {
        self.step(py, |session| session.tool(id, name, delta))
    }

    fn end<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyString>> {
        self.step(py, JsonSession::end)
    }

    fn sent(&self, py: Python<'_>) -> PyResult<()> {
        self.call(py, JsonSession::sent)
    }

    fn compacted(&self, py: Python<'_>) -> PyResult<()> {
        self.call(py, |session| {
            session.compacted();
            Ok(())
        })
    }

    fn lost(&self, py: Python<'_>) -> PyResult<Option<String>> {
        self.call(py, |session| Ok(session.lost().map(str::to_owned)))
    }

    fn close(&self, py: Python<'_>) {
        py.detach(|| self.session.close());
    }
}

impl Session {
    fn call<T: Send>(
        &self,
        py: Python<'_>,
        call: impl FnOnce(&mut JsonSession) -> Result<T, JsonError> + Send,
    ) -> PyResult<T> {
        apart(py, || self.session.with(call))
    }

    /// A delta is answered with Python's lock held: it takes less time than passing the lock on.
    fn step<'py>(
        &self,
        py: Python<'py>,
        call: impl FnOnce(&mut JsonSession) -> Result<String, JsonError>,
    ) -> PyResult<Bound<'py, PyString>> {
        match self.session.with_now(call) {
            Ok(answer) => Ok(PyString::new(py, &answer)),
            Err(error) => Err(raised(py, error)),
        }
    }
}

/// The module.
#[pymodule]
mod _native {
    #[pymodule_export]
    use super::{Book, RulebookError, Session};
}
