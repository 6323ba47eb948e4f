//! The types of API objects, in an arena.
//!
//! [`Types`] owns its types and everything in them, and is dropped as a whole. Types refer to each other by [`TypeId`],
//! so that they may contain themselves; a [`TypeRef`] is a type together with its arena, and an [`OwnedType`] keeps that arena.

use super::facets::{Facets, NO_FACETS};
use super::names::Names;
use super::token::Token;
use std::fmt;
use std::sync::{Arc, LazyLock};
use tree::{Map, Text, Value};

/// A set of types that refer only to each other.
pub struct Types {
    arena: Box<[Type]>,
    /// Ordered by kind and `apiVersion`.
    kinds: Box<[Root]>,
}

/// The type of a kind's bodies.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Root {
    pub(super) kind: Arc<str>,
    /// "*" stands for any.
    pub(super) api_version: Arc<str>,
    pub(super) ty: TypeId,
}

/// The place of a type in its arena.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct TypeId(u32);

/// A type and its arena.
#[derive(Clone, Copy)]
pub struct TypeRef<'t> {
    types: &'t Types,
    ty: &'t Type,
}

/// A type that keeps its arena alive.
#[derive(Clone)]
pub struct OwnedType {
    types: Arc<Types>,
    id: TypeId,
}

/// A Go type.
#[derive(Debug)]
pub(super) struct Type {
    /// As Go prints it, but with the package's path in place of its name: `map[string]string`, `core/v1.Secret`.
    pub(super) name: Arc<str>,
    pub(super) shape: Shape,
    pub(super) facets: Option<Box<Facets>>,
}

/// The structure of a type.
#[derive(Debug, Clone)]
pub(super) enum Shape {
    Bool,
    Int32,
    Int64,
    Float64,
    String,
    /// `[]byte`: base64 in JSON.
    Bytes,
    /// `metav1.Time`: seconds.
    Time,
    /// `metav1.MicroTime`: microseconds.
    MicroTime,
    Quantity,
    IntOrString,
    /// A message whose field 1 is JSON of any kind: `metav1.FieldsV1`, `runtime.RawExtension`.
    Any,
    Pointer(TypeId),
    List {
        element: TypeId,
        /// Protobuf has a message around the items, as its field 1.
        wrapped: bool,
    },
    /// Keys are strings.
    Map(TypeId),
    Struct(Struct),
    Union(Union),
}

/// A struct: its fields as JSON and as protobuf see them.
#[derive(Debug, Clone, Default)]
pub(super) struct Struct {
    /// In the order in which Go prints them, with those of embedded structs in their places.
    pub(super) fields: Box<[Field]>,
    /// The places of `fields`.
    pub(super) names: Names,
    /// Ordered by number.
    pub(super) members: Box<[Member]>,
    /// Whether JSON may have other fields, which are kept as they are. Then it is a map in Go: the fields are ordered by name.
    pub(super) open: bool,
}

/// A field of a JSON object.
#[derive(Debug, Clone)]
pub struct Field {
    pub(super) name: Text,
    /// The name in Go: `ObjectMeta`.
    pub(super) go_name: Arc<str>,
    pub(super) ty: TypeId,
    pub(super) omit_empty: bool,
    pub(super) omit_zero: bool,
    /// Name of the struct, as errors show it: `ObjectMeta`.
    pub(super) owner: Arc<str>,
    /// The name behind those of the embedded structs around the field, as errors show it: `TypeMeta.kind`.
    pub(super) context: Arc<str>,
    pub(super) facets: Option<Arc<Facets>>,
}

/// A field of a protobuf message.
#[derive(Debug, Clone)]
pub(super) struct Member {
    pub(super) number: u32,
    /// As errors show it.
    pub(super) go_name: Arc<str>,
    pub(super) content: Content,
}

/// The place of a protobuf field in JSON.
#[derive(Debug, Clone, Copy)]
pub(super) enum Content {
    /// Index into the struct's fields.
    Field(usize),
    /// A message whose fields stand among those of its parent.
    Embedded(TypeId),
}

/// A type that has another JSON form for each of its fields, as `JSONSchemaPropsOrBool` has.
#[derive(Debug, Clone)]
pub(super) struct Union {
    /// Of several that are set in protobuf, the last counts.
    pub(super) variants: Box<[Variant]>,
    /// The error for JSON of another kind; `None` if such JSON counts as zero.
    pub(super) refusal: Option<Arc<str>>,
}

/// A field of a union.
#[derive(Debug, Clone)]
pub(super) struct Variant {
    pub(super) number: u32,
    /// As errors show it.
    pub(super) go_name: Arc<str>,
    pub(super) ty: TypeId,
}

impl Types {
    pub(super) fn new(arena: Vec<Type>, mut kinds: Vec<Root>) -> Types {
        kinds.sort();
        Types { arena: arena.into(), kinds: kinds.into() }
    }

    /// The type that bodies of `kind` in `api_version` hold.
    pub fn lookup(&self, api_version: &str, kind: &str) -> Option<TypeRef<'_>> {
        self.find(api_version, kind).map(|id| self.at(id))
    }

    /// The type that bodies of `kind` in `api_version` hold, with its arena.
    pub fn owned(self: &Arc<Self>, api_version: &str, kind: &str) -> Option<OwnedType> {
        self.find(api_version, kind).map(|id| OwnedType { types: self.clone(), id })
    }

    fn find(&self, api_version: &str, kind: &str) -> Option<TypeId> {
        let find = |api_version: &str| {
            let order = |root: &Root| (&*root.kind, &*root.api_version).cmp(&(kind, api_version));
            self.kinds.binary_search_by(order).ok()
        };
        let at = find(api_version).or_else(|| find("*"))?;
        Some(self.kinds[at].ty)
    }

    /// Every kind, with its `apiVersion` ("*": any) first.
    pub fn kinds(&self) -> impl Iterator<Item = (&str, &str)> {
        self.kinds.iter().map(|root| (&*root.api_version, &*root.kind))
    }

    fn at(&self, TypeId(index): TypeId) -> TypeRef<'_> {
        TypeRef { types: self, ty: &self.arena[index as usize] }
    }
}

impl fmt::Debug for Types {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Types of {} kinds", self.kinds.len())
    }
}

impl TypeId {
    /// # Panics
    /// Beyond 2³² types.
    pub(super) fn new(index: usize) -> TypeId {
        TypeId(u32::try_from(index).expect("fewer than 2³² types"))
    }

    pub(super) fn index(self) -> usize {
        self.0 as usize
    }
}

impl<'t> TypeRef<'t> {
    /// Another type of the same arena.
    pub(super) fn at(self, id: TypeId) -> TypeRef<'t> {
        self.types.at(id)
    }

    /// All types of the same arena.
    pub(super) fn arena(self) -> impl Iterator<Item = TypeRef<'t>> {
        self.types.arena.iter().map(move |ty| TypeRef { ty, ..self })
    }

    pub(super) fn shape(self) -> &'t Shape {
        &self.ty.shape
    }

    /// The type's name: Go's, but with the package's path where Go prints its name, as in `map[string]core/v1.Secret`.
    pub fn name(self) -> &'t str {
        &self.ty.name
    }

    /// The fields of a struct, in the order in which Go prints them; empty for other types.
    pub fn fields(self) -> &'t [Field] {
        self.as_struct().map_or(&[], |content| &content.fields)
    }

    /// The field of a struct with this JSON name.
    pub fn field(self, name: &str) -> Option<&'t Field> {
        Some(self.as_struct()?.field(name)?.1)
    }

    /// The type of a field of this type.
    pub fn of(self, field: &Field) -> TypeRef<'t> {
        self.at(field.ty)
    }

    /// The type of a list's items or of a map's values; `None` for other types.
    pub fn element(self) -> Option<TypeRef<'t>> {
        match self.shape() {
            Shape::List { element, .. } | Shape::Map(element) => Some(self.at(*element)),
            _ => None,
        }
    }

    /// The type itself, or the one that it points to.
    pub fn target(self) -> TypeRef<'t> {
        match self.shape() {
            Shape::Pointer(target) => self.at(*target),
            _ => self,
        }
    }

    /// The facets of the type.
    pub fn facets(self) -> &'t Facets {
        self.ty.facets.as_deref().unwrap_or(&NO_FACETS)
    }

    /// The type's name as Go prints it: `map[string]string`, `v1.Secret`.
    pub(super) fn go_name(self) -> String {
        let name = self.name();
        let mut printed = String::with_capacity(name.len());
        for part in name.split_inclusive(['[', ']', '*']) {
            printed.push_str(part.rsplit('/').next().unwrap_or(part));
        }
        printed
    }

    /// The kind of the type, as package `reflect` names it.
    pub fn go_kind(self) -> &'static str {
        match self.shape() {
            Shape::Bool => "bool",
            Shape::Int32 => "int32",
            Shape::Int64 => "int64",
            Shape::Float64 => "float64",
            Shape::String => "string",
            Shape::Bytes | Shape::List { .. } => "slice",
            Shape::Map(_) => "map",
            Shape::Pointer(_) => "ptr",
            Shape::Time | Shape::MicroTime | Shape::Quantity | Shape::IntOrString | Shape::Any => "struct",
            Shape::Struct(_) | Shape::Union(_) => "struct",
        }
    }

    /// The name without its package, of a named type.
    pub fn bare_name(self) -> &'t str {
        let name = self.name();
        name.rsplit('.').next().unwrap_or(name)
    }

    /// The struct's fields, for a struct.
    pub(super) fn as_struct(self) -> Option<&'t Struct> {
        match self.shape() {
            Shape::Struct(content) => Some(content),
            _ => None,
        }
    }

    /// The value of an omitted element of a list or map.
    pub(super) fn zero(self) -> Value {
        match self.shape() {
            Shape::Bool => Value::Bool(false),
            Shape::Int32 | Shape::Int64 | Shape::Float64 | Shape::IntOrString => Value::from(0),
            Shape::String | Shape::Bytes => Value::String(String::new().into()),
            Shape::Quantity => Value::from("0"),
            Shape::Struct(_) => Value::Object(Map::new()),
            Shape::Time | Shape::MicroTime | Shape::Any => Value::Null,
            Shape::Pointer(_) | Shape::List { .. } | Shape::Map(_) => Value::Null,
            Shape::Union(union) => match self.variant(union, Token::Bool) {
                Some(_) => Value::Bool(false),
                None => Value::Null,
            },
        }
    }

    /// Whether a value of this type is Go's zero value (of lists and maps: empty).
    pub fn is_zero(self, value: &Value) -> bool {
        match (self.shape(), value) {
            (_, Value::Null) => true,
            (Shape::Pointer(_) | Shape::Any | Shape::Union(_), _) => false,
            (_, Value::Bool(on)) => !on,
            (_, Value::Number(number)) => number.as_i64() == Some(0),
            (Shape::Quantity, Value::String(text)) => text == "0",
            (Shape::IntOrString, Value::String(_)) => false,
            (_, Value::String(text)) => text.is_empty(),
            (_, Value::Array(items)) => items.is_empty(),
            (_, Value::Object(fields)) => fields.is_empty(),
            (_, Value::Raw(_)) => false,
        }
    }

    /// The variant of a union of this type for JSON that begins with `token`.
    pub(super) fn variant(self, union: &'t Union, token: Token) -> Option<&'t Variant> {
        union.variants.iter().find(|variant| {
            matches!(
                (self.at(variant.ty).target().shape(), token),
                (Shape::Bool, Token::Bool) | (Shape::List { .. }, Token::Array) | (Shape::Struct(_), Token::Object)
            )
        })
    }
}

impl OwnedType {
    /// The type of custom resources: their metadata, and any other fields.
    ///
    /// # Panics
    /// Never: the definition is compiled in, and the tests use it.
    pub fn custom_resource() -> OwnedType {
        static TYPE: LazyLock<OwnedType> = LazyLock::new(|| {
            let types: Types = include_str!("custom.txt").parse().expect("the text defines types");
            Arc::new(types).owned("*", "CustomResource").expect("the text defines the kind")
        });
        TYPE.clone()
    }

    /// The type.
    pub fn get(&self) -> TypeRef<'_> {
        self.types.at(self.id)
    }
}

impl fmt::Debug for OwnedType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.get().fmt(f)
    }
}

impl fmt::Debug for TypeRef<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl Field {
    /// The field's name in JSON.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Whether Go shows the field also where it is zero, by its tags.
    pub fn is_always_shown(&self) -> bool {
        !self.omit_empty && !self.omit_zero
    }

    /// The facets of the field.
    pub fn facets(&self) -> &Facets {
        self.facets.as_deref().unwrap_or(&NO_FACETS)
    }
}

impl Struct {
    /// The field of this JSON name, and its index.
    pub(super) fn field(&self, name: &str) -> Option<(usize, &Field)> {
        let index = self.names.find(name, |index| &self.fields[index].name)?;
        Some((index, &self.fields[index]))
    }

    /// The field of this protobuf number.
    pub(super) fn member(&self, number: u32) -> Option<&Member> {
        let at = self.members.binary_search_by_key(&number, |member| member.number).ok()?;
        Some(&self.members[at])
    }
}
