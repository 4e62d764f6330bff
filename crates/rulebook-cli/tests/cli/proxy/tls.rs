//! A model's server behind TLS, which speaks HTTP/1.1 or HTTP/2 as it is agreed.

use std::convert::Infallible;
use std::fs;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, mpsc};
use std::thread;

use bytes::Bytes;
use http_body_util::{BodyExt as _, Full};
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper::{Request, Response, Version};
use hyper_util::rt::{TokioExecutor, TokioIo};
use rcgen::{BasicConstraints, CertificateParams, IsCa, Issuer, KeyPair};
use rustls::ServerConfig;
use rustls::pki_types::PrivateKeyDer;
use tokio_rustls::TlsAcceptor;

use super::lab::{CHAT, Lab, WIRES};

/// Requests as they came: the version, the path and the body.
type Seen = Arc<Mutex<Vec<(Version, String, String)>>>;

/// A certificate for this machine, its key, and the authority's certificate.
fn certified(protocol: &[u8]) -> (ServerConfig, String) {
    let mut params = CertificateParams::new(Vec::new()).unwrap();
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    let key = KeyPair::generate().unwrap();
    let authority = params.self_signed(&key).unwrap();
    let issuer = Issuer::from_params(&params, &key);
    let own = KeyPair::generate().unwrap();
    let leaf =
        CertificateParams::new(vec!["127.0.0.1".to_owned()]).unwrap().signed_by(&own, &issuer).unwrap();
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let mut config = ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![leaf.der().clone()], PrivateKeyDer::try_from(own.serialize_der()).unwrap())
        .unwrap();
    config.alpn_protocols = vec![protocol.to_vec()];
    (config, authority.pem())
}

/// Answers every request with the next of these streams.
fn serve(config: ServerConfig, answers: Vec<String>) -> (SocketAddr, Seen) {
    let seen = Seen::default();
    let (told, address) = mpsc::channel();
    let answers = Arc::new(Mutex::new(answers.into_iter()));
    let noted = Arc::clone(&seen);
    thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
            told.send(listener.local_addr().unwrap()).unwrap();
            let acceptor = TlsAcceptor::from(Arc::new(config));
            loop {
                let (stream, _) = listener.accept().await.unwrap();
                let Ok(stream) = acceptor.accept(stream).await else { continue };
                let is_second = stream.get_ref().1.alpn_protocol() == Some(b"h2");
                let (answers, noted) = (Arc::clone(&answers), Arc::clone(&noted));
                let service = service_fn(move |request: Request<Incoming>| {
                    let (answers, noted) = (Arc::clone(&answers), Arc::clone(&noted));
                    async move {
                        let (head, body) = request.into_parts();
                        let body = body.collect().await.unwrap().to_bytes();
                        let text = String::from_utf8_lossy(&body).into_owned();
                        noted.lock().unwrap().push((head.version, head.uri.path().to_owned(), text));
                        let answer = answers.lock().unwrap().next().unwrap_or_default();
                        let response = Response::builder().header("content-type", "text/event-stream");
                        Ok::<_, Infallible>(response.body(Full::new(Bytes::from(answer))).unwrap())
                    }
                });
                tokio::spawn(async move {
                    let stream = TokioIo::new(stream);
                    if is_second {
                        let http = hyper::server::conn::http2::Builder::new(TokioExecutor::new());
                        let _ = http.serve_connection(stream, service).await;
                    } else {
                        let http = hyper::server::conn::http1::Builder::new();
                        let _ = http.serve_connection(stream, service).await;
                    }
                });
            }
        });
    });
    (address.recv().unwrap(), seen)
}

#[test]
fn a_server_behind_tls_is_asked_in_the_version_it_speaks() {
    for (protocol, version) in [("http/1.1", Version::HTTP_11), ("h2", Version::HTTP_2)] {
        for wire in &WIRES {
            let (config, authority) = certified(protocol.as_bytes());
            let answers = [("1", "new Map"), ("2", "fine")];
            let answers = answers.map(|(id, text)| (wire.events)(id, &[text], None).concat()).to_vec();
            let (address, seen) = serve(config, answers);
            let mut lab = Lab::new(&[("no-map.md", "---\ncondition: new Map\n---\nNo.\n")]);
            fs::write(lab.path().join("home/authority.pem"), authority).unwrap();
            lab.args = vec!["--upstream".to_owned(), format!("https://{address}")];
            lab.start();
            let answer = lab.ask(wire, &(wire.conversation)(&[("user", "go")]));
            let text = (wire.heard)(&answer.events()).0;
            assert!(text.ends_with("fine") && !text.contains("new"), "{protocol}: {}", answer.text());
            let seen = seen.lock().unwrap();
            let path = wire.path.split('?').next().unwrap();
            assert!(seen.iter().all(|(with, at, _)| *with == version && at == path), "{protocol}: {seen:?}");
            assert_eq!(seen.len(), 2);
            assert!(seen[1].2.contains("<system-interrupt"));
        }
    }
}

#[test]
fn a_server_nobody_vouches_for_is_not_asked() {
    let (config, _) = certified(b"http/1.1");
    let (address, seen) = serve(config, Vec::new());
    let lab = Lab::with(&[], &["--upstream", &format!("https://{address}")]);
    let answer = lab.ask(&CHAT, &(CHAT.conversation)(&[("user", "go")]));
    assert_eq!((answer.status(), seen.lock().unwrap().len()), (502, 0), "{}", answer.text());
}
