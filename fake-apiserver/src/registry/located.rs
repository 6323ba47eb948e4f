//! A served resource, or one of its objects, by namespace and name.

use super::lookup::Served;
use super::parts::Subresource;
use super::resource::{Resource, Version};
use crate::error::ApiError;
use crate::store::Key;
use std::sync::Arc;

/// The target of an act: a version of a resource, and in it an object or a collection.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Located<'r> {
    /// The resource, as it is stored.
    pub(crate) resource: &'r Arc<Resource>,
    /// The served version of the resource.
    pub(crate) version: &'r Arc<Version>,
    /// The subresource; `None` for the object itself.
    pub(crate) subresource: Option<&'r Subresource>,
    /// The namespace; empty for cluster-scoped resources, and for all namespaces.
    pub(crate) namespace: &'r str,
    /// The name; empty for the collection, and for a new object.
    pub(crate) name: &'r str,
}

impl<'r> Served<'r> {
    /// Its object of that name, or its collection.
    pub(crate) fn at(self, namespace: &'r str, name: &'r str) -> Located<'r> {
        let Served { resource, version, subresource } = self;
        Located { resource, version, subresource, namespace, name }
    }
}

impl<'r> Located<'r> {
    pub(crate) fn key(&self) -> Key {
        Key::new(self.resource.id, self.namespace, self.name)
    }

    /// The name of the subresource; empty for the object itself.
    pub(crate) fn subresource_name(&self) -> &'r str {
        self.subresource.map_or("", |subresource| &*subresource.name)
    }

    pub(crate) fn not_found(&self) -> ApiError {
        ApiError::not_found(self.version.qualified(), self.name)
    }
}
