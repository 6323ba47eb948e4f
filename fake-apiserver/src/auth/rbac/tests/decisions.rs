//! Decisions while roles and bindings change, and while the time passes.

use super::*;

/// A binding with few subjects, one with many, and changes from one to the other.
#[test]
fn bindings_are_found_by_their_subjects_as_they_change() {
    let mut policy = Policy::default();
    set_role(&mut policy, "n", "r", &["get \"\" pods"]);
    let many: Vec<String> = (0..100).map(|number| format!("User:u{number}")).chain(["Group:late".into()]).collect();
    let many: Vec<&str> = many.iter().map(String::as_str).collect();
    let groups: Vec<String> = (0..1000).map(|number| format!("g{number}")).collect();
    let groups: Vec<&str> = groups.iter().map(String::as_str).chain(["late"]).collect();
    let (first, last, late, crowd) = (user("u0", &[]), user("u99", &["x"]), user("x", &["late"]), user("x", &groups));
    let sources = |policy: &Policy, user: &User| {
        let mut sources = Vec::new();
        let visited = policy.visit(user, "n", Deadline::never(), |found| {
            sources.extend(found.map(|(source, _)| source.to_string()));
            ControlFlow::Continue(())
        });
        assert!(visited.is_ok());
        sources
    };
    let source = |name: &str, subject: &str| format!("RoleBinding \"{name}/n\" of Role \"r\" to {subject}");
    set_binding(&mut policy, "n", "wide", "Role:r", &many);
    assert_eq!(sources(&policy, &first), [source("wide", "User \"u0\"")]);
    assert_eq!(sources(&policy, &last), [source("wide", "User \"u99\"")]);
    assert_eq!(sources(&policy, &late), [source("wide", "Group \"late\"")]);
    assert_eq!(sources(&policy, &crowd), [source("wide", "Group \"late\"")]);
    set_binding(&mut policy, "n", "a", "Role:r", &["Group:g7", "User:x", "Group:g3"]);
    assert_eq!(sources(&policy, &crowd), [source("a", "Group \"g7\""), source("wide", "Group \"late\"")]);
    assert_eq!(sources(&policy, &late), [source("a", "User \"x\""), source("wide", "Group \"late\"")]);
    set_binding(&mut policy, "n", "wide", "Role:r", &["User:u99", "User:u99"]);
    assert_eq!(sources(&policy, &first), Vec::<String>::new());
    assert_eq!(sources(&policy, &last), [source("wide", "User \"u99\"")]);
    set_binding(&mut policy, "n", "wide", "Role:r", &many);
    policy.delete(&key("rolebindings", "n", "a"));
    assert_eq!(sources(&policy, &crowd), [source("wide", "Group \"late\"")]);
    policy.delete(&key("rolebindings", "n", "wide"));
    policy.delete(&key("rolebindings", "n", "wide"));
    assert_eq!(sources(&policy, &last), Vec::<String>::new());
}

#[test]
fn decisions_end_with_their_deadline() {
    let store = Store::new(2);
    store.create(draft("rolebindings", "n", "b", &binding("Role:r", &["User:alice"])), None).expect("it is new");
    store.create(draft("roles", "n", "r", &role(&["list \"\" pods"])), None).expect("it is new");
    let (alice, passed) = (user("alice", &[]), Deadline::passed());
    let target =
        Target::Resource { group: "", version: "v1", resource: "pods", subresource: "", namespace: "n", name: "" };
    let decision =
        Rbac::default().authorize(&store, &Attributes { deadline: &passed, ..Attributes::new(&alice, "list", target) });
    assert_eq!(decision.map_err(|late| late.code()), Err(504));
    assert_eq!(Rbac::default().rules(&store, &alice, "n", &passed).map_err(|late| late.code()), Err(504));
    let wide = rules(&[format!("{} * * -", vec!["verb"; 5000].join(",")).as_str()]);
    let owned = vec![&wide[0]; 2];
    assert_eq!(missing(&owned, &rules(&["other * *"]), &passed).map_err(|late| late.code()), Err(504));
    assert!(missing(&owned, &rules(&["other * *"]), Deadline::never()).is_ok_and(|missing| missing.len() == 1));
}

#[test]
fn decisions_follow_the_store_at_once() {
    let store = Store::new(2);
    let alice = user("alice", &[]);
    let decide = || {
        let target =
            Target::Resource { group: "", version: "v1", resource: "pods", subresource: "", namespace: "n", name: "" };
        Rbac::default().authorize(&store, &Attributes::new(&alice, "list", target)).expect("there is no deadline")
    };
    let allowed = Decision::Allow("RBAC: allowed by RoleBinding \"b/n\" of Role \"r\" to User \"alice\"".into());
    assert_eq!(decide(), Decision::NoOpinion(String::new()));
    let bound = store.create(draft("rolebindings", "n", "b", &binding("Role:r", &["User:alice"])), None);
    assert_eq!(decide(), Decision::NoOpinion(format!("RBAC: {}", not_found("role", "r"))));
    let made = store.create(draft("roles", "n", "r", &role(&["list \"\" pods"])), None).expect("it is new");
    assert_eq!(decide(), allowed);
    assert_eq!(
        Rbac::default().rules(&store, &alice, "n", Deadline::never()).expect("there is no deadline").resources[0]
            .resources,
        ["pods"]
    );
    store.update(draft("roles", "n", "r", &role(&["list \"\" nodes"])), made.revision).expect("it is current");
    assert_eq!(decide(), Decision::NoOpinion(String::new()));
    // More happens than the history keeps.
    let bound = bound.expect("it is new");
    let bound = store.delete(&bound.key, bound.revision);
    assert!(bound.is_ok());
    for name in ["c", "d", "e", "f"] {
        let draft = draft("rolebindings", "n", name, &binding("Role:other", &["User:alice"]));
        store.create(draft, None).expect("it is new");
    }
    assert_eq!(decide(), Decision::NoOpinion(format!("RBAC: {}", not_found("role", "other"))));
}
