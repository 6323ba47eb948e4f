//! The responses of a conversion webhook: correctly converted objects, or something else that a scenario asks for.
//!
//! It converts between `v1`, where `spec.hostPort` is `a:1`, and all other versions, where `spec.host` is `a` and `spec.port` is
//! `1`.

use super::server::Asked;
use anyhow::{Context as _, Result};
use flate2::Compression;
use flate2::bufread::GzEncoder;
use http::request::Parts;
use serde_json::{Value, json};
use std::io::Read as _;

/// A kind of answer: its place in the list of all.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Answer(usize);

#[derive(Clone, Copy)]
enum Kind {
    /// The objects, converted.
    Converted,
    /// A failure whose message is the request, with placeholders for what differs from run to run.
    Told,
    /// The objects, converted and then changed by the rule of that name.
    Changed(fn(&mut Value)),
    /// The review, converted and then changed by the rule of that name.
    Reviewed(fn(&mut Value)),
    /// The objects, converted, in a body that says to be encoded like that.
    Encoded(&'static str, fn(&[u8]) -> Vec<u8>),
    /// A response with that status, content type and body.
    Raw(u16, &'static str, &'static str),
}

/// An answer as it is sent.
pub struct Sent {
    /// The status.
    pub status: u16,
    /// The content type.
    pub content_type: &'static str,
    /// The content encoding; "" for none.
    pub encoding: &'static str,
    /// The body.
    pub body: Vec<u8>,
}

const JSON: &str = "application/json";
const TEXT: &str = "text/plain";

/// All kinds of answers, by name.
const ANSWERS: &[(&str, Kind)] = &[
    ("converted", Kind::Converted),
    ("told", Kind::Told),
    // Objects.
    (
        "labelled",
        Kind::Changed(|object| {
            let version = object["apiVersion"].clone();
            object["metadata"]["labels"]["converted"] = version.as_str().and_then(|text| text.split('/').nth(1)).into();
            object["metadata"]["annotations"]["converted.example.com/to"] = version;
        }),
    ),
    (
        "unlabelled",
        Kind::Changed(|object| {
            remove(&mut object["metadata"], "labels");
            remove(&mut object["metadata"], "annotations");
        }),
    ),
    (
        "meddling",
        Kind::Changed(|object| {
            object["metadata"]["generation"] = 77.into();
            object["metadata"]["finalizers"] = json!(["example.com/meddled"]);
            object["metadata"]["creationTimestamp"] = Value::Null;
        }),
    ),
    ("unknown-fields", Kind::Changed(|object| object["spec"]["unknown"] = true.into())),
    ("invalid-values", Kind::Changed(|object| object["spec"]["port"] = "many".into())),
    ("bad-label", Kind::Changed(|object| object["metadata"]["labels"] = json!({"converted": "not valid!"}))),
    ("bad-annotation", Kind::Changed(|object| object["metadata"]["annotations"] = json!({"not valid!": "x"}))),
    ("number-label", Kind::Changed(|object| object["metadata"]["labels"] = json!({"converted": 1}))),
    ("list-labels", Kind::Changed(|object| object["metadata"]["labels"] = json!([]))),
    ("no-metadata", Kind::Changed(|object| remove(object, "metadata"))),
    ("text-metadata", Kind::Changed(|object| object["metadata"] = "x".into())),
    ("other-name", Kind::Changed(|object| object["metadata"]["name"] = "other".into())),
    ("other-namespace", Kind::Changed(|object| object["metadata"]["namespace"] = "other".into())),
    ("other-uid", Kind::Changed(|object| object["metadata"]["uid"] = "other".into())),
    ("other-kind", Kind::Changed(|object| object["kind"] = "Other".into())),
    ("other-version", Kind::Changed(|object| object["apiVersion"] = "other.example.com/v7".into())),
    ("no-kind", Kind::Changed(|object| object["kind"] = "".into())),
    ("no-objects", Kind::Reviewed(|review| review["response"]["convertedObjects"] = json!([]))),
    (
        "more-objects",
        Kind::Reviewed(|review| {
            if let Some(objects) = review["response"]["convertedObjects"].as_array_mut() {
                objects.extend(objects.first().cloned());
            }
        }),
    ),
    ("text-objects", Kind::Reviewed(|review| review["response"]["convertedObjects"] = json!(["x"]))),
    ("null-objects", Kind::Reviewed(|review| review["response"]["convertedObjects"] = json!([null]))),
    // Reviews.
    (
        "failed",
        Kind::Reviewed(|review| {
            review["response"]["result"] =
                json!({"status": "Failure", "message": "no way back", "reason": "Conflict", "code": 409});
        }),
    ),
    ("failed-silently", Kind::Reviewed(|review| review["response"]["result"] = json!({"status": "Failure"}))),
    (
        "no-result",
        Kind::Reviewed(|review| {
            remove(&mut review["response"], "result");
        }),
    ),
    ("wrong-uid", Kind::Reviewed(|review| review["response"]["uid"] = "wrong".into())),
    (
        "no-response",
        Kind::Reviewed(|review| {
            remove(review, "response");
        }),
    ),
    ("other-review", Kind::Reviewed(|review| review["kind"] = "OtherReview".into())),
    ("v1beta1-review", Kind::Reviewed(|review| review["apiVersion"] = "apiextensions.k8s.io/v1beta1".into())),
    (
        "no-type",
        Kind::Reviewed(|review| {
            remove(review, "apiVersion");
            remove(review, "kind");
        }),
    ),
    ("number-uid", Kind::Reviewed(|review| review["response"]["uid"] = 1.into())),
    // Encodings.
    ("gzipped", Kind::Encoded("gzip", gzip)),
    ("gzipped-in-capitals", Kind::Encoded("GZIP", gzip)),
    ("gzipped-in-parts", Kind::Encoded("gzip", |body| [&body[..9], &body[9..]].map(gzip).concat())),
    ("gzipped-twice", Kind::Encoded("gzip", |body| gzip(&gzip(body)))),
    ("gzipped-secretly", Kind::Encoded("", gzip)),
    ("gzip-missing", Kind::Encoded("gzip", <[u8]>::to_vec)),
    ("gzip-cut", Kind::Encoded("gzip", |body| gzip(body)[..100].to_vec())),
    ("gzip-empty", Kind::Encoded("gzip", |_| Vec::new())),
    (
        "gzip-changed",
        Kind::Encoded("gzip", |body| {
            let mut encoded = gzip(body);
            let checksum = encoded.len() - 8;
            encoded[checksum] ^= 1;
            encoded
        }),
    ),
    ("deflate-missing", Kind::Encoded("deflate", <[u8]>::to_vec)),
    ("marked", Kind::Encoded("", |body| [b"\xEF\xBB\xBF", body].concat())),
    (
        "marked-utf-16",
        Kind::Encoded("", |body| {
            [[0xFE, 0xFF].into(), body.iter().flat_map(|byte| [0, *byte]).collect::<Vec<u8>>()].concat()
        }),
    ),
    ("spaced", Kind::Encoded("", |body| [b" \t\r\n", body].concat())),
    ("commented", Kind::Encoded("", |body| [b"# A comment.\n", body].concat())),
    // Responses.
    ("yaml-list", Kind::Raw(200, JSON, "- a\n- b\n")),
    ("yaml-broken", Kind::Raw(200, JSON, "a: [\n")),
    ("yaml-typeless", Kind::Raw(200, JSON, "response: {}\n")),
    ("empty", Kind::Raw(200, JSON, "")),
    ("text", Kind::Raw(200, TEXT, "not JSON")),
    ("broken-json", Kind::Raw(200, JSON, "{\"response\": ")),
    ("status-object", Kind::Raw(200, JSON, STATUS)),
    ("bad-request", Kind::Raw(400, TEXT, "what is that?\n")),
    ("bad-request-object", Kind::Raw(400, JSON, STATUS)),
    ("forbidden", Kind::Raw(403, TEXT, "")),
    ("not-found", Kind::Raw(404, TEXT, "404 page not found\n")),
    ("teapot", Kind::Raw(418, TEXT, "short and stout\n")),
    ("error", Kind::Raw(500, TEXT, "out of order\n")),
    ("error-object", Kind::Raw(500, JSON, STATUS)),
    ("unavailable", Kind::Raw(503, TEXT, "")),
];

const STATUS: &str = r#"{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","message":"in a Status","reason":"Conflict","code":409}"#;

impl Answer {
    /// The first of the list.
    pub const CONVERTED: Answer = Answer(0);

    /// The kind of that name.
    pub fn parse(name: &str) -> Option<Answer> {
        ANSWERS.iter().position(|(known, _)| *known == name).map(Answer)
    }

    /// The names of all kinds.
    pub fn names() -> String {
        ANSWERS.iter().map(|(name, _)| *name).collect::<Vec<_>>().join(", ")
    }

    /// The answer to a request.
    ///
    /// # Errors
    /// If the request is not a review.
    pub fn to(self, asked: &Asked) -> Result<Sent> {
        let (_, kind) = ANSWERS[self.0];
        if let Kind::Raw(status, content_type, body) = kind {
            return Ok(Sent { status, content_type, encoding: "", body: body.into() });
        }
        let asking: Value = serde_json::from_slice(&asked.body).context("a review is JSON")?;
        let request = &asking["request"];
        let mut objects = request["objects"].clone();
        for object in objects.as_array_mut().into_iter().flatten() {
            convert(object, &request["desiredAPIVersion"]);
            if let Kind::Changed(change) = kind {
                change(object);
            }
        }
        let result = match kind {
            Kind::Told => json!({"status": "Failure", "message": asked.told(&asking)?}),
            _ => json!({"status": "Success"}),
        };
        let mut review = json!({
            "kind": asking["kind"],
            "apiVersion": asking["apiVersion"],
            "response": {"uid": request["uid"], "convertedObjects": objects, "result": result},
        });
        if let Kind::Reviewed(change) = kind {
            change(&mut review);
        }
        let body = serde_json::to_vec(&review)?;
        let (encoding, body) = match kind {
            Kind::Encoded(encoding, encode) => (encoding, encode(&body)),
            _ => ("", body),
        };
        Ok(Sent { status: 200, content_type: JSON, encoding, body })
    }
}

fn gzip(plain: &[u8]) -> Vec<u8> {
    let mut encoded = Vec::new();
    GzEncoder::new(plain, Compression::fast()).read_to_end(&mut encoded).expect("memory is read without errors");
    encoded
}

/// Removes a member of an object.
fn remove(object: &mut Value, name: &str) {
    if let Some(members) = object.as_object_mut() {
        members.remove(name);
    }
}

/// Converts an object to that version.
fn convert(object: &mut Value, to: &Value) {
    object["apiVersion"] = to.clone();
    let Some(spec) = object["spec"].as_object_mut() else { return };
    if to.as_str().is_some_and(|to| to.ends_with("/v1")) {
        let halves = [spec.remove("host"), spec.remove("port")];
        if let [Some(Value::String(host)), Some(Value::String(port))] = halves {
            spec.insert("hostPort".into(), format!("{host}:{port}").into());
        }
    } else if let Some(Value::String(both)) = spec.remove("hostPort") {
        let (host, port) = both.split_once(':').unwrap_or((&both, ""));
        spec.insert("host".into(), host.into());
        spec.insert("port".into(), port.into());
    }
}

impl Asked {
    /// The request as text: its line, its headers, its body.
    fn told(&self, review: &Value) -> Result<String> {
        let Parts { method, uri, headers, version, .. } = &self.parts;
        let path = uri.path_and_query().map_or("", |path| path.as_str());
        let mut told = format!("{method} {path} {version:?}");
        for name in ["user-agent", "accept", "content-type", "authorization"] {
            let value = headers.get(name).map_or("-", |value| value.to_str().unwrap_or("?"));
            told.push_str(&format!(" [{name}: {value}]"));
        }
        let mut body = String::from_utf8(self.body.to_vec()).context("JSON is UTF-8")?;
        let objects =
            || review["request"]["objects"].as_array().into_iter().flatten().map(|object| &object["metadata"]);
        let varying = objects().flat_map(|metadata| {
            ["uid", "creationTimestamp", "deletionTimestamp", "resourceVersion"].map(|field| &metadata[field])
        });
        let managers = objects().flat_map(|metadata| metadata["managedFields"].as_array().into_iter().flatten());
        let varying = varying.chain(managers.map(|manager| &manager["time"]));
        for value in varying.chain([&review["request"]["uid"]]).filter_map(Value::as_str) {
            body = body.replace(&format!("\"{value}\""), "\"…\"");
        }
        Ok(format!("{told} {body}"))
    }
}
