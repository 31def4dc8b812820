//! The errors of TLS as sentences that say what to do.
//!
//! rustls shows most of its errors as the names of their variants, which mean nothing to people who have not read its
//! documentation.

use std::io;

use rustls::{AlertDescription, CertificateError, Error, InvalidMessage, PeerIncompatible};

/// Returns the sentence for an error of a connection, which may be one of TLS inside.
pub(super) fn describe_io(error: &io::Error) -> String {
    let inner = error.get_ref().and_then(|inner| inner.downcast_ref::<Error>());
    match (inner, error.kind()) {
        (Some(inner), _) => describe(inner),
        (None, io::ErrorKind::UnexpectedEof) => {
            "the system closed the connection during the handshake; does it speak TLS at this port?".into()
        }
        (None, _) => error.to_string(),
    }
}

/// Returns the sentence for an error of TLS.
pub(super) fn describe(error: &Error) -> String {
    match error {
        Error::InvalidCertificate(problem) => describe_certificate(problem),
        Error::InvalidMessage(
            InvalidMessage::InvalidContentType
            | InvalidMessage::UnknownProtocolVersion
            | InvalidMessage::MessageTooLarge
            | InvalidMessage::InvalidEmptyPayload,
        ) => "the reply of the system is not TLS; if it does not encrypt, leave out `tls`, or write `http` for `https`"
            .into(),
        Error::InvalidMessage(problem) => {
            format!("the system sent a TLS message that cannot be read ({problem:?})")
        }
        Error::AlertReceived(alert) => describe_alert(*alert),
        Error::NoCertificatesPresented => "the system showed no certificate".into(),
        Error::InconsistentKeys(_) => {
            "the `key` does not belong to the `certificate`: their public keys differ".into()
        }
        Error::PeerIncompatible(PeerIncompatible::ServerDoesNotSupportTls12Or13) => {
            "the system speaks a version of TLS older than 1.2".into()
        }
        Error::PeerIncompatible(problem) => {
            format!("the system has no version or cipher of TLS in common with ioxide ({problem:?})")
        }
        Error::PeerMisbehaved(problem) => format!("the system violates TLS ({problem:?})"),
        Error::General(text) => text.clone(),
        Error::HandshakeNotComplete => "the handshake is not complete".into(),
        Error::FailedToGetCurrentTime => "the clock of this machine cannot be read".into(),
        other => other.to_string(),
    }
}

/// The advice about a certificate that this machine does not trust.
const TRUST: &str = "give the certificate of its authority as `ca`, or `insecure = true` to check nothing";

fn describe_certificate(problem: &CertificateError) -> String {
    match problem {
        CertificateError::BadEncoding => "the certificate cannot be read".into(),
        CertificateError::Expired | CertificateError::ExpiredContext { .. } => {
            format!("the certificate of the system has expired; renew it{}", dates(problem))
        }
        CertificateError::NotValidYet | CertificateError::NotValidYetContext { .. } => {
            format!(
                "the certificate of the system is not valid yet; is the clock of this machine right?{}",
                dates(problem)
            )
        }
        CertificateError::Revoked => "the certificate of the system was revoked".into(),
        CertificateError::UnknownIssuer => {
            format!("the certificate of the system is not signed by a trusted authority: {TRUST}")
        }
        CertificateError::BadSignature => {
            "the signature of the certificate is wrong: it was not signed by the authority given as `ca`"
                .into()
        }
        CertificateError::NotValidForName => {
            "the certificate of the system is for another name; give that name as `name`".into()
        }
        CertificateError::NotValidForNameContext { expected, presented } => {
            let names = match &presented[..] {
                [] => "no name".to_owned(),
                names => names.join(", "),
            };
            let expected = expected.to_str();
            format!(
                "the certificate of the system is not for `{expected}` but for {names}; give its name as `name`"
            )
        }
        CertificateError::InvalidPurpose | CertificateError::InvalidPurposeContext { .. } => {
            "the certificate of the system is not one for servers (its extended key usage)".into()
        }
        CertificateError::Other(other) => match other.0.downcast_ref::<webpki::Error>() {
            Some(problem) => describe_path(problem),
            None => format!("the certificate of the system is not accepted: {}", other.0),
        },
        other => format!("the certificate of the system is not accepted: {other}"),
    }
}

/// Returns the dates of a certificate that is valid at another time, if they are known.
fn dates(problem: &CertificateError) -> String {
    let seconds = match problem {
        CertificateError::ExpiredContext { time, not_after } => {
            time.as_secs().saturating_sub(not_after.as_secs())
        }
        CertificateError::NotValidYetContext { time, not_before } => {
            not_before.as_secs().saturating_sub(time.as_secs())
        }
        _ => return String::new(),
    };
    format!(" ({} days away)", seconds.div_ceil(24 * 60 * 60))
}

/// Returns the sentence for a problem on the way from the certificate to an authority.
fn describe_path(problem: &webpki::Error) -> String {
    match problem {
        webpki::Error::CaUsedAsEndEntity => {
            "the system shows the certificate of an authority (`CA:TRUE`) as its own, as a self-signed one made by \
             `openssl req -x509` is. Make it again with `-addext basicConstraints=critical,CA:FALSE`, or sign a \
             certificate for the system with it and keep it as `ca`; or set `insecure = true` to check nothing"
                .into()
        }
        webpki::Error::EndEntityUsedAsCa => {
            "an intermediate certificate may not sign others (`CA:FALSE`): the `ca` must be one with \
             `CA:TRUE`"
                .into()
        }
        webpki::Error::UnsupportedCertVersion => {
            "the certificate has an old version (X.509 v1), as `openssl x509 -req` makes them without `-extfile`: \
             make it again with a `subjectAltName`"
                .into()
        }
        webpki::Error::MalformedExtensions => {
            "the extensions of the certificate are missing or cannot be read; a `subjectAltName` is needed".into()
        }
        webpki::Error::NameConstraintViolation => {
            "the authority may not sign certificates for this name (its name constraints)".into()
        }
        webpki::Error::PathLenConstraintViolated => {
            "there are more authorities between the certificate and the root than the root allows".into()
        }
        other => format!("the certificate of the system is not accepted ({other:?})"),
    }
}

fn describe_alert(alert: AlertDescription) -> String {
    match alert {
        AlertDescription::CertificateRequired => {
            "the system asks for a client certificate: give `certificate` and `key`".into()
        }
        AlertDescription::UnknownCA
        | AlertDescription::BadCertificate
        | AlertDescription::CertificateUnknown => {
            "the system does not accept our certificate: is it signed by an authority that the system trusts?"
                .into()
        }
        AlertDescription::CertificateExpired => "our certificate has expired".into(),
        AlertDescription::HandshakeFailure | AlertDescription::InsufficientSecurity => {
            "the system has no cipher of TLS in common with ioxide, or it requires a client certificate"
                .into()
        }
        AlertDescription::ProtocolVersion => "the system speaks neither TLS 1.2 nor 1.3".into(),
        AlertDescription::UnrecognisedName => {
            "the system does not know the host name; set `name` to one it knows".into()
        }
        other => format!("the system refused the handshake ({other:?})"),
    }
}
