//! The proxy from outside: a client and a model's server over real connections, and the binary between them.

mod faults;
mod lab;
mod operations;
mod passing;
mod requests;
mod streams;
mod tls;
