//! Objects that are right, wrong, or none.

use crate::support::about;
use fake_apiserver_check::{Change, Options, Verdict, check};

const MAP: &str = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata: {b: c}\n";

#[tokio::test]
async fn what_is_right_is_admitted() {
    let question = about(MAP);
    let report = question.report().await;
    assert_eq!((report.worst(), report.judged[0].change), (Verdict::Ok, Some(Change::Created)));
    assert_eq!(question.lines().await, ["a.yaml:1: OK ConfigMap default/a"]);
}

#[tokio::test]
async fn fields_are_pointed_at() {
    let pod = "apiVersion: v1\nkind: Pod\nmetadata:\n  name: a\nspec:\n  containers:\n  - name: c\n    image: i\n    ports:\n    \
               - containerPort: 80000\n";
    let expected = "a.yaml:10: DENIED Pod default/a: validation: Pod \"a\" is invalid: spec.containers[0].ports[0].containerPort: Invalid \
                    value: 80000: must be between 1 and 65535, inclusive";
    assert_eq!(about(pod).lines().await, [expected]);
    let typo = "---\napiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: a\n  label: {}\n";
    let expected = "a.yaml:6: DENIED ConfigMap default/a: schema: ConfigMap in version \"v1\" cannot be handled as a ConfigMap: strict \
                    decoding error: unknown field \"metadata.label\"";
    assert_eq!(about(typo).lines().await, [expected]);
}

#[tokio::test]
async fn bad_documents_leave_the_others_alone() {
    let stream = [
        MAP,
        "apiVersion: v1\nmetadata:\n\tname: a\n",
        "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: b}\ndata:\n  x: \"1\"\n  x: \"2\"\n",
        "kind: {{ .Values.kind }}\n",
        MAP,
        "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: z}\n",
    ];
    let tip = "    tip: this is a template: render it first, as with `helm template CHART | fake-apiserver check -f -`";
    assert_eq!(
        about(&stream.join("---\n")).lines().await,
        [
            "a.yaml:1: OK ConfigMap default/a",
            "a.yaml:8: ERROR document: document: yaml: line 8: found character that cannot start any token",
            "a.yaml:15: ERROR document: document: yaml: line 15: key \"x\" already set in map",
            "a.yaml:17: ERROR document: document: yaml: invalid map key: map[interface {}]interface {}{\".Values.kind\":interface {}(nil)}",
            tip,
            "a.yaml:19: ERROR ConfigMap a: document: ConfigMap \"a\" is described twice: at a.yaml:1, too",
            "a.yaml:24: OK ConfigMap default/z",
        ]
    );
}

#[tokio::test]
async fn kinds_that_nothing_defines_are_looked_for() {
    let stream = "apiVersion: extensions/v1beta1\nkind: Ingress\nmetadata: {name: a}\n---\n\
                  apiVersion: autoscaling/v2beta2\nkind: HorizontalPodAutoscaler\nmetadata: {name: a}\n---\n\
                  apiVersion: policy/v1beta1\nkind: PodSecurityPolicy\nmetadata: {name: a}\n---\n\
                  apiVersion: a.com/v1\nkind: Widget\nmetadata: {name: a}\n";
    assert_eq!(
        about(stream).lines().await,
        [
            "a.yaml:1: DENIED Ingress a: kind: no matches for kind \"Ingress\" in version \"extensions/v1beta1\"",
            "    tip: Ingress is in networking.k8s.io/v1",
            "a.yaml:5: DENIED HorizontalPodAutoscaler a: kind: no matches for kind \"HorizontalPodAutoscaler\" in version \
             \"autoscaling/v2beta2\"",
            "    tip: HorizontalPodAutoscaler is in autoscaling/v2, autoscaling/v1",
            "a.yaml:9: DENIED PodSecurityPolicy a: kind: no matches for kind \"PodSecurityPolicy\" in version \"policy/v1beta1\"",
            "    tip: it is gone since 1.25: label namespaces with pod-security.kubernetes.io/enforce",
            "a.yaml:13: DENIED Widget a: kind: no matches for kind \"Widget\" in version \"a.com/v1\"",
            "    tip: no group has it: give its CustomResourceDefinition, too, by --filename or --given",
        ]
    );
}

#[tokio::test]
async fn namespaces_have_to_be_there() {
    let stream = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a, namespace: b}\n";
    let mut question = about(stream);
    let refused = "a.yaml:1: DENIED ConfigMap b/a: missing: namespaces \"b\" not found";
    assert_eq!(question.lines().await[0], refused);
    question.options.create_namespaces = true;
    assert_eq!(question.lines().await, ["a.yaml:1: OK ConfigMap b/a"]);
    // Those that are described, wherever, and the one of objects that name none.
    let described = format!("{stream}---\napiVersion: v1\nkind: Namespace\nmetadata: {{name: b}}\n");
    assert_eq!(about(&described).report().await.worst(), Verdict::Ok);
    assert_eq!(about(MAP).within("c").lines().await, ["a.yaml:1: OK ConfigMap c/a"]);
}

#[tokio::test]
async fn what_cannot_be_read_is_an_error() {
    let failed = |options: Options| async move { format!("{:#}", check(&options).await.unwrap_err()) };
    let missing = Options { files: vec!["/none.yaml".into()], ..Options::default() };
    assert!(failed(missing).await.starts_with("unable to read /none.yaml: "));
    let folder = tempfile::tempdir().unwrap();
    let empty = Options { files: vec![folder.path().into()], ..Options::default() };
    assert!(failed(empty).await.ends_with("no files that end in .yaml, .yml or .json"));
}

#[tokio::test]
async fn definitions_and_their_objects_come_in_one_stream() {
    let stream = "apiVersion: a.com/v1\nkind: Widget\nmetadata: {name: a}\nspec: {size: 3}\n---\n\
                  apiVersion: a.com/v1\nkind: Widget\nmetadata: {name: b}\nspec: {size: 30}\n---\n\
                  apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {name: widgets.a.com}\nspec:\n  \
                  group: a.com\n  scope: Namespaced\n  names: {kind: Widget, plural: widgets}\n  versions:\n  - name: v1\n    \
                  served: true\n    storage: true\n    schema:\n      openAPIV3Schema:\n        type: object\n        properties:\n          \
                  spec:\n            type: object\n            x-kubernetes-validations: [{rule: self.size < 10, message: too large}]\n            \
                  properties: {size: {type: integer}}\n";
    let lines = about(stream).lines().await;
    assert_eq!(lines[0], "a.yaml:1: OK Widget default/a");
    assert_eq!(
        lines[1],
        "a.yaml:9: DENIED Widget default/b: validation: Widget.a.com \"b\" is invalid: spec: Invalid value: too large"
    );
    assert_eq!(lines[2], "a.yaml:11: OK CustomResourceDefinition widgets.a.com");
}
