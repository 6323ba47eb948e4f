//! `SeccompProfile` and `AppArmorProfile`: the profiles that limit the processes of a pod or a container.
//!
//! Follows `validateSeccompProfileField` and `ValidateAppArmorProfileField` of `pkg/apis/core/validation/validation.go` (v1.37.1).

use super::file::descending_path;
use crate::error::{Errors, FieldError};
use crate::registry::cursor::At;

const TYPES: [&str; 3] = ["Localhost", "RuntimeDefault", "Unconfined"];
/// The length of the longest name of an AppArmor profile, in bytes.
const LONGEST: usize = 4095;

/// Rules for `seccompProfile`.
pub(super) fn seccomp_profile(profile: At<'_, '_>, errors: &mut Errors) {
    if !profile.is_set() {
        return;
    }
    let (kind, file) = (profile.field("type"), profile.field("localhostProfile"));
    match kind.text() {
        "" => kind.required("type is required when seccompProfile is set", errors),
        _ => kind.supported(&TYPES, errors),
    }
    match (kind.text(), file.is_set()) {
        ("Localhost", false) => file.required("must be set when seccomp type is Localhost", errors),
        ("Localhost", true) => descending_path(file.path(), file.text(), errors),
        (_, true) => {
            profile.shown_at(file.path()).invalid("can only be set when seccomp type is Localhost", errors);
        }
        (_, false) => {}
    }
}

/// Rules for `appArmorProfile`.
pub(super) fn app_armor_profile(profile: At<'_, '_>, errors: &mut Errors) {
    if !profile.is_set() {
        return;
    }
    let (kind, name) = (profile.field("type"), profile.field("localhostProfile"));
    match kind.text() {
        "Localhost" => {
            match name.text() {
                text if text.trim() != text => name.invalid("must not be padded with whitespace", errors),
                "" => name.required("must be set when AppArmor type is Localhost", errors),
                _ => {}
            }
            if name.text().len() > LONGEST {
                errors.push(FieldError::too_long(name.path(), LONGEST));
            }
        }
        "RuntimeDefault" | "Unconfined" => {
            if name.is_set() {
                name.invalid("can only be set when AppArmor type is Localhost", errors);
            }
        }
        "" => kind.required("type is required when appArmorProfile is set", errors),
        _ => kind.unsupported(&TYPES, errors),
    }
}
