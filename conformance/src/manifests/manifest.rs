//! A manifest: an object that a document of a source describes, of a resource that a new server has.

use crate::resources;
use crate::sources::{Document, Source};
use serde_json::Value;
use std::collections::BTreeSet;

/// The namespace of manifests that name none.
pub(super) const NAMESPACE: &str = "default";

/// The kinds that are left out: of what a definition brings about `cargo xtask crds` judges.
const LEFT_OUT: [&str; 1] = ["CustomResourceDefinition"];

/// An object to apply.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Manifest {
    /// The place where it was found, and a description.
    pub(super) about: String,
    /// The object.
    pub(super) object: Value,
    /// The namespace that it names.
    pub(super) namespace: Option<String>,
    /// The path of the objects of its kind, in the namespace of those that name none.
    pub(super) collection: String,
    /// The path of the object; `None` if it has no name.
    pub(super) path: Option<String>,
    /// Whether it decides about other objects once it is stored, so that it has to come last.
    pub(super) is_admission: bool,
}

impl Manifest {
    /// The manifests among the `documents` of `source`, no two of them equal.
    pub(super) fn all(source: &Source, documents: Vec<Document>) -> Vec<Manifest> {
        let meant = documents.into_iter().filter(|document| source.means(&document.file));
        let mut seen = BTreeSet::new();
        let new = meant.flat_map(Document::unfolded).filter(|document| seen.insert(document.document.to_string()));
        new.filter_map(Manifest::of).collect()
    }

    fn of(document: Document) -> Option<Manifest> {
        let text = |pointer| document.text(pointer);
        let resource = resources::of_kind(text("/apiVersion"), text("/kind"))?;
        if LEFT_OUT.contains(&&*resource.kind) {
            return None;
        }
        let (name, namespace) = (text("/metadata/name"), text("/metadata/namespace"));
        let namespace = (!namespace.is_empty()).then(|| namespace.to_owned());
        let about = format!("{} {} of {}", resource.kind, if name.is_empty() { "(none)" } else { name }, document.file);
        let in_namespace = |namespace: &str| resource.collection(Some(namespace));
        // Such a name is refused, and would be more than one segment of a path.
        let path = (!name.is_empty() && !name.contains(['/', '%', ' ']))
            .then(|| format!("{}/{name}", in_namespace(namespace.as_deref().unwrap_or(NAMESPACE))));
        let is_admission = resource.api_version.starts_with("admissionregistration.k8s.io/");
        let collection = in_namespace(NAMESPACE);
        Some(Manifest { about, namespace, collection, path, is_admission, object: document.document })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn manifests(documents: &[Value]) -> Vec<Manifest> {
        let source =
            Source { row: String::new(), name: String::new(), folder: "/".into(), files: vec!["deploy".to_owned()] };
        let files = ["deploy/a.yaml", "docs/a.yaml"];
        let document = |(index, document): (usize, &Value)| Document {
            file: files[index / documents.len()].to_owned(),
            document: document.clone(),
        };
        let twice: Vec<&Value> = documents.iter().chain(documents).collect();
        Manifest::all(&source, twice.into_iter().enumerate().map(document).collect())
    }

    #[test]
    fn manifests_are_objects_of_served_resources_in_the_files_that_are_meant() {
        let map = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a", "namespace": "b"}});
        let role =
            json!({"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRole", "metadata": {"name": "c"}});
        let unnamed = json!({"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"generateName": "d-"}});
        let list = json!({"apiVersion": "v1", "kind": "List", "items": [role.clone(), map.clone()]});
        let found = manifests(&[map, list, unnamed, json!({"apiVersion": "a.com/v1", "kind": "A"}), json!("text")]);
        let paths: Vec<Option<&str>> = found.iter().map(|one| one.path.as_deref()).collect();
        let role = "/apis/rbac.authorization.k8s.io/v1/clusterroles/c";
        assert_eq!(paths, [Some("/api/v1/namespaces/b/configmaps/a"), Some(role), None]);
        assert_eq!(found[0].about, "ConfigMap a of deploy/a.yaml");
    }
}
