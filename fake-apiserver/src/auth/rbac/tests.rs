//! The tables of upstream's tests: `rbac_test.go`, `rule_test.go`, `policy_comparator_test.go`, `policy_compact_test.go`
//! (v1.37.1), in a notation of their own.

mod decisions;

use super::covers::missing;
use super::rule::path_covers;
use super::{Policy, Rbac, Rule, Unresolved};
use crate::auth::User;
use crate::auth::authorizer::{Attributes, Authorizer, Decision, Target};
use crate::deadline::Deadline;
use crate::index::Index;
use crate::registry::{RBAC_GROUP, Registry};
use crate::store::{Draft, Key, Meta, Store};
use std::ops::ControlFlow;
use tree::{Value, json};

/// `verbs groups resources names paths`, lists with commas; `-` is an empty list, `""` an empty text.
fn rule(text: &str) -> Rule {
    let list = |word: &str| -> Vec<String> {
        let texts = word.split(',').filter(|text| *text != "-");
        texts.map(|text| if text == "\"\"" { String::new() } else { text.to_string() }).collect()
    };
    let mut words = text.split(' ').map(list);
    let mut next = || words.next().unwrap_or_default();
    Rule { verbs: next(), api_groups: next(), resources: next(), resource_names: next(), paths: next() }
}

fn rules(texts: &[&str]) -> Vec<Rule> {
    texts.iter().map(|text| rule(text)).collect()
}

fn role(texts: &[&str]) -> Value {
    let rules = rules(texts).into_iter().map(|rule| {
        json!({
            "verbs": rule.verbs, "apiGroups": rule.api_groups, "resources": rule.resources,
            "resourceNames": rule.resource_names, "nonResourceURLs": rule.paths,
        })
    });
    json!({"rules": rules.collect::<Vec<_>>()})
}

/// `Kind:name` each; a service account may have its namespace behind a slash.
fn binding(role: &str, subjects: &[&str]) -> Value {
    let reference = |text: &str| {
        let (kind, name) = text.split_once(':').expect("KIND:NAME");
        let (name, namespace) = name.split_once('/').unwrap_or((name, ""));
        json!({"kind": kind, "name": name, "namespace": namespace})
    };
    json!({"roleRef": reference(role), "subjects": subjects.iter().map(|text| reference(text)).collect::<Vec<_>>()})
}

fn user(name: &str, groups: &[&str]) -> User {
    User { name: name.into(), groups: groups.iter().map(ToString::to_string).collect(), ..User::default() }
}

/// `verb resource[/subresource][.group] [name]`, or `verb /path`.
fn allows(rule: &Rule, user: &User, request: &str, namespace: &str) -> bool {
    let mut words = request.split(' ');
    let (verb, what) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
    let name = words.next().unwrap_or_default();
    let (resource, group) = what.split_once('.').unwrap_or((what, ""));
    let (resource, subresource) = resource.split_once('/').unwrap_or((resource, ""));
    let target = match what.starts_with('/') {
        true => Target::Path(what),
        false => Target::Resource { group, version: "v1", resource, subresource, namespace, name },
    };
    rule.allows(&Attributes::new(user, verb, target))
}

/// Applies a role.
fn set_role(policy: &mut Policy, namespace: &str, name: &str, rules: &[&str]) {
    let resource = if namespace.is_empty() { "clusterroles" } else { "roles" };
    apply(policy, draft(resource, namespace, name, &role(rules)));
}

/// Applies a binding.
fn set_binding(policy: &mut Policy, namespace: &str, name: &str, role: &str, subjects: &[&str]) {
    let resource = if namespace.is_empty() { "clusterrolebindings" } else { "rolebindings" };
    apply(policy, draft(resource, namespace, name, &binding(role, subjects)));
}

fn apply(policy: &mut Policy, draft: Draft) {
    policy.apply(&Store::new(1).create(draft, None).expect("the store is empty"));
}

fn rules_for(policy: &Policy, user: &User, namespace: &str) -> (Vec<Rule>, Vec<String>) {
    let (rules, unresolved) = policy.rules_for(user, namespace, Deadline::never()).expect("there is no deadline");
    (rules.into_iter().cloned().collect(), unresolved.iter().map(Unresolved::by_kind).collect())
}

fn policy_allows(policy: &Policy, user: &User, request: &str, namespace: &str) -> bool {
    let mut allowed = false;
    let visited = policy.visit(user, namespace, Deadline::never(), |found| match found {
        Ok((_, rule)) if allows(rule, user, request, namespace) => {
            allowed = true;
            ControlFlow::Break(())
        }
        _ => ControlFlow::Continue(()),
    });
    assert!(visited.is_ok());
    allowed
}

#[test]
fn authorizer() {
    let mut policy = Policy::default();
    for (name, rules) in [
        ("admin", &["* * * - *"][..]),
        ("getter", &["get - - - /apis"]),
        ("any", &["* - - - /apis"]),
        ("prefix", &["get - - - /apis/*"]),
        ("pods", &["* * pods - *"]),
        ("below", &["* * pods/status - *", "* * */scale - *"]),
    ] {
        set_role(&mut policy, "", name, rules);
    }
    for (namespace, role) in [("ns1", "admin"), ("ns3", "pods"), ("ns4", "below")] {
        let role = format!("ClusterRole:{role}");
        set_binding(&mut policy, namespace, "b", &role, &["User:admin", "Group:admins"]);
    }
    set_binding(&mut policy, "", "1", "ClusterRole:getter", &["User:foo", "Group:bar"]);
    set_binding(&mut policy, "", "2", "ClusterRole:any", &["User:root", "Group:root"]);
    set_binding(&mut policy, "", "3", "ClusterRole:prefix", &["User:prefixed", "Group:prefixed"]);
    for (name, groups, request, namespace, allowed) in [
        ("admin", &[][..], "get Pods", "ns1", true),
        ("admin", &["group1"], "watch Foobar", "ns1", true),
        ("joe", &["admins"], "watch Foobar", "ns1", true),
        ("joe", &["group1", "admins"], "watch Foobar", "ns1", true),
        ("admin", &[], "GET Pods", "ns2", false),
        ("admin", &[], "GET Nodes", "", false),
        ("admin", &["admins"], "GET Nodes", "", false),
        ("foo", &[], "get /apis", "", true),
        ("", &["bar"], "get /apis", "", true),
        ("root", &[], "watch /apis", "", true),
        ("", &["root"], "watch /apis", "", true),
        ("prefixed", &[], "get /apis/v1", "", true),
        ("", &["prefixed"], "get /apis/v1/foobar", "", true),
        ("foo", &[], "watch /apis", "", false),
        ("", &["bar"], "watch /apis", "", false),
        ("root", &[], "get /api/v1", "", false),
        ("prefixed", &[], "get /api/v1", "", false),
        ("admin", &[], "get pods", "ns3", true),
        ("admin", &[], "get pods/status", "ns3", false),
        ("admin", &[], "get pods/status", "ns4", true),
        ("admin", &[], "get anything/scale", "ns4", true),
        ("admin", &[], "get pods", "ns4", false),
    ] {
        assert_eq!(policy_allows(&policy, &user(name, groups), request, namespace), allowed, "{name} {request}");
    }
}

#[test]
fn rule_matches() {
    let nobody = User::default();
    let all = ["verb1 resource1.group1", "verb1 resource1.group2", "verb1 resource2.group1", "verb2 resource1.group1"];
    for (text, allowed) in [
        ("* group1 resource1", [true, false, false, true]),
        ("verb1 * resource1", [true, true, false, false]),
        ("verb1 group1 *", [true, false, true, false]),
        ("verb1,verb2 group1,group2 resource1,resource2", [true; 4]),
        ("verb1 group1 resource1", [true, false, false, false]),
    ] {
        for (request, allowed) in all.into_iter().zip(allowed) {
            assert_eq!(allows(&rule(text), &nobody, request, ""), allowed, "{text}: {request}");
        }
    }
    for (text, request, allowed) in [
        ("verb1 group1 */foo", "verb1 r/foo.group1", true),
        ("verb1 group1 */foo", "verb1 r/fo.group1", false),
        ("verb1 group1 */foo", "verb1 r.group1", false),
        ("verb1 group1 r/*", "verb1 r/foo.group1", false),
        ("verb1 group1 r", "verb1 r/foo.group1", false),
        ("verb1 group1 * a,b", "verb1 r.group1 b", true),
        ("verb1 group1 * a,b", "verb1 r.group1 c", false),
        ("verb1 group1 * a,b", "verb1 r.group1", false),
        ("verb1 - - - *", "verb1 /foo/bar", true),
        ("verb1 - - - /foo*", "verb1 /foobar", true),
        ("verb1 - - - /foo", "verb1 /foo/", false),
        ("verb1 - - - *", "verb1 r.group1", false),
        ("verb1 * *", "verb1 /foo", false),
    ] {
        assert_eq!(allows(&rule(text), &nobody, request, ""), allowed, "{text}: {request}");
    }
    // As access reviews may ask.
    for (text, resource, subresource, allowed) in [
        ("get * pods/log", "pods/log", "", true),
        ("get * */log", "pods/log", "", false),
        ("get * pods", "pods/log", "", false),
        ("get * pods/a/b", "pods", "a/b", true),
        ("get * pods/a/b", "pods/a", "b", true),
        ("get * */a/b", "pods", "a/b", true),
        ("get * */b", "pods", "a/b", false),
    ] {
        let target = Target::Resource { group: "", version: "v1", resource, subresource, namespace: "", name: "" };
        let asked = rule(text).allows(&Attributes::new(&nobody, "get", target));
        assert_eq!(asked, allowed, "{text}: {resource} {subresource}");
    }
}

#[test]
fn applies_to() {
    let all = ["Group:system:authenticated", "Group:system:unauthenticated"];
    let account = "system:serviceaccount:kube-system:default";
    for (subjects, user, namespace, applies) in [
        (&["User:barfoo", "User:foobar"][..], user("foobar", &[]), "", true),
        (&["User:barfoo", "User:foobar"], user("zimzam", &[]), "", false),
        (&["User:barfoo", "Group:foobar"], user("zimzam", &["foobar"]), "namespace1", true),
        (&["User:barfoo", "ServiceAccount:default/kube-system"], user(account, &[]), "default", true),
        (&["ServiceAccount:default"], user(account, &[]), "kube-system", true),
        (&["ServiceAccount:default"], user(account, &[]), "default", false),
        (&["ServiceAccount:default"], user(account, &[]), "", false),
        (&["User:*"], user("foobar", &[]), "default", false),
        (&["Robot:foobar"], user("foobar", &[]), "default", false),
        (&all, user("foobar", &["system:authenticated"]), "default", true),
        (&all, user("system:anonymous", &["system:unauthenticated"]), "default", true),
    ] {
        let mut policy = Policy::default();
        set_role(&mut policy, "", "r", &["get * *"]);
        set_binding(&mut policy, namespace, "b", "ClusterRole:r", subjects);
        assert_eq!(!rules_for(&policy, &user, namespace).0.is_empty(), applies, "{subjects:?} {user:?} {namespace}");
    }
}

#[test]
fn rules_that_hold_for_users() {
    let mut policy = Policy::default();
    set_role(&mut policy, "namespace1", "readthings", &["GET,WATCH v1 pods", "GET,WATCH v1 services"]);
    set_role(&mut policy, "", "cluster-admin", &["* * *"]);
    set_role(&mut policy, "", "write-nodes", &["PUT,CREATE,UPDATE v1 nodes"]);
    set_binding(&mut policy, "namespace1", "a", "Role:readthings", &["User:foobar", "Group:group1"]);
    set_binding(&mut policy, "", "a", "ClusterRole:cluster-admin", &["User:admin", "Group:admin"]);
    for (user, namespace, expected) in [
        (user("foobar", &[]), "namespace1", &["GET,WATCH v1 pods", "GET,WATCH v1 services"][..]),
        (user("foobar", &[]), "namespace2", &[]),
        (user("foobar", &["admin"]), "", &["* * *"]),
        (user("foobar", &["admin"]), "namespace1", &["* * *", "GET,WATCH v1 pods", "GET,WATCH v1 services"]),
        (user("", &[]), "", &[]),
    ] {
        assert_eq!(rules_for(&policy, &user, namespace), (rules(expected), Vec::new()), "{user:?} {namespace}");
    }
    policy.delete(&key("roles", "namespace1", "readthings"));
    let lost = (Vec::new(), vec![not_found("role", "readthings")]);
    assert_eq!(rules_for(&policy, &user("foobar", &[]), "namespace1"), lost);
    policy.delete(&key("rolebindings", "namespace1", "a"));
    assert_eq!(rules_for(&policy, &user("foobar", &[]), "namespace1"), (Vec::new(), Vec::new()));
    set_binding(&mut policy, "", "a", "Role:cluster-admin", &["User:lost"]);
    let lost = (Vec::new(), vec![not_found("role", "cluster-admin")]);
    assert_eq!(rules_for(&policy, &user("lost", &[]), ""), lost);
}

#[test]
fn what_is_removed_leaves_nothing() {
    let mut policy = Policy::default();
    set_role(&mut policy, "namespace1", "a", &["* * *"]);
    set_binding(&mut policy, "namespace1", "a", "Role:a", &["User:foobar"]);
    policy.delete(&key("roles", "namespace1", "a"));
    policy.delete(&key("rolebindings", "namespace1", "a"));
    assert_eq!(format!("{policy:?}"), format!("{:?}", Policy::default()));
}

fn not_found(kind: &str, name: &str) -> String {
    format!("{kind}.rbac.authorization.k8s.io \"{name}\" not found")
}

#[test]
fn covers() {
    const ALL_BUT_STAR: &str = "get,list,watch,create,update,delete,exec v1 roles";
    for (owned, wanted, lacking) in [
        (&["get v1 builds"][..], &["get v1 builds"][..], &[][..]),
        (&["get v1 */scale"], &["get v1 foo/scale"], &[]),
        (
            &["delete v1 deployments", "delete v1 builds", "update v1 builds,deployments"],
            &["delete,update v1 builds,deployments"],
            &[],
        ),
        (
            &["delete,update a,b builds,deployments"],
            &["delete a deployments", "delete b builds", "update a,b builds,deployments"],
            &[],
        ),
        (
            &["delete,update v1 builds,deployments", "delete v1 pods"],
            &["delete,update v1 builds,deployments,pods"],
            &["update v1 pods"],
        ),
        (&["get * roles"], &["get group1,group2 roles"], &[]),
        (&["get dummy-group roles"], &["get * roles"], &["get * roles"]),
        (&["get * roles"], &["get * roles"], &[]),
        (&["* v1 roles"], &["watch,list v1 roles"], &[]),
        (&[ALL_BUT_STAR], &["* v1 roles"], &["* v1 roles"]),
        (&["* v1 roles"], &["* v1 roles"], &[]),
        (&["get v1 *"], &["get v1 resourcegroup:deployments"], &[]),
        (&["get v1 roles,resourcegroup:deployments"], &["get v1 *"], &["get v1 *"]),
        (&["get v1 *"], &["get v1 *"], &[]),
        (&["get v1 pods"], &["get v1 pods foo,bar"], &[]),
        (&["get v1 pods foo,bar"], &["get v1 pods"], &["get v1 pods"]),
        (&["* - - - /apis"], &["* - - - /apis"], &[]),
        (&["* - - - *"], &["* - - - /apis,/apis/v1,/"], &[]),
        (&["* - - - /apis/*"], &["get - - - /apis,/apis/v1"], &["get - - - /apis"]),
        (&["* - - - /apis/*"], &["get - - - /apis/v1/foo,/apis/v1"], &[]),
        (&["get v1 builds - /apis"], &["get v1 builds - /apis"], &[]),
        (&["get v1 builds"], &["get v1 builds - /apis"], &["get - - - /apis"]),
        // Rules that differ in their verbs alone are shown as one.
        (
            &[],
            &["get,list a x", "update a x", "get a x n", "list a x n", "get a,b y"],
            &["get,list,update a x", "get,list a x n", "get a y", "get b y"],
        ),
    ] {
        let mut lacking: Vec<String> = lacking.iter().map(|text| rule(text).to_string()).collect();
        lacking.sort();
        let owned = rules(owned);
        assert_eq!(
            missing(&owned.iter().collect::<Vec<_>>(), &rules(wanted), Deadline::never()).ok(),
            Some(lacking),
            "{owned:?} {wanted:?}"
        );
    }
    let shown = "{APIGroups:[\"\"], Resources:[\"pods\"], ResourceNames:[\"a\"], Verbs:[\"get\" \"list\"]}";
    assert_eq!(rule("get,list \"\" pods a").to_string(), shown);
}

#[test]
fn paths() {
    for (owner, requested, covered) in [
        ("*", "", true),
        ("*", "/api", true),
        ("/*", "", false),
        ("/*", "/", true),
        ("/*", "/foo", true),
        ("/api", "/api", true),
        ("/apis", "/api", false),
        ("/api/v1", "/api", false),
        ("/api/*", "/api/v1", true),
        ("/api/*", "/api", false),
        ("/api/*/*", "/api/v1", false),
        ("/*/v1/*", "/api/v1", false),
    ] {
        assert_eq!(path_covers(owner, requested), covered, "{owner} {requested}");
    }
}

fn key(resource: &str, namespace: &str, name: &str) -> Key {
    Key::new(Registry::built_in().path(RBAC_GROUP, "v1", resource).expect("served").resource.id, namespace, name)
}

/// An object as the store keeps it, as far as that matters here.
fn draft(resource: &str, namespace: &str, name: &str, object: &Value) -> Draft {
    let head = format!("{{\"metadata\":{{\"namespace\":\"{namespace}\",\"uid\":\"u\"");
    let json = format!("{head}}},{}", &object.to_string()[1..]).into_bytes();
    Draft { key: key(resource, namespace, name), json, slot: head.len(), body: 1, meta: Meta::default() }
}
