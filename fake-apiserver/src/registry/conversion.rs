//! Conversion between a version of a resource and the one that is stored.

use super::resource::{Str, Version};
use crate::custom::schema::Structural;
use crate::error::{ApiError, ApiResult};
use crate::object::meta;
use crate::schema;
use serde_json::Value;
use std::borrow::Cow;
use std::sync::Arc;

/// The conversion between a version and the storage version.
#[derive(Debug)]
pub struct Conversion {
    /// `apiVersion` of stored objects.
    pub(super) storage: Str,
    pub(super) functions: Functions,
    /// The schema of the storage version, of a custom resource.
    pub(super) schema: Option<Arc<Structural>>,
}

/// The two directions of a conversion. They leave `apiVersion` alone.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Functions {
    /// From a version to the storage version.
    pub(crate) store: fn(&mut Value),
    /// From the storage version to a version.
    pub(crate) present: fn(&mut Value),
}

/// Renames members of an object, from the first of each pair to the second.
pub(super) fn rename<'n>(object: &mut Value, names: impl Iterator<Item = (&'n str, &'n str)>) {
    let Some(members) = object.as_object_mut() else { return };
    for (from, to) in names {
        if let Some(value) = members.remove(from) {
            members.insert(to.into(), value);
        }
    }
}

impl Version {
    /// The Go package of the internal type, which error messages show: that of the storage version.
    pub(crate) fn go_package(&self) -> &str {
        let stored_as = self.conversion.as_ref().map_or(&self.api_version, |conversion| &conversion.storage);
        match stored_as.split_once('/') {
            None => "core",
            Some((group, _)) => group.split('.').next().unwrap_or(group),
        }
    }

    /// Converts an object of this version to the storage version, in which it is defaulted, admitted and validated. Custom resources stay
    /// in the version of the request for that.
    pub(crate) fn store(&self, object: &mut Value) {
        if let Some(Conversion { storage, functions, schema: None }) = &self.conversion {
            (functions.store)(object);
            object["apiVersion"] = (&**storage).into();
        }
    }

    /// A validated object as it is stored.
    pub(crate) fn stored<'o>(&self, object: &'o Value) -> Cow<'o, Value> {
        match &self.conversion {
            Some(Conversion { storage, schema: Some(schema), .. }) if *storage != self.api_version => {
                let mut object = object.clone();
                object["apiVersion"] = (&**storage).into();
                schema.prune(&mut object);
                Cow::Owned(object)
            }
            _ => Cow::Borrowed(object),
        }
    }

    /// A stored object as writes work on it: a custom resource in this version, others in the storage version.
    pub(crate) fn worked_on(&self, stored: Value) -> Value {
        if self.is_custom() { self.present(stored) } else { stored }
    }

    /// Converts an object of the storage version to this version.
    fn present(&self, mut object: Value) -> Value {
        if let Some(Conversion { storage, functions, schema }) = &self.conversion {
            if let Some(schema) = schema {
                // Defaults that were defined since it was stored are set when it is read, those of other versions never.
                schema.prune(&mut object);
                schema.prune_nulls(&mut object);
                schema.set_defaults(&mut object);
            }
            (functions.present)(&mut object);
            object["apiVersion"] = (&*self.api_version).into();
            if let Some(schema) = self.schema.as_ref().filter(|_| *storage != self.api_version) {
                schema.prune(&mut object);
            }
        }
        object
    }

    /// The JSON of a stored object, with the line feed at its end if there is one, in this version; `None` if it is the same.
    ///
    /// # Errors
    /// 500, if it is not JSON.
    pub(crate) fn converted(&self, stored: &[u8]) -> ApiResult<Option<Vec<u8>>> {
        if self.conversion.is_none() {
            return Ok(None);
        }
        let object: Value = serde_json::from_slice(stored).map_err(ApiError::internal)?;
        // An object that was not stored has no revision.
        let revision = meta::resource_version(&object).parse();
        let encoded = schema::encode(&self.present(object), self.ty());
        let mut json = revision.map_or_else(|_| encoded.json.clone(), |revision| encoded.at_revision(revision));
        if stored.ends_with(b"\n") {
            json.push(b'\n');
        }
        Ok(Some(json))
    }
}
