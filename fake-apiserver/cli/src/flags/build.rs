//! The server that the flags describe.

use super::Flags;
use super::controllers::{chosen, is_wanted};
use super::gates::Setting;
use super::told;
use super::values::Listed;
use anyhow::Context;
use fake_apiserver::{
    AuthorizationMode, Builder, Controller, FakeApiServer, IdentityError, StageError, Stages, StartError,
};
use fake_apiserver_check::capture;
use std::path::Path;
use std::time::Duration;

const CLIENT_CA_FILE: &str = "client-ca-file";
const CLUSTER_SIGNING_CERT_FILE: &str = "cluster-signing-cert-file";
const CLUSTER_SIGNING_KEY_FILE: &str = "cluster-signing-key-file";
const SERVICE_ACCOUNT_KEY_FILE: &str = "service-account-key-file";
const SIGNING_KEY_FILE: &str = "service-account-signing-key-file";
const STAGES: &str = "stages";
const TLS_CERT_FILE: &str = "tls-cert-file";
const TLS_PRIVATE_KEY_FILE: &str = "tls-private-key-file";
const TOKEN_AUTH_FILE: &str = "token-auth-file";

impl Flags {
    /// A builder of the server that the flags describe, with the builder's defaults for the others.
    ///
    /// # Errors
    /// If a file that a flag names cannot be read, or the endpoints of the service `kubernetes` cannot be as flags have them.
    pub fn builder(&self) -> anyhow::Result<Builder> {
        let mut builder = FakeApiServer::builder().bind_address(self.bind_address).secure_port(self.secure_port);
        if let (Some(certificate), Some(key)) = (&self.tls_cert_file, &self.tls_private_key_file) {
            builder = builder.tls_identity(read(TLS_CERT_FILE, certificate)?, read(TLS_PRIVATE_KEY_FILE, key)?);
        }
        builder = given(builder, self.cert_dir.as_ref(), Builder::cert_dir);
        builder = self.tls_san.iter().fold(builder, Builder::add_tls_name);
        builder = builder.kubernetes_endpoints(self.endpoints()?);
        builder = given(builder, self.advertised(), Builder::advertise_address);
        builder = given(builder, self.external_hostname.as_ref(), Builder::external_hostname);
        let directives = &self.strict_transport_security_directives;
        builder = given(builder, listed(directives), Builder::strict_transport_security);
        let origins = self.cors_allowed_origins.iter().flat_map(|Listed(origins)| origins.iter().cloned());
        builder = builder.cors_allowed_origins(origins);
        builder = given(builder, self.goaway_chance, Builder::goaway_chance);
        if let Some(path) = &self.token_auth_file {
            builder = builder.add_token_file(&path.to_string_lossy(), &read(TOKEN_AUTH_FILE, path)?);
        }
        if let Some(path) = &self.client_ca_file {
            builder = builder.client_ca_pem(&read(CLIENT_CA_FILE, path)?);
        }
        for path in &self.service_account_key_file {
            builder = builder.add_service_account_key_pem(read(SERVICE_ACCOUNT_KEY_FILE, path)?.as_bytes());
        }
        if let Some(path) = &self.service_account_signing_key_file {
            builder = builder.service_account_signing_key_pem(read(SIGNING_KEY_FILE, path)?.as_bytes());
        }
        let choices = self.choices();
        let wanted = |one: Controller, default| is_wanted(one, &choices, default);
        builder = builder.namespace_controller(wanted(Controller::Namespace, !self.is_bare));
        builder = builder.cluster_role_aggregation(wanted(Controller::ClusterRoleAggregation, !self.is_bare));
        builder =
            builder.controllers(chosen(&choices)).furnished(self.like_a_cluster).nodes(self.nodes.iter().cloned());
        builder = given(builder, self.pods.clone(), Builder::pods);
        if let Some(path) = &self.stages {
            builder = builder.stages(stages(path)?);
        }
        if let (Some(certificate), Some(key)) = (&self.cluster_signing_cert_file, &self.cluster_signing_key_file) {
            let certificate = read(CLUSTER_SIGNING_CERT_FILE, certificate)?;
            builder = builder.cluster_signing_pem(&certificate, &read(CLUSTER_SIGNING_KEY_FILE, key)?);
        }
        builder = given(builder, self.auto_generate_tokens, Builder::auto_generate_tokens);
        for (replica, seconds) in &self.clock_offset {
            builder = builder.clock_offset(*replica, *seconds);
        }
        builder = given(builder, self.control.clock(), Builder::clock);
        builder = given(builder, self.control.record.as_ref(), Builder::record);
        builder = given(builder, self.replayed.as_ref(), Builder::replay);
        builder = builder.record_requests(self.control.is_on()).coverage(self.control.coverage.is_some());
        builder = given(builder, self.insecure_port, Builder::insecure_port);
        builder = given(builder, self.denies_anonymous(), Builder::anonymous_auth);
        let mut authentication = self.authentication.options.clone();
        authentication.anonymous = self.anonymous_auth;
        builder = builder.authentication(authentication);
        let mut authorization = self.authorization.options.clone();
        authorization.modes.clone_from(&self.authorization_mode);
        builder = builder.authorization(authorization);
        builder = given(builder, listed(&self.service_account_issuer), Builder::service_account_issuers);
        builder = given(builder, self.service_account_lookup, Builder::service_account_lookup);
        let extend = self.service_account_extend_token_expiration;
        builder = given(builder, extend, Builder::service_account_extend_token_expiration);
        let max = self.service_account_max_token_expiration;
        builder = given(builder, max, Builder::service_account_max_token_expiration);
        builder = given(builder, listed(&self.api_audiences), Builder::api_audiences);
        builder = given(builder, self.allow_privileged.or(self.is_bare.then_some(false)), Builder::allow_privileged);
        builder = given(builder, self.service_cluster_ip_range.clone(), Builder::service_cluster_ip_range);
        builder = given(builder, self.service_node_port_range.clone(), Builder::service_node_port_range);
        for one in &self.resolve_service {
            builder = builder.add_service_address(&one.namespace, &one.name, one.port, one.address);
        }
        if let (Some(certificate), Some(key)) = (&self.proxy_client_cert_file, &self.proxy_client_key_file) {
            builder = builder.proxy_client_certificate(certificate, key);
        }
        builder = builder.enable_admission_plugins(named(&self.enable_admission_plugins));
        builder = builder.disable_admission_plugins(named(&self.disable_admission_plugins));
        let file = self.admission_control_config_file.as_ref();
        builder = given(builder, file, Builder::admission_control_config_file);
        builder = builder.runtime_config(self.runtime_config.iter().filter(|(key, _)| !key.is_empty()).cloned());
        for gate in &self.feature_gates {
            match gate {
                Setting::BoundTokens(value) => builder = builder.bound_service_account_token_volume(*value),
                Setting::Flagz(value) => builder = builder.flagz(*value),
                Setting::Statusz(value) => builder = builder.statusz(*value),
                Setting::Manifests(value) => builder = builder.manifest_based_admission_control_config(*value),
                Setting::Default => {}
            }
        }
        builder = builder.flags(self.told());
        builder = builder.audit(self.audit.options.clone());
        if !self.allow_metric_labels.is_empty() {
            builder = builder.allow_metric_labels(told::pairs_of(&self.allow_metric_labels));
        }
        builder = given(builder, self.enable_priority_and_fairness, Builder::priority_and_fairness);
        builder = given(builder, self.max_requests_inflight, Builder::max_requests_inflight);
        builder = given(builder, self.max_mutating_requests_inflight, Builder::max_mutating_requests_inflight);
        builder = given(builder, self.http2_max_streams_per_connection, Builder::http2_max_streams_per_connection);
        builder = given(builder, self.max_connections, Builder::max_connections);
        builder = given(builder, self.replicas, Builder::replicas);
        builder = given(builder, self.history, Builder::history);
        builder = given(builder, self.request_timeout, Builder::request_timeout);
        builder = given(builder, self.latency, Builder::write_latency);
        let shortest = self.min_request_timeout.map(|seconds| Duration::from_secs(seconds.into()));
        builder = given(builder, shortest, Builder::min_request_timeout);
        builder = given(builder, self.history_bytes, Builder::history_bytes);
        if let Some(path) = &self.load {
            let failed = || format!("unable to load --load {}", path.display());
            builder = builder.load(capture::read(path).with_context(failed)?.objects);
        }
        Ok(given(builder, self.seed, Builder::seed))
    }

    /// `Some(false)` where kube-apiserver has no anonymous requests: if everything is allowed, and that was said.
    pub(super) fn denies_anonymous(&self) -> Option<bool> {
        let modes = &self.authorization_mode;
        let is_default = modes.is_empty() && self.authorization.options.config_file.is_none();
        let allows_all = modes.contains(&AuthorizationMode::AlwaysAllow) || (is_default && self.is_bare);
        allows_all.then_some(false)
    }

    /// Starts the server that the flags describe, with the state that another one has left.
    ///
    /// # Errors
    /// Those of [`builder`](Self::builder) and [`Builder::start`]; those about a file name it and its flag.
    pub async fn start(&self, state: Option<Vec<u8>>) -> anyhow::Result<FakeApiServer> {
        given(self.builder()?, state, Builder::restore).start().await.map_err(|error| match self.culprit(&error) {
            Some((flag, path)) => anyhow::Error::new(error).context(format!("--{flag} {}", path.display())),
            None => error.into(),
        })
    }

    /// The flag and the file that an error is about.
    fn culprit(&self, error: &StartError) -> Option<(&'static str, &Path)> {
        let (flag, path) = match error {
            StartError::ClientAuthorities(_) => (CLIENT_CA_FILE, self.client_ca_file.as_ref()),
            StartError::ClusterSigning(_) => (CLUSTER_SIGNING_CERT_FILE, self.cluster_signing_cert_file.as_ref()),
            StartError::ServiceAccountKey { index, .. } => {
                (SERVICE_ACCOUNT_KEY_FILE, self.service_account_key_file.get(*index))
            }
            StartError::ServiceAccountSigningKey(_) => {
                (SIGNING_KEY_FILE, self.service_account_signing_key_file.as_ref())
            }
            StartError::Identity(IdentityError::NoPair { .. } | IdentityError::Folder { .. }) => return None,
            StartError::Identity(IdentityError::Key(_)) if self.tls_private_key_file.is_some() => {
                (TLS_PRIVATE_KEY_FILE, self.tls_private_key_file.as_ref())
            }
            StartError::Identity(_) if self.tls_cert_file.is_some() => (TLS_CERT_FILE, self.tls_cert_file.as_ref()),
            // One that is made is sound.
            StartError::Identity(IdentityError::Generate(_)) => return None,
            StartError::Identity(_) => ("cert-dir", self.cert_dir.as_ref()),
            _ => return None,
        };
        Some((flag, path?))
    }
}

fn given<T>(builder: Builder, value: Option<T>, set: impl FnOnce(Builder, T) -> Builder) -> Builder {
    match value {
        Some(value) => set(builder, value),
        None => builder,
    }
}

fn listed<T: Clone>(values: &[T]) -> Option<Vec<T>> {
    (!values.is_empty()).then(|| values.to_vec())
}

/// The items of a list, which has none if its text is empty.
fn named(items: &[String]) -> impl Iterator<Item = String> {
    items.iter().filter(|item| !item.is_empty()).cloned()
}

/// The stages in a file.
fn stages(path: &Path) -> anyhow::Result<Stages> {
    let text = read(STAGES, path)?;
    text.parse()
        .map_err(|StageError { line, message }| anyhow::anyhow!("--{STAGES} {}:{line}: {message}", path.display()))
}

fn read(flag: &str, path: &Path) -> anyhow::Result<String> {
    std::fs::read_to_string(path).with_context(|| format!("unable to read --{flag} {}", path.display()))
}
