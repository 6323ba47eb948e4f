//! A real kube-apiserver that somebody else started. Each scenario gets a namespace of its own on it.

use super::{ADMINISTRATOR, Cluster, Power, Setup, Target};
use crate::client::Endpoint;
use anyhow::{Context as _, Result, ensure};
use bytes::Bytes;
use futures::future::BoxFuture;
use http_body_util::{BodyExt as _, Full};
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// Where the server is and who may use it.
pub struct Real {
    endpoint: Endpoint,
    ca_pem: Option<String>,
    tokens: BTreeMap<String, String>,
}

struct Tenancy {
    endpoints: [Endpoint; 1],
    ca_pem: Option<String>,
    tokens: BTreeMap<String, String>,
    namespace: String,
}

impl Real {
    /// The server at `url`. `tokens` are bearer tokens by user; one has to be the administrator's.
    pub fn new(url: &str, ca_pem: Option<String>, tokens: BTreeMap<String, String>) -> Result<Real> {
        ensure!(tokens.contains_key(ADMINISTRATOR), "a token of {ADMINISTRATOR:?} is needed");
        Ok(Real { endpoint: Endpoint::new(url, ca_pem.as_deref())?, ca_pem, tokens })
    }

    /// Its version: `v1.37.1`.
    pub async fn version(&self) -> Result<String> {
        let version = ask(&self.endpoint, &self.tokens[ADMINISTRATOR], "GET", "/version", &Value::Null).await?;
        Ok(version["gitVersion"].as_str().with_context(|| format!("no version: {version}"))?.to_owned())
    }
}

impl Target for Real {
    fn name(&self) -> &'static str {
        "real"
    }

    fn powers(&self) -> &'static [Power] {
        &[]
    }

    fn start<'a>(&'a self, setup: &'a Setup) -> BoxFuture<'a, Result<Box<dyn Cluster>>> {
        Box::pin(async move {
            let slug = setup.scenario.replace('/', "-");
            let body = json!({"metadata": {"generateName": format!("{}-", &slug[..slug.len().min(50)])}});
            let token = &self.tokens[ADMINISTRATOR];
            let created = ask(&self.endpoint, token, "POST", "/api/v1/namespaces", &body).await?;
            let namespace = created["metadata"]["name"].as_str().with_context(|| format!("no namespace: {created}"))?;
            Ok(Box::new(Tenancy {
                endpoints: [self.endpoint.clone()],
                ca_pem: self.ca_pem.clone(),
                tokens: self.tokens.clone(),
                namespace: namespace.to_owned(),
            }) as Box<dyn Cluster>)
        })
    }
}

impl Cluster for Tenancy {
    fn endpoints(&self) -> &[Endpoint] {
        &self.endpoints
    }

    fn ca_pem(&self) -> Option<String> {
        self.ca_pem.clone()
    }

    fn namespace(&self) -> &str {
        &self.namespace
    }

    fn token(&self, user: &str) -> Option<String> {
        self.tokens.get(user).cloned()
    }

    fn stop(self: Box<Self>) -> BoxFuture<'static, Result<String>> {
        Box::pin(async move {
            let path = format!("/api/v1/namespaces/{}", self.namespace);
            ask(&self.endpoints[0], &self.tokens[ADMINISTRATOR], "DELETE", &path, &Value::Null).await?;
            Ok(String::new())
        })
    }
}

async fn ask(endpoint: &Endpoint, token: &str, method: &str, path: &str, body: &Value) -> Result<Value> {
    let body = if body.is_null() { Bytes::new() } else { serde_json::to_vec(body)?.into() };
    let request = http::Request::builder()
        .method(method)
        .uri(path)
        .header("authorization", format!("Bearer {token}"))
        .header("content-type", "application/json")
        .body(Full::new(body))?;
    let answer = endpoint.send(request).await?;
    Ok(serde_json::from_slice(&answer.into_body().collect().await?.to_bytes())?)
}
