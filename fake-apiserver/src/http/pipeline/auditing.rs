//! The audit of a request in the pipeline: from its beginning to its response, or to the end of its watch.

use super::exchange::{Exchange, Trace};
use crate::api::Reply;
use crate::audit::{Annotation, Audited, Course, Origin, Subject};
use crate::auth::authorizer::Decision;
use crate::deadline::Deadline;
use crate::error::{ApiError, ApiResult};
use crate::http::body::ReplyBody;
use crate::http::json;
use crate::http::negotiate::{Encoding, Endpoint, JSON, Output, PROTOBUF, YAML};
use crate::http::respond::{Rendering, content, content_type, plain_text};
use crate::http::websocket::Switched;
use crate::{schema, yaml};
use bytes::Bytes;
use http::header::{CONTENT_TYPE, USER_AGENT};
use http::{Response, StatusCode, Uri};
use http_body_util::BodyExt as _;
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_decode_str, percent_encode};

/// The subresources whose requests go on after the response has begun (`BasicLongRunningRequestCheck`).
const LONG: [&str; 5] = ["attach", "exec", "log", "portforward", "proxy"];
/// The longest `User-Agent` that events have whole (`maxUserAgentLength`), and what shorter forms of others end with.
const LONGEST_AGENT: (usize, &str) = (1024, "...TRUNCATED");
/// The annotation with the replica, counted from 0.
const REPLICA: &str = "fake-apiserver/replica";
/// The annotation with the reason for a 401, which clients do not get.
const AUTHENTICATION_ERROR: &str = "fake-apiserver/authentication-error";
/// The characters other than letters and digits that Go lets stand in a path (`validEncoded`).
const PATH_PUNCTUATION: &[u8] = b"-_.~$&+,/:;=@!'()*[]%";
/// The characters that Go escapes in a path (`shouldEscape`).
const ESCAPED: &AsciiSet = &NON_ALPHANUMERIC
    .remove(b'-')
    .remove(b'_')
    .remove(b'.')
    .remove(b'~')
    .remove(b'$')
    .remove(b'&')
    .remove(b'+')
    .remove(b',')
    .remove(b'/')
    .remove(b':')
    .remove(b';')
    .remove(b'=')
    .remove(b'@');

impl Exchange<'_> {
    /// Begins the audit of the request, if the policy is about it.
    pub(super) fn begin_audit(&self, trace: &mut Trace, course: Course) {
        let Some(auditor) = &self.replica.cluster.policy.auditor else { return };
        let (verb, target) = (self.audited_verb(), self.target());
        let Some(plan) = auditor.plan(&Subject { user: trace.user.as_deref(), verb: &verb, target }) else { return };
        let origin = Origin {
            audit_id: String::from_utf8_lossy(self.audit_id.as_bytes()).into_owned(),
            uri: request_uri(&self.parts.uri),
            verb: verb.into_owned(),
            user: trace.user.clone(),
            source_ips: self.peer.sources(&self.parts.headers),
            user_agent: agent(self.parts.headers.get(USER_AGENT).map_or(b"", |agent| agent.as_bytes())),
            received: self.now,
        };
        let mut own = Vec::new();
        if auditor.tells_more() {
            own.push((REPLICA.into(), self.replica.index.to_string()));
            own.extend(trace.authentication_error.clone().map(|error| (AUTHENTICATION_ERROR.into(), error.into())));
        }
        let clock = &self.replica.clock;
        trace.audited = Some(Audited::begin(auditor, clock, plan, course, origin, target, own).into());
    }

    /// Begins the audit of a request that is served. The response, if it cannot be, because it could not be audited.
    pub(super) async fn audit(&self, trace: &mut Trace) -> Option<Response<ReplyBody>> {
        let below = self.resource.as_ref().map_or("", |path| path.subresource);
        let is_long = self.verb == "watch" && self.resource.is_some() || LONG.contains(&below);
        self.begin_audit(trace, if is_long { Course::Long } else { Course::Short });
        if trace.audited.as_mut()?.received(&trace.annotations).await {
            return None;
        }
        Some(self.internal_error("failed to store audit event"))
    }

    /// The response to a request that could not be served before it came to its verb (`responsewriters.InternalError`).
    pub(super) fn internal_error(&self, why: &str) -> Response<ReplyBody> {
        let uri = schema::quote(&request_uri(&self.parts.uri));
        let text = format!("Internal Server Error: {uri}: {why}\n");
        let text = text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
        plain_text(StatusCode::INTERNAL_SERVER_ERROR, text).map(ReplyBody::whole)
    }
}

impl Exchange<'_> {
    /// Notes a refusal. One that the client takes in no form is sent by other means upstream, and not noted.
    pub(super) fn note_refusal(&self, trace: &mut Trace, error: &ApiError) {
        if let Some(audited) = &mut trace.audited
            && self.preferences().output(Endpoint::Action, true).is_ok()
        {
            audited.response(&json::encode(error.status()));
        }
    }
}

impl Trace {
    /// Notes a document of discovery; others are no objects.
    pub(super) fn shows(&mut self, path: &str, response: &Response<Bytes>) {
        let Some(audited) = self.audited.as_mut().filter(|audited| audited.has_response()) else { return };
        let is_discovery =
            path.strip_prefix("/api").is_some_and(|rest| !rest.starts_with(|char: char| char != '/' && char != 's'));
        if is_discovery && let Some(json) = json_of(response) {
            audited.response(&json);
        }
    }

    /// Ends the audit with the response; that of a watch goes on with it.
    pub(super) async fn responds(&mut self, response: &mut Response<ReplyBody>) {
        let Some(mut audited) = self.audited.take() else { return };
        audited.responds(response.status().as_u16(), &self.annotations).await;
        if let Some(switched) = response.extensions().get::<Switched>() {
            switched.audit(audited);
        } else if let ReplyBody::Watch(watch) = response.body_mut() {
            watch.audited = Some(audited);
        }
    }
}

/// The response to a reply, of which the audit sees what it needs.
pub(super) async fn responded(
    rendering: Rendering<'_>,
    reply: Reply,
    audited: &mut Audited,
) -> ApiResult<Response<ReplyBody>> {
    let is_seen = match reply {
        Reply::Deleted { .. } | Reply::Success { .. } => true,
        Reply::Watch(_) | Reply::Text(_) | Reply::Channels(_) | Reply::Empty | Reply::Moved { .. } => false,
        _ => audited.has_response(),
    };
    if !is_seen {
        return rendering.respond(reply);
    }
    let encoding = rendering.output.encoding;
    let output = Output { encoding: Encoding::Json { pretty: false }, ..rendering.output };
    let (mut head, body) = Rendering { output, ..rendering }.respond(reply)?.into_parts();
    let line = body.collect().await?.to_bytes();
    audited.response(&line);
    head.headers.insert(CONTENT_TYPE, content_type(encoding));
    Ok(Response::from_parts(head, ReplyBody::whole(content(line, encoding)?)))
}

/// A document as JSON.
fn json_of(response: &Response<Bytes>) -> Option<Bytes> {
    let body = response.body();
    let content_type = response.headers().get(CONTENT_TYPE)?.to_str().ok()?.split(';').next()?;
    match content_type {
        JSON => Some(json::compact(body).into()),
        YAML => Some(schema::encode_any(&yaml::parse(body, &Deadline::default()).ok()?.value).into()),
        PROTOBUF => {
            let envelope = schema::decode_protobuf(body).ok()?;
            let ty = schema::lookup(&envelope.api_version, &envelope.kind)?;
            let mut object = schema::decode_protobuf_message(envelope.raw, ty).ok()?;
            object["apiVersion"] = (*envelope.api_version).into();
            object["kind"] = (*envelope.kind).into();
            Some(schema::encode_part(&object, ty).into())
        }
        _ => None,
    }
}

/// The annotations about a decision (`withAuthorization`).
pub(super) fn of_decision(decision: &ApiResult<Decision>) -> Vec<Annotation> {
    let (decision, reason) = match decision {
        Ok(decision) if decision.is_allowed() => (Some("allow"), decision.reason()),
        Ok(decision) if decision.error().is_none() => (Some("forbid"), decision.reason()),
        Ok(_) | Err(_) => (None, "internal error"),
    };
    let decision = decision.map(|decision| ("authorization.k8s.io/decision".into(), decision.to_owned()));
    decision.into_iter().chain([("authorization.k8s.io/reason".into(), reason.to_owned())]).collect()
}

/// The target of a request as Go writes it (`URL.RequestURI`, Go 1.26).
pub(super) fn request_uri(uri: &Uri) -> String {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || PATH_PUNCTUATION.contains(&byte);
    let path = match uri.path() {
        "" => "/".to_owned(),
        path if path.bytes().all(is_plain) => path.to_owned(),
        path => percent_encode(&percent_decode_str(path).collect::<Vec<u8>>(), ESCAPED).to_string(),
    };
    match uri.query() {
        Some(query) => format!("{path}?{query}"),
        None => path,
    }
}

/// The client's name for itself, cut if it is long (`maybeTruncateUserAgent`).
fn agent(header: &[u8]) -> String {
    let (longest, end) = LONGEST_AGENT;
    match header.len() > longest {
        true => String::from_utf8_lossy(&header[..longest]).into_owned() + end,
        false => String::from_utf8_lossy(header).into_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn targets_are_written_as_go_does() {
        for (target, expected) in [
            ("/api/v1/pods?watch=1&x=%7B{", "/api/v1/pods?watch=1&x=%7B{"),
            ("/a%2fb?", "/a%2fb?"),
            ("/a{b}%41!", "/a%7Bb%7DA%21"),
            ("//a//", "//a//"),
            ("https://host/a?b", "/a?b"),
            ("https://host", "/"),
        ] {
            assert_eq!(request_uri(&target.parse().unwrap()), expected);
        }
    }

    #[test]
    fn long_names_of_clients_are_cut() {
        assert_eq!(agent(&[b'a'; 1024]), "a".repeat(1024));
        assert_eq!(agent(&[b'a'; 1025]), "a".repeat(1024) + "...TRUNCATED");
    }
}
