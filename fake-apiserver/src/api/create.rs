//! Create: `createHandler` of `k8s.io/apiserver` (pkg/endpoints/handlers).

use super::request::decode::{self, Expected};
use super::write::{self, Wanted};
use super::{Reply, Request};
use crate::error::ApiResult;

pub(crate) async fn create(request: &mut Request<'_>) -> ApiResult<Reply> {
    let expected = Expected::of(&request.target);
    let (options, object) = decode::creation(request, &expected)?;
    write::create(request, Wanted::Plain(object), &options).await
}
