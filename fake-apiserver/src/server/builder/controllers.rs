//! The controllers that run beside the server.

use super::{Builder, FakeApiServer, StartError};
use crate::auth::modes::SYSTEM_PRIVILEGED_GROUP;
use crate::clock::Clock;
use crate::controllers::{Controller, ControllerContext, Controllers, Settings};
use crate::ids::Ids;
use std::sync::Arc;

/// The user of the controllers.
const USER: &str = "system:kube-controller-manager";

impl Builder {
    /// The controllers that run in this process, as clients of the first replica in `system:masters`; none by default. With
    /// them, uids and names depend on the order of requests, even with a seed.
    #[must_use]
    pub fn controllers(mut self, controllers: impl IntoIterator<Item = Controller>) -> Self {
        self.controllers.kinds = controllers.into_iter().collect();
        self
    }

    /// Whether the tokens controller makes a token secret for every service account, as up to Kubernetes 1.23; off by
    /// default. It fails the start without that controller.
    #[must_use]
    pub fn auto_generate_tokens(mut self, on: bool) -> Self {
        self.controllers.auto_generate_tokens = on;
        self
    }

    pub(super) fn check_controllers(&self) -> Result<(), StartError> {
        let Settings { kinds, auto_generate_tokens } = &self.controllers;
        match *auto_generate_tokens && !kinds.contains(&Controller::ServiceAccountToken) {
            true => Err(StartError::NoTokensController),
            false => Ok(()),
        }
    }

    /// Adds the user of the controllers, if there are any, and returns its token.
    pub(super) fn add_controllers_user(self, ids: &Ids) -> (Self, Option<String>) {
        match self.controllers.kinds.is_empty() {
            true => (self, None),
            false => {
                let token = format!("controllers-{}", ids.uid());
                (self.add_static_token(&token, USER, &[SYSTEM_PRIVILEGED_GROUP]), Some(token))
            }
        }
    }
}

impl FakeApiServer {
    /// Starts the controllers, with the server's signing key and certificate authority.
    pub(super) fn start_controllers(&mut self, settings: &Settings, token: &str) {
        let clock = self.replicas[0].clock();
        let mut config = self.kube_config_for(0, token);
        // The connection does not leave the process, and a given certificate may have other names than its address.
        config.accept_invalid_certs = true;
        let context = ControllerContext {
            config,
            cluster: self.cluster.clone(),
            ca_pem: self.ca_pem.clone().unwrap_or_default(),
            clock: Arc::new(move || clock.now()),
            stop: self.shutdown.child_token(),
        };
        self.controllers = Some(Controllers::start(settings, context));
    }
}
