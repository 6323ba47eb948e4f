//! The rules of a schema, compiled, by the places of the values that they are about: `NewValidator` of
//! `pkg/apiserver/schema/cel/validation.go` of `k8s.io/apiextensions-apiserver` (v0.37.1).

use super::compile::{Code, Compiled, OLD_SELF, SELF, Scope};
use crate::custom::field_path;
use crate::deadline::Deadline;
use kubernetes_cel::{Declared, Parts, Schema, Stage, escape};
use std::collections::BTreeMap;
use tree::{Text, Value};

/// The field of a schema that has its rules.
pub const RULES: &str = "x-kubernetes-validations";
const EMBEDDED: &str = "x-kubernetes-embedded-resource";

/// The error for rules about values that expressions cannot see.
pub const NO_TYPE: &str = "failed to convert to declType for CEL validation rules";

/// The rules of a schema and of those below it.
#[derive(Debug)]
pub(super) struct Node {
    /// The reason that none of the rules can be applied.
    pub(super) fault: Option<&'static str>,
    pub(super) rules: Vec<Rule>,
    /// The type of the values, "" for any.
    pub(super) type_: String,
    /// The schema by which expressions see them.
    pub(super) schema: Schema,
    pub(super) reads: Reads,
    /// Whether one of the rules refers to the value that is replaced.
    pub(super) uses_old_self: bool,
    pub(super) items: Option<Box<Node>>,
    pub(super) properties: BTreeMap<String, Node>,
    pub(super) others: Option<Box<Node>>,
}

/// The parts of the variables that expressions read.
#[derive(Debug, Default)]
pub(super) struct Reads {
    pub(super) self_: Parts,
    pub(super) old_self: Parts,
}

/// A rule.
#[derive(Debug)]
pub(super) struct Rule {
    /// Its requirement for messages: the given message, or else the expression.
    pub(super) text: String,
    /// The message if it is broken, unless an expression gives one.
    pub(super) message: String,
    pub(super) reason: String,
    /// The path of the field that it is about, from its value on; "" for the value.
    pub(super) field_path: String,
    pub(super) optional_old_self: bool,
    /// `None` if it is empty.
    pub(super) compiled: Option<Compiled>,
    /// The text of `messageExpression`.
    pub(super) message_expression: String,
}

impl Reads {
    pub(super) fn of(code: &Code) -> Self {
        Reads { self_: code.expression.parts_of(SELF), old_self: code.expression.parts_of(OLD_SELF) }
    }

    fn join(&mut self, other: Reads) {
        self.self_.join(other.self_);
        self.old_self.join(other.old_self);
    }
}

fn schema_in<'s>(schema: &'s Value, field: &str) -> Option<&'s Value> {
    schema.get(field).filter(|schema| schema.is_object())
}

fn is_embedded(schema: &Value) -> bool {
    schema[EMBEDDED] == true
}

/// Whether the schema or one below it has rules (`hasXValidations`).
pub(super) fn has_rules(schema: &Value) -> bool {
    let below = |field| schema_in(schema, field).is_some_and(has_rules);
    let properties = schema["properties"].as_object();
    schema[RULES].as_array().is_some_and(|rules| !rules.is_empty())
        || below("items")
        || below("additionalProperties")
        || properties.is_some_and(|properties| properties.values().any(has_rules))
}

impl Node {
    /// Compiles the rules of a schema, whose values are of the declared type; `None` if there are none. Values of types that
    /// expressions cannot see have none. When the deadline has passed, the rest has none either.
    pub(super) fn compile(
        schema: &Value,
        is_root: bool,
        declared: Option<&Declared>,
        deadline: &Deadline,
    ) -> Option<Node> {
        deadline.check().ok()?;
        let below = |field: &str| {
            let schema = schema_in(schema, field)?;
            let element = declared.and_then(Declared::element);
            Node::compile(schema, is_embedded(schema), element, deadline).map(Box::new)
        };
        let property = |(name, schema): (&Text, &Value)| {
            let own;
            let declared = match escape(name) {
                Some(escaped) => declared?.field(&escaped)?,
                None => {
                    own = Schema::from_json(schema).declare(is_embedded(schema))?;
                    &own
                }
            };
            Some((name.to_string(), Node::compile(schema, is_embedded(schema), Some(declared), deadline)?))
        };
        let mut node = Node {
            fault: None,
            rules: Vec::new(),
            type_: schema["type"].as_str().unwrap_or_default().to_owned(),
            schema: Schema::default(),
            reads: Reads::default(),
            uses_old_self: false,
            items: below("items"),
            properties: schema["properties"].as_object().into_iter().flatten().filter_map(property).collect(),
            others: below("additionalProperties"),
        };
        node.own(schema, is_root, declared, deadline);
        let has_any = node.fault.is_some()
            || !node.rules.is_empty()
            || node.items.is_some()
            || node.others.is_some()
            || !node.properties.is_empty();
        has_any.then_some(node)
    }

    /// Compiles the rules of the schema itself.
    fn own(&mut self, schema: &Value, is_root: bool, declared: Option<&Declared>, deadline: &Deadline) {
        let rules = schema[RULES].as_array().map(Vec::as_slice).unwrap_or_default();
        let Some(declared) = declared.filter(|_| !rules.is_empty()) else {
            if !rules.is_empty() {
                self.fault = Some(NO_TYPE);
            }
            return;
        };
        let scope = Scope::new(declared);
        let in_time = rules.iter().take_while(|_| deadline.check().is_ok());
        self.rules = in_time.map(|rule| Rule::compile(rule, schema, &scope)).collect();
        for compiled in self.rules.iter().filter_map(|rule| rule.compiled.as_ref()) {
            self.uses_old_self |= compiled.uses_old_self;
            if let Ok(code) = &compiled.code {
                self.reads.join(Reads::of(code));
            }
        }
        self.schema = Schema::from_json(schema);
        if is_root {
            self.schema = self.schema.with_object_meta();
        }
    }
}

impl Rule {
    fn compile(rule: &Value, schema: &Value, scope: &Scope) -> Rule {
        let text = |field: &str| rule[field].as_str().unwrap_or_default();
        let message = text("message");
        let shown = if message.is_empty() { text("rule") } else { message }.trim();
        let path = text("fieldPath");
        let found = if path.is_empty() { None } else { field_path::find(path, schema, true).ok() };
        let compiled = scope.compile(rule, |_, _| Stage::Stored);
        Rule {
            text: shown.to_owned(),
            message: if message.is_empty() { format!("failed rule: {shown}") } else { shown.to_owned() },
            reason: text("reason").to_owned(),
            field_path: found.map(|found| found.path).unwrap_or_default(),
            optional_old_self: rule["optionalOldSelf"] == true,
            compiled,
            message_expression: text("messageExpression").to_owned(),
        }
    }
}
