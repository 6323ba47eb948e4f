//! The pages about the process: `/flagz` and `/statusz`.

use super::Builder;
use crate::duration;
use crate::http::Pages;
use std::collections::BTreeMap;

impl Builder {
    /// Whether `/flagz` is served (`--feature-gates=ComponentFlagz`); on by default.
    #[must_use]
    pub fn flagz(mut self, on: bool) -> Self {
        self.page_gates.flagz = on;
        self
    }

    /// Whether `/statusz` is served (`--feature-gates=ComponentStatusz`); on by default.
    #[must_use]
    pub fn statusz(mut self, on: bool) -> Self {
        self.page_gates.statusz = on;
        self
    }

    /// The flags with their values that `/flagz` tells of, for a program that has some. By default they are kube-apiserver's flags for what
    /// the builder was told: addresses, authorization, admission, versions, issuers and limits.
    #[must_use]
    pub fn flags<K: Into<String>, V: Into<String>>(mut self, flags: impl IntoIterator<Item = (K, V)>) -> Self {
        self.page_gates.flags = Some(flags.into_iter().map(|(name, value)| (name.into(), value.into())).collect());
        self
    }

    /// The pages of a server with these settings, of which the issuers are told apart.
    pub(super) fn pages(&self, issuers: &[String]) -> Pages {
        let flags = || self.page_gates.flags.clone().unwrap_or_else(|| self.flags_of_settings(issuers));
        Pages { flags: self.page_gates.flagz.then(flags), status: self.page_gates.statusz }
    }

    /// The flags of kube-apiserver for the settings.
    fn flags_of_settings(&self, issuers: &[String]) -> BTreeMap<String, String> {
        let runtime_config = self.runtime_config.iter().map(|(key, value)| format!("{key}={value}"));
        let modes = self.authorization.modes.iter().map(ToString::to_string);
        let advertised = self.reach.advertised.map_or("<nil>".to_owned(), |address| address.to_string());
        let flags = [
            ("advertise-address", advertised),
            ("allow-privileged", self.allow_privileged.to_string()),
            ("authorization-mode", list(modes)),
            ("bind-address", self.ports.address.to_string()),
            ("cors-allowed-origins", list(self.serving.cors_allowed_origins.iter().cloned())),
            ("disable-admission-plugins", list(self.admission.disabled.iter().cloned())),
            ("enable-admission-plugins", list(self.admission.enabled.iter().cloned())),
            ("enable-priority-and-fairness", self.serving.limits.is_fair.to_string()),
            ("external-hostname", self.reach.external.clone().unwrap_or_default()),
            ("goaway-chance", self.serving.goaway_chance.to_string()),
            ("http2-max-streams-per-connection", self.serving.limits.streams.to_string()),
            ("max-mutating-requests-inflight", self.serving.limits.mutating_requests.to_string()),
            ("max-requests-inflight", self.serving.limits.requests.to_string()),
            ("min-request-timeout", self.serving.min_timeout.as_secs().to_string()),
            ("request-timeout", duration::print(self.serving.timeout)),
            ("runtime-config", runtime_config.collect::<Vec<_>>().join(",")),
            ("secure-port", self.ports.secure.unwrap_or_default().to_string()),
            ("service-account-issuer", list(issuers.iter().cloned())),
            ("service-cluster-ip-range", self.pools.cluster_ips.clone()),
            ("service-node-port-range", format!("{}-{}", self.pools.node_ports.start(), self.pools.node_ports.end())),
        ];
        flags.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
    }
}

/// A list as pflag prints it.
fn list(items: impl Iterator<Item = String>) -> String {
    format!("[{}]", items.collect::<Vec<_>>().join(","))
}
