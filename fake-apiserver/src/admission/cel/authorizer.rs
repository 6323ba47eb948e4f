//! The authorizer that expressions ask.
//!
//! Follows `pkg/cel/library/authz.go` of `k8s.io/apiserver` (v0.37.1).

use crate::admission::Attributes;
use crate::auth::authorizer::{self, Authorizer as _, Target};
use crate::auth::chain::Authorizers;
use crate::auth::requested::Selectors;
use crate::deadline::Deadline;
use crate::store::Store;
use crate::user::{ServiceAccount, User};
use kubernetes_cel::{Decision, Request};
use std::fmt;
use std::sync::Arc;

/// The server's authorizer, the user who writes, and the deadline of the write.
pub(super) struct Asker {
    authorizer: Arc<Authorizers>,
    store: Store,
    user: User,
    deadline: Deadline,
}

impl Asker {
    pub(super) fn of(write: &Attributes<'_>) -> Self {
        Asker {
            authorizer: write.server.authorizer.clone(),
            store: write.server.store.clone(),
            user: write.user.clone(),
            deadline: write.deadline.clone(),
        }
    }
}

impl kubernetes_cel::Authorizer for Asker {
    fn authorize(&self, user: &kubernetes_cel::User, request: &Request) -> Decision {
        let account;
        let user = match user {
            kubernetes_cel::User::Requester => &self.user,
            kubernetes_cel::User::ServiceAccount { namespace, name } => {
                account = ServiceAccount { namespace, name, uid: "" }.user();
                &account
            }
        };
        let Request { verb, path, group, resource, subresource, namespace, name, .. } = request;
        let selectors = Selectors::Written { fields: &request.field_selector, labels: &request.label_selector };
        let target = match resource {
            None => Target::Path(path),
            Some(resource) => Target::Resource { group, version: "*", resource, subresource, namespace, name },
        };
        let attributes = authorizer::Attributes { user, verb, target, selectors, deadline: &self.deadline };
        match self.authorizer.authorize(&self.store, &attributes) {
            Ok(decision) => Decision {
                allowed: decision.is_allowed(),
                reason: decision.reason().to_owned(),
                error: decision.error().map(str::to_owned),
            },
            Err(late) => Decision { allowed: false, reason: String::new(), error: Some(late.to_string()) },
        }
    }
}

impl fmt::Debug for Asker {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Asker").field("user", &self.user.name).finish_non_exhaustive()
    }
}
