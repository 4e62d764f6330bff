//! Decompresses bodies.

use std::io::{self, Read};

use bytes::Bytes;

/// The largest size of a decompressed body.
pub(super) const MAX_BODY: usize = 256 << 20;

/// Returns a body decompressed; `None` if the coding is unknown.
pub(super) fn decoded(coding: Option<&str>, body: &Bytes) -> Option<io::Result<Bytes>> {
    let reader: Box<dyn Read + '_> = match coding.map(str::trim).unwrap_or("identity") {
        "identity" | "" => return Some(Ok(body.clone())),
        "gzip" | "x-gzip" => Box::new(flate2::read::MultiGzDecoder::new(&body[..])),
        "deflate" => Box::new(flate2::read::ZlibDecoder::new(&body[..])),
        "br" => Box::new(brotli_decompressor::Decompressor::new(&body[..], 64 << 10)),
        "zstd" => match ruzstd::decoding::StreamingDecoder::new(&body[..]) {
            Ok(decoder) => Box::new(decoder),
            Err(error) => return Some(Err(io::Error::other(error.to_string()))),
        },
        _ => return None,
    };
    let mut whole = Vec::new();
    let read = reader.take(MAX_BODY as u64 + 1).read_to_end(&mut whole).and_then(|_| match whole.len() {
        len if len > MAX_BODY => Err(io::Error::other(format!("the body is larger than {MAX_BODY} bytes"))),
        _ => Ok(()),
    });
    Some(read.map(|()| whole.into()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(coding: &str, body: &[u8], wanted: Option<&str>) {
        let body = decoded(Some(coding), &Bytes::copy_from_slice(body));
        let body = body.and_then(Result::ok).map(|body| String::from_utf8_lossy(&body).into_owned());
        assert_eq!(body.as_deref(), wanted, "{coding}");
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
        check("rot13", b"no", None);
        check("identity", b"x", Some("x"));
    }
}
