//! Continues one response with another: a client that has seen the beginning of the first gets one valid stream.

use serde_json::{Map, Value};

use super::json::Json;

/// Follows what the client has received, closes it where it breaks off, and fits the next response to it.
pub(in crate::surface) trait Splice: Send {
    /// Follows an event that the client received as it arrived.
    fn sent(&mut self, event: &Json<'_>);
    /// Returns the events that close what the client has open. Later events belong to another response.
    fn close(&mut self) -> Vec<Value>;
    /// Fits an event of another response; returns `None` if it would begin a second one.
    fn rewrite(&mut self, event: Value) -> Option<Value>;
    /// Returns the events that end the response with an error.
    fn fail(&mut self, error: Value) -> Vec<Value> {
        vec![error]
    }
    /// Returns the id under which the client knows the response, and the provider's, if an event just gave it another.
    fn renamed(&mut self) -> Option<(String, String)> {
        None
    }
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

/// The usage of several responses together, as far as they report it.
#[derive(Default)]
pub(super) struct Usage {
    before: Value,
    now: Value,
}

impl Usage {
    /// Takes the usage that the current response reports; later reports replace earlier ones.
    pub(super) fn report(&mut self, usage: &Json<'_>) {
        let Json::Object(fields) = usage else { return };
        if !self.now.is_object() {
            self.now = Value::Object(Map::new());
        }
        for (key, value) in fields.iter().filter(|(_, value)| !value.is_null()) {
            self.now[key.as_ref()] = value.into();
        }
    }

    /// The current response was interrupted.
    pub(super) fn close(&mut self) {
        add_usage(&mut self.before, &std::mem::take(&mut self.now));
    }

    /// Returns the sum of all responses.
    pub(super) fn total(&self) -> Value {
        let mut total = self.now.clone();
        add_usage(&mut total, &self.before);
        total
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::WIRES;
    use super::*;

    #[test]
    fn an_event_that_is_no_object_passes_as_it_is() {
        for wire in WIRES {
            for event in [json!("{"), json!([{}]), json!(1), json!(null), json!(true)] {
                let mut splice = (wire.splice)();
                splice.sent(&Json::from(&event));
                splice.close();
                assert_eq!(splice.rewrite(event.clone()), Some(event), "{}", wire.name);
            }
        }
    }
}
