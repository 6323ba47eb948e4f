//! Webhook configurations, admission policies and their bindings.
//!
//! Follows `pkg/registry/admissionregistration/*/strategy.go`, `pkg/apis/admissionregistration/v1/defaults.go` and
//! `pkg/printers/internalversion/printers.go` (v1.37.1).

use super::child;
use super::defaults::Fill::{Number, Object, OptionalText};
use super::defaults::{Default, fill};
use super::rules::{Cell, Rules, Strategy};
use super::{items, text};
use crate::error::Path;
use crate::object::meta;
use tree::Value;

pub(super) const MUTATING_ADMISSION_POLICY: Rules = Rules {
    cells: &[("Mutations", |policy, _| items(policy, "/spec/mutations").len().into()), PARAM_KIND],
    strategy: Strategy { default: default_policy, ..NAMED },
    ..REGISTRATION
};

pub(super) const MUTATING_ADMISSION_POLICY_BINDING: Rules = BINDING;

pub(super) const MUTATING_WEBHOOK_CONFIGURATION: Rules = Rules {
    strategy: Strategy {
        default: |configuration| {
            fill(configuration, WEBHOOKS);
            fill(configuration, &[("webhooks/*", &[("reinvocationPolicy", OptionalText("Never"))])]);
        },
        ..NAMED
    },
    ..WEBHOOK_CONFIGURATION
};

pub(super) const VALIDATING_ADMISSION_POLICY: Rules = Rules {
    status_keeps_metadata: true,
    cells: &[("Validations", |policy, _| items(policy, "/spec/validations").len().into()), PARAM_KIND],
    strategy: Strategy { default: default_policy, ..NAMED },
    ..REGISTRATION
};

pub(super) const VALIDATING_ADMISSION_POLICY_BINDING: Rules = BINDING;

pub(super) const VALIDATING_WEBHOOK_CONFIGURATION: Rules = WEBHOOK_CONFIGURATION;

/// The rules for the names of the group: some names are reserved for configuration by files (`ValidateStaticSuffix`).
const NAMED: Strategy = Strategy {
    validate: |_, object, old, errors| {
        if old.is_none() && meta::name(object).ends_with(STATIC) {
            errors.invalid(Path::new("metadata.name"), meta::name(object), RESERVED);
        }
    },
    warnings: |_, object, old| match old {
        Some(_) if meta::name(object).ends_with(STATIC) => vec![format!("metadata.name: {RESERVED}")],
        _ => Vec::new(),
    },
    ..Strategy::NONE
};

/// `StaticConfigSuffix`.
const STATIC: &str = ".static.k8s.io";
const RESERVED: &str = "names ending with \".static.k8s.io\" are reserved for static manifest-based configurations and cannot be \
    managed via the API";

/// The common rules of the group.
const REGISTRATION: Rules = Rules { qualified_finalizers: false, owns_generation: true, ..Rules::ORDINARY };

const WEBHOOK_CONFIGURATION: Rules = Rules {
    cells: &[("Webhooks", |configuration, _| items(configuration, "/webhooks").len().into())],
    strategy: Strategy { default: |configuration| fill(configuration, WEBHOOKS), ..NAMED },
    ..REGISTRATION
};

const BINDING: Rules = Rules {
    cells: &[
        ("PolicyName", |binding, _| text(binding, "/spec/policyName").into()),
        ("ParamRef", |binding, _| param_ref(binding).into()),
    ],
    strategy: Strategy { default: |binding| fill(binding, BINDINGS), ..NAMED },
    ..REGISTRATION
};

/// `SetDefaults_ValidatingWebhook`, and those of its parts.
const WEBHOOKS: &[Default] = &[
    (
        "webhooks/*",
        &[
            ("failurePolicy", OptionalText("Fail")),
            ("matchPolicy", OptionalText("Equivalent")),
            ("namespaceSelector", Object),
            ("objectSelector", Object),
            ("timeoutSeconds", Number(10)),
        ],
    ),
    ("webhooks/*/clientConfig/service", &[("port", Number(443))]),
    ("webhooks/*/rules/*", &[("scope", OptionalText("*"))]),
];

/// `SetDefaults_MatchResources` of the constraints of policies.
const POLICIES: &[Default] = &[
    ("", &[("failurePolicy", OptionalText("Fail"))]),
    ("matchConstraints", MATCH_RESOURCES),
    ("matchConstraints/resourceRules|excludeResourceRules/*", &[("scope", OptionalText("*"))]),
];

/// `SetDefaults_MatchResources` of bindings.
const BINDINGS: &[Default] = &[
    ("spec/matchResources", MATCH_RESOURCES),
    ("spec/matchResources/resourceRules|excludeResourceRules/*", &[("scope", OptionalText("*"))]),
];

const MATCH_RESOURCES: &[(&str, super::defaults::Fill)] =
    &[("matchPolicy", OptionalText("Equivalent")), ("namespaceSelector", Object), ("objectSelector", Object)];

fn default_policy(policy: &mut Value) {
    fill(child(policy, "spec"), POLICIES);
}

const PARAM_KIND: (&str, Cell) = ("ParamKind", |policy, _| match policy["spec"].get("paramKind") {
    None => "<unset>".into(),
    Some(kind) => format!("{}/{}", text(kind, "/apiVersion"), text(kind, "/kind")).into(),
});

/// The parameters of a binding: a name, in a namespace or any, or a selector.
fn param_ref(binding: &Value) -> String {
    let Some(parameters) = binding["spec"].get("paramRef") else { return "<unset>".into() };
    match (text(parameters, "/namespace"), text(parameters, "/name"), parameters.get("selector")) {
        (_, "", Some(selector)) => go_selector(selector),
        (_, "", None) => "<unset>".into(),
        ("", name, _) => format!("*/{name}"),
        (namespace, name, _) => format!("{namespace}/{name}"),
    }
}

/// A selector as Go prints the struct (`LabelSelector.String`).
fn go_selector(selector: &Value) -> String {
    let labels = selector["matchLabels"].as_object().into_iter().flatten();
    let labels: String = labels.map(|(key, value)| format!("{key}: {},", value.as_str().unwrap_or_default())).collect();
    let requirement = |requirement: &Value| {
        let values: Vec<&str> = items(requirement, "/values").iter().filter_map(Value::as_str).collect();
        format!(
            "LabelSelectorRequirement{{Key:{},Operator:{},Values:[{}],}},",
            text(requirement, "/key"),
            text(requirement, "/operator"),
            values.join(" ")
        )
    };
    let expressions: String = items(selector, "/matchExpressions").iter().map(requirement).collect();
    format!(
        "&LabelSelector{{MatchLabels:map[string]string{{{labels}}},MatchExpressions:[]LabelSelectorRequirement{{{expressions}}},}}"
    )
}
