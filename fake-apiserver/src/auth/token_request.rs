//! `POST .../serviceaccounts/{name}/token`: issues a bound token.
//!
//! Ports `pkg/registry/core/serviceaccount/storage/token.go` (v1.37.1), in its order: URL, service account, its uid,
//! defaults, static validation, bound object, limits, signature.

use super::bound::{EXPIRATION_EXTENSION_SECONDS, WARN_ONLY_BOUND_TOKEN_EXPIRATION_SECONDS};
use super::reviews::{NAMESPACE_MISMATCH, field, text};
use super::{Authenticator, Notes, Objects, OwnKeys, ServiceAccount, attestations, jwt, metadata};
use crate::clock::format_seconds;
use crate::error::{ApiError, ApiResult, FieldError, Qualified};
use crate::ids::Ids;
use crate::registry::strings;
use crate::user::credential_id;
use jiff::{SignedDuration, Timestamp};
use std::sync::Arc;
use tree::{Map, Value, json};

/// `MinTokenAgeSec`.
const MIN_TOKEN_AGE_SECONDS: i64 = 10 * 60;
const MAX_TOKEN_AGE_SECONDS: i64 = 1 << 32;
/// The default of `spec.expirationSeconds`.
const DEFAULT_EXPIRATION_SECONDS: i64 = 60 * 60;

const KIND: Qualified<'static> = Qualified { group: "authentication.k8s.io", resource: "TokenRequest" };

/// An issued token.
#[derive(Debug, Clone, PartialEq)]
pub struct TokenRequestOutcome {
    /// The request with its status filled in, to be sent with 201.
    pub response: Value,
    /// Warnings and annotations.
    pub notes: Notes,
}

/// The objects that a token is bound to, as claims, and whether one is a pod.
#[derive(Default)]
struct Binding {
    claims: Map,
    pod: bool,
}

/// Sets the defaults of a `TokenRequest` that decoding sets (`SetDefaults_TokenRequestSpec`).
pub fn set_defaults(request: &mut Value) {
    let seconds = field(field(request, "spec"), "expirationSeconds");
    if seconds.is_null() {
        *seconds = DEFAULT_EXPIRATION_SECONDS.into();
    }
}

impl Authenticator {
    /// Issues a token for the service account of that name as `body`, a `TokenRequest`, asks.
    ///
    /// # Errors
    /// 400, 404, 409 or 422, as the real server.
    pub fn token_request(
        &self,
        namespace: &str,
        name: &str,
        mut body: Value,
        now: Timestamp,
        objects: &dyn Objects,
        ids: &Ids,
    ) -> ApiResult<TokenRequestOutcome> {
        let mut notes = Notes::default();
        let found = self.check_token_request(namespace, name, &mut body, now, objects)?;
        let account = ServiceAccount { namespace, name, uid: metadata::uid(&found) };
        let binding = bind(&body["spec"]["boundObjectRef"], &account, objects)?;
        let (seconds, life) = self.limits(&body["spec"], &binding, &mut notes);
        *field(field(&mut body, "spec"), "expirationSeconds") = seconds.into();

        let id = ids.uid();
        let claims = self.claims(&body["spec"], binding, &account, now, life, &id);
        let key = objects.keys().map_or(&self.signing_key, OwnKeys::signing);
        let token = jwt::sign(key, &claims)
            .map_err(|error| ApiError::internal(format!("failed to generate token: {error}")))?;
        notes.annotate("authentication.kubernetes.io/issued-credential-id", credential_id(&id));
        let expires = now
            .checked_add(SignedDuration::from_secs(seconds))
            .map_err(|error| ApiError::internal(format!("failed to generate token: {error}")))?;
        *field(&mut body, "status") = json!({"token": token, "expirationTimestamp": format_seconds(expires)});
        Ok(TokenRequestOutcome { response: body, notes })
    }

    /// Completes and validates a request for a token, and returns the account.
    ///
    /// # Errors
    /// If there is no such account, or the request is not valid.
    pub(crate) fn check_token_request(
        &self,
        namespace: &str,
        name: &str,
        body: &mut Value,
        now: Timestamp,
        objects: &dyn Objects,
    ) -> ApiResult<Arc<Value>> {
        check_address(body, namespace, name)?;
        let found = require(objects, "serviceaccounts", namespace, name)?;
        let account = ServiceAccount { namespace, name, uid: metadata::uid(&found) };
        check_uid(body, &account)?;
        self.complete(body, &account, now);
        validate(&body["spec"])?;
        Ok(found)
    }

    /// Sets defaults, and overwrites the fields that the request must not set.
    fn complete(&self, body: &mut Value, account: &ServiceAccount<'_>, now: Timestamp) {
        *field(body, "apiVersion") = format!("{}/v1", KIND.group).into();
        *field(body, "kind") = KIND.resource.into();
        let metadata = field(body, "metadata");
        for (name, value) in [("name", account.name), ("namespace", account.namespace), ("uid", account.uid)] {
            *field(metadata, name) = value.into();
        }
        *field(metadata, "creationTimestamp") = format_seconds(now).into();
        set_defaults(body);
        let spec = field(body, "spec");
        let audiences = field(spec, "audiences");
        if audiences.as_array().is_none_or(Vec::is_empty) {
            *audiences = json!(self.api_audiences());
        }
        // Go prints the field even if it is not set.
        field(spec, "boundObjectRef");
    }

    /// The expiration to answer with, and the one to sign. Tokens of pods with the lifetime that the kubelet asks for are
    /// extended, for clients that do not reload them; their use after the answered one is annotated.
    fn limits(&self, spec: &Value, binding: &Binding, notes: &mut Notes) -> (i64, Lifetime) {
        let mut seconds = expiration(spec);
        let max = self.max_token_expiration;
        if max > 0 && seconds > max {
            notes.warnings.push(format!("requested expiration of {seconds} seconds shortened to {max} seconds"));
            seconds = max;
        }
        let for_this_server =
            strings(&spec["audiences"]).iter().all(|audience| self.api_audiences().contains(audience));
        let extended = self.extend_token_expiration
            && binding.pod
            && seconds == WARN_ONLY_BOUND_TOKEN_EXPIRATION_SECONDS
            && for_this_server;
        let life = match extended {
            true => Lifetime { seconds: EXPIRATION_EXTENSION_SECONDS, warn_after: Some(seconds) },
            false => Lifetime { seconds, warn_after: None },
        };
        (seconds, life)
    }

    fn claims(
        &self,
        spec: &Value,
        binding: Binding,
        account: &ServiceAccount<'_>,
        now: Timestamp,
        life: Lifetime,
        id: &str,
    ) -> Value {
        let issued = now.as_second();
        let mut kubernetes = binding.claims;
        kubernetes.insert("namespace".into(), account.namespace.into());
        kubernetes.insert("serviceaccount".into(), reference(account.name, account.uid));
        if let Some(seconds) = life.warn_after {
            kubernetes.insert("warnafter".into(), (issued + seconds).into());
        }
        json!({
            "aud": spec["audiences"],
            "exp": issued + life.seconds,
            "iat": issued,
            "iss": self.issuer(),
            "jti": id,
            "kubernetes.io": kubernetes,
            "nbf": issued,
            "sub": account.username(),
        })
    }
}

/// The lifetime of a signed token, in seconds.
struct Lifetime {
    seconds: i64,
    warn_after: Option<i64>,
}

fn expiration(spec: &Value) -> i64 {
    spec["expirationSeconds"].as_i64().unwrap_or_default()
}

/// The body may name the service account, but no other.
fn check_address(body: &Value, namespace: &str, name: &str) -> ApiResult<()> {
    let metadata = &body["metadata"];
    let (body_namespace, body_name) = (text(metadata, "namespace"), text(metadata, "name"));
    if !body_namespace.is_empty() && body_namespace != namespace {
        return Err(ApiError::bad_request(NAMESPACE_MISMATCH));
    }
    if !body_name.is_empty() && body_name != name {
        let detail = "must match the service account name if specified";
        let error = FieldError::invalid("metadata.name", &metadata["name"], detail);
        return Err(ApiError::invalid(KIND, name, &[error]));
    }
    Ok(())
}

fn check_uid(body: &Value, account: &ServiceAccount<'_>) -> ApiResult<()> {
    let (asked, current) = (text(&body["metadata"], "uid"), account.uid);
    if asked.is_empty() || asked == current {
        return Ok(());
    }
    let why =
        format!("the UID in the token request ({asked}) does not match the UID of the service account ({current})");
    Err(ApiError::conflict(KIND, account.name, why))
}

/// `ValidateTokenRequest`.
fn validate(spec: &Value) -> ApiResult<()> {
    let mut errors = Vec::new();
    let seconds = expiration(spec);
    let mut expiration = |detail| {
        errors.push(FieldError::invalid("spec.expirationSeconds", &spec["expirationSeconds"], detail));
    };
    if seconds < MIN_TOKEN_AGE_SECONDS {
        expiration("may not specify a duration less than 10 minutes");
    }
    if seconds > MAX_TOKEN_AGE_SECONDS {
        expiration("may not specify a duration larger than 2^32 seconds");
    }
    if attestations::is_webhook(&spec["boundObjectRef"]) {
        if strings(&spec["audiences"]).len() != 1 {
            let detail = "must be length 1 when bound to a webhook config";
            errors.push(FieldError::invalid("spec.audiences", &spec["audiences"], detail));
        }
        errors.extend(attestations::validate(&spec["attestations"]));
    } else if attestations::any(&spec["attestations"]) {
        errors = vec![attestations::misplaced(&spec["attestations"])];
    }
    if errors.is_empty() { Ok(()) } else { Err(ApiError::invalid(KIND, "", &errors)) }
}

/// Looks up the object that the token is to be bound to, which may be terminating.
fn bind(asked: &Value, account: &ServiceAccount<'_>, objects: &dyn Objects) -> ApiResult<Binding> {
    if asked.is_null() {
        return Ok(Binding::default());
    }
    let (name, kind) = (text(asked, "name"), text(asked, "kind"));
    let (group, version) = group_version(text(asked, "apiVersion"));
    let mut binding = Binding::default();
    let found = match (group, kind) {
        ("", "Pod") => {
            let pod = require(objects, "pods", account.namespace, name)?;
            if text(&pod["spec"], "serviceAccountName") != account.name {
                return Err(ApiError::bad_request(format!(
                    "cannot bind token for serviceaccount {:?} to pod running with different serviceaccount name.",
                    account.name
                )));
            }
            binding.pod = true;
            let node = text(&pod["spec"], "nodeName");
            if !node.is_empty() {
                // The claim names a node that does not exist (yet), but without a uid.
                let uid = objects.object("nodes", "", node).map(|node| metadata::uid(&node).to_string());
                binding.claims.insert("node".into(), reference(node, &uid.unwrap_or_default()));
            }
            pod
        }
        ("", "Node") => require(objects, "nodes", "", name)?,
        ("", "Secret") => require(objects, "secrets", account.namespace, name)?,
        _ => {
            let gate = match attestations::is_webhook(asked) {
                true => " (feature gate APIServerWebhookAuthenticationToken is disabled)",
                false => "",
            };
            return Err(ApiError::bad_request(format!(
                "cannot bind token to object of type {group}/{version}, Kind={kind}{gate}"
            )));
        }
    };
    let (uid, asked) = (metadata::uid(&found), text(asked, "uid"));
    if !asked.is_empty() && asked != uid {
        let why = format!(
            "the UID in the bound object reference ({asked}) does not match the UID in record. \
             The object might have been deleted and then recreated"
        );
        return Err(ApiError::conflict(Qualified { group, resource: kind }, name, why));
    }
    binding.claims.insert(kind.to_lowercase().into(), reference(name, uid));
    Ok(binding)
}

fn require(objects: &dyn Objects, resource: &str, namespace: &str, name: &str) -> ApiResult<Arc<Value>> {
    if name.is_empty() {
        return Err(ApiError::bad_request("Name parameter required."));
    }
    let found = objects.object(resource, namespace, name);
    found.ok_or_else(|| ApiError::not_found(Qualified { group: "", resource }, name))
}

/// A `ref` in claims, without empty fields.
fn reference(name: &str, uid: &str) -> Value {
    match uid {
        "" => json!({"name": name}),
        _ => json!({"name": name, "uid": uid}),
    }
}

/// `schema.FromAPIVersionAndKind`: a malformed apiVersion counts as empty.
fn group_version(api_version: &str) -> (&str, &str) {
    match api_version.split_once('/') {
        None => ("", api_version),
        Some((_, version)) if version.contains('/') => ("", ""),
        Some((group, version)) => (group, version),
    }
}
