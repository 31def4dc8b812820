use std::fs;
use std::net::TcpListener;

use rcgen::{
    BasicConstraints, CertificateParams, CertifiedKey, IsCa, KeyPair, date_time_ymd,
    generate_simple_self_signed,
};
use rustls::pki_types::PrivatePkcs8KeyDer;
use rustls::{ServerConfig, ServerConnection, StreamOwned};

use super::*;
use crate::adapter::http::{HttpAdapter, HttpProtocol};
use crate::adapter::tcp::TcpAdapter;
use crate::adapter::text::{MessageFormat, TextAdapter, TextProtocol};
use crate::adapter::{Adapter, Framing, Observation, RemoteConnection, SutSpec};
use crate::codec::http::answer::AnswerConfig;
use crate::codec::http::{HttpConfig, RequestConfig};
use crate::codec::text::TextConfig;
use crate::samples::{message, model};

const ECHO: &str = "model Echo { input SAY(n: int) output SAID(n: int) state a { on SAY emit SAID } }";

/// A server whose connections are handled by `serve`, and a file with its certificate, for `localhost`.
struct Encrypted {
    address: String,
    ca: tempfile::NamedTempFile,
}

type Stream = StreamOwned<ServerConnection, TcpStream>;

fn encrypted(serve: impl Fn(Stream) + Send + 'static) -> Encrypted {
    encrypted_with(generate_simple_self_signed(["localhost".to_owned()]).unwrap(), serve)
}

/// A server with this certificate.
fn encrypted_with(own: CertifiedKey<KeyPair>, serve: impl Fn(Stream) + Send + 'static) -> Encrypted {
    let CertifiedKey { cert, signing_key } = own;
    let key = PrivatePkcs8KeyDer::from(signing_key.serialize_der());
    let config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![cert.der().clone()], key.into())
        .unwrap();
    let config = Arc::new(config);
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("localhost:{}", listener.local_addr().unwrap().port());
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            serve(StreamOwned::new(ServerConnection::new(Arc::clone(&config)).unwrap(), stream));
        }
    });
    let ca = tempfile::NamedTempFile::new().unwrap();
    fs::write(ca.path(), cert.pem()).unwrap();
    Encrypted { address, ca }
}

impl Encrypted {
    fn connection(&self, roots: Roots, name: Option<&str>) -> RemoteConnection {
        let config = TlsConfig { roots, name: name.map(Into::into), identity: None };
        RemoteConnection { tls: Some(Tls::new(&config).unwrap()), ..RemoteConnection::default() }
    }

    fn trusted(&self) -> RemoteConnection {
        self.connection(Roots::File(self.ca.path().to_owned()), None)
    }
}

/// Sends back what comes, byte by byte.
fn echo(mut stream: Stream) {
    let mut byte = [0];
    while matches!(stream.read(&mut byte), Ok(1)) && stream.write_all(&byte).is_ok() {
        stream.flush().ok();
    }
}

fn text(address: &str, connection: &RemoteConnection) -> TextAdapter {
    let text = TextConfig {
        inputs: vec![("SAY".into(), "say {n}\n".into())],
        outputs: vec![("SAID".into(), "say (?P<n>-?[0-9]+)".into())],
        ..TextConfig::default()
    };
    let speech = TextProtocol {
        words: MessageFormat::Text(text),
        framing: Framing::Line,
        input_end: None,
        reset: Vec::new(),
        ..TextProtocol::default()
    };
    TextAdapter::new(&SutSpec::Tcp(address.into()), speech, Arc::new(model(ECHO)), connection).unwrap()
}

const SOON: Duration = Duration::from_secs(20);

#[test]
fn text_is_spoken_through_tls() {
    let server = encrypted(echo);
    let mut adapter = text(&server.address, &server.trusted());
    let model = model(ECHO);
    for _ in 0..2 {
        adapter.reset().unwrap();
        for n in 0..3 {
            assert_eq!(adapter.poll(), Ok(None));
            adapter.send(&message(&model, "SAY", &[n])).unwrap();
            assert_eq!(
                adapter.observe(SOON).map(Observation::label),
                Ok(Some(message(&model, "SAID", &[n])))
            );
        }
        assert_eq!(adapter.observe(Duration::from_millis(5)), Ok(Observation::Quiet));
    }
}

#[test]
fn the_end_of_an_encrypted_connection_is_no_silence() {
    let server = encrypted(|mut stream| {
        stream.write_all(b"say 1\nsay 1").unwrap();
        stream.conn.send_close_notify();
        stream.flush().ok();
    });
    let mut adapter = text(&server.address, &server.trusted());
    adapter.reset().unwrap();
    assert_eq!(adapter.observe(SOON).map(Observation::label), Ok(Some(message(&model(ECHO), "SAID", &[1]))));
    let error = adapter.observe(SOON).unwrap_err().to_string();
    assert!(error.contains("incomplete message"), "{error}");
}

/// Returns the error of a reset that must fail.
fn refusal(server: &Encrypted, connection: &RemoteConnection) -> String {
    text(&server.address, connection).reset().unwrap_err().to_string()
}

#[test]
fn a_certificate_must_be_trusted_and_have_the_right_name() {
    let server = encrypted(echo);
    let other = encrypted(echo);
    let unknown = refusal(&server, &other.trusted());
    assert!(
        unknown.contains("no TLS connection to `localhost:") && unknown.contains("authority"),
        "{unknown}"
    );
    let file = Roots::File(server.ca.path().to_owned());
    let named = refusal(&server, &server.connection(file, Some("example.org")));
    assert!(named.contains("example.org"), "{named}");
    let mut anybody = text(&server.address, &other.connection(Roots::Anybody, Some("example.org")));
    assert_eq!(anybody.reset(), Ok(()));
}

#[test]
fn a_server_without_tls_is_told() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap().to_string();
    std::thread::spawn(move || {
        for mut stream in listener.incoming().flatten() {
            stream.write_all(b"220 plain words here\r\n").ok();
            stream.read_to_end(&mut Vec::new()).ok();
        }
    });
    let server = encrypted(echo);
    let plain = Encrypted { address, ca: server.ca };
    let problem = refusal(&plain, &plain.connection(Roots::Anybody, None));
    assert!(problem.contains("no TLS connection") && problem.contains("leave out `tls`"), "{problem}");
}

/// Defect: the error was `Other(OtherError(CaUsedAsEndEntity))`.
#[test]
fn a_self_signed_authority_is_told_with_what_to_do() {
    let mut params = CertificateParams::new(vec!["localhost".to_owned()]).unwrap();
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    let key = KeyPair::generate().unwrap();
    let cert = params.self_signed(&key).unwrap();
    let server = encrypted_with(CertifiedKey { cert, signing_key: key }, echo);
    let problem = refusal(&server, &server.trusted());
    assert!(problem.contains("CA:FALSE") && problem.contains("`insecure = true`"), "{problem}");
    assert!(!problem.contains("CaUsedAsEndEntity"), "{problem}");
}

#[test]
fn a_certificate_of_another_time_is_told() {
    for (from, to, says) in [(1975, 1976, "has expired"), (3000, 3001, "not valid yet")] {
        let mut params = CertificateParams::new(vec!["localhost".to_owned()]).unwrap();
        (params.not_before, params.not_after) = (date_time_ymd(from, 1, 1), date_time_ymd(to, 1, 1));
        let key = KeyPair::generate().unwrap();
        let cert = params.self_signed(&key).unwrap();
        let server = encrypted_with(CertifiedKey { cert, signing_key: key }, echo);
        let problem = refusal(&server, &server.trusted());
        assert!(problem.contains(says) && problem.contains("days away"), "{problem}");
    }
}

/// No error of a certificate is shown as the name of its variant.
#[test]
fn errors_of_tls_are_sentences() {
    use rustls::{AlertDescription, CertificateError, Error, InvalidMessage, PeerIncompatible};
    for error in [
        Error::InvalidCertificate(CertificateError::UnknownIssuer),
        Error::InvalidCertificate(CertificateError::BadSignature),
        Error::InvalidCertificate(CertificateError::NotValidForName),
        Error::InvalidCertificate(CertificateError::Revoked),
        Error::InvalidMessage(InvalidMessage::InvalidContentType),
        Error::AlertReceived(AlertDescription::CertificateRequired),
        Error::AlertReceived(AlertDescription::UnknownCA),
        Error::PeerIncompatible(PeerIncompatible::ServerDoesNotSupportTls12Or13),
        Error::NoCertificatesPresented,
    ] {
        let (told, variant) = (describe(&error), format!("{error:?}"));
        let inner = variant.rsplit('(').next().unwrap_or_default().trim_end_matches(')').to_owned();
        assert!(told.contains(' ') && !told.contains(&inner), "{variant}: {told}");
    }
}

#[test]
fn files_without_certificates_are_told() {
    let empty = tempfile::NamedTempFile::new().unwrap();
    let wrong = |roots| Tls::new(&TlsConfig { roots, ..TlsConfig::default() }).unwrap_err().to_string();
    assert!(wrong(Roots::File(empty.path().to_owned())).contains("holds no certificate"));
    assert!(wrong(Roots::File("/nowhere/ca.pem".into())).contains("cannot use `/nowhere/ca.pem`"));
}

#[test]
fn requests_go_through_tls_and_so_does_the_ready_probe() {
    let server = encrypted(|mut stream| {
        let mut seen = Vec::new();
        let mut byte = [0];
        while matches!(stream.read(&mut byte), Ok(1)) {
            seen.push(byte[0]);
            if seen.ends_with(b"\r\n\r\n") {
                seen.clear();
                stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 1\r\n\r\n7").unwrap();
                stream.flush().unwrap();
            }
        }
    });
    let url = format!("https://{}", server.address);
    assert!(crate::adapter::http::is_up(&url, Interrupt::never()));
    let say = RequestConfig { method: "GET".into(), path: "/{n}".into(), ..RequestConfig::default() };
    let said = AnswerConfig { body: Some("(?P<n>.)".into()), ..AnswerConfig::default() };
    let http = HttpConfig {
        inputs: vec![("SAY".into(), say)],
        outputs: vec![("SAID".into(), said)],
        ..HttpConfig::default()
    };
    let speech = HttpProtocol { url: url.parse().unwrap(), http, reset: Vec::new(), on_connect: Vec::new() };
    let model = Arc::new(model(ECHO));
    let mut adapter = HttpAdapter::new(&speech, Arc::clone(&model), &server.trusted()).unwrap();
    adapter.reset().unwrap();
    for _ in 0..2 {
        adapter.send(&message(&model, "SAY", &[3])).unwrap();
        assert_eq!(adapter.observe(SOON).map(Observation::label), Ok(Some(message(&model, "SAID", &[7]))));
    }
}

#[test]
fn the_adapter_protocol_goes_through_tls() {
    let server = encrypted(|mut stream| {
        stream.write_all(b"{\"type\":\"hello\",\"protocol\":1,\"name\":\"t\",\"labels\":[]}\n").unwrap();
        let mut line = Vec::new();
        let mut byte = [0];
        while matches!(stream.read(&mut byte), Ok(1)) {
            line.push(byte[0]);
            if byte[0] == b'\n' {
                let text = String::from_utf8_lossy(&line).into_owned();
                let answer = if text.contains("\"input\"") {
                    "{\"type\":\"sent\",\"id\":1}\n{\"type\":\"output\",\"label\":\"SAID\",\"args\":{\"n\":5}}\n"
                } else {
                    "{\"type\":\"ready\"}\n"
                };
                stream.write_all(answer.as_bytes()).ok();
                stream.flush().ok();
                line.clear();
            }
        }
    });
    let model = Arc::new(model(ECHO));
    let mut adapter = TcpAdapter::connect(&server.address, Arc::clone(&model), server.trusted()).unwrap();
    adapter.reset().unwrap();
    adapter.send(&message(&model, "SAY", &[3])).unwrap();
    assert_eq!(adapter.observe(SOON).map(Observation::label), Ok(Some(message(&model, "SAID", &[5]))));
}

/// In a timed model another thread reads.
#[test]
fn one_thread_reads_while_another_one_writes() {
    let timed = "model Echo { input SAY(n: int) output SAID(n: int) clock t state a { on SAY emit SAID when t >= 0 } }";
    let server = encrypted(echo);
    let text = TextConfig {
        inputs: vec![("SAY".into(), "say {n}\n".into())],
        outputs: vec![("SAID".into(), "say (?P<n>[0-9]+)".into())],
        ..TextConfig::default()
    };
    let model = Arc::new(model(timed));
    assert!(model.sts.is_timed());
    let speech = TextProtocol {
        words: MessageFormat::Text(text),
        framing: Framing::Line,
        input_end: None,
        reset: Vec::new(),
        ..TextProtocol::default()
    };
    let spec = SutSpec::Tcp(server.address.clone());
    let mut adapter = TextAdapter::new(&spec, speech, Arc::clone(&model), &server.trusted()).unwrap();
    adapter.reset().unwrap();
    for n in 0..20 {
        adapter.send(&message(&model, "SAY", &[n])).unwrap();
        assert_eq!(adapter.observe(SOON).map(Observation::label), Ok(Some(message(&model, "SAID", &[n]))));
    }
}

/// A peer may say a lot before it listens: whoever reads must not wait for whoever writes.
#[test]
fn a_peer_that_wants_to_be_read_first_stalls_nobody() {
    const MANY: usize = 16 << 20;
    let server = encrypted(|mut stream| {
        stream.write_all(&vec![b'x'; MANY]).unwrap();
        stream.flush().unwrap();
        let mut came = vec![0; MANY];
        stream.read_exact(&mut came).unwrap();
        stream.write_all(b"y").unwrap();
        stream.flush().unwrap();
    });
    let socket = TcpStream::connect(server.address.replace("localhost", "127.0.0.1")).unwrap();
    socket.set_write_timeout(Some(SOON)).unwrap();
    let tls = server.trusted().tls.unwrap();
    let mut writer = tls.handshake(socket, &server.address, SOON, Interrupt::never()).unwrap();
    let mut reader = writer.try_clone().unwrap();
    let written =
        std::thread::spawn(move || writer.write_all(&vec![b'z'; MANY]).and_then(|()| writer.flush()));
    // The writer waits by now: nobody has read what it wrote.
    std::thread::sleep(Duration::from_millis(300));
    let mut came = vec![0; MANY + 1];
    reader.read_exact(&mut came).unwrap();
    assert_eq!((came[0], came[MANY]), (b'x', b'y'));
    written.join().unwrap().unwrap();
}

/// Hanging up does not wait for a peer that does not read.
#[test]
fn a_connection_can_be_ended_while_somebody_writes() {
    let server = encrypted(|mut stream| {
        stream.write_all(b"x").unwrap();
        stream.flush().unwrap();
        std::thread::sleep(SOON);
    });
    let socket = TcpStream::connect(server.address.replace("localhost", "127.0.0.1")).unwrap();
    let tls = server.trusted().tls.unwrap();
    let mut writer = tls.handshake(socket, &server.address, SOON, Interrupt::never()).unwrap();
    writer.read_exact(&mut [0]).unwrap();
    let other = writer.try_clone().unwrap();
    let written = std::thread::spawn(move || writer.write_all(&vec![b'z'; 64 << 20]));
    std::thread::sleep(Duration::from_millis(300));
    let before = Instant::now();
    other.shutdown(Shutdown::Both).unwrap();
    assert!(before.elapsed() < SOON / 4, "{:?}", before.elapsed());
    written.join().unwrap().unwrap_err();
}

/// A self-signed certificate is accepted by its fingerprint, whatever its name is, and no other one is.
#[test]
fn a_certificate_is_accepted_by_its_fingerprint() {
    let known = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
    assert_eq!(sha256(b"abc").map(|hash| hex(&hash)).as_deref(), Some(known), "FIPS 180-2, B.1");
    let (server, other) = (encrypted(echo), encrypted(echo));
    let fingerprint = |server: &Encrypted| {
        let certificate = certificates(server.ca.path()).unwrap().remove(0);
        <[u8; 32]>::try_from(sha256(&certificate).unwrap()).unwrap()
    };
    let own = Roots::Fingerprint(fingerprint(&server));
    assert_eq!(text(&server.address, &server.connection(own, Some("example.org"))).reset(), Ok(()));
    let wrong = refusal(&server, &server.connection(Roots::Fingerprint(fingerprint(&other)), None));
    let shown = format!("its certificate has the fingerprint sha256:{}", hex(&fingerprint(&server)));
    assert!(wrong.contains(&shown), "{wrong}");
}
