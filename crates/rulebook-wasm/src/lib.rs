//! Rulebook for WebAssembly, over texts in memory. `index.js` adds the types of JavaScript: this file passes JSON texts.

use rulebook_json::{Book, JsonError, Session};
use wasm_bindgen::prelude::wasm_bindgen;

#[wasm_bindgen]
extern "C" {
    /// Why a call has no answer; `index.js` throws it as a `RulebookError`.
    #[wasm_bindgen(js_name = Error)]
    pub type Failure;

    #[wasm_bindgen(constructor, js_class = "Error")]
    fn new(message: &str) -> Failure;

    #[wasm_bindgen(method, setter)]
    fn set_code(this: &Failure, code: &str);
}

impl From<JsonError> for Failure {
    fn from(error: JsonError) -> Failure {
        let failure = Failure::new(&error.message);
        failure.set_code(error.code.name());
        failure
    }
}

/// The agents, and the states of a rule.
#[wasm_bindgen]
pub fn catalogue() -> String {
    rulebook_json::catalogue()
}

/// The rules of a workspace of texts.
#[wasm_bindgen]
pub struct NativeBook {
    book: Book,
}

#[wasm_bindgen]
impl NativeBook {
    /// Opens a workspace of texts.
    #[wasm_bindgen(constructor)]
    pub fn new(options: &str) -> Result<NativeBook, Failure> {
        Ok(NativeBook { book: Book::of_texts(options)? })
    }

    /// Which rules each agent has, and why.
    pub fn explain(&self, request: &str) -> Result<String, Failure> {
        Ok(self.book.explain(request)?)
    }

    /// The text for the model.
    pub fn prompt(&self, request: &str) -> Result<String, Failure> {
        Ok(self.book.prompt(request)?)
    }

    /// One rule's text.
    pub fn read(&self, name: &str) -> Result<String, Failure> {
        Ok(self.book.read(name)?)
    }

    /// One rule file.
    pub fn file(&self, path: &str) -> Result<String, Failure> {
        Ok(self.book.file(path)?)
    }

    /// Every problem that `check` reports.
    pub fn diagnostics(&self) -> Result<String, Failure> {
        Ok(self.book.diagnostics()?)
    }

    /// Opens a session, which lives as long as its handle.
    pub fn session(&self, agent: &str, id: &str) -> Result<NativeSession, Failure> {
        Ok(NativeSession { session: self.book.session(agent, id)? })
    }
}

/// The memory of one conversation.
#[wasm_bindgen]
pub struct NativeSession {
    session: Session,
}

#[wasm_bindgen]
impl NativeSession {
    /// Decides one request to the model.
    pub fn turn(&mut self, input: &str) -> Result<String, Failure> {
        Ok(self.session.turn(input)?)
    }

    /// The request is being made.
    pub fn begin(&mut self) -> Result<(), Failure> {
        Ok(self.session.begin()?)
    }

    /// More text of the model's answer.
    pub fn text(&mut self, delta: &str) -> Result<String, Failure> {
        Ok(self.session.text(delta)?)
    }

    /// More of the model's thinking.
    pub fn thinking(&mut self, delta: &str) -> Result<String, Failure> {
        Ok(self.session.thinking(delta)?)
    }

    /// More arguments of a tool call.
    pub fn tool(&mut self, id: &str, name: &str, delta: &str) -> Result<String, Failure> {
        Ok(self.session.tool(id, name, delta)?)
    }

    /// The answer ended.
    pub fn end(&mut self) -> Result<String, Failure> {
        Ok(self.session.end()?)
    }

    /// The request was sent.
    pub fn sent(&mut self) -> Result<(), Failure> {
        Ok(self.session.sent()?)
    }

    /// The context was compacted or cleared.
    pub fn compacted(&mut self) {
        self.session.compacted();
    }
}
