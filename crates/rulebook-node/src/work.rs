//! Work on another thread, whose result is a promise.

use napi::bindgen_prelude::{AsyncTask, Either, ToNapiValue, TypeName};
use napi::{Env, Task};
use rulebook_json::JsonError;

use crate::{Answer, Failure, answer};

type Call<T> = Box<dyn FnOnce() -> Result<T, JsonError> + Send>;

/// A call that uses the disk.
pub struct Work<T> {
    call: Option<Call<T>>,
}

impl<T> Work<T> {
    pub(crate) fn task(call: impl FnOnce() -> Result<T, JsonError> + Send + 'static) -> AsyncTask<Work<T>>
    where
        Work<T>: Task,
    {
        AsyncTask::new(Work { call: Some(Box::new(call)) })
    }
}

impl<T: Send + ToNapiValue + TypeName + 'static> Task for Work<T> {
    type Output = Result<T, JsonError>;
    type JsValue = Answer<T>;

    fn compute(&mut self) -> napi::Result<Self::Output> {
        let call = self.call.take().ok_or_else(|| napi::Error::from_reason("a task runs once"))?;
        Ok(call())
    }

    fn resolve(&mut self, _: Env, output: Self::Output) -> napi::Result<Either<T, Failure>> {
        Ok(answer(output))
    }
}
