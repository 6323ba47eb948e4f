//! Resources and their versions: a resource is a set of stored objects, a version the form in which they are served.
//!
//! Rules, selectable fields and the cells of tables work on the storage version; other versions are converted from and to it.

use super::columns;
use super::context::Context;
use super::conversion::Conversion;
use super::custom::ScalePaths;
use super::declarative;
use super::parts::{Deprecation, PrinterColumn, Str, Subresource};
use super::record::{Record, Recorded};
use super::rules::{Cell, RowCondition, Rules, Validate, VersionRules, find};
use super::stored_field::{StoredField, stored_fields};
use crate::custom::compiled::Place;
use crate::error::{ApiResult, Errors, FieldError, Qualified};
use crate::managed::Set;
use crate::object::selector::{FieldSelector, SelectableField};
use crate::object::validate::{self, MetaRules};
use crate::schema::{ObjectType, TypeRef};
use crate::store::{Entry, ResourceId};
use bytes::Bytes;
use jiff::Timestamp;
use std::borrow::Cow;
use std::collections::HashSet;
use std::sync::Arc;
use tree::Value;
use tree::counting::{Work, count};

/// A resource: the stored objects of one kind, whatever version they are written and read in.
#[derive(Debug)]
pub struct Resource {
    /// Identity; a resource that is removed and added again has another.
    pub id: ResourceId,
    /// API group of the storage version.
    pub group: Str,
    /// Lower-case plural, as in paths.
    pub plural: Str,
    /// Lower-case singular.
    pub singular: Str,
    /// CamelCase kind.
    pub kind: Str,
    /// `apiVersion`s of the kind that are decoded and not served.
    pub known_versions: Vec<&'static str>,
    /// `kubectl`'s abbreviations.
    pub short_names: Vec<Str>,
    /// Groups of resources such as `all`.
    pub categories: Vec<Str>,
    /// Rules for the metadata, the scope among them.
    pub meta: MetaRules,
    /// Directory of the objects in etcd.
    pub storage_prefix: Str,
    /// Fields that are kept beside each object to select by.
    pub fields: Vec<StoredField>,
    /// Rules of the kind.
    pub rules: Rules,
    /// The fields that writes through the resource ("") or a subresource reset, where they are not those of most kinds.
    pub(super) resets: Vec<(&'static str, Set)>,
    /// Versions by which it is served; the first is the one that is stored.
    pub versions: Vec<Arc<Version>>,
    /// The hash that discovery shows, where it is not that of the storage version: the real server stores some kinds in versions that it does
    /// not serve.
    pub storage_hash: Option<Str>,
    /// Whether its definition is being deleted, so that no object can be created.
    pub terminating: bool,
}

/// A version of a resource: how it is served, in one version of one API group.
#[derive(Debug)]
pub struct Version {
    /// Number by which the forms of stored objects are kept: of a built-in resource the place among its versions, of others
    /// never used again.
    pub number: u32,
    /// Whether requests may name it.
    pub served: bool,
    /// Whether objects can be written in protobuf. The real server does not do that for custom resources.
    pub protobuf: bool,
    /// Whether an update without a resourceVersion overwrites (`AllowUnconditionalUpdate`).
    pub unconditional_update: bool,
    /// API group, empty for core.
    pub group: Str,
    /// Name of the version, such as `v1`.
    pub name: Str,
    /// `apiVersion` of objects: `v1`, `coordination.k8s.io/v1`.
    pub api_version: Str,
    /// Lower-case plural.
    pub plural: Str,
    /// CamelCase kind.
    pub kind: Str,
    /// Kind of lists.
    pub list_kind: Str,
    /// The beginning of every object's JSON, which items of lists lack, but for the brace:
    /// `{"kind":"Lease","apiVersion":"coordination.k8s.io/v1",`.
    pub head: String,
    /// Go type of objects.
    pub(super) ty: ObjectType,
    /// Verbs of the resource itself, in the order in which discovery lists them.
    pub verbs: Vec<Str>,
    /// Fields that selectors may name, besides `metadata.name`; if there are none, `metadata.namespace` is one.
    pub selectable: Vec<SelectableField>,
    /// Columns of `kubectl get`.
    pub columns: Vec<PrinterColumn>,
    /// The cells of a row beyond those of its columns.
    pub(super) more_cells: &'static [Cell],
    /// The condition of an object's row in a table.
    pub row_condition: fn(&Value) -> Option<RowCondition>,
    /// The number by which the rows of a table are sorted, if they are not in the order of the list.
    pub row_order: Option<fn(&Value) -> i64>,
    /// The subresources.
    pub subresources: Vec<Subresource>,
    /// The conversion from and to the storage version; `None` for that version itself.
    pub conversion: Option<Conversion>,
    /// Findings about an object that came in this version, in place of the resource's own.
    pub(super) validate: Option<Validate>,
    /// Of a version that is served only if the server is asked for it: declarative validation looks at its objects as they are in it, and
    /// this is the path in the storage version of a field for which that is another one.
    pub(super) checks: Option<fn(&str) -> Option<String>>,
    /// Sets the defaults of an object of the storage version that came in this one.
    pub(crate) default: fn(&mut Value),
    /// A delete that removes the object answers with it rather than with a `Status` (`ReturnDeletedObject`).
    pub(crate) delete_returns_object: bool,
    /// The schema of a custom resource. Requests have it compiled before they do anything else.
    pub(super) schema: Option<Arc<Place>>,
    /// The stored definition of a custom resource, as JSON.
    pub(crate) definition: Option<Bytes>,
    /// The paths of the scale of a custom resource.
    pub(crate) scale: Option<ScalePaths>,
    /// The notice that it is deprecated.
    pub(crate) deprecation: Option<Deprecation>,
}

/// The result of validating an object.
#[derive(Debug)]
pub struct Findings {
    /// The errors, in order.
    pub errors: Vec<FieldError>,
    /// Errors that are tolerated because the old object had them, too.
    pub warnings: Vec<String>,
}

impl Resource {
    /// The resource that the record has under that name (`deployments.apps`), served by those rules.
    ///
    /// # Panics
    /// If there is no such resource or version, no cell for a column, or no type in the schema.
    pub(super) fn recorded(id: ResourceId, name: &str, rules: Rules, record: &Record) -> Resource {
        let storage = record.storage(name).unwrap_or_else(|| panic!("{name} is not recorded"));
        let mut versions = vec![Version::of(record, storage, &rules)];
        for (number, other) in (1..).zip(rules.versions) {
            let recorded = record.other(storage, other.group, other.version);
            let recorded = recorded.unwrap_or_else(|| panic!("{name} has no such version: {other:?}"));
            let version = Version::of(record, recorded, &rules);
            versions.push(version.converting(number, &versions[0].api_version, other));
        }
        Resource {
            id,
            group: storage.group.into(),
            plural: storage.plural.into(),
            singular: storage.singular.into(),
            kind: storage.kind.into(),
            short_names: storage.short_names().map(Str::Borrowed).collect(),
            known_versions: storage.known_versions().collect(),
            categories: storage.categories().map(Str::Borrowed).collect(),
            meta: MetaRules {
                namespaced: storage.namespaced,
                name_rule: rules.name_rule,
                qualified_finalizers: rules.qualified_finalizers,
            },
            storage_prefix: storage.directory().into(),
            storage_hash: storage.storage_hash().map(Str::Borrowed),
            fields: stored_fields(versions.iter().flat_map(|version| &version.selectable), &rules),
            rules,
            resets: rules.resets.iter().map(|(endpoint, paths)| (*endpoint, Set::of_fields(paths))).collect(),
            versions: versions.into_iter().map(Arc::new).collect(),
            terminating: false,
        }
    }

    /// This one with the versions by which it is served if the server is asked for them, from their record.
    ///
    /// # Panics
    /// As [`Resource::recorded`].
    pub(super) fn with_optional(mut self, name: &str, record: &Record) -> Resource {
        let storage = self.storage().clone();
        for (number, rules) in (self.versions.len() as u32..).zip(self.rules.optional) {
            let recorded = record.version(name, rules.version);
            let recorded = recorded.unwrap_or_else(|| panic!("{name} has no such version: {rules:?}"));
            let version = Version::of(record, recorded, &self.rules);
            self.versions.push(Arc::new(Version {
                columns: storage.columns.clone(),
                checks: Some(rules.path_in_storage),
                ..version.converting(number, &storage.api_version, rules)
            }));
        }
        self
    }

    /// The storage version.
    pub fn storage(&self) -> &Arc<Version> {
        &self.versions[0]
    }

    /// Whether objects are stored, so that they can be read.
    pub fn is_stored(&self) -> bool {
        self.storage().verbs.iter().any(|verb| verb == "get")
    }

    /// The verbs of a version as discovery lists them: while a definition is being deleted, only those that do not change objects.
    pub fn discovered_verbs(&self, version: &Version) -> Vec<Str> {
        let is_left = |verb: &&Str| !self.terminating || !matches!(&***verb, "create" | "patch" | "update");
        version.verbs.iter().filter(is_left).cloned().collect()
    }

    /// A field selector of objects of one of its versions.
    ///
    /// # Errors
    /// 400, if the text is malformed or asks for another field than the version has.
    pub(crate) fn field_selector(&self, version: &Version, text: &str) -> ApiResult<FieldSelector> {
        let refusal = |label: &str| (self.rules.unknown_label)(&version.api_version, label);
        FieldSelector::parse_or(text, &version.selectable, refusal)
    }

    /// The kind as `Invalid` messages name it.
    pub fn qualified_kind(&self) -> Qualified<'_> {
        Qualified { group: &self.group, resource: &self.kind }
    }

    /// Findings about an object and, unless it is created, about its change, in the real server's order. If the time is up they may be
    /// too few.
    pub fn validate(&self, context: &Context<'_>, new: &Value, old: Option<&Value>) -> Findings {
        count(Work::Walk, 1);
        let version = self.version(context.api_version);
        if let Some(mut own) = version.validate_custom(context, new, old) {
            let metadata = match old {
                Some(old) => validate::custom_metadata_update(new, old, &self.meta),
                None => validate::metadata(new, &self.meta),
            };
            let blocked = metadata.iter().chain(&own).any(FieldError::blocks_rules);
            let warnings = version.check_rules(context, new, old, blocked, &mut own);
            return Findings { errors: [metadata, own].concat(), warnings };
        }
        let rule = match (version.subresource(context.subresource), version.validate) {
            (Some(subresource), _) => subresource.strategy.validate,
            (None, Some(validate)) => validate,
            (None, None) => self.rules.strategy.validate,
        };
        let own = Errors::of(|errors| rule(context, new, old, errors));
        let metadata = match old {
            Some(old) => validate::metadata_update(new, old, &self.meta),
            None if self.rules.metadata_last && !own.is_empty() => Vec::new(),
            None => validate::metadata(new, &self.meta),
        };
        let by_hand = [metadata, own].concat();
        let errors = match version.checks {
            None => declarative::validate(self.storage().ty(), new, old, by_hand),
            Some(path) => {
                let own = |object: &Value| version.built_in_from_storage(object).unwrap_or_else(|| object.clone());
                declarative::validate_optional(version.ty(), &own(new), old.map(own).as_ref(), by_hand, path)
            }
        };
        Findings { errors: unique(errors), warnings: Vec::new() }
    }

    /// An object's text for a field, "" when unset. It is computed when the object is stored; if its definition did not have the field
    /// then, it is computed now.
    pub fn field<'o>(&self, entry: &'o Entry, name: &str) -> Cow<'o, str> {
        match (entry.meta.field(name), self.fields.iter().find(|field| field.name == name)) {
            (Some(text), _) => text.into(),
            (None, Some(field)) => field.value(&entry.object()).into_owned().into(),
            (None, None) => Cow::default(),
        }
    }

    /// The version of that `apiVersion`, which is one of its own.
    fn version(&self, api_version: &str) -> &Version {
        let own = self.versions.iter().find(|version| version.api_version == api_version);
        own.expect("a resource is written by its own versions")
    }

    /// Whether it is served in that version, too.
    pub fn is_served_in(&self, api_version: &str) -> bool {
        self.versions.iter().any(|version| version.api_version == api_version)
    }

    /// Whether objects of that version can be decoded, be it served or not.
    pub fn is_known_in(&self, api_version: &str) -> bool {
        self.is_served_in(api_version) || self.known_versions.contains(&api_version)
    }
}

impl Version {
    /// This one as a version that converts its objects from and to the storage version, whose `apiVersion` is `storage`.
    fn converting(self, number: u32, storage: &Str, rules: &VersionRules) -> Version {
        let deprecation = |(since, removed_in)| {
            let Version { api_version, kind, .. } = &self;
            let warning = format!("{api_version} {kind} is deprecated in v{since}+, unavailable in v{removed_in}+");
            Deprecation { warning, removed_in }
        };
        Version {
            number,
            conversion: Some(Conversion {
                storage: storage.clone(),
                functions: rules.conversion,
                schemas: Arc::default(),
                webhook: None,
            }),
            validate: rules.validate,
            default: rules.default.unwrap_or(self.default),
            delete_returns_object: self.delete_returns_object || rules.delete_returns_object,
            deprecation: rules.deprecated.map(deprecation).or(self.deprecation.clone()),
            ..self
        }
    }

    fn of(record: &Record, recorded: &Recorded, rules: &Rules) -> Version {
        let api_version = api_version(recorded.group, recorded.version);
        let ty = ObjectType::built_in(&api_version, recorded.kind).expect("the schema has the type of every kind");
        let cell = |name: &str| {
            let cell = find(rules.cells, name).or_else(|| find(columns::COMMON, name));
            cell.unwrap_or_else(|| panic!("the column {name} of {} has no cell", recorded.plural))
        };
        Version {
            number: 0,
            protobuf: true,
            unconditional_update: recorded.unconditional_update(),
            served: true,
            group: recorded.group.into(),
            name: recorded.version.into(),
            plural: recorded.plural.into(),
            kind: recorded.kind.into(),
            list_kind: format!("{}List", recorded.kind).into(),
            head: head(&api_version, recorded.kind),
            api_version: api_version.into(),
            ty,
            verbs: recorded.verbs().map(Str::Borrowed).collect(),
            selectable: recorded.fields().collect(),
            columns: recorded.columns(record, cell).collect(),
            more_cells: rules.more_cells,
            row_condition: rules.row_condition,
            row_order: rules.row_order,
            subresources: recorded.subresources(|name| rules.subresource(name)).collect(),
            conversion: None,
            validate: None,
            checks: None,
            default: rules.strategy.default,
            delete_returns_object: rules.delete_returns_object,
            schema: None,
            definition: None,
            scale: None,
            deprecation: rules.deprecation.map(Deprecation::forever),
        }
    }

    /// Whether a server has it only if it is asked for it.
    pub(super) fn is_optional(&self) -> bool {
        self.checks.is_some()
    }

    /// The Go type of objects.
    pub fn ty(&self) -> TypeRef<'_> {
        self.ty.get()
    }

    /// The cells of a stored object's row beyond those of its columns, at a time (for ages).
    pub fn more_cells(&self, object: &Value, now: Timestamp) -> Vec<Value> {
        self.more_cells.iter().map(|cell| cell(object, now)).collect()
    }

    /// The resource as messages about requests to this version name it.
    pub fn qualified(&self) -> Qualified<'_> {
        Qualified { group: &self.group, resource: &self.plural }
    }

    /// Whether the object has a status that only `/status` may write.
    pub fn has_status(&self) -> bool {
        self.subresource("status").is_some()
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

fn unique(mut findings: Vec<FieldError>) -> Vec<FieldError> {
    let mut seen = HashSet::new();
    findings.retain(|finding| seen.insert(finding.clone()));
    findings
}
