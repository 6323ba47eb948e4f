//! Kinds in a version of a group: `GroupVersionKind` of `k8s.io/apimachinery/pkg/runtime/schema` (v0.37.1).

use crate::registry::Version;

/// A kind in a version of a group.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Kind<'a> {
    /// The group, empty for core.
    pub(crate) group: &'a str,
    pub(crate) version: &'a str,
    pub(crate) kind: &'a str,
}

impl<'a> Kind<'a> {
    /// The kind of bodies of a subresource, or with "" of the resource itself.
    pub(crate) fn of(version: &'a Version, subresource: &str) -> Kind<'a> {
        match version.subresource(subresource).filter(|own| !own.kind.is_empty()) {
            Some(own) if !own.version.is_empty() => Kind { group: &own.group, version: &own.version, kind: &own.kind },
            Some(own) => Kind { group: &version.group, version: &version.name, kind: &own.kind },
            None => Kind { group: &version.group, version: &version.name, kind: &version.kind },
        }
    }

    /// `apiVersion` of its objects.
    pub(crate) fn api_version(&self) -> String {
        match self.group {
            "" => self.version.to_owned(),
            group => format!("{group}/{}", self.version),
        }
    }
}
