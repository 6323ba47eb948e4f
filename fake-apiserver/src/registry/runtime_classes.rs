//! Runtime classes.
//!
//! Follows `pkg/registry/node/runtimeclass/strategy.go`, `pkg/apis/node/validation/validation.go`,
//! `GetWarningsForRuntimeClass` of `pkg/api/node/util.go` and `printRuntimeClass` of
//! `pkg/printers/internalversion/printers.go` (v1.37.1).

use super::context::Context;
use super::cursor::At;
use super::rules::{Rules, Strategy};
use super::text;
use super::types::{deprecation, labels, overhead, tolerations};
use crate::error::{Errors, Path};
use crate::object::name;
use std::collections::HashSet;
use tree::Value;

pub(super) const RULES: Rules = Rules {
    qualified_finalizers: false,
    create_on_update: true,
    cells: &[("Handler", |class, _| text(class, "/handler").into())],
    strategy: Strategy { validate, warnings, ..Strategy::NONE },
    ..Rules::ORDINARY
};

/// `ValidateRuntimeClass` and `ValidateRuntimeClassUpdate`, without the metadata.
fn validate(_: &Context<'_>, class: &Value, old: Option<&Value>, errors: &mut Errors) {
    let at = At::object(class, "node.k8s.io/v1", "RuntimeClass");
    let handler = at.field("handler");
    errors.covered("", |errors| handler.set(errors));
    errors.covered("format=k8s-short-name", |errors| handler.optional(name::dns_label, errors));
    if let Some(old) = old {
        let old = At::object(old, "node.k8s.io/v1", "RuntimeClass");
        errors.covered("immutable", |errors| handler.immutable(&old.field("handler"), errors));
    }
    if let Some(resources) = class.get("overhead") {
        overhead(Path::new("overhead"), &resources["podFixed"], errors);
    }
    let scheduling = at.field("scheduling");
    labels(scheduling.field("nodeSelector"), errors);
    let list = scheduling.field("tolerations");
    tolerations(list, errors);
    let mut seen = HashSet::new();
    for toleration in list.items() {
        let keys = ["/key", "/operator", "/value", "/effect"].map(|field| text(toleration.value(), field));
        if !seen.insert(keys) {
            toleration.duplicate(errors);
        }
    }
}

fn warnings(_: &Context<'_>, class: &Value, _: Option<&Value>) -> Vec<String> {
    let labels = class["scheduling"]["nodeSelector"].as_object().into_iter().flatten();
    let messages = labels.filter_map(|(label, _)| deprecation(label));
    messages.map(|message| format!("scheduling.nodeSelector: {message}")).collect()
}
