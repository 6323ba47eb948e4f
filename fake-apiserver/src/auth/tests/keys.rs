//! Keys and discovery.

use super::*;
use crate::auth::keys::{KeyError, PublicKey};
use crate::auth::oidc::{Discovery, DiscoveryError, default_jwks_uri};

const RSA_PUBLIC: &[u8] = include_bytes!("../../../../fixtures/keys/rsa.pub");
const P256_SEC1: &[u8] = include_bytes!("../../../../fixtures/keys/p256.key");
const P256_PKCS8: &[u8] = include_bytes!("../../../../fixtures/keys/p256.pkcs8.key");

/// The public keys of upstream's `pkg/serviceaccount/jwt_test.go`, and the ids that must never change.
const UPSTREAM: [(&str, &str); 2] = [
    (
        "-----BEGIN PUBLIC KEY-----
MIIBIjANBgkqhkiG9w0BAQEFAAOCAQ8AMIIBCgKCAQEA249XwEo9k4tM8fMxV7zx
OhcrP+WvXn917koM5Qr2ZXs4vo26e4ytdlrV0bQ9SlcLpQVSYjIxNfhTZdDt+ecI
zshKuv1gKIxbbLQMOuK1eA/4HALyEkFgmS/tleLJrhc65tKPMGD+pKQ/xhmzRuCG
51RoiMgbQxaCyYxGfNLpLAZK9L0Tctv9a0mJmGIYnIOQM4kC1A1I1n3EsXMWmeJU
j7OTh/AjjCnMnkgvKT2tpKxYQ59PgDgU8Ssc7RDSmSkLxnrv+OrN80j6xrw0OjEi
B4Ycr0PqfzZcvy8efTtFQ/Jnc4Bp1zUtFXt7+QeevePtQ2EcyELXE0i63T1CujRM
WwIDAQAB
-----END PUBLIC KEY-----",
        "JHJehTTTZlsspKHT-GaJxK7Kd1NQgZJu3fyK6K_QDYU",
    ),
    (
        "-----BEGIN PUBLIC KEY-----
MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAEH6cuzP8XuD5wal6wf9M6xDljTOPL
X2i8uIp/C/ASqiIGUeeKQtX0/IR3qCXyThP/dbCiHrF3v1cuhBOHY8CLVg==
-----END PUBLIC KEY-----",
        "SoABiieYuNx4UdqYvZRVeuC6SihxgLrhLy9peHMHpTc",
    ),
];

#[test]
fn ids_are_those_of_upstream() {
    for (pem, id) in UPSTREAM {
        assert_eq!(PublicKey::all_from_pem(pem.as_bytes()).unwrap()[0].id(), id);
    }
    let file: String = UPSTREAM.iter().map(|(pem, _)| format!("some text\n{pem}\n")).collect();
    let ids: Vec<String> =
        PublicKey::all_from_pem(file.as_bytes()).unwrap().iter().map(|key| key.id().into()).collect();
    assert_eq!(ids, UPSTREAM.map(|(_, id)| id));
}

#[test]
fn every_form_of_a_key_is_the_same_key() {
    let id = |pem: &[u8]| PublicKey::all_from_pem(pem).unwrap()[0].id().to_string();
    assert_eq!(id(RSA_KEY), id(RSA_PUBLIC));
    assert_eq!(id(P256_SEC1), id(P256_PKCS8));
    assert_eq!(SigningKey::from_pem(P256_SEC1).unwrap().public().id(), id(P256_PKCS8));
    let certificate = rcgen::generate_simple_self_signed(["example.com".to_string()]).unwrap();
    assert_eq!(id(certificate.cert.pem().as_bytes()), id(certificate.signing_key.serialize_pem().as_bytes()));
}

#[test]
fn every_kind_of_key_signs_what_it_verifies() {
    let pkcs8 = |algorithm| rcgen::KeyPair::generate_for(algorithm).unwrap().serialize_pem();
    for (pem, algorithm) in [
        (RSA_KEY.to_vec(), "RS256"),
        (P256_SEC1.to_vec(), "ES256"),
        (P256_PKCS8.to_vec(), "ES256"),
        (pkcs8(&rcgen::PKCS_ECDSA_P384_SHA384).into_bytes(), "ES384"),
        (pkcs8(&rcgen::PKCS_ECDSA_P521_SHA512).into_bytes(), "ES512"),
    ] {
        let signing_key = SigningKey::from_pem(&pem).unwrap();
        assert_eq!(signing_key.public().algorithm(), algorithm);
        let token = jwt::sign(&signing_key, &bound_claims()).unwrap();
        let header = URL_SAFE_NO_PAD.decode(token.split('.').next().unwrap()).unwrap();
        let expected = format!("{{\"alg\":\"{algorithm}\",\"kid\":\"{}\"}}", signing_key.public().id());
        assert_eq!(String::from_utf8(header).unwrap(), expected);
        let server = Authenticator::new(Config { signing_key, ..config() }).unwrap();
        assert_eq!(verdict(server.token(&token, &[], now(), &Cluster::new())), "ok", "{algorithm}");
    }
}

#[test]
fn what_holds_no_key_is_refused() {
    for pem in ["", "nonsense", "-----BEGIN PUBLIC KEY-----\nAAAA\n-----END PUBLIC KEY-----\n"] {
        assert_eq!(SigningKey::from_pem(pem.as_bytes()).unwrap_err(), KeyError::NoPrivateKey);
        assert_eq!(PublicKey::all_from_pem(pem.as_bytes()).unwrap_err(), KeyError::NoPublicKeys);
    }
    assert_eq!(SigningKey::from_pem(RSA_PUBLIC).unwrap_err(), KeyError::NoPrivateKey);
}

/// Form as a real server.
#[test]
fn discovery_lists_every_key() {
    let keys: Vec<PublicKey> =
        UPSTREAM.iter().flat_map(|(pem, _)| PublicKey::all_from_pem(pem.as_bytes()).unwrap()).collect();
    let discovery = Discovery::new(ISSUER, &default_jwks_uri("192.0.2.2:16443"), &keys).unwrap();
    assert_eq!(
        discovery.config,
        r#"{"issuer":"https://kubernetes.default.svc","jwks_uri":"https://192.0.2.2:16443/openid/v1/jwks","response_types_supported":["id_token"],"subject_types_supported":["public"],"id_token_signing_alg_values_supported":["ES256","RS256"]}"#
    );
    assert_eq!(
        discovery.keys,
        concat!(
            r#"{"keys":[{"use":"sig","kty":"RSA","kid":"JHJehTTTZlsspKHT-GaJxK7Kd1NQgZJu3fyK6K_QDYU","alg":"RS256","n":"#,
            r#""249XwEo9k4tM8fMxV7zxOhcrP-WvXn917koM5Qr2ZXs4vo26e4ytdlrV0bQ9SlcLpQVSYjIxNfhTZdDt-ecIzshKuv1gKIxbbLQMOuK1"#,
            r#"eA_4HALyEkFgmS_tleLJrhc65tKPMGD-pKQ_xhmzRuCG51RoiMgbQxaCyYxGfNLpLAZK9L0Tctv9a0mJmGIYnIOQM4kC1A1I1n3EsXMW"#,
            r#"meJUj7OTh_AjjCnMnkgvKT2tpKxYQ59PgDgU8Ssc7RDSmSkLxnrv-OrN80j6xrw0OjEiB4Ycr0PqfzZcvy8efTtFQ_Jnc4Bp1zUtFXt7"#,
            r#"-QeevePtQ2EcyELXE0i63T1CujRMWw","e":"AQAB"},{"use":"sig","kty":"EC","#,
            r#""kid":"SoABiieYuNx4UdqYvZRVeuC6SihxgLrhLy9peHMHpTc","crv":"P-256","alg":"ES256","#,
            r#""x":"H6cuzP8XuD5wal6wf9M6xDljTOPLX2i8uIp_C_ASqiI","y":"BlHnikLV9PyEd6gl8k4T_3Wwoh6xd79XLoQTh2PAi1Y"}]}"#
        )
    );
}

#[test]
fn discovery_needs_https() {
    let uri = default_jwks_uri("host:6443");
    for (issuer, uri, expected) in [
        ("http://a", uri.as_str(), DiscoveryError::Scheme("http://a".into())),
        ("https://a?b#c", &uri, DiscoveryError::Query("https://a?b#c".into())),
        ("https://a#b?c", &uri, DiscoveryError::Fragment("https://a#b?c".into())),
        ("https://a", "http://b", DiscoveryError::KeysScheme("http://b".into())),
    ] {
        assert_eq!(Discovery::new(issuer, uri, &[]).unwrap_err(), expected);
    }
}
