//! `/metrics`: requests are counted as they are by a real kube-apiserver.

use crate::support::*;
use serde_json::{Value, json};
use std::collections::HashSet;

/// Labels of requests for config maps, of that verb and scope.
fn labels(verb: &str, scope: &str, dry_run: &str) -> String {
    format!(
        r#"component="apiserver",dry_run="{dry_run}",group="",resource="configmaps",scope="{scope}",subresource="",verb="{verb}",version="v1"}}"#
    )
}

/// The samples that occur twice, for which Prometheus refuses all.
fn twice(text: &str) -> Vec<&str> {
    let samples = text.lines().filter(|line| !line.starts_with('#')).filter_map(|line| line.rsplit_once(' '));
    let mut seen = HashSet::new();
    samples.map(|(sample, _)| sample).filter(|sample| !seen.insert(*sample)).collect()
}

#[tokio::test]
async fn requests_watches_and_objects_are_counted() {
    let server = start().await;
    let mut client = Client::new(&server).await;
    client.post(CONFIG_MAPS, &named("a")).await.expect(201);
    client.post(CONFIG_MAPS, &named("a")).await.expect(409);
    client.post(&format!("{CONFIG_MAPS}?dryRun=All"), &named("b")).await.expect(201);
    client.get(CONFIG_MAPS).await.expect(200);
    client.get(&format!("{CONFIG_MAPS}?fieldSelector=metadata.name%3Da")).await.expect(200);
    client.get(&format!("{CONFIG_MAPS}/a")).await.expect(200);
    client.get("/api/v1/namespaces/default/endpoints").await.expect(200);
    client.get("/apis/no/such/path").await;
    let watched = format!("{CONFIG_MAPS}?watch=true&fieldSelector=metadata.name%3Da");
    let mut watch = Client::new(&server).await.watch(&watched, &[]).await;
    watch.next_short().await;
    let answer = client.get("/metrics").await;
    assert_eq!(answer.header("content-type"), "text/plain; version=0.0.4; charset=utf-8; escaping=underscores");
    let total =
        |code: u16, labels: &str, count: u64| format!("apiserver_request_total{{code=\"{code}\",{labels} {count}");
    let expected = [
        total(201, &labels("POST", "resource", ""), 1),
        total(409, &labels("POST", "resource", ""), 1),
        total(201, &labels("POST", "resource", "All"), 1),
        total(200, &labels("LIST", "namespace", ""), 2),
        total(200, &labels("GET", "resource", ""), 1),
        format!("apiserver_request_duration_seconds_count{{{} 2", labels("POST", "resource", "")),
        r#"apiserver_request_sli_duration_seconds_count{component="apiserver",group="",resource="configmaps",scope="resource",subresource="",verb="POST",version="v1"} 2"#.to_owned(),
        r#"apiserver_requested_deprecated_apis{group="",removed_release="",resource="endpoints",subresource="",version="v1"} 1"#.to_owned(),
        r#"apiserver_longrunning_requests{component="apiserver",group="",resource="configmaps",scope="resource",subresource="",verb="WATCH",version="v1"} 1"#.to_owned(),
        r#"apiserver_watch_events_total{group="",resource="configmaps",version="v1"} 1"#.to_owned(),
        r#"apiserver_current_inflight_requests{request_kind="readOnly"} 1"#.to_owned(),
        r#"authentication_attempts{result="success"} 10"#.to_owned(),
    ];
    let lines: Vec<&str> = answer.text().lines().collect();
    for line in expected {
        assert!(lines.contains(&&*line), "no {line} in\n{}", answer.text());
    }
    assert_eq!(twice(answer.text()), [""; 0]);
    assert!(!answer.text().contains(r#"verb="WATCH",version="v1",le="#), "a watch is counted at its end");

    assert_eq!(client.delete("/metrics").await.text(), "metrics reset\n");
    let forgotten = client.get("/metrics").await;
    assert!(!forgotten.text().contains("apiserver_request_total{"));
}

/// A definition changes and is made again while its objects are watched: then there are several versions of the same names.
#[tokio::test]
async fn changed_definitions_leave_one_series() {
    const DEFINITIONS: &str = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
    const THINGS: &str = "/apis/example.com/v1/namespaces/default/things";
    let schema = |fields: Value| json!({"openAPIV3Schema": {"type": "object", "properties": fields}});
    let definition = json!({
        "metadata": {"name": "things.example.com"},
        "spec": {
            "group": "example.com", "scope": "Namespaced", "names": {"plural": "things", "kind": "Thing"},
            "versions": [{"name": "v1", "served": true, "storage": true, "schema": schema(json!({}))}],
        },
    });
    let path = format!("{DEFINITIONS}/things.example.com");
    let server = start().await;
    let mut client = Client::new(&server).await;
    let mut watches = Vec::new();
    for _ in 0..2 {
        client.post(DEFINITIONS, &definition).await.expect(201);
        for field in ["a", "b"] {
            watches.push(Client::new(&server).await.watch(&format!("{THINGS}?watch=true"), &[]).await);
            client.get(THINGS).await.expect(200);
            let change = json!({"spec": {"versions": [
                {"name": "v1", "served": true, "storage": true, "schema": schema(json!({field: {"type": "string"}}))},
            ]}});
            client.patch("application/merge-patch+json", &path, &change).await.expect(200);
        }
        let text = client.get("/metrics").await.text().to_owned();
        assert_eq!(twice(&text), [""; 0]);
        let lists = text.lines().find(|line| {
            line.contains("request_total") && line.contains(r#""things",scope="namespace",subresource="",verb="LIST""#)
        });
        assert!(lists.is_some_and(|line| line.ends_with(" 2")), "lists of all versions are counted: {lists:?}");
        client.delete(&path).await.expect(200);
        // The definition takes its watches with it, and these its series.
        for mut watch in watches.drain(..) {
            watch.rest().await;
        }
        soon(async { while client.get("/metrics").await.text().contains(r#"resource="things""#) {} }).await;
    }
}

#[tokio::test]
async fn api_services_are_available_unless_their_service_is_missing() {
    let server = start().await;
    let mut client = Client::new(&server).await;
    let behind = json!({
        "metadata": {"name": "v1.example.com"},
        "spec": {
            "group": "example.com", "version": "v1", "groupPriorityMinimum": 1, "versionPriority": 1,
            "service": {"namespace": "default", "name": "missing"},
        },
    });
    client.post("/apis/apiregistration.k8s.io/v1/apiservices", &behind).await.expect(201);
    let answer = client.get("/metrics").await;
    for (name, unavailable) in [("v1.apps", 0), ("v1.example.com", 1)] {
        let expected = format!("aggregator_unavailable_apiservice{{name=\"{name}\"}} {unavailable}");
        assert!(answer.text().lines().any(|line| line == expected), "{expected}");
    }
}
