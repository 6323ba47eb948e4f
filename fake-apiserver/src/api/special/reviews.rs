//! Reviews: kinds that are not stored; the answer to a POST is the review with its status.

use crate::api::reply::encode_reply;
use crate::api::request::decode::{self, Expected};
use crate::api::{Reply, Request, managers};
use crate::auth::reviews::{access, own, token};
use crate::error::ApiResult;
use crate::registry::Review;
use bytes::Bytes;
use tree::Value;

pub(crate) fn create(request: &mut Request<'_>, review: Review) -> ApiResult<Reply> {
    let expected = Expected::of(&request.target);
    let (options, mut body) = decode::creation(request, &expected)?;
    managers::asked(request, &options, &expected, &mut body);
    let answer = answer(request, review, body)?;
    match (review, encode_reply(&expected, &answer)?) {
        (Review::SelfSubjectRules, Reply::Other { code, line }) => Ok(Reply::Other { code, line: with_lists(&line) }),
        (_, reply) => Ok(reply),
    }
}

/// A review of rules in which those that are not there are empty lists, as in Go, where types tell no difference.
fn with_lists(line: &[u8]) -> Bytes {
    let text = String::from_utf8_lossy(line);
    // In texts quotes have a backslash.
    let lists = ["resourceRules", "nonResourceRules"];
    let filled = lists
        .iter()
        .fold(text.into_owned(), |text, name| text.replace(&format!("\"{name}\":null"), &format!("\"{name}\":[]")));
    filled.into()
}

fn answer(request: &Request<'_>, review: Review, body: Value) -> ApiResult<Value> {
    let (server, user, deadline) = (&request.server, &*request.user, &request.deadline);
    let (policy, authorizer) = (&server.cluster.policy, server.cluster.authorizer());
    match review {
        Review::Token => token::review(&policy.authenticator, &policy.others, body, request.now, &server.objects),
        Review::SelfSubject => Ok(own::subject(user, request.now)),
        Review::SubjectAccess => access::subject(authorizer, body, deadline),
        Review::LocalSubjectAccess => access::local(authorizer, request.target.namespace, body, deadline),
        Review::SelfSubjectAccess => access::own(authorizer, user, body, deadline),
        Review::SelfSubjectRules => own::rules(authorizer, user, &body, deadline),
    }
}
