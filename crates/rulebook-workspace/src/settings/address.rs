//! Addresses of `[[remote]]` entries, and which of them may be fetched.

use std::borrow::Cow;
use std::net::IpAddr;

use rulebook::id::percent_decoded;

/// The address of remote rules.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Address {
    /// A document on a server.
    Web(Web),
    /// A document on this machine.
    Document(String),
    /// A folder of rule files on this machine, read in place.
    Folder(String),
}

/// The address of a document on a server: `https`, or `http` on this machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Web {
    scheme: &'static str,
    /// Host and port, lower case.
    authority: String,
    /// From the first `/` on, with the query.
    path: String,
}

/// The accepted addresses in words, as they follow `must be`.
pub(crate) const SHAPE: &str = "an `https://` address without a password (`http://` on this machine only), a `file://` address, or a path that \
     starts with `/` or `~/`";

impl Address {
    /// Reads an address as it is written in the settings.
    pub(crate) fn parse(text: &str) -> Option<Address> {
        let path: Cow<'_, str> = match text.strip_prefix("file://") {
            Some(path) => percent_decoded(path.strip_prefix("localhost").unwrap_or(path)),
            None if text.contains("://") => return Web::parse(text).map(Address::Web),
            None => text.into(),
        };
        let is_local = path.starts_with('/') || path.starts_with("~/") || cfg!(windows) && is_drive(&path);
        // A share may be on another machine.
        if !is_local || path.starts_with("//") || path.contains(char::is_control) {
            return None;
        }
        let is_document = path.to_lowercase().ends_with(".json");
        Some(if is_document { Address::Document(path.into()) } else { Address::Folder(path.into()) })
    }
}

fn is_drive(path: &str) -> bool {
    path.as_bytes().first().is_some_and(u8::is_ascii_alphabetic) && path[1..].starts_with(":/")
}

impl Web {
    fn parse(text: &str) -> Option<Web> {
        let (scheme, rest) = text.split_once("://")?;
        let scheme = ["https", "http"].into_iter().find(|known| scheme.eq_ignore_ascii_case(known))?;
        let rest = rest.split('#').next().unwrap_or_default();
        let end = rest.find(['/', '?']).unwrap_or(rest.len());
        let (authority, path) = rest.split_at(end);
        let path = if path.starts_with('/') { path.to_owned() } else { format!("/{path}") };
        let web = Web { scheme, authority: authority.to_ascii_lowercase(), path };
        let is_plain =
            web.path.bytes().all(|byte| byte.is_ascii_graphic() && !b"\"<>\\^`{|}".contains(&byte));
        (is_plain && web.host().is_some() && (scheme == "https" || web.is_local())).then_some(web)
    }

    /// The host, if host and port can be read.
    fn host(&self) -> Option<&str> {
        let (host, port) = match self.authority.strip_prefix('[') {
            Some(rest) => rest.split_once(']')?,
            None => self.authority.split_at(self.authority.find(':').unwrap_or(self.authority.len())),
        };
        let is_number = |port: &str| port.parse::<u16>().is_ok_and(|port| port > 0);
        let is_name = |host: &str| {
            let is_letter = |byte: u8| byte.is_ascii_alphanumeric() || b"-._".contains(&byte);
            !host.is_empty() && host.len() <= 253 && host.bytes().all(is_letter)
        };
        let is_host = match self.authority.starts_with('[') {
            true => host.parse::<std::net::Ipv6Addr>().is_ok(),
            false => is_name(host),
        };
        (is_host && (port.is_empty() || port.strip_prefix(':').is_some_and(is_number))).then_some(host)
    }

    /// Whether it is on this machine.
    pub(crate) fn is_local(&self) -> bool {
        self.host().is_some_and(|host| {
            host == "localhost" || host.parse().is_ok_and(|address: IpAddr| address.is_loopback())
        })
    }

    /// Whether the connection is not encrypted.
    pub(crate) fn is_plain_http(&self) -> bool {
        self.scheme == "http"
    }

    /// Scheme, host and port.
    pub(crate) fn origin(&self) -> String {
        let default = if self.is_plain_http() { ":80" } else { ":443" };
        let authority = self.authority.strip_suffix(default).unwrap_or(&self.authority);
        format!("{}://{authority}", self.scheme)
    }

    /// The whole address.
    pub(crate) fn text(&self) -> String {
        format!("{}://{}{}", self.scheme, self.authority, self.path)
    }

    /// The address of a file beside it, such as its signature.
    pub(crate) fn beside(&self, suffix: &str) -> Web {
        let (path, query) = self.path.split_at(self.path.find('?').unwrap_or(self.path.len()));
        Web { path: format!("{path}{suffix}{query}"), ..self.clone() }
    }

    /// The target of a redirect, which must stay in the same origin.
    pub(crate) fn follow(&self, location: &str) -> Result<Web, String> {
        let absolute = match location {
            _ if location.contains("://") => location.to_owned(),
            _ if location.starts_with("//") => format!("{}:{location}", self.scheme),
            _ if location.starts_with('/') => format!("{}://{}{location}", self.scheme, self.authority),
            _ => {
                let path = self.path.split('?').next().unwrap_or_default();
                let folder = &path[..path.rfind('/').map_or(0, |at| at + 1)];
                let base = if location.starts_with('?') { path } else { folder };
                format!("{}://{}{base}{location}", self.scheme, self.authority)
            }
        };
        match Web::parse(&absolute) {
            Some(web) if web.origin() == self.origin() => Ok(web),
            Some(web) => Err(format!("redirects to another origin, `{}`", web.origin())),
            None => Err("redirects to an address that cannot be fetched".to_owned()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_https_or_on_this_machine() {
        #[track_caller]
        fn check(text: &str, want: Option<&str>) {
            let shown = Address::parse(text).map(|address| match address {
                Address::Web(web) => web.text(),
                Address::Document(path) => format!("document {path}"),
                Address::Folder(path) => format!("folder {path}"),
            });
            assert_eq!(shown.as_deref(), want, "{text}");
        }
        check("https://rules.example.com/a.json", Some("https://rules.example.com/a.json"));
        check("HTTPS://Rules.Example.com?x=1#y", Some("https://rules.example.com/?x=1"));
        check("https://h:8443/a", Some("https://h:8443/a"));
        check("http://127.0.0.1:8080/a", Some("http://127.0.0.1:8080/a"));
        check("http://127.9.9.9/a", Some("http://127.9.9.9/a"));
        check("http://localhost/a", Some("http://localhost/a"));
        check("http://[::1]:80/a", Some("http://[::1]:80/a"));
        check("http://example.com/a", None);
        check("http://localhost.example.com/a", None);
        check("http://127.0.0.1.example.com/a", None);
        check("http://127.0.0.1@example.com/a", None);
        check("http://127.0.0.1\\@example.com/a", None);
        check("http://127.0.0.1#@example.com/a", Some("http://127.0.0.1/"));
        check("https://user:secret@example.com/a", None);
        check("https://example.com:0/a", None);
        check("https://example.com:99999/a", None);
        check("https://example.com/a b", None);
        check("https://exa\u{200b}mple.com/", None);
        check("https:///a", None);
        check("ftp://example.com/a", None);
        check("file:///srv/rules.json", Some("document /srv/rules.json"));
        check("file://localhost/srv/rules", Some("folder /srv/rules"));
        check("file:///srv/our%20rules.json", Some("document /srv/our rules.json"));
        check("file:///srv%00/rules", None);
        check("file:///%2fserver/share", None);
        check("/srv/100%25", Some("folder /srv/100%25"));
        check("file://server/share", None);
        check("//server/share", None);
        check("\\\\server\\share", None);
        check("~/rules", Some("folder ~/rules"));
        check("rules", None);
        check("../rules", None);
        check("/a\nb", None);
    }

    #[test]
    fn a_redirect_stays_in_its_origin() {
        #[track_caller]
        fn check(location: &str, want: Result<&str, &str>) {
            let Some(Address::Web(from)) = Address::parse("https://h:8443/x/a.json?v=1") else { panic!() };
            let found = from.follow(location).map(|web| web.text());
            assert_eq!(found.as_deref().map_err(String::as_str), want, "{location}");
        }
        check("/b.json", Ok("https://h:8443/b.json"));
        check("b.json", Ok("https://h:8443/x/b.json"));
        check("?v=2", Ok("https://h:8443/x/a.json?v=2"));
        check("https://H:8443/b", Ok("https://h:8443/b"));
        check("//h:8443/b", Ok("https://h:8443/b"));
        check("https://h/b", Err("redirects to another origin, `https://h`"));
        check("//evil/b", Err("redirects to another origin, `https://evil`"));
        check("http://h:8443/b", Err("redirects to an address that cannot be fetched"));
        check("http://127.0.0.1/b", Err("redirects to another origin, `http://127.0.0.1`"));
        check("file:///etc/passwd", Err("redirects to an address that cannot be fetched"));
        check("/a b", Err("redirects to an address that cannot be fetched"));
        check("javascript:alert(1)", Ok("https://h:8443/x/javascript:alert(1)"));
    }

    #[test]
    fn a_signature_is_beside_its_document() {
        let Some(Address::Web(web)) = Address::parse("https://h/a.json?v=1") else { panic!() };
        assert_eq!(web.beside(".minisig").text(), "https://h/a.json.minisig?v=1");
    }
}
