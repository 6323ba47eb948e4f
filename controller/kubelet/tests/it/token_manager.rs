//! The token manager against a server that counts the requests.

use crate::setup::{NAMESPACE, Setup};
use fake_apiserver::On;
use jiff::SignedDuration;
use k8s_openapi::api::core::v1::{Pod, ServiceAccount};
use kube::ResourceExt;
use kube::api::DeleteParams;
use kubelet::clock::ManualClock;
use kubelet::tokens::{BoundObject, TokenManager, TokenSpec};
use serde_json::json;
use std::sync::Arc;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;

const HOUR: i64 = 3600;

fn spec(expiration_seconds: i64) -> TokenSpec {
    TokenSpec {
        namespace: NAMESPACE.to_owned(),
        service_account: "builder".to_owned(),
        expiration_seconds: Some(expiration_seconds),
        ..TokenSpec::default()
    }
}

fn bound_to(pod: &Pod) -> TokenSpec {
    let (name, uid) = (pod.name_any(), pod.uid().expect("a uid"));
    let object = BoundObject { api_version: "v1".into(), kind: "Pod".into(), name, uid };
    TokenSpec { bound_object: Some(object), ..spec(HOUR) }
}

// TestTokenCachingAndExpiration.
#[tokio::test]
async fn tokens_are_kept_until_their_time_has_come() {
    for (life, advance) in [(HOUR, SignedDuration::from_mins(50)), (40 * HOUR, SignedDuration::from_hours(25))] {
        let setup = Setup::new().await;
        let tokens = setup.tokens();
        let first = tokens.get(&spec(life)).await.expect("a token");
        assert_eq!(tokens.get(&spec(life)).await.expect("a token"), first);
        assert_eq!(setup.token_requests(), 1, "the second is from the cache");
        setup.advance(advance);
        let second = tokens.get(&spec(life)).await.expect("a token");
        assert_eq!(setup.token_requests(), 2, "renewed after {advance:?} of {life} s");
        assert_ne!(second.token, first.token);
        assert_eq!(second.expires, first.expires + advance);
    }
}

#[tokio::test]
async fn a_name_that_a_url_would_cut_short_gets_no_token_of_another() {
    let setup = Setup::new().await;
    let tokens = setup.tokens();
    for (name, expected) in [
        ("builder/token?x=1", "invalid resource name \"builder/token?x=1\": [may not contain '/']"),
        ("builder?x=1", "serviceaccounts \"builder?x=1\" not found"),
    ] {
        let spec = TokenSpec { service_account: name.to_owned(), ..spec(HOUR) };
        let error = tokens.get(&spec).await.expect_err("nobody is called that").to_string();
        assert!(error.contains(expected), "{name}: {error}");
    }
}

#[tokio::test]
async fn renewal_comes_in_the_ten_seconds_before_a_fifth_is_left() {
    let setup = Setup::new().await;
    let tokens = setup.tokens();
    tokens.get(&spec(HOUR)).await.expect("a token");
    setup.advance(SignedDuration::from_secs(2870));
    for _ in 0..100 {
        tokens.get(&spec(HOUR)).await.expect("a token");
    }
    assert_eq!(setup.token_requests(), 1, "no jitter is larger than 9 seconds");
    setup.advance(SignedDuration::from_secs(11));
    tokens.get(&spec(HOUR)).await.expect("a token");
    assert_eq!(setup.token_requests(), 2, "none is smaller than 0");
}

#[tokio::test]
async fn the_old_token_will_do_until_it_expires() {
    let setup = Setup::new().await;
    let tokens = setup.tokens();
    let first = tokens.get(&spec(HOUR)).await.expect("a token");
    setup.fail(On::create("serviceaccounts/token"), 500);
    for (minutes, requests) in [(50, 2), (10, 3)] {
        setup.advance(SignedDuration::from_mins(minutes));
        assert_eq!(tokens.get(&spec(HOUR)).await.expect("the old one"), first);
        assert_eq!(setup.token_requests(), requests, "every call tries again");
    }
    setup.advance(SignedDuration::from_secs(1));
    let error = tokens.get(&spec(HOUR)).await.expect_err("it has expired").to_string();
    let expected = format!("token {} expired and refresh failed: ", spec(HOUR));
    assert!(error.starts_with(&expected), "{error}");
    setup.server.faults().clear();
    assert_ne!(tokens.get(&spec(HOUR)).await.expect("a new one").token, first.token);
}

#[tokio::test]
async fn without_a_token_the_servers_words_are_passed_on() {
    let setup = Setup::new().await;
    let missing = TokenSpec { service_account: "nobody".into(), ..spec(HOUR) };
    let error = setup.tokens().get(&missing).await.expect_err("there is no such account").to_string();
    assert_eq!(error, r#"failed to fetch token: serviceaccounts "nobody" not found"#);
    let error = setup.tokens().get(&spec(1)).await.expect_err("too short").to_string();
    assert!(error.contains("may not specify a duration less than 10 minutes"), "{error}");
}

// The cases of TestTokenCachingAndExpiration and TestKeyFunc about the account's uid.
#[tokio::test]
async fn an_account_made_anew_has_tokens_of_its_own() {
    let setup = Setup::new().await;
    let tokens = setup.tokens();
    let of = |account: &ServiceAccount| TokenSpec { service_account_uid: account.uid(), ..spec(HOUR) };
    let old = setup.live::<ServiceAccount>().get("builder").await.expect("the account");
    tokens.get(&of(&old)).await.expect("a token");
    tokens.get(&of(&old)).await.expect("a token");
    assert_eq!(setup.token_requests(), 1);
    setup.live::<ServiceAccount>().delete("builder", &DeleteParams::default()).await.expect("deleted");
    let new: ServiceAccount = setup.create(json!({"metadata": {"name": "builder"}})).await;
    tokens.get(&of(&new)).await.expect("a token");
    assert_eq!(setup.token_requests(), 2);
}

// TestDeleteServiceAccountToken.
#[tokio::test]
async fn what_failed_is_not_kept_and_what_a_pod_had_goes_with_it() {
    const BAD: usize = 3;
    for (asked, deleted, left) in [
        (&[0, 1, 2][..], &[][..], &[0, 1, 2][..]),
        (&[0, 1, 2], &[0], &[1, 2]),
        (&[0, 1, 2], &[0, 2], &[1]),
        (&[0, 1, 2], &[0, 1, 2], &[]),
        (&[0, 1, 2, BAD], &[], &[0, 1, 2]),
        (&[0, 1, 2, BAD], &[1], &[0, 2]),
        (&[0, 1, 2, BAD, 3], &[], &[0, 1, 2, 3]),
        (&[0, 1, 2, BAD, 3], &[3], &[0, 1, 2]),
        (&[0, 1, 2, BAD, 3], &[0], &[1, 2, 3]),
    ] {
        let setup = Setup::new().await;
        let tokens = setup.tokens();
        let mut specs = Vec::new();
        for pod in ["a", "b", "c", "d"] {
            specs.push(bound_to(&setup.create_pod(pod, json!({}), json!([])).await));
        }
        let mut fails = true;
        for index in asked {
            if *index == BAD && fails {
                fails = false;
                setup.fail(On::create("serviceaccounts/token"), 503);
                tokens.get(&specs[*index]).await.expect_err("the server fails");
                setup.server.faults().clear();
            } else {
                tokens.get(&specs[*index]).await.expect("a token");
            }
        }
        for index in deleted {
            tokens.delete_bound_to(&specs[*index].bound_object.as_ref().expect("a pod").uid);
        }
        tokens.delete_bound_to("of nobody");
        assert_eq!(tokens.count(), left.len(), "{asked:?} {deleted:?}");
        let before = setup.token_requests();
        for index in left {
            tokens.get(&specs[*index]).await.expect("a token");
        }
        assert_eq!(setup.token_requests(), before, "{asked:?} {deleted:?}: those are kept");
    }
}

#[tokio::test]
async fn expired_tokens_are_swept() {
    let setup = Setup::new().await;
    let tokens = setup.tokens();
    tokens.get(&spec(HOUR)).await.expect("a token");
    tokens.get(&spec(2 * HOUR)).await.expect("a token");
    setup.advance(SignedDuration::from_mins(60));
    tokens.sweep();
    assert_eq!(tokens.count(), 2);
    setup.advance(SignedDuration::from_secs(1));
    tokens.sweep();
    assert_eq!(tokens.count(), 1);
}

/// A server without TokenRequest: its `v1` has no resources.
async fn server_without_token_requests() -> kube::Config {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
    let url = format!("http://{}", listener.local_addr().expect("an address"));
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            let mut request = vec![0; 65_536];
            let read = stream.read(&mut request).await.unwrap_or_default();
            let (status, body) = if request[..read].starts_with(b"GET /api/v1 ") {
                ("200 OK", json!({"kind": "APIResourceList", "groupVersion": "v1", "resources": []}))
            } else {
                let status = json!({"kind": "Status", "status": "Failure", "code": 404, "reason": "NotFound"});
                ("404 Not Found", status)
            };
            let body = body.to_string();
            let head = format!("HTTP/1.1 {status}\r\nConnection: close\r\nContent-Length: {}\r\n\r\n", body.len());
            if stream.write_all(format!("{head}{body}").as_bytes()).await.is_err() {
                return;
            }
        }
    });
    kube::Config::new(url.parse().expect("a URL"))
}

#[tokio::test]
async fn a_server_without_token_requests_is_named() {
    let config = server_without_token_requests().await;
    let client = controller::client_go::client::new(config, "kubelet-test").expect("a client");
    let clock = ManualClock::new(crate::killed_writer::NOW);
    let tokens = TokenManager::new(client, Arc::new(clock), fastrand::Rng::with_seed(1));
    for _ in 0..2 {
        let error = tokens.get(&spec(HOUR)).await.expect_err("there are no tokens").to_string();
        assert_eq!(error, "failed to fetch token: the API server does not have TokenRequest endpoints enabled");
    }
}
