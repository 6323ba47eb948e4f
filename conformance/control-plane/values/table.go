package main

import (
	_ "embed"
	"encoding/json"
	"log"
	"strings"
)

//go:embed cases.txt
var cases string

// table reads a file of cases. Its lines are:
//
//	# a comment
//	root SCHEMA       the schema of the following values
//	v SCHEMA          the schema of the field "v" of the objects that have the following values in it
//	VALUE             a value
//	VALUE <- OLD      a value that replaces another
func table(file, cases string) []testCase {
	var found []testCase
	var schema json.RawMessage
	wrap := func(value string) json.RawMessage { return json.RawMessage(value) }
	for number, line := range strings.Split(cases, "\n") {
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		if rest, ok := strings.CutPrefix(line, "root "); ok {
			schema, wrap = json.RawMessage(rest), func(value string) json.RawMessage { return json.RawMessage(value) }
			continue
		}
		if rest, ok := strings.CutPrefix(line, "v "); ok {
			schema = json.RawMessage(`{"type":"object","properties":{"v":` + rest + `}}`)
			wrap = func(value string) json.RawMessage { return json.RawMessage(`{"v":` + value + `}`) }
			continue
		}
		value, old, replaces := strings.Cut(line, " <- ")
		one := testCase{Schema: schema, Value: wrap(value)}
		if replaces {
			one.Old = wrap(old)
		}
		if !json.Valid(one.Schema) || !json.Valid(one.Value) || replaces && !json.Valid(one.Old) {
			log.Fatalf("%s:%d: not JSON: %s", file, number+1, line)
		}
		found = append(found, one)
	}
	return found
}
