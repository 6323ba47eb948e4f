//! Which served resource a path means, and whether the method may be used there.

use super::negotiate::Endpoint;
use super::route::ResourcePath;
use crate::error::{ApiError, ApiResult};
use crate::object::name::path_segment;
use crate::registry::{self, Kind, Subresource};
use crate::store::ResourceId;

/// A served resource or subresource.
pub(super) struct Served {
    pub(super) id: ResourceId,
    pub(super) kind: &'static Kind,
    pub(super) subresource: Option<&'static Subresource>,
}

impl Served {
    /// # Errors
    /// 404 if there is no such resource, 405 if the verb has no route there, 400 for an impossible name.
    pub(super) fn find(path: &ResourcePath<'_>, verb: &str) -> ApiResult<Self> {
        let id = registry::by_resource(path.group, path.version, path.resource).ok_or_else(ApiError::no_such_path)?;
        let kind = id.kind();
        let subresource = match path.subresource {
            "" => None,
            name => Some(kind.subresource(name).ok_or_else(ApiError::no_such_path)?),
        };
        let everywhere = kind.namespaced && path.namespace.is_empty();
        let on_item = !path.name.is_empty();
        let misplaced = !kind.namespaced && !path.namespace.is_empty() || everywhere && on_item;
        // What can only be created has neither objects nor a list of all namespaces' objects.
        let stored = kind.verbs.contains(&"get");
        if path.overlong || misplaced || !stored && (on_item || everywhere) {
            return Err(ApiError::no_such_path());
        }
        let verbs = subresource.map_or(kind.verbs, |subresource| subresource.verbs);
        let routed = match verb {
            "create" => on_item == subresource.is_some() && !everywhere,
            "update" | "patch" => on_item,
            "deletecollection" => !everywhere,
            _ => true,
        };
        if !routed || !verbs.contains(&verb) {
            return Err(ApiError::method_not_routed());
        }
        let objections = path_segment(&path.name);
        if !objections.is_empty() {
            let name = serde_json::json!(path.name);
            return Err(ApiError::bad_request(format!("Name parameter invalid: {name}: {}", objections.join(";"))));
        }
        Ok(Served { id: id.into(), kind, subresource })
    }

    /// Where a request of `verb` goes.
    pub(super) fn endpoint(&self, verb: &str) -> Endpoint {
        // What implements `TableConvertor` upstream: what is stored, and its status.
        let has_table = match self.subresource {
            None => !self.kind.columns.is_empty(),
            Some(subresource) => subresource.name == "status",
        };
        match (verb, has_table) {
            ("list" | "watch", _) => Endpoint::Collection,
            (_, true) => Endpoint::Object,
            (_, false) => Endpoint::Action,
        }
    }
}
