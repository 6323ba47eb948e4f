//! The verb `define`: a definition of the resource that a line `custom` describes, and the wait until it is served.
//!
//! ```text
//! custom widgets $namespace.example.com/v1 Widget     before the first command; further versions are lines like it
//!
//! define widgets spec.versions[0].subresources={"status":{}}
//!   {"type": "object", "properties": {"spec": {"type": "object"}}}
//! ```
//!
//! The indented JSON is the schema of all versions, the first of which is stored; fields are those of the definition. The
//! observation is the answer to its creation.

use super::requests::{Arguments, RequestVerb};
use crate::stage::Stage;
use anyhow::Result;
use conformance_judge::observation::Observation;
use conformance_judge::scenario::CustomResource;
use conformance_judge::scenario::command::RawCommand;
use conformance_judge::scenario::prefixes::{Prefixes, Until};
use serde_json::{Value, json};

/// A verb that defines a resource.
#[derive(Debug, Clone, PartialEq)]
pub struct Define {
    create: RequestVerb,
    list: RequestVerb,
}

impl Define {
    /// Reads the command.
    pub fn parse(command: &RawCommand, customs: &[CustomResource]) -> Result<Define, String> {
        let words = command.words();
        let (plural, fields) = words.split_first().ok_or_else(|| command.usage("define PLURAL …"))?;
        let versions: Vec<_> = customs.iter().filter(|custom| custom.plural == *plural).collect();
        let first = versions.first().ok_or_else(|| format!("no line `custom {plural} …` describes it"))?;
        let (group, _) = first.api_version.split_once('/').ok_or("a custom resource needs a group")?;
        let schema: Value =
            serde_json::from_str(&command.details.join("\n")).map_err(|error| format!("the schema: {error}"))?;
        let mut definition = json!({
            "apiVersion": "apiextensions.k8s.io/v1",
            "kind": "CustomResourceDefinition",
            "metadata": {"name": format!("{plural}.{group}")},
            "spec": {
                "group": group,
                "scope": if first.namespaced { "Namespaced" } else { "Cluster" },
                "names": {"plural": plural, "kind": first.kind},
                "versions": versions.iter().map(|version| version_of(version, first, &schema)).collect::<Vec<_>>(),
            },
        });
        for field in Arguments::parse(fields, &[])?.condition()?.1 {
            let value = field.value.ok_or("`absent` cannot be sent")?;
            field.path.set(&mut definition, value);
        }
        let request = |verb: &str, address: &str, details: Vec<String>| {
            let (verb, arguments) = (verb.to_owned(), vec![address.to_owned()]);
            RequestVerb::parse(&RawCommand { verb, arguments, details }, customs)
        };
        let create = request("create", "customresourcedefinitions", vec![definition.to_string()])?;
        Ok(Define { create, list: request("list", plural, Vec::new())? })
    }

    /// Carries it out.
    pub async fn play(&self, prefixes: &Prefixes, stage: &mut Stage<'_>) -> Result<Observation> {
        let created = self.create.play(prefixes, stage).await?;
        if !created.refused {
            let served = Prefixes { until: Some(Until::Status(200)), ..prefixes.clone() };
            self.list.play(&served, stage).await?;
        }
        Ok(created)
    }
}

fn version_of(version: &CustomResource, stored: &CustomResource, schema: &Value) -> Value {
    json!({
        "name": version.api_version.rsplit('/').next(),
        "served": true,
        "storage": version == stored,
        "schema": {"openAPIV3Schema": schema},
    })
}
