//! Answers as HTTP has them.

use super::stream::Events;
use bytes::Bytes;
use control::Refusal;
use http_body_util::combinators::UnsyncBoxBody;
use http_body_util::{BodyExt as _, Full};
use hyper::Response;
use serde::Serialize;
use std::convert::Infallible;

/// The body of an answer.
pub(super) type Reply = UnsyncBoxBody<Bytes, Infallible>;

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

/// Server-sent events.
pub(super) fn events(events: Events) -> Response<Reply> {
    with_body(200, "text/event-stream", events.boxed_unsync())
}

/// A refusal.
pub(super) fn refused(refusal: &Refusal) -> Response<Reply> {
    json(refusal.code, refusal)
}

fn response(code: u16, content_type: &str, body: Vec<u8>) -> Response<Reply> {
    with_body(code, content_type, Full::new(body.into()).boxed_unsync())
}

fn with_body(code: u16, content_type: &str, body: Reply) -> Response<Reply> {
    let builder = Response::builder().status(code).header("content-type", content_type);
    // Nobody but the caller has a use for it.
    let builder = builder.header("cache-control", "no-store").header("x-content-type-options", "nosniff");
    builder.body(body).expect("a code of three digits and constant headers")
}
