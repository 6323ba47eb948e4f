//! Time: clocks that disagree, and objects that are going away.

use super::*;

const NOT_YET: &str = "service account token is not valid yet";
const EXPIRED: &str = "service account token has expired";

/// The verdict of a server whose clock shows `at` seconds after the token was issued.
fn at(claims: &Value, at: i64) -> String {
    verdict(authenticator().token(&sign(claims), &[], after(at), &Cluster::new()))
}

/// A token of an hour, at an API server whose clock differs by `skew` from the issuer's, `age` seconds later.
#[test]
fn the_skew_between_two_servers_decides() {
    for (skew, age, expected) in [
        (0, 0, "ok"),
        (0, 3660, "ok"),
        (0, 3661, EXPIRED),
        (-30, 0, "ok"),
        (-30, 3690, "ok"),
        (-30, 3691, EXPIRED),
        (-60, 0, "ok"),
        (-60, 3720, "ok"),
        (-60, 3721, EXPIRED),
        (-61, 0, NOT_YET),
        (-61, 1, "ok"),
        (-61, 3721, "ok"),
        (-61, 3722, EXPIRED),
        (-120, 0, NOT_YET),
        (-120, 59, NOT_YET),
        (-120, 60, "ok"),
        (-120, 3780, "ok"),
        (-120, 3781, EXPIRED),
        (-3600, 3539, NOT_YET),
        (-3600, 3540, "ok"),
        (-3600, 7260, "ok"),
        (-3600, 7261, EXPIRED),
        (60, 0, "ok"),
        (60, 3600, "ok"),
        (60, 3601, EXPIRED),
        (120, 3540, "ok"),
        (120, 3541, EXPIRED),
        (3660, 0, "ok"),
        (3661, 0, EXPIRED),
    ] {
        assert_eq!(at(&bound_claims(), age + skew), expected, "skew {skew}, age {age}");
    }
}

#[test]
fn a_fraction_of_a_second_counts() {
    let authenticator = authenticator();
    let token = sign(&bound_claims());
    for (milliseconds, expected) in [(-60_000, "ok"), (-60_001, NOT_YET), (3_660_000, "ok"), (3_660_001, EXPIRED)] {
        let time = now() + SignedDuration::from_millis(milliseconds);
        assert_eq!(verdict(authenticator.token(&token, &[], time, &Cluster::new())), expected, "{milliseconds} ms");
    }
}

/// Texts as a real server.
#[test]
fn time_claims_are_checked_one_by_one() {
    let issued = now().as_second();
    for (changes, expected) in [
        (json!({"nbf": issued + 61, "exp": issued - 61}), NOT_YET),
        (json!({"iat": issued + 61, "exp": issued - 61}), EXPIRED),
        (json!({"iat": issued + 60}), "ok"),
        (json!({"iat": issued + 61}), "service account token is issued in the future"),
        (json!({"exp": null, "nbf": null, "iat": null}), "ok"),
        (json!({"exp": 0}), EXPIRED),
        (json!({"exp": issued as f64 - 59.1}), "ok"),
        (json!({"exp": issued as f64 - 60.9}), EXPIRED),
        (json!({"exp": 1e10}), "ok"),
        (json!({"exp": 1e300}), EXPIRED),
        (json!({"nbf": -5}), "ok"),
    ] {
        assert_eq!(at(&with(bound_claims(), changes.clone()), 0), expected, "{changes}");
    }
}

#[test]
fn a_refused_token_heals_and_an_accepted_one_dies() {
    let (authenticator, cluster) = (authenticator(), Cluster::new());
    let token = sign(&bound_claims());
    for (seconds, expected) in [(-61, NOT_YET), (-60, "ok"), (0, "ok"), (3661, EXPIRED), (0, "ok"), (-61, NOT_YET)] {
        assert_eq!(verdict(authenticator.token(&token, &[], after(seconds), &cluster)), expected, "{seconds}");
    }
}

#[test]
fn deletion_has_a_minute_of_grace() {
    let invalidated = "service account token has been invalidated";
    for (resource, claims, name, gone) in [
        ("serviceaccounts", bound_claims(), "sa", "service account test/sa has been deleted"),
        ("pods", bound_to("pod", "pod"), "pod", invalidated),
        ("secrets", bound_to("secret", "secret"), "secret", invalidated),
        ("nodes", bound_to("node", "node"), "node", invalidated),
    ] {
        for (deleted, expected) in [(1, "ok"), (0, "ok"), (-1, "ok"), (-60, "ok"), (-61, gone)] {
            let mut cluster = Cluster::new();
            cluster.change(resource, name, |object| {
                object["metadata"]["deletionTimestamp"] = after(deleted).to_string().into();
            });
            let outcome = authenticator().token(&sign(&claims), &[], now(), &cluster);
            assert_eq!(verdict(outcome), expected, "{resource} deleted at {deleted}");
        }
    }
}

/// Texts as a real server.
#[test]
fn what_a_token_is_bound_to_must_live_and_be_the_same() {
    let invalidated = "service account token has been invalidated";
    for (resource, claims, name, missing, replaced) in [
        (
            "serviceaccounts",
            bound_claims(),
            "sa",
            "serviceaccounts \"sa\" not found",
            "service account UID (new) does not match claim (SA)",
        ),
        (
            "pods",
            bound_to("pod", "pod"),
            "pod",
            invalidated,
            "pod UID (new) does not match service account pod ref claim (POD)",
        ),
        (
            "secrets",
            bound_to("secret", "secret"),
            "secret",
            invalidated,
            "secret UID (new) does not match service account secret ref claim (SECRET)",
        ),
        (
            "nodes",
            bound_to("node", "node"),
            "node",
            invalidated,
            "node UID (new) does not match service account node ref claim (NODE)",
        ),
    ] {
        let (authenticator, mut cluster, token) = (authenticator(), Cluster::new(), sign(&claims));
        assert_eq!(verdict(authenticator.token(&token, &[], now(), &cluster)), "ok", "{resource}");
        cluster.change(resource, name, |object| {
            object["metadata"]["uid"] = "new".into();
            object["metadata"]["deletionTimestamp"] = after(-61).to_string().into();
        });
        assert_eq!(verdict(authenticator.token(&token, &[], now(), &cluster)), replaced);
        cluster.remove(resource, name);
        assert_eq!(verdict(authenticator.token(&token, &[], now(), &cluster)), missing);
    }
}

#[test]
fn the_node_of_a_pod_may_go() {
    let mut claims = bound_to("pod", "pod");
    claims["kubernetes.io"]["node"] = json!({"name": "gone", "uid": "GONE"});
    let authentication = authenticator().token(&sign(&claims), &[], now(), &Cluster::new()).unwrap();
    assert_eq!(authentication.user.extra["authentication.kubernetes.io/node-name"], ["gone"]);
}

#[test]
fn use_beyond_the_warning_is_noted() {
    let mut claims = bound_claims();
    claims["exp"] = json!(now().as_second() + 31_536_000);
    claims["kubernetes.io"]["warnafter"] = json!(now().as_second() + 3607);
    let token = sign(&claims);
    let notes = |seconds| authenticator().token(&token, &[], after(seconds), &Cluster::new()).unwrap().notes;
    assert_eq!(notes(3607).annotations, []);
    let text = "subject: system:serviceaccount:test:sa, seconds after warning threshold: 5";
    assert_eq!(notes(3612).annotations, [("authentication.k8s.io/stale-token".into(), text.to_string())]);
}
