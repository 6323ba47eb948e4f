// Command internals writes how Kubernetes' internal types differ from those of the versions that the server stores.
//
// Validation works on internal types, and messages print them. They are mostly the versioned ones without names for JSON; this
// program walks the types of all stored kinds next to their internal ones and writes those structs whose fields are not the same.
//
// Usage: go run ./internals OUTPUT (`cargo xtask schema` knows the path).
package main

import (
	"bytes"
	"fmt"
	"log"
	"os"
	"reflect"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/kubernetes/pkg/api/legacyscheme"
	_ "k8s.io/kubernetes/pkg/apis/admissionregistration/install"
	_ "k8s.io/kubernetes/pkg/apis/apps/install"
	_ "k8s.io/kubernetes/pkg/apis/authentication/install"
	_ "k8s.io/kubernetes/pkg/apis/authorization/install"
	_ "k8s.io/kubernetes/pkg/apis/autoscaling/install"
	_ "k8s.io/kubernetes/pkg/apis/batch/install"
	_ "k8s.io/kubernetes/pkg/apis/certificates/install"
	_ "k8s.io/kubernetes/pkg/apis/coordination/install"
	_ "k8s.io/kubernetes/pkg/apis/core/install"
	_ "k8s.io/kubernetes/pkg/apis/discovery/install"
	_ "k8s.io/kubernetes/pkg/apis/events/install"
	_ "k8s.io/kubernetes/pkg/apis/flowcontrol/install"
	_ "k8s.io/kubernetes/pkg/apis/networking/install"
	_ "k8s.io/kubernetes/pkg/apis/node/install"
	_ "k8s.io/kubernetes/pkg/apis/policy/install"
	_ "k8s.io/kubernetes/pkg/apis/rbac/install"
	_ "k8s.io/kubernetes/pkg/apis/resource/install"
	_ "k8s.io/kubernetes/pkg/apis/scheduling/install"
	_ "k8s.io/kubernetes/pkg/apis/storage/install"
	_ "k8s.io/kubernetes/pkg/apis/storagemigration/install"
)

const header = `# The internal types of Kubernetes v1.37 that differ from the versioned ones, as messages print them.
# Made by ` + "`cargo xtask schema`" + ` from k8s.io/kubernetes v1.37.1, which is Copyright The Kubernetes Authors, Apache License 2.0.
# Do not edit.
#
# struct NAME                   a versioned type, followed by the fields of the internal one, in order:
#   NAME JSON                   the name that is printed, and the versioned field with the value
#   NAME JSON *                 a pointer, where the versioned field is none
#   NAME JSON ZERO              no pointer, where the versioned field is one, and what is printed of its zero
#   NAME - ZERO                 a field that the versioned struct does not have, and what is printed of its zero
`

// unstored are the groups whose objects are stored as those of another.
var unstored = []string{"events.k8s.io"}

// regrouped are structs whose fields stand in other structs inside. No message prints them.
var regrouped = []string{"NamedRuleWithOperations"}

// shared is the path of the packages whose types are internal, too.
const shared = "k8s.io/apimachinery/"

func main() {
	log.SetFlags(0)
	if len(os.Args) != 2 {
		log.Fatal("usage: go run ./internals OUTPUT")
	}
	found := walk{pairs: map[reflect.Type]reflect.Type{}, texts: map[string]string{}}
	for kind, versioned := range legacyscheme.Scheme.AllKnownTypes() {
		// The versions that are stored: v1, and v2 of autoscaling.
		if kind.Version != "v1" && kind.Version != "v2" || strings.HasSuffix(kind.Kind, "List") || slices.Contains(unstored, kind.Group) {
			continue
		}
		internal, err := legacyscheme.Scheme.New(kind.GroupKind().WithVersion(runtime.APIVersionInternal))
		if runtime.IsNotRegisteredError(err) || kind.Group == "autoscaling" && kind.Version == "v1" && kind.Kind != "Scale" {
			continue
		}
		if err != nil {
			log.Fatal(err)
		}
		found.pair(versioned, reflect.TypeOf(internal).Elem())
	}
	var out bytes.Buffer
	out.WriteString(header)
	names := make([]string, 0, len(found.texts))
	for name := range found.texts {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		out.WriteString(found.texts[name])
	}
	if err := os.WriteFile(os.Args[1], out.Bytes(), 0o644); err != nil {
		log.Fatal(err)
	}
}

// walk finds the structs that differ.
type walk struct {
	pairs map[reflect.Type]reflect.Type // internal types by versioned ones
	texts map[string]string             // by the name of the versioned type
}

// field is a field as JSON of the struct has it.
type field struct {
	name  string // in JSON
	goes  string // in Go
	typed reflect.Type
}

// flat are the fields of a struct, with those of embedded structs in their places. Metadata is one field, also where it is embedded.
func flat(t reflect.Type) []field {
	var all []field
	for i := range t.NumField() {
		one := t.Field(i)
		name, _, _ := strings.Cut(one.Tag.Get("json"), ",")
		switch {
		case one.Name == "TypeMeta":
		case one.Name == "ObjectMeta":
			all = append(all, field{"metadata", one.Name, one.Type})
		case one.Anonymous && name == "" && one.Type.Kind() == reflect.Struct:
			all = append(all, flat(one.Type)...)
		case name == "":
			all = append(all, field{one.Name, one.Name, one.Type})
		default:
			all = append(all, field{name, one.Name, one.Type})
		}
	}
	return all
}

func (w walk) pair(versioned, internal reflect.Type) {
	for versioned.Kind() == reflect.Pointer {
		versioned = versioned.Elem()
	}
	for internal.Kind() == reflect.Pointer {
		internal = internal.Elem()
	}
	if versioned == reflect.TypeFor[runtime.RawExtension]() {
		return
	}
	if versioned.Kind() != internal.Kind() {
		log.Fatalf("%v is a %v inside", versioned, internal)
	}
	switch versioned.Kind() {
	case reflect.Slice, reflect.Map:
		w.pair(versioned.Elem(), internal.Elem())
	case reflect.Struct:
		if versioned == internal && strings.HasPrefix(versioned.PkgPath(), shared) {
			return
		}
		if known, found := w.pairs[versioned]; found {
			if known != internal {
				log.Fatalf("%v is %v inside, and %v", versioned, known, internal)
			}
			return
		}
		w.pairs[versioned] = internal
		w.structs(versioned, internal)
	}
}

func (w walk) structs(versioned, internal reflect.Type) {
	outside, inside := flat(versioned), flat(internal)
	var text strings.Builder
	fmt.Fprintf(&text, "struct %s\n", strings.TrimPrefix(versioned.PkgPath(), "k8s.io/api/")+"."+versioned.Name())
	same := len(outside) == len(inside)
	for i, one := range inside {
		at := slices.IndexFunc(outside, func(other field) bool { return strings.EqualFold(other.goes, one.goes) })
		printed := one.name
		if one.goes == "ObjectMeta" {
			printed = one.goes
		}
		if at < 0 {
			same = false
			if slices.Contains(regrouped, internal.Name()) {
				return
			}
			if one.typed.Kind() == reflect.Struct {
				log.Fatalf("%v lacks the struct %s of %v", versioned, one.name, internal)
			}
			fmt.Fprintf(&text, "  %s - %s\n", printed, zero(one.typed))
			continue
		}
		other := outside[at]
		fmt.Fprintf(&text, "  %s %s", printed, other.name)
		switch was, is := other.typed.Kind() == reflect.Pointer, one.typed.Kind() == reflect.Pointer; {
		case is && !was:
			text.WriteString(" *")
		case was && !is:
			fmt.Fprintf(&text, " %s", zero(one.typed))
		}
		text.WriteString("\n")
		same = same && at == i && printed == other.goes && (other.typed.Kind() == reflect.Pointer) == (one.typed.Kind() == reflect.Pointer)
		w.pair(other.typed, one.typed)
	}
	if !same {
		w.texts[versioned.PkgPath()+"."+versioned.Name()] = text.String()
	}
}

// zero is what is printed of a zero value.
func zero(t reflect.Type) string {
	switch t.Kind() {
	case reflect.Pointer, reflect.Slice, reflect.Map, reflect.Interface:
		return "null"
	case reflect.String:
		return `""`
	case reflect.Bool:
		return "false"
	case reflect.Int32, reflect.Int64:
		return "0"
	case reflect.Struct:
		if t.Name() == "IntOrString" {
			return "0"
		}
	}
	log.Fatalf("the zero of %v is not known", t)
	return ""
}
