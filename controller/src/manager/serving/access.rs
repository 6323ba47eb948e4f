//! Delegated authentication and authorization of requests to the manager.
//!
//! Follows apiserver v0.37.1 `pkg/server/options/authentication.go` and `authorization.go`: tokens are sent to the API server
//! in a TokenReview, their rights are asked for in a SubjectAccessReview. A request without a token is `system:anonymous`.
//! Responses are not cached, and client certificates not requested.

use k8s_openapi::api::authentication::v1::{TokenReview, TokenReviewSpec, UserInfo};
use k8s_openapi::api::authorization::v1::{
    NonResourceAttributes, SubjectAccessReview, SubjectAccessReviewSpec, SubjectAccessReviewStatus,
};
use kube::api::PostParams;
use kube::{Api, Client};
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::fmt::Debug;
use tracing::error;

/// The decision about a request.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Access {
    Granted,
    /// The token is not authenticated.
    Unauthorized,
    /// The user is not authorized; the API server may give a reason.
    Forbidden {
        user: String,
        reason: String,
    },
    /// The API server did not decide, with its error.
    Unknown(String),
}

/// Asks whether the user of `token` may do `method` to `path`.
pub(super) async fn ask(client: &Client, token: Option<&str>, method: &str, path: &str) -> Access {
    let user = match token {
        Some(token) => match authenticate(client, token).await {
            Ok(Some(user)) => user,
            Ok(None) => return Access::Unauthorized,
            Err(error) => {
                error!(%error, "unable to authenticate the request");
                return Access::Unauthorized;
            }
        },
        None => UserInfo {
            username: Some("system:anonymous".to_owned()),
            groups: Some(vec!["system:unauthenticated".to_owned()]),
            ..UserInfo::default()
        },
    };
    let name = user.username.clone().unwrap_or_default();
    match authorize(client, user, method, path).await {
        Ok(status) if status.allowed => Access::Granted,
        Ok(status) => Access::Forbidden { user: name, reason: status.reason.unwrap_or_default() },
        Err(error) => {
            error!(%error, "unable to authorize the request");
            Access::Unknown(error.to_string())
        }
    }
}

async fn authenticate(client: &Client, token: &str) -> kube::Result<Option<UserInfo>> {
    let spec = TokenReviewSpec { token: token.to_owned(), audiences: None };
    let review = TokenReview { spec, ..TokenReview::default() };
    let status = create(client, &review).await?.status.unwrap_or_default();
    Ok(status.user.filter(|_| status.authenticated == Some(true)))
}

async fn authorize(
    client: &Client,
    user: UserInfo,
    method: &str,
    path: &str,
) -> kube::Result<SubjectAccessReviewStatus> {
    let attributes = NonResourceAttributes { path: Some(path.to_owned()), verb: Some(method.to_ascii_lowercase()) };
    let spec = SubjectAccessReviewSpec {
        user: user.username,
        groups: user.groups,
        uid: user.uid,
        extra: user.extra,
        non_resource_attributes: Some(attributes),
        resource_attributes: None,
    };
    let review = SubjectAccessReview { spec, ..SubjectAccessReview::default() };
    Ok(create(client, &review).await?.status.unwrap_or_default())
}

async fn create<K>(client: &Client, review: &K) -> kube::Result<K>
where
    K: kube::Resource<DynamicType = ()> + Clone + Debug + Serialize + DeserializeOwned,
{
    Api::all(client.clone()).create(&PostParams::default(), review).await
}
