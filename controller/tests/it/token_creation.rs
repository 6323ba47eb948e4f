//! Upstream's own table of the controller's calls, in order: `TestTokenCreation` of kubernetes v1.23.17 and
//! v1.37.1 `pkg/controller/serviceaccount/tokens_controller_test.go`.
//!
//! There a fake client records the calls; here the server does. The service account is called `builder` instead of
//! `default`, and names are not those of a generator with a known seed.

use crate::objects::{COMPLETE, TOKEN_SECRET, TokenData, opaque_secret};
use crate::setup::Setup;
use kube::api::PostParams;

type References = &'static [&'static str];

/// The event that the informers report.
#[derive(Debug, Clone, Copy)]
enum When {
    AccountAdded(References),
    AccountUpdated(References),
    AccountDeleted(References),
    SecretAdded(TokenData),
    SecretUpdated(TokenData),
    SecretDeleted(TokenData),
}
use When::*;

#[derive(Debug, Clone, Copy)]
struct Case {
    name: &'static str,
    /// The service account on the server.
    live_account: Option<References>,
    /// Whether the live account is newer than the cached one.
    live_account_is_newer: bool,
    /// The token secret on the server.
    live_secret: Option<TokenData>,
    /// The service account in the cache before the event.
    cached_account: Option<References>,
    /// Whether the complete token secret is in the cache before the event.
    secret_is_cached: bool,
    /// Whether the controller has just created the complete token secret.
    secret_is_own_write: bool,
    /// The number of creates that the server forbids; `Some(None)` for all of them.
    creations_refused: Option<Option<u32>>,
    max_retries: u32,
    when: When,
    /// The calls with generation of tokens.
    calls: &'static [&'static str],
    /// The calls without it, if they differ.
    calls_without: Option<&'static [&'static str]>,
}

const NONE: References = &[];
const MISSING: References = &["missing-secret-1"];
const OPAQUE: References = &["regular-secret-1"];
const OWN: References = &[TOKEN_SECRET];

const NO_TOKEN: TokenData = TokenData { token: None, ..COMPLETE };
const NO_CA: TokenData = TokenData { root_ca: None, ..COMPLETE };
const OTHER_CA: TokenData = TokenData { root_ca: Some("mismatched"), ..COMPLETE };
const NO_NAMESPACE: TokenData = TokenData { namespace: None, ..COMPLETE };
const CUSTOM_NAMESPACE: TokenData = TokenData { namespace: Some("custom"), ..COMPLETE };

const GET: &str = "get serviceaccounts/builder";
const GET_ABSENT: &str = "get serviceaccounts/builder 404";
const CREATE: &str = "create secrets/$1 ca.crt=CA Data namespace=default token=ABC for builder/$account";
const REFUSED: &str = "create secrets/$1 ca.crt=CA Data namespace=default token=ABC for builder/$account 403";
const REFUSED_AGAIN: &str = "create secrets/$2 ca.crt=CA Data namespace=default token=ABC for builder/$account 403";
const REFUSED_AT_LAST: &str = "create secrets/$3 ca.crt=CA Data namespace=default token=ABC for builder/$account 403";
const CREATE_AT_LAST: &str = "create secrets/$3 ca.crt=CA Data namespace=default token=ABC for builder/$account";
const DELETE: &str = "delete secrets/token-secret-1 uid=$secret";
const FILL: &[&str] = &[
    "get secrets/token-secret-1",
    "update secrets/token-secret-1 ca.crt=CA Data namespace=default token=ABC for builder/$account",
];

const CASE: Case = Case {
    name: "",
    live_account: None,
    live_account_is_newer: false,
    live_secret: None,
    cached_account: None,
    secret_is_cached: false,
    secret_is_own_write: false,
    creations_refused: None,
    max_retries: 10,
    when: AccountAdded(NONE),
    calls: &[],
    calls_without: None,
};

const ACCOUNT_CASES: &[Case] = &[
    Case {
        name: "new serviceaccount with no secrets",
        live_account: Some(NONE),
        calls: &[GET, CREATE, "update serviceaccounts/builder secrets=[$1]"],
        calls_without: Some(&[]),
        ..CASE
    },
    Case {
        name: "new serviceaccount with no secrets encountering create error",
        live_account: Some(NONE),
        creations_refused: Some(Some(2)),
        calls: &[GET, REFUSED, GET, REFUSED_AGAIN, GET, CREATE_AT_LAST, "update serviceaccounts/builder secrets=[$3]"],
        calls_without: Some(&[]),
        ..CASE
    },
    Case {
        name: "new serviceaccount with no secrets encountering unending create error",
        live_account: Some(NONE),
        creations_refused: Some(None),
        max_retries: 2,
        calls: &[GET, REFUSED, GET, REFUSED_AGAIN, GET, REFUSED_AT_LAST],
        calls_without: Some(&[]),
        ..CASE
    },
    Case {
        name: "new serviceaccount with missing secrets",
        live_account: Some(MISSING),
        when: AccountAdded(MISSING),
        calls: &[GET, CREATE, "update serviceaccounts/builder secrets=[missing-secret-1,$1]"],
        calls_without: Some(&[]),
        ..CASE
    },
    Case {
        name: "new serviceaccount with missing secrets and a local secret in the cache",
        live_account: Some(MISSING),
        secret_is_own_write: true,
        when: AccountAdded(OWN),
        ..CASE
    },
    Case {
        name: "new serviceaccount with non-token secrets",
        live_account: Some(OPAQUE),
        when: AccountAdded(OPAQUE),
        calls: &[GET, CREATE, "update serviceaccounts/builder secrets=[regular-secret-1,$1]"],
        calls_without: Some(&[]),
        ..CASE
    },
    Case {
        name: "new serviceaccount with token secrets",
        live_account: Some(OWN),
        live_secret: Some(COMPLETE),
        secret_is_cached: true,
        when: AccountAdded(OWN),
        ..CASE
    },
    Case {
        name: "new serviceaccount with no secrets with resource conflict",
        live_account: Some(NONE),
        live_account_is_newer: true,
        max_retries: 1,
        calls: &[GET, GET],
        calls_without: Some(&[]),
        ..CASE
    },
    Case {
        name: "updated serviceaccount with no secrets",
        live_account: Some(NONE),
        when: AccountUpdated(NONE),
        calls: &[GET, CREATE, "update serviceaccounts/builder secrets=[$1]"],
        calls_without: Some(&[]),
        ..CASE
    },
    Case {
        name: "updated serviceaccount with missing secrets",
        live_account: Some(MISSING),
        when: AccountUpdated(MISSING),
        calls: &[GET, CREATE, "update serviceaccounts/builder secrets=[missing-secret-1,$1]"],
        calls_without: Some(&[]),
        ..CASE
    },
    Case {
        name: "updated serviceaccount with non-token secrets",
        live_account: Some(OPAQUE),
        when: AccountUpdated(OPAQUE),
        calls: &[GET, CREATE, "update serviceaccounts/builder secrets=[regular-secret-1,$1]"],
        calls_without: Some(&[]),
        ..CASE
    },
    Case {
        name: "updated serviceaccount with token secrets",
        secret_is_cached: true,
        when: AccountUpdated(OWN),
        ..CASE
    },
    Case {
        name: "updated serviceaccount with no secrets with resource conflict",
        live_account: Some(NONE),
        live_account_is_newer: true,
        max_retries: 1,
        when: AccountUpdated(NONE),
        calls: &[GET, GET],
        calls_without: Some(&[]),
        ..CASE
    },
    Case { name: "deleted serviceaccount with no secrets", when: AccountDeleted(NONE), ..CASE },
    Case { name: "deleted serviceaccount with missing secrets", when: AccountDeleted(MISSING), ..CASE },
    Case { name: "deleted serviceaccount with non-token secrets", when: AccountDeleted(OPAQUE), ..CASE },
    Case {
        name: "deleted serviceaccount with token secrets",
        live_secret: Some(COMPLETE),
        secret_is_cached: true,
        when: AccountDeleted(OWN),
        calls: &[DELETE],
        ..CASE
    },
];

const SECRET_CASES: &[Case] = &[
    Case {
        name: "added secret without serviceaccount",
        live_secret: Some(COMPLETE),
        when: SecretAdded(COMPLETE),
        calls: &[GET_ABSENT, DELETE],
        ..CASE
    },
    Case { name: "added secret with serviceaccount", cached_account: Some(OWN), when: SecretAdded(COMPLETE), ..CASE },
    Case {
        name: "added token secret without token data",
        live_secret: Some(NO_TOKEN),
        cached_account: Some(OWN),
        when: SecretAdded(NO_TOKEN),
        calls: FILL,
        ..CASE
    },
    Case {
        name: "added token secret without ca data",
        live_secret: Some(NO_CA),
        cached_account: Some(OWN),
        when: SecretAdded(NO_CA),
        calls: FILL,
        ..CASE
    },
    Case {
        name: "added token secret with mismatched ca data",
        live_secret: Some(OTHER_CA),
        cached_account: Some(OWN),
        when: SecretAdded(OTHER_CA),
        calls: FILL,
        ..CASE
    },
    Case {
        name: "added token secret without namespace data",
        live_secret: Some(NO_NAMESPACE),
        cached_account: Some(OWN),
        when: SecretAdded(NO_NAMESPACE),
        calls: FILL,
        ..CASE
    },
    Case {
        name: "added token secret with custom namespace data",
        live_secret: Some(CUSTOM_NAMESPACE),
        cached_account: Some(OWN),
        when: SecretAdded(CUSTOM_NAMESPACE),
        ..CASE
    },
    Case {
        name: "updated secret without serviceaccount",
        live_secret: Some(COMPLETE),
        when: SecretUpdated(COMPLETE),
        calls: &[GET_ABSENT, DELETE],
        ..CASE
    },
    Case {
        name: "updated secret with serviceaccount",
        cached_account: Some(OWN),
        when: SecretUpdated(COMPLETE),
        ..CASE
    },
    Case {
        name: "updated token secret without token data",
        live_secret: Some(NO_TOKEN),
        cached_account: Some(OWN),
        when: SecretUpdated(NO_TOKEN),
        calls: FILL,
        ..CASE
    },
    Case {
        name: "updated token secret without ca data",
        live_secret: Some(NO_CA),
        cached_account: Some(OWN),
        when: SecretUpdated(NO_CA),
        calls: FILL,
        ..CASE
    },
    Case {
        name: "updated token secret with mismatched ca data",
        live_secret: Some(OTHER_CA),
        cached_account: Some(OWN),
        when: SecretUpdated(OTHER_CA),
        calls: FILL,
        ..CASE
    },
    Case {
        name: "updated token secret without namespace data",
        live_secret: Some(NO_NAMESPACE),
        cached_account: Some(OWN),
        when: SecretUpdated(NO_NAMESPACE),
        calls: FILL,
        ..CASE
    },
    Case {
        name: "updated token secret with custom namespace data",
        live_secret: Some(CUSTOM_NAMESPACE),
        cached_account: Some(OWN),
        when: SecretUpdated(CUSTOM_NAMESPACE),
        ..CASE
    },
    Case { name: "deleted secret without serviceaccount", when: SecretDeleted(COMPLETE), ..CASE },
    Case {
        name: "deleted secret with serviceaccount with reference",
        live_account: Some(OWN),
        cached_account: Some(OWN),
        when: SecretDeleted(COMPLETE),
        calls: &[GET, "update serviceaccounts/builder secrets=[]"],
        ..CASE
    },
    Case {
        name: "deleted secret with serviceaccount without reference",
        cached_account: Some(NONE),
        when: SecretDeleted(COMPLETE),
        calls: &[GET_ABSENT],
        ..CASE
    },
];

async fn play(case: &Case, auto_generate: bool) -> Vec<String> {
    let mut setup = Setup::new().await;
    setup.options.auto_generate = auto_generate;
    setup.options.max_retries = case.max_retries;

    if let Some(references) = case.live_account {
        setup.create_account(references).await;
    }
    setup.live_secrets().create(&PostParams::default(), &opaque_secret()).await.expect("the secret is created");
    if let Some(data) = case.live_secret {
        setup.create_token_secret(data).await;
    }
    if let Some(references) = case.cached_account {
        setup.service_accounts.apply(setup.cached_account(references));
    }
    if case.secret_is_cached {
        setup.secrets.apply(setup.cached_secret(COMPLETE));
    }
    if case.live_account_is_newer {
        setup.touch_account().await;
    }
    if let Some(times) = case.creations_refused {
        setup.fail("create", "secrets", 403, times);
    }

    // An object that is updated or deleted must have been seen before.
    match case.when {
        AccountUpdated(references) | AccountDeleted(references) => {
            setup.service_accounts.apply(setup.cached_account(references));
        }
        SecretUpdated(data) | SecretDeleted(data) => setup.secrets.apply(setup.cached_secret(data)),
        AccountAdded(_) | SecretAdded(_) => {}
    }
    let own_write = case.secret_is_own_write.then(|| setup.cached_secret(COMPLETE));
    let controller = setup.controller_that_wrote(own_write);
    match case.when {
        AccountAdded(references) | AccountUpdated(references) => {
            setup.service_accounts.apply(setup.cached_account(references));
        }
        AccountDeleted(references) => setup.service_accounts.delete(setup.cached_account(references)),
        SecretAdded(data) | SecretUpdated(data) => setup.secrets.apply(setup.cached_secret(data)),
        SecretDeleted(data) => setup.secrets.delete(setup.cached_secret(data)),
    }
    setup.settle(&controller).await
}

#[tokio::test]
async fn with_generation_of_tokens() {
    for case in ACCOUNT_CASES.iter().chain(SECRET_CASES) {
        assert_eq!(play(case, true).await, case.calls, "{}", case.name);
    }
}

#[tokio::test]
async fn without_generation_of_tokens() {
    for case in ACCOUNT_CASES.iter().chain(SECRET_CASES) {
        assert_eq!(play(case, false).await, case.calls_without.unwrap_or(case.calls), "{}", case.name);
    }
}
