//! As much of HTTP/1.1 as clients of models use.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::{Shutdown, TcpStream};

/// A larger request is refused: its connection ends.
const MAX_BODY: usize = 256 << 20;

/// A request as it came.
pub(crate) struct Request {
    pub(crate) method: String,
    /// With its query.
    pub(crate) target: String,
    /// Names in lower case.
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: Vec<u8>,
}

impl Request {
    /// The target without its query.
    pub(crate) fn path(&self) -> &str {
        self.target.split('?').next().unwrap_or_default()
    }

    /// A header's value, if it was sent.
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }
}

/// A client that may ask again and again.
pub(crate) struct Connection {
    reader: BufReader<TcpStream>,
    writer: TcpStream,
}

impl Connection {
    pub(crate) fn new(stream: TcpStream) -> io::Result<Connection> {
        Ok(Connection { reader: BufReader::new(stream.try_clone()?), writer: stream })
    }

    /// The next request; `None` when the client is done.
    pub(crate) fn read(&mut self) -> io::Result<Option<Request>> {
        let first = self.line()?;
        let mut words = first.split(' ');
        let (Some(method), Some(target)) = (words.next(), words.next()) else { return Ok(None) };
        let (method, target) = (method.to_owned(), target.to_owned());
        let mut headers = Vec::new();
        loop {
            let line = self.line()?;
            let Some((name, value)) = line.split_once(':') else { break };
            headers.push((name.trim().to_ascii_lowercase(), value.trim().to_owned()));
        }
        let mut request = Request { method, target, headers, body: Vec::new() };
        if request.header("expect").is_some() {
            self.writer.write_all(b"HTTP/1.1 100 Continue\r\n\r\n")?;
        }
        let is_chunked = request.header("transfer-encoding").is_some_and(|value| value.contains("chunked"));
        let len = request.header("content-length").and_then(|value| value.parse().ok());
        match len {
            _ if is_chunked => self.read_chunks(&mut request.body)?,
            Some(len) => self.read_exactly(len, &mut request.body)?,
            None => {}
        }
        Ok(Some(request))
    }

    fn read_chunks(&mut self, body: &mut Vec<u8>) -> io::Result<()> {
        loop {
            let line = self.line()?;
            let size = line.split(';').next().unwrap_or_default().trim();
            let size = usize::from_str_radix(size, 16).map_err(|_| io::ErrorKind::InvalidData)?;
            self.read_exactly(size, body)?;
            self.line()?;
            if size == 0 {
                return Ok(());
            }
        }
    }

    fn read_exactly(&mut self, len: usize, body: &mut Vec<u8>) -> io::Result<()> {
        if body.len().saturating_add(len) > MAX_BODY {
            return Err(io::ErrorKind::InvalidData.into());
        }
        let read = (&mut self.reader).take(len as u64).read_to_end(body)?;
        if read < len { Err(io::ErrorKind::UnexpectedEof.into()) } else { Ok(()) }
    }

    fn line(&mut self) -> io::Result<String> {
        let mut line = Vec::new();
        (&mut self.reader).take(64 << 10).read_until(b'\n', &mut line)?;
        Ok(String::from_utf8_lossy(&line).trim_end().to_owned())
    }

    /// A whole answer.
    pub(crate) fn answer(&mut self, status: u16, content_type: &str, body: &[u8]) -> io::Result<()> {
        let reason = if status < 400 { "OK" } else { "Error" };
        let head = format!(
            "HTTP/1.1 {status} {reason}\r\ncontent-type: {content_type}\r\ncontent-length: {}\r\n\r\n",
            body.len()
        );
        self.writer.write_all(head.as_bytes())?;
        self.writer.write_all(body)
    }

    /// The head of an answer whose parts follow.
    pub(crate) fn begin_stream(&mut self) -> io::Result<()> {
        let head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ncache-control: no-cache\r\n\
                    transfer-encoding: chunked\r\n\r\n";
        self.writer.write_all(head.as_bytes())
    }

    /// A part of a stream.
    pub(crate) fn part(&mut self, bytes: &[u8]) -> io::Result<()> {
        let mut framed = format!("{:x}\r\n", bytes.len()).into_bytes();
        framed.extend_from_slice(bytes);
        framed.extend_from_slice(b"\r\n");
        self.writer.write_all(&framed)
    }

    /// The regular end of a stream.
    pub(crate) fn end_stream(&mut self) -> io::Result<()> {
        self.writer.write_all(b"0\r\n\r\n")
    }

    /// Ends the connection, whatever is under way.
    pub(crate) fn close(&mut self) -> io::Error {
        let _ = self.writer.shutdown(Shutdown::Both);
        io::ErrorKind::ConnectionAborted.into()
    }
}
