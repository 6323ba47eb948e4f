//! The user that the claims of a token describe.
//!
//! Ports `AuthenticateToken` of `plugin/pkg/authenticator/token/oidc/oidc.go`, and `pkg/authentication/cel/mapper.go`, of
//! `k8s.io/apiserver` (v0.37.1).
//!
//! GAP: authentication: escaped names of claims within claims, in expressions

use super::config::{IssuerConfig, Mapping};
use crate::auth::expressions::Expression;
use crate::schema::json_type;
use crate::user::{self, User};
use kubernetes_cel::{Bindings, Map as CelMap, Value as Cel};
use std::collections::BTreeMap;
use tree::{Map, Value};

/// The user of a token with those claims.
///
/// # Errors
/// In upstream's words, if the claims do not describe one, or not one whom the rules allow.
pub(super) fn user(config: &IssuerConfig, claims: &Map) -> Result<User, String> {
    let mut bindings = Bindings::new();
    let values = claims.iter().map(|(name, value)| (Cel::from(&**name), go_value(value)));
    bindings.set("claims", Cel::Map(CelMap::new(values)));
    let name = username(config, claims, &bindings)?;
    let user = User {
        name,
        groups: groups(config, claims, &bindings)?,
        uid: uid(config, claims, &bindings)?,
        extra: extra(config, claims, &bindings)?,
    };
    for (claim, wanted) in &config.required {
        let value = claims.get(claim).ok_or_else(|| format!("oidc: required claim {claim} not present in ID token"))?;
        let found = text(value).map_err(|why| format!("oidc: parse claim {claim}: {why}"))?;
        if found != *wanted {
            return Err(format!("oidc: required claim {claim} value does not match. Got = {found}, want = {wanted}"));
        }
    }
    hold(&config.rules, &bindings)
        .map_err(|why| format!("oidc: error evaluating claim validation expression: {why}"))?;
    if !config.user_rules.is_empty() {
        let mut bindings = Bindings::new();
        bindings.set("user", of_user(&user));
        hold(&config.user_rules, &bindings)
            .map_err(|why| format!("oidc: error evaluating user info validation rule: {why}"))?;
    }
    Ok(user)
}

fn username(config: &IssuerConfig, claims: &Map, bindings: &Bindings) -> Result<String, String> {
    match &config.username {
        Mapping::None => Err("oidc: parse username claims \"\": claim not present".into()),
        Mapping::Expression(expression) => {
            let failed = |why: String| format!("oidc: error evaluating username claim expression: {why}");
            match value(expression, bindings).map_err(failed)? {
                Cel::String(name) if name.is_empty() => {
                    Err("oidc: empty username via CEL expression is not allowed".into())
                }
                Cel::String(name) => Ok(name.to_string()),
                _ => Err(failed("username claim expression must return a string".into())),
            }
        }
        Mapping::Claim(claim, prefix) => {
            let name =
                claim_text(claims, claim).map_err(|why| format!("oidc: parse username claims {claim:?}: {why}"))?;
            if claim == "email" {
                match claims.get("email_verified") {
                    None | Some(Value::Bool(true)) => {}
                    Some(Value::Bool(false) | Value::Null) => return Err("oidc: email not verified".into()),
                    Some(other) => {
                        let found = json_type(other);
                        return Err(format!(
                            "oidc: parse 'email_verified' claim: json: cannot unmarshal {found} into Go value of type bool"
                        ));
                    }
                }
            }
            Ok(format!("{prefix}{name}"))
        }
    }
}

fn groups(config: &IssuerConfig, claims: &Map, bindings: &Bindings) -> Result<Vec<String>, String> {
    match &config.groups {
        Mapping::None => Ok(Vec::new()),
        Mapping::Expression(expression) => {
            let failed = |why: String| format!("oidc: error evaluating group claim expression: {why}");
            texts(&value(expression, bindings).map_err(failed)?).map_err(failed)
        }
        Mapping::Claim(claim, prefix) => {
            let Some(value) = claims.get(claim) else { return Ok(Vec::new()) };
            let all = match value {
                Value::Array(items) if items.iter().all(|item| item.is_string() || item.is_null()) => {
                    Ok(items.iter().map(|item| item.as_str().unwrap_or_default().to_owned()).collect())
                }
                Value::Null => Ok(Vec::new()),
                other => text(other).map(|one| vec![one]),
            };
            let all: Vec<String> = all.map_err(|why| format!("oidc: parse groups claim {claim:?}: {why}"))?;
            Ok(all.iter().map(|group| format!("{prefix}{group}")).collect())
        }
    }
}

fn uid(config: &IssuerConfig, claims: &Map, bindings: &Bindings) -> Result<String, String> {
    match &config.uid {
        Mapping::None => Ok(String::new()),
        Mapping::Claim(claim, _) => {
            claim_text(claims, claim).map_err(|why| format!("oidc: parse uid claim {claim:?}: {why}"))
        }
        Mapping::Expression(expression) => {
            let failed = |why: String| format!("oidc: error evaluating uid claim expression: {why}");
            match value(expression, bindings).map_err(failed)? {
                Cel::String(uid) => Ok(uid.to_string()),
                _ => Err(failed("uid claim expression must return a string".into())),
            }
        }
    }
}

fn extra(config: &IssuerConfig, claims: &Map, bindings: &Bindings) -> Result<BTreeMap<String, Vec<String>>, String> {
    let mut extra = BTreeMap::new();
    if let Some(Value::String(id)) = claims.get("jti").filter(|id| **id != "") {
        extra.insert(user::CREDENTIAL_ID_KEY.to_owned(), vec![user::credential_id(id)]);
    }
    for (key, expression) in &config.extra {
        let found = value(expression, bindings)?;
        let all = texts(&found)
            .map_err(|why| format!("oidc: error evaluating extra claim expression: {}: {why}", expression.text))?;
        if !all.is_empty() {
            extra.insert(key.clone(), all);
        }
    }
    Ok(extra)
}

/// The value of an expression.
fn value(expression: &Expression, bindings: &Bindings) -> Result<Cel, String> {
    let value = expression.evaluate(bindings, &|| true);
    value.map_err(|why| format!("expression '{}' resulted in error: {why}", expression.text))
}

/// Whether all rules hold (`checkValidationRulesEvaluation`); all are evaluated before one is looked at.
fn hold(rules: &[(Expression, String)], bindings: &Bindings) -> Result<(), String> {
    let values: Vec<Cel> = rules.iter().map(|(rule, _)| value(rule, bindings)).collect::<Result<_, _>>()?;
    for ((rule, message), value) in rules.iter().zip(values) {
        match value {
            Cel::Bool(true) => {}
            Cel::Bool(false) => return Err(format!("validation expression '{}' failed: {message}", rule.text)),
            _ => return Err("validation expression must return a boolean".into()),
        }
    }
    Ok(())
}

/// `convertCELValueToStringList`
fn texts(value: &Cel) -> Result<Vec<String>, String> {
    let wrong = || "expression must return a string or a list of strings".to_owned();
    let all = match value {
        Cel::Null => Vec::new(),
        Cel::String(text) => vec![text.to_string()],
        Cel::List(list) => list
            .items()
            .iter()
            .map(|item| match item {
                Cel::String(text) => Ok(text.to_string()),
                _ => Err(wrong()),
            })
            .collect::<Result<_, _>>()?,
        _ => return Err(wrong()),
    };
    Ok(all.into_iter().filter(|text| !text.is_empty()).collect())
}

fn claim_text(claims: &Map, claim: &str) -> Result<String, String> {
    text(claims.get(claim).ok_or("claim not present")?)
}

/// A text as Go decodes it, to which a null is an empty one.
fn text(value: &Value) -> Result<String, String> {
    match value {
        Value::String(text) => Ok(text.to_string()),
        Value::Null => Ok(String::new()),
        other => Err(format!("json: cannot unmarshal {} into Go value of type string", json_type(other))),
    }
}

/// A value as Go decodes JSON without a type: all numbers have a point.
fn go_value(value: &Value) -> Cel {
    match value {
        Value::Null => Cel::Null,
        Value::Bool(value) => Cel::Bool(*value),
        Value::Number(number) => Cel::Double(number.as_f64().unwrap_or_default()),
        Value::String(text) => Cel::from(text.as_str()),
        Value::Array(items) => Cel::from(items.iter().map(go_value).collect::<Vec<_>>()),
        Value::Object(fields) => {
            Cel::Map(CelMap::new(fields.iter().map(|(name, value)| (Cel::from(&**name), go_value(value)))))
        }
        Value::Raw(_) => go_value(&value.parsed()),
    }
}

/// `newUserInfoValue`
fn of_user(user: &User) -> Cel {
    let texts = |all: &[String]| Cel::from(all.iter().map(|text| Cel::from(text.as_str())).collect::<Vec<_>>());
    let extra = user.extra.iter().map(|(key, values)| (Cel::from(key.as_str()), texts(values)));
    Cel::Map(CelMap::new([
        (Cel::from("username"), Cel::from(user.name.as_str())),
        (Cel::from("uid"), Cel::from(user.uid.as_str())),
        (Cel::from("groups"), texts(&user.groups)),
        (Cel::from("extra"), Cel::Map(CelMap::new(extra))),
    ]))
}
