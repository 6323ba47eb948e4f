//! Credentials: bearer tokens, client certificates, and the file of static tokens.

use fake_apiserver::fuzzing::{
    self, Authentication, Authenticator, ClientAuthorities, ClientCertificate, Config, Objects, Refusal, SigningKey,
};
use http::HeaderMap;
use jiff::Timestamp;
use rustls::pki_types::CertificateDer;
use std::str::from_utf8;
use std::sync::{Arc, LazyLock};
use tree::{Value, json};

const ISSUER: &str = "https://kubernetes.default.svc";
const KEY: &[u8] = include_bytes!("../../../fixtures/keys/p256.key");
/// An authority of client certificates, whose key is lost.
const AUTHORITY: &str = include_str!("../../../fixtures/keys/clients.crt");

static KEY_OF_TOKENS: LazyLock<SigningKey> = LazyLock::new(|| SigningKey::from_pem(KEY).expect("a key"));

static AUTHENTICATOR: LazyLock<Authenticator> = LazyLock::new(|| {
    let signing_key = SigningKey::from_pem(KEY).expect("a key");
    let client_authorities = Some(ClientAuthorities::from_pem(AUTHORITY).expect("an authority"));
    Authenticator::new(Config { signing_key, client_authorities, ..Config::new(ISSUER) }).expect("a configuration")
});

/// A cluster in which every requested object exists.
struct Everything;

impl Objects for Everything {
    fn object(&self, _: &str, namespace: &str, name: &str) -> Option<Arc<Value>> {
        let metadata = json!({"namespace": namespace, "name": name, "uid": "UID"});
        Some(Arc::new(json!({"metadata": metadata, "spec": {"serviceAccountName": "sa", "nodeName": "node"}})))
    }

    fn record_use(&self, _: &Value, _: &str) {}
}

fn now() -> Timestamp {
    Timestamp::constant(1_800_000_000, 0)
}

fn judged(token: &str) -> Result<Authentication, Refusal> {
    AUTHENTICATOR.token(token, &[], now(), &Everything)
}

/// Authentication of a token is deterministic; signed claims give the user that they name; a token that was not signed here
/// gives none.
pub(crate) fn bearer_token(input: &[u8]) {
    let Ok(text) = from_utf8(input) else { return };
    let judgement = judged(text);
    assert_eq!(judgement, judged(text));
    if let Ok(authentication) = judgement {
        // A header without a token is that of an anonymous client.
        assert_eq!(authentication.user.name, "system:anonymous", "{text}");
    }
    let Ok(claims @ Value::Object(_)) = serde_json::from_str::<Value>(text) else { return };
    let token = fuzzing::sign(&KEY_OF_TOKENS, &claims).expect("the key signs");
    let judgement = judged(&token);
    assert_eq!(judgement, judged(&token));
    if let Ok(authentication) = judgement {
        // As upstream, the private claims of a bound token count, not its `sub`.
        let bound = &claims["kubernetes.io"];
        let names = match bound {
            Value::Object(_) => [&bound["namespace"], &bound["serviceaccount"]["name"]],
            _ => ["namespace", "service-account.name"]
                .map(|name| &claims[format!("kubernetes.io/serviceaccount/{name}")]),
        };
        let [namespace, name] = names.map(|name| name.as_str().unwrap_or_default());
        assert_eq!(authentication.user.name, format!("system:serviceaccount:{namespace}:{name}"), "{claims}");
    }
    let (unsigned, _) = token.rsplit_once('.').expect("three parts");
    assert!(judged(&format!("{unsigned}.")).is_err(), "without a signature: {claims}");
}

/// A certificate that the authority did not issue identifies no user.
pub(crate) fn certificate(input: &[u8]) {
    let chain = vec![CertificateDer::from(input.to_vec())];
    let judge = || {
        let certificate = ClientCertificate::new(chain.clone());
        AUTHENTICATOR.request(&HeaderMap::new(), "/", Some(&certificate), now(), &Everything)
    };
    let judgement = judge();
    assert_eq!(judgement, judge());
    if let Ok(authentication) = judgement {
        assert_eq!(authentication.user.name, "system:anonymous");
    }
    if let Ok(pem) = from_utf8(input) {
        let _ = ClientAuthorities::from_pem(pem);
    }
    let _ = SigningKey::from_pem(input);
}

/// A file of static tokens has at most as many users as lines.
pub(crate) fn token_file(input: &[u8]) {
    let Ok(text) = from_utf8(input) else { return };
    let Ok(users) = fuzzing::parse_token_file("tokens.csv", text) else { return };
    assert!(users.len() <= text.lines().count());
}
