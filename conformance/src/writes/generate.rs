//! The generator of stories. All follows from a seed.

use super::bodies::Bodies;
use super::forms::{Forms, Kind};
use super::story::{Managers, Operation, Step, Story};
use fastrand::Rng;
use serde_json::{Value, json};
use std::iter;

/// Percentages.
const APPLIED_FIRST: u32 = 40;
const REPEATED: u32 = 20;
const SUBRESOURCE: u32 = 18;
const DAMAGED: u32 = 5;
const DRY: u32 = 4;
const VALIDATED: u32 = 20;
const FORCED: u32 = 55;
const NAMED: u32 = 60;
const META: u32 = 50;

/// A generator of stories; the same seed gives the same stories.
pub(super) struct Generator<'f> {
    bodies: Bodies<'f>,
    /// The number of stories made.
    made: usize,
}

impl<'f> Generator<'f> {
    pub(super) fn new(seed: u64, forms: &'f Forms) -> Generator<'f> {
        Generator { bodies: Bodies { forms, rng: Rng::with_seed(seed) }, made: 0 }
    }

    /// The next story, of so many steps. Kinds take turns.
    pub(super) fn story(&mut self, steps: usize) -> Story {
        let kinds = &self.bodies.forms.kinds;
        let number = self.made % kinds.len();
        self.made += 1;
        let kind = &kinds[number];
        let first = if self.bodies.chance(APPLIED_FIRST) { Operation::Apply } else { Operation::Create };
        let mut story = vec![self.step(kind, first, "")];
        while story.len() < steps {
            if self.bodies.chance(REPEATED) {
                let times = self.bodies.rng.usize(1..4);
                let step = self.bodies.pick(&story).clone();
                if step.operation == Operation::Apply {
                    story.extend(iter::repeat_n(step, times));
                }
                continue;
            }
            let operation = self.operation(kind);
            let subresource = self.subresource(kind, operation);
            story.push(self.step(kind, operation, subresource));
            if operation == Operation::Delete {
                story.push(self.step(kind, first, ""));
            }
        }
        Story { kind: number, steps: story }
    }

    fn operation(&mut self, kind: &Kind) -> Operation {
        match self.bodies.rng.u32(..100) {
            0..40 => Operation::Apply,
            40..52 if !kind.custom => Operation::StrategicPatch,
            40..64 => Operation::MergePatch,
            64..72 => Operation::JsonPatch,
            72..90 => {
                let all = [
                    Managers::Kept,
                    Managers::Kept,
                    Managers::Kept,
                    Managers::Absent,
                    Managers::Empty,
                    Managers::Removed,
                ];
                Operation::Update(*self.bodies.pick(&all))
            }
            90..95 => Operation::Replace,
            95..98 => Operation::Create,
            _ => Operation::Delete,
        }
    }

    fn subresource(&mut self, kind: &Kind, operation: Operation) -> &'static str {
        if matches!(operation, Operation::Create | Operation::Delete) {
            return "";
        }
        if kind.status.is_some() && self.bodies.chance(SUBRESOURCE) {
            return "/status";
        }
        let scalable = !matches!(operation, Operation::Update(_) | Operation::StrategicPatch);
        if kind.scale && scalable && self.bodies.chance(SUBRESOURCE) { "/scale" } else { "" }
    }

    fn step(&mut self, kind: &Kind, operation: Operation, subresource: &'static str) -> Step {
        let forms = self.bodies.forms;
        let versions: Vec<(&String, &'f Value)> =
            forms.kinds.iter().filter(|one| one.resource == kind.resource).flat_map(|one| &one.versions).collect();
        let (version, form) = *self.bodies.pick(&versions);
        let mut body = match (operation, subresource) {
            (Operation::Delete, _) => Value::Null,
            (_, "/scale") => self.scale(operation),
            (_, "/status") => {
                let status = forms.kinds.iter().find(|one| one.resource == kind.resource);
                let status = status.and_then(|one| one.status.as_ref()).unwrap_or(&Value::Null);
                self.body(operation, status, Some("status"))
            }
            _ => self.body(operation, form, None),
        };
        if self.bodies.chance(DAMAGED) && !body.is_null() {
            self.bodies.damage(&mut body);
        }
        let is_whole = matches!(operation, Operation::Create | Operation::Replace | Operation::Apply)
            || matches!(operation, Operation::Update(_));
        if is_whole && body.is_object() {
            let (version, kind) = match subresource {
                "/scale" => ("autoscaling/v1", "Scale"),
                _ => (version.as_str(), kind.kind.as_str()),
            };
            body["apiVersion"] = version.into();
            body["kind"] = kind.into();
            if !body["metadata"].is_object() {
                body["metadata"] = json!({});
            }
        }
        if kind.custom
            && let Some(Value::Object(metadata)) = body.get_mut("metadata")
        {
            // Upstream keeps empty values there until the next write, which makes one more revision.
            metadata.retain(|_, value| !matches!(value, Value::Object(fields) if fields.is_empty()));
            metadata.retain(|_, value| !matches!(value, Value::Array(items) if items.is_empty()));
        }
        Step { operation, version: version.clone(), subresource, query: self.query(operation), body }
    }

    /// A body with metadata and the fields of that form, or with one field of that form.
    fn body(&mut self, operation: Operation, form: &'f Value, within: Option<&str>) -> Value {
        let metadata = self.bodies.forms.shared("metadata");
        let metadata = self.bodies.chance(META).then_some(metadata);
        match operation {
            Operation::MergePatch => self.whole(form, metadata, within, Bodies::merge_patch),
            Operation::StrategicPatch => self.whole(form, metadata, within, Bodies::strategic_patch),
            Operation::JsonPatch => {
                let like = self.whole(form, metadata, within, Bodies::document);
                self.bodies.json_patch(&like)
            }
            _ => self.whole(form, metadata, within, Bodies::document),
        }
    }

    fn whole(
        &mut self,
        form: &'f Value,
        metadata: Option<&'f Value>,
        within: Option<&str>,
        make: fn(&mut Bodies<'f>, &'f Value) -> Value,
    ) -> Value {
        let inner = make(&mut self.bodies, form);
        let mut body = match within {
            Some(field) => json!({field: inner}),
            None => inner,
        };
        if let Some(metadata) = metadata {
            body["metadata"] = make(&mut self.bodies, metadata);
        }
        body
    }

    fn scale(&mut self, operation: Operation) -> Value {
        let replicas = *self.bodies.pick(&[0, 1, 2]);
        match operation {
            Operation::JsonPatch => json!([{"op": "replace", "path": "/spec/replicas", "value": replicas}]),
            _ => json!({"spec": {"replicas": replicas}}),
        }
    }

    fn query(&mut self, operation: Operation) -> Vec<&'static str> {
        let mut query = Vec::new();
        let is_apply = operation == Operation::Apply;
        if operation != Operation::Delete {
            if is_apply || self.bodies.chance(NAMED) {
                query.push(*self.bodies.pick(&["fieldManager=one", "fieldManager=two", "fieldManager=three"]));
            }
            if self.bodies.chance(VALIDATED) {
                let all = ["fieldValidation=Strict", "fieldValidation=Warn", "fieldValidation=Ignore"];
                query.push(*self.bodies.pick(&all));
            }
        }
        if is_apply && self.bodies.chance(FORCED) {
            query.push("force=true");
        }
        if self.bodies.chance(DRY) {
            query.push("dryRun=All");
        }
        query
    }
}
