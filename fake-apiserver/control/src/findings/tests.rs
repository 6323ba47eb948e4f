//! Stories with and without findings.

use super::*;
use jiff::SignedDuration;
use serde_json::{Value, json};

/// A request, from a line: `USER VERB RESOURCE[/NAME] [?QUERY] CODE [REVISION]`, a second after the one before.
fn request(cursor: u64, line: &str, body: Option<Value>) -> Request {
    let words: Vec<&str> = line.split(' ').collect();
    let (resource, name) = words[2].split_once('/').unwrap_or((words[2], ""));
    let (query, rest) = match words[3].strip_prefix('?') {
        Some(query) => (format!("?{query}"), &words[4..]),
        None => (String::new(), &words[3..]),
    };
    Request {
        cursor,
        replica: 0,
        took_micros: 0,
        received: jiff::Timestamp::from_second(cursor as i64 / 2).unwrap(),
        user: words[0].into(),
        impersonated: None,
        user_agent: "test".into(),
        method: String::new(),
        uri: format!("/api/v1/namespaces/d/{}{query}", words[2]),
        verb: words[1].into(),
        api_group: String::new(),
        version: "v1".into(),
        resource: resource.into(),
        subresource: String::new(),
        namespace: "d".into(),
        name: name.into(),
        body,
        code: rest[0].parse().unwrap(),
        error: None,
        items: None,
        patch_type: None,
        revision: rest.get(1).map(|revision| revision.parse().unwrap()),
        authentication_error: None,
        fault: None,
    }
}

/// The ids of the findings in a story.
fn ids(story: &[(&str, Option<Value>)]) -> Vec<String> {
    let number = |index: usize| u64::try_from(index).unwrap() + 1;
    let requests: Vec<Request> =
        story.iter().enumerate().map(|(index, (line, body))| request(number(index), line, body.clone())).collect();
    findings(&requests).into_iter().map(|finding| finding.id).collect()
}

fn bodies(lines: &[&'static str]) -> Vec<(&'static str, Option<Value>)> {
    lines.iter().map(|line| (*line, None)).collect()
}

#[test]
fn a_controller_that_behaves_has_no_findings() {
    let body =
        |value: &str, revision: &str| Some(json!({"data": {"k": value}, "metadata": {"resourceVersion": revision}}));
    let story = [
        ("m list secrets 200", None),
        ("m watch secrets ?watch=true&resourceVersion=5 200", None),
        ("m update secrets/a 409", body("x", "5")),
        ("m get secrets/a 200", None),
        ("m update secrets/a 200 8", body("x", "7")),
        ("m watch secrets ?watch=true&resourceVersion=8 410", None),
        ("m list secrets 200", None),
        ("m watch secrets ?watch=true&resourceVersion=9 200", None),
    ];
    assert_eq!(ids(&story), [""; 0]);
}

#[test]
fn each_kind_is_found() {
    let same = json!({"metadata": {"resourceVersion": "1"}});
    let updates: Vec<(&str, Option<Value>)> = vec![("m update secrets/a 200 9", Some(same.clone())); 10];
    assert_eq!(ids(&updates), ["hot-loop"]);
    let idle: Vec<(&str, Option<Value>)> = vec![("m update secrets/a 200", Some(same)); 3];
    assert_eq!(ids(&idle), ["idle-write"]);
    let of = |value: &str| Some(json!({"data": value, "metadata": {"resourceVersion": "1"}}));
    let fight: Vec<(&str, Option<Value>)> =
        (0..3).flat_map(|_| [("a update secrets/a 200 2", of("a")), ("b update secrets/a 200 3", of("b"))]).collect();
    assert_eq!(ids(&fight), ["stomping", "shared-manager"]);
    assert_eq!(ids(&bodies(&["m list secrets 200"; 10])), ["relist-storm"]);
    assert_eq!(ids(&bodies(&["m watch secrets ?watch=true 200"; 3])), ["watch-from-nowhere"]);
    let expired = ["m watch secrets ?resourceVersion=1 410", "m watch secrets ?resourceVersion=1 410"];
    assert_eq!(ids(&bodies(&expired)), ["expired-not-listed"]);
    assert_eq!(ids(&bodies(&["m patch secrets/a 409"])), ["conflict-not-retried"]);
    assert_eq!(ids(&[("m update secrets/a 200 3", Some(json!({"metadata": {}})))]), ["blind-update"]);
}

#[test]
fn a_manager_is_shared_if_two_users_change_a_field_under_a_default_name() {
    let of = |value: &str| Some(json!({"data": {"k": value}, "metadata": {"resourceVersion": "1"}}));
    let story = [("a update secrets/a 200 2", of("x")), ("b update secrets/a 200 3", of("y"))];
    assert_eq!(ids(&story), ["shared-manager"]);
    // Named managers, one user, the same value, other fields, and writes that were refused are no reason.
    for story in [
        [("a update secrets/a ?fieldManager=a 200 2", of("x")), ("b update secrets/a ?fieldManager=b 200 3", of("y"))],
        [("a update secrets/a 200 2", of("x")), ("a update secrets/a 200 3", of("y"))],
        [("a update secrets/a 200 2", of("x")), ("b update secrets/a 200 3", of("x"))],
        [("a update secrets/a 200 2", of("x")), ("b patch secrets/a 200 3", Some(json!({"data": {"other": "y"}})))],
        [("a update secrets/a 200 2", of("x")), ("b patch secrets/a 200 3", Some(json!({"data": [1]})))],
    ] {
        assert_eq!(ids(&story), [""; 0], "{story:?}");
    }
    // One program with several users, which its user agents name, knows whose the field is.
    let mut requests: Vec<Request> =
        story.iter().zip(1..).map(|((line, body), cursor)| request(cursor, line, body.clone())).collect();
    requests.iter_mut().for_each(|request| request.user_agent = format!("manager/v1/{}", request.user));
    assert_eq!(findings(&requests), []);
}

#[test]
fn lists_of_large_collections_have_a_limit_or_come_from_a_cache() {
    let found = |query: &str, items| {
        let mut list = request(1, &format!("m list secrets {query}200"), None);
        list.items = items;
        findings(&[list]).into_iter().map(|finding| finding.message).collect::<Vec<_>>()
    };
    assert_eq!(found("", Some(1001)), ["m lists 1001 secrets at once, without a limit"]);
    assert_eq!(found("?limit=0 ", Some(1001)).len(), 1);
    assert_eq!(found("?resourceVersion=7&resourceVersionMatch=Exact ", Some(1001)).len(), 1);
    for (query, items) in
        [("", Some(1000)), ("", None), ("?limit=500 ", Some(1001)), ("?resourceVersion=0 ", Some(9999))]
    {
        assert_eq!(found(query, items), [""; 0], "{query}");
    }
}

#[test]
fn a_watch_that_was_open_for_a_minute_misses_its_bookmarks() {
    let found = |query: &str, seconds: i64| {
        let lines = ["m watch secrets ?Q 200", "m watch secrets ?Q 200", "m list secrets 200"];
        let mut requests: Vec<Request> =
            (1..).zip(lines).map(|(cursor, line)| request(cursor, &line.replace('Q', query), None)).collect();
        requests[1].error = Some(410);
        for later in &mut requests[1..] {
            later.received += SignedDuration::from_secs(seconds);
        }
        findings(&requests).into_iter().map(|finding| finding.id).collect::<Vec<_>>()
    };
    assert_eq!(found("resourceVersion=5", 60), ["no-bookmarks"]);
    assert_eq!(found("resourceVersion=5", 6), [""; 0]);
    assert_eq!(found("resourceVersion=5&allowWatchBookmarks=true", 600), [""; 0]);
}

#[test]
fn what_only_looks_odd_is_none() {
    // Two watches that begin anew, and some that select other objects.
    let watches = ["a", "b", "c"].map(|app| format!("m watch secrets ?watch=true&labelSelector=app%3D{app} 200"));
    let watches: Vec<(&str, Option<Value>)> = watches.iter().map(|line| (line.as_str(), None)).collect();
    assert_eq!(ids(&watches), [""; 0]);
    assert_eq!(ids(&bodies(&["m watch secrets ?watch=true 200"; 2])), [""; 0]);
    // Lists that are refused are none, and who watches knows what has become of an object after a conflict.
    assert_eq!(ids(&bodies(&["m list secrets 403"; 20])), [""; 0]);
    assert_eq!(ids(&bodies(&["m watch secrets ?watch=true&resourceVersion=1 200", "m update secrets/a 409"])), [""; 0]);
    assert_eq!(
        ids(&bodies(&["o watch secrets ?watch=true&resourceVersion=1 200", "m update secrets/a 409"])),
        ["conflict-not-retried"]
    );
    for (gone, expected) in [
        ("o delete secrets/a 200", &[][..]),
        ("o deletecollection secrets 200", &[]),
        ("o delete secrets/a 404", &["conflict-not-retried"]),
        ("o delete secrets/b 200", &["conflict-not-retried"]),
    ] {
        assert_eq!(ids(&bodies(&["m update secrets/a 409", gone])), expected, "{gone}");
    }
    // A test's own rule is what the client tries again for.
    let body = Some(json!({"metadata": {"resourceVersion": "1"}}));
    let mut struck: Vec<Request> =
        (1..=10).map(|cursor| request(cursor, "m update secrets/a 503", body.clone())).collect();
    for request in &mut struck {
        let actions = vec!["status".to_owned()];
        request.fault =
            Some(crate::Struck { id: "f1".into(), name: None, actions, committed: false, unfaithful: false });
    }
    assert_eq!(findings(&struck), []);
}

#[test]
fn kinds_have_names_of_their_own() {
    let ids: std::collections::BTreeSet<&str> = KINDS.iter().map(|kind| kind.id).collect();
    assert_eq!(ids.len(), KINDS.len());
}
