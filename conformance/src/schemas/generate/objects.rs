//! Stories of objects.

use super::Generator;
use crate::schemas::case::{Action, Case, Story, Verb};
use serde_json::{Map, Value, json};

impl Generator {
    /// A story of an object of that definition, whose schema allows the witness.
    pub(super) fn story(&mut self, case: &Case, witness: &Value) -> Story {
        let (mut story, mut current) = (Story::default(), witness.clone());
        let count = *self.pick(&[0, 1, 1, 1, 2, 3]);
        self.mutate_often(&case.schema, &mut current, count);
        story.before.push(self.action(Verb::Create, current.clone()));
        // In case the other one is refused.
        story.before.push(self.action(Verb::Create, witness.clone()));
        self.changes(case, &mut story.before, &mut current);
        if let Some(then) = &case.then {
            story.after.push(self.action(Verb::Get, Value::Null));
            story.after.push(self.action(Verb::Patch, json!({"metadata": {"labels": {"touched": "yes"}}})));
            let later = Case { schema: then.clone(), ..case.clone() };
            self.changes(&later, &mut story.after, &mut current);
        }
        story
    }

    /// An update and a patch, and often an update of the status.
    fn changes(&mut self, case: &Case, actions: &mut Vec<Action>, current: &mut Value) {
        let count = self.rng.usize(..3);
        self.mutate_often(&case.schema, current, count);
        actions.push(self.action(Verb::Update, current.clone()));
        if case.status && self.chance(60) {
            let mut object = current.clone();
            self.mutate_often(&case.schema["properties"]["status"], &mut object["status"], 1);
            actions.push(self.action(Verb::UpdateStatus, object));
        }
        let patch = self.patch(case, current);
        actions.push(self.action(Verb::Patch, patch));
    }

    fn mutate_often(&mut self, schema: &Value, value: &mut Value, count: usize) {
        (0..count).for_each(|_| self.mutate(schema, value));
        // Bodies are objects.
        if schema["properties"].get("spec").is_some() && !value.is_object() {
            *value = json!({});
        }
        for name in ["apiVersion", "kind", "metadata"] {
            if let Some(fields) = value.as_object_mut().filter(|_| schema["properties"].get("spec").is_some()) {
                fields.remove(name);
            }
        }
    }

    /// A merge patch of some fields of the spec, on the way to a changed object.
    fn patch(&mut self, case: &Case, current: &mut Value) -> Value {
        self.mutate_often(&case.schema, current, 1);
        let Some(fields) = current["spec"].as_object() else { return json!({"spec": current["spec"]}) };
        let mut patch = Map::new();
        for (name, value) in fields.clone() {
            match self.rng.u32(..10) {
                0..5 => drop(patch.insert(name, value)),
                5 => drop(patch.insert(name, Value::Null)),
                _ => {}
            }
        }
        json!({"spec": patch})
    }

    fn action(&mut self, verb: Verb, body: Value) -> Action {
        let validation = if verb == Verb::Get { None } else { self.validation() };
        Action { verb, body, validation }
    }
}
