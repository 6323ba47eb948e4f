//! Declarative validation: the findings that Kubernetes generates from markers in its Go types, such as `+k8s:maxItems=32`.
//!
//! `checks.txt` is that generated code as data, and [`program`] reads it; [`run`] applies it to an object, in the words of
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

use self::program::{PROGRAM, Stage};
use self::run::Run;
use super::cursor::At;
use crate::error::FieldError;
use crate::schema::TypeRef;
use tree::Value;
use tree::counting::{Work, count};

/// The findings about an object of that type, given those of the rules by hand (`ValidateDeclarativelyWithMigrationChecks`).
pub(super) fn validate(ty: TypeRef<'_>, new: &Value, old: Option<&Value>, by_hand: Vec<FieldError>) -> Vec<FieldError> {
    let Some(checks) = PROGRAM.kind(ty.name()) else { return by_hand };
    count(Work::Walk, 1);
    let mut declared = Vec::new();
    Run { updates: old.is_some() }.on_type(checks, At::new(new, ty), old, &mut declared);
    declared.retain(|finding| finding.stage != Stage::Alpha);
    let is_left = |error: &FieldError| {
        let mut beta = declared.iter().filter(|finding| finding.stage == Stage::Beta);
        !beta.any(|finding| error.is_superseded_by(&finding.error))
    };
    let by_hand: Vec<FieldError> = by_hand.into_iter().filter(is_left).collect();
    by_hand.into_iter().chain(declared.into_iter().map(|finding| finding.error)).collect()
}
