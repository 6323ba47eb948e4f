//! The issuer's documents suffice for another implementation, the crate `jsonwebtoken`, to verify its tokens.

use crate::support::*;
use fake_apiserver::FakeApiServer;
use jsonwebtoken::jwk::JwkSet;
use jsonwebtoken::{Algorithm, DecodingKey, Validation, decode, decode_header};
use serde_json::{Value, json};

const ISSUER: &str = "https://kubernetes.default.svc";
const ACCOUNTS: &str = "/api/v1/namespaces/default/serviceaccounts";
const RSA_KEY: &[u8] = include_bytes!("../../../fixtures/keys/rsa.key");

#[tokio::test]
async fn strangers_can_verify_tokens_of_a_key_that_was_made() {
    verify(start().await, Algorithm::ES256).await;
}

#[tokio::test]
async fn strangers_can_verify_tokens_of_a_key_that_was_given() {
    let builder = FakeApiServer::builder().service_account_signing_key_pem(RSA_KEY);
    verify(start_with(builder).await, Algorithm::RS256).await;
}

async fn verify(server: FakeApiServer, algorithm: Algorithm) {
    let mut client = Client::new(&server).await;
    let account = client.post(ACCOUNTS, &named("sa")).await.expect(201);
    let request = json!({"spec": {"audiences": ["someone"]}});
    let issued = client.post(&format!("{ACCOUNTS}/sa/token"), &request).await.expect(201);
    let token = text(&issued, "/status/token");

    let configuration = client.get("/.well-known/openid-configuration").await.expect(200);
    assert_eq!(configuration["issuer"], ISSUER);
    let keys_at = text(&configuration, "/jwks_uri");
    assert_eq!(keys_at, format!("https://{}/openid/v1/jwks", address(&server)));
    let keys: JwkSet = serde_json::from_slice(&client.get("/openid/v1/jwks").await.body).expect("a key set");

    let header = decode_header(token).expect("a token");
    assert_eq!(header.alg, algorithm);
    let key = keys.find(&header.kid.expect("a key id")).expect("the key that it names");
    let mut validation = Validation::new(algorithm);
    validation.set_issuer(&[ISSUER]);
    validation.set_audience(&["someone"]);
    validation.validate_nbf = true;
    let claims = decode::<Value>(token, &DecodingKey::from_jwk(key).expect("a usable key"), &validation);
    let claims = claims.expect("a token that verifies").claims;
    assert_eq!(claims["sub"], "system:serviceaccount:default:sa");
    assert_eq!(claims["kubernetes.io"]["serviceaccount"]["uid"], account["metadata"]["uid"]);
}
