//! The plugins by name: which there are, and which of them a server is to have.
//!
//! The names and their order are `AllOrderedPlugins` of `pkg/kubeapiserver/options/plugins.go` (v1.37.1).

use super::node_restriction::NodeRestriction;
use super::service_account::{ServiceAccounts, Tokens};
use super::{Chain, Plugin};

/// What this server makes of a plugin of the real one.
enum Plugged {
    /// Compiled in, and always on.
    Always,
    /// Off unless enabled.
    OnDemand(fn(&Config) -> Box<dyn Plugin>),
    /// Not here.
    Absent,
}
use Plugged::{Absent, Always, OnDemand};

const PLUGINS: &[(&str, Plugged)] = &[
    ("AlwaysAdmit", Absent),
    ("NamespaceAutoProvision", Absent),
    ("NamespaceLifecycle", Always),
    ("NamespaceExists", Absent),
    ("LimitPodHardAntiAffinityTopology", Absent),
    ("LimitRanger", Absent),
    ("ServiceAccount", OnDemand(|config| Box::new(ServiceAccounts { tokens: config.tokens }))),
    ("NodeRestriction", OnDemand(|_| Box::new(NodeRestriction))),
    ("TaintNodesByCondition", Always),
    ("AlwaysPullImages", Absent),
    ("ImagePolicyWebhook", Absent),
    ("PodSecurity", Absent),
    ("PodNodeSelector", Absent),
    ("Priority", Always),
    ("DefaultTolerationSeconds", Always),
    ("PodTolerationRestriction", Absent),
    ("EventRateLimit", Absent),
    ("ExtendedResourceToleration", Absent),
    ("DefaultStorageClass", Absent),
    ("StorageObjectInUseProtection", Absent),
    ("PodGroupProtection", Absent),
    ("OwnerReferencesPermissionEnforcement", Absent),
    ("PersistentVolumeClaimResize", Absent),
    ("RuntimeClass", Always),
    ("CertificateApproval", Absent),
    ("CertificateSigning", Absent),
    ("ClusterTrustBundleAttest", Absent),
    ("CertificateSubjectRestriction", Absent),
    ("DefaultIngressClass", Absent),
    ("DenyServiceExternalIPs", Absent),
    ("PodTopologyLabels", Absent),
    ("NodeDeclaredFeatureValidator", Absent),
    ("PodResizeValidator", Absent),
    ("MutatingAdmissionPolicy", Absent),
    ("MutatingAdmissionWebhook", Absent),
    ("ValidatingAdmissionPolicy", Absent),
    ("ValidatingAdmissionWebhook", Absent),
    ("ResourceQuota", Absent),
    ("AlwaysDeny", Absent),
];

/// Why plugins cannot be chosen so. The first two are the real server's words.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub enum PluginError {
    /// Nobody knows a plugin of that name.
    #[error("{flag} plugin {name:?} is unknown")]
    Unknown {
        /// The flag that names it.
        flag: &'static str,
        /// The name.
        name: String,
    },
    /// Both on and off.
    #[error("[{}] in enable-admission-plugins and disable-admission-plugins overlapped", .0.join(" "))]
    Overlapped(Vec<String>),
    /// The real server has it, this one has not.
    #[error("fake-apiserver does not have the admission plugin {0}")]
    Absent(String),
    /// It is part of this server.
    #[error("fake-apiserver cannot do without the admission plugin {0}")]
    AlwaysOn(String),
}

/// What can be said of the plugins.
#[derive(Debug, Clone, Default)]
pub(crate) struct Config {
    /// `--enable-admission-plugins`.
    pub(crate) enabled: Vec<String>,
    /// `--disable-admission-plugins`. To disable what is not here is to say how it is.
    pub(crate) disabled: Vec<String>,
    /// For the plugin `ServiceAccount`.
    pub(crate) tokens: Tokens,
}

/// The chain of a server.
pub(crate) fn chain(config: &Config) -> Result<Chain, PluginError> {
    let Config { enabled, disabled, .. } = config;
    let plugged = |name: &String| PLUGINS.iter().find(|(known, _)| known == name).map(|(_, plugged)| plugged);
    for (flag, names) in [("enable-admission-plugins", enabled), ("disable-admission-plugins", disabled)] {
        if let Some(name) = names.iter().find(|name| plugged(name).is_none()) {
            return Err(PluginError::Unknown { flag, name: name.clone() });
        }
    }
    let mut both: Vec<String> = enabled.iter().filter(|name| disabled.contains(name)).cloned().collect();
    if !both.is_empty() {
        both.sort();
        both.dedup();
        return Err(PluginError::Overlapped(both));
    }
    if let Some(name) = disabled.iter().find(|name| matches!(plugged(name), Some(Always))) {
        return Err(PluginError::AlwaysOn(name.clone()));
    }
    let mut chain = Vec::new();
    for (name, plugged) in PLUGINS.iter().filter(|(name, _)| enabled.iter().any(|enabled| enabled == name)) {
        match plugged {
            Always => {}
            OnDemand(make) => chain.push(make(config)),
            Absent => return Err(PluginError::Absent(name.to_string())),
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
            ("", "", Ok(0)),
            ("Priority,NamespaceLifecycle", "", Ok(0)),
            ("ServiceAccount", "", Ok(1)),
            ("ServiceAccount,NodeRestriction", "", Ok(2)),
            ("", "LimitRanger,ResourceQuota,ServiceAccount", Ok(0)),
            ("Foo", "", Err("enable-admission-plugins plugin \"Foo\" is unknown")),
            ("", "Foo", Err("disable-admission-plugins plugin \"Foo\" is unknown")),
            (
                "RuntimeClass,Priority",
                "Priority,RuntimeClass",
                Err("[Priority RuntimeClass] in enable-admission-plugins and disable-admission-plugins overlapped"),
            ),
            ("AlwaysDeny", "", Err("fake-apiserver does not have the admission plugin AlwaysDeny")),
            ("", "Priority", Err("fake-apiserver cannot do without the admission plugin Priority")),
        ] {
            let config = Config { enabled: names(enabled), disabled: names(disabled), ..Config::default() };
            let found = chain(&config).map(|chain| chain.0.len());
            assert_eq!(found.map_err(|error| error.to_string()), expected.map_err(str::to_string));
        }
    }
}
