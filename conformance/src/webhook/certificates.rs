//! The certificates with which a webhook serves, good ones and bad ones, and those that are to vouch for it.

use anyhow::Result;
use rcgen::{
    BasicConstraints, CertificateParams, CertifiedIssuer, CidrSubnet, DnType, ExtendedKeyUsagePurpose, GeneralSubtree,
    IsCa, KeyPair, NameConstraints, date_time_ymd,
};
use rustls::pki_types::{CertificateDer, PrivateKeyDer};

/// The address of every webhook.
const ADDRESS: &str = "127.0.0.1";

/// How a webhook's certificate came about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Manner {
    /// By an authority, which vouches for it.
    Signed,
    /// By an authority; it vouches for itself.
    Bundled,
    /// By itself.
    SelfSigned,
    /// By itself, as an authority: as `openssl req -x509` makes it.
    Authority,
    /// By an authority's authority.
    Intermediate,
    /// By an authority's authority; only the inner one vouches for it.
    IntermediateBundled,
    /// By a certificate that is not an authority's.
    Usurped,
    /// By an authority of the same name as the one that vouches for it.
    OtherKey,
    /// By an authority that expired.
    ExpiredAuthority,
    /// It expired.
    Expired,
    /// It has a domain's name only.
    OtherName,
    /// It has another address.
    OtherAddress,
    /// It has no names but the common name.
    CommonName,
    /// It is for clients.
    ForClients,
    /// It is for clients, and vouches for itself.
    ForClientsBundled,
    /// By an authority for other addresses.
    NotPermitted,
    /// By an authority that must not sign for this address.
    Excluded,
    /// By an authority's authority, which must not have one.
    PathTooLong,
}

/// The manners by their names in scenarios.
const MANNERS: [(&str, Manner); 18] = [
    ("signed", Manner::Signed),
    ("bundled", Manner::Bundled),
    ("self-signed", Manner::SelfSigned),
    ("authority", Manner::Authority),
    ("intermediate", Manner::Intermediate),
    ("intermediate-bundled", Manner::IntermediateBundled),
    ("usurped", Manner::Usurped),
    ("other-key", Manner::OtherKey),
    ("expired-authority", Manner::ExpiredAuthority),
    ("expired", Manner::Expired),
    ("other-name", Manner::OtherName),
    ("other-address", Manner::OtherAddress),
    ("common-name", Manner::CommonName),
    ("for-clients", Manner::ForClients),
    ("for-clients-bundled", Manner::ForClientsBundled),
    ("not-permitted", Manner::NotPermitted),
    ("excluded", Manner::Excluded),
    ("path-too-long", Manner::PathTooLong),
];

/// The certificate chain and key that a webhook serves with, and the CA bundle that is to vouch for it, as PEM.
pub(super) struct Identity {
    pub(super) chain: Vec<CertificateDer<'static>>,
    pub(super) key: PrivateKeyDer<'static>,
    pub(super) bundle: String,
}

impl Manner {
    /// The manner of that name.
    pub fn parse(name: &str) -> Option<Manner> {
        MANNERS.iter().find(|(known, _)| *known == name).map(|(_, manner)| *manner)
    }

    /// All names.
    pub fn names() -> String {
        MANNERS.map(|(name, _)| name).join(", ")
    }

    /// A new certificate.
    pub(super) fn identity(self) -> Result<Identity> {
        let leaf = self.leaf()?;
        let key = KeyPair::generate()?;
        let private = PrivateKeyDer::Pkcs8(key.serialize_der().into());
        if matches!(self, Manner::SelfSigned | Manner::Authority) {
            let certificate = leaf.self_signed(&key)?;
            let bundle = certificate.pem();
            return Ok(Identity { chain: vec![certificate.der().clone()], key: private, bundle });
        }
        let root = CertifiedIssuer::self_signed(self.authority(), KeyPair::generate()?)?;
        if matches!(self, Manner::Intermediate | Manner::IntermediateBundled | Manner::PathTooLong) {
            let inner = CertifiedIssuer::signed_by(named_authority("inner"), KeyPair::generate()?, &root)?;
            let certificate = leaf.signed_by(&key, &inner)?;
            let bundle = if self == Manner::IntermediateBundled { inner.pem() } else { root.pem() };
            return Ok(Identity { chain: vec![certificate.der().clone(), inner.der().clone()], key: private, bundle });
        }
        let certificate = leaf.signed_by(&key, &root)?;
        let bundle = match self {
            Manner::Bundled | Manner::ForClientsBundled => certificate.pem(),
            Manner::OtherKey => self.authority().self_signed(&KeyPair::generate()?)?.pem(),
            _ => root.pem(),
        };
        Ok(Identity { chain: vec![certificate.der().clone()], key: private, bundle })
    }

    fn leaf(self) -> Result<CertificateParams> {
        let names: &[&str] = match self {
            Manner::OtherName => &["example.com"],
            Manner::OtherAddress => &["127.0.0.2", "example.com"],
            Manner::CommonName => &[],
            _ => &[ADDRESS],
        };
        let mut leaf = CertificateParams::new(names.iter().map(ToString::to_string).collect::<Vec<_>>())?;
        leaf.distinguished_name.push(DnType::CommonName, if self == Manner::CommonName { ADDRESS } else { "hook" });
        leaf.use_authority_key_identifier_extension = true;
        match self {
            Manner::Authority => leaf.is_ca = IsCa::Ca(BasicConstraints::Unconstrained),
            Manner::ForClients | Manner::ForClientsBundled => {
                leaf.extended_key_usages = vec![ExtendedKeyUsagePurpose::ClientAuth];
            }
            Manner::Expired => leaf.not_after = date_time_ymd(2001, 2, 3),
            _ => {}
        }
        Ok(leaf)
    }

    fn authority(self) -> CertificateParams {
        let mut authority = named_authority("authority");
        let subnet = |address| vec![GeneralSubtree::IpAddress(CidrSubnet::from_v4_prefix(address, 8))];
        let constraints =
            |permitted, excluded| Some(NameConstraints { permitted_subtrees: permitted, excluded_subtrees: excluded });
        match self {
            Manner::Usurped => authority.is_ca = IsCa::ExplicitNoCa,
            Manner::ExpiredAuthority => authority.not_after = date_time_ymd(2001, 2, 3),
            Manner::NotPermitted => authority.name_constraints = constraints(subnet([10, 0, 0, 0]), Vec::new()),
            Manner::Excluded => authority.name_constraints = constraints(Vec::new(), subnet([127, 0, 0, 0])),
            Manner::PathTooLong => authority.is_ca = IsCa::Ca(BasicConstraints::Constrained(0)),
            _ => {}
        }
        authority
    }
}

fn named_authority(name: &str) -> CertificateParams {
    let mut authority = CertificateParams::default();
    authority.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    authority.distinguished_name.push(DnType::CommonName, name);
    authority
}
