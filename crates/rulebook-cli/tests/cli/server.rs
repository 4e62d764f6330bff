//! A server on loopback whose answers a test decides: over TLS with its own authority, or plain.

use std::collections::HashMap;
use std::io::{BufRead as _, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use rcgen::{BasicConstraints, CertificateParams, IsCa, Issuer, KeyPair};
use rustls::pki_types::PrivateKeyDer;
use rustls::{ServerConfig, ServerConnection, StreamOwned};

/// A request, without its body.
pub(crate) struct Request {
    pub(crate) path: String,
    /// By lower-case name.
    pub(crate) headers: HashMap<String, String>,
    /// How many requests came before it.
    pub(crate) count: usize,
}

/// Both directions of a connection.
pub(crate) trait Wire: Read + Write {}
impl<T: Read + Write> Wire for T {}

/// Answers a request.
pub(crate) type Behaviour = Arc<dyn Fn(&Request, &mut dyn Wire) + Send + Sync>;

/// A running server; it ends with the process.
pub(crate) struct Server {
    pub(crate) url: String,
    /// The authority's certificate, for https.
    pub(crate) ca: Option<String>,
    requests: Arc<AtomicUsize>,
}

impl Server {
    pub(crate) fn plain(behaviour: Behaviour) -> Server {
        Server::start(None, behaviour)
    }

    pub(crate) fn secure(behaviour: Behaviour) -> Server {
        Server::secure_for(&["localhost", "127.0.0.1"], behaviour)
    }

    /// Over TLS, with a certificate for these names.
    pub(crate) fn secure_for(names: &[&str], behaviour: Behaviour) -> Server {
        let (config, ca) = certified(names);
        Server { ca: Some(ca), ..Server::start(Some(Arc::new(config)), behaviour) }
    }

    /// How many requests came in.
    pub(crate) fn requests(&self) -> usize {
        self.requests.load(Ordering::SeqCst)
    }

    fn start(tls: Option<Arc<ServerConfig>>, behaviour: Behaviour) -> Server {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let scheme = if tls.is_some() { "https" } else { "http" };
        let requests = Arc::new(AtomicUsize::new(0));
        let count = Arc::clone(&requests);
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let (tls, behaviour, count) = (tls.clone(), Arc::clone(&behaviour), Arc::clone(&count));
                thread::spawn(move || match tls {
                    None => converse(stream, &behaviour, &count),
                    Some(config) => converse(encrypted(config, stream), &behaviour, &count),
                });
            }
        });
        Server { url: format!("{scheme}://127.0.0.1:{port}"), ca: None, requests }
    }
}

/// A server's side of TLS for these names, and the certificate of the authority that signed it, as PEM.
pub(crate) fn certified(names: &[&str]) -> (ServerConfig, String) {
    let mut params = CertificateParams::new(Vec::new()).unwrap();
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    let ca_key = KeyPair::generate().unwrap();
    let ca = params.self_signed(&ca_key).unwrap();
    let issuer = Issuer::from_params(&params, &ca_key);
    let key = KeyPair::generate().unwrap();
    let names: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
    let leaf = CertificateParams::new(names).unwrap().signed_by(&key, &issuer).unwrap();
    let private = PrivateKeyDer::try_from(key.serialize_der()).unwrap();
    let config = ServerConfig::builder_with_provider(Arc::new(rustls::crypto::ring::default_provider()))
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![leaf.der().clone()], private)
        .unwrap();
    (config, ca.pem())
}

fn encrypted(config: Arc<ServerConfig>, stream: TcpStream) -> impl Wire {
    StreamOwned::new(ServerConnection::new(config).unwrap(), stream)
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

/// A behaviour from a function.
pub(crate) fn does(behaviour: impl Fn(&Request, &mut dyn Wire) + Send + Sync + 'static) -> Behaviour {
    Arc::new(behaviour)
}

/// Writes a whole answer. A client that closed the connection does not matter.
pub(crate) fn respond(wire: &mut dyn Wire, status: &str, headers: &[(&str, &str)], body: &str) {
    let mut text = format!("HTTP/1.1 {status}\r\nConnection: close\r\nContent-Length: {}\r\n", body.len());
    headers.iter().for_each(|(name, value)| text.push_str(&format!("{name}: {value}\r\n")));
    write(wire, format!("{text}\r\n{body}").as_bytes());
}

/// Writes bytes. A client that closed the connection does not matter.
pub(crate) fn write(wire: &mut dyn Wire, bytes: &[u8]) {
    let _ = wire.write_all(bytes);
}
