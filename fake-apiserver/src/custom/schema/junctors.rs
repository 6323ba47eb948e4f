//! `anyOf`, `oneOf`, `allOf` and `not`: `k8s.io/kube-openapi/pkg/validation/validate/schema_props.go` (d427ff9ee9ad).
//!
//! Below them unchanged values are not exempt (no ratcheting).

use super::node::{Junctors, Node};
use super::report::{Report, Where};
use super::validate;
use crate::error::FieldError;
use tree::Value;

pub(super) fn check(all: &Junctors, at: &Where<'_>, value: &Value) -> Report {
    let mut report = Report::default();
    let check = |node: &Node| validate::check(node, at, value, None);
    if !all.any_of.is_empty() {
        let mut best = Best::default();
        match all.any_of.iter().map(check).find_map(|one| best.failure(one)) {
            Some(success) => report.merge(success),
            None => {
                report.push(about_all(at, "must validate at least one schema (anyOf)"));
                report.merge(best.0.unwrap_or_default());
            }
        }
    }
    if !all.one_of.is_empty() {
        let mut best = Best::default();
        let mut successes = all.one_of.iter().map(check).filter_map(|one| best.failure(one));
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
    if !all.all_of.is_empty() {
        let mut valid = 0;
        for one in all.all_of.iter().map(check) {
            valid += usize::from(one.is_valid());
            report.merge(one);
        }
        if valid < all.all_of.len() {
            let none = if valid == 0 { ". None validated" } else { "" };
            report.push(about_all(at, &format!("must validate all the schemas (allOf){none}")));
        }
    }
    if all.not.as_ref().is_some_and(|not| check(not).is_valid()) {
        report.push(about_all(at, "must not validate the schema (not)"));
    }
    report.matches += 1;
    report
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
