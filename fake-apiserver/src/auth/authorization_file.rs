//! The file of `--authorization-config`: an `AuthorizationConfiguration` of `apiserver.config.k8s.io`.
//!
//! Ports `LoadAndValidateData` of `pkg/kubeapiserver/authorizer/config.go` (v1.37.1), and `pkg/apis/apiserver/{load,validation,v1}` of
//! `k8s.io/apiserver` (v0.37.1).

use super::hooks::{AccessWebhookConfig, Conditions};
use super::modes::AuthorizationMode;
use crate::configuration::{Strictness, decode};
use crate::duration;
use crate::error::{Errors, FieldError, Path, aggregate};
use crate::files;
use crate::object::name::dns_subdomain;
use crate::schema::encode_any;
use std::time::Duration;
use tree::Value;

const KIND: &str = "AuthorizationConfiguration";
const VERSIONS: [&str; 3] =
    ["apiserver.config.k8s.io/v1", "apiserver.config.k8s.io/v1beta1", "apiserver.config.k8s.io/v1alpha1"];
/// The longest time for an attempt to ask a webhook.
const LONGEST: Duration = Duration::from_secs(30);
/// The most match conditions of a webhook.
const MOST_CONDITIONS: usize = 64;

/// An authorizer that a file describes.
#[derive(Debug)]
pub(crate) struct AuthorizerConfig {
    pub(crate) mode: AuthorizationMode,
    pub(crate) name: String,
    /// Of a webhook, what it is and when it is asked.
    pub(crate) webhook: Option<AccessWebhookConfig>,
}

/// Reads a file. Authorizers of `required` modes must be among those that it describes.
///
/// # Errors
/// In upstream's words, if it is not valid.
pub(crate) fn read(content: &[u8], required: &[AuthorizationMode]) -> Result<Vec<AuthorizerConfig>, String> {
    let not_loaded = |why: String| format!("failed to load AuthorizationConfiguration from file: {why}");
    let configuration = load(content).map_err(not_loaded)?;
    let authorizers = configuration["authorizers"].as_array().map(Vec::as_slice).unwrap_or_default();
    for webhook in authorizers.iter().map(|authorizer| &authorizer["webhook"]) {
        for field in ["authorizedTTL", "unauthorizedTTL", "timeout"] {
            Time::of(&webhook[field]).map_err(not_loaded)?;
        }
    }
    let mut read = Vec::new();
    let findings = Errors::of(|errors| validate(authorizers, errors, &mut read));
    if !findings.is_empty() {
        return Err(aggregate(findings.iter().map(FieldError::to_string)));
    }
    let own = read.iter().filter(|authorizer| authorizer.mode != AuthorizationMode::Webhook);
    let misnamed = own.filter(|authorizer| authorizer.name != authorizer.mode.authorizer_name()).map(|authorizer| {
        let AuthorizerConfig { mode, name, .. } = authorizer;
        format!("expected name {} for authorizer {mode} instead of {name}", mode.authorizer_name())
    });
    let mut missing: Vec<&str> = required.iter().map(|mode| mode.as_str()).collect();
    missing.retain(|required| read.iter().all(|authorizer| authorizer.mode.as_str() != *required));
    missing.sort_unstable();
    let missing = (!missing.is_empty()).then(|| format!("missing required types: [{}]", missing.join(" ")));
    let objections: Vec<String> = misnamed.chain(missing).collect();
    if objections.is_empty() { Ok(read) } else { Err(aggregate(objections)) }
}

/// `LoadFromData`
fn load(content: &[u8]) -> Result<Value, String> {
    if content.is_empty() {
        return Ok(Value::Null);
    }
    let text = str::from_utf8(content).map_err(|error| error.to_string())?;
    let others = [(VERSIONS[0], "AdmissionConfiguration"), (VERSIONS[0], "AuthenticationConfiguration")];
    let known: Vec<_> = VERSIONS.map(|version| (version, KIND)).into_iter().chain(others).collect();
    let configuration = decode(text, &known, Strictness::Strict).map_err(|error| error.message())?;
    match configuration["kind"].as_str() {
        Some(KIND) | None => Ok(configuration),
        Some(other) => Err(format!("expected {KIND}, got *apiserver.{other}")),
    }
}

/// `ValidateAuthorizationConfiguration`
fn validate(authorizers: &[Value], errors: &mut Errors, read: &mut Vec<AuthorizerConfig>) {
    if authorizers.is_empty() {
        errors.required(Path::new("authorizers"), "at least one authorization mode must be defined");
    }
    let (mut modes, mut names) = (Vec::new(), Vec::new());
    for (index, authorizer) in authorizers.iter().enumerate() {
        let at = Path::ROOT.item("authorizers", index);
        let (mode, name) = (text(&authorizer["type"]), text(&authorizer["name"]));
        let Ok(known) = mode.parse::<AuthorizationMode>() else {
            let mut all = AuthorizationMode::ALL.map(AuthorizationMode::as_str);
            all.sort_unstable();
            match mode {
                "" => errors.required(at.child("type"), ""),
                mode => errors.push(FieldError::unsupported(at.child("type"), &mode.into(), &all)),
            }
            continue;
        };
        if modes.contains(&known) && known != AuthorizationMode::Webhook {
            errors.duplicate(at.child("type"), mode);
            continue;
        }
        modes.push(known);
        let objections = dns_subdomain(name).join(", ");
        if name.is_empty() {
            errors.required(at.child("name"), "");
        } else if names.contains(&name) {
            errors.duplicate(at.child("name"), name);
        } else if !objections.is_empty() {
            errors.invalid(at.child("name"), name, format!("authorizer name is invalid: {objections}"));
        }
        names.push(name);
        let webhook = &authorizer["webhook"];
        let webhook = match (known, webhook.is_null()) {
            (AuthorizationMode::Webhook, true) => {
                errors.required(at.child("webhook"), "required when type=Webhook");
                continue;
            }
            (AuthorizationMode::Webhook, false) => validate_webhook(at, webhook, errors),
            (_, true) => None,
            (_, false) => {
                errors.invalid(at.child("webhook"), "non-null", "may only be specified when type=Webhook");
                None
            }
        };
        read.push(AuthorizerConfig { mode: known, name: name.to_owned(), webhook });
    }
}

/// `ValidateWebhookConfiguration`. The paths leave out the field that the webhook is in, as upstream's do.
fn validate_webhook(at: Path<'_>, webhook: &Value, errors: &mut Errors) -> Option<AccessWebhookConfig> {
    let time = |field: &str| Time::of(&webhook[field]).unwrap_or_default();
    let timeout = time("timeout");
    if timeout.is_zero() {
        errors.required(at.child("timeout"), "");
    } else if timeout.is_negative || timeout.length > LONGEST {
        errors.invalid(at.child("timeout"), timeout.print(), "must be > 0s and <= 30s");
    }
    let ttl = |field: &str, default: u64| {
        let time = time(field);
        if time.is_zero() { Time { length: Duration::from_secs(default), ..time } } else { time }
    };
    let (allowed, refused) = (ttl("authorizedTTL", 5 * 60), ttl("unauthorizedTTL", 30));
    for (field, time) in [("authorizedTTL", &allowed), ("unauthorizedTTL", &refused)] {
        if time.is_negative {
            errors.invalid(at.child(field), time.print(), "must be > 0s");
        }
    }
    let version = text(&webhook["subjectAccessReviewVersion"]);
    one_of(at.child("subjectAccessReviewVersion"), version, &["v1", "v1beta1"], errors);
    let conditions = webhook["matchConditions"].as_array().map(Vec::as_slice).unwrap_or_default();
    let seen = at.child("matchConditionSubjectAccessReviewVersion");
    match text(&webhook["matchConditionSubjectAccessReviewVersion"]) {
        "" if conditions.is_empty() => {}
        "" => errors.required(seen, "required if match conditions are specified"),
        version => one_of(seen, version, &["v1"], errors),
    }
    let policy = text(&webhook["failurePolicy"]);
    one_of(at.child("failurePolicy"), policy, &["NoOpinion", "Deny"], errors);
    validate_connection(at, &webhook["connectionInfo"], errors);
    let conditions = compile(at, conditions, errors);
    let kept = |field: &str, time: Time| match webhook[field] == false {
        true => Duration::ZERO,
        false => time.length,
    };
    Some(AccessWebhookConfig {
        kubeconfig: text(&webhook["connectionInfo"]["kubeConfigFile"]).into(),
        version: if version == "v1" { "v1" } else { "v1beta1" },
        timeout: timeout.length,
        allowed_for: kept("cacheAuthorizedRequests", allowed),
        refused_for: kept("cacheUnauthorizedRequests", refused),
        denies_on_error: policy == "Deny",
        conditions,
    })
}

fn validate_connection(at: Path<'_>, connection: &Value, errors: &mut Errors) {
    let (kind, file) = (text(&connection["type"]), &connection["kubeConfigFile"]);
    let (at_kind, at_file) = (at.child("connectionInfo.type"), at.child("connectionInfo.kubeConfigFile"));
    match kind {
        "" => errors.required(at_kind, ""),
        "InClusterConfig" if !file.is_null() => {
            errors.invalid(at_file, text(file), "can only be set when type=KubeConfigFile");
        }
        "InClusterConfig" => {
            let why =
                "fake-apiserver does not support InClusterConfig, with which kube-apiserver does not start either";
            errors.forbidden(at_kind, why);
        }
        "KubeConfigFile" => {
            let path = std::path::Path::new(text(file));
            if text(file).is_empty() {
                errors.required(at_file, "");
            } else if !path.is_absolute() {
                errors.invalid(at_file, text(file), "must be an absolute path");
            } else {
                match std::fs::metadata(path) {
                    Err(error) => {
                        let why = format!("error loading file: stat {}: {}", path.display(), files::reason(&error));
                        errors.invalid(at_file, text(file), why);
                    }
                    Ok(found) if !found.is_file() => errors.invalid(at_file, text(file), "must be a regular file"),
                    Ok(_) => {}
                }
            }
        }
        _ => {
            let printed = format!("{{\"Type\":{},\"KubeConfigFile\":{}}}", encode_any(&kind.into()), encode_any(file));
            let known = ["InClusterConfig", "KubeConfigFile"];
            errors.push(FieldError::unsupported(at_kind, &Value::Null, &known).printed_as(printed));
        }
    }
}

/// `compileMatchConditions`
fn compile(at: Path<'_>, all: &[Value], errors: &mut Errors) -> Conditions {
    let mut conditions = Conditions::default();
    if all.len() > MOST_CONDITIONS {
        errors.push(FieldError::too_many(at.child("matchConditions"), all.len(), MOST_CONDITIONS));
        return conditions;
    }
    let mut seen = Vec::new();
    for (index, condition) in all.iter().enumerate() {
        let at = at.item("matchConditions", index);
        let (at, expression) = (at.child("expression"), text(&condition["expression"]));
        if expression.trim().is_empty() {
            errors.required(at, "");
        } else if seen.contains(&expression) {
            errors.duplicate(at, expression);
        } else {
            seen.push(expression);
            if let Err(why) = conditions.add(expression) {
                errors.invalid(at, expression, why);
            }
        }
    }
    conditions
}

/// A required text, which is one of those.
fn one_of(at: Path<'_>, value: &str, known: &[&str], errors: &mut Errors) {
    match value {
        "" => errors.required(at, ""),
        value if known.contains(&value) => {}
        value => errors.push(FieldError::unsupported(at, &value.into(), known)),
    }
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

/// A `metav1.Duration`.
#[derive(Default)]
struct Time {
    length: Duration,
    is_negative: bool,
}

impl Time {
    /// The time that a text says; none is zero.
    fn of(value: &Value) -> Result<Time, String> {
        let Some(text) = value.as_str() else { return Ok(Time::default()) };
        let length =
            duration::parse(text.strip_prefix('-').unwrap_or(text)).map_err(|why| match text.starts_with('-') {
                // The message has the text as it is.
                true => duration::parse(text).err().unwrap_or(why),
                false => why,
            })?;
        Ok(Time { length, is_negative: text.starts_with('-') && !length.is_zero() })
    }

    fn is_zero(&self) -> bool {
        self.length.is_zero()
    }

    fn print(&self) -> String {
        format!("{}{}", if self.is_negative { "-" } else { "" }, duration::print(self.length))
    }
}
