//! Verdicts: what the server says to an object, and by which rule.

use crate::documents::Place;
use serde::Serialize;
use std::fmt;
use tree::Value;

/// A verdict on an object, from the best to the worst.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "UPPERCASE")]
pub enum Verdict {
    /// It is admitted.
    Ok,
    /// It is admitted, and the server warns.
    Warning,
    /// It is refused.
    Denied,
    /// It could not be judged.
    Error,
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Verdict::Ok => "OK",
            Verdict::Warning => "WARNING",
            Verdict::Denied => "DENIED",
            Verdict::Error => "ERROR",
        })
    }
}

/// The kind of a rule.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum RuleKind {
    /// A document that describes no object, or one that no request can be made of.
    Document,
    /// The kind is not served.
    Kind,
    /// A field that the kind does not have, or of another type.
    Schema,
    /// A rule about the values of fields.
    Validation,
    /// A version or field that is going to be removed.
    Deprecation,
    /// A policy in CEL.
    Policy,
    /// A webhook.
    Webhook,
    /// An admission plugin of the server.
    Plugin,
    /// The user may not.
    Permission,
    /// Something that has to be there is not.
    Missing,
    /// The state of what is there.
    Conflict,
    /// A case is not answered as expected.
    Expectation,
    /// Anything else.
    Server,
}

impl RuleKind {
    /// The name, as reports have it.
    pub fn as_str(self) -> &'static str {
        match self {
            RuleKind::Document => "document",
            RuleKind::Kind => "kind",
            RuleKind::Schema => "schema",
            RuleKind::Validation => "validation",
            RuleKind::Deprecation => "deprecation",
            RuleKind::Policy => "policy",
            RuleKind::Webhook => "webhook",
            RuleKind::Plugin => "plugin",
            RuleKind::Permission => "permission",
            RuleKind::Missing => "missing",
            RuleKind::Conflict => "conflict",
            RuleKind::Expectation => "expectation",
            RuleKind::Server => "server",
        }
    }
}

/// The rule behind a finding.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Rule {
    /// The kind of the rule.
    pub kind: RuleKind,
    /// The name of the policy, webhook or plugin.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// The binding of the policy.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub binding: Option<String>,
}

impl Rule {
    /// A rule without a name.
    pub fn of(kind: RuleKind) -> Rule {
        Rule { kind, name: None, binding: None }
    }

    /// A rule with a name.
    pub fn named(kind: RuleKind, name: impl Into<String>) -> Rule {
        Rule { name: Some(name.into()), ..Rule::of(kind) }
    }

    /// The rule as one word: `policy/no-latest`.
    pub fn id(&self) -> String {
        match &self.name {
            Some(name) => format!("{}/{name}", self.kind.as_str()),
            None => self.kind.as_str().to_owned(),
        }
    }
}

impl fmt::Display for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.kind.as_str())?;
        if let Some(name) = &self.name {
            write!(f, " {name}")?;
        }
        if let Some(binding) = &self.binding {
            write!(f, " (binding {binding})")?;
        }
        Ok(())
    }
}

/// A mistake in one field.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Cause {
    /// The path of the field.
    pub field: String,
    /// The reason.
    pub message: String,
    /// The place of the field.
    #[serde(flatten)]
    pub place: Place,
}

/// Something that the server says about an object.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Finding {
    /// The verdict that follows from it.
    pub verdict: Verdict,
    /// The rule.
    pub rule: Rule,
    /// The server's words.
    pub message: String,
    /// The place: that of the first field that it is about, or else the object's.
    #[serde(flatten)]
    pub place: Place,
    /// The fields that it is about.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub causes: Vec<Cause>,
    /// The advice, if there is some.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
}

/// A change of an object.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Change {
    /// It is new.
    Created,
    /// It is there, and changes.
    Configured,
    /// It is there as described.
    Unchanged,
}

/// The identity of an object, as far as its document tells.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Identity {
    /// The group and version.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub api_version: String,
    /// The kind.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub kind: String,
    /// The namespace; empty if it has none.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub namespace: String,
    /// The name.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub name: String,
}

impl Identity {
    /// That of an object.
    pub(crate) fn of(object: &Value) -> Identity {
        let text = |pointer| object.pointer(pointer).and_then(Value::as_str).unwrap_or_default().to_owned();
        Identity {
            api_version: text("/apiVersion"),
            kind: text("/kind"),
            namespace: text("/metadata/namespace"),
            name: text("/metadata/name"),
        }
    }
}

impl fmt::Display for Identity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kind = if self.kind.is_empty() { "document" } else { &self.kind };
        match (self.namespace.as_str(), self.name.as_str()) {
            (_, "") => f.write_str(kind),
            ("", name) => write!(f, "{kind} {name}"),
            (namespace, name) => write!(f, "{kind} {namespace}/{name}"),
        }
    }
}

/// An object, and the verdict on it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Judged {
    /// The place where it stands.
    #[serde(flatten)]
    pub place: Place,
    /// The identity of the object.
    #[serde(flatten)]
    pub identity: Identity,
    /// The worst verdict of the findings.
    pub verdict: Verdict,
    /// The change that it would be; `None` if it is not admitted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub change: Option<Change>,
    /// Whether it is stored once it is admitted, as other objects depend on it.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub stored: bool,
    /// The words of the server.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub findings: Vec<Finding>,
    /// The object before: as described, or the present one.
    #[serde(skip)]
    pub before: Option<Value>,
    /// The object as it would be stored.
    #[serde(skip)]
    pub after: Option<Value>,
}

impl Judged {
    /// The object of that place, of which nothing but these findings is known.
    pub(crate) fn of(place: Place, identity: Identity, findings: Vec<Finding>) -> Judged {
        let verdict = findings.iter().map(|finding| finding.verdict).max().unwrap_or(Verdict::Ok);
        Judged { place, identity, verdict, change: None, stored: false, findings, before: None, after: None }
    }
}
