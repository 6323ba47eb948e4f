//! Key exchange over the curve P-521, which Go's server offers after all others, and rustls' provider lacks.

use aws_lc_rs::agreement::{self, ECDH_P521, EphemeralPrivateKey, PublicKey, UnparsedPublicKey};
use aws_lc_rs::rand::SystemRandom;
use rustls::crypto::{ActiveKeyExchange, CryptoProvider, GetRandomFailed, SharedSecret, SupportedKxGroup};
use rustls::ffdhe_groups::FfdheGroup;
use rustls::{Error, NamedGroup, PeerMisbehaved};

/// The provider of cryptography of servers.
pub(super) fn provider() -> CryptoProvider {
    let mut provider = rustls::crypto::aws_lc_rs::default_provider();
    provider.kx_groups.push(&P521);
    provider
}

/// The group.
#[derive(Debug)]
struct P521;

/// A key exchange that is under way.
struct Exchange {
    key: EphemeralPrivateKey,
    public: PublicKey,
}

impl SupportedKxGroup for P521 {
    fn start(&self) -> Result<Box<dyn ActiveKeyExchange>, Error> {
        let key = EphemeralPrivateKey::generate(&ECDH_P521, &SystemRandom::new()).map_err(|_| GetRandomFailed)?;
        let public = key.compute_public_key().map_err(|_| GetRandomFailed)?;
        Ok(Box::new(Exchange { key, public }))
    }

    fn ffdhe_group(&self) -> Option<FfdheGroup<'static>> {
        None
    }

    fn name(&self) -> NamedGroup {
        NamedGroup::secp521r1
    }
}

impl ActiveKeyExchange for Exchange {
    fn complete(self: Box<Self>, peer: &[u8]) -> Result<SharedSecret, Error> {
        let bad = PeerMisbehaved::InvalidKeyShare;
        // TLS knows no compressed points.
        if peer.first() != Some(&4) {
            return Err(bad.into());
        }
        let peer = UnparsedPublicKey::new(&ECDH_P521, peer);
        agreement::agree_ephemeral(self.key, peer, Error::from(bad), |secret| Ok(SharedSecret::from(secret)))
    }

    fn ffdhe_group(&self) -> Option<FfdheGroup<'static>> {
        None
    }

    fn pub_key(&self) -> &[u8] {
        self.public.as_ref()
    }

    fn group(&self) -> NamedGroup {
        NamedGroup::secp521r1
    }
}
