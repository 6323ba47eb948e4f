//! Policies as policy engines generate them.

use crate::support::about;

/// As Kyverno makes one of a cluster policy.
const OF_KYVERNO: &str = "apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata:
  name: cpol-no-host-path
  labels: {app.kubernetes.io/managed-by: kyverno}
spec:
  failurePolicy: Fail
  matchConstraints:
    matchPolicy: Equivalent
    resourceRules: [{apiGroups: [''], apiVersions: [v1], operations: [CREATE, UPDATE], resources: [pods], resourceNames: []}]
  matchConditions:
  - name: not-kube-system
    expression: \"!(object.metadata.?namespace.orValue('') in ['kube-system'])\"
  variables:
  - name: volumes
    expression: object.spec.?volumes.orValue([])
  validations:
  - expression: 'variables.volumes.all(volume, !has(volume.hostPath))'
    messageExpression: \"'HostPath volumes are forbidden: ' + variables.volumes.filter(v, has(v.hostPath)).map(v, v.name).join(', ')\"
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicyBinding
metadata:
  name: cpol-no-host-path-binding
  labels: {app.kubernetes.io/managed-by: kyverno}
spec: {policyName: cpol-no-host-path, validationActions: [Deny]}
";

/// As Gatekeeper makes one of a constraint template, whose constraints are its parameters.
const OF_GATEKEEPER: &str = "apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: k8srequiredlabels.constraints.gatekeeper.sh}
spec:
  group: constraints.gatekeeper.sh
  scope: Cluster
  names: {kind: K8sRequiredLabels, plural: k8srequiredlabels}
  versions:
  - name: v1beta1
    served: true
    storage: true
    schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata: {name: gatekeeper-k8srequiredlabels}
spec:
  failurePolicy: Fail
  paramKind: {apiVersion: constraints.gatekeeper.sh/v1beta1, kind: K8sRequiredLabels}
  matchConstraints:
    resourceRules: [{apiGroups: ['*'], apiVersions: ['*'], operations: [CREATE, UPDATE], resources: ['*']}]
  matchConditions:
  - name: match_kinds
    expression: \"!has(params.spec.match.kinds) || params.spec.match.kinds.exists(one, one.kinds.exists(kind, kind == request.kind.kind))\"
  variables:
  - {name: params, expression: '!has(params.spec.parameters) ? null : params.spec.parameters'}
  - {name: anyObject, expression: 'request.operation == \"DELETE\" ? oldObject : object'}
  validations:
  - expression: variables.params.labels.all(label, label in variables.anyObject.metadata.?labels.orValue({}))
    messageExpression: \"'missing required label, requires all of: ' + variables.params.labels.join(', ')\"
---
apiVersion: constraints.gatekeeper.sh/v1beta1
kind: K8sRequiredLabels
metadata: {name: owner}
spec:
  match: {kinds: [{apiGroups: [''], kinds: [Namespace]}]}
  parameters: {labels: [owner]}
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicyBinding
metadata: {name: gatekeeper-owner}
spec:
  policyName: gatekeeper-k8srequiredlabels
  paramRef: {name: owner, parameterNotFoundAction: Allow}
  validationActions: [Deny]
";

#[tokio::test]
async fn a_policy_of_kyverno_refuses() {
    let pod = |volume: &str| {
        format!(
            "apiVersion: v1\nkind: Pod\nmetadata: {{name: a}}\nspec:\n  containers: [{{name: c, image: i}}]\n  volumes: [{{name: v, {volume}}}]\n"
        )
    };
    let expected = "a.yaml:1: DENIED Pod default/a: policy cpol-no-host-path (binding cpol-no-host-path-binding): pods \"a\" is forbidden: \
                    ValidatingAdmissionPolicy 'cpol-no-host-path' with binding 'cpol-no-host-path-binding' denied request: HostPath volumes \
                    are forbidden: v";
    assert_eq!(about(&pod("hostPath: {path: /}")).given(OF_KYVERNO).lines().await, [expected]);
    assert_eq!(about(&pod("emptyDir: {}")).given(OF_KYVERNO).lines().await, ["a.yaml:1: OK Pod default/a"]);
}

#[tokio::test]
async fn a_constraint_of_gatekeeper_refuses() {
    let stream = "apiVersion: v1\nkind: Namespace\nmetadata: {name: shop}\n---\n\
                  apiVersion: v1\nkind: Namespace\nmetadata: {name: store, labels: {owner: me}}\n---\n\
                  apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n";
    let expected = "a.yaml:1: DENIED Namespace shop: policy gatekeeper-k8srequiredlabels (binding gatekeeper-owner): namespaces \"shop\" is \
                    forbidden: ValidatingAdmissionPolicy 'gatekeeper-k8srequiredlabels' with binding 'gatekeeper-owner' denied request: \
                    missing required label, requires all of: owner";
    let lines = about(stream).given(OF_GATEKEEPER).lines().await;
    assert_eq!(lines, [expected, "a.yaml:5: OK Namespace store", "a.yaml:9: OK ConfigMap default/a"]);
}
