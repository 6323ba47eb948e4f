//! Server-side apply: the fields of a configuration are merged into the object, and owned by the manager that applied them
//! (`applyPatcher` of `k8s.io/apiserver/pkg/endpoints/handlers/patch.go`, `FieldManager.Apply` and `structuredMergeManager.Apply` of
//! `k8s.io/apimachinery/pkg/util/managedfields`, v0.37.1).

use super::asked::{Answers, Asking};
use super::managers::{self, Endpoint};
use super::preconditions::refuse_other_uid;
use super::request::audited;
use super::request::decode::{Expected, type_meta};
use super::request::media::PatchFormat;
use super::request::options::{FieldValidation, WriteOptions};
use super::request::{check_identity, ensure_namespace};
use super::write::{self, Wanted};
use super::{Reply, Request, last_applied, update};
use crate::clock::format_seconds;
use crate::deadline::Deadline;
use crate::error::{ApiError, ApiResult};
use crate::managed::{self, Conflicts, Context, Failure, Manager, Managers, Operation, Set, Trees};
use crate::object::meta::{self, Metadata};
use crate::object::validate;
use crate::registry::managers::BEFORE_FIRST_APPLY;
use crate::repeats::Apply;
use crate::schema;
use crate::store::Entry;
use crate::yaml::{self, Document};
use std::sync::Arc;
use tree::Value;

/// Upstream's error for an apply to the scale of a custom resource: the result is no longer a typed scale.
const CUSTOM_SCALE: &str = "request to convert CR to an invalid group/version: autoscaling/v1";

/// The reason of the error for an object that another request has created meanwhile.
const EXISTS: &str = "AlreadyExists";

pub(super) async fn apply(request: &mut Request<'_>) -> ApiResult<Reply> {
    let options = WriteOptions::of_apply(request.query)?;
    audited::patch(request, PatchFormat::Apply);
    if let Some((entry, object)) = left(request, &options) {
        // All that follows an apply happens, but it is not merged.
        let mut new = Value::clone(&object);
        if let Some(reply) = write::replace(request, &options, &entry, &object, &mut new, true).await? {
            return Ok(reply);
        }
    }
    let expected = Expected::of(&request.target);
    let mut configuration = Configuration::parse(request)?;
    let creates = request.target.subresource.is_none() || update::creates(request);
    loop {
        if !creates || request.stored().is_some() {
            let update = write::update(request, &options, |request, entry, old| {
                let endpoint = managers::endpoint(request);
                let new = configuration.onto(request, &endpoint, &expected, &options, Some(old))?;
                refuse_other_uid(request, &new, old)?;
                if new == *old && configuration.document.repeated.is_empty() && !request.target.version.asks_webhook() {
                    let (key, apply) = (entry.key.clone(), as_made(request, &options, entry));
                    request.server.cluster.repeats.keep(key, &options.field_manager, apply, old, entry.json().len());
                }
                Ok(Wanted::Managed(new))
            });
            let reply = update.await;
            if configuration.answers.ask(request).await {
                continue;
            }
            return reply;
        }
        let endpoint = managers::endpoint(request);
        let mut new = configuration.onto(request, &endpoint, &expected, &options, None)?;
        let uid = meta::uid(&new);
        if !uid.is_empty() {
            let why =
                format!("uid mismatch: the provided object specified uid {uid}, and no existing object was found");
            return Err(ApiError::conflict(request.target.version.qualified(), request.target.name, why));
        }
        meta::remove(&mut new, "resourceVersion");
        match write::create(request, Wanted::Managed(new), &options).await {
            // Another request was faster.
            Err(error) if error.reason() == EXISTS && request.stored().is_some() => {}
            reply => return reply,
        }
    }
}

/// The apply of a request to an object.
fn as_made(request: &Request<'_>, options: &WriteOptions, entry: &Entry) -> Apply {
    Apply {
        revision: entry.revision,
        resource: Arc::downgrade(request.target.resource),
        version: Arc::downgrade(request.target.version),
        subresource: request.target.subresource_name().to_owned(),
        force: options.force,
        body: request.body.bytes.clone(),
    }
}

/// The object of an apply that is known to leave it as it is.
fn left(request: &Request<'_>, options: &WriteOptions) -> Option<(Arc<Entry>, Arc<Value>)> {
    let entry = request.stored()?;
    let apply = as_made(request, options, &entry);
    let object = request.server.cluster.repeats.left(&entry.key, &options.field_manager, &apply)?;
    Some((entry, object))
}

/// The configuration that is applied.
pub(super) struct Configuration {
    document: Document,
    /// Whether warnings about it were sent.
    warned: bool,
    /// The webhook's conversions to other versions.
    answers: Answers,
}

impl Configuration {
    /// Reads the body of an apply.
    pub(super) fn parse(request: &Request<'_>) -> ApiResult<Configuration> {
        let body = &request.body.bytes;
        let is_missing = || request.target.subresource.is_some() && request.stored().is_none();
        // Upstream parses a body that starts like JSON only after it has found the object of a subresource.
        let document =
            yaml::parse(body, &request.deadline).map_err(|why| match body.trim_ascii_start().starts_with(b"{") {
                false => ApiError::bad_request(format!("error encoding patch: {why}")),
                true if is_missing() => request.target.not_found(),
                true => ApiError::bad_request(format!("error decoding patch: error converting YAML to JSON: {why}")),
            })?;
        Ok(Configuration { document, warned: false, answers: Answers::default() })
    }

    /// The result of applying it to the stored object, or of creating one, with the managers of its fields.
    fn onto(
        &mut self,
        request: &mut Request<'_>,
        endpoint: &Endpoint<'_>,
        expected: &Expected<'_>,
        options: &WriteOptions,
        old: Option<&Value>,
    ) -> ApiResult<Value> {
        let live = old.map_or_else(|| empty(expected), |old| complete(expected, old))?;
        let now = format_seconds(request.now);
        let asking = Asking { endpoint, answers: &self.answers };
        let deadline = request.deadline.clone();
        let context = Context { versions: &asking, deadline, ..endpoint.context(Trees::Complete, &now) };
        let decoded = managed::decode(old.and_then(|old| Metadata::of(old).field("managedFields")));
        let managers = decoded.map_err(|why| ApiError::untyped(format!("failed to decode managed fields: {why}")))?;
        let stored = old.and_then(|old| Metadata::of(old).field("managedFields")).filter(|stored| {
            // Of entries of the same manager only one has been read.
            stored.as_array().is_some_and(|entries| entries.len() == managers.len())
        });
        let before = stored.map(|stored| (stored, managers.clone()));
        self.check_kind(expected)?;
        let (tree, managers) = self.merged(&context, expected, options, &live, managers)?;
        // What stays as it is is not converted to the version of the request and back, which might change it.
        let is_stored = tree.is_none() && old.is_some();
        let mut new = match (tree, old) {
            (None, Some(old)) => old.clone(),
            (tree, _) => self.decoded(expected, tree.unwrap_or(live), &request.deadline)?,
        };
        match before {
            Some((stored, before)) if managers == before => meta::set(&mut new, "managedFields", stored.clone()),
            _ => managers::set(&mut new, &managers),
        }
        self.check_repetitions(request, options)?;
        self.warned = true;
        if old.is_none() {
            request.warnings.extend(validate::dedup_owner_references(&mut new, true));
        }
        ensure_namespace(request, &mut new)?;
        check_identity(request, &mut new)?;
        if !is_stored {
            expected.convert_to_storage(&mut new);
        }
        Ok(new)
    }

    /// The result of applying it to the current scale, with the managers of its fields.
    pub(super) fn onto_scale(
        &mut self,
        request: &mut Request<'_>,
        expected: &Expected<'_>,
        options: &WriteOptions,
        live: &Value,
        managers: Managers,
    ) -> ApiResult<(Value, Managers)> {
        self.check_kind(expected)?;
        if managers.is_empty() && !request.target.version.is_typed() {
            // The converter of custom resources does not know scales.
            return Err(ApiError::untyped(format!(
                "failed to create manager for existing fields: failed to convert live object (/; autoscaling/v1, Kind=Scale) to \
                 proper version: {CUSTOM_SCALE}"
            )));
        }
        let now = format_seconds(request.now);
        let context = managers::of_scale(Trees::Complete, &now);
        let (tree, managers) = self.merged(&context, expected, options, &complete(expected, live)?, managers)?;
        if tree.is_some() && !request.target.version.is_typed() {
            return Err(self.unconvertible(CUSTOM_SCALE));
        }
        self.check_repetitions(request, options)?;
        self.warned = true;
        let scale = tree.map_or_else(|| Ok(live.clone()), |tree| self.decoded(expected, tree, &request.deadline))?;
        Ok((scale, managers))
    }

    /// The object and its managers; no object, if it stays the same. Trees are complete.
    pub(super) fn merged(
        &self,
        context: &Context<'_>,
        expected: &Expected<'_>,
        options: &WriteOptions,
        live: &Value,
        mut managers: Managers,
    ) -> ApiResult<(Option<Value>, Managers)> {
        self.check(context)?;
        if managers.is_empty() {
            if let Some(why) = misfit(context, live) {
                return Err(ApiError::untyped(format!(
                    "failed to create manager for existing fields: failed to convert new object ({}) to smd typed: {why}",
                    described(live)
                )));
            }
            let before = context.update(&empty(expected)?, live, managers, BEFORE_FIRST_APPLY);
            managers = before
                .map_err(|why| ApiError::untyped(format!("failed to create manager for existing fields: {why}")))?;
        }
        let name = &options.field_manager;
        let configuration = &self.document.value;
        let kept = (name == last_applied::MANAGER).then(|| managers.clone());
        let applied = match (context.apply(live, configuration, managers, name, options.force), kept) {
            (Err(Failure::Conflicts(conflicts)), Some(managers)) => {
                match last_applied::remaining(context, live, conflicts) {
                    None => context.apply(live, configuration, managers, name, true),
                    Some(conflicts) => Err(Failure::Conflicts(conflicts)),
                }
            }
            (applied, _) => applied,
        };
        let (mut tree, managers) = applied.map_err(|failure| match failure {
            Failure::Conflicts(conflicts) => refused(&conflicts),
            Failure::Other(why) => ApiError::untyped(match misfit(context, live) {
                Some(why) => format!("failed to create typed live object ({}): {why}", described(live)),
                None => why,
            }),
        })?;
        if name == last_applied::MANAGER {
            last_applied::update(tree.get_or_insert_with(|| live.clone()), configuration);
        }
        Ok((tree, managers))
    }

    /// Refuses a configuration that is not an object of that kind and version.
    fn check_kind(&self, expected: &Expected<'_>) -> ApiResult<()> {
        let configuration = &self.document.value;
        if !configuration.is_object() && !configuration.is_null() {
            let found = match configuration {
                Value::Array(_) => "array",
                Value::String(_) => "string",
                Value::Number(_) => "number",
                _ => "bool",
            };
            return Err(ApiError::bad_request(format!(
                "error decoding patch: error unmarshaling JSON: while decoding JSON: json: cannot unmarshal {found} into Go \
                 value of type map[string]interface {{}}"
            )));
        }
        let shown = group_version_kind(configuration);
        if shown != group_version_kind(&managers::empty(expected.api_version, expected.kind)) {
            return Err(ApiError::bad_request(format!("invalid object type: {shown}")));
        }
        Ok(())
    }

    /// Refuses a configuration that has managed fields or does not fit its type.
    fn check(&self, context: &Context<'_>) -> ApiResult<()> {
        let configuration = &self.document.value;
        if Metadata::of(configuration).field("managedFields").is_some_and(Value::is_array) {
            return Err(ApiError::bad_request("metadata.managedFields must be nil"));
        }
        let Some(ty) = context.versions.ty(context.api_version) else { return Ok(()) };
        managed::validate(ty, configuration, false).map_err(|why| {
            ApiError::untyped(format!("failed to create typed patch object ({}): {why}", described(configuration)))
        })
    }

    /// The error for a merged object that cannot be converted.
    fn unconvertible(&self, why: &str) -> ApiError {
        let about = described(&self.document.value);
        ApiError::untyped(format!("failed to convert new object ({about}) to proper version: {why}"))
    }

    /// The merged tree as an object of its type.
    pub(super) fn decoded(&self, expected: &Expected<'_>, mut tree: Value, deadline: &Deadline) -> ApiResult<Value> {
        let unconvertible = |why: String| {
            let kind = group_version_kind(&self.document.value);
            self.unconvertible(&format!("unable to convert unstructured object to {kind}: {why}"))
        };
        if expected.is_typed() {
            schema::convert(&mut tree, expected.ty).map_err(unconvertible)?;
        }
        let decoded = schema::check(&tree, expected.ty);
        let decoded = decoded.map_err(|why| match expected.is_typed() {
            true => unconvertible(why.to_string()),
            false => self.unconvertible(&expected.type_error(&why.to_string())),
        })?;
        let mut object = decoded.object;
        let completed = expected.apply_schema_to_applied(&mut object, deadline);
        completed.map_err(|why| self.unconvertible(&why.to_string()))?;
        Ok(object)
    }

    /// Refuses repeated keys, or warns of them, as the request asks.
    pub(super) fn check_repetitions(&self, request: &mut Request<'_>, options: &WriteOptions) -> ApiResult<()> {
        let Some(finding) = self.document.finding() else { return Ok(()) };
        let why = format!("error converting YAML to JSON: {finding}");
        match options.field_validation {
            FieldValidation::Ignore => {}
            FieldValidation::Strict => {
                return Err(ApiError::bad_request(format!("error strict decoding patch: {why}")));
            }
            FieldValidation::Warn if !self.warned => request.warnings.extend(yaml::warnings(&finding)),
            FieldValidation::Warn => {}
        }
        Ok(())
    }
}

/// An object of the storage version in that of the request, with all fields that Go writes, without its managed fields.
pub(super) fn complete(expected: &Expected<'_>, stored: &Value) -> ApiResult<Value> {
    let mut object = expected.convert_from_storage(stored)?;
    meta::remove(&mut object, "managedFields");
    if !expected.is_typed() {
        return Ok(object);
    }
    managers::complete(&object, expected.ty).map_err(ApiError::internal)
}

/// An empty object, with all fields that Go writes.
fn empty(expected: &Expected<'_>) -> ApiResult<Value> {
    complete(expected, &managers::empty(expected.api_version, expected.kind))
}

/// `/v1, Kind=ConfigMap`, as Go prints it.
fn group_version_kind(object: &Value) -> String {
    let (api_version, kind) = type_meta(object);
    let (group, version) = api_version.split_once('/').unwrap_or(("", &api_version));
    format!("{group}/{version}, Kind={kind}")
}

/// The error if the current object does not have the form of its type.
fn misfit(context: &Context<'_>, live: &Value) -> Option<String> {
    managed::validate(context.versions.ty(context.api_version)?, live, true).err()
}

/// An object's name, namespace and kind in error messages (`objectGVKNN`).
fn described(object: &Value) -> String {
    format!("{}/{}; {}", meta::namespace(object), meta::name(object), group_version_kind(object))
}

/// 409: other managers own fields that the apply would change (`NewConflictError`).
fn refused(conflicts: &Conflicts) -> ApiError {
    let shown = |manager: &Manager| {
        let mut shown = schema::quote(&manager.name);
        if !manager.subresource.is_empty() {
            shown += &format!(" with subresource {}", schema::quote(&manager.subresource));
        }
        if manager.operation == Operation::Update {
            shown += &format!(" using {}", manager.api_version);
        }
        shown
    };
    let mut conflicts: Vec<(&Manager, &Set)> = conflicts.iter().collect();
    conflicts.sort_by_cached_key(|(manager, _)| manager.identifier());
    let all: Vec<(String, Vec<String>)> =
        conflicts.into_iter().map(|(manager, set)| (shown(manager), set.paths())).collect();
    let count: usize = all.iter().map(|(_, paths)| paths.len()).sum();
    let message = match all.as_slice() {
        [(manager, paths)] if paths.len() == 1 => {
            format!("Apply failed with 1 conflict: conflict with {manager}: {}", paths[0])
        }
        all => {
            let lines = all.iter().flat_map(|(manager, paths)| {
                let paths = paths.iter().map(|path| format!("- {path}"));
                std::iter::once(format!("conflicts with {manager}:")).chain(paths)
            });
            format!("Apply failed with {count} conflicts: {}", lines.collect::<Vec<_>>().join("\n"))
        }
    };
    let mut error = ApiError::apply_conflict(message);
    for (manager, paths) in &all {
        for path in paths {
            error = error.with_cause("FieldManagerConflict", format!("conflict with {manager}"), path);
        }
    }
    error
}
