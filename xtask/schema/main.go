// Command schema writes the description of the served API types that fake-apiserver carries.
//
// The tags of Kubernetes' own Go structs hold everything that the .proto files and the OpenAPI documents leave out:
// the order of the keys, omitempty, pointers, and the type names that decoding errors show. This program walks the
// structs by reflection, checks their protobuf numbers against the modules' generated.proto files, and prints one line
// a field. The output depends on nothing but the pinned modules.
//
// Usage: go run . OUTPUT (`cargo xtask schema` knows the path).
package main

import (
	"bytes"
	"fmt"
	"log"
	"os"
	"reflect"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"schema/roots"
)

const header = `# The API types of Kubernetes v1.37 that this server reads and writes, as their Go structs declare them.
# Made by ` + "`cargo xtask schema`" + ` from k8s.io/api and k8s.io/apimachinery v0.37.1, which are
# Copyright The Kubernetes Authors, Apache License 2.0. Do not edit.
#
# kind APIVERSION KIND TYPE     the type that a body of this version and kind holds ("*": any version)
# leaf NAME                     a type with a text form of its own
# type NAME TYPE                a named scalar, list or map
# message NAME TYPE             a named list that protobuf wraps into a message, as its field 1
# struct NAME                   followed by its fields, in order, embedded ones as they are declared:
#   GONAME NUMBER JSON TYPE     protobuf field number ("-": not in protobuf), JSON name (".": embedded) and options
`

// leaves are the types with a text form of their own that the server knows.
var leaves = []reflect.Type{
	reflect.TypeFor[metav1.Time](),
	reflect.TypeFor[metav1.MicroTime](),
	reflect.TypeFor[metav1.FieldsV1](),
	reflect.TypeFor[resource.Quantity](),
	reflect.TypeFor[intstr.IntOrString](),
}

func main() {
	log.SetFlags(0)
	if len(os.Args) != 2 {
		log.Fatal("usage: go run . OUTPUT")
	}
	var kinds bytes.Buffer
	types := walk{done: map[reflect.Type]bool{}, protos: protoFiles{}}
	for _, root := range roots.All {
		kind := reflect.TypeOf(root.Object).Elem()
		fmt.Fprintf(&kinds, "kind %s %s %s\n", root.APIVersion, kind.Name(), types.name(kind))
	}
	output := slices.Concat([]byte(header), kinds.Bytes(), types.out.Bytes())
	if err := os.WriteFile(os.Args[1], output, 0o644); err != nil {
		log.Fatal(err)
	}
}

// walk describes types, each after those it uses.
type walk struct {
	out    bytes.Buffer
	done   map[reflect.Type]bool // false while a type's parts are being described
	protos protoFiles
}

// name is the text of a type: Go's, but with the package's path where Go prints only its last element.
func (w *walk) name(t reflect.Type) string {
	if t.Name() != "" && t.PkgPath() != "" {
		w.describe(t)
		return qualified(t)
	}
	switch t.Kind() {
	case reflect.Bool, reflect.Int32, reflect.Int64, reflect.String:
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

func qualified(t reflect.Type) string {
	path := strings.TrimPrefix(t.PkgPath(), "k8s.io/api/")
	return strings.TrimPrefix(path, "k8s.io/apimachinery/pkg/") + "." + t.Name()
}

func (w *walk) describe(t reflect.Type) {
	if done, begun := w.done[t]; begun {
		if !done {
			log.Fatalf("%v contains itself, which the server must be taught first", t)
		}
		return
	}
	w.done[t] = false
	defer func() { w.done[t] = true }()
	if slices.Contains(leaves, t) {
		fmt.Fprintf(&w.out, "leaf %s\n", qualified(t))
		return
	}
	for _, method := range []string{"UnmarshalJSON", "UnmarshalText", "MarshalJSON", "MarshalText"} {
		if _, found := reflect.PointerTo(t).MethodByName(method); found {
			log.Fatalf("%v has a JSON form of its own, which the server must be taught first", t)
		}
	}
	if t.Kind() == reflect.Struct {
		w.describeStruct(t)
		return
	}
	keyword := "type"
	if _, found := reflect.PointerTo(t).MethodByName("Unmarshal"); found {
		keyword = "message"
	}
	fmt.Fprintf(&w.out, "%s %s %s\n", keyword, qualified(t), w.underlying(t))
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

func (w *walk) describeStruct(t reflect.Type) {
	message := w.protos.message(t)
	var fields strings.Builder
	for i := range t.NumField() {
		field := t.Field(i)
		number := message.take(t, field)
		fmt.Fprintf(&fields, "  %s %s %s %s\n", field.Name, number, jsonName(t, field), w.name(field.Type))
	}
	message.finish(t)
	fmt.Fprintf(&w.out, "struct %s\n%s", qualified(t), fields.String())
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
