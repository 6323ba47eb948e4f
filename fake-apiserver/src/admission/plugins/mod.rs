//! The admission plugins by name, and the choice of those that a server has.
//!
//! The names and their order are `AllOrderedPlugins` of `pkg/kubeapiserver/options/plugins.go` (v1.37.1).

mod always_deny;
mod always_pull_images;
mod certificates;
mod default_class;
mod default_toleration_seconds;
mod deny_service_external_ips;
mod event_rate_limit;
mod extended_resource_toleration;
mod hard_anti_affinity;
mod limit_ranger;
mod mutating_admission_policy;
mod names;
mod namespace_auto_provision;
mod namespace_exists;
pub(super) mod namespace_lifecycle;
mod node_declared_features;
mod node_restriction;
mod owner_references;
mod persistent_volume_claim_resize;
mod pod_node_selector;
mod pod_resize;
mod pod_security;
mod pod_toleration_restriction;
mod pod_topology_labels;
mod priority;
mod resource_quota;
mod runtime_class;
mod service_account;
mod storage_object_in_use_protection;
mod taint_nodes_by_condition;
mod tolerations;
mod validating_admission_policy;
mod webhooks;

pub(crate) use namespace_lifecycle::{missing as namespace_missing, terminating as namespace_terminating};

use super::chain::Chain;
use super::config::Config;
use super::configuration::Configuration;
use super::error::PluginError;
use super::plugin::Plugin;
use always_deny::AlwaysDeny;
use always_pull_images::AlwaysPullImages;
use certificates::{SignerPermission, SubjectRestriction};
use default_toleration_seconds::DefaultTolerationSeconds;
use deny_service_external_ips::DenyServiceExternalIps;
use event_rate_limit::EventRateLimit;
use extended_resource_toleration::ExtendedResourceToleration;
use hard_anti_affinity::HardAntiAffinity;
use limit_ranger::LimitRanger;
use mutating_admission_policy::MutatingAdmissionPolicy;
use namespace_auto_provision::NamespaceAutoProvision;
use namespace_exists::NamespaceExists;
use namespace_lifecycle::NamespaceLifecycle;
use node_declared_features::NodeDeclaredFeatures;
use node_restriction::NodeRestriction;
use owner_references::OwnerReferences;
use persistent_volume_claim_resize::PersistentVolumeClaimResize;
use pod_node_selector::PodNodeSelector;
use pod_resize::PodResize;
use pod_security::PodSecurity;
use pod_toleration_restriction::PodTolerationRestriction;
use pod_topology_labels::PodTopologyLabels;
use priority::Priority;
pub(crate) use resource_quota::QuotaMeasure;
use resource_quota::ResourceQuota;
use runtime_class::RuntimeClass;
use service_account::ServiceAccounts;
use storage_object_in_use_protection::StorageObjectInUseProtection;
use taint_nodes_by_condition::TaintNodesByCondition;
use validating_admission_policy::ValidatingAdmissionPolicy;
use webhooks::mutating::{self, MutatingWebhooks};
use webhooks::validating::{self, ValidatingWebhooks};

/// The making of a plugin with a configuration.
type Configure = fn(&Config) -> Result<Box<dyn Plugin>, PluginError>;

/// The support of this server for a plugin of the real one.
enum Support {
    /// On unless disabled.
    Default(fn(&Config) -> Box<dyn Plugin>),
    /// Off unless enabled.
    Optional(fn(&Config) -> Box<dyn Plugin>),
    /// With a configuration, which may be wrong; on by default or not.
    Configured(bool, Configure),
    /// Without effect in the real server either.
    Idle,
    /// GAP: admission plugins: `ImagePolicyWebhook`
    Missing,
}
use Support::{Configured, Default, Idle, Missing, Optional};

const PLUGINS: &[(&str, Support)] = &[
    ("AlwaysAdmit", Idle),
    ("NamespaceAutoProvision", Optional(|_| Box::new(NamespaceAutoProvision))),
    (namespace_lifecycle::NAME, Default(|_| Box::new(NamespaceLifecycle))),
    ("NamespaceExists", Optional(|_| Box::new(NamespaceExists))),
    ("LimitPodHardAntiAffinityTopology", Optional(|_| Box::new(HardAntiAffinity))),
    ("LimitRanger", Default(|_| Box::new(LimitRanger))),
    ("ServiceAccount", Optional(|config| Box::new(ServiceAccounts { tokens: config.tokens }))),
    ("NodeRestriction", Optional(|_| Box::new(NodeRestriction))),
    ("TaintNodesByCondition", Default(|_| Box::new(TaintNodesByCondition))),
    ("AlwaysPullImages", Optional(|_| Box::new(AlwaysPullImages))),
    ("ImagePolicyWebhook", Missing),
    ("PodSecurity", Configured(true, PodSecurity::configured)),
    ("PodNodeSelector", Configured(false, PodNodeSelector::configured)),
    ("Priority", Default(|_| Box::new(Priority))),
    ("DefaultTolerationSeconds", Default(|_| Box::new(DefaultTolerationSeconds))),
    ("PodTolerationRestriction", Configured(false, PodTolerationRestriction::configured)),
    ("EventRateLimit", Configured(false, EventRateLimit::configured)),
    ("ExtendedResourceToleration", Optional(|_| Box::new(ExtendedResourceToleration))),
    ("DefaultStorageClass", Default(|_| Box::new(default_class::STORAGE))),
    ("StorageObjectInUseProtection", Default(|_| Box::new(StorageObjectInUseProtection))),
    ("PodGroupProtection", Idle),
    ("OwnerReferencesPermissionEnforcement", Optional(|_| Box::new(OwnerReferences))),
    ("PersistentVolumeClaimResize", Default(|_| Box::new(PersistentVolumeClaimResize))),
    ("RuntimeClass", Default(|_| Box::new(RuntimeClass))),
    ("CertificateApproval", Default(|_| Box::new(SignerPermission::Approve))),
    ("CertificateSigning", Default(|_| Box::new(SignerPermission::Sign))),
    ("ClusterTrustBundleAttest", Default(|_| Box::new(SignerPermission::Attest))),
    ("CertificateSubjectRestriction", Default(|_| Box::new(SubjectRestriction))),
    ("DefaultIngressClass", Default(|_| Box::new(default_class::INGRESS))),
    ("DenyServiceExternalIPs", Optional(|_| Box::new(DenyServiceExternalIps))),
    ("PodTopologyLabels", Default(|_| Box::new(PodTopologyLabels))),
    ("NodeDeclaredFeatureValidator", Default(|_| Box::new(NodeDeclaredFeatures))),
    ("PodResizeValidator", Default(|_| Box::new(PodResize))),
    (mutating_admission_policy::NAME, Configured(true, MutatingAdmissionPolicy::configured)),
    (mutating::NAME, Configured(true, MutatingWebhooks::configured)),
    (validating_admission_policy::NAME, Configured(true, ValidatingAdmissionPolicy::configured)),
    (validating::NAME, Configured(true, ValidatingWebhooks::configured)),
    ("ResourceQuota", Configured(true, ResourceQuota::configured)),
    ("AlwaysDeny", Optional(|_| Box::new(AlwaysDeny))),
];

/// The plugins that upstream advises against.
const DEPRECATED: [&str; 2] = ["AlwaysAdmit", "AlwaysDeny"];

/// The chain of a server.
pub(crate) fn chain(config: &Config) -> Result<Chain, PluginError> {
    let Config { enabled, disabled, .. } = config;
    let support = |name: &String| PLUGINS.iter().find(|(known, _)| known == name).map(|(_, support)| support);
    for (flag, names) in [("enable-admission-plugins", enabled), ("disable-admission-plugins", disabled)] {
        if let Some(name) = names.iter().find(|name| support(name).is_none()) {
            return Err(PluginError::Unknown { flag, name: name.clone() });
        }
    }
    let mut both: Vec<String> = enabled.iter().filter(|name| disabled.contains(name)).cloned().collect();
    if !both.is_empty() {
        both.sort();
        both.dedup();
        return Err(PluginError::Overlapped(both));
    }
    for name in DEPRECATED.into_iter().filter(|name| enabled.iter().any(|enabled| enabled == name)) {
        let advice = "Please remove this controller from your configuration files and scripts.";
        tracing::warn!("{name} admission controller is deprecated. {advice}");
    }
    let read;
    let config = match &config.file {
        None => config,
        Some(file) => {
            let configuration = config.configuration.clone().and(Configuration::read(file)?);
            read = Config { configuration, ..config.clone() };
            &read
        }
    };
    let mut chain = Vec::new();
    for (name, support) in PLUGINS {
        let enabled = enabled.iter().any(|enabled| enabled == name);
        let disabled = disabled.iter().any(|disabled| disabled == name);
        match support {
            Default(make) if !disabled => chain.push((*name, make(config))),
            Optional(make) if enabled => chain.push((*name, make(config))),
            Configured(default, make) if enabled || *default && !disabled => chain.push((*name, make(config)?)),
            Missing if enabled => return Err(PluginError::Missing(name.to_string())),
            Default(_) | Optional(_) | Configured(..) | Idle | Missing => {}
        }
    }
    Ok(Chain(chain))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plugins_are_chosen_by_name() {
        let names = |text: &str| text.split_terminator(',').map(str::to_string).collect::<Vec<_>>();
        let chosen = |enabled: &str, disabled: &str| {
            let config = Config { enabled: names(enabled), disabled: names(disabled), ..Config::default() };
            let chain = chain(&config).map_err(|error| error.to_string())?;
            Ok::<_, String>(chain.0.into_iter().map(|(name, _)| name).collect::<Vec<_>>())
        };
        let default = chosen("", "").unwrap();
        // Those that are added to the default ones, and those that are missing from them.
        for (enabled, disabled, expected) in [
            ("Priority,NamespaceLifecycle", "", Ok(("", ""))),
            ("ServiceAccount", "", Ok(("ServiceAccount", ""))),
            ("NodeRestriction,ServiceAccount", "", Ok(("ServiceAccount,NodeRestriction", ""))),
            ("", "LimitRanger,ResourceQuota,ServiceAccount", Ok(("", "LimitRanger,ResourceQuota"))),
            ("", "TaintNodesByCondition,Priority", Ok(("", "TaintNodesByCondition,Priority"))),
            ("", "NamespaceLifecycle", Ok(("", "NamespaceLifecycle"))),
            ("Foo", "", Err("enable-admission-plugins plugin \"Foo\" is unknown")),
            ("", "Foo", Err("disable-admission-plugins plugin \"Foo\" is unknown")),
            (
                "RuntimeClass,Priority",
                "Priority,RuntimeClass",
                Err("[Priority RuntimeClass] in enable-admission-plugins and disable-admission-plugins overlapped"),
            ),
            ("ImagePolicyWebhook", "", Err("fake-apiserver does not have the admission plugin ImagePolicyWebhook")),
        ] {
            let without = |some: &[&'static str], others: &[&str]| {
                some.iter().filter(|name| !others.contains(name)).copied().collect::<Vec<_>>().join(",")
            };
            let found = chosen(enabled, disabled);
            let found = found.map(|found| (without(&found, &default), without(&default, &found)));
            let expected = expected.map(|(more, less)| (more.to_string(), less.to_string())).map_err(str::to_string);
            assert_eq!(found, expected, "{enabled} {disabled}");
        }
    }
}
