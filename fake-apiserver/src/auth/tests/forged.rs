//! Tokens that no server issues, with a real server's errors.

use super::*;

const CRYPTO: &str = "go-jose/go-jose: error in cryptographic primitive";
const NOT_MINE: &str = "invalid bearer token";

fn review(token: &str) -> String {
    verdict(authenticator().token(token, &[], now(), &Cluster::new()))
}

#[test]
fn claims_must_have_their_types() {
    let date = "go-jose/go-jose/jwt: expected number value to unmarshal NumericDate";
    let audience = "go-jose/go-jose/jwt: expected string or array value to unmarshal to Audience";
    for (changes, expected) in [
        (json!({"exp": "abc"}), date),
        (json!({"exp": "5"}), date),
        (json!({"exp": true}), date),
        (json!({"exp": {}}), date),
        (json!({"aud": ISSUER}), "ok"),
        (json!({"aud": null}), "ok"),
        (json!({"aud": 5}), audience),
        (json!({"aud": [5]}), audience),
        (json!({"sub": 5}), "json: cannot unmarshal number into Go value of type string"),
        (
            json!({"kubernetes.io": "x"}),
            "json: cannot unmarshal string into Go value of type serviceaccount.kubernetes",
        ),
        (
            json!({"kubernetes.io": {"serviceaccount": "x"}}),
            "json: cannot unmarshal string into Go value of type serviceaccount.ref",
        ),
        (json!({"kubernetes.io": null}), "resource name may not be empty"),
        (
            json!({"kubernetes.io": {"serviceaccount": {"name": "sa", "uid": "SA"}}}),
            "the server could not find the requested resource",
        ),
        (
            json!({"kubernetes.io": {"namespace": "test", "serviceaccount": {"name": "sa", "uid": "SA"},
                   "validatingwebhookconfiguration": {"name": "a"}}}),
            "feature gate \"APIServerWebhookAuthenticationToken\" is disabled, but token is webhook bound",
        ),
        (
            json!({"aud": ["x", "y"]}),
            "token audiences [\"x\" \"y\"] is invalid for the target audiences [\"https://kubernetes.default.svc\"]",
        ),
        (json!({"iss": "foo"}), NOT_MINE),
    ] {
        assert_eq!(review(&sign(&with(bound_claims(), changes.clone()))), expected, "{changes}");
    }
    let null_audience = bound_claims().to_string().replace(&json!([ISSUER]).to_string(), "null");
    assert_eq!(review(&forge(&header("RS256"), &null_audience)), audience);
}

fn header(algorithm: &str) -> String {
    json!({"alg": algorithm, "kid": rsa().public().id()}).to_string()
}

#[test]
fn headers_choose_key_and_algorithm() {
    let kid = rsa().public().id().to_string();
    for (header, expected) in [
        (json!({"alg": "RS256", "kid": kid}), "ok"),
        (json!({"alg": "RS256", "kid": kid, "typ": "JWT"}), "ok"),
        (json!({"alg": "RS256"}), "ok"),
        (json!({"alg": "RS256", "kid": "zzz"}), "invalid signature, no keys found"),
        (json!({"alg": "RS256", "kid": 5}), NOT_MINE),
        (json!([]), NOT_MINE),
        (json!({"kid": kid}), CRYPTO),
        (json!({"alg": "none", "kid": kid}), CRYPTO),
        (json!({"alg": "ES256", "kid": kid}), CRYPTO),
        (json!({"alg": "RS512", "kid": kid}), CRYPTO),
        (json!({"alg": "RS256", "kid": kid, "crit": ["exp"]}), CRYPTO),
    ] {
        assert_eq!(review(&forge(&header.to_string(), &bound_claims().to_string())), expected, "{header}");
    }
}

#[test]
fn what_is_no_token_is_not_ours() {
    let good = sign(&bound_claims());
    assert_eq!(review(&good), "ok");
    let (message, _) = good.rsplit_once('.').unwrap();
    for (token, expected) in [
        ("nope".to_string(), NOT_MINE),
        ("..".to_string(), NOT_MINE),
        (format!("{good}.x"), NOT_MINE),
        (format!("{good}="), NOT_MINE),
        (format!("{message}.!!!!"), NOT_MINE),
        (format!("{message}.AAAA"), CRYPTO),
        (format!("{message}."), CRYPTO),
        (format!("{{\"payload\":\"{message}\"}}"), NOT_MINE),
        (forge(&header("RS256"), "[]"), NOT_MINE),
        (forge(&header("RS256"), "{}"), NOT_MINE),
        (forge(&header("RS256"), "{\"iss\":5}"), NOT_MINE),
        (forge(&header("RS256"), "nonsense"), NOT_MINE),
    ] {
        assert_eq!(review(&token), expected, "{token}");
    }
}

#[test]
fn one_changed_claim_breaks_the_signature() {
    let good = sign(&bound_claims());
    let mut parts: Vec<&str> = good.split('.').collect();
    let claims = with(bound_claims(), json!({"sub": "system:serviceaccount:kube-system:admin"}));
    let changed = URL_SAFE_NO_PAD.encode(claims.to_string());
    parts[1] = &changed;
    assert_eq!(review(&parts.join(".")), CRYPTO);
}
