//! The webhooks of a cluster, which are not where this server is: they are at other addresses, are not asked, or fail.

use crate::kinds::DEFINITIONS;
use crate::options::Unreached;
use std::collections::{BTreeMap, BTreeSet};
use tree::{Value, json};

/// The kinds of their configurations.
const KINDS: [&str; 2] = ["ValidatingWebhookConfiguration", "MutatingWebhookConfiguration"];

/// Whether an object configures webhooks: those of admission, or the one that converts the objects of a definition.
pub(crate) fn is_configuration(object: &Value) -> bool {
    let group = object["apiVersion"].as_str().and_then(|version| version.split('/').next()).unwrap_or_default();
    let kind = object["kind"].as_str().unwrap_or_default();
    match group {
        "admissionregistration.k8s.io" => KINDS.contains(&kind),
        DEFINITIONS => object["spec"]["conversion"]["strategy"] == "Webhook",
        _ => false,
    }
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
    /// The definitions whose objects are not converted.
    unconverted: BTreeSet<String>,
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
        if configuration["spec"]["conversion"].is_object() {
            self.redirect_conversion(&mut configuration);
            return Some(configuration);
        }
        let webhooks = configuration.get_mut("webhooks").and_then(Value::as_array_mut)?;
        webhooks.retain_mut(|webhook| self.is_kept(webhook));
        (!webhooks.is_empty()).then_some(configuration)
    }

    /// A conversion has no name of its own, but that of the definition.
    fn redirect_conversion(&mut self, definition: &mut Value) {
        let name = definition["metadata"]["name"].as_str().unwrap_or_default().to_owned();
        match self.addresses.get(&name) {
            Some(address) => {
                let webhook = &mut definition["spec"]["conversion"]["webhook"];
                webhook["clientConfig"] = self.client_config(address, &webhook["clientConfig"]);
                self.found.insert(name);
            }
            None if self.unreached == Unreached::Skip => {
                definition["spec"]["conversion"] = json!({"strategy": "None"});
                self.unconverted.insert(name);
            }
            None => {}
        }
    }

    /// The way to an address instead of that of `other`.
    fn client_config(&self, address: &str, other: &Value) -> Value {
        let given = self.authority.clone().map(Value::from);
        let mut config = json!({"url": address});
        if let Some(authority) = given.or_else(|| other.get("caBundle").cloned()) {
            config["caBundle"] = authority;
        }
        config
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
        webhook["clientConfig"] = self.client_config(address, &webhook["clientConfig"]);
        self.found.insert(name);
        true
    }

    /// The notes about them.
    pub(crate) fn notes(&self) -> Vec<String> {
        let skipped = self.skipped.iter().map(|name| {
            format!("webhook {name} was not asked: --webhook {name}=URL says where it is, and --webhooks=fail lets its failure policy decide")
        });
        let unconverted = self.unconverted.iter().map(|name| {
            format!("the conversion webhook of {name} was not asked, and objects have the same fields in all versions: --webhook {name}=URL says where it is")
        });
        let unknown = self.addresses.keys().filter(|name| !self.found.contains(*name));
        skipped
            .chain(unconverted)
            .chain(unknown.map(|name| format!("--webhook {name}: no webhook has that name")))
            .collect()
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
    fn conversions_lead_to_their_addresses_or_change_nothing() {
        let config = json!({"service": {"name": "s", "namespace": "n"}, "caBundle": "Y2E="});
        let definition = json!({
            "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition", "metadata": {"name": "ws.a.com"},
            "spec": {"conversion": {"strategy": "Webhook", "webhook": {"clientConfig": config}}},
        });
        assert!(is_configuration(&definition));
        let mut skipping = Webhooks::new(&BTreeMap::new(), Unreached::Skip, None);
        assert_eq!(skipping.redirected(&definition).unwrap()["spec"]["conversion"], json!({"strategy": "None"}));
        assert!(skipping.notes()[0].starts_with("the conversion webhook of ws.a.com was not asked"));
        let mut failing = Webhooks::new(&BTreeMap::new(), Unreached::Fail, None);
        assert_eq!(failing.redirected(&definition).as_ref(), Some(&definition));
        let addresses = BTreeMap::from([("ws.a.com".into(), "https://127.0.0.1:1/convert".into())]);
        let mut given = Webhooks::new(&addresses, Unreached::Skip, None);
        let found = given.redirected(&definition).unwrap();
        let config = json!({"url": "https://127.0.0.1:1/convert", "caBundle": "Y2E="});
        assert_eq!(found["spec"]["conversion"]["webhook"]["clientConfig"], config);
        assert_eq!(given.notes(), [""; 0]);
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
