//! Mutations of a manifest: fields that are missing, repeated, misspelled, of another type or at the edge of what is valid. All follows
//! from a generator of random numbers.

use fastrand::Rng;
use serde_json::{Map, Number, Value, json};

/// The most mutations of one manifest.
const MOST: usize = 3;
/// The fields that say what an object is, which stay.
const KEPT: [&str; 2] = ["apiVersion", "kind"];

/// A place in an object: the names of fields, and the indices of items.
type Place = Vec<Step>;

#[derive(Debug, Clone, PartialEq)]
enum Step {
    Field(String),
    Item(usize),
}

/// Mutates `object` in one to three places, and returns which.
pub(super) fn mutate(object: &mut Value, rng: &mut Rng) -> Vec<String> {
    let times = rng.usize(1..=MOST);
    (0..times).map(|_| mutate_once(object, rng)).collect()
}

fn mutate_once(object: &mut Value, rng: &mut Rng) -> String {
    let mut places = Vec::new();
    collect(object, &mut Vec::new(), &mut places);
    places.retain(|place| !matches!(&place[0], Step::Field(name) if KEPT.contains(&&**name)));
    let Some(place) = rng.choice(&places) else { return "nothing".to_owned() };
    let value = at(object, place).clone();
    let (last, parent) = place.split_last().expect("the root is no place");
    let (name, changed) = match rng.u8(..10) {
        0 | 1 => ("removed", None),
        2 => ("nulled", Some(Value::Null)),
        3 => ("of another type", Some(of_another_type(&value, rng))),
        4 => {
            let other = at(object, rng.choice(&places).expect("there is one")).clone();
            ("copied from elsewhere", Some(other))
        }
        5 => {
            let around = at_mut(object, parent);
            return format!("{} {}", renamed(around, last, &value, rng), shown(place));
        }
        _ => ("at an edge", Some(at_an_edge(&value, rng))),
    };
    match changed {
        Some(value) => *at_mut(object, place) = value,
        None => remove(at_mut(object, parent), last),
    }
    format!("{name} {}", shown(place))
}

/// All places below a value.
fn collect(value: &Value, here: &mut Place, places: &mut Vec<Place>) {
    let below = |step: Step, value: &Value, here: &mut Place, places: &mut Vec<Place>| {
        here.push(step);
        places.push(here.clone());
        collect(value, here, places);
        here.pop();
    };
    match value {
        Value::Object(fields) => {
            fields.iter().for_each(|(name, value)| below(Step::Field(name.clone()), value, here, places));
        }
        Value::Array(items) => {
            items.iter().enumerate().for_each(|(index, value)| below(Step::Item(index), value, here, places));
        }
        _ => {}
    }
}

fn at<'v>(object: &'v Value, place: &[Step]) -> &'v Value {
    place.iter().fold(object, |value, step| match step {
        Step::Field(name) => &value[name.as_str()],
        Step::Item(index) => &value[*index],
    })
}

fn at_mut<'v>(object: &'v mut Value, place: &[Step]) -> &'v mut Value {
    place.iter().fold(object, |value, step| match step {
        Step::Field(name) => &mut value[name.as_str()],
        Step::Item(index) => &mut value[*index],
    })
}

fn remove(around: &mut Value, step: &Step) {
    match (around, step) {
        (Value::Object(fields), Step::Field(name)) => drop(fields.remove(name)),
        (Value::Array(items), Step::Item(index)) => drop(items.remove(*index)),
        _ => {}
    }
}

/// Gives a field another name, or an item another place.
fn renamed(around: &mut Value, step: &Step, value: &Value, rng: &mut Rng) -> &'static str {
    match (around, step) {
        (Value::Object(fields), Step::Field(name)) => {
            let other = match rng.u8(..3) {
                0 => name.to_uppercase(),
                1 => format!("{name}x"),
                _ => name.chars().rev().collect(),
            };
            fields.remove(name);
            fields.insert(other, value.clone());
            "renamed"
        }
        (Value::Array(items), Step::Item(index)) => match rng.bool() {
            true => {
                items.insert(*index, value.clone());
                "repeated"
            }
            false => {
                items.reverse();
                "reversed around"
            }
        },
        _ => "left",
    }
}

fn of_another_type(value: &Value, rng: &mut Rng) -> Value {
    let all = [json!("text"), json!(7), json!(true), json!([]), json!({}), json!(["a"]), json!({"a": "b"}), json!(1.5)];
    let others: Vec<&Value> =
        all.iter().filter(|other| std::mem::discriminant(*other) != std::mem::discriminant(value)).collect();
    (*rng.choice(&others).expect("there are other types")).clone()
}

/// A value of the same type that is often invalid, or that means something else.
fn at_an_edge(value: &Value, rng: &mut Rng) -> Value {
    match value {
        Value::Null => json!({}),
        Value::Bool(on) => json!(!on),
        Value::Number(_) => {
            let edges = [0, -1, 1, 65_535, 65_536, i64::from(i32::MAX), i64::from(i32::MAX) + 1, i64::MIN];
            let edges = edges.map(Number::from);
            Value::Number(rng.choice(&edges).expect("there are edges").clone())
        }
        Value::String(text) => Value::String(edge_of_text(text, rng)),
        Value::Array(items) => match rng.u8(..3) {
            0 => json!([]),
            1 => json!([null]),
            _ => Value::Array([&items[..], &items[..]].concat()),
        },
        Value::Object(fields) => match rng.u8(..3) {
            0 => json!({}),
            1 => with(fields, "unknown", json!("field")),
            _ => with(fields, "", json!("")),
        },
    }
}

fn with(fields: &Map<String, Value>, name: &str, value: Value) -> Value {
    let mut fields = fields.clone();
    fields.insert(name.to_owned(), value);
    Value::Object(fields)
}

fn edge_of_text(text: &str, rng: &mut Rng) -> String {
    match rng.u8(..12) {
        0 => String::new(),
        1 => text.to_uppercase(),
        2 => format!("{text}-"),
        3 => format!(" {text}"),
        4 => text.repeat(64).chars().take(300).collect(),
        5 => format!("{text}/{text}"),
        6 => format!("{text}ä"),
        7 => "0".to_owned(),
        8 => "-1".to_owned(),
        9 => format!("{text}:{text}"),
        10 => "*".to_owned(),
        _ => text.chars().take(1).collect(),
    }
}

/// A place in the words of messages.
fn shown(place: &[Step]) -> String {
    let mut text = String::new();
    for step in place {
        match step {
            Step::Field(name) if text.is_empty() => text.push_str(name),
            Step::Field(name) => text.push_str(&format!(".{name}")),
            Step::Item(index) => text.push_str(&format!("[{index}]")),
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mutations_follow_from_the_seed_and_change_something() {
        let object = json!({"apiVersion": "v1", "kind": "A", "spec": {"list": [{"a": 1}, {"a": "b"}], "on": true}});
        let mutant = |seed| {
            let mut mutant = object.clone();
            let places = mutate(&mut mutant, &mut Rng::with_seed(seed));
            (mutant, places)
        };
        assert_eq!(mutant(7), mutant(7));
        let changed = (0..100).filter(|seed| mutant(*seed).0 != object).count();
        assert!(changed > 80, "{changed}");
        assert!((0..100).all(|seed| mutant(seed).0["kind"] == "A"));
    }
}
