//! The manager's own endpoints, over the wire.

use crate::objects::{ACCOUNT, NAMESPACE, account};
use crate::setup::{USER_AGENT, client, fail, server};
use controller::client_go::leader_election::{ElectionConfig, LeaderElector};
use controller::client_go::workqueue::metrics::QueueMetrics;
use controller::clock::system_clock;
use controller::controllers::root_ca;
use controller::controllers::service_accounts::Options;
use controller::manager::catalogue::Kind;
use controller::manager::fleet::Fleet;
use controller::manager::serving::{Endpoint, Identity, Site};
use fake_apiserver::FakeApiServer;
use k8s_openapi::api::core::v1::ServiceAccount;
use kube::api::PostParams;
use kube::{Api, Client};
use prometheus_client::registry::Registry;
use std::net::SocketAddr;
use std::time::Duration;
use tokio_util::sync::CancellationToken;

/// Serves `site` until the guard is dropped; returns the address.
async fn serve(site: Site) -> (SocketAddr, tokio_util::sync::DropGuard) {
    let address = SocketAddr::from(([127, 0, 0, 1], 0));
    let identity = Identity::generate(address).expect("a certificate is made");
    let endpoint = Endpoint::bind(address, &identity).await.expect("a port is free");
    let address = endpoint.address().expect("it listens");
    let stop = CancellationToken::new();
    tokio::spawn(endpoint.serve(site, stop.clone()));
    (address, stop.drop_guard())
}

fn site(server: &FakeApiServer, registry: Registry) -> Site {
    let always_allow_paths = vec!["/healthz".to_owned()];
    Site {
        client: client(server, "serving"),
        always_allow_paths,
        election: None,
        controllers: vec![Kind::ServiceAccount.name()],
        registry,
    }
}

/// Gets `path` with `token`; returns the body, or the status code and the error.
async fn get(address: SocketAddr, path: &str, token: Option<&str>) -> Result<String, (u16, String)> {
    let mut config = kube::Config::new(format!("https://{address}").parse().expect("an address"));
    config.accept_invalid_certs = true;
    config.auth_info.token = token.map(|token| token.to_owned().into());
    let client = Client::try_from(config).expect("a sound configuration");
    let request = http::Request::get(path).body(Vec::new()).expect("a request");
    client.request_text(request).await.map_err(|error| match error {
        kube::Error::Api(status) => (status.code, status.message),
        error => panic!("no answer: {error}"),
    })
}

/// The lines of a metric.
fn lines<'a>(metrics: &'a str, name: &str) -> Vec<&'a str> {
    metrics.lines().filter(|line| line.starts_with(name)).collect()
}

#[tokio::test]
async fn health_is_for_everybody_and_metrics_for_those_whom_the_api_server_lets() {
    let server = server().await;
    let (address, _serving) = serve(site(&server, Registry::default())).await;
    assert_eq!(get(address, "/healthz", None).await.as_deref(), Ok("ok"));
    assert_eq!(
        get(address, "/healthz?verbose", None).await.as_deref(),
        Ok("[+]serviceaccount-controller ok\nhealthz check passed\n")
    );
    assert_eq!(
        get(address, "/healthz?verbose&exclude=serviceaccount-controller&exclude=nope", None).await.as_deref(),
        Ok("[+]serviceaccount-controller excluded: ok\n\
            warn: some health checks cannot be excluded: no matches for \"nope\"\nhealthz check passed\n")
    );

    let admin = server.admin_token();
    assert_eq!(get(address, "/metrics", Some(admin)).await.as_deref(), Ok("# EOF\n"));
    assert_eq!(get(address, "/metrics", Some("stolen")).await, Err((401, "Unauthorized".into())));
    assert_eq!(
        get(address, "/metrics", None).await,
        Err((403, r#"forbidden: User "system:anonymous" cannot get path "/metrics""#.into()))
    );
    assert_eq!(get(address, "/configz", Some(admin)).await.map_err(|(code, _)| code), Err(404));

    // Without an answer of the API server no request is authenticated.
    server.faults().add(fake_apiserver::On::verb("create").status(500));
    assert_eq!(get(address, "/metrics", Some(admin)).await.map_err(|(code, _)| code), Err(401));
    assert_eq!(get(address, "/metrics", None).await.map_err(|(code, _)| code), Err(500));
}

#[tokio::test]
async fn a_leader_that_does_not_renew_its_lease_is_ill() {
    let server = server().await;
    let config = ElectionConfig {
        identity: "me".into(),
        namespace: "kube-system".into(),
        name: "kube-controller-manager".into(),
        lease_duration: Duration::from_secs(15),
        renew_deadline: Duration::from_secs(10),
        retry_period: Duration::from_secs(2),
        clock: system_clock(),
    };
    let elector = LeaderElector::new(client(&server, USER_AGENT), config).expect("a sound configuration");
    let status = elector.status();
    let mut registry = Registry::default();
    status.register("kube-controller-manager", &mut registry);
    // The tolerance is zero, so a leader is not healthy.
    let (address, _serving) = serve(Site { election: Some((status, Duration::ZERO)), ..site(&server, registry) }).await;
    let master = async || {
        let metrics = get(address, "/metrics", Some(server.admin_token())).await.expect("the administrator may");
        lines(&metrics, "leader_election_master_status").concat()
    };
    assert_eq!(get(address, "/healthz", None).await.as_deref(), Ok("ok"));
    assert_eq!(master().await, r#"leader_election_master_status{name="kube-controller-manager"} 0"#);
    let stop = CancellationToken::new();
    let work = async |_| {
        let ill = "[-]leaderElection failed: reason withheld\n[+]serviceaccount-controller ok\nhealthz check failed";
        assert_eq!(get(address, "/healthz", None).await, Err((500, ill.into())));
        assert_eq!(master().await, r#"leader_election_master_status{name="kube-controller-manager"} 1"#);
    };
    elector.run(stop, work).await.expect("the lease is not lost");
    assert_eq!(get(address, "/healthz", None).await.as_deref(), Ok("ok"));
    assert_eq!(master().await, r#"leader_election_master_status{name="kube-controller-manager"} 0"#);
}

#[tokio::test]
async fn what_the_controllers_do_is_counted() {
    let server = server().await;
    let mut registry = Registry::default();
    let (queues, root_cas) = (QueueMetrics::default(), root_ca::Metrics::default());
    queues.register(&mut registry);
    root_cas.register(&mut registry);
    let mut fleet = Fleet::new(client(&server, "shared-informers"));
    fleet.add_service_accounts(client(&server, USER_AGENT), Options::default());
    fleet.add_root_ca(client(&server, USER_AGENT), "ca".into(), root_cas);
    fleet.measure(&queues);
    // A create fails once, in one of the four namespaces.
    fail(&server, "create", "configmaps", 503, Some(1));
    let (address, _serving) = serve(site(&server, registry)).await;

    let admin = server.client();
    let settled = async {
        fleet.quiet(&admin).await.expect("the server lists");
        let accounts: Api<ServiceAccount> = Api::namespaced(server.client(), NAMESPACE);
        let mut extra = account(&[]);
        (extra.metadata.uid, extra.metadata.resource_version) = (None, None);
        accounts.create(&PostParams::default(), &extra).await.expect("the service account is created");
        fleet.get(Kind::ServiceAccount).expect("it is there").pause().await;
        accounts.delete(ACCOUNT, &Default::default()).await.expect("the service account is deleted");
        assert_eq!(
            fleet.get(Kind::ServiceAccount).expect("it is there").step(&admin).await.ok().flatten().as_deref(),
            Some(NAMESPACE)
        );
        fleet.quiet(&admin).await.expect("the server lists");
    };
    tokio::select! {
        () = fleet.run(CancellationToken::new()) => {}
        () = settled => {}
    }
    let metrics = get(address, "/metrics", Some(server.admin_token())).await.expect("the administrator may");
    for line in [
        r#"workqueue_adds_total{name="serviceaccount"} 5"#,
        r#"workqueue_depth{name="serviceaccount"} 0"#,
        r#"workqueue_retries_total{name="serviceaccount"} 0"#,
        r#"workqueue_queue_duration_seconds_count{name="serviceaccount"} 5"#,
        r#"workqueue_work_duration_seconds_count{name="serviceaccount"} 5"#,
        r#"workqueue_retries_total{name="root_ca_cert_publisher"} 1"#,
        r#"root_ca_cert_publisher_sync_total{code="503"} 1"#,
        r#"root_ca_cert_publisher_sync_total{code="200"} 4"#,
        r#"root_ca_cert_publisher_sync_duration_seconds_count{code="200"} 4"#,
    ] {
        assert!(metrics.lines().any(|found| found == line), "{line} is not in\n{metrics}");
    }
}
