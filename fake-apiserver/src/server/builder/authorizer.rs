//! The authorizers that options and files describe.

use super::StartError;
use crate::auth::abac::Policies;
use crate::auth::authorization_file::{self, AuthorizerConfig};
use crate::auth::authorization_options::AuthorizationOptions;
use crate::auth::authorizer::Authorizer;
use crate::auth::chain::{Authorizers, Chain, Decider, Link};
use crate::auth::hooks::AccessWebhook;
use crate::auth::modes::{AllowAuthenticated, AlwaysDeny, AuthorizationMode};
use crate::auth::node::NodeAuthorizer;
use crate::auth::rbac::Rbac;
use crate::clock::Clock;
use crate::coverage::Coverage;
use crate::measures::Measures;
use crate::reconcile::recorded;
use crate::reloads::{Reloads, Subject};
use crate::server::follow::Followed;
use crate::webhook::Network;
use std::collections::BTreeMap;
use std::sync::Arc;

/// The authorizers of a server.
pub(super) struct Described {
    pub(super) authorizers: Arc<Authorizers>,
    /// Whether RBAC is one of them.
    pub(super) has_rbac: bool,
    /// The file that describes them, and what is done with it when it has changed.
    pub(super) file: Option<Followed>,
}

/// The authorizers that stay when the file changes that describes them, by their modes, and what makes others.
struct Parts {
    stay: BTreeMap<&'static str, Arc<dyn Authorizer>>,
    network: Arc<Network>,
    clock: Arc<dyn Clock>,
    measures: Arc<Measures>,
}

/// The authorizers that the options describe.
///
/// # Errors
/// If the options are wrong, or a file is that they name.
pub(super) fn described(
    options: &AuthorizationOptions,
    network: &Arc<Network>,
    clock: &Arc<dyn Clock>,
    measures: &Arc<Measures>,
    coverage: &Option<Arc<Coverage>>,
) -> Result<Described, StartError> {
    let (configs, content) = options.authorizers().map_err(StartError::Authorization)?;
    let invalid = |why| StartError::Authorization(format!("invalid authorization config: {why}"));
    let modes: Vec<AuthorizationMode> = configs.iter().map(|config| config.mode).collect();
    let has_rbac = modes.contains(&AuthorizationMode::Rbac);
    let mut stay = BTreeMap::new();
    for mode in &modes {
        let authorizer: Arc<dyn Authorizer> = match mode {
            AuthorizationMode::AlwaysAllow => Arc::new(AllowAuthenticated),
            AuthorizationMode::AlwaysDeny => Arc::new(AlwaysDeny),
            AuthorizationMode::Rbac => Arc::new(Rbac::counting(coverage.clone())),
            AuthorizationMode::Node => Arc::new(NodeAuthorizer::new(recorded::node_rules())),
            AuthorizationMode::Abac => {
                let path = options.policy_file.clone().unwrap_or_default();
                Arc::new(Policies::read(&path).map_err(invalid)?)
            }
            AuthorizationMode::Webhook => continue,
        };
        stay.insert(mode.as_str(), authorizer);
    }
    let parts = Parts { stay, network: network.clone(), clock: clock.clone(), measures: measures.clone() };
    let authorizers = Arc::new(Authorizers::new(parts.chain(configs).map_err(invalid)?));
    let file = options.config_file.clone().zip(content).map(|(path, content)| {
        let authorizers = authorizers.clone();
        let required: Vec<_> = modes.into_iter().filter(|mode| *mode != AuthorizationMode::Webhook).collect();
        let reloads = Reloads::new(Subject::Authorization, clock.clone());
        Followed::file("authorization config", path, content, reloads, move |content| {
            authorizers.replace(parts.chain(authorization_file::read(content, &required)?)?);
            Ok(())
        })
    });
    Ok(Described { authorizers, has_rbac, file })
}

impl Parts {
    /// `newForConfig`
    fn chain(&self, configs: Vec<AuthorizerConfig>) -> Result<Chain, String> {
        configs.into_iter().map(|config| self.link(config)).collect::<Result<_, _>>().map(Chain::new)
    }

    fn link(&self, AuthorizerConfig { mode, name, webhook }: AuthorizerConfig) -> Result<Link, String> {
        let decider = match webhook {
            Some(webhook) => {
                let measures = &self.measures;
                Decider::Webhook(
                    AccessWebhook::new(name.clone(), webhook, &self.network, &self.clock, measures)?.into(),
                )
            }
            None => match (mode, self.stay.get(mode.as_str())) {
                (_, Some(authorizer)) => Decider::Own(authorizer.clone()),
                (AuthorizationMode::AlwaysAllow, None) => Decider::Own(Arc::new(AllowAuthenticated)),
                (AuthorizationMode::AlwaysDeny, None) => Decider::Own(Arc::new(AlwaysDeny)),
                (mode, None) => {
                    return Err(format!(
                        "authorizer type {mode} is not allowed if it was not enabled at initial server startup"
                    ));
                }
            },
        };
        Ok(Link::new(mode, name, decider))
    }
}
