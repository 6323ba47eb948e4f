//! Certificates, as Go verifies them, with its words.
//!
//! ```text
//!   certificate ──▶ time, name ──▶ is it in the pool? ──▶ chains to the pool: signatures, times, path lengths
//!                                          │                     │
//!                                          └──────────┬──────────┘
//!                                         usage and name constraints of each chain
//! ```
//! The libraries at hand are stricter: to them only an authority can be trusted, and no authority can serve. Test environments
//! give out serving certificates as the ones to trust, and Go takes those.
//!
//! Ports `crypto/x509` of Go 1.26 (`verify.go`, `constraints.go`, `cert_pool.go`, and of `parser.go` what they need). A chain on which what is
//! missing would bear is refused.
//!
//! GAP: certificates: policies, and name constraints about e-mail addresses and URIs

mod alternative_names;
mod asn1;
mod certificate;
mod constraints;
pub(crate) mod der;
mod extensions;
mod issue;
mod key;
mod name;
mod names;
pub(crate) mod pem;
mod pool;
mod request;
mod signature;
mod time;

pub(crate) use certificate::{Certificate, decimal};
pub(crate) use issue::{Authority, Issue};
pub(crate) use key::KeyKind;
pub(crate) use name::{Name, ORGANIZATION};
pub(crate) use pool::{Pool, Usage};
pub(crate) use request::CertificateRequest;

#[cfg(test)]
mod tests;
