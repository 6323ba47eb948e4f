//! Clusters beside the first one, as tests in any language make them: over the control port, reached by a path.
#![cfg(unix)]

mod programs;

use programs::{Program, SOON, tokens};
use serde_json::{Value, json};
use std::fs;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::thread;
use tempfile::TempDir;

const MAPS: &str = "/api/v1/namespaces/default/configmaps";

/// A program with a control port.
struct Server {
    _program: Program,
    control: String,
    token: String,
    _folder: TempDir,
}

/// The status and the body of a response.
type Answer = (u16, Value);

/// Sends a request to a URL, and reads its response to the end.
fn exchange(url: &str, token: &str, method: &str, body: &Value) -> Answer {
    let (address, path) = url.trim_start_matches("http://").split_once('/').expect("a path");
    let mut stream = TcpStream::connect(address).expect("it listens");
    stream.set_read_timeout(Some(SOON)).expect("a socket");
    let body = if body.is_null() { String::new() } else { body.to_string() };
    let head = format!(
        "{method} /{path} HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer {token}\r\nContent-Type: application/json\r\n\
         Content-Length: {}\r\nConnection: close\r\n\r\n{body}",
        body.len()
    );
    stream.write_all(head.as_bytes()).expect("written");
    let mut answer = String::new();
    stream.read_to_string(&mut answer).expect("text");
    let (head, body) = answer.split_once("\r\n\r\n").expect("a head");
    let code = head.split(' ').nth(1).and_then(|code| code.parse().ok()).expect("a status");
    // A chunked body has lines with lengths around it.
    let object = body.find('{').zip(body.rfind('}')).map(|(first, last)| &body[first..=last]);
    (code, object.and_then(|object| serde_json::from_str(object).ok()).unwrap_or_else(|| body.into()))
}

impl Server {
    fn start() -> Server {
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("control");
        let flags = ["--secure-port=0".to_owned(), "--insecure-port=0".into(), tokens(folder.path())];
        let arguments = [&flags[..], &[format!("--write-control={}", file.display())]].concat();
        let mut program = Program::start(Path::new(env!("CARGO_BIN_EXE_fake-apiserver")), &arguments, "");
        program.ready();
        let told: Value = serde_json::from_slice(&fs::read(&file).expect("the file is there")).expect("JSON");
        let text = |field: &str| told[field].as_str().expect("a text").to_owned();
        Server { control: text("url"), token: text("token"), _program: program, _folder: folder }
    }

    fn control(&self, method: &str, path: &str, body: &Value) -> Answer {
        exchange(&format!("{}/_fake/v1{path}", self.control), &self.token, method, body)
    }

    fn must(&self, method: &str, path: &str, body: &Value) -> Value {
        let (code, answer) = self.control(method, path, body);
        assert!((200..300).contains(&code), "{method} {path}: {code} {answer}");
        answer
    }

    /// The URL of a new cluster, over plain HTTP.
    fn cluster(&self, new: &Value) -> String {
        plain(self, &self.must("POST", "/clusters", new))
    }
}

/// The URL of a cluster over plain HTTP: that of the first one, with the path of this one.
fn plain(server: &Server, cluster: &Value) -> String {
    let url = cluster["server"].as_str().expect("a URL");
    let path = url.find("/clusters/").map_or("", |at| &url[at..]);
    let replicas = server.must("GET", "/replicas", &Value::Null);
    let first = replicas["items"][0]["insecureUrl"].as_str().expect("a plain port");
    format!("{first}{path}")
}

fn create(url: &str, name: &str) -> u16 {
    exchange(&format!("{url}{MAPS}"), "t", "POST", &json!({"metadata": {"name": name}})).0
}

/// The names of the config maps of a cluster that tests have made.
fn names(url: &str) -> Vec<String> {
    let (code, list) = exchange(&format!("{url}{MAPS}"), "t", "GET", &Value::Null);
    assert_eq!(code, 200, "{list}");
    let items = list["items"].as_array().expect("items").iter();
    items.map(|item| item["metadata"]["name"].as_str().expect("a name").to_owned()).collect()
}

#[test]
fn clusters_begin_alike_and_go_their_own_ways() {
    let server = Server::start();
    let first = plain(&server, &server.must("GET", "/clusters/default", &Value::Null));
    assert_eq!(create(&first, "common"), 201);
    let one = server.cluster(&json!({"name": "one"}));
    let two = server.cluster(&json!({"from": {"cluster": "one"}}));
    assert!(one.ends_with("/clusters/one") && two.ends_with("/clusters/cluster-1"), "{one} {two}");
    assert_eq!((create(&one, "own"), create(&one, "common"), create(&two, "own")), (201, 409, 201));
    assert_eq!(names(&first), ["common"]);
    assert_eq!(names(&one), ["common", "own"]);
    // Faults and records are each cluster's own.
    server.must(
        "POST",
        "/clusters/one/faults",
        &json!({"match": {"verbs": ["list"]}, "actions": [{"status": {"code": 503}}]}),
    );
    assert_eq!(exchange(&format!("{one}{MAPS}"), "t", "GET", &Value::Null).0, 503);
    assert_eq!(names(&two), ["common", "own"]);
    let recorded = server.must("GET", "/clusters/one/requests?verb=list", &Value::Null);
    let codes: Vec<_> = recorded["items"].as_array().expect("items").iter().map(|one| one["code"].clone()).collect();
    assert_eq!(codes, [200, 503]);
    // Nobody is let in who is not by the first one.
    assert_eq!(exchange(&format!("{one}{MAPS}"), "other", "GET", &Value::Null).0, 401);
    server.must("DELETE", "/clusters/one", &Value::Null);
    assert_eq!(exchange(&format!("{one}{MAPS}"), "t", "GET", &Value::Null).0, 404);
    assert_eq!(server.control("GET", "/clusters/one/faults", &Value::Null).0, 404);
    let all = server.must("GET", "/clusters", &Value::Null);
    let all: Vec<&str> =
        all["items"].as_array().expect("items").iter().filter_map(|one| one["name"].as_str()).collect();
    assert_eq!(all, ["default", "cluster-1"]);
}

#[test]
fn a_watch_of_a_cluster_ends_with_it() {
    let server = Server::start();
    let url = server.cluster(&json!({"name": "short"}));
    let (address, path) = url.trim_start_matches("http://").split_once('/').expect("a path");
    let mut stream = TcpStream::connect(address).expect("it listens");
    stream.set_read_timeout(Some(SOON)).expect("a socket");
    let head = format!("GET /{path}{MAPS}?watch=true HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer t\r\n\r\n");
    stream.write_all(head.as_bytes()).expect("written");
    let mut begun = [0; 15];
    stream.read_exact(&mut begun).expect("a head");
    assert_eq!(&begun, b"HTTP/1.1 200 OK");
    server.must("DELETE", "/clusters/short", &Value::Null);
    let mut text = String::new();
    while !text.ends_with("0\r\n\r\n") {
        let mut more = [0; 1024];
        let read = stream.read(&mut more).expect("the watch ends");
        text += std::str::from_utf8(&more[..read]).expect("text");
        assert!(read > 0, "{text}");
    }
}

#[test]
fn one_fills_a_seed_and_others_wait_for_it() {
    let server = Server::start();
    let first = plain(&server, &server.must("GET", "/clusters/default", &Value::Null));
    // The seed does not have objects that the first cluster gets meanwhile.
    assert_eq!(create(&first, "stray"), 201);
    let begun = server.must("PUT", "/seeds/abc", &json!({}));
    assert_eq!(begun["ready"], false);
    let filling = plain(&server, &begun["fill"]);
    let (code, waiting) = server.control("PUT", "/seeds/abc", &json!({"timeoutSeconds": 0}));
    assert_eq!((code, &waiting["message"]), (409, &json!("another one fills it, and has not said that it is ready")));
    assert_eq!(server.control("POST", "/clusters", &json!({"from": {"seed": "abc"}})).0, 409);
    thread::scope(|scope| {
        let waiting = scope.spawn(|| server.must("PUT", "/seeds/abc", &json!({})));
        assert_eq!(create(&filling, "seeded"), 201);
        assert_eq!(server.must("POST", "/seeds/abc/ready", &Value::Null)["ready"], true);
        assert_eq!(waiting.join().expect("an answer")["ready"], true);
    });
    assert_eq!(exchange(&format!("{filling}{MAPS}"), "t", "GET", &Value::Null).0, 404);
    for name in ["a", "b"] {
        let url = server.cluster(&json!({"name": name, "from": {"seed": "abc"}}));
        assert_eq!(names(&url), ["seeded"]);
        assert_eq!(create(&url, name), 201);
        assert_eq!(names(&url).len(), 2);
    }
    assert_eq!(server.control("POST", "/seeds/abc/ready", &Value::Null).0, 409);
    server.must("DELETE", "/seeds/abc", &Value::Null);
    assert_eq!(server.must("GET", "/seeds", &Value::Null)["items"], json!([]));
    // Who was to fill it is gone: another one has to.
    let begun = server.must("PUT", "/seeds/def", &json!({}));
    server.must("DELETE", &format!("/clusters/{}", begun["fill"]["name"].as_str().expect("a name")), &Value::Null);
    let begun = server.must("PUT", "/seeds/def", &json!({"timeoutSeconds": 0}));
    // So is the one who waits.
    thread::scope(|scope| {
        let waiting = scope.spawn(|| server.must("PUT", "/seeds/def", &json!({})));
        server.must("DELETE", &format!("/clusters/{}", begun["fill"]["name"].as_str().expect("a name")), &Value::Null);
        assert!(waiting.join().expect("an answer")["fill"]["name"].is_string());
    });
}

#[test]
fn wrong_words_change_nothing() {
    let server = Server::start();
    server.must("POST", "/clusters", &json!({"name": "taken"}));
    for (method, path, body, code) in [
        ("POST", "/clusters", json!({"name": "taken"}), 409),
        ("POST", "/clusters", json!({"name": "default"}), 409),
        ("POST", "/clusters", json!({"name": "a/b"}), 422),
        ("POST", "/clusters", json!({"name": ""}), 422),
        ("POST", "/clusters", json!({"name": "x".repeat(64)}), 422),
        ("POST", "/clusters", json!({"from": {"cluster": "takn"}}), 404),
        ("POST", "/clusters", json!({"from": {"seed": "none"}}), 404),
        ("POST", "/clusters", json!({"nam": "a"}), 400),
        ("POST", "/clusters", json!({"from": {"seed": "none", "snapshot": "none"}}), 422),
        ("POST", "/clusters/taken/clusters", json!({"name": "a"}), 409),
        ("PUT", "/clusters/taken/seeds/a", json!({}), 409),
        ("DELETE", "/clusters/default", Value::Null, 409),
        ("DELETE", "/clusters/none", Value::Null, 404),
        ("GET", "/clusters/none", Value::Null, 404),
        ("GET", "/clusters/none/clock", Value::Null, 404),
        ("POST", "/seeds/none/ready", Value::Null, 404),
        ("POST", "/clusters/none/hold", Value::Null, 404),
        ("DELETE", "/seeds/none", Value::Null, 404),
        ("PATCH", "/clusters/taken/replicas/0", json!({"state": "stopped"}), 409),
    ] {
        let (given, answer) = server.control(method, path, &body);
        assert_eq!(given, code, "{method} {path} {body}: {answer}");
    }
    let missing = server.control("POST", "/clusters", &json!({"from": {"cluster": "takn"}})).1;
    assert!(missing["message"].as_str().expect("a text").contains("did you mean \"taken\"?"), "{missing}");
    assert_eq!(server.must("GET", "/clusters", &Value::Null)["items"].as_array().map(Vec::len), Some(2));
}

#[test]
fn a_cluster_has_a_port_and_users_of_its_own() {
    let server = Server::start();
    let users = json!([{"name": "ann", "groups": ["system:masters"], "token": "ann-of-one"}, {"name": "bob"}]);
    let one = server.must("POST", "/clusters", &json!({"name": "one", "endpoint": "port", "users": users}));
    let two = server.cluster(&json!({"name": "two"}));
    let replicas = server.must("GET", "/clusters/one/replicas", &Value::Null);
    let url = replicas["items"][0]["insecureUrl"].as_str().expect("a plain port").to_owned();
    let https = one["server"].as_str().expect("a URL");
    assert!(!https.contains("/clusters/") && one["kubeconfig"].as_str().expect("a text").contains(https), "{one}");
    assert_eq!(create(&url, "own"), 201);
    assert_eq!(names(&two), Vec::<String>::new());
    let asked = server.must("GET", "/clusters/one", &Value::Null);
    assert_eq!(asked["users"], one["users"]);
    let made = one["users"][1]["token"].as_str().expect("a token was made");
    let code = |url: &str, token: &str| exchange(&format!("{url}{MAPS}"), token, "GET", &Value::Null).0;
    assert_eq!((code(&url, "ann-of-one"), code(&url, made)), (200, 200));
    assert_eq!((code(&two, "ann-of-one"), code(&two, made)), (401, 401));
    let recorded = server.must("GET", "/clusters/one/requests?user=ann", &Value::Null);
    assert_eq!(recorded["items"].as_array().expect("items").len(), 1);
    // The token is refused once the cluster is gone.
    server.must("DELETE", "/clusters/one", &Value::Null);
    let address = url.trim_start_matches("http://");
    let begun = std::time::Instant::now();
    while TcpStream::connect(address).is_ok() {
        assert!(begun.elapsed() < SOON);
    }
    for (new, message) in [
        (json!({"users": [{"name": ""}]}), "users[0].name"),
        (json!({"users": [{"name": "a", "token": "a b"}]}), "users[0].token"),
        (json!({"endpoint": "prot"}), "expected one of `path`, `port`, `sni`"),
        (json!({"idleSeconds": 0}), "idleSeconds"),
    ] {
        let (code, answer) = server.control("POST", "/clusters", &new);
        assert!(code >= 400 && answer["message"].as_str().expect("a text").contains(message), "{answer}");
    }
}

#[test]
fn a_cluster_has_replicas_of_its_own() {
    let server = Server::start();
    let one = server.must("POST", "/clusters", &json!({"name": "one", "replicas": 2}));
    assert_eq!(one["replicas"].as_array().expect("URLs").len(), 2);
    assert_eq!(one["replicas"][0], one["server"]);
    let third = server.must("POST", "/clusters/one/replicas", &json!({}));
    assert_eq!((&third["replica"], &third["state"]), (&json!(2), &json!("running")));
    let replicas = server.must("GET", "/clusters/one/replicas", &Value::Null);
    let url = |index: usize| replicas["items"][index]["insecureUrl"].as_str().expect("a plain port").to_owned();
    assert_eq!((create(&url(0), "a"), create(&url(1), "b"), create(&url(2), "c")), (201, 201, 201));
    server.must("PATCH", "/clusters/one/replicas/1", &json!({"view": "held"}));
    assert_eq!(create(&url(2), "d"), 201);
    let seen = |index: usize| {
        let list = exchange(&format!("{}{MAPS}?resourceVersion=0", url(index)), "t", "GET", &Value::Null).1;
        list["items"].as_array().expect("a list").len()
    };
    assert_eq!((seen(0), seen(1), seen(2)), (4, 3, 4));
    // The first cluster has neither the objects nor the replicas.
    assert_eq!(server.must("GET", "/replicas", &Value::Null)["items"].as_array().expect("a list").len(), 1);
    server.must("DELETE", "/clusters/one", &Value::Null);
    let begun = std::time::Instant::now();
    while [1, 2].iter().any(|index| TcpStream::connect(url(*index).trim_start_matches("http://")).is_ok()) {
        assert!(begun.elapsed() < SOON);
    }
    for replicas in [0, 101] {
        let (code, refusal) = server.control("POST", "/clusters", &json!({"name": "two", "replicas": replicas}));
        let message = refusal["message"].as_str().expect("a Status");
        assert!(code == 422 && message.contains("a cluster has 1 to 100 replicas"), "{refusal}");
    }
    assert_eq!(server.control("GET", "/clusters/two", &Value::Null).0, 404);
}

#[test]
fn a_cluster_is_ensured_and_ends_when_it_is_abandoned() {
    let server = Server::start();
    let ensure = |body: &Value| server.must("PUT", "/clusters/shared", body);
    let first = ensure(&json!({"holdSeconds": 3600}));
    assert_eq!(ensure(&json!({}))["server"], first["server"]);
    server.must("POST", "/clusters/shared/hold", &Value::Null);
    assert_eq!(server.control("POST", "/hold", &Value::Null).0, 409);
    server.must("POST", "/clusters", &json!({"name": "held", "holdSeconds": 1}));
    let idle = server.cluster(&json!({"name": "idle", "idleSeconds": 1}));
    let watched = server.cluster(&json!({"name": "watched", "idleSeconds": 1}));
    let (address, path) = watched.trim_start_matches("http://").split_once('/').expect("a path");
    let mut watch = TcpStream::connect(address).expect("it listens");
    let head = format!(
        "GET /{path}{MAPS}?watch=true&timeoutSeconds=600 HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer t\r\n\r\n"
    );
    watch.write_all(head.as_bytes()).expect("written");
    assert_eq!(create(&idle, "a"), 201);
    let begun = std::time::Instant::now();
    let gone = |name: &str| server.control("GET", &format!("/clusters/{name}"), &Value::Null).0 == 404;
    while !(gone("held") && gone("idle")) {
        assert!(begun.elapsed() < SOON);
    }
    assert!(!gone("watched") && !gone("shared"));
    // Who still holds it is told.
    let (code, answer) = server.control("POST", "/clusters/held/hold", &Value::Null);
    assert!(code == 404 && answer["message"] == "clusters \"held\" not found", "{answer}");
}

/// The path of the tokens of an account.
const TOKENS: &str = "/api/v1/namespaces/default/serviceaccounts/a/token";

#[test]
fn tokens_are_good_in_their_cluster_and_in_those_that_begin_from_it() {
    let server = Server::start();
    let first = plain(&server, &server.must("GET", "/clusters/default", &Value::Null));
    let accounts = format!("{first}/api/v1/namespaces/default/serviceaccounts");
    assert_eq!(exchange(&accounts, "t", "POST", &json!({"metadata": {"name": "a"}})).0, 201);
    let token = |url: &str| {
        let (code, made) =
            exchange(&format!("{url}{TOKENS}"), "t", "POST", &json!({"spec": {"expirationSeconds": 3600}}));
        assert_eq!(code, 201, "{made}");
        made["status"]["token"].as_str().expect("a token").to_owned()
    };
    let code = |url: &str, token: &str| exchange(&format!("{url}{MAPS}"), token, "GET", &Value::Null).0;
    let made = server.must("POST", "/clusters", &json!({"name": "one"}));
    let (one, two) = (plain(&server, &made), server.cluster(&json!({"name": "two"})));
    let (of_first, of_one) = (token(&first), token(&one));
    let behind = server.cluster(&json!({"name": "behind", "from": {"cluster": "one"}}));
    let of_behind = token(&behind);
    for (token, expected) in
        [(&of_first, [200, 200, 200, 200]), (&of_one, [401, 200, 401, 200]), (&of_behind, [401, 401, 401, 200])]
    {
        // Twice, as what was verified once is remembered.
        for _ in 0..2 {
            assert_eq!([&first, &one, &two, &behind].map(|url| code(url, token)), expected);
        }
    }
    // Whoever relies on the issuer finds the keys.
    let keys = |url: &str| {
        let (_, keys) = exchange(&format!("{url}/openid/v1/jwks"), "t", "GET", &Value::Null);
        keys["keys"].as_array().map(Vec::len)
    };
    assert_eq!([&first, &one, &two, &behind].map(|url| keys(url)), [Some(1), Some(2), Some(2), Some(3)]);
    // So it is with administrators.
    let administrator = made["token"].as_str().expect("a token");
    assert_eq!([&first, &one, &two].map(|url| code(url, administrator)), [401, 200, 401]);
    let review = json!({"apiVersion": "authentication.k8s.io/v1", "kind": "TokenReview", "spec": {"token": of_one}});
    let reviewed = |url: &str| {
        exchange(&format!("{url}/apis/authentication.k8s.io/v1/tokenreviews"), "t", "POST", &review).1["status"].clone()
    };
    assert_eq!((&reviewed(&one)["authenticated"], reviewed(&two).get("authenticated")), (&json!(true), None));
}

/// A client of the administrator of a cluster.
async fn client(cluster: &Value) -> kube::Client {
    let text = cluster["kubeconfig"].as_str().expect("a text");
    let file = kube::config::Kubeconfig::from_yaml(text).expect("a kubeconfig");
    let config = kube::Config::from_custom_kubeconfig(file, &kube::config::KubeConfigOptions::default()).await;
    kube::Client::try_from(config.expect("a configuration")).expect("a client")
}

#[tokio::test]
async fn a_cluster_is_reached_by_the_name_of_its_server() {
    let server = Server::start();
    let first = server.must("GET", "/clusters/default", &Value::Null);
    let one = server.must("POST", "/clusters", &json!({"name": "one", "endpoint": "sni"}));
    assert_eq!((&one["server"], &one["tlsServerName"]), (&first["server"], &json!("one.clusters.fake")));
    let maps = |client: kube::Client| kube::Api::<k8s_openapi::api::core::v1::ConfigMap>::namespaced(client, "default");
    let (own, other) = (maps(client(&one).await), maps(client(&first).await));
    let map = serde_json::from_value(json!({"metadata": {"name": "own"}})).expect("a config map");
    own.create(&kube::api::PostParams::default(), &map).await.expect("it is created");
    let names = |list: kube::core::ObjectList<k8s_openapi::api::core::v1::ConfigMap>| {
        list.into_iter().filter_map(|map| map.metadata.name).collect::<Vec<_>>()
    };
    let all = kube::api::ListParams::default();
    assert_eq!(names(own.list(&all).await.expect("a list")), ["own"]);
    assert_eq!(names(other.list(&all).await.expect("a list")), [""; 0]);
    // There is no path to it, and its ports are those of the first one.
    let path = format!("{}/clusters/one{MAPS}", plain(&server, &first));
    assert_eq!(exchange(&path, "t", "GET", &Value::Null).0, 404);
    assert_eq!(server.control("PATCH", "/clusters/one/replicas/0", &json!({"state": "stopped"})).0, 409);
    server.must("DELETE", "/clusters/one", &Value::Null);
    let gone = maps(client(&one).await).list(&all).await.expect_err("it is gone").to_string();
    assert!(gone.contains("there is no cluster behind"), "{gone}");
}
