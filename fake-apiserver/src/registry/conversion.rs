//! Conversion between a version of a resource and the one that is stored.

use super::parts::Str;
use super::rules::Functions;
use super::webhook_conversion::Converter;
use crate::custom::compiled::Place;
use crate::custom::schema::Structural;
use crate::deadline::Deadline;
use crate::schema;
use std::sync::Arc;
use tree::Value;

/// The conversion between a version and the storage version.
#[derive(Debug)]
pub struct Conversion {
    /// `apiVersion` of stored objects.
    pub(super) storage: Str,
    pub(super) functions: Functions,
    /// The schemas of all versions of a custom resource, by `apiVersion`: objects may be stored in any of them.
    pub(super) schemas: Schemas,
    /// The webhook that converts in place of the functions.
    pub(super) webhook: Option<Arc<Converter>>,
}

/// Schemas by `apiVersion`.
pub(super) type Schemas = Arc<[(Str, Arc<Place>)]>;

impl Conversion {
    fn schema(&self, object: &Value) -> Option<&Structural> {
        let (_, place) = self.schemas.iter().find(|(api_version, _)| object["apiVersion"] == **api_version)?;
        Some(&place.get()?.schema)
    }

    /// Prunes a stored object by the schema of its own version, and sets the defaults that were defined since it was stored. Those of
    /// other versions never are. If the time is up, the object stays incomplete.
    pub(super) fn apply_schema(&self, object: &mut Value, deadline: &Deadline) {
        if let Some(schema) = self.schema(object) {
            schema::settle_numbers(object);
            schema.prune(object, deadline);
            schema.prune_nulls(object, deadline);
            schema.set_defaults(object, deadline);
        }
    }

    /// Prunes a converted object, and its nulls, by the schema of the version that it has now.
    pub(super) fn prune(&self, object: &mut Value, deadline: &Deadline) {
        if let Some(schema) = self.schema(object) {
            schema.prune(object, deadline);
            schema.prune_nulls(object, deadline);
        }
    }
}
