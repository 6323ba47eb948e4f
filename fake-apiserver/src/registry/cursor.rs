//! A cursor for rules: a value of an object, its path and its Go type.
//!
//! A rule names a field once, for the value and for the message:
//!
//! ```ignore
//! fn spec(spec: At<'_, '_>, errors: &mut Errors) {
//!     spec.field("replicas").not_negative(errors);
//!     spec.field("strategy.type").one_of(&["Recreate", "RollingUpdate"], errors);
//!     for container in spec.field("template.spec.containers").items() {
//!         container.field("image").set(errors);
//!         for (name, limit) in container.field("resources.limits").entries() {
//!             limit.invalid(format!("{name} cannot be limited"), errors);
//!         }
//!     }
//! }
//! ```
//!
//! The cursor of a whole object comes from [`At::object`]; rules for a Go type that several kinds hold take one of such a value. Dots
//! in a name descend, also through what is absent: that is a cursor of `null`. Descend as far as a variable needs at once
//! (`let update = at.field("strategy.rollingUpdate");`), for a cursor borrows the one that it comes from; values do not.
//!
//! In debug builds, a name that the Go type does not have panics, and so does asking for the items of a value that is not a list. For
//! rules that no test reaches, a test checks the names in all files of `registry/`. Errors show values as Go does: structs with the
//! fields of the internal type, and absent values as Go's zero. A rule of upstream's that shows another value uses
//! [`At::invalid_value`]; one that reports another path than the value's uses [`At::shown_at`].

use crate::error::{Errors, FieldError, Path};
use crate::object::difference::difference;
use crate::object::generation;
use crate::object::validate::IMMUTABLE;
use crate::schema::{Nature, TypeRef, lookup};
use std::ops::RangeInclusive;
use std::sync::Arc;
use tree::Value;

static NULL: Value = Value::Null;

/// A value of an object, its path and its type.
#[derive(Debug, Clone, Copy)]
pub(in crate::registry) struct At<'p, 'v> {
    value: &'v Value,
    path: Path<'p>,
    ty: Typed<'p, 'v>,
}

/// The type of a value. Most rules do not ask for it, so that of a field is not looked up before.
#[derive(Debug, Clone, Copy)]
enum Typed<'p, 'v> {
    /// `None` within JSON of any kind.
    Known(Option<TypeRef<'v>>),
    /// That of a field of a type; dots descend.
    Field(TypeRef<'v>, &'p str),
}

impl<'v> At<'static, 'v> {
    /// A whole object of that kind, whose path is empty.
    ///
    /// # Panics
    /// If there is no such kind.
    pub(in crate::registry) fn object(object: &'v Value, api_version: &str, kind: &str) -> Self {
        let ty = lookup(api_version, kind);
        At {
            value: object,
            path: Path::ROOT,
            ty: Typed::Known(Some(ty.unwrap_or_else(|| panic!("no kind {kind} in {api_version}")))),
        }
    }
}

impl<'p, 'v> At<'p, 'v> {
    /// A whole object of a type, whose path is empty.
    pub(in crate::registry) fn new(object: &'v Value, ty: TypeRef<'v>) -> Self {
        At { value: object, path: Path::ROOT, ty: Typed::Known(Some(ty)) }
    }

    /// A value of no type of its own, such as a key of a map.
    pub(in crate::registry) fn untyped(value: &'v Value, path: Path<'p>) -> Self {
        At { value, path, ty: Typed::Known(None) }
    }
}

/// Ways to other values.
#[allow(dead_code, reason = "not every value has its rule yet")]
impl<'p, 'v> At<'p, 'v> {
    /// A field of the value; dots descend.
    ///
    /// # Panics
    /// In debug builds, if the Go type has no such field.
    pub(in crate::registry) fn field<'c>(&'c self, name: &'c str) -> At<'c, 'v> {
        let value = name.split('.').fold(self.value, child);
        let ty = self.ty().map_or(Typed::Known(None), |owner| Typed::Field(owner, name));
        if cfg!(debug_assertions) {
            ty.find();
        }
        At { value, path: self.path.child(name), ty }
    }

    /// The items of a list.
    ///
    /// # Panics
    /// In debug builds, if the Go type is not a slice.
    pub(in crate::registry) fn items<'c>(&'c self) -> impl ExactSizeIterator<Item = At<'c, 'v>> {
        let ty = Typed::Known(element_type(self.ty(), "slice"));
        let items = self.value.as_array().map(Vec::as_slice).unwrap_or_default();
        items.iter().enumerate().map(move |(index, value)| At { value, path: self.path.index(index), ty })
    }

    /// The entries of a map, in the order of their keys.
    ///
    /// # Panics
    /// In debug builds, if the Go type is not a map.
    pub(in crate::registry) fn entries<'c>(&'c self) -> impl Iterator<Item = (&'v str, At<'c, 'v>)> {
        let ty = Typed::Known(element_type(self.ty(), "map"));
        let entries = self.value.as_object().into_iter().flatten();
        entries.map(move |(key, value)| (key.as_str(), At { value, path: self.path.key(key), ty }))
    }

    /// The same value, with another path in findings.
    pub(in crate::registry) fn shown_at<'c>(self, path: Path<'c>) -> At<'c, 'v> {
        At { path, ty: Typed::Known(self.ty()), value: self.value }
    }
}

/// The value.
#[allow(dead_code, reason = "not every value has its rule yet")]
impl<'p, 'v> At<'p, 'v> {
    /// Its Go type; `None` within JSON of any kind.
    pub(in crate::registry) fn ty(&self) -> Option<TypeRef<'v>> {
        self.ty.find()
    }

    /// Its path in findings.
    pub(in crate::registry) fn path(&self) -> Path<'p> {
        self.path
    }

    /// The texts that the value has, by their keys.
    pub(in crate::registry) fn texts(&self) -> impl Iterator<Item = (&'v str, &'v str)> {
        let fields = self.value.as_object().into_iter().flatten();
        fields.filter_map(|(key, value)| Some((key.as_str(), value.as_str()?)))
    }

    /// The value itself; `null` if it is absent.
    pub(in crate::registry) fn value(&self) -> &'v Value {
        self.value
    }

    /// Whether it is there.
    pub(in crate::registry) fn is_set(&self) -> bool {
        !self.value.is_null()
    }

    /// A text; "" if there is none.
    pub(in crate::registry) fn text(&self) -> &'v str {
        self.value.as_str().unwrap_or_default()
    }

    /// A number.
    pub(in crate::registry) fn number(&self) -> Option<i64> {
        self.value.as_i64()
    }

    /// Whether it is `true`.
    pub(in crate::registry) fn flag(&self) -> bool {
        *self.value == Value::Bool(true)
    }

    /// The number of items or entries.
    pub(in crate::registry) fn len(&self) -> usize {
        match self.value {
            Value::Array(items) => items.len(),
            Value::Object(entries) => entries.len(),
            _ => 0,
        }
    }

    /// Whether it is Go's zero, or a list or map without anything in it.
    pub(in crate::registry) fn is_empty(&self) -> bool {
        match self.value {
            Value::Null => true,
            Value::String(text) => text.is_empty(),
            Value::Array(_) | Value::Object(_) => self.len() == 0,
            _ => false,
        }
    }

    /// The value as findings show it.
    pub(in crate::registry) fn printed(&self) -> String {
        match self.ty() {
            Some(ty) => ty.printed(self.value),
            None => crate::schema::encode_any(self.value),
        }
    }

    /// The fields of a struct that is embedded in its type, as findings show them.
    pub(in crate::registry) fn printed_embedded(&self, embedded: &str) -> String {
        self.ty().map(|ty| ty.printed_embedded(self.value, embedded)).unwrap_or_default()
    }
}

/// Findings about the value.
#[allow(dead_code, reason = "not every finding has its rule yet")]
impl At<'_, '_> {
    /// The field must be set.
    pub(in crate::registry) fn required(&self, detail: &str, errors: &mut Errors) {
        errors.required(self.path, detail);
    }

    /// The value breaks a rule.
    pub(in crate::registry) fn invalid(&self, detail: impl Into<Arc<str>>, errors: &mut Errors) {
        errors.push(FieldError::invalid_printed(self.path, self.printed(), detail));
    }

    /// The value breaks a rule, and the finding shows another one.
    pub(in crate::registry) fn invalid_value(
        &self,
        shown: impl Into<Value>,
        detail: impl Into<Arc<str>>,
        errors: &mut Errors,
    ) {
        errors.invalid(self.path, shown, detail);
    }

    /// The field must not be set, or not to this value.
    pub(in crate::registry) fn forbidden(&self, detail: impl Into<Arc<str>>, errors: &mut Errors) {
        errors.forbidden(self.path, detail);
    }

    /// The value occurs twice.
    pub(in crate::registry) fn duplicate(&self, errors: &mut Errors) {
        errors.push(FieldError::duplicate(self.path, self.value).printed_as(self.printed()));
    }

    /// The value occurs twice, and must not for a reason.
    pub(in crate::registry) fn duplicate_because(&self, detail: &str, errors: &mut Errors) {
        errors.push(FieldError::duplicate(self.path, self.value).printed_as(self.printed()).with_detail(detail));
    }

    /// The value refers to something that does not exist.
    pub(in crate::registry) fn not_found(&self, errors: &mut Errors) {
        errors.push(FieldError::not_found(self.path, self.value).printed_as(self.printed()));
    }

    /// The value is not one of those.
    pub(in crate::registry) fn unsupported(&self, supported: &[&str], errors: &mut Errors) {
        errors.push(FieldError::unsupported(self.path, self.value, supported).printed_as(self.printed()));
    }
}

/// Rules that several kinds have.
#[allow(dead_code, reason = "not every rule has its kind yet")]
impl<'v> At<'_, 'v> {
    /// Something must be there.
    pub(in crate::registry) fn set(&self, errors: &mut Errors) {
        if self.is_empty() {
            self.required("", errors);
        }
    }

    /// A text must be one of `supported`.
    pub(in crate::registry) fn supported(&self, supported: &[&str], errors: &mut Errors) {
        if !supported.contains(&self.text()) {
            self.unsupported(supported, errors);
        }
    }

    /// A text must be set, to one of `supported`.
    pub(in crate::registry) fn one_of(&self, supported: &[&str], errors: &mut Errors) {
        match self.text() {
            "" => self.required("", errors),
            _ => self.supported(supported, errors),
        }
    }

    /// A text must satisfy a rule, of which each objection is a finding.
    pub(in crate::registry) fn follows(&self, rule: fn(&str) -> Vec<String>, errors: &mut Errors) {
        errors.invalid_each(self.path, self.text(), rule(self.text()));
    }

    /// A text must satisfy a rule unless it is empty.
    pub(in crate::registry) fn optional(&self, rule: fn(&str) -> Vec<String>, errors: &mut Errors) {
        errors.optional(self.path, self.text(), rule);
    }

    /// A text must be set and satisfy a rule.
    pub(in crate::registry) fn required_by(&self, rule: fn(&str) -> Vec<String>, errors: &mut Errors) {
        match self.text() {
            "" => self.required("", errors),
            _ => self.follows(rule, errors),
        }
    }

    /// A number must not be negative (`ValidateNonnegativeField`).
    pub(in crate::registry) fn not_negative(&self, errors: &mut Errors) {
        errors.not_negative(self.path, self.number());
    }

    /// A number must lie between two others.
    pub(in crate::registry) fn between(&self, range: RangeInclusive<i64>, errors: &mut Errors) {
        if self.number().is_some_and(|number| !range.contains(&number)) {
            self.invalid(format!("must be between {} and {}, inclusive", range.start(), range.end()), errors);
        }
    }

    /// Checks that the value has not changed (`ValidateImmutableField`).
    pub(in crate::registry) fn immutable(&self, old: &At<'_, '_>, errors: &mut Errors) {
        if !self.equals(old) {
            self.invalid(IMMUTABLE, errors);
        }
    }

    /// The difference from an `old` value in a message (`diff.Diff`).
    pub(in crate::registry) fn difference_from(&self, old: &At<'_, '_>) -> String {
        difference(&old.printed(), &self.printed())
    }

    /// Whether another value is the same to Go (`apiequality.Semantic.DeepEqual`).
    pub(in crate::registry) fn equals(&self, other: &At<'_, '_>) -> bool {
        generation::equal_as(self.ty(), Some(self.value), Some(other.value))
    }
}

impl<'v> Typed<'_, 'v> {
    /// The type.
    ///
    /// # Panics
    /// In debug builds, if the Go type has no such field.
    fn find(self) -> Option<TypeRef<'v>> {
        match self {
            Typed::Known(ty) => ty,
            Typed::Field(owner, name) => name.split('.').fold(Some(owner), field_type),
        }
    }
}

/// The value of a field, `null` without one.
fn child<'v>(value: &'v Value, name: &str) -> &'v Value {
    value.get(name).unwrap_or(&NULL)
}

fn field_type<'t>(ty: Option<TypeRef<'t>>, name: &str) -> Option<TypeRef<'t>> {
    let ty = typed(ty)?;
    let found = ty.field(name).map(|field| ty.of(field));
    debug_assert!(found.is_some(), "{ty:?} has no field {name}");
    found
}

/// The type of the items or values of a type, which must be of that kind.
fn element_type<'t>(ty: Option<TypeRef<'t>>, kind: &str) -> Option<TypeRef<'t>> {
    let ty = typed(ty)?;
    debug_assert_eq!(ty.go_kind(), kind, "{ty:?}");
    ty.element()
}

/// The type that a value really has; `None` if that is JSON of any kind.
fn typed(ty: Option<TypeRef<'_>>) -> Option<TypeRef<'_>> {
    let ty = ty?.target();
    let any = matches!(ty.nature(), Nature::Untyped | Nature::Raw | Nature::AnyFields);
    (!any).then_some(ty)
}

#[cfg(test)]
mod tests;
