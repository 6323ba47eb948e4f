//! What the server must know of a kind, as data. A kind is one value of [`Kind`]; everything generic works from it.

use crate::error::{FieldError, Qualified};
use crate::object::validate;
use serde_json::Value;
use std::borrow::Cow;
use std::collections::HashSet;

/// A served resource.
#[derive(Debug)]
pub struct Kind {
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
    /// Field labels that selectors may use, besides `metadata.name` and `metadata.namespace`.
    pub field_labels: &'static [FieldLabel],
    /// `kubectl get`'s columns.
    pub columns: &'static [Column],
    /// What a row of those says of an object beside them.
    pub row_condition: fn(&Value) -> Option<RowCondition>,
    /// What upstream does in Go for this kind alone.
    pub strategy: Strategy,
}

/// Something below an object: its status, or an action on it.
#[derive(Debug)]
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

/// A rule for `metadata.name`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NameRule {
    /// RFC 1123 subdomain: most kinds.
    Subdomain,
    /// RFC 1123 label: namespaces.
    Label,
    /// Anything that can stand in a path.
    PathSegment,
}

/// A selectable field.
#[derive(Debug, Clone, Copy)]
pub struct FieldLabel {
    /// As written in a selector: `spec.nodeName`.
    pub label: &'static str,
    /// The object's text for it; "" when unset.
    pub value: for<'a> fn(&'a Value) -> Cow<'a, str>,
}

/// A column of `kubectl get`.
#[derive(Debug)]
pub struct Column {
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

fn unique(findings: [Vec<FieldError>; 2]) -> Vec<FieldError> {
    let mut seen = HashSet::new();
    findings.into_iter().flatten().filter(|finding| seen.insert(finding.clone())).collect()
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
        field_labels: &[],
        columns: &[],
        row_condition: |_| None,
        strategy: Strategy::NONE,
    };

    /// `v1`, `coordination.k8s.io/v1`.
    pub fn api_version(&self) -> String {
        match self.group {
            "" => self.version.to_string(),
            group => format!("{group}/{}", self.version),
        }
    }

    /// The resource as messages name it.
    pub fn qualified(&self) -> Qualified<'static> {
        Qualified { group: self.group, resource: self.resource }
    }

    /// The kind as `Invalid` messages name it.
    pub fn qualified_kind(&self) -> Qualified<'static> {
        Qualified { group: self.group, resource: self.kind }
    }

    /// The subresource of that name.
    pub fn subresource(&self, name: &str) -> Option<&'static Subresource> {
        self.subresources.iter().find(|subresource| subresource.name == name)
    }

    /// What is wrong with a new object, each finding once, as the real server orders them.
    pub fn validate_create(&self, object: &Value) -> Vec<FieldError> {
        unique([validate::metadata(object, self), (self.strategy.validate)(object)])
    }

    /// What is wrong with a change, through the object itself or the subresource with this strategy.
    pub fn validate_update(&self, strategy: &Strategy, new: &Value, old: &Value) -> Vec<FieldError> {
        unique([validate::metadata_update(new, old, self), (strategy.validate_update)(new, old)])
    }

    /// Whether the object has a status that only `/status` may write.
    pub fn has_status(&self) -> bool {
        self.subresource("status").is_some()
    }
}
