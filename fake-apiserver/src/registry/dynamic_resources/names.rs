//! Names of drivers, pools, devices and attributes, and bounded lists.
//!
//! Follows `pkg/apis/resource/validation/validation.go` (v1.37.1).

use crate::error::{Errors, FieldError};
use crate::object::name;
use crate::registry::cursor::At;
use std::collections::HashSet;
use std::hash::Hash;

const MAX_DRIVER: usize = 63;
const MAX_POOL: usize = 253;
/// `DeviceMaxIDLength`.
const MAX_ID: usize = 32;

/// `ValidateCSIDriverName`.
pub(super) fn driver(at: At<'_, '_>, errors: &mut Errors) {
    if at.is_empty() {
        return at.required("", errors);
    }
    if at.text().len() > MAX_DRIVER {
        errors.push(FieldError::too_long(at.path(), MAX_DRIVER));
    }
    at.follows(|text| name::dns_subdomain(&text.to_lowercase()), errors);
}

/// The same, where declarative validation looks for it, too.
pub(super) fn covered_driver(at: At<'_, '_>, errors: &mut Errors) {
    if at.is_empty() {
        return errors.covered("", |errors| at.required("", errors));
    }
    if at.text().len() > MAX_DRIVER {
        errors.covered("maxLength", |errors| errors.push(FieldError::too_long(at.path(), MAX_DRIVER)));
    }
    errors.covered("format=k8s-long-name-caseless", |errors| {
        at.follows(|text| name::dns_subdomain(&text.to_lowercase()), errors);
    });
}

/// `validatePoolName`.
pub(super) fn pool(at: At<'_, '_>, errors: &mut Errors) {
    if at.is_empty() {
        return at.required("", errors);
    }
    if at.text().len() > MAX_POOL {
        errors.push(FieldError::too_long(at.path(), MAX_POOL));
    }
    for part in at.text().split('/') {
        errors.invalid_each(at.path(), part, name::dns_subdomain(part));
    }
}

/// A pool for which declarative validation looks, too.
pub(super) fn covered_pool(at: At<'_, '_>, errors: &mut Errors) {
    let origin = if at.is_empty() { "" } else { "format=k8s-resource-pool-name" };
    errors.covered(origin, |errors| pool(at, errors));
}

/// `validateQualifiedName`: an identifier, in a domain or not. Findings are about the map at `at`.
pub(super) fn qualified_name(at: At<'_, '_>, text: &str, errors: &mut Errors) {
    match text.split('/').collect::<Vec<_>>()[..] {
        [id] => identifier(at, id, errors),
        [domain, id] => {
            match domain {
                "" => at.invalid_value("", "the domain must not be empty", errors),
                _ => {
                    if domain.len() > MAX_DRIVER {
                        errors.push(FieldError::too_long(at.path(), MAX_DRIVER));
                    }
                    errors.invalid_each(at.path(), domain, name::dns_subdomain(&domain.to_lowercase()));
                }
            }
            match id {
                "" => at.invalid_value("", "the name must not be empty", errors),
                _ => identifier(at, id, errors),
            }
        }
        _ => {}
    }
}

/// `validateCIdentifier`.
fn identifier(at: At<'_, '_>, id: &str, errors: &mut Errors) {
    if id.len() > MAX_ID {
        errors.push(FieldError::too_long(at.path(), MAX_ID));
    }
    errors.invalid_each(at.path(), id, name::c_identifier(id));
}

/// `validateFullyQualifiedName`, for which declarative validation looks, too.
pub(super) fn fully_qualified_name(at: At<'_, '_>, errors: &mut Errors) {
    errors.covered("format=k8s-resource-fully-qualified-name", |errors| {
        qualified_name(at, at.text(), errors);
        if !at.text().contains('/') {
            at.invalid("a fully qualified name must be a domain and a name separated by a slash", errors);
        }
    });
}

/// Whether a list has no more than `most` items. Declarative validation looks for that, too.
pub(super) fn is_bounded(list: At<'_, '_>, most: usize, errors: &mut Errors) -> bool {
    let is = list.len() <= most;
    if !is {
        errors.covered("maxItems", |errors| errors.push(FieldError::too_many(list.path(), list.len(), most)));
    }
    is
}

/// Reports items whose key occurs before them. Declarative validation looks for that, too.
pub(super) fn unique<'v, K: Eq + Hash>(list: At<'_, 'v>, key: impl Fn(&At<'_, 'v>) -> K, errors: &mut Errors) {
    let mut seen = HashSet::new();
    for item in list.items() {
        if !seen.insert(key(&item)) {
            errors.covered("", |errors| item.duplicate(errors));
        }
    }
}

/// A list of labels with a bound, each item of which must be a name of a label.
pub(super) fn label_names(list: At<'_, '_>, most: usize, errors: &mut Errors) {
    if is_bounded(list, most, errors) {
        for item in list.items() {
            item.follows(name::label_key, errors);
        }
    }
}
