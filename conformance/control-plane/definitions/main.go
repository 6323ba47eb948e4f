// Writes what apiextensions makes of CustomResourceDefinitions: what becomes of them by defaulting and preparation, and what is
// found to be wrong. One line of JSON a case.
package main

import (
	"bytes"
	"context"
	"encoding/json"
	"log"
	"os"
	"regexp"
	"slices"
	"sort"
	"strconv"
	"strings"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/install"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apiextensions-apiserver/pkg/registry/customresourcedefinition"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"
	kjson "sigs.k8s.io/json"
)

// How often a case is run, to see whether its outcome depends on the order of a map.
const rounds = 100

// A change of the base: the value at a JSON pointer, or none if it is removed.
type change struct {
	At    string          `json:"at"`
	Value json.RawMessage `json:"value,omitempty"`
}

// A testCase is a definition that is created or, with Old, takes the place of another; through the status if so.
type testCase struct {
	About  string   `json:"about"`
	New    []change `json:"new"`
	Old    []change `json:"old,omitempty"`
	Update bool     `json:"update,omitempty"`
	Status bool     `json:"status,omitempty"`
}

// The outcome of a case: the findings, or else what is stored. Unordered findings come in the order of a map.
type outcome struct {
	testCase
	Findings  []string        `json:"findings,omitempty"`
	Unordered bool            `json:"unordered,omitempty"`
	Warnings  []string        `json:"warnings,omitempty"`
	Object    json.RawMessage `json:"object,omitempty"`
}

var scheme = runtime.NewScheme()

// The name of the type of a rule's value, which is another each time.
var selfType = regexp.MustCompile(`selfType\d+`)

func main() {
	log.SetFlags(0)
	if len(os.Args) != 2 {
		log.Fatal("usage: go run ./definitions FILE")
	}
	install.Install(scheme)
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	must(0, encoder.Encode(map[string]json.RawMessage{"base": json.RawMessage(base)}))
	seen := map[string]bool{}
	for _, one := range cases() {
		if seen[one.About] {
			log.Fatalf("two cases are about %s", one.About)
		}
		seen[one.About] = true
		must(0, encoder.Encode(run(one)))
	}
	must(0, os.WriteFile(os.Args[1], out.Bytes(), 0o644))
}

func must[T any](value T, err error) T {
	if err != nil {
		log.Fatal(err)
	}
	return value
}

func run(one testCase) outcome {
	first := once(one)
	sorted := slices.Sorted(slices.Values(first.Findings))
	for range rounds {
		again := once(one)
		if !slices.Equal(again.Findings, first.Findings) {
			if !slices.Equal(slices.Sorted(slices.Values(again.Findings)), sorted) {
				log.Fatalf("%s: findings come and go: %v %v", one.About, first.Findings, again.Findings)
			}
			first.Unordered = true
		}
	}
	if first.Unordered {
		first.Findings = sorted
	}
	sort.Strings(first.Warnings)
	return first
}

func once(one testCase) outcome {
	ctx := context.Background()
	strategy := customresourcedefinition.NewStrategy(scheme)
	result := outcome{testCase: one}
	var findings field.ErrorList
	object := internal(one.About, one.New)
	switch {
	case !one.Update:
		strategy.PrepareForCreate(ctx, object)
		findings = strategy.Validate(ctx, object)
		if len(findings) == 0 {
			result.Warnings = strategy.WarningsOnCreate(ctx, object)
		}
	case one.Status:
		status := customresourcedefinition.NewStatusStrategy(scheme)
		old := internal(one.About, one.Old)
		status.PrepareForUpdate(ctx, object, old)
		findings = status.ValidateUpdate(ctx, object, old)
	default:
		old := internal(one.About, one.Old)
		strategy.PrepareForUpdate(ctx, object, old)
		findings = strategy.ValidateUpdate(ctx, object, old)
		if len(findings) == 0 {
			result.Warnings = strategy.WarningsOnUpdate(ctx, object, old)
		}
	}
	for _, finding := range findings {
		result.Findings = append(result.Findings, selfType.ReplaceAllString(string(finding.Type)+" "+finding.Error(), "selfType1"))
	}
	if len(findings) == 0 {
		stored := &apiextensionsv1.CustomResourceDefinition{}
		must(0, scheme.Convert(object, stored, nil))
		stored.SetGroupVersionKind(apiextensionsv1.SchemeGroupVersion.WithKind("CustomResourceDefinition"))
		stored.Generation = 0
		result.Object = must(json.Marshal(stored))
	}
	return result
}

// The internal object that the changes make of the base.
func internal(about string, changes []change) *apiextensions.CustomResourceDefinition {
	var tree any = must(decode([]byte(base)))
	for _, one := range changes {
		tree = apply(about, tree, strings.Split(one.At, "/")[1:], one.Value)
	}
	decoded := &apiextensionsv1.CustomResourceDefinition{}
	if err := kjson.UnmarshalCaseSensitivePreserveInts(must(json.Marshal(tree)), decoded); err != nil {
		log.Fatalf("%s: %v", about, err)
	}
	scheme.Default(decoded)
	object := &apiextensions.CustomResourceDefinition{}
	must(0, scheme.Convert(decoded, object, nil))
	return object
}

func decode(text []byte) (any, error) {
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.UseNumber()
	var tree any
	err := decoder.Decode(&tree)
	return tree, err
}

// apply sets or removes the value at a path, of which all but the end has to be there.
func apply(about string, tree any, path []string, value json.RawMessage) any {
	if len(path) == 0 {
		return must(decode(value))
	}
	switch parent := tree.(type) {
	case map[string]any:
		key := strings.NewReplacer("~1", "/", "~0", "~").Replace(path[0])
		if len(path) == 1 && value == nil {
			delete(parent, key)
		} else {
			parent[key] = apply(about, parent[key], path[1:], value)
		}
		return parent
	case []any:
		index, err := strconv.Atoi(path[0])
		if err != nil || index > len(parent) {
			log.Fatalf("%s: no item %s", about, path[0])
		}
		if index == len(parent) {
			parent = append(parent, nil)
		}
		parent[index] = apply(about, parent[index], path[1:], value)
		return parent
	case nil:
		return apply(about, map[string]any{}, path, value)
	default:
		log.Fatalf("%s: %v is no parent", about, tree)
		return nil
	}
}
