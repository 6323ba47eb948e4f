//! The description of the resource that a definition defines.

use crate::custom::compiled::Place;
use crate::object::{meta, version_order};
use crate::registry::{ColumnDescription, Converter, Description, ScalePaths, VersionDescription, items};
use crate::schema::OwnedType;
use crate::webhook::Network;
use bytes::Bytes;
use std::sync::Arc;
use tree::Value;

/// The verbs, in the real server's order.
const VERBS: &[&str] = &["delete", "deletecollection", "get", "list", "patch", "create", "update", "watch"];

/// The resource of a definition, by its accepted names. `json` is the stored definition.
///
/// # Errors
/// If its webhook cannot be called.
pub(super) fn of(
    definition: &Value,
    json: &Bytes,
    ty: &OwnedType,
    network: &Arc<Network>,
) -> Result<Description, String> {
    let spec = &definition["spec"];
    let names = &definition["status"]["acceptedNames"];
    let terminating = meta::deletion_timestamp(definition).is_some();
    let group = text(&spec["group"]);
    let mut versions: Vec<&Value> = items(spec, "/versions").iter().collect();
    versions.sort_by_key(|version| version["storage"] != true);
    let converter = Converter::of(&spec["conversion"], network)?.map(Arc::new);
    let versions = versions.into_iter().map(|version| {
        let description = self::version(version, items(spec, "/versions"), &group, names, ty);
        VersionDescription { definition: Some(json.clone()), converter: converter.clone(), ..description }
    });
    Ok(Description {
        resource: text(&names["plural"]),
        singular: text(&names["singular"]),
        kind: text(&names["kind"]),
        list_kind: text(&names["listKind"]),
        short_names: texts(&names["shortNames"]),
        categories: texts(&names["categories"]),
        namespaced: spec["scope"] == "Namespaced",
        terminating,
        versions: versions.collect(),
        group,
    })
}

fn version(version: &Value, versions: &[Value], group: &str, names: &Value, ty: &OwnedType) -> VersionDescription {
    let subresources = &version["subresources"];
    let name = text(&version["name"]);
    let deprecation = (version["deprecated"] == true).then(|| match version["deprecationWarning"].as_str() {
        Some(text) => text.to_owned(),
        None => deprecation(versions, group, &name, &text(&names["kind"])),
    });
    VersionDescription {
        served: version["served"] == true,
        schema: Some(Place::of(&version["schema"]["openAPIV3Schema"])),
        columns: items(version, "/additionalPrinterColumns").iter().map(column).collect(),
        selectable: items(version, "/selectableFields").iter().map(|field| text(&field["jsonPath"])).collect(),
        status: subresources["status"].is_object(),
        scale: subresources["scale"].as_object().map(|scale| ScalePaths {
            replicas: scale.get("specReplicasPath").map(text).unwrap_or_default(),
            status_replicas: scale.get("statusReplicasPath").map(text).unwrap_or_default(),
            selector: scale.get("labelSelectorPath").map(text),
        }),
        deprecation,
        ..VersionDescription::open(&name, VERBS.iter().map(ToString::to_string).collect(), ty.clone())
    }
}

/// The default warning about a deprecated version (`defaultDeprecationWarning`).
fn deprecation(versions: &[Value], group: &str, name: &str, kind: &str) -> String {
    let others = versions.iter().filter(|other| other["served"] == true && other["deprecated"] != true);
    let others = others.filter_map(|other| other["name"].as_str());
    let better = others.filter(|other| version_order::compare(other, name).is_lt());
    let instead = better.min_by(|one, other| version_order::compare(one, other));
    let instead = instead.map(|instead| format!("; use {group}/{instead} {kind}")).unwrap_or_default();
    format!("{group}/{name} {kind} is deprecated{instead}")
}

fn column(column: &Value) -> ColumnDescription {
    ColumnDescription {
        name: text(&column["name"]),
        type_: text(&column["type"]),
        format: text(&column["format"]),
        description: text(&column["description"]),
        priority: column["priority"].as_i64().and_then(|priority| i32::try_from(priority).ok()).unwrap_or(0),
        path: text(&column["jsonPath"]),
    }
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().into()
}

fn texts(value: &Value) -> Vec<String> {
    items(value, "").iter().map(text).collect()
}
