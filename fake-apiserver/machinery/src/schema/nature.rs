//! Types as field management sees them: the nature of a type, and the zero values that Go writes.

use super::encode::is_omitted;
use super::types::{Field, Shape, TypeRef};
use std::sync::LazyLock;
use tree::{Map, Text, Value};

/// The nature of a type, as the published schema of a built-in kind has it.
#[derive(Clone, Copy)]
pub enum Nature<'t> {
    /// `boolean`.
    Bool,
    /// `integer` or `number`.
    Number,
    /// Text without a format of its own, or base64.
    Text,
    /// A scalar in any form: times, quantities.
    Scalar,
    /// Published without a type: `IntOrString`, the unions of definitions.
    Untyped,
    /// `runtime.RawExtension`.
    Raw,
    /// An object of any fields: `metav1.FieldsV1`.
    AnyFields,
    /// A list of elements of that type.
    List(TypeRef<'t>),
    /// A map of values of that type.
    Map(TypeRef<'t>),
    /// An object of fields.
    Struct,
}

impl<'t> TypeRef<'t> {
    /// The nature of the type, or of the one that it points to.
    pub fn nature(self) -> Nature<'t> {
        let ty = self.target();
        match ty.shape() {
            Shape::Bool => Nature::Bool,
            Shape::Int32 | Shape::Int64 | Shape::Float64 => Nature::Number,
            Shape::String | Shape::Bytes => Nature::Text,
            Shape::Time | Shape::MicroTime | Shape::Quantity => Nature::Scalar,
            Shape::Any if ty.bare_name() == "RawExtension" => Nature::Raw,
            Shape::Any if ty.bare_name() == "FieldsV1" => Nature::AnyFields,
            Shape::Any | Shape::IntOrString | Shape::Union(_) => Nature::Untyped,
            Shape::List { element, .. } => Nature::List(ty.at(*element)),
            Shape::Map(element) => Nature::Map(ty.at(*element)),
            Shape::Struct(_) => Nature::Struct,
            Shape::Pointer(_) => unreachable!("Kubernetes' types have no pointers to pointers"),
        }
    }

    /// The value of a field of this struct that Go shows, given the one in a canonical tree: zero where the field is always
    /// printed, none where it is left out.
    pub fn shown<'v>(self, field: &Field, value: Option<&'v Value>) -> Option<&'v Value> {
        let ty = self.of(field);
        if is_omitted(field, ty, value) {
            return None;
        }
        Some(value.filter(|value| !value.is_null()).unwrap_or_else(|| zero(ty)))
    }
}

/// The zero value of a type as Go prints it; that of a struct is empty.
fn zero(ty: TypeRef<'_>) -> &'static Value {
    static NULL: Value = Value::Null;
    static FALSE: Value = Value::Bool(false);
    static TEXT: Value = Value::String(Text::new_static(""));
    static ZERO: LazyLock<[Value; 3]> = LazyLock::new(|| [Value::from(0), Value::from("0"), Value::Object(Map::new())]);
    match ty.shape() {
        Shape::Bool => &FALSE,
        Shape::String => &TEXT,
        Shape::Int32 | Shape::Int64 | Shape::Float64 | Shape::IntOrString => &ZERO[0],
        Shape::Quantity => &ZERO[1],
        Shape::Struct(_) => &ZERO[2],
        _ => &NULL,
    }
}
