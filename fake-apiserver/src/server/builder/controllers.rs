//! Which controllers run beside the server.

use super::{Builder, FakeApiServer};
use crate::auth::modes::SYSTEM_PRIVILEGED_GROUP;
use crate::clock::Clock;
use crate::controllers::{Controllers, Kind, Surroundings};
use crate::ids::Ids;
use std::collections::BTreeSet;
use std::sync::Arc;

/// Who the controllers are.
const USER: &str = "system:kube-controller-manager";

impl Builder {
    /// Adds controllers that run in this process, as clients of the first replica with all rights; none by default. With
    /// them, uids and names depend on who comes first, seed or not.
    #[must_use]
    pub fn controllers(mut self, kinds: impl IntoIterator<Item = Kind>) -> Self {
        self.controllers.extend(kinds);
        self
    }

    /// Lets the server know the controllers by a token, if there are any.
    pub(super) fn know_controllers(self, ids: &Ids) -> (Self, Option<String>) {
        match self.controllers.is_empty() {
            true => (self, None),
            false => {
                let token = format!("controllers-{}", ids.uid());
                (self.static_token(&token, USER, &[SYSTEM_PRIVILEGED_GROUP]), Some(token))
            }
        }
    }
}

impl FakeApiServer {
    /// Starts the controllers, with the server's own key and its own authority.
    pub(super) fn start_controllers(&mut self, kinds: &BTreeSet<Kind>, token: &str) {
        let clock = self.replicas[0].clock();
        let surroundings = Surroundings {
            config: self.kube_config_for(0, token),
            cluster: self.cluster.clone(),
            ca_pem: self.ca_pem.clone().unwrap_or_default(),
            clock: Arc::new(move || clock.now()),
            stop: self.shutdown.child_token(),
        };
        self.controllers = Some(Controllers::start(kinds, surroundings));
    }
}
