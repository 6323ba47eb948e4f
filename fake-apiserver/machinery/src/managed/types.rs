//! Types for field management: the structure of a value, and how the items of a list are identified. Built-in kinds and custom
//! resources have the same ones, in the form that upstream derives from published schemas
//! (`schemaconv` of `k8s.io/kube-openapi`, `schema/elements.go` of `sigs.k8s.io/structured-merge-diff/v6`, v6.4.2).

use crate::custom::schema::Kind as CustomKind;
use crate::custom::schema::{ListType as CustomList, Node, Others};
use crate::schema::{self, Facets, ListType, Nature, TypeRef};
use tree::Value;

/// A type.
#[derive(Clone, Copy)]
pub enum Type<'t> {
    /// A Go type, with the facets of the field that has it.
    Go(TypeRef<'t>, Option<&'t Facets>),
    /// A schema of a definition.
    Custom {
        /// The schema.
        node: &'t Node,
        /// Whether unknown fields are kept, here or around it.
        preserves: bool,
        /// Whether it is an object with metadata.
        is_object: bool,
    },
    /// A scalar.
    Scalar(Scalar),
    /// Objects field by field, and whatever else as one value.
    Deduced,
    /// One value, whatever it is.
    Atomic,
}

/// A type of scalars.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scalar {
    Number,
    Text,
    Bool,
    Any,
}

/// The forms that a value of a type may have.
#[derive(Clone, Copy, Default)]
pub(super) struct Atom<'t> {
    pub(super) scalar: Option<Scalar>,
    pub(super) list: Option<List<'t>>,
    pub(super) map: Option<Map<'t>>,
}

/// The form of a value.
#[derive(Clone, Copy)]
pub(super) enum Form<'t> {
    Map(Map<'t>),
    Scalar(Scalar),
    List(List<'t>),
    /// Nothing is allowed.
    Nothing,
}

/// Upstream's error for a value of a type that allows no form.
pub(super) const NO_FORM: &str = "schema error: invalid atom: inlined";

/// A list.
#[derive(Clone, Copy)]
pub(super) struct List<'t> {
    pub(super) items: Items<'t>,
    pub(super) element: Type<'t>,
}

/// How the items of a list are identified.
#[derive(Clone, Copy)]
pub(super) enum Items<'t> {
    /// Not at all.
    Atomic,
    Set,
    ByKeys(Keys<'t>),
}

/// The names of the fields that are an item's keys.
#[derive(Clone, Copy)]
pub(super) enum Keys<'t> {
    Go(&'t [Box<str>]),
    One(&'t str),
    Custom(&'t [String]),
}

impl<'t> Keys<'t> {
    pub(super) fn iter(self) -> impl Iterator<Item = &'t str> {
        let (one, go, custom): (_, &[Box<str>], &[String]) = match self {
            Keys::One(name) => (Some(name), &[], &[]),
            Keys::Go(names) => (None, names, &[]),
            Keys::Custom(names) => (None, &[], names),
        };
        one.into_iter().chain(go.iter().map(|name| &**name)).chain(custom.iter().map(String::as_str))
    }
}

/// An object.
#[derive(Clone, Copy)]
pub(super) struct Map<'t> {
    pub(super) atomic: bool,
    pub(super) fields: Fields<'t>,
}

/// The fields of an object.
#[derive(Clone, Copy)]
pub(super) enum Fields<'t> {
    Struct(TypeRef<'t>),
    Custom {
        node: &'t Node,
        preserves: bool,
        is_object: bool,
    },
    /// Any fields, of that type.
    All(&'t Type<'t>),
    /// Any fields, of the values of a Go map.
    Values(TypeRef<'t>),
}

const DEDUCED: &Type<'static> = &Type::Deduced;
const ATOMIC: &Type<'static> = &Type::Atomic;

impl<'t> Map<'t> {
    /// The type of a declared field.
    pub(super) fn field(&self, name: &str) -> Option<Type<'t>> {
        match self.fields {
            Fields::Struct(ty) => ty.field(name).map(|field| Type::Go(ty.of(field), Some(field.facets()))),
            Fields::Custom { is_object: true, .. } if name == "metadata" => Some(Type::Go(schema::object_meta(), None)),
            Fields::Custom { is_object: true, .. } if matches!(name, "apiVersion" | "kind") => {
                Some(Type::Scalar(Scalar::Text))
            }
            Fields::Custom { node, preserves, .. } => {
                node.properties.get(name).map(|node| Type::of_node(node, preserves))
            }
            Fields::All(_) | Fields::Values(_) => None,
        }
    }

    /// The type of fields that are not declared; `None` if there must be none.
    pub(super) fn other(&self) -> Option<Type<'t>> {
        match self.fields {
            Fields::Struct(ty) if ty.fields().is_empty() => Some(Type::Deduced),
            Fields::Struct(_) => None,
            Fields::Custom { node, preserves, is_object } => match &node.others {
                Some(Others::Like(node)) => Some(Type::of_node(node, preserves)),
                Some(Others::Anything) => Some(Type::Deduced),
                Some(Others::Forbidden) => None,
                None if preserves || (node.properties.is_empty() && !is_object) => Some(Type::Deduced),
                None => None,
            },
            Fields::All(ty) => Some(*ty),
            Fields::Values(ty) => Some(Type::Go(ty, None)),
        }
    }

    /// The type of any field.
    pub(super) fn get(&self, name: &str) -> Option<Type<'t>> {
        self.field(name).or_else(|| self.other())
    }

    /// The Go struct that it is, if it is one.
    pub(super) fn as_struct(&self) -> Option<TypeRef<'t>> {
        match self.fields {
            Fields::Struct(ty) => Some(ty),
            _ => None,
        }
    }

    /// The default of a declared field.
    pub(super) fn default(&self, name: &str) -> Option<Value> {
        match self.fields {
            Fields::Struct(ty) => {
                let field = ty.field(name)?;
                field.facets().default.clone().or_else(|| {
                    // Published schemas say of fields that are always shown that their default is zero.
                    let zero = match ty.of(field).go_kind() {
                        "string" => Value::from(""),
                        "int32" | "int64" => Value::from(0),
                        "bool" => Value::from(false),
                        _ => return None,
                    };
                    field.is_always_shown().then_some(zero)
                })
            }
            Fields::Custom { node, .. } => node.properties.get(name)?.default.clone(),
            Fields::All(_) | Fields::Values(_) => None,
        }
    }

    /// Whether it declares no fields and allows unknown ones (`isUntypedDeducedMap`).
    pub(super) fn is_deduced(&self) -> bool {
        let declares = match self.fields {
            Fields::Struct(ty) => !ty.fields().is_empty(),
            Fields::Custom { node, is_object, .. } => is_object || !node.properties.is_empty(),
            Fields::All(_) | Fields::Values(_) => false,
        };
        !declares && matches!(self.other(), Some(Type::Deduced | Type::Scalar(Scalar::Any)))
    }
}

impl<'t> Type<'t> {
    /// The type of the objects of a built-in kind.
    pub fn built_in(ty: TypeRef<'t>) -> Type<'t> {
        Type::Go(ty, None)
    }

    /// The type of custom resources with this schema.
    pub fn custom(root: &'t Node) -> Type<'t> {
        Type::Custom { node: root, preserves: root.preserves_unknown, is_object: true }
    }

    fn of_node(node: &'t Node, preserves: bool) -> Type<'t> {
        Type::Custom { node, preserves: preserves || node.preserves_unknown, is_object: node.embedded }
    }

    /// The forms that a value of the type may have.
    pub(super) fn atom(self) -> Atom<'t> {
        let scalar = |scalar| Atom { scalar: Some(scalar), ..Atom::default() };
        let list = |items, element| Some(List { items, element });
        let map = |atomic, fields| Some(Map { atomic, fields });
        let untyped = || Atom {
            scalar: Some(Scalar::Any),
            list: list(Items::Atomic, Type::Atomic),
            map: map(false, Fields::All(DEDUCED)),
        };
        match self {
            Type::Scalar(kind) => scalar(kind),
            Type::Deduced => untyped(),
            Type::Atomic => Atom { map: map(true, Fields::All(ATOMIC)), ..untyped() },
            Type::Go(ty, at) => match go_form(ty, at) {
                Ok(Form::Map(map)) => Atom { map: Some(map), ..Atom::default() },
                Ok(Form::Scalar(kind)) => scalar(kind),
                Ok(Form::List(list)) => Atom { list: Some(list), ..Atom::default() },
                Ok(Form::Nothing) => Atom::default(),
                Err(any) => any.atom(),
            },
            Type::Custom { node, preserves, is_object } => {
                let element = || match &node.items {
                    Some(items) => Type::of_node(items, preserves),
                    None => Type::Atomic,
                };
                let items = || match &node.list_type {
                    CustomList::Atomic => Items::Atomic,
                    CustomList::Set => Items::Set,
                    CustomList::Map(keys) => Items::ByKeys(Keys::Custom(keys)),
                };
                let object = || map(node.atomic, Fields::Custom { node, preserves, is_object });
                match node.kinds.as_slice() {
                    [CustomKind::Object] => Atom { map: object(), ..Atom::default() },
                    [CustomKind::Array] => Atom { list: list(items(), element()), ..Atom::default() },
                    [CustomKind::Boolean] => scalar(Scalar::Bool),
                    [CustomKind::Integer | CustomKind::Number] => scalar(Scalar::Number),
                    [CustomKind::String] if node.any_scalar => scalar(Scalar::Any),
                    [CustomKind::String] => scalar(Scalar::Text),
                    _ => Atom { scalar: Some(Scalar::Any), list: list(items(), element()), map: object() },
                }
            }
        }
    }

    /// The form of a value.
    pub(super) fn form(self, value: Option<&Value>) -> Form<'t> {
        match self {
            Type::Go(ty, at) => go_form(ty, at).unwrap_or_else(|any| any.atom().form(value)),
            _ => self.atom().form(value),
        }
    }
}

impl<'t> Atom<'t> {
    /// The form of a value (`deduceAtom`, `handleAtom`).
    pub(super) fn form(&self, value: Option<&Value>) -> Form<'t> {
        match (value, *self) {
            (Some(Value::Array(_)), Atom { list: Some(list), .. }) => Form::List(list),
            (Some(Value::String(_) | Value::Number(_) | Value::Bool(_)), Atom { scalar: Some(scalar), .. }) => {
                Form::Scalar(scalar)
            }
            // Whatever else it is, this is the order in which the type's forms are tried.
            (_, Atom { map: Some(map), .. }) => Form::Map(map),
            (_, Atom { scalar: Some(scalar), .. }) => Form::Scalar(scalar),
            (_, Atom { list: Some(list), .. }) => Form::List(list),
            (_, Atom { .. }) => Form::Nothing,
        }
    }
}

/// The one form of all values of a Go type, or as the error a type that allows several.
fn go_form<'t>(ty: TypeRef<'t>, at: Option<&'t Facets>) -> Result<Form<'t>, Type<'t>> {
    let map = |atomic, fields| Form::Map(Map { atomic, fields });
    Ok(match ty.nature() {
        Nature::Bool => Form::Scalar(Scalar::Bool),
        Nature::Number => Form::Scalar(Scalar::Number),
        Nature::Text => Form::Scalar(Scalar::Text),
        Nature::Scalar => Form::Scalar(Scalar::Any),
        Nature::Untyped => return Err(Type::Deduced),
        Nature::Raw => return Err(Type::Atomic),
        Nature::AnyFields => map(false, Fields::All(DEDUCED)),
        Nature::List(element) => Form::List(List { items: go_items(ty, at), element: Type::Go(element, None) }),
        Nature::Map(values) => map(is_atomic(ty, at), Fields::Values(values)),
        Nature::Struct => map(is_atomic(ty, at), Fields::Struct(ty.target())),
    })
}

fn is_atomic(ty: TypeRef<'_>, at: Option<&Facets>) -> bool {
    at.and_then(|facets| facets.atomic).or(ty.target().facets().atomic).unwrap_or(false)
}

fn go_items<'t>(ty: TypeRef<'t>, at: Option<&'t Facets>) -> Items<'t> {
    let own = ty.target().facets();
    match at.and_then(|facets| facets.list.as_ref()).or(own.list.as_ref()) {
        Some(ListType::Atomic) => return Items::Atomic,
        Some(ListType::Set) => return Items::Set,
        Some(ListType::Map(keys)) => return Items::ByKeys(Keys::Go(keys)),
        None => {}
    }
    match at.and_then(|facets| facets.patch.as_ref()).or(own.patch.as_ref()).filter(|patch| patch.merge) {
        Some(patch) => patch.key.as_deref().map_or(Items::Set, |key| Items::ByKeys(Keys::One(key))),
        None => Items::Atomic,
    }
}
