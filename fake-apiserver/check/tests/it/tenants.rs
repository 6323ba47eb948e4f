//! What a platform allows its tenants: policies, levels for pods, quotas, permissions.

use crate::support::about;
use fake_apiserver_check::RuleKind;

const POLICY: &str = "apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata: {name: owners}
spec:
  matchConstraints:
    resourceRules: [{apiGroups: ['apps'], apiVersions: ['*'], operations: ['*'], resources: ['deployments']}]
  validations:
  - {expression: \"'owner' in object.metadata.labels\", message: an owner has to be named}
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicyBinding
metadata: {name: everywhere}
spec: {policyName: owners, validationActions: [Deny]}
";

fn deployment(labels: &str) -> String {
    format!(
        "apiVersion: apps/v1\nkind: Deployment\nmetadata: {{name: web, labels: {labels}}}\nspec:\n  selector: {{matchLabels: {{a: b}}}}\n  \
         template:\n    metadata: {{labels: {{a: b}}}}\n    spec: {{containers: [{{name: c, image: i}}]}}\n"
    )
}

#[tokio::test]
async fn a_policy_is_named_with_its_binding() {
    let expected = "a.yaml:1: DENIED Deployment default/web: policy owners (binding everywhere): deployments.apps \"web\" is forbidden: \
                    ValidatingAdmissionPolicy 'owners' with binding 'everywhere' denied request: an owner has to be named";
    assert_eq!(about(&deployment("{a: b}")).given(POLICY).lines().await, [expected]);
    assert_eq!(about(&deployment("{owner: me}")).given(POLICY).lines().await, ["a.yaml:1: OK Deployment default/web"]);
    // In the same stream, too, and behind the object.
    let stream = format!("{}---\n{POLICY}", deployment("{a: b}"));
    let report = about(&stream).report().await;
    assert_eq!(report.judged[0].findings[0].rule.kind, RuleKind::Policy);
    assert_eq!(report.summary().ok, 2);
}

#[tokio::test]
async fn a_policy_may_only_warn() {
    let lines = about(&deployment("{a: b}")).given(&POLICY.replace("[Deny]", "[Warn]")).lines().await;
    let expected = "a.yaml:1: WARNING Deployment default/web: policy owners (binding everywhere): Validation failed for \
                    ValidatingAdmissionPolicy 'owners' with binding 'everywhere': an owner has to be named";
    assert_eq!(lines, [expected]);
}

#[tokio::test]
async fn levels_for_pods_are_labels_of_namespaces() {
    let stream = "apiVersion: v1\nkind: Pod\nmetadata: {name: a, namespace: shop}\nspec:\n  hostNetwork: true\n  containers: [{name: c, image: i}]\n---\n\
                  apiVersion: v1\nkind: Namespace\nmetadata:\n  name: shop\n  labels: {pod-security.kubernetes.io/enforce: baseline}\n";
    let expected = "a.yaml:1: DENIED Pod shop/a: plugin PodSecurity: pods \"a\" is forbidden: violates PodSecurity \"baseline:latest\": host \
                    namespaces (hostNetwork=true)";
    assert_eq!(about(stream).lines().await[0], expected);
}

#[tokio::test]
async fn a_quota_is_full() {
    let quota = "apiVersion: v1\nkind: ResourceQuota\nmetadata: {name: q}\nspec: {hard: {configmaps: \"1\"}}\n---\n\
                 apiVersion: v1\nkind: ConfigMap\nmetadata: {name: first}\n";
    let map = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: second}\n";
    let expected = "a.yaml:1: DENIED ConfigMap default/second: plugin ResourceQuota: configmaps \"second\" is forbidden: exceeded quota: q, \
                    requested: configmaps=1, used: configmaps=1, limited: configmaps=1";
    assert_eq!(about(map).given(quota).lines().await, [expected]);
}

#[tokio::test]
async fn a_deployer_may_not_grant_what_it_may_not_do() {
    let deployer = "apiVersion: rbac.authorization.k8s.io/v1\nkind: ClusterRole\nmetadata: {name: deployer}\nrules:\n\
                    - {apiGroups: ['', 'rbac.authorization.k8s.io'], resources: [configmaps, roles], verbs: [get, create, patch]}\n---\n\
                    apiVersion: rbac.authorization.k8s.io/v1\nkind: ClusterRoleBinding\nmetadata: {name: deployer}\n\
                    roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: deployer}\n\
                    subjects: [{kind: ServiceAccount, namespace: ci, name: deployer}]\n";
    let stream = "apiVersion: rbac.authorization.k8s.io/v1\nkind: Role\nmetadata: {name: r}\n\
                  rules: [{apiGroups: [''], resources: [secrets], verbs: [get]}]\n---\n\
                  apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n---\n\
                  apiVersion: v1\nkind: Secret\nmetadata: {name: a}\n";
    let question = about(stream).given(deployer).by("system:serviceaccount:ci:deployer");
    let report = question.report().await;
    let rules: Vec<_> = report.judged.iter().map(|one| one.findings.first().map(|finding| finding.rule.kind)).collect();
    assert_eq!(rules, [Some(RuleKind::Permission), None, Some(RuleKind::Permission)]);
    assert!(
        report.judged[0].findings[0].message.contains("is attempting to grant RBAC permissions not currently held")
    );
}
