//! Access modes of a persistent volume, or of a claim on one.
//!
//! Follows what `ValidatePersistentVolumeSpec` and `ValidatePersistentVolumeClaimSpec` of
//! `pkg/apis/core/validation/validation.go` have in common (v1.37.1).

use crate::error::Errors;
use crate::registry::cursor::At;

/// `ReadWriteOncePod`, which stands alone.
const ONE_POD: &str = "ReadWriteOncePod";
/// `supportedAccessModes`.
pub(in crate::registry) const ACCESS_MODES: [&str; 4] = ["ReadOnlyMany", "ReadWriteMany", "ReadWriteOnce", ONE_POD];
/// `supportedVolumeModes`.
pub(in crate::registry) const VOLUME_MODES: [&str; 2] = ["Block", "Filesystem"];

/// Rules for the modes in the field `accessModes`.
pub(in crate::registry) fn access_modes(modes: At<'_, '_>, errors: &mut Errors) {
    for mode in modes.items() {
        mode.shown_at(modes.path()).supported(&ACCESS_MODES, errors);
    }
    let has = |wanted: fn(&str) -> bool| modes.items().any(|mode| wanted(mode.text()));
    if has(|mode| mode == ONE_POD) && has(|mode| mode != ONE_POD && ACCESS_MODES.contains(&mode)) {
        modes.forbidden("may not use ReadWriteOncePod with other access modes", errors);
    }
}
