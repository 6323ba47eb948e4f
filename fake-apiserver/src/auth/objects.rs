//! The live objects that authentication depends on.

use super::own_keys::OwnKeys;
use crate::user::User;
use std::sync::Arc;
use tree::Value;

/// The live objects that authentication depends on. Called for every request with a service account token.
pub trait Objects {
    /// The object as it is now. `resource` is one of `secrets`, `serviceaccounts`, `pods` and `nodes`; `namespace`
    /// is empty for nodes.
    fn object(&self, resource: &str, namespace: &str, name: &str) -> Option<Arc<Value>>;

    /// The user of a token that is good in this cluster alone.
    fn user(&self, _token: &str) -> Option<Arc<User>> {
        None
    }

    /// The keys of this cluster alone, for its tokens; `None` of the first one, which has those of the server.
    fn keys(&self) -> Option<&OwnKeys> {
        None
    }

    /// Sets `LAST_USED_LABEL` to `day` on the secret of a legacy token that was used, unless that secret was replaced
    /// meanwhile. As in the real server, a failure is logged only.
    fn record_use(&self, secret: &Value, day: &str);
}
