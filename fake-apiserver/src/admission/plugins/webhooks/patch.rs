//! The patch of a mutating webhook, applied to the object that it was shown.
//!
//! Follows `callAttrMutatingHook` of `k8s.io/apiserver/pkg/admission/plugin/webhook/mutating/dispatcher.go` (v0.37.1).

use super::call::{Call, Failure, UNAVAILABLE, denied};
use super::review::Verdict;
use crate::error::{ApiError, FieldError, Qualified};
use crate::object::meta;
use crate::object::patch::json as json_patch;
use crate::schema;
use tree::Value;

/// A patch that was applied.
pub(super) struct Patched {
    /// The patched object, in the form that the webhook was shown.
    pub(super) object: Value,
    /// The operations of the patch.
    pub(super) patch: Value,
}

impl Call<'_> {
    /// The object that was shown, patched as a verdict wants it; `None`, if it wants nothing.
    pub(super) fn patched(&self, verdict: &Verdict) -> Result<Option<Patched>, Failure> {
        let internal = |why: String| Failure::Refusal(ApiError::internal(why));
        if verdict.patch.is_empty() {
            return Ok(None);
        }
        let undecodable =
            |why: String| Failure::Call(format!("received undecodable patch in webhook response: {why}"), UNAVAILABLE);
        let patch = schema::parse_json(&verdict.patch).map_err(|why| undecodable(why.to_string()))?.object;
        let operations = json_patch::decode(&patch).map_err(undecodable)?;
        if operations.is_empty() {
            return Ok(None);
        }
        if *self.objects.object == *b"null" {
            return Err(internal(format!(
                "admission webhook {:?} attempted to modify the object, which is not supported for this operation",
                self.hook.name
            )));
        }
        if verdict.patch_type != "JSONPatch" {
            let code = denied(&self.hook.name, &verdict.status).code();
            return Err(Failure::Call(format!("unsupported patch type {:?}", verdict.patch_type), code));
        }
        let shown = schema::parse_json(&self.objects.object).map_err(|why| internal(why.to_string()))?.object;
        let patched = json_patch::apply_explained(shown, operations, self.write.deadline).map_err(internal)?;
        let object = self.decoded(&patched)?;
        Ok(Some(Patched { object, patch }))
    }

    /// The patched document as an object of its kind. Fields that the kind does not have are dropped.
    fn decoded(&self, patched: &Value) -> Result<Value, Failure> {
        let internal = |why: String| Failure::Refusal(ApiError::internal(why));
        let (version, kind, is_typed) = (self.matched.version, self.matched.kind, self.matched.is_typed());
        self.check_kind(patched, is_typed)?;
        let Some(ty) = self.matched.ty() else { return Ok(patched.clone()) };
        let mut decoded = schema::check(patched, ty).map_err(|why| internal(why.to_string()))?.object;
        decoded["apiVersion"] = kind.api_version().into();
        decoded["kind"] = kind.kind.into();
        if !is_typed {
            let pruned = version.apply_schema(&mut decoded, self.write.deadline);
            pruned.map_err(|why| internal(why.to_string()))?;
        }
        Ok(decoded)
    }

    /// Refuses a document of another kind. One that names none is of the right kind.
    fn check_kind(&self, patched: &Value, is_typed: bool) -> Result<(), Failure> {
        let (version, own) = (self.matched.version, self.matched.kind);
        let own_version = own.api_version();
        let api_version = patched["apiVersion"].as_str().filter(|text| !text.is_empty()).unwrap_or(&own_version);
        let kind = patched["kind"].as_str().filter(|text| !text.is_empty()).unwrap_or(own.kind);
        if kind == own.kind && (api_version == own_version || !is_typed) {
            return Ok(());
        }
        let refusal = match schema::lookup(api_version, kind) {
            _ if !is_typed => {
                let finding = FieldError::invalid("kind", &kind.into(), format!("must be {}", own.kind));
                ApiError::invalid(Qualified { group: own.group, resource: kind }, meta::name(patched), &[finding])
            }
            None => ApiError::internal(format!(
                "no kind {kind:?} is registered for version {api_version:?} in scheme \"pkg/runtime/scheme.go:111\""
            )),
            Some(ty) => match schema::check(patched, ty) {
                Err(why) => ApiError::internal(why),
                Ok(_) => ApiError::untyped(format!(
                    "converting ({}.{kind}) to ({}.{}): unknown conversion",
                    api_version.rsplit('/').next().unwrap_or_default(),
                    version.go_package(),
                    own.kind
                )),
            },
        };
        Err(Failure::Refusal(refusal))
    }
}
