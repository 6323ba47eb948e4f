//! The types of errors, as metrics name them.
//!
//! Follows `pkg/admission/plugin/policy/{validating,mutating}/errors.go` of `k8s.io/apiserver` (v0.37.1).

/// The type of the error with that message, by its beginning. A validation that is false is one, too.
pub(crate) fn error_type(message: &str) -> &'static str {
    match message {
        message if message.starts_with("compilation") => "compile_error",
        message if message.starts_with("validation failed due to running out of cost budget") => "out_of_budget",
        _ => "invalid_error",
    }
}
