//! Webhooks of a cluster that run beside the check.

use crate::support::about;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use fake_apiserver::FakeApiServer;
use fake_apiserver_check::capture::{Asked, Kept, capture};
use fake_apiserver_check::{Options, RuleKind, Verdict, upgrade};
use http_body_util::{BodyExt as _, Full};
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo};
use hyper_util::server::conn::auto;
use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, IsCa, KeyPair};
use rustls::ServerConfig;
use rustls::pki_types::PrivateKeyDer;
use serde_json::{Value, json};
use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;
use tokio::net::TcpListener;
use tokio::task::JoinSet;
use tokio_rustls::TlsAcceptor;

/// A webhook that refuses objects called `bad`, and converts widgets from v1, whose size is a width in v2.
struct Hook {
    url: String,
    /// The certificate of its authority, in PEM.
    authority: String,
    _server: JoinSet<()>,
}

impl Hook {
    async fn start() -> Hook {
        let mut params = CertificateParams::default();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let authority = CertifiedIssuer::self_signed(params, KeyPair::generate().unwrap()).unwrap();
        let key = KeyPair::generate().unwrap();
        let certificate =
            CertificateParams::new(["127.0.0.1".to_owned()]).unwrap().signed_by(&key, &authority).unwrap();
        let key = PrivateKeyDer::Pkcs8(key.serialize_der().into());
        let config = ServerConfig::builder_with_provider(Arc::new(rustls::crypto::aws_lc_rs::default_provider()))
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_no_client_auth()
            .with_single_cert(vec![certificate.der().clone()], key);
        let tls = TlsAcceptor::from(Arc::new(config.unwrap()));
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("https://{}/", listener.local_addr().unwrap());
        let mut server = JoinSet::new();
        server.spawn(serve(listener, tls));
        Hook { url, authority: authority.pem(), _server: server }
    }
}

async fn serve(listener: TcpListener, tls: TlsAcceptor) {
    let mut connections = JoinSet::new();
    loop {
        let (stream, _) = listener.accept().await.unwrap();
        let tls = tls.clone();
        connections.spawn(async move {
            let Ok(stream) = tls.accept(stream).await else { return };
            let server = auto::Builder::new(TokioExecutor::new());
            server.serve_connection(TokioIo::new(stream), service_fn(answer)).await.ok();
        });
    }
}

async fn answer(request: http::Request<Incoming>) -> Result<http::Response<Full<Bytes>>, Infallible> {
    let body = request.into_body().collect().await.unwrap().to_bytes();
    let review: Value = serde_json::from_slice(&body).unwrap();
    let request = &review["request"];
    let response = match review["kind"] == "AdmissionReview" {
        true => {
            let is_bad = request["object"]["metadata"]["name"] == "bad";
            json!({"uid": request["uid"], "allowed": !is_bad, "status": {"message": "it is bad"}})
        }
        false => {
            let objects = request["objects"].as_array().unwrap().iter();
            let objects: Vec<Value> = objects.map(|object| converted(object, &request["desiredAPIVersion"])).collect();
            json!({"uid": request["uid"], "result": {"status": "Success"}, "convertedObjects": objects})
        }
    };
    let review = json!({"apiVersion": review["apiVersion"], "kind": review["kind"], "response": response});
    Ok(http::Response::new(Full::from(review.to_string())))
}

fn converted(object: &Value, version: &Value) -> Value {
    let mut object = object.clone();
    object["apiVersion"] = version.clone();
    let (from, to) = if version == "a.com/v2" { ("size", "width") } else { ("width", "size") };
    if let Some(spec) = object["spec"].as_object_mut()
        && let Some(value) = spec.remove(from)
    {
        spec.insert(to.to_owned(), value);
    }
    object
}

const CONFIGURATION: &str = "apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingWebhookConfiguration
metadata: {name: hooks}
webhooks:
- name: names.a.com
  clientConfig: {service: {name: hook, namespace: default}}
  rules: [{apiGroups: [''], apiVersions: [v1], operations: [CREATE], resources: [configmaps]}]
  sideEffects: None
  admissionReviewVersions: [v1]
";

#[tokio::test]
async fn a_webhook_is_asked_where_it_runs() {
    let hook = Hook::start().await;
    let stream = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: good}\n---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: bad}\n";
    let mut question = about(stream).given(CONFIGURATION);
    question.options.webhooks.insert("names.a.com".to_owned(), hook.url.clone());
    question.options.webhook_authority = Some(question.file("ca.pem", &hook.authority));
    let report = question.report().await;
    assert_eq!(report.notes, [""; 0]);
    assert_eq!(report.judged[0].verdict, Verdict::Ok);
    let finding = &report.judged[1].findings[0];
    assert_eq!(finding.rule.kind, RuleKind::Webhook);
    assert_eq!(finding.message, "admission webhook \"names.a.com\" denied the request: it is bad");
    // Without the webhook's certificate authority the call fails.
    question.options.webhook_authority = None;
    let report = question.report().await;
    let message = &report.judged[0].findings[0].message;
    assert!(message.contains("x509: certificate signed by unknown authority"), "{message}");
}

/// A definition of widgets in these versions, the last of which is stored.
fn widgets(versions: &[&str], conversion: Option<&str>) -> Value {
    let last = versions[versions.len() - 1];
    let version = |name: &&str| {
        let field = if *name == "v2" { "width" } else { "size" };
        let spec = json!({"type": "object", "properties": {field: {"type": "integer", "maximum": 10}}});
        json!({
            "name": name, "served": true, "storage": *name == last,
            "schema": {"openAPIV3Schema": {"type": "object", "properties": {"spec": spec}}},
        })
    };
    let mut definition = json!({
        "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition", "metadata": {"name": "widgets.a.com"},
        "spec": {
            "group": "a.com", "scope": "Namespaced", "names": {"kind": "Widget", "plural": "widgets"},
            "versions": versions.iter().map(version).collect::<Vec<_>>(),
        },
    });
    if let Some(authority) = conversion {
        let config =
            json!({"service": {"name": "hook", "namespace": "default"}, "caBundle": STANDARD.encode(authority)});
        definition["spec"]["conversion"] =
            json!({"strategy": "Webhook", "webhook": {"clientConfig": config, "conversionReviewVersions": ["v1"]}});
    }
    definition
}

#[tokio::test]
async fn an_upgrade_is_judged_with_its_conversion() {
    let hook = Hook::start().await;
    let cluster = FakeApiServer::builder().start().await.unwrap();
    let create = async |path: &str, object: Value| {
        let request = http::Request::post(path).header("content-type", "application/json");
        let request = request.body(object.to_string().into_bytes()).unwrap();
        cluster.client().request::<Value>(request).await.unwrap();
    };
    let (old, new) = (widgets(&["v1"], None), widgets(&["v1", "v2"], Some(&hook.authority)));
    create("/apis/apiextensions.k8s.io/v1/customresourcedefinitions", old.clone()).await;
    let widget = json!({"apiVersion": "a.com/v1", "kind": "Widget", "metadata": {"name": "w"}, "spec": {"size": 3}});
    create("/apis/a.com/v1/namespaces/default/widgets", widget).await;
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    std::fs::write(path("config"), cluster.kubeconfig()).unwrap();
    std::fs::write(path("old.json"), old.to_string()).unwrap();
    std::fs::write(path("new.json"), new.to_string()).unwrap();
    let asked = Asked {
        kubeconfig: Some(path("config")),
        context: None,
        kept: Kept { objects: true, ..Kept::default() },
        without_secrets: false,
        timeout: Duration::from_secs(60),
    };
    capture(&asked, std::fs::File::create(path("capture")).unwrap(), |_| {}).await.unwrap();
    let mut options = Options { cluster: Some(path("capture")), ..Options::default() };
    let judged = async |options: &Options| upgrade(&path("old.json"), &path("new.json"), options).await.unwrap();
    let report = judged(&options).await;
    assert_eq!(report.worst(), Verdict::Ok, "{report:?}");
    assert!(report.notes[0].starts_with("the conversion webhook of widgets.a.com was not asked"), "{:?}", report.notes);
    options.webhooks.insert("widgets.a.com".to_owned(), hook.url.clone());
    let report = judged(&options).await;
    assert_eq!((report.worst(), &report.notes[..]), (Verdict::Ok, &[][..]), "{report:?}");
    // Nobody listens there: as the server would say.
    options.webhooks.insert("widgets.a.com".to_owned(), "https://127.0.0.1:1/".to_owned());
    let report = judged(&options).await;
    let message = &report.judged[1].findings[0].message;
    assert!(message.contains("conversion webhook for a.com/v1, Kind=Widget failed: "), "{message}");
}
