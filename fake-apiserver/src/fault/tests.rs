//! The rules of faults, and the requests that they strike.

use super::*;
use control::Requested;
use std::borrow::Cow;

/// The attributes of a request.
#[derive(Debug, Clone, Copy, Default)]
struct Target {
    verb: &'static str,
    resource: &'static str,
    subresource: &'static str,
    namespace: &'static str,
    name: &'static str,
}

impl Requested for Target {
    fn verb(&self) -> &str {
        self.verb
    }

    fn group(&self) -> &str {
        ""
    }

    fn resource(&self) -> &str {
        self.resource
    }

    fn subresource(&self) -> &str {
        self.subresource
    }

    fn namespace(&self) -> &str {
        self.namespace
    }

    fn name(&self) -> &str {
        self.name
    }

    fn user(&self) -> &str {
        "me"
    }

    fn body(&self) -> Option<&serde_json::Value> {
        None
    }

    fn user_agent(&self) -> &str {
        "test/1"
    }

    fn replica(&self) -> usize {
        0
    }

    fn query(&self, _name: &str) -> Option<Cow<'_, str>> {
        None
    }
}

fn request(verb: &'static str, path: &'static str) -> Target {
    let (resource, subresource) = path.split_once('/').unwrap_or((path, ""));
    Target { verb, resource, subresource, ..Target::default() }
}

fn code(strike: Option<Strike>) -> u16 {
    match strike.as_ref().and_then(|strike| strike.actions.first()) {
        Some(Action::Status(status)) => status.code,
        _ => 0,
    }
}

#[test]
fn the_first_match_counts_until_it_is_used_up() {
    let faults = Faults::default();
    let first = faults.add(On::create("secrets").status(403).times(2));
    let second = faults.add(On::verb("create").status(500));
    let codes =
        ["secrets", "pods", "secrets", "secrets"].map(|r| code(faults.next_match(&request("create", r), false)));
    assert_eq!(codes, [403, 500, 403, 500]);
    assert_eq!((faults.hits(first), faults.hits(second)), (2, 2));
    faults.remove(second);
    assert!(faults.next_match(&request("create", "pods"), false).is_none());
    let third = faults.add(On::any().status(429));
    assert_ne!(third, second);
    faults.clear();
    assert!(faults.next_match(&request("create", "pods"), false).is_none());
    assert_eq!((faults.hits(first), faults.hits(third)), (0, 0));
}

#[test]
fn patterns() {
    let update = request("update", "pods");
    let status = request("update", "pods/status");
    let version = Target { verb: "", ..request("get", "") };
    let named = Target { namespace: "a", name: "b", ..request("get", "pods") };
    for (on, matched) in [
        (On::any(), [true, true, true, true]),
        (On::update("pods"), [true, false, false, false]),
        (On::update("pods/status"), [false, true, false, false]),
        (On::update("pods").any_subresource(), [true, true, false, false]),
        (On::any().resource("pods"), [true, false, false, true]),
        (On::any().namespace("a"), [false, false, false, true]),
        (On::get("pods").name("b"), [false, false, false, true]),
        (On::get("pods").name("c"), [false, false, false, false]),
        (On::any().user("me"), [true, true, true, true]),
        (On::any().user("m"), [false, false, false, false]),
        (On::any().user_agent_prefix("test"), [true, true, true, true]),
        (On::any().user_agent_prefix("est"), [false, false, false, false]),
    ] {
        let requests = [&update, &status, &version, &named];
        assert_eq!(requests.map(|request| on.0.matches(request)), matched, "{on:?}");
    }
}

#[test]
fn a_delay_has_no_status_to_retry() {
    let delay = On::any().delay(Duration::from_secs(1));
    assert_eq!(delay.clone().retry_after(7), delay);
}

#[test]
fn a_rule_may_skip_requests_and_strike_each_in_another_way() {
    let faults = Faults::default();
    let rule = r#"{"skip": 1, "sequence": ["etcd-timeout", "pass", {"status": {"code": 409}}]}"#;
    let id = faults.add_rule(control::decode(rule.as_bytes()).unwrap()).unwrap().id;
    let next = || faults.next_match(&request("get", "pods"), false).map(|strike| format!("{:?}", strike.actions[0]));
    let seen: Vec<_> = (0..5).map(|_| next().map(|action| action.split('(').next().unwrap().to_owned())).collect();
    assert_eq!(seen, [None, Some("Preset".into()), Some("Pass".into()), Some("Status".into()), None]);
    let status = faults.all()[0].status;
    assert_eq!((id.as_str(), status.seen, status.struck, status.left), ("f1", 4, 3, Some(0)));
}

#[test]
fn a_strike_after_a_commit_counts_when_it_is_confirmed() {
    let faults = Faults::default();
    let rule = r#"{"times": 1, "actions": [{"connection": {"do": "reset", "when": "afterCommit"}}]}"#;
    faults.add_rule(control::decode(rule.as_bytes()).unwrap()).unwrap();
    let [first, second] = [(); 2].map(|()| faults.next_match(&request("update", "pods"), false).unwrap().id);
    assert_eq!(faults.all()[0].status.struck, 0);
    assert!(faults.confirm(first));
    assert!(!faults.confirm(second), "the rule was used up meanwhile");
    assert!(faults.next_match(&request("update", "pods"), false).is_none());
}

#[test]
fn there_are_not_too_many_rules() {
    let faults = Faults::default();
    let rules = vec![Rule { times: Some(1), ..Rule::default() }; MOST + 1];
    assert_eq!(faults.replace(rules).unwrap_err().code, 409);
    assert!(!faults.are_any());
}
