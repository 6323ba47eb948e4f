//! The generator of cases: a structural schema, and writes of objects that it is about. All follows from a seed.
//!
//! A schema is made together with a value that it allows, its witness: each keyword is chosen so that it allows the witness, too.
//! So definitions are valid, defaults included, and objects that differ a little from the witness are about one keyword each.

mod defects;
mod junctors;
mod mutate;
mod node;
mod objects;
mod rules;
mod tighten;
mod values;

use super::case::Case;
use node::Context;
use serde_json::{Map, Value, json};

/// A generator of cases; the same seed gives the same cases.
pub struct Generator {
    rng: fastrand::Rng,
}

/// The schema of a value, a value that it allows, and its type for expressions.
#[derive(Debug, Clone)]
struct Made {
    schema: Map<String, Value>,
    witness: Value,
    kind: rules::Kind,
}

/// The percentage of definitions that are made invalid.
const INVALID: u32 = 15;
/// The percentage of valid definitions that are changed later on.
const CHANGED: u32 = 50;

impl Generator {
    /// A generator with that seed.
    pub fn new(seed: u64) -> Generator {
        Generator { rng: fastrand::Rng::with_seed(seed) }
    }

    /// The next case, with stories of `objects` objects.
    pub fn case(&mut self, objects: usize) -> Case {
        let status = self.chance(30);
        let (root, witness) = self.root(status);
        let mut case = Case { schema: root, status, validation: self.validation(), ..Case::default() };
        if self.chance(INVALID) {
            for _ in 0..=self.rng.usize(..2) {
                self.break_schema(&mut case.schema);
            }
            case.broken = true;
        }
        if self.chance(CHANGED) {
            case.then = Some(self.tightened(&case.schema));
        }
        case.stories = (0..objects).map(|_| self.story(&case, &witness)).collect();
        case
    }

    /// The schema of the whole object, and a witness without metadata.
    fn root(&mut self, status: bool) -> (Value, Value) {
        let mut parts = vec![("spec", self.node(Context::spec(3)))];
        if self.chance(if status { 80 } else { 10 }) {
            parts.push(("status", self.node(Context::spec(1))));
        }
        if self.chance(20) {
            parts.push(("extra", self.node(Context::spec(1))));
        }
        let mut made = self.object_of(parts.into_iter().map(|(name, made)| (name.to_owned(), made)).collect(), false);
        if self.chance(10) {
            made.schema["properties"]["metadata"] =
                json!({"type": "object", "properties": {"name": {"type": "string", "maxLength": 10}}});
        }
        if self.chance(10) {
            made.schema["properties"]["kind"] = json!({"type": "string"});
        }
        if self.chance(10) {
            made.schema.insert("x-kubernetes-preserve-unknown-fields".to_owned(), true.into());
        }
        if self.chance(20) {
            self.add_rules(&mut made, Context::spec(0));
        }
        (made.schema.into(), made.witness)
    }

    /// Whether something happens that happens so often.
    fn chance(&mut self, percent: u32) -> bool {
        self.rng.u32(..100) < percent
    }

    /// One of these, of which there must be some.
    fn pick<'a, T>(&mut self, all: &'a [T]) -> &'a T {
        &all[self.rng.usize(..all.len())]
    }

    /// A `fieldValidation`.
    fn validation(&mut self) -> Option<&'static str> {
        *self.pick(&[None, Some("Strict"), Some("Warn"), Some("Ignore")])
    }
}
