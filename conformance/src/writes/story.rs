//! Stories: the writes of one object, as data.

use super::forms::{Forms, Kind};
use super::play::Played;
use serde_json::Value;

/// The most differences that are shown.
const SHOWN: usize = 12;

/// The writes of an object.
#[derive(Debug, Clone)]
pub(super) struct Story {
    /// The number of its kind among the forms.
    pub(super) kind: usize,
    pub(super) steps: Vec<Step>,
}

/// A write.
#[derive(Debug, Clone)]
pub(super) struct Step {
    pub(super) operation: Operation,
    /// The API version.
    pub(super) version: String,
    /// The subresource; empty for the object itself.
    pub(super) subresource: &'static str,
    /// The parameters of the query.
    pub(super) query: Vec<&'static str>,
    /// The body; of an update, the fields to replace in the object.
    pub(super) body: Value,
}

/// A way to write.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Operation {
    Create,
    /// The object as it was read last, with some fields replaced.
    Update(Managers),
    /// The body in place of the object.
    Replace,
    JsonPatch,
    MergePatch,
    StrategicPatch,
    Apply,
    Delete,
}

/// The treatment of the `managedFields` that were read, in an update.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Managers {
    Kept,
    /// The field is absent.
    Absent,
    /// The list is empty.
    Empty,
    /// The list has an empty entry, which asks for their removal.
    Removed,
}

impl Step {
    /// The path below the collection, for an object of that name.
    pub(super) fn path(&self, kind: &Kind, name: &str) -> String {
        let collection = kind.collection(&self.version);
        let path = match self.operation {
            Operation::Create => collection,
            _ => format!("{collection}/{name}{}", self.subresource),
        };
        let separators = std::iter::once('?').chain(std::iter::repeat('&'));
        let query: String = separators.zip(&self.query).map(|(separator, part)| format!("{separator}{part}")).collect();
        path + &query
    }

    pub(super) fn method(&self) -> &'static str {
        match self.operation {
            Operation::Create => "POST",
            Operation::Update(_) | Operation::Replace => "PUT",
            Operation::Delete => "DELETE",
            _ => "PATCH",
        }
    }

    pub(super) fn content_type(&self) -> &'static str {
        match self.operation {
            Operation::JsonPatch => "application/json-patch+json",
            Operation::MergePatch => "application/merge-patch+json",
            Operation::StrategicPatch => "application/strategic-merge-patch+json",
            Operation::Apply => "application/apply-patch+yaml",
            _ => "application/json",
        }
    }

    /// Names the object in a body, unless it is a patch.
    pub(super) fn set_name(&self, body: &mut Value, name: &str) {
        let is_patch =
            matches!(self.operation, Operation::JsonPatch | Operation::MergePatch | Operation::StrategicPatch);
        if body.is_object() && !is_patch {
            body["metadata"]["name"] = name.into();
        }
    }

    /// The command of a scenario.
    fn command(&self, kind: &Kind) -> String {
        let verb = match self.operation {
            Operation::Create => "create",
            Operation::Update(_) | Operation::Replace => "update",
            Operation::JsonPatch => "patch json",
            Operation::MergePatch => "patch merge",
            Operation::StrategicPatch => "patch strategic",
            Operation::Apply => "patch apply",
            Operation::Delete => "delete",
        };
        let query: String = self.query.iter().map(|part| format!(" ?{part}")).collect();
        let mut text = String::new();
        if kind.versions.len() > 1 {
            text += &format!("# {}\n", self.version);
        }
        if let Operation::Update(managers) = self.operation {
            text += &format!("# As read, managers {managers:?}, but for these fields:\n");
        }
        text += &format!("{verb} {}/a{}{query}\n", kind.resource, self.subresource);
        if !self.body.is_null() {
            let mut body = self.body.clone();
            self.set_name(&mut body, "a");
            // A dollar sign would be a name.
            text += &format!("  {}\n", body.to_string().replace('$', "$$"));
        }
        text
    }
}

impl Story {
    /// The story in the language of scenarios up to the first difference, and the difference.
    pub(super) fn text(&self, forms: &Forms, played: &Played) -> String {
        let kind = &forms.kinds[self.kind];
        let mut text = format!("# {}\n", kind.resource);
        let until = played.difference().map_or(self.steps.len(), |(step, _)| step + 1);
        for (step, status) in self.steps.iter().zip(&played.statuses).take(until) {
            text += &format!("\n{}----\n{status}\n", step.command(kind));
        }
        if let Some((_, differences)) = played.difference() {
            text += "# Here they differ:\n";
            for difference in differences.iter().take(SHOWN) {
                text += &format!("{difference}\n");
            }
        }
        text
    }

    /// The last step played, with its difference.
    pub(super) fn last(&self, forms: &Forms, played: &Played) -> String {
        let Some((step, differences)) = played.difference() else { return String::new() };
        let differences: String = differences.iter().take(SHOWN).map(|difference| format!("{difference}\n")).collect();
        format!("{}{differences}", self.steps[step].command(&forms.kinds[self.kind]))
    }
}
