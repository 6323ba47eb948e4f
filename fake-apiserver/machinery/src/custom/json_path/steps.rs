//! The parts of an expression.

use tree::Value;

/// A parsed expression.
#[derive(Debug, Clone)]
pub struct JsonPath(pub(super) Vec<Step>);

#[derive(Debug, Clone)]
pub(super) enum Step {
    Field(String),
    /// All items or members.
    Wildcard,
    /// The value itself and all values below it.
    Descend,
    Slice(Slice),
    Union(Vec<JsonPath>),
    Filter {
        left: JsonPath,
        /// The comparison; `None` checks that the left side selects something.
        comparison: Option<(Comparison, JsonPath)>,
    },
    /// A constant in a filter.
    Constant(Value),
}

/// `[start:end:step]`; an index is a slice of one item.
#[derive(Debug, Clone, Copy)]
pub(super) struct Slice {
    pub(super) start: i64,
    pub(super) end: Option<i64>,
    pub(super) step: i64,
    /// Whether it was written as an index.
    pub(super) index: bool,
}

#[derive(Debug, Clone, Copy)]
pub(super) enum Comparison {
    Equal,
    NotEqual,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
}

/// An error of an expression in an object: it selects items of a value that is not a list, or compares incomparable values.
#[derive(Debug)]
pub struct Mismatch;
