//! Collector of findings: `field.ErrorList` of `k8s.io/apimachinery/pkg/util/validation/field` (v0.37.1).

use super::{FieldError, Path};
use std::sync::Arc;
use tree::Value;

/// Findings of validation in the order in which the rules made them.
#[derive(Debug, Default)]
pub struct Errors(Vec<FieldError>);

impl Errors {
    /// Findings of some rules.
    pub fn of(rules: impl FnOnce(&mut Errors)) -> Vec<FieldError> {
        let mut errors = Errors::default();
        rules(&mut errors);
        errors.0
    }

    /// Adds a finding.
    pub fn push(&mut self, error: FieldError) {
        self.0.push(error);
    }

    /// Adds the findings of some rules for which declarative validation looks, too, under that origin.
    pub fn covered(&mut self, origin: &'static str, rules: impl FnOnce(&mut Errors)) {
        self.extend(Errors::of(rules).into_iter().map(|error| error.with_origin(origin).covered()));
    }

    /// Whether nothing was found so far.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Number of findings so far.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// The field must be set.
    pub fn required(&mut self, at: Path<'_>, detail: &str) {
        self.push(FieldError::required(at, detail));
    }

    /// The value breaks a rule.
    pub fn invalid(&mut self, at: Path<'_>, value: impl Into<Value>, detail: impl Into<Arc<str>>) {
        self.push(FieldError::invalid(at, &value.into(), detail));
    }

    /// The field must not be set, or not to this value.
    pub fn forbidden(&mut self, at: Path<'_>, detail: impl Into<Arc<str>>) {
        self.push(FieldError::forbidden(at, detail));
    }

    /// The value occurs twice.
    pub fn duplicate(&mut self, at: Path<'_>, value: impl Into<Value>) {
        self.push(FieldError::duplicate(at, &value.into()));
    }

    /// The value refers to something that does not exist.
    pub fn not_found(&mut self, at: Path<'_>, value: impl Into<Value>) {
        self.push(FieldError::not_found(at, &value.into()));
    }

    /// A text that must not be empty.
    pub fn set(&mut self, at: Path<'_>, value: &str) {
        if value.is_empty() {
            self.required(at, "");
        }
    }

    /// A text that must be one of `supported`.
    pub fn supported(&mut self, at: Path<'_>, value: &str, supported: &[&str]) {
        if !supported.contains(&value) {
            self.push(FieldError::unsupported(at, &value.into(), supported));
        }
    }

    /// A text that must be set, to one of `supported`.
    pub fn one_of(&mut self, at: Path<'_>, value: &str, supported: &[&str]) {
        match value {
            "" => self.required(at, ""),
            value => self.supported(at, value, supported),
        }
    }

    /// Objections of a rule to a text, each of them a finding.
    pub fn invalid_each(&mut self, at: Path<'_>, value: &str, objections: Vec<String>) {
        for objection in objections {
            self.invalid(at, value, objection);
        }
    }

    /// A text that must satisfy a rule unless it is empty.
    pub fn optional(&mut self, at: Path<'_>, value: &str, rule: fn(&str) -> Vec<String>) {
        if !value.is_empty() {
            self.invalid_each(at, value, rule(value));
        }
    }

    /// A number that must not be negative (`ValidateNonnegativeField`).
    pub fn not_negative(&mut self, at: Path<'_>, value: Option<i64>) {
        if let Some(value) = value.filter(|value| *value < 0) {
            self.invalid(at, value, "must be greater than or equal to 0");
        }
    }
}

impl IntoIterator for Errors {
    type Item = FieldError;
    type IntoIter = std::vec::IntoIter<FieldError>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.into_iter()
    }
}

impl Extend<FieldError> for Errors {
    fn extend<T: IntoIterator<Item = FieldError>>(&mut self, findings: T) {
        self.0.extend(findings);
    }
}
