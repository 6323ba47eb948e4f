//! The patch of a mutating webhook, applied to the object that it was shown.
//!
//! Follows `callAttrMutatingHook` of `k8s.io/apiserver/pkg/admission/plugin/webhook/mutating/dispatcher.go` (v0.37.1).

use super::call::{Call, Failure};
use super::review::{Verdict, object_type};
use crate::admission::Kind;
use crate::error::ApiError;
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
        let undecodable = |why: String| Failure::Call(format!("received undecodable patch in webhook response: {why}"));
        let patch = schema::parse_json(&verdict.patch).map_err(|why| undecodable(why.to_string()))?.object;
        let operations = json_patch::decode(&patch).map_err(undecodable)?;
        if operations.is_empty() {
            return Ok(None);
        }
        if self.object == "null" {
            return Err(internal(format!(
                "admission webhook {:?} attempted to modify the object, which is not supported for this operation",
                self.hook.name
            )));
        }
        if verdict.patch_type != "JSONPatch" {
            return Err(Failure::Call(format!("unsupported patch type {:?}", verdict.patch_type)));
        }
        let shown = schema::parse_json(self.object.as_bytes()).map_err(|why| internal(why.to_string()))?.object;
        let patched = json_patch::apply_explained(shown, operations, self.write.deadline).map_err(internal)?;
        let object = self.decoded(&patched).map_err(internal)?;
        Ok(Some(Patched { object, patch }))
    }

    /// The patched document as an object of its kind. Fields that the kind does not have are dropped.
    fn decoded(&self, patched: &Value) -> Result<Value, String> {
        let (version, kind) = (self.matched.version, self.matched.kind);
        let ty = object_type(version, kind).ok_or("unknown kind")?;
        let mut decoded = schema::check(patched, ty).map_err(|why| why.to_string())?.object;
        decoded["apiVersion"] = kind.api_version().into();
        decoded["kind"] = kind.kind.into();
        if version.is_custom() && kind == Kind::of(version, "") {
            version.apply_schema(&mut decoded, self.write.deadline).map_err(|why| why.to_string())?;
        }
        Ok(decoded)
    }
}
