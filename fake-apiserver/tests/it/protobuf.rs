//! Protobuf as Go clients send and accept it for built-in kinds.

use crate::support::*;
use serde_json::json;

/// The headers of kubectl.
const HEADERS: &[(&str, &str)] = &[
    ("content-type", PROTOBUF),
    (
        "accept",
        "application/vnd.kubernetes.protobuf;as=Table;v=v1;g=meta.k8s.io,application/vnd.kubernetes.protobuf,application/json",
    ),
];

/// A length-delimited field: a text, or another message.
fn field(number: u8, value: impl AsRef<[u8]>) -> Vec<u8> {
    let value = value.as_ref();
    let length = u8::try_from(value.len()).expect("a short message");
    assert!(number < 16 && length < 128, "one byte is enough for both");
    [&[number << 3 | 2, length], value].concat()
}

fn number(field: u8, value: u8) -> Vec<u8> {
    assert!(field < 16 && value < 128, "one byte is enough for both");
    vec![field << 3, value]
}

/// A message in a `runtime.Unknown` behind the magic number.
fn enveloped(api_version: &str, kind: &str, message: &[u8]) -> Vec<u8> {
    let type_meta = [field(1, api_version), field(2, kind)].concat();
    [b"k8s\0".to_vec(), field(1, type_meta), field(2, message)].concat()
}

fn config_map(name: &str, value: &str) -> Vec<u8> {
    let metadata = field(1, field(1, name));
    let data = field(2, [field(1, "k"), field(2, value)].concat());
    enveloped("v1", "ConfigMap", &[metadata, data].concat())
}

#[tokio::test]
async fn objects() {
    let server = start().await;
    for protocol in PROTOCOLS {
        let mut client = Client::over(&server, protocol).await;
        let path = format!("{CONFIG_MAPS}/a");
        let created = client.ask("POST", CONFIG_MAPS, HEADERS, config_map("a", "v")).await;
        assert_eq!(created.header("content-type"), PROTOBUF);
        let created = created.expect(201);
        assert_eq!((text(&created, "/kind"), text(&created, "/data/k")), ("ConfigMap", "v"));
        let updated = client.ask("PUT", &path, HEADERS, config_map("a", "w")).await.expect(200);
        assert_eq!((text(&updated, "/data/k"), revision(&updated)), ("w", revision(&created) + 1));
        // The same in JSON is the same object.
        let same = client.put(&path, &with_data("a", "k", "w")).await.expect(200);
        assert_eq!(same, updated);
        let uid = text(&updated, "/metadata/uid");
        let precondition = |uid: &str| enveloped("v1", "DeleteOptions", &field(2, field(1, uid)));
        let refusal = client.ask("DELETE", &path, HEADERS, precondition("other")).await.refusal(409);
        assert!(refusal.1.contains("the UID in the precondition (other) does not match"), "{}", refusal.1);
        client.ask("DELETE", &path, HEADERS, precondition(uid)).await.expect(200);
    }
}

#[tokio::test]
async fn questions() {
    let server = start().await;
    let mut client = Client::over(&server, Protocol::Http2).await;
    client.post("/api/v1/namespaces/default/serviceaccounts", &named("sa")).await.expect(201);
    let spec = [field(1, "https://kubernetes.default.svc"), vec![4 << 3, 0x90, 0x1c]].concat();
    let request = enveloped("authentication.k8s.io/v1", "TokenRequest", &field(2, spec));
    let path = "/api/v1/namespaces/default/serviceaccounts/sa/token";
    let issued = client.ask("POST", path, HEADERS, request).await.expect(201);
    assert_eq!(issued["spec"]["expirationSeconds"], 3600);
    client.token = text(&issued, "/status/token").into();
    let attributes = [field(2, "get"), field(5, "pods")].concat();
    let review = enveloped("authorization.k8s.io/v1", "SelfSubjectAccessReview", &field(2, field(1, attributes)));
    let path = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews";
    let answer = client.ask("POST", path, HEADERS, review).await.expect(201);
    assert_eq!(answer["spec"]["resourceAttributes"], json!({"verb": "get", "resource": "pods"}));
    assert_eq!(answer["status"]["allowed"], true);
}

#[tokio::test]
async fn refusals() {
    let server = start().await;
    let mut client = Client::new(&server).await;
    let options = [number(1, 5), field(9, "x")].concat();
    for (body, message) in [
        (b"{}".to_vec(), "provided data does not appear to be a protobuf message, expected prefix [107 56 115 0]"),
        (b"k8s\0".to_vec(), "empty body (6b387300)"),
        (
            enveloped("v1", "Pod", &[]),
            "Pod in version \"v1\" cannot be handled as a ConfigMap: converting (v1.Pod) to (core.ConfigMap): \
             unknown conversion",
        ),
        (
            enveloped("v1", "ConfigMap", &[0x0a]),
            "ConfigMap in version \"v1\" cannot be handled as a ConfigMap: unexpected EOF",
        ),
        (
            enveloped("v1", "ConfigMap", &number(1, 1)),
            "ConfigMap in version \"v1\" cannot be handled as a ConfigMap: proto: wrong wireType = 0 for field ObjectMeta",
        ),
        (
            enveloped("v1", "DeleteOptions", &options),
            "DeleteOptions in version \"v1\" cannot be handled as a ConfigMap",
        ),
    ] {
        let refusal = client.ask("POST", CONFIG_MAPS, HEADERS, body).await.refusal(400);
        assert!(refusal.1.contains(message), "{}", refusal.1);
    }
}

/// Upstream's TestManagedFieldsTrailingData: only protobuf can carry field managers that are not JSON.
#[tokio::test]
async fn owners_that_are_not_json_are_ignored() {
    let server = start().await;
    let mut client = Client::new(&server).await;
    let managers = |fields: &str| {
        let entry =
            [field(1, "m"), field(2, "Update"), field(3, "v1"), field(6, "FieldsV1"), field(7, field(1, fields))];
        // The number 17 takes two bytes with its type.
        let entry = field(1, entry.concat());
        [&[0x8a, 1], &entry[1..]].concat()
    };
    for fields in [r#"{"f:data":{}}{"more":1}"#, "{", "no"] {
        let metadata = field(1, [field(1, "a"), managers(fields)].concat());
        let data = field(2, [field(1, "k"), field(2, "v")].concat());
        let body = enveloped("v1", "ConfigMap", &[metadata, data].concat());
        let created = client.ask("POST", CONFIG_MAPS, HEADERS, body).await.expect(201);
        let entries = created["metadata"]["managedFields"].as_array().expect("its fields have managers");
        assert_eq!(entries.len(), 1, "{fields}");
        assert_eq!(entries[0]["fieldsV1"], json!({"f:data": {".": {}, "f:k": {}}}));
        client.delete(&format!("{CONFIG_MAPS}/a")).await.expect(200);
    }
}

/// The chunks of a list are parts of one message, whose head has the right length.
#[tokio::test]
async fn lists_are_one_message() {
    let server = start().await;
    let mut client = Client::new(&server).await;
    for number in 100..300 {
        let name = format!("a{number}");
        client.ask("POST", CONFIG_MAPS, HEADERS, config_map(&name, "v")).await.expect(201);
    }
    let accepts = [("accept", PROTOBUF)];
    for round in 0..2 {
        // Whole leaves of the tree are kept as they were sent; pages end within one.
        let all = client.ask("GET", CONFIG_MAPS, &accepts, "").await.expect(200);
        assert_eq!((text(&all, "/kind"), names(&all).len()), ("ConfigMapList", 200 - round));
        let page = client.ask("GET", &format!("{CONFIG_MAPS}?limit=33"), &accepts, "").await.expect(200);
        assert_eq!(names(&page), names(&all)[..33]);
        assert_eq!(page["metadata"]["remainingItemCount"], 200 - round - 33);
        let selected = format!("{CONFIG_MAPS}?fieldSelector=metadata.name%3Da299");
        assert_eq!(names(&client.ask("GET", &selected, &accepts, "").await.expect(200)), ["a299"]);
        let as_json = client.get(CONFIG_MAPS).await.expect(200);
        assert_eq!(names(&as_json), names(&all));
        assert_eq!((&as_json["metadata"], &as_json["items"]), (&all["metadata"], &all["items"]));
        client.delete(&format!("{CONFIG_MAPS}/a150")).await;
    }
}
