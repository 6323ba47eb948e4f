//! Webhooks that convert or review, and those that misbehave: they harm no request but those that ask them.

use crate::support::*;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use fake_apiserver::FakeApiServer;
use http::{Request, Response};
use http_body_util::combinators::BoxBody;
use http_body_util::{BodyExt, Full};
use hyper::body::{Frame, Incoming};
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo};
use hyper_util::server::conn::auto;
use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, IsCa, KeyPair};
use rustls::ServerConfig;
use rustls::pki_types::PrivateKeyDer;
use serde_json::{Value, json};
use std::convert::Infallible;
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use tokio::net::TcpListener;
use tokio::sync::watch;
use tokio::task::JoinSet;
use tokio_rustls::TlsAcceptor;

const DEFINITIONS: &str = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
const DEFINITION: &str = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/things.example.com";
const MUTATING: &str = "/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations";
const NAMESPACES: &str = "/api/v1/namespaces";
const V1: &str = "/apis/example.com/v1/namespaces/default/things";
const V2: &str = "/apis/example.com/v2/namespaces/default/things";
/// How many ask a webhook at the same time.
const MANY: usize = 64;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Manner {
    Converts,
    /// It answers when its manner changes.
    Silent,
    /// Its answer does not end.
    Endless,
}

/// A webhook that converts all that it is sent, and labels all that it reviews, but for objects called `bad`, which it refuses.
struct Hook {
    url: String,
    address: SocketAddr,
    ca_bundle: String,
    manner: watch::Sender<Manner>,
    /// The number of objects that it was asked about.
    asked: watch::Receiver<usize>,
    _server: JoinSet<()>,
}

impl Hook {
    async fn start() -> Hook {
        let mut params = CertificateParams::default();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let authority =
            CertifiedIssuer::self_signed(params, KeyPair::generate().expect("a key")).expect("an authority");
        let key = KeyPair::generate().expect("a key");
        let names = ["127.0.0.1".to_owned(), "hook.default.svc".to_owned()];
        let certificate = CertificateParams::new(names).and_then(|one| one.signed_by(&key, &authority));
        let chain = vec![certificate.expect("a certificate").der().clone()];
        let config = ServerConfig::builder_with_provider(Arc::new(rustls::crypto::aws_lc_rs::default_provider()))
            .with_safe_default_protocol_versions()
            .expect("versions")
            .with_no_client_auth()
            .with_single_cert(chain, PrivateKeyDer::Pkcs8(key.serialize_der().into()));
        let tls = TlsAcceptor::from(Arc::new(config.expect("a key that belongs to it")));
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let address = listener.local_addr().expect("an address");
        let url = format!("https://{address}/convert");
        let (manner, manners) = watch::channel(Manner::Converts);
        let (count, asked) = watch::channel(0);
        let mut server = JoinSet::new();
        server.spawn(serve(listener, tls, manners, Arc::new(count)));
        Hook { url, address, ca_bundle: STANDARD.encode(authority.pem()), manner, asked, _server: server }
    }

    /// Waits until it was asked about that many objects.
    async fn was_asked(&mut self, count: usize) {
        soon(self.asked.wait_for(|asked| *asked >= count)).await.expect("it runs");
    }
}

async fn serve(
    listener: TcpListener,
    tls: TlsAcceptor,
    manners: watch::Receiver<Manner>,
    asked: Arc<watch::Sender<usize>>,
) {
    let mut connections = JoinSet::new();
    loop {
        let (stream, _) = listener.accept().await.expect("a connection");
        let (tls, manners, asked) = (tls.clone(), manners.clone(), asked.clone());
        connections.spawn(async move {
            let Ok(stream) = tls.accept(stream).await else { return };
            let service = service_fn(|request| convert(request, manners.clone(), asked.clone()));
            auto::Builder::new(TokioExecutor::new()).serve_connection(TokioIo::new(stream), service).await.ok();
        });
    }
}

type Body = BoxBody<Bytes, Infallible>;

async fn convert(
    request: Request<Incoming>,
    mut manners: watch::Receiver<Manner>,
    asked: Arc<watch::Sender<usize>>,
) -> Result<Response<Body>, Infallible> {
    let body = request.into_body().collect().await.expect("a whole body").to_bytes();
    let review: Value = serde_json::from_slice(&body).expect("a review");
    let (response, count) = match review["kind"] == "AdmissionReview" {
        true => (verdict(&review["request"]), 1),
        false => converted(&review["request"]),
    };
    asked.send_modify(|asked| *asked += count);
    let manner = *manners.wait_for(|manner| *manner != Manner::Silent).await.expect("the test runs");
    if manner == Manner::Endless {
        return Ok(Response::new(Spaces.boxed()));
    }
    let answer = json!({"apiVersion": review["apiVersion"], "kind": review["kind"], "response": response});
    Ok(Response::new(Full::from(answer.to_string()).boxed()))
}

/// The response to a request for conversion, and the number of its objects.
fn converted(request: &Value) -> (Value, usize) {
    let mut objects = request["objects"].clone();
    let all = objects.as_array_mut().expect("objects");
    all.iter_mut().for_each(|object| object["apiVersion"] = request["desiredAPIVersion"].clone());
    let count = all.len();
    (json!({"uid": request["uid"], "convertedObjects": objects, "result": {"status": "Success"}}), count)
}

/// The response to a request for a review.
fn verdict(request: &Value) -> Value {
    if request["name"] == "bad" {
        return json!({"uid": request["uid"], "allowed": false, "status": {"message": "it is bad", "code": 403}});
    }
    let patch = json!([{"op": "add", "path": "/metadata/labels", "value": {"reviewed": "yes"}}]);
    let patch = STANDARD.encode(patch.to_string());
    json!({"uid": request["uid"], "allowed": true, "patchType": "JSONPatch", "patch": patch, "warnings": ["seen"]})
}

/// The configuration of a webhook that reviews new config maps.
fn reviewing(client_config: &Value) -> Value {
    let rule = json!({"operations": ["CREATE"], "apiGroups": [""], "apiVersions": ["v1"], "resources": ["configmaps"]});
    json!({
        "apiVersion": "admissionregistration.k8s.io/v1",
        "kind": "MutatingWebhookConfiguration",
        "metadata": {"name": "reviews"},
        "webhooks": [{
            "name": "reviews.example.com", "clientConfig": client_config, "rules": [rule],
            "sideEffects": "None", "admissionReviewVersions": ["v1"],
        }],
    })
}

/// A body that does not end.
struct Spaces;

impl hyper::body::Body for Spaces {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        Poll::Ready(Some(Ok(Frame::data(Bytes::from_static(&[b' '; 64 * 1024])))))
    }
}

fn thing(version: &str, name: &str) -> Value {
    json!({"apiVersion": format!("example.com/{version}"), "kind": "Thing", "metadata": {"name": name}, "spec": {"a": 1}})
}

/// The definition of a resource in two versions, stored as `v1`, which the webhook converts.
fn definition(plural: &str, hook: &Hook) -> Value {
    let version = |name: &str| {
        let schema = json!({"type": "object", "x-kubernetes-preserve-unknown-fields": true});
        json!({"name": name, "served": true, "storage": name == "v1", "schema": {"openAPIV3Schema": schema}})
    };
    let kind = if plural == "things" { "Thing" } else { "Other" };
    let webhook = json!({
        "clientConfig": {"url": hook.url, "caBundle": hook.ca_bundle},
        "conversionReviewVersions": ["v1"],
    });
    json!({
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": format!("{plural}.example.com")},
        "spec": {
            "group": "example.com",
            "scope": "Namespaced",
            "names": {"plural": plural, "kind": kind},
            "versions": [version("v1"), version("v2")],
            "conversion": {"strategy": "Webhook", "webhook": webhook},
        },
    })
}

/// A server with things, of which `a` is one, stored as `v1`.
async fn start_with_things(hook: &Hook) -> (FakeApiServer, Client) {
    let server = start().await;
    let mut client = Client::new(&server).await;
    client.post(DEFINITIONS, &definition("things", hook)).await.expect(201);
    client.post(V1, &thing("v1", "a")).await.expect(201);
    (server, client)
}

#[tokio::test]
async fn a_silent_webhook_harms_only_those_who_ask_it() {
    let mut hook = Hook::start().await;
    let (server, mut client) = start_with_things(&hook).await;
    let mut first = Client::new(&server).await.watch(&format!("{V1}?watch=true"), &[]).await;
    let mut second = Client::new(&server).await.watch(&format!("{V2}?watch=true"), &[]).await;
    assert_eq!(first.next_short().await.1, "a");
    assert_eq!(second.next_short().await.1, "a");
    hook.manner.send_replace(Manner::Silent);
    let before = *hook.asked.borrow();
    let mut waiting = JoinSet::new();
    for index in 0..MANY {
        let mut client = Client::over(&server, PROTOCOLS[index % 2]).await;
        waiting.spawn(async move {
            let path = format!("{V2}/a?timeout=2s");
            match index % 4 {
                0 => client.patch(MERGE_PATCH, &path, &json!({"spec": {"a": 2}})).await.code,
                1 => client.delete(&path).await.code,
                _ => client.get(&path).await.code,
            }
        });
    }
    hook.was_asked(before + MANY).await;
    // Others are served, and see what happens.
    client.get(&format!("{V1}/a")).await.expect(200);
    client.get(V1).await.expect(200);
    client.post(V1, &thing("v1", "b")).await.expect(201);
    client.get(&format!("{V2}/none")).await.refusal(404);
    client
        .post(CONFIG_MAPS, &json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "c"}}))
        .await
        .expect(201);
    assert_eq!(first.next_short().await.1, "b");
    assert_eq!(soon(waiting.join_all()).await, [504; MANY]);
    assert_eq!(client.get(&format!("{V1}/a")).await.expect(200)["spec"], json!({"a": 1}));
    hook.manner.send_replace(Manner::Converts);
    client.get(&format!("{V2}/a")).await.expect(200);
    assert_eq!(second.next_short().await.1, "b");
}

#[tokio::test]
async fn an_endless_answer_is_given_up() {
    let hook = Hook::start().await;
    let (_server, mut client) = start_with_things(&hook).await;
    hook.manner.send_replace(Manner::Endless);
    let (reason, message) = client.get(&format!("{V2}/a")).await.refusal(500);
    assert_eq!(reason, "InternalError");
    assert!(message.ends_with("Original error: length limit exceeded"), "{message}");
    client.post(V2, &thing("v2", "b")).await.refusal(500);
    hook.manner.send_replace(Manner::Converts);
    client.get(&format!("{V2}/a")).await.expect(200);
    assert_eq!(client.get(V1).await.expect(200)["items"].as_array().map(Vec::len), Some(1));
}

/// An event that many watches see is converted only once, too.
#[tokio::test]
async fn an_event_is_converted_once_for_all_watches() {
    let mut hook = Hook::start().await;
    let (server, mut client) = start_with_things(&hook).await;
    let mut watches = Vec::new();
    for index in 0..MANY {
        let client = Client::over(&server, PROTOCOLS[index % 2]).await;
        let mut events = client.watch(&format!("{V2}?watch=true"), &[]).await;
        assert_eq!(events.next_short().await.0, "ADDED");
        watches.push(events);
    }
    assert_eq!(*hook.asked.borrow_and_update(), 1);
    client.patch(MERGE_PATCH, &format!("{V1}/a"), &json!({"spec": {"a": 2}})).await.expect(200);
    for events in &mut watches {
        let event = events.next().await.expect("an event");
        assert_eq!((&event["type"], &event["object"]["apiVersion"]), (&json!("MODIFIED"), &json!("example.com/v2")));
    }
    assert_eq!(*hook.asked.borrow(), 2);
    client.delete(&format!("{V1}/a")).await.expect(200);
    for events in &mut watches {
        assert_eq!(events.next_short().await.0, "DELETED");
    }
    assert_eq!(*hook.asked.borrow(), 2);
}

/// All that a list has to ask is asked at once.
#[tokio::test]
async fn a_list_is_converted_by_one_review() {
    let hook = Hook::start().await;
    let (_server, mut client) = start_with_things(&hook).await;
    for index in 0..MANY {
        client.post(V1, &thing("v1", &format!("b{index:03}"))).await.expect(201);
    }
    let mut asked = hook.asked.clone();
    asked.mark_unchanged();
    let list = client.get(V2).await.expect(200);
    let items = list["items"].as_array().expect("items");
    assert!(items.len() == MANY + 1 && items.iter().all(|item| item["apiVersion"] == "example.com/v2"));
    assert_eq!(*asked.borrow_and_update(), MANY + 1);
    let page = client.get(&format!("{V2}?limit=10")).await.expect(200);
    assert_eq!(page["items"].as_array().map(Vec::len), Some(10));
    assert_eq!(page["metadata"]["remainingItemCount"], MANY + 1 - 10);
    assert!(!asked.has_changed().expect("it runs"));
}

/// Makes `v2` the stored version, so that the webhook has to convert what is stored before it can be deleted.
async fn store_as_v2(client: &mut Client) {
    let storage = |index: usize, storage: bool| json!({"op": "replace", "path": format!("/spec/versions/{index}/storage"), "value": storage});
    let patch = json!([storage(0, false), storage(1, true)]);
    client.patch(JSON_PATCH, DEFINITION, &patch).await.expect(200);
}

/// Waits until the definition of the things is removed.
async fn is_removed(definitions: &mut Events) {
    loop {
        let (change, name, _) = definitions.next_short().await;
        if (&*change, &*name) == ("DELETED", "things.example.com") {
            return;
        }
    }
}

#[tokio::test]
async fn a_definition_that_waits_for_a_silent_webhook_holds_up_nobody() {
    let mut hook = Hook::start().await;
    let (server, mut client) = start_with_things(&hook).await;
    store_as_v2(&mut client).await;
    let mut definitions = Client::new(&server).await.watch(&format!("{DEFINITIONS}?watch=true"), &[]).await;
    hook.manner.send_replace(Manner::Silent);
    let before = *hook.asked.borrow();
    // Its writer waits no longer than its own time, and not as long as the webhook may take.
    client.delete(&format!("{DEFINITION}?timeout=1s")).await.expect(200);
    hook.was_asked(before + 1).await;
    // Others are served, and see the consequences of what they do.
    client.get(DEFINITION).await.expect(200);
    client.post(NAMESPACES, &named("other")).await.expect(201);
    client.post("/api/v1/namespaces/other/configmaps", &named("a")).await.expect(201);
    client.delete("/api/v1/namespaces/other").await.expect(200);
    client.get("/api/v1/namespaces/other").await.refusal(404);
    let mut other = definition("others", &hook);
    other["spec"]["conversion"] = json!({"strategy": "None"});
    client.post(DEFINITIONS, &other).await.expect(201);
    client.get("/apis/example.com/v1/others").await.expect(200);
    client.delete(&format!("{DEFINITIONS}/others.example.com")).await.expect(200);
    assert_eq!(client.get("/apis/example.com/v1/others").await.code, 404);
    assert_eq!(*hook.asked.borrow(), before + 1, "all that while it was asked once");
    // Who changes the definition is not held up either, as long as there is time.
    client.patch(MERGE_PATCH, DEFINITION, &json!({"metadata": {"labels": {"a": "b"}}})).await.expect(200);
    assert_eq!(*hook.asked.borrow(), before + 2, "it is asked anew");
    hook.manner.send_replace(Manner::Converts);
    is_removed(&mut definitions).await;
    assert_eq!(client.get(V1).await.code, 404);
}

#[tokio::test]
async fn a_definition_goes_once_it_asks_its_silent_webhook_no_more() {
    let hook = Hook::start().await;
    let (_server, mut client) = start_with_things(&hook).await;
    store_as_v2(&mut client).await;
    hook.manner.send_replace(Manner::Silent);
    client.delete(&format!("{DEFINITION}?timeout=1s")).await.expect(200);
    let none = json!({"spec": {"conversion": {"strategy": "None", "webhook": null}}});
    client.patch(MERGE_PATCH, DEFINITION, &none).await.expect(200);
    client.get(DEFINITION).await.refusal(404);
}

#[tokio::test]
async fn a_definition_is_removed_when_its_webhook_answers_again() {
    let hook = Hook::start().await;
    let (server, mut client) = start_with_things(&hook).await;
    store_as_v2(&mut client).await;
    hook.manner.send_replace(Manner::Endless);
    let mut definitions = Client::new(&server).await.watch(&format!("{DEFINITIONS}?watch=true"), &[]).await;
    client.delete(DEFINITION).await.expect(200);
    let status = &client.get(DEFINITION).await.expect(200)["status"];
    let reasons: Vec<&str> =
        status["conditions"].as_array().into_iter().flatten().map(|one| text(one, "/reason")).collect();
    assert!(reasons.iter().any(|reason| reason.starts_with("InstanceDeletion")), "{reasons:?}");
    client.get(&format!("{V1}/a")).await.expect(200);
    hook.manner.send_replace(Manner::Converts);
    // Nobody writes anything.
    is_removed(&mut definitions).await;
    assert_eq!(client.get(V1).await.code, 404);
}

/// As tests of operators do it: the webhook runs in the test, and is called at its own address, or as a service.
#[tokio::test]
async fn a_webhook_reviews_from_the_next_request_on() {
    let hook = Hook::start().await;
    let server = start_with(FakeApiServer::builder().add_service_address("default", "hook", 443, hook.address)).await;
    let mut client = Client::new(&server).await;
    let service = json!({"namespace": "default", "name": "hook", "path": "/review"});
    let configs =
        [json!({"url": hook.url, "caBundle": hook.ca_bundle}), json!({"service": service, "caBundle": hook.ca_bundle})];
    for (index, config) in configs.iter().enumerate() {
        client.post(MUTATING, &reviewing(config)).await.expect(201);
        let created = client.post(CONFIG_MAPS, &with_data(&format!("good-{index}"), "k", "v")).await;
        assert_eq!(created.expect(201)["metadata"]["labels"], json!({"reviewed": "yes"}));
        assert_eq!(created.header("warning"), "299 - \"seen\"");
        let (_, message) = client.post(CONFIG_MAPS, &with_data("bad", "k", "v")).await.refusal(403);
        assert_eq!(message, "admission webhook \"reviews.example.com\" denied the request: it is bad");
        client.delete(&format!("{MUTATING}/reviews")).await.expect(200);
        client.post(CONFIG_MAPS, &with_data("bad", "k", "v")).await.expect(201);
        client.delete(&format!("{CONFIG_MAPS}/bad")).await.expect(200);
    }
}

#[tokio::test]
async fn a_review_that_takes_long_holds_up_only_its_own_request() {
    let mut hook = Hook::start().await;
    let server = start().await;
    let mut client = Client::new(&server).await;
    let config = json!({"url": hook.url, "caBundle": hook.ca_bundle});
    client.post(MUTATING, &reviewing(&config)).await.expect(201);
    hook.manner.send_replace(Manner::Silent);
    let mut waiting = JoinSet::new();
    for index in 0..MANY {
        let mut client = Client::over(&server, PROTOCOLS[index % 2]).await;
        waiting
            .spawn(async move { client.post(CONFIG_MAPS, &with_data(&format!("slow-{index}"), "k", "v")).await.code });
    }
    hook.was_asked(MANY).await;
    client.get(CONFIG_MAPS).await.expect(200);
    let secret = json!({"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "quick"}});
    client.post("/api/v1/namespaces/default/secrets", &secret).await.expect(201);
    client.delete(&format!("{MUTATING}/reviews")).await.expect(200);
    client.post(CONFIG_MAPS, &with_data("unreviewed", "k", "v")).await.expect(201);
    hook.manner.send_replace(Manner::Converts);
    assert_eq!(soon(waiting.join_all()).await, [201; MANY]);
    let slow = client.get(&format!("{CONFIG_MAPS}/slow-0")).await.expect(200);
    assert_eq!(slow["metadata"]["labels"]["reviewed"], "yes");
}
