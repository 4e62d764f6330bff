//! A model's server over TLS that speaks HTTP/1.1 or HTTP/2.

use std::convert::Infallible;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, mpsc};
use std::thread;

use bytes::Bytes;
use http_body_util::{BodyExt as _, Full};
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper::{Request, Response, Version};
use hyper_util::rt::{TokioExecutor, TokioIo};
use rustls::ServerConfig;
use tokio_rustls::TlsAcceptor;

use super::lab::{Lab, NO_MAP};
use super::wires::{CHAT, GO, WIRES};
use crate::server::certified;

/// The version, path and body of every request.
type Seen = Arc<Mutex<Vec<(Version, String, String)>>>;

/// A server's side of TLS that speaks one protocol, and the certificate of its authority.
fn speaking(protocol: &str) -> (ServerConfig, String) {
    let (mut config, authority) = certified(&["127.0.0.1"]);
    config.alpn_protocols = vec![protocol.as_bytes().to_vec()];
    (config, authority)
}

/// Answers every request with the next of these streams.
fn serve(config: ServerConfig, answers: Vec<String>) -> (SocketAddr, Seen) {
    let seen = Seen::default();
    let (bound, address) = mpsc::channel();
    let answers = Arc::new(Mutex::new(answers.into_iter()));
    let requests = Arc::clone(&seen);
    thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
            bound.send(listener.local_addr().unwrap()).unwrap();
            let acceptor = TlsAcceptor::from(Arc::new(config));
            loop {
                let (stream, _) = listener.accept().await.unwrap();
                let Ok(stream) = acceptor.accept(stream).await else { continue };
                let is_second = stream.get_ref().1.alpn_protocol() == Some(b"h2");
                let (answers, requests) = (Arc::clone(&answers), Arc::clone(&requests));
                let service = service_fn(move |request: Request<Incoming>| {
                    let (answers, requests) = (Arc::clone(&answers), Arc::clone(&requests));
                    async move {
                        let (head, body) = request.into_parts();
                        let body = body.collect().await.unwrap().to_bytes();
                        let text = String::from_utf8_lossy(&body).into_owned();
                        requests.lock().unwrap().push((head.version, head.uri.path().to_owned(), text));
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
fn requests_over_tls_use_the_version_that_the_server_speaks() {
    for (protocol, version) in [("http/1.1", Version::HTTP_11), ("h2", Version::HTTP_2)] {
        for wire in &WIRES {
            let (config, authority) = speaking(protocol);
            let answers = [("1", "new Map"), ("2", "fine")];
            let answers = answers.map(|(id, text)| (wire.events)(id, &[text], None).concat()).to_vec();
            let (address, seen) = serve(config, answers);
            let mut lab = Lab::new(&[NO_MAP]);
            lab.sandbox.write("authority.pem", &authority);
            lab.args = vec!["--upstream".to_owned(), format!("https://{address}")];
            lab.start();
            let answer = lab.ask(wire, GO);
            let text = (wire.received)(&answer.events()).0;
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
fn a_server_with_an_untrusted_certificate_gets_no_request() {
    let (config, _) = speaking("http/1.1");
    let (address, seen) = serve(config, Vec::new());
    let lab = Lab::with(&[], &["--upstream", &format!("https://{address}")]);
    let answer = lab.ask(&CHAT, GO);
    assert_eq!((answer.status(), seen.lock().unwrap().len()), (502, 0), "{}", answer.text());
    let why =
        "it could not prove its identity: its certificate is not from an authority that is trusted here";
    assert!(answer.text().contains(why), "{}", answer.text());
}
