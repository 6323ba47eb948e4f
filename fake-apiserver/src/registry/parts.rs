//! The parts of a version: its subresources, and the columns of its tables.

use super::custom;
use super::rules::{Cell, Strategy};
use super::subresources::Handler;
use crate::custom::json_path::JsonPath;
use crate::deadline::Deadline;
use jiff::Timestamp;
use std::borrow::Cow;
use tree::Value;

/// Text of a resource: borrowed from the table, or owned by a resource that was added at run time.
pub type Str = Cow<'static, str>;

/// The notice that a version is deprecated.
#[derive(Debug, Clone)]
pub(crate) struct Deprecation {
    /// The warning about requests.
    pub(crate) warning: String,
    /// The release in which the version is gone, such as `1.38`; "" if none is known.
    pub(crate) removed_in: &'static str,
}

impl Deprecation {
    /// That of a version that no release removes.
    pub(super) fn forever(warning: impl Into<String>) -> Deprecation {
        Deprecation { warning: warning.into(), removed_in: "" }
    }
}

/// A subresource: the status of an object, or an action on it.
#[derive(Debug)]
pub struct Subresource {
    /// Last element of the path.
    pub name: Str,
    /// Group of the kind that is sent and received; empty with an empty version for the parent's.
    pub group: Str,
    /// Version of that kind.
    pub version: Str,
    /// Kind that is sent and received; empty for the parent's.
    pub kind: Str,
    /// Verbs, sorted.
    pub verbs: Vec<Str>,
    /// The way requests are served.
    pub(crate) handler: Handler,
    /// The field that clients write through it, besides metadata; "" if they write another kind.
    pub(crate) owns: &'static str,
    /// Strategy of an update through it.
    pub strategy: Strategy,
}

/// A column of `kubectl get`.
#[derive(Debug, Clone)]
pub struct PrinterColumn {
    /// Heading.
    pub name: Str,
    /// `string`, `integer`, `date`, ...
    pub type_: Str,
    /// `name` for the first column, else "".
    pub format: Str,
    /// Help text.
    pub description: Str,
    /// Priority: 0 is always shown, others only with `-o wide`.
    pub priority: i32,
    pub(super) cell: CellSource,
}

/// The source of a column's cells.
#[derive(Debug, Clone)]
pub(super) enum CellSource {
    Rule(Cell),
    /// The value at a path, as that type.
    Path(JsonPath, String),
}

impl PrinterColumn {
    /// The cell of a stored object, at a time (for ages); null, if its deadline passes before.
    pub fn cell(&self, object: &Value, now: Timestamp, deadline: &Deadline) -> Value {
        match &self.cell {
            CellSource::Rule(cell) => cell(object, now),
            CellSource::Path(path, type_) => {
                path.first(object, deadline).map_or(Value::Null, |value| custom::cell(type_, value, now))
            }
        }
    }
}
