//! The resources of a cluster that a capture has.

use crate::kinds::{Kind, Kinds};
use machinery::schema;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

/// The resources that decide about admission.
const DECIDING: [&str; 21] = [
    "namespaces",
    "resourcequotas",
    "limitranges",
    "serviceaccounts",
    "priorityclasses.scheduling.k8s.io",
    "storageclasses.storage.k8s.io",
    "volumeattributesclasses.storage.k8s.io",
    "ingressclasses.networking.k8s.io",
    "runtimeclasses.node.k8s.io",
    "deviceclasses.resource.k8s.io",
    "roles.rbac.authorization.k8s.io",
    "clusterroles.rbac.authorization.k8s.io",
    "rolebindings.rbac.authorization.k8s.io",
    "clusterrolebindings.rbac.authorization.k8s.io",
    "validatingadmissionpolicies.admissionregistration.k8s.io",
    "validatingadmissionpolicybindings.admissionregistration.k8s.io",
    "mutatingadmissionpolicies.admissionregistration.k8s.io",
    "mutatingadmissionpolicybindings.admissionregistration.k8s.io",
    "validatingwebhookconfigurations.admissionregistration.k8s.io",
    "mutatingwebhookconfigurations.admissionregistration.k8s.io",
    DEFINITIONS,
];
/// The definitions of custom resources, which come first.
pub(super) const DEFINITIONS: &str = "customresourcedefinitions.apiextensions.k8s.io";
/// Resources that decide about nothing, and change all the time or are not stored.
const NOISE: [&str; 4] = ["componentstatuses", "events", "events.events.k8s.io", "leases.coordination.k8s.io"];

/// The resources that are asked for.
#[derive(Debug, Clone, Default)]
pub struct Kept {
    /// Whether all objects are, not only those that decide about admission.
    pub objects: bool,
    /// Those resources only, as `configmaps` or `deployments.apps`; all if it is empty.
    pub only: Vec<String>,
    /// Those resources not.
    pub exclude: Vec<String>,
}

impl Kept {
    /// Whether the resource is kept; `parameters` are the kinds of parameters of policies.
    pub(super) fn has(&self, kind: &Kind, parameters: &BTreeSet<(String, String)>) -> bool {
        let resource = kind.resource();
        let names = |list: &[String]| list.iter().any(|name| *name == resource || *name == kind.plural);
        if names(&self.exclude) {
            return false;
        }
        if !self.only.is_empty() {
            return names(&self.only);
        }
        let is_parameters = parameters.iter().any(|(api_version, name)| {
            let (group, _) = crate::kinds::group_version(api_version);
            group == kind.group && *name == kind.kind
        });
        let is_any = self.objects && !NOISE.contains(&&*resource);
        is_any || is_parameters || DECIDING.contains(&&*resource)
    }
}

/// The versions of custom resources that are stored, by group and plural.
#[derive(Default)]
pub(super) struct Stored(BTreeMap<(String, String), String>);

impl Stored {
    /// Notes a definition.
    pub(super) fn note(&mut self, definition: &Value) {
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let spec = &definition["spec"];
        let versions = spec["versions"].as_array().map_or(&[][..], Vec::as_slice);
        let Some(stored) = versions.iter().find(|version| version["storage"] == true) else { return };
        self.0.insert((text(&spec["group"]), text(&spec["names"]["plural"])), text(&stored["name"]));
    }

    /// The version of a resource in which it is read: the one that is stored, or one that this program knows. `None`, if another API server
    /// has the resource, or if this program does not know it.
    pub(super) fn version(&self, kind: &Kind, kinds: &Kinds) -> Option<Kind> {
        let versions = || kinds.of(&kind.group, &kind.plural);
        match self.0.get(&(kind.group.clone(), kind.plural.clone())) {
            Some(stored) => {
                let own = versions().find(|version| version.version == *stored);
                Some(own.unwrap_or(kind).clone())
            }
            None => versions().find(|version| schema::knows(&version.api_version(), &version.kind)).cloned(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kind(group: &str, plural: &str) -> Kind {
        let kind = "K".to_owned();
        Kind {
            group: group.into(),
            version: "v1".into(),
            kind,
            plural: plural.into(),
            is_namespaced: true,
            is_listed: true,
        }
    }

    #[test]
    fn what_is_asked_for_is_kept() {
        let has = |kept: &Kept, group: &str, plural: &str| kept.has(&kind(group, plural), &BTreeSet::new());
        let all = Kept { objects: true, ..Kept::default() };
        let only = Kept { only: vec!["configmaps".into(), "deployments.apps".into()], ..Kept::default() };
        let but = Kept { exclude: vec!["namespaces".into()], ..Kept::default() };
        for (kept, group, plural, expected) in [
            (&Kept::default(), "", "namespaces", true),
            (&Kept::default(), "", "configmaps", false),
            (&all, "", "configmaps", true),
            (&all, "", "events", false),
            (&only, "", "configmaps", true),
            (&only, "apps", "deployments", true),
            (&only, "other", "deployments", false),
            (&only, "", "namespaces", false),
            (&but, "", "namespaces", false),
            (&but, "", "limitranges", true),
        ] {
            assert_eq!(has(kept, group, plural), expected, "{kept:?} {plural}.{group}");
        }
        let parameters = BTreeSet::from([("a.com/v2".to_owned(), "K".to_owned())]);
        assert!(Kept::default().has(&kind("a.com", "ks"), &parameters));
    }
}
