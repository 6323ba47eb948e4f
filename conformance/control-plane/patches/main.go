// Command patches writes what the real packages make of strategic merge patches of built-in kinds.
//
// Usage: go run ./patches FILE (`cargo xtask schema` knows the path).
//
// The cases are those of cases.txt, and random ones from a seed. After a line `kind` stand objects of that kind: `= ORIGINAL`; below it
// patches of it, `+ PATCH`; or `> MODIFIED`, of which the patch is made as clients make it, and `< CURRENT`, to which a patch
// is made and applied that leads from the original to the modified one, as `kubectl apply` does.
package main

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"log"
	"maps"
	"math/rand"
	"os"
	"reflect"
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	utiljson "k8s.io/apimachinery/pkg/util/json"
	"k8s.io/apimachinery/pkg/util/strategicpatch"
)

const (
	seed   = 1
	random = 150
	// repetitions is how often a vector is made to see whether it is always the same.
	repetitions = 20
)

//go:embed cases.txt
var cases string

// A kind is what a patch is applied to.
type kind struct {
	apiVersion string
	structure  any
}

var kinds = map[string]kind{
	"ConfigMap":          {"v1", &corev1.ConfigMap{}},
	"ControllerRevision": {"apps/v1", &appsv1.ControllerRevision{}},
	"Deployment":         {"apps/v1", &appsv1.Deployment{}},
	"Pod":                {"v1", &corev1.Pod{}},
	"Secret":             {"v1", &corev1.Secret{}},
	"ServiceAccount":     {"v1", &corev1.ServiceAccount{}},
}

// A vector is a patch, and what becomes of the document.
type vector struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	Document   any    `json:"document"`
	Patch      any    `json:"patch"`
	Result     any    `json:"result,omitempty"`
	Error      string `json:"error,omitempty"`
	// Panics says that Go fails with some of its own.
	Panics bool `json:"panics,omitempty"`
}

type object = map[string]any

func main() {
	log.SetFlags(0)
	if len(os.Args) != 2 {
		log.Fatal("usage: go run ./patches FILE")
	}
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	for _, vector := range append(table(), chance()...) {
		if err := encoder.Encode(vector); err != nil {
			log.Fatal(err)
		}
	}
	if err := os.WriteFile(os.Args[1], out.Bytes(), 0o644); err != nil {
		log.Fatal(err)
	}
}

func must[T any](value T, err error) T {
	if err != nil {
		log.Fatal(err)
	}
	return value
}

func parse(text string) object {
	value := object{}
	if err := utiljson.Unmarshal([]byte(text), &value); err != nil {
		log.Fatalf("%s: %v", text, err)
	}
	return value
}

func text(value object) []byte { return must(json.Marshal(value)) }

// apply is what becomes of a document.
func apply(name string, document, patch object) (result vector) {
	result = vector{APIVersion: kinds[name].apiVersion, Kind: name, Document: document, Patch: patch}
	defer func() {
		result.Panics = recover() != nil
	}()
	// Applying changes both.
	patched, err := strategicpatch.StrategicMergeMapPatch(parse(string(text(document))), parse(string(text(patch))), kinds[name].structure)
	if err != nil {
		result.Error = err.Error()
		return result
	}
	result.Result = patched
	return result
}

// between are the patches that lead from one object to another: of the object itself, and of the current one, if there is one.
func between(name string, original, modified, current object) vector {
	if current == nil {
		patch := must(strategicpatch.CreateTwoWayMergePatch(text(original), text(modified), kinds[name].structure))
		return apply(name, original, parse(string(patch)))
	}
	meta := must(strategicpatch.NewPatchMetaFromStruct(kinds[name].structure))
	patch := must(strategicpatch.CreateThreeWayMergePatch(text(original), text(modified), text(current), meta, true))
	return apply(name, current, parse(string(patch)))
}

// always are the vectors that are the same whenever they are made: Go's maps have no order.
func always(make func() vector, vectors []vector) []vector {
	first := make()
	for range repetitions {
		if !reflect.DeepEqual(make(), first) {
			return vectors
		}
	}
	return append(vectors, first)
}

// table are the vectors of cases.txt.
func table() []vector {
	var vectors []vector
	var name string
	var original, modified object
	for line := range strings.Lines(cases) {
		verb, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
		switch verb {
		case "", "#":
		case "kind":
			name = rest
		case "=":
			original = parse(rest)
		case "+":
			vectors = always(func() vector { return apply(name, original, parse(rest)) }, vectors)
		case ">":
			modified = parse(rest)
			vectors = always(func() vector { return between(name, original, modified, nil) }, vectors)
		case "<":
			vectors = always(func() vector { return between(name, original, modified, parse(rest)) }, vectors)
		default:
			log.Fatalf("no case: %s", line)
		}
	}
	return vectors
}

// A generator makes random deployments.
type generator struct{ *rand.Rand }

// chance are random vectors.
func chance() []vector {
	g := generator{rand.New(rand.NewSource(seed))}
	var vectors []vector
	for range random {
		original, modified, current := g.deployment(), g.deployment(), g.deployment()
		for _, current := range []object{nil, current} {
			vectors = always(func() vector { return between("Deployment", original, modified, current) }, vectors)
		}
	}
	return vectors
}

// some puts fields into an object, each by chance.
func (g generator) some(into object, fields object) object {
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		if g.Intn(3) > 0 {
			into[name] = fields[name]
		}
	}
	return into
}

// few are some of the names, in any order.
func (g generator) few(names ...string) []string {
	g.Shuffle(len(names), func(i, j int) { names[i], names[j] = names[j], names[i] })
	return names[:g.Intn(len(names)+1)]
}

func (g generator) texts(names ...string) any {
	list := []any{}
	for _, name := range g.few(names...) {
		list = append(list, name)
	}
	return list
}

func (g generator) entries() any {
	entries := object{}
	for _, name := range g.few("a", "b", "c") {
		entries[name] = []string{"x", "y"}[g.Intn(2)]
	}
	return entries
}

// items are objects with a key.
func (g generator) items(key string, make func(string) object, names ...string) any {
	list := []any{}
	for _, name := range g.few(names...) {
		item := make(name)
		item[key] = name
		list = append(list, item)
	}
	return list
}

func (g generator) container(string) object {
	ports := []any{}
	for _, port := range g.few("80", "443", "8080") {
		ports = append(ports, g.some(object{"containerPort": json.Number(port)}, object{"protocol": "TCP", "name": "p" + port}))
	}
	env := func(string) object {
		if g.Intn(2) == 0 {
			return object{"value": []string{"x", "y"}[g.Intn(2)]}
		}
		return object{"valueFrom": object{"secretKeyRef": object{"name": "s", "key": []string{"k", "l"}[g.Intn(2)]}}}
	}
	return g.some(object{"image": []string{"i", "j"}[g.Intn(2)]}, object{
		"ports": ports, "env": g.items("name", env, "A", "B", "C", "D"), "command": g.texts("a", "b", "c"),
		"resources": object{"limits": g.entries()}, "tty": g.Intn(2) == 0,
	})
}

func (g generator) volume(string) object {
	switch g.Intn(3) {
	case 0:
		return object{"emptyDir": object{}}
	case 1:
		return object{"secret": object{"secretName": []string{"s", "t"}[g.Intn(2)]}}
	}
	return object{"configMap": g.some(object{"name": "c"}, object{"items": g.items("key", func(string) object { return object{"path": "p"} }, "a", "b")})}
}

func (g generator) toleration(string) object {
	return object{"effect": []string{"NoSchedule", "NoExecute"}[g.Intn(2)]}
}

func (g generator) deployment() object {
	strategy := object{"type": "Recreate"}
	if g.Intn(2) == 0 {
		strategy = g.some(object{"type": "RollingUpdate"}, object{"rollingUpdate": g.some(object{}, object{"maxSurge": g.Intn(2), "maxUnavailable": "25%"})})
	}
	pod := g.some(object{"containers": g.items("name", g.container, "a", "b", "c")}, object{
		"initContainers": g.items("name", g.container, "a", "b"), "volumes": g.items("name", g.volume, "a", "b", "c"),
		"tolerations": g.items("key", g.toleration, "a", "b"), "nodeSelector": g.entries(), "hostNetwork": g.Intn(2) == 0,
		"imagePullSecrets": g.items("name", func(string) object { return object{} }, "a", "b", "c"),
	})
	return g.some(object{"metadata": g.some(object{"name": "d"}, object{
		"labels": g.entries(), "annotations": g.entries(), "finalizers": g.texts("x/a", "x/b", "x/c", "x/d"),
	})}, object{
		"spec": g.some(object{}, object{"replicas": g.Intn(3), "strategy": strategy, "template": object{"spec": pod}}),
	})
}
