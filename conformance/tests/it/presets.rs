//! The failures that rules answer with by name are those that a real server was recorded with.

use crate::fixtures;
use conformance::subject::{Cluster, Embedded, Setup, Target as _};
use conformance_judge::baseline::recording;
use conformance_judge::exchange;
use conformance_judge::normalise::Placeholders;
use conformance_judge::observation::Item;
use control::fault::Action;
use control::{Match, Order, Preset};
use http_body_util::BodyExt as _;
use serde::Deserialize;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fs;

/// The answer of a preset, and where it was recorded.
#[derive(Deserialize)]
#[serde(untagged, deny_unknown_fields)]
enum Truth {
    Recorded {
        recording: String,
        command: String,
        request: String,
    },
    /// In `failures.jsonl`, under the preset's name.
    Provoked {
        #[serde(rename = "provoked")]
        _how: String,
        request: String,
    },
    /// Nothing brings a real server to say it.
    Unrecorded {
        #[serde(rename = "unrecorded")]
        _source: String,
    },
}

/// The name of the namespace that recordings have a placeholder for.
const NAMESPACE: &str = "default";

#[tokio::test(flavor = "multi_thread")]
async fn presets_answer_as_a_real_server_was_recorded() {
    let text = fs::read_to_string(fixtures("presets.toml")).unwrap();
    let truths: BTreeMap<Preset, Truth> = toml::from_str(&text).unwrap();
    assert_eq!(truths.keys().copied().collect::<Vec<_>>(), Preset::ALL, "each has its truth");
    let setup = Setup {
        scenario: "presets".into(),
        replicas: 1,
        flags: Vec::new(),
        has_own_files: false,
        manual_clock: false,
        tls: false,
    };
    let cluster = Embedded.start(&setup).await.unwrap();
    for (preset, truth) in &truths {
        let (item, request) = match truth {
            Truth::Recorded { recording, command, request } => (recorded(recording, command), request),
            Truth::Provoked { request, .. } => (provoked(*preset), request),
            Truth::Unrecorded { .. } => continue,
        };
        cluster.obey(Order::ClearFaults).await.unwrap();
        cluster.obey(Order::fault(Match::default(), Action::Preset(*preset))).await.unwrap();
        compare(&*cluster, &item, request).await;
    }
}

/// The answer of a server that was brought to fail so.
fn provoked(preset: Preset) -> Item {
    let name = json!(preset);
    let exchanges = exchange::load(&fixtures("failures.jsonl")).unwrap();
    let found = exchanges.into_iter().find(|exchange| name == exchange.command.as_str());
    found.and_then(|mut exchange| exchange.items.pop()).unwrap_or_else(|| panic!("failures.jsonl has no {name}"))
}

/// The last answer to a command of a recording that is a failure.
fn recorded(name: &str, command: &str) -> Item {
    let exchanges = exchange::load(&recording(&fixtures(""), name)).unwrap();
    let mut items =
        exchanges.into_iter().filter(|exchange| exchange.command == command).flat_map(|exchange| exchange.items);
    let found = items.rfind(|item| code(&item.head) >= Some(400));
    found.unwrap_or_else(|| panic!("{name} has no failure of {command:?}"))
}

/// The code in a head: `409 Conflict`, `ERROR 410 Expired`.
fn code(head: &str) -> Option<u16> {
    head.split(' ').find_map(|word| word.parse().ok())
}

async fn compare(cluster: &dyn Cluster, recorded: &Item, request: &str) {
    let named = |text: &str| text.replace("$namespace", NAMESPACE);
    let (method, path) = request.split_once(' ').unwrap();
    // Of a create the name is in the body.
    let created = path.rsplit_once('/').filter(|_| method == "POST");
    let body = created.map(|(_, name)| json!({"metadata": {"name": name}}).to_string()).unwrap_or_default();
    let path = created.map_or(path, |(collection, _)| collection);
    let token = cluster.token("admin").unwrap();
    let asked = http::Request::builder()
        .method(method)
        .uri(named(path))
        .header("authorization", format!("Bearer {token}"))
        .header("content-type", "application/json");
    let answer = cluster.endpoints()[0].send(asked.body(body.into()).unwrap()).await.unwrap();
    assert_eq!(Some(answer.status().as_u16()), code(&recorded.head), "{request}");
    for (name, value) in &recorded.headers {
        let has = answer.headers().get(name.as_str()).and_then(|value| value.to_str().ok());
        assert_eq!(has, Some(value.as_str()), "{request}: {name}");
    }
    if !recorded.headers.is_empty() {
        for name in ["cache-control", "connection", "retry-after"] {
            assert_eq!(answer.headers().contains_key(name), recorded.headers.contains_key(name), "{request}: {name}");
        }
    }
    let body = answer.into_body().collect().await.unwrap().to_bytes();
    if let Some(text) = &recorded.text {
        return assert_eq!(*body, *text.as_bytes(), "{request}");
    }
    let document: Value = serde_json::from_slice(&body).unwrap();
    let expected: Value = serde_json::from_str(&named(&recorded.document.to_string())).unwrap();
    assert_eq!(Placeholders::default().normal(&document), expected, "{request}");
}
