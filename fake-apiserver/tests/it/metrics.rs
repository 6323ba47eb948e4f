//! `/metrics`: requests are counted as they are by a real kube-apiserver.

use crate::support::*;
use bytes::Bytes;
use fake_apiserver::FakeApiServer;
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

#[tokio::test]
async fn the_size_of_the_storage_is_that_of_its_objects() {
    const SIZE: &str = "apiserver_storage_size_bytes{storage_cluster_id=\"etcd-0\"} ";
    let server = start().await;
    let mut client = Client::new(&server).await;
    let mut size = async || {
        let metrics = client.get("/metrics").await;
        let size = metrics.text().lines().find_map(|line| line.strip_prefix(SIZE));
        size.and_then(|size| size.parse::<f64>().ok()).expect("a size")
    };
    let before = size().await;
    let map = json!({"metadata": {"name": "a"}, "data": {"k": "x".repeat(1000)}});
    Client::new(&server).await.post(CONFIG_MAPS, &map).await.expect(201);
    let grown = size().await - before;
    assert!((1000.0..2000.0).contains(&grown), "{grown}");
}

#[tokio::test]
async fn deprecated_versions_say_when_they_are_gone() {
    let server = start_with(FakeApiServer::builder().runtime_config([("resource.k8s.io/v1beta1", "true")])).await;
    let mut client = Client::new(&server).await;
    let answer = client.get("/apis/resource.k8s.io/v1beta1/deviceclasses").await;
    let warning = r#"299 - "resource.k8s.io/v1beta1 DeviceClass is deprecated in v1.35+, unavailable in v1.38+""#;
    assert_eq!(answer.header("warning"), warning);
    let metrics = client.get("/metrics").await;
    let sample = r#"apiserver_requested_deprecated_apis{group="resource.k8s.io",removed_release="1.38",resource="deviceclasses",subresource="",version="v1beta1"} 1"#;
    assert!(metrics.text().lines().any(|line| line == sample), "{}", metrics.text());
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

/// The fields of a message: number and value, which is a varint, eight bytes or a part.
fn fields(mut bytes: &[u8]) -> Vec<(u64, Vec<u8>)> {
    fn varint(bytes: &mut &[u8]) -> u64 {
        let mut value = 0;
        for shift in (0..).step_by(7) {
            let byte = bytes[0];
            *bytes = &bytes[1..];
            value |= u64::from(byte & 0x7f) << shift;
            if byte < 0x80 {
                break;
            }
        }
        value
    }
    let mut found = Vec::new();
    while !bytes.is_empty() {
        let tag = varint(&mut bytes);
        let length = match tag & 7 {
            0 => {
                found.push((tag >> 3, varint(&mut bytes).to_le_bytes().to_vec()));
                continue;
            }
            1 => 8,
            2 => usize::try_from(varint(&mut bytes)).expect("a length"),
            other => panic!("no wire type {other}"),
        };
        let (part, rest) = bytes.split_at(length);
        found.push((tag >> 3, part.to_vec()));
        bytes = rest;
    }
    found
}

/// Messages, each behind its length.
fn messages(bytes: &[u8]) -> Vec<Vec<u8>> {
    // As of a field without a number, which lengths alone are like.
    let mut rest = bytes;
    let mut all = Vec::new();
    while !rest.is_empty() {
        let end = rest.iter().position(|byte| *byte < 0x80).expect("a length") + 1;
        let length = rest[..end].iter().rev().fold(0, |length, byte| length << 7 | usize::from(byte & 0x7f));
        all.push(rest[end..end + length].to_vec());
        rest = &rest[end + length..];
    }
    all
}

const DELIMITED: &str = "application/vnd.google.protobuf;proto=io.prometheus.client.MetricFamily;encoding=delimited";

/// The messages have the families of the text.
#[tokio::test]
async fn metrics_in_protobuf_are_those_of_the_text() {
    let server = start().await;
    let mut client = Client::new(&server).await;
    client.get("/api").await.expect(200);
    let text = client.get("/metrics").await;
    let answer = client.ask("GET", "/metrics", &[("accept", DELIMITED)], Bytes::new()).await;
    let expected = "application/vnd.google.protobuf; proto=io.prometheus.client.MetricFamily; encoding=delimited; escaping=underscores";
    assert_eq!(answer.header("content-type"), expected);
    assert!(!answer.header("process-start-time-unix").is_empty());
    let families: Vec<_> = messages(&answer.body).iter().map(|message| fields(message)).collect();
    let of = |family: &[(u64, Vec<u8>)], wanted: u64| {
        let (_, value) = family.iter().find(|(number, _)| *number == wanted).expect("a field");
        String::from_utf8(value.clone()).expect("text")
    };
    let heads: Vec<String> =
        families.iter().map(|family| format!("# HELP {} {}", of(family, 1), of(family, 2))).collect();
    let helps: Vec<&str> = text.text().lines().filter(|line| line.starts_with("# HELP ")).collect();
    assert_eq!(heads, helps);
    let total = families.iter().find(|family| of(family, 1) == "apiserver_request_total").expect("a family");
    let metric = fields(&total.iter().find(|(number, _)| *number == 4).expect("a metric").1);
    let counter = fields(&metric.iter().find(|(number, _)| *number == 3).expect("a counter").1);
    assert_eq!(counter[0], (1, 1.0_f64.to_le_bytes().to_vec()));
}

#[tokio::test]
async fn metrics_have_the_format_that_the_client_prefers() {
    let server = start().await;
    let mut client = Client::new(&server).await;
    let text = "text/plain; version=0.0.4; charset=utf-8; escaping=underscores";
    let protobuf = DELIMITED.replace(';', "; ");
    for (accept, expected) in [
        ("", text.to_owned()),
        ("application/openmetrics-text;version=1.0.0", text.to_owned()),
        ("application/json", text.to_owned()),
        ("text/plain;version=1.0.0", text.to_owned()),
        ("text/plain;version=0.0.4;escaping=allow-utf-8", text.replace("underscores", "allow-utf-8")),
        (&format!("{DELIMITED};q=0.5,text/plain"), text.to_owned()),
        (&format!("{DELIMITED};escaping=nothing,text/plain;q=0.5"), format!("{protobuf}; escaping=underscores")),
        (
            &DELIMITED.replace("delimited", "text"),
            format!("{}; escaping=underscores", protobuf.replace("delimited", "text")),
        ),
        (
            &DELIMITED.replace("delimited", "compact-text"),
            format!("{}; escaping=underscores", protobuf.replace("delimited", "compact-text")),
        ),
    ] {
        let answer = client.ask("GET", "/metrics", &[("accept", accept)], Bytes::new()).await;
        assert_eq!((answer.code, answer.header("content-type")), (200, &*expected), "{accept}");
    }
    let one = client.get("/metrics?name[]=version_info&name[]=nothing").await;
    let names: Vec<&str> = one.text().lines().filter_map(|line| line.strip_prefix("# TYPE ")).collect();
    assert_eq!(names, ["version_info gauge"]);
}

#[tokio::test]
async fn metrics_are_compressed_if_the_client_wants_that() {
    use std::io::Read as _;
    let server = start().await;
    let mut client = Client::new(&server).await;
    let answer = client.ask("GET", "/metrics/slis", &[("accept-encoding", "gzip")], Bytes::new()).await;
    assert_eq!((answer.header("content-encoding"), answer.header("vary")), ("gzip", ""));
    let mut text = String::new();
    flate2::read::GzDecoder::new(&answer.body[..]).read_to_string(&mut text).expect("gzip");
    assert!(text.starts_with("# HELP process_start_time_seconds "), "{text}");
}

#[tokio::test]
async fn health_checks_are_counted() {
    let server = start().await;
    let mut client = Client::new(&server).await;
    client.get("/livez").await;
    client.get("/livez?exclude=ping").await;
    client.get("/livez/ping").await;
    let answer = client.get("/metrics/slis").await;
    assert!(!answer.header("process-start-time-unix").is_empty());
    let lines: Vec<&str> = answer.text().lines().collect();
    for line in [
        r#"kubernetes_healthcheck{name="ping",type="livez"} 1"#,
        r#"kubernetes_healthchecks_total{name="ping",status="success",type="livez"} 1"#,
        r#"kubernetes_healthchecks_total{name="etcd",status="success",type="livez"} 2"#,
    ] {
        assert!(lines.contains(&line), "no {line} in\n{}", answer.text());
    }
    assert!(!answer.text().contains("readyz"));
    assert_eq!(client.delete("/metrics/slis").await.text(), "metrics reset\n");
    assert_eq!(client.get("/metrics/slis").await.text(), "");
}
