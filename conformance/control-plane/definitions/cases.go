package main

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// The definition that all cases change.
const base = `{"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition","metadata":{"name":"widgets.example.com","resourceVersion":"1"},"spec":{"group":"example.com","scope":"Namespaced","names":{"plural":"widgets","kind":"Widget"},"versions":[{"name":"v1","served":true,"storage":true,"schema":{"openAPIV3Schema":{"type":"object","properties":{"spec":{"type":"object","properties":{"size":{"type":"integer"}}}}}}}]}}`

const (
	versions = "/spec/versions"
	first    = versions + "/0"
	root     = first + "/schema/openAPIV3Schema"
	status   = first + "/subresources/status"
)

func set(at, value string) change { return change{At: at, Value: json.RawMessage(value)} }

func remove(at string) change { return change{At: at} }

func text(value string) string { return string(must(json.Marshal(value))) }

func create(about string, changes ...change) testCase { return testCase{About: about, New: changes} }

func update(about string, old []change, changes ...change) testCase {
	return testCase{About: "update: " + about, Old: old, New: changes, Update: true}
}

// A second version, with a schema of its own.
func second(schema string) change {
	return set(versions+"/1", `{"name":"v2","served":true,"storage":false,"schema":{"openAPIV3Schema":`+schema+`}}`)
}

const other = `{"type":"object","properties":{"spec":{"type":"object","properties":{"color":{"type":"string"}}}}}`

// A case of a property of the root of that schema.
func property(schema string) testCase {
	return create("a property "+schema, set(root+"/properties/x", schema))
}

// A case of that schema as a whole.
func whole(schema string) testCase { return create("the schema "+schema, set(root, schema)) }

// Each of those schemas, as a property.
func properties(schemas ...string) []testCase { return each(property, schemas) }

func wholes(schemas ...string) []testCase { return each(whole, schemas) }

func each[T any](of func(T) testCase, all []T) []testCase {
	var cases []testCase
	for _, one := range all {
		cases = append(cases, of(one))
	}
	return cases
}

// A case for each of the JSON values at a place; none removes what is there.
func values(at string, all ...string) []testCase {
	return each(func(value string) testCase {
		if value == "" {
			return create(at+" is absent", remove(at))
		}
		return create(at+" is "+value, set(at, value))
	}, all)
}

func cases() []testCase {
	return slices.Concat(
		[]testCase{create("the base")},
		names(), specs(), allVersions(), columns(), subresources(), selectable(), keywords(), lists(), structural(), clauses(), metadata(), rules(), expressions(), patterns(),
		formats(), defaults(), conversions(), approvals(), storedVersions(), changes(), tolerated(),
	)
}

func names() []testCase {
	long := text(strings.Repeat("a", 64))
	all := slices.Concat(
		values("/spec/names/plural", "", `"Widgets"`, `"w.dgets"`, `"1widgets"`, long),
		values("/spec/names/singular", `"widget"`, `"Widget"`, `"a_b"`, `"-"`, long),
		values("/spec/names/kind", "", `"widget"`, `"W_dget"`, `"1Widget"`, `"WidgetList"`, `"Wídget"`, `"ÄÖ"`),
		values("/spec/names/listKind", `"Widget"`, `"Widgets"`, `"w.l"`, `"ALLCAPS"`),
		values("/spec/names/shortNames", `["w","wd"]`, `["W",""]`, `["a b","c","-d"]`, `[]`),
		values("/spec/names/categories", `["all"]`, `["All","x/y"]`),
		values("/spec/names", "{}", "null"),
		values("/metadata/name", `"widgets"`, `"Widgets.example.com"`, `"widgets.example.org"`, `""`),
		values("/metadata/generateName", `"w-"`),
		values("/metadata/namespace", `"default"`),
		values("/metadata/finalizers", `["cleanup"]`, `["a/b/c"]`, `["example.com/x","foregroundDeletion"]`),
		values("/metadata/labels", `{"a b":"c d"}`),
	)
	return append(all,
		create("a core group", set("/spec/group", `""`), set("/metadata/name", `"widgets."`)),
		create("all names", set("/spec/names", `{"plural":"foos","singular":"foo","kind":"Foo","listKind":"Foos","shortNames":["fo"],"categories":["all","x"]}`),
			set("/metadata/name", `"foos.example.com"`)),
		create("kind and list kind are the same and bad", set("/spec/names/kind", `"A_"`), set("/spec/names/listKind", `"A_"`)),
	)
}

func specs() []testCase {
	return append(slices.Concat(
		values("/spec/group", "", `"example"`, `"Example.com"`, `"example.org"`, `".com"`, text(strings.Repeat("a.", 130)+"com")),
		values("/spec/scope", "", `"Cluster"`, `"cluster"`, `"<&>"`),
		values("/spec/preserveUnknownFields", "true", "false"),
		values(versions, "", "null"),
	),
		create("nothing", set("/spec", "{}")),
		create("preserving with a default", set("/spec/preserveUnknownFields", "true"), set(root+"/properties/x", `{"type":"string","default":"a"}`)),
		create("preserving with an extension", set("/spec/preserveUnknownFields", "true"), set(root+"/properties/x", `{"x-kubernetes-int-or-string":true}`)),
		create("preserving with conversion", set("/spec/preserveUnknownFields", "true"), set("/spec/conversion", `{"strategy":"Webhook"}`)),
		create("a status is dropped", set("/status", `{"storedVersions":["v7"],"conditions":[{"type":"Established","status":"True"}],"acceptedNames":{"plural":"A B","kind":"X"},"observedGeneration":3}`)),
	)
}

func allVersions() []testCase {
	bare := func(name string, served, storage bool) string {
		return fmt.Sprintf(`{"name":%q,"served":%t,"storage":%t}`, name, served, storage)
	}
	same := `{"openAPIV3Schema":{"type":"object"}}`
	with := func(name string, storage bool, rest string) string {
		return fmt.Sprintf(`{"name":%q,"served":true,"storage":%t,%s}`, name, storage, rest)
	}
	list := func(all ...string) change { return set(versions, "["+strings.Join(all, ",")+"]") }
	warning := func(value string) []change {
		return []change{set(first+"/deprecated", "true"), set(first+"/deprecationWarning", value)}
	}
	return append(slices.Concat(
		values(first+"/name", "", `"V1"`, `"1"`, `"v1.1"`, `"v1-alpha"`),
		values(first+"/storage", "", "false"),
		values(first+"/served", "", "false"),
		values(first+"/schema", "", "{}", "null"),
		values(first+"/deprecated", "true"),
		values(first+"/deprecationWarning", `"not deprecated"`, `""`),
	),
		create("a deprecation warning", warning(`"use v2 <soon> & \"well\""`)...),
		create("an empty deprecation warning", warning(`""`)...),
		create("a long deprecation warning", warning(text(strings.Repeat("ä", 129)))...),
		create("a deprecation warning of 256 bytes", warning(text(strings.Repeat("ä", 128)))...),
		create("a deprecation warning with a line break", warning(`"ä\nb"`)...),
		create("a deprecation warning with a control character", warning(`"a\u0007"`)...),
		create("a deprecation warning with other spaces", warning(`"a\u00a0b\u2003"`)...),
		create("a deprecation warning with an accent", warning(`"e\u0301"`)...),
		create("a deprecation warning with a private character", warning(`"x\ue000"`)...),
		create("two versions", second(other)),
		create("two versions with the same schema", list(with("v1", true, `"schema":`+same), with("v2", false, `"schema":`+same))),
		create("two versions without a schema", list(bare("v1", true, true), bare("v2", false, false))),
		create("the second without a schema", list(with("v1", true, `"schema":`+same), bare("v2", true, false))),
		create("the second with an empty schema", list(with("v1", true, `"schema":`+same), with("v2", false, `"schema":{}`))),
		create("two versions of the same name", second(other), set(versions+"/1/name", `"v1"`)),
		create("two versions of the same name and schema", list(with("v1", true, `"schema":`+same), with("v1", false, `"schema":`+same))),
		create("two storage versions of the same name", second(other), set(versions+"/1/storage", "true"), set(versions+"/1/name", `"v1"`)),
		create("two storage versions", second(other), set(versions+"/1/storage", "true")),
		create("no storage version", second(other), set(first+"/storage", "false")),
		create("everything in two versions, none of which is stored", set(first+"/storage", "false"), second(`{"type":"object","title":"<b>","properties":{
			"a":{"type":"array","items":{"type":"string","enum":["x",null,1.0,{"b":1,"a":[]}],"maxLength":0,"pattern":"^a&b$"},"x-kubernetes-list-type":"set","minItems":1},
			"b":{"type":"object","additionalProperties":{"type":"number","minimum":1.5,"exclusiveMinimum":true,"multipleOf":1e21,"format":"float"}},
			"c":{"x-kubernetes-preserve-unknown-fields":true,"nullable":true,"default":{"k":[1,2.5,1e3]},"externalDocs":{"url":"u"},"example":1}},
			"not":{"required":["z"]},"anyOf":[{"minProperties":1}]}`),
			set(versions+"/1/deprecated", "true"), set(versions+"/1/deprecationWarning", `"w"`),
			set(versions+"/1/subresources", `{"status":{},"scale":{"specReplicasPath":".spec.a","statusReplicasPath":".status.b","labelSelectorPath":".status.c"}}`),
			set(versions+"/1/additionalPrinterColumns", `[{"name":"A","type":"string","jsonPath":".a","priority":1,"format":"int32","description":"d"}]`),
			set(versions+"/1/selectableFields", `[{"jsonPath":".b"}]`)),
		create("bad names in three versions", list(with("V1", true, `"schema":`+same), with("", false, `"schema":`+same), with("v3", false, `"schema":`+same))),
		create("the same subresources", second(other), set(first+"/subresources", `{"status":{}}`), set(versions+"/1/subresources", `{"status":{}}`)),
		create("subresources in one version", second(other), set(first+"/subresources", `{"status":{}}`)),
		create("empty subresources in one version", second(other), set(first+"/subresources", `{}`)),
		create("numbers in defaults", set(root+"/properties/x", `{"x-kubernetes-preserve-unknown-fields":true,"default":{"a":1.0,"b":1e3,"c":12345678901234567890,"d":0.1,"e":1e-7,"f":-0.0}}`)),
		create("numbers in enumerations", set(root+"/properties/x", `{"type":"number","enum":[1.0,1e21,100000000000000000000,2.50],"example":3.0}`)),
		create("floats in limits", set(root+"/properties/x", `{"type":"number","minimum":1.0,"maximum":1e3,"multipleOf":0.1}`)),
		create("an example that is null", set(root+"/properties/x", `{"type":"number","example":null,"enum":[null]}`)),
	)
}

func columns() []testCase {
	at := first + "/additionalPrinterColumns"
	all := values(at, `[]`, `[{}]`, `[{"name":"A","type":"string","jsonPath":".a"}]`, `[{"name":"A","type":"text","jsonPath":"a"}]`, `[{"name":"A","type":"date","jsonPath":"."}]`,
		`[{"name":"A","type":"integer","format":"int16","jsonPath":"{.a}"}]`, `[{"name":"A","type":"boolean","format":"date-time","jsonPath":".a[*]"},{"name":"","type":"number","jsonPath":""}]`)
	column := func(type_ string) testCase {
		return create("a column of type "+type_, set(at, fmt.Sprintf(`[{"name":"A","type":%q,"jsonPath":".a"}]`, type_)))
	}
	return append(slices.Concat(all, each(column, []string{"integer", "number", "array", "object"})),
		create("columns of two versions", second(other), set(at, `[{"name":"A","type":"x","jsonPath":".a"}]`), set(versions+"/1/additionalPrinterColumns", `[{"name":"B","jsonPath":".a"}]`)),
		create("the same columns of two versions", second(other), set(at, `[{"name":"A","type":"x","jsonPath":".a"}]`), set(versions+"/1/additionalPrinterColumns", `[{"name":"A","type":"x","jsonPath":".a"}]`)),
	)
}

func subresources() []testCase {
	scale := func(fields string) testCase {
		return create("the scale "+fields, set(first+"/subresources/scale", fields))
	}
	return append(each(scale, []string{
		`{"specReplicasPath":".spec.replicas","statusReplicasPath":".status.replicas"}`,
		`{"specReplicasPath":".spec.replicas","statusReplicasPath":".status.replicas","labelSelectorPath":".status.selector"}`,
		`{"specReplicasPath":".spec.replicas","statusReplicasPath":".status.replicas","labelSelectorPath":".spec.selector"}`,
		`{"specReplicasPath":".spec.replicas","statusReplicasPath":".status.replicas","labelSelectorPath":".metadata.<x>"}`,
		`{"specReplicasPath":".spec.replicas","statusReplicasPath":".status.replicas","labelSelectorPath":"status"}`,
		`{"specReplicasPath":".spec.replicas","statusReplicasPath":".status.replicas","labelSelectorPath":""}`,
		`{}`,
		`{"specReplicasPath":".status.replicas","statusReplicasPath":".spec.replicas"}`,
		`{"specReplicasPath":"spec.replicas","statusReplicasPath":"x"}`,
		`{"specReplicasPath":".spec","statusReplicasPath":"."}`,
	}),
		create("the scale of one of two versions", second(other), set(first+"/subresources/scale", `{}`)),
		create("a status", set(status, "{}")),
		create("a status and columns", set(status, "{}"), set(first+"/additionalPrinterColumns", `[{"name":"A","type":"string","jsonPath":".a"}]`)),
		create("a status below a root of another type", set(status, "{}"), set(root, `{"type":"array","items":{"type":"string"}}`)),
		create("a status below a root without a type", set(status, "{}"), set(root, `{"description":"d","x-kubernetes-preserve-unknown-fields":true}`)),
		create("a status below a root with all that is allowed", set(status, "{}"), set(root, `{"type":"object","description":"d","title":"t","format":"f","required":["spec"],"x-kubernetes-preserve-unknown-fields":true,"externalDocs":{"url":"u"},"example":{},"minimum":1,"maximum":2,"exclusiveMinimum":true,"exclusiveMaximum":true,"maxLength":1,"minLength":1,"maxItems":1,"minItems":1,"multipleOf":1,"pattern":"a"}`)),
		create("a status below a root with maxProperties", set(status, "{}"), set(root+"/maxProperties", "0")),
		create("a status below a root with clauses", set(status, "{}"), set(root+"/oneOf", `[{"required":["a<b"]}]`), set(root+"/anyOf", `[{}]`)),
		create("a status below a root with an enumeration", set(status, "{}"), set(root+"/enum", `[{"b":1,"a":"<"}]`)),
		create("a status below a root with not", set(status, "{}"), set(root+"/not", `{"required":["z"]}`)),
		create("a status below an embedded root", set(status, "{}"), set(root+"/x-kubernetes-embedded-resource", `true`)),
		create("a status below a nullable root", set(status, "{}"), set(root+"/nullable", `true`)),
		create("a status below a root of a map type", set(status, "{}"), set(root+"/x-kubernetes-map-type", `"atomic"`)),
		create("a status below a root with dependencies", set(status, "{}"), set(root+"/dependencies", `{"a":["b"],"c":{"type":"string"}}`)),
		create("a status below a root with definitions", set(status, "{}"), set(root+"/definitions", `{"a":{"type":"string"}}`), set(root+"/additionalItems", "true")),
		create("a status below a root with additionalProperties", set(status, "{}"), set(root+"/additionalProperties", `{"type":"string"}`)),
		create("a status below a root with items", set(status, "{}"), set(root+"/items", `[{"type":"string"}]`), set(root+"/allOf", `[{}]`)),
		create("the status of one of two versions", second(other), set(versions+"/1/subresources", `{"status":{}}`), set(versions+"/1/schema/openAPIV3Schema/nullable", "true"), set(versions+"/1/schema/openAPIV3Schema/minProperties", "1"), set(root+"/minProperties", "2")),
		create("the status of the second of two versions with one schema", second(`{"type":"object","minProperties":1}`), set(root, `{"type":"object","minProperties":1}`), set(versions+"/1/subresources", `{"status":{}}`)),
	)
}

func selectable() []testCase {
	at := first + "/selectableFields"
	schema := set(root, `{"type":"object","properties":{"a":{"type":"string"},"b":{"type":"integer"},"c":{"type":"boolean"},"d":{"type":"number"},"e":{"type":"array","items":{"type":"string"}},
		"m":{"type":"object","additionalProperties":{"type":"string"}},"n":{"x-kubernetes-preserve-unknown-fields":true},"o":{"type":"object","additionalProperties":true},"spec":{"type":"object","properties":{"x":{"type":"string","enum":["1"]},"y":{"type":"string","format":"date"}}},
		"metadata":{"type":"object","properties":{"name":{"type":"string"}}}}}`)
	paths := func(all ...string) change {
		var fields []string
		for _, path := range all {
			fields = append(fields, fmt.Sprintf(`{"jsonPath":%s}`, text(path)))
		}
		return set(at, "["+strings.Join(fields, ",")+"]")
	}
	path := func(path string) testCase { return create("the selectable field "+path, schema, paths(path)) }
	nine := set(root, `{"type":"object","properties":{"a":{"type":"string"},"b":{"type":"string"},"c":{"type":"string"},"d":{"type":"string"},"e":{"type":"string"},"f":{"type":"string"},"g":{"type":"string"},"h":{"type":"string"},"i":{"type":"string"},"j":{"type":"string"}}}`)
	all := []string{".a", ".b", ".c", ".d", ".e", ".f", ".g", ".h", ".i"}
	return append(each(path, []string{
		"", ".a", ".b", ".c", ".d", ".e", ".m", ".m.k", ".n", ".n.k", ".o.k", ".spec", ".spec.x", ".spec.y", ".spec.z", "a", "..a", ".", ".a.", ".a.b", ".spec['x']", ".['a']", "['a']", ".metadata", ".metadata.name", ".metadata.labels", ".e[0]", ".a b", "]",
		".'a'", ".'a.b", "'", ".spec.x<",
	}),
		create("a selectable field twice", schema, paths(".a", ".spec.x", ".a", ".a")),
		create("nine selectable fields", nine, paths(all...)),
		create("eight selectable fields", nine, paths(all[:8]...)),
		create("nine selectable fields, two of them the same", nine, paths(append(slices.Clone(all[:8]), ".a")...)),
		create("selectable fields without a schema", remove(first+"/schema"), paths(".a")),
		create("selectable fields of two versions", schema, second(other), paths(".a"), set(versions+"/1/selectableFields", `[{"jsonPath":".spec.color"},{"jsonPath":".a"}]`)),
		create("the same selectable fields of two versions", schema, second(other), paths(".spec.x"), set(versions+"/1/selectableFields", `[{"jsonPath":".spec.x"}]`)),
		create("selectable fields of a version without a schema", second(other), remove(versions+"/1/schema"), set(versions+"/1/selectableFields", `[{"jsonPath":".spec.color"}]`)),
		update("nine selectable fields that were there", []change{nine, paths(all...)}, nine, paths(all...)),
		update("nine selectable fields instead of others", []change{nine, paths(".a", ".b", ".c", ".d", ".e", ".f", ".g", ".h", ".j")}, nine, paths(all...)),
		update("nine selectable fields that were there in one of two versions", []change{nine, second(other), paths(all...)}, nine, second(other), paths(all...), set(versions+"/1/selectableFields", `[{"jsonPath":".spec.color"}]`)),
		update("nine selectable fields instead of eight", []change{nine, paths(all[:8]...)}, nine, paths(all...)),
	)
}
