//! ServiceAccounts: references to secrets keep only the name.
//!
//! Follows `pkg/registry/core/serviceaccount/strategy.go` (v1.37.1).

use super::context::Context;
use super::rules::{Rules, Strategy};
use crate::object::meta;
use tree::{Map, Value};

/// `EnforceMountableSecretsAnnotation`.
const ENFORCE_MOUNTABLE_SECRETS: &str = "kubernetes.io/enforce-mountable-secrets";

pub(super) const RULES: Rules = Rules {
    subresources: &[("token", Strategy::NONE)],
    delete_returns_object: true,
    strategy: Strategy { prepare: |_, account, _| clean_secret_references(account), warnings, ..Strategy::NONE },
    ..Rules::ORDINARY
};

/// `cleanSecretReferences`.
fn clean_secret_references(account: &mut Value) {
    let Some(references) = account.get_mut("secrets").and_then(Value::as_array_mut) else { return };
    for reference in references {
        let name = reference.get("name").cloned();
        *reference = Value::Object(Map::from_iter(name.map(|name| ("name", name))));
    }
}

fn warnings(_: &Context<'_>, account: &Value, old: Option<&Value>) -> Vec<String> {
    let annotated = |account: &Value| meta::annotations(account).get(ENFORCE_MOUNTABLE_SECRETS).is_some();
    match annotated(account) && !old.is_some_and(annotated) {
        true => vec![format!(
            "metadata.annotations[{ENFORCE_MOUNTABLE_SECRETS}]: deprecated in v1.32+; \
             prefer separate namespaces to isolate access to mounted secrets"
        )],
        false => Vec::new(),
    }
}
