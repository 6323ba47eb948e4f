package main

import (
	"encoding/base64"
	"slices"
)

func conversions() []testCase {
	at := "/spec/conversion"
	webhook := func(client string) testCase {
		return create("the webhook "+client, set(at, `{"strategy":"Webhook","webhook":{"clientConfig":`+client+`,"conversionReviewVersions":["v1"]}}`))
	}
	url := func(url string) testCase { return webhook(`{"url":` + text(url) + `}`) }
	path := func(path string) testCase {
		return webhook(`{"service":{"name":"n","namespace":"s","path":` + text(path) + `}}`)
	}
	reviews := func(versions string) testCase {
		return create("reviews in "+versions, set(at, `{"strategy":"Webhook","webhook":{"clientConfig":{"url":"https://a"},"conversionReviewVersions":`+versions+`}}`))
	}
	client := func(bundle string) change {
		return set(at, `{"strategy":"Webhook","webhook":{"clientConfig":{"url":"https://a","caBundle":`+text(base64.StdEncoding.EncodeToString([]byte(bundle)))+`},"conversionReviewVersions":["v1"]}}`)
	}
	reviewed := func(version string) change {
		return set(at, `{"strategy":"Webhook","webhook":{"clientConfig":{"url":"https://a"},"conversionReviewVersions":[`+text(version)+`]}}`)
	}
	return append(slices.Concat(
		values(at, `{}`, `{"strategy":"None"}`, `{"strategy":"Other"}`, `{"strategy":"Webhook"}`, `{"strategy":"None","webhook":{}}`, `{"strategy":"None","webhook":{"conversionReviewVersions":["v1"]}}`,
			`{"strategy":"None","webhook":{"clientConfig":{"url":"x"}}}`, `{"strategy":"Webhook","webhook":{"conversionReviewVersions":["v1"]}}`, `{"strategy":"Webhook","webhook":{}}`),
		each(webhook, []string{`{}`, `{"url":"https://example.com","service":{"name":"n","namespace":"s"}}`, `{"service":{"name":"n","namespace":"s"}}`, `{"service":{"name":"","namespace":"s"}}`, `{"service":{"name":"n","namespace":""}}`,
			`{"service":{"name":"n","namespace":"s","port":0}}`, `{"service":{"name":"n","namespace":"s","port":65536}}`, `{"service":{"name":"n","namespace":"s","port":1,"path":"/a/b"}}`}),
		each(url, []string{"https://example.com/a", "http://example.com", "", "example.com", "https://", "https:///x", "https://u:p@example.com", "https://u@example.com", "https://example.com/#f", "https://example.com/?q=1", "https://example.com/?", "HTTPS://a",
			"https://a:b", "https://a:1:2", "https://[::1]:443", "https://[::1", "https://[1.2.3.4]", "https://a b", "https://a/%zz", "https://a%20b", "https://%e4", "a:b", ":a", "1:a/b", "\x01", "https://a/b c", "https:a", "*", "https://u<@a", "https://a#%zz", "//a/b", "///a"}),
		each(path, []string{"", "/", "//", "a", "/a", "/a/", "/a//b", "/a/B", "/a/b.c/d-e", "/_", "///"}),
		each(reviews, []string{`[]`, `["v1"]`, `["v1beta1"]`, `["v2"]`, `["v2","v1"]`, `["v1","v1"]`, `["","V1"]`, `["v3","v3","<"]`}),
	),
		create("a bad certificate on creation", client("x")),
		update("a bad certificate", established(), client("x")),
		update("a bad certificate that was there", append(established(), client("y")), client("x")),
		update("a bad certificate, not established", nil, client("x")),
		update("a review version that nothing knows and was there", []change{reviewed("v8")}, reviewed("v9")),
		update("a review version that nothing knows", []change{reviewed("v1")}, reviewed("v9")),
	)
}

func established() []change {
	return []change{set("/status", `{"storedVersions":["v1"],"conditions":[{"type":"Established","status":"True","lastTransitionTime":null}],"acceptedNames":{"plural":"widgets","kind":"Widget"}}`)}
}

func approvals() []testCase {
	group := func(group string, more ...change) []change {
		return append([]change{set("/spec/group", text(group)), set("/metadata/name", text("widgets."+group))}, more...)
	}
	note := func(value string) change {
		return set("/metadata/annotations", `{"api-approved.kubernetes.io":`+text(value)+`}`)
	}
	approved := func(value string) testCase {
		return create("approved by "+text(value), group("x.k8s.io", note(value))...)
	}
	return append(each(approved, []string{"https://github.com/kubernetes/kubernetes/pull/1", "unapproved", "unapproved, experimental-only", "http://a", "a", "https://", "/path", "ftp://a/b", "x:y", "", "Unapproved", "https://a b", "https://a#b"}),
		create("the group k8s.io", group("k8s.io")...),
		create("the group a.kubernetes.io", group("a.kubernetes.io")...),
		create("the group ak8s.io", group("ak8s.io")...),
		create("the group example.kubernetes.io.com", group("example.kubernetes.io.com")...),
		create("a bad approval of another group", note("a")),
		update("still without approval", group("x.k8s.io"), group("x.k8s.io")...),
		update("approval removed", group("x.k8s.io", note("https://a")), group("x.k8s.io")...),
		update("approval made bad", group("x.k8s.io", note("https://a")), group("x.k8s.io", note("b"))...),
		update("bad approval made another bad one", group("x.k8s.io", note("a")), group("x.k8s.io", note("b"))...),
		update("approval bypassed", group("x.k8s.io", note("https://a")), group("x.k8s.io", note("unapproved"))...),
	)
}

func storedVersions() []testCase {
	stored := func(versions string) []change { return []change{set("/status/storedVersions", versions)} }
	of := func(versions string, more ...change) []change { return append(stored(versions), more...) }
	swapped := []change{second(other), set(first+"/storage", "false"), set(versions+"/1/storage", "true")}
	throughStatus := func(about string, old []change, changes ...change) testCase {
		one := update(about, old, changes...)
		one.Status = true
		return one
	}
	return []testCase{
		update("another storage version", of(`["v1"]`, second(other)), swapped...),
		update("back to a storage version that objects have", of(`["v2","v1"]`, swapped...), second(other)),
		update("a stored version is removed", stored(`["v0","v1"]`)),
		update("stored versions are removed", stored(`["v0","v8","v0","v1"]`)),
		update("no version is stored any more", stored(`["v1"]`), set(first+"/storage", "false")),
		update("no version was stored", []change{set(first+"/storage", "false")}, set(first+"/storage", "false")),
		update("a storage version renamed", stored(`["v1"]`), set(first+"/name", `"v2"`)),
		throughStatus("the status names others", stored(`["v1"]`), set("/status", `{"storedVersions":["v1","v2"],"acceptedNames":{"plural":"A","singular":"b.","kind":"C_","listKind":"C_","shortNames":["D"],"categories":["E"]}}`)),
		throughStatus("the status forgets stored versions", stored(`["v1","v2"]`), set("/status/storedVersions", `["v2"]`)),
		throughStatus("the status is emptied", established(), set("/status", `{}`)),
		throughStatus("the status is written with another spec", established(), set("/status", `{"observedGeneration":2}`), set("/spec/scope", `"Cluster"`), set("/metadata/labels", `{"a":"b"}`)),
		throughStatus("the status of a bad definition", []change{set("/spec/scope", `"x"`)}, set("/spec/scope", `"y"`)),
	}
}

// What cannot be changed.
func changes() []testCase {
	grouped := []change{set("/spec/group", `"example.org"`), set("/metadata/name", `"widgets.example.org"`)}
	return []testCase{
		update("nothing", nil),
		update("the scope", nil, set("/spec/scope", `"Cluster"`)),
		update("the scope, established", established(), set("/spec/scope", `"Cluster"`)),
		update("a bad scope, established", established(), set("/spec/scope", `"x"`)),
		update("the kind", nil, set("/spec/names/kind", `"Gadget"`)),
		update("the kind, established", established(), set("/spec/names/kind", `"Gadget"`)),
		update("the list kind, established", established(), set("/spec/names/listKind", `"Gadgets"`)),
		update("the plural", nil, set("/spec/names/plural", `"gadgets"`)),
		update("the group", nil, set("/spec/group", `"example.org"`)),
		update("group and name", nil, grouped...),
		update("short names, established", established(), set("/spec/names/shortNames", `["x"]`)),
		update("everything, established", established(), set("/spec", `{"group":"x","scope":"y","names":{"plural":"A","kind":"B"}}`)),
		update("a status", established(), set("/status", `{"storedVersions":["v9"]}`)),
		update("to preserve unknown fields", nil, set("/spec/preserveUnknownFields", "true")),
		update("that preserves unknown fields", []change{set("/spec/preserveUnknownFields", "true")}, set("/spec/preserveUnknownFields", "true")),
		update("that preserves unknown fields no longer", []change{set("/spec/preserveUnknownFields", "true")}),
		update("a bad name that was there", []change{set("/spec/names/shortNames", `["A"]`)}, set("/spec/names/shortNames", `["A"]`)),
		update("a generation", nil, set("/metadata/generation", "-1")),
		update("without a resource version", nil, remove("/metadata/resourceVersion")),
	}
}

// What is tolerated if it was there before, and what is not.
func tolerated() []testCase {
	schema := func(schema string) change { return set(root+"/properties/x", schema) }
	preserving := set("/spec/preserveUnknownFields", "true")
	var all []testCase
	add := func(about, before, after string) {
		all = append(all,
			update(about+" that was there", []change{schema(before)}, schema(after)),
			update(about+" where another thing was", []change{schema(`{"type":"string"}`)}, schema(after)),
			update(about+" that was there and unknown fields are preserved", []change{preserving, schema(before)}, preserving, schema(after)),
		)
	}
	add("a schema that is not structural", `{}`, `{"properties":{"a":{}}}`)
	add("a type", `{"type":"foo"}`, `{"type":"bar"}`)
	add("a set of objects", `{"type":"array","x-kubernetes-list-type":"set","items":{"type":"object"}}`, `{"type":"array","x-kubernetes-list-type":"set","items":{"type":"array","items":{"type":"string"},"x-kubernetes-list-type":"set"}}`)
	add("an optional key", `{"type":"array","x-kubernetes-list-type":"map","x-kubernetes-list-map-keys":["a"],"items":{"type":"object","properties":{"a":{"type":"string"}}}}`,
		`{"type":"array","x-kubernetes-list-type":"set","items":{"type":"string","nullable":true}}`)
	add("a pattern", `{"type":"string","pattern":"("}`, `{"type":"string","pattern":")"}`)
	add("a schema without a structural form", `{"type":"string","$ref":"a"}`, `{"type":"string","$ref":"b"}`)
	without := []change{remove(first + "/schema")}
	return append(all,
		update("no schema, as before", without, without...),
		update("no schema any more", nil, without...),
		update("no schema, and unknown fields are preserved", append(without, preserving), append(without, preserving)...),
		update("no schema, as before, in a version that is not served", without, append(without, set(first+"/served", "false"))...),
		update("no schema in one of two versions, as before", []change{second(other), remove(versions + "/1/schema")}, second(other), remove(versions+"/1/schema")),
		update("a schema where there was none", without),
		update("a bad type in a new version", []change{schema(`{"type":"foo"}`)}, second(`{"type":"object","properties":{"a":{"type":"bar"}}}`)),
	)
}
