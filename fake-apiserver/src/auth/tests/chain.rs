//! The chain of authenticators: headers, static tokens, audiences, anonymous.

use super::*;
use crate::auth::{ConfigError, Refusal, token_file};
use http::HeaderMap;
use http::header::AUTHORIZATION;

fn request(authenticator: &Authenticator, header: Option<&str>) -> Result<Authentication, Refusal> {
    let mut headers = HeaderMap::new();
    if let Some(header) = header {
        headers.insert(AUTHORIZATION, header.parse().unwrap());
    }
    authenticator.request(&headers, "/", None, now(), &Cluster::new())
}

#[test]
fn bearer_tokens_are_read_as_the_real_server_does() {
    let server = authenticator();
    for (header, user) in [
        (None, "system:anonymous"),
        (Some(""), "system:anonymous"),
        (Some("Bearer"), "system:anonymous"),
        (Some("Bearer "), "system:anonymous"),
        (Some("Basic abc"), "system:anonymous"),
        (Some("Bearer user-token"), "alice"),
        (Some("  bEARER user-token more words "), "alice"),
    ] {
        assert_eq!(request(&server, header).unwrap().user.name, user, "{header:?}");
    }
}

#[test]
fn a_second_space_hides_the_token() {
    let authentication = request(&authenticator(), Some("Bearer  user-token")).unwrap();
    assert!(authentication.user.is_anonymous());
    assert_eq!(
        authentication.notes.warnings,
        ["the provided Authorization header contains extra space before the bearer token, and is ignored"]
    );
}

#[test]
fn a_bad_token_is_not_nobody() {
    let refusal = request(&authenticator(), Some("Bearer nonsense")).unwrap_err();
    assert_eq!(refusal.reason, "invalid bearer token");
    let expired = sign(&with(bound_claims(), json!({"exp": 1})));
    let refusal = request(&authenticator(), Some(&format!("Bearer {expired}"))).unwrap_err();
    assert_eq!(refusal.reason, "[invalid bearer token, service account token has expired]");
}

#[test]
fn without_anonymous_credentials_are_needed() {
    let server = Authenticator::new(Config { anonymous: false, ..config() }).unwrap();
    assert_eq!(request(&server, None).unwrap_err().reason, "");
    assert_eq!(request(&server, Some("Bearer user-token")).unwrap().user.name, "alice");
}

#[test]
fn users_are_in_the_group_of_all_who_are_known() {
    let server = authenticator();
    assert_eq!(request(&server, Some("Bearer user-token")).unwrap().user.groups, ["devs", "system:authenticated"]);
    assert_eq!(request(&server, None).unwrap().user.groups, ["system:unauthenticated"]);
}

#[test]
fn bound_users_say_what_they_are_bound_to() {
    let mut claims = with(bound_to("pod", "pod"), json!({"jti": "some-id"}));
    claims["kubernetes.io"]["node"] = json!({"name": "node", "uid": "NODE"});
    let user = request(&authenticator(), Some(&format!("Bearer {}", sign(&claims)))).unwrap().user;
    assert_eq!(
        Value::from(user.info()),
        json!({
            "username": "system:serviceaccount:test:sa",
            "uid": "SA",
            "groups": ["system:serviceaccounts", "system:serviceaccounts:test", "system:authenticated"],
            "extra": {
                "authentication.kubernetes.io/credential-id": ["JTI=some-id"],
                "authentication.kubernetes.io/node-name": ["node"],
                "authentication.kubernetes.io/node-uid": ["NODE"],
                "authentication.kubernetes.io/pod-name": ["pod"],
                "authentication.kubernetes.io/pod-uid": ["POD"],
            },
        })
    );
}

/// As on a real server, with the order and the repetitions of the requested audiences.
#[test]
fn audiences_are_intersected() {
    let several = sign(&with(bound_claims(), json!({"aud": ["a", "b", "a"]})));
    let none = sign(&with(bound_claims(), json!({"aud": null})));
    let usual = sign(&bound_claims());
    for (token, requested, expected) in [
        (usual.as_str(), vec!["a", ISSUER], Some(vec![ISSUER])),
        (&usual, vec!["a", "b"], None),
        (&several, vec!["b", "a", "b"], Some(vec!["b", "a", "b"])),
        (&several, vec![], None),
        (&none, vec![], Some(vec![ISSUER])),
        (&none, vec!["b"], None),
        ("user-token", vec!["b", ISSUER, ISSUER], Some(vec![ISSUER, ISSUER])),
        ("user-token", vec!["b"], None),
    ] {
        let requested: Vec<String> = requested.iter().map(|text| text.to_string()).collect();
        let outcome = authenticator().token(token, &requested, now(), &Cluster::new());
        let audiences = outcome.ok().map(|authentication| authentication.audiences);
        assert_eq!(audiences, expected.map(|list| list.iter().map(|text| text.to_string()).collect()), "{requested:?}");
    }
}

#[test]
fn every_issuer_is_trusted_and_the_first_signs() {
    let issuers = vec!["https://new".to_string(), ISSUER.to_string()];
    let server = Authenticator::new(Config { issuers, ..config() }).unwrap();
    assert_eq!(server.issuer(), "https://new");
    assert_eq!(server.api_audiences(), ["https://new", ISSUER]);
    for (issuer, expected) in [("https://new", "ok"), (ISSUER, "ok"), ("https://old", "invalid bearer token")] {
        let token = sign(&with(bound_claims(), json!({"iss": issuer})));
        assert_eq!(verdict(server.token(&token, &[], now(), &Cluster::new())), expected);
    }
}

#[test]
fn keys_rotate() {
    let old = rsa();
    let token = sign(&bound_claims());
    let keys = |keys: Vec<&SigningKey>| keys.into_iter().map(|key| key.public().clone()).collect();
    let new = SigningKey::generate();
    let both = Config { keys: keys(vec![&new, &old]), ..config() };
    assert_eq!(verdict(Authenticator::new(both).unwrap().token(&token, &[], now(), &Cluster::new())), "ok");
    let only_new = Config { keys: keys(vec![&new]), ..config() };
    assert_eq!(
        verdict(Authenticator::new(only_new).unwrap().token(&token, &[], now(), &Cluster::new())),
        "invalid signature, no keys found"
    );
}

#[test]
fn bad_configurations_are_refused() {
    let issuers =
        |issuers: &[&str]| Config { issuers: issuers.iter().map(|text| text.to_string()).collect(), ..config() };
    for (config, expected) in [
        (issuers(&[]), ConfigError::NoIssuer),
        (issuers(&[ISSUER, ""]), ConfigError::EmptyIssuer),
        (issuers(&[ISSUER, ISSUER]), ConfigError::DuplicateIssuer(ISSUER.into())),
        (issuers(&["kubernetes/serviceaccount"]), ConfigError::LegacyIssuer),
        (Config { max_token_expiration: 3599, ..config() }, ConfigError::MaxTokenExpiration),
        (Config { max_token_expiration: (1 << 32) + 1, ..config() }, ConfigError::MaxTokenExpiration),
    ] {
        assert_eq!(Authenticator::new(config).unwrap_err(), expected);
    }
}

/// As Go's `encoding/csv`.
#[test]
fn token_files_are_read_as_go_reads_them() {
    let bare = "bare \" in non-quoted-field";
    let quote = "extraneous or missing \" in quoted-field";
    let columns = "token file 'tokens.csv' must have at least 3 columns (token, user name, user uid), found 2";
    for (text, expected) in [
        ("a,b,c\n", Ok("a=b/c[]")),
        ("a,b,c,\"d,e\"\r\n\r\n\nf,g,h", Ok("a=b/c[d+e] f=g/h[]")),
        ("\"a\"\"b\",c,d\n", Ok("a\"b=c/d[]")),
        ("\"a\nb\",c,d\n", Ok("a\nb=c/d[]")),
        ("a,b,\"c\r\nd\"\n", Ok("a=b/c\nd[]")),
        ("a,b,\n", Ok("a=b/[]")),
        ("a,\"b\",\n", Ok("a=b/[]")),
        ("a,b,c\r", Ok("a=b/c[]")),
        ("a,b,c,,x\n", Ok("a=b/c[]")),
        (",b,c\na,x,y\na,b,c\n", Ok("a=b/c[]")),
        ("", Ok("")),
        ("a,b\n", Err(columns.to_string())),
        ("a,b\"c,d\n", Err(format!("parse error on line 1, column 4: {bare}"))),
        (" \"a\",b,c", Err(format!("parse error on line 1, column 2: {bare}"))),
        ("\"a\"b,c,d\n", Err(format!("parse error on line 1, column 3: {quote}"))),
        ("a,\"b\" ,c", Err(format!("parse error on line 1, column 5: {quote}"))),
        ("\"", Err(format!("parse error on line 1, column 2: {quote}"))),
        ("\"a\nb", Err(format!("record on line 1; parse error on line 2, column 2: {quote}"))),
        ("\"a\nb\n", Err(format!("record on line 1; parse error on line 2, column 3: {quote}"))),
        ("a,\"b\nc\"x,d\n", Err(format!("record on line 1; parse error on line 2, column 2: {quote}"))),
        ("\n\n\na,b,\"c\n\nd\"e\n", Err(format!("record on line 4; parse error on line 6, column 2: {quote}"))),
        ("a,b,\"c\r", Err(format!("parse error on line 1, column 7: {quote}"))),
    ] {
        let users = token_file::parse("tokens.csv", text).map(|users| {
            let mut users: Vec<String> = users
                .iter()
                .map(|(token, user)| format!("{token}={}/{}[{}]", user.name, user.uid, user.groups.join("+")))
                .collect();
            users.sort();
            users.join(" ")
        });
        assert_eq!(users.map_err(|error| error.to_string()), expected.map(str::to_string), "{text:?}");
    }
}
