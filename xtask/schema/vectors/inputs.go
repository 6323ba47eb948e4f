package main

import (
	"fmt"
	"math/rand"
	"strings"
)

// An input is a body of a kind.
type input struct{ apiVersion, kind, text string }

func jsonInputs() []input {
	var inputs []input
	add := func(apiVersion, kind string, texts ...string) {
		for _, text := range texts {
			inputs = append(inputs, input{apiVersion, kind, text})
		}
	}
	// Syntax.
	add("v1", "ConfigMap",
		``, ` `, `{`, `}`, `{}`, ` {} `, `{} x`, `{}{}`, `null`, `nul`, `nulx`, `true`, `tru`, `falsy`, `"x"`, `"x`, `12`, `-`, `-x`, `01`,
		`1.`, `1.x`, `1e`, `1e+`, `1e+x`, `[]`, `[`, `[1`, `[1,`, `[1,]`, `[1 2]`, `[,]`, `{"a"`, `{"a":`, `{"a" 1}`, `{"a":1`, `{"a":1,`,
		`{"a":1,}`, `{"a":1 "b":2}`, `{a:1}`, `{'a':1}`, `{"a":'x'}`, `{"a":"\x"}`, `{"a":"\u12"}`, `{"a":"\u12x4"}`, `{"a":"\`, `{"a":"\u`,
		"{\"a\":\"\n\"}", "{\"a\":\"\x00\"}", `{"data":{"k":"é`, `é`, "\xff", "{\"data\":{\"k\":\"a\xffb\xe2\x82c\"}}", "{\"a\": \x7f}",
		`{"data":{"k":"\u00e9\ud83d\ude00\ud83d\ud83d\ude00\ude00x\b\f\n\r\t\/\"\\"}}`, `{"data":{"k\u0041":"<a>&\u2028\u2029\u007f\u0001"}}`,
	)
	// Types.
	add("v1", "ConfigMap",
		`{"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"a","namespace":"b","uid":"u","creationTimestamp":null},"data":{"b":"2","a":"1"}}`,
		`{"data":{"k":1}}`, `{"data":{"k":true}}`, `{"data":{"k":[]}}`, `{"data":{"k":{}}}`, `{"data":{"k":null}}`, `{"data":null}`, `{"data":{}}`,
		`{"data":[]}`, `{"data":"x"}`, `{"data":1}`, `{"immutable":"true"}`, `{"immutable":1}`, `{"immutable":false}`, `{"immutable":null}`,
		`{"metadata":[]}`, `{"metadata":"x"}`, `{"metadata":null}`, `{"metadata":{"name":1}}`, `{"metadata":{"labels":{"a":1}}}`,
		`{"metadata":{"labels":[]}}`, `{"metadata":{"finalizers":"x"}}`, `{"metadata":{"finalizers":["a",1]}}`, `{"metadata":{"finalizers":[null,"a"]}}`,
		`{"metadata":{"generation":"1"}}`, `{"metadata":{"generation":1.0}}`, `{"metadata":{"generation":1e3}}`, `{"metadata":{"generation":-0}}`,
		`{"metadata":{"generation":9223372036854775807}}`, `{"metadata":{"generation":9223372036854775808}}`, `{"metadata":{"deletionGracePeriodSeconds":0}}`,
		`{"metadata":{"ownerReferences":[{"name":1}]}}`, `{"metadata":{"ownerReferences":[{}]}}`, `{"metadata":{"ownerReferences":[null]}}`,
		`{"metadata":{"ownerReferences":[{"controller":false,"blockOwnerDeletion":true}]}}`, `{"metadata":{"ownerReferences":{"a":[]}}}`,
		`{"kind":1}`, `{"kind":["x"],"data":{"k":1}}`, `{"binaryData":{"a":"aGVsbG8="}}`, `{"binaryData":{"a":""}}`, `{"binaryData":{"a":null}}`,
		`{"binaryData":{"a":"aGVsbG8"}}`, `{"binaryData":{"a":"aGV sbG8="}}`, `{"binaryData":{"a":"aGVs\nbG8=\n"}}`, `{"binaryData":{"a":"aGVsbG9="}}`,
		`{"binaryData":{"a":"a"}}`, `{"binaryData":{"a":"="}}`, `{"binaryData":{"a":"aa="}}`, `{"binaryData":{"a":"aa=x"}}`, `{"binaryData":{"a":"aa==x"}}`,
		`{"binaryData":{"a":"aaaa=aaa"}}`, `{"binaryData":{"a":"aaa=="}}`, `{"binaryData":{"a":"!"}}`, `{"binaryData":{"a":"aaaa!"}}`,
		`{"binaryData":{"a":"aaaaaaaaaaaaaaaaaaa!"}}`, `{"binaryData":{"a":1}}`, `{"binaryData":{"a":{}}}`, `{"binaryData":{"a":[104,105]}}`,
		`{"binaryData":{"a":[256]}}`, `{"binaryData":{"a":["x"]}}`, `{"binaryData":{"a":[1.5,null]}}`, `{"binaryData":{"a":[null,2]}}`,
	)
	// Times, and which of several errors wins.
	add("v1", "ConfigMap",
		`{"metadata":{"creationTimestamp":"2020-01-02T03:04:05.678+01:00"}}`, `{"metadata":{"creationTimestamp":"x"}}`, `{"metadata":{"creationTimestamp":1}}`,
		`{"metadata":{"creationTimestamp":{}}}`, `{"metadata":{"creationTimestamp":[1]}}`, `{"metadata":{"creationTimestamp":true}}`,
		`{"metadata":{"creationTimestamp":"0001-01-01T00:00:00Z"}}`, `{"metadata":{"deletionTimestamp":"2020-01-02T03:04:05Z"}}`,
		`{"metadata":{"deletionTimestamp":null}}`, `{"data":{"k":1},"metadata":{"creationTimestamp":"x"}}`, `{"metadata":{"creationTimestamp":"x"},"data":{"k":1}}`,
		`{"metadata":{"creationTimestamp":"x"},`, `{"data":{"k":1},`, `{"data":{"k":1},"bogus":2,"immutable":3}`,
		`{"metadata":{"managedFields":[{"fieldsV1":{"f:a":{".":{}},"f:b":{}}}]}}`, `{"metadata":{"managedFields":[{"fieldsV1":null}]}}`,
		`{"metadata":{"managedFields":[{"time":"x"}]}}`, `{"metadata":{"managedFields":[{"time":5}]}}`,
	)
	// Strictness.
	add("v1", "ConfigMap",
		`{"bogus":1}`, `{"Data":{}}`, `{"metadata":{"Name":"x","bogus":{"deep":1}}}`, `{"metadata":{"ownerReferences":[{},{"bogus":1}]}}`,
		`{"data":{"k":"1","k":"2"}}`, `{"data":{"a":"1"},"data":{"b":"2"}}`, `{"metadata":{"name":"a"},"metadata":{"namespace":"b"}}`,
		`{"metadata":{"name":"a","name":"b"}}`, `{"metadata":{"name":"a","name":null}}`, `{"metadata":{"labels":{"a":"b","a":"c"},"labels":null}}`,
		`{"immutable":true,"immutable":null}`, `{"bogus":1,"bogus":2}`, `{"\u0001\"é":1}`, `{"a b":1,"":2}`,
		`{"metadata":{"ownerReferences":[{"name":"a","uid":"1"}],"ownerReferences":[{"uid":"2"}]}}`, `{"kind":"A","kind":"B"}`,
		`{"metadata":{"finalizers":["a","b"],"finalizers":["c"]}}`, `{"metadata":{"generation":1,"generation":0}}`, strictFlood(),
	)
	add("v1", "Pod",
		`{"spec":{"containers":[{"name":"a","image":"b"}]}}`, `{"spec":{"containers":[]}}`, `{"spec":{}}`, `{"spec":{"containers":null}}`,
		`{"spec":{"containers":[{"name":"a","bogus":1,"resources":{"limits":{"cpu":"1000m","memory":"1024Mi"},"requests":{"cpu":0.5,"x":2}}}]}}`,
		`{"spec":{"containers":[{"resources":{"limits":{"cpu":"x"}}}]}}`, `{"spec":{"containers":[{"resources":{"limits":{"cpu":true}}}]}}`,
		`{"spec":{"containers":[{"resources":{"limits":{"cpu":{}}}}]}}`, `{"spec":{"containers":[{"resources":{"limits":{"cpu":null}}}]}}`,
		`{"spec":{"containers":[{"resources":{"limits":{"cpu":" 1 "}}}]}}`, `{"spec":{"containers":[{"resources":{"limits":{"cpu":"\u0031"}}}]}}`,
		`{"spec":{"containers":[{"resources":{"limits":["cpu"]}}]}}`, `{"spec":{"containers":[{"resources":{"limits":{"cpu":""}}}]}}`,
		`{"spec":{"containers":[{"ports":[{"containerPort":80}]}]}}`, `{"spec":{"containers":[{"ports":[{"containerPort":2147483648}]}]}}`,
		`{"spec":{"containers":[{"ports":[{"containerPort":"80"}]}]}}`, `{"spec":{"containers":[{"livenessProbe":{"httpGet":{"port":80}}}]}}`,
		`{"spec":{"containers":[{"livenessProbe":{"httpGet":{"port":"http"}}}]}}`, `{"spec":{"containers":[{"livenessProbe":{"httpGet":{"port":1.5}}}]}}`,
		`{"spec":{"containers":[{"livenessProbe":{"httpGet":{"port":true}}}]}}`, `{"spec":{"containers":[{"livenessProbe":{"httpGet":{"port":null}}}]}}`,
		`{"spec":{"containers":[{"livenessProbe":{"httpGet":{"port":[]}}}]}}`, `{"spec":{"containers":[{"livenessProbe":{"httpGet":{}}}]}}`,
		`{"spec":{"containers":[{"livenessProbe":{"httpGet":{"port":""}}}]}}`, `{"spec":{"containers":[{"livenessProbe":{"httpGet":5}}]}}`,
		`{"spec":{"volumes":[{"name":"a","emptyDir":{}}]}}`, `{"spec":{"volumes":[{"name":"a","secret":{"secretName":5}}]}}`, `{"spec":{"volumes":[{"name":"a","emptyDir":5}]}}`,
		`{"spec":{"volumes":[{"projected":{"sources":[{"serviceAccountToken":{"path":"token"}},{"configMap":{"name":"n","items":[{"key":"k","path":"p","mode":0}]}}]}}]}}`,
		`{"spec":{"containers":[{"env":[{"name":"a","valueFrom":{"secretKeyRef":{"name":1}}},{"valueFrom":{"resourceFieldRef":{"resource":"x"}}}]}]}}`,
		`{"spec":{"containers":[{"env":[{"name":"a","valueFrom":{"secretKeyRef":{"key":"k","name":"n","optional":false}}},{"valueFrom":{"resourceFieldRef":{"divisor":"0"}}}]}]}}`,
		`{"spec":{"ephemeralContainers":[{"name":5}]}}`, `{"spec":{"ephemeralContainers":[{"name":"x","targetContainerName":"y","bogus":1}]}}`,
		`{"spec":{"terminationGracePeriodSeconds":0,"hostNetwork":false,"enableServiceLinks":false,"securityContext":{},"nodeSelector":{}}}`,
		`{"spec":{"securityContext":{"supplementalGroups":[1,"x"]}}}`, `{"spec":{"securityContext":{"supplementalGroups":[1,2]}}}`,
		`{"spec":{"affinity":{"nodeAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":{"nodeSelectorTerms":null}}}},"status":{"phase":"Running","conditions":[{"type":"Ready","lastProbeTime":null}]}}`,
		`{"spec":{"containers":[{"bogus":1},{"ports":[{"bogus":2}]}],"nodeSelector":{"a":"b","a":"c"}}}`, `{"spec":{"restartPolicy":1}}`,
		`{"spec":{"restartPolicy":{"a":{"b":[1,{"c":"}"}]}},"nodeName":"x"}}`,
	)
	add("v1", "Secret", `{"data":{"a":"eA=="},"type":"Opaque","stringData":{"b":"c"}}`, `{"data":{"a":"x"}}`, `{"data":{"a":5}}`, `{"type":[]}`)
	add("v1", "ServiceAccount", `{"secrets":[{"name":"a"}],"imagePullSecrets":[{}],"automountServiceAccountToken":false}`, `{"secrets":["a"]}`)
	add("v1", "Namespace", `{"spec":{"finalizers":["kubernetes"]},"status":{"phase":"Active"}}`, `{"spec":{"finalizers":[1]}}`, `{"status":{"conditions":[{}]}}`)
	add("v1", "Node", `{"spec":{"taints":[{"key":"a","effect":"NoSchedule"}]},"status":{"capacity":{"cpu":"4","memory":"16Gi"},"images":[{"names":["a"]}]}}`)
	add("v1", "Event", `{"metadata":{"name":"a"},"involvedObject":{"kind":"Pod"},"count":1,"eventTime":"2020-01-02T03:04:05.123456Z"}`, `{"series":{"lastObservedTime":"2020-01-02T03:04:05Z"}}`, `{}`)
	add("events.k8s.io/v1", "Event", `{"eventTime":null,"series":{"count":2},"regarding":{}}`, `{"eventTime":"2020-01-02T03:04:05.1Z"}`, `{}`)
	add("coordination.k8s.io/v1", "Lease", `{"spec":{"holderIdentity":"","leaseDurationSeconds":15,"renewTime":"2020-01-02T03:04:05.123456+00:00"}}`, `{"spec":{"leaseDurationSeconds":"15"}}`, `{"spec":{"renewTime":"2020-01-02T03:04:05Z"}}`, `{"spec":{"renewTime":1}}`,
		`{"spec":{"renewTime":null,"acquireTime":"2020-01-02T03:04:05.123Z"}}`, `{"spec":{"renewTime":"2020-01-02T03:04:05.123456789Z"}}`, `{"spec":{"renewTime":""}}`, `{"spec":{"renewTime":{}}}`,
		`{"spec":{"renewTime":[]}}`, `{"spec":{"renewTime":true}}`, `{"spec":{"renewTime":"2020-01-02T03:04:05,123456-07:00"}}`)
	add("authentication.k8s.io/v1", "TokenReview", `{"spec":{"token":"t"},"status":{"authenticated":false,"user":{"extra":{"a":["b"],"c":["d","e"]}}}}`, `{"status":{"user":{"extra":{"a":"b"}}}}`)
	add("authentication.k8s.io/v1", "TokenRequest", `{"spec":{"audiences":["a"],"expirationSeconds":600,"boundObjectRef":{}}}`, `{"spec":{"audiences":"a"}}`, `{"spec":{"expirationSeconds":"600"}}`, `{}`)
	add("authorization.k8s.io/v1", "SubjectAccessReview", `{"spec":{"resourceAttributes":{"verb":"get","fieldSelector":{"requirements":[{}]}},"groups":["g"]}}`, `{}`)
	add("authorization.k8s.io/v1", "SelfSubjectRulesReview", `{"spec":{"namespace":"n"}}`)
	add("policy/v1", "Eviction", `{"deleteOptions":{"gracePeriodSeconds":0,"preconditions":{"uid":""}}}`, `{"deleteOptions":{"gracePeriodSeconds":"0"}}`)
	add("autoscaling/v1", "Scale", `{"spec":{"replicas":0},"status":{"replicas":0}}`)
	add("v1", "DeleteOptions", `{"kind":"DeleteOptions","apiVersion":"v1","propagationPolicy":"Foreground","dryRun":["All"]}`, `{"gracePeriodSeconds":-1.5}`, `{"orphanDependents":null,"x":1}`)
	add("v1", "Status", `{"status":"Failure","code":404,"details":{"causes":[{}]}}`)
	add("v1", "ConfigMapList", `{"metadata":{"remainingItemCount":0,"continue":"c"},"items":[{"data":{"a":"b"}},{"bogus":1}]}`, `{"items":null}`, `{"items":{}}`)
	return inputs
}

// workloadInputs are bodies of kinds whose types have what core/v1 has not: unions, raw JSON, floats, recursion. The keys of
// raw JSON are sorted, as the server keeps them.
func workloadInputs() []input {
	var inputs []input
	add := func(apiVersion, kind string, texts ...string) {
		for _, text := range texts {
			inputs = append(inputs, input{apiVersion, kind, text})
		}
	}
	schema := func(texts ...string) {
		for _, text := range texts {
			add("apiextensions.k8s.io/v1", "CustomResourceDefinition",
				`{"spec":{"versions":[{"name":"v1","schema":{"openAPIV3Schema":`+text+`}}]}}`)
		}
	}
	schema(
		`{}`, `{"type":"object","properties":{"spec":{"type":"object","properties":{"replicas":{"type":"integer","format":"int32","minimum":0}}}}}`,
		`{"properties":{"a":{"properties":{"b":{"properties":{"c":{"not":{"anyOf":[{"type":"string"}]}}}}}}}}`, `{"properties":{"a":null}}`, `{"bogus":1}`,
		`{"properties":{"a":{"type":1}}}`, `{"properties":{"a":{"bogus":1,"type":"x","type":"y"}}}`, `{"properties":[]}`, `{"properties":{"a":5}}`,
		`{"items":{"type":"string"}}`, `{"items":[{"type":"string"},{}]}`, `{"items":{"bogus":1,"type":"a","type":"b"}}`, `{"items":{"type":1}}`, `{"items":[{"type":1}]}`,
		`{"items":[5]}`, `{"items":null}`, `{"items":{"items":{"type":{}}}}`, `{"type":1,"items":{"type":2}}`, `{"items":{"type":1},"type":2}`, `{"items":{"type":1,"maxLength":"x"}}`,
		`{"items":{"properties":{"a":{"items":{"items":5,"minimum":"x"}}}}}`, `{"items":[{"type":"a"}],"items":{"format":"b"}}`, `{"items":{"type":"a"},"items":{"format":"b"}}`,
		`{"additionalProperties":true}`, `{"additionalProperties":false}`, `{"additionalProperties":{"type":"string"}}`, `{"additionalProperties":null}`, `{"additionalProperties":5}`,
		`{"additionalProperties":"true"}`, `{"additionalProperties":[]}`, `{"additionalProperties":{"type":1}}`, `{"additionalItems":{"additionalProperties":false}}`,
		`{"dependencies":{"a":["b","c"],"d":{"type":"string"}}}`, `{"dependencies":{"a":[1]}}`, `{"dependencies":{"a":["b",null]}}`, `{"dependencies":{"a":{"type":5}}}`,
		`{"default":{"a":[null,1.5,"x"],"b":1}}`, `{"default":null}`, `{"default":0}`, `{"default":false}`, `{"default":""}`, `{"enum":[1,"a",null,{"b":[]}]}`,
		`{"enum":5}`, `{"example":[]}`, `{"x-kubernetes-preserve-unknown-fields":false,"x-kubernetes-validations":[{"rule":"self > 0","messageExpression":""}]}`,
		`{"minimum":1}`, `{"minimum":1.0}`, `{"minimum":-0}`, `{"minimum":1e2,"maximum":1e21,"multipleOf":1e-7}`, `{"minimum":0.1,"maximum":123456789.125}`, `{"minimum":1e400}`,
		`{"minimum":"1"}`, `{"minimum":null}`, `{"maxLength":1.5}`, `{"maxLength":9223372036854775807}`, `{"$schema":"a","$ref":"b","definitions":{"c":{"id":"d"}},"patternProperties":{"^x":{}}}`,
	)
	add("apiextensions.k8s.io/v1", "CustomResourceDefinition",
		`{"spec":{"group":"g","names":{"plural":"p","kind":"K"},"scope":"Namespaced","versions":[{"name":"v1","subresources":{"status":{},"scale":{"specReplicasPath":".spec.replicas"}}}]}}`,
		`{"spec":{"versions":[{"selectableFields":[{"jsonPath":".spec.a"}],"additionalPrinterColumns":[{"name":"A","priority":0}]}],"conversion":{"webhook":{"clientConfig":{"caBundle":"eA=="}}}}}`, `{}`,
	)
	add("apps/v1", "Deployment",
		`{"spec":{"replicas":0,"selector":{"matchLabels":{"a":"b"}},"template":{"metadata":{"labels":{"a":"b"}},"spec":{"containers":[{"name":"c","image":"i"}]}}}}`,
		`{"spec":{"strategy":{"rollingUpdate":{"maxSurge":"25%","maxUnavailable":1}},"template":{"spec":{"containers":[{"ports":[{"bogus":1}]}]}}}}`,
		`{"spec":{"strategy":{"rollingUpdate":{"maxSurge":1.5}}}}`, `{"spec":{"template":{"spec":{"containers":[{"name":5}]}}}}`, `{}`,
	)
	add("apps/v1", "ControllerRevision", `{}`, `{"data":null,"revision":0}`, `{"data":{"spec":{"a":[],"b":1}},"revision":3}`, `{"data":5}`, `{"data":{"a":1},"bogus":1}`)
	add("autoscaling/v2", "HorizontalPodAutoscaler",
		`{"spec":{"scaleTargetRef":{"kind":"Deployment","name":"a"},"minReplicas":0,"maxReplicas":3,"metrics":[{"type":"Resource","resource":{"name":"cpu","target":{"type":"Utilization","averageUtilization":50}}}]}}`,
		`{"spec":{"behavior":{"scaleDown":{"tolerance":"0.05","stabilizationWindowSeconds":0,"policies":[{"type":"Pods","value":4}]}}}}`, `{"spec":{"metrics":[{"pods":{"target":{"averageValue":"x"}}}]}}`,
		`{"spec":{"maxReplicas":"3"}}`, `{"status":{"currentMetrics":[{"external":{"current":{"value":"1500m"}}}],"lastScaleTime":"2020-01-02T03:04:05Z"}}`,
	)
	add("admission.k8s.io/v1", "AdmissionReview", `{"request":{"uid":"u","object":{"a":1},"oldObject":null}}`, `{"response":{"allowed":false,"patch":"W10="}}`)
	return inputs
}

var floats = []string{
	"0", "-0", "1", "-1", "0.1", "100", "1e2", "1.5", "-2.25", "123456789.125", "0.000001", "0.0000001", "0.00000123", "1e-10", "1.5e-300", "5e-324", "1e20", "1e21", "1.5e21", "-1e22",
	"9007199254740993", "9223372036854775807", "9223372036854775808", "18446744073709551615", "18446744073709551616", "-9223372036854775808", "-9223372036854775809", "123456789012345678901",
	"1.7976931348623157e308", "0.30000000000000004",
}

// strictFlood has more unknown fields than are reported.
func strictFlood() string {
	var fields []string
	for i := range 120 {
		fields = append(fields, fmt.Sprintf(`"f%d":0`, i))
	}
	return "{" + strings.Join(fields, ",") + "}"
}

// bodies are inputs of which only version and kind are read.
var bodies = []string{
	``, `{}`, `null`, `[]`, `"x"`, `5`, `true`, `{"kind":"A","apiVersion":"b/v1"}`, `{"KIND":"A","APIversion":"v1"}`, `{"kind":"A","Kind":"B"}`,
	`{"kind":1}`, `{"apiVersion":{"a":1}}`, `{"apiVersion":"a/b/c"}`, `{"apiVersion":"a/b/c","kind":[]}`, `{"kind":null}`, `{"kind":"A"`, `{"kind":"A"} x`,
	`{"metadata":{"kind":"B"},"kind":"A"}`, `{"kind":"é\n"}`, `not json`, `---`,
}

var times = []string{
	"", "x", "2020", "2020-01-02T03:04:05Z", "2020-01-02T03:04:05.123456789Z", "2020-01-02T03:04:05,5Z", "2020-01-02T03:04:05.Z", "2020-01-02T03:04:05.123456Z",
	"2020-01-02T03:04:05.1234567Z", "2020-01-02T03:04:05.12345Z", "2020-01-02T03:04:05,123456Z", "2020-01-02T03:04:05x123456Z", "2020-01-02T03:04:05.12345xZ",
	"2020-01-02T3:04:05Z", "2020-1-02T03:04:05Z", "2020-01-2T03:04:05Z", "2020-01-02T03:4:05Z", "2020-01-02T03:04:5Z", "2020-01-02 03:04:05Z", "2020-01-02t03:04:05z",
	"2020/01/02T03:04:05Z", "20-01-02T03:04:05Z", "x020-01-02T03:04:05Z", "20x0-01-02T03:04:05Z", "2020-13-02T03:04:05Z", "2020-00-02T03:04:05Z", "2020-02-30T03:04:05Z",
	"2020-02-29T23:59:59Z", "2021-02-29T03:04:05Z", "1900-02-29T03:04:05Z", "2000-02-29T03:04:05Z", "2020-01-00T03:04:05Z", "2020-04-31T03:04:05Z", "2020-01-02T24:04:05Z",
	"2020-01-02T03:60:05Z", "2020-01-02T03:04:60Z", "2020-01-02T03:04:05", "2020-01-02T03:04:05+01:00", "2020-01-02T03:04:05-23:59", "2020-01-02T03:04:05+24:60",
	"2020-01-02T03:04:05+25:00", "2020-01-02T03:04:05+01:61", "2020-01-02T03:04:05+0100", "2020-01-02T03:04:05+01", "2020-01-02T03:04:05*01:00", "2020-01-02T03:04:05+x1:00",
	"2020-01-02T03:04:05+01:0x", "2020-01-02T03:04:05Zx", "2020-01-02T03:04:05Z ", " 2020-01-02T03:04:05Z", "0000-01-01T00:00:00Z", "0000-01-01T00:00:00+01:00",
	"0001-01-01T00:00:00Z", "0001-01-01T00:00:00.000001Z", "9999-12-31T23:59:59Z", "9999-12-31T23:59:59-01:00", "1969-12-31T23:59:59Z", "2020-é1-02T03:04:05Z",
	"2020-01-02T03:04:05\n", "\"\\\t\x7f", "2020-01-02T03:04:05.123456+01:00", "0001-01-01T00:00:00.000000Z", "9999-12-31T23:59:59.999999-01:00", "1600-03-01T00:00:00.000000Z",
	"2020-02-30T25:04:05.123456Z", "2020-01-02T03:04:05.123456Zx", "2020-01-02T03:04:05.123456", "2020-01-02T",
}

// quantities are some that matter, and some hundred made of their pieces.
func quantities() []string {
	all := []string{
		"", "0", "-0", "+0", "00", "1", "+1", "-1", "01", "1000m", "1500m", "0.5", ".5", "5.", ".", "-", "+", "1.5", "1024Mi", "1536Mi", "1Ki", "1024", "1024Ki",
		"1000Ki", "1025Ki", "0.5Ki", "1.5Gi", "0.1Ki", "1e3", "1E3", "1e4", "1e-3", "1e0", "1e", "1E", "1e+3", "12e6", "100n", "1n", "0.1n", "1u", "0.0001m", "1k", "1000k",
		"1M", "1G", "1T", "1P", "1E", "1Ti", "1Pi", "1Ei", "8Ei", "7Ei", "16Ei", "-16Ei", "9223372036854775807", "9223372036854775808", "123456789012345678901234567890",
		"0.123456789123456789", "1.000", "1000", "1000000", "1e21", "1000E", "m", "Ki", "e5", "e-20", "5e-20", "1e-9", "1e-10", "-1e-10", "1.1e-9", "1x", "1 ", " 1", "1mm",
		"1Kim", "1ki", "1KI", "0x1", "1_000", "1,5", "1..5", "1.5.5", "--1", "+-1", "1e1.5", "1e99", "123456789012345678e3", "1234567890123456789e3", "1e999999999",
		"1e2147483647", "1e99999999999999999999", "100Mi", "0.001Mi", "1.1Mi", "1023", "1023Ki", "-1024Ki", "-1Mi", "-1.5Gi", "99999999999999999999Ki", "0.0000000001Ki",
		"0Ki", "0e5", "0m", "00.00", "010", "1.50", "100m", "1e-1000", "999999999999999999n", "18446744073709551616", "4Gi", "250m", "2.5", "3.14159265358979", "é", "１",
	}
	random := rand.New(rand.NewSource(37))
	pick := func(pieces ...string) string { return pieces[random.Intn(len(pieces))] }
	for range 400 {
		var text strings.Builder
		text.WriteString(pick("", "", "", "-", "+"))
		for range random.Intn(7) {
			text.WriteString(pick("0", "0", "000", "1", "2", "5", "9", "1024", "512", "768"))
		}
		if random.Intn(3) == 0 {
			text.WriteString(".")
			for range random.Intn(6) {
				text.WriteString(pick("0", "1", "5", "25", "9", "00"))
			}
		}
		text.WriteString(pick("", "n", "u", "m", "k", "M", "G", "T", "P", "E", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei", "e3", "e-3", "E6", "e-6", "e1", "e-7", "e11"))
		all = append(all, text.String())
	}
	return all
}
