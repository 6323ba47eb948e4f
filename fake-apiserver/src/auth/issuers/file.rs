//! The file of `--authentication-config`: an `AuthenticationConfiguration` of `apiserver.config.k8s.io`; and the same, made of flags.
//!
//! Ports `ToAuthenticationConfig` of `pkg/kubeapiserver/options/authentication.go` (v1.37.1).

use super::config::{Anonymous, IssuerConfig, validate};
use crate::auth::authentication_options::OidcOptions;
use crate::configuration::{Strictness, decode};
use crate::error::{Errors, FieldError, aggregate};
use crate::files;
use tree::{Value, json};

const KIND: &str = "AuthenticationConfiguration";
const VERSIONS: [&str; 3] =
    ["apiserver.config.k8s.io/v1", "apiserver.config.k8s.io/v1beta1", "apiserver.config.k8s.io/v1alpha1"];

/// The content of a file.
pub(crate) struct AuthenticationFile {
    pub(crate) issuers: Vec<IssuerConfig>,
    /// The treatment of anonymous requests, if the file says it.
    pub(crate) anonymous: Option<Anonymous>,
}

impl AuthenticationFile {
    /// Reads a file; `objection` is one to what it says of anonymous requests.
    ///
    /// # Errors
    /// In upstream's words, if it is not valid.
    pub(crate) fn read(
        content: &[u8],
        objection: impl FnOnce(Option<&Anonymous>) -> Option<String>,
    ) -> Result<AuthenticationFile, Refused> {
        let configuration = load(content).map_err(Refused::NotLoaded)?;
        let anonymous = &configuration["anonymous"];
        let anonymous = (!anonymous.is_null()).then(|| {
            let conditions = anonymous["conditions"].as_array().into_iter().flatten();
            let paths = conditions.map(|condition| condition["path"].as_str().unwrap_or_default().to_owned());
            Anonymous { enabled: anonymous["enabled"] == true, paths: paths.collect() }
        });
        if let Some(objection) = objection(anonymous.as_ref()) {
            return Err(Refused::Objection(objection));
        }
        Ok(AuthenticationFile { issuers: issuers(&configuration).map_err(Refused::Invalid)?, anonymous })
    }
}

/// Why a file is refused.
pub(crate) enum Refused {
    /// It cannot be decoded.
    NotLoaded(String),
    /// Something else contradicts it.
    Objection(String),
    /// It is not valid.
    Invalid(String),
}

fn load(content: &[u8]) -> Result<Value, String> {
    if content.is_empty() {
        return Err("empty config data".into());
    }
    let text = str::from_utf8(content).map_err(|error| error.to_string())?;
    let others = [(VERSIONS[0], "AdmissionConfiguration"), (VERSIONS[0], "AuthorizationConfiguration")];
    let known: Vec<_> = VERSIONS.map(|version| (version, KIND)).into_iter().chain(others).collect();
    let configuration = decode(text, &known, Strictness::Strict).map_err(|error| error.message())?;
    match configuration["kind"].as_str() {
        Some(KIND) | None => Ok(configuration),
        Some(other) => Err(format!("expected {KIND}, got *apiserver.{other}")),
    }
}

fn issuers(configuration: &Value) -> Result<Vec<IssuerConfig>, String> {
    let mut issuers = Vec::new();
    let findings = Errors::of(|errors| issuers = validate(configuration, errors));
    match findings.is_empty() {
        true => Ok(issuers),
        false => Err(aggregate(findings.iter().map(FieldError::to_string))),
    }
}

/// The issuer that flags name, if they do.
///
/// # Errors
/// In upstream's words, if they are not valid.
pub(crate) fn of_flags(options: &OidcOptions) -> Result<Vec<IssuerConfig>, String> {
    let OidcOptions { issuer_url: Some(url), client_id: Some(client), .. } = options else { return Ok(Vec::new()) };
    let claim = options.username_claim.as_deref().unwrap_or("sub");
    let prefix = match options.username_prefix.as_deref().unwrap_or_default() {
        // Names of others than this issuer's might be the same.
        "" if claim != "email" => format!("{url}#"),
        "-" => String::new(),
        prefix => prefix.to_owned(),
    };
    let authorities = options.ca_file.as_ref().map(files::read_text).transpose()?.unwrap_or_default();
    let mut mappings = json!({"username": {"claim": claim, "prefix": prefix}});
    if let Some(groups) = options.groups_claim.as_deref().filter(|groups| !groups.is_empty()) {
        mappings["groups"] = json!({"claim": groups, "prefix": options.groups_prefix.as_deref().unwrap_or_default()});
    }
    let rules =
        options.required_claims.iter().map(|(claim, value)| json!({"claim": &**claim, "requiredValue": &**value}));
    let jwt = json!({
        "issuer": {"url": &**url, "audiences": [&**client], "certificateAuthority": authorities},
        "claimMappings": mappings,
        "claimValidationRules": rules.collect::<Vec<Value>>(),
    });
    issuers(&json!({"jwt": [jwt]})).map_err(|why| format!("invalid authentication configuration: {why}"))
}
