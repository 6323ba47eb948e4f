//! Resources that are added at run time: their description, and the [`Resource`] made from it.
//!
//! It has the rules that the real server has for custom resources (`pkg/registry/customresource/strategy.go` and
//! `tableconvertor` of k8s.io/apiextensions-apiserver, v0.37.1), and one version.

use super::ids;
use super::lookup::Registry;
use super::resource::{PrinterColumn, Resource, Version, api_version};
use super::rules::{NameRule, Rules};
use crate::object::validate::MetaRules;
use crate::schema::OwnedType;
use crate::store::ResourceId;
use std::sync::Arc;

/// The description of a resource.
#[derive(Debug, Clone)]
pub struct Description {
    /// API group, empty for core.
    pub group: String,
    /// Name of the version, such as `v1`.
    pub version: String,
    /// Lower-case plural, as in paths.
    pub resource: String,
    /// Lower-case singular.
    pub singular: String,
    /// CamelCase kind.
    pub kind: String,
    /// Whether objects live in namespaces.
    pub namespaced: bool,
    /// Verbs, in the order in which discovery lists them.
    pub verbs: Vec<String>,
    /// Type of objects. It has `apiVersion`, `kind` and `metadata`, in the order in which they are sent. Other fields need not be
    /// known: they may be left open.
    pub ty: OwnedType,
}

impl Description {
    /// The resource that this describes.
    pub(crate) fn resource(self, id: ResourceId) -> Resource {
        let Description { group, version, resource, singular, kind, namespaced, verbs, ty } = self;
        let api_version = api_version(&group, &version);
        let version = Version {
            number: 0,
            protobuf: false,
            group: group.clone().into(),
            name: version.into(),
            resource: resource.clone().into(),
            kind: kind.clone().into(),
            // Items of lists have their kind, too.
            head: "{".into(),
            api_version: api_version.into(),
            ty: ty.into(),
            verbs: verbs.into_iter().map(Into::into).collect(),
            selectable: Vec::new(),
            columns: columns(),
            row_condition: |_| None,
            subresources: Vec::new(),
            conversion: None,
            validate: None,
        };
        Resource {
            id,
            group: group.into(),
            storage_prefix: resource.clone().into(),
            resource: resource.into(),
            singular: singular.into(),
            kind: kind.into(),
            short_names: Vec::new(),
            categories: Vec::new(),
            meta: MetaRules { namespaced, name_rule: NameRule::Subdomain, qualified_finalizers: false },
            fields: Vec::new(),
            rules: Rules { owns_generation: true, unconditional_update: false, ..Rules::ORDINARY },
            versions: vec![Arc::new(version)],
        }
    }
}

/// Name and age, as other kinds have them, but for the type of the age.
fn columns() -> Vec<PrinterColumn> {
    let all = Registry::built_in().known(ids::SERVICE_ACCOUNTS).storage().columns.clone();
    let typed = |column: PrinterColumn| match &*column.name {
        "Age" => PrinterColumn { type_: "date".into(), ..column },
        _ => column,
    };
    all.into_iter().map(typed).collect()
}
