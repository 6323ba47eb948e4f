//! Objects that are waited for, until a condition of them is true.

use crate::clock::later;
use crate::registry::{Registry, Resource};
use crate::server::FakeApiServer;
use crate::store::{Entry, Key, Scope};
use control::near::{hint, nearest};
use control::{Cause, Refusal, WaitObject};
use kubernetes_cel as cel;
use serde_json::{Value, json};
use std::future::poll_fn;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::{Instant, timeout_at};

/// The time that requests and objects are waited for by default, and at most, in seconds.
pub(super) const USUAL_WAIT: u32 = 5;
pub(super) const LONGEST_WAIT: u32 = 600;

impl FakeApiServer {
    pub(super) async fn wait_for_object(&self, wait: &WaitObject) -> Result<Value, Refusal> {
        wait.check()?;
        let catalog = self.cluster.catalog();
        let resource = found(&catalog.registry, &wait.resource, &wait.namespace, &wait.name)?;
        let program = wait.cel.as_deref().map(compiled).transpose()?;
        let seconds = wait.timeout_seconds.unwrap_or(USUAL_WAIT).min(LONGEST_WAIT);
        let until = later(Instant::now(), Duration::from_secs(seconds.into()));
        let key = Key::new(resource.id, &wait.namespace, &wait.name);
        let (_, mut follower) = self.cluster.store.follow();
        loop {
            let entry = self.cluster.store.get(&key);
            let object = entry.as_deref().map(shown).transpose()?;
            let lacks = wait.lacks(object.as_ref()).or_else(|| untrue(program.as_ref()?, entry.as_deref()?));
            let Some(lacks) = lacks else {
                return Ok(
                    json!({"satisfied": true, "object": object, "revision": self.cluster.store.revision().to_string()}),
                );
            };
            let news = poll_fn(|context| follower.poll_news(context));
            if timeout_at(until, news).await.is_err() {
                let near = if object.is_none() { self.near(resource, wait) } else { String::new() };
                let message = format!("{} {}: {lacks}{near}", wait.resource, key.path());
                return Ok(json!({"satisfied": false, "object": object, "message": message}));
            }
            // What they are does not matter, nor whether some are forgotten.
            follower.news().ok();
        }
    }

    /// The object that was meant, if there is one of a similar name in the namespace.
    fn near(&self, resource: &Resource, wait: &WaitObject) -> String {
        let mut scope = Scope::all(resource.id);
        scope.namespace = resource.meta.namespaced.then(|| wait.namespace.as_str().into());
        let snapshot = self.cluster.store.snapshot();
        let names = snapshot.range(&scope, "").map(|entry| entry.key.name());
        nearest(&wait.name, names).map(|name| format!("; there is {name:?}")).unwrap_or_default()
    }
}

/// The resource of that name, of which an object may have that namespace.
pub(super) fn found<'r>(
    registry: &'r Registry,
    resource: &str,
    namespace: &str,
    name: &str,
) -> Result<&'r Arc<Resource>, Refusal> {
    let (plural, group) = resource.split_once('.').map_or((resource, None), |(plural, group)| (plural, Some(group)));
    let is_it =
        |resource: &&Arc<Resource>| &*resource.plural == plural && group.is_none_or(|group| &*resource.group == group);
    let invalid = |field: &str, value: &str, why: String| {
        Refusal::invalid("objects", name, vec![Cause::invalid(field, value, why)])
    };
    let found = registry.resources().find(is_it).ok_or_else(|| {
        let names = registry.resources().map(|resource| &*resource.plural);
        invalid("resource", resource, format!("no served resource is called so{}", hint(plural, names)))
    })?;
    match (found.meta.namespaced, namespace.is_empty()) {
        (true, true) => Err(invalid("namespace", "", "objects of this resource have one".into())),
        (false, false) => Err(invalid("namespace", namespace, "objects of this resource have none".into())),
        _ => Ok(found),
    }
}

/// The object as it is stored.
pub(super) fn shown(entry: &Entry) -> Result<Value, Refusal> {
    serde_json::from_slice(entry.json()).map_err(Refusal::internal)
}

/// The program of an expression about `self`.
fn compiled(expression: &str) -> Result<cel::Program, Refusal> {
    let wrong = |why: String| Refusal::invalid("objects", "", vec![Cause::invalid("cel", expression, why)]);
    let declarations = cel::Declarations::new().variable("self", cel::Type::Dyn);
    let compiled = cel::Environment::new().compile(expression, &declarations, cel::Stage::New);
    let compiled = compiled.map_err(|error| wrong(error.to_string()))?;
    if !matches!(compiled.result_type(), cel::Type::Bool | cel::Type::Dyn) {
        return Err(wrong(format!("it is a {}, and not true or false", compiled.result_type().name())));
    }
    compiled.program().map_err(|error| wrong(error.to_string()))
}

/// Why an expression is not true of an object; `None` if it is.
fn untrue(program: &cel::Program, entry: &Entry) -> Option<String> {
    let mut bindings = cel::Bindings::new();
    bindings.set("self", cel::Value::of_data(&entry.object(), &cel::Parts::Whole));
    match program.evaluate(&bindings, &mut cel::Budget::new(cel::PER_CALL_LIMIT)) {
        Ok(cel::Value::Bool(true)) => None,
        Ok(cel::Value::Bool(false)) => Some("the expression is false".into()),
        Ok(value) => Some(format!("the expression is a {}", value.type_name())),
        // A field that is not there yet.
        Err(error) => Some(format!("the expression fails: {error}")),
    }
}
