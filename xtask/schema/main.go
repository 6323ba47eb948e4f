// Command schema writes the description of the served API types that fake-apiserver carries.
//
// The tags of Kubernetes' own Go structs hold everything that the .proto files and the OpenAPI documents leave out:
// the order of the keys, omitempty, pointers, and the type names that decoding errors show. This program walks the
// structs by reflection, checks their protobuf numbers against the modules' generated.proto files, and prints one line
// a field, and below it what its tags and the markers in its comment say of merging, defaults and validation. The output depends on nothing but the pinned modules.
//
// Usage: go run . OUTPUT OPTIONAL (`cargo xtask schema` knows the path).
package main

import (
	"bytes"
	"fmt"
	"log"
	"os"
	"reflect"
	"slices"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/intstr"
	"schema/roots"
)

const header = `# The API types of Kubernetes v1.37 that this server reads and writes, as their Go structs declare them.
# Made by ` + "`cargo xtask schema`" + ` from k8s.io/api, apimachinery, apiextensions-apiserver and kube-aggregator
# v0.37.1, which are Copyright The Kubernetes Authors, Apache License 2.0. Do not edit.
#
# kind APIVERSION KIND TYPE     the type that a body of this version and kind holds ("*": any version)
# leaf NAME FORM                a type with a form of its own
# type NAME TYPE                a named scalar, list or map
# message NAME TYPE             a named list that protobuf wraps into a message, as its field 1
# struct NAME                   followed by its fields, in order, embedded ones as they are declared:
#   GONAME NUMBER JSON TYPE     protobuf field number ("-": not in protobuf), JSON name (".": embedded) and options
# struct NAME open              the same, but other fields are kept, too, and all are ordered by name
# union NAME ERROR              a struct that is in JSON what one of its fields is; ERROR refuses JSON of other kinds
#
# Below a field, or below the line of a type, stand its tags and markers:
#     patch STRATEGIES KEY      patchStrategy and patchMergeKey
#     list TYPE                 listType: atomic, set, or the keys of a map (listMapKey)
#     atomic, granular          mapType or structType
#     default JSON              default
#     optional, required        optional or required, where omitempty says otherwise
#     nilDiffers                rules, messages or managers tell an absent list or map from an empty one
#     enum JSON                 enum: the values
`

const optionalHeader = `# The types of versions that a server has only if it is asked for them, but for those in types.txt, whose head explains the lines.
# Made by ` + "`cargo xtask schema`" + ` from k8s.io/api v0.37.1, which is Copyright The Kubernetes Authors, Apache License 2.0. Do not edit.
`

// leaves are the types with a form of their own, by the name that the server has for it. "any" is a message whose field 1
// is JSON.
var leaves = map[reflect.Type]string{
	reflect.TypeFor[metav1.Time]():          "time",
	reflect.TypeFor[metav1.MicroTime]():     "microTime",
	reflect.TypeFor[metav1.FieldsV1]():      "any",
	reflect.TypeFor[runtime.RawExtension](): "any",
	reflect.TypeFor[apiextensionsv1.JSON](): "any",
	reflect.TypeFor[resource.Quantity]():    "quantity",
	reflect.TypeFor[intstr.IntOrString]():   "intOrString",
}

// unions are the structs that are in JSON what one of their fields is, with the error of their UnmarshalJSON for JSON of
// another kind: "" if that counts as nothing.
var unions = map[reflect.Type]string{
	reflect.TypeFor[apiextensionsv1.JSONSchemaPropsOrArray]():       "",
	reflect.TypeFor[apiextensionsv1.JSONSchemaPropsOrBool]():        " boolean or JSON schema expected",
	reflect.TypeFor[apiextensionsv1.JSONSchemaPropsOrStringArray](): "",
}

func main() {
	log.SetFlags(0)
	if len(os.Args) != 3 {
		log.Fatal("usage: go run . OUTPUT OPTIONAL")
	}
	types := walk{begun: map[reflect.Type]bool{}, protos: protoFiles{}, sources: sources{}}
	all := types.text(roots.All)
	optional := types.text(roots.Optional)
	allNilsTaken()
	write(os.Args[1], header, all)
	write(os.Args[2], optionalHeader, optional)
}

func write(path, header string, text []byte) {
	if err := os.WriteFile(path, slices.Concat([]byte(header), text), 0o644); err != nil {
		log.Fatal(err)
	}
}

// text is the lines about some roots and their types, but for those types that were described before.
func (w *walk) text(some []roots.Root) []byte {
	var kinds bytes.Buffer
	w.out.Reset()
	for _, root := range some {
		kind := reflect.TypeOf(root.Object).Elem()
		fmt.Fprintf(&kinds, "kind %s %s %s\n", root.APIVersion, kind.Name(), w.name(kind))
	}
	return slices.Concat(kinds.Bytes(), w.out.Bytes())
}

// walk describes types, each once.
type walk struct {
	out     bytes.Buffer
	begun   map[reflect.Type]bool
	protos  protoFiles
	sources sources
}

// name is the text of a type: Go's, but with the package's path where Go prints only its last element.
func (w *walk) name(t reflect.Type) string {
	if t.Name() != "" && t.PkgPath() != "" {
		w.describe(t)
		return qualified(t)
	}
	switch t.Kind() {
	case reflect.Bool, reflect.Int32, reflect.Int64, reflect.Float64, reflect.String:
		return t.Kind().String()
	case reflect.Pointer:
		return "*" + w.name(t.Elem())
	case reflect.Slice:
		if t.Elem().Kind() == reflect.Uint8 {
			return "[]uint8"
		}
		return "[]" + w.name(t.Elem())
	case reflect.Map:
		if t.Key().Kind() == reflect.String {
			return "map[" + w.name(t.Key()) + "]" + w.name(t.Elem())
		}
	}
	log.Fatalf("%v: the server has no notion of this kind of type", t)
	return ""
}

// prefixes of the packages' paths that say nothing.
var prefixes = []string{
	"k8s.io/api/", "k8s.io/apimachinery/pkg/", "k8s.io/apiextensions-apiserver/pkg/apis/", "k8s.io/kube-aggregator/pkg/apis/",
}

func qualified(t reflect.Type) string {
	path := t.PkgPath()
	for _, prefix := range prefixes {
		path = strings.TrimPrefix(path, prefix)
	}
	return path + "." + t.Name()
}

func (w *walk) describe(t reflect.Type) {
	if w.begun[t] {
		return
	}
	w.begun[t] = true
	if form, found := leaves[t]; found {
		fmt.Fprintf(&w.out, "leaf %s %s\n", qualified(t), form)
		return
	}
	if refusal, found := unions[t]; found {
		fields := w.fields(t, func(reflect.StructField) string { return "-" })
		fmt.Fprintf(&w.out, "union %s%s\n%s", qualified(t), refusal, fields)
		return
	}
	for _, method := range []string{"UnmarshalJSON", "UnmarshalText", "MarshalJSON", "MarshalText"} {
		if _, found := reflect.PointerTo(t).MethodByName(method); found {
			log.Fatalf("%v has a JSON form of its own, which the server must be taught first", t)
		}
	}
	facets := w.sources.ofType(t)
	if t.Kind() == reflect.Struct {
		fields := w.fields(t, func(field reflect.StructField) string { return jsonName(t, field) })
		fmt.Fprintf(&w.out, "struct %s\n%s%s", qualified(t), facets, fields)
		return
	}
	keyword := "type"
	if _, found := reflect.PointerTo(t).MethodByName("Unmarshal"); found {
		keyword = "message"
	}
	fmt.Fprintf(&w.out, "%s %s %s\n%s", keyword, qualified(t), w.underlying(t), facets)
}

// underlying is the text of what a named type is made of.
func (w *walk) underlying(t reflect.Type) string {
	switch t.Kind() {
	case reflect.Slice:
		return "[]" + w.name(t.Elem())
	case reflect.Map:
		return "map[" + w.name(t.Key()) + "]" + w.name(t.Elem())
	default:
		return t.Kind().String()
	}
}

// fields describes the fields of a struct, whose JSON names are given by json.
func (w *walk) fields(t reflect.Type, json func(reflect.StructField) string) string {
	message := w.protos.message(t)
	var fields strings.Builder
	for i := range t.NumField() {
		field := t.Field(i)
		number := message.take(t, field)
		fmt.Fprintf(&fields, "  %s %s %s %s\n", field.Name, number, json(field), w.name(field.Type))
		fields.WriteString(w.sources.ofField(t, field))
		fields.WriteString(takeNil(qualified(t), field.Name))
	}
	message.finish(t)
	return fields.String()
}

// jsonName is the JSON name and the options of a field, "." for one whose fields stand in its parent's object.
func jsonName(t reflect.Type, field reflect.StructField) string {
	name, options, _ := strings.Cut(field.Tag.Get("json"), ",")
	if field.Anonymous && name == "" && field.Type.Kind() == reflect.Struct {
		return "."
	}
	if name == "" || name == "-" {
		log.Fatalf("%v.%s has no JSON name", t, field.Name)
	}
	for option := range strings.SplitSeq(options, ",") {
		if option != "" && option != "omitempty" && option != "omitzero" {
			log.Fatalf("%v.%s: the server has no notion of the JSON option %q", t, field.Name, option)
		}
		if option != "" {
			name += "," + option
		}
	}
	return name
}
