//! Validation of events, which has few rules for those without an `eventTime`.
//!
//! Follows `legacyValidateEvent` of `pkg/apis/core/validation/events.go` (v1.37.1).

use crate::error::FieldError;
use crate::object::{meta, name, validate as object};
use crate::registry::text;
use tree::Value;

/// Limits of `pkg/apis/core/validation/events.go`: field, most bytes, whether it must be set.
const LIMITS: &[(&str, usize, bool)] =
    &[("reportingInstance", 128, true), ("action", 128, true), ("reason", 128, true), ("message", 1024, false)];

/// `legacyValidateEvent`, with the reporter's field as in the version of the request.
pub(super) fn validate(event: &Value, reporter_field: &str) -> Vec<FieldError> {
    let mut errors = Vec::new();
    let involved = text(event, "/involvedObject/namespace");
    let timed = is_timed(event);
    let agrees = match (involved, meta::namespace(event)) {
        ("", "default") => true,
        ("", "kube-system") => timed,
        ("", own) => !timed && own.is_empty(),
        (involved, own) => timed || involved == own,
    };
    if !agrees {
        let detail = "does not match event.namespace";
        errors.push(FieldError::invalid("involvedObject.namespace", &involved.into(), detail));
    }
    if !timed {
        return errors;
    }
    let reporter = text(event, "/reportingComponent");
    if reporter.is_empty() {
        errors.push(FieldError::required(reporter_field, ""));
    }
    errors.extend(object::invalid_each(reporter_field, reporter, name::label_key(reporter)));
    for (field, most, required) in LIMITS {
        let length = event.get(*field).and_then(Value::as_str).map_or(0, str::len);
        if length == 0 && *required {
            errors.push(FieldError::required(*field, ""));
        }
        if length > *most {
            errors.push(FieldError::invalid(*field, &"".into(), format!("can have at most {most} characters")));
        }
    }
    errors
}

/// Whether it has an `eventTime`.
pub(super) fn is_timed(event: &Value) -> bool {
    !text(event, "/eventTime").is_empty()
}
