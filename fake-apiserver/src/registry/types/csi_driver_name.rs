//! Names of CSI drivers, wherever they stand.
//!
//! Follows `ValidateCSIDriverName` of `pkg/apis/core/validation/validation.go` (v1.37.1).

use crate::error::{Errors, FieldError};
use crate::object::name;
use crate::registry::cursor::At;

const MAX_LENGTH: usize = 63;

/// Rules for the name of a driver: a subdomain in letters of either case.
pub(in crate::registry) fn csi_driver_name(driver: At<'_, '_>, errors: &mut Errors) {
    if driver.is_empty() {
        return errors.covered("", |errors| driver.required("", errors));
    }
    if driver.text().len() > MAX_LENGTH {
        errors.covered("maxLength", |errors| errors.push(FieldError::too_long(driver.path(), MAX_LENGTH)));
    }
    errors.covered("format=k8s-long-name-caseless", |errors| {
        driver.follows(|name| name::dns_subdomain(&name.to_lowercase()), errors);
    });
}
