//! Fetches one document over HTTPS, within a time and a size.

use std::io::Read as _;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject as _;
use ureq::http::{Response, StatusCode, header};
use ureq::tls::{Certificate, RootCerts, TlsConfig};
use ureq::{Agent, Body, Proxy};

use super::MAX_DOCUMENT;
use super::error::RemoteError;
use crate::settings::address::Web;
use crate::{certificates, read};

/// The time limit for one remote, all requests together.
const TIME: Duration = Duration::from_secs(10);

/// The most redirects that are followed.
const MAX_REDIRECTS: usize = 5;

/// The longest ETag that is kept.
const MAX_ETAG: usize = 1024;

/// A client for one server.
pub(super) struct Client {
    agent: Agent,
    /// Sent to the server that the settings name, and never written anywhere.
    token: Option<String>,
    deadline: Instant,
}

/// A server's answer.
#[derive(Debug)]
pub(super) enum Fetched {
    /// The document did not change.
    Same,
    /// The document.
    Text {
        /// Its text.
        text: String,
        /// The tag for the next request.
        etag: Option<String>,
    },
}

impl Client {
    /// Makes a client that trusts the certificates of the system, and those of a file.
    pub(super) fn new(
        web: &Web,
        ca_file: Option<&Path>,
        token: Option<String>,
    ) -> Result<Client, RemoteError> {
        let mut config = Agent::config_builder()
            .http_status_as_error(false)
            .max_redirects(0)
            .user_agent(concat!("rulebook/", env!("CARGO_PKG_VERSION")))
            .accept("application/json, text/plain;q=0.5, */*;q=0.1")
            // A compressed answer could be small on the wire and large in memory.
            .accept_encoding("identity")
            .proxy(if web.is_local() { None } else { Proxy::try_from_env() });
        if !web.is_plain_http() {
            let provider = Arc::new(rustls::crypto::ring::default_provider());
            let tls = TlsConfig::builder()
                .unversioned_rustls_crypto_provider(provider)
                .root_certs(RootCerts::new_with_certs(&roots(ca_file)?));
            config = config.tls_config(tls.build());
        }
        Ok(Client { agent: config.build().new_agent(), token, deadline: Instant::now() + TIME })
    }

    /// Fetches a document, following redirects within its origin.
    pub(super) fn get(&self, web: &Web, etag: Option<&str>) -> Result<Fetched, RemoteError> {
        let mut web = web.clone();
        for _ in 0..=MAX_REDIRECTS {
            let response = self.request(&web, etag)?;
            let status = response.status();
            match status {
                StatusCode::OK => return read_body(response),
                StatusCode::NOT_MODIFIED if etag.is_some() => return Ok(Fetched::Same),
                StatusCode::NOT_MODIFIED => {
                    return Err(RemoteError::new("answered 304, although there is no copy"));
                }
                _ if status.is_redirection() => {
                    let location = response.headers().get(header::LOCATION).and_then(|to| to.to_str().ok());
                    let location =
                        location.ok_or_else(|| RemoteError::new("redirects without a `Location`"))?;
                    web = web.follow(location).map_err(RemoteError::new)?;
                }
                StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN => {
                    let hint = if self.token.is_some() {
                        ""
                    } else {
                        "; set `token_env` to a variable with a token"
                    };
                    return Err(RemoteError::new(format!("answered {}{hint}", status.as_u16())));
                }
                _ => return Err(RemoteError::new(format!("answered {}", status.as_u16()))),
            }
        }
        Err(RemoteError::new(format!("redirects more than {MAX_REDIRECTS} times")))
    }

    fn request(&self, web: &Web, etag: Option<&str>) -> Result<Response<Body>, RemoteError> {
        let left = self.deadline.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Err(too_slow());
        }
        let mut request = self.agent.get(web.text()).config().timeout_global(Some(left)).build();
        if let Some(token) = &self.token {
            request = request.header(header::AUTHORIZATION, format!("Bearer {token}"));
        }
        if let Some(etag) = etag {
            request = request.header(header::IF_NONE_MATCH, etag);
        }
        request.call().map_err(|error| reason(&error))
    }
}

/// Reads the body of an answer, if it is text within the size limit.
fn read_body(response: Response<Body>) -> Result<Fetched, RemoteError> {
    let value = |name| response.headers().get(name).and_then(|value| value.to_str().ok());
    if let Some(coding) =
        value(header::CONTENT_ENCODING).filter(|coding| !coding.eq_ignore_ascii_case("identity"))
    {
        let coding: String = coding.chars().take(20).collect();
        return Err(RemoteError::new(format!("is compressed with `{coding}`, which was not requested")));
    }
    let is_tag = |tag: &&str| tag.len() <= MAX_ETAG && tag.bytes().all(|byte| matches!(byte, b' '..=b'~'));
    let etag = value(header::ETAG).filter(is_tag).map(str::to_owned);
    let mut bytes = Vec::new();
    let mut body = response.into_body();
    let limit = MAX_DOCUMENT as u64 + 1;
    body.as_reader()
        .take(limit)
        .read_to_end(&mut bytes)
        .map_err(|error| reason(&ureq::Error::from(error)))?;
    if bytes.len() > MAX_DOCUMENT {
        return Err(RemoteError::new(format!("has more than {MAX_DOCUMENT} bytes")));
    }
    let text = String::from_utf8(bytes).map_err(|_| RemoteError::new("is not UTF-8 text"))?;
    Ok(Fetched::Text { text, etag })
}

fn too_slow() -> RemoteError {
    RemoteError::new(format!("took longer than {} s", TIME.as_secs()))
}

/// Why a request failed, in one line and without anything that was sent.
fn reason(error: &ureq::Error) -> RemoteError {
    use std::io::ErrorKind;
    let words = match error {
        ureq::Error::Timeout(_) => return too_slow(),
        ureq::Error::Io(error) if error.kind() == ErrorKind::TimedOut => return too_slow(),
        ureq::Error::HostNotFound => "cannot be fetched: unknown host".to_owned(),
        ureq::Error::ConnectionFailed => "cannot be reached".to_owned(),
        ureq::Error::Io(error) if error.kind() == ErrorKind::ConnectionRefused => {
            "cannot be reached: connection refused".to_owned()
        }
        ureq::Error::Io(error) => {
            match error.get_ref().and_then(|inner| inner.downcast_ref::<rustls::Error>()) {
                Some(error) => certificates::refusal(error),
                None => format!("closed the connection: {}", read::reason(error)),
            }
        }
        ureq::Error::Rustls(error) => certificates::refusal(error),
        ureq::Error::Http(_) => {
            "cannot be requested: the token has characters that a header cannot carry".to_owned()
        }
        other => format!("sent an invalid answer: {other}"),
    };
    RemoteError::new(words)
}

/// The certificates to trust.
fn roots(ca_file: Option<&Path>) -> Result<Vec<Certificate<'static>>, RemoteError> {
    let mut roots = certificates::trusted();
    if let Some(file) = ca_file {
        let fail =
            |why: &str| RemoteError::new(format!("cannot be requested: `ca_file` {} {why}", file.display()));
        let bytes = read::bytes(file, MAX_DOCUMENT)
            .map_err(|error| fail(&format!("cannot be read: {}", read::reason(&error))))?
            .ok_or_else(|| fail("does not exist"))?;
        let own: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(&bytes).collect();
        roots.extend(
            own.ok().filter(|own| !own.is_empty()).ok_or_else(|| fail("has no certificates in PEM form"))?,
        );
    }
    if roots.is_empty() {
        let message = "cannot be requested: the system has no certificates; name some with `ca_file`";
        return Err(RemoteError::new(message));
    }
    Ok(roots.iter().map(|root| Certificate::from_der(root).to_owned()).collect())
}
