// Command vectors writes what the real codecs make of many inputs, for fake-apiserver's schema to be measured by.
//
// Usage: go run ./vectors DIRECTORY (`cargo xtask schema` knows the path).
package main

import (
	"bytes"
	"encoding/json"
	"log"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	jsonserializer "k8s.io/apimachinery/pkg/runtime/serializer/json"
	kjson "sigs.k8s.io/json"

	"schema/roots"
)

// A vector is one input with what became of it. Bytes, which are base64, hold what is not text. Encoded is the message of the
// output, where it is not the input.
type vector struct {
	APIVersion string   `json:"apiVersion,omitempty"`
	Kind       string   `json:"kind,omitempty"`
	Input      string   `json:"input,omitempty"`
	Bytes      []byte   `json:"bytes,omitempty"`
	Encoded    []byte   `json:"encoded,omitempty"`
	Error      string   `json:"error,omitempty"`
	Findings   []string `json:"findings,omitempty"`
	Output     string   `json:"output,omitempty"`
}

// An object is a pointer to one of the roots' types.
type object interface {
	runtime.Object
	Marshal() ([]byte, error)
	Unmarshal([]byte) error
	Reset()
}

func main() {
	log.SetFlags(0)
	if len(os.Args) != 2 {
		log.Fatal("usage: go run ./vectors DIRECTORY")
	}
	time.Local = time.UTC
	write("json", decodeInputs())
	write("interpret", interpretInputs())
	write("full", fullObjects())
	write("protobuf", decodeMessages())
	write("quantities", parseAll(quantities(), func(text string) (string, error) {
		parsed, err := resource.ParseQuantity(text)
		return parsed.String(), err
	}))
	writeAmounts()
	write("times", parseAll(times, func(text string) (string, error) {
		parsed := metav1.Time{}
		err := parsed.UnmarshalJSON(must(json.Marshal(text)))
		return string(must(parsed.MarshalJSON())), err
	}))
	write("floats", parseAll(floats, func(text string) (string, error) {
		return string(must(json.Marshal(must(strconv.ParseFloat(text, 64))))), nil
	}))
	write("microtimes", parseAll(times, func(text string) (string, error) {
		parsed := metav1.MicroTime{}
		err := parsed.UnmarshalJSON(must(json.Marshal(text)))
		return string(must(parsed.MarshalJSON())), err
	}))
}

func must[T any](value T, err error) T {
	if err != nil {
		log.Fatal(err)
	}
	return value
}

// write makes a file of one line a vector.
func write(name string, vectors []vector) {
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	for _, vector := range vectors {
		if err := encoder.Encode(vector); err != nil {
			log.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(os.Args[1], name+".jsonl"), out.Bytes(), 0o644); err != nil {
		log.Fatal(err)
	}
}

func newObject(apiVersion, kind string) object {
	for _, root := range roots.Every {
		t := reflect.TypeOf(root.Object).Elem()
		if t.Name() == kind && (root.APIVersion == apiVersion || root.APIVersion == "*") {
			return reflect.New(t).Interface().(object)
		}
	}
	log.Fatalf("no root %s %s", apiVersion, kind)
	return nil
}

// stored is an object as it reads back from storage, at revision 7, as the server sends it.
func stored(original object) string {
	kind := original.GetObjectKind().GroupVersionKind()
	copied := reflect.New(reflect.TypeOf(original).Elem()).Interface().(object)
	if err := copied.Unmarshal(must(original.Marshal())); err != nil {
		log.Fatal(err)
	}
	copied.GetObjectKind().SetGroupVersionKind(kind)
	if accessor, err := meta.CommonAccessor(copied); err == nil {
		accessor.SetResourceVersion("7")
	}
	var out bytes.Buffer
	if err := json.NewEncoder(&out).Encode(copied); err != nil {
		log.Fatalf("%T: %v", copied, err)
	}
	return strings.TrimSuffix(out.String(), "\n")
}

// decodeInputs decodes JSON strictly.
func decodeInputs() []vector {
	var vectors []vector
	for _, input := range slices.Concat(jsonInputs(), workloadInputs()) {
		result := vector{APIVersion: input.apiVersion, Kind: input.kind, Input: input.text}
		if strings.ToValidUTF8(input.text, "") != input.text {
			result.Input, result.Bytes = "", []byte(input.text)
		}
		decoded := newObject(input.apiVersion, input.kind)
		findings, err := kjson.UnmarshalStrict([]byte(input.text), decoded)
		if err != nil {
			result.Error = err.Error()
		} else {
			for _, finding := range findings {
				result.Findings = append(result.Findings, finding.Error())
			}
			result.Output = stored(decoded)
		}
		vectors = append(vectors, result)
	}
	return vectors
}

// interpretInputs reads the version and kind of bodies.
func interpretInputs() []vector {
	var vectors []vector
	for _, text := range bodies {
		result := vector{Input: text}
		found, err := jsonserializer.DefaultMetaFactory.Interpret([]byte(text))
		if err != nil {
			result.Error = err.Error()
		} else {
			result.APIVersion, result.Kind = found.GroupVersion().String(), found.Kind
		}
		vectors = append(vectors, result)
	}
	return vectors
}

// fullObjects has each kind twice: with every field set, and with whatever is as empty as it can be and still be there.
// Lists are only empty: their items are kinds of their own.
func fullObjects() []vector {
	var vectors []vector
	for _, root := range roots.Every {
		kind := reflect.TypeOf(root.Object).Elem().Name()
		for _, fill := range []*filler{{}, {empty: true}} {
			if strings.HasSuffix(kind, "List") && !fill.empty {
				continue
			}
			filled := newObject(root.APIVersion, kind)
			fill.value(reflect.ValueOf(filled).Elem(), kind)
			apiVersion := strings.ReplaceAll(root.APIVersion, "*", "policy/v1")
			filled.GetObjectKind().SetGroupVersionKind(schema.GroupVersionKind{})
			if accessor, err := meta.CommonAccessor(filled); err == nil {
				accessor.SetResourceVersion("7")
			}
			result := vector{APIVersion: apiVersion, Kind: kind, Bytes: must(filled.Marshal()), Output: stored(filled)}
			read := newObject(root.APIVersion, kind)
			if err := json.Unmarshal([]byte(result.Output), read); err != nil {
				log.Fatal(err)
			}
			if encoded := must(read.Marshal()); !bytes.Equal(encoded, result.Bytes) {
				result.Encoded = encoded
			}
			vectors = append(vectors, result)
		}
	}
	return vectors
}

// decodeMessages decodes protobuf.
func decodeMessages() []vector {
	var vectors []vector
	for _, input := range messages() {
		result := vector{APIVersion: input.apiVersion, Kind: input.kind, Bytes: []byte(input.text)}
		decoded := newObject(input.apiVersion, input.kind)
		if err := decoded.Unmarshal([]byte(input.text)); err != nil {
			result.Error = err.Error()
		} else {
			result.Output = stored(decoded)
		}
		vectors = append(vectors, result)
	}
	return vectors
}

func parseAll(inputs []string, parse func(string) (string, error)) []vector {
	var vectors []vector
	for _, input := range inputs {
		result := vector{Input: input}
		output, err := parse(input)
		if err != nil {
			result.Error = err.Error()
		} else {
			result.Output = output
		}
		vectors = append(vectors, result)
	}
	return vectors
}
