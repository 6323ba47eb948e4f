//! The authorizer of the modes of authorization.

use crate::auth::authorizer::Authorizer;
use crate::auth::modes::{AllowAuthenticated, AlwaysDeny, AuthorizationMode, Union};
use crate::auth::node::NodeAuthorizer;
use crate::auth::rbac::Rbac;
use crate::reconcile::recorded;
use crate::store::Store;
use std::sync::Arc;

/// The authorizer for `modes`, and RBAC alone if it is one of them.
pub(super) fn authorizer(modes: &[AuthorizationMode], store: &Store) -> (Arc<dyn Authorizer>, Option<Arc<Rbac>>) {
    let rbac = modes.contains(&AuthorizationMode::Rbac).then(|| Arc::new(Rbac::new(store.clone())));
    let decider = |mode: &AuthorizationMode| -> Option<Box<dyn Authorizer>> {
        Some(match mode {
            AuthorizationMode::AlwaysAllow => Box::new(AllowAuthenticated),
            AuthorizationMode::AlwaysDeny => Box::new(AlwaysDeny),
            AuthorizationMode::Rbac => Box::new(rbac.clone()?),
            AuthorizationMode::Node => Box::new(NodeAuthorizer::new(store.clone(), recorded::node_rules())),
        })
    };
    let chain = modes.iter().filter_map(|mode| decider(mode).map(|decider| (*mode, decider))).collect();
    (Arc::new(Union::new(chain)), rbac)
}
