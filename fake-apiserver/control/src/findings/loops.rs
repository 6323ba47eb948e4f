//! Findings about writes that repeat.

use super::{Finding, grouped, named};
use crate::matching::Requested as _;
use crate::request::Request;
use jiff::SignedDuration;
use serde_json::Value;

/// The number of equal writes within [`WINDOW`] that make a loop.
const LOOP: usize = 10;
/// The time that they take at most.
const WINDOW: SignedDuration = SignedDuration::from_secs(10);
/// The number of writes in a row that change nothing.
const IDLE: usize = 3;
/// The number of changes of hands that make stomping.
const CHANGES: usize = 4;

/// The same write of one object by one user, many times within seconds.
pub(super) fn hot_loops(requests: &[Request]) -> Vec<Finding> {
    let groups = grouped(requests, |request| {
        let body = request.body.as_ref().map(without_revision).map(|body| body.to_string());
        // Who is refused by a test's rule does well to try again.
        let is_about_one = request.is_write() && !request.name.is_empty() && request.fault.is_none();
        is_about_one.then(|| (request.user().to_owned(), request.verb.clone(), request.uri.clone(), body))
    });
    let looped = groups.into_iter().filter(|(_, writes)| {
        writes.windows(LOOP).any(|some| {
            let (first, last) = (some[0].received, some[LOOP - 1].received);
            last.duration_since(first).abs() <= WINDOW
        })
    });
    looped
        .map(|((user, verb, ..), writes)| {
            let message = format!("{user} sends the same {verb} of {} {} times", named(writes[0]), writes.len());
            Finding::new("hot-loop", &user, message, &writes)
        })
        .collect()
}

/// Updates and patches that succeed and change nothing, several in a row.
pub(super) fn idle_writes(requests: &[Request]) -> Vec<Finding> {
    let groups = grouped(requests, |request| {
        let succeeds = request.code == 200 && matches!(request.verb.as_str(), "update" | "patch");
        let is_dry = request.parameter("dryRun").is_some();
        (succeeds && !is_dry).then(|| (request.user().to_owned(), request.uri.clone()))
    });
    let mut found = Vec::new();
    for ((user, _), writes) in groups {
        let idle: Vec<&Request> = writes.iter().filter(|write| write.revision.is_none()).copied().collect();
        let in_a_row = writes.windows(IDLE).any(|some| some.iter().all(|write| write.revision.is_none()));
        // An apply that changes nothing is what server-side apply is for.
        let applies = idle.iter().all(|write| write.parameter("fieldManager").is_some() && write.verb == "patch");
        if in_a_row && !applies {
            let message = format!("{user} writes {} {} times without a change", named(idle[0]), idle.len());
            found.push(Finding::new("idle-write", &user, message, &idle));
        }
    }
    found
}

/// Two users who put back what the other has changed.
pub(super) fn stomping(requests: &[Request]) -> Vec<Finding> {
    let groups = grouped(requests, |request| {
        let is_update = request.verb == "update" && request.revision.is_some() && request.body.is_some();
        is_update.then(|| (request.object(), &request.subresource))
    });
    let mut found = Vec::new();
    for (_, writes) in groups {
        let content = |write: &Request| (write.user().to_owned(), write.body.as_ref().map(without_revision));
        let back = writes.windows(3).filter(|some| {
            let [first, second, third] = [content(some[0]), content(some[1]), content(some[2])];
            first == third && first.0 != second.0 && first.1 != second.1
        });
        let number = back.count();
        if number + 2 >= CHANGES && number > 0 {
            let (one, other) = (writes[0].user(), writes[1].user());
            let message = format!("{one} and {other} undo each other's updates of {}", named(writes[0]));
            found.push(Finding::new("stomping", one, message, &writes));
        }
    }
    found
}

/// An object without what differs from one write to the next by itself.
fn without_revision(body: &Value) -> Value {
    let mut body = body.clone();
    if let Some(metadata) = body.get_mut("metadata").and_then(Value::as_object_mut) {
        for field in ["resourceVersion", "managedFields", "generation"] {
            metadata.remove(field);
        }
    }
    body
}
