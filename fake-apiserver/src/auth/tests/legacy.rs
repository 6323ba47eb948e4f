//! Tokens in secrets. Texts as a real server.

use super::*;
use base64::engine::general_purpose::STANDARD;

fn claims() -> Value {
    json!({
        "iss": "kubernetes/serviceaccount",
        "kubernetes.io/serviceaccount/namespace": "test",
        "kubernetes.io/serviceaccount/secret.name": "secret",
        "kubernetes.io/serviceaccount/service-account.name": "sa",
        "kubernetes.io/serviceaccount/service-account.uid": "SA",
        "sub": "system:serviceaccount:test:sa",
    })
}

/// A cluster whose secret holds `token`.
fn holding(token: &str) -> Cluster {
    let mut cluster = Cluster::new();
    cluster.put("secrets", "secret", json!({"data": {"token": STANDARD.encode(token)}}));
    cluster
}

#[test]
fn the_same_token_every_time() {
    assert_eq!(sign(&claims()), sign(&claims()));
    assert_eq!(payload(&sign(&claims())), claims());
}

#[test]
fn time_does_not_matter() {
    let token = sign(&with(claims(), json!({"exp": 1, "nbf": i64::MAX})));
    for seconds in [-1_000_000_000, 0, 1_000_000_000] {
        let outcome = authenticator().token(&token, &[], after(seconds), &holding(&token));
        assert_eq!(verdict(outcome), "ok");
    }
}

#[test]
fn the_user_has_no_extra() {
    let token = sign(&claims());
    let authentication = authenticator().token(&token, &[], now(), &holding(&token)).unwrap();
    assert_eq!(
        Value::from(authentication.user.info()),
        json!({
            "username": "system:serviceaccount:test:sa",
            "uid": "SA",
            "groups": ["system:serviceaccounts", "system:serviceaccounts:test", "system:authenticated"],
        })
    );
    assert_eq!(authentication.audiences, [ISSUER]);
}

#[test]
fn every_claim_is_needed() {
    for (missing, expected) in [
        ("sub", "sub claim is missing"),
        ("kubernetes.io/serviceaccount/namespace", "namespace claim is missing"),
        ("kubernetes.io/serviceaccount/secret.name", "secretName claim is missing"),
        ("kubernetes.io/serviceaccount/service-account.name", "serviceAccountName claim is missing"),
        ("kubernetes.io/serviceaccount/service-account.uid", "serviceAccountUID claim is missing"),
    ] {
        let token = sign(&with(claims(), json!({missing: null})));
        assert_eq!(verdict(authenticator().token(&token, &[], now(), &holding(&token))), expected);
    }
    for subject in ["x", "system:serviceaccount:test:other", "system:serviceaccount:other:sa"] {
        let token = sign(&with(claims(), json!({"sub": subject})));
        let outcome = authenticator().token(&token, &[], now(), &holding(&token));
        assert_eq!(verdict(outcome), "sub claim is invalid", "{subject}");
    }
}

#[test]
fn the_cluster_must_still_agree() {
    type Change = fn(&mut Cluster);
    let changes: [(Change, &str); 8] = [
        (|_| {}, "ok"),
        (|cluster| cluster.remove("secrets", "secret"), "Token has been invalidated"),
        (
            |cluster| {
                let future = after(1000).to_string();
                cluster.change("secrets", "secret", |secret| secret["metadata"]["deletionTimestamp"] = future.into());
            },
            "Token has been invalidated",
        ),
        (
            |cluster| cluster.change("secrets", "secret", |secret| secret["data"]["token"] = "eA==".into()),
            "Token does not match server's copy",
        ),
        (|cluster| cluster.remove("serviceaccounts", "sa"), "serviceaccounts \"sa\" not found"),
        (
            |cluster| {
                let future = after(1000).to_string();
                cluster.change("serviceaccounts", "sa", |sa| sa["metadata"]["deletionTimestamp"] = future.into());
            },
            "ServiceAccount test/sa has been deleted",
        ),
        (
            |cluster| cluster.change("serviceaccounts", "sa", |sa| sa["metadata"]["uid"] = "new".into()),
            "ServiceAccount UID (new) does not match claim (SA)",
        ),
        (
            |cluster| {
                cluster.change("secrets", "secret", |secret| {
                    secret["metadata"]["labels"]["kubernetes.io/legacy-token-invalid-since"] = "2020-01-01".into();
                });
            },
            "the token in secret test/secret for service account test/sa has been marked invalid. Use tokens from the \
             TokenRequest API or manually created secret-based tokens, or remove the \
             'kubernetes.io/legacy-token-invalid-since' label from the secret to temporarily allow use of this token",
        ),
    ];
    let trusting = Authenticator::new(Config { lookup: false, ..config() }).unwrap();
    let token = sign(&claims());
    for (change, expected) in changes {
        let mut cluster = holding(&token);
        change(&mut cluster);
        assert_eq!(verdict(authenticator().token(&token, &[], now(), &cluster)), expected);
        assert_eq!(verdict(trusting.token(&token, &[], now(), &Cluster::default())), "ok", "without lookup");
    }
}

#[test]
fn auto_generated_tokens_are_warned_about() {
    let token = sign(&claims());
    let mut cluster = holding(&token);
    let notes = authenticator().token(&token, &[], now(), &cluster).unwrap().notes;
    assert!(notes.warnings.is_empty());
    assert_eq!(notes.annotations[1], ("authentication.k8s.io/legacy-token-manual-secret".into(), "secret".into()));

    cluster.change("serviceaccounts", "sa", |account| account["secrets"] = json!([{"name": "secret"}]));
    let notes = authenticator().token(&token, &[], now(), &cluster).unwrap().notes;
    assert_eq!(
        notes.warnings,
        ["Use tokens from the TokenRequest API or manually created secret-based tokens instead of auto-generated \
          secret-based tokens."]
    );
    assert_eq!(
        notes.annotations[0],
        ("authentication.k8s.io/legacy-token".into(), "system:serviceaccount:test:sa".into())
    );
}

#[test]
fn use_is_recorded_once_a_day() {
    let token = sign(&claims());
    for (label, uses) in [
        (None, vec!["secret 2026-11-21"]),
        (Some("2026-11-20"), vec!["secret 2026-11-21"]),
        (Some("2026-11-21"), vec![]),
        (Some("2026-11-22"), vec![]),
    ] {
        let mut cluster = holding(&token);
        if let Some(day) = label {
            cluster.change("secrets", "secret", |secret| secret["metadata"]["labels"][LAST_USED] = day.into());
        }
        assert_eq!(verdict(authenticator().token(&token, &[], now(), &cluster)), "ok");
        assert_eq!(*cluster.uses.lock().unwrap(), uses, "{label:?}");
    }
}

const LAST_USED: &str = crate::auth::LAST_USED_LABEL;
