//! The strategic merge patch of three objects: for built-in kinds, whose types say how lists are merged.
//!
//! Follows `CreateThreeWayMergePatch` of `pkg/util/strategicpatch/patch.go` (k8s.io/apimachinery v0.37.1): what differs between the present object
//! and the described one, and what was described last and is not any more.

use super::fields;
use machinery::schema::{PatchStrategy, TypeRef};
use tree::{Map, Value, json};

/// The directives.
const DIRECTIVE: &str = "$patch";
const RETAINED: &str = "$retainKeys";

/// The three objects, or the same part of them.
#[derive(Clone, Copy)]
struct Three<'v> {
    /// The one that was applied last.
    original: &'v Value,
    /// The one that is described.
    modified: &'v Value,
    /// The present one.
    current: &'v Value,
}

/// The patch that makes of the present object what `modified` describes, and removes what only `original` has.
pub(super) fn patch(original: &Value, modified: &Value, current: &Value, ty: TypeRef<'_>) -> Map {
    of_objects(Three { original, modified, current }, Some(ty))
}

impl<'v> Three<'v> {
    fn field(self, name: &str) -> Three<'v> {
        let of = |value: &'v Value| value.get(name).unwrap_or(&Value::Null);
        Three { original: of(self.original), modified: of(self.modified), current: of(self.current) }
    }

    /// The items with a key, of three lists.
    fn item(self, key: &str, value: &Value) -> Three<'v> {
        let of = |list: &'v Value| {
            let found = list.as_array().and_then(|items| items.iter().find(|item| item.get(key) == Some(value)));
            found.unwrap_or(&Value::Null)
        };
        Three { original: of(self.original), modified: of(self.modified), current: of(self.current) }
    }
}

/// The type of a field or of a map's value, and how it is merged.
fn typed<'t>(ty: Option<TypeRef<'t>>, name: &str) -> (Option<TypeRef<'t>>, Option<&'t PatchStrategy>) {
    let Some(ty) = ty.map(TypeRef::target) else { return (None, None) };
    match ty.field(name) {
        Some(field) => (Some(ty.of(field)), field.facets().patch.as_ref()),
        None => (ty.element().filter(|_| ty.go_kind() == "map"), None),
    }
}

fn of_objects(three: Three<'_>, ty: Option<TypeRef<'_>>) -> Map {
    let mut patch = Map::new();
    for (name, value) in fields(three.modified) {
        let (ty, strategy) = typed(ty, name);
        let part = three.field(name);
        match (value, strategy) {
            (Value::Object(_), _) if part.current.is_object() => {
                let change = of_parts(part, ty, strategy);
                if !change.is_empty() {
                    patch.insert(name.clone(), Value::Object(change));
                }
            }
            (Value::Array(items), Some(strategy)) if strategy.merge => {
                of_lists(part, (name, items), ty, strategy, &mut patch);
            }
            _ if value == part.current || (value.is_null() && part.current.is_null()) => {}
            _ => {
                patch.insert(name.clone(), value.clone());
            }
        }
    }
    let is_gone = |name: &str| fields(three.modified).get(name).is_none();
    for (name, _) in fields(three.original).iter().filter(|(name, _)| is_gone(name)) {
        patch.insert(name.clone(), Value::Null);
    }
    patch
}

/// The patch of an object within one.
fn of_parts(part: Three<'_>, ty: Option<TypeRef<'_>>, strategy: Option<&PatchStrategy>) -> Map {
    if strategy.is_some_and(|strategy| !strategy.merge && !strategy.retain_keys) {
        if part.modified == part.current {
            return Map::new();
        }
        let mut whole = fields(part.modified).clone();
        whole.insert(DIRECTIVE.into(), "replace".into());
        return whole;
    }
    let mut change = of_objects(part, ty);
    if !change.is_empty() && strategy.is_some_and(|strategy| strategy.retain_keys) {
        change.insert(RETAINED.into(), names(part.modified));
    }
    change
}

/// The names of an object's fields, in order.
fn names(object: &Value) -> Value {
    let mut names: Vec<&str> = fields(object).keys().map(|name| &**name).collect();
    names.sort_unstable();
    names.into_iter().map(Value::from).collect()
}

/// The patch of a list that is merged, with what belongs to it in the object around.
fn of_lists(
    part: Three<'_>,
    (name, items): (&str, &[Value]),
    ty: Option<TypeRef<'_>>,
    strategy: &PatchStrategy,
    patch: &mut Map,
) {
    let Three { original, current, .. } = part;
    let list = |value: &Value| value.as_array().cloned().unwrap_or_default();
    let mut changes = Vec::new();
    let order: Vec<Value>;
    let present: Vec<Value>;
    match strategy.key.as_deref() {
        Some(key) if items.iter().all(|item| item.get(key).is_some()) => {
            let element = ty.map(TypeRef::target).and_then(TypeRef::element);
            let named = |item: &Value| Value::from_iter([(key, item.get(key).cloned().unwrap_or_default())]);
            for item in items {
                changes.extend(of_item(part, (key, item), element, strategy));
            }
            let stays = |gone: &Value| items.iter().any(|item| item.get(key) == gone.get(key));
            for gone in list(original).iter().filter(|gone| gone.get(key).is_some() && !stays(gone)) {
                changes.push(json!({key: gone[key].clone(), DIRECTIVE: "delete"}));
            }
            order = items.iter().map(named).collect();
            present = list(current).iter().map(named).collect();
        }
        // No server could merge them.
        Some(_) => {
            patch.insert(name.into(), items.to_vec().into());
            return;
        }
        None => {
            let now = list(current);
            changes.extend(items.iter().filter(|item| !now.contains(item)).cloned());
            let gone: Vec<Value> = list(original).into_iter().filter(|gone| !items.contains(gone)).collect();
            if !gone.is_empty() {
                patch.insert(format!("$deleteFromPrimitiveList/{name}").into(), gone.into());
            }
            order = items.to_vec();
            present = now;
        }
    }
    let kept: Vec<&Value> = present.iter().filter(|item| order.contains(item)).collect();
    if !changes.is_empty() || !kept.into_iter().eq(order.iter()) {
        patch.insert(format!("$setElementOrder/{name}").into(), order.into());
    }
    if !changes.is_empty() {
        patch.insert(name.into(), changes.into());
    }
}

/// The patch of an item with a key; `None` if it is as it should be.
fn of_item(
    part: Three<'_>,
    (key, item): (&str, &Value),
    element: Option<TypeRef<'_>>,
    strategy: &PatchStrategy,
) -> Option<Value> {
    let three = part.item(key, &item[key]);
    if three.current.is_null() {
        return Some(item.clone());
    }
    // An item that occurs twice is compared with the first one.
    let three = Three { modified: item, ..three };
    let mut change = of_objects(three, element);
    if change.is_empty() {
        return None;
    }
    change.insert(key.into(), item[key].clone());
    if strategy.retain_keys {
        change.insert(RETAINED.into(), names(item));
    }
    Some(Value::Object(change))
}

#[cfg(test)]
mod tests {
    use super::*;
    use machinery::schema::lookup;

    fn of(kind: (&str, &str), original: &Value, modified: &Value, current: &Value) -> Value {
        Value::Object(patch(original, modified, current, lookup(kind.0, kind.1).unwrap()))
    }

    const DEPLOYMENT: (&str, &str) = ("apps/v1", "Deployment");

    fn deployment(containers: Value, strategy: &Value) -> Value {
        json!({"spec": {"strategy": strategy.clone(), "template": {"spec": {"containers": containers}}}})
    }

    #[test]
    fn lists_are_merged_by_their_keys() {
        let none = json!({"type": "Recreate"});
        let original = deployment(json!([{"name": "a", "image": "x"}, {"name": "b"}]), &none);
        let modified = deployment(json!([{"name": "c"}, {"name": "a", "image": "y"}]), &none);
        let current =
            deployment(json!([{"name": "a", "image": "x", "tty": true}, {"name": "b"}, {"name": "z"}]), &none);
        let expected = json!({"spec": {"template": {"spec": {
            "$setElementOrder/containers": [{"name": "c"}, {"name": "a"}],
            "containers": [{"name": "c"}, {"name": "a", "image": "y"}, {"name": "b", "$patch": "delete"}],
        }}}});
        assert_eq!(of(DEPLOYMENT, &original, &modified, &current), expected);
        assert_eq!(of(DEPLOYMENT, &modified, &modified, &modified), json!({}));
    }

    #[test]
    fn keys_are_retained_where_the_type_says_so() {
        let containers = json!([{"name": "a"}]);
        let current =
            deployment(containers.clone(), &json!({"type": "RollingUpdate", "rollingUpdate": {"maxSurge": 1}}));
        let modified = deployment(containers, &json!({"type": "Recreate"}));
        let expected = json!({"spec": {"strategy": {"type": "Recreate", "$retainKeys": ["type"]}}});
        assert_eq!(of(DEPLOYMENT, &json!({}), &modified, &current), expected);
    }

    #[test]
    fn scalars_maps_and_removals() {
        let object = |finalizers: Value, data: Value| json!({"metadata": {"finalizers": finalizers}, "data": data});
        let original = object(json!(["a", "b"]), json!({"x": "1", "y": "2"}));
        let modified = object(json!(["b", "c"]), json!({"y": "3", "z": "4"}));
        let current = object(json!(["a", "b"]), json!({"x": "1", "y": "2"}));
        let expected = json!({
            "metadata": {
                "$deleteFromPrimitiveList/finalizers": ["a"],
                "$setElementOrder/finalizers": ["b", "c"],
                "finalizers": ["c"],
            },
            "data": {"x": null, "y": "3", "z": "4"},
        });
        assert_eq!(of(("v1", "ConfigMap"), &original, &modified, &current), expected);
    }
}
