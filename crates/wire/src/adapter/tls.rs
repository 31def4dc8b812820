//! Encrypted connections: TLS 1.2 and 1.3, by rustls.
//!
//! *Promises.* The certificate of the system is checked against its name and the roots given, unless the
//! user has said that it is not. Waiting for a handshake ends with its time limit, or by an interrupt. No lock
//! is held while the socket is waited for, so one thread can read while another one writes.

mod problem;

use std::fmt;
use std::io::{self, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, TryLockError};
use std::time::{Duration, Instant};

use ioxide_record::event::ScriptTls;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::client::{VerifierBuilderError, WebPkiServerVerifier};
use rustls::crypto::{CryptoProvider, ring};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName, UnixTime};
use rustls::{ClientConfig, ClientConnection, DigitallySignedStruct, RootCertStore, SignatureScheme};
use thiserror::Error;

use self::problem::{describe, describe_io};
use super::Interrupt;
use crate::codec::layout::hex;

/// Bytes read at once. The longest record of TLS.
const CHUNK: usize = 16 << 10;
/// Encrypted bytes that are taken from a connection before some are sent. Chosen by feel: it bounds the memory of a
/// large message.
const SENT_AT_ONCE: usize = 256 << 10;

/// The encryption of connections as configured.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TlsConfig {
    /// The certificate authorities to trust.
    pub roots: Roots,
    /// The name in the certificate of the system, if it is not that of its address.
    pub name: Option<String>,
    /// Our own certificate and its key, for systems that ask for one.
    pub identity: Option<(PathBuf, PathBuf)>,
}

/// The certificate authorities that are trusted.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Roots {
    /// Those that this machine trusts.
    #[default]
    System,
    /// Those in this file, and no others.
    File(PathBuf),
    /// Nobody: the certificate must be the one with this SHA-256 fingerprint.
    Fingerprint([u8; 32]),
    /// Anybody: certificates are not checked.
    Anybody,
}

/// The reason why connections cannot be encrypted as configured.
#[derive(Debug, Error)]
pub enum BadTls {
    /// A certificate or a key cannot be read.
    #[error("cannot use `{}`: {reason}", .path.display())]
    Unusable {
        /// The file.
        path: PathBuf,
        /// The cause.
        reason: String,
    },
    /// A file holds no certificate in PEM form.
    #[error("`{}` holds no certificate in PEM form", .0.display())]
    NoCertificate(PathBuf),
    /// No root certificate is trusted.
    #[error("this machine has no root certificates; give those to trust as `ca`")]
    NoRoots,
    /// The roots cannot be used.
    #[error(transparent)]
    Roots(#[from] VerifierBuilderError),
    /// The key does not fit the certificate, or is of no known kind.
    #[error("{}", describe(.0))]
    Rustls(#[from] rustls::Error),
}

/// A way to encrypt connections.
#[derive(Clone)]
pub struct Tls {
    config: Arc<ClientConfig>,
    /// The settings that it was made from.
    settings: TlsConfig,
}

impl fmt::Debug for Tls {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Tls").field("name", &self.settings.name).finish_non_exhaustive()
    }
}

impl Tls {
    /// Reads certificates and keys.
    ///
    /// # Errors
    /// If one of them cannot be read.
    pub fn new(config: &TlsConfig) -> Result<Self, BadTls> {
        let provider = Arc::new(ring::default_provider());
        let builder = ClientConfig::builder_with_provider(Arc::clone(&provider))
            .with_safe_default_protocol_versions()?
            .dangerous()
            .with_custom_certificate_verifier(verifier(&config.roots, provider)?);
        let client = match &config.identity {
            None => builder.with_no_client_auth(),
            Some((certificate, key)) => {
                let key = PrivateKeyDer::from_pem_file(key).map_err(|error| unreadable(key, &error))?;
                let chain = certificates(certificate)?;
                builder.with_client_auth_cert(chain, key)?
            }
        };
        Ok(Self { config: Arc::new(client), settings: config.clone() })
    }

    /// Returns the settings, as a script needs them.
    pub(super) fn script_tls(&self) -> ScriptTls {
        let text = |path: &PathBuf| path.display().to_string();
        let TlsConfig { roots, name, identity } = &self.settings;
        ScriptTls {
            authorities: match roots {
                Roots::File(path) => Some(text(path)),
                Roots::System | Roots::Fingerprint(_) | Roots::Anybody => None,
            },
            // A script has no check of fingerprints.
            is_unchecked: matches!(roots, Roots::Anybody | Roots::Fingerprint(_)),
            name: name.clone(),
            identity: identity.as_ref().map(|(certificate, key)| (text(certificate), text(key))),
        }
    }

    /// Encrypts a connection to `address`.
    pub(super) fn handshake(
        &self,
        mut stream: TcpStream,
        address: &str,
        limit: Duration,
        interrupt: Interrupt,
    ) -> Result<TlsStream, HandshakeError> {
        let name = self.settings.name.as_deref().unwrap_or_else(|| host_of(address)).to_owned();
        let name = ServerName::try_from(name.clone()).map_err(|_| HandshakeError::Name(name))?;
        let mut connection =
            ClientConnection::new(Arc::clone(&self.config), name).map_err(io::Error::other)?;
        // Without a limit a write never waits with the connection locked; `SENT_AT_ONCE` bounds what is taken out
        // at once.
        connection.set_buffer_limit(None);
        let deadline = Instant::now() + limit;
        while connection.is_handshaking() {
            if interrupt.is_set() || Instant::now() >= deadline {
                return Err(HandshakeError::TimedOut);
            }
            // A read time-out of zero is an error.
            let wait = Interrupt::next_wait(deadline).max(Duration::from_millis(1));
            stream.set_read_timeout(Some(wait))?;
            match connection.complete_io(&mut stream) {
                Ok(_) => (),
                Err(error) if is_wait(&error) => (),
                Err(error) => return Err(error.into()),
            }
        }
        stream.set_read_timeout(None)?;
        let (connection, unsent) = (Arc::new(Mutex::new(connection)), Arc::default());
        Ok(TlsStream { connection, unsent, stream, plain: Vec::new(), given: 0 })
    }
}

/// Returns whether the error says only that a wait is over.
pub(super) fn is_wait(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut | io::ErrorKind::Interrupted)
}

/// The host of `HOST:PORT`.
fn host_of(address: &str) -> &str {
    let host = address.rsplit_once(':').map_or(address, |(host, _)| host);
    host.strip_prefix('[').and_then(|host| host.strip_suffix(']')).unwrap_or(host)
}

/// Returns the check of certificates: by a file, by the roots of this machine, or none.
fn verifier(roots: &Roots, provider: Arc<CryptoProvider>) -> Result<Arc<dyn ServerCertVerifier>, BadTls> {
    let mut store = RootCertStore::empty();
    match roots {
        Roots::Anybody => return Ok(Arc::new(Unchecked { provider, fingerprint: None })),
        Roots::Fingerprint(fingerprint) => {
            return Ok(Arc::new(Unchecked { provider, fingerprint: Some(*fingerprint) }));
        }
        Roots::File(path) => {
            for certificate in certificates(path)? {
                store.add(certificate).map_err(|error| unreadable(path, &describe(&error)))?;
            }
        }
        Roots::System => {
            let found = rustls_native_certs::load_native_certs();
            store.add_parsable_certificates(found.certs);
        }
    }
    if store.is_empty() {
        return Err(BadTls::NoRoots);
    }
    let verifier = WebPkiServerVerifier::builder_with_provider(Arc::new(store), provider).build();
    Ok(verifier? as Arc<dyn ServerCertVerifier>)
}

/// The certificates of a PEM file; there must be one.
fn certificates(path: &Path) -> Result<Vec<CertificateDer<'static>>, BadTls> {
    let all = CertificateDer::pem_file_iter(path).map_err(|error| unreadable(path, &error))?;
    let all: Vec<_> = all.collect::<Result<_, _>>().map_err(|error| unreadable(path, &error))?;
    if all.is_empty() { Err(BadTls::NoCertificate(path.to_owned())) } else { Ok(all) }
}

/// Returns the error about a file that cannot be used.
fn unreadable(path: &Path, error: &impl fmt::Display) -> BadTls {
    BadTls::Unusable { path: path.to_owned(), reason: error.to_string() }
}

/// Trusts everybody, or whoever has the certificate with a fingerprint; signatures are checked all the same, so the
/// other side has its key.
#[derive(Debug)]
struct Unchecked {
    provider: Arc<CryptoProvider>,
    /// The SHA-256 of the certificate that is accepted; `None` for any.
    fingerprint: Option<[u8; 32]>,
}

/// Returns the SHA-256 of a certificate; `None` if the provider has no such hash.
fn sha256(certificate: &[u8]) -> Option<Vec<u8>> {
    let suite = ring::cipher_suite::TLS13_AES_128_GCM_SHA256.tls13()?;
    Some(suite.common.hash_provider.hash(certificate).as_ref().to_vec())
}

/// Returns bytes as a fingerprint is written.
fn show_fingerprint(bytes: &[u8]) -> String {
    format!("sha256:{}", hex(bytes))
}

impl ServerCertVerifier for Unchecked {
    fn verify_server_cert(
        &self,
        certificate: &CertificateDer<'_>,
        _others: &[CertificateDer<'_>],
        _name: &ServerName<'_>,
        _ocsp: &[u8],
        _now: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        let Some(expected) = self.fingerprint else { return Ok(ServerCertVerified::assertion()) };
        let found = sha256(certificate).unwrap_or_default();
        if found == expected {
            return Ok(ServerCertVerified::assertion());
        }
        Err(rustls::Error::General(format!(
            "its certificate has the fingerprint {}, not the one of `fingerprint`",
            show_fingerprint(&found)
        )))
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        let algorithms = &self.provider.signature_verification_algorithms;
        rustls::crypto::verify_tls12_signature(message, certificate, signed, algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        let algorithms = &self.provider.signature_verification_algorithms;
        rustls::crypto::verify_tls13_signature(message, certificate, signed, algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.provider.signature_verification_algorithms.supported_schemes()
    }
}

/// The reason why a connection could not be encrypted.
#[derive(Debug, Error)]
pub(super) enum HandshakeError {
    /// The time limit is over, or the wait was interrupted.
    #[error("the handshake takes too long")]
    TimedOut,
    /// The name of the system is not a host name.
    #[error("`{0}` is not a host name; give the name in the certificate as `name`")]
    Name(String),
    /// The handshake failed.
    #[error("{}", describe_io(.0))]
    Failed(#[from] io::Error),
}

/// An encrypted connection. Clones are the same connection; one of them reads.
pub(super) struct TlsStream {
    connection: Arc<Mutex<ClientConnection>>,
    /// The bytes that are encrypted and not sent yet; the sending thread holds it. It is never waited for with the
    /// connection locked.
    unsent: Arc<Mutex<Vec<u8>>>,
    stream: TcpStream,
    /// The decrypted bytes.
    plain: Vec<u8>,
    /// The number of bytes at the front of `plain` that were returned to the reader.
    given: usize,
}

impl TlsStream {
    /// The socket below.
    pub(super) fn socket(&self) -> &TcpStream {
        &self.stream
    }

    pub(super) fn try_clone(&self) -> io::Result<Self> {
        let (connection, unsent) = (Arc::clone(&self.connection), Arc::clone(&self.unsent));
        Ok(Self { connection, unsent, stream: self.stream.try_clone()?, plain: Vec::new(), given: 0 })
    }

    /// Announces the end of the stream, if possible, and shuts the socket down.
    pub(super) fn shutdown(&self, how: Shutdown) -> io::Result<()> {
        lock(&self.connection).send_close_notify();
        // Whoever sends just now may wait for the peer for long: the end of the socket ends that, too.
        self.send_pending().ok();
        self.stream.shutdown(how)
    }

    /// Sends all encrypted bytes; waits while another thread is sending.
    fn send(&self) -> io::Result<()> {
        loop {
            self.send_from(&mut lock(&self.unsent))?;
            if !self.has_to_send() {
                return Ok(());
            }
        }
    }

    /// Sends what is encrypted, unless somebody is sending: whoever does looks for more before it ends.
    fn send_pending(&self) -> io::Result<()> {
        loop {
            match self.unsent.try_lock() {
                Ok(mut unsent) => self.send_from(&mut unsent)?,
                Err(TryLockError::Poisoned(unsent)) => self.send_from(&mut unsent.into_inner())?,
                Err(TryLockError::WouldBlock) => return Ok(()),
            }
            if !self.has_to_send() {
                return Ok(());
            }
        }
    }

    /// Returns whether somebody has left something to send while another one was sending.
    fn has_to_send(&self) -> bool {
        lock(&self.connection).wants_write()
    }

    /// Sends what is encrypted; what a socket does not take stays in `unsent`, before all that comes later.
    fn send_from(&self, unsent: &mut Vec<u8>) -> io::Result<()> {
        loop {
            // Locked only while bytes are encrypted, not while the socket takes them: reading goes on meanwhile.
            let mut connection = lock(&self.connection);
            while connection.wants_write() && unsent.len() < SENT_AT_ONCE {
                connection.write_tls(unsent)?;
            }
            drop(connection);
            if unsent.is_empty() {
                return Ok(());
            }
            match (&self.stream).write(unsent) {
                Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
                Ok(count) => drop(unsent.drain(..count)),
                // With this error, the caller would write the same once more.
                Err(error) if error.kind() == io::ErrorKind::Interrupted => (),
                Err(error) => return Err(error),
            }
        }
    }

    /// Decrypts `bytes` and sends what TLS has to answer; returns whether the peer has announced the end of the stream.
    fn decrypt(&mut self, bytes: &[u8]) -> io::Result<bool> {
        let has_ended = self.decrypt_plain(bytes)?;
        match self.send_pending() {
            // It is kept, and goes with what is sent next.
            Err(error) if !is_wait(&error) => Err(error),
            _ => Ok(has_ended),
        }
    }

    fn decrypt_plain(&mut self, mut bytes: &[u8]) -> io::Result<bool> {
        let mut connection = lock(&self.connection);
        let mut has_ended = false;
        loop {
            // First what is there already: `read_tls` refuses more while its buffers are full.
            let state = connection.process_new_packets().map_err(io::Error::other)?;
            let from = self.plain.len();
            self.plain.resize(from + state.plaintext_bytes_to_read(), 0);
            connection.reader().read_exact(&mut self.plain[from..])?;
            has_ended |= state.peer_has_closed();
            if bytes.is_empty() {
                break;
            }
            connection.read_tls(&mut bytes)?;
        }
        Ok(has_ended)
    }
}

impl Read for TlsStream {
    fn read(&mut self, room: &mut [u8]) -> io::Result<usize> {
        let mut raw = [0; CHUNK];
        let mut came = 0;
        loop {
            let has_ended = self.decrypt(&raw[..came])?;
            let left = &self.plain[self.given..];
            if !left.is_empty() {
                let count = left.len().min(room.len());
                room[..count].copy_from_slice(&left[..count]);
                self.given += count;
                return Ok(count);
            }
            // All was given out, so the room of a large message is freed.
            (self.plain, self.given) = (Vec::new(), 0);
            if has_ended {
                return Ok(0);
            }
            came = self.stream.read(&mut raw)?;
            if came == 0 {
                return Ok(0);
            }
        }
    }
}

impl Write for TlsStream {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        // Before it is encrypted: else whoever reads might find it and wait for the peer to take it.
        let mut unsent = lock(&self.unsent);
        let count = lock(&self.connection).writer().write(bytes)?;
        self.send_from(&mut unsent)?;
        drop(unsent);
        self.send()?;
        Ok(count)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.send()
    }
}

/// Returns what the lock guards, also after a panic of another thread.
fn lock<T>(of: &Mutex<T>) -> MutexGuard<'_, T> {
    of.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests;
