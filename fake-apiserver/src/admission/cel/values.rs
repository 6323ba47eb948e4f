//! Objects as expressions see them: as Go's `ToUnstructured` would make them.
//!
//! Follows `SchemalessTypedToVal` of `pkg/cel/common/valuesschemalesstyped.go` of `k8s.io/apiserver` (v0.37.1).

use crate::schema::{Nature, TypeRef};
use kubernetes_cel::{Map, Parts, Value};
use tree::Value as Json;

/// The value of an object, of which expressions read these parts. In a tree of a Go type there are no zeros, which Go shows; other objects,
/// which have no type, are taken as they are.
pub(super) fn value(data: &Json, ty: Option<TypeRef<'_>>, parts: &Parts) -> Value {
    match ty {
        Some(ty) => typed(data, ty, parts),
        None => Value::of_data(data, parts),
    }
}

fn typed(data: &Json, ty: TypeRef<'_>, parts: &Parts) -> Value {
    let ty = ty.target();
    match (ty.nature(), data) {
        (Nature::Struct, Json::Object(_)) => {
            let fields = ty.fields().iter().filter_map(|field| {
                let (name, parts) = (field.name(), parts.of(field.name())?);
                Some((Value::from(name), typed(ty.shown(field, data.get(name))?, ty.of(field), parts)))
            });
            Value::Map(Map::new(fields))
        }
        (Nature::Map(element), Json::Object(fields)) => {
            let read = fields.iter().filter_map(|(name, data)| Some((name, data, parts.of(name)?)));
            Value::Map(Map::new(read.map(|(name, data, parts)| (Value::from(&**name), typed(data, element, parts)))))
        }
        (Nature::List(_), Json::Array(_)) if parts.is_nothing() => Value::from(Vec::new()),
        (Nature::List(element), Json::Array(items)) => {
            Value::from(items.iter().map(|item| typed(item, element, &Parts::Whole)).collect::<Vec<_>>())
        }
        _ => Value::of_data(data, parts),
    }
}
