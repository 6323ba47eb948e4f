package main

import (
	"log"
	"maps"
	"slices"
)

// nilDiffers names, by type, the lists and maps of which Kubernetes' defaults, validation or printing ask whether they are nil, and those
// within the items of an atomic list, which structured-merge-diff compares by reflection: those that are empty mean something else.
// Neither tags nor markers say it.
var nilDiffers = map[string][]string{
	"admissionregistration/v1.MutatingWebhook":                {"Rules", "AdmissionReviewVersions", "MatchConditions"},
	"admissionregistration/v1.MutatingWebhookConfiguration":   {"Webhooks"},
	"admissionregistration/v1.NamedRuleWithOperations":        {"ResourceNames"},
	"admissionregistration/v1.Rule":                           {"APIGroups", "APIVersions", "Resources"},
	"admissionregistration/v1.RuleWithOperations":             {"Operations"},
	"admissionregistration/v1.ValidatingWebhook":              {"Rules", "AdmissionReviewVersions", "MatchConditions"},
	"admissionregistration/v1.ValidatingWebhookConfiguration": {"Webhooks"},
	"apiextensions/v1.CustomResourceDefinitionSpec":           {"Versions"},
	"apis/meta/v1.LabelSelector":                              {"MatchLabels", "MatchExpressions"},
	"apis/meta/v1.LabelSelectorRequirement":                   {"Values"},
	"apis/meta/v1.ObjectMeta":                                 {"Labels"},
	"autoscaling/v2.HPAScalingRules":                          {"Policies"},
	"batch/v1.PodFailurePolicy":                               {"Rules"},
	"batch/v1.PodFailurePolicyOnExitCodesRequirement":         {"Values"},
	"batch/v1.PodFailurePolicyRule":                           {"OnPodConditions"},
	"batch/v1.SuccessPolicy":                                  {"Rules"},
	"core/v1.CSIVolumeSource":                                 {"VolumeAttributes"},
	"core/v1.Capabilities":                                    {"Add", "Drop"},
	"core/v1.ConfigMap":                                       {"Data", "BinaryData"},
	"core/v1.ConfigMapProjection":                             {"Items"},
	"core/v1.ConfigMapVolumeSource":                           {"Items"},
	"core/v1.Container":                                       {"Command", "Args", "Ports", "EnvFrom", "Env", "ResizePolicy", "RestartPolicyRules", "VolumeMounts", "VolumeDevices"},
	"core/v1.ContainerRestartRuleOnExitCodes":                 {"Values"},
	"core/v1.DownwardAPIProjection":                           {"Items"},
	"core/v1.DownwardAPIVolumeSource":                         {"Items"},
	"core/v1.EndpointSubset":                                  {"Addresses", "NotReadyAddresses", "Ports"},
	"core/v1.EphemeralContainerCommon":                        {"Command", "Args", "Ports", "EnvFrom", "Env", "ResizePolicy", "RestartPolicyRules", "VolumeMounts", "VolumeDevices"},
	"core/v1.ExecAction":                                      {"Command"},
	"core/v1.FCVolumeSource":                                  {"TargetWWNs", "WWIDs"},
	"core/v1.FlexVolumeSource":                                {"Options"},
	"core/v1.HTTPGetAction":                                   {"HTTPHeaders"},
	"core/v1.HostAlias":                                       {"Hostnames"},
	"core/v1.ISCSIVolumeSource":                               {"Portals"},
	"core/v1.LimitRangeItem":                                  {"Max", "Min", "Default", "DefaultRequest", "MaxLimitRequestRatio"},
	"core/v1.NodeAffinity":                                    {"PreferredDuringSchedulingIgnoredDuringExecution"},
	"core/v1.NodeSelectorRequirement":                         {"Values"},
	"core/v1.NodeSelectorTerm":                                {"MatchExpressions", "MatchFields"},
	"core/v1.PersistentVolumeClaimSpec":                       {"AccessModes"},
	"core/v1.PersistentVolumeSpec":                            {"Capacity"},
	"core/v1.PodAffinity":                                     {"RequiredDuringSchedulingIgnoredDuringExecution", "PreferredDuringSchedulingIgnoredDuringExecution"},
	"core/v1.PodAffinityTerm":                                 {"Namespaces", "MatchLabelKeys", "MismatchLabelKeys"},
	"core/v1.PodAntiAffinity":                                 {"RequiredDuringSchedulingIgnoredDuringExecution", "PreferredDuringSchedulingIgnoredDuringExecution"},
	"core/v1.PodCertificateProjection":                        {"UserAnnotations"},
	"core/v1.PodDNSConfig":                                    {"Nameservers", "Searches", "Options"},
	"core/v1.PodSecurityContext":                              {"SupplementalGroups", "Sysctls"},
	"core/v1.PodSpec":                                         {"Volumes", "InitContainers", "Containers", "EphemeralContainers", "NodeSelector", "ImagePullSecrets", "Tolerations", "HostAliases", "ReadinessGates", "Overhead", "TopologySpreadConstraints", "SchedulingGates", "ResourceClaims", "EvictionResponders"},
	"core/v1.ResourceQuotaSpec":                               {"Scopes"},
	"core/v1.ResourceRequirements":                            {"Claims"},
	"core/v1.ScopedResourceSelectorRequirement":               {"Values"},
	"core/v1.Secret":                                          {"Data"},
	"core/v1.SecretProjection":                                {"Items"},
	"core/v1.SecretVolumeSource":                              {"Items"},
	"core/v1.TopologySelectorTerm":                            {"MatchLabelExpressions"},
	"core/v1.TopologySpreadConstraint":                        {"MatchLabelKeys"},
	"core/v1.VolumeMount":                                     {"BindMountOptions"},
	"core/v1.VolumeResourceRequirements":                      {"Limits", "Requests"},
	"discovery/v1.Endpoint":                                   {"DeprecatedTopology"},
	"discovery/v1.EndpointHints":                              {"ForZones", "ForNodes"},
	"discovery/v1.EndpointSlice":                              {"Endpoints", "Ports"},
	"flowcontrol/v1.PolicyRulesWithSubjects":                  {"ResourceRules", "NonResourceRules"},
	"networking/v1.IPBlock":                                   {"Except"},
	"networking/v1.IngressTLS":                                {"Hosts"},
	"networking/v1.NetworkPolicyEgressRule":                   {"Ports", "To"},
	"networking/v1.NetworkPolicyIngressRule":                  {"Ports", "From"},
	"networking/v1.NetworkPolicySpec":                         {"Ingress", "Egress", "PolicyTypes"},
	"networking/v1.ServiceCIDRSpec":                           {"CIDRs"},
	"rbac/v1.ClusterRole":                                     {"Rules"},
	"rbac/v1.PolicyRule":                                      {"APIGroups", "Resources", "ResourceNames", "NonResourceURLs"},
	"rbac/v1.Role":                                            {"Rules"},
	"resource/v1.DeviceClaim":                                 {"Requests", "Constraints", "Config"},
	"resource/v1.DeviceClaimConfiguration":                    {"Requests"},
	"resource/v1.DeviceConstraint":                            {"Requests"},
	"resource/v1.DeviceRequest":                               {"FirstAvailable"},
	"resource/v1.DeviceSubRequest":                            {"Selectors", "Tolerations"},
	"resource/v1.ExactDeviceRequest":                          {"Selectors", "Tolerations"},
	"storage/v1.CSINodeDriver":                                {"TopologyKeys"},
	"storage/v1.CSINodeSpec":                                  {"Drivers"},
}

// takeNil is the line of a field of the type named typeName for which nil differs from empty. Each is taken once.
func takeNil(typeName, field string) string {
	at := slices.Index(nilDiffers[typeName], field)
	if at < 0 {
		return ""
	}
	nilDiffers[typeName] = slices.Delete(nilDiffers[typeName], at, at+1)
	return "    nilDiffers\n"
}

// allNilsTaken ends the program if a field in nilDiffers does not exist.
func allNilsTaken() {
	for _, name := range slices.Sorted(maps.Keys(nilDiffers)) {
		if left := nilDiffers[name]; len(left) > 0 {
			log.Fatalf("%s has no fields %q", name, left)
		}
	}
}
