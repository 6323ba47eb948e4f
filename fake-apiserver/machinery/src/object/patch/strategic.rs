//! Strategic merge patch: a merge patch that knows which lists are merged, and by which key, from the types of Go's structs.
//!
//! A port of `StrategicMergeMapPatch` of `pkg/util/strategicpatch/patch.go` (k8s.io/apimachinery v0.37.1). Fields are taken by name
//! where upstream goes through a map in no order.

use super::go_print::{print, type_name};
use super::ordered_lists::{Key, Places, arrange, delete_scalars, first_places, union};
use super::refusal::{Refusal, no_key, not_a, not_a_map, unknown_directive, untyped};
use crate::schema::{PatchStrategy, TypeRef};
use std::collections::HashSet;
use tree::{Map, Text, Value};

/// The media type of strategic merge patches.
pub const MEDIA_TYPE: &str = "application/strategic-merge-patch+json";

/// The directive of an object in a patch: merge, replace or delete.
const DIRECTIVE: &str = "$patch";
/// With a field's name after a slash: the scalars to remove from that list.
const DELETIONS: &str = "$deleteFromPrimitiveList";
/// With a field's name after a slash: the order of that list's items.
const ORDER: &str = "$setElementOrder";
/// The names of the fields to keep; all others are removed.
const RETAINED: &str = "$retainKeys";

type Fields = Map;

/// Applies a patch to a document of that type. Directives that were applied are removed from the patch, as later messages show it
/// without them.
///
/// # Errors
/// If the patch contradicts itself or the type, or merges lists that cannot be merged.
pub fn apply(document: Value, patch: &mut Value, ty: TypeRef<'_>) -> Result<Value, Refusal> {
    match (document, patch) {
        (Value::Object(document), Value::Object(patch)) => merge(document, patch, ty).map(Value::Object),
        (document, _) => Ok(document),
    }
}

/// The type of a field, and how it is merged (`LookupPatchMetadataForStruct`).
fn field<'t>(ty: TypeRef<'t>, name: &str) -> Result<(TypeRef<'t>, Option<&'t PatchStrategy>), Refusal> {
    let ty = ty.target();
    if ty.go_kind() != "struct" {
        let kind = ty.go_kind();
        return untyped(format!("merging an object in json but data type is not struct, instead is: {kind}"));
    }
    let folded = || ty.fields().iter().find(|field| field.name().eq_ignore_ascii_case(name));
    match ty.field(name).or_else(folded) {
        Some(field) => Ok((ty.of(field), field.facets().patch.as_ref())),
        None => {
            let bare = ty.bare_name();
            untyped(format!("unable to find api field in struct {bare} for the json field {name:?}"))
        }
    }
}

/// The type of a list's items, and how it is merged (`LookupPatchMetadataForSlice`).
fn list<'t>(ty: TypeRef<'t>, name: &str) -> Result<(TypeRef<'t>, Option<&'t PatchStrategy>), Refusal> {
    let (list, strategy) = field(ty, name)?;
    match list.target().element().filter(|_| list.target().go_kind() == "slice") {
        Some(element) => Ok((element, strategy)),
        None => untyped(format!("expected slice or array type, but got: {}", ty.target().go_kind())),
    }
}

/// Whether the strategy is to replace.
fn replaces(strategy: Option<&PatchStrategy>) -> bool {
    strategy.is_some_and(|strategy| !strategy.merge && !strategy.retain_keys)
}

/// The name of the field behind a directive; `None`, if the directive is another one.
fn behind<'k>(key: &'k str, directive: &str, list: &'static str) -> Result<Option<&'k str>, Refusal> {
    if !key.starts_with(directive) {
        return Ok(None);
    }
    match key.split_once('/') {
        Some((found, name)) if found == directive => Ok(Some(name)),
        _ => Err(Refusal::Format(list)),
    }
}

/// `mergeMap`.
fn merge(mut original: Fields, patch: &mut Fields, ty: TypeRef<'_>) -> Result<Fields, Refusal> {
    if let Some(directive) = patch.get(DIRECTIVE) {
        return match directive.as_str() {
            Some("replace") => {
                patch.remove(DIRECTIVE);
                Ok(patch.clone())
            }
            Some("delete") => Ok(Fields::new()),
            _ => unknown_directive(directive, patch),
        };
    }
    retain(&mut original, patch)?;
    merge_in_order(&mut original, patch, ty)?;
    for (key, change) in patch.iter_mut() {
        let deletes = behind(key, DELETIONS, "primitive list")?;
        let name = deletes.unwrap_or(key);
        if change.is_null() {
            original.remove(name);
            continue;
        }
        match (original.get_mut(name), change) {
            (Some(Value::Object(old)), Value::Object(change)) => {
                let (ty, strategy) = field(ty, name)?;
                *old = if replaces(strategy) { change.clone() } else { merge(std::mem::take(old), change, ty)? };
            }
            (Some(Value::Array(old)), Value::Array(change)) => {
                let (element, strategy) = list(ty, name)?;
                *old = merge_lists(std::mem::take(old), change, element, strategy, deletes.is_some())?;
            }
            (old, change) => {
                let is_same_type = old.is_some_and(|old| type_name(old) == type_name(change));
                if deletes.is_none() || is_same_type {
                    put(&mut original, name, change);
                }
            }
        }
    }
    Ok(original)
}

/// Takes a value of a patch as it is, but for directives and fields that are null.
fn put(original: &mut Fields, name: &str, change: &mut Value) {
    discard_nulls(change);
    match remove_directives(change) {
        true => original.insert(name.into(), change.clone()),
        false => original.remove(name),
    };
}

fn discard_nulls(value: &mut Value) {
    match value {
        Value::Object(fields) => {
            fields.retain(|_, value| !value.is_null());
            fields.values_mut().for_each(discard_nulls);
        }
        Value::Array(items) => items.iter_mut().for_each(discard_nulls),
        _ => {}
    }
}

/// False, if the value itself is a directive.
fn remove_directives(value: &mut Value) -> bool {
    match value {
        Value::Object(fields) if fields.contains_key(DIRECTIVE) => return false,
        Value::Object(fields) => fields.retain(|_, value| remove_directives(value)),
        Value::Array(items) => items.retain_mut(remove_directives),
        _ => {}
    }
    true
}

/// Removes the fields that `$retainKeys` does not name. All fields that the patch sets must be among these.
fn retain(original: &mut Fields, patch: &mut Fields) -> Result<(), Refusal> {
    let Some(retained) = patch.remove(RETAINED) else { return Ok(()) };
    let Value::Array(retained) = retained else { return Err(Refusal::Format("retainKeys")) };
    let retained: HashSet<&str> = retained.iter().filter_map(Value::as_str).collect();
    let is_set =
        |(key, value): &(&Text, &Value)| !value.is_null() && !key.starts_with(DELETIONS) && !key.starts_with(ORDER);
    if patch.iter().filter(is_set).any(|(key, _)| !retained.contains(&**key)) {
        return Err(Refusal::Format("retainKeys"));
    }
    original.retain(|key, _| retained.contains(&**key));
    Ok(())
}

/// Merges the lists whose order the patch sets, and takes them out of it (`mergePatchIntoOriginal`).
fn merge_in_order(original: &mut Fields, patch: &mut Fields, ty: TypeRef<'_>) -> Result<(), Refusal> {
    let orders: Vec<Text> = patch.keys().filter(|key| key.starts_with(ORDER)).cloned().collect();
    for directive in orders {
        let order = match patch.remove(&directive).unwrap_or_default() {
            Value::Array(order) => order,
            other => return not_a("[]interface {}", &other),
        };
        let Some(name) = behind(&directive, ORDER, "setElementOrder list")? else { continue };
        let [old, change] = [original.remove(name), patch.remove(name)].map(|list| match list {
            None => Ok(None),
            Some(Value::Array(items)) => Ok(Some(items)),
            Some(other) => not_a("[]interface {}", &other),
        });
        let (old, change) = (old?, change?);
        let (element, strategy) = list(ty, name)?;
        let key = strategy.and_then(|strategy| strategy.key.as_deref());
        check_order(change.as_deref().unwrap_or_default(), &order, key)?;
        let has_maps = has_maps(&[old.as_deref().unwrap_or_default(), change.as_deref().unwrap_or_default()]);
        let before = first_places(old.as_deref().unwrap_or_default(), key.filter(|_| has_maps == Ok(true)));
        // Maps without a key cannot be put in the order that they had.
        let keyless =
            old.as_deref().and_then(<[Value]>::first).filter(|_| key.is_none() && has_maps == Ok(true)).cloned();
        let merged = match (old, change) {
            (None, None) => continue,
            (Some(old), None) => old,
            (None, Some(change)) => {
                let mut added = Value::Array(change);
                remove_directives(&mut added);
                added.as_array().cloned().unwrap_or_default()
            }
            (Some(old), Some(mut change)) => merge_lists(old, &mut change, element, strategy, false)?,
        };
        // Go panics there, and the client gets no answer.
        if key.is_none() && order.iter().chain(&merged).any(|item| item.is_object() || item.is_array()) {
            return untyped("runtime error: hash of unhashable type map[string]interface {}");
        }
        if let Some(item) = keyless {
            return no_key(&item, "");
        }
        if let Some(key) = key {
            merged.iter().try_for_each(|item| Key::of(item, Some(key)).map(drop))?;
            if let Some(at) = order.iter().position(|item| !item.is_object()).filter(|_| !merged.is_empty()) {
                return untyped(format!("value for key {at} is not a map"));
            }
        }
        let has_maps = has_maps?;
        let key = key.filter(|_| has_maps);
        order.iter().try_for_each(|item| Key::of(item, key).map(drop))?;
        let arranged = arrange(merged, &first_places(&order, key), &before, key)?;
        original.insert(name.into(), Value::Array(arranged));
    }
    Ok(())
}

/// The items of a patch must be in the order that it sets (`validatePatchWithSetOrderList`).
fn check_order(items: &[Value], order: &[Value], key: Option<&str>) -> Result<(), Refusal> {
    if items.is_empty() || order.is_empty() {
        return Ok(());
    }
    if let Some(item) = items.iter().find(|item| key.is_some() && !item.is_object()) {
        return not_a_map(item);
    }
    let is_deleted = |item: &Value| key.is_some() && item.get(DIRECTIVE).is_some_and(|directive| directive == "delete");
    let mut rest = items.iter().filter(|item| !is_deleted(item)).peekable();
    let mut places = order.iter().peekable();
    // Other directives are passed over only as long as there are places.
    while let (Some(item), Some(place)) = (rest.peek(), places.peek()) {
        let is_directive = item.get(DIRECTIVE).is_some();
        if is_directive || Key::of(item, key)? == Key::of(place, key)? {
            rest.next();
        }
        if !is_directive {
            places.next();
        }
    }
    match rest.next() {
        None => Ok(()),
        Some(_) => untyped(format!(
            "The order in patch list:\n{}\n doesn't match {ORDER} list:\n{}\n",
            print(&items.into()),
            print(&order.into())
        )),
    }
}

/// `mergeSliceHandler`.
fn merge_lists(
    original: Vec<Value>,
    patch: &mut [Value],
    element: TypeRef<'_>,
    strategy: Option<&PatchStrategy>,
    deletes: bool,
) -> Result<Vec<Value>, Refusal> {
    if !deletes && !strategy.is_some_and(|strategy| strategy.merge) {
        return Ok(patch.to_vec());
    }
    if original.is_empty() && patch.is_empty() {
        return Ok(original);
    }
    let key = strategy.and_then(|strategy| strategy.key.as_deref());
    if has_maps(&[&original, patch])? {
        let Some(key) = key else {
            return untyped(format!("cannot merge lists without merge key for {}", element.go_kind()));
        };
        return merge_maps(original, patch, element, key);
    }
    if deletes {
        return Ok(delete_scalars(original, patch));
    }
    let (order, before) = (first_places(patch, None), first_places(&original, None));
    let merged = union(original, patch);
    if let Some(item) = merged.first().filter(|_| key.is_some()) {
        return not_a_map(item);
    }
    arrange(merged, &order, &before, None)
}

/// Whether the items are objects. All must be of one type, and none may be a list (`sliceElementType`).
fn has_maps(lists: &[&[Value]]) -> Result<bool, Refusal> {
    let mut items = lists.iter().copied().flatten();
    let Some(first) = items.next() else { return untyped("no elements in any of the given slices") };
    if first.is_array() {
        return Err(Refusal::ListOfLists);
    }
    if items.any(|item| type_name(item) != type_name(first)) {
        let shown: Vec<String> = lists.iter().map(|list| print(&(*list).into())).collect();
        return untyped(format!("list element types are not identical: [{}]", shown.join(" ")));
    }
    Ok(first.is_object())
}

/// Merges lists of objects by a key (`mergeSlice`).
fn merge_maps(
    mut original: Vec<Value>,
    patch: &mut [Value],
    element: TypeRef<'_>,
    key: &str,
) -> Result<Vec<Value>, Refusal> {
    let (mut deleted, mut replaced) = (HashSet::new(), false);
    for item in patch.iter() {
        match (item.get(DIRECTIVE), item.as_object()) {
            (Some(Value::String(directive)), _) if directive == "delete" => {
                deleted.extend(Key::of(item, Some(key))?);
            }
            (Some(Value::String(directive)), _) if directive == "replace" => replaced = true,
            (Some(Value::String(directive)), _) if directive == "merge" => {
                return untyped("merging lists cannot yet be specified in the patch");
            }
            (Some(directive), Some(fields)) => return unknown_directive(directive, fields),
            _ => {}
        }
    }
    let mut changes: Vec<&mut Value> = patch.iter_mut().filter(|item| item.get(DIRECTIVE).is_none()).collect();
    if replaced {
        original = changes.drain(..).map(|item| item.clone()).collect();
    } else if !deleted.is_empty() {
        original.retain(|item| !matches!(Key::of(item, Some(key)), Ok(Some(found)) if deleted.contains(&found)));
    }
    let before = first_places(&original, Some(key));
    let mut places = before.clone();
    let mut order = Places::new();
    for (place, change) in changes.into_iter().enumerate() {
        let found = Key::of(change, Some(key))?;
        let at = found.as_ref().and_then(|found| places.get(found).copied());
        if let Some(found) = &found {
            order.entry(found.clone()).or_insert(place);
        }
        match (at.and_then(|at| original[at].as_object_mut()), change.as_object_mut()) {
            (Some(old), Some(change)) => *old = merge(std::mem::take(old), change, element)?,
            _ => {
                places.extend(found.map(|found| (found, original.len())));
                original.push(change.clone());
            }
        }
    }
    arrange(original, &order, &before, Some(key))
}
