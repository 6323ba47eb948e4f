//! Resources and the keys of their objects.

use std::borrow::Cow;
use std::fmt;

/// A resource in one of its versions, as paths name it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Resource {
    /// The group; empty for the core one.
    pub group: Cow<'static, str>,
    /// The version.
    pub version: Cow<'static, str>,
    /// The plural name.
    pub plural: Cow<'static, str>,
}

impl Resource {
    /// A built-in resource.
    pub const fn new(group: &'static str, version: &'static str, plural: &'static str) -> Resource {
        Resource { group: Cow::Borrowed(group), version: Cow::Borrowed(version), plural: Cow::Borrowed(plural) }
    }
}

/// `deployments.apps`, as kubectl names it.
impl fmt::Display for Resource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &*self.group {
            "" => f.write_str(&self.plural),
            group => write!(f, "{}.{group}", self.plural),
        }
    }
}

/// The namespace and the name of an object; the namespace is empty for one that has none.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Key {
    /// The namespace.
    pub namespace: String,
    /// The name.
    pub name: String,
}

impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &*self.namespace {
            "" => f.write_str(&self.name),
            namespace => write!(f, "{namespace}/{}", self.name),
        }
    }
}
