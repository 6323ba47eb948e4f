//! Namespaces: a label with their name, a finalizer in the spec, and a phase that only the server sets.
//!
//! Follows `pkg/registry/core/namespace/strategy.go` and `pkg/apis/core/validation` (v1.37.1).

use super::context::Context;
use super::rules::{Closes, NameRule, Rules, Strategy};
use super::{carry_over, child, default_to, items, text};
use crate::error::FieldError;
use crate::object::{meta, name, validate as object};
use tree::{Value, json};

/// `LabelMetadataName`.
const NAME_LABEL: &str = "kubernetes.io/metadata.name";
/// `FinalizerKubernetes`.
const KUBERNETES: &str = "kubernetes";

pub(super) const RULES: Rules = Rules {
    closes: Some(Closes::Namespace),
    subresources: &[
        (
            "finalize",
            Strategy {
                default,
                validate: |_, new, _, errors| {
                    let path = |index| format!("spec.finalizers[{index}]");
                    let all = spec_finalizers(new).enumerate();
                    errors.extend(all.flat_map(|(index, one)| finalizer(&path(index), one)));
                },
                ..Strategy::NONE
            },
        ),
        ("status", Strategy { default, validate: |_, new, _, errors| errors.extend(phase(new)), ..Strategy::NONE }),
    ],
    name_rule: NameRule::Label,
    delete_returns_object: true,
    cells: &[("Status", |namespace, _| text(namespace, "/status/phase").into())],
    strategy: Strategy {
        default,
        prepare,
        validate: |_, new, _, errors| {
            errors.extend(spec_finalizers(new).flat_map(|one| finalizer("spec.finalizers", one)));
        },
        ..Strategy::NONE
    },
    ..Rules::ORDINARY
};

fn default(namespace: &mut Value) {
    let name = meta::name(namespace).to_string();
    // A generated name gets its label once it is known.
    if !name.is_empty() {
        meta::set_label(namespace, NAME_LABEL, &name);
    }
    default_to(child(namespace, "status"), "phase", "Active");
}

fn spec_finalizers(namespace: &Value) -> impl Iterator<Item = &str> {
    items(namespace, "/spec/finalizers").iter().filter_map(Value::as_str)
}

fn prepare(_: &Context<'_>, namespace: &mut Value, old: Option<&Value>) {
    if let Some(old) = old {
        return carry_over(namespace, old, "spec");
    }
    let mut finalizers: Vec<String> = spec_finalizers(namespace).map(String::from).collect();
    if !finalizers.iter().any(|finalizer| finalizer == KUBERNETES) {
        finalizers.push(KUBERNETES.into());
    }
    if let Some(fields) = namespace.as_object_mut() {
        fields.insert("spec".into(), json!({ "finalizers": finalizers }));
        fields.insert("status".into(), json!({ "phase": "Active" }));
    }
    default(namespace);
}

/// `validateFinalizerName`.
fn finalizer(path: &str, text: &str) -> Vec<FieldError> {
    object::invalid_each(path, text, name::label_key(text)).chain(object::qualified_finalizer(path, text)).collect()
}

fn phase(namespace: &Value) -> Option<FieldError> {
    let (allowed, detail) = match meta::deletion_timestamp(namespace) {
        None => ("Active", "may only be 'Active' if `deletionTimestamp` is empty"),
        Some(_) => ("Terminating", "may only be 'Terminating' if `deletionTimestamp` is not empty"),
    };
    let phase = text(namespace, "/status/phase");
    (phase != allowed).then(|| FieldError::invalid("status.Phase", &phase.into(), detail))
}
