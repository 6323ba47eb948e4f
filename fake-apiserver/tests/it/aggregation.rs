//! API servers that extend this one: another fake, which trusts this one to say who makes a request.

use crate::certificates::{Authority, authority};
use crate::support::*;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use fake_apiserver::{AuthenticationOptions, AuthorizationMode, FakeApiServer, RequestRecord};
use futures::StreamExt;
use http::Request;
use rcgen::{CertificateParams, DnType, ExtendedKeyUsagePurpose, KeyPair};
use serde_json::{Value, json};
use std::fs;
use std::path::Path;
use std::sync::Arc;
use tempfile::TempDir;
use tokio::net::TcpStream;
use tokio_tungstenite::client_async;
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::tungstenite::handshake::client::generate_key;

const API_SERVICES: &str = "/apis/apiregistration.k8s.io/v1/apiservices";
const DEFINITIONS: &str = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
const THINGS: &str = "/apis/sample.example.com/v1/namespaces/default/things";
const AGGREGATED: (&str, &str) = ("accept", "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList");

/// A server, and one that extends it by things.
struct Pair {
    main: FakeApiServer,
    extension: FakeApiServer,
    serving: Authority,
    _folder: TempDir,
}

/// Writes a certificate and its key as `NAME.crt` and `NAME.key`, and returns both.
fn written(folder: &Path, authority: &Authority, name: &str, usage: ExtendedKeyUsagePurpose) -> [String; 2] {
    let mut params = CertificateParams::new([name.to_owned(), "127.0.0.1".to_owned()]).expect("names");
    params.distinguished_name.push(DnType::CommonName, name);
    params.extended_key_usages = vec![usage];
    let key = KeyPair::generate().expect("a key");
    let certificate = params.signed_by(&key, authority).expect("a certificate");
    let both = [certificate.pem(), key.serialize_pem()];
    for (text, extension) in both.iter().zip(["crt", "key"]) {
        fs::write(folder.join(format!("{name}.{extension}")), text).expect("a file");
    }
    both
}

async fn pair() -> Pair {
    let folder = tempfile::tempdir().expect("a folder");
    let (serving, proxies) = (authority("serving"), authority("proxies"));
    let path = |name: &str| folder.path().join(name);
    fs::write(path("proxies.pem"), proxies.pem()).expect("a file");
    let [certificate, key] =
        written(folder.path(), &serving, "sample.default.svc", ExtendedKeyUsagePurpose::ServerAuth);
    written(folder.path(), &proxies, "front", ExtendedKeyUsagePurpose::ClientAuth);
    let mut options = AuthenticationOptions::default();
    options.front_proxy.client_ca_file = Some(path("proxies.pem"));
    options.front_proxy.username_headers = vec!["X-Remote-User".into()];
    options.front_proxy.group_headers = vec!["X-Remote-Group".into()];
    options.front_proxy.extra_headers_prefix = vec!["X-Remote-Extra-".into()];
    // The tests trust what comes with the certificate.
    let extension = FakeApiServer::builder().tls_identity(certificate + &serving.pem(), key).authentication(options);
    let extension = extension.record_requests(true).start().await.expect("a server");
    let definition = json!({"metadata": {"name": "things.sample.example.com"}, "spec": {
        "group": "sample.example.com",
        "names": {"plural": "things", "kind": "Thing"},
        "scope": "Namespaced",
        "versions": [{"name": "v1", "served": true, "storage": true,
            "schema": {"openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": true}}}],
    }});
    Client::new(&extension).await.post(DEFINITIONS, &definition).await.expect(201);
    let main = FakeApiServer::builder()
        .add_service_address("default", "sample", 443, extension.replica(0).address())
        .proxy_client_certificate(path("front.crt"), path("front.key"))
        .add_static_token("t", "u", &["g", "h"]);
    Pair { main: start_with(main).await, extension, serving, _folder: folder }
}

/// The last request that a server has got.
fn last(server: &FakeApiServer) -> Arc<RequestRecord> {
    server.requests().last().expect("a request").clone()
}

/// The API service of things, whose server is vouched for by that authority.
fn service(authority: Option<&Authority>) -> Value {
    let mut service = json!({"metadata": {"name": "v1.sample.example.com"}, "spec": {
        "group": "sample.example.com", "version": "v1", "groupPriorityMinimum": 17900, "versionPriority": 15,
        "service": {"namespace": "default", "name": "sample"},
    }});
    match authority {
        Some(authority) => service["spec"]["caBundle"] = STANDARD.encode(authority.pem()).into(),
        None => service["spec"]["insecureSkipTLSVerify"] = true.into(),
    }
    service
}

/// The reason, the status and the message of the condition.
async fn availability(client: &mut Client) -> [String; 3] {
    let service = client.get(&format!("{API_SERVICES}/v1.sample.example.com")).await.expect(200);
    ["reason", "status", "message"].map(|field| text(&service, &format!("/status/conditions/0/{field}")).to_owned())
}

#[tokio::test]
async fn requests_are_forwarded_as_their_users() {
    let pair = pair().await;
    let mut admin = Client::new(&pair.main).await;
    admin.get(THINGS).await;
    admin.post(API_SERVICES, &service(Some(&pair.serving))).await.expect(201);
    assert_eq!(availability(&mut admin).await, ["Passed", "True", "all checks passed"]);

    let mut user = Client::new(&pair.main).await;
    user.token = "t".into();
    let thing = json!({"apiVersion": "sample.example.com/v1", "kind": "Thing", "metadata": {"name": "a"}, "x": 1});
    user.post(THINGS, &thing).await.expect(201);
    let seen = last(&pair.extension);
    let seen_user = seen.user.clone().expect("a user");
    let expected = ["g", "h", "system:authenticated"].map(str::to_owned);
    assert_eq!((&*seen_user.name, &*seen_user.groups, &*seen.uri), ("u", &expected[..], THINGS));
    assert_eq!(names(&user.get(&format!("{THINGS}?limit=5&labelSelector=")).await.expect(200)), ["a"]);
    assert_eq!(user.get(&format!("{THINGS}/b")).await.refusal(404).0, "NotFound");
    let list = user.get("/apis/sample.example.com/v1").await.expect(200);
    assert_eq!(text(&list, "/resources/0/kind"), "Thing");

    // Watches last.
    let mut watch = Client::new(&pair.main).await.watch(&format!("{THINGS}?watch=1"), &[]).await;
    assert_eq!(watch.next_short().await.1, "a");
    Client::new(&pair.extension).await.post(THINGS, &named_thing("b")).await.expect(201);
    assert_eq!(watch.next_short().await.1, "b");
    user.delete(&format!("{THINGS}/a")).await.expect(200);
    assert_eq!(watch.next_short().await.0, "DELETED");
}

fn named_thing(name: &str) -> Value {
    json!({"apiVersion": "sample.example.com/v1", "kind": "Thing", "metadata": {"name": name}})
}

#[tokio::test]
async fn connections_may_switch_to_another_protocol() {
    let pair = pair().await;
    let mut admin = Client::new(&pair.main).await;
    admin.post(API_SERVICES, &service(Some(&pair.serving))).await.expect(201);
    admin.post(THINGS, &named_thing("a")).await.expect(201);
    let request = Request::get(format!("ws://fake{THINGS}?watch=true"))
        .header("host", "fake")
        .header("authorization", format!("Bearer {}", pair.main.admin_token()))
        .header("connection", "Upgrade")
        .header("upgrade", "websocket")
        .header("sec-websocket-key", generate_key())
        .header("sec-websocket-version", "13")
        .header("origin", "https://fake")
        .body(())
        .expect("a request");
    let stream = TcpStream::connect(address(&pair.main)).await.expect("it listens");
    let (mut watch, _) = soon(client_async(request, stream)).await.expect("101");
    let Some(Ok(Message::Text(event))) = soon(watch.next()).await else { panic!("no text") };
    let event: Value = serde_json::from_str(&event).expect("JSON");
    assert_eq!((text(&event, "/type"), text(&event, "/object/metadata/name")), ("ADDED", "a"));
}

#[tokio::test]
async fn the_group_is_in_discovery() {
    let pair = pair().await;
    let mut admin = Client::new(&pair.main).await;
    admin.get("/apis/sample.example.com").await;
    admin.post(API_SERVICES, &service(Some(&pair.serving))).await.expect(201);
    let groups = admin.get("/apis").await.expect(200);
    let places: Vec<&str> =
        groups["groups"].as_array().expect("groups").iter().map(|group| text(group, "/name")).collect();
    assert_eq!(places[..3], ["apiregistration.k8s.io", "sample.example.com", "apps"], "by priority");
    let group = admin.get("/apis/sample.example.com").await.expect(200);
    assert_eq!(text(&group, "/preferredVersion/groupVersion"), "sample.example.com/v1");
    let own = |list: &Value| {
        let items = list["items"].as_array().expect("items").iter();
        items.clone().find(|item| text(item, "/metadata/name") == "sample.example.com").cloned().unwrap_or_default()
    };
    let list = admin.ask("GET", "/apis", &[AGGREGATED], Bytes::new()).await.expect(200);
    let version = &own(&list)["versions"][0];
    assert_eq!((text(version, "/freshness"), text(version, "/resources/0/resource")), ("Current", "things"));
    assert_eq!(text(&list["items"][2], "/metadata/name"), "apps");

    let index = admin.get("/openapi/v3").await.json();
    let url = text(&index["paths"]["apis/sample.example.com/v1"], "/serverRelativeURL").to_owned();
    assert!(url.starts_with("/openapi/v3/apis/sample.example.com/v1?hash="), "{url}");
    let document = admin.get(&url).await.expect(200);
    assert!(document["paths"]["/apis/sample.example.com/v1/things"].is_object());

    let document = admin.get("/openapi/v2").await.expect(200);
    let listed = &document["paths"]["/apis/sample.example.com/v1/namespaces/{namespace}/things"]["get"];
    let model = text(listed, "/responses/200/schema/$ref");
    assert_eq!(model, "#/definitions/com.example.sample.v1.ThingList");
    assert!(document["definitions"]["com.example.sample.v1.Thing"].is_object());
    let pods = &document["paths"]["/api/v1/namespaces/{namespace}/pods"];
    assert!(pods.is_object(), "what this server serves is there, too");

    // One that cannot be asked is stale.
    admin.delete(&format!("{API_SERVICES}/v1.sample.example.com")).await.expect(200);
    assert_eq!(admin.get("/apis/sample.example.com").await.code, 404);
    let mut unknown = service(Some(&authority("other")));
    unknown["spec"]["groupPriorityMinimum"] = 10.into();
    admin.post(API_SERVICES, &unknown).await.expect(201);
    let list = admin.ask("GET", "/apis", &[AGGREGATED], Bytes::new()).await.expect(200);
    assert_eq!(own(&list)["versions"], json!([{"version": "v1", "freshness": "Stale"}]));
    assert_eq!(
        text(list["items"].as_array().expect("items").last().expect("one"), "/metadata/name"),
        "sample.example.com"
    );
}

#[tokio::test]
async fn a_server_that_is_down_or_not_trusted_is_unavailable() {
    let pair = pair().await;
    let mut admin = Client::new(&pair.main).await;
    admin.post(API_SERVICES, &service(Some(&authority("other")))).await.expect(201);
    let url = format!("https://{}/apis/sample.example.com/v1", pair.extension.replica(0).address());
    let [reason, status, message] = availability(&mut admin).await;
    assert_eq!((&*reason, &*status), ("FailedDiscoveryCheck", "False"));
    let untrusted = "tls: failed to verify certificate: x509: certificate signed by unknown authority";
    assert!(
        message.starts_with(&format!("failing or missing response from {url}: Get \"{url}\": {untrusted}")),
        "{message}"
    );
    for path in [THINGS, "/apis/sample.example.com/v1"] {
        let answer = admin.get(path).await;
        assert_eq!((answer.code, answer.text()), (503, "service unavailable\n"), "{path}");
    }
    admin.get("/apis/sample.example.com").await.expect(200);

    let path = format!("{API_SERVICES}/v1.sample.example.com");
    let insecure = json!({"spec": {"caBundle": null, "insecureSkipTLSVerify": true}});
    admin.patch(MERGE_PATCH, &path, &insecure).await.expect(200);
    assert_eq!(availability(&mut admin).await, ["Passed", "True", "all checks passed"]);
    admin.get(THINGS).await.expect(200);
    let address = pair.extension.replica(0).address();
    pair.extension.shutdown().await;
    let answer = admin.get(THINGS).await;
    let refused = format!("dial tcp {address}: connect: connection refused");
    assert_eq!((answer.code, answer.text()), (503, &*format!("error trying to reach service: {refused}\n")));
    // It is probed when its API service changes.
    admin.patch(MERGE_PATCH, &path, &json!({"metadata": {"labels": {"a": "b"}}})).await.expect(200);
    assert_eq!(
        availability(&mut admin).await[2],
        format!("failing or missing response from {url}: Get \"{url}\": {refused}")
    );
    assert_eq!(admin.get(THINGS).await.text(), "service unavailable\n");
}

#[tokio::test]
async fn credentials_and_headers_of_clients_are_not_passed_on() {
    let pair = pair().await;
    let mut admin = Client::new(&pair.main).await;
    admin.post(API_SERVICES, &service(Some(&pair.serving))).await.expect(201);
    let headers = [
        ("x-remote-user", "mallory"),
        ("x-remote-group", "system:masters"),
        ("x-remote-extra-scopes", "all"),
        ("impersonate-user", "bob"),
        ("impersonate-extra-a%2fb", "1"),
    ];
    admin.ask("GET", THINGS, &headers, Bytes::new()).await.expect(200);
    let seen = last(&pair.extension).user.clone().expect("a user");
    assert_eq!((&*seen.name, &*seen.groups), ("bob", &["system:authenticated".to_owned()][..]));
    assert_eq!(seen.extra.get("a/b"), Some(&vec!["1".to_owned()]));
    assert_eq!(seen.extra.get("scopes"), None);
}

#[tokio::test]
async fn whoever_may_not_ask_is_not_forwarded() {
    let pair = pair().await;
    let main = FakeApiServer::builder()
        .authorization_mode([AuthorizationMode::Rbac])
        .add_service_address("default", "sample", 443, pair.extension.replica(0).address())
        .add_static_token("t", "u", &[]);
    let main = start_with(main).await;
    let mut admin = Client::new(&main).await;
    admin.post(API_SERVICES, &service(Some(&pair.serving))).await.expect(201);
    let mut user = Client::new(&main).await;
    user.token = "t".into();
    assert_eq!(user.get(THINGS).await.refusal(403).0, "Forbidden");
    assert!(pair.extension.requests().iter().all(|request| request.uri != THINGS));
}
