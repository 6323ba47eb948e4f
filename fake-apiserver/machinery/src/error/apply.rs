//! The refusal of an apply: `NewApplyConflict` of `k8s.io/apimachinery/pkg/api/errors` (v0.37.1).

use super::ApiError;

impl ApiError {
    /// 409: others own fields that an apply would change. The causes are added one by one.
    pub fn apply_conflict(message: impl Into<String>) -> Self {
        Self::new(409, "Conflict", message)
    }
}
