//! The causes in a `Status`.

use serde::Serialize;

/// `metav1.StatusCause`.
#[derive(Debug, Clone, Default, Serialize)]
pub struct Cause {
    /// Machine-readable kind of the finding.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub reason: String,
    /// The finding, without the path.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub message: String,
    /// Path of the field.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub field: String,
}
