//! Reviews: kinds that are not stored; the answer to a POST is the review with its status.

use crate::api::request::decode::{self, Expected};
use crate::api::{Reply, Request, encode_reply, owners};
use crate::auth::reviews::{access, own, token};
use crate::error::{ApiError, ApiResult};
use tree::Value;

pub(crate) fn create(request: &mut Request<'_>) -> ApiResult<Reply> {
    let expected = Expected::of(request.kind, request.version);
    let (options, mut body) = decode::creation(request, &expected)?;
    owners::asked(request, &options, &expected, &mut body);
    let answer = answer(request, body)?;
    encode_reply(&expected, &answer)
}

fn answer(request: &Request<'_>, body: Value) -> ApiResult<Value> {
    let (cluster, user) = (request.cluster, &*request.user);
    let authorizer = &*cluster.authorizer;
    match &*request.kind.kind {
        "TokenReview" => token::review(&cluster.authenticator, body, request.now, cluster),
        "SelfSubjectReview" => Ok(own::subject(user, request.now)),
        "SubjectAccessReview" => access::subject(authorizer, body),
        "LocalSubjectAccessReview" => access::local(authorizer, request.namespace, body),
        "SelfSubjectAccessReview" => access::own(authorizer, user, body),
        "SelfSubjectRulesReview" => own::rules(authorizer, user, &body),
        other => Err(ApiError::not_implemented(format!("reviews of kind {other}"))),
    }
}
