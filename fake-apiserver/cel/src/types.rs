//! Types of expressions and values.
//!
//! Port of `common/types/types.go` and `checker/format.go` of cel-go v0.29.2.

use std::fmt;
use std::sync::Arc;

/// The type of an expression.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Type {
    /// The type of an erroneous expression.
    Error,
    /// A type that is known only at evaluation.
    Dyn,
    /// The same, but no list or map to go through: `google.protobuf.Any`.
    Any,
    /// `null`.
    Null,
    /// True or false.
    Bool,
    /// A signed integer of 64 bits.
    Int,
    /// An unsigned integer of 64 bits.
    Uint,
    /// A floating-point number of 64 bits.
    Double,
    /// Text.
    String,
    /// Bytes.
    Bytes,
    /// A point in time.
    Timestamp,
    /// A length of time.
    Duration,
    /// A list of elements of one type.
    List(Arc<Type>),
    /// A map, by the types of its keys and values.
    Map(Arc<Type>, Arc<Type>),
    /// A type with fields, by its name.
    Struct(Arc<str>),
    /// A type without fields, by its name and parameters.
    Opaque(Arc<str>, Arc<[Type]>),
    /// The type of a type, which is given if it is known.
    Type(Option<Arc<Type>>),
    /// A type parameter, by its name.
    Param(Arc<str>),
}

impl Type {
    /// A list of elements of this type.
    #[must_use]
    pub fn list(element: Type) -> Self {
        Self::List(Arc::new(element))
    }

    /// A map of these types.
    #[must_use]
    pub fn map(key: Type, value: Type) -> Self {
        Self::Map(Arc::new(key), Arc::new(value))
    }

    /// A value that may be missing.
    #[must_use]
    pub fn optional(value: Type) -> Self {
        Self::Opaque(Arc::from("optional_type"), Arc::from([value]))
    }

    /// A type with fields, by its name.
    #[must_use]
    pub fn object(name: &str) -> Self {
        Self::Struct(Arc::from(name))
    }

    /// The name of the type, without parameters.
    #[must_use]
    pub fn name(&self) -> &str {
        match self {
            Self::Error => "error",
            Self::Dyn => "dyn",
            Self::Any => "google.protobuf.Any",
            Self::Null => "null_type",
            Self::Bool => "bool",
            Self::Int => "int",
            Self::Uint => "uint",
            Self::Double => "double",
            Self::String => "string",
            Self::Bytes => "bytes",
            Self::Timestamp => "google.protobuf.Timestamp",
            Self::Duration => "google.protobuf.Duration",
            Self::List(_) => "list",
            Self::Map(..) => "map",
            Self::Struct(name) | Self::Opaque(name, _) | Self::Param(name) => name,
            Self::Type(_) => "type",
        }
    }

    /// The name of the type with its parameters (`String`), which is not always how findings of the compiler show it.
    #[must_use]
    pub fn full_name(&self) -> String {
        let parameters: Vec<String> = self.params().into_iter().map(Type::full_name).collect();
        match parameters.is_empty() {
            true => self.name().to_owned(),
            false => format!("{}({})", self.name(), parameters.join(", ")),
        }
    }

    pub(crate) fn params(&self) -> Vec<&Type> {
        match self {
            Self::List(element) => vec![element],
            Self::Map(key, value) => vec![key, value],
            Self::Opaque(_, params) => params.iter().collect(),
            Self::Type(Some(of)) => vec![of],
            _ => Vec::new(),
        }
    }

    /// The same type with other parameters.
    pub(crate) fn with_params(&self, mut change: impl FnMut(&Type) -> Type) -> Type {
        match self {
            Self::List(element) => Self::list(change(element)),
            Self::Map(key, value) => {
                let key = change(key);
                Self::map(key, change(value))
            }
            Self::Opaque(name, params) => Self::Opaque(name.clone(), params.iter().map(change).collect()),
            Self::Type(Some(of)) => Self::Type(Some(Arc::new(change(of)))),
            other => other.clone(),
        }
    }

    pub(crate) fn same_kind(&self, other: &Type) -> bool {
        std::mem::discriminant(self) == std::mem::discriminant(other)
    }

    pub(crate) fn is_dyn(&self) -> bool {
        matches!(self, Self::Dyn | Self::Any)
    }

    pub(crate) fn is_dyn_or_error(&self) -> bool {
        matches!(self, Self::Dyn | Self::Any | Self::Error)
    }

    /// The type within an optional type.
    pub(crate) fn optional_of(&self) -> Option<&Type> {
        match self {
            Self::Opaque(name, params) if &**name == "optional_type" => params.first(),
            _ => None,
        }
    }

    /// Whether the types are equal, apart from the names of type parameters.
    pub(crate) fn is_equivalent(&self, other: &Type) -> bool {
        let (mine, theirs) = (self.params(), other.params());
        self.same_kind(other)
            && mine.len() == theirs.len()
            && (matches!(self, Self::Param(_)) || self.name() == other.name())
            && mine.iter().zip(theirs).all(|(a, b)| a.is_equivalent(b))
    }

    /// Whether a value of `from` can be used where this type is declared.
    pub(crate) fn is_assignable_from(&self, from: &Type) -> bool {
        if matches!(self, Self::Dyn | Self::Any | Self::Param(_)) {
            return true;
        }
        let (mine, theirs) = (self.params(), from.params());
        self.same_kind(from)
            && self.name() == from.name()
            && mine.len() == theirs.len()
            && mine.iter().zip(theirs).all(|(a, b)| a.is_assignable_from(b))
    }

    /// Parses a type as written in the table of functions.
    pub(crate) fn parse(text: &str) -> Type {
        let (name, params) = match text.split_once('(') {
            Some((name, rest)) => (name, split(rest.strip_suffix(')').unwrap_or(rest))),
            None => (text, Vec::new()),
        };
        let param = |i: usize| params.get(i).map_or(Type::Dyn, |text| Type::parse(text));
        match name {
            "dyn" => Type::Dyn,
            "null" => Type::Null,
            "bool" => Type::Bool,
            "int" => Type::Int,
            "uint" => Type::Uint,
            "double" => Type::Double,
            "string" => Type::String,
            "bytes" => Type::Bytes,
            "timestamp" => Type::Timestamp,
            "duration" => Type::Duration,
            "list" => Type::list(param(0)),
            "map" => Type::map(param(0), param(1)),
            "type" => Type::Type((!params.is_empty()).then(|| Arc::new(param(0)))),
            "optional_type" => Type::optional(param(0)),
            name if name.len() == 1 => Type::Param(Arc::from(name)),
            name if name.starts_with("net.") => Type::Opaque(Arc::from(name), Arc::from([])),
            name => Type::object(name),
        }
    }
}

/// Splits at the commas outside of parentheses.
pub(crate) fn split(text: &str) -> Vec<&str> {
    let mut parts = Vec::new();
    let (mut depth, mut start) = (0, 0);
    for (i, c) in text.char_indices() {
        match c {
            '(' => depth += 1,
            ')' => depth -= 1,
            ',' if depth == 0 => {
                parts.push(text[start..i].trim());
                start = i + 1;
            }
            _ => {}
        }
    }
    if !text[start..].trim().is_empty() {
        parts.push(text[start..].trim());
    }
    parts
}

/// The type as in compile errors.
impl fmt::Display for Type {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Error => return f.write_str("!error!"),
            Self::Any => return f.write_str("any"),
            Self::Null => return f.write_str("null"),
            Self::Timestamp => return f.write_str("timestamp"),
            Self::Duration => return f.write_str("duration"),
            _ => f.write_str(self.name())?,
        }
        let params = self.params();
        if params.is_empty() {
            return Ok(());
        }
        f.write_str("(")?;
        for (i, param) in params.iter().enumerate() {
            if i > 0 {
                f.write_str(", ")?;
            }
            write!(f, "{param}")?;
        }
        f.write_str(")")
    }
}
