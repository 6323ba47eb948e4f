//! Captured clusters: what is read of them, and what they say.

use crate::support::about;
use fake_apiserver::{AuthorizationMode, FakeApiServer, On};
use fake_apiserver_check::capture::{Asked, Kept, Outcome, capture, read};
use fake_apiserver_check::{Change, Options, RuleKind, Verdict, check, upgrade};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::time::Duration;
use tempfile::TempDir;

/// A cluster, and a folder for what is read of it.
struct Cluster {
    server: FakeApiServer,
    folder: TempDir,
}

impl Cluster {
    async fn start() -> Cluster {
        let builder = FakeApiServer::builder().authorization_mode([AuthorizationMode::Rbac]);
        Cluster { server: builder.start().await.unwrap(), folder: tempfile::tempdir().unwrap() }
    }

    async fn create(&self, path: &str, object: Value) {
        let request =
            http::Request::post(path).header("content-type", "application/json").body(object.to_string().into_bytes());
        self.server.client().request::<Value>(request.unwrap()).await.unwrap();
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    async fn capture(&self, kept: Kept) -> (Outcome, PathBuf) {
        self.capture_by(&self.server.kubeconfig(), kept).await
    }

    async fn capture_by(&self, kubeconfig: &str, kept: Kept) -> (Outcome, PathBuf) {
        let (config, file) = (self.path("config"), self.path("capture"));
        std::fs::write(&config, kubeconfig).unwrap();
        let out = std::fs::File::create(&file).unwrap();
        (capture(&asked(config, kept), out, |_| {}).await.unwrap(), file)
    }
}

fn asked(kubeconfig: PathBuf, kept: Kept) -> Asked {
    Asked { kubeconfig: Some(kubeconfig), context: None, kept, without_secrets: false, timeout: Duration::from_secs(5) }
}

fn all() -> Kept {
    Kept { objects: true, ..Kept::default() }
}

fn widgets(schema: &Value) -> Value {
    json!({
        "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition", "metadata": {"name": "widgets.a.com"},
        "spec": {
            "group": "a.com", "scope": "Namespaced", "names": {"kind": "Widget", "plural": "widgets"},
            "versions": [{"name": "v1", "served": true, "storage": true, "schema": {"openAPIV3Schema": {
                "type": "object", "properties": {"spec": {"type": "object", "properties": schema.clone()}},
            }}}],
        },
    })
}

const DEFINITIONS: &str = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
const WIDGETS: &str = "/apis/a.com/v1/namespaces/default/widgets";
const MAPS: &str = "/api/v1/namespaces/default/configmaps";

fn widget(name: &str, spec: &Value) -> Value {
    json!({"apiVersion": "a.com/v1", "kind": "Widget", "metadata": {"name": name}, "spec": spec.clone()})
}

#[tokio::test]
async fn an_immutable_field_of_a_captured_object_is_kept() {
    let cluster = Cluster::start().await;
    let deployment = |selector: &str| {
        json!({
            "apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "web"},
            "spec": {"selector": {"matchLabels": {"app": selector}}, "template": {
                "metadata": {"labels": {"app": selector}}, "spec": {"containers": [{"name": "c", "image": "i"}]},
            }},
        })
    };
    cluster.create("/apis/apps/v1/namespaces/default/deployments", deployment("a")).await;
    let (outcome, file) = cluster.capture(all()).await;
    assert!(outcome.missing.is_empty() && outcome.stopped.is_none(), "{outcome:?}");
    let of = |object: Value| {
        let mut question = about(&object.to_string());
        question.options.cluster = Some(file.clone());
        question
    };
    assert_eq!(of(deployment("a")).report().await.judged[0].change, Some(Change::Configured));
    let report = of(deployment("b")).report().await;
    let finding = &report.judged[0].findings[0];
    assert_eq!((report.worst(), finding.rule.kind), (Verdict::Denied, RuleKind::Validation));
    assert!(finding.message.contains("field is immutable"), "{}", finding.message);
}

#[tokio::test]
async fn what_was_invalid_before_is_tolerated_until_it_changes() {
    let cluster = Cluster::start().await;
    cluster.create(DEFINITIONS, widgets(&json!({"size": {"type": "integer"}, "other": {"type": "string"}}))).await;
    cluster.create(WIDGETS, widget("w", &json!({"size": 30}))).await;
    let (_, file) = cluster.capture(all()).await;
    let stricter = widgets(&json!({"size": {"type": "integer", "maximum": 10}, "other": {"type": "string"}}));
    let judged = async |spec: Value| {
        let stream = format!("{stricter}\n{}", widget("w", &spec));
        let mut question = about(&stream);
        question.options.cluster = Some(file.clone());
        question.report().await.judged[1].verdict
    };
    assert_eq!(judged(json!({"size": 30, "other": "x"})).await, Verdict::Ok);
    assert_eq!(judged(json!({"size": 40})).await, Verdict::Denied);
}

#[tokio::test]
async fn an_upgrade_is_judged_by_the_objects_that_are_there() {
    let cluster = Cluster::start().await;
    let old = widgets(&json!({"size": {"type": "integer"}, "gone": {"type": "string"}}));
    let rule = json!([{"rule": "self < 10", "message": "too large"}]);
    let new = widgets(&json!({"size": {"type": "integer", "x-kubernetes-validations": rule}}));
    cluster.create(DEFINITIONS, old.clone()).await;
    cluster.create(WIDGETS, widget("fits", &json!({"size": 3}))).await;
    cluster.create(WIDGETS, widget("large", &json!({"size": 30}))).await;
    cluster.create(WIDGETS, widget("pruned", &json!({"gone": "x"}))).await;
    let (_, file) = cluster.capture(all()).await;
    let write = |name: &str, definition: &Value| {
        let path = cluster.path(name);
        std::fs::write(&path, definition.to_string()).unwrap();
        path
    };
    let (old, new) = (write("old.json", &old), write("new.json", &new));
    let options = Options { cluster: Some(file), ..Options::default() };
    let report = upgrade(&old, &new, &options).await.unwrap();
    assert_eq!(report.notes, ["widgets.a.com: a new rule: v1 spec.size: self < 10"]);
    let told: Vec<(&str, Verdict)> =
        report.judged.iter().map(|one| (one.identity.name.as_str(), one.verdict)).collect();
    let expected = [
        ("widgets.a.com", Verdict::Ok),
        ("fits", Verdict::Ok),
        ("large", Verdict::Warning),
        ("pruned", Verdict::Warning),
    ];
    assert_eq!(told, expected);
    let message = |index: usize| report.judged[index].findings[0].message.as_str();
    assert!(
        message(2).starts_with("it is tolerated as it is there already, and would be refused if it were new: "),
        "{}",
        message(2)
    );
    assert_eq!(message(3), "these fields are pruned: spec.gone");
    assert!(report.judged[2].place.line > 1);
}

#[tokio::test]
async fn a_version_that_is_still_stored_cannot_be_dropped() {
    let cluster = Cluster::start().await;
    let old = widgets(&json!({}));
    cluster.create(DEFINITIONS, old.clone()).await;
    let (_, file) = cluster.capture(Kept::default()).await;
    let mut new = old.clone();
    new["spec"]["versions"][0]["name"] = "v2".into();
    let paths = ["old.json", "new.json"].map(|name| cluster.path(name));
    std::fs::write(&paths[0], old.to_string()).unwrap();
    std::fs::write(&paths[1], new.to_string()).unwrap();
    let report = upgrade(&paths[0], &paths[1], &Options { cluster: Some(file), ..Options::default() }).await.unwrap();
    let message = &report.judged[0].findings[0].message;
    assert!(message.contains("status.storedVersions[0]: Invalid value: \"v1\""), "{message}");
    assert_eq!(report.notes[0], "widgets.a.com: v1 is not served any more");
}

#[tokio::test]
async fn secrets_are_noise() {
    let cluster = Cluster::start().await;
    let secret = json!({"metadata": {"name": "s"}, "stringData": {"password": "correct horse battery staple"}});
    cluster.create("/api/v1/namespaces/default/secrets", secret).await;
    let (_, file) = cluster.capture(all()).await;
    let taken = read(&file).unwrap();
    let secret = taken.objects.iter().find(|object| object["kind"] == "Secret").unwrap();
    assert_eq!(secret["data"]["password"].as_str().unwrap().len(), 40);
    assert!(!std::fs::read_to_string(&file).unwrap().contains("Y29ycmVjdCBob3JzZSBiYXR0ZXJ5IHN0YXBsZQ=="));
    let asked = Asked { without_secrets: true, ..asked(cluster.path("config"), all()) };
    let mut text = Vec::new();
    capture(&asked, &mut text, |_| {}).await.unwrap();
    assert!(!String::from_utf8(text).unwrap().contains("\"Secret\""));
}

#[tokio::test]
async fn lists_are_read_by_pages() {
    let cluster = Cluster::start().await;
    for number in 0..501 {
        cluster.create(MAPS, json!({"metadata": {"name": format!("m{number}")}})).await;
    }
    let (outcome, file) = cluster.capture(Kept { only: vec!["configmaps".into()], ..Kept::default() }).await;
    let objects = read(&file).unwrap().objects;
    assert_eq!(outcome.objects, objects.len());
    let own = objects.iter().filter(|object| object["metadata"]["namespace"] == "default");
    assert_eq!(own.count(), 501);
}

#[tokio::test]
async fn rights_that_are_missing_are_listed() {
    let cluster = Cluster::start().await;
    let role = json!({"metadata": {"name": "r"}, "rules": [
        {"apiGroups": [""], "resources": ["namespaces"], "verbs": ["list"]}, {"nonResourceURLs": ["*"], "verbs": ["get"]},
    ]});
    cluster.create("/apis/rbac.authorization.k8s.io/v1/clusterroles", role).await;
    let binding = json!({
        "metadata": {"name": "r"}, "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "r"},
        "subjects": [{"kind": "User", "apiGroup": "rbac.authorization.k8s.io", "name": "reader"}],
    });
    cluster.create("/apis/rbac.authorization.k8s.io/v1/clusterrolebindings", binding).await;
    let mut config = kube::config::Kubeconfig::from_yaml(&cluster.server.kubeconfig()).unwrap();
    config.auth_infos[0].auth_info.as_mut().unwrap().impersonate = Some("reader".to_owned());
    let kept = Kept { only: vec!["namespaces".into(), "configmaps".into()], ..Kept::default() };
    let (outcome, file) = cluster.capture_by(&serde_json::to_string(&config).unwrap(), kept).await;
    assert_eq!(outcome.missing.len(), 1);
    assert_eq!(outcome.missing[0].resource, "configmaps");
    assert!(outcome.missing[0].why.contains("User \"reader\" cannot list resource \"configmaps\""), "{outcome:?}");
    assert!(read(&file).unwrap().objects.len() >= 4);
}

#[tokio::test]
async fn what_was_read_before_a_timeout_is_kept() {
    let cluster = Cluster::start().await;
    cluster.server.faults().add(On::list("limitranges").delay(Duration::from_secs(3600)));
    let (outcome, file) =
        cluster.capture(Kept { only: vec!["namespaces".into(), "limitranges".into()], ..Kept::default() }).await;
    let stopped = outcome.stopped.expect("it stops");
    assert!(stopped.starts_with("the cluster did not answer within 5s, after "), "{stopped}");
    assert_eq!(read(&file).unwrap().stopped, Some(stopped));
    let mut question = about("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n");
    question.options.cluster = Some(file);
    let notes = question.report().await.notes;
    assert!(notes.iter().any(|note| note.starts_with("the capture is incomplete: ")), "{notes:?}");
}

#[tokio::test]
async fn a_kubeconfig_or_capture_that_cannot_be_read_is_an_error() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("config");
    let failure = async |text: &str| {
        std::fs::write(&path, text).unwrap();
        format!("{:#}", capture(&asked(path.clone(), all()), Vec::new(), |_| {}).await.unwrap_err())
    };
    assert!(failure("a: [").await.starts_with(&format!("unable to read the kubeconfig {}: ", path.display())));
    assert!(failure("apiVersion: v1\nkind: Config\n").await.starts_with("unable to read the kubeconfig"));
    std::fs::write(&path, "{\"fakeApiserverCapture\":9}\n").unwrap();
    let options = Options { files: vec![manifest(folder.path())], cluster: Some(path.clone()), ..Options::default() };
    let failure = format!("{:#}", check(&options).await.unwrap_err());
    assert!(failure.contains("the capture has the format 9, and this program reads 1"), "{failure}");
}

fn manifest(folder: &Path) -> PathBuf {
    let path = folder.join("a.yaml");
    std::fs::write(&path, "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n").unwrap();
    path
}

#[tokio::test]
async fn webhooks_that_are_not_here_are_told_or_fail() {
    let cluster = Cluster::start().await;
    let webhook = json!({
        "metadata": {"name": "w"}, "webhooks": [{
            "name": "w.a.com", "admissionReviewVersions": ["v1"], "sideEffects": "None",
            "clientConfig": {"service": {"namespace": "default", "name": "none"}},
            "rules": [{"apiGroups": [""], "apiVersions": ["v1"], "operations": ["CREATE"], "resources": ["configmaps"]}],
        }],
    });
    cluster.create("/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations", webhook).await;
    let (_, file) = cluster.capture(Kept::default()).await;
    let mut question = about("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n");
    question.options.cluster = Some(file);
    let report = question.report().await;
    assert_eq!(report.worst(), Verdict::Ok);
    assert!(report.notes[0].starts_with("webhook w.a.com was not asked: "), "{:?}", report.notes);
    question.options.unreached = fake_apiserver_check::Unreached::Fail;
    let report = question.report().await;
    assert_eq!(report.judged[0].findings[0].rule.id(), "webhook/w.a.com");
}
