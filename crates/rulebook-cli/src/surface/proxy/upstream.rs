//! The servers of the models: their addresses, and how requests are sent to them.

use anyhow::{Context as _, anyhow, bail};
use bytes::Bytes;
use http_body_util::combinators::UnsyncBoxBody;
use http_body_util::{BodyExt as _, Full};
use hyper::body::Incoming;
use hyper::header::{self, HeaderMap, HeaderName};
use hyper::http::request::Parts;
use hyper::{Request, Response, Uri, Version};
use hyper_rustls::{HttpsConnector, HttpsConnectorBuilder};
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::{TokioExecutor, TokioTimer};
use rulebook_workspace::certificates;
use rustls::{ClientConfig, RootCertStore};

use crate::surface::wire::{WIRES, Wire, provider};

/// An error while a body arrives or is sent.
pub(super) type Error = Box<dyn std::error::Error + Send + Sync>;

/// The body of a request or response.
pub(super) type Body = UnsyncBoxBody<Bytes, Error>;

/// Returns a body that is complete.
pub(super) fn full(bytes: impl Into<Bytes>) -> Body {
    Full::new(bytes.into()).map_err(|never| match never {}).boxed_unsync()
}

/// Returns a body as it arrives.
pub(super) fn coming(body: Incoming) -> Body {
    body.map_err(Error::from).boxed_unsync()
}

/// The servers.
pub(super) struct Upstream {
    client: Client<HttpsConnector<HttpConnector>, Body>,
    /// For every wire that is not named.
    everything: Option<Uri>,
    /// By the name of a wire or of its provider.
    named: Vec<(String, Uri)>,
    /// By number, for requests that name one in their path.
    routes: Vec<Option<Uri>>,
}

/// The path of such a request, before the number.
pub(super) const ROUTE: &str = "/__rulebook/to/";

/// The number of the server that a request names.
#[derive(Clone, Copy, Debug)]
pub(super) struct Route(pub(super) usize);

/// Headers that concern one connection only.
const HOPS: &[&str] = &[
    "connection",
    "keep-alive",
    "proxy-connection",
    "proxy-authenticate",
    "proxy-authorization",
    "te",
    "trailer",
    "transfer-encoding",
    "upgrade",
];

/// Removes the headers that concern one connection only, and those that `connection` names.
pub(super) fn strip(headers: &mut HeaderMap) {
    let named: Vec<HeaderName> = headers
        .get_all(header::CONNECTION)
        .iter()
        .filter_map(|value| value.to_str().ok())
        .flat_map(|value| value.split(','))
        .filter_map(|name| name.trim().parse().ok())
        .collect();
    HOPS.iter().for_each(|name| drop(headers.remove(*name)));
    named.iter().for_each(|name| drop(headers.remove(name)));
}

/// The encodings of text that write ASCII as it is. Events are read in UTF-8; some clients believe the header.
const ENCODINGS: [&str; 8] =
    ["", "utf-8", "utf8", "us-ascii", "ascii", "iso-8859-1", "latin1", "windows-1252"];

/// The type of a body without a coding and in an encoding that can be read, in lower case.
pub(super) fn plain_type(headers: &HeaderMap) -> Option<String> {
    let kind = headers.get(header::CONTENT_TYPE)?.to_str().ok()?.to_ascii_lowercase();
    let (kind, parameters) = kind.split_once(';').unwrap_or((kind.as_str(), ""));
    let mut encodings = parameters.split(';').filter_map(|parameter| {
        let (name, value) = parameter.split_once('=')?;
        (name.trim() == "charset").then(|| value.trim().trim_matches(['"', '\'']))
    });
    let is_plain = !headers.contains_key(header::CONTENT_ENCODING);
    let is_read = encodings.all(|encoding| ENCODINGS.contains(&encoding));
    (is_plain && is_read).then(|| kind.trim().to_owned())
}

impl Upstream {
    /// Reads `URL` and `NAME=URL`.
    pub(super) fn new(given: &[String]) -> anyhow::Result<Upstream> {
        let (mut everything, mut named) = (None, Vec::new());
        for given in given {
            let is_name = |(name, _): &(&str, &str)| !name.contains([':', '/']);
            match given.split_once('=').filter(is_name) {
                None => everything = Some(base(given)?),
                Some((name, url)) if is_known(name) => named.push((name.to_owned(), base(url)?)),
                Some((name, _)) => {
                    let mut names: Vec<&str> =
                        WIRES.iter().flat_map(|wire| [wire.provider, wire.name]).collect();
                    names.sort_unstable();
                    names.dedup();
                    bail!(
                        anyhow!("use one of {}", names.join(", "))
                            .context(format!("`--upstream`: unknown API `{name}`"))
                    );
                }
            }
        }
        let mut connector = HttpConnector::new();
        connector.enforce_http(false);
        connector.set_nodelay(true);
        let connector = HttpsConnectorBuilder::new()
            .with_tls_config(tls()?)
            .https_or_http()
            .enable_http1()
            .enable_http2()
            .wrap_connector(connector);
        let client = Client::builder(TokioExecutor::new())
            .pool_timer(TokioTimer::new())
            .timer(TokioTimer::new())
            .http1_preserve_header_case(true)
            .http2_adaptive_window(true)
            .build(connector);
        Ok(Upstream { client, everything, named, routes: Vec::new() })
    }

    /// Takes the addresses that clients would use from their variables, unless `--upstream` gives one.
    pub(super) fn learn(&mut self, variable: impl Fn(&str) -> Option<String>) {
        for wire in WIRES.iter().filter(|_| self.everything.is_none()) {
            let mut urls = wire.variables.iter().filter_map(|(name, _)| base(&variable(name)?).ok());
            if let Some(url) = urls.next() {
                self.named.push((wire.provider.to_owned(), url));
            }
        }
    }

    /// Adds the servers that requests name by number.
    pub(super) fn add_routes<'u>(&mut self, urls: impl Iterator<Item = &'u str>) {
        self.routes.extend(urls.map(|url| base(url).ok()));
    }

    /// Returns the address to send a request to.
    fn target(&self, wire: Option<&Wire>, head: &Parts) -> anyhow::Result<Uri> {
        if let Some(Route(number)) = head.extensions.get() {
            let base =
                self.routes.get(*number).cloned().flatten().context("no server is known for this request")?;
            let path = format!("{}{}", base.path().trim_end_matches('/'), head.uri.path());
            return at(base, &path, head.uri.query());
        }
        let path = head.uri.path();
        let provider =
            wire.map_or_else(|| provider(path, |name| head.headers.contains_key(name)), |wire| wire.provider);
        let named =
            |wanted: &str| self.named.iter().find(|(name, _)| name == wanted).map(|(_, uri)| uri.clone());
        let home = WIRES.iter().find(|wire| wire.provider == provider).map(|wire| wire.home);
        let own = wire.and_then(|wire| named(wire.name));
        let base = own.or_else(|| named(provider)).or_else(|| self.everything.clone());
        let base = base.or_else(|| home?.parse().ok()).context("no server is known for this request")?;
        let path = joined(base.path(), path);
        at(base, &path, head.uri.query())
    }

    /// Sends a request to its server.
    pub(super) async fn ask(
        &self,
        wire: Option<&Wire>,
        mut head: Parts,
        body: Body,
    ) -> Result<Response<Incoming>, Error> {
        head.uri = self.target(wire, &head)?;
        head.version = Version::HTTP_11;
        strip(&mut head.headers);
        head.headers.remove(header::HOST);
        head.headers.remove(header::EXPECT);
        Ok(self.client.request(Request::from_parts(head, body)).await?)
    }
}

/// Returns an address with another path and query.
fn at(base: Uri, path: &str, query: Option<&str>) -> anyhow::Result<Uri> {
    let path = query.map_or_else(|| path.to_owned(), |query| format!("{path}?{query}"));
    let mut parts = base.into_parts();
    parts.path_and_query = Some(path.parse()?);
    Ok(Uri::from_parts(parts)?)
}

/// Returns how to connect to servers: they prove their identity to the authorities that the system trusts.
fn tls() -> anyhow::Result<ClientConfig> {
    let mut roots = RootCertStore::empty();
    let (known, _) = roots.add_parsable_certificates(certificates::trusted());
    if known == 0 {
        bail!(
            anyhow!("name a file of certificates with SSL_CERT_FILE")
                .context("no trusted certificates found")
        );
    }
    Ok(ClientConfig::builder().with_root_certificates(roots).with_no_client_auth())
}

fn is_known(name: &str) -> bool {
    WIRES.iter().any(|wire| wire.name == name || wire.provider == name)
}

fn base(url: &str) -> anyhow::Result<Uri> {
    let uri: Option<Uri> = url.parse().ok();
    let is_web = |uri: &Uri| matches!(uri.scheme_str(), Some("http" | "https")) && uri.authority().is_some();
    uri.filter(is_web).ok_or_else(|| {
        anyhow!("write an address such as https://api.anthropic.com")
            .context(format!("`{url}` is not an HTTP address"))
    })
}

/// Joins two paths; a part in which the first ends and the second begins is written once.
fn joined(base: &str, path: &str) -> String {
    let base = base.trim_end_matches('/');
    let first = path.trim_start_matches('/').split('/').next().unwrap_or_default();
    match base.rsplit_once('/') {
        Some((before, last)) if !last.is_empty() && last == first => format!("{before}{path}"),
        _ => format!("{base}{path}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_continues_where_the_address_ends() {
        assert_eq!(joined("/", "/v1/messages"), "/v1/messages");
        assert_eq!(joined("/v1", "/v1/responses"), "/v1/responses");
        assert_eq!(joined("/api/v1/", "/v1/chat/completions"), "/api/v1/chat/completions");
        assert_eq!(joined("/api", "/v1/messages"), "/api/v1/messages");
    }
}
