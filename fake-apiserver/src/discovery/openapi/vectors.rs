//! Documents against those of the real packages of Kubernetes (`fixtures/custom/openapi.jsonl`, written by `cargo xtask schema`).

use super::custom;
use super::document::Document;
use super::schema::STANDARD_FIELDS;
use super::template::{Form, Template};
use crate::deadline::Deadline;
use crate::discovery::aggregated::sha512_hex;
use crate::registry::{Description, Registry, ScalePaths, VersionDescription};
use crate::schema::{OwnedType, parse_json};
use crate::store::ResourceId;
use bytes::Bytes;
use serde::Deserialize;
use tree::{Value, json};

/// A definition with the hashes of its documents, or a schema with its published form.
#[derive(Deserialize)]
#[serde(untagged)]
enum Vector {
    Definition {
        /// The spec.
        definition: Value,
        version: String,
        v3: String,
        #[serde(rename = "v2Paths")]
        v2_paths: String,
    },
    Schema {
        schema: Value,
        v2: String,
        v3: String,
    },
}

#[test]
fn documents_are_those_of_go() {
    let mut differences = Vec::new();
    let mut count = 0;
    for line in include_str!("../../../../fixtures/custom/openapi.jsonl").lines() {
        count += 1;
        match serde_json::from_str(line).expect("a vector") {
            Vector::Definition { definition, version, v3, v2_paths } => {
                let [three, two] = documents(definition, &version);
                if sha512_hex(three.v3().as_bytes()) != v3 {
                    differences.push(format!("v3 of {line}: {}", three.v3()));
                }
                let mut paths = String::new();
                super::document::object(&mut paths, &two.paths);
                if sha512_hex(paths.as_bytes()) != v2_paths {
                    differences.push(format!("v2 of {line}: {paths}"));
                }
            }
            Vector::Schema { schema, v2, v3 } => {
                let mut schema = parse_json(schema.to_string().as_bytes()).expect("JSON").object;
                schema["x-kubernetes-group-version-kind"] =
                    json!([{"group": "g.openapi.template", "kind": "Zemplate", "version": "v9beta9"}]);
                for (form, expected) in [(Form::V3, v3), (Form::V2, v2)] {
                    let published = abbreviated(custom::kind(schema.clone(), form, &Deadline::default()), form);
                    if published != expected {
                        differences.push(format!("{form:?} of {schema}:\n  {published}\n  {expected}"));
                    }
                }
            }
        }
    }
    assert!(
        differences.is_empty(),
        "{} differences, among them\n{}",
        differences.len(),
        differences[..5.min(differences.len())].join("\n")
    );
    assert!(count > 300, "{count}");
}

/// The documents of a version of a definition alone, of both forms.
fn documents(spec: Value, version: &str) -> [Document; 2] {
    let text = |value: &Value| value.as_str().expect("text").to_owned();
    let names = &spec["names"];
    let described =
        spec["versions"].as_array().expect("versions").iter().find(|described| described["name"] == version);
    let subresources = &described.expect("the version")["subresources"];
    let scale = subresources["scale"].is_object();
    let json = Bytes::from(json!({ "spec": spec }).to_string());
    let version = VersionDescription {
        status: subresources["status"].is_object(),
        scale: scale.then(|| ScalePaths { replicas: String::new(), status_replicas: String::new(), selector: None }),
        definition: Some(json),
        ..VersionDescription::open(version, Vec::new(), OwnedType::custom_resource())
    };
    let description = Description {
        group: text(&spec["group"]),
        resource: text(&names["plural"]),
        singular: text(&names["singular"]),
        kind: text(&names["kind"]),
        list_kind: text(&names["listKind"]),
        short_names: Vec::new(),
        categories: Vec::new(),
        namespaced: spec["scope"] == "Namespaced",
        terminating: false,
        versions: vec![version],
    };
    let registry = Registry::default().with(description.resource(ResourceId(1), 1).into());
    let served = registry.versions().next().expect("the version is served");
    [Form::V3, Form::V2].map(|form| {
        let mut document = Document::default();
        custom::add(&mut document, served, form, &Deadline::default()).expect("there is no deadline");
        document
    })
}

/// A published document, with the fields that all kinds have replaced by short texts.
fn abbreviated(mut json: String, form: Form) -> String {
    let template = Template::of(form);
    for field in STANDARD_FIELDS {
        json = json.replace(template.standard[field], "\"standard\"").replace(template.embedded[field], "\"embedded\"");
    }
    json
}
