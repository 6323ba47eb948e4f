//! The permissions of the user who makes a request, for the rules of the kind that it writes.

use super::Act;
use crate::auth::authorizer::{Attributes, Target};
use crate::registry::{Asked, Permissions};

impl Permissions for Act<'_> {
    fn verb(&self) -> &str {
        self.verb
    }

    fn may(&self, asked: &Asked<'_>) -> Result<(), String> {
        if self.is_own {
            return Ok(());
        }
        let Asked { verb, group, version, resource, subresource, namespace, name } = *asked;
        let target = Target::Resource { group, version, resource, subresource, namespace, name };
        let attributes = Attributes { deadline: &self.deadline, ..Attributes::new(&self.user, verb, target) };
        let decision = self.server.cluster.authorize(&attributes);
        decision.and_then(|decision| decision.permit(&attributes)).map_err(|refusal| refusal.to_string())
    }
    fn plural(&self, api_version: &str, kind: &str) -> Option<String> {
        self.server.registry.kind(api_version, kind).map(|served| served.version.plural.to_string())
    }
}
