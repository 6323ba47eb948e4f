//! The resource and subresource of a path, and whether they support the verb.

use super::negotiate::Endpoint;
use super::route::ResourcePath;
use crate::error::{ApiError, ApiResult};
use crate::object::name::path_segment;
use crate::registry::{Handler, Resource, Served, Subresource, Version};

/// The target of a path to `served`, with its subresource.
///
/// # Errors
/// 404 if there is no such subresource, 405 if the verb has no route there, 400 for an object without a name or a namespace, or with
/// an invalid name.
pub(super) fn target<'r>(served: Served<'r>, path: &ResourcePath<'_>, verb: &str) -> ApiResult<Served<'r>> {
    let Served { resource, version, .. } = served;
    let subresource = match path.subresource {
        "" => None,
        name => Some(version.subresource(name).ok_or_else(|| no_such_subresource(version, path))?),
    };
    match version.has_routes() {
        true => check_route(resource, version, subresource, path, verb)?,
        false => check_verb(version, subresource, path, verb)?,
    }
    let objections = path_segment(path.name);
    if !objections.is_empty() {
        let name = tree::json!(path.name);
        return Err(ApiError::bad_request(format!("Name parameter invalid: {name}: {}", objections.join(";"))));
    }
    Ok(Served { subresource, ..served })
}

/// Whether a built-in resource has a route for the verb.
fn check_route(
    resource: &Resource,
    version: &Version,
    subresource: Option<&Subresource>,
    path: &ResourcePath<'_>,
    verb: &str,
) -> ApiResult<()> {
    let namespaced = resource.meta.namespaced;
    let everywhere = namespaced && !path.in_namespace;
    let on_item = !path.name.is_empty() || !path.subresource.is_empty();
    let misplaced = !namespaced && path.in_namespace || everywhere && on_item;
    // A resource that supports only create has neither objects nor a list across namespaces.
    let stored = resource.is_stored();
    let is_proxy = subresource.is_some_and(|subresource| subresource.handler == Handler::Proxy);
    if path.overlong && !is_proxy || misplaced || !stored && (on_item || everywhere) {
        return Err(ApiError::no_such_path());
    }
    if on_item && path.name.is_empty() {
        return Err(ApiError::bad_request("name must be provided"));
    }
    let routed = match verb {
        "create" => on_item == subresource.is_some() && !everywhere,
        "update" | "patch" => on_item,
        "deletecollection" => !everywhere,
        _ => true,
    };
    // A watch is a list with a parameter, which is read behind the route.
    let route = if verb == "watch" { "list" } else { verb };
    if !routed || !is_proxy && !answers(version, subresource, route) {
        return Err(ApiError::method_not_routed());
    }
    if on_item && namespaced && path.namespace.is_empty() {
        return Err(ApiError::namespace_required());
    }
    Ok(())
}

/// Checks that a custom resource supports the verb. There are no routes: one handler reads the path (`crdHandler.ServeHTTP`), so
/// that a create may use the path of another object.
fn check_verb(
    version: &Version,
    subresource: Option<&Subresource>,
    path: &ResourcePath<'_>,
    verb: &str,
) -> ApiResult<()> {
    if !answers(version, subresource, verb) {
        return Err(ApiError::method_not_supported(version.qualified(), verb));
    }
    if path.name.is_empty() && matches!(verb, "update" | "patch") {
        return Err(ApiError::bad_request("name must be provided"));
    }
    Ok(())
}

/// Whether a path has the wrong scope for a custom resource, which then is not found.
pub(super) fn is_elsewhere(served: Served<'_>, path: &ResourcePath<'_>, verb: &str) -> bool {
    !served.version.has_routes()
        && match served.resource.meta.namespaced {
            true => path.namespace.is_empty() && !matches!(verb, "list" | "watch"),
            false => !path.namespace.is_empty(),
        }
}

fn no_such_subresource(version: &Version, path: &ResourcePath<'_>) -> ApiError {
    match version.has_routes() {
        true => ApiError::no_such_path(),
        false => ApiError::not_found(version.qualified(), path.name),
    }
}

/// The kind of endpoint for `verb`.
pub(super) fn endpoint(target: Served<'_>, verb: &str) -> Endpoint {
    // `TableConvertor` is implemented upstream by stored resources, and by their status and scale.
    let has_table = match target.subresource {
        None => !target.version.columns.is_empty(),
        Some(subresource) if subresource.handler == Handler::Log => return Endpoint::Text,
        Some(subresource) => match &*subresource.name {
            "status" => !target.resource.rules.plain_status,
            name => name == "scale",
        },
    };
    match (verb, has_table) {
        ("list" | "watch", _) => Endpoint::Collection,
        (_, true) => Endpoint::Object,
        (_, false) => Endpoint::Action,
    }
}

fn answers(version: &Version, subresource: Option<&Subresource>, verb: &str) -> bool {
    match subresource {
        None => version.verbs.iter().any(|known| known == verb),
        Some(subresource) => subresource.verbs.iter().any(|own| own == verb),
    }
}
