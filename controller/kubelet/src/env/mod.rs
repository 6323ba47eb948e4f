//! The environment variables of a container.
//!
//! Follows `makeEnvironmentVariables` of kubernetes v1.37.1 `pkg/kubelet/kubelet_pods.go`. In that version every key of
//! a config map or secret becomes a variable; before v1.32 the kubelet skipped keys that were not valid names of
//! variables, and reported them in an event. A `resourceFieldRef` to an init container without a limit has the
//! node's allocatable amount, as in a volume; upstream a variable has 0 then.
//!
//! GAP: kubelet-volumes: variables from files (`fileKeyRef`), and limits of whole pods in variables

mod expand;
mod services;

use crate::field_path::{self, FieldPathError};
use crate::objects::{GetError, ObjectManager};
use crate::resources::{self, ResourceError, ResourceList};
use k8s_openapi::api::core::v1::{ConfigMap, Container, EnvVar, EnvVarSource, Pod, Secret, Service};
use kube::ResourceExt;
use std::collections::BTreeMap;
use std::net::IpAddr;
use std::sync::Arc;

/// The values of variables by name.
pub type Variables = BTreeMap<String, String>;

/// Annotation with the source of a pod: the API server, or the node itself.
const CONFIG_SOURCE_ANNOTATION: &str = "kubernetes.io/config.source";

/// An error for which a container is not created (`CreateContainerConfigError`).
#[derive(Debug, thiserror::Error)]
pub enum EnvError {
    /// The pod lacks `enableServiceLinks`, which the API server defaults.
    #[error("nil pod.spec.enableServiceLinks encountered, cannot construct envvars")]
    NoServiceLinks,
    /// The services have not been read yet.
    #[error("services have not yet been read at least once, cannot construct envvars")]
    NoServices,
    /// A secret or config map could not be read.
    #[error(transparent)]
    Object(#[from] GetError),
    /// The object does not have the key.
    #[error("couldn't find key {key} in {kind} {namespace}/{name}")]
    NoKey {
        /// The key.
        key: String,
        /// `ConfigMap` or `Secret`.
        kind: &'static str,
        /// The object's namespace.
        namespace: String,
        /// The object's name.
        name: String,
    },
    /// A `fieldRef` has an unknown API version.
    #[error("unsupported pod version: {0}")]
    Version(String),
    /// A `fieldRef` names a field that containers may not see.
    #[error("field label not supported: {0}")]
    Label(String),
    /// A `fieldRef` has a subscript for a field that has no keys.
    #[error("field label does not support subscript: {0}")]
    Subscript(String),
    /// The field has no value.
    #[error(transparent)]
    Field(#[from] FieldPathError),
    /// The `resourceFieldRef` has no value.
    #[error(transparent)]
    Resource(#[from] ResourceError),
    /// The addresses of the node are not known.
    #[error("unable to retrieve addresses of the node")]
    NoHostIp,
    /// The value is not UTF-8.
    #[error("variable {0} has a value that is not UTF-8")]
    NotText(String),
    /// The source of the value is `fileKeyRef`.
    #[error("variable {0} has a source that is not supported")]
    Unsupported(String),
}

/// The inputs for variables besides the pod.
#[derive(Clone, Copy)]
pub struct Context<'a> {
    /// The manager of secrets.
    pub secrets: &'a dyn ObjectManager<Secret>,
    /// The manager of config maps.
    pub config_maps: &'a dyn ObjectManager<ConfigMap>,
    /// All services; `None` before they have been read.
    pub services: Option<&'a [Service]>,
    /// The node's addresses, the preferred one first.
    pub host_ips: &'a [IpAddr],
    /// The pod's addresses.
    pub pod_ips: &'a [IpAddr],
    /// The node's allocatable resources, the limits of containers without any.
    pub allocatable: &'a ResourceList,
}

/// The variables of `container` of `pod`: those of services, overridden by `envFrom`, overridden by `env`.
///
/// # Errors
/// If a reference that is not optional leads to nothing, or cannot be read or understood.
pub async fn variables(pod: &Pod, container: &Container, context: &Context<'_>) -> Result<Variables, EnvError> {
    let links = pod.spec.as_ref().and_then(|spec| spec.enable_service_links).ok_or(EnvError::NoServiceLinks)?;
    let known_services = match context.services {
        None if !is_static(pod) => return Err(EnvError::NoServices),
        services => services.unwrap_or_default(),
    };
    let namespace = pod.namespace().unwrap_or_default();
    let services = services::variables(known_services, &namespace, links);
    let mut objects = Objects { context, namespace, secrets: BTreeMap::new(), config_maps: BTreeMap::new() };
    let mut variables = objects.all_of_objects(container).await?;
    for variable in container.env.iter().flatten() {
        let stated = variable.value.as_deref().unwrap_or_default();
        let value = if stated.is_empty() {
            objects.value(pod, container, variable).await?
        } else {
            let value_of = |name: &str| variables.get(name).or_else(|| services.get(name)).map(String::as_str);
            Some(expand::expand(stated, value_of))
        };
        if let Some(value) = value {
            variables.insert(variable.name.clone(), value);
        }
    }
    for (name, value) in services {
        variables.entry(name).or_insert(value);
    }
    Ok(variables)
}

/// Whether it is a static pod: the node's own, from a file or the like.
fn is_static(pod: &Pod) -> bool {
    pod.annotations().get(CONFIG_SOURCE_ANNOTATION).is_some_and(|source| source != "api")
}

/// The objects of the pod's namespace, each read once.
struct Objects<'a> {
    context: &'a Context<'a>,
    namespace: String,
    secrets: BTreeMap<String, Arc<Secret>>,
    config_maps: BTreeMap<String, Arc<ConfigMap>>,
}

impl Objects<'_> {
    async fn all_of_objects(&mut self, container: &Container) -> Result<Variables, EnvError> {
        let mut variables = Variables::new();
        for source in container.env_from.iter().flatten() {
            let prefix = source.prefix.as_deref().unwrap_or_default();
            if let Some(reference) = &source.config_map_ref {
                let Some(map) = self.config_map(&reference.name, reference.optional).await? else { continue };
                let data = map.data.iter().flatten();
                variables.extend(data.map(|(key, value)| (format!("{prefix}{key}"), value.clone())));
            } else if let Some(reference) = &source.secret_ref {
                let Some(secret) = self.secret(&reference.name, reference.optional).await? else { continue };
                for (key, value) in secret.data.iter().flatten() {
                    let name = format!("{prefix}{key}");
                    let value = text(&name, &value.0)?;
                    variables.insert(name, value);
                }
            }
        }
        Ok(variables)
    }

    /// The value of a variable from its `valueFrom`, empty without; `None` if the variable is not set.
    async fn value(&mut self, pod: &Pod, container: &Container, variable: &EnvVar) -> Result<Option<String>, EnvError> {
        let Some(source) = &variable.value_from else { return Ok(Some(String::new())) };
        let namespace = self.namespace.clone();
        let missing = |key: &str, kind, name: &str| {
            let (key, name) = (key.to_owned(), name.to_owned());
            EnvError::NoKey { key, kind, namespace, name }
        };
        match source {
            EnvVarSource { field_ref: Some(field), .. } => {
                let version = field.api_version.as_deref().unwrap_or_default();
                self.field(pod, version, &field.field_path).map(Some)
            }
            EnvVarSource { resource_field_ref: Some(selector), .. } => {
                let own = selector.container_name.as_deref().is_none_or(str::is_empty);
                let allocatable = self.context.allocatable;
                Ok(Some(if own {
                    resources::extract_of(selector, container, allocatable)?
                } else {
                    resources::extract(selector, pod, allocatable)?
                }))
            }
            EnvVarSource { config_map_key_ref: Some(reference), .. } => {
                let optional = reference.optional;
                let Some(map) = self.config_map(&reference.name, optional).await? else { return Ok(None) };
                match map.data.as_ref().and_then(|data| data.get(&reference.key)) {
                    None if optional == Some(true) => Ok(None),
                    None => Err(missing(&reference.key, "ConfigMap", &reference.name)),
                    value => Ok(value.cloned()),
                }
            }
            EnvVarSource { secret_key_ref: Some(reference), .. } => {
                let optional = reference.optional;
                let Some(secret) = self.secret(&reference.name, optional).await? else { return Ok(None) };
                match secret.data.as_ref().and_then(|data| data.get(&reference.key)) {
                    None if optional == Some(true) => Ok(None),
                    None => Err(missing(&reference.key, "Secret", &reference.name)),
                    Some(value) => text(&variable.name, &value.0).map(Some),
                }
            }
            EnvVarSource { file_key_ref: Some(_), .. } => Err(EnvError::Unsupported(variable.name.clone())),
            _ => Ok(Some(String::new())),
        }
    }

    fn field(&self, pod: &Pod, version: &str, path: &str) -> Result<String, EnvError> {
        if version != "v1" {
            return Err(EnvError::Version(version.to_owned()));
        }
        let spec = pod.spec.as_ref();
        let host_ips = || match self.context.host_ips {
            [] => Err(EnvError::NoHostIp),
            ips => Ok(ips),
        };
        let pod_ips = one_of_each_family(self.context.pod_ips, self.context.host_ips);
        let joined = |ips: &[IpAddr]| ips.iter().map(IpAddr::to_string).collect::<Vec<_>>().join(",");
        Ok(match path {
            "spec.nodeName" | "spec.host" => spec.and_then(|spec| spec.node_name.clone()).unwrap_or_default(),
            "spec.serviceAccountName" => spec.and_then(|spec| spec.service_account_name.clone()).unwrap_or_default(),
            "status.hostIP" => joined(&host_ips()?[..1]),
            "status.hostIPs" => joined(host_ips()?),
            "status.podIP" => joined(&pod_ips[..pod_ips.len().min(1)]),
            "status.podIPs" => joined(&pod_ips),
            // Upstream's first check accepts these, its second does not.
            "spec.restartPolicy" | "spec.schedulerName" | "status.phase" => field_path::extract(pod, path)?,
            _ if path.starts_with("metadata.") => field_path::extract(pod, path).map_err(|error| match error {
                FieldPathError::Unsupported(path) => EnvError::Label(path),
                FieldPathError::NoSubscript(path) => EnvError::Subscript(path),
                other => other.into(),
            })?,
            _ if path.ends_with("']") => return Err(EnvError::Subscript(path.to_owned())),
            _ => return Err(EnvError::Label(path.to_owned())),
        })
    }

    async fn config_map(&mut self, name: &str, optional: Option<bool>) -> Result<Option<Arc<ConfigMap>>, EnvError> {
        read(&mut self.config_maps, self.context.config_maps, &self.namespace, name, optional).await
    }

    async fn secret(&mut self, name: &str, optional: Option<bool>) -> Result<Option<Arc<Secret>>, EnvError> {
        read(&mut self.secrets, self.context.secrets, &self.namespace, name, optional).await
    }
}

/// The object, read unless it is `known`. `None` if it is optional and the API server says that it does not exist.
async fn read<K>(
    known: &mut BTreeMap<String, Arc<K>>,
    manager: &dyn ObjectManager<K>,
    namespace: &str,
    name: &str,
    optional: Option<bool>,
) -> Result<Option<Arc<K>>, EnvError> {
    if let Some(object) = known.get(name) {
        return Ok(Some(object.clone()));
    }
    match manager.get(namespace, name).await {
        Ok(object) => {
            known.insert(name.to_owned(), object.clone());
            Ok(Some(object))
        }
        Err(error) if optional == Some(true) && error.is_not_found() => Ok(None),
        Err(error) => Err(error.into()),
    }
}

fn text(variable: &str, value: &[u8]) -> Result<String, EnvError> {
    String::from_utf8(value.to_vec()).map_err(|_| EnvError::NotText(variable.to_owned()))
}

/// The first address of the node's preferred family, then the first of the other family (`sortPodIPs`).
fn one_of_each_family(ips: &[IpAddr], host_ips: &[IpAddr]) -> Vec<IpAddr> {
    let prefers_v4 = host_ips.first().is_none_or(IpAddr::is_ipv4);
    let first = |v4: bool| ips.iter().find(|ip| ip.is_ipv4() == v4).copied();
    [first(prefers_v4), first(!prefers_v4)].into_iter().flatten().collect()
}
