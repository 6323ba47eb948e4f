//! The description of an issuer of tokens, and its validation.
//!
//! Ports `ValidateAuthenticationConfiguration` of `pkg/apis/apiserver/validation/validation.go`, and `pkg/authentication/cel/compile.go`, of
//! `k8s.io/apiserver` (v0.37.1).

use crate::auth::expressions::Expression;
use crate::error::{Errors, FieldError, Path};
use crate::object::domain_path::domain_prefixed_path;
use crate::object::url;
use crate::registry::strings;
use crate::x509::Pool;
use kubernetes_cel::{Declarations, Parts, Type};
use std::sync::LazyLock;
use tree::Value;

/// The most issuers.
const MOST: usize = 64;

/// The names in expressions about claims.
static OF_CLAIMS: LazyLock<Declarations> =
    LazyLock::new(|| Declarations::new().variable("claims", Type::map(Type::String, Type::Any)));

/// The names in expressions about users.
static OF_USER: LazyLock<Declarations> = LazyLock::new(|| {
    let (text, texts) = (Type::String, Type::list(Type::String));
    let fields = [
        ("username", text.clone()),
        ("uid", text),
        ("groups", texts.clone()),
        ("extra", Type::map(Type::String, texts)),
    ];
    Declarations::new().variable("user", Type::object("kubernetes.UserInfo")).object("kubernetes.UserInfo", fields)
});

/// An issuer of tokens, and what their claims mean.
#[derive(Debug, Default)]
pub(crate) struct IssuerConfig {
    pub(super) url: String,
    /// Where its configuration is, if that is not below its URL.
    pub(super) discovery_url: Option<String>,
    /// The certificates that vouch for it, as PEM; those of the system, if empty.
    pub(super) authorities: String,
    pub(super) audiences: Vec<String>,
    /// The way to it, which this server, as one without a configuration of such ways, does not have; "" for the usual one.
    pub(super) egress: String,
    pub(super) username: Mapping,
    pub(super) groups: Mapping,
    pub(super) uid: Mapping,
    pub(super) extra: Vec<(String, Expression)>,
    /// Claims, and the values that they must have.
    pub(super) required: Vec<(String, String)>,
    /// Expressions that must be true of claims, with the messages if they are not.
    pub(super) rules: Vec<(Expression, String)>,
    /// Expressions that must be true of the user.
    pub(super) user_rules: Vec<(Expression, String)>,
}

/// How an attribute of the user is made of claims.
#[derive(Debug, Default)]
pub(super) enum Mapping {
    #[default]
    None,
    /// It is a claim, behind a prefix.
    Claim(String, String),
    Expression(Box<Expression>),
}

/// Whether anonymous requests are served, and for which paths; if there are none, for all.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Anonymous {
    pub(crate) enabled: bool,
    pub(crate) paths: Vec<String>,
}

/// Validates an `AuthenticationConfiguration`, and reads its issuers.
pub(super) fn validate(configuration: &Value, errors: &mut Errors) -> Vec<IssuerConfig> {
    let all = list(&configuration["jwt"]);
    if all.len() > MOST {
        errors.push(FieldError::too_many("jwt", all.len(), MOST));
        return Vec::new();
    }
    let (mut read, mut urls, mut discovery_urls) = (Vec::new(), Vec::new(), Vec::new());
    for (index, jwt) in all.iter().enumerate() {
        let at = Path::ROOT.item("jwt", index);
        read.push(issuer(at, jwt, errors));
        let (url, discovery_url) = (text(&jwt["issuer"]["url"]), text(&jwt["issuer"]["discoveryURL"]));
        if urls.contains(&url) {
            errors.duplicate(at.child("issuer.url"), url);
        }
        urls.push(url);
        if !discovery_url.is_empty() {
            if discovery_urls.contains(&discovery_url) {
                errors.duplicate(at.child("issuer.discoveryURL"), discovery_url);
            }
            discovery_urls.push(discovery_url);
        }
    }
    let anonymous = &configuration["anonymous"];
    if !anonymous.is_null() && anonymous["enabled"] != true && !list(&anonymous["conditions"]).is_empty() {
        let paths = list(&anonymous["conditions"])
            .iter()
            .map(|one| format!("{{\"Path\":{}}}", crate::schema::encode_any(&one["path"])));
        let printed = format!("[{}]", paths.collect::<Vec<_>>().join(","));
        let detail = "enabled should be set to true when conditions are defined";
        errors.push(FieldError::invalid_printed("anonymous.conditions", printed, detail));
    }
    read
}

/// `validateJWTAuthenticator`
fn issuer(at: Path<'_>, jwt: &Value, errors: &mut Errors) -> IssuerConfig {
    let issuer = &jwt["issuer"];
    let mut read = IssuerConfig {
        url: text(&issuer["url"]).to_owned(),
        discovery_url: Some(text(&issuer["discoveryURL"]).to_owned()).filter(|url| !url.is_empty()),
        authorities: text(&issuer["certificateAuthority"]).to_owned(),
        audiences: strings(&issuer["audiences"]),
        egress: text(&issuer["egressSelectorType"]).to_owned(),
        ..IssuerConfig::default()
    };
    check_issuer(at.child("issuer"), &read, issuer, errors);
    let emails = claim_rules(at, jwt, &mut read, errors);
    mappings(at.child("claimMappings"), &jwt["claimMappings"], &mut read, emails, errors);
    let mut seen = Vec::new();
    for (index, rule) in list(&jwt["userValidationRules"]).iter().enumerate() {
        let at = at.item("userValidationRules", index);
        let (at, expression) = (at.child("expression"), text(&rule["expression"]));
        if expression.is_empty() {
            errors.required(at, "");
        } else if seen.contains(&expression) {
            errors.duplicate(at, expression);
        } else {
            seen.push(expression);
            if let Some(compiled) = condition(at, expression, &OF_USER, errors) {
                read.user_rules.push((compiled, text(&rule["message"]).to_owned()));
            }
        }
    }
    read
}

/// `validateIssuer`
fn check_issuer(at: Path<'_>, read: &IssuerConfig, issuer: &Value, errors: &mut Errors) {
    if read.url.is_empty() {
        errors.required(at.child("url"), "");
    } else {
        check_url(at.child("url"), &read.url, errors);
    }
    if let Some(discovery_url) = &read.discovery_url {
        let at = at.child("discoveryURL");
        if !read.url.is_empty() && read.url.trim_end_matches('/') == discovery_url.trim_end_matches('/') {
            errors.invalid(at, &**discovery_url, "discoveryURL must be different from URL");
        }
        check_url(at, discovery_url, errors);
    }
    check_audiences(at, &read.audiences, text(&issuer["audienceMatchPolicy"]), errors);
    if !read.authorities.is_empty() && Pool::from_pem(read.authorities.as_bytes()).certificates().is_empty() {
        let why = "data does not contain any valid RSA or ECDSA certificates";
        errors.invalid(at.child("certificateAuthority"), "<omitted>", why);
    }
    if !["", "controlplane", "cluster"].contains(&&*read.egress) {
        errors.invalid(
            at.child("egressSelectorType"),
            &*read.egress,
            "egress selector must be either controlplane or cluster",
        );
    }
}

/// `validateURL`
fn check_url(at: Path<'_>, text: &str, errors: &mut Errors) {
    let url = match url::parse(text) {
        Ok(url) => url,
        Err(why) => return errors.invalid(at, text, why),
    };
    for (is_wrong, why) in [
        (url.scheme != "https", "URL scheme must be https"),
        (url.user.is_some(), "URL must not contain a username or password"),
        (!url.query.is_empty(), "URL must not contain a query"),
        (!url.fragment.is_empty(), "URL must not contain a fragment"),
    ] {
        if is_wrong {
            errors.invalid(at, text, why);
        }
    }
}

/// `validateAudiences`
fn check_audiences(at: Path<'_>, audiences: &[String], policy: &str, errors: &mut Errors) {
    let at_policy = at.child("audienceMatchPolicy");
    if audiences.is_empty() {
        let at = at.child("audiences");
        return errors.required(at, &format!("at least one {at} is required"));
    }
    for (index, audience) in audiences.iter().enumerate() {
        let at = at.item("audiences", index);
        if audience.is_empty() {
            errors.required(at, "");
        }
        if audiences[..index].contains(audience) {
            errors.duplicate(at, &**audience);
        }
    }
    let why = match audiences.len() {
        1 if !policy.is_empty() && policy != "MatchAny" => {
            "audienceMatchPolicy must be empty or MatchAny for single audience"
        }
        2.. if policy != "MatchAny" => "audienceMatchPolicy must be MatchAny for multiple audiences",
        _ => return,
    };
    errors.invalid(at_policy, policy, why);
}

/// `validateClaimValidationRules`: whether an expression reads `claims.email_verified`.
fn claim_rules(at: Path<'_>, jwt: &Value, read: &mut IssuerConfig, errors: &mut Errors) -> bool {
    let (mut claims, mut expressions) = (Vec::new(), Vec::new());
    for (index, rule) in list(&jwt["claimValidationRules"]).iter().enumerate() {
        let at = at.item("claimValidationRules", index);
        let field = |name: &str| text(&rule[name]);
        let (claim, expression, message, value) =
            (field("claim"), field("expression"), field("message"), field("requiredValue"));
        match (claim, expression) {
            ("", "") => errors.required(at, "claim or expression is required"),
            (claim, "") => {
                if !message.is_empty() {
                    errors.invalid(at.child("message"), message, "may not be specified when claim is set");
                }
                if claims.contains(&claim) {
                    errors.duplicate(at.child("claim"), claim);
                }
                claims.push(claim);
                read.required.push((claim.to_owned(), value.to_owned()));
            }
            ("", expression) => {
                if !value.is_empty() {
                    errors.invalid(at.child("requiredValue"), value, "may not be specified when expression is set");
                }
                if expressions.contains(&expression) {
                    errors.duplicate(at.child("expression"), expression);
                    continue;
                }
                expressions.push(expression);
                if let Some(compiled) = condition(at.child("expression"), expression, &OF_CLAIMS, errors) {
                    read.rules.push((compiled, message.to_owned()));
                }
            }
            (claim, _) => errors.invalid(at, claim, "claim and expression can't both be set"),
        }
    }
    read.rules.iter().any(|(rule, _)| reads(rule, "email_verified"))
}

/// `validateClaimMappings`; `verifies` tells whether an expression before reads `claims.email_verified`.
fn mappings(at: Path<'_>, all: &Value, read: &mut IssuerConfig, verifies: bool, errors: &mut Errors) {
    read.username = prefixed(at.child("username"), &all["username"], true, errors);
    read.groups = prefixed(at.child("groups"), &all["groups"], false, errors);
    read.uid = match (text(&all["uid"]["claim"]), text(&all["uid"]["expression"])) {
        ("", "") => Mapping::None,
        (claim, "") => Mapping::Claim(claim.to_owned(), String::new()),
        ("", expression) => mapped(at.child("uid").child("expression"), expression, errors),
        _ => {
            errors.invalid(at.child("uid"), "", "claim and expression can't both be set");
            Mapping::None
        }
    };
    let mut seen = Vec::new();
    for (index, extra) in list(&all["extra"]).iter().enumerate() {
        let at = at.item("extra", index);
        let (key, expression) = (text(&extra["key"]), text(&extra["valueExpression"]));
        domain_prefixed_path(at.child("key"), key, errors);
        if key != key.to_lowercase() {
            errors.invalid(at.child("key"), key, "must be lowercase");
        }
        if is_of_kubernetes(key) {
            let why = "k8s.io, kubernetes.io and their subdomains are reserved for Kubernetes use";
            errors.invalid(at.child("key"), key, why);
        }
        if seen.contains(&key) {
            errors.duplicate(at.child("key"), key);
            continue;
        }
        seen.push(key);
        if expression.is_empty() {
            errors.required(at.child("valueExpression"), "");
        } else if let Mapping::Expression(compiled) = mapped(at.child("valueExpression"), expression, errors) {
            read.extra.push((key.to_owned(), *compiled));
        }
    }
    let Mapping::Expression(username) = &read.username else { return };
    let verifies = verifies
        || reads(username, "email_verified")
        || read.extra.iter().any(|(_, extra)| reads(extra, "email_verified"));
    if reads(username, "email") && !verifies {
        let why = "claims.email_verified must be used in claimMappings.username.expression or claimMappings.extra[*].valueExpression or claimValidationRules[*].expression when claims.email is used in claimMappings.username.expression";
        errors.invalid(at.child("username.expression"), &*username.text, why);
    }
}

/// `validatePrefixClaimOrExpression`
fn prefixed(at: Path<'_>, mapping: &Value, is_required: bool, errors: &mut Errors) -> Mapping {
    let prefix = &mapping["prefix"];
    match (text(&mapping["claim"]), text(&mapping["expression"])) {
        ("", "") if is_required => errors.required(at, "claim or expression is required"),
        ("", "") => {}
        ("", expression) => {
            if !prefix.is_null() {
                errors.invalid(at.child("prefix"), text(prefix), "may not be specified when expression is set");
            }
            return mapped(at.child("expression"), expression, errors);
        }
        (claim, "") => {
            if prefix.is_null() {
                let why = "prefix is required when claim is set. It can be set to an empty string to disable prefixing";
                errors.required(at.child("prefix"), why);
            }
            return Mapping::Claim(claim.to_owned(), text(prefix).to_owned());
        }
        _ => errors.invalid(at, "", "claim and expression can't both be set"),
    }
    Mapping::None
}

fn mapped(at: Path<'_>, expression: &str, errors: &mut Errors) -> Mapping {
    match Expression::compile(expression, &OF_CLAIMS) {
        Ok(compiled) => Mapping::Expression(compiled.into()),
        Err(why) => {
            errors.invalid(at, expression, why);
            Mapping::None
        }
    }
}

fn condition(at: Path<'_>, expression: &str, names: &Declarations, errors: &mut Errors) -> Option<Expression> {
    let why = match Expression::compile(expression, names) {
        Ok(compiled) if *compiled.result_type() == Type::Bool => return Some(compiled),
        Ok(_) => "must evaluate to bool".to_owned(),
        Err(why) => why,
    };
    errors.invalid(at, expression, why);
    None
}

/// Whether an expression reads that claim.
fn reads(expression: &Expression, claim: &str) -> bool {
    matches!(expression.parts_of("claims"), Parts::Fields(fields) if fields.contains_key(claim))
}

/// `isKubernetesDomainPrefix`
fn is_of_kubernetes(key: &str) -> bool {
    let domain = key.split_once('/').map_or("", |(domain, _)| domain);
    let is_below = |of: &str| domain == of || domain.strip_suffix(of).is_some_and(|rest| rest.ends_with('.'));
    is_below("kubernetes.io") || is_below("k8s.io")
}

fn list(value: &Value) -> &[Value] {
    value.as_array().map(Vec::as_slice).unwrap_or_default()
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}
