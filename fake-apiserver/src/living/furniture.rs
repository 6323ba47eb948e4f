//! What a cluster that lives comes with, beside its nodes: a class of volumes, and the kind of objects with rules for pods.
//!
//! The class is the one of Kubernetes' `hack/local-up-cluster.sh`: volumes on paths of hosts, which the binder makes itself.

use super::send::Sender;
use crate::http::Replica;
use loops::Profile;
use std::sync::Arc;
use tree::{Value, json};

/// The one who puts it there.
static PROFILE: Profile = Profile {
    name: "fake-apiserver",
    alias: "",
    user: "system:apiserver",
    program: "fake-apiserver",
    component: "fake-apiserver",
};

/// The objects, with the paths at which they are created.
fn all() -> [(&'static str, Value); 2] {
    [
        ("/apis/storage.k8s.io/v1/storageclasses", class()),
        ("/apis/apiextensions.k8s.io/v1/customresourcedefinitions", rules()),
    ]
}

fn class() -> Value {
    json!({
        "apiVersion": "storage.k8s.io/v1",
        "kind": "StorageClass",
        "metadata": {"name": "standard", "annotations": {"storageclass.kubernetes.io/is-default-class": "true"}},
        "provisioner": "kubernetes.io/host-path",
    })
}

fn rules() -> Value {
    let about = "The rules, as --pods has them: 'app=web: ready after 2s; image=*:bad: ImagePullBackOff'";
    json!({
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": "podrules.rules.fake-apiserver.test"},
        "spec": {
            "group": "rules.fake-apiserver.test",
            "scope": "Namespaced",
            "names": {"kind": "PodRule", "listKind": "PodRuleList", "plural": "podrules", "singular": "podrule"},
            "versions": [{
                "name": "v1",
                "served": true,
                "storage": true,
                "additionalPrinterColumns": [{"name": "Rules", "type": "string", "jsonPath": ".spec.rules"}],
                "schema": {"openAPIV3Schema": {
                    "type": "object",
                    "description": "What becomes of the pods of a namespace",
                    "required": ["spec"],
                    "properties": {"spec": {
                        "type": "object",
                        "required": ["rules"],
                        "properties": {"rules": {"type": "string", "description": about}},
                    }},
                }},
            }],
        },
    })
}

/// Creates what is not there.
pub(super) async fn put(replica: &Arc<Replica>) {
    let sender = Sender::of(&PROFILE).of_masters();
    for (path, object) in all() {
        if let Err(refusal) = sender.create(replica, path, object).await
            && refusal.reason != "AlreadyExists"
        {
            tracing::warn!(path, %refusal, "A cluster that lives lacks what it comes with");
        }
    }
}
