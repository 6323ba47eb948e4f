//! Credentials for webhooks, from a kubeconfig: the webhook asks for a certificate, and says whom it has seen.

use crate::support::*;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use fake_apiserver::FakeApiServer;
use http::header::AUTHORIZATION;
use http::{Request, Response};
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo};
use hyper_util::server::conn::auto;
use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, IsCa, KeyPair};
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::server::WebPkiClientVerifier;
use rustls::{RootCertStore, ServerConfig};
use serde_json::{Value, json};
use std::convert::Infallible;
use std::fs;
use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;
use tempfile::TempDir;
use tokio::net::TcpListener;
use tokio::task::JoinSet;
use tokio_rustls::TlsAcceptor;

pub(crate) const VALIDATING: &str = "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations";

/// A webhook that asks for a certificate of its authority, which also signs its own.
pub(crate) struct Hook {
    authority: CertifiedIssuer<'static, KeyPair>,
    pub(crate) address: SocketAddr,
    _server: JoinSet<()>,
}

impl Hook {
    pub(crate) async fn start() -> Hook {
        let mut params = CertificateParams::default();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let authority =
            CertifiedIssuer::self_signed(params, KeyPair::generate().expect("a key")).expect("an authority");
        let (certificate, key) = issued(&authority, "localhost");
        let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
        let mut roots = RootCertStore::empty();
        roots.add(authority.der().clone()).expect("an authority");
        let clients = WebPkiClientVerifier::builder_with_provider(Arc::new(roots), provider.clone()).build();
        let config = ServerConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .expect("versions")
            .with_client_cert_verifier(clients.expect("an authority"))
            .with_single_cert(vec![certificate.der().clone()], PrivateKeyDer::Pkcs8(key.serialize_der().into()));
        let tls = TlsAcceptor::from(Arc::new(config.expect("a key that belongs to it")));
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let address = listener.local_addr().expect("an address");
        let mut server = JoinSet::new();
        server.spawn(serve(listener, tls));
        Hook { authority, address, _server: server }
    }

    /// Its configuration under that URL.
    pub(crate) fn configuration(&self, name: &str, url: &str) -> Value {
        let rule =
            json!({"operations": ["CREATE"], "apiGroups": [""], "apiVersions": ["v1"], "resources": ["configmaps"]});
        json!({
            "apiVersion": "admissionregistration.k8s.io/v1",
            "kind": "ValidatingWebhookConfiguration",
            "metadata": {"name": name},
            "webhooks": [{
                "name": "reviews.example.com",
                "clientConfig": {"url": url, "caBundle": STANDARD.encode(self.authority.pem())},
                "rules": [rule], "sideEffects": "None", "admissionReviewVersions": ["v1"],
            }],
        })
    }

    /// Writes a certificate of its authority as `NAME.crt` and `NAME.key`.
    pub(crate) fn write(&self, folder: &Path, name: &str) {
        let (certificate, key) = issued(&self.authority, name);
        fs::write(folder.join(format!("{name}.crt")), certificate.pem()).expect("a file");
        fs::write(folder.join(format!("{name}.key")), key.serialize_pem()).expect("a file");
    }
}

/// A certificate for that name.
fn issued(authority: &CertifiedIssuer<'static, KeyPair>, name: &str) -> (rcgen::Certificate, KeyPair) {
    let key = KeyPair::generate().expect("a key");
    let params = CertificateParams::new([name.to_owned(), "127.0.0.1".to_owned()]);
    (params.and_then(|one| one.signed_by(&key, authority)).expect("a certificate"), key)
}

async fn serve(listener: TcpListener, tls: TlsAcceptor) {
    let mut connections = JoinSet::new();
    loop {
        let (stream, _) = listener.accept().await.expect("a connection");
        let tls = tls.clone();
        connections.spawn(async move {
            let Ok(stream) = tls.accept(stream).await else { return };
            let chain = stream.get_ref().1.peer_certificates().expect("a certificate").to_vec();
            let service = service_fn(|request| review(request, chain.clone()));
            auto::Builder::new(TokioExecutor::new()).serve_connection(TokioIo::new(stream), service).await.ok();
        });
    }
}

/// Allows all but objects called `bad`, and warns of the certificate's fingerprint, the header `Authorization`, and the user to act as.
async fn review(
    request: Request<Incoming>,
    chain: Vec<CertificateDer<'static>>,
) -> Result<Response<Full<Bytes>>, Infallible> {
    let header =
        |name: &str| request.headers().get(name).and_then(|value| value.to_str().ok()).unwrap_or("none").to_owned();
    let who = format!("{} {} {}", fingerprint(&chain[0]), header(AUTHORIZATION.as_str()), header("impersonate-user"));
    let body = request.into_body().collect().await.expect("a whole body").to_bytes();
    let review: Value = serde_json::from_slice(&body).expect("a review");
    let allowed = review["request"]["name"] != "bad";
    let response =
        json!({"uid": review["request"]["uid"], "allowed": allowed, "warnings": [who], "status": {"code": 403}});
    let answer = json!({"apiVersion": review["apiVersion"], "kind": review["kind"], "response": response});
    Ok(Response::new(Full::from(answer.to_string())))
}

/// The end of a certificate's signature.
fn fingerprint(der: &[u8]) -> String {
    STANDARD.encode(&der[der.len() - 12..])
}

/// The fingerprint of the certificate in a file.
fn fingerprint_of(folder: &Path, name: &str) -> String {
    use rustls::pki_types::pem::PemObject as _;
    fingerprint(&CertificateDer::from_pem_file(folder.join(name)).expect("a certificate"))
}

/// A server that has these users of a kubeconfig for validating webhooks.
pub(crate) async fn start_with_users(folder: &Path, users: &Value) -> FakeApiServer {
    let path = folder.join("kubeconfig");
    fs::write(&path, json!({"users": users}).to_string()).expect("a file");
    let configuration = json!({
        "apiVersion": "apiserver.config.k8s.io/v1", "kind": "WebhookAdmissionConfiguration", "kubeConfigFile": path,
    });
    let builder = FakeApiServer::builder();
    start_with(builder.add_admission_configuration("ValidatingAdmissionWebhook", configuration.to_string())).await
}

/// The warning about a new config map: whom the webhook has seen.
async fn seen(client: &mut Client, name: &str) -> String {
    let created = client.post(CONFIG_MAPS, &with_data(name, "k", "v")).await;
    created.expect(201);
    created.header("warning").trim_start_matches("299 - ").trim_matches('"').to_owned()
}

fn folder() -> TempDir {
    tempfile::tempdir().expect("a folder")
}

#[tokio::test]
async fn a_webhook_sees_the_certificate_and_the_token_for_its_address() {
    let (hook, folder) = (Hook::start().await, folder());
    let folder = folder.path();
    for name in ["files", "data"] {
        hook.write(folder, name);
    }
    let encoded = |name: &str| STANDARD.encode(fs::read(folder.join(name)).expect("a file"));
    fs::write(folder.join("token"), "of-file\n").expect("a file");
    let in_files =
        json!({"client-certificate": "files.crt", "client-key": "files.key", "tokenFile": "token", "as": "someone"});
    let port = hook.address.port();
    let users = json!([
        {"name": hook.address.to_string(), "user": in_files},
        {"name": format!("localhost:{port}"), "user": in_files},
        {"name": "*", "user": {
            "client-certificate-data": encoded("data.crt"), "client-key-data": encoded("data.key"),
            "username": "a", "password": "b",
        }},
    ]);
    let server = start_with_users(folder, &users).await;
    let mut client = Client::new(&server).await;
    client.post(VALIDATING, &hook.configuration("one", &format!("https://{}/", hook.address))).await.expect(201);
    let expected = format!("{} Bearer of-file someone", fingerprint_of(folder, "files.crt"));
    assert_eq!(seen(&mut client, "a").await, expected);
    client.delete(&format!("{VALIDATING}/one")).await.expect(200);
    // The same files may have another content when the next connection is made.
    hook.write(folder, "files");
    client.post(VALIDATING, &hook.configuration("one", &format!("https://localhost:{port}/"))).await.expect(201);
    let expected = format!("{} Bearer of-file someone", fingerprint_of(folder, "files.crt"));
    assert_eq!(seen(&mut client, "b").await, expected);
    client.delete(&format!("{VALIDATING}/one")).await.expect(200);

    let other = format!("https://LOCALHOST:{port}/");
    client.post(VALIDATING, &hook.configuration("other", &other)).await.expect(201);
    let expected = format!("{} Basic YTpi none", fingerprint_of(folder, "data.crt"));
    assert_eq!(seen(&mut client, "c").await, expected);
}

#[tokio::test]
async fn credentials_that_cannot_be_read_are_tried_again() {
    let (hook, folder) = (Hook::start().await, folder());
    let folder = folder.path();
    let users = json!([{"name": "127.0.0.1", "user": {"token": "of-another-port"}},
        {"name": "*.0.1", "user": {"token": "of-another-port"}},
        {"name": "*", "user": {"client-certificate": "late.crt", "client-key": "late.key"}}]);
    let server = start_with_users(folder, &users).await;
    let mut client = Client::new(&server).await;
    client.post(VALIDATING, &hook.configuration("one", &format!("https://{}/", hook.address))).await.expect(201);
    let (_, message) = client.post(CONFIG_MAPS, &with_data("a", "k", "v")).await.refusal(500);
    let missing = folder.join("late.crt");
    assert_eq!(
        message,
        format!(
            "Internal error occurred: failed calling webhook \"reviews.example.com\": could not get REST client: open {}: no such \
             file or directory",
            missing.display()
        )
    );
    hook.write(folder, "late");
    let expected = format!("{} none none", fingerprint_of(folder, "late.crt"));
    assert_eq!(seen(&mut client, "a").await, expected);
}

#[tokio::test]
async fn a_webhook_that_wants_a_certificate_refuses_those_without() {
    let hook = Hook::start().await;
    let server = start().await;
    let mut client = Client::new(&server).await;
    client.post(VALIDATING, &hook.configuration("one", &format!("https://{}/", hook.address))).await.expect(201);
    let (_, message) = client.post(CONFIG_MAPS, &with_data("a", "k", "v")).await.refusal(500);
    assert!(message.ends_with("remote error: tls: certificate required"), "{message}");
}
