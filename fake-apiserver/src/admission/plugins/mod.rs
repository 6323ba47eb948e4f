//! The admission plugins by name, and the choice of those that a server has.
//!
//! The names and their order are `AllOrderedPlugins` of `pkg/kubeapiserver/options/plugins.go` (v1.37.1).

mod default_class;
mod default_toleration_seconds;
pub(super) mod namespace_lifecycle;
mod node_restriction;
mod persistent_volume_claim_resize;
mod pod_security;
mod priority;
mod runtime_class;
mod service_account;
mod storage_object_in_use_protection;
mod taint_nodes_by_condition;

pub(crate) use namespace_lifecycle::{missing as namespace_missing, terminating as namespace_terminating};
pub(crate) use service_account::Tokens;

use super::chain::Chain;
use super::plugin::Plugin;
use crate::store::Store;
use default_toleration_seconds::DefaultTolerationSeconds;
use namespace_lifecycle::NamespaceLifecycle;
use node_restriction::NodeRestriction;
use persistent_volume_claim_resize::PersistentVolumeClaimResize;
use pod_security::PodSecurity;
use priority::Priority;
use runtime_class::RuntimeClass;
use service_account::ServiceAccounts;
use storage_object_in_use_protection::StorageObjectInUseProtection;
use taint_nodes_by_condition::TaintNodesByCondition;

/// The support of this server for a plugin of the real one.
enum Support {
    /// On unless disabled.
    Default(fn(&Config, &Store) -> Box<dyn Plugin>),
    /// Off unless enabled.
    Optional(fn(&Config, &Store) -> Box<dyn Plugin>),
    /// Not supported.
    Missing,
}
use Support::{Default, Missing, Optional};

const PLUGINS: &[(&str, Support)] = &[
    ("AlwaysAdmit", Missing),
    ("NamespaceAutoProvision", Missing),
    (namespace_lifecycle::NAME, Default(|_, _| Box::new(NamespaceLifecycle))),
    ("NamespaceExists", Missing),
    ("LimitPodHardAntiAffinityTopology", Missing),
    ("LimitRanger", Missing),
    ("ServiceAccount", Optional(|config, _| Box::new(ServiceAccounts { tokens: config.tokens }))),
    ("NodeRestriction", Optional(|_, _| Box::new(NodeRestriction))),
    ("TaintNodesByCondition", Default(|_, _| Box::new(TaintNodesByCondition))),
    ("AlwaysPullImages", Missing),
    ("ImagePolicyWebhook", Missing),
    ("PodSecurity", Default(|_, _| Box::new(PodSecurity::default()))),
    ("PodNodeSelector", Missing),
    ("Priority", Default(|_, _| Box::new(Priority))),
    ("DefaultTolerationSeconds", Default(|_, _| Box::new(DefaultTolerationSeconds))),
    ("PodTolerationRestriction", Missing),
    ("EventRateLimit", Missing),
    ("ExtendedResourceToleration", Missing),
    ("DefaultStorageClass", Default(|_, _| Box::new(default_class::STORAGE))),
    ("StorageObjectInUseProtection", Default(|_, _| Box::new(StorageObjectInUseProtection))),
    ("PodGroupProtection", Missing),
    ("OwnerReferencesPermissionEnforcement", Missing),
    ("PersistentVolumeClaimResize", Default(|_, _| Box::new(PersistentVolumeClaimResize))),
    ("RuntimeClass", Default(|_, _| Box::new(RuntimeClass))),
    ("CertificateApproval", Missing),
    ("CertificateSigning", Missing),
    ("ClusterTrustBundleAttest", Missing),
    ("CertificateSubjectRestriction", Missing),
    ("DefaultIngressClass", Default(|_, _| Box::new(default_class::INGRESS))),
    ("DenyServiceExternalIPs", Missing),
    ("PodTopologyLabels", Missing),
    ("NodeDeclaredFeatureValidator", Missing),
    ("PodResizeValidator", Missing),
    ("MutatingAdmissionPolicy", Missing),
    ("MutatingAdmissionWebhook", Missing),
    ("ValidatingAdmissionPolicy", Missing),
    ("ValidatingAdmissionWebhook", Missing),
    ("ResourceQuota", Missing),
    ("AlwaysDeny", Missing),
];

/// The error of an invalid choice of plugins. The first two messages are the real server's.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
#[non_exhaustive]
pub enum PluginError {
    /// The real server does not have a plugin of that name either.
    #[error("{flag} plugin {name:?} is unknown")]
    Unknown {
        /// The flag that names it.
        flag: &'static str,
        /// The name of the plugin.
        name: String,
    },
    /// Plugins are both enabled and disabled.
    #[error("[{}] in enable-admission-plugins and disable-admission-plugins overlapped", .0.join(" "))]
    Overlapped(Vec<String>),
    /// The plugin exists in the real server only.
    #[error("fake-apiserver does not have the admission plugin {0}")]
    Missing(String),
}

/// The choice of plugins.
#[derive(Debug, Clone, std::default::Default)]
pub(crate) struct Config {
    /// `--enable-admission-plugins`.
    pub(crate) enabled: Vec<String>,
    /// `--disable-admission-plugins`. Disabling an unsupported plugin has no effect.
    pub(crate) disabled: Vec<String>,
    /// The kind of tokens that the plugin `ServiceAccount` mounts.
    pub(crate) tokens: Tokens,
}

/// The chain of a server with that store.
pub(crate) fn chain(config: &Config, store: &Store) -> Result<Chain, PluginError> {
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
    let mut chain = Vec::new();
    for (name, support) in PLUGINS {
        let enabled = enabled.iter().any(|enabled| enabled == name);
        let disabled = disabled.iter().any(|disabled| disabled == name);
        match support {
            Default(make) if !disabled => chain.push((*name, make(config, store))),
            Optional(make) if enabled => chain.push((*name, make(config, store))),
            Missing if enabled => return Err(PluginError::Missing(name.to_string())),
            Default(_) | Optional(_) | Missing => {}
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
        for (enabled, disabled, expected) in [
            ("", "", Ok(10)),
            ("Priority,NamespaceLifecycle", "", Ok(10)),
            ("ServiceAccount", "", Ok(11)),
            ("ServiceAccount,NodeRestriction", "", Ok(12)),
            ("", "LimitRanger,ResourceQuota,ServiceAccount", Ok(10)),
            ("", "TaintNodesByCondition,Priority", Ok(8)),
            ("Foo", "", Err("enable-admission-plugins plugin \"Foo\" is unknown")),
            ("", "Foo", Err("disable-admission-plugins plugin \"Foo\" is unknown")),
            (
                "RuntimeClass,Priority",
                "Priority,RuntimeClass",
                Err("[Priority RuntimeClass] in enable-admission-plugins and disable-admission-plugins overlapped"),
            ),
            ("AlwaysDeny", "", Err("fake-apiserver does not have the admission plugin AlwaysDeny")),
            ("", "NamespaceLifecycle", Ok(9)),
        ] {
            let config = Config { enabled: names(enabled), disabled: names(disabled), ..Config::default() };
            let found = chain(&config, &Store::new(1)).map(|chain| chain.0.len());
            assert_eq!(found.map_err(|error| error.to_string()), expected.map_err(str::to_string));
        }
    }
}
