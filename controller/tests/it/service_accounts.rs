//! Upstream's own table of the service accounts that the controller creates: `TestServiceAccountCreation` of kubernetes
//! v1.37.1 `pkg/controller/serviceaccount/serviceaccounts_controller_test.go`; and creates that fail.

use crate::calls::{line, records};
use crate::setup::{USER_AGENT, client, fail, server, settle};
use controller::client_go::informer::Informer;
use controller::controller::Controller;
use controller::controllers::service_accounts::{self, Options};
use fake_apiserver::FakeApiServer;
use k8s_openapi::api::core::v1::{Namespace, ServiceAccount};
use kube::Api;
use kube::api::{DeleteParams, PostParams};
use serde_json::{from_value, json};
use std::sync::Arc;

/// The event that the informers report, about the namespace `default` in this phase, or an account in it.
#[derive(Debug, Clone, Copy)]
enum When {
    NamespaceAdded(&'static str),
    NamespaceUpdated(&'static str),
    AccountAdded(&'static str),
    AccountUpdated(&'static str),
    AccountDeleted(&'static str),
    /// The account is missing in a new list.
    AccountMissed(&'static str),
}
use When::*;

struct Case {
    name: &'static str,
    /// The phase of the namespace in the cache before the event.
    namespace: Option<&'static str>,
    /// The service accounts in the cache.
    accounts: &'static [&'static str],
    when: When,
    /// The service accounts that are created; wanted are `default` and `managed`.
    created: &'static [&'static str],
}

const BOTH: &[&str] = &["default", "managed"];

#[rustfmt::skip]
const CASES: &[Case] = &[
    Case { name: "new active namespace missing serviceaccounts", namespace: None, accounts: &[], when: NamespaceAdded("Active"), created: BOTH },
    Case { name: "new active namespace missing serviceaccount", namespace: None, accounts: &["managed"], when: NamespaceAdded("Active"), created: &["default"] },
    Case { name: "new active namespace with serviceaccounts", namespace: None, accounts: BOTH, when: NamespaceAdded("Active"), created: &[] },
    Case { name: "new terminating namespace", namespace: None, accounts: &[], when: NamespaceAdded("Terminating"), created: &[] },
    Case { name: "updated active namespace missing serviceaccounts", namespace: Some("Active"), accounts: &[], when: NamespaceUpdated("Active"), created: BOTH },
    Case { name: "updated active namespace missing serviceaccount", namespace: Some("Active"), accounts: &["default"], when: NamespaceUpdated("Active"), created: &["managed"] },
    Case { name: "updated active namespace with serviceaccounts", namespace: Some("Active"), accounts: BOTH, when: NamespaceUpdated("Active"), created: &[] },
    Case { name: "updated terminating namespace", namespace: Some("Active"), accounts: &[], when: NamespaceUpdated("Terminating"), created: &[] },
    Case { name: "deleted serviceaccount without namespace", namespace: None, accounts: &[], when: AccountDeleted("default"), created: &[] },
    Case { name: "deleted serviceaccount with active namespace", namespace: Some("Active"), accounts: &["managed"], when: AccountDeleted("default"), created: &["default"] },
    Case { name: "deleted serviceaccount with terminating namespace", namespace: Some("Terminating"), accounts: &[], when: AccountDeleted("default"), created: &[] },
    Case { name: "deleted unmanaged serviceaccount with active namespace", namespace: Some("Active"), accounts: BOTH, when: AccountDeleted("other-unmanaged"), created: &[] },
    Case { name: "deleted unmanaged serviceaccount with terminating namespace", namespace: Some("Terminating"), accounts: &[], when: AccountDeleted("other-unmanaged"), created: &[] },
    // Not in upstream's table, but in its code.
    Case { name: "a missed deletion counts", namespace: Some("Active"), accounts: &["managed"], when: AccountMissed("default"), created: &["default"] },
    Case { name: "any deletion makes it look again", namespace: Some("Active"), accounts: &[], when: AccountDeleted("other-unmanaged"), created: BOTH },
    Case { name: "a new serviceaccount does not", namespace: Some("Active"), accounts: &[], when: AccountAdded("other-unmanaged"), created: &[] },
    Case { name: "nor does a changed one", namespace: Some("Active"), accounts: &["managed"], when: AccountUpdated("managed"), created: &[] },
];

fn namespace(phase: &str) -> Namespace {
    from_value(json!({"metadata": {"name": "default"}, "status": {"phase": phase}})).expect("a namespace")
}

fn account(name: &str) -> ServiceAccount {
    let metadata = json!({"name": name, "namespace": "default", "resourceVersion": "1"});
    from_value(json!({ "metadata": metadata })).expect("a service account")
}

fn wanted(names: &[&str]) -> Options {
    let account = |name: &&str| from_value(json!({"metadata": {"name": name}})).expect("a service account");
    Options { service_accounts: names.iter().map(account).collect() }
}

/// A server, and a controller on informers that a test fills.
struct Stage {
    server: FakeApiServer,
    accounts: Arc<Informer<ServiceAccount>>,
    namespaces: Arc<Informer<Namespace>>,
}

impl Stage {
    async fn new() -> Self {
        let (accounts, namespaces) = (Informer::with_objects([]), Informer::with_objects([]));
        Stage { server: server().await, accounts: Arc::new(accounts), namespaces: Arc::new(namespaces) }
    }

    fn controller(&self) -> Controller {
        let client = client(&self.server, USER_AGENT);
        service_accounts::controller(client, self.accounts.clone(), self.namespaces.clone(), wanted(BOTH))
    }

    async fn live(&self, name: &str) {
        let api: Api<ServiceAccount> = Api::namespaced(self.server.client(), "default");
        let mut account = account(name);
        account.metadata.resource_version = None;
        api.create(&PostParams::default(), &account).await.expect("the service account is created");
    }

    fn calls(&self) -> Vec<String> {
        records(&self.server, USER_AGENT).map(|record| line(&record, |_| String::new())).collect()
    }
}

#[tokio::test]
async fn it_creates_what_active_namespaces_lack() {
    for case in CASES {
        let stage = Stage::new().await;
        case.namespace.into_iter().for_each(|phase| stage.namespaces.apply(namespace(phase)));
        stage.accounts.replace(case.accounts.iter().map(|name| account(name)));
        match case.when {
            AccountDeleted(name) | AccountMissed(name) => stage.accounts.apply(account(name)),
            _ => {}
        }
        let controller = stage.controller();
        match case.when {
            NamespaceAdded(phase) | NamespaceUpdated(phase) => stage.namespaces.apply(namespace(phase)),
            AccountAdded(name) | AccountUpdated(name) => stage.accounts.apply(account(name)),
            AccountDeleted(name) => stage.accounts.delete(account(name)),
            AccountMissed(_) => stage.accounts.replace(case.accounts.iter().map(|name| account(name))),
        }
        settle(&controller).await;
        let created = case.created.iter().map(|name| format!("create serviceaccounts/default/{name}"));
        assert_eq!(stage.calls(), Vec::from_iter(created), "{}", case.name);
    }
}

#[tokio::test]
async fn what_was_just_created_by_somebody_else_is_no_failure() {
    let stage = Stage::new().await;
    stage.live("default").await;
    let controller = stage.controller();
    stage.namespaces.apply(namespace("Active"));
    settle(&controller).await;
    assert_eq!(stage.calls(), ["create serviceaccounts/default/default 409", "create serviceaccounts/default/managed"]);
}

#[tokio::test]
async fn one_failure_keeps_no_other_account_from_being_created_and_all_are_tried_again() {
    let stage = Stage::new().await;
    fail(&stage.server, "create", "serviceaccounts", 403, Some(3));
    let controller = stage.controller();
    stage.namespaces.apply(namespace("Active"));
    settle(&controller).await;
    let [default, managed] = ["default", "managed"].map(|name| format!("create serviceaccounts/default/{name}"));
    let refused = |line: &str| format!("{line} 403");
    assert_eq!(
        stage.calls(),
        [
            refused(&default),
            refused(&managed),
            refused(&default),
            managed.clone(),
            default,
            // It is not in the cache, so its create is retried, and it exists already.
            format!("{managed} 409"),
        ]
    );
}

#[tokio::test]
async fn a_namespace_that_is_going_away_is_not_fought_over() {
    let stage = Stage::new().await;
    let namespaces: Api<Namespace> = Api::all(stage.server.client());
    let mut doomed = namespace("Active");
    doomed.metadata.name = Some("doomed".into());
    namespaces.create(&PostParams::default(), &doomed).await.expect("the namespace is created");
    let accounts: Api<ServiceAccount> = Api::namespaced(stage.server.client(), "doomed");
    let keeper = json!({"metadata": {"name": "keeper", "finalizers": ["example.com/stay"]}});
    let keeper = from_value(keeper).expect("a service account");
    accounts.create(&PostParams::default(), &keeper).await.expect("the service account is created");
    namespaces.delete("doomed", &DeleteParams::default()).await.expect("the namespace is deleted");

    let controller = stage.controller();
    stage.namespaces.apply(doomed);
    settle(&controller).await;
    assert_eq!(
        stage.calls(),
        ["create serviceaccounts/doomed/default 403", "create serviceaccounts/doomed/managed 403"]
    );
}
