//! Webhook configurations, admission policies and their bindings.
//!
//! Follows `pkg/registry/admissionregistration/*/strategy.go`, `pkg/apis/admissionregistration/v1/defaults.go` and
//! `pkg/printers/internalversion/printers.go` (v1.37.1).

mod bindings;
mod checks;
mod columns;
pub(crate) mod expressions;
mod permissions;
mod policies;
mod rules;
mod webhooks;

pub(crate) use webhooks::EXCLUDED;

use super::context::Context;
use super::defaults::Fill::{Number, Object, OptionalText};
use super::defaults::{Default, fill};
use super::rules::{Rules, Strategy};
use super::{child, ids, items, text};
use crate::error::{Errors, Path};
use crate::object::meta;
use columns::{PARAM_KIND, param_ref};
use tree::Value;

pub(super) const MUTATING_ADMISSION_POLICY: Rules = Rules {
    cells: &[("Mutations", |policy, _| items(policy, "/spec/mutations").len().into()), PARAM_KIND],
    strategy: Strategy {
        default: default_policy,
        validate: |context, policy, old, errors| {
            policies::mutating(context, policy, old, errors);
            reserved(context, policy, old, errors);
            permissions::param_kind(context, policy, old, errors);
        },
        ..NAMED
    },
    ..REGISTRATION
};

pub(super) const MUTATING_ADMISSION_POLICY_BINDING: Rules = Rules {
    strategy: Strategy {
        validate: |context, binding, old, errors| {
            bindings::mutating(binding, errors);
            reserved(context, binding, old, errors);
            permissions::param_ref(context, binding, ids::MUTATING_ADMISSION_POLICIES, errors);
        },
        ..BINDING.strategy
    },
    ..BINDING
};

pub(super) const MUTATING_WEBHOOK_CONFIGURATION: Rules = Rules {
    strategy: Strategy {
        default: |configuration| {
            fill(configuration, WEBHOOKS);
            fill(configuration, &[("webhooks/*", &[("reinvocationPolicy", OptionalText("Never"))])]);
        },
        validate: |context, configuration, old, errors| {
            webhooks::configuration(context, "MutatingWebhookConfiguration", configuration, old, errors);
            reserved(context, configuration, old, errors);
        },
        ..WEBHOOK_CONFIGURATION.strategy
    },
    ..WEBHOOK_CONFIGURATION
};

pub(super) const VALIDATING_ADMISSION_POLICY: Rules = Rules {
    status_keeps_metadata: true,
    subresources: &[("status", Strategy { validate: policies::status, ..Strategy::STATUS })],
    cells: &[("Validations", |policy, _| items(policy, "/spec/validations").len().into()), PARAM_KIND],
    strategy: Strategy {
        default: default_policy,
        validate: |context, policy, old, errors| {
            policies::validating(context, policy, old, errors);
            reserved(context, policy, old, errors);
            permissions::param_kind(context, policy, old, errors);
        },
        ..NAMED
    },
    ..REGISTRATION
};

pub(super) const VALIDATING_ADMISSION_POLICY_BINDING: Rules = Rules {
    strategy: Strategy {
        validate: |context, binding, old, errors| {
            bindings::validating(binding, errors);
            reserved(context, binding, old, errors);
            permissions::param_ref(context, binding, ids::VALIDATING_ADMISSION_POLICIES, errors);
        },
        ..BINDING.strategy
    },
    ..BINDING
};

pub(super) const VALIDATING_WEBHOOK_CONFIGURATION: Rules = Rules {
    strategy: Strategy {
        validate: |context, configuration, old, errors| {
            webhooks::configuration(context, "ValidatingWebhookConfiguration", configuration, old, errors);
            reserved(context, configuration, old, errors);
        },
        ..WEBHOOK_CONFIGURATION.strategy
    },
    ..WEBHOOK_CONFIGURATION
};

/// Some names are reserved for configuration by files (`ValidateStaticSuffix`).
fn reserved(context: &Context<'_>, object: &Value, old: Option<&Value>, errors: &mut Errors) {
    if context.reserves_names && old.is_none() && meta::name(object).ends_with(STATIC) {
        errors.invalid(Path::new("metadata.name"), meta::name(object), RESERVED);
    }
}

/// Warnings about such names, where they are not refused (`WarningsForStaticSuffix`).
const NAMED: Strategy = Strategy {
    warnings: |context, object, old| {
        let is_taken = old.is_some() || !context.reserves_names;
        match is_taken && meta::name(object).ends_with(STATIC) {
            true => vec![format!("metadata.name: {RESERVED}")],
            false => Vec::new(),
        }
    },
    ..Strategy::NONE
};

/// `StaticConfigSuffix`.
pub(crate) const STATIC: &str = ".static.k8s.io";
const RESERVED: &str = "names ending with \".static.k8s.io\" are reserved for static manifest-based configurations and cannot be \
    managed via the API";

/// The common rules of the group.
const REGISTRATION: Rules = Rules { qualified_finalizers: false, owns_generation: true, ..Rules::ORDINARY };

const WEBHOOK_CONFIGURATION: Rules = Rules {
    counts_empties: true,
    cells: &[("Webhooks", |configuration, _| items(configuration, "/webhooks").len().into())],
    strategy: Strategy {
        default: |configuration| fill(configuration, WEBHOOKS),
        warnings: |context, configuration, old| {
            let mut warnings = (NAMED.warnings)(context, configuration, old);
            warnings.extend(webhooks::warnings(configuration));
            warnings
        },
        ..NAMED
    },
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
