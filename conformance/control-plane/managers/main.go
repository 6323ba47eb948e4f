// Command managers writes what the real packages make of writes of custom resources: the fields of values, what is merged, compared and taken
// out, and who owns which fields after several managers have written.
//
// Usage: go run ./managers VALUES STORIES (`cargo xtask schema` knows the paths).
//
// The cases are those of cases.txt: after a line `schema`, values of it, which are all compared with each other, or stories (`story`), whose lines
// say who writes what: `apply`, `force` or `update`, the manager, and the value. Each stands in the field `spec` of a custom resource.
package main

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"log"
	"maps"
	"os"
	"slices"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apiextensions-apiserver/pkg/controller/openapi/builder"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	utiljson "k8s.io/apimachinery/pkg/util/json"
	"k8s.io/apimachinery/pkg/util/managedfields"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
	"sigs.k8s.io/structured-merge-diff/v6/merge"
	"sigs.k8s.io/structured-merge-diff/v6/typed"
)

const version = "example.com/v1"

//go:embed cases.txt
var cases string

// A group is a schema with values and what comes of every two.
type group struct {
	Schema json.RawMessage   `json:"schema"`
	Values []json.RawMessage `json:"values"`
	Pairs  []*pair           `json:"pairs"`
}

// A pair is two values, by their indices: what is written into the one, and what is asked about both.
type pair struct {
	One   int `json:"one"`
	Other int `json:"other"`
	// Refused is why the other one cannot be applied, and Fields are those of the other one: both if it is compared with itself.
	Refused string          `json:"refused,omitempty"`
	Fields  json.RawMessage `json:"fields,omitempty"`
	// Added, Modified and Removed are the fields by which the other value differs from the one.
	Added    json.RawMessage `json:"added,omitempty"`
	Modified json.RawMessage `json:"modified,omitempty"`
	Removed  json.RawMessage `json:"removed,omitempty"`
	// Rest is the one value without the fields of the other one.
	Rest any `json:"rest,omitempty"`
	// Merged is the one value with what the other one says, if that can be applied.
	Merged any `json:"merged,omitempty"`
}

// A story is a number of writes.
type story struct {
	Schema json.RawMessage `json:"schema"`
	Writes []write         `json:"writes"`
}

// A write is a write, and what became of it: it is refused, or there are an object and its owners.
type write struct {
	Verb    string          `json:"verb"`
	Manager string          `json:"manager"`
	Value   json.RawMessage `json:"value"`
	Refused string          `json:"refused,omitempty"`
	Object  any             `json:"object,omitempty"`
	Owners  []owner         `json:"owners,omitempty"`
}

// An owner is a manager and its fields.
type owner struct {
	Manager string          `json:"manager"`
	Applied bool            `json:"applied,omitempty"`
	Fields  json.RawMessage `json:"fields"`
}

func main() {
	log.SetFlags(0)
	if len(os.Args) != 3 {
		log.Fatal("usage: go run ./managers VALUES STORIES")
	}
	var groups []group
	var stories []*story
	for _, block := range strings.Split(cases, "\nschema ")[1:] {
		compared, told := vectors(block)
		groups, stories = append(groups, compared), append(stories, told...)
	}
	record(os.Args[1], groups)
	record(os.Args[2], stories)
}

// record writes vectors, one line each.
func record[T any](path string, vectors []T) {
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	for _, vector := range vectors {
		if err := encoder.Encode(vector); err != nil {
			log.Fatal(err)
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

// vectors are those of a schema and the lines below it.
func vectors(block string) (group, []*story) {
	lines := strings.Split(strings.TrimSpace(block), "\n")
	schema, lines := json.RawMessage(lines[0]), lines[1:]
	lines = slices.DeleteFunc(lines, func(line string) bool { return line == "" || line[0] == '#' })
	world := worldOf(schema)
	compared := group{Schema: schema}
	var stories []*story
	for _, line := range lines {
		verb, rest, _ := strings.Cut(line, " ")
		switch {
		case line == "story":
			stories = append(stories, &story{Schema: schema})
			world.live, world.managers = world.empty(), fieldpath.ManagedFields{}
		case verb == "apply" || verb == "force" || verb == "update":
			manager, value, _ := strings.Cut(rest, " ")
			one := write{Verb: verb, Manager: manager, Value: json.RawMessage(value)}
			world.write(&one)
			current := stories[len(stories)-1]
			current.Writes = append(current.Writes, one)
		default:
			compared.Values = append(compared.Values, json.RawMessage(line))
		}
	}
	for one := range compared.Values {
		for other := range compared.Values {
			if pair := world.compare(compared.Values, one, other); pair != nil {
				compared.Pairs = append(compared.Pairs, pair)
			}
		}
	}
	return compared, stories
}

// A world is a custom resource, with the present object and its managers.
type world struct {
	types    managedfields.TypeConverter
	live     *typed.TypedValue
	managers fieldpath.ManagedFields
}

func worldOf(schema json.RawMessage) *world {
	crd := &apiextensionsv1.CustomResourceDefinition{}
	text := `{"spec":{"group":"example.com","names":{"plural":"things","kind":"Thing","listKind":"ThingList"},"scope":"Namespaced",` +
		`"versions":[{"name":"v1","served":true,"storage":true,"schema":{"openAPIV3Schema":{"type":"object","properties":{"spec":` +
		string(schema) + `}}}}]}}`
	if err := utiljson.Unmarshal([]byte(text), crd); err != nil {
		log.Fatalf("%s: %v", schema, err)
	}
	apiextensionsv1.SetDefaults_CustomResourceDefinitionSpec(&crd.Spec)
	published := must(builder.BuildOpenAPIV3(crd, "v1", builder.Options{}))
	return &world{types: must(managedfields.NewTypeConverter(published.Components.Schemas, false))}
}

func object(spec json.RawMessage) *unstructured.Unstructured {
	content := map[string]any{"apiVersion": version, "kind": "Thing"}
	if spec != nil {
		var value any
		if err := utiljson.Unmarshal(spec, &value); err != nil {
			log.Fatalf("%s: %v", spec, err)
		}
		content["spec"] = value
	}
	return &unstructured.Unstructured{Object: content}
}

func (w *world) empty() *typed.TypedValue {
	return must(w.types.ObjectToTyped(object(nil)))
}

// content is an object without what all objects have.
func content(value *typed.TypedValue) any {
	content := maps.Clone(value.AsValue().Unstructured().(map[string]any))
	delete(content, "apiVersion")
	delete(content, "kind")
	return content
}

// common are the fields that all objects have, which no manager owns.
var common = fieldpath.NewSet(fieldpath.MakePathOrDie("apiVersion"), fieldpath.MakePathOrDie("kind"))

func fields(set *fieldpath.Set) json.RawMessage {
	if set.Empty() {
		return nil
	}
	return must(set.Difference(common).ToJSON())
}

// compare is nil if one of both does not have the form of the schema.
func (w *world) compare(values []json.RawMessage, i, j int) *pair {
	p := &pair{One: i, Other: j}
	one, err := w.types.ObjectToTyped(object(values[i]), typed.AllowDuplicates)
	if err != nil {
		if i == j {
			p.Refused = err.Error()
			return p
		}
		return nil
	}
	other, err := w.types.ObjectToTyped(object(values[j]), typed.AllowDuplicates)
	if err != nil {
		return nil
	}
	set := must(other.ToFieldSet()).Difference(common)
	changes := must(one.Compare(other))
	p.Added, p.Modified, p.Removed = fields(changes.Added), fields(changes.Modified), fields(changes.Removed)
	p.Rest = content(one.RemoveItems(set))
	// What is applied has nothing twice.
	other, err = w.types.ObjectToTyped(object(values[j]))
	switch {
	case err == nil:
		p.Merged = content(must(one.Merge(other)))
	case i == j:
		p.Refused = err.Error()
	}
	if i == j {
		p.Fields = fields(set)
	}
	return p
}

// One version is enough here.
func (w *world) Convert(object *typed.TypedValue, _ fieldpath.APIVersion) (*typed.TypedValue, error) {
	return object, nil
}

func (w *world) IsMissingVersionError(error) bool { return false }

func (w *world) write(one *write) {
	var options []typed.ValidationOptions
	if one.Verb == "update" {
		options = append(options, typed.AllowDuplicates)
	}
	value, err := w.types.ObjectToTyped(object(one.Value), options...)
	if err != nil {
		one.Refused = err.Error()
		return
	}
	updater := (&merge.UpdaterBuilder{Converter: w, ReturnInputOnNoop: false}).BuildUpdater()
	managers := w.managers.Copy()
	var live *typed.TypedValue
	if one.Verb == "update" {
		live, managers, err = updater.Update(w.live, value, version, managers, one.Manager+" update")
	} else {
		live, managers, err = updater.Apply(w.live, value, version, managers, one.Manager, one.Verb == "force")
	}
	if err != nil {
		one.Refused = err.Error()
		return
	}
	if live != nil {
		w.live = live
	}
	w.managers = fieldpath.ManagedFields{}
	for name, owned := range managers {
		if set := owned.Set().Difference(common); !set.Empty() {
			w.managers[name] = fieldpath.NewVersionedSet(set, owned.APIVersion(), owned.Applied())
		}
	}
	one.Object = content(w.live)
	for name, owned := range w.managers {
		one.Owners = append(one.Owners, owner{strings.TrimSuffix(name, " update"), owned.Applied(), fields(owned.Set())})
	}
	slices.SortFunc(one.Owners, func(a, b owner) int {
		if a.Applied != b.Applied {
			return map[bool]int{true: -1, false: 1}[a.Applied]
		}
		return strings.Compare(a.Manager, b.Manager)
	})
}
