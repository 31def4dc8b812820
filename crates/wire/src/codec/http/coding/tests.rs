use std::io::Write;

use flate2::Compression;
use flate2::write::{DeflateEncoder, GzEncoder, ZlibEncoder};
use proptest::prelude::*;

use super::super::message::{AskedFor, HttpRequest, HttpResponse};
use super::*;
use crate::codec::layout::unhex;

const HELLO: &[u8] = b"Hello, hello, hello, hello!";

/// [`HELLO`] by the reference implementation (brotli 1.1).
fn brotli_hello() -> Vec<u8> {
    unhex("1b1a00f88dd44ef9c38caa91d0d8de3448084b9952649f4820b80e09").unwrap()
}

/// 64 MiB of zeros by the same: 106 bytes.
fn brotli_zeros() -> Vec<u8> {
    let digits = "cbffff3ff82700e2b14020f7fe8fffff7ff04f00c4611180eefd1fffffffe09f0088c30200ddfb3ffeffffc13f011087\
                  0500baf77ffcffff837f02200e0b0074effff8ffff07ff04401c1600e8defff1ffff0ffe0980382c00d0bdffcbffff3f\
                  fc1300715800a07bff07";
    unhex(digits).unwrap()
}

fn gzip(body: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(body).unwrap();
    encoder.finish().unwrap()
}

fn zlib(body: &[u8]) -> Vec<u8> {
    let mut encoder = ZlibEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(body).unwrap();
    encoder.finish().unwrap()
}

fn bare(body: &[u8]) -> Vec<u8> {
    let mut encoder = DeflateEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(body).unwrap();
    encoder.finish().unwrap()
}

/// Returns the answer with this head and body.
fn answer(headers: &str, body: &[u8]) -> Result<HttpResponse, Undecodable> {
    let head = format!("HTTP/1.1 200 OK\r\n{headers}content-length: {}\r\n\r\n", body.len());
    let bytes = [head.as_bytes(), body].concat();
    let parsed = HttpResponse::parse(&bytes, AskedFor::Body, false)?;
    let (response, used) = parsed.expect("all of it is there");
    assert_eq!(used, bytes.len());
    Ok(response)
}

/// Defect: the encoded bytes were taken for the text of the body.
#[test]
fn bodies_that_come_encoded_are_read() {
    for (name, body) in [
        ("gzip", gzip(HELLO)),
        ("x-GZIP", gzip(HELLO)),
        ("deflate", zlib(HELLO)),
        ("deflate", bare(HELLO)),
        ("br", brotli_hello()),
        ("identity", HELLO.to_vec()),
        ("gzip, deflate", zlib(&gzip(HELLO))),
        ("gzip", [gzip(&HELLO[..5]), gzip(&HELLO[5..])].concat()),
    ] {
        let read = answer(&format!("Content-Encoding: {name}\r\n"), &body).unwrap();
        assert_eq!((read.body.as_slice(), &read.unread_coding), (HELLO, &None), "{name}");
    }
    let chunked = [
        b"HTTP/1.1 200 OK\r\ntransfer-encoding: gzip, chunked\r\n\r\n".to_vec(),
        format!("{:x}\r\n", gzip(HELLO).len()).into_bytes(),
        gzip(HELLO),
        b"\r\n0\r\n\r\n".to_vec(),
    ];
    let (read, _) = HttpResponse::parse(&chunked.concat(), AskedFor::Body, false).unwrap().unwrap();
    assert_eq!(read.body, HELLO);
    let nothing = answer("content-encoding: gzip\r\n", b"").unwrap();
    assert!(nothing.body.is_empty(), "an answer without content may name an encoding");
}

#[test]
fn every_request_asks_for_plain_bodies_unless_it_says_otherwise() {
    let bytes = |headers: Vec<(String, String)>| {
        let request =
            HttpRequest { method: "GET".into(), path: "/".into(), headers, ..HttpRequest::default() };
        String::from_utf8(request.to_bytes("h:1")).unwrap()
    };
    assert!(bytes(Vec::new()).contains("\r\naccept-encoding: identity\r\n"));
    let own = bytes(vec![("accept-encoding".into(), "gzip".into())]);
    assert!(own.contains("\r\naccept-encoding: gzip\r\n") && !own.contains("identity"), "{own}");
}

#[test]
fn a_body_that_is_cut_off_or_damaged_is_an_error() {
    for (name, body) in
        [("gzip", gzip(HELLO)), ("deflate", zlib(HELLO)), ("deflate", bare(HELLO)), ("br", brotli_hello())]
    {
        for length in 1..body.len() {
            let read = answer(&format!("content-encoding: {name}\r\n"), &body[..length]);
            assert!(matches!(read, Err(Undecodable::Wrong(_))), "{name}, {length} bytes: {read:?}");
        }
    }
    let mut damaged = gzip(HELLO);
    let at = damaged.len() - 6;
    damaged[at] ^= 1;
    let read = answer("content-encoding: gzip\r\n", &damaged);
    assert!(matches!(&read, Err(Undecodable::Wrong(why)) if why.contains("`gzip`")), "{read:?}");
}

/// A few bytes that stand for gigabytes fill no memory, and are nobody's fault.
#[test]
fn bodies_that_explode_are_not_read() {
    let zeros = vec![0; 64 << 20];
    for (name, body) in
        [("gzip", gzip(&zeros)), ("deflate", zlib(&zeros)), ("deflate", bare(&zeros)), ("br", brotli_zeros())]
    {
        let read = answer(&format!("content-encoding: {name}\r\n"), &body);
        assert!(matches!(&read, Err(Undecodable::TooLarge(why)) if why.contains("too long")), "{read:?}");
    }
    // Each layer is bounded, also where only the next one explodes.
    let twice = answer("content-encoding: gzip, gzip\r\n", &gzip(&gzip(&zeros)));
    assert!(matches!(twice, Err(Undecodable::TooLarge(_))), "{twice:?}");
    let many = answer("content-encoding: gzip, gzip, gzip, gzip, gzip\r\n", b"x");
    assert!(matches!(many, Err(Undecodable::TooLarge(_))), "{many:?}");
}

#[test]
fn an_encoding_that_is_not_read_is_no_fault_of_the_system() {
    let read = answer("content-encoding: zstd\r\n", b"????").unwrap();
    assert!(matches!(&read.unread_coding, Some(Excess::Coding { name }) if name == "zstd"), "{read:?}");
    assert_eq!(read.body, b"????");
    let stream = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ncontent-encoding: gzip\r\n\r\n";
    let read = HttpResponse::parse(stream, AskedFor::Body, false);
    assert!(matches!(&read, Err(Undecodable::TooLarge(why)) if why.contains("stream of events")), "{read:?}");
}

proptest! {
    #[test]
    fn any_body_comes_back(body in proptest::collection::vec(any::<u8>(), 0..5000)) {
        for (name, encoded) in [("gzip", gzip(&body)), ("deflate", zlib(&body)), ("deflate", bare(&body))] {
            let read = answer(&format!("content-encoding: {name}\r\n"), &encoded);
            prop_assert_eq!(read.map(|read| read.body), Ok(body.clone()));
        }
    }

    #[test]
    fn any_bytes_are_a_body_or_an_error(body in proptest::collection::vec(any::<u8>(), 0..400)) {
        for name in ["gzip", "deflate", "br"] {
            let _ = answer(&format!("content-encoding: {name}\r\n"), &body);
        }
    }
}
