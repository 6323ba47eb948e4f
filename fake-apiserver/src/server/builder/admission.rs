//! Admission: plugins, policies, and privileged containers. The flags named here are kube-apiserver's.

use super::Builder;
use crate::admission::Tokens;
use std::path::PathBuf;

impl Builder {
    /// Admission plugins that are on besides those that are by default (`--enable-admission-plugins`); none by default.
    /// An unknown name fails the start.
    #[must_use]
    pub fn enable_admission_plugins<N: Into<String>>(mut self, names: impl IntoIterator<Item = N>) -> Self {
        self.admission.enabled = names.into_iter().map(Into::into).collect();
        self
    }

    /// A file with the configurations of admission plugins (`--admission-control-config-file`): an `AdmissionConfiguration` of
    /// `apiserver.config.k8s.io/v1`. It is read at the start, which fails if it is wrong.
    #[must_use]
    pub fn admission_control_config_file(mut self, path: impl Into<PathBuf>) -> Self {
        self.admission.file = Some(path.into());
        self
    }

    /// The configuration of an admission plugin, as it would stand in that file, in YAML or JSON. It goes before the file's. A wrong one
    /// fails the start.
    #[must_use]
    pub fn add_admission_configuration(mut self, plugin: impl Into<String>, configuration: impl Into<String>) -> Self {
        self.admission.configuration.add(plugin.into(), configuration.into());
        self
    }

    /// Whether the plugin `ServiceAccount` gives pods tokens that are bound to them
    /// (`--feature-gates=BoundServiceAccountTokenVolume`); on by default. If it is off, the plugin mounts the token secrets
    /// that accounts refer to, as before Kubernetes 1.21, and creates of pods wait for these.
    #[must_use]
    pub fn bound_service_account_token_volume(mut self, on: bool) -> Self {
        self.admission.tokens = if on { Tokens::Bound } else { Tokens::InSecrets };
        self
    }

    /// Whether webhooks and policies may be in files (`--feature-gates=ManifestBasedAdmissionControlConfig`), whose names are refused to
    /// clients; on by default.
    #[must_use]
    pub fn manifest_based_admission_control_config(mut self, on: bool) -> Self {
        self.admission.without_manifests = !on;
        self
    }

    /// Whether containers may be privileged (`--allow-privileged`); they may by default, unlike in kube-apiserver.
    #[must_use]
    pub fn allow_privileged(mut self, allow: bool) -> Self {
        self.allow_privileged = allow;
        self
    }

    /// Whether the server checks the types of the expressions of validating admission policies, and writes what it finds into their status,
    /// as kube-controller-manager does; off by default.
    #[must_use]
    pub fn validating_admission_policy_status(mut self, on: bool) -> Self {
        self.built_in.policy_status = on;
        self
    }

    /// Admission plugins that are off (`--disable-admission-plugins`). Without `NamespaceLifecycle` namespaces need not exist.
    #[must_use]
    pub fn disable_admission_plugins<N: Into<String>>(mut self, names: impl IntoIterator<Item = N>) -> Self {
        self.admission.disabled = names.into_iter().map(Into::into).collect();
        self
    }
}
