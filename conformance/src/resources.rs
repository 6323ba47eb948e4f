//! The resources that scenarios call by their plural alone. Everything else is reached with `request METHOD /path`.
//!
//! The list is fixed, not read from discovery: that is part of what is tested. A scenario adds to it with a line `custom`.

use conformance_judge::scenario::CustomResource;
use std::borrow::Cow;

/// A resource: its path and its kind.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Resource {
    /// The plural: `configmaps`.
    pub plural: Cow<'static, str>,
    /// The API version: `v1`, `apps/v1`.
    pub api_version: Cow<'static, str>,
    /// The kind: `ConfigMap`.
    pub kind: Cow<'static, str>,
    /// Whether its objects live in namespaces.
    pub namespaced: bool,
}

const fn namespaced(plural: &'static str, api_version: &'static str, kind: &'static str) -> Resource {
    resource(plural, api_version, kind, true)
}

const fn cluster(plural: &'static str, api_version: &'static str, kind: &'static str) -> Resource {
    resource(plural, api_version, kind, false)
}

const fn resource(plural: &'static str, api_version: &'static str, kind: &'static str, namespaced: bool) -> Resource {
    Resource {
        plural: Cow::Borrowed(plural),
        api_version: Cow::Borrowed(api_version),
        kind: Cow::Borrowed(kind),
        namespaced,
    }
}

static RESOURCES: [Resource; 27] = [
    namespaced("configmaps", "v1", "ConfigMap"),
    namespaced("endpoints", "v1", "Endpoints"),
    namespaced("events", "v1", "Event"),
    namespaced("pods", "v1", "Pod"),
    namespaced("podtemplates", "v1", "PodTemplate"),
    namespaced("secrets", "v1", "Secret"),
    namespaced("serviceaccounts", "v1", "ServiceAccount"),
    namespaced("services", "v1", "Service"),
    namespaced("deployments", "apps/v1", "Deployment"),
    namespaced("replicasets", "apps/v1", "ReplicaSet"),
    namespaced("jobs", "batch/v1", "Job"),
    namespaced("leases", "coordination.k8s.io/v1", "Lease"),
    namespaced("localsubjectaccessreviews", "authorization.k8s.io/v1", "LocalSubjectAccessReview"),
    namespaced("rolebindings", "rbac.authorization.k8s.io/v1", "RoleBinding"),
    namespaced("roles", "rbac.authorization.k8s.io/v1", "Role"),
    cluster("clusterrolebindings", "rbac.authorization.k8s.io/v1", "ClusterRoleBinding"),
    cluster("clusterroles", "rbac.authorization.k8s.io/v1", "ClusterRole"),
    cluster("customresourcedefinitions", "apiextensions.k8s.io/v1", "CustomResourceDefinition"),
    cluster("namespaces", "v1", "Namespace"),
    cluster("nodes", "v1", "Node"),
    cluster("priorityclasses", "scheduling.k8s.io/v1", "PriorityClass"),
    cluster("selfsubjectaccessreviews", "authorization.k8s.io/v1", "SelfSubjectAccessReview"),
    cluster("selfsubjectreviews", "authentication.k8s.io/v1", "SelfSubjectReview"),
    cluster("selfsubjectrulesreviews", "authorization.k8s.io/v1", "SelfSubjectRulesReview"),
    cluster("subjectaccessreviews", "authorization.k8s.io/v1", "SubjectAccessReview"),
    cluster("tokenreviews", "authentication.k8s.io/v1", "TokenReview"),
    // After the core group's, which `events` alone means; this one is `events.events.k8s.io`.
    namespaced("events", "events.k8s.io/v1", "Event"),
];

impl From<&CustomResource> for Resource {
    fn from(custom: &CustomResource) -> Resource {
        let CustomResource { plural, api_version, kind, namespaced } = custom.clone();
        Resource { plural: plural.into(), api_version: api_version.into(), kind: kind.into(), namespaced }
    }
}

/// The API version and kind of a subresource's body, where they are not those of its parent.
const SUBRESOURCES: [(&str, &str, &str); 4] = [
    ("binding", "v1", "Binding"),
    ("eviction", "policy/v1", "Eviction"),
    ("scale", "autoscaling/v1", "Scale"),
    ("token", "authentication.k8s.io/v1", "TokenRequest"),
];

/// A resource, one of its objects, or a subresource of one: `pods`, `pods/a`, `pods/a/status`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reference {
    /// The resource.
    pub resource: Resource,
    /// The object's name; may have `$names` in it.
    pub name: Option<String>,
    /// The subresource.
    pub subresource: Option<String>,
}

impl Reference {
    /// Reads `resource[.group|.version][/name[/subresource]]`, where the resource is one of the list or of `customs`.
    pub fn parse(word: &str, customs: &[CustomResource]) -> Result<Reference, String> {
        let mut parts = word.splitn(3, '/');
        let called = parts.next().unwrap_or_default();
        let (plural, part) = called.split_once('.').unwrap_or((called, ""));
        let is_meant = |resource: &Resource| {
            resource.plural == plural && (part.is_empty() || resource.api_version.split('/').any(|name| name == part))
        };
        let mut resources = customs.iter().map(Resource::from).chain(RESOURCES.iter().cloned());
        let resource = resources.find(is_meant).ok_or_else(|| {
            format!(
                "no resource called {called:?} is listed in resources.rs or by a line `custom`; `request METHOD /path` reaches any"
            )
        })?;
        let mut part = || parts.next().map(str::to_owned);
        Ok(Reference { resource, name: part(), subresource: part() })
    }

    /// The path of the collection, in `namespace` (`None`: in all).
    pub fn collection(&self, namespace: Option<&str>) -> String {
        let Resource { plural, api_version, namespaced, .. } = &self.resource;
        let root = if api_version.contains('/') { "apis" } else { "api" };
        match namespace.filter(|_| *namespaced) {
            Some(namespace) => format!("/{root}/{api_version}/namespaces/{namespace}/{plural}"),
            None => format!("/{root}/{api_version}/{plural}"),
        }
    }

    /// The API version and kind of the bodies sent here.
    pub fn written_as(&self) -> (&str, &str) {
        let subresource = self.subresource.as_deref();
        SUBRESOURCES
            .iter()
            .find(|(name, ..)| Some(*name) == subresource)
            .map_or((&*self.resource.api_version, &*self.resource.kind), |(_, api_version, kind)| (api_version, kind))
    }
}
