//! A resource, which is what is stored, apart from its versions, which are how it is served.
//!
//! Rules, selectable fields and the cells of tables work on the storage version; other versions are converted from and to it.

use super::conversion::Conversion;
use super::kind::{Column, Kind, OtherVersion, RowCondition, Strategy, Subresource, Validate};
use crate::error::{FieldError, Qualified};
use crate::object::selector::{Selectable, SelectableField};
use crate::object::validate::{self, MetaRules};
use crate::schema::{self, OwnedType, TypeRef};
use crate::store::ResourceId;
use jiff::Timestamp;
use serde_json::Value;
use std::borrow::Cow;
use std::collections::HashSet;
use std::sync::Arc;

/// Text of a resource: borrowed from the table, or owned where the resource came at run time.
pub type Str = Cow<'static, str>;

/// What is stored: objects of one kind, whatever version they are written and read in.
#[derive(Debug)]
pub struct Resource {
    /// Identity; a resource that is removed and added again has another.
    pub id: ResourceId,
    /// API group of the storage version.
    pub group: Str,
    /// Lower-case plural, as in paths.
    pub resource: Str,
    /// Lower-case singular.
    pub singular: Str,
    /// CamelCase kind.
    pub kind: Str,
    /// `kubectl`'s abbreviations.
    pub short_names: Vec<Str>,
    /// Groups of resources such as `all`.
    pub categories: Vec<Str>,
    /// Rules for the metadata, the scope among them.
    pub meta: MetaRules,
    /// `metadata.generation` counts changes of the spec.
    pub owns_generation: bool,
    /// `metadata.generation` counts changes of the annotations, too.
    pub annotations_count: bool,
    /// An update without a resourceVersion overwrites.
    pub unconditional_update: bool,
    /// An update of a missing object creates it.
    pub create_on_update: bool,
    /// A delete that removes the object answers with it rather than with a `Status`.
    pub delete_returns_object: bool,
    /// Objects are questions, answered on creation and not stored.
    pub is_review: bool,
    /// Directory of the objects in etcd.
    pub storage_prefix: Str,
    /// Fields that are kept beside each object to select by.
    pub fields: Vec<StoredField>,
    /// Rules of the kind.
    pub strategy: Strategy,
    /// Versions by which it is served; the first is the one that is stored.
    pub versions: Vec<Arc<Version>>,
}

/// How a resource is served: one version of one API group.
#[derive(Debug)]
pub struct Version {
    /// API group, empty for core.
    pub group: Str,
    /// Name of the version, such as `v1`.
    pub name: Str,
    /// `apiVersion` of objects: `v1`, `coordination.k8s.io/v1`.
    pub api_version: Str,
    /// Lower-case plural.
    pub resource: Str,
    /// CamelCase kind.
    pub kind: Str,
    /// What the JSON of every object begins with and items of lists do without, but for the brace:
    /// `{"kind":"Lease","apiVersion":"coordination.k8s.io/v1",`.
    pub head: String,
    /// Go type of objects.
    pub(super) ty: OwnedType,
    /// Verbs of the resource itself, in the order in which discovery lists them.
    pub verbs: Vec<Str>,
    /// Fields that selectors may name.
    pub selectable: Selectable,
    /// Columns of `kubectl get`.
    pub columns: Vec<PrinterColumn>,
    /// What a row of a table says of an object beside the cells.
    pub row_condition: fn(&Value) -> Option<RowCondition>,
    /// What hangs below an object.
    pub subresources: Vec<Subresource>,
    /// How objects differ from stored ones; none for the storage version.
    pub conversion: Option<Conversion>,
    /// Findings about an object that came in this version, in place of the resource's own.
    pub(super) validate: Option<Validate>,
}

/// A field of stored objects that selectors may ask for.
#[derive(Debug)]
pub struct StoredField {
    /// Name, as the storage version's selectors write it: `spec.nodeName`.
    pub name: Str,
    value: for<'a> fn(&'a Value) -> Cow<'a, str>,
}

/// A column of `kubectl get`.
#[derive(Debug)]
pub struct PrinterColumn {
    /// Heading.
    pub name: Str,
    /// `string`, `integer`, `date`, ...
    pub type_: Str,
    /// `name` for the first column, else "".
    pub format: Str,
    /// Help text.
    pub description: Str,
    /// 0 is always shown; more, only with `-o wide`.
    pub priority: u8,
    cell: fn(&Value, Timestamp) -> Value,
}

impl StoredField {
    /// The object's text for it; "" when unset.
    pub fn value<'a>(&self, object: &'a Value) -> Cow<'a, str> {
        (self.value)(object)
    }
}

impl PrinterColumn {
    pub(super) fn of_row(column: &Column) -> PrinterColumn {
        PrinterColumn {
            name: column.name.into(),
            type_: column.type_.into(),
            format: column.format.into(),
            description: column.description.into(),
            priority: column.priority,
            cell: column.cell,
        }
    }

    /// The cell of a stored object, at a time (for ages).
    pub fn cell(&self, object: &Value, now: Timestamp) -> Value {
        (self.cell)(object, now)
    }
}

impl Resource {
    /// The resource of a row of the table.
    ///
    /// # Panics
    /// If the schema does not know the row's type.
    pub(crate) fn of_row(id: ResourceId, row: &Kind) -> Resource {
        let texts = |texts: &[&'static str]| texts.iter().map(|text| Str::Borrowed(text)).collect();
        Resource {
            id,
            group: row.group.into(),
            resource: row.resource.into(),
            singular: row.singular.into(),
            kind: row.kind.into(),
            short_names: texts(row.short_names),
            categories: texts(row.categories),
            meta: MetaRules {
                namespaced: row.namespaced,
                name_rule: row.name_rule,
                qualified_finalizers: row.qualified_finalizers,
            },
            owns_generation: row.owns_generation,
            annotations_count: row.annotations_count,
            unconditional_update: row.unconditional_update,
            create_on_update: row.create_on_update,
            delete_returns_object: row.delete_returns_object,
            is_review: row.is_review,
            storage_prefix: if row.storage_prefix.is_empty() { row.resource } else { row.storage_prefix }.into(),
            fields: row
                .field_labels
                .iter()
                .map(|field| StoredField { name: field.label.into(), value: field.value })
                .collect(),
            strategy: row.strategy,
            versions: std::iter::once(Version::of_row(row))
                .chain(row.other_versions.iter().map(|other| Version::other(row, other)))
                .map(Arc::new)
                .collect(),
        }
    }

    /// The version that is stored.
    pub fn storage(&self) -> &Arc<Version> {
        &self.versions[0]
    }

    /// Whether there is anything to read.
    pub fn is_stored(&self) -> bool {
        self.storage().verbs.iter().any(|verb| verb == "get")
    }

    /// The kind as `Invalid` messages name it.
    pub fn qualified_kind(&self) -> Qualified<'_> {
        Qualified { group: &self.group, resource: &self.kind }
    }

    /// What is wrong with a new object that came in `version`, each finding once, as the real server orders them.
    pub fn validate_create(&self, version: &Version, object: &Value) -> Vec<FieldError> {
        let own = match version.validate {
            Some(validate) => validate(object, None),
            None => (self.strategy.validate)(object),
        };
        unique([validate::metadata(object, &self.meta), own])
    }

    /// What is wrong with a change that came in `version`, through the object itself or a subresource.
    pub fn validate_update(
        &self,
        version: &Version,
        subresource: Option<&Subresource>,
        new: &Value,
        old: &Value,
    ) -> Vec<FieldError> {
        let own = match (subresource, version.validate) {
            (Some(subresource), _) => (subresource.strategy.validate_update)(new, old),
            (None, Some(validate)) => validate(new, Some(old)),
            (None, None) => (self.strategy.validate_update)(new, old),
        };
        unique([validate::metadata_update(new, old, &self.meta), own])
    }

    /// Whether it is served in that version, too.
    pub fn is_served_in(&self, api_version: &str) -> bool {
        self.versions.iter().any(|version| version.api_version == api_version)
    }

    /// Whether the object has a status that only `/status` may write.
    pub fn has_status(&self) -> bool {
        self.storage().subresource("status").is_some()
    }
}

impl Version {
    fn of_row(row: &Kind) -> Version {
        let api_version = api_version(row.group, row.version);
        let ty = schema::built_in().owned(&api_version, row.kind).expect("the schema has the type of every row");
        Version {
            group: row.group.into(),
            name: row.version.into(),
            resource: row.resource.into(),
            kind: row.kind.into(),
            head: head(&api_version, row.kind),
            api_version: api_version.into(),
            ty,
            verbs: row.verbs.iter().map(|verb| Str::Borrowed(verb)).collect(),
            selectable: Selectable {
                namespaced: row.namespaced,
                fields: row.field_labels.iter().map(|field| SelectableField::same(field.label)).collect(),
            },
            columns: row.columns.iter().map(PrinterColumn::of_row).collect(),
            row_condition: row.row_condition,
            subresources: row.subresources.to_vec(),
            conversion: None,
            validate: None,
        }
    }

    fn other(row: &Kind, other: &OtherVersion) -> Version {
        let storage = api_version(row.group, row.version).into();
        let own = Version::of_row(&Kind { group: other.group, version: other.version, ..*row });
        let fields = other
            .field_labels
            .iter()
            .map(|(label, stored_as)| SelectableField { label: (*label).into(), stored_as: (*stored_as).into() });
        Version {
            selectable: Selectable { namespaced: row.namespaced, fields: fields.collect() },
            conversion: Some(Conversion { storage, functions: other.conversion }),
            validate: Some(other.validate),
            ..own
        }
    }

    /// The Go type of objects.
    pub fn ty(&self) -> TypeRef<'_> {
        self.ty.get()
    }

    /// The resource as messages about requests to this version name it.
    pub fn qualified(&self) -> Qualified<'_> {
        Qualified { group: &self.group, resource: &self.resource }
    }

    /// The subresource of that name.
    pub fn subresource(&self, name: &str) -> Option<&Subresource> {
        self.subresources.iter().find(|subresource| subresource.name == name)
    }
}

fn head(api_version: &str, kind: &str) -> String {
    format!("{{\"kind\":\"{kind}\",\"apiVersion\":\"{api_version}\",")
}

/// `apiVersion` of objects.
pub(super) fn api_version(group: &str, version: &str) -> String {
    match group {
        "" => version.to_string(),
        group => format!("{group}/{version}"),
    }
}

fn unique(findings: [Vec<FieldError>; 2]) -> Vec<FieldError> {
    let mut seen = HashSet::new();
    findings.into_iter().flatten().filter(|finding| seen.insert(finding.clone())).collect()
}
