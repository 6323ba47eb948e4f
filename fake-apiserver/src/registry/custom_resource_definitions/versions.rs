//! The versions of a definition together: what they share is a field of the spec in the internal version.
//!
//! Follows `Convert_v1_CustomResourceDefinitionSpec_To_apiextensions_CustomResourceDefinitionSpec` of
//! `pkg/apis/apiextensions/v1/conversion.go` of `k8s.io/apiextensions-apiserver` (v0.37.1).

use super::items;
use super::visit::word;
use std::collections::HashMap;
use tree::Value;

/// The versions of a definition, for rules about all of them.
pub(super) fn of(definition: &Value) -> &[Value] {
    items(definition, "/spec/versions")
}

/// A field of versions that is one of the spec in the internal version, if it is the same in all of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Shared {
    Schema,
    Subresources,
    Columns,
    SelectableFields,
}

impl Shared {
    pub(super) const ALL: [Shared; 4] =
        [Shared::Schema, Shared::Subresources, Shared::Columns, Shared::SelectableFields];

    pub(super) fn field(self) -> &'static str {
        match self {
            Shared::Schema => "schema",
            Shared::Subresources => "subresources",
            Shared::Columns => "additionalPrinterColumns",
            Shared::SelectableFields => "selectableFields",
        }
    }
}

/// The versions of a definition.
pub(super) struct Versions<'a> {
    all: &'a [Value],
    /// The versions by name, of several with the same name the first.
    by_name: HashMap<&'a str, &'a Value>,
    are_nil: bool,
    shared: [bool; 4],
}

impl<'a> Versions<'a> {
    pub(super) fn of(definition: &'a Value) -> Self {
        let all = of(definition);
        let shared = Shared::ALL.map(|shared| {
            let mut values = all.iter().map(|version| version.get(shared.field()));
            let first = values.next();
            values.all(|value| Some(value) == first)
        });
        let by_name = all.iter().rev().map(|version| (word(version, "name"), version)).collect();
        Versions { all, by_name, are_nil: definition["spec"].get("versions").is_none(), shared }
    }

    /// Whether the list is absent, which is not the same as empty where Go's value is shown.
    pub(super) fn are_nil(&self) -> bool {
        self.are_nil
    }

    pub(super) fn all(&self) -> &'a [Value] {
        self.all
    }

    /// The version of that name.
    pub(super) fn named(&self, name: &str) -> Option<&'a Value> {
        self.by_name.get(name).copied()
    }

    /// Whether a field is the same in all versions, or missing.
    pub(super) fn is_shared(&self, field: Shared) -> bool {
        self.shared[field as usize]
    }

    /// The value of a field that is the same in all versions.
    pub(super) fn shared(&self, field: Shared) -> Option<&'a Value> {
        self.all.first().filter(|_| self.is_shared(field))?.get(field.field())
    }

    /// The value of a field of one version, unless it is the same in all of them.
    pub(super) fn own(&self, version: &'a Value, field: Shared) -> Option<&'a Value> {
        version.get(field.field()).filter(|_| !self.is_shared(field))
    }

    /// `hasAnyStatusEnabled`.
    pub(super) fn any_status(&self) -> bool {
        self.all.iter().any(has_status)
    }
}

/// Whether a version has a status that is a subresource.
pub(super) fn has_status(version: &Value) -> bool {
    version.get("subresources").is_some_and(|subresources| subresources.get("status").is_some())
}
