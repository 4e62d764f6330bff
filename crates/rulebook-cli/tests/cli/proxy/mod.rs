//! The proxy between a client and a model's server, over real connections.

mod agents;
mod faults;
mod lab;
mod operations;
mod order;
mod passing;
mod readers;
mod requests;
mod shapes;
mod streams;
mod tls;
mod wires;
