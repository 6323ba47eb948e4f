//! The tokens controller when requests fail, or events come in an unlucky order.

use crate::objects::{ACCOUNT, COMPLETE, TOKEN_SECRET, TokenData, account, opaque_secret};
use crate::setup::Setup;
use controller::controllers::tokens::{SERVICE_ACCOUNT_NAME_KEY, SERVICE_ACCOUNT_UID_KEY};
use k8s_openapi::api::core::v1::{Namespace, ServiceAccount};
use kube::api::{DeleteParams, PostParams};
use kube::{Api, ResourceExt};
use std::sync::atomic::Ordering;

const GET: &str = "get serviceaccounts/builder";
const CREATE: &str = "create secrets/$1 ca.crt=CA Data namespace=default token=ABC for builder/$account";
const CREATE_AGAIN: &str = "create secrets/$2 ca.crt=CA Data namespace=default token=ABC for builder/$account";
const REFER: &str = "update serviceaccounts/builder secrets=[$1]";
const REFER_CONFLICT: &str = "update serviceaccounts/builder secrets=[$1] 409";
const REFER_ERROR: &str = "update serviceaccounts/builder secrets=[$1] 500";
const UNREFER: &str = "update serviceaccounts/builder secrets=[]";
const DELETE: &str = "delete secrets/token-secret-1 uid=$secret";
const GET_SECRET: &str = "get secrets/token-secret-1";
const FILL: &str = "update secrets/token-secret-1 ca.crt=CA Data namespace=default token=ABC for builder/$account";

const NO_TOKEN: TokenData = TokenData { token: None, ..COMPLETE };

/// A service account without references, on the server and about to be reported.
async fn new_account() -> Setup {
    let mut setup = Setup::new().await;
    setup.create_account(&[]).await;
    setup
}

/// Reports the service account of [`new_account`]; returns the calls.
async fn add_account(setup: &Setup) -> Vec<String> {
    let controller = setup.controller();
    setup.service_accounts.apply(setup.cached_account(&[]));
    setup.settle(&controller).await
}

/// An incomplete token secret of a cached service account, on the server and about to be reported.
async fn new_secret() -> Setup {
    let mut setup = Setup::new().await;
    setup.create_token_secret(NO_TOKEN).await;
    setup.service_accounts.apply(setup.cached_account(&[]));
    setup
}

/// Reports the secret of [`new_secret`]; returns the calls.
async fn add_secret(setup: &Setup) -> Vec<String> {
    let controller = setup.controller();
    setup.secrets.apply(setup.cached_secret(NO_TOKEN));
    setup.settle(&controller).await
}

/// A service account that refers to a token secret which only the cache still knows; the deletion is reported.
async fn delete_referenced_secret(setup: &Setup) -> Vec<String> {
    setup.service_accounts.apply(setup.cached_account(&[TOKEN_SECRET]));
    setup.secrets.apply(setup.cached_secret(COMPLETE));
    let controller = setup.controller();
    setup.secrets.delete(setup.cached_secret(COMPLETE));
    setup.settle(&controller).await
}

async fn referring_account() -> Setup {
    let mut setup = Setup::new().await;
    setup.create_account(&[TOKEN_SECRET]).await;
    setup
}

#[tokio::test]
async fn a_service_account_that_is_not_found_is_tried_again() {
    let mut setup = Setup::new().await;
    setup.options.max_retries = 1;
    let calls = add_account(&setup).await;
    assert_eq!(calls, ["get serviceaccounts/builder 404"; 2]);
}

#[tokio::test]
async fn a_namespace_that_is_going_away_is_not_fought_over() {
    let mut setup = Setup::new().await;
    let namespaces: Api<Namespace> = Api::all(setup.server.client());
    let mut namespace = Namespace::default();
    namespace.metadata.name = Some("doomed".into());
    namespaces.create(&PostParams::default(), &namespace).await.expect("the namespace is created");
    let mut doomed = account(&[]);
    doomed.metadata.namespace = Some("doomed".into());
    doomed.metadata.finalizers = Some(vec!["example.com/stay".into()]);
    (doomed.metadata.uid, doomed.metadata.resource_version) = (None, None);
    let accounts: Api<ServiceAccount> = Api::namespaced(setup.server.client(), "doomed");
    accounts.create(&PostParams::default(), &doomed).await.expect("the service account is created");
    namespaces.delete("doomed", &DeleteParams::default()).await.expect("the namespace is deleted");
    let doomed = accounts.get(ACCOUNT).await.expect("the finalizer keeps the service account");

    setup.options.max_retries = 1;
    let controller = setup.controller();
    setup.service_accounts.apply(doomed);
    let calls = setup.settle(&controller).await;
    assert_eq!(calls.len(), 2, "{calls:?}");
    assert!(calls[1].starts_with("create secrets/") && calls[1].ends_with(" 403"), "{calls:?}");
}

#[tokio::test]
async fn a_new_token_that_cannot_be_signed_is_tried_again() {
    let setup = new_account().await;
    setup.generator.failures.store(1, Ordering::Relaxed);
    assert_eq!(add_account(&setup).await, [GET, GET, CREATE, REFER]);
}

#[tokio::test]
async fn a_token_for_a_users_secret_that_cannot_be_signed_is_not() {
    let setup = new_secret().await;
    setup.generator.failures.store(1, Ordering::Relaxed);
    assert_eq!(add_secret(&setup).await, [GET_SECRET]);
}

#[tokio::test]
async fn conflicts_while_referring_are_tried_again_on_the_latest_version() {
    let setup = new_account().await;
    setup.fail("update", "serviceaccounts", 409, Some(2));
    assert_eq!(add_account(&setup).await, [GET, CREATE, REFER_CONFLICT, GET, REFER_CONFLICT, GET, REFER]);
}

#[tokio::test]
async fn too_many_conflicts_while_referring_discard_the_secret_and_count_as_success() {
    let setup = new_account().await;
    setup.fail("update", "serviceaccounts", 409, None);
    let calls = add_account(&setup).await;
    let (last, calls) = calls.split_last().expect("there are calls");
    assert_eq!(
        calls,
        [
            GET,
            CREATE,
            REFER_CONFLICT,
            GET,
            REFER_CONFLICT,
            GET,
            REFER_CONFLICT,
            GET,
            REFER_CONFLICT,
            GET,
            REFER_CONFLICT
        ]
    );
    assert!(last.starts_with("delete secrets/$1 uid="), "{last}");
    assert_ne!(last, "delete secrets/$1 uid=", "the deletion names the uid");
}

#[tokio::test]
async fn a_service_account_that_was_recreated_or_found_a_token_meanwhile_is_given_up() {
    // The cache has the latest version, but not all of its content: only the second attempt reads the live object.
    for (references, former_uid, refused) in [
        (&[][..], true, "update serviceaccounts/builder secrets=[$1] 409"),
        (&[TOKEN_SECRET], false, "update serviceaccounts/builder secrets=[token-secret-1,$1] 409"),
    ] {
        let mut setup = Setup::new().await;
        setup.create_account(references).await;
        setup.secrets.apply(setup.cached_secret(COMPLETE));
        setup.fail("update", "serviceaccounts", 409, Some(1));
        let mut cached = setup.cached_account(&[]);
        if former_uid {
            cached.metadata.uid = Some("former".into());
        }
        let controller = setup.controller();
        setup.service_accounts.apply(cached);
        let calls = setup.settle(&controller).await;
        assert_eq!(calls[2..4], [refused, GET]);
        assert!(calls[4].starts_with("delete secrets/$1 uid="), "{calls:?}");
        assert_eq!(calls.len(), 5, "{calls:?}");
    }
}

#[tokio::test]
async fn a_success_makes_up_for_earlier_failures() {
    let mut setup = new_account().await;
    setup.options.max_retries = 1;
    let controller = setup.controller();
    for round in 1..=2 {
        setup.fail("create", "secrets", 403, Some(1));
        let mut account = setup.live_accounts().get(ACCOUNT).await.expect("the service account exists");
        account.secrets = None;
        setup.service_accounts.apply(account);
        assert_eq!(setup.settle(&controller).await.len(), round * 5, "one retry each time");
    }
}

#[tokio::test]
async fn an_error_while_referring_discards_the_secret_and_starts_over() {
    let setup = new_account().await;
    setup.fail("update", "serviceaccounts", 500, Some(1));
    let calls = add_account(&setup).await;
    assert_eq!(calls[..3], [GET, CREATE, REFER_ERROR]);
    assert!(calls[3].starts_with("delete secrets/$1 uid="), "{calls:?}");
    assert_eq!(calls[4..], [GET, CREATE_AGAIN, "update serviceaccounts/builder secrets=[$2]"]);
}

#[tokio::test]
async fn a_secret_that_cannot_be_discarded_stays() {
    let setup = new_account().await;
    setup.fail("update", "serviceaccounts", 409, None);
    setup.fail("delete", "secrets", 500, None);
    let calls = add_account(&setup).await;
    assert_eq!(calls.iter().filter(|call| call.starts_with("delete")).count(), 1, "{calls:?}");
    assert_eq!(setup.live_secrets().list(&Default::default()).await.expect("a list").items.len(), 1);
}

#[tokio::test]
async fn a_token_just_created_counts_before_the_watch_tells_of_it() {
    let setup = new_account().await;
    let controller = setup.controller();
    setup.service_accounts.apply(setup.cached_account(&[]));
    let calls = setup.settle(&controller).await;
    assert_eq!(calls, [GET, CREATE, REFER]);

    // The event of the update arrives, that of the creation does not.
    let updated = setup.live_accounts().get(ACCOUNT).await.expect("the service account");
    setup.service_accounts.apply(updated);
    assert_eq!(setup.settle(&controller).await, calls);
}

#[tokio::test]
async fn a_failed_deletion_is_tried_again() {
    let mut setup = Setup::new().await;
    setup.create_token_secret(COMPLETE).await;
    setup.fail("delete", "secrets", 500, Some(1));
    let controller = setup.controller();
    setup.secrets.apply(setup.cached_secret(COMPLETE));
    let absent = "get serviceaccounts/builder 404";
    assert_eq!(
        setup.settle(&controller).await,
        [absent, "delete secrets/token-secret-1 uid=$secret 500", absent, DELETE]
    );
}

#[tokio::test]
async fn a_secret_recreated_under_the_same_name_is_not_deleted() {
    let mut setup = Setup::new().await;
    setup.create_token_secret(COMPLETE).await;
    let mut former = setup.cached_secret(COMPLETE);
    former.metadata.uid = Some("former".into());
    let controller = setup.controller();
    setup.secrets.apply(former);
    let calls = setup.settle(&controller).await;
    assert_eq!(calls, ["get serviceaccounts/builder 404", "delete secrets/token-secret-1 uid=former 409"]);
}

#[tokio::test]
async fn a_service_account_recreated_under_the_same_name_does_not_keep_old_tokens() {
    let mut setup = Setup::new().await;
    setup.create_account(&[]).await;
    let mut former = setup.cached_account(&[]);
    former.metadata.uid = Some("former".into());
    setup.service_accounts.apply(setup.cached_account(&[]));
    let mut secret = setup.cached_secret(COMPLETE);
    secret.annotations_mut().insert(SERVICE_ACCOUNT_UID_KEY.into(), "former".into());
    let controller = setup.controller();
    setup.secrets.apply(secret);
    let calls = setup.settle(&controller).await;
    assert_eq!(calls, [GET, "delete secrets/token-secret-1 uid=$secret 404"]);
}

/// The value of an annotation is one name in a URL, whatever characters it has.
#[tokio::test]
async fn a_name_is_one_escaped_segment_of_a_url() {
    for (name, expected) in [
        ("builder?x=1", &["get serviceaccounts/builder?x=1 404", DELETE][..]),
        ("builder#", &["get serviceaccounts/builder# 404", DELETE]),
        ("other/../builder", &[]),
    ] {
        let mut setup = Setup::new().await;
        setup.options.max_retries = 1;
        setup.create_account(&[]).await;
        setup.create_token_secret_without_uid(NO_TOKEN).await;
        let mut secret = setup.cached_secret(NO_TOKEN);
        secret.annotations_mut().insert(SERVICE_ACCOUNT_NAME_KEY.into(), name.into());
        let controller = setup.controller();
        setup.secrets.apply(secret);
        assert_eq!(setup.settle(&controller).await, expected, "{name}");
    }
}

#[tokio::test]
async fn a_failed_lookup_of_the_service_account_is_tried_again() {
    let mut setup = Setup::new().await;
    setup.create_token_secret(COMPLETE).await;
    setup.fail("get", "serviceaccounts", 500, Some(1));
    let controller = setup.controller();
    setup.secrets.apply(setup.cached_secret(COMPLETE));
    let calls = setup.settle(&controller).await;
    assert_eq!(calls, ["get serviceaccounts/builder 500", "get serviceaccounts/builder 404", DELETE]);
}

#[tokio::test]
async fn filling_gives_way_to_others_and_retries_errors() {
    // A verb on secrets, the code that it fails with once, and the calls then.
    for (verb, code, expected) in [
        ("get", 404, vec!["get secrets/token-secret-1 404".to_owned()]),
        ("get", 500, vec!["get secrets/token-secret-1 500".to_owned(), GET_SECRET.into(), FILL.into()]),
        ("update", 409, vec![GET_SECRET.into(), format!("{FILL} 409")]),
        ("update", 404, vec![GET_SECRET.into(), format!("{FILL} 404")]),
        ("update", 403, vec![GET_SECRET.into(), format!("{FILL} 403"), GET_SECRET.into(), FILL.into()]),
    ] {
        let setup = new_secret().await;
        setup.fail(verb, "secrets", code, Some(1));
        assert_eq!(add_secret(&setup).await, expected, "{verb} {code}");
    }
}

#[tokio::test]
async fn a_secret_that_the_cache_shows_in_an_old_version_is_left_for_the_next_event() {
    let setup = new_secret().await;
    let mut old = setup.cached_secret(NO_TOKEN);
    old.metadata.resource_version = Some("1".into());
    let controller = setup.controller();
    setup.secrets.apply(old);
    assert_eq!(setup.settle(&controller).await, [GET_SECRET]);
}

#[tokio::test]
async fn filling_ties_a_secret_without_uid_to_the_service_account() {
    let mut setup = Setup::new().await;
    setup.create_token_secret_without_uid(NO_TOKEN).await;
    setup.service_accounts.apply(setup.cached_account(&[]));
    let controller = setup.controller();
    setup.secrets.apply(setup.cached_secret(NO_TOKEN));
    assert_eq!(setup.settle(&controller).await, [GET_SECRET, FILL]);
}

#[tokio::test]
async fn a_deleted_service_account_takes_secrets_that_name_no_uid_with_it() {
    let mut setup = Setup::new().await;
    setup.create_token_secret_without_uid(COMPLETE).await;
    setup.secrets.apply(setup.cached_secret(COMPLETE));
    let mut former = setup.cached_account(&[]);
    former.metadata.uid = Some("former".into());
    setup.service_accounts.apply(former.clone());
    let controller = setup.controller();
    setup.service_accounts.delete(former);
    assert_eq!(setup.settle(&controller).await, [DELETE]);
}

#[tokio::test]
async fn a_secret_that_names_no_service_account_is_ignored() {
    let setup = Setup::new().await;
    let mut secret = setup.cached_secret(NO_TOKEN);
    secret.annotations_mut().remove(SERVICE_ACCOUNT_NAME_KEY);
    let controller = setup.controller();
    setup.secrets.apply(secret);
    assert_eq!(setup.settle(&controller).await, [""; 0]);
}

#[tokio::test]
async fn conflicts_while_removing_a_reference_are_tried_again() {
    let setup = referring_account().await;
    setup.fail("update", "serviceaccounts", 409, Some(2));
    let conflict = format!("{UNREFER} 409");
    assert_eq!(delete_referenced_secret(&setup).await, [GET, &conflict, GET, &conflict, GET, UNREFER]);
}

#[tokio::test]
async fn a_recreated_service_account_keeps_its_references() {
    let setup = referring_account().await;
    let mut former = setup.cached_account(&[TOKEN_SECRET]);
    former.metadata.uid = Some("former".into());
    setup.service_accounts.apply(former);
    let mut secret = setup.cached_secret(COMPLETE);
    secret.annotations_mut().insert(SERVICE_ACCOUNT_UID_KEY.into(), "former".into());
    setup.secrets.apply(secret.clone());
    let controller = setup.controller();
    setup.secrets.delete(secret);
    assert_eq!(setup.settle(&controller).await, [GET]);
}

#[tokio::test]
async fn errors_while_removing_a_reference_are_not() {
    let setup = referring_account().await;
    setup.fail("update", "serviceaccounts", 500, Some(1));
    assert_eq!(delete_referenced_secret(&setup).await, [GET, &format!("{UNREFER} 500")]);
}

#[tokio::test]
async fn a_token_secret_replaced_by_another_type_counts_as_deleted() {
    let setup = referring_account().await;
    setup.service_accounts.apply(setup.cached_account(&[TOKEN_SECRET]));
    setup.secrets.apply(setup.cached_secret(COMPLETE));
    let controller = setup.controller();
    let mut other = opaque_secret();
    other.metadata.name = Some(TOKEN_SECRET.into());
    other.metadata.uid = Some("other".into());
    setup.secrets.apply(other);
    assert_eq!(setup.settle(&controller).await, [GET, UNREFER]);
}

#[tokio::test]
async fn a_missed_deletion_of_a_service_account_counts_only_where_tokens_are_not_generated() {
    for (auto_generate, expected) in [(true, &[][..]), (false, &[DELETE])] {
        let mut setup = Setup::new().await;
        setup.options.auto_generate = auto_generate;
        setup.create_token_secret(COMPLETE).await;
        setup.secrets.apply(setup.cached_secret(COMPLETE));
        setup.service_accounts.apply(setup.cached_account(&[]));
        let controller = setup.controller();
        setup.service_accounts.replace([]);
        assert_eq!(setup.settle(&controller).await, expected, "auto_generate={auto_generate}");
    }
}

#[tokio::test]
async fn a_missed_deletion_of_a_secret_leaves_the_reference() {
    let setup = referring_account().await;
    setup.service_accounts.apply(setup.cached_account(&[TOKEN_SECRET]));
    setup.secrets.apply(setup.cached_secret(COMPLETE));
    let controller = setup.controller();
    setup.secrets.replace([]);
    assert_eq!(setup.settle(&controller).await, [""; 0]);
}
