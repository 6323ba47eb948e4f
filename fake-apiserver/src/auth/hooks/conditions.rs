//! Match conditions of webhooks that authorize: expressions that say whether a webhook is asked about a request.
//!
//! Follows `pkg/authorization/cel/{compile,matcher}.go` of `k8s.io/apiserver` (v0.37.1).

use crate::auth::expressions::Expression;
use crate::deadline::Deadline;
use crate::error::aggregate;
use kubernetes_cel::{Bindings, Declarations, Parts, Type, Value};
use std::sync::LazyLock;

/// The variable, and the type of its value.
const REQUEST: (&str, &str) = ("request", "kubernetes.SubjectAccessReviewSpec");

/// `buildRequestType`
static NAMES: LazyLock<Declarations> = LazyLock::new(|| {
    let (text, texts) = (Type::String, Type::list(Type::String));
    let object = |name: &str| Type::object(&format!("kubernetes.{name}"));
    let selector = [("rawSelector", text.clone()), ("requirements", Type::list(object("SelectorRequirement")))];
    let attributes = ["namespace", "verb", "group", "version", "resource", "subresource", "name"];
    let attributes = attributes.map(|name| (name, text.clone())).into_iter().chain([
        ("fieldSelector", object("FieldSelectorAttributes")),
        ("labelSelector", object("LabelSelectorAttributes")),
    ]);
    let spec = [
        ("resourceAttributes", object("ResourceAttributes")),
        ("nonResourceAttributes", object("NonResourceAttributes")),
        ("user", text.clone()),
        ("groups", texts.clone()),
        ("extra", Type::map(Type::String, texts.clone())),
        ("uid", text.clone()),
    ];
    Declarations::new()
        .variable(REQUEST.0, Type::object(REQUEST.1))
        .object(REQUEST.1, spec)
        .object("kubernetes.ResourceAttributes", attributes)
        .object("kubernetes.NonResourceAttributes", ["path", "verb"].map(|name| (name, text.clone())))
        .object("kubernetes.FieldSelectorAttributes", selector.clone())
        .object("kubernetes.LabelSelectorAttributes", selector)
        .object("kubernetes.SelectorRequirement", [("key", text.clone()), ("operator", text), ("values", texts)])
});

/// Compiled conditions, in their order.
#[derive(Debug, Default)]
pub(crate) struct Conditions {
    all: Vec<Expression>,
    /// The parts of the request that they read.
    reads: Parts,
}

impl Conditions {
    /// Adds a condition.
    ///
    /// # Errors
    /// The reason that it does not compile.
    pub(crate) fn add(&mut self, text: &str) -> Result<(), String> {
        let condition = Expression::compile(text, &NAMES)?;
        if *condition.result_type() != Type::Bool {
            return Err(format!("must evaluate to bool but got {}", condition.result_type().full_name()));
        }
        self.reads.join(condition.parts_of(REQUEST.0));
        self.all.push(condition);
        Ok(())
    }

    /// Whether there are none.
    pub(super) fn is_empty(&self) -> bool {
        self.all.is_empty()
    }

    /// Whether all are true of a request.
    ///
    /// # Errors
    /// If some have errors, and none before them is false.
    pub(super) fn match_request(&self, request: &tree::Value, deadline: &Deadline) -> Result<bool, String> {
        let mut bindings = Bindings::new();
        bindings.set(REQUEST.0, Value::of_data(request, &self.reads));
        let mut errors = Vec::new();
        for condition in &self.all {
            match condition.evaluate(&bindings, &|| deadline.check().is_ok()) {
                Ok(Value::Bool(false)) => return Ok(false),
                Ok(_) => {}
                Err(why) => errors
                    .push(format!("cel evaluation error: expression '{}' resulted in error: {why}", condition.text)),
            }
        }
        if errors.is_empty() { Ok(true) } else { Err(aggregate(errors)) }
    }
}
