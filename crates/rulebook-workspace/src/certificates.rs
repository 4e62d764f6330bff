//! The certificates of authorities that connections trust.

use rustls::pki_types::CertificateDer;
use rustls::{CertificateError, Error};

/// The certificates of the system, or those in the file that `SSL_CERT_FILE` names.
#[cfg(not(target_vendor = "apple"))]
#[must_use]
pub fn trusted() -> Vec<CertificateDer<'static>> {
    rustls_native_certs::load_native_certs().certs
}

/// The certificates in the file that `SSL_CERT_FILE` names, or else Mozilla's list, which is part of the program. The
/// system's own list is behind a framework, and a program that links one cannot be built on another system.
#[cfg(target_vendor = "apple")]
#[must_use]
pub fn trusted() -> Vec<CertificateDer<'static>> {
    use rustls::pki_types::pem::PemObject as _;
    const MAX: usize = 16 << 20;
    let Some(file) = std::env::var_os("SSL_CERT_FILE") else {
        return webpki_root_certs::TLS_SERVER_ROOT_CERTS.to_vec();
    };
    let bytes = crate::read::bytes(file.as_ref(), MAX).ok().flatten().unwrap_or_default();
    CertificateDer::pem_slice_iter(&bytes).flatten().collect()
}

/// Why a server could not prove its identity, or why the connection to it is not secure.
#[must_use]
pub fn refusal(error: &Error) -> String {
    let Error::InvalidCertificate(why) = error else {
        return format!("does not speak TLS as expected: {}", error.to_string().to_lowercase());
    };
    let why = match why {
        CertificateError::Expired | CertificateError::ExpiredContext { .. } => "its certificate has expired",
        CertificateError::NotValidYet | CertificateError::NotValidYetContext { .. } => {
            "its certificate is not valid yet"
        }
        CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. } => {
            "its certificate is for another name"
        }
        CertificateError::Revoked => "its certificate was revoked",
        CertificateError::UnknownIssuer | CertificateError::BadSignature => {
            "its certificate is not from an authority that is trusted here"
        }
        _ => "its certificate is not valid",
    };
    format!("could not prove its identity: {why}")
}
