//! The controllers that run beside a server.

use super::{Builder, FakeApiServer, StartError};
use crate::auth::ClientAuthorities;
#[cfg(feature = "controllers")]
use crate::auth::modes::SYSTEM_PRIVILEGED_GROUP;
#[cfg(feature = "controllers")]
use crate::controllers::ControllerContext;
use crate::controllers::{Controller, Controllers, Making, PodRules, Settings, Stages, making, tools};
use crate::ids::Ids;
use crate::living::{Living, Signing};
use crate::server::tls;
use crate::threads;

/// The name of the authority of the signer of certificates.
const SIGNER: &str = "fake-apiserver-signer-ca";
/// The user of the controllers that are clients over a connection.
#[cfg(feature = "controllers")]
const USER: &str = "system:kube-controller-manager";

impl Builder {
    /// The controllers that run in this process; none by default, but for those that the server cannot do without
    /// ([`namespace_controller`](Self::namespace_controller), [`cluster_role_aggregation`](Self::cluster_role_aggregation)). With those that
    /// deal with service accounts and tokens, which are clients of the first replica in `system:masters` and need the feature `controllers`,
    /// uids and names depend on the order of requests, even with a seed. One that is not built fails the start.
    #[must_use]
    pub fn controllers(mut self, controllers: impl IntoIterator<Item = Controller>) -> Self {
        self.controllers.kinds = controllers.into_iter().collect();
        for controller in &self.controllers.kinds {
            match controller {
                Controller::Namespace => self.built_in.namespaces = true,
                Controller::ClusterRoleAggregation => self.built_in.cluster_roles = true,
                Controller::ValidatingAdmissionPolicyStatus => self.built_in.policy_status = true,
                _ => {}
            }
        }
        self
    }

    /// All [available](Self::available_controllers) controllers that kube-controller-manager runs by default, the scheduler, and a kubelet
    /// [by rule](Self::pods): the cluster lives, as a real one does.
    #[must_use]
    pub fn like_a_cluster(self) -> Self {
        self.controllers(Self::available_controllers().filter(|one| one.is_usual() || one.is_of_nodes()))
            .furnished(true)
    }

    /// Whether the cluster comes with a class of volumes, `standard`, which is the default one, and with the kind `PodRule`; off by default, and
    /// on with [`like_a_cluster`](Self::like_a_cluster). Without a controller nothing comes.
    #[must_use]
    pub fn furnished(mut self, on: bool) -> Self {
        self.controllers.furnished = on;
        self
    }

    /// The rules by which pods run if [`Controller::Kubelet`] does. By default they are ready as soon as they have a node; those of jobs succeed.
    #[must_use]
    pub fn pods(mut self, rules: PodRules) -> Self {
        self.controllers.pods = rules;
        self
    }

    /// The stages, as kwok has them, by which nodes and the pods without a rule go through their lives if [`Controller::Kubelet`] runs. With stages
    /// of nodes, those are registered without conditions.
    #[must_use]
    pub fn stages(mut self, stages: Stages) -> Self {
        self.controllers.stages = stages;
        self
    }

    /// The nodes that [`Controller::Kubelet`] registers; `node-1` by default.
    #[must_use]
    pub fn nodes<N: Into<String>>(mut self, names: impl IntoIterator<Item = N>) -> Self {
        self.controllers.nodes = names.into_iter().map(Into::into).collect();
        self
    }

    /// The authority, a certificate and its key as PEM, by which [`Controller::CertificateSigning`] signs. By default it has one of its own,
    /// whose certificates the server takes as those of clients; one that is given is [to be trusted](Self::client_ca_pem) for that. PEM that
    /// cannot be used fails the start.
    #[must_use]
    pub fn cluster_signing_pem(self, certificate: &str, key: &str) -> Self {
        let signing = Signing::from_pem(certificate, key).map_err(StartError::ClusterSigning);
        self.checked(signing, |builder, signing| builder.controllers.signing = signing)
    }

    /// Gives the signer of certificates, if it runs and has none, an authority of its own, which clients are trusted by.
    pub(super) fn add_signing_authority(&mut self) -> Result<(), StartError> {
        let Settings { kinds, signing, .. } = &self.controllers;
        if signing.is_given() || !kinds.contains(&Controller::CertificateSigning) {
            return Ok(());
        }
        let pair = tls::authority(SIGNER)?;
        let own = ClientAuthorities::from_pem(&pair.certificate).map_err(StartError::ClientAuthorities)?;
        let trusted = match &self.authentication.client_authorities {
            Some(given) => given.and(&own).map_err(StartError::ClientAuthorities)?,
            None => own,
        };
        self.authentication.client_authorities = Some(trusted);
        self.controllers.signing =
            Signing::from_pem(&pair.certificate, &pair.key).map_err(StartError::ClusterSigning)?;
        Ok(())
    }

    /// The controllers that can run in this build.
    pub fn available_controllers() -> impl Iterator<Item = Controller> {
        Controller::ALL.iter().copied().filter(|one| is_built(*one))
    }

    /// Whether the tokens controller makes a token secret for every service account, as up to Kubernetes 1.23; off by
    /// default. It fails the start without that controller.
    #[must_use]
    pub fn auto_generate_tokens(mut self, on: bool) -> Self {
        self.controllers.auto_generate_tokens = on;
        self
    }

    pub(super) fn check_controllers(&self) -> Result<(), StartError> {
        let Settings { kinds, auto_generate_tokens, .. } = &self.controllers;
        if let Some(missing) = kinds.iter().find(|one| !is_built(**one)) {
            return Err(StartError::ControllerNotBuilt(*missing));
        }
        match *auto_generate_tokens && !kinds.contains(&Controller::ServiceAccountToken) {
            true => Err(StartError::NoTokensController),
            false => Ok(()),
        }
    }

    /// Adds the user of the controllers that are clients over a connection, if there are any, and returns its token.
    pub(super) fn add_controllers_user(self, ids: &Ids) -> (Self, Option<String>) {
        #[cfg(feature = "controllers")]
        if self.controllers.kinds.iter().any(|one| making(*one) == Making::Port) {
            let token = format!("controllers-{}", ids.uid());
            return (self.add_static_token(&token, USER, &[SYSTEM_PRIVILEGED_GROUP]), Some(token));
        }
        let _ = ids;
        (self, None)
    }
}

/// Whether a controller can run.
fn is_built(controller: Controller) -> bool {
    match making(controller) {
        Making::Loop | Making::Server => true,
        Making::Port => cfg!(feature = "controllers"),
        Making::Nobody => false,
    }
}

impl FakeApiServer {
    /// Starts the controllers; those that are clients over a connection with that token.
    pub(in crate::server) fn start_controllers(&mut self, settings: &Settings, token: Option<&str>) {
        let loops: Vec<_> = settings.kinds.iter().filter(|one| making(**one) == Making::Loop).collect();
        if loops.is_empty() && token.is_none() {
            return;
        }
        let made = loops.into_iter().filter_map(|one| one.make(&tools(settings))).collect::<Vec<_>>();
        let living = (!made.is_empty()).then(|| {
            let runtime = threads::runtime().expect("binding the ports has started them");
            Living::start(self.first().inner().clone(), made, settings.furnished, self.shutdown.child_token(), &runtime)
        });
        if let Some(living) = &living {
            self.cluster.kubelets.fill(living.kubelets());
        }
        self.controllers = Some(Controllers {
            store: self.cluster.store.clone(),
            recorder: self.cluster.log.recorder().clone(),
            settings: settings.clone(),
            living,
            #[cfg(feature = "controllers")]
            ported: token.map(|token| self.start_ported(settings, token)),
        });
    }

    /// Starts the controllers that are clients over a connection, with the server's signing key and certificate authority.
    #[cfg(feature = "controllers")]
    fn start_ported(&self, settings: &Settings, token: &str) -> crate::controllers::Ported {
        use crate::clock::Clock as _;

        let clock = self.first().clock();
        let mut config = self.kube_config_for(0, token);
        // The connection does not leave the process, and a given certificate may have other names than its address.
        config.accept_invalid_certs = true;
        let context = ControllerContext {
            config,
            cluster: self.cluster.clone(),
            ca_pem: self.ca_pem.clone().unwrap_or_default(),
            clock: std::sync::Arc::new(move || clock.now()),
            stop: self.shutdown.child_token(),
        };
        crate::controllers::Ported::start(settings, context)
    }
}
