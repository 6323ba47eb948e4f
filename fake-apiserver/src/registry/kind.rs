//! A row of the table of built-in resources. The server works from the [`Resource`](super::Resource)s that are made of the rows.

use super::conversion::Functions;
use crate::error::FieldError;
use serde_json::Value;
use std::borrow::Cow;

pub(crate) use crate::object::validate::NameRule;

/// A built-in resource.
#[derive(Debug)]
pub(crate) struct Kind {
    /// API group, empty for core.
    pub group: &'static str,
    /// API version, such as `v1`.
    pub version: &'static str,
    /// Lower-case plural, as in paths.
    pub resource: &'static str,
    /// Lower-case singular.
    pub singular: &'static str,
    /// CamelCase kind.
    pub kind: &'static str,
    /// `kubectl`'s abbreviations.
    pub short_names: &'static [&'static str],
    /// Groups of resources such as `all`.
    pub categories: &'static [&'static str],
    /// Whether objects live in namespaces.
    pub namespaced: bool,
    /// The verbs that the resource itself answers to, sorted.
    pub verbs: &'static [&'static str],
    /// What hangs below an object.
    pub subresources: &'static [Subresource],
    /// What a name may look like.
    pub name_rule: NameRule,
    /// Whether finalizers must be standard or carry a domain.
    pub qualified_finalizers: bool,
    /// `metadata.generation` counts changes of the spec.
    pub owns_generation: bool,
    /// It counts changes of annotations, too.
    pub annotations_count: bool,
    /// An update without a resourceVersion overwrites.
    pub unconditional_update: bool,
    /// An update of a missing object creates it.
    pub create_on_update: bool,
    /// A delete that removes the object answers with it rather than with a `Status`.
    pub delete_returns_object: bool,
    /// Objects are questions, answered on creation and not stored.
    pub is_review: bool,
    /// Directory of the resource in etcd; empty for the plural (`SpecialDefaultResourcePrefixes`).
    pub storage_prefix: &'static str,
    /// Field labels that selectors may use, besides `metadata.name` and `metadata.namespace`.
    pub field_labels: &'static [FieldLabel],
    /// `kubectl get`'s columns.
    pub columns: &'static [Column],
    /// What a row of those says of an object beside them.
    pub row_condition: fn(&Value) -> Option<RowCondition>,
    /// What upstream does in Go for this kind alone.
    pub strategy: Strategy,
    /// Versions by which the same objects are served besides the one that is stored.
    pub other_versions: &'static [OtherVersion],
}

/// A version that is not the stored one. What it does not state is as in the row.
#[derive(Debug)]
pub(crate) struct OtherVersion {
    /// API group, empty for core.
    pub group: &'static str,
    /// API version, such as `v1`.
    pub version: &'static str,
    /// Field labels, each with the row's for the same field.
    pub field_labels: &'static [(&'static str, &'static str)],
    /// How objects are converted.
    pub conversion: Functions,
    /// Findings about an object of the storage version that came in this one.
    pub validate: Validate,
}

/// Findings about an object; arguments: new, old unless created.
pub(super) type Validate = fn(&Value, Option<&Value>) -> Vec<FieldError>;

/// Something below an object: its status, or an action on it.
#[derive(Debug, Clone, Copy)]
pub struct Subresource {
    /// Last element of the path.
    pub name: &'static str,
    /// Group of the kind that is sent and received; empty with an empty version for the parent's.
    pub group: &'static str,
    /// Version of that kind.
    pub version: &'static str,
    /// That kind.
    pub kind: &'static str,
    /// Verbs it answers to, sorted.
    pub verbs: &'static [&'static str],
    /// How an update through it differs from one of the object itself.
    pub strategy: Strategy,
}

/// A selectable field.
#[derive(Debug, Clone, Copy)]
pub(crate) struct FieldLabel {
    /// As written in a selector: `spec.nodeName`.
    pub label: &'static str,
    /// The object's text for it; "" when unset.
    pub value: for<'a> fn(&'a Value) -> Cow<'a, str>,
}

/// A column of `kubectl get`.
#[derive(Debug)]
pub(crate) struct Column {
    /// Heading.
    pub name: &'static str,
    /// `string`, `integer`, `date`, ...
    pub type_: &'static str,
    /// `name` for the first column, else "".
    pub format: &'static str,
    /// Help text.
    pub description: &'static str,
    /// 0 is always shown; more, only with `-o wide`.
    pub priority: u8,
    /// The cell of an object, at a time (for ages).
    pub cell: fn(&Value, jiff::Timestamp) -> Value,
}

/// `metav1.TableRowCondition`: by it clients tell rows that are done with.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize)]
pub struct RowCondition {
    /// `Completed`.
    #[serde(rename = "type")]
    pub type_: &'static str,
    /// `True`, `False` or `Unknown`.
    pub status: &'static str,
    /// One word.
    pub reason: &'static str,
    /// A sentence.
    pub message: &'static str,
}

/// A kind's own rules: defaults, resets and validation. Every member does nothing unless set.
#[derive(Debug, Clone, Copy)]
pub struct Strategy {
    /// Fills in defaults, on create, update and patch (`SetDefaults_*` upstream).
    pub default: fn(&mut Value),
    /// Resets what a client cannot set at creation (`PrepareForCreate`); name and system metadata are set by then.
    pub prepare_create: fn(&mut Value),
    /// Carries over what a client cannot change (`PrepareForUpdate`); arguments: new, old.
    pub prepare_update: fn(&mut Value, &Value),
    /// Findings about an object by itself (`Validate`), metadata excepted.
    pub validate: fn(&Value) -> Vec<FieldError>,
    /// Findings about a change (`ValidateUpdate`), metadata excepted, `validate`'s included; arguments: new, old.
    pub validate_update: fn(&Value, &Value) -> Vec<FieldError>,
    /// Seconds that a deletion leaves the object, given those asked for; `None` where deletion is never graceful
    /// (`CheckGracefulDelete`).
    pub grace_period: fn(&Value, Option<i64>) -> Option<i64>,
    /// What a client is told of an object that was accepted; arguments: new, old unless created.
    pub warnings: fn(&Value, Option<&Value>) -> Vec<String>,
}

impl Subresource {
    /// The status of an object of that kind.
    pub(super) const fn status(kind: &'static str, strategy: Strategy) -> Subresource {
        Subresource { name: "status", group: "", version: "", kind, verbs: &["get", "patch", "update"], strategy }
    }
}

impl Strategy {
    /// No rules of its own.
    pub const NONE: Strategy = Strategy {
        default: |_| {},
        prepare_create: |_| {},
        prepare_update: |_, _| {},
        validate: |_| Vec::new(),
        validate_update: |_, _| Vec::new(),
        grace_period: |_, _| None,
        warnings: |_, _| Vec::new(),
    };
}

/// The verbs of an ordinary resource, sorted.
pub(super) const ALL_VERBS: &[&str] =
    &["create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"];

impl Kind {
    /// An ordinary kind: namespaced, with all verbs and no rules of its own. Rows of the table state what differs.
    pub(super) const ORDINARY: Kind = Kind {
        group: "",
        version: "v1",
        resource: "",
        singular: "",
        kind: "",
        short_names: &[],
        categories: &[],
        namespaced: true,
        verbs: ALL_VERBS,
        subresources: &[],
        name_rule: NameRule::Subdomain,
        qualified_finalizers: true,
        owns_generation: false,
        annotations_count: false,
        unconditional_update: true,
        create_on_update: false,
        delete_returns_object: false,
        is_review: false,
        storage_prefix: "",
        field_labels: &[],
        columns: &[],
        row_condition: |_| None,
        strategy: Strategy::NONE,
        other_versions: &[],
    };
}
