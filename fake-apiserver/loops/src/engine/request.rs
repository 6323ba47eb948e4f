//! Acts as requests.

use crate::act::{Act, Deletion, PatchType, Propagation};
use crate::resource::{Key, Resource};
use machinery::object::meta;
use tree::{Value, json};

/// A request.
#[derive(Debug, Clone, PartialEq)]
pub struct Request {
    /// The method.
    pub method: &'static str,
    /// The path.
    pub path: String,
    /// The media type of the body.
    pub content_type: &'static str,
    /// The query: names and values, not yet encoded.
    pub query: Vec<(&'static str, String)>,
    /// The body; null for none.
    pub body: Value,
    /// Whether the loop is told the answer.
    pub is_asked: bool,
}

impl Request {
    /// The request for an act; `None` for an event, for which a recorder makes one.
    pub(super) fn of(act: &Act) -> Option<Request> {
        Some(match act {
            Act::Create { resource, key, subresource, object } => {
                let of =
                    Key { name: if subresource.is_empty() { String::new() } else { key.name.clone() }, ..key.clone() };
                Request::json("POST", path(resource, &of, subresource), object.clone())
            }
            Act::Update { resource, subresource, object } => {
                Request::json("PUT", path(resource, &key_of(object), subresource), object.clone())
            }
            Act::Patch { resource, key, subresource, patch_type, patch } => Request {
                content_type: patch_type.media_type(),
                query: patch_type.query(),
                ..Request::json("PATCH", path(resource, key, subresource), patch.clone())
            },
            Act::Delete { resource, key, options } => Request::json("DELETE", path(resource, key, ""), body(options)),
            Act::Ask { path, query, review } => Request {
                query: query.clone(),
                is_asked: true,
                ..match review {
                    Some(review) => Request::json("POST", path.clone(), review.clone()),
                    None => Request::json("GET", path.clone(), Value::Null),
                }
            },
            Act::Event { .. } => return None,
        })
    }

    /// A request that creates an object in the collection at that path.
    pub fn post(path: String, object: Value) -> Request {
        Request::json("POST", path, object)
    }

    pub(super) fn json(method: &'static str, path: String, body: Value) -> Request {
        Request { method, path, content_type: "application/json", query: Vec::new(), body, is_asked: false }
    }
}

impl PatchType {
    /// The media type of such a patch.
    pub fn media_type(self) -> &'static str {
        match self {
            PatchType::Merge | PatchType::MergeAs(_) => "application/merge-patch+json",
            PatchType::Strategic => "application/strategic-merge-patch+json",
            PatchType::Json => "application/json-patch+json",
            PatchType::ApplyAs(_) => "application/apply-patch+yaml",
        }
    }

    fn query(self) -> Vec<(&'static str, String)> {
        match self {
            PatchType::MergeAs(manager) => vec![("fieldManager", manager.to_owned())],
            PatchType::ApplyAs(manager) => vec![("fieldManager", manager.to_owned()), ("force", "true".to_owned())],
            PatchType::Merge | PatchType::Strategic | PatchType::Json => Vec::new(),
        }
    }
}

impl Propagation {
    /// Its name in options.
    pub fn name(self) -> &'static str {
        match self {
            Propagation::Background => "Background",
            Propagation::Foreground => "Foreground",
            Propagation::Orphan => "Orphan",
        }
    }
}

/// The key of an object.
pub(super) fn key_of(object: &Value) -> Key {
    Key { namespace: meta::namespace(object).to_owned(), name: meta::name(object).to_owned() }
}

/// The path of an object, of its subresource, or without a name of a collection.
pub(crate) fn path(resource: &Resource, key: &Key, subresource: &str) -> String {
    let Resource { group, version, plural } = resource;
    let mut path = if group.is_empty() { format!("/api/{version}") } else { format!("/apis/{group}/{version}") };
    let parts = match &*key.namespace {
        "" => vec![plural, &*key.name, subresource],
        namespace => vec!["namespaces", namespace, plural, &key.name, subresource],
    };
    for part in parts.into_iter().filter(|part| !part.is_empty()) {
        path.push('/');
        path.push_str(part);
    }
    path
}

/// The body of a deletion.
fn body(options: &Deletion) -> Value {
    let Deletion { uid, resource_version, propagation, grace } = options;
    let mut body = json!({"kind": "DeleteOptions", "apiVersion": "v1"});
    if let Some(grace) = grace {
        body["gracePeriodSeconds"] = i64::try_from(grace.as_secs()).unwrap_or(i64::MAX).into();
    }
    for (field, wanted) in [("uid", uid), ("resourceVersion", resource_version)] {
        if let Some(wanted) = wanted {
            body["preconditions"][field] = wanted.as_str().into();
        }
    }
    if let Some(propagation) = propagation {
        body["propagationPolicy"] = propagation.name().into();
    }
    body
}
