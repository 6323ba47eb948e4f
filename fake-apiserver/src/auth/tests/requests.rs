//! Token requests. Answers as a real server.

use super::*;
use crate::auth::token_request::TokenRequestOutcome;
use crate::error::ApiResult;
use crate::ids::Ids;

fn ask(config: Config, cluster: &Cluster, body: Value) -> ApiResult<TokenRequestOutcome> {
    Authenticator::new(config).unwrap().token_request("test", "sa", body, now(), cluster, &Ids::seeded(1))
}

fn bound(kind: &str, name: &str) -> Value {
    json!({"spec": {"boundObjectRef": {"kind": kind, "apiVersion": "v1", "name": name}}})
}

/// The `kubernetes.io` claim of the answer, without the members that it always has.
fn binding(outcome: &TokenRequestOutcome) -> Value {
    let mut claim = payload(outcome.response["status"]["token"].as_str().unwrap())["kubernetes.io"].take();
    let claim_fields = claim.as_object_mut().unwrap();
    assert_eq!(claim_fields.remove("namespace").unwrap(), "test");
    assert_eq!(claim_fields.remove("serviceaccount").unwrap(), json!({"name": "sa", "uid": "SA"}));
    claim
}

#[test]
fn an_empty_request_gets_an_hour_at_this_server() {
    let outcome = ask(config(), &Cluster::new(), json!({})).unwrap();
    let mut response = outcome.response;
    let token = response["status"]["token"].take();
    assert_eq!(
        response,
        json!({
            "kind": "TokenRequest",
            "apiVersion": "authentication.k8s.io/v1",
            "metadata": {"name": "sa", "namespace": "test", "uid": "SA", "creationTimestamp": "2026-11-21T04:00:00Z"},
            "spec": {"audiences": [ISSUER], "expirationSeconds": 3600, "boundObjectRef": null},
            "status": {"token": null, "expirationTimestamp": "2026-11-21T05:00:00Z"},
        })
    );
    let id = Ids::seeded(1).uid();
    assert_eq!(payload(token.as_str().unwrap()), with(bound_claims(), json!({"jti": id})));
    assert_eq!(
        outcome.notes.annotations,
        [("authentication.kubernetes.io/issued-credential-id".into(), format!("JTI={id}"))]
    );
    let authentication = authenticator().token(token.as_str().unwrap(), &[], now(), &Cluster::new()).unwrap();
    assert_eq!(authentication.user.extra["authentication.kubernetes.io/credential-id"], [format!("JTI={id}")]);
}

#[test]
fn what_the_client_says_of_the_answer_is_overwritten() {
    let body = json!({
        "metadata": {"uid": "SA", "creationTimestamp": "2020-01-01T00:00:00Z", "labels": {"a": "b"}, "name": "sa"},
        "status": {"token": "x", "more": "y"},
    });
    let response = ask(config(), &Cluster::new(), body).unwrap().response;
    assert_eq!(
        response["metadata"],
        json!({"name": "sa", "namespace": "test", "uid": "SA", "creationTimestamp": "2026-11-21T04:00:00Z",
               "labels": {"a": "b"}})
    );
    assert_eq!(response["status"].as_object().unwrap().len(), 2);
}

#[test]
fn tokens_are_bound_to_what_is_asked_for() {
    let node = json!({"name": "node", "uid": "NODE"});
    for (kind, name, expected) in [
        ("Pod", "pod", json!({"pod": {"name": "pod", "uid": "POD"}, "node": node})),
        ("Pod", "stray", json!({"pod": {"name": "stray", "uid": "STRAY"}, "node": {"name": "ghost"}})),
        ("Pod", "loose", json!({"pod": {"name": "loose", "uid": "LOOSE"}})),
        ("Secret", "secret", json!({"secret": {"name": "secret", "uid": "SECRET"}})),
        ("Node", "node", json!({"node": node})),
    ] {
        let outcome = ask(config(), &Cluster::new(), bound(kind, name)).unwrap();
        assert_eq!(binding(&outcome), expected, "{kind} {name}");
        let token = outcome.response["status"]["token"].as_str().unwrap();
        assert_eq!(verdict(authenticator().token(token, &[], now(), &Cluster::new())), "ok");
    }
}

/// Byte by byte as a real server: sorted keys, no blanks, whole seconds.
#[test]
fn payloads_are_written_in_one_way() {
    let mut body = bound("Pod", "pod");
    body["spec"]["expirationSeconds"] = 3607.into();
    let outcome = ask(config(), &Cluster::new(), body).unwrap();
    let part = outcome.response["status"]["token"].as_str().unwrap().split('.').nth(1).unwrap();
    let expected = [
        r#"{"aud":["https://kubernetes.default.svc"],"exp":1826769600,"iat":1795233600,"#,
        r#""iss":"https://kubernetes.default.svc","jti":"<id>","kubernetes.io":{"namespace":"test","#,
        r#""node":{"name":"node","uid":"NODE"},"pod":{"name":"pod","uid":"POD"},"#,
        r#""serviceaccount":{"name":"sa","uid":"SA"},"warnafter":1795237207},"#,
        r#""nbf":1795233600,"sub":"system:serviceaccount:test:sa"}"#,
    ];
    let expected = expected.concat().replace("<id>", &Ids::seeded(1).uid());
    assert_eq!(String::from_utf8(URL_SAFE_NO_PAD.decode(part).unwrap()).unwrap(), expected);
}

#[test]
fn only_the_group_of_the_reference_matters() {
    for version in ["v2", "", "a/b/c"] {
        let mut body = bound("Pod", "loose");
        body["spec"]["boundObjectRef"]["apiVersion"] = version.into();
        assert!(ask(config(), &Cluster::new(), body).is_ok(), "{version:?}");
    }
}

#[test]
fn a_dying_pod_still_gets_a_token() {
    let mut cluster = Cluster::new();
    cluster.change("pods", "pod", |pod| pod["metadata"]["deletionTimestamp"] = after(-1000).to_string().into());
    assert!(ask(config(), &cluster, bound("Pod", "pod")).is_ok());
}

#[test]
fn bad_requests_are_refused() {
    let invalid = |text: &str| format!("TokenRequest.authentication.k8s.io \"\" is invalid: {text}");
    let with_uid = |kind: &str, name: &str| {
        let mut body = bound(kind, name);
        body["spec"]["boundObjectRef"]["uid"] = "zork".into();
        body
    };
    let conflict = |kind: &str, name: &str| {
        format!(
            "Operation cannot be fulfilled on {kind} \"{name}\": the UID in the bound object reference (zork) does not \
             match the UID in record. The object might have been deleted and then recreated"
        )
    };
    let webhook = |spec: Value| {
        let reference =
            json!({"kind": "ValidatingWebhookConfiguration", "apiVersion": "admissionregistration.k8s.io/v1"});
        json!({"spec": with(json!({"boundObjectRef": reference, "audiences": ["x"]}), spec)})
    };
    let short = "spec.expirationSeconds: Invalid value: 599: may not specify a duration less than 10 minutes";
    let long = "spec.expirationSeconds: Invalid value: 4294967297: may not specify a duration larger than 2^32 seconds";
    let misplaced = "attestations may only be specified with a webhook bound object reference";
    for (body, code, message) in [
        (json!({"spec": {"expirationSeconds": 599}}), 422, invalid(short)),
        (json!({"spec": {"expirationSeconds": (1_i64 << 32) + 1}}), 422, invalid(long)),
        (
            json!({"spec": {"expirationSeconds": 599, "attestations": {"a": ["b"]}}}),
            422,
            invalid(&format!("spec.attestations: Invalid value: {{\"a\":[\"b\"]}}: {misplaced}")),
        ),
        (
            json!({"metadata": {"name": "z"}}),
            422,
            "TokenRequest.authentication.k8s.io \"sa\" is invalid: metadata.name: Invalid value: \"z\": must match the \
             service account name if specified"
                .into(),
        ),
        (
            json!({"metadata": {"namespace": "z"}}),
            400,
            "the namespace of the provided object does not match the namespace sent on the request".into(),
        ),
        (
            json!({"metadata": {"uid": "z"}}),
            409,
            "Operation cannot be fulfilled on TokenRequest.authentication.k8s.io \"sa\": the UID in the token request \
             (z) does not match the UID of the service account (SA)"
                .into(),
        ),
        (
            bound("Pod", "alien"),
            400,
            "cannot bind token for serviceaccount \"sa\" to pod running with different serviceaccount name.".into(),
        ),
        (bound("Pod", "nope"), 404, "pods \"nope\" not found".into()),
        (bound("Secret", "nope"), 404, "secrets \"nope\" not found".into()),
        (bound("Node", "nope"), 404, "nodes \"nope\" not found".into()),
        (bound("Pod", ""), 400, "Name parameter required.".into()),
        (with_uid("Pod", "pod"), 409, conflict("Pod", "pod")),
        (with_uid("Secret", "secret"), 409, conflict("Secret", "secret")),
        (with_uid("Node", "node"), 409, conflict("Node", "node")),
        (bound("ConfigMap", "x"), 400, "cannot bind token to object of type /v1, Kind=ConfigMap".into()),
        (json!({"spec": {"boundObjectRef": {}}}), 400, "cannot bind token to object of type /, Kind=".into()),
        (
            webhook(json!({"attestations": {"admissionReviewAPIGroups": ["apps"]}})),
            400,
            "cannot bind token to object of type admissionregistration.k8s.io/v1, Kind=ValidatingWebhookConfiguration \
             (feature gate APIServerWebhookAuthenticationToken is disabled)"
                .into(),
        ),
        (
            webhook(json!({})),
            422,
            invalid(
                "spec.attestations: Invalid value: null: webhook bound requests require exactly one \
                 admissionReviewAPIGroups attestation",
            ),
        ),
        (
            webhook(json!({"attestations": {"zork": ["apps"]}})),
            422,
            invalid(
                "spec.attestations[zork]: Unsupported value: \"zork\": supported values: \"admissionReviewAPIGroups\"",
            ),
        ),
    ] {
        let error = ask(config(), &Cluster::new(), body.clone()).unwrap_err();
        assert_eq!((error.code(), error.to_string()), (code, message), "{body}");
    }
}

#[test]
fn the_service_account_comes_before_validation() {
    let mut cluster = Cluster::new();
    cluster.remove("serviceaccounts", "sa");
    let error = ask(config(), &cluster, json!({"spec": {"expirationSeconds": 5}})).unwrap_err();
    assert_eq!((error.code(), error.to_string().as_str()), (404, "serviceaccounts \"sa\" not found"));
}

#[test]
fn lives_are_limited_and_extended() {
    const YEAR: i64 = 31_536_000;
    for (name, max, extend, body, spec, life, warned) in [
        ("no limit", 0, true, json!({"expirationSeconds": 7800}), 7800, 7800, None),
        ("below the limit", 7200, true, json!({"expirationSeconds": 6600}), 6600, 6600, None),
        ("above the limit", 7200, true, json!({"expirationSeconds": 7800}), 7200, 7200, None),
        ("a pod's", 0, true, json!({"expirationSeconds": 3607, "pod": true}), 3607, YEAR, Some(3607)),
        ("a pod's, limited", 18_000, true, json!({"expirationSeconds": 3607, "pod": true}), 3607, YEAR, Some(3607)),
        ("a pod's, cut", 3600, true, json!({"expirationSeconds": 3607, "pod": true}), 3600, 3600, None),
        ("a pod's, cut to it", 3607, true, json!({"expirationSeconds": 9999, "pod": true}), 3607, YEAR, Some(3607)),
        ("a pod's, not extended", 0, false, json!({"expirationSeconds": 3607, "pod": true}), 3607, 3607, None),
        ("a pod's of an hour", 0, true, json!({"expirationSeconds": 3600, "pod": true}), 3600, 3600, None),
        ("nobody's", 0, true, json!({"expirationSeconds": 3607}), 3607, 3607, None),
        (
            "for others",
            0,
            true,
            json!({"expirationSeconds": 3607, "pod": true, "audiences": [ISSUER, "x"]}),
            3607,
            3607,
            None,
        ),
    ] {
        let config = Config { max_token_expiration: max, extend_token_expiration: extend, ..config() };
        let mut body = json!({"spec": body});
        if body["spec"]["pod"] == true {
            body["spec"]["boundObjectRef"] = bound("Pod", "loose")["spec"]["boundObjectRef"].clone();
        }
        let asked = body["spec"]["expirationSeconds"].as_i64().unwrap();
        let outcome = ask(config, &Cluster::new(), body).unwrap();
        let claims = payload(outcome.response["status"]["token"].as_str().unwrap());
        let issued = now().as_second();
        assert_eq!(claims["exp"], issued + life, "{name}");
        assert_eq!(
            claims["kubernetes.io"]["warnafter"].as_i64(),
            warned.map(|seconds: i64| issued + seconds),
            "{name}"
        );
        assert_eq!(outcome.response["spec"]["expirationSeconds"], spec, "{name}");
        assert_eq!(outcome.response["status"]["expirationTimestamp"], after(spec).to_string(), "{name}");
        let warnings = match spec == asked {
            true => vec![],
            false => vec![format!("requested expiration of {asked} seconds shortened to {spec} seconds")],
        };
        assert_eq!(outcome.notes.warnings, warnings, "{name}");
    }
}

#[test]
fn nonsense_does_not_panic() {
    for body in [json!(null), json!([]), json!({"metadata": 5, "spec": "x", "status": []})] {
        assert!(ask(config(), &Cluster::new(), body).is_ok());
    }
}
