//! Access control: the token in the address, the host name, and the origin of changes.

use super::http::Request;

/// The token, which only the user knows, and the port.
pub(super) struct Guard {
    token: String,
    port: u16,
}

impl Guard {
    /// Creates a random token.
    pub(super) fn new(port: u16) -> Result<Guard, getrandom::Error> {
        let mut bytes = [0; 24];
        getrandom::fill(&mut bytes)?;
        Ok(Guard { token: bytes.iter().map(|byte| format!("{byte:02x}")).collect(), port })
    }

    /// Returns the page's address.
    pub(super) fn url(&self) -> String {
        format!("http://127.0.0.1:{}/{}/", self.port, self.token)
    }

    /// Returns the path after the token, or `None` if the request is not allowed.
    pub(super) fn admit<'r>(&self, request: &'r Request) -> Option<&'r str> {
        // Another site's name can resolve to this address (DNS rebinding).
        let names = [format!("127.0.0.1:{}", self.port), format!("localhost:{}", self.port)];
        let host = request.header("host").filter(|host| names.iter().any(|name| name == host))?;
        let (token, rest) = request.path.strip_prefix('/')?.split_once('/')?;
        if !is_same(token, &self.token) {
            return None;
        }
        let is_own = |origin: &str| origin.strip_prefix("http://") == Some(host);
        let changes = !matches!(request.method.as_str(), "GET" | "HEAD");
        (!changes || request.header("origin").is_some_and(is_own)).then_some(rest)
    }
}

/// Compares in a time that does not depend on how much matches.
fn is_same(given: &str, token: &str) -> bool {
    let differs = given.bytes().zip(token.bytes()).fold(0, |differs, (a, b)| differs | (a ^ b));
    std::hint::black_box(differs) == 0 && given.len() == token.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_token_is_compared_whole() {
        assert!(is_same("abc", "abc"));
        for wrong in ["", "ab", "abcd", "abd", "Abc"] {
            assert!(!is_same(wrong, "abc"), "{wrong}");
        }
    }
}
