// Package roots lists the kinds that fake-apiserver reads or writes. To add one, add a line.
package roots

import (
	appsv1 "k8s.io/api/apps/v1"
	authenticationv1 "k8s.io/api/authentication/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	autoscalingv1 "k8s.io/api/autoscaling/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	policyv1 "k8s.io/api/policy/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// A Root is a kind and the Go type of its bodies.
type Root struct {
	APIVersion string
	Object     any
}

// All roots. "*" stands for any version: every group carries the meta kinds under its own.
var All = []Root{
	{"v1", &corev1.Namespace{}},
	{"v1", &corev1.NamespaceList{}},
	{"v1", &corev1.ServiceAccount{}},
	{"v1", &corev1.ServiceAccountList{}},
	{"v1", &corev1.Secret{}},
	{"v1", &corev1.SecretList{}},
	{"v1", &corev1.ConfigMap{}},
	{"v1", &corev1.ConfigMapList{}},
	{"v1", &corev1.Pod{}},
	{"v1", &corev1.PodList{}},
	{"v1", &corev1.Node{}},
	{"v1", &corev1.NodeList{}},
	{"v1", &corev1.Event{}},
	{"v1", &corev1.EventList{}},
	{"v1", &corev1.Binding{}},
	{"v1", &corev1.PodTemplate{}},
	{"v1", &corev1.PodTemplateList{}},
	{"v1", &corev1.ReplicationController{}},
	{"v1", &corev1.ReplicationControllerList{}},
	{"apps/v1", &appsv1.DaemonSet{}},
	{"apps/v1", &appsv1.DaemonSetList{}},
	{"apps/v1", &appsv1.Deployment{}},
	{"apps/v1", &appsv1.DeploymentList{}},
	{"apps/v1", &appsv1.ReplicaSet{}},
	{"apps/v1", &appsv1.ReplicaSetList{}},
	{"apps/v1", &appsv1.StatefulSet{}},
	{"apps/v1", &appsv1.StatefulSetList{}},
	{"coordination.k8s.io/v1", &coordinationv1.Lease{}},
	{"coordination.k8s.io/v1", &coordinationv1.LeaseList{}},
	{"events.k8s.io/v1", &eventsv1.Event{}},
	{"events.k8s.io/v1", &eventsv1.EventList{}},
	{"authentication.k8s.io/v1", &authenticationv1.TokenReview{}},
	{"authentication.k8s.io/v1", &authenticationv1.TokenRequest{}},
	{"authentication.k8s.io/v1", &authenticationv1.SelfSubjectReview{}},
	{"authorization.k8s.io/v1", &authorizationv1.SubjectAccessReview{}},
	{"authorization.k8s.io/v1", &authorizationv1.LocalSubjectAccessReview{}},
	{"authorization.k8s.io/v1", &authorizationv1.SelfSubjectAccessReview{}},
	{"authorization.k8s.io/v1", &authorizationv1.SelfSubjectRulesReview{}},
	{"rbac.authorization.k8s.io/v1", &rbacv1.Role{}},
	{"rbac.authorization.k8s.io/v1", &rbacv1.RoleList{}},
	{"rbac.authorization.k8s.io/v1", &rbacv1.ClusterRole{}},
	{"rbac.authorization.k8s.io/v1", &rbacv1.ClusterRoleList{}},
	{"rbac.authorization.k8s.io/v1", &rbacv1.RoleBinding{}},
	{"rbac.authorization.k8s.io/v1", &rbacv1.RoleBindingList{}},
	{"rbac.authorization.k8s.io/v1", &rbacv1.ClusterRoleBinding{}},
	{"rbac.authorization.k8s.io/v1", &rbacv1.ClusterRoleBindingList{}},
	{"policy/v1", &policyv1.Eviction{}},
	{"autoscaling/v1", &autoscalingv1.Scale{}},
	{"meta.k8s.io/v1", &metav1.PartialObjectMetadata{}},
	{"meta.k8s.io/v1", &metav1.PartialObjectMetadataList{}},
	{"v1", &metav1.Status{}},
	{"*", &metav1.ListOptions{}},
	{"*", &metav1.CreateOptions{}},
	{"*", &metav1.UpdateOptions{}},
	{"*", &metav1.PatchOptions{}},
	{"*", &metav1.DeleteOptions{}},
}
