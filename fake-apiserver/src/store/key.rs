//! Keys of objects: resource and path; and scopes, the parts of a resource.

use std::ops::Range;
use std::sync::Arc;

/// The id of a resource.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ResourceId(pub u32);

/// The key of an object: resource and path. Ordered as in etcd, by the bytes of `namespace/name`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Key {
    /// The resource.
    pub resource: ResourceId,
    path: Arc<str>,
}

impl Key {
    /// The key of an object; `namespace` is empty for cluster-scoped ones.
    pub fn new(resource: ResourceId, namespace: &str, name: &str) -> Self {
        let path = match namespace {
            "" => Arc::from(name),
            _ => Arc::from([namespace, "/", name].concat()),
        };
        Key { resource, path }
    }

    /// `namespace/name`, or `name`.
    pub fn path(&self) -> &str {
        &self.path
    }

    /// The namespace, empty for cluster-scoped objects.
    pub fn namespace(&self) -> &str {
        self.path.split_once('/').map_or("", |(namespace, _)| namespace)
    }

    /// The name.
    pub fn name(&self) -> &str {
        self.path.split_once('/').map_or(&self.path, |(_, name)| name)
    }
}

/// A part of a resource: all of it, a namespace, a name wherever it occurs, or one object.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Scope {
    /// The resource.
    pub resource: ResourceId,
    /// The namespace, if it is only one.
    pub namespace: Option<Box<str>>,
    /// The name, if it is only one.
    pub name: Option<Box<str>>,
}

impl Scope {
    /// The whole resource.
    pub fn all(resource: ResourceId) -> Scope {
        Scope { resource, namespace: None, name: None }
    }

    /// Whether an object with that key is part of it.
    pub fn contains(&self, key: &Key) -> bool {
        self.resource == key.resource
            && self.namespace.as_deref().is_none_or(|namespace| namespace == key.namespace())
            && self.name.as_deref().is_none_or(|name| name == key.name())
    }

    /// The smallest range of keys that holds the scope, from `start` on if that lies in it. It is reversed if `start` lies
    /// behind it.
    pub(super) fn bounds(&self, start: &str) -> Range<Key> {
        let at = |path: &str| Key { resource: self.resource, path: Arc::from(path) };
        let (first, end) = match (&self.namespace, &self.name) {
            (Some(namespace), Some(name)) => (format!("{namespace}/{name}"), at(&format!("{namespace}/{name}\0"))),
            // '0' is the byte after '/'.
            (Some(namespace), None) => (format!("{namespace}/"), at(&format!("{namespace}0"))),
            (None, _) => (String::new(), Key { resource: ResourceId(self.resource.0 + 1), path: Arc::from("") }),
        };
        at(start.max(&first))..end
    }

    /// Whether its objects are consecutive, as they are unless it is a name in all namespaces.
    pub fn is_range(&self) -> bool {
        self.namespace.is_some() || self.name.is_none()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const R: ResourceId = ResourceId(3);

    fn scope(namespace: Option<&str>, name: Option<&str>) -> Scope {
        Scope { resource: R, namespace: namespace.map(Into::into), name: name.map(Into::into) }
    }

    #[test]
    fn keys_order_by_the_bytes_of_the_path() {
        // '-' sorts before '/', so the longer namespace comes first, as in etcd.
        assert!(Key::new(R, "a-b", "x") < Key::new(R, "a", "x"));
        assert_eq!((Key::new(R, "a", "x").namespace(), Key::new(R, "", "x").namespace()), ("a", ""));
        assert_eq!((Key::new(R, "a", "x").name(), Key::new(R, "", "x").name()), ("x", "x"));
    }

    #[test]
    fn bounds_hold_what_the_scope_contains() {
        let keys = ["a-b/x", "a/x", "a/y", "a0/x", "b/x"].map(|path| Key { resource: R, path: Arc::from(path) });
        let cases = [
            (scope(None, None), "", 5),
            (scope(None, None), "a/y", 3),
            (scope(Some("a"), None), "", 2),
            (scope(Some("a"), None), "a/y", 1),
            (scope(Some("a"), None), "z", 0),
            (scope(Some("a"), Some("y")), "", 1),
            (scope(Some("a"), Some("y")), "a/z", 0),
        ];
        for (scope, start, expected) in cases {
            let bounds = scope.bounds(start);
            let found = keys.iter().filter(|key| bounds.contains(key) && scope.contains(key)).count();
            assert_eq!(found, expected, "{scope:?} from {start:?}");
        }
    }
}
