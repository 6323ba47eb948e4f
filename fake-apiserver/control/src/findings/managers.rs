//! Findings about field managers.

use super::{Finding, grouped, named};
use crate::matching::Requested as _;
use crate::request::Request;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

/// The fields of metadata that are about a writer's intent; the server or the history sets others.
const METADATA: [&str; 4] = ["annotations", "finalizers", "labels", "ownerReferences"];

/// The last write of a field: the request, and the value.
type Written<'r> = BTreeMap<String, (&'r Request, &'r Value)>;

/// Two users who change the same field, and have the same manager for it, as neither names one: it is the beginning of their user agents. So it
/// cannot be seen whose the field is.
pub(super) fn shared(requests: &[Request]) -> Vec<Finding> {
    let groups = grouped(requests, |request| {
        let is_one = request.revision.is_some() && matches!(request.verb.as_str(), "create" | "update" | "patch");
        let names = request.parameter("fieldManager").is_some_and(|name| !name.is_empty());
        (is_one && !names && !is_told_apart(request) && request.body.is_some())
            .then(|| (request.object(), &request.subresource, manager(request)))
    });
    let mut found = Vec::new();
    for ((_, _, manager), writes) in groups {
        let (mut fields, mut told) = (Written::new(), BTreeSet::new());
        for write in writes {
            for (path, value) in leaves(write) {
                let Some((before, was)) = fields.insert(path.clone(), (write, value)) else { continue };
                if was == value || before.user() == write.user() || !told.insert(path.clone()) {
                    continue;
                }
                let (one, other, object) = (before.user(), write.user(), named(write));
                let message = format!(
                    "{one} and {other} both change {path} of {object} as {manager:?}: neither names a field manager"
                );
                found.push(Finding::new("shared-manager", one, message, &[before, write]));
            }
        }
    }
    found
}

/// Whether the user agent ends with its user, as those of the controllers of kube-controller-manager do: one program knows what it does as which.
fn is_told_apart(request: &Request) -> bool {
    request.user_agent.rsplit('/').next().is_some_and(|end| !end.is_empty() && end == request.user())
}

/// The field manager of a request that names none.
fn manager(request: &Request) -> &str {
    request.user_agent.split('/').next().unwrap_or_default()
}

/// The fields that a request sets, by their paths: those that are no objects. Lists of patches are left out, as they may be parts of lists.
fn leaves(request: &Request) -> Vec<(String, &Value)> {
    let mut leaves = Vec::new();
    for (name, value) in request.body.as_ref().and_then(Value::as_object).into_iter().flatten() {
        match name.as_str() {
            "apiVersion" | "kind" => {}
            "metadata" => {
                let fields = value.as_object().into_iter().flatten();
                let own = fields.filter(|(name, _)| METADATA.contains(&name.as_str()));
                own.for_each(|(name, value)| add(format!("metadata.{name}"), value, &mut leaves));
            }
            _ => add(name.clone(), value, &mut leaves),
        }
    }
    let is_patch = request.verb == "patch";
    leaves.retain(|(_, value)| !(is_patch && value.is_array()));
    leaves
}

/// Adds the fields below one.
fn add<'r>(path: String, value: &'r Value, leaves: &mut Vec<(String, &'r Value)>) {
    match value {
        Value::Object(fields) if !fields.is_empty() => {
            fields.iter().for_each(|(name, value)| add(format!("{path}.{name}"), value, leaves));
        }
        _ => leaves.push((path, value)),
    }
}
