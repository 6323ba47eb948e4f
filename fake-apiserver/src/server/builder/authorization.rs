//! The modes of authorization.

use super::Builder;
use crate::auth::modes::AuthorizationMode;

impl Builder {
    /// The authorization modes, in order; [`AuthorizationMode::AlwaysAllow`] by default. Members of `system:masters` may do
    /// everything in every mode.
    #[must_use]
    pub fn authorization_mode(mut self, modes: impl IntoIterator<Item = AuthorizationMode>) -> Self {
        self.authorization = modes.into_iter().collect();
        self
    }

    /// Whether the server aggregates cluster roles by their `aggregationRule`, as kube-controller-manager does; on by
    /// default.
    #[must_use]
    pub fn cluster_role_aggregation(mut self, on: bool) -> Self {
        self.cluster_role_aggregation = on;
        self
    }
}
