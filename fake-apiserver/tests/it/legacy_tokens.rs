//! Legacy tokens: their lifetime, concurrent use, and audit annotations. The rest is in the scenarios.

use crate::auth::{code_for, who};
use crate::support::*;
use aws_lc_rs::rand::SystemRandom;
use aws_lc_rs::signature::{RSA_PKCS1_SHA256, RsaKeyPair};
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD as BASE64;
use fake_apiserver::{FakeApiServer, ManualClock};
use rustls::pki_types::PrivatePkcs8KeyDer;
use rustls::pki_types::pem::PemObject;
use serde_json::{Value, json};

const KEY: &str = include_str!("../../../fixtures/keys/service-account.key");
const ACCOUNTS: &str = "/api/v1/namespaces/default/serviceaccounts";
const SELF: &str = "/apis/authentication.k8s.io/v1/selfsubjectreviews";
const TRACKING: &str = "/api/v1/namespaces/kube-system/configmaps/kube-apiserver-legacy-service-account-token-tracking";

/// The claims as a token, signed by [`KEY`].
fn signed(claims: &Value) -> String {
    let key = PrivatePkcs8KeyDer::from_pem_slice(KEY.as_bytes()).expect("PEM");
    let key = RsaKeyPair::from_pkcs8(key.secret_pkcs8_der()).expect("an RSA key");
    let [header, claims] = [&json!({"alg": "RS256"}), claims].map(|part| BASE64.encode(part.to_string()));
    let message = format!("{header}.{claims}");
    let mut signature = vec![0; key.public_modulus_len()];
    key.sign(&RSA_PKCS1_SHA256, &SystemRandom::new(), message.as_bytes(), &mut signature).expect("a signature");
    format!("{message}.{}", BASE64.encode(signature))
}

/// Makes a token of the account, and its secret.
async fn token(client: &mut Client, account: &Value, secret: &str, labels: Value) -> String {
    let claims = json!({
        "iss": "kubernetes/serviceaccount",
        "kubernetes.io/serviceaccount/namespace": "default",
        "kubernetes.io/serviceaccount/secret.name": secret,
        "kubernetes.io/serviceaccount/service-account.name": "sa",
        "kubernetes.io/serviceaccount/service-account.uid": account["metadata"]["uid"],
        "sub": "system:serviceaccount:default:sa",
    });
    let token = signed(&claims);
    let annotations = json!({"kubernetes.io/service-account.name": "sa"});
    let body = json!({
        "metadata": {"name": secret, "annotations": annotations, "labels": labels},
        "type": "kubernetes.io/service-account-token",
        "stringData": {"token": token},
    });
    client.post(SECRETS, &body).await.expect(201);
    token
}

#[tokio::test]
async fn a_token_lives_and_dies_with_its_secret() {
    let builder = FakeApiServer::builder();
    let server = start_with(builder.service_account_signing_key_pem(KEY.as_bytes())).await;
    let mut client = Client::new(&server).await;
    let account = client.post(ACCOUNTS, &named("sa")).await.expect(201);
    let token = token(&mut client, &account, "s", json!({})).await;
    let user = who(&mut client, &token).await;
    assert_eq!(user["username"], "system:serviceaccount:default:sa");
    assert_eq!(user["uid"], account["metadata"]["uid"]);
    let label = |since: Value| json!({"metadata": {"labels": {"kubernetes.io/legacy-token-invalid-since": since}}});
    client.patch(MERGE_PATCH, &format!("{SECRETS}/s"), &label("2029-01-01".into())).await.expect(200);
    assert_eq!(code_for(&mut client, &token).await, 401);
    client.patch(MERGE_PATCH, &format!("{SECRETS}/s"), &label(Value::Null)).await.expect(200);
    assert_eq!(code_for(&mut client, &token).await, 200);
    client.delete(&format!("{SECRETS}/s")).await.expect(200);
    assert_eq!(code_for(&mut client, &token).await, 401);
}

/// `TestLegacyServiceAccountTokenTracking` of `test/integration/serviceaccount`.
#[tokio::test]
async fn everybody_is_warned_and_the_day_is_written_once() {
    let clock = ManualClock::new("2030-01-02T00:00:00Z".parse().expect("a time"));
    let builder = FakeApiServer::builder().clock(clock).record_requests(true);
    let server = start_with(builder.service_account_signing_key_pem(KEY.as_bytes())).await;
    let mut client = Client::new(&server).await;
    let account = json!({"metadata": {"name": "sa"}, "secrets": [{"name": "auto"}]});
    let account = client.post(ACCOUNTS, &account).await.expect(201);
    for (secret, warnings) in [("manual", 0), ("auto", 20)] {
        let token = token(&mut client, &account, secret, json!({})).await;
        let before = revision(&client.get(SECRETS).await.expect(200));
        let mut users = Vec::new();
        for _ in 0..5 {
            let mut user = Client::over(&server, Protocol::Http2).await;
            user.token.clone_from(&token);
            users.push(tokio::spawn(async move {
                let mut warned = 0;
                for _ in 0..4 {
                    let answer = user.post(SELF, &json!({})).await;
                    assert_eq!(answer.code, 201);
                    warned += usize::from(answer.headers.contains_key("warning"));
                }
                warned
            }));
        }
        let mut warned = 0;
        for user in users {
            warned += soon(user).await.expect("no panic");
        }
        assert_eq!(warned, warnings, "{secret}");
        assert_eq!(revision(&client.get(SECRETS).await.expect(200)), before + 1, "{secret}");
        let used = client.get(&format!("{SECRETS}/{secret}")).await.expect(200);
        assert_eq!(text(&used, "/metadata/labels/kubernetes.io~1legacy-token-last-used"), "2030-01-02");
        let annotations = [
            ("authentication.k8s.io/legacy-token", "system:serviceaccount:default:sa".to_string()),
            match secret {
                "auto" => ("authentication.k8s.io/legacy-token-autogenerated-secret", "auto".to_string()),
                _ => ("authentication.k8s.io/legacy-token-manual-secret", "manual".to_string()),
            },
        ]
        .map(|(key, value)| (key.into(), value));
        let noted = server.requests().iter().filter(|record| record.annotations == annotations).count();
        assert_eq!(noted, 20, "{secret}");
    }
    let tracking = client.get(TRACKING).await.expect(200);
    assert_eq!(tracking["data"], json!({"since": "2030-01-02"}));
}

#[tokio::test]
async fn auditors_learn_of_invalid_tokens_and_of_new_ones() {
    let builder = FakeApiServer::builder().record_requests(true);
    let server = start_with(builder.service_account_signing_key_pem(KEY.as_bytes())).await;
    let mut client = Client::new(&server).await;
    let account = client.post(ACCOUNTS, &named("sa")).await.expect(201);
    let labels = json!({"kubernetes.io/legacy-token-invalid-since": "2029-01-01"});
    let invalid = token(&mut client, &account, "s", labels).await;
    client.post(&format!("{ACCOUNTS}/sa/token"), &json!({})).await.expect(201);
    client.token = invalid;
    assert_eq!(client.post(SELF, &json!({})).await.code, 401);
    let records = server.requests();
    let [.., issued, refused] = &records[..] else { panic!("at least two requests") };
    assert_eq!(issued.annotations[0].0, "authentication.kubernetes.io/issued-credential-id");
    assert_eq!(
        refused.annotations[1],
        ("authentication.k8s.io/legacy-token-invalidated".into(), "s/default".to_string())
    );
}
