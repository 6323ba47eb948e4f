//! Limits on the estimated costs of the rules of a definition.
//!
//! Follows `TotalCost` of `pkg/apis/apiextensions/validation/cel_validation.go` and `getCostErrorMessage` of `validation.go` there
//! in `k8s.io/apiextensions-apiserver` (v0.37.1).

use crate::error::{Errors, Path};

/// `StaticEstimatedCostLimit`: of one expression.
pub(super) const LIMIT: u64 = 10_000_000;
/// `StaticEstimatedCRDCostLimit`: of all expressions of a schema.
const TOTAL_LIMIT: u64 = 100_000_000;
/// The number of the most expensive expressions that are reported.
const TOLD: usize = 4;

/// The estimated cost of all expressions of a schema.
#[derive(Debug, Default)]
pub(super) struct TotalCost {
    total: u64,
    /// The most expensive ones with their places, the most expensive first.
    most_expensive: Vec<(u64, String)>,
}

impl TotalCost {
    /// Adds an expression.
    pub(super) fn add(&mut self, at: Path<'_>, cost: u64) {
        self.total = self.total.saturating_add(cost);
        if cost >= TOTAL_LIMIT / 100 {
            self.most_expensive.push((cost, at.to_string()));
            self.most_expensive.sort_by_key(|(cost, _)| std::cmp::Reverse(*cost));
            self.most_expensive.truncate(TOLD);
        }
    }

    /// Findings if that is too much for the schema that is at `at`.
    pub(super) fn check(&self, at: Path<'_>, errors: &mut Errors) {
        if self.total <= TOTAL_LIMIT {
            return;
        }
        for (_, place) in &self.most_expensive {
            let detail = "contributed to estimated rule cost total exceeding cost limit for entire OpenAPIv3 schema";
            errors.forbidden(Path::new(place), detail);
        }
        let name = "x-kubernetes-validations estimated rule cost total for entire OpenAPIv3 schema";
        errors.forbidden(at, message(name, self.total, TOTAL_LIMIT));
    }
}

/// The detail of a finding about a cost above its limit.
pub(super) fn message(name: &str, cost: u64, limit: u64) -> String {
    #[expect(clippy::cast_precision_loss, reason = "Go's conversion loses as much")]
    let factor = cost as f64 / limit as f64;
    let factor = match factor {
        factor if factor > 100.0 => "more than 100x".to_owned(),
        factor if factor < 1.5 => format!("{factor:.6}x"),
        factor => format!("{factor:.1}x"),
    };
    format!(
        "{name} exceeds budget by factor of {factor} (try simplifying the rule, or adding maxItems, maxProperties, and maxLength \
         where arrays, maps, and strings are declared)"
    )
}
