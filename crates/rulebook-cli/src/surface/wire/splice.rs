//! One answer made of several: what the client has seen goes on with what comes after.

use serde_json::{Map, Value};

/// Follows what goes to the client, closes it where it breaks off, and makes what follows go on with it.
pub(in crate::surface) trait Splice: Send {
    /// An event went to the client as it came.
    fn went(&mut self, event: &Value);
    /// What closes what the client has open. From here on events are those of another answer.
    fn close(&mut self) -> Vec<Value>;
    /// An event of another answer as it goes on in this one; nothing where it would begin a second one.
    fn rewrite(&mut self, event: Value) -> Option<Value>;
}

/// Adds the numbers of one usage to those of another.
pub(in crate::surface) fn add_usage(to: &mut Value, from: &Value) {
    match (to, from) {
        (Value::Object(to), Value::Object(from)) => {
            for (key, value) in from {
                match to.get_mut(key) {
                    Some(known) => add_usage(known, value),
                    None => drop(to.insert(key.clone(), value.clone())),
                }
            }
        }
        (Value::Number(to), Value::Number(from)) => {
            if let Some(sum) = to.as_u64().zip(from.as_u64()).map(|(a, b)| a.saturating_add(b)) {
                *to = sum.into();
            }
        }
        (to @ Value::Null, from) => *to = from.clone(),
        _ => {}
    }
}

/// The sum of what answers that were broken off had used, as far as that was said.
#[derive(Default)]
pub(super) struct Spent {
    before: Value,
    now: Value,
}

impl Spent {
    /// An answer says what it used so far; later words replace earlier ones.
    pub(super) fn saw(&mut self, usage: &Value) {
        let Value::Object(said) = usage else { return };
        if !self.now.is_object() {
            self.now = Value::Object(Map::new());
        }
        for (key, value) in said.iter().filter(|(_, value)| !value.is_null()) {
            self.now[key] = value.clone();
        }
    }

    /// The answer was broken off.
    pub(super) fn close(&mut self) {
        add_usage(&mut self.before, &std::mem::take(&mut self.now));
    }

    /// What all answers together used, as far as they said.
    pub(super) fn total(&self) -> Value {
        let mut total = self.now.clone();
        add_usage(&mut total, &self.before);
        total
    }
}
