// Command values writes what the real packages make of custom resources: what schemas say about values.
//
// Usage: go run ./values FILE RULES (`cargo xtask schema` knows the paths).
//
// The cases are those of cases.txt, and random ones from a seed. Of each are recorded: what is pruned, coerced and defaulted,
// and what validation finds in the value as it was sent. Go's maps have no order; lists that come in another order when they are
// made again are recorded sorted, and named in "unordered". What rules in CEL find in the values of rules.txt is recorded by itself.
package main

import (
	"bytes"
	"context"
	"encoding/json"
	"log"
	"os"
	"reflect"
	"slices"
	"strings"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	structuralschema "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel/model"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/defaulting"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/listtype"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/objectmeta"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/pruning"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/validation"
	utiljson "k8s.io/apimachinery/pkg/util/json"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/apiserver/pkg/cel/common"
)

// repetitions is how often a list is made to see whether its order is always the same.
const repetitions = 40

// A testCase is a value with the schema that it is held to.
type testCase struct {
	Schema json.RawMessage `json:"schema"`
	Value  json.RawMessage `json:"value"`
	Old    json.RawMessage `json:"old,omitempty"`
}

// A finding is an error of validation: its reason, its field and its message.
type finding [3]string

// A vector is a case with what became of it.
type vector struct {
	testCase
	// Refused says why there is no structural schema.
	Refused string `json:"refused,omitempty"`
	// Unknown are the fields that were pruned.
	Unknown []string `json:"unknown,omitempty"`
	// UnknownMeta are the fields that were pruned of embedded metadata.
	UnknownMeta []string `json:"unknownMeta,omitempty"`
	// Malformed is the error about embedded metadata; there is no Output then.
	Malformed []finding       `json:"malformed,omitempty"`
	Output    json.RawMessage `json:"output,omitempty"`
	// Invalid are the findings of the schema's validation, Embedded those in embedded metadata, Lists those about sets and maps.
	Invalid  []finding `json:"invalid,omitempty"`
	Embedded []finding `json:"embedded,omitempty"`
	Lists    []finding `json:"lists,omitempty"`
	// Status are the findings about the status alone, of a value that replaces another.
	Status []finding `json:"status,omitempty"`
	// Defaults are the findings about the defaults in the schema.
	Defaults  []finding `json:"defaults,omitempty"`
	Unordered []string  `json:"unordered,omitempty"`
}

func main() {
	log.SetFlags(0)
	if len(os.Args) != 3 {
		log.Fatal("usage: go run ./values FILE RULES")
	}
	write(os.Args[1], slices.Concat(table("cases.txt", cases), randomCases()), run)
	write(os.Args[2], table("rules.txt", ruleCases), runRules)
}

// write writes what becomes of cases, one line each.
func write[T any](path string, cases []testCase, run func(testCase) T) {
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	for _, one := range cases {
		if err := encoder.Encode(run(one)); err != nil {
			log.Fatalf("%s: %v", one.Value, err)
		}
	}
	if err := os.WriteFile(path, out.Bytes(), 0o644); err != nil {
		log.Fatal(err)
	}
}

func must[T any](value T, err error) T {
	if err != nil {
		log.Fatal(err)
	}
	return value
}

func parse(text json.RawMessage) any {
	var value any
	if err := utiljson.Unmarshal(text, &value); err != nil {
		log.Fatalf("%s: %v", text, err)
	}
	return value
}

func findings(errors field.ErrorList) []finding {
	var found []finding
	for _, err := range errors {
		found = append(found, finding{string(err.Type), err.Field, err.ErrorBody()})
	}
	return found
}

// inOrder makes a list often, and sorts it and notes its name if it is not always the same.
func inOrder[T any](result *vector, name string, make func() []T) []T {
	first := make()
	text := func(one T) string { return string(must(json.Marshal(one))) }
	for range repetitions {
		again := make()
		if reflect.DeepEqual(first, again) {
			continue
		}
		byText := func(a, b T) int { return strings.Compare(text(a), text(b)) }
		slices.SortFunc(first, byText)
		slices.SortFunc(again, byText)
		if !reflect.DeepEqual(first, again) {
			log.Fatalf("%s is a matter of luck: schema %s, value %s", name, result.Schema, result.Value)
		}
		result.Unordered = append(result.Unordered, name)
		return first
	}
	return first
}

func run(one testCase) vector {
	result := vector{testCase: one}
	var served apiextensionsv1.JSONSchemaProps
	if err := utiljson.Unmarshal(one.Schema, &served); err != nil {
		log.Fatalf("%s: %v", one.Schema, err)
	}
	var props apiextensions.JSONSchemaProps
	if err := apiextensionsv1.Convert_v1_JSONSchemaProps_To_apiextensions_JSONSchemaProps(&served, &props, nil); err != nil {
		log.Fatalf("%s: %v", one.Schema, err)
	}
	structural, err := structuralschema.NewStructural(&props)
	if err == nil {
		validateDefaults(&result, structural)
		structural = structural.DeepCopy()
		err = defaulting.PruneDefaults(structural)
	}
	if err != nil {
		result.Refused = err.Error()
		return result
	}
	result.Unknown = inOrder(&result, "unknown", func() []string {
		options := structuralschema.UnknownFieldPathOptions{TrackUnknownFieldPaths: true}
		return pruning.PruneWithOptions(parse(one.Value), structural, true, options)
	})
	coerced := func() (any, *field.Error, []string) {
		value := parse(one.Value)
		pruning.Prune(value, structural, true)
		defaulting.PruneNonNullableNullsWithoutDefaults(value, structural)
		err, unknown := objectmeta.CoerceWithOptions(nil, value, structural, false, objectmeta.CoerceOptions{ReturnUnknownFieldPaths: true})
		return value, err, unknown
	}
	value, malformed, _ := coerced()
	if malformed != nil {
		result.Malformed = inOrder(&result, "malformed", func() []finding {
			_, err, _ := coerced()
			return findings(field.ErrorList{err})
		})
	} else {
		result.UnknownMeta = inOrder(&result, "unknownMeta", func() []string { _, _, unknown := coerced(); return unknown })
		defaulting.Default(value, structural)
		result.Output = must(json.Marshal(value))
	}
	validate(&result, &props, structural)
	return result
}

func validate(result *vector, props *apiextensions.JSONSchemaProps, structural *structuralschema.Structural) {
	validator, _, err := validation.NewSchemaValidator(props)
	if err != nil {
		log.Fatal(err)
	}
	result.Invalid = inOrder(result, "invalid", func() []finding {
		value := parse(result.Value)
		if result.Old == nil {
			return findings(validation.ValidateCustomResource(nil, value, validator))
		}
		old := parse(result.Old)
		correlated := common.NewCorrelatedObject(value, old, &model.Structural{Structural: structural})
		return findings(validation.ValidateCustomResourceUpdate(nil, value, old, validator, validation.WithRatcheting(correlated)))
	})
	result.Embedded = inOrder(result, "embedded", func() []finding {
		return findings(objectmeta.Validate(context.Background(), nil, parse(result.Value), structural, false))
	})
	status, known := props.Properties["status"]
	if object, _ := parse(result.Value).(map[string]any); known && object["status"] != nil && result.Old != nil {
		validator, _, err := validation.NewSchemaValidator(&status)
		if err != nil {
			log.Fatal(err)
		}
		result.Status = inOrder(result, "status", func() []finding {
			value, old := parse(result.Value).(map[string]any), parse(result.Old).(map[string]any)
			correlated := common.NewCorrelatedObject(value, old, &model.Structural{Structural: structural})
			at, options := field.NewPath("status"), validation.WithRatcheting(correlated.Key("status"))
			return findings(validation.ValidateCustomResourceUpdate(at, value["status"], old["status"], validator, options))
		})
	}
	result.Lists = inOrder(result, "lists", func() []finding {
		object, _ := parse(result.Value).(map[string]any)
		return findings(listtype.ValidateListSetsAndMaps(nil, structural, object))
	})
}

func validateDefaults(result *vector, structural *structuralschema.Structural) {
	result.Defaults = inOrder(result, "defaults", func() []finding {
		// What is checked is also changed.
		copied := structural.DeepCopy()
		return findings(must(defaulting.ValidateDefaults(context.Background(), field.NewPath("schema"), copied, true, true)))
	})
}
