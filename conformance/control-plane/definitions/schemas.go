package main

import (
	"fmt"
	"slices"
)

// What holds of a schema at every depth.
func keywords() []testCase {
	keyword := func(fields string) []testCase {
		return []testCase{
			create("at the root "+fields, set(root, `{"type":"object",`+fields+`}`)),
			property(`{"type":"object",` + fields + `}`),
			property(`{"type":"array","items":{"type":"string",` + fields + `}}`),
			property(`{"type":"object","allOf":[{` + fields + `}]}`),
		}
	}
	return slices.Concat(
		keyword(`"id":"a"`), keyword(`"$schema":"a"`), keyword(`"$ref":"a"`), keyword(`"$ref":""`), keyword(`"additionalItems":true`), keyword(`"additionalItems":{"type":"x"}`),
		keyword(`"patternProperties":{"a":{"type":"string"}}`), keyword(`"definitions":{"a":{"type":"foo"}}`), keyword(`"dependencies":{"a":{"type":"foo"},"b":["c"]}`),
		keyword(`"uniqueItems":true`), keyword(`"nullable":true`), keyword(`"x-kubernetes-preserve-unknown-fields":false`), keyword(`"title":"t"`),
		properties(`{"type":"null"}`, `{"type":"foo"}`, `{"type":"Object"}`, `{}`, `{"type":""}`, `{"type":"string"}`, `{"type":"number"}`, `{"type":"boolean"}`, `{"type":"array"}`,
			`{"type":"array","items":[]}`, `{"type":"array","items":[{"type":"string"}]}`, `{"type":"array","items":{}}`, `{"type":"array","items":[{"type":"foo"},{"type":"null"}]}`,
			`{"type":"string","items":{"type":"string"}}`,
			`{"type":"object","properties":{"a":{"type":"string"}},"additionalProperties":{"type":"string"}}`, `{"type":"object","properties":{"a":{"type":"string"}},"additionalProperties":true}`,
			`{"type":"object","properties":{"a":{"type":"string"}},"additionalProperties":false}`, `{"type":"object","additionalProperties":false}`, `{"type":"object","additionalProperties":true}`,
			`{"type":"object","additionalProperties":{}}`, `{"type":"object","additionalProperties":{"type":"array","items":{"type":"object","properties":{"x":{}}}}}`,
			`{"type":"object","properties":{"a b":{"type":"foo"},"[c]":{"type":"bar"},"d.e":{}}}`,
			`{"x-kubernetes-preserve-unknown-fields":true}`, `{"type":"string","x-kubernetes-preserve-unknown-fields":true}`,
			`{"type":"string","nullable":true}`, `{"type":"integer","minimum":5,"maximum":1}`, `{"type":"string","minLength":-1}`, `{"type":"string","required":["a"]}`),
		wholes(`{}`, `{"type":"string"}`, `{"type":"array","items":{"type":"string"}}`, `{"type":"foo"}`, `{"x-kubernetes-preserve-unknown-fields":true}`, `{"type":"object","x-kubernetes-preserve-unknown-fields":true}`,
			`{"type":"object","additionalProperties":true}`, `{"type":"object","additionalProperties":false}`, `{"type":"object","additionalProperties":{"type":"string"}}`, `{"type":"object","nullable":true}`,
			`{"x-kubernetes-int-or-string":true}`, `{"type":"object","items":{"type":"string"}}`, `{"properties":{"a":{}}}`),
		[]testCase{
			create("a second version that is not structural", second(`{"properties":{"a":{}}}`)),
			create("two versions that are not structural", set(root+"/properties/x", "{}"), second(`{"type":"object","properties":{"a":{"type":"array"}}}`)),
			create("two versions that share a bad schema", set(root, `{"properties":{"a":{}}}`), second(`{"properties":{"a":{}}}`)),
			create("a schema with a name for itself", set(root+"/$schema", `"s"`), set(root+"/properties/x", `{"type":"foo"}`)),
			create("a schema with a name for itself that is not structural", set(root+"/$schema", `"s"`), set(root+"/properties/x", `{}`)),
		},
	)
}

func lists() []testCase {
	object := `{"type":"object","required":["a"],"properties":{"a":{"type":"string"},"b":{"type":"array","items":{"type":"string"}},"c":{"type":"object"},"d":{"type":"string","nullable":true},"e":{"type":"integer","default":1}}}`
	keyed := func(keys string) testCase {
		return property(`{"type":"array","x-kubernetes-list-type":"map","x-kubernetes-list-map-keys":` + keys + `,"items":` + object + `}`)
	}
	item := func(item string) testCase {
		return property(`{"type":"array","x-kubernetes-list-type":"set","items":` + item + `}`)
	}
	mapItem := func(item string) testCase {
		return property(`{"type":"array","x-kubernetes-list-type":"map","x-kubernetes-list-map-keys":["a"],"items":` + item + `}`)
	}
	return slices.Concat(
		each(keyed, []string{`["a"]`, `["a","e"]`, `["a","a"]`, `["z","z"]`, `["b"]`, `["c"]`, `["d"]`, `["e"]`, `[]`, `["z","b","a","d"]`}),
		each(item, []string{`{"type":"string"}`, `{"type":"string","nullable":true}`, `{"type":"object"}`, `{"type":"object","x-kubernetes-map-type":"granular"}`, `{"type":"object","x-kubernetes-map-type":"atomic"}`,
			`{"type":"array","items":{"type":"string"}}`, `{"type":"array","items":{"type":"string"},"x-kubernetes-list-type":"atomic"}`, `{"type":"array","items":{"type":"string"},"x-kubernetes-list-type":"set"}`,
			`{"type":"object","x-kubernetes-list-type":"atomic"}`, `{"x-kubernetes-int-or-string":true}`, `{}`}),
		each(mapItem, []string{`{"type":"string"}`, `{}`, `[{"type":"object"}]`, `{"type":"object"}`, `{"type":"object","nullable":true,"properties":{"a":{"type":"string","nullable":true}}}`,
			`{"type":"object","properties":{"a":{"type":"string"}}}`, `{"type":"object","properties":{"a":{"type":"string","default":"x"}}}`, `{"type":"object","required":["a","b"],"properties":{"a":{"type":"array","items":{"type":"string"}}}}`,
			`{"type":"object","additionalProperties":{"type":"string"}}`, `[{"type":"object","properties":{"a":{"type":"string","enum":["<"]}}},{}]`}),
		properties(`{"type":"array","x-kubernetes-list-type":"map","x-kubernetes-list-map-keys":["a"]}`, `{"type":"array","x-kubernetes-list-type":"map"}`,
			`{"type":"array","x-kubernetes-list-map-keys":["a"],"items":`+object+`}`, `{"type":"array","x-kubernetes-list-type":"set","x-kubernetes-list-map-keys":["a"],"items":`+object+`}`,
			`{"type":"array","x-kubernetes-list-type":"","items":{"type":"string"}}`, `{"type":"array","x-kubernetes-list-type":"list","items":{"type":"string"}}`, `{"type":"array","x-kubernetes-list-type":"atomic","items":`+object+`}`,
			`{"type":"string","x-kubernetes-list-type":"set"}`, `{"x-kubernetes-preserve-unknown-fields":true,"x-kubernetes-list-type":"set"}`, `{"type":"object","x-kubernetes-list-type":"map","x-kubernetes-list-map-keys":["a"]}`,
			`{"type":"object","x-kubernetes-map-type":"atomic"}`, `{"type":"object","x-kubernetes-map-type":""}`, `{"type":"object","x-kubernetes-map-type":"loose"}`, `{"type":"string","x-kubernetes-map-type":"atomic"}`,
			`{"x-kubernetes-preserve-unknown-fields":true,"x-kubernetes-map-type":"granular"}`, `{"type":"array","items":{"type":"string"},"x-kubernetes-map-type":"x<y"}`,
			`{"type":"object","additionalProperties":{"type":"array","x-kubernetes-list-type":"set","items":{"type":"object"}}}`),
		[]testCase{
			create("sets of objects in two versions", set(root+"/properties/x", `{"type":"array","x-kubernetes-list-type":"set","items":{"type":"object","x-kubernetes-map-type":"atomic"}}`),
				second(`{"type":"object","properties":{"a":{"type":"array","x-kubernetes-list-type":"set","items":{"type":"array","items":{"type":"string"}}}}}`)),
		},
	)
}

func structural() []testCase {
	intOrString := func(fields string) testCase { return property(`{"x-kubernetes-int-or-string":true` + fields + `}`) }
	embedded := func(fields string) testCase { return property(`{"x-kubernetes-embedded-resource":true` + fields + `}`) }
	return slices.Concat(
		each(intOrString, []string{``, `,"type":"string"`, `,"anyOf":[{"type":"integer"},{"type":"string"}]`, `,"anyOf":[{"type":"string"},{"type":"integer"}]`, `,"anyOf":[{"type":"integer"},{"type":"string"},{"type":"null"}]`,
			`,"anyOf":[{"type":"integer"},{"type":"string","pattern":"a"}]`, `,"anyOf":[{"type":"integer","description":""},{"type":"string","additionalProperties":false}]`, `,"anyOf":[{"type":"integer"}]`,
			`,"allOf":[{"anyOf":[{"type":"integer"},{"type":"string"}]}]`, `,"allOf":[{"anyOf":[{"type":"integer"},{"type":"string"}]},{"pattern":"^a"}]`, `,"allOf":[{"pattern":"^a"},{"anyOf":[{"type":"integer"},{"type":"string"}]}]`,
			`,"allOf":[{"anyOf":[{"type":"integer"},{"type":"string"}],"title":"t","pattern":"("}]`, `,"allOf":[{"anyOf":[{"type":"integer"},{"type":"number"}]}]`, `,"oneOf":[{"type":"integer"},{"type":"string"}]`,
			`,"x-kubernetes-preserve-unknown-fields":true`, `,"x-kubernetes-embedded-resource":true`, `,"x-kubernetes-embedded-resource":true,"x-kubernetes-preserve-unknown-fields":true,"type":"object"`,
			`,"not":{"anyOf":[{"type":"integer"},{"type":"string"}]}`}),
		each(embedded, []string{``, `,"type":"object"`, `,"type":"string"`, `,"type":"object","x-kubernetes-preserve-unknown-fields":true`, `,"x-kubernetes-preserve-unknown-fields":true`, `,"type":"object","properties":{}`,
			`,"type":"object","properties":{"spec":{"type":"object"}}`, `,"type":"object","properties":{"kind":{"type":"integer"},"apiVersion":{},"metadata":{"type":"string"}}`,
			`,"type":"object","properties":{"kind":{"type":"string","default":"K"},"apiVersion":{"type":"string","pattern":"^v1$"},"metadata":{"type":"object","required":["name"],"properties":{"name":{"type":"string"},"labels":{"type":"object"}}}}`,
			`,"type":"object","additionalProperties":{"type":"string"}`, `,"type":"object","additionalProperties":true,"x-kubernetes-preserve-unknown-fields":true`,
			`,"type":"object","properties":{"metadata":{"type":"object","x-kubernetes-embedded-resource":true,"x-kubernetes-preserve-unknown-fields":true}}`,
			`,"type":"object","properties":{"metadata":{"type":"object","properties":{"annotations":{"type":"object","additionalProperties":{"type":"string","default":"d"}}}}}`,
			`,"type":"object","properties":{"metadata":{"type":"object","properties":{"inner":{"type":"object","x-kubernetes-embedded-resource":true,"x-kubernetes-preserve-unknown-fields":true}}}}`,
			`,"type":"object","properties":{"inner":{"type":"object","x-kubernetes-embedded-resource":true,"x-kubernetes-preserve-unknown-fields":true}}`,
			`,"type":"object","x-kubernetes-preserve-unknown-fields":true,"properties":{"metadata":{"type":"object","nullable":true}}`}),
	)
}

func clauses() []testCase {
	forbidden := func(fields string) testCase {
		return create("a clause with "+fields, set(root+"/properties/x", `{"type":"object","properties":{"a":{"type":"string"}},"anyOf":[{`+fields+`}]}`))
	}
	junctor := func(name string) testCase {
		return create("nested "+name, set(root+"/properties/x", fmt.Sprintf(`{"type":"object","properties":{"a":{"type":"string"}},%q:[{"properties":{"a":{"type":"string","minLength":1},"b":{"minLength":1}},"required":["a"]},{"allOf":[{"not":{"properties":{"c":{}}}}]}]}`, name)))
	}
	return slices.Concat(
		each(forbidden, []string{`"type":"object"`, `"default":{}`, `"default":null`, `"title":"t"`, `"description":"d"`, `"nullable":true`, `"nullable":false`, `"x-kubernetes-preserve-unknown-fields":true`, `"x-kubernetes-embedded-resource":true`,
			`"x-kubernetes-int-or-string":true`, `"x-kubernetes-list-type":"set"`, `"x-kubernetes-map-type":"atomic"`, `"x-kubernetes-list-map-keys":["a"]`, `"x-kubernetes-validations":[{"rule":"true"}]`,
			`"additionalProperties":true`, `"additionalProperties":false`, `"additionalProperties":{}`, `"additionalProperties":{"type":"string"}`, `"items":{}`, `"items":{"type":"string"}`, `"items":[{"type":"string"}]`,
			`"properties":{"metadata":{}}`, `"properties":{"a":{"enum":["x"]}}`, `"properties":{"a":{"type":"string","title":"t","description":"d","nullable":true}}`, `"properties":{"b":{}}`, `"properties":{"a":{"properties":{"b":{}}}}`,
			`"properties":{"a":{"items":{"maxLength":1}}}`, `"pattern":"("`, `"uniqueItems":true`, `"required":["a"],"minProperties":1,"maxProperties":2,"format":"f","example":1,"externalDocs":{"url":"u"}`,
			`"not":{"type":"object","not":{"pattern":"["}}`, `"oneOf":[{"type":"string"},{"anyOf":[{"type":"string"}]}]`}),
		each(junctor, []string{"allOf", "anyOf", "oneOf"}),
		properties(`{"type":"array","items":{"type":"string"},"not":{"items":{"pattern":"*"}}}`, `{"type":"array","items":{"type":"object","properties":{"a":{"type":"string"}}},"allOf":[{"items":{"properties":{"b":{}}}}]}`,
			`{"type":"object","additionalProperties":{"type":"string"},"anyOf":[{"properties":{"a":{"minLength":1}}}]}`, `{"type":"object","not":{"properties":{"a":{"allOf":[{"properties":{"b":{"not":{}}}}]}}}}`,
			`{"type":"array","anyOf":[{"items":{"items":{}}}]}`, `{"type":"string","anyOf":[{"type":"integer"},{"type":"string"}]}`, `{"type":"string","allOf":[{"x-kubernetes-preserve-unknown-fields":false}]}`),
		wholes(`{"type":"object","anyOf":[{"required":["a"]},{"properties":{"metadata":{"properties":{"name":{}}}}}]}`, `{"type":"object","allOf":[{"properties":{"spec":{"required":["x"]}}}]}`,
			`{"type":"object","properties":{"metadata":{"type":"object","properties":{"name":{"type":"string"}}}},"oneOf":[{"properties":{"metadata":{"properties":{"name":{"pattern":"a"}}}}}]}`),
	)
}

func metadata() []testCase {
	meta := func(schema string) testCase {
		return create("the metadata "+schema, set(root+"/properties/metadata", schema))
	}
	return slices.Concat(
		each(meta, []string{`{"type":"object"}`, `{}`, `{"type":"string"}`, `{"type":"object","properties":{"name":{"type":"string","pattern":"^a"}}}`, `{"type":"object","properties":{"generateName":{"type":"string","maxLength":1}}}`,
			`{"type":"object","properties":{"name":{"type":"string"},"generateName":{"type":"string"}}}`, `{"type":"object","properties":{"name":{"type":"string"},"labels":{"type":"object"}}}`,
			`{"type":"object","properties":{"labels":{"type":"object","additionalProperties":{"type":"string"}}}}`, `{"type":"object","description":"d"}`, `{"type":"object","title":"t"}`, `{"type":"object","required":["name"]}`,
			`{"type":"object","nullable":true}`, `{"type":"object","default":{}}`, `{"type":"object","x-kubernetes-preserve-unknown-fields":true}`, `{"type":"object","additionalProperties":{"type":"string","default":"a"}}`,
			`{"type":"object","maxProperties":0}`, `{"type":"object","anyOf":[{}]}`, `{"type":"object","example":{}}`, `{"type":"object","x-kubernetes-map-type":"atomic"}`, `{"type":"object","properties":{"name":{"type":"string","default":"x"}}}`,
			`{"type":"object","x-kubernetes-embedded-resource":true,"x-kubernetes-preserve-unknown-fields":true}`}),
		values(root+"/properties/kind", `{"type":"string"}`, `{"type":"integer"}`, `{}`, `{"type":"string","enum":["Widget"]}`, `{"type":"string","default":"Widget"}`),
		values(root+"/properties/apiVersion", `{"type":"string"}`, `{"type":"object"}`, `{"type":"string","default":"example.com/v1"}`),
		properties(`{"type":"object","properties":{"metadata":{"type":"string","default":"free"},"kind":{"type":"integer"}}}`),
	)
}

// The shape of rules in CEL, the rules themselves being good ones.
func rules() []testCase {
	rule := func(rule string) testCase {
		return create("the rule "+rule, set(root+"/properties/x", `{"type":"object","properties":{"a":{"type":"string"},"m":{"type":"object","maxProperties":9,"additionalProperties":{"type":"string","maxLength":9}}},"x-kubernetes-validations":[`+rule+`]}`))
	}
	path := func(path string) testCase { return rule(`{"rule":"true","fieldPath":` + text(path) + `}`) }
	return slices.Concat(
		each(rule, []string{`{"rule":"self.a == 'x'"}`, `{"rule":""}`, `{"rule":"  \t"}`, `{"rule":"true","message":""}`, `{"rule":"true","message":"  "}`, `{"rule":"true","message":"a\nb"}`, `{"rule":"true","message":"\na\n"}`, `{"rule":"true\n&& true"}`,
			`{"rule":"\ntrue\n"}`, `{"rule":"true\n&& true","message":"m"}`, `{"rule":"true\n&& true","message":" "}`, `{"rule":"true\r&& true"}`, `{"rule":"true","messageExpression":"'a'"}`, `{"rule":"true","messageExpression":"  "}`,
			`{"rule":"true","reason":"FieldValueInvalid"}`, `{"rule":"true","reason":"FieldValueRequired"}`, `{"rule":"true","reason":"FieldValueDuplicate"}`, `{"rule":"true","reason":"FieldValueForbidden"}`, `{"rule":"true","reason":"Bad<"}`,
			`{"rule":"true","reason":""}`, `{"rule":"oldSelf == self","optionalOldSelf":false}`, `{"rule":"","message":" ","messageExpression":" ","reason":"X","fieldPath":" "}`, `{"rule":"true"},{"rule":" "},{"rule":"true","fieldPath":".z"}`}),
		each(path, []string{".a", ".z", "a", ".a\n", " ", ".m", ".m.k", "['m']", "['m']['k']", ".m['k']", ".m['k.l']", ".m['k\\'l']", ".m['k", ".m[k]", ".m['k'", ".m['k'x", ".['a']", "['z']", ".a.b", ".m['\\q']"}),
		properties(`{"type":"array","maxItems":3,"items":{"type":"string","x-kubernetes-validations":[{"rule":"self != ''"}]}}`, `{"type":"object","maxProperties":3,"additionalProperties":{"type":"object","x-kubernetes-validations":[{"rule":"true"}]}}`,
			`{"type":"string","x-kubernetes-validations":[{"rule":"self != ''","fieldPath":".a"}]}`, `{"type":"string","not":{"x-kubernetes-validations":[{"rule":""}]}}`, `{"type":"object","x-kubernetes-validations":[]}`),
		wholes(`{"type":"object","x-kubernetes-validations":[{"rule":"self.metadata.name != ''"}]}`),
	)
}

func patterns() []testCase {
	pattern := func(pattern string) testCase {
		return create("the pattern "+text(pattern), set(root+"/properties/x", `{"type":"string","pattern":`+text(pattern)+`}`))
	}
	return each(pattern, []string{
		"", "a", "^[a-z]+$", "(", ")", "a)", "(a", "((a)", "[", "[a", "[]", "[]a]", "[^]a]", "[^", "[a-]", "[-a]", "[z-a]", "[a-\\d]", "[\\d-z]", "[[:alpha:]]", "[[:foo:]]", "[[:^digit:]]", "[[:alpha]", "[\\", "*", "+a", "?", "a**", "a*+", "a*?",
		"a+??", "a*?*", "a{2}", "a{2,}", "a{2,3}", "a{3,2}", "a{1001}", "a{1000}", "a{,2}", "a{", "a{2", "a{2}{3}", "a{99999999999}", "a{1,99999999999}", "a{01}", "(a{100}){100}", "(a{10}){100}", "(a{2}|b{500}){3}", "((a{0}){2000})", "(a{2,}){501}", "x{0}{2}", "|*", "a|*", "(|a)*", "(*a)",
		"^*", "$+", "\\", "a\\", "\\d\\D\\s\\S\\w\\W", "\\A\\b\\B\\z", "\\Z", "\\C", "\\q", "\\_", "\\.", "\\-", "\\é", "\\1", "\\0", "\\012", "\\8", "\\x41", "\\x4", "\\x", "\\xg0", "\\x{41}", "\\x{110000}", "\\x{10ffff}", "\\x{}", "\\x{4", "\\x{g}",
		"\\a\\f\\n\\r\\t\\v", "\\Qa(b\\E", "\\Qa(b", "\\Q\\E*", "a\\Q\\E*", "\\pL", "\\p{L}", "\\p{Lu}", "\\p{Greek}", "\\p{greek}", "\\P{^Greek}", "\\p{Old_Italic}", "\\p{Nope}", "\\p{", "\\p{L", "\\pX", "\\p{Uppercase_Letter}", "[\\p{L}]", "[\\p{Nope}]", "\\p", "[\\p",
		"(?i)a", "(?i:a)", "(?-i)a", "(?i-s:a)", "(?-)", "(?i-)", "(?--i)", "(?x)", "(?", "(?:", "(?:a", "(?=a)", "(?!a)", "(?<=a)", "(?<!a)", "(?P<n>a)", "(?<n>a)", "(?P<>a)", "(?P<n", "(?<n", "(?P<a b>c)", "(?P<n>a)(?P<n>b)", "(?P=n)", "(?#c)", "(?>a)", "(?i)*", "a(?i)*", "(?i", "(?P<", "(?<",
		"a++", "[a-z&&[^b]]", "é[ä-ü]", "[ü-ä]", "<&>(", "a\"b(",
	})
}

func formats() []testCase {
	format := func(type_, format string) testCase {
		return create(fmt.Sprintf("the format %s of the type %s", format, type_), set(root+"/properties/x", fmt.Sprintf(`{"type":%q,"format":%q}`, type_, format)))
	}
	var all []testCase
	for _, name := range []string{"date-time", "datetime", "date", "duration", "email", "hostname", "ipv4", "ipv6", "cidr", "uri", "uuid", "uuid3", "byte", "mac", "password", "int32", "k8s-short-name", "k8s-long-name", "k8sshortname", "ip", "foo<bar", "--"} {
		all = append(all, format("string", name))
	}
	for _, one := range [][2]string{{"integer", "int32"}, {"integer", "int64"}, {"integer", "int16"}, {"integer", "date"}, {"number", "float"}, {"number", "double"}, {"number", "int32"}, {"boolean", "byte"}, {"object", "date"}} {
		all = append(all, format(one[0], one[1]))
	}
	unknown := set(root+"/properties/x", `{"type":"object","properties":{"a":{"type":"string","format":"one"},"b":{"type":"array","items":{"type":"string","format":"two"}}},"anyOf":[{"format":"three"},{"not":{"format":"date"}}]}`)
	return append(all,
		create("unknown formats", unknown),
		create("unknown formats in two versions", unknown, second(`{"type":"object","properties":{"a":{"type":"string","format":"four"}}}`)),
		create("an int or string with a format", set(root+"/properties/x", `{"x-kubernetes-int-or-string":true,"format":"int32"}`)),
		update("unknown formats that were there", []change{unknown}, unknown, set(root+"/properties/y", `{"type":"string","format":"five"}`)),
		update("a warning that was there", []change{set(root+"/properties/x", `{"type":"array","x-kubernetes-list-type":"set","items":{"type":"object","x-kubernetes-map-type":"atomic"}}`)},
			set(root+"/properties/y", `{"type":"array","x-kubernetes-list-type":"set","items":{"type":"object","x-kubernetes-map-type":"atomic"}}`),
			set(root+"/properties/z", `{"type":"array","x-kubernetes-list-type":"set","items":{"type":"array","items":{"type":"string"}}}`)),
	)
}

// Defaults, which have to be values of their schema.
func defaults() []testCase {
	return slices.Concat(
		properties(`{"type":"string","default":"a"}`, `{"type":"string","default":""}`, `{"type":"string","default":1}`, `{"type":"integer","default":"1"}`, `{"type":"integer","default":1.5}`, `{"type":"integer","default":1.0}`,
			`{"type":"number","default":1e30}`, `{"type":"boolean","default":"<true>"}`, `{"type":"string","default":null}`, `{"type":"string","nullable":true,"default":null}`, `{"type":"string","enum":["a","b"],"default":"c"}`,
			`{"type":"string","pattern":"^a","default":"b"}`, `{"type":"string","format":"date","default":"today"}`, `{"type":"string","maxLength":1,"default":"ab"}`, `{"type":"integer","minimum":5,"default":4}`,
			`{"type":"object","default":{"a":1}}`, `{"type":"object","properties":{"a":{"type":"string"}},"default":{"a":1}}`, `{"type":"object","properties":{"a":{"type":"string"}},"default":{"b":"x","a":"y"}}`,
			`{"type":"object","required":["a"],"properties":{"a":{"type":"string"}},"default":{}}`, `{"type":"object","required":["a"],"properties":{"a":{"type":"string","default":"x"}},"default":{}}`,
			`{"type":"object","additionalProperties":{"type":"string"},"default":{"a":"b"}}`, `{"type":"object","additionalProperties":{"type":"string"},"default":{"a":1}}`, `{"type":"object","additionalProperties":{"type":"string","default":1}}`,
			`{"type":"object","additionalProperties":{"type":"object","properties":{"a":{"type":"integer","default":"x"}}}}`, `{"type":"array","items":{"type":"integer"},"default":[1,"a"]}`, `{"type":"array","items":{"type":"object","properties":{"a":{"type":"string"}}},"default":[{"b":1}]}`,
			`{"type":"array","items":{"type":"integer","default":"a"}}`, `{"type":"array","x-kubernetes-list-type":"set","items":{"type":"string"},"default":["a","a"]}`, `{"x-kubernetes-int-or-string":true,"default":"5%"}`, `{"x-kubernetes-int-or-string":true,"default":1.5}`,
			`{"x-kubernetes-preserve-unknown-fields":true,"default":{"a":{"b":1}}}`, `{"type":"object","x-kubernetes-preserve-unknown-fields":true,"properties":{"a":{"type":"object","properties":{"b":{"type":"string"}}}},"default":{"x":1,"a":{"c":1}}}`,
			`{"type":"string","oneOf":[{"pattern":"a"},{"pattern":"b"}],"default":"ab"}`, `{"type":"string","anyOf":[{"pattern":"^a"},{"pattern":"^b"}],"default":"c"}`, `{"type":"string","not":{"pattern":"a"},"default":"a"}`,
			`{"type":"object","x-kubernetes-embedded-resource":true,"x-kubernetes-preserve-unknown-fields":true,"default":{"apiVersion":"v1","kind":"A","metadata":{"name":"a"}}}`,
			`{"type":"object","x-kubernetes-embedded-resource":true,"x-kubernetes-preserve-unknown-fields":true,"default":{"apiVersion":"v1"}}`, `{"type":"object","x-kubernetes-embedded-resource":true,"x-kubernetes-preserve-unknown-fields":true,"default":{"apiVersion":"v1","kind":"A","metadata":{"name":"A B"}}}`,
			`{"type":"object","x-kubernetes-embedded-resource":true,"x-kubernetes-preserve-unknown-fields":true,"default":{"apiVersion":1,"kind":"A"}}`, `{"type":"object","x-kubernetes-embedded-resource":true,"properties":{"metadata":{"type":"object","default":{"name":"a","bogus":1}}}}`,
			`{"type":"object","x-kubernetes-embedded-resource":true,"properties":{"metadata":{"type":"object","properties":{"name":{"type":"string","default":"A B"},"labels":{"type":"object","default":{"a b":"c"}}}}}}`,
			`{"type":"object","x-kubernetes-embedded-resource":true,"properties":{"metadata":{"type":"object","properties":{"name":{"type":"string","default":"a"},"finalizers":{"type":"array","items":{"type":"string","default":"x/y/z"}}}}}}`,
			`{"type":"object","x-kubernetes-embedded-resource":true,"properties":{"kind":{"type":"string","default":"a b"},"apiVersion":{"type":"string","default":"a/b/c"}}}`),
		wholes(`{"type":"object","default":{}}`, `{"type":"object","default":{"apiVersion":"example.com/v1","kind":"Widget","metadata":{"name":"a"}}}`,
			`{"type":"object","properties":{"a":{"type":"string"}},"default":{"apiVersion":"example.com/v1","kind":"Widget","metadata":{"name":"a"},"a":1,"b":2}}`),
		[]testCase{
			create("a status below a root with a default", set(status, "{}"), set(root+"/default", `{}`)),
			create("bad defaults in two versions", set(root+"/properties/x", `{"type":"string","default":1}`), second(`{"type":"object","properties":{"a":{"type":"integer","default":"x"}}}`)),
			create("bad defaults and a type that is not known", set(root+"/properties/x", `{"type":"string","default":1}`), set(root+"/properties/y", `{"type":"foo"}`)),
			update("a bad default that was there", []change{set(root+"/properties/x", `{"type":"string","default":1}`)}, set(root+"/properties/x", `{"type":"string","default":1}`)),
		},
	)
}
