//! Resources that may be used only where a quota covers them: the plugin's configuration.
//!
//! Ports `limitedByDefault`, `getMatchedLimitedScopes` and what `CheckRequest` makes of them in
//! `pkg/admission/plugin/resourcequota/controller.go`, and `apis/resourcequota/validation` of k8s.io/apiserver (v0.37.1).

use super::evaluator::Evaluator;
use super::quota::Quota;
use super::refusal::Refusal;
use super::scopes::Scope;
use crate::error::{Errors, FieldError, Path};
use crate::registry::{Amounts, items, text};
use std::collections::BTreeSet;
use tree::Value;

/// The resources that the configuration limits.
#[derive(Debug, Default)]
pub(super) struct Limited(Vec<Value>);

impl Limited {
    /// Those of a configuration.
    ///
    /// # Errors
    /// If one lacks a resource.
    pub(super) fn read(configuration: &Value) -> Result<Limited, Vec<FieldError>> {
        let list = items(configuration, "/limitedResources");
        let errors = Errors::of(|errors| {
            let at = Path::new("limitedResources");
            for (index, _) in list.iter().enumerate().filter(|(_, limited)| text(limited, "/resource").is_empty()) {
                errors.required(at.index(index).child("resource"), "");
            }
        });
        if errors.is_empty() { Ok(Limited(list.to_vec())) } else { Err(errors) }
    }

    /// Whether nothing is limited.
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Checks that quotas cover an object of a kind, given by its group and resource: what it uses, by the `resources` that the concerned
    /// ones limit, and the scopes that it is in.
    ///
    /// # Errors
    /// The resources or scopes that no quota covers.
    pub(super) fn check(
        &self,
        kind: (&str, &str),
        object: &Value,
        usage: &Amounts,
        evaluator: &dyn Evaluator,
        quotas: &[&Quota],
        resources: &BTreeSet<&str>,
    ) -> Result<(), Refusal> {
        let own = self.0.iter().filter(|limited| (text(limited, "/apiGroup"), text(limited, "/resource")) == kind);
        let parts: Vec<&str> =
            own.flat_map(|limited| items(limited, "/matchContains")).filter_map(Value::as_str).collect();
        let names = usage.iter().filter(|(_, amount)| amount.sign().is_gt()).map(|(name, _)| name.as_str());
        let names = names.filter(|name| parts.iter().any(|part| name.contains(part)));
        let uncovered: Vec<&str> = names.filter(|name| !resources.contains(name)).collect();
        if !uncovered.is_empty() {
            return Err(Refusal::Forbidden(format!("insufficient quota to consume: {}", uncovered.join(","))));
        }
        let is_in = |scope: &Scope<'_>| evaluator.is_in_scope(scope, object);
        let covered: BTreeSet<&str> = quotas
            .iter()
            .flat_map(|quota| quota.scopes())
            .filter(|scope| is_in(scope))
            .map(|scope| scope.name)
            .collect();
        let limited = self.0.iter().flat_map(|limited| items(limited, "/matchScopes")).map(Scope::read);
        let uncovered: Vec<String> = limited
            .filter(|scope| is_in(scope) && !covered.contains(scope.name))
            .map(|scope| scope.to_string())
            .collect();
        match uncovered.is_empty() {
            true => Ok(()),
            false => {
                Err(Refusal::Error(format!("insufficient quota to match these scopes: [{}]", uncovered.join(" "))))
            }
        }
    }
}
