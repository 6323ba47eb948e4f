//! A server to be measured, and the requests that measure it.

use super::client::{Call, Target};
use super::process::Process;
use anyhow::Context;
use bytes::Bytes;
use http::Method;
use serde_json::{Value, json};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// Objects of a list: about 2 MB.
pub(super) const LIST_LENGTH: u64 = 4000;
/// Objects that are read and updated, one for each connection.
const OBJECTS: u64 = 8;

pub(super) struct Server {
    pub(super) name: &'static str,
    pub(super) target: Target,
    process: Option<Process>,
    /// For objects that come and go.
    namespace: String,
    /// For those that are listed.
    list_namespace: String,
    /// Makes names and contents different from all before.
    number: AtomicU64,
}

impl Server {
    pub(super) fn new(name: &'static str, target: Target, process: Option<Process>) -> Self {
        let namespace = format!("bench-{}", std::process::id());
        let list_namespace = format!("{namespace}-list");
        Server { name, target, process, namespace, list_namespace, number: AtomicU64::new(LIST_LENGTH) }
    }

    /// Processor time used so far, if it can be known.
    pub(super) fn cpu_time(&self) -> Option<Duration> {
        self.process.as_ref()?.cpu_time()
    }

    /// Makes the namespaces and what is read from them.
    pub(super) async fn populate(&self) -> anyhow::Result<()> {
        let mut connection = self.target.connect().await?;
        for name in [&self.namespace, &self.list_namespace] {
            let body = json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}}).to_string();
            connection.exchange(Call::new(Method::POST, NAMESPACES, body)).await?;
        }
        for number in 0..OBJECTS {
            let body = config_map(&object_name(number), number);
            connection.exchange(Call::new(Method::POST, config_maps(&self.namespace), body)).await?;
        }
        for number in 0..LIST_LENGTH {
            let body = config_map(&object_name(number), number);
            connection.exchange(Call::new(Method::POST, config_maps(&self.list_namespace), body)).await?;
        }
        Ok(())
    }

    /// Lets a bare server answer reads as `self` does.
    pub(super) async fn copy_to(&self, bare: &Server) -> anyhow::Result<()> {
        let (mut from, mut to) = (self.target.connect().await?, bare.target.connect().await?);
        for read in (0..OBJECTS).map(|number| self.get(number)).chain([self.list()]) {
            let path = read.path.clone();
            let body = from.fetch(read).await?;
            to.exchange(Call::new(Method::PUT, path, body)).await?;
        }
        Ok(())
    }

    /// Removes what [`populate`](Self::populate) and the measurements have made, where no controller does it.
    pub(super) async fn depopulate(&self) -> anyhow::Result<()> {
        let mut connection = self.target.connect().await?;
        for name in [&self.namespace, &self.list_namespace] {
            connection.exchange(Call::new(Method::DELETE, config_maps(name), "")).await?;
            let path = format!("{NAMESPACES}/{name}");
            let namespace = connection.fetch(Call::new(Method::DELETE, &path, "")).await?;
            let mut namespace: Value = serde_json::from_slice(&namespace)?;
            namespace["spec"]["finalizers"] = json!([]);
            connection.exchange(Call::new(Method::PUT, path + "/finalize", namespace.to_string())).await?;
        }
        Ok(())
    }

    /// Creates an object.
    pub(super) fn create(&self) -> Call {
        let number = self.next_number();
        let name = format!("created-{number}");
        Call::new(Method::POST, config_maps(&self.namespace), config_map(&name, number))
    }

    /// Changes an object.
    pub(super) fn update(&self, object: u64) -> Call {
        let name = object_name(object);
        let path = format!("{}/{name}", config_maps(&self.namespace));
        Call::new(Method::PUT, path, config_map(&name, self.next_number()))
    }

    /// Reads an object.
    pub(super) fn get(&self, object: u64) -> Call {
        Call::get(format!("{}/{}", config_maps(&self.namespace), object_name(object)))
    }

    /// Reads [`LIST_LENGTH`] objects.
    pub(super) fn list(&self) -> Call {
        Call::get(config_maps(&self.list_namespace))
    }

    /// Watches the namespace of the created and updated objects after a revision, or only the object of that name in it.
    pub(super) fn watch(&self, revision: &str, object: Option<&str>) -> Call {
        let selector = object.map(|name| format!("&fieldSelector=metadata.name={name}")).unwrap_or_default();
        Call::get(format!("{}?watch=true&resourceVersion={revision}{selector}", config_maps(&self.namespace)))
    }

    /// The revision after which everything is still to come.
    pub(super) async fn revision(&self) -> anyhow::Result<String> {
        let path = format!("{}?limit=1", config_maps(&self.namespace));
        let list: Value = serde_json::from_slice(&self.target.connect().await?.fetch(Call::get(path)).await?)?;
        let revision = list["metadata"]["resourceVersion"].as_str();
        Ok(revision.context("a list without a resourceVersion")?.to_string())
    }

    fn next_number(&self) -> u64 {
        self.number.fetch_add(1, Ordering::Relaxed)
    }
}

const NAMESPACES: &str = "/api/v1/namespaces";

fn config_maps(namespace: &str) -> String {
    format!("{NAMESPACES}/{namespace}/configmaps")
}

fn object_name(number: u64) -> String {
    format!("object-{number}")
}

/// About 400 bytes once it is stored.
fn config_map(name: &str, number: u64) -> Bytes {
    let metadata = format!(r#"{{"name":"{name}","labels":{{"app.kubernetes.io/name":"bench"}}}}"#);
    let data = format!(r#"{{"number":"{number}","text":"{}"}}"#, "x".repeat(120));
    format!(r#"{{"apiVersion":"v1","kind":"ConfigMap","metadata":{metadata},"data":{data}}}"#).into()
}
