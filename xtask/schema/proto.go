package main

import (
	"log"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
)

// protoFiles holds the text of generated.proto by package.
type protoFiles map[string]string

// protoField is a field as generated.proto declares it.
type protoField struct{ label, scalar, number string }

// protoMessage holds the fields of one message by name, less those already taken. It is nil for a struct that has no
// message: metav1.TypeMeta, which bodies carry in their envelope.
type protoMessage map[string]protoField

var (
	fieldLine = regexp.MustCompile(`(?m)^  (optional|repeated|map)[ <](\S+).* (\w+) = (\d+);`)
	// scalars are the protobuf types of Go's kinds.
	scalars = map[reflect.Kind]string{
		reflect.Bool: "bool", reflect.Int32: "int32", reflect.Int64: "int64", reflect.Float64: "double", reflect.String: "string",
	}
	byteSlice = reflect.TypeFor[[]byte]()
)

func (files protoFiles) message(t reflect.Type) protoMessage {
	if t.Name() == "TypeMeta" {
		return nil
	}
	text, found := files[t.PkgPath()]
	if !found {
		content, err := os.ReadFile(filepath.Join(packageDir(t.PkgPath()), "generated.proto"))
		if err != nil {
			log.Fatal(err)
		}
		text = string(content)
		files[t.PkgPath()] = text
	}
	_, body, found := strings.Cut(text, "\nmessage "+t.Name()+" {\n")
	if !found {
		log.Fatalf("%v has no message in generated.proto", t)
	}
	body, _, _ = strings.Cut("\n"+body, "\n}\n")
	message := protoMessage{}
	for _, match := range fieldLine.FindAllStringSubmatch(body, -1) {
		message[match[3]] = protoField{match[1], match[2], match[4]}
	}
	return message
}

// take returns the protobuf number of a struct's field, which its tag and generated.proto must agree on.
func (message protoMessage) take(t reflect.Type, field reflect.StructField) string {
	tag := field.Tag.Get("protobuf")
	if tag == "" || message == nil {
		return "-"
	}
	parts := strings.Split(tag, ",")
	name := strings.ToLower(field.Name[:1]) + field.Name[1:]
	for _, part := range parts {
		if given, found := strings.CutPrefix(part, "name="); found {
			name = given
		}
	}
	declared, found := message[name]
	if !found || declared != (protoField{label(field.Type), scalar(field.Type, declared.scalar), parts[1]}) {
		log.Fatalf("%v.%s %v (%s) is not what generated.proto says: %v", t, field.Name, field.Type, tag, declared)
	}
	delete(message, name)
	return declared.number
}

// label is what generated.proto must say of a field of type t. (The tags' "opt" and "rep" are not to be trusted, and
// neither are their wire types: metav1.ListMeta declares a number as bytes.)
func label(t reflect.Type) string {
	_, wrapped := reflect.PointerTo(t).MethodByName("Unmarshal")
	switch {
	case t.Kind() == reflect.Map:
		return "map"
	case t.Kind() == reflect.Slice && t != byteSlice && !wrapped:
		return "repeated"
	default:
		return "optional"
	}
}

// scalar is the protobuf type that a field of type t must have: its kind's scalar or, since names of messages
// are of no interest here, any other that is declared.
func scalar(t reflect.Type, declared string) string {
	if t.Kind() == reflect.Pointer || label(t) == "repeated" {
		t = t.Elem()
	}
	if name, found := scalars[t.Kind()]; found {
		return name
	}
	for _, name := range scalars {
		if name == declared {
			return "a message"
		}
	}
	return declared
}

// finish complains about fields that only generated.proto has.
func (message protoMessage) finish(t reflect.Type) {
	if len(message) > 0 {
		log.Fatalf("%v lacks fields of generated.proto: %v", t, message)
	}
}
