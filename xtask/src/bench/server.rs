//! A server to measure, and the requests to it.

use super::client::{Call, Target};
use super::custom::{self, Custom};
use super::process::Process;
use anyhow::Context;
use bytes::Bytes;
use futures::future::try_join_all;
use http::Method;
use serde_json::{Value, json};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// Number of objects of a list: about 2 MB.
pub(super) const LIST_LENGTH: u64 = 4000;
/// Number of objects that are read and updated, one for each connection.
const OBJECTS: u64 = 8;
/// Number of namespaces that objects are created in at once, one for each connection.
const NAMESPACES_AT_ONCE: u64 = 8;
/// Number of connections that create the objects to read.
const WRITERS: u64 = 8;
/// Number of objects on a page.
const PAGE: u64 = 500;
/// The service account of pods, for servers with ServiceAccount admission.
const ACCOUNT: &str = "bench";

pub(super) struct Server {
    pub(super) name: &'static str,
    pub(super) target: Target,
    process: Option<Arc<Process>>,
    /// The namespace of objects that are created and updated.
    namespace: String,
    /// The namespace of objects that are listed.
    list_namespace: String,
    /// The group of custom resources.
    custom_group: String,
    /// A counter that makes names and contents unique.
    number: AtomicU64,
}

impl Server {
    pub(super) fn new(name: &'static str, target: Target, process: Option<Process>) -> Self {
        let namespace = format!("bench-{}", std::process::id());
        let list_namespace = format!("{namespace}-list");
        Server {
            custom_group: format!("{namespace}.example.com"),
            name,
            target,
            process: process.map(Arc::new),
            namespace,
            list_namespace,
            number: AtomicU64::new(OBJECTS),
        }
    }

    /// The same server for another user.
    pub(super) fn for_user(&self, target: Target) -> Self {
        Server { process: self.process.clone(), ..Server::new(self.name, target, None) }
    }

    /// Processor time used so far, if known.
    pub(super) fn cpu_time(&self) -> Option<Duration> {
        self.process.as_ref()?.cpu_time()
    }

    /// Memory in use, in bytes, if known.
    pub(super) fn memory(&self) -> Option<u64> {
        self.process.as_ref()?.resident_memory()
    }

    /// Creates the namespaces and the objects to read.
    pub(super) async fn populate(&self, list_length: u64) -> anyhow::Result<()> {
        let mut connection = self.target.connect().await?;
        for name in self.namespaces() {
            let body = json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}}).to_string();
            connection.exchange(Call::new(Method::POST, NAMESPACES, body)).await?;
        }
        let accounts = format!("{NAMESPACES}/{}/serviceaccounts", self.namespace);
        let account = json!({"metadata": {"name": ACCOUNT}, "automountServiceAccountToken": false}).to_string();
        connection.exchange(Call::new(Method::POST, accounts, account)).await?;
        for number in 0..OBJECTS {
            let body = config_map(&object_name(number), number);
            connection.exchange(Call::new(Method::POST, config_maps(&self.namespace), body)).await?;
        }
        let writers = (0..WRITERS).map(|writer| async move {
            let mut connection = self.target.connect().await?;
            for number in (writer..list_length).step_by(WRITERS as usize) {
                let body = config_map(&object_name(number), number);
                connection.exchange(Call::new(Method::POST, config_maps(&self.list_namespace), body)).await?;
            }
            anyhow::Ok(())
        });
        try_join_all(writers).await?;
        Ok(())
    }

    /// Copies the responses to reads to a bare server.
    pub(super) async fn copy_to(&self, bare: &Server) -> anyhow::Result<()> {
        for read in (0..OBJECTS).map(|number| self.get(number)).chain([self.list()]) {
            self.copy_answer(read, bare).await?;
        }
        Ok(())
    }

    /// Copies the response to a page to a bare server, in place of the list.
    pub(super) async fn copy_page_to(&self, bare: &Server) -> anyhow::Result<()> {
        self.copy_answer(self.page(), bare).await
    }

    async fn copy_answer(&self, read: Call, bare: &Server) -> anyhow::Result<()> {
        let path = read.path.split('?').next().unwrap_or_default().to_owned();
        let body = self.target.connect().await?.fetch(read).await?;
        bare.keep(path, body).await
    }

    /// The path of the namespace of the objects that are listed.
    pub(super) fn path_of_lists(&self) -> String {
        format!("{NAMESPACES}/{}", self.list_namespace)
    }

    /// Gives a bare server the `frame` to send to its watches.
    pub(super) async fn keep_frame(&self, frame: Bytes) -> anyhow::Result<()> {
        self.keep(config_maps(&self.namespace), frame).await
    }

    async fn keep(&self, path: String, bytes: Bytes) -> anyhow::Result<()> {
        self.target.connect().await?.exchange(Call::new(Method::PUT, path, bytes)).await?;
        Ok(())
    }

    /// Deletes the objects of [`populate`](Self::populate) and the measurements, whether or not a namespace controller
    /// does it as well, as this server's own does.
    pub(super) async fn depopulate(&self) -> anyhow::Result<()> {
        let mut connection = self.target.connect().await?;
        for name in self.namespaces() {
            for content in [config_maps(&name), pods(&name), deployments(&name)] {
                connection.exchange(Call::new(Method::DELETE, content, "")).await?;
            }
            let path = format!("{NAMESPACES}/{name}");
            connection.exchange(Call::new(Method::DELETE, &path, "")).await?;
            let Ok(namespace) = connection.fetch(Call::get(&path)).await else { continue };
            let mut namespace: Value = serde_json::from_slice(&namespace)?;
            namespace["spec"]["finalizers"] = json!([]);
            connection.exchange(Call::new(Method::PUT, path + "/finalize", namespace.to_string())).await?;
        }
        Ok(())
    }

    /// Grants a user the GETs of the measurement.
    pub(super) async fn allow_gets(&self, user: &str) -> anyhow::Result<()> {
        let mut connection = self.target.connect().await?;
        let group = "rbac.authorization.k8s.io";
        let role = json!({"metadata": {"name": user}, "rules": [{"apiGroups": [""], "resources": ["configmaps"], "verbs": ["get"]}]});
        let subject = json!({"apiGroup": group, "kind": "User", "name": user});
        let role_ref = json!({"apiGroup": group, "kind": "Role", "name": user});
        let binding = json!({"metadata": {"name": user}, "subjects": [subject], "roleRef": role_ref});
        for (resource, object) in [("roles", role), ("rolebindings", binding)] {
            let path = format!("/apis/{group}/v1/namespaces/{}/{resource}", self.namespace);
            connection.exchange(Call::new(Method::POST, path, object.to_string())).await?;
        }
        Ok(())
    }

    fn namespaces(&self) -> Vec<String> {
        let at_once = (0..NAMESPACES_AT_ONCE).map(|number| self.one_of_many(number));
        [self.namespace.clone(), self.list_namespace.clone()].into_iter().chain(at_once).collect()
    }

    /// The namespace of that connection.
    pub(super) fn one_of_many(&self, connection: u64) -> String {
        format!("{}-{connection}", self.namespace)
    }

    /// Creates an object.
    pub(super) fn create(&self) -> Call {
        self.create_in(&self.namespace)
    }

    /// Creates an object in the namespace of that connection.
    pub(super) fn create_in_one_of_many(&self, connection: u64) -> Call {
        self.create_in(&self.one_of_many(connection))
    }

    /// Tries to create an object with that entry, and stores nothing.
    pub(super) fn create_dry(&self, namespace: &str, entry: &str) -> Call {
        let name = format!("created-{}", self.next_number());
        let labels = json!({"app.kubernetes.io/name": "bench"});
        let body = json!({"metadata": {"name": name, "labels": labels}, "data": {"text": "x", entry: "x"}}).to_string();
        Call::new(Method::POST, format!("{}?dryRun=All", config_maps(namespace)), body)
    }

    fn create_in(&self, namespace: &str) -> Call {
        let number = self.next_number();
        let name = format!("created-{number}");
        Call::new(Method::POST, config_maps(namespace), config_map(&name, number))
    }

    /// Creates a pod.
    pub(super) fn create_pod(&self) -> Call {
        let name = format!("created-{}", self.next_number());
        Call::new(Method::POST, pods(&self.namespace), pod(&name).to_string())
    }

    /// Creates a deployment of such pods.
    pub(super) fn create_deployment(&self) -> Call {
        let name = format!("created-{}", self.next_number());
        let pod = pod(&name);
        let selector = json!({"matchLabels": pod["metadata"]["labels"]});
        let template = json!({"metadata": {"labels": pod["metadata"]["labels"]}, "spec": pod["spec"]});
        let spec = json!({"replicas": 2, "selector": selector, "template": template});
        Call::new(
            Method::POST,
            deployments(&self.namespace),
            json!({"metadata": {"name": name}, "spec": spec}).to_string(),
        )
    }

    /// Creates a config map with as many entries as a custom object has fields.
    pub(super) fn create_wide(&self) -> Call {
        let name = format!("created-{}", self.next_number());
        Call::new(Method::POST, config_maps(&self.namespace), custom::config_map(&name))
    }

    /// Creates a custom object, to which rules apply or not.
    pub(super) fn create_custom(&self, ruled: bool) -> Call {
        self.custom(ruled).create(&self.namespace, &format!("created-{}", self.next_number()))
    }

    fn custom(&self, ruled: bool) -> Custom<'_> {
        Custom { group: &self.custom_group, plural: if ruled { "ruleds" } else { "plains" }, groups: 1, ruled }
    }

    /// Defines the custom resources of [`create_custom`](Self::create_custom).
    pub(super) async fn define(&self) -> anyhow::Result<()> {
        let mut connection = self.target.connect().await?;
        for ruled in [false, true] {
            self.custom(ruled).define(&mut connection, &self.namespace).await?;
        }
        Ok(())
    }

    /// Removes them and their objects.
    pub(super) async fn undefine(&self) -> anyhow::Result<()> {
        let mut connection = self.target.connect().await?;
        for ruled in [false, true] {
            self.custom(ruled).delete(&mut connection).await?;
        }
        Ok(())
    }

    /// Changes an object.
    pub(super) fn update(&self, object: u64) -> Call {
        let name = object_name(object);
        let path = format!("{}/{name}", config_maps(&self.namespace));
        Call::new(Method::PUT, path, config_map(&name, self.next_number()))
    }

    /// An apply that always has the same content for an object, so that it changes nothing after the first time.
    pub(super) fn apply(&self, object: u64) -> Call {
        let name = object_name(object);
        let path = format!("{}/{name}?fieldManager=bench&force=true", config_maps(&self.namespace));
        Call::patch(path, "application/apply-patch+yaml", config_map(&name, object))
    }

    /// Applies each object once, so that further calls of [`apply`](Self::apply) change nothing.
    pub(super) async fn apply_all(&self) -> anyhow::Result<()> {
        let mut connection = self.target.connect().await?;
        for object in 0..OBJECTS {
            connection.exchange(self.apply(object)).await?;
        }
        Ok(())
    }

    /// Creates an object, and changes it so that it keeps or loses the field managers.
    pub(super) fn create_and_label(&self, owned: bool) -> [Call; 2] {
        let number = self.next_number();
        let name = format!("created-{number}");
        let path = format!("{}/{name}", config_maps(&self.namespace));
        let metadata = if owned { "{}" } else { r#"{"managedFields":[{}]}"# };
        let patch = format!(r#"{{"metadata":{metadata},"data":{{"changed":"yes"}}}}"#);
        let create = Call::new(Method::POST, config_maps(&self.namespace), config_map(&name, number));
        [create, Call::patch(path, "application/merge-patch+json", patch)]
    }

    /// Reads an object.
    pub(super) fn get(&self, object: u64) -> Call {
        Call::get(format!("{}/{}", config_maps(&self.namespace), object_name(object)))
    }

    /// Reads [`LIST_LENGTH`] objects.
    pub(super) fn list(&self) -> Call {
        Call::get(config_maps(&self.list_namespace))
    }

    /// Reads a first page of [`PAGE`] objects.
    pub(super) fn page(&self) -> Call {
        Call::get(format!("{}?limit={PAGE}", config_maps(&self.list_namespace)))
    }

    /// Watches the namespace of the created and updated objects after a revision, or only the object of that name in it.
    pub(super) fn watch(&self, revision: &str, object: Option<&str>) -> Call {
        let selector = object.map(|name| format!("&fieldSelector=metadata.name={name}")).unwrap_or_default();
        Call::get(format!("{}?watch=true&resourceVersion={revision}{selector}", config_maps(&self.namespace)))
    }

    /// The current revision.
    pub(super) async fn revision(&self) -> anyhow::Result<String> {
        let path = format!("{}?limit=1", config_maps(&self.namespace));
        let list: Value = serde_json::from_slice(&self.target.connect().await?.fetch(Call::get(path)).await?)?;
        let revision = list["metadata"]["resourceVersion"].as_str();
        Ok(revision.context("a list without a resourceVersion")?.to_string())
    }

    /// A number that was not used before.
    pub(super) fn next_number(&self) -> u64 {
        self.number.fetch_add(1, Ordering::Relaxed)
    }
}

const NAMESPACES: &str = "/api/v1/namespaces";

fn config_maps(namespace: &str) -> String {
    format!("{NAMESPACES}/{namespace}/configmaps")
}

fn deployments(namespace: &str) -> String {
    format!("/apis/apps/v1/namespaces/{namespace}/deployments")
}

fn pods(namespace: &str) -> String {
    format!("{NAMESPACES}/{namespace}/pods")
}

fn object_name(number: u64) -> String {
    format!("object-{number}")
}

/// A config map, of about 400 bytes once it is stored.
fn config_map(name: &str, number: u64) -> Bytes {
    let metadata = format!(r#"{{"name":"{name}","labels":{{"app.kubernetes.io/name":"bench"}}}}"#);
    let data = format!(r#"{{"number":"{number}","text":"{}"}}"#, "x".repeat(120));
    format!(r#"{{"apiVersion":"v1","kind":"ConfigMap","metadata":{metadata},"data":{data}}}"#).into()
}

/// An ordinary pod, which most rules about pods apply to.
fn pod(name: &str) -> Value {
    let probe = |path| json!({"httpGet": {"path": path, "port": 8080}, "periodSeconds": 10});
    let resources = json!({"requests": {"cpu": "100m", "memory": "64Mi"}, "limits": {"memory": "128Mi"}});
    let secret = json!({"secretKeyRef": {"name": "credentials", "key": "password"}});
    let container = json!({
        "name": "web", "image": "registry.example.com/web:1.2.3", "args": ["--port", "8080"],
        "ports": [{"name": "http", "containerPort": 8080}],
        "env": [{"name": "MODE", "value": "production"}, {"name": "PASSWORD", "valueFrom": secret}],
        "resources": resources, "livenessProbe": probe("/healthz"), "readinessProbe": probe("/readyz"),
        "volumeMounts": [{"name": "settings", "mountPath": "/etc/settings", "readOnly": true}, {"name": "cache", "mountPath": "/cache"}],
        "securityContext": {"runAsNonRoot": true, "allowPrivilegeEscalation": false, "capabilities": {"drop": ["ALL"]}},
    });
    let volumes = json!([{"name": "settings", "configMap": {"name": "settings"}}, {"name": "cache", "emptyDir": {}}]);
    let tolerations = json!([{"key": "dedicated", "operator": "Equal", "value": "web", "effect": "NoSchedule"}]);
    let spec = json!({
        "serviceAccountName": ACCOUNT, "containers": [container], "volumes": volumes, "tolerations": tolerations,
        "nodeSelector": {"kubernetes.io/os": "linux"}, "terminationGracePeriodSeconds": 30,
    });
    let metadata = json!({"name": name, "labels": {"app.kubernetes.io/name": "bench"}});
    json!({"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec})
}
