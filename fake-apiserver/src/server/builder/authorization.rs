//! Who may do what: the modes of authorization.

use super::Builder;
use crate::auth::authorizer::Authorizer;
use crate::auth::modes::{AllowAuthenticated, AlwaysDeny, AuthorizationMode, Union};

impl Builder {
    /// Who decides what users may do, in that order; [`AuthorizationMode::AlwaysAllow`] by default. Members of
    /// `system:masters` may do everything in every mode.
    #[must_use]
    pub fn authorization_mode(mut self, modes: impl IntoIterator<Item = AuthorizationMode>) -> Self {
        self.authorization = modes.into_iter().collect();
        self
    }
}

/// What decides for a server in these modes.
pub(super) fn authorizer(modes: &[AuthorizationMode]) -> Box<dyn Authorizer> {
    let decider = |mode: &AuthorizationMode| -> Box<dyn Authorizer> {
        match mode {
            AuthorizationMode::AlwaysAllow => Box::new(AllowAuthenticated),
            AuthorizationMode::AlwaysDeny => Box::new(AlwaysDeny),
        }
    };
    Box::new(Union::new(modes.iter().map(|mode| (*mode, decider(mode))).collect()))
}
