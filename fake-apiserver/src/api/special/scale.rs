//! Scale: the replicas of a workload, read and written as an object of its own.
//!
//! Follows `ScaleREST` of `pkg/registry/apps/{deployment,replicaset}/storage/storage.go` and `ValidateScale` of
//! `pkg/apis/autoscaling/validation/validation.go` (v1.37.1).

use crate::api::apply::Configuration;
use crate::api::managers;
use crate::api::patch::Patch;
use crate::api::request::audited;
use crate::api::request::check_identity;
use crate::api::request::decode::{self, Expected};
use crate::api::request::media::{PatchFormat, patch_format};
use crate::api::request::options::WriteOptions;
use crate::api::scales::{self, UNSET};
use crate::api::write;
use crate::api::{Reply, Request, admission, get, preconditions};
use crate::error::{ApiError, ApiResult, Errors, Path, Qualified};
use crate::managed::{self, Managers};
use crate::object::meta;
use crate::registry::{Located, set_at_path};
use crate::schema;
use tree::Value;

/// Upstream's error for every scale of a custom resource that it cannot decode: the scheme of custom resources has no scales.
const UNREGISTERED: &str = "no kind is registered for the type v1.Scale in scheme \"pkg/runtime/scheme.go:111\"";
const SCALE: Qualified<'static> = Qualified { group: "autoscaling", resource: "Scale" };

fn expected() -> ApiResult<Expected<'static>> {
    Expected::named("autoscaling/v1", "Scale")
}

pub(crate) async fn get(request: &Request<'_>) -> ApiResult<Reply> {
    reply(&scales::of(request, &get::entry(request).await?.object(), None)?)
}

pub(crate) async fn update(request: &mut Request<'_>) -> ApiResult<Reply> {
    let options = WriteOptions::parse(request.query, "UpdateOptions")?;
    let decoded = decode::object(request, &expected()?, options.field_validation);
    let mut body = decoded.map_err(|error| match error.code() {
        400 if !request.target.version.is_typed() => ApiError::bad_request(UNREGISTERED),
        _ => error,
    })?;
    check_identity(request, &mut body)?;
    let entry = request.stored().ok_or_else(|| request.target.not_found())?;
    preconditions::check_uid(request, &options, &entry.key, meta::uid(&body), Some(&entry))?;
    let change = |request: &mut Request<'_>, scale: &Value, managers| {
        let managers = managers::scaled(request, &options, scale, &body, managers);
        Ok((body.clone(), managers))
    };
    set_replicas(request, &options, change).await
}

pub(crate) async fn patch(request: &mut Request<'_>) -> ApiResult<Reply> {
    if patch_format(request.body.content_type, request.target.version.has_routes())? == PatchFormat::Apply {
        return apply(request).await;
    }
    let (mut patch, options) = Patch::parse(request, expected()?)?;
    let change = |request: &mut Request<'_>, scale: &Value, managers| {
        // Clients see the managers of a scale only in the messages of patches.
        let mut shown = scale.clone();
        managers::set(&mut shown, &managers);
        let mut new = patch.apply(request, &shown)?;
        meta::remove(&mut new, "managedFields");
        let managers = managers::scaled(request, &options, scale, &new, managers);
        Ok((new, managers))
    };
    set_replicas(request, &options, change).await
}

async fn apply(request: &mut Request<'_>) -> ApiResult<Reply> {
    let expected = expected()?;
    let options = WriteOptions::of_apply(request.query)?;
    audited::patch(request, PatchFormat::Apply);
    let mut configuration = Configuration::parse(request)?;
    let change = |request: &mut Request<'_>, scale: &Value, managers| {
        let (mut new, managers) = configuration.onto_scale(request, &expected, &options, scale, managers)?;
        check_identity(request, &mut new)?;
        Ok((new, managers))
    };
    set_replicas(request, &options, change).await
}

/// Sets the workload's replicas to those of the scale that `wanted` returns for the current one and its managers. Admission sees the scale,
/// not the workload.
async fn set_replicas(
    request: &mut Request<'_>,
    options: &WriteOptions,
    mut wanted: impl FnMut(&mut Request<'_>, &Value, Managers) -> ApiResult<(Value, Managers)>,
) -> ApiResult<Reply> {
    while let Some(entry) = request.stored() {
        let version = request.target.version;
        let old = version.custom_from_storage(request.to_change(&entry).await?.object(), &request.deadline);
        let known = managers::of(&old);
        let mut current = scales::of(request, &old, Some(UNSET))?;
        let own = || managed::of_scale(&known, &managers::scale_places(request));
        let (shown, own) = (own(), own());
        let (mut scale, scaled) = wanted(request, &current, own)?;
        managers::set(&mut current, &shown);
        managers::set(&mut scale, &scaled);
        admission::update(request, options, &mut scale, &current).await?;
        let mut workload = scaled_to(request, &old, &scale)?;
        let known = managed::of_workload(&known, scaled, &managers::scale_places(request), &version.api_version);
        managers::set(&mut workload, &known);
        let written = write::replace(request, options, &entry, &old, &mut workload, true).await?;
        let Some(Reply::Object { line, .. }) = written else { continue };
        let workload = tree::parse_object(&line).map_err(ApiError::internal)?;
        return reply(&scales::of(request, &workload, Some(0))?);
    }
    Err(request.target.not_found())
}

/// The workload with the replicas of a scale.
///
/// # Errors
/// If the scale is not valid, or is that of another object.
fn scaled_to(request: &Request<'_>, workload: &Value, scale: &Value) -> ApiResult<Value> {
    let Located { resource, version, name, .. } = request.target;
    if !version.is_typed() {
        check_custom(request, scale)?;
    }
    let replicas = scale["spec"]["replicas"].as_i64().unwrap_or_default();
    let errors = Errors::of(|errors| errors.not_negative(Path::new("spec.replicas"), Some(replicas)));
    if !errors.is_empty() && version.scale.is_none() {
        return Err(ApiError::invalid(SCALE, name, &errors));
    }
    let (sent, stored) = (meta::uid(scale), meta::uid(workload));
    if !sent.is_empty() && sent != stored {
        let why = format!("Precondition failed: UID in precondition: {sent}, UID in object meta: {stored}");
        let plural = format!("{}/scale", resource.plural);
        let qualified = Qualified { group: &resource.group, resource: &plural };
        return Err(ApiError::conflict(qualified, name, why));
    }
    let mut workload = workload.clone();
    let path = version.scale.as_ref().map_or(".spec.replicas", |scale| &scale.replicas);
    if !set_at_path(&mut workload, path, replicas.into()) {
        return Err(ApiError::internal(format!("{path} is no place for a number")));
    }
    // Without a revision the scale of a custom resource may be written whatever the revision is, though the resource may not.
    if version.scale.is_none() || !meta::resource_version(scale).is_empty() {
        meta::set(&mut workload, "resourceVersion", meta::resource_version(scale));
    }
    Ok(workload)
}

/// Upstream's check of a written scale of a custom resource: `spec.replicas` must be set.
fn check_custom(request: &Request<'_>, scale: &Value) -> ApiResult<()> {
    if scale["spec"]["replicas"] == UNSET {
        let path = request.target.version.scale.as_ref().map_or("", |paths| &paths.replicas);
        return Err(ApiError::bad_request(format!("the spec replicas field {path:?} cannot be empty")));
    }
    Ok(())
}

fn reply(scale: &Value) -> ApiResult<Reply> {
    let encoded = schema::encode(scale, expected()?.ty);
    let slot = encoded.slot.ok_or_else(|| ApiError::internal("a scale has no place for a revision"))?;
    let (before, after) = encoded.json.split_at(slot.offset);
    let revision = format!(",\"resourceVersion\":\"{}\"", meta::resource_version(scale));
    Ok(Reply::Other { code: 200, line: [before, revision.as_bytes(), after, b"\n"].concat().into() })
}
