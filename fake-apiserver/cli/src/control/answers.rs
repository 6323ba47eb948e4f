//! Answers as HTTP has them.

use bytes::Bytes;
use control::Refusal;
use http_body_util::Full;
use hyper::Response;
use serde::Serialize;

/// The body of an answer.
pub(super) type Reply = Full<Bytes>;

/// An answer in JSON.
pub(super) fn json(code: u16, words: &impl Serialize) -> Response<Reply> {
    let mut text = serde_json::to_vec(words).expect("words have texts as keys");
    text.push(b'\n');
    response(code, "application/json", text)
}

/// A text for a file.
pub(super) fn text(text: String) -> Response<Reply> {
    response(200, "application/octet-stream", text.into_bytes())
}

/// A refusal.
pub(super) fn refused(refusal: &Refusal) -> Response<Reply> {
    json(refusal.code, refusal)
}

fn response(code: u16, content_type: &str, body: Vec<u8>) -> Response<Reply> {
    let builder = Response::builder().status(code).header("content-type", content_type);
    // Nobody but the caller has a use for it.
    let builder = builder.header("cache-control", "no-store").header("x-content-type-options", "nosniff");
    builder.body(Full::new(body.into())).expect("a code of three digits and constant headers")
}
