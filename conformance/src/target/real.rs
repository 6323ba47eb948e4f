//! A real kube-apiserver that somebody else started. Each scenario gets a namespace of its own on it.

use super::{ADMINISTRATOR, Cluster, Power, Setup, Target, own_namespace};
use crate::client::Endpoint;
use anyhow::{Context as _, Result, ensure};
use futures::future::BoxFuture;
use serde_json::Value;
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
        let version = self.endpoint.ask(&self.tokens[ADMINISTRATOR], "GET", "/version", &Value::Null).await?;
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
            let namespace = own_namespace(&self.endpoint, &self.tokens[ADMINISTRATOR], &setup.scenario).await?;
            Ok(Box::new(Tenancy {
                endpoints: [self.endpoint.clone()],
                ca_pem: self.ca_pem.clone(),
                tokens: self.tokens.clone(),
                namespace,
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
            self.endpoints[0].ask(&self.tokens[ADMINISTRATOR], "DELETE", &path, &Value::Null).await?;
            Ok(String::new())
        })
    }
}
