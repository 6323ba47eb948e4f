//! Declarative validation: the findings that Kubernetes generates from markers in its Go types, such as `+k8s:maxItems=32`.
//!
//! `checks.txt` is that generated code as data, of which [`program`] reads what a kind needs; [`run`] applies it to an object, in the words of
//! `k8s.io/apimachinery/pkg/api/validate`. It runs for every kind that has such markers, after the rules that are written by hand,
//! on creates and on all updates, those of subresources included. Upstream compares the findings (`pkg/registry/rest/validate.go`
//! of apiserver v0.37.1): those of the stage alpha are only logged; one by hand that says of itself that it is covered
//! ([`FieldError::covered`](crate::error::FieldError::covered)) gives way to the declared one in the stage beta. Both gates,
//! `DeclarativeValidation` and `DeclarativeValidationBeta`, are on by default in 1.37, and so they are here.
//!
//! On an update unchanged values are not checked again; list items are found by their keys.

mod calls;
mod finding;
mod formats;
mod program;
mod run;
#[cfg(test)]
mod tests;

use self::program::{OPTIONAL, PROGRAMS, Programs, Stage};
use self::run::Run;
use super::cursor::At;
use crate::error::FieldError;
use crate::schema::TypeRef;
use tree::Value;
use tree::counting::{Work, count};

/// The findings about an object of that type, given those of the rules by hand (`ValidateDeclarativelyWithMigrationChecks`).
pub(super) fn validate(ty: TypeRef<'_>, new: &Value, old: Option<&Value>, by_hand: Vec<FieldError>) -> Vec<FieldError> {
    findings(&PROGRAMS, ty, (new, old), by_hand, |_| None)
}

/// The same about an object in a version that a server has only if it is asked for it. The rules by hand are about the storage version, in
/// which fields may have other paths.
pub(super) fn validate_optional(
    ty: TypeRef<'_>,
    new: &Value,
    old: Option<&Value>,
    by_hand: Vec<FieldError>,
    path_in_storage: fn(&str) -> Option<String>,
) -> Vec<FieldError> {
    findings(&OPTIONAL, ty, (new, old), by_hand, path_in_storage)
}

fn findings(
    programs: &'static Programs,
    ty: TypeRef<'_>,
    (new, old): (&Value, Option<&Value>),
    by_hand: Vec<FieldError>,
    path_in_storage: fn(&str) -> Option<String>,
) -> Vec<FieldError> {
    let Some((program, checks)) = programs.kind(ty.name()) else { return by_hand };
    count(Work::Walk, 1);
    let mut declared = Vec::new();
    Run { program, updates: old.is_some() }.on_type(checks, At::new(new, ty), old, &mut declared);
    declared.retain(|finding| finding.stage != Stage::Alpha);
    let beta = declared.iter().filter(|finding| finding.stage == Stage::Beta);
    let moved = beta.clone().filter_map(|finding| finding.error.clone().at(path_in_storage));
    let moved: Vec<FieldError> = moved.collect();
    let is_left = |error: &FieldError| {
        !beta.clone().map(|finding| &finding.error).chain(&moved).any(|declared| error.is_superseded_by(declared))
    };
    let by_hand: Vec<FieldError> = by_hand.into_iter().filter(is_left).collect();
    by_hand.into_iter().chain(declared.into_iter().map(|finding| finding.error)).collect()
}
