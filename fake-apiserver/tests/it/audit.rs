//! Auditing: what the webhook gets, in batches or while requests wait; requests that cannot be audited; large events; what there is without
//! a policy. What is in events is in the scenarios.

use crate::support::*;
use fake_apiserver::{AuditOptions, Builder, FakeApiServer};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;

/// A webhook over plain HTTP, which answers with these statuses, one after the other, and then with 200.
struct Webhook {
    folder: tempfile::TempDir,
    kubeconfig: PathBuf,
    listener: TcpListener,
}

impl Webhook {
    async fn new() -> Webhook {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let url = format!("http://{}/events?x", listener.local_addr().expect("an address"));
        let folder = tempfile::tempdir().expect("a folder");
        let kubeconfig = folder.path().join("webhook.kubeconfig");
        let content = json!({
            "clusters": [{"name": "c", "cluster": {"server": url}}],
            "contexts": [{"name": "x", "context": {"cluster": "c"}}], "current-context": "x",
        });
        std::fs::write(&kubeconfig, content.to_string()).expect("a file");
        Webhook { folder, kubeconfig, listener }
    }

    /// The next request: its first line, and the list of events in it. It is answered with that status.
    async fn next(&self, status: u16) -> (String, Value) {
        let (mut stream, _) = soon(self.listener.accept()).await.expect("a connection");
        let mut bytes = Vec::new();
        loop {
            let mut part = [0; 4096];
            let count = soon(stream.read(&mut part)).await.expect("a request");
            bytes.extend_from_slice(&part[..count]);
            let text = String::from_utf8_lossy(&bytes);
            let Some((head, body)) = text.split_once("\r\n\r\n") else { continue };
            let length =
                head.lines().find_map(|line| line.to_lowercase().strip_prefix("content-length: ")?.parse().ok());
            if length == Some(body.len()) {
                // As a real server's, whose client has no name of its own.
                assert!(head.to_lowercase().contains("user-agent: go-http-client/1.1"), "{head}");
                let line = head.lines().next().unwrap_or_default().to_owned();
                let list = serde_json::from_str(body).expect("JSON");
                let answer = format!("HTTP/1.1 {status} X\r\nContent-Length: 0\r\nConnection: close\r\n\r\n");
                stream.write_all(answer.as_bytes()).await.expect("a client that listens");
                return (line, list);
            }
        }
    }

    /// Options with the webhook, and a policy in which only config maps have events.
    fn options(&self) -> AuditOptions {
        let mut options = AuditOptions::default();
        options.policy_file = Some(policy(self.folder.path()));
        options.webhook.config_file = Some(self.kubeconfig.clone());
        options
    }
}

/// A policy by which requests for config maps have one event.
fn policy(folder: &Path) -> PathBuf {
    let path = folder.join("policy.yaml");
    let rules = "rules: [{level: Request, resources: [{resources: [configmaps]}]}]\nomitStages: [RequestReceived]\n";
    std::fs::write(&path, format!("apiVersion: audit.k8s.io/v1\nkind: Policy\n{rules}")).expect("a file");
    path
}

fn audited(options: AuditOptions) -> Builder {
    FakeApiServer::builder().audit(options)
}

#[tokio::test]
async fn a_webhook_gets_batches() {
    let webhook = Webhook::new().await;
    let mut options = webhook.options();
    options.webhook.batch.max_batch_size = 2;
    let server = start_with(audited(options)).await;
    let mut client = Client::new(&server).await;
    for name in ["a", "b", "c"] {
        client.post(CONFIG_MAPS, &with_data(name, "k", "v")).await.expect(201);
    }
    let (line, list) = webhook.next(200).await;
    assert_eq!(line, "POST /events?timeout=30s HTTP/1.1");
    assert_eq!((&list["kind"], &list["apiVersion"]), (&json!("EventList"), &json!("audit.k8s.io/v1")));
    let names = |list: &Value| -> Vec<String> {
        let items = list["items"].as_array().expect("events").iter();
        items.map(|event| format!("{} {}", event["objectRef"]["name"], event["kind"])).collect()
    };
    assert_eq!(names(&list), ["\"a\" null", "\"b\" null"]);
    // The rest is sent when the server stops.
    let (_, (_, list)) = tokio::join!(server.shutdown(), webhook.next(200));
    assert_eq!(names(&list), ["\"c\" null"]);
}

#[tokio::test]
async fn a_request_waits_for_a_blocking_webhook_which_is_called_again() {
    let webhook = Webhook::new().await;
    let mut options = webhook.options();
    options.webhook.batch.mode = "blocking".into();
    options.webhook.initial_backoff = std::time::Duration::from_millis(1);
    let server = start_with(audited(options)).await;
    let mut client = Client::new(&server).await;
    let asked = async {
        let first = webhook.next(500).await;
        (first, webhook.next(200).await)
    };
    let (answer, (first, second)) = tokio::join!(client.get(CONFIG_MAPS), asked);
    answer.expect(200);
    assert_eq!(first, second);
    assert_eq!(first.1["items"][0]["responseStatus"], json!({"metadata": {}, "code": 200}));
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn a_request_that_cannot_be_audited_is_refused_if_that_is_asked_for() {
    for (mode, code) in [("blocking", 200), ("blocking-strict", 500)] {
        let folder = tempfile::tempdir().expect("a folder");
        let mut options = AuditOptions::default();
        let rules = "apiVersion: audit.k8s.io/v1\nkind: Policy\nrules: [{level: Metadata}]\n";
        std::fs::write(folder.path().join("policy"), rules).expect("a file");
        options.policy_file = Some(folder.path().join("policy"));
        options.log.path = Some("/dev/full".into());
        options.log.batch.mode = mode.into();
        let server = start_with(audited(options)).await;
        let answer = Client::new(&server).await.get("/version?a&b").await;
        assert_eq!(answer.code, code);
        if code == 500 {
            let expected = "Internal Server Error: \"/version?a&amp;b\": failed to store audit event\n";
            assert_eq!((answer.text(), answer.header("content-type")), (expected, "text/plain; charset=utf-8"));
        }
    }
}

#[tokio::test]
async fn large_events_lose_their_objects() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut options = AuditOptions::default();
    options.policy_file = Some(policy(folder.path()));
    let log = folder.path().join("audit.log");
    options.log.path = Some(log.clone());
    options.log.truncate.enabled = true;
    options.log.truncate.max_event_size = 2000;
    let server = start_with(audited(options)).await;
    let mut client = Client::new(&server).await;
    client.post(CONFIG_MAPS, &with_data("small", "k", "v")).await.expect(201);
    client.post(CONFIG_MAPS, &with_data("large", "k", &"v".repeat(2000))).await.expect(201);
    let long = format!("{CONFIG_MAPS}/small?x={}", "y".repeat(2000));
    client.get(&long).await.expect(200);
    let text = std::fs::read_to_string(&log).expect("a log");
    let events: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    assert_eq!(events.len(), 2, "{text}");
    assert!(events[0]["requestObject"].is_object() && events[0]["annotations"]["audit.k8s.io/truncated"].is_null());
    assert!(events[1]["requestObject"].is_null());
    assert_eq!(events[1]["annotations"]["audit.k8s.io/truncated"], "true");
}

#[tokio::test]
async fn lines_of_text_are_written_as_go_does() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut options = AuditOptions::default();
    options.policy_file = Some(policy(folder.path()));
    let log = folder.path().join("audit.log");
    options.log.path = Some(log.clone());
    options.log.format = "legacy".into();
    let clock = fake_apiserver::ManualClock::new("2030-01-01T00:00:00.5Z".parse().expect("a time"));
    let server = start_with(audited(options).clock(clock)).await;
    let mut client = Client::new(&server).await;
    let headers = [("audit-id", "1"), ("user-agent", "me"), ("impersonate-user", "bob"), ("x-real-ip", "10.0.0.1")];
    client.ask("GET", &format!("{CONFIG_MAPS}?limit=1"), &headers, "").await.expect(200);
    assert_eq!(
        std::fs::read_to_string(&log).expect("a log"),
        "2030-01-01T00:00:00.5Z AUDIT: id=\"1\" stage=\"ResponseComplete\" ip=\"10.0.0.1\" method=\"list\" user=\"admin\" \
         groups=\"\\\"system:masters\\\",\\\"system:authenticated\\\"\" as=\"bob\" asgroups=\"\\\"system:authenticated\\\"\" \
         user-agent=\"me\" namespace=\"default\" uri=\"/api/v1/namespaces/default/configmaps?limit=1\" response=\"200\"\n"
    );
}

#[tokio::test]
async fn without_a_policy_all_requests_are_logged() {
    let folder = tempfile::tempdir().expect("a folder");
    let log = folder.path().join("audit.log");
    let server = start_with(FakeApiServer::builder().audit_log(&log)).await;
    let mut client = Client::new(&server).await;
    client.post(CONFIG_MAPS, &with_data("a", "k", "v")).await.expect(201);
    client.token = "bad".into();
    client.get("/version").await;
    let text = std::fs::read_to_string(&log).expect("a log");
    let events: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    let [create, refused] = &events[..] else { panic!("{text}") };
    assert_eq!((&create["stage"], &create["requestObject"]["data"]["k"]), (&json!("ResponseComplete"), &json!("v")));
    assert_eq!(create["annotations"]["fake-apiserver/replica"], "0");
    assert_eq!((&refused["stage"], &refused["responseStatus"]["code"]), (&json!("ResponseStarted"), &json!(401)));
    let why = refused["annotations"]["fake-apiserver/authentication-error"].as_str().expect("a reason");
    assert!(why.contains("invalid bearer token"), "{why}");
}
