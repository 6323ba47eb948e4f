//! Protobuf: envelopes, watch events, and the messages of the kinds.

use crate::documents::typed;
use fake_apiserver::internals::schema;

/// An encoded message decodes to the same object, and so does its JSON.
pub(crate) fn protobuf(input: &[u8]) {
    let Some((api_version, kind, ty, message)) = typed(input) else { return };
    if let Ok(envelope) = schema::decode_protobuf(message) {
        let body = schema::encode_protobuf(&envelope.api_version, &envelope.kind, envelope.raw);
        assert_eq!(schema::decode_protobuf(&body), Ok(envelope));
    }
    if let Ok((name, object)) = schema::decode_protobuf_event(message) {
        let event = schema::encode_protobuf_event(&name, object);
        assert_eq!(schema::decode_protobuf_event(&event), Ok((name, object)));
    }
    let Ok(object) = schema::decode_protobuf_message(message, ty) else { return };
    let written = schema::encode_protobuf_message(&object, ty);
    let again = schema::decode_protobuf_message(&written, ty).unwrap_or_else(|error| panic!("{object}: {error}"));
    assert_eq!(again, object);
    let mut named = object.clone();
    named["apiVersion"] = api_version.into();
    named["kind"] = kind.into();
    let json = schema::encode(&named, ty).at_revision(7);
    let decoded = schema::decode_json(&json, ty).unwrap_or_else(|error| panic!("{object}: {error}"));
    if named["metadata"].is_object() {
        named["metadata"]["resourceVersion"] = "7".into();
        assert_eq!(decoded.object, named);
    }
    assert_eq!(decoded.findings, [""; 0]);
}
