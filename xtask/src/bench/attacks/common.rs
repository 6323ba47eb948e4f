//! Attacks on what decides and counts for all: roles and their bindings, quotas, and the content of deleted namespaces.

use super::catalogue::{attack, post};
use super::{Attack, Way};
use crate::bench::client::Call;
use crate::bench::{READER, USER};
use http::Method;
use serde_json::{Map, Value, json};

const RBAC: &str = "rbac.authorization.k8s.io";
const ROLES: &str = "/apis/rbac.authorization.k8s.io/v1/clusterroles";
const BINDINGS: &str = "/apis/rbac.authorization.k8s.io/v1/clusterrolebindings";
const REVIEWS: &str = "/apis/authorization.k8s.io/v1/subjectaccessreviews";
const OWN_RULES: &str = "/apis/authorization.k8s.io/v1/selfsubjectrulesreviews";
const NAMESPACE: &str = "/api/v1/namespaces/common";
const UNDER_RBAC: &[&str] = &["--authorization-mode=RBAC"];

/// All of them.
pub(super) fn all() -> Vec<Attack> {
    let under_rbac = |name, before, calls| Attack { flags: UNDER_RBAC, clients: 8, ..attack(name, before, calls) };
    let may_all = || allowed(json!([{"apiGroups": ["*"], "resources": ["*"], "verbs": ["*"]}]));
    let bindings = || (0..20).map(|number| post(BINDINGS, binding(&format!("long-{number}"), 12_000)));
    // Each of two kinds, as what changes nothing is not written.
    let changed =
        || (0..40).map(|number| put(BINDINGS, &format!("long-{}", number % 20), binding("", 11_000 + number)));
    vec![
        under_rbac(
            "reviews of 5,000 groups, with 20 bindings of 12,000 subjects",
            may_all().chain(bindings()).collect(),
            vec![post(REVIEWS, review())],
        ),
        under_rbac(
            "changes of 20 bindings of 12,000 subjects",
            may_all().chain(bindings()).collect(),
            changed().collect(),
        ),
        under_rbac(
            "questions for own rules, of which there are 10,000",
            may_all().chain(allowed(rules(10_000))).collect(),
            vec![post(OWN_RULES, json!({"spec": {"namespace": "default"}}))],
        ),
        under_rbac(
            "grants of 2,500 rules by whoever has 2,500",
            granting().collect(),
            vec![post(&dry(ROLES), granted())],
        ),
        Attack {
            clients: 50,
            ..attack("creates that are counted in a quota of 12,000 resources", quota(), vec![created()])
        },
        attack(
            "changes of a role beside 1,000 that gather others",
            aggregated(),
            vec![put(ROLES, "loose", loose(1)), put(ROLES, "loose", loose(2))],
        ),
        Attack {
            way: Way::Once,
            clients: 1,
            ..attack(
                "the removal of 3,000 finalizers in a deleted namespace",
                held(),
                (0..3000).map(released).collect(),
            )
        },
    ]
}

fn put(collection: &str, name: &str, mut object: Value) -> Call {
    object["metadata"]["name"] = name.into();
    Call::new(Method::PUT, format!("{collection}/{name}"), object.to_string())
}

fn dry(path: &str) -> String {
    format!("{path}?dryRun=All")
}

/// A role with those rules, which the attackers have, and those who read beside them.
fn allowed(rules: Value) -> impl Iterator<Item = Call> {
    let name = format!("of-{}", rules.as_array().map_or(0, Vec::len));
    let bound = json!({"apiGroup": RBAC, "kind": "ClusterRole", "name": name});
    let subjects = [USER, READER].map(|user| json!({"apiGroup": RBAC, "kind": "User", "name": user}));
    let binding = json!({"metadata": {"name": name}, "roleRef": bound, "subjects": subjects});
    [post(ROLES, json!({"metadata": {"name": name}, "rules": rules})), post(BINDINGS, binding)].into_iter()
}

/// That many rules, each about one name.
fn rules(count: usize) -> Value {
    let rule = |number: usize| json!({"apiGroups": [""], "resources": ["secrets"], "verbs": ["use"], "resourceNames": [format!("s-{number}")]});
    (0..count).map(rule).collect()
}

/// A binding of that many groups.
fn binding(name: &str, subjects: usize) -> Value {
    let subjects =
        (0..subjects).map(|number| json!({"apiGroup": RBAC, "kind": "Group", "name": format!("nobody-{number}")}));
    let role = json!({"apiGroup": RBAC, "kind": "ClusterRole", "name": "none"});
    json!({"metadata": {"name": name}, "roleRef": role, "subjects": subjects.collect::<Vec<_>>()})
}

/// A review of a user with many groups.
fn review() -> Value {
    let groups: Vec<String> = (0..5000).map(|number| format!("g-{number}")).collect();
    let asked = json!({"verb": "get", "version": "v1", "resource": "secrets"});
    json!({"spec": {"user": "somebody", "groups": groups, "resourceAttributes": asked}})
}

/// The rights of an attacker who may grant no more than its own rules.
fn granting() -> impl Iterator<Item = Call> {
    let reads = json!({"apiGroups": [""], "resources": ["configmaps"], "verbs": ["get"]});
    let roles = json!([{"apiGroups": [RBAC], "resources": ["clusterroles"], "verbs": ["create"]}, reads]);
    allowed(roles).chain(allowed(rules(2500)))
}

fn granted() -> Value {
    let mut rules = rules(2500);
    if let Some(rules) = rules.as_array_mut() {
        rules.reverse();
    }
    json!({"metadata": {"name": "granted"}, "rules": rules})
}

/// A namespace with a large quota, of which nothing is used.
fn quota() -> Vec<Call> {
    let others = (0..12_000).map(|number| (format!("count/things-{number}.example.com"), "1".to_owned()));
    let hard: Map<String, Value> = others
        .chain([("configmaps".to_owned(), "1000000".to_owned())])
        .map(|(name, amount)| (name, amount.into()))
        .collect();
    let used: Map<String, Value> = hard.keys().map(|name| (name.clone(), "0".into())).collect();
    let status = json!({"status": {"hard": hard, "used": used}}).to_string();
    let status =
        Call::patch(format!("{NAMESPACE}/resourcequotas/large/status"), "application/merge-patch+json", status);
    let quota = json!({"metadata": {"name": "large"}, "spec": {"hard": hard}});
    vec![namespace(), post(&format!("{NAMESPACE}/resourcequotas"), quota), status]
}

fn namespace() -> Call {
    post("/api/v1/namespaces", json!({"metadata": {"name": "common"}}))
}

fn created() -> Call {
    post(&format!("{NAMESPACE}/configmaps"), json!({"metadata": {"generateName": "c-"}}))
}

/// A thousand roles, each of which gathers the rules of 50 others.
fn aggregated() -> Vec<Call> {
    let role = |number: usize| {
        let labels = json!({"gather": format!("g-{}", number % 20)});
        json!({"metadata": {"name": format!("has-{number}"), "labels": labels}, "rules": rules(10)})
    };
    let gathering = |number: usize| {
        let selectors = json!([{"matchLabels": {"gather": format!("g-{}", number % 20)}}]);
        json!({"metadata": {"name": format!("gathers-{number}")}, "aggregationRule": {"clusterRoleSelectors": selectors}})
    };
    let roles = (0..1000).map(role).chain((0..1000).map(gathering)).chain([loose(1)]);
    roles.map(|role| post(ROLES, role)).collect()
}

/// A role that nobody gathers.
fn loose(count: usize) -> Value {
    json!({"metadata": {"name": "loose"}, "rules": rules(count)})
}

/// A deleted namespace of 3,000 config maps with finalizers.
fn held() -> Vec<Call> {
    let objects = (0..3000).map(|number| {
        let metadata = json!({"name": format!("h-{number}"), "finalizers": ["example.com/held"]});
        post(&format!("{NAMESPACE}/configmaps"), json!({"metadata": metadata}))
    });
    [namespace()].into_iter().chain(objects).chain([Call::new(Method::DELETE, NAMESPACE, "")]).collect()
}

fn released(number: usize) -> Call {
    let released = json!({"metadata": {"finalizers": null}}).to_string();
    Call::patch(format!("{NAMESPACE}/configmaps/h-{number}"), "application/merge-patch+json", released)
}
