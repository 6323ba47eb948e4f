package main

import (
	"fmt"
	"slices"
	"strings"
)

// Types that rules are about: of a property of the object.
var types = map[string]string{
	"object":   `"type":"object","required":["need"],"properties":{"a":{"type":"string"},"b":{"type":"string","maxLength":20},"n":{"type":"integer"},"f":{"type":"number"},"on":{"type":"boolean"},"need":{"type":"string"},"list":{"type":"array","items":{"type":"string"}},"short":{"type":"array","maxItems":5,"items":{"type":"string","maxLength":10}},"when":{"type":"string","format":"date-time"},"long":{"type":"string","format":"duration"},"raw":{"type":"string","format":"byte"},"any":{"x-kubernetes-preserve-unknown-fields":true},"free":{"type":"object","x-kubernetes-preserve-unknown-fields":true},"either":{"x-kubernetes-int-or-string":true},"namespace":{"type":"string"},"with-dash":{"type":"string"},"with.dot":{"type":"string"},"with__two":{"type":"string"},"with/slash":{"type":"string"},"1st":{"type":"string"},"ü":{"type":"string"},"map":{"type":"object","additionalProperties":{"type":"integer"}}}`,
	"string":   `"type":"string"`,
	"short":    `"type":"string","maxLength":10`,
	"integer":  `"type":"integer"`,
	"list":     `"type":"array","items":{"type":"string"}`,
	"bounded":  `"type":"array","maxItems":10,"items":{"type":"string","maxLength":10}`,
	"map":      `"type":"object","additionalProperties":{"type":"string"}`,
	"keyed":    `"type":"array","x-kubernetes-list-type":"map","x-kubernetes-list-map-keys":["k"],"items":{"type":"object","required":["k"],"properties":{"k":{"type":"string"},"v":{"type":"integer"}}}`,
	"set":      `"type":"array","x-kubernetes-list-type":"set","items":{"type":"string"}`,
	"either":   `"x-kubernetes-int-or-string":true`,
	"embedded": `"type":"object","x-kubernetes-embedded-resource":true,"x-kubernetes-preserve-unknown-fields":true,"properties":{"spec":{"type":"object","properties":{"a":{"type":"string"}}}}`,
	"any":      `"x-kubernetes-preserve-unknown-fields":true`,
	"free":     `"type":"object","x-kubernetes-preserve-unknown-fields":true`,
	"date":     `"type":"string","format":"date"`,
}

// A schema of that type with rules.
func ruled(type_ string, rules ...string) string {
	known, ok := types[type_]
	if !ok {
		panic(type_)
	}
	return fmt.Sprintf(`{%s,"x-kubernetes-validations":[%s]}`, known, strings.Join(rules, ","))
}

func rule(expression string) string { return `{"rule":` + text(expression) + `}` }

// Cases of rules that a type has.
func about(type_ string, expressions ...string) []testCase {
	return each(func(expression string) testCase {
		return create("the rule "+expression+" about "+type_, set(root+"/properties/x", ruled(type_, rule(expression))))
	}, expressions)
}

// Cases of a property of some schema with that name.
func expressed(cases ...[2]string) []testCase {
	return each(func(one [2]string) testCase { return create(one[0], set(root+"/properties/x", one[1])) }, cases)
}

// What rules say, and what they may cost.
func expressions() []testCase {
	return slices.Concat(compiled(), messages(), costs(), transitions(), ruledDefaults(), storedRules())
}

func compiled() []testCase {
	return slices.Concat(
		about("object", "self.a == self.b", "self.n > 1", "self.n > 1.0", "self.zzz == 1", "self.a ==", "self.a", "1", "true", "false", "self", "has(self.a)", "has(self.zzz)", "has(self)",
			"self.namespace == ''", "self.__namespace__ == ''", "self.with__dash__dash == ''", "self.with__dot__dot == ''", "self.with__underscores__two == ''", "self.with__slash__slash == ''", "self['with-dash'] == ''", "self['1st'] == ''", "self.ü == ''",
			"self.any == 1", "self.free.x == 1", "has(self.free.x)", "self.free == self.free", "self.either == 1", "self.either == 'a'", "self.either < 5", "type(self.either) == int", "self.map.all(k, self.map[k] > 0)", "self.map.exists(k, v, v > 0)",
			"self.list.all(e, e != '')", "self.list.exists_one(e, e == self.a)", "self.list.map(e, e + 'x').size() > 0", "self.list[0] == 'a'", "self.list + self.short == self.list", "self.list.isSorted()", "self.list.sum() == 1", "self.list.indexOf('a') == 0",
			"self.when > timestamp('2020-01-01T00:00:00Z')", "self.when == 'a'", "self.long > duration('1h')", "self.raw == b'a'", "size(self.raw) > 1", "self.f == 1", "self.f == 1.5", "self.on", "!self.on", "self.on && self.a", "self.n / 0 == 1", "1 / 0 == 1",
			"self.a.matches('^[a-z]+$')", "self.a.matches('(')", "self.a.matches(self.b)", "self.a.find('[0-9]+') == '1'", "url(self.a).getHost() == 'a'", "isURL(self.a)", "quantity(self.a).isGreaterThan(quantity('1'))", "isQuantity(self.a)", "ip(self.a).family() == 4", "cidr(self.a).containsIP('10.0.0.1')",
			"semver(self.a).major() == 1", "format.dns1123Label().validate(self.a).hasValue()", "self.?a.orValue('x') == 'x'", "optional.of(self.a).hasValue()", "self.a.lowerAscii() == 'x'", "self.list.join(',') == 'x'", "'%s'.format([self.a]) == 'x'", "sets.contains(self.list, ['a'])",
			"cel.bind(x, self.a, x == x)", "math.greatest(self.n, 1) == 1", "self.list.distinct() == self.list", "[1, 2].slice(0, 1) == [1]", "self.list.sortBy(e, e) == self.list", "lists.range(3) == [0, 1, 2]", "authorizer.path('/a').check('get').allowed()", "object.a == 1", "request.name == 'a'", "params == null",
			"self.metadata.name == 'a'", "dyn(self.a) == 1", "self.a == null", "self == null", "self.a + 1 == 2", "self.n + 9223372036854775808 > 0", "duration('x') == duration('1s')", "timestamp('x') == timestamp('x')", "\"a\" == 'a' ? self.on : self.a", "self.a == 'a' || self.b", "(((((self.on)))))",
			"self.a == '\n'", "", "a b c", "self.a == \"\\q\"", "{'a': 1}.a == 1", "{1: 2, 1: 3}.size() == 1", "oldSelf == self", "oldSelf.a == self.a", "has(oldSelf.a)", "type(self) == type(self)", "string(self.n) == '1'", "int(self.a) == 1", "b'a' == bytes(self.a)"),
		about("string", "self.size() < 5", "size(self) < 5", "self.startsWith('a')", "self == oldSelf", "self > 1", "self.foo()", "self.contains(1)", "self[0] == 'a'"),
		about("integer", "self < 5", "self == 5.0", "self % 2 == 0", "self >= oldSelf", "self == '1'", "double(self) < 5.5"),
		about("list", "self.size() < 5", "self.all(e, e.size() < 5)", "self.all(e, self.all(f, e != f))", "self[0] == 'a'", "'a' in self", "self == oldSelf", "self.map(e, e)", "self.foo.bar == 1"),
		about("bounded", "self.all(e, e.size() < 5)", "self.all(e, self.exists_one(f, e == f))", "self.all(a, self.all(b, self.all(c, self.all(d, a == b || c == d))))"),
		about("map", "self.size() < 5", "self.all(k, self[k].size() < 5)", "'a' in self", "self.a == 'b'", "has(self.a)", "self['a'] == 'b'", "self == oldSelf"),
		about("keyed", "self.all(e, e.v > 0)", "self.exists(e, e.k == 'a')", "self == oldSelf", "self.all(e, has(e.v))"),
		about("set", "self.all(e, e != '')", "self == oldSelf", "self + ['a'] == self"),
		about("either", "self == 1", "self == 'a'", "type(self) == string && self.matches('^[0-9]+%$')", "self.foo == 1", "self + 1 == 2", "oldSelf == self"),
		about("embedded", "self.metadata.name == 'a'", "self.metadata.generateName == 'a'", "self.metadata.labels.a == 'b'", "self.kind == 'Pod'", "self.apiVersion == 'v1'", "self.spec.a == ''", "self.status.a == ''", "has(self.metadata.namespace)", "self.metadata.name.size() < 100"),
		about("any", "self == 1", "true"),
		about("free", "true", "self.a == 1", "has(self.a)"),
		about("date", "self > timestamp('2020-01-01T00:00:00Z')", "self == '2020-01-01'", "self.getFullYear() > 2000"),
		wholes(`{"type":"object","x-kubernetes-validations":[{"rule":"self.metadata.name == 'a'"},{"rule":"self.metadata.generateName == ''"},{"rule":"self.kind == self.apiVersion"}]}`,
			`{"type":"object","x-kubernetes-validations":[{"rule":"self.metadata.namespace == 'a'"}]}`, `{"type":"object","x-kubernetes-validations":[{"rule":"self.metadata.labels.a == 'a'"}]}`, `{"type":"object","x-kubernetes-validations":[{"rule":"self.spec == 'a'"}]}`,
			`{"type":"object","properties":{"metadata":{"type":"object","properties":{"name":{"type":"string","maxLength":5}}}},"x-kubernetes-validations":[{"rule":"self.metadata.name.matches('^a')"}]}`,
			`{"type":"object","properties":{"spec":{"type":"object","x-kubernetes-validations":[{"rule":"self.metadata.name == 'a'"}]}}}`,
			`{"type":"object","x-kubernetes-preserve-unknown-fields":true,"x-kubernetes-validations":[{"rule":"self.foo == 'a'"}]}`,
			`{"type":"object","x-kubernetes-validations":[{"rule":"self.all(k, self.exists(l, k == l))"}]}`),
		expressed(
			[2]string{"two bad rules and a good one", ruled("object", rule("self.zzz"), rule("true"), rule("1"))},
			[2]string{"a rule below a property that no expression sees", `{"x-kubernetes-preserve-unknown-fields":true,"properties":{"a":{"type":"string","x-kubernetes-validations":[{"rule":"self == 'a'"}]}}}`},
			[2]string{"a rule above a property that no expression sees", `{"type":"object","properties":{"a":{"x-kubernetes-preserve-unknown-fields":true}},"x-kubernetes-validations":[{"rule":"has(self.a)"}]}`},
			[2]string{"a rule about a list of what no expression sees", `{"type":"array","items":{"x-kubernetes-preserve-unknown-fields":true},"x-kubernetes-validations":[{"rule":"self.size() < 5"}]}`},
			[2]string{"a rule about a map of what no expression sees", `{"type":"object","additionalProperties":{"x-kubernetes-preserve-unknown-fields":true},"x-kubernetes-validations":[{"rule":"self.size() < 5"}]}`},
			[2]string{"a rule about a map of anything", `{"type":"object","additionalProperties":true,"x-kubernetes-validations":[{"rule":"self.size() < 5"}]}`},
			[2]string{"a rule about a property without a name for expressions", `{"type":"object","properties":{"1x":{"type":"string","x-kubernetes-validations":[{"rule":"self == 'a'"}]}},"x-kubernetes-validations":[{"rule":"self.1x == 'a'"}]}`},
			[2]string{"rules at three levels", `{"type":"object","maxProperties":5,"additionalProperties":{"type":"array","maxItems":5,"items":{"type":"integer","x-kubernetes-validations":[{"rule":"self > 0"}]},"x-kubernetes-validations":[{"rule":"self.size() > 0"}]},"x-kubernetes-validations":[{"rule":"self.size() > 0"}]}`},
			[2]string{"a rule that does not compile below one that does", `{"type":"object","properties":{"a":{"type":"string","x-kubernetes-validations":[{"rule":"self > 0"}]}},"x-kubernetes-validations":[{"rule":"self.a == 'a'"}]}`},
			[2]string{"a rule with an unknown type", `{"type":"object","properties":{"a":{"type":"foo"}},"x-kubernetes-validations":[{"rule":"self.a == 'a'"}]}`},
			[2]string{"a bad rule beside a bad schema", `{"type":"object","properties":{"a":{"type":"string","uniqueItems":true},"b":{"type":"string","x-kubernetes-validations":[{"rule":"self > 0"}]}},"x-kubernetes-validations":[{"rule":"self.zzz"}]}`},
			[2]string{"rules in allOf", `{"type":"object","properties":{"a":{"type":"string"}},"allOf":[{"x-kubernetes-validations":[{"rule":"true"}]},{"properties":{"a":{"x-kubernetes-validations":[{"rule":"true"}]}}}]}`},
			[2]string{"rules in metadata", `{"type":"object","x-kubernetes-embedded-resource":true,"properties":{"metadata":{"type":"object","properties":{"name":{"type":"string","x-kubernetes-validations":[{"rule":"self == 'a'"}]}}}}}`},
			[2]string{"a rule of an embedded resource in a list", `{"type":"array","maxItems":3,"items":{"type":"object","x-kubernetes-embedded-resource":true,"x-kubernetes-preserve-unknown-fields":true,"x-kubernetes-validations":[{"rule":"self.metadata.name == 'a'"}]}}`},
			[2]string{"an enumeration with a rule", `{"type":"string","enum":["a","bb"],"x-kubernetes-validations":[{"rule":"self.matches('^(a|b)*$')"}]}`},
			[2]string{"a nullable value with a rule", `{"type":"string","nullable":true,"x-kubernetes-validations":[{"rule":"self == null"}]}`},
		),
		[]testCase{
			create("rules in two versions", set(root+"/properties/x", ruled("string", rule("self.zzz"))), second(`{"type":"object","properties":{"x":`+ruled("integer", rule("self == 'a'"))+`}}`)),
			create("the same rules in two versions", set(root, `{"type":"object","properties":{"x":`+ruled("string", rule("self > 1"))+`}}`), second(`{"type":"object","properties":{"x":`+ruled("string", rule("self > 1"))+`}}`)),
			create("a rule of a root with a status", set(status, "{}"), set(root+"/x-kubernetes-validations", `[{"rule":"self.spec.size > 1"},{"rule":"has(self.status)"}]`)),
			create("a rule while unknown fields are preserved", set("/spec/preserveUnknownFields", "true"), set(root+"/x-kubernetes-validations", `[{"rule":"self.spec.size > 'a'"}]`)),
		},
	)
}

func messages() []testCase {
	message := func(rest string) testCase {
		return create("the message "+rest, set(root+"/properties/x", ruled("object", `{"rule":"self.n > 1",`+rest+`}`)))
	}
	return each(message, []string{
		`"messageExpression":"'a' + self.a"`, `"messageExpression":"self.n"`, `"messageExpression":"self.zzz"`, `"messageExpression":"self.a +"`, `"messageExpression":"self.a","message":"m"`, `"messageExpression":"oldSelf.a"`, `"messageExpression":"''"`, `"messageExpression":"'a\\nb'"`,
		`"messageExpression":"string(self.n)"`, `"messageExpression":"self.a.matches('(') ? 'a' : 'b'"`, `"messageExpression":"self.list.map(a, self.list.map(b, self.list.map(c, a + b + c).join(',')).join(',')).join(',')"`, `"messageExpression":"self.either"`, `"messageExpression":"dyn(self.a)"`,
		`"optionalOldSelf":true`, `"optionalOldSelf":false`, `"optionalOldSelf":true,"messageExpression":"oldSelf.a"`, `"reason":"FieldValueForbidden","fieldPath":".a","message":"m"`, `"fieldPath":".map.k"`, `"fieldPath":"['with-dash']"`, `"fieldPath":".list[0]"`, `"fieldPath":".any.x"`, `"message":"<&>","messageExpression":"'<&>' + self.zzz","reason":"FieldValueRequired","fieldPath":".b","optionalOldSelf":true`,
	})
}

func costs() []testCase {
	below := func(around, inner string) string { return strings.ReplaceAll(around, "_", inner) }
	unbounded := `{"type":"array","items":_}`
	bounded := func(max int) string { return fmt.Sprintf(`{"type":"array","maxItems":%d,"items":_}`, max) }
	cheap := ruled("integer", rule("self > 1"))
	matches := ruled("string", rule("self.matches('a.*b')"))
	nested := `{"type":"array","items":{"type":"array","items":{"type":"string"}},"x-kubernetes-validations":[{"rule":"self.all(a, a.all(b, b.contains('x')))"}]}`
	return slices.Concat(
		expressed(
			[2]string{"a cheap rule below a list without a limit", below(unbounded, cheap)},
			[2]string{"a cheap rule below two lists without limits", below(unbounded, below(unbounded, cheap))},
			[2]string{"a costly rule below a list without a limit", below(unbounded, matches)},
			[2]string{"a costly rule below a list with a limit", below(bounded(10), matches)},
			[2]string{"a costly rule below a list with a larger limit", below(bounded(40), matches)},
			[2]string{"a costly rule below a list with the limit 0", below(bounded(0), matches)},
			[2]string{"a costly rule below a list within a map", `{"type":"object","maxProperties":1000,"additionalProperties":` + below(bounded(1000), matches) + `}`},
			[2]string{"a costly rule below a map without a limit", `{"type":"object","additionalProperties":` + matches + `}`},
			[2]string{"a rule with loops", nested},
			[2]string{"a rule with loops and limits", below(`{"type":"array","maxItems":10,"items":{"type":"array","maxItems":10,"items":{"type":"string","maxLength":10}},"x-kubernetes-validations":[{"rule":"self.all(a, a.all(b, b.contains('x')))"}]}`, "")},
			[2]string{"a rule slightly above the limit", `{"type":"string","maxLength":17000000,"x-kubernetes-validations":[{"rule":"self.contains('x')"}]}`},
			[2]string{"a rule twice above the limit", `{"type":"string","maxLength":50000000,"x-kubernetes-validations":[{"rule":"self.contains('x')"}]}`},
			[2]string{"a rule far above the limit", `{"type":"string","maxLength":9000000000000000000,"x-kubernetes-validations":[{"rule":"self.matches(self)"}]}`},
			[2]string{"a rule at the limit", `{"type":"string","maxLength":24000000,"x-kubernetes-validations":[{"rule":"self.contains('x')"}]}`},
			[2]string{"rules that are too costly together", fields(12, `{"type":"string","maxLength":20000000,"x-kubernetes-validations":[{"rule":"self.contains('x')"}]}`)},
			[2]string{"rules that are too costly together, and one by itself", fields(3, `{"type":"string","maxLength":200000000,"x-kubernetes-validations":[{"rule":"self.contains('x')"}]}`)},
			[2]string{"messages that are too costly", ruled("object", `{"rule":"true","messageExpression":"self.list.map(a, self.list.map(b, a + b).join(',')).join(',')"}`)},
			[2]string{"a bad message of a costly rule", `{"type":"array","items":{"type":"string"},"x-kubernetes-validations":[{"rule":"self.all(a, self.all(b, a == b))","messageExpression":"1"}]}`},
			[2]string{"items of a limited size", `{"type":"array","items":{"type":"string","maxLength":3,"x-kubernetes-validations":[{"rule":"self.matches('a')"}]}}`},
			[2]string{"items with required fields", `{"type":"array","items":{"type":"object","required":["aaaaaaaaaaaaaaaaaaaa","bbbbbbbbbbbbbbbbbbbb"],"properties":{"aaaaaaaaaaaaaaaaaaaa":{"type":"string"},"bbbbbbbbbbbbbbbbbbbb":{"type":"string","default":"x"}},"x-kubernetes-validations":[{"rule":"self.aaaaaaaaaaaaaaaaaaaa == self.bbbbbbbbbbbbbbbbbbbb"}]}}`},
			[2]string{"items with an enumeration", `{"type":"array","items":{"type":"string","enum":["a","b"],"x-kubernetes-validations":[{"rule":"self.contains('a')"}]}}`},
			[2]string{"an int or string with a limit", `{"x-kubernetes-int-or-string":true,"maxLength":10,"x-kubernetes-validations":[{"rule":"string(self).contains('a')"}]}`},
			[2]string{"a set of a limited size", `{"type":"array","maxItems":100,"x-kubernetes-list-type":"set","items":{"type":"string","maxLength":100},"x-kubernetes-validations":[{"rule":"self.all(a, self.all(b, a == b))"}]}`},
		),
		wholes(`{"type":"object","x-kubernetes-validations":[{"rule":"self.metadata.name.matches('^(a|b)*$') && self.metadata.name.contains(self.metadata.generateName)"}]}`,
			`{"type":"object","properties":{"a":`+below(unbounded, matches)+`,"b":`+nested+`,"c":`+matches+`}}`,
			`{"type":"object","properties":{"a":`+fields(30, ruled("bounded", rule("self.all(e, e == 'a')")))+`}}`),
	)
}

// An object with so many fields of that schema, whose larger limits differ.
func fields(count int, schema string) string {
	var all []string
	for i := range count {
		all = append(all, fmt.Sprintf(`"p%d":%s`, i, strings.ReplaceAll(schema, "0000000,", fmt.Sprintf("000%d000,", i+10))))
	}
	return `{"type":"object","properties":{` + strings.Join(all, ",") + `}}`
}

func transitions() []testCase {
	old := ruled("integer", rule("self == oldSelf"))
	optional := ruled("integer", `{"rule":"oldSelf.hasValue()","optionalOldSelf":true}`)
	around := func(about, schema string) []testCase {
		return expressed([2]string{"the old value " + about, strings.ReplaceAll(schema, "_", old)}, [2]string{"the optional old value " + about, strings.ReplaceAll(schema, "_", optional)})
	}
	return slices.Concat(
		around("of a field", `{"type":"object","properties":{"a":_}}`),
		around("of an entry", `{"type":"object","maxProperties":9,"additionalProperties":_}`),
		around("of an item", `{"type":"array","maxItems":9,"items":_}`),
		around("of an item of a set", `{"type":"array","maxItems":9,"x-kubernetes-list-type":"set","items":_}`),
		around("in an item of a set", `{"type":"array","maxItems":9,"x-kubernetes-list-type":"set","items":{"type":"object","x-kubernetes-map-type":"atomic","properties":{"a":_}}}`),
		around("in an item of an atomic list", `{"type":"array","maxItems":9,"x-kubernetes-list-type":"atomic","items":{"type":"object","properties":{"a":_}}}`),
		around("in an item of a list by keys", `{"type":"array","maxItems":9,"x-kubernetes-list-type":"map","x-kubernetes-list-map-keys":["k"],"items":{"type":"object","required":["k"],"properties":{"k":{"type":"string"},"a":_}}}`),
		around("in a list within a list", `{"type":"array","maxItems":3,"items":{"type":"array","maxItems":3,"x-kubernetes-list-type":"map","x-kubernetes-list-map-keys":["k"],"items":{"type":"object","required":["k"],"properties":{"k":{"type":"string"},"a":_}}}}`),
		around("in an atomic map", `{"type":"object","x-kubernetes-map-type":"atomic","properties":{"a":_}}`),
		around("in a map of an unknown type", `{"type":"object","x-kubernetes-map-type":"foo","properties":{"a":_}}`),
		around("of a list", `{"type":"object","properties":{"a":{"type":"array","maxItems":3,"items":{"type":"integer"},"x-kubernetes-validations":[{"rule":"self == oldSelf"}]},"b":_}}`),
		expressed(
			[2]string{"optionalOldSelf without the old value", ruled("integer", `{"rule":"self > 1","optionalOldSelf":true}`)},
			[2]string{"optionalOldSelf false without the old value", ruled("integer", `{"rule":"self > 1","optionalOldSelf":false}`)},
			[2]string{"optionalOldSelf of a rule that does not compile", ruled("integer", `{"rule":"self >","optionalOldSelf":true}`)},
			[2]string{"optionalOldSelf false with the old value", ruled("integer", `{"rule":"self > oldSelf","optionalOldSelf":false}`)},
			[2]string{"an optional old value as a plain one", ruled("integer", `{"rule":"self > oldSelf","optionalOldSelf":true}`)},
			[2]string{"a plain old value as an optional one", ruled("integer", `{"rule":"oldSelf.hasValue()"}`)},
			[2]string{"the old value of an object", ruled("object", `{"rule":"!has(oldSelf.a) || has(self.a)"}`, `{"rule":"oldSelf.?a.orValue('') == ''","optionalOldSelf":true}`)},
			[2]string{"the old value in a message only", ruled("object", `{"rule":"self.n > 1","messageExpression":"oldSelf.a"}`)},
		),
	)
}

// Defaults, which have to obey the rules about them.
func ruledDefaults() []testCase {
	with := func(default_, schema string) string { return `{"default":` + default_ + "," + schema[1:] }
	return expressed(
		[2]string{"a default that obeys its rule", with(`"ab"`, ruled("short", rule("self.startsWith('a')")))},
		[2]string{"a default that breaks its rule", with(`"b"`, ruled("short", rule("self.startsWith('a')")))},
		[2]string{"a default that breaks its rule, with a message", with(`"b"`, ruled("short", `{"rule":"self.startsWith('a')","message":" m ","reason":"FieldValueForbidden"}`))},
		[2]string{"a default that breaks its rule, with an expression", with(`"b"`, ruled("short", `{"rule":"self.startsWith('a')","messageExpression":"'no: ' + self"}`))},
		[2]string{"a default with a rule that does not compile", with(`"b"`, ruled("short", rule("self > 1")))},
		[2]string{"a default that is not of its type, with a rule", with(`1`, ruled("short", rule("self > 1")))},
		[2]string{"a default that breaks two rules", with(`"b"`, ruled("short", rule("self.startsWith('a')"), rule("self.size() > 5")))},
		[2]string{"a default that is not what it was", with(`1`, ruled("integer", rule("self > oldSelf")))},
		[2]string{"a default that is what it was", with(`1`, ruled("integer", rule("self == oldSelf")))},
		[2]string{"a default that must not be new", with(`1`, ruled("integer", `{"rule":"oldSelf.hasValue()","optionalOldSelf":true}`))},
		[2]string{"a default that may be new", with(`1`, ruled("integer", `{"rule":"!oldSelf.hasValue() || self == oldSelf.value()","optionalOldSelf":true}`))},
		[2]string{"a default of an object with rules below", `{"type":"object","default":{"a":1,"b":"x"},"properties":{"a":{"type":"integer","x-kubernetes-validations":[{"rule":"self > 5","fieldPath":""}]},"b":{"type":"string","maxLength":9,"x-kubernetes-validations":[{"rule":"self == 'y'"}]}},"x-kubernetes-validations":[{"rule":"self.a > 7","fieldPath":".a"}]}`},
		[2]string{"a default of a list with rules below", `{"type":"array","maxItems":5,"default":[1,7,2],"items":{"type":"integer","x-kubernetes-validations":[{"rule":"self > 5"}]}}`},
		[2]string{"a default of a map with rules below", `{"type":"object","maxProperties":5,"default":{"k":1},"additionalProperties":{"type":"integer","x-kubernetes-validations":[{"rule":"self > 5"}]}}`},
		[2]string{"a default of an embedded resource", `{"type":"object","x-kubernetes-embedded-resource":true,"x-kubernetes-preserve-unknown-fields":true,"default":{"apiVersion":"v1","kind":"Pod","metadata":{"name":"a"}},"x-kubernetes-validations":[{"rule":"self.metadata.name == 'b'"},{"rule":"self.kind == 'Pod'"}]}`},
		[2]string{"a default in the metadata of an embedded resource", `{"type":"object","x-kubernetes-embedded-resource":true,"properties":{"metadata":{"type":"object","properties":{"name":{"type":"string","maxLength":9,"default":"a","x-kubernetes-validations":[{"rule":"self == 'b'"}]}}}}}`},
		[2]string{"a default that costs too much", with(`["a","b","c"]`, ruled("bounded", rule("lists.range(200).all(a, lists.range(200).all(b, lists.range(200).all(c, a + b + c >= 0)))")))},
		[2]string{"a default whose rule fails", with(`"a"`, ruled("short", rule("self.substring(5) == 'a'")))},
		[2]string{"a default of a number", `{"type":"number","default":1.5,"x-kubernetes-validations":[{"rule":"self > 2.0"}]}`},
		[2]string{"a default of a flag", `{"type":"boolean","default":false,"x-kubernetes-validations":[{"rule":"self"}]}`},
		[2]string{"a default of an int or string", `{"x-kubernetes-int-or-string":true,"default":"5%","x-kubernetes-validations":[{"rule":"self == 5"}]}`},
	)
}

// Rules that were there before.
func storedRules() []testCase {
	at := func(schema string) change { return set(root+"/properties/x", schema) }
	costly := ruled("list", rule("self.all(a, self.all(b, a == b))"))
	bad := ruled("integer", rule("self.zzz"))
	title := set(root+"/title", `"t"`)
	return []testCase{
		update("a rule", nil, at(ruled("integer", rule("self > 1")))),
		update("a rule that is gone", []change{at(ruled("integer", rule("self > 1")))}),
		update("a rule that is too costly, as before", []change{at(costly)}, at(costly)),
		update("a rule that is too costly, as before in another schema", []change{at(costly)}, at(costly), title),
		update("a rule that is too costly where none was", nil, at(costly)),
		update("a rule that is too costly in one of two versions, as before", []change{at(costly), second(other)}, at(costly), second(other)),
		update("a rule that is too costly in one of two versions, the other of which changes", []change{at(costly), second(other)}, at(costly), second(`{"type":"object"}`)),
		update("a rule that is too costly in a new version", []change{at(costly)}, at(costly), second(`{"type":"object","properties":{"x":`+costly+`}}`)),
		update("a rule that is too costly in two versions, as before", []change{set(root, `{"type":"object","properties":{"x":`+costly+`}}`)}, set(root, `{"type":"object","properties":{"x":`+costly+`}}`), second(`{"type":"object","properties":{"x":`+costly+`}}`)),
		update("a rule that does not compile, as before", []change{at(bad)}, at(bad)),
		update("a message that is too costly, as before", []change{at(ruled("object", `{"rule":"true","messageExpression":"self.list.map(a, self.list.map(b, a + b).join(',')).join(',')"}`))}, at(ruled("object", `{"rule":"true","messageExpression":"self.list.map(a, self.list.map(b, a + b).join(',')).join(',')"}`))),
		update("rules that are too costly together, as before", []change{at(manyCostly)}, at(manyCostly)),
		update("rules that are too costly together", nil, at(manyCostly)),
		update("a rule while another schema is bad", nil, at(bad), set(root+"/properties/y", `{"type":"foo"}`)),
		{About: "update of the status: a rule that does not compile", Old: []change{at(bad)}, New: []change{at(bad)}, Update: true, Status: true},
	}
}

// Rules that are too costly together, none of them as costly as another.
var manyCostly = fields(12, `{"type":"string","maxLength":20000000,"x-kubernetes-validations":[{"rule":"self.contains('x')"}]}`)
