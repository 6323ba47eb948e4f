//! Which controllers run beside the server.

use super::{Builder, FakeApiServer, StartError};
use crate::auth::modes::SYSTEM_PRIVILEGED_GROUP;
use crate::clock::Clock;
use crate::controllers::{Controllers, Kind, Settings, Surroundings};
use crate::ids::Ids;
use std::sync::Arc;

/// Who the controllers are.
const USER: &str = "system:kube-controller-manager";

impl Builder {
    /// Adds controllers that run in this process, as clients of the first replica with all rights; none by default. With
    /// them, uids and names depend on who comes first, seed or not.
    #[must_use]
    pub fn controllers(mut self, kinds: impl IntoIterator<Item = Kind>) -> Self {
        self.controllers.kinds.extend(kinds);
        self
    }

    /// Whether the tokens controller makes a token secret for every service account, as up to Kubernetes 1.23; off by
    /// default. Without that controller the server does not start.
    #[must_use]
    pub fn auto_generate_tokens(mut self, on: bool) -> Self {
        self.controllers.auto_generate_tokens = on;
        self
    }

    pub(super) fn check_controllers(&self) -> Result<(), StartError> {
        let Settings { kinds, auto_generate_tokens } = &self.controllers;
        if *auto_generate_tokens && !kinds.contains(&Kind::ServiceAccountToken) {
            let name = Kind::ServiceAccountToken.name();
            return Err(StartError::Contradiction(format!("generated tokens without the controller {name:?}")));
        }
        Ok(())
    }

    /// Lets the server know the controllers by a token, if there are any.
    pub(super) fn know_controllers(self, ids: &Ids) -> (Self, Option<String>) {
        match self.controllers.kinds.is_empty() {
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
    pub(super) fn start_controllers(&mut self, settings: &Settings, token: &str) {
        let clock = self.replicas[0].clock();
        let mut config = self.kube_config_for(0, token);
        // They talk to the process that they are in; a certificate that was given may be for other names than its address.
        config.accept_invalid_certs = true;
        let surroundings = Surroundings {
            config,
            cluster: self.cluster.clone(),
            ca_pem: self.ca_pem.clone().unwrap_or_default(),
            clock: Arc::new(move || clock.now()),
            stop: self.shutdown.child_token(),
        };
        self.controllers = Some(Controllers::start(settings, surroundings));
    }
}
