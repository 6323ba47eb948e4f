//! Connections: shared, as many as needed, and made anew when they are lost.

use super::setup::{Setup, USER_AGENT};
use fake_apiserver::On;
use futures::future::join_all;
use http::{Request, Response, Uri};
use hyper::body::Incoming;
use hyper_util::rt::TokioIo;
use k8s_openapi::api::core::v1::{Namespace, Secret};
use kube::{Api, Client, Config};
use kubelet::client::Pool;
use kubelet::objects::Store;
use rustls::ServerConfig;
use rustls::pki_types::PrivateKeyDer;
use std::convert::Infallible;
use std::error::Error as _;
use std::io;
use std::sync::Arc;
use std::time::Duration;
use tokio::net::TcpListener;
use tokio_rustls::TlsAcceptor;

async fn read(client: &Client) -> kube::Result<Namespace> {
    Api::all(client.clone()).get("default").await
}

/// Opens `count` watches and returns them.
async fn watches(client: &Client, count: usize) -> Vec<impl Sized> {
    let open = |_| async {
        let request = http::Request::get("/api/v1/namespaces/default/secrets?watch=true").body(Vec::new());
        client.request_stream(request.expect("a request")).await.expect("a watch")
    };
    join_all((0..count).map(open)).await
}

/// The numbers of watches and of concurrent reads, and the number of connections they need.
#[tokio::test]
async fn requests_share_connections_and_wait_for_no_other() {
    for (secure, watching, reading, expected) in [
        (true, 0, 1, 1),
        (true, 0, 100, 1),
        (true, 99, 1, 1),
        (true, 100, 1, 2),
        (true, 250, 50, 3),
        (true, 250, 51, 4),
        (false, 0, 1, 1),
        (false, 3, 1, 4),
        (false, 3, 5, 8),
    ] {
        let setup = if secure { Setup::new().await } else { Setup::plain().await };
        let pool = setup.pool();
        let client = setup.client_over(&pool);
        let open = watches(&client, watching).await;
        // No read takes over the connection of one that is answered already.
        let server = setup.server();
        let hold = server.faults().add(On::get("namespaces").delay(Duration::MAX));
        let release = async {
            server.faults().wait_for_hits(hold, reading).await;
            server.faults().remove(hold);
        };
        let (answers, ()) = tokio::join!(join_all((0..reading).map(|_| read(&client))), release);
        answers.into_iter().for_each(|answer| drop(answer.expect("an answer")));
        let connections = pool.connections();
        assert_eq!(connections, expected, "TLS: {secure}, {watching} watches, {reading} reads");
        assert_eq!(pool.requests(), watching);
        drop(open);
        assert_eq!(pool.requests(), 0);
    }
}

#[tokio::test]
async fn a_connection_is_used_again() {
    for setup in [Setup::new().await, Setup::plain().await] {
        let pool = setup.pool();
        let client = setup.client_over(&pool);
        for _ in 0..10 {
            read(&client).await.expect("an answer");
        }
        assert_eq!(pool.connections(), 1);
        assert!(setup.server().requests().iter().all(|request| request.user_agent == USER_AGENT));
    }
}

#[tokio::test]
async fn a_server_that_restarts_is_connected_to_again() {
    for mut setup in [Setup::new().await, Setup::plain().await] {
        let pool = setup.pool();
        let client = setup.client_over(&pool);
        let open = watches(&client, 3).await;
        read(&client).await.expect("an answer");
        setup.stop().await;
        let error = read(&client).await.expect_err("nobody listens");
        let source = error.source().and_then(|error| error.source()).expect("a cause of the cause");
        let refused = source.downcast_ref::<io::Error>().expect("an I/O error");
        assert_eq!(refused.kind(), io::ErrorKind::ConnectionRefused);
        assert!(error.to_string().contains("unable to connect to 127.0.0.1:"), "{error}");
        setup.start_again().await;
        read(&client).await.expect("an answer");
        assert_eq!(pool.connections(), 1);
        drop(open);
    }
}

#[tokio::test]
async fn watches_of_many_objects_survive_a_lost_connection() {
    let setup = Setup::new().await;
    let store = setup.watched(5);
    let names: Vec<_> = (0..150).map(|number| format!("name-{number}")).collect();
    for name in &names {
        store.add_reference("default", name, "pod");
        store.until("default", name, |_: Option<&Secret>| true).await;
    }
    setup.until_asked(300).await;
    setup.clock.advance(1);
    setup.server().disconnect_watches();
    setup.until_asked(450).await;
    for name in &names {
        setup.create(name, false).await;
    }
    for name in &names {
        store.until("default", name, |secret| secret.is_some()).await;
    }
}

/// A server that answers `{}` over TLS without ALPN.
async fn old_fashioned_server() -> Uri {
    let identity = rcgen::generate_simple_self_signed(["127.0.0.1".to_owned()]).expect("an identity");
    let key = PrivateKeyDer::try_from(identity.signing_key.serialize_der()).expect("a key");
    let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
    let config = ServerConfig::builder_with_provider(provider).with_safe_default_protocol_versions();
    let config = config.expect("a configuration").with_no_client_auth();
    let config = config.with_single_cert(vec![identity.cert.der().clone()], key).expect("a certificate");
    let acceptor = TlsAcceptor::from(Arc::new(config));
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let url = format!("https://{}", listener.local_addr().expect("an address"));
    tokio::spawn(async move {
        loop {
            let (stream, _) = listener.accept().await.expect("a connection");
            let stream = acceptor.accept(stream).await.expect("a handshake");
            let answer = hyper::service::service_fn(|request: Request<Incoming>| async move {
                assert!(request.uri().authority().is_none(), "the host is in the header");
                assert!(request.headers().contains_key(http::header::HOST));
                Ok::<_, Infallible>(Response::new("{}".to_owned()))
            });
            tokio::spawn(hyper::server::conn::http1::Builder::new().serve_connection(TokioIo::new(stream), answer));
        }
    });
    url.parse().expect("a URL")
}

#[tokio::test]
async fn a_server_without_http2_gets_a_request_a_connection() {
    let mut config = Config::new(old_fashioned_server().await);
    config.accept_invalid_certs = true;
    let pool = Pool::new(&config).expect("a pool");
    let client = pool.client(config, USER_AGENT).expect("a client");
    for expected in [1, 3, 3] {
        for answer in join_all((0..expected).map(|_| read(&client))).await {
            answer.expect("an answer");
        }
        assert_eq!(pool.connections(), expected);
    }
}

#[tokio::test]
async fn a_connection_that_nobody_waits_for_any_more_is_not_waited_for() {
    // It accepts connections, and sends nothing.
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let url = format!("https://{}", listener.local_addr().expect("an address"));
    let mut config = Config::new(url.parse().expect("a URL"));
    config.accept_invalid_certs = true;
    let client = kubelet::client::new(config, USER_AGENT).expect("a client");
    let mut accepted = Vec::new();
    for _ in 0..2 {
        // The read is given up as soon as there is a connection.
        tokio::select! {
            answer = read(&client) => panic!("{answer:?}"),
            connection = listener.accept() => accepted.push(connection.expect("a connection")),
        }
    }
}

#[test]
fn what_cannot_work_is_refused_by_name() {
    let with_proxy = || {
        let mut config = Config::new("https://127.0.0.1:1".parse().expect("a URL"));
        config.proxy_url = Some("http://proxy:3128".parse().expect("a URL"));
        config
    };
    for (config, expected) in [
        (with_proxy(), "proxies are not supported: http://proxy:3128/"),
        (Config::new("ftp://host".parse().expect("a URL")), "neither http nor https: ftp://host/"),
        (Config::new("/path".parse().expect("a URL")), "a URL without a host: /path"),
    ] {
        let error = Pool::new(&config).err().expect("no pool");
        assert_eq!(error.to_string(), expected);
    }
}
