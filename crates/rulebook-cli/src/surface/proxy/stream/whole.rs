//! Responses that are one JSON value although they are called a stream: clients that want no stream read them.

use bytes::BytesMut;

use super::{MAX_HELD, Source, Stream};
use crate::surface::wire::{BYTE_ORDER_MARK, Failure, Json, Waits};

impl Stream {
    /// Takes bytes of a response whose first byte begins a JSON value; returns whether it is one.
    pub(super) fn is_whole(&mut self, data: &[u8]) -> bool {
        if !self.has_begun {
            let first =
                data.iter().find(|byte| !byte.is_ascii_whitespace() && !BYTE_ORDER_MARK.contains(byte));
            self.has_begun = first.is_some();
            self.whole = matches!(first, Some(b'{' | b'[')).then(BytesMut::new);
        }
        let Some(whole) = &mut self.whole else { return false };
        whole.extend_from_slice(data);
        if whole.len() > MAX_HELD {
            let rest = self.whole.take().unwrap_or_default();
            self.events.push(rest.freeze());
            self.fail("too much is held");
        }
        true
    }

    /// Ends such a response; returns whether nothing is left to do.
    pub(super) fn ends_whole(&mut self) -> bool {
        let Some(whole) = self.whole.take() else { return false };
        let whole = whole.freeze();
        let Some(answer) = Json::read(&whole) else {
            self.take_events(whole);
            return matches!(self.source, Source::Retry(..));
        };
        let (steps, is_plain) = self.exchange.wire.steps(&answer);
        let (_, hits) = self.feed.take(steps, Waits::End);
        if !is_plain && self.exchange.proxy.misread("an answer") {
            self.refuse("the answer cannot be read, and nothing passes without rules");
        } else if let Some(stop) = self.judge(&hits) {
            self.exchange.dropped(&stop);
            self.refuse("a rule stops this answer, and it is no stream that could be continued");
        } else {
            self.written = self.exchange.passed(&mut self.passed);
            drop(answer);
            self.out.push(whole);
        }
        true
    }

    fn refuse(&mut self, why: &str) {
        let why = format!("rulebook proxy: {why}");
        self.out.push((self.exchange.wire.error_body)(Failure::Unavailable, &why).to_string().into());
    }
}
