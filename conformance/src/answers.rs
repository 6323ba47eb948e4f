//! Response bodies and watch frames as JSON, so that protobuf and YAML are observed, recorded and compared like everything else.
//!
//! Both have to be, byte for byte, what Go's encoders make of the same document. So two servers that answer with the same
//! document answer with the same bytes, but for values that become placeholders.

use anyhow::{Context as _, Error, Result, bail, ensure};
use bytes::Bytes;
use fake_apiserver::internals::{schema, yaml};
use flate2::read::GzDecoder;
use serde_json::{Value, json};
use std::io::Read as _;

/// The beginning of an object in a message.
const OBJECT: &str = r#""{\""#;
const PROTOBUF: &str = "application/vnd.kubernetes.protobuf";
const YAML: &str = "application/yaml";

/// The body of a response of that content type as a document; the error is the text to show if it is not one.
pub(crate) fn document(content_type: &str, body: &[u8]) -> Result<Value, String> {
    if content_type.starts_with(PROTOBUF) {
        return protobuf(body).map_err(|error| format!("{error:#}"));
    }
    if content_type.starts_with(YAML) {
        return of_yaml(body).map_err(|error| format!("{error:#}"));
    }
    serde_json::from_slice(body).map_err(|_| String::from_utf8_lossy(body).into_owned())
}

/// The content of a body that was compressed, if its encoding says so.
pub(crate) fn decoded(encoding: Option<&str>, body: Bytes) -> Result<Bytes> {
    let mut content = Vec::new();
    match encoding {
        None => return Ok(body),
        Some("gzip") => GzDecoder::new(&body[..]).read_to_end(&mut content).context("a body that is no gzip")?,
        Some(other) => bail!("a body in the unknown encoding {other}"),
    };
    Ok(content.into())
}

/// Takes the next frame off the `unread` bytes of a watch of that content type; `None` while it is incomplete.
pub(crate) fn next_frame(content_type: &str, unread: &mut Vec<u8>) -> Option<Value> {
    let frame = if content_type.starts_with(PROTOBUF) {
        let length = usize::try_from(u32::from_be_bytes(*unread.first_chunk()?)).ok()?;
        unread.get(4..4 + length)?;
        let message: Vec<u8> = unread.drain(..4 + length).skip(4).collect();
        event(&message).map_err(|error| format!("{error:#}"))
    } else {
        let end = unread.iter().position(|byte| *byte == b'\n')?;
        let line: Vec<u8> = unread.drain(..=end).collect();
        document(content_type, &line)
    };
    Some(frame.unwrap_or_else(Value::String))
}

fn event(message: &[u8]) -> Result<Value> {
    let (name, object) = schema::decode_protobuf_event(message)?;
    ensure!(schema::encode_protobuf_event(&name, object) == message, "Go would write this event otherwise");
    Ok(json!({"type": name, "object": protobuf(object)?}))
}

fn of_yaml(body: &[u8]) -> Result<Value> {
    let document = yaml::parse(body, &yaml::Deadline::default()).map_err(Error::msg)?.value;
    let printed = yaml::print(document.to_string().as_bytes()).map_err(Error::msg)?;
    ensure!(printed.as_bytes() == body, "Go would print this YAML otherwise");
    Ok(document.into())
}

fn protobuf(body: &[u8]) -> Result<Value> {
    let envelope = schema::decode_protobuf(body)?;
    let (api_version, kind) = (&*envelope.api_version, &*envelope.kind);
    // `APIResourceList` and its like have no `apiVersion`.
    let version = if api_version.is_empty() { "v1" } else { api_version };
    let ty = schema::lookup(version, kind).with_context(|| format!("no type is known for {version} {kind}"))?;
    let object = schema::decode_protobuf_message(envelope.raw, ty)?;
    let message = schema::encode_protobuf_message(&object, ty);
    let encoded = schema::encode_protobuf(api_version, kind, &message);
    ensure!(encoded == body, "Go would write this {kind} otherwise");
    // Go's JSON shows more of the empty fields.
    let mut shown: Value = serde_json::from_slice(&schema::encode(&object, ty).json)?;
    for (name, value) in [("apiVersion", api_version), ("kind", kind)] {
        if !value.is_empty() {
            shown[name] = value.into();
        }
    }
    if let Some(revision) = object.pointer("/metadata/resourceVersion") {
        shown["metadata"]["resourceVersion"] = revision.clone().into();
    }
    Ok(shown)
}

/// A message without the objects in it, in which upstream keeps the order of fields in which they were sent or stored.
pub(crate) fn without_objects(text: &str) -> String {
    let Some((before, object)) = text.split_once(OBJECT) else { return text.to_owned() };
    let mut escaped = false;
    let end = object.find(|character| {
        let ends = character == '"' && !escaped;
        escaped = character == '\\' && !escaped;
        ends
    });
    let rest = end.map_or("", |end| &object[end + 1..]);
    format!("{before}<an object>{}", without_objects(rest))
}

/// A text with its parts between commas in order, for those that upstream takes from a map.
pub(crate) fn sorted_parts(text: &str) -> String {
    let text = text.replace(": [", ", [");
    let mut parts: Vec<&str> = text.split(", ").map(|part| part.trim_matches(['[', ']'])).collect();
    parts.sort_unstable();
    parts.join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A config map that is called "a", as Go writes it, behind its envelope's head.
    const MESSAGE: &[u8] = b"\x0a\x12\x0a\x01a\x12\0\x1a\0\x22\0\x2a\x00\x32\x017\x38\0\x42\0";

    fn body(message: &[u8]) -> Vec<u8> {
        schema::encode_protobuf("v1", "ConfigMap", message)
    }

    #[test]
    fn protobuf_is_shown_as_json_if_its_bytes_are_those_of_go() {
        let shown = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a", "resourceVersion": "7"}});
        assert_eq!(document(PROTOBUF, &body(MESSAGE)), Ok(shown));
        for (message, why) in [
            (&MESSAGE[..2 + 3], "unexpected EOF"),
            (b"\x0a\x03\x0a\x01a", "Go would write this ConfigMap otherwise"),
            (&[MESSAGE, b"\x7a\x01x"].concat(), "Go would write this ConfigMap otherwise"),
        ] {
            assert_eq!(document(PROTOBUF, &body(message)), Err(why.to_owned()));
        }
        assert_eq!(document("application/json", b"ok"), Err("ok".to_owned()));
    }

    #[test]
    fn yaml_is_shown_as_json_if_it_is_printed_as_by_go() {
        for (body, shown) in [
            ("a:\n- \"1\"\nb: 1\n", Ok(json!({"a": ["1"], "b": 1}))),
            ("b: 1\na:\n- \"1\"\n", Err("Go would print this YAML otherwise".to_owned())),
            ("a:\n  - \"1\"\n", Err("Go would print this YAML otherwise".to_owned())),
            ("a: *b\n", Err("yaml: unknown anchor 'b' referenced".to_owned())),
        ] {
            assert_eq!(document(YAML, body.as_bytes()), shown, "{body:?}");
        }
    }

    #[test]
    fn frames_are_taken_once_they_are_whole() {
        let event = schema::encode_protobuf_event("ADDED", &body(MESSAGE));
        let protobuf = [&u32::try_from(event.len()).unwrap().to_be_bytes()[..], &event].concat();
        let json = b"{\"type\":\"ADDED\"}\n".to_vec();
        for (content_type, frame) in [("application/vnd.kubernetes.protobuf;stream=watch", protobuf), ("", json)] {
            let mut unread = Vec::new();
            for byte in &frame {
                assert_eq!(next_frame(content_type, &mut unread), None);
                unread.push(*byte);
            }
            unread.extend_from_slice(&frame);
            for _ in 0..2 {
                assert_eq!(next_frame(content_type, &mut unread).expect("a frame")["type"], "ADDED");
            }
            assert_eq!((next_frame(content_type, &mut unread), unread.len()), (None, 0));
        }
    }

    #[test]
    fn objects_in_messages_are_not_compared() {
        let message = r#"patch: Invalid value: "{\"apiVersion\":\"a\\\"b\"}": strict decoding error"#;
        assert_eq!(without_objects(message), "patch: Invalid value: <an object>: strict decoding error");
    }
}
