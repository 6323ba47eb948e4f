//! The webhooks of a cluster, which are not where this server is: they are at other addresses, are not asked, or fail.

use crate::options::Unreached;
use std::collections::{BTreeMap, BTreeSet};
use tree::{Value, json};

/// The kinds of their configurations.
const KINDS: [&str; 2] = ["ValidatingWebhookConfiguration", "MutatingWebhookConfiguration"];

/// Whether an object configures webhooks.
pub(crate) fn is_configuration(object: &Value) -> bool {
    let is_of_group =
        object["apiVersion"].as_str().is_some_and(|version| version.starts_with("admissionregistration.k8s.io/"));
    is_of_group && object["kind"].as_str().is_some_and(|kind| KINDS.contains(&kind))
}

/// The treatment of webhooks, and those that were met so far.
#[derive(Debug, Default)]
pub(crate) struct Webhooks {
    addresses: BTreeMap<String, String>,
    unreached: Unreached,
    /// The certificates of authorities, in PEM and base64, that addresses are verified with.
    authority: Option<String>,
    found: BTreeSet<String>,
    skipped: BTreeSet<String>,
}

impl Webhooks {
    pub(crate) fn new(
        addresses: &BTreeMap<String, String>,
        unreached: Unreached,
        authority: Option<String>,
    ) -> Webhooks {
        Webhooks { addresses: addresses.clone(), unreached, authority, ..Webhooks::default() }
    }

    /// A configuration in which webhooks lead to where they are; `None` if nothing is left of it.
    pub(crate) fn redirected(&mut self, configuration: &Value) -> Option<Value> {
        let mut configuration = configuration.clone();
        let webhooks = configuration.get_mut("webhooks").and_then(Value::as_array_mut)?;
        webhooks.retain_mut(|webhook| self.is_kept(webhook));
        (!webhooks.is_empty()).then_some(configuration)
    }

    fn is_kept(&mut self, webhook: &mut Value) -> bool {
        let name = webhook["name"].as_str().unwrap_or_default().to_owned();
        let Some(address) = self.addresses.get(&name) else {
            let is_skipped = self.unreached == Unreached::Skip;
            if is_skipped {
                self.skipped.insert(name);
            }
            return !is_skipped;
        };
        let given = self.authority.clone().map(Value::from);
        let authority = given.or_else(|| webhook["clientConfig"].get("caBundle").cloned());
        webhook["clientConfig"] = json!({"url": address.as_str()});
        if let Some(authority) = authority {
            webhook["clientConfig"]["caBundle"] = authority;
        }
        self.found.insert(name);
        true
    }

    /// The notes about them.
    pub(crate) fn notes(&self) -> Vec<String> {
        let skipped = self.skipped.iter().map(|name| {
            format!("webhook {name} was not asked: --webhook {name}=URL says where it is, and --webhooks=fail lets its failure policy decide")
        });
        let unknown = self.addresses.keys().filter(|name| !self.found.contains(*name));
        skipped.chain(unknown.map(|name| format!("--webhook {name}: no webhook has that name"))).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn configuration() -> Value {
        json!({
            "apiVersion": "admissionregistration.k8s.io/v1", "kind": "ValidatingWebhookConfiguration",
            "webhooks": [
                {"name": "a.com", "clientConfig": {"service": {"name": "s", "namespace": "n"}, "caBundle": "Y2E="}},
                {"name": "b.com", "clientConfig": {"url": "https://b.com"}},
            ],
        })
    }

    #[test]
    fn webhooks_lead_to_their_addresses_or_nowhere() {
        assert!(is_configuration(&configuration()));
        let addresses =
            BTreeMap::from([("a.com".into(), "https://127.0.0.1:1/x".into()), ("c.com".into(), "https://c".into())]);
        let mut webhooks = Webhooks::new(&addresses, Unreached::Skip, None);
        let left = webhooks.redirected(&configuration()).unwrap();
        assert_eq!(
            left["webhooks"],
            json!([{"name": "a.com", "clientConfig": {"url": "https://127.0.0.1:1/x", "caBundle": "Y2E="}}])
        );
        let notes = webhooks.notes();
        assert!(notes[0].starts_with("webhook b.com was not asked: "), "{notes:?}");
        assert_eq!(notes[1], "--webhook c.com: no webhook has that name");
        assert_eq!(Webhooks::new(&BTreeMap::new(), Unreached::Skip, None).redirected(&configuration()), None);
        assert_eq!(
            Webhooks::new(&BTreeMap::new(), Unreached::Fail, None).redirected(&configuration()),
            Some(configuration())
        );
        let mut given = Webhooks::new(&addresses, Unreached::Skip, Some("b3RoZXI=".into()));
        assert_eq!(given.redirected(&configuration()).unwrap()["webhooks"][0]["clientConfig"]["caBundle"], "b3RoZXI=");
    }
}
