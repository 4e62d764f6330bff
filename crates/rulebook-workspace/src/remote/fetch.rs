//! Fetching: one document over HTTPS, within its time and its size, or a reason in one line.

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
use super::address::Web;

/// How long one remote may take, everything together.
const TIME: Duration = Duration::from_secs(10);

/// How many redirects are followed.
const MAX_REDIRECTS: usize = 5;

/// The longest tag that is kept.
const MAX_ETAG: usize = 1024;

/// What goes with every request to a server.
pub(super) struct Client {
    agent: Agent,
    /// Sent to the server the settings name, never written anywhere.
    token: Option<String>,
    deadline: Instant,
}

/// What a server says.
#[derive(Debug)]
pub(super) enum Fetched {
    /// What it gave before is still right.
    Same,
    /// This.
    Text {
        /// The document.
        text: String,
        /// What to ask with the next time.
        etag: Option<String>,
    },
}

impl Client {
    /// Prepares for one server. Certificates of the system are trusted, and those of a file.
    pub(super) fn new(web: &Web, ca_file: Option<&Path>, token: Option<String>) -> Result<Client, String> {
        let mut config = Agent::config_builder()
            .http_status_as_error(false)
            .max_redirects(0)
            .user_agent(concat!("rulebook/", env!("CARGO_PKG_VERSION")))
            .accept("application/json, text/plain;q=0.5, */*;q=0.1")
            // Nothing that is small on the wire and large here.
            .accept_encoding("identity")
            .proxy(if web.is_here() { None } else { Proxy::try_from_env() });
        if !web.is_clear() {
            let provider = Arc::new(rustls::crypto::ring::default_provider());
            let tls = TlsConfig::builder()
                .unversioned_rustls_crypto_provider(provider)
                .root_certs(RootCerts::new_with_certs(&roots(ca_file)?));
            config = config.tls_config(tls.build());
        }
        Ok(Client { agent: config.build().new_agent(), token, deadline: Instant::now() + TIME })
    }

    /// Fetches a document, following redirects within its origin.
    pub(super) fn get(&self, web: &Web, etag: Option<&str>) -> Result<Fetched, String> {
        let mut web = web.clone();
        for _ in 0..=MAX_REDIRECTS {
            let response = self.ask(&web, etag)?;
            let status = response.status();
            match status {
                StatusCode::OK => return read(response),
                StatusCode::NOT_MODIFIED if etag.is_some() => return Ok(Fetched::Same),
                StatusCode::NOT_MODIFIED => {
                    return Err("says that nothing changed since a copy that nobody has".to_owned());
                }
                _ if status.is_redirection() => {
                    let location = response.headers().get(header::LOCATION).and_then(|to| to.to_str().ok());
                    web = web.follow(location.ok_or("redirects without saying where")?)?;
                }
                StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN => {
                    let hint =
                        if self.token.is_some() { "" } else { "; `token_env` names a variable with a token" };
                    return Err(format!("answered {}{hint}", status.as_u16()));
                }
                _ => return Err(format!("answered {}", status.as_u16())),
            }
        }
        Err(format!("redirects more than {MAX_REDIRECTS} times"))
    }

    fn ask(&self, web: &Web, etag: Option<&str>) -> Result<Response<Body>, String> {
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

/// The body of an answer, if it is a text of bearable size.
fn read(response: Response<Body>) -> Result<Fetched, String> {
    let value = |name| response.headers().get(name).and_then(|value| value.to_str().ok());
    if let Some(coding) =
        value(header::CONTENT_ENCODING).filter(|coding| !coding.eq_ignore_ascii_case("identity"))
    {
        let coding: String = coding.chars().take(20).collect();
        return Err(format!("is packed with `{coding}`, which nobody asked for"));
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
        return Err(format!("has more than {MAX_DOCUMENT} bytes"));
    }
    let text = String::from_utf8(bytes).map_err(|_| "is not UTF-8 text".to_owned())?;
    Ok(Fetched::Text { text, etag })
}

fn too_slow() -> String {
    format!("took longer than {} s", TIME.as_secs())
}

/// Why a request failed, in one line and without anything that was sent.
fn reason(error: &ureq::Error) -> String {
    match error {
        ureq::Error::Timeout(_) => too_slow(),
        ureq::Error::HostNotFound => "has a host that cannot be found".to_owned(),
        ureq::Error::ConnectionFailed => "cannot be reached".to_owned(),
        ureq::Error::Io(error) if error.kind() == std::io::ErrorKind::TimedOut => too_slow(),
        ureq::Error::Io(error) if error.kind() == std::io::ErrorKind::ConnectionRefused => {
            "cannot be reached: connection refused".to_owned()
        }
        ureq::Error::Io(error) => {
            match error.get_ref().and_then(|inner| inner.downcast_ref::<rustls::Error>()) {
                Some(error) => stranger(error),
                None => format!("broke off: {}", crate::discover::reason(error)),
            }
        }
        ureq::Error::Rustls(error) => stranger(error),
        ureq::Error::Http(_) => {
            "cannot be asked: the token has characters that a header cannot carry".to_owned()
        }
        other => format!("did not answer as a server does: {other}"),
    }
}

fn stranger(error: &rustls::Error) -> String {
    format!("is not who it says it is: {}", error.to_string().to_lowercase())
}

/// The certificates to trust.
fn roots(ca_file: Option<&Path>) -> Result<Vec<Certificate<'static>>, String> {
    let mut roots: Vec<CertificateDer<'static>> = rustls_native_certs::load_native_certs().certs;
    if let Some(file) = ca_file {
        let fail = |why: &str| format!("cannot be asked: `ca_file` {} {why}", file.display());
        let bytes = crate::bounded::read(file, MAX_DOCUMENT)
            .map_err(|error| fail(&format!("cannot be read: {}", crate::discover::reason(&error))))?
            .ok_or_else(|| fail("is not there"))?;
        let own: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(&bytes).collect();
        roots.extend(
            own.ok().filter(|own| !own.is_empty()).ok_or_else(|| fail("has no certificates in PEM"))?,
        );
    }
    if roots.is_empty() {
        return Err("cannot be asked: the system has no certificates; name some with `ca_file`".to_owned());
    }
    Ok(roots.iter().map(|root| Certificate::from_der(root).to_owned()).collect())
}
