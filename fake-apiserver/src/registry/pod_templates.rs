//! Pod templates that are objects of their own.
//!
//! Follows `pkg/registry/core/podtemplate/strategy.go` and `ValidatePodTemplate` of
//! `pkg/apis/core/validation/validation.go` (v1.37.1).

use super::child;
use super::columns::text_map;
use super::context::Context;
use super::cursor::At;
use super::rules::{Rules, Strategy};
use super::types::{default_pod_template_spec, drop_disabled_template_fields, pod_template_spec, pod_warnings};
use crate::error::Path;
use crate::object::meta;
use tree::Value;

/// Path of the template.
const TEMPLATE: Path<'static> = Path::new("template");

pub(super) const RULES: Rules = Rules {
    owns_generation: true,
    delete_returns_object: true,
    cells: &[
        ("Containers", |object, _| each_container(&object["template"], "name").into()),
        ("Images", |object, _| each_container(&object["template"], "image").into()),
        ("Pod Labels", |object, _| text_map(&object["template"]["metadata"]["labels"]).into()),
    ],
    strategy: Strategy {
        default: |object| default_pod_template_spec(child(object, "template")),
        prepare: |_, object, _| drop_disabled_template_fields(object, "template/spec"),
        validate: |_, object, _, errors| {
            pod_template_spec(At::object(object, "v1", "PodTemplate").field("template"), errors);
        },
        warnings,
        ..Strategy::NONE
    },
    ..Rules::ORDINARY
};

fn warnings(_: &Context<'_>, object: &Value, old: Option<&Value>) -> Vec<String> {
    match old {
        Some(old) if meta::generation(old) == meta::generation(object) => Vec::new(),
        _ => pod_warnings(TEMPLATE, &object["template"]),
    }
}

/// A field of all containers of a template, separated by commas (`layoutContainerCells`).
pub(super) fn each_container(template: &Value, field: &str) -> String {
    let containers = template["spec"]["containers"].as_array().into_iter().flatten();
    containers.map(|container| container[field].as_str().unwrap_or_default()).collect::<Vec<_>>().join(",")
}
