//! The files of volumes: their paths and permission bits.
//!
//! Follows `pkg/apis/core/validation/validation.go` (v1.37.1).

use crate::error::{Errors, Path};
use std::collections::HashSet;
use tree::Value;

/// The paths of a volume's files so far.
#[derive(Default)]
pub(super) struct Paths(HashSet<String>);

impl Paths {
    /// The rule that no file has the path of another; a finding shows `shown`.
    pub(super) fn once(&mut self, volume: Path<'_>, path: &str, shown: &str, errors: &mut Errors) {
        if !self.0.insert(path.to_owned()) {
            errors.invalid(volume, shown, "conflicting duplicate paths");
        }
    }
}

/// Rule for the permission bits of files.
pub(super) fn mode(at: Path<'_>, mode: &Value, errors: &mut Errors) {
    if mode.as_i64().is_some_and(|mode| !(0..=0o777).contains(&mode)) {
        errors.invalid(at, mode.clone(), "must be a number between 0 and 0777 (octal), both inclusive");
    }
}

/// `ValidateLocalNonReservedPath`.
pub(super) fn local_path(at: Path<'_>, file: &str, errors: &mut Errors) {
    descending_path(at, file, errors);
    if file.starts_with("..") && !file.starts_with("../") {
        errors.invalid(at, file, "must not start with '..'");
    }
}

/// `validateLocalDescendingPath`.
pub(super) fn descending_path(at: Path<'_>, file: &str, errors: &mut Errors) {
    if file.starts_with('/') {
        errors.invalid(at, file, "must be a relative path");
    }
    if file.split('/').any(|part| part == "..") {
        errors.invalid(at, file, "must not contain '..'");
    }
}
