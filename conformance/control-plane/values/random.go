package main

import (
	"encoding/json"
	"math/rand/v2"
)

// seed decides the random cases.
const seed = 20260737

// A generator makes schemas, and values that more or less satisfy them.
type generator struct{ *rand.Rand }

type object = map[string]any

var (
	names   = []string{"a", "b", "c", "d", "é"}
	texts   = []any{"", "a", "ab", "abc", "é", "日本", "2024-02-29", "10.0.0.1", "a.b", "null", "1", "<&>", "x\ny", "😀😀"}
	numbers = []json.Number{
		"0", "1", "-1", "2", "3", "1.0", "1.5", "-2.5", "1e3", "10", "100", "0.1", "3000000000", "9007199254740993",
		"9223372036854775807", "9223372036854775808", "1e21", "1e-7", "1e30", "0.30000000000000004", "12345678.5",
	}
	limits   = []json.Number{"0", "1", "2", "3", "1.5", "-1", "10", "0.1", "1e10"}
	formats  = []any{"date", "date-time", "ipv4", "email", "byte", "int32", "int64", "float", "double", "uuid", "nonsense"}
	patterns = []any{"^a", "b$", `^\d+$`, "^[a-c]{2,}$", "^$|é"}
)

func randomCases() []testCase {
	g := generator{rand.New(rand.NewPCG(seed, seed))}
	var found []testCase
	for range 160 {
		schema := g.object(3)
		for range 3 {
			value := g.valueOf(schema, 0)
			one := testCase{Schema: must(json.Marshal(schema)), Value: must(json.Marshal(value))}
			switch g.IntN(3) {
			case 0:
				one.Old = must(json.Marshal(g.valueOf(schema, 0)))
			case 1:
				one.Old = must(json.Marshal(g.changed(value)))
			}
			found = append(found, one)
		}
	}
	return found
}

func (g generator) chance(percent int) bool { return g.IntN(100) < percent }

func pick[T any](g generator, of []T) T { return of[g.IntN(len(of))] }

// object is a schema of an object.
func (g generator) object(depth int) object {
	schema := object{"type": "object"}
	if g.chance(80) {
		properties := object{}
		for range 1 + g.IntN(3) {
			properties[pick(g, names)] = g.schema(depth - 1)
		}
		schema["properties"] = properties
		if g.chance(40) {
			schema["required"] = []any{pick(g, names)}
		}
		if g.chance(15) {
			schema["x-kubernetes-preserve-unknown-fields"] = true
		}
	} else if g.chance(90) {
		schema["additionalProperties"] = g.schema(depth - 1)
	}
	if g.chance(15) {
		schema["maxProperties"] = g.IntN(3)
	}
	if g.chance(15) {
		schema["minProperties"] = g.IntN(3)
	}
	return schema
}

func (g generator) schema(depth int) object {
	kinds := 6
	if depth <= 0 {
		kinds = 4
	}
	var schema object
	switch g.IntN(kinds) {
	case 0:
		schema = object{"type": "string"}
		g.maybe(schema, 20, "minLength", g.IntN(3))
		g.maybe(schema, 20, "maxLength", g.IntN(4))
		g.maybe(schema, 20, "pattern", pick(g, patterns))
	case 1:
		schema = object{"type": pick(g, []any{"integer", "number"})}
		g.bounds(schema)
	case 2:
		schema = object{"type": "boolean"}
	case 3:
		schema = object{"x-kubernetes-int-or-string": true}
		g.bounds(schema)
	case 4:
		schema = object{"type": "array", "items": g.schema(depth - 1)}
		g.maybe(schema, 20, "minItems", g.IntN(3))
		g.maybe(schema, 20, "maxItems", g.IntN(3))
		switch g.IntN(4) {
		case 0:
			schema["x-kubernetes-list-type"] = "set"
		case 1:
			schema["items"] = object{"type": "object", "properties": object{"a": g.schema(0), "b": g.schema(depth - 1)}}
			schema["x-kubernetes-list-type"] = "map"
			schema["x-kubernetes-list-map-keys"] = pick(g, []any{[]any{"a"}, []any{"a", "b"}})
		}
	default:
		schema = g.object(depth - 1)
	}
	g.maybe(schema, 15, "nullable", true)
	g.maybe(schema, 15, "format", pick(g, formats))
	if g.chance(15) {
		schema["enum"] = []any{g.valueOf(schema, 1), g.valueOf(schema, 1)}
	}
	if g.chance(20) {
		schema[pick(g, []string{"anyOf", "oneOf", "allOf"})] = []any{g.nested(depth), g.nested(depth), g.nested(depth)}[:1+g.IntN(3)]
	}
	if g.chance(5) {
		schema["not"] = g.nested(depth)
	}
	if g.chance(15) {
		schema["default"] = g.valueOf(schema, 1)
	}
	return schema
}

// nested is a schema without a structure, as it stands in anyOf and its like.
func (g generator) nested(depth int) object {
	schema := object{}
	g.maybe(schema, 30, "minLength", g.IntN(3))
	g.maybe(schema, 30, "pattern", pick(g, patterns))
	g.maybe(schema, 20, "enum", []any{pick(g, texts), pick(g, numbers)})
	g.maybe(schema, 30, "required", []any{pick(g, names)})
	g.maybe(schema, 20, "minItems", g.IntN(3))
	g.bounds(schema)
	if depth > 0 && g.chance(30) {
		schema["properties"] = object{pick(g, names): g.nested(depth - 1)}
	}
	if depth > 0 && g.chance(30) {
		schema["items"] = g.nested(depth - 1)
	}
	return schema
}

func (g generator) maybe(schema object, percent int, key string, value any) {
	if g.chance(percent) {
		schema[key] = value
	}
}

func (g generator) bounds(schema object) {
	if g.chance(25) {
		schema["minimum"] = pick(g, limits)
		g.maybe(schema, 30, "exclusiveMinimum", true)
	}
	if g.chance(25) {
		schema["maximum"] = pick(g, limits)
		g.maybe(schema, 30, "exclusiveMaximum", true)
	}
	g.maybe(schema, 15, "multipleOf", pick(g, []json.Number{"1", "2", "0.5", "0.1", "3", "1.5"}))
}

// valueOf is a value that looks like the schema's, and now and then does not.
func (g generator) valueOf(schema object, depth int) any {
	if depth > 0 && g.chance(12) {
		return pick(g, []any{nil, true, "a", json.Number("1"), json.Number("1.5"), []any{}, object{}, []any{nil}, object{"a": nil}})
	}
	if enum, ok := schema["enum"].([]any); ok && g.chance(60) {
		return pick(g, enum)
	}
	switch schema["type"] {
	case "string":
		return pick(g, texts)
	case "integer":
		return pick(g, numbers[:g.IntN(len(numbers))+1])
	case "number":
		return pick(g, numbers)
	case "boolean":
		return g.chance(50)
	case "array":
		items := []any{}
		for range g.IntN(4) {
			if len(items) > 0 && g.chance(25) {
				items = append(items, pick(g, items))
				continue
			}
			items = append(items, g.valueOf(schema["items"].(object), depth+1))
		}
		return items
	case "object":
		value := object{}
		properties, _ := schema["properties"].(object)
		// In order, so that the seed decides.
		for _, name := range names {
			if of, ok := properties[name].(object); ok && g.chance(75) {
				value[name] = g.valueOf(of, depth+1)
			}
		}
		additional, ok := schema["additionalProperties"].(object)
		for range g.IntN(3) {
			if ok {
				value[pick(g, names)] = g.valueOf(additional, depth+1)
			} else if g.chance(30) {
				value[pick(g, names)] = pick(g, texts)
			}
		}
		return value
	default:
		return pick(g, []any{"a", "1", json.Number("1"), json.Number("1.5"), json.Number("7")})
	}
}

// changed is the value with something in it replaced.
func (g generator) changed(value any) any {
	switch value := value.(type) {
	case object:
		copied := object{}
		for _, name := range names {
			if of, ok := value[name]; ok {
				if g.chance(30) {
					of = g.changed(of)
				}
				copied[name] = of
			}
		}
		return copied
	case []any:
		copied := append([]any{}, value...)
		if len(copied) > 0 && g.chance(50) {
			copied[0] = g.changed(copied[0])
		}
		return copied
	case string:
		return value + "x"
	default:
		return value
	}
}
