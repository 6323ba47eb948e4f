//! Rules in CEL (`x-kubernetes-validations`) that a witness keeps.

use super::node::Context;
use super::{Generator, Made};
use serde_json::{Map, Value, json};

/// The type of a value, as expressions see it.
#[derive(Debug, Clone)]
pub(super) enum Kind {
    Boolean,
    Bytes,
    Duration,
    Integer,
    IntOrText,
    /// A list, with an item of it.
    List {
        of: Box<Made>,
        bounded: bool,
    },
    /// An object with any names, with one of its values.
    Map {
        of: Box<Made>,
        bounded: bool,
    },
    Number,
    /// An object with its fields.
    Object(Vec<(String, Made)>),
    /// A value of which no rule speaks.
    Opaque,
    /// A text; it is bounded if its length is.
    Text {
        bounded: bool,
    },
    Time,
}

/// The greatest number of occurrences that even a cheap rule may have.
const OFTEN: u64 = 30;

impl Kind {
    /// The type of a list of such items.
    pub(super) fn list(of: Made, bounded: bool) -> Kind {
        match of.kind {
            Kind::Opaque => Kind::Opaque,
            _ => Kind::List { of: Box::new(of), bounded },
        }
    }

    /// The type of an object with such values, under any names.
    pub(super) fn map(of: Made, bounded: bool) -> Kind {
        match of.kind {
            Kind::Opaque => Kind::Opaque,
            _ => Kind::Map { of: Box::new(of), bounded },
        }
    }

    /// The type of a text of this format.
    pub(super) fn formatted(format: &str) -> Kind {
        match format {
            "byte" => Kind::Bytes,
            "date" | "date-time" => Kind::Time,
            "duration" => Kind::Duration,
            _ => Kind::Text { bounded: false },
        }
    }
}

impl Generator {
    /// Adds rules to a value in that context, unless they would cost too much there.
    pub(super) fn add_rules(&mut self, made: &mut Made, context: Context) {
        let Some(times) = context.times.filter(|times| *times <= OFTEN) else { return };
        let mut rules = Vec::new();
        for _ in 0..=self.rng.usize(..2) {
            let Some(condition) = self.condition("self", &made.kind, &made.witness, 2) else { return };
            let mut rule = json!({"rule": condition});
            if context.correlatable && times == 1 && self.chance(30) {
                self.make_transition(&mut rule, made);
            }
            if self.chance(40) {
                rule["message"] = (*self.pick(&["not as it should be", " trimmed ", "日本"])).into();
            }
            if self.chance(30) {
                rule["messageExpression"] = self.message(&made.kind).into();
            }
            if self.chance(30) {
                let reasons = ["FieldValueInvalid", "FieldValueForbidden", "FieldValueRequired", "FieldValueDuplicate"];
                rule["reason"] = (*self.pick(&reasons)).into();
            }
            if let Kind::Object(fields) = &made.kind
                && self.chance(30)
                && !fields.is_empty()
            {
                let (name, field) = self.pick(fields).clone();
                rule["fieldPath"] = match (&field.kind, self.chance(40)) {
                    (Kind::Object(inner), true) if !inner.is_empty() => {
                        format!("{}{}", segment(&name), segment(&self.pick(inner).0))
                    }
                    _ => segment(&name),
                }
                .into();
            }
            rules.push(rule);
        }
        made.schema.insert("x-kubernetes-validations".to_owned(), rules.into());
    }

    /// Makes a rule one about the old and the new value.
    fn make_transition(&mut self, rule: &mut Value, made: &Made) {
        let optional = self.chance(40);
        let old = if optional { "oldSelf.value()" } else { "oldSelf" };
        let condition = match &made.kind {
            Kind::Integer | Kind::Number => {
                let operator = *self.pick(&[">=", "<=", "=="]);
                format!("self {operator} {old}")
            }
            Kind::Boolean | Kind::Time | Kind::Duration | Kind::IntOrText | Kind::Text { bounded: true } => {
                format!("self == {old}")
            }
            Kind::Text { .. } | Kind::List { .. } | Kind::Map { .. } => {
                let operator = *self.pick(&[">=", "<=", "=="]);
                format!("self.size() {operator} {old}.size()")
            }
            Kind::Object(fields) => {
                let Some((name, _)) = self.spoken_of(fields) else { return };
                let name = escaped(name);
                format!("has(self.{name}) == has({old}.{name})")
            }
            _ => return,
        };
        rule["rule"] = match optional {
            true => format!("!oldSelf.hasValue() || {condition}"),
            false => condition,
        }
        .into();
        if optional {
            rule["optionalOldSelf"] = true.into();
        }
    }

    /// A condition that the witness of an expression keeps; `None` if no rule can speak of it.
    fn condition(&mut self, of: &str, kind: &Kind, witness: &Value, depth: u32) -> Option<String> {
        Some(match kind {
            Kind::Boolean => match self.rng.u32(..2) {
                0 => format!("{of} == {witness}"),
                _ => format!("{of} || !{of}"),
            },
            Kind::Bytes => format!("{of}.size() < 1000 && {of} != b'none'"),
            Kind::Duration => match self.rng.u32(..2) {
                0 => format!("{of} < duration('100000h')"),
                _ => format!("{of}.getSeconds() >= 0"),
            },
            Kind::Time => match self.rng.u32(..2) {
                0 => format!("{of} > timestamp('1990-01-01T00:00:00Z')"),
                _ => format!("{of}.getFullYear() >= 2000"),
            },
            Kind::Integer => self.integer_condition(of, witness.as_i64()?),
            Kind::Number => {
                let number = witness.as_f64()?;
                match self.rng.u32(..2) {
                    0 => format!("{of} >= {:?}", number - 1.0),
                    _ => format!("{of} < 5e38"),
                }
            }
            Kind::IntOrText => match self.rng.u32(..2) {
                0 => format!("type({of}) == int ? int({of}) != 12345 : {of} != 'none'"),
                _ => format!("type({of}) == string || {of} != 54321"),
            },
            Kind::Text { bounded } => self.text_condition(of, witness.as_str()?, *bounded),
            Kind::Object(fields) => self.object_condition(of, fields, witness, depth)?,
            Kind::List { of: item, bounded } => {
                let size = witness.as_array()?.len();
                let variable = format!("x{depth}");
                let each = self.condition(&variable, &item.kind, &item.witness, depth.saturating_sub(1));
                match (each, self.rng.u32(..4)) {
                    (Some(each), 0 | 1) if *bounded => format!("{of}.all({variable}, {each})"),
                    (Some(each), 2) if *bounded && size > 0 => format!("{of}.exists({variable}, {each})"),
                    _ => format!("{of}.size() <= {}", size + 1),
                }
            }
            Kind::Map { of: value, bounded } => {
                let size = witness.as_object()?.len();
                let variable = format!("k{depth}");
                let each =
                    self.condition(&format!("{of}[{variable}]"), &value.kind, &value.witness, depth.saturating_sub(1));
                match (each, self.rng.u32(..3)) {
                    (Some(each), 0) if *bounded => format!("{of}.all({variable}, {each})"),
                    (_, 1) => format!("!('none' in {of})"),
                    _ => format!("{of}.size() <= {}", size + 1),
                }
            }
            Kind::Opaque => return None,
        })
    }

    fn integer_condition(&mut self, of: &str, number: i64) -> String {
        match self.rng.u32(..5) {
            0 => format!("{of} >= {}", number.saturating_sub(1)),
            1 => format!("{of} <= {number}"),
            2 => format!("{of} in [{number}, 1, 2]"),
            3 if number.unsigned_abs() < 1 << 40 => format!("{of} + 1 > {of}"),
            _ => format!("{of} % 2 == {}", number % 2),
        }
    }

    fn text_condition(&mut self, of: &str, text: &str, bounded: bool) -> String {
        let quoted = Value::from(text);
        match self.rng.u32(..6) {
            0 => format!("{of}.size() <= {}", text.chars().count()),
            1 if bounded => format!("{of}.contains({quoted})"),
            2 if bounded => format!("{of}.matches('^(a|[^a]*)')"),
            3 if bounded => format!("{of}.lowerAscii() == {of} || {of} != 'None'"),
            4 => format!("{of}.startsWith({quoted})"),
            _ => format!("{of} != 'none'"),
        }
    }

    fn object_condition(&mut self, of: &str, fields: &[(String, Made)], witness: &Value, depth: u32) -> Option<String> {
        let (name, made) = self.spoken_of(fields).filter(|_| depth > 0)?;
        let field = format!("{of}.{}", escaped(name));
        let inner = self.condition(&field, &made.kind, &made.witness, depth - 1);
        let present = witness.get(name).is_some();
        // A null is not a value of the type, and cannot be compared with one.
        let inner = inner.filter(|_| !made.schema.contains_key("nullable"));
        Some(match (inner, self.rng.u32(..4)) {
            (Some(inner), 0) if present => inner,
            (_, 1) if present => format!("has({field})"),
            (_, 1) => format!("!has({field})"),
            (Some(inner), _) => format!("!has({field}) || {inner}"),
            (None, _) => format!("has({field}) || true"),
        })
    }

    /// An expression for a message.
    fn message(&mut self, kind: &Kind) -> String {
        let fixed = *self.pick(&["'it is ' + 'wrong'", "''", "' '", r"'two\nlines'"]);
        match kind {
            // The length of a converted number is unknown, so that its estimated cost is beyond every limit.
            Kind::Integer if self.chance(70) => "self > 5 ? 'too large' : 'too small'".to_owned(),
            Kind::Text { bounded: true } if self.chance(70) => "'got ' + self".to_owned(),
            Kind::List { .. } | Kind::Map { .. } if self.chance(70) => "self.size() > 1 ? 'too many' : ''".to_owned(),
            Kind::Object(fields) => match self.spoken_of(fields) {
                Some((name, _)) => format!("has(self.{}) ? 'there it is' : 'there it is not'", escaped(name)),
                None => fixed.to_owned(),
            },
            _ => fixed.to_owned(),
        }
    }

    /// One of the fields that rules can speak of.
    fn spoken_of<'a>(&mut self, fields: &'a [(String, Made)]) -> Option<&'a (String, Made)> {
        let known: Vec<_> = fields.iter().filter(|(_, made)| !matches!(made.kind, Kind::Opaque)).collect();
        (!known.is_empty()).then(|| *self.pick(&known))
    }
}

/// The name of a field in expressions, where some characters and words are not allowed.
fn escaped(name: &str) -> String {
    if ["in", "namespace"].contains(&name) {
        return format!("__{name}__");
    }
    let mut escaped = name.replace("__", "__underscores__");
    for (character, word) in [(".", "__dot__"), ("-", "__dash__"), ("/", "__slash__")] {
        escaped = escaped.replace(character, word);
    }
    escaped
}

/// A segment of a `fieldPath`.
fn segment(name: &str) -> String {
    let is_plain = name.chars().all(|character| character.is_ascii_alphanumeric());
    if is_plain { format!(".{name}") } else { format!("['{name}']") }
}

/// The rules of a schema.
pub(super) fn rules_mut(schema: &mut Map<String, Value>) -> Option<&mut Vec<Value>> {
    schema.get_mut("x-kubernetes-validations").and_then(Value::as_array_mut)
}
