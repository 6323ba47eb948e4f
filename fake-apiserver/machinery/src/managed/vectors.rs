//! Field managers against recorded results of the real packages of Kubernetes (`fixtures/managers`, written by
//! `cargo xtask schema`).

use super::encode as encode_managers;
use super::merge::{merge, without};
use super::{Context, Failure, Managers, Operation, Set, Trees, Type, Versions, compare, fields_of, validate};
use crate::custom::schema::Structural;
use crate::deadline::Deadline;
use crate::schema::{encode, encode_any, lookup, parse_json};
use serde::Deserialize;
use serde_json::value::RawValue;
use std::fmt::Debug;
use tree::{Value, json};

const VERSION: &str = "example.com/v1";

/// A schema, and the writes of several managers.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Story<'l> {
    #[serde(borrow)]
    schema: &'l RawValue,
    #[serde(borrow)]
    writes: Vec<Write<'l>>,
}

/// A schema, values of it, and the recorded results for every two of them.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Group<'l> {
    #[serde(borrow)]
    schema: &'l RawValue,
    #[serde(borrow)]
    values: Vec<&'l RawValue>,
    #[serde(borrow)]
    pairs: Vec<Pair<'l>>,
}

/// A write, and its recorded result.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Write<'l> {
    verb: String,
    manager: String,
    #[serde(borrow)]
    value: &'l RawValue,
    refused: Option<String>,
    #[serde(borrow)]
    object: Option<&'l RawValue>,
    #[serde(default)]
    owners: Vec<Owner>,
}

#[derive(Debug, Deserialize, PartialEq)]
#[serde(deny_unknown_fields)]
struct Owner {
    manager: String,
    #[serde(default)]
    applied: bool,
    fields: Value,
}

/// Two values of a group.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Pair<'l> {
    one: usize,
    other: usize,
    refused: Option<String>,
    #[serde(borrow)]
    fields: Option<&'l RawValue>,
    #[serde(default)]
    added: Value,
    #[serde(default)]
    modified: Value,
    #[serde(default)]
    removed: Value,
    #[serde(borrow)]
    rest: Option<&'l RawValue>,
    #[serde(borrow)]
    merged: Option<&'l RawValue>,
}

/// The only version of a resource.
struct Only<'t>(Type<'t>);

impl Versions for Only<'_> {
    fn ty(&self, api_version: &str) -> Option<Type<'_>> {
        (api_version == VERSION).then_some(self.0)
    }

    fn convert(&self, _: &Value, api_version: &str) -> Result<Value, String> {
        Err(format!("there is no version {api_version}"))
    }
}

fn tree(json: &RawValue) -> Value {
    parse_json(json.get().as_bytes()).expect("JSON").object
}

fn structural(schema: &RawValue) -> Structural {
    Structural::new(&json!({"type": "object", "properties": {"spec": tree(schema)}})).expect("a structural schema")
}

fn object(spec: &RawValue) -> Value {
    json!({"apiVersion": VERSION, "kind": "Thing", "spec": tree(spec)})
}

/// The `spec` of an object, as Go prints it.
fn printed(mut object: Value) -> String {
    if let Some(fields) = object.as_object_mut() {
        fields.retain(|name, _| name == "spec");
    }
    encode_any(&object)
}

/// The set without the fields that all objects have; null for none.
fn shown(set: Set) -> Value {
    let set = set.difference(&Set::of_fields(&[&["apiVersion"], &["kind"]]));
    if set.is_empty() { Value::Null } else { set.print() }
}

/// A built-in object with this set among its managers, as Go writes it: in the order of the elements.
fn as_written(set: Value) -> String {
    let ty = lookup("v1", "ConfigMap").expect("a built-in kind");
    let mut object = json!({"metadata": {"managedFields": [{}]}});
    object["metadata"]["managedFields"][0]["fieldsV1"] = set;
    String::from_utf8(encode(&object, ty).json).expect("JSON is UTF-8")
}

/// Notes a difference.
struct Differences(Vec<String>);

impl Differences {
    fn compare<T: PartialEq + Debug>(&mut self, place: &str, found: &T, expected: &T) {
        if found != expected {
            self.0.push(format!("{place}:\n  {found:?}\n  but in Go\n  {expected:?}"));
        }
    }
}

fn context<'v>(versions: &'v Only<'_>) -> Context<'v> {
    let (trees, now, deadline) = (Trees::Complete, "2030-01-01T00:00:00Z", Deadline::default());
    Context { versions, api_version: VERSION, subresource: "", trees, now, deadline }
}

fn told(schema: &RawValue, writes: &[Write<'_>], differences: &mut Differences) {
    let structural = structural(schema);
    let versions = Only(Type::custom(structural.root()));
    let context = context(&versions);
    let mut live = json!({"apiVersion": VERSION, "kind": "Thing"});
    let mut managers = Managers::new();
    for (index, write) in writes.iter().enumerate() {
        let place = format!("{schema}, write {index}: {} {} {}", write.verb, write.manager, write.value);
        let (sent, name) = (object(write.value), write.manager.as_str());
        let done = match validate(versions.0, &sent, write.verb == "update") {
            Err(why) => Err(why),
            Ok(()) if write.verb == "update" => {
                context.update(&live, &sent, managers.clone(), name).map(|managers| (sent, managers))
            }
            Ok(()) => match context.apply(&live, &sent, managers.clone(), name, write.verb == "force") {
                Ok((new, managers)) => Ok((new.unwrap_or_else(|| live.clone()), managers)),
                Err(Failure::Other(why)) => Err(why),
                Err(Failure::Conflicts(_)) => Err("conflict".to_owned()),
            },
        };
        let refused = write.refused.as_ref().map(|why| if why.contains("conflict") { "conflict" } else { why });
        differences.compare(&place, &done.as_ref().err().map(String::as_str), &refused);
        let Ok((object, owners)) = done else { continue };
        (live, managers) = (object, owners);
        differences.compare(&place, &printed(live.clone()), &write.object.map(RawValue::to_string).unwrap_or_default());
        let mut owners: Vec<Owner> = managers
            .iter()
            .map(|(manager, owned)| Owner {
                manager: manager.name.clone(),
                applied: manager.operation == Operation::Apply,
                fields: owned.set.print(),
            })
            .collect();
        owners.sort_by_key(|owner| (!owner.applied, owner.manager.clone()));
        differences.compare(&place, &owners, &write.owners);
    }
}

/// Compares two values; `applies` says whether the other one can be applied.
fn compared(schema: &RawValue, values: &[&RawValue], pair: &Pair<'_>, applies: bool, differences: &mut Differences) {
    let structural = structural(schema);
    let ty = Type::custom(structural.root());
    let (one, other) = (object(values[pair.one]), object(values[pair.other]));
    let place = |what: &str| format!("{schema}, {} and {}: {what}", values[pair.one], values[pair.other]);
    if pair.one == pair.other {
        let versions = Only(ty);
        let (context, nothing) = (context(&versions), json!({"apiVersion": VERSION, "kind": "Thing"}));
        let compared =
            context.update(&nothing, &other, Managers::new(), "m").map(|managers| encode_managers(&managers));
        let created = context.create(&other, "m").map(|entry| entry.into_iter().collect::<Vec<_>>());
        differences.compare(&place("created"), &created, &compared);
        differences.compare(&place("refused"), &validate(ty, &other, false).err(), &pair.refused);
    }
    let Some(rest) = pair.rest else { return };
    let set = fields_of(ty, &other).difference(&Set::of_fields(&[&["apiVersion"], &["kind"]]));
    if pair.one == pair.other {
        let written = shown(set.clone());
        let expected = pair.fields.map(|fields| format!("\"fieldsV1\":{fields}}}"));
        differences.compare(&place("has fields"), &!written.is_null(), &expected.is_some());
        differences.compare(&place("fields"), &as_written(written).contains(&expected.unwrap_or_default()), &true);
    }
    differences.compare(&place("rest"), &printed(without(ty, &one, &set)), &rest.to_string());
    match compare(ty, &one, &other, Trees::Complete, &Deadline::default()) {
        Ok(changes) => {
            differences.compare(&place("added"), &shown(changes.added), &pair.added);
            differences.compare(&place("modified"), &shown(changes.modified), &pair.modified);
            differences.compare(&place("removed"), &shown(changes.removed), &pair.removed);
        }
        Err(why) => differences.0.push(place(&why)),
    }
    if applies {
        let expected = pair.merged.map(RawValue::to_string).unwrap_or_default();
        differences.compare(
            &place("merged"),
            &merge(ty, &one, &other, &Deadline::default()).map(printed),
            &Ok(expected),
        );
    }
}

/// The recorded vectors of a file.
fn recorded(file: &str) -> String {
    let path = format!("{}/../../fixtures/managers/{file}", env!("CARGO_MANIFEST_DIR"));
    std::fs::read_to_string(path).expect("the fixtures are part of the repository")
}

#[test]
fn fields_have_the_owners_that_they_have_in_go() {
    let vectors = recorded("stories.jsonl");
    let stories: Vec<Story<'_>> =
        vectors.lines().map(|line| serde_json::from_str(line).expect("a line is a story")).collect();
    let mut differences = Differences(Vec::new());
    stories.iter().for_each(|story| told(story.schema, &story.writes, &mut differences));
    assert!(stories.len() > 20, "{} stories", stories.len());
    let Differences(found) = differences;
    assert!(found.is_empty(), "{} differences:\n{}", found.len(), found.join("\n"));
}

#[test]
fn values_are_compared_and_merged_as_in_go() {
    let vectors = recorded("values.jsonl");
    let groups: Vec<Group<'_>> =
        vectors.lines().map(|line| serde_json::from_str(line).expect("a line is a group")).collect();
    let mut differences = Differences(Vec::new());
    for Group { schema, values, pairs } in &groups {
        let refused =
            |index| pairs.iter().any(|pair| (pair.one, pair.other) == (index, index) && pair.refused.is_some());
        pairs.iter().for_each(|pair| compared(schema, values, pair, !refused(pair.other), &mut differences));
    }
    let pairs: usize = groups.iter().map(|group| group.pairs.len()).sum();
    assert!(pairs > 2000, "{pairs} pairs");
    let Differences(found) = differences;
    assert!(found.is_empty(), "{} differences:\n{}", found.len(), found.join("\n"));
}
