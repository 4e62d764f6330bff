//! Decompresses bodies.

use std::io::{self, Read};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use bytes::Bytes;

/// The largest size of a decompressed body.
const MAX_BODY: usize = 128 << 20;

/// How many times larger than the compressed body it may be, beyond a size that is harmless.
const MAX_RATIO: usize = 200;
const HARMLESS: usize = 4 << 20;

/// How many bytes the decompressed bodies of all open requests have together.
const MAX_ROOM: usize = 256 << 20;

/// The largest window of a zstd frame: as much as RFC 9659 lets clients use. A decoder allocates its window before it
/// returns the first byte.
const MAX_WINDOW: usize = 8 << 20;

/// Room for decompressed bodies.
#[derive(Clone, Default)]
pub(super) struct Room(Arc<AtomicUsize>);

/// Room that a body takes, until it is dropped.
pub(super) struct Taken {
    bytes: usize,
    room: Room,
}

impl Room {
    /// Takes no room yet.
    pub(super) fn take(&self) -> Taken {
        Taken { bytes: 0, room: self.clone() }
    }
}

impl Taken {
    /// Takes more room, before it is used; returns whether there is enough.
    fn grow(&mut self, bytes: usize) -> bool {
        if bytes > MAX_ROOM {
            return false;
        }
        self.bytes += bytes;
        self.room.0.fetch_add(bytes, Ordering::Relaxed).saturating_add(bytes) <= MAX_ROOM
    }
}

impl Drop for Taken {
    fn drop(&mut self) {
        self.room.0.fetch_sub(self.bytes, Ordering::Relaxed);
    }
}

/// Returns a body decompressed, in the room that it takes; `None` if the coding is unknown.
pub(super) fn decoded(coding: Option<&str>, body: &Bytes, room: &mut Taken) -> Option<io::Result<Bytes>> {
    let mut window = room.room.take();
    let mut reader: Box<dyn Read + '_> = match coding.map(str::trim).unwrap_or("identity") {
        "identity" | "" => return Some(Ok(body.clone())),
        "gzip" | "x-gzip" => Box::new(flate2::read::MultiGzDecoder::new(&body[..])),
        "deflate" => Box::new(flate2::read::ZlibDecoder::new(&body[..])),
        "br" if !window.grow(brotli_window(body).unwrap_or(usize::MAX)) => return Some(Err(no_room())),
        "br" => Box::new(brotli_decompressor::Decompressor::new(&body[..], 64 << 10)),
        "zstd" if !window.grow(zstd_window(body).unwrap_or(usize::MAX)) => return Some(Err(no_room())),
        "zstd" => match ruzstd::decoding::StreamingDecoder::new(&body[..]) {
            Ok(decoder) => Box::new(decoder),
            Err(error) => return Some(Err(io::Error::other(error.to_string()))),
        },
        _ => return None,
    };
    let most = body.len().saturating_mul(MAX_RATIO).clamp(HARMLESS, MAX_BODY);
    let (mut whole, mut chunk) = (Vec::new(), vec![0; 64 << 10]);
    let mut read = || loop {
        match reader.read(&mut chunk)? {
            0 => return Ok(()),
            len if whole.len() + len > most => {
                return Err(io::Error::other(format!("the body is larger than {most} bytes")));
            }
            len if !room.grow(len) => {
                return Err(io::Error::other("too many compressed requests are open"));
            }
            len => whole.extend_from_slice(&chunk[..len]),
        }
    };
    let read = read();
    Some(read.map(|()| whole.into()))
}

fn no_room() -> io::Error {
    io::Error::other("its window is too large, or too many compressed requests are open")
}

/// Returns the size of a brotli stream's window, as in RFC 7932, at most 16 MiB; `None` for the larger windows that are not
/// in it, or if there is no stream.
fn brotli_window(body: &[u8]) -> Option<usize> {
    let bits = match body.first()? {
        first if first & 1 == 0 => 16,
        first if first & 0xe != 0 => 17 + (first >> 1 & 7),
        first => match first >> 4 & 7 {
            0 => 17,
            1 => return None,
            short => 8 + short,
        },
    };
    Some(1 << bits)
}

/// Returns the size of a zstd frame's window; `None` if it is too large or there is no frame.
fn zstd_window(body: &[u8]) -> Option<usize> {
    let (descriptor, fields) = body.get(4..)?.split_first()?;
    let window = match (descriptor & 0x20 != 0, descriptor >> 6) {
        (false, _) => {
            let (exponent, mantissa) = (fields.first()? >> 3, fields.first()? & 7);
            let base = 1_u64 << (10 + exponent);
            base + base / 8 * u64::from(mantissa)
        }
        // The window is the content, whose size follows the name of a dictionary.
        (true, code) => {
            let size = fields.get([0, 1, 2, 4][usize::from(descriptor & 3)]..)?.get(..1 << code)?;
            size.iter().rev().fold(0, |whole, byte| whole << 8 | u64::from(*byte))
        }
    };
    usize::try_from(window).ok().filter(|window| *window <= MAX_WINDOW)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(coding: &str, body: &[u8], wanted: Option<&str>) {
        let body = decoded(Some(coding), &Bytes::copy_from_slice(body), &mut Room::default().take());
        let body = body.and_then(Result::ok).map(|body| String::from_utf8_lossy(&body).into_owned());
        assert_eq!(body.as_deref(), wanted, "{coding}");
    }

    #[test]
    fn open_requests_share_the_room_for_decompressed_bodies() {
        let room = Room::default();
        let mut half = room.take();
        assert!(half.grow(MAX_ROOM / 2) && !room.take().grow(MAX_ROOM) && room.take().grow(MAX_ROOM / 2));
        drop(half);
        assert!(room.take().grow(MAX_ROOM));
    }

    #[test]
    fn a_body_takes_its_room_while_it_is_decompressed() {
        let room = Room::default();
        let mut others = room.take();
        assert!(others.grow(MAX_ROOM - (1 << 20)));
        let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        io::Write::write_all(&mut gzip, &vec![b' '; 2 << 20]).unwrap();
        let body = Bytes::from(gzip.finish().unwrap());
        assert!(decoded(Some("gzip"), &body, &mut room.take()).unwrap().is_err());
        drop(others);
        assert!(decoded(Some("gzip"), &body, &mut room.take()).unwrap().is_ok());
    }

    #[test]
    fn bodies_in_every_coding_are_read() {
        use std::io::Write as _;
        let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
        gzip.write_all(b"{\"a\":1}").unwrap();
        check("gzip", &gzip.finish().unwrap(), Some("{\"a\":1}"));
        // `{"a":1}` by `brotli` and by `zstd`.
        check("br", &[0x0b, 0x03, 0x80, 0x7b, 0x22, 0x61, 0x22, 0x3a, 0x31, 0x7d, 0x03], Some("{\"a\":1}"));
        let zstd =
            [0x28, 0xb5, 0x2f, 0xfd, 0x20, 0x07, 0x39, 0x00, 0x00, 0x7b, 0x22, 0x61, 0x22, 0x3a, 0x31, 0x7d];
        check("zstd", &zstd, Some("{\"a\":1}"));
        check("gzip", b"no", None);
        let mut bomb = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
        bomb.write_all(&vec![b' '; 32 << 20]).unwrap();
        check("gzip", &bomb.finish().unwrap(), None);
        // A frame of 512 KiB of spaces is read with a window of 8 MiB, and not with a larger one.
        let frame = |window: u8| {
            let block = |header: u8| [header, 0, 0x10, b' '];
            [&[0x28, 0xb5, 0x2f, 0xfd, 0, window][..], &[block(2); 3].concat(), &block(3)].concat()
        };
        check("zstd", &frame(13 << 3), Some(&" ".repeat(512 << 10)));
        for window in [13 << 3 | 1, 16 << 3, 0xff] {
            check("zstd", &frame(window), None);
        }
        // The window of 1 GiB that other programs than browsers understand.
        check("br", &[0x11, 30, 0x80], None);
        for (first, wanted) in
            [(0x0b, Some(22)), (0, Some(16)), (0x0f, Some(24)), (0x21, Some(10)), (1, Some(17)), (0x11, None)]
        {
            assert_eq!(brotli_window(&[first]), wanted.map(|bits| 1 << bits), "{first}");
        }
        assert_eq!(zstd_window(&[0x28, 0xb5, 0x2f, 0xfd, 0xa1, 9, 0, 0, 0, 1]), None, "16 MiB of content");
        assert_eq!(zstd_window(&[0x28, 0xb5, 0x2f, 0xfd, 0xa1, 9, 0, 0, 1, 0]), Some(1 << 16));
        check("rot13", b"no", None);
        check("identity", b"x", Some("x"));
    }
}
