//! The configuration of the plugin: the policy of namespaces without labels, and exemptions.
//!
//! Follows `admission/api` and `admission/api/validation` of `k8s.io/pod-security-admission` (v0.37.1).

use super::PodSecurity;
use super::policy::{Level, Policy, Standard, Version};
use crate::admission::Plugin;
use crate::admission::{Config, PluginError};
use crate::configuration::Strictness;
use crate::error::{Errors, Path, aggregate};
use crate::object::name;
use crate::registry::{items, text};
use std::fmt::Display;
use tree::Value;

const NAME: &str = "PodSecurity";
const KINDS: [(&str, &str); 3] = [
    ("pod-security.admission.config.k8s.io/v1", "PodSecurityConfiguration"),
    ("pod-security.admission.config.k8s.io/v1beta1", "PodSecurityConfiguration"),
    ("pod-security.admission.config.k8s.io/v1alpha1", "PodSecurityConfiguration"),
];

impl PodSecurity {
    /// The plugin with its configuration.
    ///
    /// # Errors
    /// If that is wrong.
    pub(in crate::admission::plugins) fn configured(config: &Config) -> Result<Box<dyn Plugin>, PluginError> {
        let configuration = config.decoded(NAME, &KINDS, Strictness::Strict)?.unwrap_or_default();
        let wrong = |why: &dyn Display| PluginError::not_initialized(NAME, format!("{NAME} {why}"));
        let defaults = defaults(&configuration["defaults"])
            .map_err(|errors| wrong(&format!("configuration error: {}", aggregate(errors))))?;
        let [mut exempt_users, mut exempt_namespaces, mut exempt_runtime_classes] = [const { Vec::new() }; 3];
        let errors = Errors::of(|errors| {
            let mut read =
                |field: &str, objections: fn(&str) -> Vec<String>| list(&configuration, field, objections, errors);
            exempt_namespaces = read("namespaces", name::dns_label);
            exempt_runtime_classes = read("runtimeClasses", name::dns_subdomain);
            exempt_users = read("usernames", |user| match user {
                "" => vec!["username must not be empty".into()],
                _ => Vec::new(),
            });
        });
        if !errors.is_empty() {
            return Err(wrong(&format!("invalid: {}", aggregate(errors.iter().map(ToString::to_string)))));
        }
        Ok(Box::new(PodSecurity { defaults, exempt_users, exempt_namespaces, exempt_runtime_classes }))
    }
}

/// The policy of namespaces without labels (`ToPolicy`), or all that is wrong with it.
fn defaults(defaults: &Value) -> Result<Policy, Vec<String>> {
    let mut errors = Vec::new();
    let mut standard = |mode: &str| {
        let given = |field: &str, default| match text(defaults, &format!("/{field}")) {
            "" => default,
            text => text,
        };
        let version_field = format!("{mode}-version");
        let level = Level::parse(given(mode, "privileged"));
        let version = Version::parse(given(&version_field, "latest"));
        errors.extend(level.err().map(|why| format!("{mode}: {why}")));
        errors.extend(version.err().map(|why| format!("{version_field}: {why}")));
        Standard { level: level.unwrap_or(Level::Restricted), version: version.unwrap_or(Version::Latest) }
    };
    let [enforce, audit, warn] = ["enforce", "audit", "warn"].map(&mut standard);
    if errors.is_empty() { Ok(Policy { enforce, audit, warn }) } else { Err(errors) }
}

/// A list of exemptions.
fn list(configuration: &Value, field: &str, objections: fn(&str) -> Vec<String>, errors: &mut Errors) -> Vec<String> {
    let mut valid: Vec<String> = Vec::new();
    let exemptions = Path::new("exemptions");
    for (index, exempt) in items(&configuration["exemptions"], &format!("/{field}")).iter().enumerate() {
        let (at, exempt) = (exemptions.item(field, index), exempt.as_str().unwrap_or_default());
        match objections(exempt) {
            found if !found.is_empty() => errors.invalid(at, exempt, found.join(", ")),
            _ if valid.iter().any(|other| other == exempt) => errors.duplicate(at, exempt),
            _ => valid.push(exempt.to_owned()),
        }
    }
    valid
}
