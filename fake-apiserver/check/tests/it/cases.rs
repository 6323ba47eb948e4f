//! Tests of policies, rules and roles.

use fake_apiserver_check::{Report, Verdict, test};
use tempfile::TempDir;

const POLICY: &str = "apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata: {name: replicas}
spec:
  matchConstraints:
    resourceRules: [{apiGroups: ['apps'], apiVersions: ['*'], operations: ['CREATE', 'UPDATE'], resources: ['deployments']}]
  validations:
  - {expression: object.spec.replicas <= 5, message: at most five replicas}
  - {expression: \"oldObject == null || object.spec.replicas >= oldObject.spec.replicas\", message: never fewer}
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicyBinding
metadata: {name: replicas}
spec: {policyName: replicas, validationActions: [Deny]}
---
apiVersion: admissionregistration.k8s.io/v1
kind: MutatingAdmissionPolicy
metadata: {name: owner}
spec:
  failurePolicy: Fail
  reinvocationPolicy: Never
  matchConstraints:
    resourceRules: [{apiGroups: ['apps'], apiVersions: ['*'], operations: ['CREATE'], resources: ['deployments']}]
  mutations:
  - patchType: ApplyConfiguration
    applyConfiguration: {expression: \"Object{metadata: Object.metadata{labels: {'owner': 'nobody'}}}\"}
---
apiVersion: admissionregistration.k8s.io/v1
kind: MutatingAdmissionPolicyBinding
metadata: {name: owner}
spec: {policyName: owner}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: reader}
rules: [{apiGroups: [''], resources: [configmaps], verbs: [get]}]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: {name: reader}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: reader}
subjects: [{kind: User, apiGroup: rbac.authorization.k8s.io, name: ann}]
";

fn deployment(replicas: u32) -> String {
    format!(
        "{{apiVersion: apps/v1, kind: Deployment, metadata: {{name: web}}, spec: {{replicas: {replicas}, selector: {{matchLabels: {{a: b}}}}, \
         template: {{metadata: {{labels: {{a: b}}}}, spec: {{containers: [{{name: c, image: i}}]}}}}}}}}"
    )
}

fn folder(cases: &[String]) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("policy.yaml"), POLICY).unwrap();
    let cases: String = cases.iter().map(|case| format!("- {case}\n")).collect();
    let text = format!("apiVersion: fake-apiserver/v1\nkind: AdmissionTest\ngiven: [policy.yaml]\ncases:\n{cases}");
    std::fs::write(folder.path().join("test.yaml"), text).unwrap();
    folder
}

async fn played(cases: &[String]) -> Report {
    test(folder(cases).path()).await.unwrap()
}

#[tokio::test]
async fn cases_are_as_expected() {
    let (few, five, many) = (deployment(2), deployment(5), deployment(6));
    let report = played(&[
        format!("{{name: few, object: {few}, expect: {{verdict: allowed, object: {{metadata: {{labels: {{owner: nobody}}}}}}}}}}"),
        format!("{{name: many, object: {many}, expect: {{verdict: denied, rule: policy/replicas, message: at most five}}}}"),
        format!("{{name: fewer, object: {few}, oldObject: {five}, expect: {{verdict: denied, message: never fewer}}}}"),
        format!("{{name: more, object: {five}, oldObject: {few}, expect: {{verdict: allowed}}}}"),
        format!("{{name: gone, operation: DELETE, oldObject: {many}, expect: {{verdict: allowed}}}}"),
        format!("{{name: nobody, user: ann, object: {few}, expect: {{verdict: denied, rule: permission}}}}"),
        "{name: reads, user: ann, access: {verb: get, resource: configmaps, namespace: x}, expect: {verdict: allowed}}".to_owned(),
        "{name: writes, user: ann, access: {verb: update, resource: configmaps}, expect: {verdict: denied}}".to_owned(),
    ])
    .await;
    let wrong: Vec<_> = report.judged.iter().filter(|one| one.verdict != Verdict::Ok).collect();
    assert!(wrong.is_empty(), "{wrong:#?}");
    // Nothing was denied to readers but what they may do, and the policy that mutates has no condition.
    assert_eq!(report.notes.len(), 1);
    assert!(report.notes[0].ends_with("test.yaml: 6 of 6 outcomes of rules were reached"), "{:?}", report.notes);
}

#[tokio::test]
async fn other_answers_are_told() {
    let many = deployment(6);
    let report = played(&[
        format!("{{name: allowed, object: {many}, expect: {{verdict: allowed}}}}"),
        format!("{{name: rule, object: {many}, expect: {{verdict: denied, rule: policy/other}}}}"),
        format!(
            "{{name: object, object: {}, expect: {{verdict: allowed, object: {{spec: {{replicas: 3}}}}}}}}",
            deployment(2)
        ),
    ])
    .await;
    let messages: Vec<&str> = report.judged.iter().map(|one| one.findings[0].message.as_str()).collect();
    assert!(
        messages[0].starts_with("it is denied, and allowed was expected: deployments.apps \"web\" is forbidden"),
        "{messages:?}"
    );
    assert!(
        messages[1].starts_with("the rule policy/other was expected, and it was policy/replicas: "),
        "{messages:?}"
    );
    assert_eq!(messages[2], "spec.replicas: 3 was expected, and it is 2");
    assert_eq!(report.judged[1].place.line, 6);
    assert!(
        report.notes.contains(
            &"ValidatingAdmissionPolicy replicas: validation oldObject == null || object.spec.replicas >= oldObject.spec.replicas: \
              never false"
                .to_owned()
        ),
        "{:?}",
        report.notes
    );
    assert!(
        report.notes.contains(&"ClusterRole reader: get configmaps: never allowed".to_owned()),
        "{:?}",
        report.notes
    );
}

#[tokio::test]
async fn a_folder_without_cases_is_an_error() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("a.yaml"), POLICY).unwrap();
    assert!(test(folder.path()).await.unwrap_err().to_string().contains("there are no cases in"));
}
