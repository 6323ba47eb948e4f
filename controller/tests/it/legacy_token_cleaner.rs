//! Upstream's own table of the cleaner's calls: `TestLegacyServiceAccountTokenCleanUp` of kubernetes v1.37.1
//! `pkg/controller/serviceaccount/legacy_serviceaccount_token_cleaner_test.go`.
//!
//! There the time is the real one; here it is noon of [`TODAY`]. In both the period reaches back to a day. The service
//! account is called `builder` instead of `default`. Two rows, about a config map that cannot be read, are in
//! `verdict.rs`, as a server repairs such a config map at once.

use crate::calls::{line, records, text};
use crate::objects::{ACCOUNT, COMPLETE, TOKEN_SECRET, account, opaque_secret, token_secret};
use crate::setup::{USER_AGENT, client, fail, server, settle};
use controller::client_go::informer::Informer;
use controller::controllers::legacy_token_cleaner::{
    self, EVALUATION, INVALID_SINCE_LABEL, LAST_USED_LABEL, Options, Stores, TRACKED_SINCE_KEY, TRACKING_CONFIG_MAP,
};
use controller::controllers::tokens::{SERVICE_ACCOUNT_NAME_KEY, SERVICE_ACCOUNT_UID_KEY};
use fake_apiserver::FakeApiServer;
use jiff::Timestamp;
use k8s_openapi::api::core::v1::{ConfigMap, Pod, Secret};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
use kube::api::PostParams;
use kube::{Api, ResourceExt};
use serde_json::{Value, from_value, json};
use std::sync::Arc;
use std::time::Duration;

const TODAY: &str = "2023-06-01";

#[derive(Clone, Copy)]
struct Case {
    name: &'static str,
    /// The day that the config map has, if there is one.
    tracked_since: Option<&'static str>,
    /// The first day of the period.
    period_since: &'static str,
    token: bool,
    created: &'static str,
    last_used: Option<&'static str>,
    invalid_since: Option<&'static str>,
    deleting: bool,
    account_name: &'static str,
    account_uid: &'static str,
    account_exists: bool,
    referenced: bool,
    mounted: bool,
    /// The calls after the first, which reads the config map.
    calls: &'static [&'static str],
}

const CASE: Case = Case {
    name: "",
    tracked_since: Some("2022-12-27"),
    period_since: "2022-12-29",
    token: true,
    created: "2022-12-27",
    last_used: Some("2022-12-27"),
    invalid_since: None,
    deleting: false,
    account_name: ACCOUNT,
    account_uid: "12345",
    account_exists: true,
    referenced: true,
    mounted: false,
    calls: &[],
};

const PATCH: &[&str] = &["patch secrets/default/token-secret-1 invalid-since=2023-06-01 uid=live"];
const DELETE: &[&str] = &["delete secrets/default/token-secret-1 resourceVersion=live"];

#[rustfmt::skip]
const CASES: &[Case] = &[
    Case { name: "configmap does not exist", tracked_since: None, period_since: "2022-12-28", ..CASE },
    Case { name: "configmap exists, the time period since 'tracked-since' is smaller than the CleanUpPeriod", tracked_since: Some("2022-12-29"), ..CASE },
    Case { name: "secret is not SecretTypeServiceAccountToken type", tracked_since: Some("2022-12-28"), token: false, ..CASE },
    Case { name: "secret is not referenced by serviceaccount", referenced: false, ..CASE },
    Case { name: "auto-generated secret has a late creation time", created: "2022-12-30", ..CASE },
    Case { name: "auto-generated secret has a deletion time", period_since: "2022-12-30", deleting: true, ..CASE },
    Case { name: "auto-generated secret has a late last-used time", last_used: Some("2022-12-30"), ..CASE },
    Case { name: "auto-generated secret has a last-used label, but it can not be parsed", last_used: Some("2022-12-27-1"), ..CASE },
    Case { name: "secret-referenced service account does not exist", account_exists: false, ..CASE },
    Case { name: "secret-referenced service account uid does not match", account_uid: "123456", ..CASE },
    Case { name: "secret-referenced service account name is empty", account_name: "", ..CASE },
    Case { name: "no 'last-used' label, has not been marked as invalid", tracked_since: Some("2022-12-28"), period_since: "2022-12-30", last_used: None, calls: PATCH, ..CASE },
    Case { name: "no 'last-used' label, invalid_since label can not be parsed", tracked_since: Some("2022-12-28"), period_since: "2022-12-30", last_used: None, invalid_since: Some("2022-12-29-1"), calls: PATCH, ..CASE },
    Case { name: "no 'last-used' label, time period since invalid is less than CleanUpPeriod", tracked_since: Some("2022-12-28"), last_used: None, invalid_since: Some("2023-01-01"), ..CASE },
    Case { name: "no 'last-used' label, time period since invalid is larger than CleanUpPeriod", tracked_since: Some("2022-12-28"), period_since: "2023-01-01", last_used: None, invalid_since: Some("2022-12-29"), calls: DELETE, ..CASE },
    Case { name: "auto-generated secret is mounted by the pod", tracked_since: Some("2022-12-28"), mounted: true, ..CASE },
    Case { name: "last-used is older, not been marked as invalid", tracked_since: Some("2022-12-28"), period_since: "2022-12-30", calls: PATCH, ..CASE },
    Case { name: "last-used is older, marked, time period since invalid is less than CleanUpPeriod", tracked_since: Some("2022-12-28"), period_since: "2022-12-30", invalid_since: Some("2023-05-01"), ..CASE },
    Case { name: "last-used is older, marked, time period since invalid is larger than CleanUpPeriod", tracked_since: Some("2022-12-28"), period_since: "2023-05-01", invalid_since: Some("2023-01-05"), calls: DELETE, ..CASE },
    // Not in upstream's table: the days at the edge.
    Case { name: "tracking began on the day before the period's first", tracked_since: Some("2022-12-28"), calls: PATCH, ..CASE },
    Case { name: "tracking began on the period's first day", tracked_since: Some("2022-12-29"), ..CASE },
    Case { name: "created on the period's first day, before its time", created: "2022-12-29", last_used: None, calls: PATCH, ..CASE },
    Case { name: "last used on the day before the period's first", last_used: Some("2022-12-28"), calls: PATCH, ..CASE },
    Case { name: "last used on the period's first day", last_used: Some("2022-12-29"), ..CASE },
    Case { name: "marked on the day before the period's first", invalid_since: Some("2022-12-28"), calls: DELETE, ..CASE },
    Case { name: "marked on the period's first day", invalid_since: Some("2022-12-29"), ..CASE },
    Case { name: "marked today", invalid_since: Some(TODAY), ..CASE },
    Case { name: "the secret names no uid", account_uid: "", calls: PATCH, ..CASE },
];

fn noon(day: &str) -> Timestamp {
    format!("{day}T12:00:00Z").parse().expect("a day")
}

fn midnight(day: &str) -> Timestamp {
    format!("{day}T00:00:00Z").parse().expect("a day")
}

/// The cached secret of the case, without uid and resource version.
fn secret(case: &Case) -> Secret {
    if !case.token {
        return opaque_secret();
    }
    let mut secret = token_secret(COMPLETE, case.account_uid);
    secret.annotations_mut().insert(SERVICE_ACCOUNT_NAME_KEY.into(), case.account_name.into());
    secret.annotations_mut().insert(SERVICE_ACCOUNT_UID_KEY.into(), case.account_uid.into());
    let labels = [(LAST_USED_LABEL, case.last_used), (INVALID_SINCE_LABEL, case.invalid_since)];
    secret.metadata.labels =
        Some(labels.into_iter().filter_map(|(key, value)| Some((key.to_owned(), value?.to_owned()))).collect());
    secret
}

/// Writes `since` to the config map that the server made, or deletes that.
async fn track(server: &FakeApiServer, since: Option<&str>) {
    let api: Api<ConfigMap> = Api::namespaced(server.client(), "kube-system");
    match since {
        Some(since) => {
            let mut config_map = api.get(TRACKING_CONFIG_MAP).await.expect("the config map exists");
            config_map.data = Some([(TRACKED_SINCE_KEY.to_owned(), since.to_owned())].into());
            let replaced = api.replace(TRACKING_CONFIG_MAP, &PostParams::default(), &config_map).await;
            replaced.map(drop).expect("the config map is updated");
        }
        None => api.delete(TRACKING_CONFIG_MAP, &Default::default()).await.map(drop).expect("it is deleted"),
    }
}

/// Evaluates the case once; returns the calls.
async fn play(case: &Case, faults: &[(&str, &str, u16)]) -> Vec<String> {
    let server = server().await;
    track(&server, case.tracked_since).await;
    let mut cached = secret(case);
    (cached.metadata.uid, cached.metadata.resource_version) = (None, None);
    // The server sets labels and metadata. It accepts any secret, except one without an account's name.
    let mut live = cached.clone();
    live.annotations_mut().insert(SERVICE_ACCOUNT_NAME_KEY.into(), ACCOUNT.into());
    let api: Api<Secret> = Api::namespaced(server.client(), "default");
    let live = api.create(&PostParams::default(), &live).await.expect("the secret is created");
    cached.metadata.uid = live.uid();
    cached.metadata.resource_version = live.resource_version();
    cached.metadata.creation_timestamp = Some(Time(midnight(case.created)));
    cached.metadata.deletion_timestamp = case.deleting.then(|| Time(noon(TODAY)));

    let references: &[&str] = if case.referenced { &[TOKEN_SECRET] } else { &[] };
    let accounts = case.account_exists.then(|| account(references));
    let volumes =
        if case.mounted { json!([{"name": "foo", "secret": {"secretName": TOKEN_SECRET}}]) } else { json!(null) };
    let pod =
        json!({"metadata": {"name": "pod-1", "namespace": "default"}, "spec": {"containers": [], "volumes": volumes}});
    let pod: Pod = from_value(pod).expect("a pod");
    let stores = Stores {
        service_accounts: Arc::new(Informer::with_objects(accounts)),
        secrets: Arc::new(Informer::with_objects([cached])),
        pods: Arc::new(Informer::with_objects([pod])),
    };
    for (verb, resource, code) in faults {
        fail(&server, verb, resource, *code, None);
    }
    let period = Duration::try_from(noon(TODAY).duration_since(noon(case.period_since))).expect("a day in the past");
    let options = Options { clean_up_period: period, sync_interval: Duration::from_secs(30) };
    let clock = Arc::new(|| noon(TODAY));
    let controller = legacy_token_cleaner::controller(client(&server, USER_AGENT), stores, clock, options);
    settle(&controller.expect("the options make sense")).await;

    let sent = |body: &Value| {
        let parts = [
            ("invalid-since", text(body, "/metadata/labels/kubernetes.io~1legacy-token-invalid-since"), ""),
            ("uid", text(body, "/metadata/uid"), live.metadata.uid.as_deref().unwrap_or_default()),
            (
                "resourceVersion",
                text(body, "/preconditions/resourceVersion"),
                live.metadata.resource_version.as_deref().unwrap_or_default(),
            ),
            ("precondition-uid", text(body, "/preconditions/uid"), ""),
        ];
        let told = parts.into_iter().filter(|(_, value, _)| !value.is_empty());
        told.map(|(name, value, live)| format!(" {name}={}", if value == live { "live" } else { &value })).collect()
    };
    records(&server, USER_AGENT).map(|record| line(&record, sent)).collect()
}

fn read(case: &Case) -> String {
    let code = if case.tracked_since.is_none() { " 404" } else { "" };
    format!("get configmaps/kube-system/{TRACKING_CONFIG_MAP}{code}")
}

#[tokio::test]
async fn it_marks_and_deletes_what_nobody_used_for_the_period() {
    for case in CASES {
        let expected: Vec<_> =
            std::iter::once(read(case)).chain(case.calls.iter().map(|call| (*call).to_owned())).collect();
        assert_eq!(play(case, &[]).await, expected, "{}", case.name);
    }
}

#[tokio::test]
async fn what_fails_is_left_for_the_next_time() {
    let marked = Case { invalid_since: Some("2022-12-28"), ..CASE };
    for (case, verb, code, call) in [
        (CASE, "patch", 500, PATCH),
        (marked, "delete", 409, DELETE),
        (marked, "delete", 404, DELETE),
        (marked, "delete", 500, DELETE),
    ] {
        let expected = [read(&case), format!("{} {code}", call[0])];
        assert_eq!(play(&case, &[(verb, "secrets", code)]).await, expected, "{verb} {code}");
    }
}

#[tokio::test(start_paused = true)]
async fn it_looks_at_once_and_then_after_each_interval() {
    let stores = Stores {
        service_accounts: Arc::new(Informer::with_objects([])),
        secrets: Arc::new(Informer::with_objects([])),
        pods: Arc::new(Informer::with_objects([])),
    };
    let looked = tokio::sync::watch::Sender::new(0);
    let clock = Arc::new({
        let looked = looked.clone();
        move || {
            looked.send_modify(|times| *times += 1);
            noon(TODAY)
        }
    });
    // The port is closed, so that reading the config map fails at once.
    let config = kube::Config::new("http://127.0.0.1:1".parse().expect("an address"));
    let client = controller::client_go::client::new(config, USER_AGENT).expect("a sound configuration");
    let controller = legacy_token_cleaner::controller(client.clone(), stores, clock, Options::default());
    let controller = controller.expect("the options make sense");
    let begin = tokio::time::Instant::now();
    let mut times = looked.subscribe();
    tokio::select! {
        () = controller.work(1, Default::default()) => {}
        result = times.wait_for(|times| *times == 3) => drop(result.expect("the sender lives")),
    }
    assert_eq!(begin.elapsed().as_secs() / 3600, 48);
}

#[tokio::test]
async fn it_can_be_stepped_as_often_as_one_likes() {
    let server = server().await;
    let stores = Stores {
        service_accounts: Arc::new(Informer::new()),
        secrets: Arc::new(Informer::new()),
        pods: Arc::new(Informer::new()),
    };
    let clock = Arc::new(|| noon(TODAY));
    let controller = legacy_token_cleaner::controller(client(&server, USER_AGENT), stores, clock, Options::default());
    let controller = controller.expect("the options make sense");
    controller.pause().await;
    let admin = server.client();
    let steps = async {
        for _ in 0..3 {
            assert_eq!(controller.step(&admin).await.expect("the server lists").as_deref(), Some(EVALUATION));
        }
    };
    tokio::select! {
        () = controller.run(1, Default::default()) => {}
        () = steps => {}
    }
    assert_eq!(records(&server, USER_AGENT).count(), 3);
}

#[test]
fn it_refuses_options_that_make_no_sense() {
    let runtime = tokio::runtime::Builder::new_current_thread().build().expect("a runtime");
    let _guard = runtime.enter();
    for (period, interval, expected) in [(0, 1, "invalid CleanUpPeriod: 0ns"), (1, 0, "invalid SyncInterval: 0ns")] {
        let stores = Stores {
            service_accounts: Arc::new(Informer::new()),
            secrets: Arc::new(Informer::new()),
            pods: Arc::new(Informer::new()),
        };
        let config = kube::Config::new("http://127.0.0.1:1".parse().expect("an address"));
        let client = controller::client_go::client::new(config, USER_AGENT).expect("a sound configuration");
        let options =
            Options { clean_up_period: Duration::from_secs(period), sync_interval: Duration::from_secs(interval) };
        let refused = legacy_token_cleaner::controller(client, stores, Arc::new(|| noon(TODAY)), options);
        assert_eq!(refused.err().map(|error| error.to_string()).as_deref(), Some(expected));
    }
}
