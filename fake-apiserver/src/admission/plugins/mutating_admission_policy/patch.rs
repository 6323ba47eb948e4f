//! Patches that expressions evaluate to, applied to an object.
//!
//! Follows `pkg/admission/plugin/policy/mutating/patch/{smd,json_patch}.go` of `k8s.io/apiserver` (v0.37.1).

use crate::admission::matching::Matched;
use crate::deadline::Deadline;
use crate::error::ApiError;
use crate::managed::{self, Type};
use crate::object::patch::json as json_patch;
use crate::schema::{self, quote};
use kubernetes_cel::{List, Opaque, Patch, Value as CelValue};
use tree::{Value, json};

/// The object that is patched, in the form in which a policy sees it.
pub(super) struct Target<'t> {
    pub(super) matched: Matched<'t>,
    pub(super) object: &'t Value,
    pub(super) deadline: &'t Deadline,
}

/// The reason why a patch is not applied.
#[derive(Debug)]
pub(super) enum Failure {
    /// An error of the policy, which its `failurePolicy` is about.
    Policy(String),
    /// The refusal of the request, whatever the policy says.
    Refusal(ApiError),
}

/// The object with a configuration applied.
pub(super) fn applied(value: &CelValue, target: &Target<'_>) -> Result<Value, Failure> {
    let failed = |why: String| Failure::Policy(format!("error applying patch: {why}"));
    let CelValue::Opaque(Opaque::Patch(patch)) = value else {
        let found = value.type_name();
        return Err(Failure::Policy(format!("unsupported return type from ApplyConfiguration expression: {found}")));
    };
    check_types(patch)?;
    let untyped = |why: String| failed(format!("failed to convert patch object to typed object: {why}"));
    let mut configuration = value.to_json().map_err(untyped)?;
    configuration["apiVersion"] = target.matched.kind.api_version().into();
    configuration["kind"] = target.matched.kind.kind.into();
    let ty = target.ty().map_err(untyped)?;
    managed::validate_computed(ty, &configuration).map_err(untyped)?;
    let atomics = managed::atomics(ty, &configuration);
    if !atomics.is_empty() {
        let atomics = atomics.join(", ");
        return Err(failed(format!(
            "invalid ApplyConfiguration: may not mutate atomic arrays, maps or structs: {atomics}"
        )));
    }
    let live = target.document()?;
    let merged = managed::merge(ty, &live, &configuration, target.deadline)
        .map_err(|why| failed(format!("failed to merge patch: {why}")))?;
    target.decoded(&merged, false)
}

/// The object with a JSON patch applied. If a test of the patch fails, the object stays as it is.
pub(super) fn json_patched(value: &CelValue, target: &Target<'_>) -> Result<Value, Failure> {
    let CelValue::List(list) = value else {
        return Err(Failure::Policy("type mismatch: JSONPatchType.expression should evaluate to array".into()));
    };
    let operations = operations(list)?;
    match json_patch::apply_explained(target.document()?, &operations, target.deadline) {
        Ok(patched) => target.decoded(&patched, true),
        Err(why) if why.ends_with("test failed") => Ok(target.object.clone()),
        Err(why) => Err(Failure::Policy(format!("JSON Patch: {why}"))),
    }
}

fn operations(list: &List) -> Result<Vec<Value>, Failure> {
    let mut operations = Vec::with_capacity(list.items().len());
    for item in list.items() {
        let CelValue::Opaque(Opaque::Patch(patch)) = item else {
            let found = item.type_name();
            let why = format!(
                "type mismatch: JSONPatchType.expression should evaluate to array of JSONPatch, got element of {found}"
            );
            return Err(Failure::Policy(why));
        };
        let text = |field: &str| match patch.fields().get(field) {
            Some(CelValue::String(text)) => text.to_string(),
            _ => String::new(),
        };
        let mut operation = json!({"op": text("op"), "path": text("path")});
        if !text("from").is_empty() {
            operation["from"] = text("from").into();
        }
        if let Some(value) = patch.fields().get("value") {
            if let CelValue::Opaque(Opaque::Patch(object)) = value {
                check_types(object)?;
            }
            operation["value"] = value.to_json().map_err(|why| {
                Failure::Policy(format!(
                    "JSONPath valueExpression evaluated to a type that could not marshal to JSON: {why}"
                ))
            })?;
        }
        operations.push(operation);
    }
    Ok(operations)
}

/// Refuses objects whose types are not named after the fields that they are in (`CheckTypeNamesMatchFieldPathNames`).
fn check_types(patch: &Patch) -> Result<(), Failure> {
    let mut errors = Vec::new();
    check_object(patch, patch.type_name(), &mut errors);
    match errors.is_empty() {
        true => Ok(()),
        false => Err(Failure::Policy(format!("type mismatch: {}", errors.join("\n")))),
    }
}

fn check_object(patch: &Patch, expected: &str, errors: &mut Vec<String>) {
    let found = patch.type_name();
    if found != expected {
        errors.push(format!(
            "unexpected type name {}, expected {}, which matches field name path from root Object type",
            quote(found),
            quote(expected)
        ));
    }
    for (name, value) in patch.fields() {
        check_value(value, &format!("{expected}.{name}"), errors);
    }
}

fn check_value(value: &CelValue, expected: &str, errors: &mut Vec<String>) {
    match value {
        CelValue::Opaque(Opaque::Patch(patch)) => check_object(patch, expected, errors),
        CelValue::List(list) => list.items().iter().for_each(|item| check_value(item, expected, errors)),
        CelValue::Map(map) => map.entries().iter().for_each(|(_, value)| check_value(value, expected, errors)),
        _ => {}
    }
}

impl<'t> Target<'t> {
    /// The type by which configurations are merged. Upstream looks for it in the document about the kind's own group and version, where most
    /// bodies of subresources are not.
    fn ty(&self) -> Result<Type<'t>, String> {
        let Matched { version, kind } = self.matched;
        let ty = match self.matched.is_typed() {
            false => version.structural().map(|schema| Type::custom(schema.root())),
            true if (kind.group, kind.version) != (&*version.group, &*version.name) => None,
            true => self.matched.ty().map(Type::built_in),
        };
        ty.ok_or_else(|| format!("no corresponding type for {}/{}, Kind={}", kind.group, kind.version, kind.kind))
    }

    /// The object as Go shows it.
    fn document(&self) -> Result<Value, Failure> {
        let json = self.matched.json(self.object);
        let parsed = schema::parse_json(json.as_bytes());
        parsed.map(|parsed| parsed.object).map_err(|why| Failure::Refusal(ApiError::internal(why)))
    }

    /// The patched document as an object of its kind. Of a strict one all fields have to be known.
    fn decoded(&self, patched: &Value, strict: bool) -> Result<Value, Failure> {
        let internal = |why: String| Failure::Refusal(ApiError::internal(why));
        let (version, kind) = (self.matched.version, self.matched.kind);
        // A patch may change the kind.
        let named = |field: &str| patched[field].as_str().unwrap_or_default();
        let other = (self.matched.is_typed() && named("kind") != kind.kind)
            .then(|| schema::lookup(named("apiVersion"), named("kind")));
        let ty = other.flatten().or_else(|| self.matched.ty()).ok_or_else(|| internal("unknown kind".into()))?;
        let decoded = schema::check(patched, ty).map_err(|why| match strict {
            true => internal(why.to_string()),
            false => Failure::Policy(why.to_string()),
        })?;
        if strict && !decoded.findings.is_empty() && self.matched.is_typed() {
            return Err(internal(format!("strict decoding error: {}", decoded.findings.join(", "))));
        }
        let mut object = decoded.object;
        object["apiVersion"] = kind.api_version().into();
        object["kind"] = kind.kind.into();
        if !self.matched.is_typed() {
            version.apply_schema(&mut object, self.deadline).map_err(|why| internal(why.to_string()))?;
        }
        Ok(object)
    }
}
