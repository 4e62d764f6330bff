//! A server on loopback that behaves as it is told: over TLS with an authority of its own, or in the clear.

use std::collections::HashMap;
use std::io::{BufRead as _, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

use rcgen::{BasicConstraints, CertificateParams, IsCa, Issuer, KeyPair};
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::{ServerConfig, ServerConnection, StreamOwned};

/// What came in.
pub(crate) struct Request {
    pub(crate) path: String,
    /// By lower-case name.
    pub(crate) headers: HashMap<String, String>,
    /// How many came before it.
    pub(crate) count: usize,
}

/// Both ends of a connection.
pub(crate) trait Wire: Read + Write {}
impl<T: Read + Write> Wire for T {}

/// How a request is answered.
pub(crate) type Behaviour = Arc<dyn Fn(&Request, &mut dyn Wire) + Send + Sync>;

/// A running server; it ends with the process.
pub(crate) struct Server {
    pub(crate) url: String,
    /// The authority's certificate, for https.
    pub(crate) ca: Option<String>,
    pub(crate) asked: Arc<AtomicUsize>,
}

impl Server {
    pub(crate) fn clear(behaviour: Behaviour) -> Server {
        Server::start(None, behaviour)
    }

    pub(crate) fn secure(behaviour: Behaviour) -> Server {
        Server::secure_for(&["localhost", "127.0.0.1"], behaviour)
    }

    /// Over TLS, with a certificate for these names.
    pub(crate) fn secure_for(names: &[&str], behaviour: Behaviour) -> Server {
        let mut params = CertificateParams::new(Vec::new()).unwrap();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let ca_key = KeyPair::generate().unwrap();
        let ca = params.self_signed(&ca_key).unwrap();
        let issuer = Issuer::from_params(&params, &ca_key);
        let key = KeyPair::generate().unwrap();
        let names: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
        let leaf = CertificateParams::new(names).unwrap().signed_by(&key, &issuer).unwrap();
        let chain: Vec<CertificateDer<'static>> = vec![leaf.der().clone()];
        let private = PrivateKeyDer::try_from(key.serialize_der()).unwrap();
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let config = ServerConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_no_client_auth()
            .with_single_cert(chain, private)
            .unwrap();
        let server = Server::start(Some(Arc::new(config)), behaviour);
        Server { ca: Some(ca.pem()), ..server }
    }

    fn start(tls: Option<Arc<ServerConfig>>, behaviour: Behaviour) -> Server {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let scheme = if tls.is_some() { "https" } else { "http" };
        let asked = Arc::new(AtomicUsize::new(0));
        let count = Arc::clone(&asked);
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let (tls, behaviour, count) = (tls.clone(), Arc::clone(&behaviour), Arc::clone(&count));
                thread::spawn(move || answer(stream, tls, &behaviour, &count));
            }
        });
        Server { url: format!("{scheme}://127.0.0.1:{port}"), ca: None, asked }
    }
}

fn answer(stream: TcpStream, tls: Option<Arc<ServerConfig>>, behaviour: &Behaviour, count: &AtomicUsize) {
    stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
    match tls {
        None => converse(stream, behaviour, count),
        Some(config) => {
            converse(StreamOwned::new(ServerConnection::new(config).unwrap(), stream), behaviour, count);
        }
    }
}

fn converse(mut wire: impl Wire, behaviour: &Behaviour, count: &AtomicUsize) {
    let mut lines = BufReader::new(&mut wire);
    let mut first = String::new();
    if lines.read_line(&mut first).is_err() || first.is_empty() {
        return;
    }
    let mut headers = HashMap::new();
    loop {
        let mut line = String::new();
        if lines.read_line(&mut line).is_err() || line.trim().is_empty() {
            break;
        }
        if let Some((name, value)) = line.split_once(':') {
            headers.insert(name.to_lowercase(), value.trim().to_owned());
        }
    }
    let path = first.split(' ').nth(1).unwrap_or_default().to_owned();
    let request = Request { path, headers, count: count.fetch_add(1, Ordering::SeqCst) };
    behaviour(&request, &mut wire);
    let _ = wire.flush();
}

/// A behaviour.
pub(crate) fn does(behaviour: impl Fn(&Request, &mut dyn Wire) + Send + Sync + 'static) -> Behaviour {
    Arc::new(behaviour)
}

/// Writes a whole answer. A client that went away has what it wanted.
pub(crate) fn say(wire: &mut dyn Wire, status: &str, headers: &[(&str, &str)], body: &str) {
    let mut text = format!("HTTP/1.1 {status}\r\nConnection: close\r\nContent-Length: {}\r\n", body.len());
    headers.iter().for_each(|(name, value)| text.push_str(&format!("{name}: {value}\r\n")));
    let _ = wire.write_all(format!("{text}\r\n{body}").as_bytes());
}

/// A document of rules.
pub(crate) fn document(rules: &[(&str, &str)]) -> String {
    let rules: Vec<serde_json::Value> = rules
        .iter()
        .map(|(name, contents)| serde_json::json!({ "name": name, "contents": contents }))
        .collect();
    serde_json::json!({ "remoteGlobalRules": rules }).to_string()
}
