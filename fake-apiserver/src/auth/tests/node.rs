//! The Node authorizer as a table, and where scenarios cannot show it: changes of the store, and a history that is forgotten.
//!
//! The table follows `TestNodeAuthorizer` of `plugin/pkg/auth/authorizer/node` (v1.37.1).

use super::*;
use crate::auth::authorizer::{Attributes, Authorizer, Decision, Target};
use crate::auth::node::NodeAuthorizer;
use crate::auth::requested::Selectors;
use crate::deadline::Deadline;
use crate::registry::ids;
use crate::store::{Draft, Key, Meta, Store, Updated};
use crate::user::NODES_GROUP;

fn node(name: &str) -> User {
    User { name: format!("system:node:{name}"), groups: vec![NODES_GROUP.into()], ..User::default() }
}

fn key(name: &str) -> Key {
    Key::new(ids::PODS, "test", name)
}

/// A pod of that spec and that status.
fn draft(name: &str, uid: &str, spec: Value, status: Value) -> Draft {
    let annotations = if name.starts_with("mirror") { json!({"kubernetes.io/config.mirror": "x"}) } else { json!({}) };
    let pod =
        json!({"metadata": {"annotations": annotations, "name": name, "uid": uid}, "spec": spec, "status": status});
    let json = pod.to_string();
    let slot = json.find(&format!("\"uid\":\"{uid}\"")).unwrap() + uid.len() + "\"uid\":\"\"".len();
    Draft { key: key(name), json: json.into_bytes(), slot, body: 1, meta: Meta::default() }
}

fn secret(node: &str, name: &str) -> Value {
    json!({"nodeName": node, "volumes": [{"secret": {"secretName": name}}]})
}

fn create(store: &Store, name: &str, spec: Value) {
    store.create(draft(name, "1", spec, json!({})), None).unwrap();
}

fn update(store: &Store, draft: Draft) {
    let expected = store.get(&draft.key).unwrap().revision;
    assert!(matches!(store.update(draft, expected), Ok(Updated::Changed(_))));
}

/// The decision about `verb group/resource/subresource namespace/name`, with the fields of a list behind that.
fn decision(store: &Store, user: &User, question: &str) -> Decision {
    let words: Vec<&str> = question.split(' ').collect();
    let kind: Vec<&str> = words[1].split('/').collect();
    let (namespace, name) = words[2].split_once('/').unwrap();
    let fields = words[3..].join(",");
    let selectors = Selectors::Written { fields: &fields, labels: "" };
    let target =
        Target::Resource { group: kind[0], version: "v1", resource: kind[1], subresource: kind[2], namespace, name };
    NodeAuthorizer::new(Vec::new())
        .authorize(store, &Attributes { selectors, ..Attributes::new(user, words[0], target) })
        .expect("there is no deadline")
}

fn sees(store: &Store, node_name: &str, secret: &str) -> bool {
    let question = format!("get /secrets/ test/{secret}");
    matches!(decision(store, &node(node_name), &question), Decision::Allow(_))
}

#[test]
fn what_a_node_may_do() {
    let store = Store::new(100);
    let claims = json!({
        "nodeName": "n", "serviceAccountName": "sa",
        "volumes": [{"persistentVolumeClaim": {"claimName": "claim"}}, {"name": "scratch", "ephemeral": {}}],
        "resourceClaims": [{"name": "a", "resourceClaimName": "given"}, {"name": "b", "resourceClaimTemplateName": "t"}],
    });
    let made = json!({
        "resourceClaimStatuses": [{"name": "b", "resourceClaimName": "made"}],
        "extendedResourceClaimStatus": {"resourceClaimName": "extended"},
    });
    store.create(draft("pod", "1", claims, made), None).unwrap();
    let unrelated = "no relationship found between node 'n' and this object";
    for (question, reason) in [
        ("get /persistentvolumeclaims/ test/claim", None),
        ("get /persistentvolumeclaims/ test/pod-scratch", None),
        ("get /persistentvolumeclaims/ test/scratch", Some(unrelated)),
        ("get /persistentvolumeclaims/ other/claim", Some(unrelated)),
        ("update /persistentvolumeclaims/status test/claim", None),
        ("patch /persistentvolumeclaims/status test/claim", None),
        ("get /persistentvolumeclaims/status test/claim", Some("can only get/update/patch this type")),
        ("get resource.k8s.io/resourceclaims/ test/given", None),
        ("get resource.k8s.io/resourceclaims/ test/made", None),
        ("get resource.k8s.io/resourceclaims/ test/extended", None),
        ("get resource.k8s.io/resourceclaims/ test/a", Some(unrelated)),
        ("get resource.k8s.io/resourceclaims/status test/made", Some("cannot get subresource")),
        ("get /serviceaccounts/ test/sa", None),
        ("create /serviceaccounts/token test/sa", None),
        ("create /serviceaccounts/token test/", Some("can only create tokens for individual service accounts")),
        ("create /pods/eviction test/pod", None),
        ("create /pods/proxy test/pod", Some("")),
        ("get storage.k8s.io/csinodes/ /n", None),
        ("create storage.k8s.io/csinodes/ /", None),
        ("patch storage.k8s.io/csinodes/ /n", None),
        ("delete storage.k8s.io/csinodes/ /n", None),
        ("create resource.k8s.io/resourceslices/ /", None),
        ("get resource.k8s.io/resourceslices/ /s", Some(unrelated)),
        ("list resource.k8s.io/resourceslices/ / spec.nodeName=n", None),
        ("deletecollection resource.k8s.io/resourceslices/ / spec.nodeName=n", None),
        ("create certificates.k8s.io/podcertificaterequests/ test/", None),
        ("watch certificates.k8s.io/podcertificaterequests/ / spec.nodeName=n", None),
        (
            "list certificates.k8s.io/podcertificaterequests/ / spec.nodeName=m",
            Some("can only list/watch podcertificaterequests with nodeName field selector"),
        ),
        ("get /services/ test/s", Some("")),
    ] {
        let expected = match reason {
            None => Decision::Allow(String::new()),
            Some(reason) => Decision::NoOpinion(reason.into()),
        };
        assert_eq!(decision(&store, &node("n"), question), expected, "{question}");
    }
}

#[test]
fn who_is_a_node() {
    let (authorizer, store) = (NodeAuthorizer::new(Vec::new()), Store::new(100));
    let own = "get /nodes/ /n";
    assert_eq!(decision(&store, &node("n"), own), Decision::Allow(String::new()));
    let unknown = "unknown node for user \"system:node:\"";
    assert_eq!(decision(&store, &node(""), own), Decision::NoOpinion(unknown.into()));
    let stranger = User { groups: Vec::new(), ..node("n") };
    assert_eq!(decision(&store, &stranger, own), Decision::NoOpinion(String::new()));
    // As a real server: the rules of nodes cannot be listed.
    let rules = authorizer.rules(&store, &node("n"), "test", Deadline::never()).expect("there is no deadline");
    assert_eq!(
        (rules.incomplete, rules.errors.join("")),
        (true, "node authorizer does not support user rule resolution".into())
    );
    assert!(!authorizer.rules(&store, &stranger, "test", Deadline::never()).is_ok_and(|rules| rules.incomplete));
}

#[test]
fn edges_come_and_go_with_pods() {
    let store = Store::new(100);
    create(&store, "early", secret("n", "a"));
    assert_eq!((sees(&store, "n", "a"), sees(&store, "m", "a")), (true, false));
    // Two pods, one secret: it is seen as long as one of them is there.
    create(&store, "late", json!({"nodeName": "n", "imagePullSecrets": [{"name": "a"}, {"name": "a"}, {"name": "b"}]}));
    create(&store, "abroad", secret("m", "a"));
    for (pod, seen) in
        [("early", [true, true, true]), ("late", [false, false, true]), ("abroad", [false, false, false])]
    {
        let revision = store.get(&key(pod)).unwrap().revision;
        store.delete(&key(pod), revision).unwrap();
        let now = [sees(&store, "n", "a"), sees(&store, "n", "b"), sees(&store, "m", "a")];
        assert_eq!(now, seen, "without {pod}");
    }
}

#[test]
fn pods_are_looked_at_anew_when_their_references_change() {
    let store = Store::new(100);
    // Not on a node yet.
    create(&store, "pod", json!({"volumes": [{"secret": {"secretName": "a"}}]}));
    assert!(!sees(&store, "n", "a"));
    update(&store, draft("pod", "1", secret("n", "a"), json!({})));
    assert!(sees(&store, "n", "a"));
    let container = json!([{"env": [{"valueFrom": {"secretKeyRef": {"name": "b"}}}]}]);
    let mut spec = secret("n", "a");
    spec["ephemeralContainers"] = container;
    update(&store, draft("pod", "1", spec, json!({})));
    assert_eq!((sees(&store, "n", "a"), sees(&store, "n", "b")), (true, true));
    // Another pod of the same name.
    update(&store, draft("pod", "2", secret("n", "c"), json!({})));
    assert_eq!((sees(&store, "n", "a"), sees(&store, "n", "c")), (false, true));
    // A claim that the scheduler made for it.
    let claimed = json!({"extendedResourceClaimStatus": {"resourceClaimName": "late"}});
    update(&store, draft("pod", "2", secret("n", "c"), claimed));
    let claim = "get resource.k8s.io/resourceclaims/ test/late";
    assert_eq!(decision(&store, &node("n"), claim), Decision::Allow(String::new()));
    // A mirror gives its node nothing to see, but itself.
    create(&store, "mirror", secret("n", "d"));
    assert!(!sees(&store, "n", "d"));
    assert_eq!(decision(&store, &node("n"), "get /pods/ test/mirror"), Decision::Allow(String::new()));
}

#[test]
fn a_forgotten_history_is_no_harm() {
    let store = Store::new(100);
    create(&store, "gone", secret("n", "a"));
    let revision = store.get(&key("gone")).unwrap().revision;
    store.delete(&key("gone"), revision).unwrap();
    create(&store, "here", secret("n", "b"));
    store.compact(store.revision());
    assert_eq!((sees(&store, "n", "a"), sees(&store, "n", "b")), (false, true));
    create(&store, "next", secret("n", "c"));
    assert!(sees(&store, "n", "c"));
}
