//! Whether a rule makes sense: one that can match or do nothing is refused.

use super::Rule;
use super::action::{Action, Body, Connection, Delay, Events, Stale, Status, Step, When};
use crate::matching::Match;
use crate::near::hint;
use crate::refusal::{Cause, Refusal};

/// The verbs of requests for resources.
const VERBS: [&str; 8] = ["get", "list", "watch", "create", "update", "patch", "delete", "deletecollection"];
/// The methods in their place, of requests for other paths.
const METHODS: [&str; 6] = ["post", "put", "head", "options", "connect", "trace"];
/// The verbs that write.
const WRITES: [&str; 5] = ["create", "update", "patch", "delete", "deletecollection"];
/// The longest pause, in seconds: a year.
const LONGEST: f64 = 366.0 * 24.0 * 3600.0;

/// The facts about a server that rules are checked against.
pub struct Known<'k> {
    /// The served resources, with their subresources: the group, and `pods` or `pods/status`.
    pub resources: &'k [(String, String)],
    /// The number of replicas.
    pub replicas: usize,
}

/// Checks a rule.
///
/// # Errors
/// 422 with all that is wrong.
pub fn check(rule: &Rule, known: &Known<'_>) -> Result<(), Refusal> {
    let mut causes = rule.on.causes();
    for (index, verb) in rule.on.verbs.iter().enumerate() {
        if !verb.contains('*') && !VERBS.contains(&verb.as_str()) && !METHODS.contains(&verb.as_str()) {
            let why = format!("it is none of {}{}", VERBS.join(", "), hint(verb, VERBS));
            causes.push(Cause::invalid(format_args!("match.verbs[{index}]"), verb, why));
        }
    }
    check_resources(&rule.on, known.resources, &mut causes);
    for (index, replica) in rule.on.replicas.iter().enumerate() {
        if *replica >= known.replicas {
            let why = format!("there are {}, counted from 0", known.replicas);
            causes.push(Cause::invalid(format_args!("match.replicas[{index}]"), replica, why));
        }
    }
    if !(rule.probability > 0.0 && rule.probability <= 1.0) {
        causes.push(Cause::invalid("probability", rule.probability, "it is a part, above 0 and up to 1"));
    }
    for (field, number) in [("times", rule.times), ("ttlSeconds", rule.ttl_seconds)] {
        if number == Some(0) {
            causes.push(Cause::invalid(field, 0, "the rule would strike nothing"));
        }
    }
    match (rule.actions.is_empty(), rule.sequence.is_empty()) {
        (true, true) => causes.push(Cause::required("actions", "the rule would do nothing")),
        (false, false) => causes.push(Cause::invalid("sequence", "...", "it stands in place of actions")),
        _ if rule.times.is_some() && !rule.sequence.is_empty() => {
            causes.push(Cause::invalid("times", rule.times, "a sequence is as long as it is"));
        }
        _ => {}
    }
    if rule.is_about_connections() {
        check_connections(rule, &mut causes);
    }
    let steps = rule.sequence.iter().enumerate();
    let steps = steps.map(|(index, step)| (format!("sequence[{index}]"), Step::actions(step)));
    for (field, actions) in std::iter::once(("actions".to_owned(), rule.actions.clone())).chain(steps) {
        check_actions(&field, &actions, &mut causes);
        check_verbs(&rule.on, &field, &actions, &mut causes);
    }
    if causes.is_empty() { Ok(()) } else { Err(Refusal::invalid("faults", rule.name.as_deref().unwrap_or(""), causes)) }
}

/// Checks a rule about connections: of them no more is known than the replica.
fn check_connections(rule: &Rule, causes: &mut Vec<Cause>) {
    if (Match { replicas: Vec::new(), ..rule.on.clone() }) != Match::default() {
        causes.push(Cause::invalid("match", "...", "of a connection that begins only the replica is known"));
    }
    let others = |action: &Action| !action.is_about_connections() && !matches!(action, Action::Pass(_));
    let steps = rule.sequence.iter().flat_map(Step::actions);
    if rule.actions.iter().cloned().chain(steps).any(|action| others(&action)) {
        causes.push(Cause::invalid(
            "actions",
            "...",
            "tls and beforeRead stand alone: the other actions are about requests",
        ));
    }
}

/// Checks the resources of a pattern, and their groups.
fn check_resources(on: &Match, served: &[(String, String)], causes: &mut Vec<Cause>) {
    let before = causes.len();
    for (index, resource) in on.resources.iter().enumerate() {
        if !served.iter().any(|(_, name)| is(resource, name)) {
            let why = format!("no served resource matches{}", hint(resource, served.iter().map(|(_, name)| &**name)));
            causes.push(Cause::invalid(format_args!("match.resources[{index}]"), resource, why));
        }
    }
    for (index, group) in on.api_groups.iter().enumerate() {
        if !served.iter().any(|(served, _)| crate::glob(group, served)) {
            let why = format!("no served group matches{}", hint(group, served.iter().map(|(group, _)| &**group)));
            causes.push(Cause::invalid(format_args!("match.apiGroups[{index}]"), group, why));
        }
    }
    let matches = |(group, name): &(String, String)| {
        on.api_groups.iter().any(|pattern| crate::glob(pattern, group))
            && on.resources.iter().any(|pattern| is(pattern, name))
    };
    let is_both = !on.resources.is_empty() && !on.api_groups.is_empty();
    if is_both && causes.len() == before && !served.iter().any(matches) {
        causes.push(Cause::invalid(
            "match.apiGroups",
            &on.api_groups,
            "none of these groups has one of these resources",
        ));
    }
    if on.cluster_scoped == Some(true) && on.namespaces.iter().any(|namespace| !namespace.is_empty()) {
        causes.push(Cause::invalid("match.clusterScoped", true, "such a request has no namespace"));
    }
}

/// Whether a pattern of resources matches one.
fn is(pattern: &str, name: &str) -> bool {
    let (of, sub) = pattern.split_once('/').unwrap_or((pattern, ""));
    let (resource, subresource) = name.split_once('/').unwrap_or((name, ""));
    crate::glob(of, resource) && (sub == "*" || crate::glob(sub, subresource))
}

/// Checks that actions are about requests that the rule matches.
fn check_verbs(on: &Match, field: &str, actions: &[Action], causes: &mut Vec<Cause>) {
    let has = |verbs: &[&str]| {
        on.verbs.is_empty() || on.verbs.iter().any(|pattern| verbs.iter().any(|verb| crate::glob(pattern, verb)))
    };
    for action in actions {
        let why = match action {
            Action::Watch(_) | Action::Events(_) if !has(&["watch"]) => "it is about watches",
            Action::Stale(_) if !has(&["get", "list", "watch"]) => "it is about reads",
            _ if action.is_after_commit() && !has(&WRITES) => "after a commit are writes alone",
            _ => continue,
        };
        causes.push(Cause::invalid(
            format_args!("{field}.{}", action.name()),
            &on.verbs,
            format_args!("{why}, and match.verbs has none"),
        ));
    }
}

fn check_actions(field: &str, actions: &[Action], causes: &mut Vec<Cause>) {
    if actions.iter().filter(|action| action.ends()).count() > 1 {
        causes.push(Cause::invalid(field, actions.len(), "a request ends only once"));
    }
    for action in actions {
        check_action(field, action, causes);
    }
}

fn check_action(field: &str, action: &Action, causes: &mut Vec<Cause>) {
    let mut wrong = |of: &str, value: &dyn std::fmt::Debug, why: &str| {
        causes.push(Cause::invalid(format_args!("{field}.{of}"), value, why));
    };
    match action {
        Action::Pass(false) => wrong("pass", &false, "only true means something"),
        Action::Status(Status { code, .. }) if !(400..600).contains(code) => {
            wrong("status.code", code, "a failure has a code from 400 to 599");
        }
        Action::Delay(Delay { seconds, jitter_seconds, when }) => {
            for (of, value) in [("delay.seconds", seconds), ("delay.jitterSeconds", jitter_seconds)] {
                if value.is_some_and(|value| !(0.0..=LONGEST).contains(&value)) {
                    wrong(of, value, "it is a number of seconds, at most a year");
                }
            }
            if matches!(when, When::AfterBytes | When::BeforeRead) {
                wrong("delay.when", when, "a delay is before or after the commit; body.bytesPerSecond slows a body");
            }
        }
        Action::Connection(Connection { when, bytes, .. }) if bytes.is_some() != (*when == When::AfterBytes) => {
            wrong("connection.bytes", bytes, "it goes with afterBytes, and with nothing else");
        }
        Action::Body(Body { truncate_at: None, bytes_per_second: None, corrupt: false }) => {
            wrong("body", &"{}", "it says none of truncateAt, bytesPerSecond and corrupt");
        }
        Action::Body(Body { bytes_per_second: Some(0), .. }) => {
            wrong("body.bytesPerSecond", &0, "nothing would ever come: a connection can hang");
        }
        Action::Watch(watch) if watch.code.is_some_and(|code| !(400..600).contains(&code)) => {
            wrong("watch.code", &watch.code, "a failure has a code from 400 to 599");
        }
        Action::Watch(watch) if watch.after_seconds.is_some_and(|seconds| !(0.0..=LONGEST).contains(&seconds)) => {
            wrong("watch.afterSeconds", &watch.after_seconds, "it is a number of seconds, at most a year");
        }
        Action::Status(Status { retry_after_seconds: Some(seconds), details: Some(details), .. })
            if details.retry_after_seconds.is_some_and(|other| other != *seconds) =>
        {
            wrong("status.details.retryAfterSeconds", &details.retry_after_seconds, "retryAfterSeconds is another one");
        }
        Action::Events(events) => check_events(events, &mut wrong),
        Action::Stale(stale) if !says_one_moment(stale) => {
            wrong("stale", &"...", "it says one of revision, behind and snapshot");
        }
        _ => {}
    }
}

/// Whether one of the ways to say a moment is used. A snapshot's revision stands beside its name once the rule is taken.
fn says_one_moment(stale: &Stale) -> bool {
    let Stale { revision, behind, snapshot, .. } = stale;
    matches!((revision, behind, snapshot), (Some(_), None, _) | (None, Some(_), None) | (None, None, Some(_)))
}

fn check_events(events: &Events, wrong: &mut impl FnMut(&str, &dyn std::fmt::Debug, &str)) {
    const TYPES: [&str; 4] = ["ADDED", "BOOKMARK", "DELETED", "MODIFIED"];
    for (of, types) in [("events.drop", &events.drop), ("events.duplicate", &events.duplicate)] {
        for event in types.iter().filter(|event| !TYPES.contains(&event.as_str())) {
            wrong(of, event, &format!("it is none of {}{}", TYPES.join(", "), hint(event, TYPES)));
        }
    }
    match events.delay_seconds {
        None if events.drop.is_empty() && events.duplicate.is_empty() => {
            wrong("events", &"{}", "it says none of drop, duplicate and delaySeconds");
        }
        Some(seconds) if !(0.0..=LONGEST).contains(&seconds) => {
            wrong("events.delaySeconds", &seconds, "it is a number of seconds, at most a year");
        }
        _ => {}
    }
}
