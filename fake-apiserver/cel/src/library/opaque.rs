//! Values of Kubernetes' own types.

use super::authorizer::{Check, Decision, Group, Subject};
use super::ip::Cidr;
use super::named_format::NamedFormat;
use super::patch::Patch;
use super::semver::Version;
use super::url::Url;
use crate::types::Type;
use crate::value::{Outcome, Value, no_such_overload};
use quantity::Quantity;
use std::fmt;
use std::net::IpAddr;
use std::sync::Arc;

/// A value of one of Kubernetes' own types.
#[derive(Debug, Clone)]
#[non_exhaustive]
#[allow(private_interfaces, reason = "what these values are made of is the libraries' business")]
pub enum Opaque {
    /// A quantity; whether it was calculated.
    Quantity(Arc<Quantity>, bool),
    /// An IP address.
    Ip(IpAddr),
    /// A network.
    Cidr(Cidr),
    /// A URL.
    Url(Arc<Url>),
    /// A semantic version.
    Semver(Arc<Version>),
    /// A format that strings can have.
    Format(&'static NamedFormat),
    /// An authorizer with its user.
    Authorizer(Arc<Subject>),
    /// A check of a path.
    PathCheck(Arc<Check>),
    /// A check within an API group.
    GroupCheck(Arc<Group>),
    /// A check of a resource.
    ResourceCheck(Arc<Check>),
    /// A decision of an authorizer.
    Decision(Arc<Decision>),
    /// A patch, or a part of one.
    Patch(Arc<Patch>),
    /// Data without a schema.
    Preserved(Arc<tree::Value>),
}

impl Opaque {
    pub(crate) fn type_of(&self) -> Type {
        let opaque = |name: &str| Type::Opaque(Arc::from(name), Arc::from([]));
        match self {
            Self::Quantity(..) => Type::object("kubernetes.Quantity"),
            Self::Ip(_) => opaque("net.IP"),
            Self::Cidr(_) => opaque("net.CIDR"),
            Self::Url(_) => Type::object("kubernetes.URL"),
            Self::Semver(_) => Type::object("kubernetes.Semver"),
            Self::Format(_) => Type::object("kubernetes.NamedFormat"),
            Self::Authorizer(_) => Type::object("kubernetes.authorization.Authorizer"),
            Self::PathCheck(_) => Type::object("kubernetes.authorization.PathCheck"),
            Self::GroupCheck(_) => Type::object("kubernetes.authorization.GroupCheck"),
            Self::ResourceCheck(_) => Type::object("kubernetes.authorization.ResourceCheck"),
            Self::Decision(_) => Type::object("kubernetes.authorization.Decision"),
            Self::Patch(patch) => Type::object(patch.type_name()),
            Self::Preserved(_) => opaque("unknown"),
        }
    }

    pub(crate) fn go_type(&self) -> &'static str {
        match self {
            Self::Quantity(_, true) => "*cel.Quantity",
            Self::Quantity(_, false) => "cel.Quantity",
            Self::Ip(_) => "cel.IP",
            Self::Cidr(_) => "cel.CIDR",
            Self::Url(_) => "cel.URL",
            Self::Semver(_) => "cel.Semver",
            Self::Format(_) => "cel.Format",
            Self::Authorizer(_) => "library.authorizerVal",
            Self::PathCheck(_) => "library.pathCheckVal",
            Self::GroupCheck(_) => "library.groupCheckVal",
            Self::ResourceCheck(_) => "library.resourceCheckVal",
            Self::Decision(_) => "library.decisionVal",
            Self::Patch(patch) => patch.go_type(),
            Self::Preserved(_) => "*common.unknownPreserved",
        }
    }

    /// The number of bytes of an address, or of a network's prefix.
    pub(crate) fn size(&self) -> Option<u64> {
        match self {
            Self::Ip(ip) => Some(if ip.is_ipv4() { 4 } else { 16 }),
            Self::Cidr(cidr) => Some(u64::from(cidr.bits).div_ceil(8)),
            _ => None,
        }
    }

    /// The text of an address.
    pub(crate) fn address(&self) -> Option<String> {
        match self {
            Self::Ip(ip) => Some(super::ip::show(*ip)),
            Self::Cidr(cidr) => Some(cidr.to_string()),
            _ => None,
        }
    }

    pub(crate) fn equals(&self, other: &Value) -> Outcome<bool> {
        match (self, other) {
            (Self::Quantity(a, _), Value::Opaque(Self::Quantity(b, false))) => Ok(a.cmp(b).is_eq()),
            (Self::Ip(a), Value::Opaque(Self::Ip(b))) => Ok(a == b),
            (Self::Cidr(a), Value::Opaque(Self::Cidr(b))) => Ok(a == b),
            (Self::Url(a), Value::Opaque(Self::Url(b))) => Ok(a.to_string() == b.to_string()),
            (Self::Semver(a), Value::Opaque(Self::Semver(b))) => Ok(a.order(b).is_eq()),
            (Self::Format(a), Value::Opaque(Self::Format(b))) => Ok(a.name == b.name),
            (Self::Patch(a), Value::Opaque(Self::Patch(b))) => a.equals(b),
            (Self::Patch(_), _) => Ok(false),
            (Self::Preserved(a), Value::Opaque(Self::Preserved(b))) => Ok(a == b),
            (Self::Preserved(a), Value::String(b)) => Ok(a.as_str() == Some(b)),
            (Self::Preserved(a), Value::Bool(b)) => Ok(a.as_bool() == Some(*b)),
            (Self::Preserved(a), Value::Int(b)) => Ok(a.as_i64() == Some(*b)),
            (Self::Preserved(_), _) => Ok(false),
            _ => no_such_overload(),
        }
    }
}

impl fmt::Display for Opaque {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Quantity(quantity, _) => write!(f, "{quantity}"),
            Self::Ip(ip) => f.write_str(&super::ip::show(*ip)),
            Self::Cidr(cidr) => write!(f, "{cidr}"),
            Self::Url(url) => write!(f, "{url}"),
            Self::Semver(version) => write!(f, "{version}"),
            Self::Format(format) => f.write_str(format.name),
            Self::Preserved(data) => write!(f, "{data}"),
            other => f.write_str(other.type_of().name()),
        }
    }
}
