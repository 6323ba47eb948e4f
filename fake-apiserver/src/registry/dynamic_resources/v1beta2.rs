//! The same objects in `resource.k8s.io/v1beta2`, where they have the same fields.
//!
//! Follows `pkg/apis/resource/v1beta2` and, for taint rules, `NewRESTLegacy` of
//! `pkg/registry/resource/devicetaintrule/storage/storage.go` (v1.37.1).

use crate::registry::rules::VersionRules;

/// The rules of kinds that came with the version.
pub(super) const VERSION: VersionRules = VersionRules { deprecated: Some(("1.36", "1.39")), ..SAME };

/// Those of taint rules, which came later.
pub(super) const DEVICE_TAINT_RULE: VersionRules = VersionRules { delete_returns_object: true, ..SAME };

const SAME: VersionRules = VersionRules::same("resource.k8s.io", "v1beta2");
