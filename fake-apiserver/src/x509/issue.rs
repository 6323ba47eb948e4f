//! Certificates that an authority issues: `CreateCertificate` of `crypto/x509` (Go 1.26), as far as kube-controller-manager's signer needs it
//! (`PermissiveSigningPolicy` of `pkg/controller/certificates/authority/policies.go`, v1.37.1).

use super::alternative_names::{AlternativeNames, DNS, EMAIL, IP, URI};
use super::certificate::Certificate;
use super::der::{BIT_STRING, BOOLEAN, INTEGER, OBJECT_IDENTIFIER, OCTET_STRING, SEQUENCE, SET};
use super::name::Name;
use super::request::CertificateRequest;
use aws_lc_rs::digest::{SHA256, digest};
use jiff::{SignedDuration, Timestamp};
use rustls::SignatureScheme;
use rustls::crypto::aws_lc_rs::sign::any_supported_type;
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::sign::SigningKey;
use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

/// How much earlier a certificate begins to be valid (`Backdate`).
const BACKDATE: Duration = Duration::from_secs(5 * 60);
/// A lifetime from which on it ends so much earlier, too (`Short`).
const SHORT: Duration = Duration::from_secs(8 * 60 * 60);

const UTC_TIME: u8 = 0x17;
const GENERALIZED_TIME: u8 = 0x18;
const PRINTABLE: u8 = 0x13;
const UTF8: u8 = 0x0c;
const VERSION: u8 = 0xa0;
const EXTENSIONS: u8 = 0xa3;
const KEY_ID: u8 = 0x80;

/// An authority that issues certificates.
pub(crate) struct Authority {
    der: Vec<u8>,
    key: Arc<dyn SigningKey>,
}

/// A certificate that is wanted.
pub(crate) struct Issue<'a> {
    pub(crate) request: &'a CertificateRequest<'a>,
    pub(crate) usages: &'a [&'a str],
    pub(crate) lifetime: Duration,
    pub(crate) now: Timestamp,
    /// A text by which its serial number is another one than those of other certificates.
    pub(crate) salt: &'a str,
}

impl Authority {
    /// The authority with that certificate and key, both PEM.
    ///
    /// # Errors
    /// The error in them.
    pub(crate) fn from_pem(certificate: &str, key: &str) -> Result<Authority, String> {
        let der = CertificateDer::from_pem_slice(certificate.as_bytes()).map_err(|error| error.to_string())?;
        Certificate::parse(&der)?;
        let key = PrivateKeyDer::from_pem_slice(key.as_bytes()).map_err(|error| error.to_string())?;
        let key = any_supported_type(&key).map_err(|error| error.to_string())?;
        let own = Certificate::parse(&der)?.key_info.to_vec();
        match key.public_key().is_some_and(|public| *public != *own) {
            true => Err("the certificate and the private key do not match".into()),
            false => Ok(Authority { der: der.to_vec(), key }),
        }
    }

    /// Issues a certificate, as DER.
    ///
    /// # Errors
    /// Go's words.
    pub(crate) fn issue(&self, issue: &Issue<'_>) -> Result<Vec<u8>, String> {
        let own = Certificate::parse(&self.der)?;
        let request = issue.request;
        request.check_signature().map_err(|why| format!("unable to verify certificate request signature: {why}"))?;
        let validity = validity(issue, own.not_after)?;
        let schemes = SCHEMES.map(|(scheme, _)| scheme);
        let signer = self.key.choose_scheme(&schemes).ok_or("x509: requested SignatureAlgorithm does not match")?;
        let algorithm = SCHEMES.iter().find(|(scheme, _)| *scheme == signer.scheme()).map(|(_, id)| *id);
        let algorithm = sequence(&[algorithm.unwrap_or_default()]);
        let subject = subject(&request.subject);
        let signed = sequence(&[
            &element(VERSION, &element(INTEGER, &[2])),
            &serial(issue),
            &algorithm,
            own.raw_subject,
            &validity,
            &subject,
            request.key_info,
            &element(EXTENSIONS, &sequence(&[&extensions(issue, own.extensions.key_id, subject.len() == 2)?])),
        ]);
        let signature = signer.sign(&signed).map_err(|error| error.to_string())?;
        let signature = element(BIT_STRING, &[&[0], &signature[..]].concat());
        Ok(sequence(&[&signed, &algorithm, &signature]))
    }
}

/// The schemes of signatures, with the algorithms that certificates name (`signatureAlgorithmDetails`).
const SCHEMES: [(SignatureScheme, &[u8]); 5] = [
    (SignatureScheme::ECDSA_NISTP256_SHA256, &[6, 8, 0x2a, 0x86, 0x48, 0xce, 0x3d, 4, 3, 2]),
    (SignatureScheme::ECDSA_NISTP384_SHA384, &[6, 8, 0x2a, 0x86, 0x48, 0xce, 0x3d, 4, 3, 3]),
    (SignatureScheme::ECDSA_NISTP521_SHA512, &[6, 8, 0x2a, 0x86, 0x48, 0xce, 0x3d, 4, 3, 4]),
    (SignatureScheme::RSA_PKCS1_SHA256, &[6, 9, 0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 1, 1, 11, 5, 0]),
    (SignatureScheme::ED25519, &[6, 3, 0x2b, 0x65, 0x70]),
];

/// An element with that tag.
fn element(tag: u8, content: &[u8]) -> Vec<u8> {
    let mut all = vec![tag];
    let length = content.len().to_be_bytes();
    let length = &length[length.iter().take_while(|byte| **byte == 0).count()..];
    match content.len() {
        short @ 0..0x80 => all.push(u8::try_from(short).unwrap_or_default()),
        _ => {
            all.push(0x80 | u8::try_from(length.len()).unwrap_or_default());
            all.extend(length);
        }
    }
    all.extend(content);
    all
}

fn sequence(parts: &[&[u8]]) -> Vec<u8> {
    element(SEQUENCE, &parts.concat())
}

fn identifier(id: &[u8]) -> Vec<u8> {
    element(OBJECT_IDENTIFIER, id)
}

/// A serial number: 127 bits, which are not zero.
fn serial(issue: &Issue<'_>) -> Vec<u8> {
    let text = format!("{}/{}/", issue.salt, issue.now);
    let hash = digest(&SHA256, &[text.as_bytes(), issue.request.key_info].concat());
    let mut bytes = [0; 16];
    bytes.copy_from_slice(&hash.as_ref()[..16]);
    bytes[0] = (bytes[0] & 0x7f) | 0x40;
    element(INTEGER, &bytes)
}

/// From when until when it is valid (`PermissiveSigningPolicy.apply`).
fn validity(issue: &Issue<'_>, end_of_signer: Timestamp) -> Result<Vec<u8>, String> {
    let later = |duration: Duration| {
        let duration = SignedDuration::try_from(duration).unwrap_or(SignedDuration::MAX);
        issue.now.checked_add(duration).unwrap_or(Timestamp::MAX)
    };
    let from = issue.now.checked_sub(SignedDuration::try_from(BACKDATE).unwrap_or_default()).unwrap_or(Timestamp::MIN);
    let until = match issue.lifetime < SHORT {
        true => later(issue.lifetime),
        false => later(issue.lifetime.saturating_sub(BACKDATE)),
    };
    let go = |time: Timestamp| time.strftime("%Y-%m-%d %H:%M:%S +0000 UTC").to_string();
    if from >= end_of_signer {
        return Err(format!("the signer has expired: NotAfter={}", go(end_of_signer)));
    }
    if issue.now >= end_of_signer {
        let end = go(end_of_signer);
        return Err(format!("refusing to sign a certificate that expired in the past: NotAfter={end}"));
    }
    Ok(sequence(&[&time(from), &time(until.min(end_of_signer))]))
}

fn time(time: Timestamp) -> Vec<u8> {
    let year: i32 = time.strftime("%Y").to_string().parse().unwrap_or_default();
    match (1950..2050).contains(&year) {
        true => element(UTC_TIME, time.strftime("%y%m%d%H%M%SZ").to_string().as_bytes()),
        false => element(GENERALIZED_TIME, time.strftime("%Y%m%d%H%M%SZ").to_string().as_bytes()),
    }
}

/// The types of attributes that Go keeps of a name, in its order (`ToRDNSequence`): the last number of `2.5.4.N`, and whether there may be
/// several.
const ATTRIBUTES: [(u8, bool); 9] =
    [(6, true), (10, true), (11, true), (7, true), (8, true), (9, true), (17, true), (3, false), (5, false)];

/// A subject, as Go writes it.
fn subject(name: &Name<'_>) -> Vec<u8> {
    let mut sets = Vec::new();
    for (last, many) in ATTRIBUTES {
        let kind = [0x55, 4, last];
        let texts: Vec<&str> = name.all(&kind).filter(|text| many || !text.is_empty()).collect();
        let texts = if many { &texts[..] } else { texts.last().map(std::slice::from_ref).unwrap_or_default() };
        let attributes: Vec<u8> =
            texts.iter().flat_map(|text| sequence(&[&identifier(&kind), &string(text)])).collect();
        if !attributes.is_empty() {
            sets.extend(element(SET, &attributes));
        }
    }
    element(SEQUENCE, &sets)
}

fn string(text: &str) -> Vec<u8> {
    let is_printable = |byte: u8| byte.is_ascii_alphanumeric() || b" '()+,-./:=?".contains(&byte);
    element(if text.bytes().all(is_printable) { PRINTABLE } else { UTF8 }, text.as_bytes())
}

/// The extensions (`buildCertExtensions`).
fn extensions(issue: &Issue<'_>, key_id: &[u8], is_nameless: bool) -> Result<Vec<u8>, String> {
    let (bits, extended) = usages(issue.usages)?;
    let extension = |last: u8, critical: bool, value: Vec<u8>| {
        let critical = if critical { element(BOOLEAN, &[0xff]) } else { Vec::new() };
        sequence(&[&identifier(&[0x55, 0x1d, last]), &critical, &element(OCTET_STRING, &value)])
    };
    let mut all = Vec::new();
    if let Some(bits) = bits {
        all.extend(extension(15, true, bits));
    }
    if !extended.is_empty() {
        all.extend(extension(37, false, element(SEQUENCE, &extended)));
    }
    all.extend(extension(19, true, element(SEQUENCE, &[])));
    if !key_id.is_empty() {
        all.extend(extension(35, false, sequence(&[&element(KEY_ID, key_id)])));
    }
    let names = names(&issue.request.names);
    if !names.is_empty() {
        all.extend(extension(17, is_nameless, element(SEQUENCE, &names)));
    }
    Ok(all)
}

/// The alternative names, in Go's order.
fn names(names: &AlternativeNames<'_>) -> Vec<u8> {
    let texts = |tag: u8, all: &[&str]| all.iter().flat_map(move |text| element(tag, text.as_bytes())).collect();
    let address = |address: &IpAddr| match address {
        IpAddr::V4(address) => element(IP, &address.octets()),
        IpAddr::V6(address) => element(IP, &address.octets()),
    };
    let addresses: Vec<u8> = names.addresses.iter().flat_map(address).collect();
    let (dns, emails): (Vec<u8>, Vec<u8>) = (texts(DNS, &names.dns_names), texts(EMAIL, &names.emails));
    let uris: Vec<u8> = texts(URI, &names.uris);
    [dns, emails, addresses, uris].concat()
}

/// The usages that are bits (`keyUsageDict`), counted from the first one.
const BITS: [(&str, u32); 10] = [
    ("signing", 0),
    ("digital signature", 0),
    ("content commitment", 1),
    ("key encipherment", 2),
    ("data encipherment", 3),
    ("key agreement", 4),
    ("cert sign", 5),
    ("crl sign", 6),
    ("encipher only", 7),
    ("decipher only", 8),
];

/// The beginning of most identifiers of extended usages.
const PURPOSES: &[u8] = &[0x2b, 6, 1, 5, 5, 7, 3];

/// The other usages (`extKeyUsageDict`), in Go's order: those with a number are below that beginning.
const EXTENDED: [(&str, Result<u8, &[u8]>); 13] = [
    ("any", Err(&[0x55, 0x1d, 37, 0])),
    ("server auth", Ok(1)),
    ("client auth", Ok(2)),
    ("code signing", Ok(3)),
    ("email protection", Ok(4)),
    ("s/mime", Ok(4)),
    ("ipsec end system", Ok(5)),
    ("ipsec tunnel", Ok(6)),
    ("ipsec user", Ok(7)),
    ("timestamping", Ok(8)),
    ("ocsp signing", Ok(9)),
    ("microsoft sgc", Err(&[0x2b, 6, 1, 4, 1, 0x82, 0x37, 10, 3, 3])),
    ("netscape sgc", Err(&[0x60, 0x86, 0x48, 1, 0x86, 0xf8, 0x42, 4, 1])),
];

/// The bits, if there are any, and the identifiers of the other usages (`keyUsagesFromStrings`).
fn usages(wanted: &[&str]) -> Result<(Option<Vec<u8>>, Vec<u8>), String> {
    let is_known = |usage: &&&str| {
        BITS.iter().any(|(name, _)| *name == **usage) || EXTENDED.iter().any(|(name, _)| *name == **usage)
    };
    let unknown: Vec<String> =
        wanted.iter().filter(|usage| !is_known(usage)).map(|usage| format!("{usage:?}")).collect();
    if !unknown.is_empty() {
        return Err(format!("unrecognized usage values: [{}]", unknown.join(" ")));
    }
    let set = BITS.iter().filter(|(name, _)| wanted.contains(name)).map(|(_, bit)| *bit);
    let bits = set.fold(0_u16, |bits, bit| bits | (0x8000 >> bit));
    let bits = (bits != 0).then(|| {
        let unused = bits.trailing_zeros() % 8;
        let bytes = bits.to_be_bytes();
        let bytes = if bytes[1] == 0 { &bytes[..1] } else { &bytes[..] };
        element(BIT_STRING, &[&[u8::try_from(unused).unwrap_or_default()], bytes].concat())
    });
    let mut extended: Vec<Vec<u8>> = Vec::new();
    for (_, id) in EXTENDED.iter().filter(|(name, _)| wanted.contains(name)) {
        let id = identifier(&id.map_or_else(<[u8]>::to_vec, |number| [PURPOSES, &[number]].concat()));
        if !extended.contains(&id) {
            extended.push(id);
        }
    }
    Ok((bits, extended.concat()))
}
