//! Schemas of single values, each with its witness.

use super::rules::Kind;
use super::values::{FLOATS, FORMATS, INTEGERS, KEYS, NAMES, NUMBER_FORMATS, PATTERNS, TEXTS};
use super::{Generator, Made};
use serde_json::{Map, Value, json};

/// The place of a schema in another.
#[derive(Debug, Clone, Copy)]
pub(super) struct Context {
    /// The number of levels that may follow.
    pub(super) depth: u32,
    /// The number of times that the value may occur in an object, as expressions are estimated; `None` if it is unlimited.
    pub(super) times: Option<u64>,
    /// Whether the server finds the old value of a changed one, so that rules may speak of it.
    pub(super) correlatable: bool,
}

impl Context {
    /// The context of a field of the root.
    pub(super) fn spec(depth: u32) -> Context {
        Context { depth, times: Some(1), correlatable: true }
    }

    /// The context of a value that occurs up to `limit` times in this one.
    fn below(self, limit: Option<u64>, correlatable: bool) -> Context {
        let times = self.times.zip(limit).map(|(times, limit)| times * limit);
        Context { depth: self.depth.saturating_sub(1), times, correlatable: self.correlatable && correlatable }
    }
}

impl Generator {
    /// A schema for any value.
    pub(super) fn node(&mut self, context: Context) -> Made {
        let choice = if context.depth == 0 { self.rng.u32(..60) } else { self.rng.u32(..120) };
        let mut made = match choice {
            0..22 => self.text(),
            22..34 => self.integer(),
            34..42 => self.number(),
            42..48 => self.boolean(),
            48..56 => self.int_or_text(),
            56..60 => self.open(),
            60..85 => self.object(context),
            85..93 => self.map(context),
            93..115 => self.list(context),
            _ => self.embedded(context),
        };
        if self.chance(10) {
            self.add_junctor(&mut made);
        }
        if self.chance(12) {
            made.schema.insert("nullable".to_owned(), true.into());
            // Rules are not about null, and a null need not satisfy a junctor.
            if self.chance(20) && !made.schema.contains_key("enum") && made.schema.contains_key("type") {
                made.schema.insert("default".to_owned(), Value::Null);
            }
        }
        if self.chance(12) {
            self.add_rules(&mut made, context);
        }
        if self.chance(8) {
            made.schema.insert("description".to_owned(), "A value.".into());
        }
        if self.chance(15) && !made.schema.contains_key("default") && is_own_default(&made) {
            made.schema.insert("default".to_owned(), made.witness.clone());
        }
        made
    }

    fn text(&mut self) -> Made {
        let mut schema = typed("string");
        let (mut text, mut kind) = (*self.pick(&TEXTS), Kind::Text { bounded: false });
        if self.chance(35) {
            let format = self.pick(&FORMATS);
            text = *self.pick(format.texts);
            schema.insert("format".to_owned(), format.name.into());
            kind = Kind::formatted(format.name);
        } else if self.chance(25) {
            let (pattern, texts) = self.pick(&PATTERNS);
            text = *self.pick(texts);
            schema.insert("pattern".to_owned(), (*pattern).into());
        }
        let length = text.chars().count();
        if self.chance(20) {
            schema.insert("minLength".to_owned(), self.rng.usize(..=length).into());
        }
        if self.chance(40) {
            schema.insert("maxLength".to_owned(), (length + self.rng.usize(..3)).into());
            if matches!(kind, Kind::Text { .. }) {
                kind = Kind::Text { bounded: true };
            }
        }
        if self.chance(12) {
            let other = *self.pick(&TEXTS);
            let all = if other == text { vec![text] } else { vec![other, text] };
            schema.insert("enum".to_owned(), json!(all));
        }
        Made { schema, witness: text.into(), kind }
    }

    fn integer(&mut self) -> Made {
        let mut schema = typed("integer");
        let number = *self.pick(&INTEGERS);
        if self.chance(30) {
            let format = *self.pick(&NUMBER_FORMATS);
            if format != "int32" || i32::try_from(number).is_ok() {
                schema.insert("format".to_owned(), format.into());
            }
        }
        self.bounds(&mut schema, number as f64);
        if self.chance(10) {
            let other = *self.pick(&INTEGERS);
            let all = if other == number { vec![number] } else { vec![number, other] };
            schema.insert("enum".to_owned(), json!(all));
        }
        Made { schema, witness: number.into(), kind: Kind::Integer }
    }

    fn number(&mut self) -> Made {
        let mut schema = typed("number");
        let number = if self.chance(60) { *self.pick(&FLOATS) } else { self.rng.i32(-5..50).into() };
        let witness = if number.fract() == 0.0 && number.abs() < 1e15 && self.chance(50) {
            Value::from(number as i64)
        } else {
            number.into()
        };
        if self.chance(25) {
            let format = *self.pick(&NUMBER_FORMATS);
            if format != "float" || number.abs() <= 3.4e38 {
                schema.insert("format".to_owned(), format.into());
            }
        }
        self.bounds(&mut schema, number);
        if self.chance(8) {
            schema.insert("enum".to_owned(), json!([witness]));
        }
        Made { schema, witness, kind: Kind::Number }
    }

    /// Limits of numbers that allow this one, unless it is too large to be compared exactly as a double. Those of an
    /// integer are integers, as the server converts them to the type of a default.
    fn bounds(&mut self, schema: &mut Map<String, Value>, number: f64) {
        if number.abs() > 1e15 {
            return;
        }
        let whole = number.fract() == 0.0;
        if self.chance(20) {
            let (bound, exclusive) = if self.chance(50) { (number - 1.0, self.chance(30)) } else { (number, false) };
            schema.insert("minimum".to_owned(), plain(bound));
            if exclusive {
                schema.insert("exclusiveMinimum".to_owned(), true.into());
            }
        }
        if self.chance(20) {
            let (bound, exclusive) = if self.chance(50) {
                (number + if whole { 2.0 } else { 1.5 }, self.chance(30))
            } else {
                (number, false)
            };
            schema.insert("maximum".to_owned(), plain(bound));
            if exclusive {
                schema.insert("exclusiveMaximum".to_owned(), true.into());
            }
        }
        if self.chance(15) {
            let factors = [1.0, 2.0, 5.0, 0.5, 0.25, 100.0];
            let fits = |factor: &f64| (number / factor).fract() == 0.0 && (!whole || factor.fract() == 0.0);
            let fits: Vec<f64> = factors.into_iter().filter(fits).collect();
            if !fits.is_empty() {
                let factor = *self.pick(&fits);
                schema.insert("multipleOf".to_owned(), plain(factor));
            }
        }
    }

    fn boolean(&mut self) -> Made {
        let mut schema = typed("boolean");
        let witness = Value::Bool(self.rng.bool());
        if self.chance(10) {
            schema.insert("enum".to_owned(), json!([witness]));
        }
        Made { schema, witness, kind: Kind::Boolean }
    }

    fn int_or_text(&mut self) -> Made {
        let mut schema = Map::new();
        schema.insert("x-kubernetes-int-or-string".to_owned(), true.into());
        let either = json!([{"type": "integer"}, {"type": "string"}]);
        match self.rng.u32(..4) {
            0 => drop(schema.insert("anyOf".to_owned(), either)),
            1 => drop(schema.insert("allOf".to_owned(), json!([{"anyOf": either}]))),
            _ => {}
        }
        let witness = if self.rng.bool() { json!(*self.pick(&INTEGERS)) } else { json!(*self.pick(&TEXTS)) };
        if let Some(text) = witness.as_str()
            && self.chance(20)
        {
            schema.insert("maxLength".to_owned(), text.chars().count().into());
        }
        if let Some(number) = witness.as_f64()
            && self.chance(20)
        {
            self.bounds(&mut schema, number);
        }
        Made { schema, witness, kind: Kind::IntOrText }
    }

    /// Any value.
    fn open(&mut self) -> Made {
        let mut schema = Map::new();
        schema.insert("x-kubernetes-preserve-unknown-fields".to_owned(), true.into());
        let witness = self.anything();
        Made { schema, witness, kind: Kind::Opaque }
    }

    fn object(&mut self, context: Context) -> Made {
        let mut fields: Vec<(String, Made)> = Vec::new();
        for _ in 0..=self.rng.usize(..4) {
            let name = *self.pick(&NAMES);
            if fields.iter().all(|(known, _)| known != name) {
                fields.push((name.to_owned(), self.node(context.below(Some(1), true))));
            }
        }
        let mut made = self.object_of(fields, true);
        if self.chance(8) {
            made.schema.insert("x-kubernetes-preserve-unknown-fields".to_owned(), true.into());
        }
        if self.chance(12) {
            let of = *self.pick(&["atomic", "granular"]);
            made.schema.insert("x-kubernetes-map-type".to_owned(), of.into());
        }
        let size = made.witness.as_object().map_or(0, Map::len);
        self.sizes(&mut made.schema, "minProperties", "maxProperties", size, 8);
        made
    }

    /// The schema of an object with those fields; the witness may lack some.
    pub(super) fn object_of(&mut self, fields: Vec<(String, Made)>, may_lack: bool) -> Made {
        let (mut schema, mut witness, mut required) = (typed("object"), Map::new(), Vec::new());
        let mut properties = Map::new();
        let mut kinds = Vec::new();
        for (name, made) in fields {
            if !may_lack || self.chance(80) || made.schema.contains_key("default") {
                witness.insert(name.clone(), made.witness.clone());
                if self.chance(25) {
                    required.push(name.clone());
                }
            }
            properties.insert(name.clone(), made.schema.clone().into());
            kinds.push((name, made));
        }
        schema.insert("properties".to_owned(), properties.into());
        if !required.is_empty() {
            schema.insert("required".to_owned(), required.into());
        }
        Made { schema, witness: witness.into(), kind: Kind::Object(kinds) }
    }

    fn map(&mut self, context: Context) -> Made {
        let mut schema = typed("object");
        let limit = self.chance(60).then(|| self.rng.u64(3..6));
        let made = self.node(context.below(limit, true));
        let mut witness = Map::new();
        for _ in 0..self.rng.usize(..3) {
            witness.insert((*self.pick(&KEYS)).to_owned(), made.witness.clone());
        }
        if let Some(limit) = limit {
            schema.insert("maxProperties".to_owned(), limit.into());
        }
        if self.chance(6) && limit.is_none() {
            schema.insert("additionalProperties".to_owned(), true.into());
            return Made { schema, witness: witness.into(), kind: Kind::Opaque };
        }
        schema.insert("additionalProperties".to_owned(), made.schema.clone().into());
        Made { schema, witness: witness.into(), kind: Kind::map(made, limit.is_some()) }
    }

    fn list(&mut self, context: Context) -> Made {
        let mut schema = typed("array");
        let limit = self.chance(60).then(|| self.rng.u64(3..6));
        let (made, copies) = match self.rng.u32(..10) {
            0..3 => (self.list_map(&mut schema, context.below(limit, true)), 1),
            3..5 => {
                schema.insert("x-kubernetes-list-type".to_owned(), "set".into());
                let mut made = self.node(Context { depth: 0, ..context.below(limit, false) });
                made.schema.remove("nullable");
                if made.schema.get("default") == Some(&Value::Null) {
                    made.schema.remove("default");
                }
                (made, 1)
            }
            5..6 => {
                schema.insert("x-kubernetes-list-type".to_owned(), "atomic".into());
                (self.node(context.below(limit, false)), 2)
            }
            _ => (self.node(context.below(limit, false)), 2),
        };
        let size = self.rng.usize(..=copies);
        let witness = vec![made.witness.clone(); size];
        if let Some(limit) = limit {
            schema.insert("maxItems".to_owned(), limit.into());
        }
        if self.chance(15) {
            schema.insert("minItems".to_owned(), self.rng.usize(..=size).into());
        }
        schema.insert("items".to_owned(), made.schema.clone().into());
        Made { schema, witness: witness.into(), kind: Kind::list(made, limit.is_some()) }
    }

    /// The items of a list that is a map; says in its schema that it is.
    fn list_map(&mut self, schema: &mut Map<String, Value>, context: Context) -> Made {
        let mut fields = Vec::new();
        let mut keys = Vec::new();
        for name in ["name", "port"].into_iter().take(if self.chance(70) { 1 } else { 2 }) {
            let mut made = match self.rng.u32(..4) {
                0 => self.integer(),
                1 => self.boolean(),
                _ => self.text(),
            };
            if self.chance(30) {
                made.schema.insert("default".to_owned(), made.witness.clone());
            }
            keys.push(name);
            fields.push((name.to_owned(), made));
        }
        for name in ["a", "b"].into_iter().take(self.rng.usize(..3)) {
            fields.push((name.to_owned(), self.node(context.below(Some(1), true))));
        }
        let mut made = self.object_of(fields, true);
        let without_default = |key: &&str| made.schema["properties"][*key].get("default").is_none();
        let required: Vec<&str> = keys.iter().copied().filter(without_default).collect();
        let Kind::Object(fields) = &made.kind else { return made };
        for (name, field) in fields.iter().filter(|(name, _)| keys.contains(&name.as_str())) {
            made.witness[name.as_str()] = field.witness.clone();
        }
        made.schema.remove("required");
        if !required.is_empty() {
            made.schema.insert("required".to_owned(), json!(required));
        }
        schema.insert("x-kubernetes-list-type".to_owned(), "map".into());
        schema.insert("x-kubernetes-list-map-keys".to_owned(), json!(keys));
        made
    }

    fn embedded(&mut self, context: Context) -> Made {
        let mut made = self.object(Context { depth: context.depth.min(2), ..context });
        for name in ["kind", "minProperties", "maxProperties", "default"] {
            made.schema.remove(name);
        }
        for part in ["properties", "required"] {
            if let Some(Value::Object(properties)) = made.schema.get_mut(part) {
                properties.remove("kind");
            }
        }
        if let Some(Value::Array(required)) = made.schema.get_mut("required") {
            required.retain(|name| name != "kind");
        }
        made.schema.insert("x-kubernetes-embedded-resource".to_owned(), true.into());
        if self.chance(50) || made.schema["properties"].as_object().is_none_or(Map::is_empty) {
            made.schema.insert("x-kubernetes-preserve-unknown-fields".to_owned(), true.into());
        }
        for (name, value) in [("apiVersion", json!("v1")), ("kind", json!("Pod")), ("metadata", json!({"name": "x"}))] {
            made.witness[name] = value;
        }
        Made { kind: Kind::Opaque, ..made }
    }

    /// Limits of a size that allow this one.
    fn sizes(&mut self, schema: &mut Map<String, Value>, min: &str, max: &str, size: usize, percent: u32) {
        if self.chance(percent) {
            schema.insert(min.to_owned(), self.rng.usize(..=size).into());
        }
        if self.chance(percent) {
            schema.insert(max.to_owned(), (size + self.rng.usize(..2)).into());
        }
    }
}

/// Whether the witness may be the default: upstream prunes defaults, fills in those of their fields, and allows only defaults that
/// this leaves unchanged. Embedded objects have further rules.
fn is_own_default(made: &Made) -> bool {
    let text = serde_json::to_string(&made.schema).unwrap_or_default();
    !text.contains("x-kubernetes-embedded-resource") && !made.witness.is_null()
}

/// A schema of that type.
pub(super) fn typed(name: &str) -> Map<String, Value> {
    Map::from_iter([("type".to_owned(), name.into())])
}

/// A number, as an integer if it is one.
fn plain(number: f64) -> Value {
    if number.fract() == 0.0 && number.abs() < 1e15 { Value::from(number as i64) } else { number.into() }
}
