//! The requests by which a client can send an input of a fuzz target.

use crate::resources::in_order;
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use fake_apiserver::internals::schema::encode_protobuf;
use serde_json::{Value, json};
use std::fmt::Write as _;

const JSON: &str = "application/json";
const YAML: &str = "application/yaml";
const PROTOBUF: &str = "application/vnd.kubernetes.protobuf";
const JSON_PATCH: &str = "application/json-patch+json";
const MERGE_PATCH: &str = "application/merge-patch+json";
const STRATEGIC_PATCH: &str = "application/strategic-merge-patch+json";
const APPLY_PATCH: &str = "application/apply-patch+yaml";

const DEFINITIONS: &str = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
const CONFIG_MAPS: &str = "/api/v1/namespaces/default/configmaps";
/// The collection of the resource whose objects may have any fields.
const FREE: &str = "/apis/inputs.example.com/v1/namespaces/default/frees";

/// The bytes of requests for one connection, and the number of their answers.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Message {
    pub(super) bytes: Vec<u8>,
    pub(super) answers: usize,
}

/// The requests of a client with that token. Schemas differ each `time`, so that each is compiled.
pub(super) struct Requests<'r> {
    pub(super) token: &'r str,
    pub(super) time: u32,
}

/// The objects that are needed before: collection and object.
pub(super) fn before() -> [(&'static str, Value); 2] {
    let free = json!({"type": "object", "x-kubernetes-preserve-unknown-fields": true});
    [(DEFINITIONS, definition("free", free)), (CONFIG_MAPS, json!({"metadata": {"name": "a"}, "data": {"a": "1"}}))]
}

/// The definition of a resource with that schema, which is called by its singular.
fn definition(singular: &str, schema: Value) -> Value {
    let plural = format!("{singular}s");
    json!({
        "metadata": {"name": format!("{plural}.inputs.example.com")},
        "spec": {
            "group": "inputs.example.com", "scope": "Namespaced",
            "names": {"plural": plural, "singular": singular, "kind": kind(singular)},
            "versions": [{"name": "v1", "served": true, "storage": true, "schema": {"openAPIV3Schema": schema}}],
        },
    })
}

fn kind(singular: &str) -> String {
    format!("{}{}", singular[..1].to_uppercase(), &singular[1..])
}

impl Requests<'_> {
    /// The requests for an input of that target; `None` if no request has such an input.
    pub(super) fn of(&self, target: &str, input: &[u8]) -> Option<Vec<Message>> {
        let text = String::from_utf8_lossy(input);
        let get = |target: String| Some(vec![self.request("GET", &target, "", b"")]);
        let with = |option: &str| get(format!("{CONFIG_MAPS}?limit=1&{option}={}", escaped(input)));
        match target {
            "request" => Some(vec![self.verbatim(input)]),
            "bearer-token" => {
                // It is not signed, as a client without the key would send it.
                let [head, claims] = [&br#"{"alg":"RS256"}"#[..], input].map(|part| URL_SAFE_NO_PAD.encode(part));
                let token = format!("{head}.{claims}.c2lnbmVk");
                Some(vec![Requests { token: &token, ..*self }.request("GET", CONFIG_MAPS, "", b"")])
            }
            "continue-token" => with("continue"),
            "duration" => with("timeout"),
            "field-selector" => with("fieldSelector"),
            "label-selector" => with("labelSelector"),
            "name" => {
                let metadata = json!({"name": text, "labels": {&*text: text}});
                let object = json!({"metadata": metadata, "data": {&*text: ""}});
                Some(vec![
                    self.request("GET", &format!("{CONFIG_MAPS}/{}", escaped(input)), "", b""),
                    self.create(CONFIG_MAPS, &object),
                ])
            }
            "path" => get(format!("/{}", printable(input).trim_start_matches('/'))),
            "query" => get(format!("{CONFIG_MAPS}?{}", printable(input))),
            "quantity" => {
                let container = json!({"name": "c", "image": "i", "resources": {"limits": {"cpu": text}}});
                let pod = json!({"metadata": {"name": "a"}, "spec": {"containers": [container]}});
                Some(vec![self.create("/api/v1/namespaces/default/pods", &pod)])
            }
            "time" => {
                let metadata = json!({"name": "a", "deletionTimestamp": text});
                let lease = json!({"metadata": metadata, "spec": {"renewTime": text}});
                Some(vec![self.create("/apis/coordination.k8s.io/v1/namespaces/default/leases", &lease)])
            }
            "field-set" => Some(input.split(|byte| *byte == b'\n').map(|line| self.managed(line)).collect()),
            "json" => self.typed(input, |path, _, _, body| self.dry(path, JSON, body)),
            "protobuf" => self.typed(input, |path, api_version, kind, message| {
                let body = encode_protobuf(api_version, kind, message);
                [&body, message].into_iter().flat_map(|body| self.dry(path, PROTOBUF, body)).collect()
            }),
            "untyped-json" => Some(self.dry(FREE, JSON, &free(&[br#""spec":"#, input].concat()))),
            "yaml" => Some(self.dry(CONFIG_MAPS, YAML, input)),
            "yaml-print" => {
                let body = free(&[br#""spec":"#, input].concat());
                let headers = format!("Content-Type: {JSON}\r\nAccept: {YAML}\r\n");
                Some(vec![self.request("POST", &format!("{FREE}?dryRun=All"), &headers, &body)])
            }
            "json-patch" => self.patched(input, JSON_PATCH),
            "merge-patch" => self.patched(input, MERGE_PATCH),
            "strategic-patch" => self.typed(input, |path, _, _, rest| self.strategic(path, rest)),
            "apply" => self.typed(input, |path, api_version, kind, rest| self.applied(path, api_version, kind, rest)),
            "rules" => self.ruled(input),
            _ => None,
        }
    }

    /// The bytes of an input that is requests already, with a token that the server knows.
    fn verbatim(&self, input: &[u8]) -> Message {
        const KNOWN: &[u8] = b"Bearer t\r";
        let mut bytes = Vec::new();
        let mut rest = input;
        while let Some(at) = rest.windows(KNOWN.len()).position(|window| window == KNOWN) {
            bytes.extend_from_slice(&rest[..at]);
            bytes.extend_from_slice(format!("Bearer {}\r", self.token).as_bytes());
            rest = &rest[at + KNOWN.len()..];
        }
        bytes.extend_from_slice(rest);
        let answers = input.windows(8).filter(|window| window == b" HTTP/1.").count();
        Message { bytes, answers: answers.max(1) }
    }

    fn request(&self, method: &str, target: &str, headers: &str, body: &[u8]) -> Message {
        let (token, length) = (self.token, body.len());
        let head = format!(
            "{method} {target} HTTP/1.1\r\nHost: server\r\nAuthorization: Bearer {token}\r\n{headers}\
             Content-Length: {length}\r\nConnection: close\r\n\r\n"
        );
        Message { bytes: [head.as_bytes(), body].concat(), answers: 1 }
    }

    fn sent(&self, method: &str, target: &str, content_type: &str, body: &[u8]) -> Message {
        self.request(method, target, &format!("Content-Type: {content_type}\r\n"), body)
    }

    /// A create that stores nothing.
    fn dry(&self, collection: &str, content_type: &str, body: &[u8]) -> Vec<Message> {
        vec![self.sent("POST", &format!("{collection}?dryRun=All"), content_type, body)]
    }

    fn create(&self, collection: &str, object: &Value) -> Message {
        self.sent("POST", &format!("{collection}?dryRun=All"), JSON, object.to_string().as_bytes())
    }

    /// The create of an object with that set of managed fields.
    fn managed(&self, set: &[u8]) -> Message {
        let body = [
            br#"{"metadata":{"name":"b","managedFields":[{"manager":"m","operation":"Update","apiVersion":"v1","#,
            br#""fieldsType":"FieldsV1","fieldsV1":"#.as_slice(),
            set,
            b"}]}}",
        ];
        self.sent("POST", &format!("{CONFIG_MAPS}?dryRun=All"), JSON, &body.concat())
    }

    /// The requests for an input whose first byte chooses a kind: of its collection, API version, kind, and the rest of the input.
    fn typed(
        &self,
        input: &[u8],
        requests: impl FnOnce(&str, &str, &str, &[u8]) -> Vec<Message>,
    ) -> Option<Vec<Message>> {
        let (first, rest) = input.split_first()?;
        let kinds = in_order();
        // Behind them a target has the options of deletions.
        match kinds.get(usize::from(*first) % (kinds.len() + 1)) {
            None => Some(vec![self.sent("DELETE", &format!("{CONFIG_MAPS}/none"), JSON, rest)]),
            Some(of) => Some(requests(&of.collection(Some("default")), &of.api_version, &of.kind, rest)),
        }
    }

    /// The patch of an object, and its creation and deletion, of an input of a document, a line feed, and a patch.
    fn patched(&self, input: &[u8], content_type: &str) -> Option<Vec<Message>> {
        let (document, patch) = halves(input)?;
        let object = format!("{FREE}/a");
        let document = document.strip_prefix(b"{").and_then(|document| document.strip_suffix(b"}")).unwrap_or_default();
        let body = free(document);
        Some(vec![
            self.sent("POST", FREE, JSON, &body),
            self.sent("PATCH", &format!("{object}?dryRun=All"), content_type, patch),
            self.request("DELETE", &object, "", b""),
        ])
    }

    fn strategic(&self, collection: &str, rest: &[u8]) -> Vec<Message> {
        let Some((document, patch)) = halves(rest) else { return self.dry(collection, JSON, rest) };
        let object = format!("{collection}/{}", name(document));
        vec![
            self.sent("POST", collection, JSON, document),
            self.sent("PATCH", &format!("{object}?dryRun=All"), STRATEGIC_PATCH, patch),
            // Whatever the document is, the patch is read.
            self.sent("PATCH", &format!("{CONFIG_MAPS}/a?dryRun=All"), STRATEGIC_PATCH, patch),
            self.request("DELETE", &object, "", b""),
        ]
    }

    /// The applies of an input of an object, and lines of a manager's letter and its configuration.
    fn applied(&self, collection: &str, api_version: &str, kind: &str, rest: &[u8]) -> Vec<Message> {
        let mut lines = rest.split(|byte| *byte == b'\n');
        let document = lines.next().unwrap_or_default();
        let object = format!("{collection}/{}", name(document));
        let mut messages = vec![self.sent("POST", collection, JSON, document)];
        messages.extend(lines.filter_map(|line| {
            let (manager, configuration) = line.split_first()?;
            let configuration = configuration.strip_prefix(b"{")?;
            let head = format!(r#"{{"apiVersion":"{api_version}","kind":"{kind}","#);
            let body = [head.as_bytes(), configuration].concat();
            let (manager, force) = (escaped(&[*manager]), manager.is_ascii_uppercase());
            Some(self.sent("PATCH", &format!("{object}?fieldManager={manager}&force={force}"), APPLY_PATCH, &body))
        }));
        messages.push(self.request("DELETE", &object, "", b""));
        messages
    }

    /// The definition of a resource with a schema, and a write of its objects, of a vector of `fixtures/custom/rules.jsonl`.
    fn ruled(&self, input: &[u8]) -> Option<Vec<Message>> {
        let vector: Value = serde_json::from_slice(input).ok()?;
        let (schema, value) = (vector.get("schema")?, vector.get("value")?);
        let description = format!("time {}", self.time);
        let schema = json!({"type": "object", "description": description, "properties": {"spec": schema}});
        let collection = "/apis/inputs.example.com/v1/namespaces/default/ruleds";
        let object = |spec: &Value| {
            let metadata = json!({"name": "a"});
            json!({"apiVersion": "inputs.example.com/v1", "kind": "Ruled", "metadata": metadata, "spec": spec})
        };
        let sent = |method, target: &str, body: Value| self.sent(method, target, JSON, body.to_string().as_bytes());
        let mut messages = vec![
            sent("POST", DEFINITIONS, definition("ruled", schema)),
            sent("POST", collection, object(vector.get("old").unwrap_or(value))),
        ];
        if vector.get("old").is_some() {
            let patch = json!({"spec": value}).to_string();
            messages.push(self.sent("PATCH", &format!("{collection}/a"), MERGE_PATCH, patch.as_bytes()));
        }
        messages.push(self.request("DELETE", &format!("{DEFINITIONS}/ruleds.inputs.example.com"), "", b""));
        Some(messages)
    }
}

/// The body of an object with any fields: these.
fn free(fields: &[u8]) -> Vec<u8> {
    let head = br#"{"apiVersion":"inputs.example.com/v1","kind":"Free","metadata":{"name":"a"}"#;
    let comma: &[u8] = if fields.is_empty() { b"" } else { b"," };
    [head, comma, fields, b"}"].concat()
}

fn halves(input: &[u8]) -> Option<(&[u8], &[u8])> {
    let at = input.iter().position(|byte| *byte == b'\n')?;
    Some((&input[..at], &input[at + 1..]))
}

/// The name of an object, escaped; `a` without one.
fn name(document: &[u8]) -> String {
    let document: Value = serde_json::from_slice(document).unwrap_or_default();
    escaped(document["metadata"]["name"].as_str().filter(|name| !name.is_empty()).unwrap_or("a").as_bytes())
}

/// The bytes as a part of a path or a value of a query.
fn escaped(bytes: &[u8]) -> String {
    percent(bytes, |byte| byte.is_ascii_alphanumeric() || b"-._~".contains(&byte))
}

/// The bytes as a target, of which only those are escaped that no target may have.
fn printable(bytes: &[u8]) -> String {
    percent(bytes, |byte| byte.is_ascii_graphic() && !b"#\"<>\\^`{|}".contains(&byte))
}

fn percent(bytes: &[u8], stays: impl Fn(u8) -> bool) -> String {
    let mut text = String::new();
    for byte in bytes {
        match stays(*byte) {
            true => text.push(char::from(*byte)),
            false => drop(write!(text, "%{byte:02X}")),
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    const REQUESTS: Requests<'_> = Requests { token: "secret", time: 0 };

    fn first_lines(target: &str, input: &[u8]) -> Vec<String> {
        let messages = REQUESTS.of(target, input).unwrap();
        let lines =
            messages.iter().map(|message| String::from_utf8_lossy(&message.bytes).lines().next().map(str::to_owned));
        lines.map(|line| line.unwrap().trim_end_matches(" HTTP/1.1").to_owned()).collect()
    }

    #[test]
    fn an_input_becomes_the_requests_that_a_client_would_send() {
        let config_map = in_order().iter().position(|of| of.kind == "ConfigMap").unwrap() as u8;
        for (target, input, expected) in [
            ("path", &b"/apis/a b"[..], &["GET /apis/a%20b"][..]),
            ("query", b"watch=1&x=\xff", &["GET /api/v1/namespaces/default/configmaps?watch=1&x=%FF"]),
            ("label-selector", b"a=b", &["GET /api/v1/namespaces/default/configmaps?limit=1&labelSelector=a%3Db"]),
            (
                "json-patch",
                b"{\"a\":1}\n[]",
                &[
                    "POST /apis/inputs.example.com/v1/namespaces/default/frees",
                    "PATCH /apis/inputs.example.com/v1/namespaces/default/frees/a?dryRun=All",
                    "DELETE /apis/inputs.example.com/v1/namespaces/default/frees/a",
                ],
            ),
            (
                "apply",
                &[&[config_map][..], b"{\"metadata\":{\"name\":\"x\"}}\nB{\"data\":{}}"].concat(),
                &[
                    "POST /api/v1/namespaces/default/configmaps",
                    "PATCH /api/v1/namespaces/default/configmaps/x?fieldManager=B&force=true",
                    "DELETE /api/v1/namespaces/default/configmaps/x",
                ],
            ),
        ] {
            assert_eq!(first_lines(target, input), expected, "{target}");
        }
        assert_eq!(REQUESTS.of("certificate", b"x"), None);
    }

    #[test]
    fn requests_get_a_token_that_the_server_knows() {
        let sent = b"GET / HTTP/1.1\r\nAuthorization: Bearer t\r\n\r\nGET /a HTTP/1.1\r\n\r\n";
        let expected = b"GET / HTTP/1.1\r\nAuthorization: Bearer secret\r\n\r\nGET /a HTTP/1.1\r\n\r\n";
        assert_eq!(REQUESTS.verbatim(sent), Message { bytes: expected.to_vec(), answers: 2 });
    }
}
