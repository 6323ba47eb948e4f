//! The Common Expression Language as in Kubernetes 1.37: compiler, cost estimates, evaluator, libraries.
//!
//! Facts, numbers and texts are those of cel-go v0.29.2, of `pkg/cel` in k8s.io/apiserver v0.37.1, and of
//! `pkg/apiserver/schema/cel` in k8s.io/apiextensions-apiserver v0.37.1. `cargo xtask schema` records their results for some
//! thousand expressions in `fixtures/cel`, and the tests of this crate compare its own with these.
//!
//! The crates `cel` 0.15 and `kube-cel` 0.8 check the types of an expression only as they evaluate it, so they refuse none
//! beforehand. `kube-cel` warns of costs by a rough rule of its own, and neither counts the cost of an evaluation.
//! Kubernetes refuses definitions and policies for types and for estimates, and objects for costs: a faithful server needs
//! all three.
//!
//! GAP: CEL: messages of protobuf (`google.protobuf.Int64Value{value: 1}`)
//!
//! Where Go iterates over a map in random order, this crate does so
//! in the order of insertion.
//!
//! # Example
//! ```
//! use kubernetes_cel::{Bindings, Budget, Declarations, Environment, PER_CALL_LIMIT, Schema, Stage, Value};
//! use tree::json;
//!
//! let schema = Schema::from_json(&json!({
//!     "type": "object",
//!     "properties": {"replicas": {"type": "integer"}, "names": {"type": "array", "maxItems": 9, "items": {"type": "string"}}},
//! }));
//! let declared = schema.declare(false).unwrap().named("selfType");
//! let declarations = Declarations::new().variable("self", declared.to_type()).types_of(&declared);
//!
//! let environment = Environment::new();
//! let expression = environment.compile("self.names.size() <= self.replicas", &declarations, Stage::New).unwrap();
//! assert_eq!(expression.cost_estimate(&declared).max, 6);
//!
//! let mut bindings = Bindings::new();
//! bindings.set("self", schema.value(&json!({"replicas": 2, "names": ["a", "b"]})));
//! let mut budget = Budget::new(PER_CALL_LIMIT);
//! let value = expression.program().unwrap().evaluate(&bindings, &mut budget).unwrap();
//! assert!(matches!(value, Value::Bool(true)));
//! assert_eq!(budget.cost(), 6);
//! ```

mod ast;
mod check;
mod cost;
mod deep;
mod env;
mod eval;
mod functions;
pub mod go_regex;
mod library;
mod parse;
mod plan;
mod schema;
mod source;
mod types;
mod value;

pub use cost::estimate::{CostEstimate, Sizes, UnknownSizes};
pub use env::{Declarations, Environment, Expression, Stage};
pub use eval::{Bindings, Budget, PER_CALL_LIMIT, Program};
pub use library::Opaque;
pub use library::authorizer::{Authorizer, Decision, Request, User, authorizer, resource_check};
pub use library::patch::Patch;
pub use schema::{Declared, Parts, Schema, escape, is_reserved, unescape};
pub use source::CompileError;
pub use types::Type;
pub use value::go_duration;
pub use value::{Computed, EvalError, List, ListKind, Map, Object, Outcome, Timestamp, Value};
