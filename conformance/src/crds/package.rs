//! A package: the definitions of a source, and those of its documents that are objects of the resources that they define.

use crate::sources::{Document, Source};
use anyhow::{Result, ensure};
use serde_json::{Value, json};
use std::collections::BTreeSet;

/// An object to create.
#[derive(Debug, Clone, PartialEq)]
pub struct Example {
    /// The place where it was found, and a description.
    pub about: String,
    /// The object, which has a name of its own if the server was to generate one.
    pub object: Value,
    /// The namespace, if there are any for its resource.
    pub namespace: Option<String>,
    /// The plural of its resource.
    pub plural: String,
    /// The version of the object, then the other versions in which it can be read without a webhook: `group/version`.
    pub versions: Vec<String>,
}

/// The definitions of a source, and their examples.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Package {
    /// The definitions; no two have the same name.
    pub definitions: Vec<Document>,
    /// The examples; no two are equal.
    pub examples: Vec<Example>,
    /// The groups with a version that is served: `group/version`.
    pub versions: BTreeSet<String>,
    /// The number of definitions that are left out: of an older version of the API, or with the name of an earlier one.
    pub left_out: usize,
}

impl Package {
    /// The package of `source` among its `documents`.
    ///
    /// # Errors
    /// If it has no definition.
    pub fn of(source: &Source, documents: Vec<Document>) -> Result<Package> {
        let mut package = Package::default();
        let mut others = Vec::new();
        let mut names = BTreeSet::new();
        for document in documents.into_iter().flat_map(Document::unfolded) {
            if document.text("/kind") != "CustomResourceDefinition" {
                others.push(document);
            } else if source.means(&document.file) {
                let is_current = document.text("/apiVersion") == "apiextensions.k8s.io/v1";
                if is_current && names.insert(document.text("/metadata/name").to_owned()) {
                    package.definitions.push(document.without_templates());
                } else {
                    package.left_out += 1;
                }
            }
        }
        ensure!(!package.definitions.is_empty(), "there are no definitions in {source}");
        package.versions = package.definitions.iter().flat_map(Document::served).collect();
        let mut seen = BTreeSet::new();
        for document in others.into_iter().filter(|other| seen.insert(other.document.to_string())) {
            let number = package.examples.len() + 1;
            let example = package.definitions.iter().find_map(|definition| document.example(definition, number));
            package.examples.extend(example);
        }
        Ok(package)
    }
}

impl Document {
    /// The versions that a definition serves: `group/version`.
    fn served(&self) -> Vec<String> {
        let versions = self.document["spec"]["versions"].as_array().into_iter().flatten();
        let served =
            versions.filter(|version| version["served"] == true).filter_map(|version| version["name"].as_str());
        served.map(|version| format!("{}/{version}", self.text("/spec/group"))).collect()
    }

    /// The definition without labels that have to be filled in by a package manager.
    fn without_templates(mut self) -> Document {
        if let Some(labels) = self.document.pointer_mut("/metadata/labels").and_then(Value::as_object_mut) {
            labels.retain(|_, label| !label.as_str().is_some_and(|label| label.contains("{{")));
        }
        self
    }

    /// The document as an example of the resource of `definition`, if it is one. `number` makes names differ.
    fn example(&self, definition: &Document, number: usize) -> Option<Example> {
        let own = self.text("/apiVersion").to_owned();
        let mut versions = definition.served();
        if self.text("/kind") != definition.text("/spec/names/kind") || !versions.contains(&own) {
            return None;
        }
        versions.retain(|version| *version != own && definition.text("/spec/conversion/strategy") != "Webhook");
        versions.insert(0, own);
        let mut object = self.document.clone();
        let (base, given) = (self.text("/metadata/generateName"), self.text("/metadata/namespace"));
        if !base.is_empty() && self.text("/metadata/name").is_empty() {
            object["metadata"]["name"] = json!(format!("{base}{number}"));
        }
        let namespaced = definition.text("/spec/scope") == "Namespaced";
        let namespace = namespaced.then(|| if given.is_empty() { "default" } else { given }.to_owned());
        let about = format!(
            "{} {} of {}",
            self.text("/kind"),
            object["metadata"]["name"].as_str().unwrap_or("(none)"),
            self.file
        );
        Some(Example { about, object, namespace, plural: definition.text("/spec/names/plural").to_owned(), versions })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn source(definitions: &[&str]) -> Source {
        let files = definitions.iter().map(|path| (*path).to_owned()).collect();
        Source { row: "A".into(), name: "example.com/a@v1.0.0".into(), folder: "/a".into(), files }
    }

    fn document(file: &str, document: Value) -> Document {
        Document { file: file.to_owned(), document }
    }

    fn definition(scope: &str, conversion: &str) -> Value {
        json!({
            "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
            "metadata": {"name": "as.a.com", "labels": {"of": "a", "app": "{{ .name }}"}},
            "spec": {"group": "a.com", "scope": scope, "names": {"kind": "A", "plural": "as"}, "conversion": {"strategy": conversion},
                "versions": [{"name": "v1", "served": true}, {"name": "v2", "served": true}, {"name": "v0", "served": false}]},
        })
    }

    fn package(definition: Value, others: &[Value]) -> Package {
        let others = others.iter().map(|other| document("docs/a.yaml", other.clone()));
        Package::of(&source(&["crds"]), [document("crds/a.yaml", definition)].into_iter().chain(others).collect())
            .unwrap()
    }

    #[test]
    fn definitions_are_those_of_the_folders_and_of_each_name_the_first() {
        let one = definition("Cluster", "None");
        let mut other = one.clone();
        other["metadata"]["name"] = json!("bs.a.com");
        let mut old = one.clone();
        old["apiVersion"] = json!("apiextensions.k8s.io/v1beta1");
        old["metadata"]["name"] = json!("cs.a.com");
        let documents =
            [("crds/a.yaml", &one), ("crds-old/b.yaml", &other), ("crds/b/c.yaml", &old), ("all.yaml", &one)];
        let documents = documents.map(|(file, value)| document(file, value.clone())).to_vec();
        for (folders, expected, left_out) in
            [(&["crds", "all.yaml"][..], &["as.a.com"][..], 2), (&[], &["as.a.com", "bs.a.com"], 2)]
        {
            let package = Package::of(&source(folders), documents.clone()).unwrap();
            let names: Vec<&str> = package.definitions.iter().map(|found| found.text("/metadata/name")).collect();
            assert_eq!((&names[..], package.left_out), (expected, left_out));
            assert_eq!(package.definitions[0].document["metadata"]["labels"], json!({"of": "a"}));
            assert_eq!(package.versions.into_iter().collect::<Vec<_>>(), ["a.com/v1", "a.com/v2"]);
        }
        let error = Package::of(&source(&["crds"]), vec![document("docs/a.yaml", one)]).unwrap_err().to_string();
        assert_eq!(error, "there are no definitions in example.com/a@v1.0.0");
    }

    #[test]
    fn examples_are_objects_of_what_is_defined_and_served() {
        let a = |version: &str, name: &str| json!({"apiVersion": format!("a.com/{version}"), "kind": "A", "metadata": {"name": name}});
        let list = json!({"apiVersion": "v1", "kind": "List", "items": [a("v2", "listed")]});
        let others = [
            a("v1", "one"),
            a("v1", "one"),
            a("v0", "unserved"),
            json!({"apiVersion": "v1", "kind": "A"}),
            json!("text"),
            list,
        ];
        let found = package(definition("Cluster", "None"), &others).examples;
        let about: Vec<&str> = found.iter().map(|example| &*example.about).collect();
        assert_eq!(about, ["A one of docs/a.yaml", "A listed of docs/a.yaml"]);
        assert_eq!(found[1].versions, ["a.com/v2", "a.com/v1"]);
        assert_eq!((&found[0].namespace, &*found[0].plural), (&None, "as"));
        let found = package(definition("Namespaced", "Webhook"), &others).examples;
        assert_eq!(
            (found[1].namespace.as_deref(), &found[1].versions[..]),
            (Some("default"), &["a.com/v2".to_owned()][..])
        );
    }

    #[test]
    fn a_name_that_would_be_generated_is_given() {
        let unnamed =
            json!({"apiVersion": "a.com/v1", "kind": "A", "metadata": {"generateName": "a-", "namespace": "b"}});
        let found = package(definition("Namespaced", "None"), &[unnamed]).examples;
        assert_eq!((&found[0].object["metadata"]["name"], found[0].namespace.as_deref()), (&json!("a-1"), Some("b")));
    }
}
