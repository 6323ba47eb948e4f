//! No client can end the server, or keep other clients waiting.

use crate::support::*;
use bytes::Bytes;
use fake_apiserver::{AuthorizationMode, FakeApiServer};
use serde_json::{Value, json};
use std::fmt::Write;

const PODS: &str = "/api/v1/namespaces/default/pods";
const ROLES: &str = "/apis/rbac.authorization.k8s.io/v1/namespaces/default/roles";
const EXCEEDED: &str = "{\"metadata\":{},\"status\":\"Failure\",\"message\":\"Timeout: request did not complete within the \
    allotted timeout\",\"reason\":\"Timeout\",\"details\":{},\"code\":504}\n";

/// A request, and the expected status code.
struct Attack {
    what: &'static str,
    method: &'static str,
    path: String,
    content_type: &'static str,
    body: String,
    code: u16,
}

fn attack(what: &'static str, method: &'static str, path: &str, body: impl ToString, code: u16) -> Attack {
    let content_type = if method == "PATCH" { JSON_PATCH } else { "application/json" };
    Attack { what, method, path: path.into(), content_type, body: body.to_string(), code }
}

fn add(path: &str, value: Value) -> Value {
    json!({"op": "add", "path": path, "value": value})
}

fn copy(from: &str, path: String) -> Value {
    json!({"op": "copy", "from": from, "path": path})
}

/// Nested objects.
fn nested(depth: usize) -> Value {
    (0..depth).fold(json!(1), |inner, _| json!({ "a": inner }))
}

/// The rule of a role with that many groups, resources, names and verbs.
fn rule(groups: usize, resources: usize, names: usize, verbs: &[&str]) -> Value {
    let many = |prefix: &str, count: usize| -> Vec<String> { (0..count).map(|at| format!("{prefix}{at}")).collect() };
    json!({"apiGroups": many("g", groups), "resources": many("r", resources), "resourceNames": many("n", names), "verbs": verbs})
}

fn role(rule: Value) -> Value {
    json!({"metadata": {"name": "attack"}, "rules": [rule]})
}

/// Operations that double the depth of the object, again and again.
fn deepening() -> Vec<Value> {
    let mut depth = 100;
    let mut operations = vec![add("/x", nested(depth))];
    while depth < 20_000 {
        operations.push(copy("/x", format!("/x{}", "/a".repeat(depth))));
        depth *= 2;
    }
    operations
}

/// Operations that insert at the front of a list of half a million items.
fn at_the_front() -> String {
    let mut patch = format!("[{{\"op\":\"add\",\"path\":\"/x\",\"value\":[0{}]}}", ",0".repeat(499_999));
    patch.push_str(&",{\"op\":\"add\",\"path\":\"/x/0\",\"value\":1}".repeat(9_000));
    patch.push_str(",{\"op\":\"remove\",\"path\":\"/x\"}]");
    patch
}

/// A config map with many keys, and then a repeated one.
fn repeated_maps() -> String {
    let mut body = "{\"metadata\":{\"name\":\"repeated\"},\"data\":{\"x\":\"\"".to_string();
    (0..60_000).for_each(|key| write!(body, ",\"k{key}\":\"\"").expect("a string takes everything"));
    body.push('}');
    body.push_str(&",\"data\":{\"a\":\"\"}".repeat(60_000));
    body.push('}');
    body
}

/// Unknown fields below a long key.
fn unknown_fields() -> String {
    let mut patch = format!("[{{\"op\":\"test\",\"path\":\"\",\"value\":{{\"{}\":{{\"a\":1", "x".repeat(500_000));
    patch.push_str(&",\"a\":1".repeat(200_000));
    patch.push_str("}}}]");
    patch
}

fn pod(containers: Vec<Value>) -> Value {
    json!({"metadata": {"name": "attack"}, "spec": {"containers": containers}})
}

/// A few operations that copy their copies, up to the limit.
fn doubling() -> Vec<Value> {
    [add("/x", json!({}))].into_iter().chain((0..28).map(|at| copy("/x", format!("/x/{at}")))).collect()
}

fn attacks() -> Vec<Attack> {
    let victim = format!("{CONFIG_MAPS}/victim");
    let owner = |at: usize| json!({"apiVersion": "v1", "kind": "Pod", "name": format!("p{at}"), "uid": "u", "controller": true});
    let owners: Vec<Value> = (0..12_000).map(owner).collect();
    let keys: serde_json::Map<String, Value> = (0..10_000).map(|key| (format!("!{key}"), json!(""))).collect();
    let ports = |port: Value| json!([{"name": "c", "image": "i", "ports": vec![port; 20_000]}]);
    let on_hosts: Vec<Value> = (0..20_000)
        .map(|at| json!({"containerPort": 80, "hostPort": 80, "hostIP": format!("10.0.{}.{}", at / 250, at % 250)}))
        .collect();
    let variable = |at: usize| json!({"name": format!("n{}", at / 2), "value": "v"});
    let variables: Vec<Value> = (0..30_000).map(variable).collect();
    vec![
        attack("copies that deepen", "PATCH", &victim, json!(deepening()), 422),
        attack("copies that double", "PATCH", &victim, json!(doubling()), 422),
        attack("items at the front", "PATCH", &victim, at_the_front(), 200),
        attack("too many operations", "PATCH", &victim, json!(vec![add("/x", json!(1)); 10_001]), 413),
        attack("unknown fields", "PATCH", &victim, unknown_fields(), 422),
        attack("maps that are repeated", "POST", CONFIG_MAPS, repeated_maps(), 201),
        attack("invalid keys", "POST", CONFIG_MAPS, json!({"metadata": {"name": "keys"}, "data": keys}), 422),
        attack(
            "controlling owners",
            "POST",
            CONFIG_MAPS,
            json!({"metadata": {"name": "owners", "ownerReferences": owners}}),
            422,
        ),
        attack("containers", "POST", PODS, pod(vec![json!({}); 2_000]), 422),
        attack(
            "ports",
            "POST",
            PODS,
            json!({"metadata": {"name": "ports"}, "spec": {"containers": ports(json!({"containerPort": 80}))}}),
            201,
        ),
        attack(
            "ports of hosts",
            "POST",
            PODS,
            json!({"metadata": {"name": "hosts"}, "spec": {"containers": [{"name": "c", "image": "i", "ports": on_hosts}]}}),
            201,
        ),
        attack(
            "variables",
            "POST",
            PODS,
            json!({"metadata": {"name": "variables"}, "spec": {"containers": [{"name": "c", "image": "i", "env": variables}]}}),
            201,
        ),
        attack("a rule that stands for many", "POST", ROLES, role(rule(60, 60, 20, &["a", "b", "c", "d"])), 403),
    ]
}

/// A server with RBAC, and a user mallory who may write roles, but not escalate.
async fn victim() -> FakeApiServer {
    const GROUP: &str = "rbac.authorization.k8s.io";
    // Attacks are refused for what they are, not for the time that they take on a busy machine.
    let builder = FakeApiServer::builder().authorization_mode([AuthorizationMode::Rbac]).patient(true);
    let server = start_with(builder.add_static_token("mallory", "mallory", &[])).await;
    let mut client = Client::new(&server).await;
    let rules =
        json!([{"apiGroups": ["*"], "resources": ["*"], "verbs": ["get", "list", "create", "patch", "delete"]}]);
    let role = json!({"metadata": {"name": "writer"}, "rules": rules});
    client.post(&format!("/apis/{GROUP}/v1/clusterroles"), &role).await.expect(201);
    let binding = json!({
        "metadata": {"name": "mallory"},
        "roleRef": {"apiGroup": GROUP, "kind": "ClusterRole", "name": "writer"},
        "subjects": [{"apiGroup": GROUP, "kind": "User", "name": "mallory"}],
    });
    client.post(&format!("/apis/{GROUP}/v1/clusterrolebindings"), &binding).await.expect(201);
    client.post(CONFIG_MAPS, &with_data("victim", "k", "v")).await.expect(201);
    server
}

async fn mallory(server: &FakeApiServer) -> Client {
    let mut client = Client::new(server).await;
    client.token = "mallory".into();
    client
}

async fn send(client: &mut Client, attack: &Attack) -> Answer {
    let headers = [("content-type", attack.content_type)];
    client.ask(attack.method, &attack.path, &headers, attack.body.clone()).await
}

#[tokio::test]
async fn attacks_are_answered() {
    let server = victim().await;
    let mut client = mallory(&server).await;
    for attack in attacks() {
        let answer = send(&mut client, &attack).await;
        assert_eq!(answer.code, attack.code, "{}: {:.500}", attack.what, answer.text());
        let warned: usize = answer.headers.get_all("warning").iter().map(|warning| warning.len()).sum();
        assert!(warned < 10_000, "{}: {warned} bytes of warnings", attack.what);
        client.get(&format!("{CONFIG_MAPS}/victim")).await.expect(200);
    }
}

/// A rule that mallory may grant, but that takes for ever to check.
fn endless() -> Attack {
    attack("an endless rule", "POST", ROLES, role(rule(5000, 5000, 1000, &["get"])), 504)
}

async fn others_are_answered_meanwhile() {
    let server = victim().await;
    let (mut client, mut other) = (mallory(&server).await, Client::new(&server).await);
    let mut endless = endless();
    endless.path.push_str("?timeout=3s");
    let under_way = async { send(&mut client, &endless).await };
    tokio::pin!(under_way);
    // These would be answered after the attack if it were computed on their thread.
    for _ in 0..20 {
        tokio::select! {
            biased;
            answer = &mut under_way => panic!("the attack has kept all others waiting: {}", answer.text()),
            ready = other.get("/readyz") => assert_eq!(ready.code, 200),
        }
    }
    let answer = under_way.await;
    assert_eq!((answer.code, answer.text()), (504, EXCEEDED));
}

/// A definition whose rule may take as many steps as a rule may: those for a list of 800 numbers.
fn costly_definition() -> Value {
    let rule = json!({"rule": "self.list.all(a, self.list.all(b, a + b > 0))"});
    let list = json!({"type": "array", "maxItems": 800, "items": {"type": "integer"}});
    let spec = json!({"type": "object", "properties": {"list": list}, "x-kubernetes-validations": [rule]});
    let schema = json!({"openAPIV3Schema": {"type": "object", "properties": {"spec": spec}}});
    json!({
        "metadata": {"name": "things.example.com"},
        "spec": {
            "group": "example.com", "scope": "Namespaced", "names": {"plural": "things", "kind": "Thing"},
            "versions": [{"name": "v1", "served": true, "storage": true, "schema": schema}],
        },
    })
}

/// Short requests may take long, too; on the only thread they would be answered first.
#[tokio::test]
async fn others_are_answered_while_short_requests_take_long() {
    let server = victim().await;
    let (mut client, mut other) = (mallory(&server).await, Client::new(&server).await);
    other.post("/apis/apiextensions.k8s.io/v1/customresourcedefinitions", &costly_definition()).await.expect(201);
    let thing = json!({
        "apiVersion": "example.com/v1", "kind": "Thing", "metadata": {"name": "t"}, "spec": {"list": vec![1; 100]},
    });
    for attack in [
        attack("copies that double", "PATCH", &format!("{CONFIG_MAPS}/victim"), json!(doubling()), 422),
        attack("a costly rule", "POST", "/apis/example.com/v1/namespaces/default/things", thing, 201),
    ] {
        let under_way = async { send(&mut client, &attack).await };
        tokio::pin!(under_way);
        tokio::select! {
            biased;
            answer = &mut under_way => panic!("{} kept all others waiting: {}", attack.what, answer.text()),
            ready = other.get("/readyz") => assert_eq!(ready.code, 200),
        }
        let answer = under_way.await;
        assert_eq!(answer.code, attack.code, "{}: {:.500}", attack.what, answer.text());
    }
}

#[tokio::test]
async fn others_are_answered_meanwhile_on_one_thread() {
    others_are_answered_meanwhile().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn others_are_answered_meanwhile_on_the_threads_of_a_program() {
    others_are_answered_meanwhile().await;
}

/// Users take turns: one's many long computations do not keep another's waiting until they end.
#[tokio::test]
async fn users_compute_in_turn() {
    let server = victim().await;
    let mut other = Client::new(&server).await;
    other.post("/apis/apiextensions.k8s.io/v1/customresourcedefinitions", &costly_definition()).await.expect(201);
    let thing = json!({"metadata": {"name": "t"}, "spec": {"list": vec![1; 100]}, "apiVersion": "example.com/v1", "kind": "Thing"});
    let mut endless = endless();
    endless.path.push_str("?timeout=20s");
    let endless = &endless;
    let attack = async |mut client: Client| send(&mut client, endless).await;
    let clients = futures::future::join_all((0..8).map(|_| mallory(&server))).await;
    let attacks = futures::future::select_all(clients.into_iter().map(|client| Box::pin(attack(client))));
    tokio::select! {
        biased;
        (answer, ..) = attacks => panic!("a long computation has ended before a short one: {}", answer.text()),
        created = other.post("/apis/example.com/v1/namespaces/default/things", &thing) => drop(created.expect(201)),
    }
}

/// A computation ends with its request; otherwise the next long request would find no free thread.
#[tokio::test]
async fn computations_end_when_their_time_is_up() {
    let server = victim().await;
    let mut endless = endless();
    endless.path.push_str("?timeout=100ms");
    let mut client = mallory(&server).await;
    for _ in 0..2 * std::thread::available_parallelism().map_or(1, usize::from).max(2) {
        let answer = send(&mut client, &endless).await;
        assert_eq!((answer.code, answer.text()), (504, EXCEEDED));
        assert_eq!(answer.header("content-type"), "text/plain; charset=utf-8");
        assert!(!answer.header("audit-id").is_empty() && answer.header("cache-control") == "no-cache, private");
    }
    let long = with_data("long", "k", &"v".repeat(500_000));
    client.post(CONFIG_MAPS, &long).await.expect(201);
}

/// The answers of the real server (v1.37.1).
#[tokio::test]
async fn requests_have_the_time_that_clients_give_them() {
    let server = start().await;
    let mut client = Client::new(&server).await;
    for (method, path) in [
        ("GET", CONFIG_MAPS),
        ("GET", "/readyz"),
        ("GET", "/api"),
        ("POST", CONFIG_MAPS),
        ("PATCH", "/api/v1/namespaces/default/configmaps/a"),
        ("DELETE", "/api/v1/namespaces/default/configmaps/a"),
    ] {
        for (timeout, exceeded) in [("1ns", true), ("1us", true), ("0s", false), ("-1s", false), ("1h", false)] {
            let answer = client.ask(method, &format!("{path}?timeout={timeout}"), &[], Bytes::new()).await;
            assert_eq!(answer.text() == EXCEEDED, exceeded, "{method} {path} {timeout}");
            assert_eq!(answer.code == 504, exceeded, "{method} {path} {timeout}");
        }
    }
    // This is checked before authentication.
    client.token = "nonsense".into();
    let (reason, message) = client.get(&format!("{CONFIG_MAPS}?timeout=soon")).await.refusal(400);
    assert_eq!(reason, "BadRequest");
    assert_eq!(message, "invalid timeout specified in the request URL - time: invalid duration \"soon\"");
    // Watches have no time limit.
    let mut events =
        Client::new(&server).await.watch(&format!("{CONFIG_MAPS}?watch=1&timeout=soon&timeoutSeconds=1"), &[]).await;
    assert_eq!(events.next().await, None);
}

#[tokio::test]
async fn requests_have_the_time_that_the_server_gives_them() {
    let server = start_with(FakeApiServer::builder().request_timeout(std::time::Duration::from_micros(1))).await;
    let answer = Client::new(&server).await.get("/readyz").await;
    assert_eq!((answer.code, answer.text()), (504, EXCEEDED));
}
