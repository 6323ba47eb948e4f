//! `anyOf`, `oneOf`, `allOf` and `not`: what follows from the reports of their clauses.
//!
//! Follows `k8s.io/kube-openapi/pkg/validation/validate/schema_props.go` (d427ff9ee9ad).

use super::report::{Report, Where};
use crate::error::FieldError;

/// `anyOf`: of its clauses, the first one that succeeds.
pub(super) fn any(report: &mut Report, at: &Where<'_>, mut clauses: impl Iterator<Item = Report>) {
    let mut best = Best::default();
    match clauses.find_map(|one| best.failure(one)) {
        Some(success) => report.merge(success),
        None => {
            report.push(about_all(at, "must validate at least one schema (anyOf)"));
            report.merge(best.0.unwrap_or_default());
        }
    }
}

/// `oneOf`: of its clauses, the only one that succeeds.
pub(super) fn one(report: &mut Report, at: &Where<'_>, clauses: impl Iterator<Item = Report>) {
    let mut best = Best::default();
    let mut successes = clauses.filter_map(|one| best.failure(one));
    let first = successes.next();
    match (first, successes.count()) {
        (Some(success), 0) => report.merge(success),
        (Some(_), more) => {
            let found = format!("Found {} valid alternatives", more + 1);
            report.push(about_all(at, &format!("must validate one and only one schema (oneOf). {found}")));
        }
        (None, _) => {
            report.push(about_all(at, "must validate one and only one schema (oneOf). Found none valid"));
            report.merge(best.0.unwrap_or_default());
        }
    }
}

/// `allOf`: all of its clauses.
pub(super) fn all(report: &mut Report, at: &Where<'_>, clauses: impl Iterator<Item = Report>) {
    let (mut count, mut valid) = (0, 0);
    for one in clauses {
        count += 1;
        valid += usize::from(one.is_valid());
        report.merge(one);
    }
    if valid < count {
        let none = if valid == 0 { ". None validated" } else { "" };
        report.push(about_all(at, &format!("must validate all the schemas (allOf){none}")));
    }
}

/// `not`: its clause must fail.
pub(super) fn not(report: &mut Report, at: &Where<'_>, clause: &Report) {
    if clause.is_valid() {
        report.push(about_all(at, "must not validate the schema (not)"));
    }
}

/// A finding about the whole value; only its text names the field.
fn about_all(at: &Where<'_>, text: &str) -> FieldError {
    FieldError::invalid(at.whole(), &"".into(), format!("{} {text}", crate::schema::quote(&at.to_string())))
}

/// The first failure among those that passed most checks.
#[derive(Default)]
struct Best(Option<Report>);

impl Best {
    /// Takes a failure, or returns a success.
    fn failure(&mut self, report: Report) -> Option<Report> {
        if report.is_valid() {
            return Some(report);
        }
        if self.0.as_ref().is_none_or(|best| report.matches > best.matches) {
            self.0 = Some(report);
        }
        None
    }
}
