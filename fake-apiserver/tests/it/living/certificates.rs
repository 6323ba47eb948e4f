//! Requests for certificates, approved and signed.

use super::{Client, create, quiet};
use crate::support::{Certificate, Protocol, soon, text};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use control::{Obeys, Order};
use fake_apiserver::{AuthorizationMode, Builder, Controller, FakeApiServer, ManualClock};
use rcgen::{CertificateParams, DistinguishedName, DnType, KeyPair, SanType};
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use serde_json::{Value, json};

const REQUESTS: &str = "/apis/certificates.k8s.io/v1/certificatesigningrequests";

async fn signing(builder: Builder) -> (FakeApiServer, Client) {
    let clock = ManualClock::new("2030-01-01T00:00:00Z".parse().unwrap());
    let controllers = [Controller::CertificateApproving, Controller::CertificateSigning];
    let builder = builder.controllers(controllers).clock(clock).authorization_mode([AuthorizationMode::Rbac]);
    let server = builder.start().await.expect("a server starts");
    let client = Client::new(&server).await;
    (server, client)
}

/// A request for a certificate with that subject, and its key.
fn request(
    name: &str,
    signer: &str,
    usages: &[&str],
    subject: &[(DnType, &str)],
    names: &[SanType],
) -> (Value, KeyPair) {
    let mut params = CertificateParams::default();
    params.distinguished_name = DistinguishedName::new();
    subject.iter().for_each(|(kind, value)| params.distinguished_name.push(kind.clone(), *value));
    params.subject_alt_names = names.to_vec();
    let key = KeyPair::generate().unwrap();
    let pem = params.serialize_request(&key).unwrap().pem().unwrap();
    let spec =
        json!({"request": STANDARD.encode(pem), "signerName": format!("kubernetes.io/{signer}"), "usages": usages});
    (json!({"metadata": {"name": name}, "spec": spec}), key)
}

fn node() -> [(DnType, &'static str); 2] {
    [(DnType::OrganizationName, "system:nodes"), (DnType::CommonName, "system:node:a")]
}

/// The certificate in a request, with its key.
fn issued(request: &Value, key: &KeyPair) -> Certificate {
    let pem = STANDARD.decode(text(request, "/status/certificate")).unwrap();
    let chain = CertificateDer::pem_slice_iter(&pem).collect::<Result<_, _>>().unwrap();
    (chain, PrivateKeyDer::try_from(key.serialize_der()).unwrap())
}

/// The conditions, as `type reason: message`.
fn conditions(request: &Value) -> Vec<String> {
    let all = request["status"]["conditions"].as_array().cloned().unwrap_or_default();
    all.iter()
        .map(|one| format!("{} {}: {}", text(one, "/type"), text(one, "/reason"), text(one, "/message")))
        .collect()
}

async fn approve(client: &mut Client, request: &Value) {
    let mut request = request.clone();
    request["status"]["conditions"] = json!([{"type": "Approved", "status": "True", "reason": "Test"}]);
    let path = format!("{REQUESTS}/{}/approval", text(&request, "/metadata/name"));
    client.put(&path, &request).await.expect(200);
}

#[tokio::test]
async fn a_kubelet_gets_the_certificate_that_it_may_have() {
    let (server, mut client) = signing(FakeApiServer::builder()).await;
    let usages = ["digital signature", "client auth"];
    let (object, key) = request("kubelet", "kube-apiserver-client-kubelet", &usages, &node(), &[]);
    create(&mut client, REQUESTS, &object).await;
    quiet(&server).await;
    let signed = client.get(&format!("{REQUESTS}/kubelet")).await.expect(200);
    assert_eq!(
        conditions(&signed),
        ["Approved AutoApproved: Auto approving kubelet client certificate after SubjectAccessReview."]
    );
    // The server takes it.
    let mut kubelet = Client::connect(&server, 0, Protocol::Http2, Some(issued(&signed, &key))).await;
    kubelet.token = String::new();
    let review = kubelet.post("/apis/authentication.k8s.io/v1/selfsubjectreviews", &json!({})).await.expect(201);
    assert_eq!(text(&review, "/status/userInfo/username"), "system:node:a");
    assert_eq!(review["status"]["userInfo"]["groups"], json!(["system:nodes", "system:authenticated"]));
    server.shutdown().await;
}

#[tokio::test]
async fn what_nobody_may_have_is_not_approved() {
    let builder = FakeApiServer::builder().add_static_token("somebody", "somebody", &["system:authenticated"]);
    let (server, mut client) = signing(builder).await;
    let role = json!({
        "metadata": {"name": "asks"},
        "rules": [{"apiGroups": ["certificates.k8s.io"], "resources": ["certificatesigningrequests"], "verbs": ["create"]}],
    });
    create(&mut client, "/apis/rbac.authorization.k8s.io/v1/clusterroles", &role).await;
    let binding = json!({
        "metadata": {"name": "asks"},
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "asks"},
        "subjects": [{"apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": "somebody"}],
    });
    create(&mut client, "/apis/rbac.authorization.k8s.io/v1/clusterrolebindings", &binding).await;
    let usages = ["digital signature", "client auth"];
    let (object, _) = request("kubelet", "kube-apiserver-client-kubelet", &usages, &node(), &[]);
    let mut somebody = Client::new(&server).await;
    somebody.token = "somebody".to_owned();
    create(&mut somebody, REQUESTS, &object).await;
    let rest = format!("{:?}", soon(server.obey(Order::Settle { timeout_seconds: 5 })).await.expect("an answer"));
    assert!(
        rest.contains("recognized csr \\\"kubelet\\\" as [nodeclient] but subject access review was not approved"),
        "{rest}"
    );
    let left = client.get(&format!("{REQUESTS}/kubelet")).await.expect(200);
    assert_eq!(conditions(&left), Vec::<String>::new());
    server.shutdown().await;
}

#[tokio::test]
async fn an_approved_request_is_signed_for_as_long_as_it_asks() {
    let (server, mut client) = signing(FakeApiServer::builder()).await;
    let subject = [(DnType::OrganizationName, "devs"), (DnType::CommonName, "jane")];
    let usages = ["client auth"];
    let (mut object, key) = request("jane", "kube-apiserver-client", &usages, &subject, &[]);
    object["spec"]["expirationSeconds"] = json!(3600);
    let made = create(&mut client, REQUESTS, &object).await;
    quiet(&server).await;
    assert_eq!(conditions(&client.get(&format!("{REQUESTS}/jane")).await.expect(200)), Vec::<String>::new());
    approve(&mut client, &made).await;
    quiet(&server).await;
    let signed = client.get(&format!("{REQUESTS}/jane")).await.expect(200);
    let certificate = issued(&signed, &key);
    let who = async |client: &mut Client| {
        client.token = String::new();
        client.post("/apis/authentication.k8s.io/v1/selfsubjectreviews", &json!({})).await.code
    };
    let mut jane = Client::connect(&server, 0, Protocol::Http2, Some(certificate)).await;
    assert_eq!(who(&mut jane).await, 201);
    super::pass(&server, 3601).await;
    assert_eq!(who(&mut jane).await, 401, "it has expired");
    server.shutdown().await;
}

#[tokio::test]
async fn a_request_against_the_rules_of_its_signer_fails() {
    let (server, mut client) = signing(FakeApiServer::builder()).await;
    let usages = ["digital signature", "server auth"];
    let (object, _) = request("bare", "kubelet-serving", &usages, &node(), &[]);
    let names = [SanType::DnsName("a.example".try_into().unwrap()), SanType::IpAddress("192.0.2.1".parse().unwrap())];
    let (named, _) = request("named", "kubelet-serving", &usages, &node(), &names);
    for object in [object, named] {
        let made = create(&mut client, REQUESTS, &object).await;
        approve(&mut client, &made).await;
    }
    quiet(&server).await;
    let bare = client.get(&format!("{REQUESTS}/bare")).await.expect(200);
    let failed = conditions(&bare).pop().unwrap_or_default();
    assert_eq!(failed, "Failed SignerValidationFailure: DNS or IP subjectAltName is required");
    let named = client.get(&format!("{REQUESTS}/named")).await.expect(200);
    assert!(!text(&named, "/status/certificate").is_empty(), "{named}");
    server.shutdown().await;
}
