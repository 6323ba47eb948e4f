//! The types of values that rules are about, and how many such values there can be.
//!
//! Follows `CELSchemaContext` of `pkg/apis/apiextensions/validation/cel_validation.go` of `k8s.io/apiextensions-apiserver`
//! (v0.37.1).

use super::structural;
use super::visit::{is_set, rules, schema_in, word};
use kubernetes_cel::{Declared, Schema, escape};
use std::cell::OnceCell;
use tree::Value;

/// A schema in its surroundings, as far as its rules need them.
#[derive(Debug)]
pub(super) struct Context<'c> {
    around: Option<(&'c Context<'c>, Step<'c>)>,
    schema: &'c Value,
    /// Whether the schema, or one around it, has rules (`withinValidationRuleScope`).
    within_rules: bool,
    /// The maximum number of values of the schema in an object (`MaxCardinality`); `None` if it is unlimited.
    cardinality: Option<u64>,
    typed: OnceCell<Typed>,
}

/// The type of values, if expressions can see them; or why it is not known.
pub(super) type Typed = Result<Option<Declared>, String>;

/// The way from a schema to one below it.
#[derive(Debug, Clone, Copy)]
pub(super) enum Step<'c> {
    Property(&'c str),
    Entry,
    Item,
}

impl<'c> Context<'c> {
    /// The schema of a whole object (`RootCELContext`).
    pub(super) fn root(schema: &'c Value) -> Self {
        let within_rules = !rules(schema).is_empty();
        Context { around: None, schema, within_rules, cardinality: Some(1), typed: OnceCell::new() }
    }

    /// A schema below this one (`childContext`).
    pub(super) fn below<'b>(&'b self, schema: &'b Value, step: Step<'b>) -> Context<'b> {
        let times = || Some(self.cardinality?.saturating_mul(max_elements(self.schema)?));
        Context {
            around: Some((self, step)),
            schema,
            within_rules: self.within_rules || !rules(schema).is_empty(),
            cardinality: times(),
            typed: OnceCell::new(),
        }
    }

    pub(super) fn schema(&self) -> &'c Value {
        self.schema
    }

    /// How many values of the schema there can be, of that type if nothing else limits them.
    pub(super) fn cardinality(&self, declared: &Declared) -> u64 {
        self.cardinality.unwrap_or_else(|| declared.max_cardinality())
    }

    /// The type of the values (`TypeInfo`).
    pub(super) fn typed(&self) -> &Typed {
        self.typed.get_or_init(|| self.find())
    }

    fn find(&self) -> Typed {
        if let Some((around, step)) = self.around.filter(|(around, _)| around.within_rules) {
            let declared = around.typed().as_ref().map_err(Clone::clone)?;
            if let Some(found) = step.follow(around.schema, declared.as_ref()) {
                return Ok(found);
            }
        }
        if let Some(refusal) = structural::refusal(self.schema) {
            return Err(refusal);
        }
        let is_root = self.around.is_none() || is_set(self.schema, "x-kubernetes-embedded-resource");
        match Schema::from_json(self.schema).declare(is_root) {
            Some(declared) => Ok(Some(declared)),
            None => Err("unable to convert structural schema to CEL declarations".to_owned()),
        }
    }
}

impl Step<'_> {
    /// The type below that of a schema, if that determines it (`typeInfoAccessor`).
    fn follow(self, schema: &Value, declared: Option<&Declared>) -> Option<Option<Declared>> {
        let element = || declared.and_then(Declared::element).cloned();
        match self {
            Step::Property(name) => declared?.field(&escape(name)?).cloned().map(Some),
            Step::Entry => schema_in(schema, "additionalProperties").map(|_| element()),
            Step::Item => schema_in(schema, "items").map(|_| element()),
        }
    }
}

/// The maximum number of items in a value of the schema (`extractMaxElements`); `None` if it is unlimited.
fn max_elements(schema: &Value) -> Option<u64> {
    let limit = |field: &str| schema.get(field)?.as_i64().map(|max| max.max(0).cast_unsigned());
    match word(schema, "type") {
        "object" if schema.get("additionalProperties").is_some() => limit("maxProperties"),
        "array" => limit("maxItems"),
        _ => Some(1),
    }
}
