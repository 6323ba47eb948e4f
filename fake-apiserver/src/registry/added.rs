//! Resources that are added at run time: their description, and the [`Resource`] made from it.
//!
//! They have the rules that the real server has for custom resources (`pkg/registry/customresource/strategy.go` and
//! `tableconvertor` of k8s.io/apiextensions-apiserver, v0.37.1).

use super::conversion::{Conversion, Schemas};
use super::custom::{self, ScalePaths};
use super::ids;
use super::lookup::Registry;
use super::parts::{CellSource, Deprecation, PrinterColumn, Str, Subresource};
use super::resource::{Resource, Version, api_version};
use super::rules::{Encoding, Functions, NameRule, Rules, Strategy};
use super::stored_field::StoredField;
use super::subresources::{Meaning, meaning};
use super::webhook_conversion::Converter;
use crate::custom::compiled::Place;
use crate::custom::json_path::JsonPath;
use crate::object::selector::SelectableField;
use crate::object::validate::MetaRules;
use crate::schema::OwnedType;
use crate::store::ResourceId;
use bytes::Bytes;
use std::sync::Arc;

/// The id of the first resource that is added at run time; built-in ones have smaller ids.
pub(crate) const FIRST_ADDED: u32 = 0x1_0000;

/// Whether a resource was added at run time.
pub(crate) fn is_added(id: ResourceId) -> bool {
    id.0 >= FIRST_ADDED
}

/// The description of a resource.
#[derive(Debug, Clone)]
pub struct Description {
    /// API group, empty for core.
    pub group: String,
    /// Lower-case plural, as in paths.
    pub resource: String,
    /// Lower-case singular.
    pub singular: String,
    /// CamelCase kind.
    pub kind: String,
    /// Kind of lists.
    pub list_kind: String,
    /// Abbreviations for users.
    pub short_names: Vec<String>,
    /// Groups of resources such as `all`.
    pub categories: Vec<String>,
    /// Whether objects live in namespaces.
    pub namespaced: bool,
    /// Whether the definition is being deleted: then no object can be created.
    pub terminating: bool,
    /// Versions; the first is the one that is stored.
    pub versions: Vec<VersionDescription>,
}

/// The description of a version of a resource.
#[derive(Debug, Clone)]
pub struct VersionDescription {
    /// Name of the version, such as `v1`.
    pub name: String,
    /// Whether requests may name it.
    pub served: bool,
    /// Verbs, in the order in which discovery lists them.
    pub verbs: Vec<String>,
    /// Type of objects. It has `apiVersion`, `kind` and `metadata`, in the order in which they are sent. Other fields need not be
    /// known: they may be left open.
    pub ty: OwnedType,
    /// The schema of a custom resource.
    pub(crate) schema: Option<Arc<Place>>,
    /// The stored definition of a custom resource, as JSON.
    pub(crate) definition: Option<Bytes>,
    /// The webhook that converts from and to this version.
    pub(crate) converter: Option<Arc<Converter>>,
    /// Columns of tables besides the name; without any, the age.
    pub(crate) columns: Vec<ColumnDescription>,
    /// JSONPaths of fields that selectors may name.
    pub(crate) selectable: Vec<String>,
    /// Whether there is a subresource `status`.
    pub(crate) status: bool,
    /// The subresource `scale`.
    pub(crate) scale: Option<ScalePaths>,
    /// The warning about requests to this version.
    pub(crate) deprecation: Option<String>,
}

/// The description of a column.
#[derive(Debug, Clone)]
pub(crate) struct ColumnDescription {
    pub(crate) name: String,
    pub(crate) type_: String,
    pub(crate) format: String,
    pub(crate) description: String,
    pub(crate) priority: i32,
    pub(crate) path: String,
}

impl VersionDescription {
    /// A version without a schema and without subresources.
    pub fn open(name: &str, verbs: Vec<String>, ty: OwnedType) -> Self {
        VersionDescription {
            name: name.into(),
            served: true,
            verbs,
            ty,
            schema: None,
            definition: None,
            converter: None,
            columns: Vec::new(),
            selectable: Vec::new(),
            status: false,
            scale: None,
            deprecation: None,
        }
    }
}

impl Description {
    /// The resource that this describes. Its versions are numbered from `first` on.
    pub(crate) fn resource(self, id: ResourceId, first: u32) -> Resource {
        let storage = api_version(&self.group, self.versions.first().map_or("", |version| &version.name));
        let mut fields: Vec<StoredField> = Vec::new();
        for path in self.versions.iter().flat_map(|version| &version.selectable) {
            let name = label(path);
            if fields.iter().all(|field| field.name != name) {
                fields.push(StoredField::at(name.to_owned(), JsonPath::parse(path)));
            }
        }
        let schemas: Schemas = self
            .versions
            .iter()
            .filter_map(|version| Some((api_version(&self.group, &version.name).into(), version.schema.clone()?)))
            .collect();
        let version = |(number, version)| Arc::new(self.version(number, version, &storage, &schemas));
        let versions = (first..).zip(&self.versions).map(version).collect();
        Resource {
            id,
            storage_prefix: format!("{}/{}", self.group, self.resource).into(),
            meta: MetaRules {
                namespaced: self.namespaced,
                name_rule: NameRule::Subdomain,
                qualified_finalizers: false,
            },
            fields,
            resets: Vec::new(),
            rules: Rules {
                owns_generation: true,
                stored_as: Encoding::Json,
                status_keeps_metadata: true,
                strategy: Strategy { warnings: custom::warnings, ..Strategy::NONE },
                ..Rules::ORDINARY
            },
            versions,
            storage_hash: None,
            terminating: self.terminating,
            group: self.group.into(),
            plural: self.resource.into(),
            singular: self.singular.into(),
            kind: self.kind.into(),
            short_names: owned(self.short_names),
            known_versions: Vec::new(),
            categories: owned(self.categories),
        }
    }

    /// The fields that are described and, as with other resources that have such, the namespace. Custom resources say so of the name,
    /// too (`ConvertFieldLabel`).
    fn selectable(&self, version: &VersionDescription) -> Vec<SelectableField> {
        let labels = version.selectable.iter().map(|path| label(path));
        let has_own = version.schema.is_some() || !version.selectable.is_empty();
        let labels = labels.chain(version.schema.is_some().then_some("metadata.name"));
        let namespace = (self.namespaced && has_own).then_some("metadata.namespace");
        let field =
            |label: &str| SelectableField { label: label.to_owned().into(), stored_as: label.to_owned().into() };
        labels.chain(namespace).map(field).collect()
    }

    fn version(&self, number: u32, version: &VersionDescription, storage: &str, schemas: &Schemas) -> Version {
        let api_version = api_version(&self.group, &version.name);
        // Objects stored before a default was defined get it when they are read.
        let is_converted = api_version != storage || version.schema.is_some();
        let conversion = is_converted.then(|| Conversion {
            storage: storage.to_owned().into(),
            functions: Functions { to_storage: |_| {}, from_storage: |_| {} },
            schemas: schemas.clone(),
            webhook: version.converter.clone(),
        });
        Version {
            number,
            protobuf: false,
            unconditional_update: false,
            served: version.served,
            group: self.group.clone().into(),
            name: version.name.clone().into(),
            plural: self.resource.clone().into(),
            kind: self.kind.clone().into(),
            list_kind: self.list_kind.clone().into(),
            // Items of lists have their kind, too.
            head: "{".into(),
            api_version: api_version.into(),
            ty: version.ty.clone().into(),
            verbs: owned(version.verbs.clone()),
            selectable: self.selectable(version),
            columns: columns(&version.columns),
            more_cells: &[],
            row_condition: |_| None,
            row_order: None,
            subresources: self.subresources(version),
            conversion,
            validate: None,
            checks: None,
            default: Strategy::NONE.default,
            delete_returns_object: false,
            schema: version.schema.clone(),
            definition: version.definition.clone(),
            scale: version.scale.clone(),
            deprecation: version.deprecation.clone().map(Deprecation::forever),
        }
    }

    fn subresources(&self, version: &VersionDescription) -> Vec<Subresource> {
        let sub = |name: &'static str, [group, version]: [&'static str; 2], kind: Str, strategy| {
            let Meaning { handler, owns, .. } = *meaning(name).expect("custom resources have known subresources");
            Subresource {
                name: name.into(),
                group: group.into(),
                version: version.into(),
                kind,
                verbs: ["get", "patch", "update"].map(Into::into).into(),
                handler,
                owns,
                strategy,
            }
        };
        let status = version.status.then(|| sub("status", ["", ""], self.kind.clone().into(), Strategy::STATUS));
        let scale = version.scale.is_some();
        let scale = scale.then(|| sub("scale", ["autoscaling", "v1"], "Scale".into(), Strategy::NONE));
        status.into_iter().chain(scale).collect()
    }
}

fn owned(texts: Vec<String>) -> Vec<Str> {
    texts.into_iter().map(Into::into).collect()
}

/// The label of a field in selectors, given its path.
fn label(path: &str) -> &str {
    path.strip_prefix('.').unwrap_or(path)
}

/// The name, and the columns that are described, up to one whose path is malformed (`tableconvertor.New`); if there are none, the age.
fn columns(described: &[ColumnDescription]) -> Vec<PrinterColumn> {
    let [name, age] = name_and_age();
    let columns: Vec<PrinterColumn> = described
        .iter()
        .map_while(|column| {
            Some(PrinterColumn {
                name: column.name.clone().into(),
                type_: column.type_.clone().into(),
                format: column.format.clone().into(),
                description: match column.description.as_str() {
                    "" => format!("Custom resource definition column (in JSONPath format): {}", column.path).into(),
                    text => text.to_owned().into(),
                },
                priority: column.priority,
                cell: CellSource::Path(JsonPath::parse(&column.path)?, column.type_.clone()),
            })
        })
        .collect();
    let rest = if described.is_empty() { vec![age] } else { columns };
    std::iter::once(name).chain(rest).collect()
}

/// The columns of a definition without any: as other kinds have them, but for the type of the age.
pub(super) fn name_and_age() -> [PrinterColumn; 2] {
    let all = &Registry::built_in().known(ids::SERVICE_ACCOUNTS).storage().columns.clone();
    let find = |name: &str| all.iter().find(|column| column.name == name).cloned().expect("accounts have both columns");
    [find("Name"), PrinterColumn { type_: "date".into(), ..find("Age") }]
}
