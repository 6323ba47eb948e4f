//! `POST serviceaccounts/{name}/token`: issues a token for the account.

use crate::api::reply::encode_reply;
use crate::api::request::decode::{self, Expected};
use crate::api::{Reply, Request, admission, managers};
use crate::auth::token_request;
use crate::error::ApiResult;
use crate::registry::Located;

pub(crate) async fn create(request: &mut Request<'_>) -> ApiResult<Reply> {
    let expected = Expected::named("authentication.k8s.io/v1", "TokenRequest")?.with(token_request::set_defaults);
    let (options, mut body) = decode::creation(request, &expected)?;
    managers::asked(request, &options, &expected, &mut body);
    admission::create(request, &options, &mut body).await?;
    let cluster = request.server.cluster;
    let authenticator = &cluster.policy.authenticator;
    let Located { namespace, name, .. } = request.target;
    authenticator.check_token_request(namespace, name, &mut body, request.now, &request.server.objects)?;
    admission::validate(request, &options, &body, None).await?;
    let objects = &request.server.objects;
    let outcome = authenticator.token_request(namespace, name, body, request.now, objects, &cluster.ids)?;
    request.warnings.extend(outcome.notes.warnings);
    request.annotations.extend(outcome.notes.annotations);
    encode_reply(&expected, &outcome.response)
}
