//! Authentication from end to end: static and bound tokens, their reviews, and refusals.

use crate::support::*;
use bytes::Bytes;
use fake_apiserver::FakeApiServer;
use fake_apiserver::ManualClock;
use jiff::SignedDuration;
use serde_json::{Value, json};

const ACCOUNTS: &str = "/api/v1/namespaces/default/serviceaccounts";
const REVIEWS: &str = "/apis/authentication.k8s.io/v1/tokenreviews";
const SELF: &str = "/apis/authentication.k8s.io/v1/selfsubjectreviews";
const UNAUTHORIZED: &str = "{\"kind\":\"Status\",\"apiVersion\":\"v1\",\"metadata\":{},\"status\":\"Failure\",\
    \"message\":\"Unauthorized\",\"reason\":\"Unauthorized\",\"code\":401}\n";

fn review(token: &str) -> Value {
    json!({"spec": {"token": token}})
}

/// The user info of a request with that token.
pub(crate) async fn who(client: &mut Client, token: &str) -> Value {
    let admin = std::mem::replace(&mut client.token, token.into());
    let answer = client.post(SELF, &json!({})).await;
    client.token = admin;
    answer.expect(201)["status"]["userInfo"].clone()
}

pub(crate) async fn code_for(client: &mut Client, token: &str) -> u16 {
    let admin = std::mem::replace(&mut client.token, token.into());
    let answer = client.get("/api/v1/namespaces").await;
    client.token = admin;
    assert!(answer.code == 200 || answer.text() == UNAUTHORIZED, "{}", answer.text());
    answer.code
}

#[tokio::test]
async fn static_tokens() {
    let server = start_with(FakeApiServer::builder().add_static_token("t0", "alice", &["devs"])).await;
    let mut client = Client::new(&server).await;
    let alice = who(&mut client, "t0").await;
    assert_eq!(alice, json!({"username": "alice", "uid": "alice", "groups": ["devs", "system:authenticated"]}));
    let reviewed = client.post(REVIEWS, &review("t0")).await.expect(201);
    let audiences = json!(["https://kubernetes.default.svc"]);
    assert_eq!(reviewed["status"], json!({"authenticated": true, "user": alice, "audiences": audiences}));
    assert_eq!(code_for(&mut client, "t1").await, 401);
}

#[tokio::test]
async fn bound_tokens() {
    let clock = ManualClock::new("2030-01-01T00:00:00Z".parse().expect("a time"));
    let server = start_with(FakeApiServer::builder().clock(clock.clone())).await;
    let mut client = Client::new(&server).await;
    let account = client.post(ACCOUNTS, &named("sa")).await.expect(201);
    let secret = client.post(SECRETS, &named("s")).await.expect(201);
    let bound = json!({"kind": "Secret", "apiVersion": "v1", "name": "s", "uid": secret["metadata"]["uid"]});
    let mut tokens = Vec::new();
    for spec in [json!({"expirationSeconds": 600}), json!({"expirationSeconds": 7200, "boundObjectRef": bound})] {
        let issued = client.post(&format!("{ACCOUNTS}/sa/token"), &json!({"spec": spec})).await.expect(201);
        tokens.push(text(&issued, "/status/token").to_string());
        let user = who(&mut client, &tokens[tokens.len() - 1]).await;
        assert_eq!(user["username"], "system:serviceaccount:default:sa");
        assert_eq!(user["uid"], account["metadata"]["uid"]);
        let groups = ["system:serviceaccounts", "system:serviceaccounts:default", "system:authenticated"];
        assert_eq!(user["groups"], json!(groups));
        let reviewed = client.post(REVIEWS, &review(text(&issued, "/status/token"))).await.expect(201);
        assert_eq!(reviewed["status"]["user"], user);
    }
    let [short, long] = &tokens[..] else { panic!("two tokens") };
    assert_eq!((code_for(&mut client, short).await, code_for(&mut client, long).await), (200, 200));
    clock.advance(SignedDuration::from_secs(700));
    assert_eq!((code_for(&mut client, short).await, code_for(&mut client, long).await), (401, 200));
    // A token becomes invalid with the object it is bound to, even if another one of that name takes its place.
    client.delete(&format!("{SECRETS}/s")).await.expect(200);
    let other = client.post(SECRETS, &named("s")).await.expect(201);
    assert_eq!(code_for(&mut client, long).await, 401);
    let reviewed = client.post(REVIEWS, &review(long)).await.expect(201);
    assert_eq!(reviewed["status"].get("authenticated"), None);
    let (was, is) = (text(&secret, "/metadata/uid"), text(&other, "/metadata/uid"));
    let error =
        format!("[invalid bearer token, secret UID ({is}) does not match service account secret ref claim ({was})]");
    assert_eq!(reviewed["status"], json!({"user": {}, "error": error}));
}

#[tokio::test]
async fn a_token_dies_with_its_account() {
    let server = start().await;
    let mut client = Client::new(&server).await;
    client.post(ACCOUNTS, &named("sa")).await.expect(201);
    let issued = client.post(&format!("{ACCOUNTS}/sa/token"), &json!({})).await.expect(201);
    let token = text(&issued, "/status/token");
    assert_eq!(code_for(&mut client, token).await, 200);
    client.delete(&format!("{ACCOUNTS}/sa")).await.expect(200);
    assert_eq!(code_for(&mut client, token).await, 401);
    client.post(ACCOUNTS, &named("sa")).await.expect(201);
    assert_eq!(code_for(&mut client, token).await, 401);
    let path = format!("{ACCOUNTS}/nobody/token");
    assert_eq!(client.post(&path, &json!({})).await.refusal(404).1, "serviceaccounts \"nobody\" not found");
}

#[tokio::test]
async fn other_audiences_tokens_are_not_for_the_server() {
    let server = start().await;
    let mut client = Client::new(&server).await;
    client.post(ACCOUNTS, &named("sa")).await.expect(201);
    let request = json!({"spec": {"audiences": ["vault"]}});
    let issued = client.post(&format!("{ACCOUNTS}/sa/token"), &request).await.expect(201);
    let token = text(&issued, "/status/token");
    assert_eq!(code_for(&mut client, token).await, 401);
    let asked = json!({"spec": {"token": token, "audiences": ["vault", "x"]}});
    let reviewed = client.post(REVIEWS, &asked).await.expect(201);
    assert_eq!(reviewed["status"]["audiences"], json!(["vault"]));
}

#[tokio::test]
async fn the_anonymous_may_look_around_only() {
    let server = start().await;
    let mut client = Client::new(&server).await;
    client.token = String::new();
    for path in ["/version", "/healthz", "/readyz", "/livez"] {
        assert_eq!(client.get(path).await.code, 200, "{path}");
    }
    let answer = client.get(CONFIG_MAPS).await;
    let message = "configmaps is forbidden: User \"system:anonymous\" cannot list resource \"configmaps\" in API group \
                   \"\" in the namespace \"default\"";
    let quoted = message.replace('"', "\\\"");
    let body = format!(
        "{{\"kind\":\"Status\",\"apiVersion\":\"v1\",\"metadata\":{{}},\"status\":\"Failure\",\"message\":\"{quoted}\",\
         \"reason\":\"Forbidden\",\"details\":{{\"kind\":\"configmaps\"}},\"code\":403}}\n"
    );
    assert_eq!((answer.code, answer.text()), (403, body.as_str()));
    assert_eq!(answer.header("x-content-type-options"), "nosniff");
    assert_eq!(answer.header("content-type"), "application/json");
    // A namespace is in itself.
    let (_, message) = client.get("/api/v1/namespaces/default").await.refusal(403);
    assert!(message.ends_with("in API group \"\" in the namespace \"default\""), "{message}");
    let spaced = client.ask("GET", CONFIG_MAPS, &[("authorization", "Bearer  x")], "").await;
    assert_eq!(spaced.code, 403);
    assert!(spaced.header("warning").contains("contains extra space"), "{:?}", spaced.headers);
}

#[tokio::test]
async fn without_anonymous_users_nobody_is_let_in() {
    let server = start_with(FakeApiServer::builder().anonymous_auth(false)).await;
    let mut client = Client::new(&server).await;
    client.token = String::new();
    let answer = client.get("/version").await;
    assert_eq!((answer.code, answer.text()), (401, UNAUTHORIZED));
}

#[tokio::test]
async fn impersonation_is_recorded() {
    let directory = tempfile::tempdir().expect("a directory");
    let path = directory.path().join("audit.log");
    let server = start_with(FakeApiServer::builder().record_requests(true).audit_log(&path)).await;
    let mut client = Client::new(&server).await;
    let as_bob = [("impersonate-user", "bob"), ("impersonate-extra-Example.com%2FScopes", "view")];
    client.ask("GET", CONFIG_MAPS, &as_bob, Bytes::new()).await.expect(200);
    // An empty `Impersonate-User` counts as absent; with other headers alone the request is refused.
    client.ask("GET", CONFIG_MAPS, &[("impersonate-user", "")], Bytes::new()).await.expect(200);
    let answer =
        client.ask("GET", CONFIG_MAPS, &[("impersonate-user", ""), ("impersonate-uid", "1")], Bytes::new()).await;
    assert_eq!((answer.refusal(400).0.as_str(), answer.header("x-content-type-options")), ("BadRequest", "nosniff"));
    let everything = [("impersonate-user", "root"), ("impersonate-group", "system:masters")];
    client.ask("GET", CONFIG_MAPS, &everything, Bytes::new()).await.expect(200);
    let empty = [("impersonate-user", "bob"), ("impersonate-group", ""), ("impersonate-group", "devs")];
    client.ask("GET", CONFIG_MAPS, &empty, Bytes::new()).await.expect(200);

    let events = std::fs::read_to_string(&path).expect("an audit log");
    let events: Vec<Value> = events.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    let names: Vec<_> = events.iter().map(|event| text(event, "/impersonatedUser/username")).collect();
    assert_eq!(names, ["bob", "", "", "root", "bob"]);
    assert!(events.iter().all(|event| event["user"]["username"] == "admin"));
    // The impersonation constraint that allowed it is recorded, unless it is the original `impersonate` verb.
    let constraints: Vec<_> =
        events.iter().map(|event| text(event, "/authenticationMetadata/impersonationConstraint")).collect();
    assert_eq!(constraints, ["impersonate:user-info", "", "", "", ""]);
    assert_eq!(events[0]["impersonatedUser"]["extra"], json!({"example.com/scopes": ["view"]}));
    assert_eq!(events[4]["impersonatedUser"]["groups"], json!(["", "devs", "system:authenticated"]));
    let record = &server.requests()[0];
    let impersonated = record.impersonated.as_ref().expect("somebody else");
    assert_eq!((impersonated.user.name.as_str(), impersonated.constraint), ("bob", Some("impersonate:user-info")));
}
