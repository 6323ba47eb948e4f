//! The authorization of requests.

use super::Builder;
use crate::auth::authorization_options::AuthorizationOptions;
use crate::auth::modes::AuthorizationMode;

impl Builder {
    /// The authorization modes, in order; [`AuthorizationMode::AlwaysAllow`] by default. Members of `system:masters` may do
    /// everything in every mode.
    #[must_use]
    pub fn authorization_mode(mut self, modes: impl IntoIterator<Item = AuthorizationMode>) -> Self {
        self.authorization.modes = modes.into_iter().collect();
        self
    }

    /// The whole of authorization: modes, a webhook, files. Options that contradict each other, and files that cannot be used, fail the
    /// start.
    #[must_use]
    pub fn authorization(mut self, options: AuthorizationOptions) -> Self {
        self.authorization = options;
        self
    }

    /// Whether the server aggregates cluster roles by their `aggregationRule`, as kube-controller-manager does; on by
    /// default.
    #[must_use]
    pub fn cluster_role_aggregation(mut self, on: bool) -> Self {
        self.built_in.cluster_roles = on;
        self
    }
}
