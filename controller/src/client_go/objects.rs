//! Requests for objects by name, with the name escaped in the URL, and compared with that of the response.
//!
//! Names come from other objects, so they may be any text; in a URL they are one segment of its path. Follows client-go
//! v0.37.1 `rest/request.go` (`Name`, `Namespace`, `IsValidPathSegmentName`), and Go's `net/url` for the escapes. A response
//! with another object's name is an error here; client-go does not check it.

use k8s_openapi::NamespaceResourceScope;
use k8s_openapi::api::authentication::v1::TokenRequest;
use k8s_openapi::api::core::v1::ServiceAccount;
use kube::api::{DeleteParams, GetParams, Patch, PatchParams, PostParams};
use kube::core::request;
use kube::{Client, Error, Resource, ResourceExt};
use serde::Serialize;
use serde::de::{DeserializeOwned, Error as _};
use std::fmt::Debug;
use std::marker::PhantomData;

/// The objects of a kind in a namespace, requested by name.
#[derive(Clone)]
pub struct Objects<K> {
    client: Client,
    namespace: Option<String>,
    kind: PhantomData<fn() -> K>,
}

impl<K: Resource<DynamicType = ()>> Objects<K> {
    /// The objects of a namespace.
    pub fn namespaced(client: Client, namespace: impl Into<String>) -> Self
    where
        K: Resource<Scope = NamespaceResourceScope>,
    {
        Objects { client, namespace: Some(namespace.into()), kind: PhantomData }
    }

    /// The cluster-scoped objects of a kind.
    pub fn all(client: Client) -> Self {
        Objects { client, namespace: None, kind: PhantomData }
    }

    fn requests(&self) -> kube::Result<request::Request> {
        let namespace = self.namespace.as_deref().map(|name| segment("namespace", name)).transpose()?;
        Ok(request::Request::new(K::url_path(&(), namespace.as_deref())))
    }
}

impl<K> Objects<K>
where
    K: Resource<DynamicType = ()> + Clone + Debug + DeserializeOwned,
{
    /// The object of that name.
    ///
    /// # Errors
    /// If the request fails, or the name is not a segment of a path.
    pub async fn get(&self, name: &str) -> kube::Result<K> {
        self.get_with(name, &GetParams::default()).await
    }

    /// The object of that name, as recent as `params` asks for.
    ///
    /// # Errors
    /// As for [`get`](Self::get).
    pub async fn get_with(&self, name: &str, params: &GetParams) -> kube::Result<K> {
        let request = self.requests()?.get(&named(name)?, params).map_err(Error::BuildRequest)?;
        about(name, self.client.request(request).await?)
    }

    /// The object of that name, if there is one.
    ///
    /// # Errors
    /// As for [`get`](Self::get).
    pub async fn get_opt(&self, name: &str) -> kube::Result<Option<K>> {
        match self.get(name).await {
            Err(Error::Api(status)) if status.is_not_found() => Ok(None),
            answer => answer.map(Some),
        }
    }

    /// Creates `object`.
    ///
    /// # Errors
    /// If the request fails.
    pub async fn create(&self, params: &PostParams, object: &K) -> kube::Result<K>
    where
        K: Serialize,
    {
        let request = self.requests()?.create(params, json(object)?).map_err(Error::BuildRequest)?;
        let created: K = self.client.request(request).await?;
        match &object.meta().name {
            Some(name) => about(name, created),
            None => Ok(created),
        }
    }

    /// Replaces the object of that name.
    ///
    /// # Errors
    /// If the request fails, or the name is not a segment of a path.
    pub async fn replace(&self, name: &str, params: &PostParams, object: &K) -> kube::Result<K>
    where
        K: Serialize,
    {
        let request = self.requests()?.replace(&named(name)?, params, json(object)?).map_err(Error::BuildRequest)?;
        about(name, self.client.request(request).await?)
    }

    /// Patches the object of that name.
    ///
    /// # Errors
    /// As for [`replace`](Self::replace).
    pub async fn patch<P: Serialize + Debug>(
        &self,
        name: &str,
        params: &PatchParams,
        patch: &Patch<P>,
    ) -> kube::Result<K> {
        let request = self.requests()?.patch(&named(name)?, params, patch).map_err(Error::BuildRequest)?;
        about(name, self.client.request(request).await?)
    }

    /// Deletes the object of that name.
    ///
    /// # Errors
    /// As for [`replace`](Self::replace).
    pub async fn delete(&self, name: &str, params: &DeleteParams) -> kube::Result<()> {
        let request = self.requests()?.delete(&named(name)?, params).map_err(Error::BuildRequest)?;
        self.client.request_status::<K>(request).await.map(|_| ())
    }
}

impl Objects<ServiceAccount> {
    /// Requests a token for the service account of that name.
    ///
    /// # Errors
    /// As for [`replace`](Self::replace).
    pub async fn create_token(&self, name: &str, token: &TokenRequest) -> kube::Result<TokenRequest> {
        let (escaped, params) = (named(name)?, PostParams::default());
        let request = self.requests()?.create_subresource("token", &escaped, &params, json(token)?);
        let answer: TokenRequest = self.client.request(request.map_err(Error::BuildRequest)?).await?;
        // A server may leave the name out.
        if answer.metadata.name.is_none() { Ok(answer) } else { about(name, answer) }
    }
}

/// `name` as one escaped segment of a URL's path.
///
/// # Errors
/// If it cannot be one; the message has `what` the name is of.
pub fn segment(what: &str, name: &str) -> kube::Result<String> {
    let mut refused = Vec::new();
    if matches!(name, "." | "..") {
        refused.push(format!("may not be '{name}'"));
    }
    refused
        .extend(["/", "%"].iter().filter(|text| name.contains(**text)).map(|text| format!("may not contain '{text}'")));
    if !refused.is_empty() {
        let message = format!("invalid {what} {name:?}: [{}]", refused.join(" "));
        return Err(Error::BuildRequest(request::Error::Validation(message)));
    }
    let escape = |byte: u8| match byte {
        b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' => char::from(byte).to_string(),
        _ if b"-_.~$&+,:;=@".contains(&byte) => char::from(byte).to_string(),
        _ => format!("%{byte:02X}"),
    };
    Ok(name.bytes().map(escape).collect())
}

fn named(name: &str) -> kube::Result<String> {
    segment("resource name", name)
}

fn json(object: &impl Serialize) -> kube::Result<Vec<u8>> {
    serde_json::to_vec(object).map_err(Error::SerdeError)
}

/// `answer`, if its name is `name`.
fn about<K: Resource>(name: &str, answer: K) -> kube::Result<K> {
    let told = answer.name_any();
    if told == name {
        return Ok(answer);
    }
    Err(Error::SerdeError(serde_json::Error::custom(format!("asked for {name:?}, and the answer is about {told:?}"))))
}

#[cfg(test)]
mod tests {
    use super::*;
    use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;

    #[test]
    fn a_name_is_one_segment_of_a_path() {
        for (name, expected) in [
            ("real", Ok("real")),
            ("system:a@b+c$&,;=~-_.", Ok("system:a@b+c$&,;=~-_.")),
            ("real?x=1", Ok("real%3Fx=1")),
            ("real#x", Ok("real%23x")),
            ("a b\\\u{e9}\0", Ok("a%20b%5C%C3%A9%00")),
            ("..", Err("invalid resource name \"..\": [may not be '..']")),
            ("a/%2f", Err("invalid resource name \"a/%2f\": [may not contain '/' may not contain '%']")),
        ] {
            let said = named(name).map_err(|error| match error {
                Error::BuildRequest(request::Error::Validation(message)) => message,
                other => panic!("{other}"),
            });
            assert_eq!(said.as_deref().map_err(String::as_str), expected, "{name:?}");
        }
    }

    #[test]
    fn an_answer_about_another_object_is_none() {
        let metadata = |name: &str| ObjectMeta { name: Some(name.to_owned()), ..ObjectMeta::default() };
        let account = |name: &str| ServiceAccount { metadata: metadata(name), ..ServiceAccount::default() };
        assert!(about("real", account("real")).is_ok());
        let error = about("real?x=1", account("real")).expect_err("another one").to_string();
        assert!(error.contains(r#"asked for "real?x=1", and the answer is about "real""#), "{error}");
    }
}
