//! A value that several threads of a host use, and that can be closed before the host collects it.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError, TryLockError};

use crate::error::{ErrorCode, JsonError};

/// A book or a session in a language with a garbage collector.
#[derive(Debug)]
pub struct Shared<T>(Arc<Mutex<Option<T>>>);

impl<T> Clone for Shared<T> {
    fn clone(&self) -> Shared<T> {
        Shared(Arc::clone(&self.0))
    }
}

impl<T> Shared<T> {
    /// Shares a value.
    pub fn new(value: T) -> Shared<T> {
        Shared(Arc::new(Mutex::new(Some(value))))
    }

    /// Uses the value when no other call does.
    ///
    /// # Errors
    /// If it was closed, or those of the call.
    pub fn with<R>(&self, call: impl FnOnce(&mut T) -> Result<R, JsonError>) -> Result<R, JsonError> {
        used(self.0.lock().unwrap_or_else(PoisonError::into_inner), call)
    }

    /// Uses the value now, on a thread that must not wait.
    ///
    /// # Errors
    /// If another call is running, if it was closed, or those of the call.
    pub fn with_now<R>(&self, call: impl FnOnce(&mut T) -> Result<R, JsonError>) -> Result<R, JsonError> {
        match self.0.try_lock() {
            Ok(guard) => used(guard, call),
            Err(TryLockError::Poisoned(poisoned)) => used(poisoned.into_inner(), call),
            Err(TryLockError::WouldBlock) => {
                Err(JsonError::new(ErrorCode::Busy, "another call of this session is running: wait for it"))
            }
        }
    }

    /// Drops the value; later calls fail.
    pub fn close(&self) {
        let value = self.0.lock().unwrap_or_else(PoisonError::into_inner).take();
        drop(value);
    }
}

fn used<T, R>(
    mut guard: MutexGuard<'_, Option<T>>,
    call: impl FnOnce(&mut T) -> Result<R, JsonError>,
) -> Result<R, JsonError> {
    match guard.as_mut() {
        Some(value) => call(value),
        None => Err(JsonError::new(ErrorCode::Closed, "it was closed: open it again")),
    }
}
