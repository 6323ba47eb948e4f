//! The objects of another cluster, as its lists returned them, for a new store: with their uids, revisions and statuses.
//!
//! They were valid there, and are not validated.

use super::draft;
use crate::object::meta;
use crate::registry::{Registry, is_added};
use crate::schema;
use crate::store::{Draft, Takeover};
use tree::Value;

/// Objects cannot be loaded.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LoadError {
    /// A kind that is not served: no definition of it is among the objects.
    #[error("{object}: no matches for kind {kind:?} in version {api_version:?}")]
    Kind {
        /// The object, as in `Widget default/a`.
        object: String,
        /// The group and version.
        api_version: String,
        /// The kind.
        kind: String,
    },
    /// An object that is none of its kind, or lacks its uid.
    #[error("{object}: {why}")]
    Object {
        /// The object, as in `Widget default/a`.
        object: String,
        /// The reason.
        why: String,
    },
}

/// The content of a store with those objects, none of which has a past. `registry` has their resources.
///
/// # Errors
/// [`LoadError`].
pub(crate) fn read(objects: &[Value], registry: &Registry) -> Result<Takeover, LoadError> {
    let base: Vec<(Draft, u64)> =
        objects.iter().map(|object| drafted(object, registry)).collect::<Result<_, LoadError>>()?;
    let revision = base.iter().map(|(_, revision)| *revision).max().unwrap_or_default();
    Ok(Takeover { compacted: revision, revision, base, ..Takeover::default() })
}

/// The draft of an object, and its revision.
fn drafted(object: &Value, registry: &Registry) -> Result<(Draft, u64), LoadError> {
    let (api_version, kind) = (text(&object["apiVersion"]), text(&object["kind"]));
    let served = registry.kind(api_version, kind).ok_or_else(|| LoadError::Kind {
        object: described(object),
        api_version: api_version.to_owned(),
        kind: kind.to_owned(),
    })?;
    let failed = |why: String| LoadError::Object { object: described(object), why };
    let decoded = schema::decode_json(object.to_string().as_bytes(), served.version.ty());
    let mut object = decoded.map_err(|why| failed(why.to_string()))?.object;
    let revision = meta::resource_version(&object).parse().map_err(|_| failed("it has no revision".to_owned()))?;
    meta::remove(&mut object, "resourceVersion");
    if meta::uid(&object).is_empty() {
        return Err(failed("it has no uid".to_owned()));
    }
    served.version.convert_to_storage(&mut object);
    if is_added(served.resource.id) {
        // As without a webhook: the fields are those of any version.
        object["apiVersion"] = (&*served.resource.storage().api_version).into();
    }
    let draft = draft(served.resource, &object).map_err(|why| failed(why.to_string()))?;
    Ok((draft, revision))
}

/// The object as messages name it.
fn described(object: &Value) -> String {
    let (kind, namespace, name) = (text(&object["kind"]), meta::namespace(object), meta::name(object));
    if namespace.is_empty() { format!("{kind} {name}") } else { format!("{kind} {namespace}/{name}") }
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}
