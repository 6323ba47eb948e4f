//! Keys and certificates from PEM files. The expected key ids and the expected token were made with OpenSSL.

use aws_lc_rs::signature::{
    ECDSA_P256_SHA256_FIXED, ECDSA_P256_SHA256_FIXED_SIGNING, ECDSA_P384_SHA384_FIXED, ECDSA_P384_SHA384_FIXED_SIGNING,
    ECDSA_P521_SHA512_FIXED, ECDSA_P521_SHA512_FIXED_SIGNING, EcdsaKeyPair, KeyPair, UnparsedPublicKey,
};
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use controller::controllers::tokens::{LegacyClaims, TokenGenerator};
use controller::keys::{SigningKey, check_certificates};
use rustls::pki_types::PrivateKeyDer;
use rustls::pki_types::pem::PemObject;
use serde_json::{Value, from_value, json};

const RSA_PKCS1: &[u8] = include_bytes!("pem/rsa-pkcs1.pem");
const RSA_PKCS8: &[u8] = include_bytes!("pem/rsa-pkcs8.pem");
const EC_P256_SEC1: &[u8] = include_bytes!("pem/ec-p256-sec1.pem");
const EC_P256_PKCS8: &[u8] = include_bytes!("pem/ec-p256-pkcs8.pem");
const EC_P384_SEC1: &[u8] = include_bytes!("pem/ec-p384-sec1.pem");
const EC_P384_PKCS8: &[u8] = include_bytes!("pem/ec-p384-pkcs8.pem");
const EC_P521_SEC1: &[u8] = include_bytes!("pem/ec-p521-sec1.pem");
const EC_P521_PKCS8: &[u8] = include_bytes!("pem/ec-p521-pkcs8.pem");
const ED25519: &[u8] = include_bytes!("pem/ed25519-pkcs8.pem");
const CA: &[u8] = include_bytes!("pem/ca.pem");

const RSA_ID: &str = "VWujUwVnQcjb_kpgx0ytMUJvOihvlYNDl6v8K4QDbMM";
const P256_ID: &str = "xM2pbpXn_oxqQL-GR1UPsiIZX7PRyuSHHw0BB__FyRs";
const P384_ID: &str = "RBS3zNpLv3BcHal50uA8a3VueEDp8esyDSzS4iGR-k8";
const P521_ID: &str = "AoHxYjIT0M7Wl7-vEvmYQtX5LDgzx5Kef3TL12e6AD0";

fn claims() -> LegacyClaims {
    let account = json!({"metadata": {"namespace": "ns", "name": "builder", "uid": "12345"}});
    LegacyClaims::new(&from_value(account).expect("a service account"), "builder-token-x")
}

fn header(token: &str) -> Value {
    let (header, _) = token.split_once('.').expect("a compact token");
    serde_json::from_slice(&URL_SAFE_NO_PAD.decode(header).expect("base64url")).expect("JSON")
}

#[test]
fn the_first_private_key_of_a_file_is_taken() {
    let malformed = b"-----BEGIN RSA PRIVATE KEY-----\nMIIE\n-----END RSA PRIVATE KEY-----\n".as_slice();
    for (case, pem, id) in [
        ("RSA in PKCS#1", RSA_PKCS1.to_vec(), Some(RSA_ID)),
        ("RSA in PKCS#8", RSA_PKCS8.to_vec(), Some(RSA_ID)),
        ("P-256 in SEC 1, after its parameters", EC_P256_SEC1.to_vec(), Some(P256_ID)),
        ("P-256 in PKCS#8", EC_P256_PKCS8.to_vec(), Some(P256_ID)),
        ("P-384 in SEC 1", EC_P384_SEC1.to_vec(), Some(P384_ID)),
        ("P-384 in PKCS#8", EC_P384_PKCS8.to_vec(), Some(P384_ID)),
        ("P-521 in SEC 1", EC_P521_SEC1.to_vec(), Some(P521_ID)),
        ("P-521 in PKCS#8", EC_P521_PKCS8.to_vec(), Some(P521_ID)),
        ("two keys", [EC_P256_SEC1, RSA_PKCS1].concat(), Some(P256_ID)),
        ("a malformed key before a good one", [malformed, RSA_PKCS1].concat(), Some(RSA_ID)),
        ("a certificate before the key", [CA, RSA_PKCS1].concat(), Some(RSA_ID)),
        ("a key that cannot sign tokens", ED25519.to_vec(), None),
        ("a certificate only", CA.to_vec(), None),
        ("nothing", Vec::new(), None),
        ("no PEM at all", b"secret".to_vec(), None),
    ] {
        let key = SigningKey::from_pem(&pem);
        assert_eq!(key.as_ref().ok().map(SigningKey::id), id, "{case}");
        if let Err(error) = key {
            assert_eq!(error.to_string(), "data does not contain a valid RSA or ECDSA private key", "{case}");
        }
    }
}

#[test]
fn rsa_tokens_are_the_same_every_time() {
    for pem in [RSA_PKCS1, RSA_PKCS8] {
        let key = SigningKey::from_pem(pem).expect("an RSA key");
        let token = key.generate_token(&claims()).expect("RSA can sign");
        assert_eq!(token, include_str!("pem/rsa-token.jwt").trim());
    }
}

#[test]
fn ecdsa_tokens_have_the_algorithm_of_the_curve_and_a_valid_signature() {
    for (pem, algorithm, id, signing, verification) in [
        (EC_P256_SEC1, "ES256", P256_ID, &ECDSA_P256_SHA256_FIXED_SIGNING, &ECDSA_P256_SHA256_FIXED),
        (EC_P384_SEC1, "ES384", P384_ID, &ECDSA_P384_SHA384_FIXED_SIGNING, &ECDSA_P384_SHA384_FIXED),
        (EC_P521_SEC1, "ES512", P521_ID, &ECDSA_P521_SHA512_FIXED_SIGNING, &ECDSA_P521_SHA512_FIXED),
    ] {
        let key = SigningKey::from_pem(pem).expect("an ECDSA key");
        let token = key.generate_token(&claims()).expect("ECDSA can sign");
        assert_eq!(header(&token), json!({"alg": algorithm, "kid": id}));
        let (signed, signature) = token.rsplit_once('.').expect("a compact token");
        let signature = URL_SAFE_NO_PAD.decode(signature).expect("base64url");
        let private = PrivateKeyDer::from_pem_slice(pem).expect("a private key");
        let pair = EcdsaKeyPair::from_private_key_der(signing, private.secret_der()).expect("an ECDSA key");
        let public = UnparsedPublicKey::new(verification, pair.public_key());
        public.verify(signed.as_bytes(), &signature).unwrap_or_else(|_| panic!("{algorithm}: wrong signature"));
    }
}

#[test]
fn a_ca_bundle_has_certificates() {
    let malformed = b"-----BEGIN CERTIFICATE-----\nMIIE\n-----END CERTIFICATE-----\n".as_slice();
    let with_headers = String::from_utf8_lossy(CA).replacen("-----\n", "-----\nProc-Type: 4\n\n", 1).into_bytes();
    let none = Some("data does not contain any valid RSA or ECDSA certificates");
    for (case, pem, expected) in [
        ("a certificate", CA.to_vec(), None),
        ("a certificate after a key", [RSA_PKCS1, CA].concat(), None),
        ("two certificates", [CA, CA].concat(), None),
        ("a key", RSA_PKCS1.to_vec(), none),
        ("nothing", Vec::new(), none),
        ("a certificate with PEM headers", with_headers, none),
        ("a malformed certificate after a good one", [CA, malformed].concat(), Some("malformed certificate: ")),
    ] {
        let error = check_certificates(&pem).err().map(|error| error.to_string());
        match (&error, expected) {
            (Some(error), Some(expected)) => assert!(error.starts_with(expected), "{case}: {error}"),
            _ => assert_eq!(error.as_deref(), expected, "{case}"),
        }
    }
}
