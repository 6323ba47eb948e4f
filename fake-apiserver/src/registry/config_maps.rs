//! ConfigMaps.

use super::kind::Kind;

pub(super) const KIND: Kind =
    Kind { resource: "configmaps", singular: "configmap", kind: "ConfigMap", short_names: &["cm"], ..Kind::ORDINARY };
