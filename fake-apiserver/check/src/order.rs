//! The order in which objects are applied, so that each is judged in the presence of those that decide about it.

use crate::documents::Document;
use crate::kinds::group_version;
use std::collections::BTreeSet;
use tree::Value;

/// The group of policies and of the configurations of webhooks.
const ADMISSION: &str = "admissionregistration.k8s.io";
/// The kinds whose `paramKind` names a kind of parameters.
const POLICIES: [&str; 2] = ["ValidatingAdmissionPolicy", "MutatingAdmissionPolicy"];

/// The rank of an object: those of a lower one come first. All but the last are stored, as other objects depend on them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Rank {
    /// Definitions, which bring about kinds.
    Definition,
    /// Policies and webhooks, which judge what follows.
    Policy,
    /// The bindings of policies.
    Binding,
    Namespace,
    /// Classes that objects name, and service accounts.
    Class,
    /// The parameters of policies.
    Parameters,
    /// Roles: who binds or grants one needs what it permits.
    Role,
    RoleBinding,
    /// Quotas and limits.
    Limit,
    /// Objects that nothing depends on. They are judged, and not stored.
    Leaf,
}

impl Rank {
    /// Whether an object of this rank is stored.
    pub(crate) fn is_stored(self) -> bool {
        self != Rank::Leaf
    }

    /// The rank of an object; `parameters` are the kinds of parameters, by `apiVersion` and kind.
    pub(crate) fn of(document: &Document, parameters: &BTreeSet<(String, String)>) -> Rank {
        let (api_version, kind) = (document.text("/apiVersion"), document.text("/kind"));
        let (group, _) = group_version(api_version);
        match (group, kind) {
            ("apiextensions.k8s.io", "CustomResourceDefinition") | ("apiregistration.k8s.io", "APIService") => {
                Rank::Definition
            }
            (ADMISSION, kind) if kind.ends_with("Binding") => Rank::Binding,
            (ADMISSION, _) => Rank::Policy,
            ("", "Namespace") => Rank::Namespace,
            ("", "ServiceAccount")
            | ("scheduling.k8s.io", "PriorityClass")
            | ("storage.k8s.io", "StorageClass" | "VolumeAttributesClass")
            | ("node.k8s.io", "RuntimeClass")
            | ("networking.k8s.io", "IngressClass")
            | ("resource.k8s.io", "DeviceClass") => Rank::Class,
            ("rbac.authorization.k8s.io", "Role" | "ClusterRole") => Rank::Role,
            ("rbac.authorization.k8s.io", _) => Rank::RoleBinding,
            ("", "ResourceQuota" | "LimitRange") => Rank::Limit,
            _ if parameters.contains(&(api_version.to_owned(), kind.to_owned())) => Rank::Parameters,
            _ => Rank::Leaf,
        }
    }
}

/// The kind of a policy's parameters, if `object` is one with parameters.
pub(crate) fn parameters(object: &Value) -> Option<(String, String)> {
    let text = |value: &Value| value.as_str().map(str::to_owned);
    let kind = text(&object["kind"]).filter(|kind| POLICIES.contains(&&**kind));
    kind.and_then(|_| {
        let parameters = &object["spec"]["paramKind"];
        Some((text(&parameters["apiVersion"])?, text(&parameters["kind"])?))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::documents::read;

    #[test]
    fn objects_come_after_those_that_decide_about_them() {
        let rank = |api_version: &str, kind: &str| {
            let text = format!("{{\"apiVersion\": {api_version:?}, \"kind\": {kind:?}}}");
            let parameters = BTreeSet::from([("v1".to_owned(), "ConfigMap".to_owned())]);
            Rank::of(&read("a", text.as_bytes()).remove(0).unwrap(), &parameters)
        };
        let order = [
            ("apiextensions.k8s.io/v1", "CustomResourceDefinition"),
            ("admissionregistration.k8s.io/v1", "ValidatingWebhookConfiguration"),
            ("admissionregistration.k8s.io/v1", "ValidatingAdmissionPolicyBinding"),
            ("v1", "Namespace"),
            ("v1", "ServiceAccount"),
            ("v1", "ConfigMap"),
            ("rbac.authorization.k8s.io/v1", "ClusterRole"),
            ("rbac.authorization.k8s.io/v1", "RoleBinding"),
            ("v1", "ResourceQuota"),
            ("v1", "Pod"),
        ];
        let ranks: Vec<Rank> = order.iter().map(|(api_version, kind)| rank(api_version, kind)).collect();
        assert!(ranks.windows(2).all(|two| two[0] < two[1]), "{ranks:?}");
        assert!(!rank("a.com/v1", "Namespace").is_stored());
    }

    #[test]
    fn policies_name_their_parameters() {
        let policy = tree::json!({"kind": "MutatingAdmissionPolicy", "spec": {"paramKind": {"apiVersion": "v1", "kind": "Secret"}}});
        assert_eq!(parameters(&policy), Some(("v1".into(), "Secret".into())));
        assert_eq!(parameters(&tree::json!({"kind": "Pod"})), None);
    }
}
