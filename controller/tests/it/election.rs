//! Leader election: of many candidates one leads at a time.

use crate::setup::{client, server};
use controller::client_go::leader_election::{ElectionConfig, LeaderElector, LeadershipLost};
use fake_apiserver::FakeApiServer;
use fake_apiserver::On;
use k8s_openapi::api::coordination::v1::{Lease, LeaseSpec};
use kube::Api;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::oneshot;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

const NOW: &str = "2026-01-02T03:04:05.000000Z";

fn config(identity: &str) -> ElectionConfig {
    ElectionConfig {
        identity: identity.into(),
        namespace: "kube-system".into(),
        name: "kube-controller-manager".into(),
        lease_duration: Duration::from_secs(15),
        renew_deadline: Duration::from_millis(200),
        retry_period: Duration::from_millis(20),
        clock: Arc::new(|| NOW.parse().expect("a timestamp")),
    }
}

/// A candidate of the election.
struct Candidate {
    stop: CancellationToken,
    leads: oneshot::Receiver<()>,
    ended: JoinHandle<Result<(), LeadershipLost>>,
}

fn candidate(server: &FakeApiServer, identity: &str) -> Candidate {
    let elector = LeaderElector::new(client(server, identity), config(identity)).expect("a valid configuration");
    let stop = CancellationToken::new();
    let (lead, leads) = oneshot::channel();
    let work = async move |stop: CancellationToken| {
        lead.send(()).expect("somebody waits for it");
        stop.cancelled().await;
    };
    let ended = tokio::spawn(elector.run(stop.clone(), work));
    Candidate { stop, leads, ended }
}

async fn lease(server: &FakeApiServer) -> LeaseSpec {
    let leases: Api<Lease> = Api::namespaced(server.client(), "kube-system");
    leases.get("kube-controller-manager").await.expect("the lease exists").spec.expect("a lease has a spec")
}

/// Waits until `user_agent` has made that many successful requests of that verb.
async fn requests(server: &FakeApiServer, user_agent: &str, verb: &str, number: usize) {
    let made = || {
        let records = server.requests();
        let own = records.iter().filter(|record| record.user_agent == user_agent && record.verb == verb);
        own.filter(|record| record.code == 200).count()
    };
    let mut count = server.request_log().count();
    while made() < number {
        count.changed().await.expect("the server runs");
    }
}

#[tokio::test]
async fn the_leader_writes_renews_and_releases_the_lease() {
    let server = server().await;
    let leader = candidate(&server, "one");
    leader.leads.await.expect("it leads");
    let held = lease(&server).await;
    assert_eq!(held.holder_identity.as_deref(), Some("one"));
    assert_eq!((held.lease_duration_seconds, held.lease_transitions), (Some(15), Some(0)));
    let now = Some(NOW.parse().expect("a timestamp"));
    assert_eq!((held.acquire_time.map(|time| time.0), held.renew_time.map(|time| time.0)), (now, now));

    requests(&server, "one", "update", 1).await;
    leader.stop.cancel();
    assert!(leader.ended.await.expect("no panic").is_ok());
    let released = lease(&server).await;
    assert_eq!(released.holder_identity.as_deref(), Some(""));
    assert_eq!((released.lease_duration_seconds, released.lease_transitions), (Some(1), Some(0)));
}

#[tokio::test]
async fn a_second_candidate_waits_for_the_first_to_release() {
    let server = server().await;
    let first = candidate(&server, "one");
    first.leads.await.expect("it leads");
    let mut second = candidate(&server, "two");
    tokio::select! {
        _ = &mut second.leads => panic!("the lease is held"),
        () = requests(&server, "two", "get", 3) => {}
    }

    first.stop.cancel();
    second.leads.await.expect("it leads now");
    let held = lease(&server).await;
    assert_eq!((held.holder_identity.as_deref(), held.lease_transitions), (Some("two"), Some(1)));
    second.stop.cancel();
    assert!(second.ended.await.expect("no panic").is_ok());
}

#[tokio::test]
async fn a_lease_that_is_not_renewed_goes_to_another() {
    let server = server().await;
    let first = candidate(&server, "one");
    first.leads.await.expect("it leads");
    first.ended.abort();
    let leases: Api<Lease> = Api::namespaced(server.client(), "kube-system");
    let mut lease = leases.get("kube-controller-manager").await.expect("the lease exists");
    lease.spec.get_or_insert_default().lease_duration_seconds = Some(1);
    leases.replace("kube-controller-manager", &Default::default(), &lease).await.expect("the lease is shortened");

    let second = candidate(&server, "two");
    second.leads.await.expect("it leads in the end");
    let held = self::lease(&server).await;
    assert_eq!((held.holder_identity.as_deref(), held.lease_transitions), (Some("two"), Some(1)));
    second.stop.cancel();
    assert!(second.ended.await.expect("no panic").is_ok());
}

#[tokio::test]
async fn a_leader_that_cannot_renew_in_time_has_lost() {
    let server = server().await;
    let leader = candidate(&server, "one");
    leader.leads.await.expect("it leads");
    server.faults().add(On::any().resource("leases").user_agent_prefix("one").status(500));
    assert!(leader.ended.await.expect("no panic").is_err());
    assert_eq!(lease(&server).await.holder_identity.as_deref(), Some("one"), "it could not be released either");
}

#[tokio::test]
async fn a_candidate_that_is_stopped_while_waiting_leaves_the_lease_alone() {
    let server = server().await;
    let first = candidate(&server, "one");
    first.leads.await.expect("it leads");
    let second = candidate(&server, "two");
    requests(&server, "two", "get", 1).await;
    second.stop.cancel();
    assert!(second.ended.await.expect("no panic").is_ok());
    assert_eq!(lease(&server).await.holder_identity.as_deref(), Some("one"));
    first.stop.cancel();
    assert!(first.ended.await.expect("no panic").is_ok());
}

#[tokio::test]
async fn a_configuration_must_make_sense() {
    let server = server().await;
    let seconds = Duration::from_secs;
    for (lease, renew, retry, identity, expected) in [
        (seconds(15), seconds(10), seconds(2), "one", None),
        (seconds(10), seconds(10), seconds(2), "one", Some("leaseDuration must be greater than renewDeadline")),
        (
            seconds(15),
            seconds(12),
            seconds(10),
            "one",
            Some("renewDeadline must be greater than retryPeriod*JitterFactor"),
        ),
        (seconds(15), seconds(10), seconds(0), "one", Some("retryPeriod must be greater than zero")),
        (seconds(15), seconds(10), seconds(2), "", Some("Lock identity is empty")),
    ] {
        let config =
            ElectionConfig { lease_duration: lease, renew_deadline: renew, retry_period: retry, ..config(identity) };
        let error = LeaderElector::new(server.client(), config).err().map(|error| error.to_string());
        assert_eq!(error.as_deref(), expected);
    }
}
