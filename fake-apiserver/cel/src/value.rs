//! Values of expressions.
//!
//! Port of `common/types` of cel-go v0.29.2 and of `k8s.io/apiserver/pkg/cel` v0.37.1.

mod compare;
mod convert;
mod data;
mod equal;
mod hexadecimal;
mod list;
mod map;

pub(crate) mod number;
pub(crate) mod time;

use crate::library::Opaque;
use crate::types::Type;
use std::fmt::{self, Write};
use std::sync::Arc;

pub(crate) use list::position;
pub use list::{List, ListKind};
pub use map::{Computed, Map, Object};
pub(crate) use map::{Entries, Key, Member};
pub use time::{Timestamp, go_duration};

/// A value. Cloning one is cheap.
#[derive(Debug, Clone)]
pub enum Value {
    /// `null`.
    Null,
    /// True or false.
    Bool(bool),
    /// A signed integer.
    Int(i64),
    /// An unsigned integer.
    Uint(u64),
    /// A floating-point number.
    Double(f64),
    /// Text.
    String(Arc<str>),
    /// Bytes.
    Bytes(Arc<[u8]>),
    /// A list.
    List(List),
    /// A map, or an object with fields.
    Map(Map),
    /// A point in time.
    Timestamp(Timestamp),
    /// A length of time, in nanoseconds.
    Duration(i64),
    /// A type.
    Type(Type),
    /// A value that may be missing.
    Optional(Option<Arc<Value>>),
    /// A value of one of Kubernetes' own types.
    Opaque(Opaque),
    /// Data that contradicts its schema: an error on access.
    Fault(Arc<str>),
}

/// An error of an evaluation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum EvalError {
    /// An error of the values, with cel-go's message.
    Failed(Arc<str>),
    /// The evaluation costs more than its limit.
    CostLimitExceeded,
    /// The caller has interrupted it.
    Interrupted,
}

impl EvalError {
    /// Whether no operator, such as `||`, can absorb it.
    pub(crate) fn ends_evaluation(&self) -> bool {
        matches!(self, Self::CostLimitExceeded | Self::Interrupted)
    }
}

impl fmt::Display for EvalError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Failed(message) => f.write_str(message),
            Self::CostLimitExceeded => f.write_str("operation cancelled: actual cost limit exceeded"),
            Self::Interrupted => f.write_str("operation interrupted"),
        }
    }
}

impl std::error::Error for EvalError {}

/// A value or an error.
pub type Outcome<T = Value> = Result<T, EvalError>;

/// Fails with a message.
pub(crate) fn fail<T>(message: impl Into<Arc<str>>) -> Outcome<T> {
    Err(EvalError::Failed(message.into()))
}

pub(crate) fn no_such_overload<T>() -> Outcome<T> {
    fail("no such overload")
}

impl From<&str> for Value {
    fn from(text: &str) -> Self {
        Self::String(Arc::from(text))
    }
}

impl From<String> for Value {
    fn from(text: String) -> Self {
        Self::String(Arc::from(text))
    }
}

impl From<std::borrow::Cow<'_, str>> for Value {
    fn from(text: std::borrow::Cow<'_, str>) -> Self {
        Self::String(Arc::from(text))
    }
}

impl From<Vec<Value>> for Value {
    fn from(items: Vec<Value>) -> Self {
        Self::List(List::new(items))
    }
}

impl From<bool> for Value {
    fn from(value: bool) -> Self {
        Self::Bool(value)
    }
}

impl From<i64> for Value {
    fn from(value: i64) -> Self {
        Self::Int(value)
    }
}

impl Value {
    pub(crate) fn from_bytes(bytes: Vec<u8>) -> Self {
        Self::Bytes(Arc::from(bytes))
    }

    pub(crate) fn some(value: Value) -> Self {
        Self::Optional(Some(Arc::new(value)))
    }

    /// The value, or the error of a fault.
    pub(crate) fn looked_at(self) -> Outcome {
        match self {
            Self::Fault(message) => Err(EvalError::Failed(message)),
            value => Ok(value),
        }
    }

    /// The type of the value; that of lists and maps without the types of elements.
    pub(crate) fn type_of(&self) -> Type {
        match self {
            Self::Null => Type::Null,
            Self::Bool(_) => Type::Bool,
            Self::Int(_) => Type::Int,
            Self::Uint(_) => Type::Uint,
            Self::Double(_) => Type::Double,
            Self::String(_) => Type::String,
            Self::Bytes(_) => Type::Bytes,
            Self::List(_) => Type::list(Type::Dyn),
            Self::Map(Map::Computed(object)) => Type::object(object.type_name()),
            Self::Map(_) => Type::map(Type::Dyn, Type::Dyn),
            Self::Timestamp(_) => Type::Timestamp,
            Self::Duration(_) => Type::Duration,
            Self::Type(_) => Type::Type(None),
            Self::Optional(_) => Type::optional(Type::Dyn),
            Self::Opaque(opaque) => opaque.type_of(),
            Self::Fault(_) => Type::Error,
        }
    }

    /// The name of the value's type, as from `type()`.
    #[must_use]
    pub fn type_name(&self) -> String {
        self.type_of().name().to_owned()
    }

    /// The name of cel-go's Go type of the value, for messages.
    pub(crate) fn go_type(&self) -> &'static str {
        match self {
            Self::Null => "types.Null",
            Self::Bool(_) => "types.Bool",
            Self::Int(_) => "types.Int",
            Self::Uint(_) => "types.Uint",
            Self::Double(_) => "types.Double",
            Self::String(_) => "types.String",
            Self::Bytes(_) => "types.Bytes",
            Self::List(list) => list.go_type(),
            Self::Map(map) => map.go_type(),
            Self::Timestamp(_) => "types.Timestamp",
            Self::Duration(_) => "types.Duration",
            Self::Type(_) => "*types.Type",
            Self::Optional(_) => "*types.Optional",
            Self::Opaque(opaque) => opaque.go_type(),
            Self::Fault(_) => "*types.Err",
        }
    }

    /// The number of elements, entries, characters or bytes; `None` for values without a size.
    pub(crate) fn size(&self) -> Option<u64> {
        match self {
            Self::String(text) => Some(text.chars().count() as u64),
            Self::Bytes(bytes) => Some(bytes.len() as u64),
            Self::List(list) => Some(list.len() as u64),
            Self::Map(map) => Some(map.len() as u64),
            Self::Opaque(opaque) => opaque.size(),
            _ => None,
        }
    }

    /// Whether the value is empty or zero.
    pub(crate) fn is_zero(&self) -> bool {
        match self {
            Self::Null => true,
            Self::Bool(value) => !value,
            Self::Int(value) => *value == 0,
            Self::Uint(value) => *value == 0,
            Self::Double(value) => *value == 0.0,
            Self::String(text) => text.is_empty(),
            Self::Bytes(bytes) => bytes.is_empty(),
            Self::List(list) => list.is_plain() && list.len() == 0,
            Self::Map(map) => matches!(map, Map::Plain(_)) && map.len() == 0,
            Self::Timestamp(time) => time.is_zero(),
            Self::Duration(nanos) => *nanos == 0,
            _ => false,
        }
    }
}

/// The value as formatted by Go's `%v`, for messages.
impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Null => f.write_str("0"),
            Self::Bool(value) => write!(f, "{value}"),
            Self::Int(value) => write!(f, "{value}"),
            Self::Uint(value) => write!(f, "{value}"),
            Self::Double(value) => f.write_str(&number::general(*value)),
            Self::String(text) => f.write_str(text),
            Self::Bytes(bytes) => {
                let bytes: Vec<String> = bytes.iter().map(u8::to_string).collect();
                write!(f, "[{}]", bytes.join(" "))
            }
            Self::List(list) => {
                f.write_char('[')?;
                for (i, item) in list.items().iter().enumerate() {
                    write!(f, "{}{item}", if i > 0 { ", " } else { "" })?;
                }
                f.write_char(']')
            }
            Self::Map(map) => {
                f.write_char('{')?;
                for (i, (key, value)) in map.entries().into_iter().enumerate() {
                    write!(f, "{}{key}: {value}", if i > 0 { ", " } else { "" })?;
                }
                f.write_char('}')
            }
            Self::Timestamp(time) => f.write_str(&time.to_go_string()),
            Self::Duration(nanos) => f.write_str(&time::go_duration(*nanos)),
            Self::Type(t) => write!(f, "{t}"),
            Self::Optional(None) => f.write_str("optional.none()"),
            Self::Optional(Some(value)) => write!(f, "optional({value})"),
            Self::Opaque(opaque) => write!(f, "{opaque}"),
            Self::Fault(message) => f.write_str(message),
        }
    }
}
