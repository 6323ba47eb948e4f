// Package roots lists the kinds that fake-apiserver knows the types of. To add one, add it here.
package roots

import (
	"slices"

	admissionv1 "k8s.io/api/admission/v1"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	apidiscoveryv2 "k8s.io/api/apidiscovery/v2"
	appsv1 "k8s.io/api/apps/v1"
	authenticationv1 "k8s.io/api/authentication/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	autoscalingv1 "k8s.io/api/autoscaling/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	batchv1 "k8s.io/api/batch/v1"
	certificatesv1 "k8s.io/api/certificates/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	eventsv1 "k8s.io/api/events/v1"
	flowcontrolv1 "k8s.io/api/flowcontrol/v1"
	networkingv1 "k8s.io/api/networking/v1"
	nodev1 "k8s.io/api/node/v1"
	policyv1 "k8s.io/api/policy/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	resourcev1 "k8s.io/api/resource/v1"
	resourcev1beta1 "k8s.io/api/resource/v1beta1"
	resourcev1beta2 "k8s.io/api/resource/v1beta2"
	schedulingv1 "k8s.io/api/scheduling/v1"
	storagev1 "k8s.io/api/storage/v1"
	storagemigrationv1 "k8s.io/api/storagemigration/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	metav1beta1 "k8s.io/apimachinery/pkg/apis/meta/v1beta1"
	apiregistrationv1 "k8s.io/kube-aggregator/pkg/apis/apiregistration/v1"
)

// A Root is a kind and the Go type of its bodies.
type Root struct {
	APIVersion string
	Object     any
}

// All roots. "*" stands for any version: every group carries the meta kinds under its own.
var All = slices.Concat(
	of("v1",
		&corev1.Binding{}, &corev1.ComponentStatus{}, &corev1.ComponentStatusList{}, &corev1.ConfigMap{}, &corev1.ConfigMapList{}, &corev1.Endpoints{},
		&corev1.EndpointsList{}, &corev1.Event{}, &corev1.EventList{}, &corev1.LimitRange{}, &corev1.LimitRangeList{}, &corev1.Namespace{},
		&corev1.NamespaceList{}, &corev1.Node{}, &corev1.NodeList{}, &corev1.PersistentVolume{}, &corev1.PersistentVolumeClaim{},
		&corev1.PersistentVolumeClaimList{}, &corev1.PersistentVolumeList{}, &corev1.Pod{}, &corev1.PodList{}, &corev1.PodTemplate{},
		&corev1.PodTemplateList{}, &corev1.ReplicationController{}, &corev1.ReplicationControllerList{}, &corev1.ResourceQuota{},
		&corev1.ResourceQuotaList{}, &corev1.Secret{}, &corev1.SecretList{}, &corev1.Service{}, &corev1.ServiceAccount{}, &corev1.ServiceAccountList{},
		&corev1.ServiceList{},
	),
	of("admission.k8s.io/v1",
		&admissionv1.AdmissionReview{},
	),
	of("admissionregistration.k8s.io/v1",
		&admissionregistrationv1.MutatingAdmissionPolicy{}, &admissionregistrationv1.MutatingAdmissionPolicyBinding{},
		&admissionregistrationv1.MutatingAdmissionPolicyBindingList{}, &admissionregistrationv1.MutatingAdmissionPolicyList{},
		&admissionregistrationv1.MutatingWebhookConfiguration{}, &admissionregistrationv1.MutatingWebhookConfigurationList{},
		&admissionregistrationv1.ValidatingAdmissionPolicy{}, &admissionregistrationv1.ValidatingAdmissionPolicyBinding{},
		&admissionregistrationv1.ValidatingAdmissionPolicyBindingList{}, &admissionregistrationv1.ValidatingAdmissionPolicyList{},
		&admissionregistrationv1.ValidatingWebhookConfiguration{}, &admissionregistrationv1.ValidatingWebhookConfigurationList{},
	),
	of("apidiscovery.k8s.io/v2", &apidiscoveryv2.APIGroupDiscoveryList{}),
	of("apiextensions.k8s.io/v1",
		&apiextensionsv1.ConversionReview{}, &apiextensionsv1.CustomResourceDefinition{}, &apiextensionsv1.CustomResourceDefinitionList{},
	),
	of("apiregistration.k8s.io/v1",
		&apiregistrationv1.APIService{}, &apiregistrationv1.APIServiceList{},
	),
	of("apps/v1",
		&appsv1.ControllerRevision{}, &appsv1.ControllerRevisionList{}, &appsv1.DaemonSet{}, &appsv1.DaemonSetList{}, &appsv1.Deployment{},
		&appsv1.DeploymentList{}, &appsv1.ReplicaSet{}, &appsv1.ReplicaSetList{}, &appsv1.StatefulSet{}, &appsv1.StatefulSetList{},
	),
	of("authentication.k8s.io/v1",
		&authenticationv1.SelfSubjectReview{}, &authenticationv1.TokenRequest{}, &authenticationv1.TokenReview{},
	),
	of("authorization.k8s.io/v1",
		&authorizationv1.LocalSubjectAccessReview{}, &authorizationv1.SelfSubjectAccessReview{}, &authorizationv1.SelfSubjectRulesReview{},
		&authorizationv1.SubjectAccessReview{},
	),
	of("autoscaling/v1",
		&autoscalingv1.HorizontalPodAutoscaler{}, &autoscalingv1.HorizontalPodAutoscalerList{}, &autoscalingv1.Scale{},
	),
	of("autoscaling/v2",
		&autoscalingv2.HorizontalPodAutoscaler{}, &autoscalingv2.HorizontalPodAutoscalerList{},
	),
	of("batch/v1",
		&batchv1.CronJob{}, &batchv1.CronJobList{}, &batchv1.Job{}, &batchv1.JobList{},
	),
	of("certificates.k8s.io/v1",
		&certificatesv1.CertificateSigningRequest{}, &certificatesv1.CertificateSigningRequestList{}, &certificatesv1.ClusterTrustBundle{},
		&certificatesv1.ClusterTrustBundleList{}, &certificatesv1.PodCertificateRequest{}, &certificatesv1.PodCertificateRequestList{},
	),
	of("coordination.k8s.io/v1",
		&coordinationv1.Lease{}, &coordinationv1.LeaseList{},
	),
	of("discovery.k8s.io/v1",
		&discoveryv1.EndpointSlice{}, &discoveryv1.EndpointSliceList{},
	),
	of("events.k8s.io/v1",
		&eventsv1.Event{}, &eventsv1.EventList{},
	),
	of("flowcontrol.apiserver.k8s.io/v1",
		&flowcontrolv1.FlowSchema{}, &flowcontrolv1.FlowSchemaList{}, &flowcontrolv1.PriorityLevelConfiguration{},
		&flowcontrolv1.PriorityLevelConfigurationList{},
	),
	of("networking.k8s.io/v1",
		&networkingv1.IPAddress{}, &networkingv1.IPAddressList{}, &networkingv1.Ingress{}, &networkingv1.IngressClass{}, &networkingv1.IngressClassList{},
		&networkingv1.IngressList{}, &networkingv1.NetworkPolicy{}, &networkingv1.NetworkPolicyList{}, &networkingv1.ServiceCIDR{},
		&networkingv1.ServiceCIDRList{},
	),
	of("node.k8s.io/v1",
		&nodev1.RuntimeClass{}, &nodev1.RuntimeClassList{},
	),
	of("policy/v1",
		&policyv1.Eviction{}, &policyv1.PodDisruptionBudget{}, &policyv1.PodDisruptionBudgetList{},
	),
	of("rbac.authorization.k8s.io/v1",
		&rbacv1.ClusterRole{}, &rbacv1.ClusterRoleBinding{}, &rbacv1.ClusterRoleBindingList{}, &rbacv1.ClusterRoleList{}, &rbacv1.Role{},
		&rbacv1.RoleBinding{}, &rbacv1.RoleBindingList{}, &rbacv1.RoleList{},
	),
	of("resource.k8s.io/v1",
		&resourcev1.DeviceClass{}, &resourcev1.DeviceClassList{}, &resourcev1.DeviceTaintRule{}, &resourcev1.DeviceTaintRuleList{},
		&resourcev1.ResourceClaim{}, &resourcev1.ResourceClaimList{}, &resourcev1.ResourceClaimTemplate{}, &resourcev1.ResourceClaimTemplateList{},
		&resourcev1.ResourceSlice{}, &resourcev1.ResourceSliceList{},
	),
	of("scheduling.k8s.io/v1",
		&schedulingv1.PriorityClass{}, &schedulingv1.PriorityClassList{},
	),
	of("storage.k8s.io/v1",
		&storagev1.CSIDriver{}, &storagev1.CSIDriverList{}, &storagev1.CSINode{}, &storagev1.CSINodeList{}, &storagev1.CSIStorageCapacity{},
		&storagev1.CSIStorageCapacityList{}, &storagev1.StorageClass{}, &storagev1.StorageClassList{}, &storagev1.VolumeAttachment{},
		&storagev1.VolumeAttachmentList{}, &storagev1.VolumeAttributesClass{}, &storagev1.VolumeAttributesClassList{},
	),
	of("storagemigration.k8s.io/v1",
		&storagemigrationv1.StorageVersionMigration{}, &storagemigrationv1.StorageVersionMigrationList{},
	),
	of("meta.k8s.io/v1", &metav1.PartialObjectMetadata{}, &metav1.PartialObjectMetadataList{}),
	of("meta.k8s.io/v1beta1", &metav1beta1.PartialObjectMetadata{}, &metav1beta1.PartialObjectMetadataList{}),
	of("v1",
		&metav1.APIGroup{}, &metav1.APIGroupList{}, &metav1.APIResourceList{}, &metav1.APIVersions{}, &metav1.Status{},
	),
	of("*", &metav1.ListOptions{}, &metav1.CreateOptions{}, &metav1.UpdateOptions{}, &metav1.PatchOptions{}, &metav1.DeleteOptions{}),
)

// Optional are the roots of versions that a server has only if it is asked for them.
var Optional = slices.Concat(
	of("resource.k8s.io/v1beta1",
		&resourcev1beta1.DeviceClass{}, &resourcev1beta1.DeviceClassList{}, &resourcev1beta1.ResourceClaim{}, &resourcev1beta1.ResourceClaimList{},
		&resourcev1beta1.ResourceClaimTemplate{}, &resourcev1beta1.ResourceClaimTemplateList{}, &resourcev1beta1.ResourceSlice{},
		&resourcev1beta1.ResourceSliceList{},
	),
	of("resource.k8s.io/v1beta2",
		&resourcev1beta2.DeviceClass{}, &resourcev1beta2.DeviceClassList{}, &resourcev1beta2.DeviceTaintRule{}, &resourcev1beta2.DeviceTaintRuleList{},
		&resourcev1beta2.ResourceClaim{}, &resourcev1beta2.ResourceClaimList{}, &resourcev1beta2.ResourceClaimTemplate{},
		&resourcev1beta2.ResourceClaimTemplateList{}, &resourcev1beta2.ResourceSlice{}, &resourcev1beta2.ResourceSliceList{},
	),
)

// Every root of both lists.
var Every = slices.Concat(All, Optional)

func of(apiVersion string, objects ...any) []Root {
	var all []Root
	for _, object := range objects {
		all = append(all, Root{apiVersion, object})
	}
	return all
}
