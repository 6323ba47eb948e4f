// Prints what a kube-apiserver does not tell about its resources, sorted:
//
//	directory RESOURCE[.GROUP] DIRECTORY          where etcd has the objects, if not under the plural
//	field VERSION[.GROUP] KIND LABEL FIELD        a label of field selectors, and the field that it means; for kinds with labels of
//	                                              their own, besides metadata.name
//	known GROUP/VERSION KIND GROUP/VERSION        another version of the same kind that can be decoded
//	unconditional RESOURCE.VERSION[.GROUP]        what an update without a resourceVersion overwrites, according to Kubernetes' own
//	                                              test of all resources
//
// Every string of the sources that define labels is tried as one, so that none is missed.
package main

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"log"
	"os/exec"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/install"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
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
	_ "k8s.io/kubernetes/pkg/apis/extensions/install"
	_ "k8s.io/kubernetes/pkg/apis/flowcontrol/install"
	_ "k8s.io/kubernetes/pkg/apis/networking/install"
	_ "k8s.io/kubernetes/pkg/apis/node/install"
	_ "k8s.io/kubernetes/pkg/apis/policy/install"
	_ "k8s.io/kubernetes/pkg/apis/rbac/install"
	_ "k8s.io/kubernetes/pkg/apis/resource/install"
	_ "k8s.io/kubernetes/pkg/apis/scheduling/install"
	_ "k8s.io/kubernetes/pkg/apis/storage/install"
	_ "k8s.io/kubernetes/pkg/apis/storagemigration/install"
	"k8s.io/kubernetes/pkg/kubeapiserver"
)

var labelForm = regexp.MustCompile(`^[A-Za-z]+(\.[A-Za-z]+)*$`)

func main() {
	log.SetFlags(0)
	var lines []string
	for resource, directory := range kubeapiserver.SpecialDefaultResourcePrefixes {
		lines = append(lines, fmt.Sprintf("directory %s %s", resource, directory))
	}
	candidates := literals("k8s.io/kubernetes", "pkg/apis")
	candidates = append(candidates, literals("k8s.io/api", ".")...)
	slices.Sort(candidates)
	candidates = slices.Compact(candidates)
	for kind := range legacyscheme.Scheme.AllKnownTypes() {
		if kind.Version == runtime.APIVersionInternal || strings.HasSuffix(kind.Kind, "List") {
			continue
		}
		if hasOwn(kind) {
			lines = append(lines, fields(kind, candidates)...)
		}
	}
	apiextensions := runtime.NewScheme()
	install.Install(apiextensions)
	lines = append(lines, known(legacyscheme.Scheme)...)
	lines = append(lines, known(apiextensions)...)
	for _, resource := range exempt("test/integration/apiserver/apidefinitions/default_behaviors_test.go", "TestAllowUnconditionalUpdate") {
		lines = append(lines, "unconditional "+resource)
	}
	slices.Sort(lines)
	fmt.Println(strings.Join(lines, "\n"))
}

// The pairs of versions of a kind: those that have the same internal type.
func known(scheme *runtime.Scheme) []string {
	versions := map[string][]schema.GroupVersionKind{}
	internalOf := map[schema.GroupVersionKind]reflect.Type{}
	for kind := range scheme.AllKnownTypes() {
		if kind.Version != runtime.APIVersionInternal {
			versions[kind.Kind] = append(versions[kind.Kind], kind)
			internalOf[kind] = internal(scheme, kind)
		}
	}
	var lines []string
	for _, same := range versions {
		for _, kind := range same {
			for _, other := range same {
				if other != kind && internalOf[kind] != nil && internalOf[other] == internalOf[kind] {
					lines = append(lines, fmt.Sprintf("known %s/%s %s %s/%s", kind.Group, kind.Version, kind.Kind, other.Group, other.Version))
				}
			}
		}
	}
	return lines
}

// The internal type of a kind, if it has one.
func internal(scheme *runtime.Scheme, kind schema.GroupVersionKind) reflect.Type {
	object, err := scheme.New(kind)
	if err != nil {
		log.Fatal(err)
	}
	converted, err := scheme.UnsafeConvertToVersion(object, runtime.InternalGroupVersioner)
	if err != nil {
		return nil
	}
	return reflect.TypeOf(converted)
}

func fields(kind schema.GroupVersionKind, candidates []string) []string {
	var lines []string
	for _, label := range candidates {
		field, _, err := legacyscheme.Scheme.ConvertFieldLabel(kind, label, "")
		if err == nil && label != "metadata.name" {
			version := schema.GroupResource{Group: kind.Group, Resource: kind.Version}
			lines = append(lines, fmt.Sprintf("field %s %s %s %s", version, kind.Kind, label, field))
		}
	}
	if len(lines) == 0 {
		log.Fatalf("%s has labels of its own, and none of them was found", kind)
	}
	return lines
}

// Whether the labels of a kind are not just its name and namespace: then it refuses others in words of its own.
func hasOwn(kind schema.GroupVersionKind) bool {
	const unknown = "?"
	_, _, own := legacyscheme.Scheme.ConvertFieldLabel(kind, unknown, "")
	_, _, usual := runtime.DefaultMetaV1FieldSelectorConversion(unknown, "")
	return own.Error() != usual.Error()
}

// The strings in the set that a test of Kubernetes names exempt.
func exempt(path, test string) []string {
	file, err := parser.ParseFile(token.NewFileSet(), filepath.Join(folder("k8s.io/kubernetes"), path), nil, parser.SkipObjectResolution)
	if err != nil {
		log.Fatal(err)
	}
	var found []string
	for _, declaration := range file.Decls {
		function, ok := declaration.(*ast.FuncDecl)
		if !ok || function.Name.Name != test {
			continue
		}
		ast.Inspect(function, func(node ast.Node) bool {
			if set, ok := node.(*ast.AssignStmt); ok && set.Lhs[0].(*ast.Ident).Name == "exempt" {
				found = texts(set)
			}
			return found == nil
		})
	}
	if found == nil {
		log.Fatalf("%s has no set named exempt", test)
	}
	return found
}

// The folder of a module.
func folder(module string) string {
	root, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", module).Output()
	if err != nil {
		log.Fatalf("where is %s? %v", module, err)
	}
	return strings.TrimSpace(string(root))
}

// The strings in a piece of Go.
func texts(piece ast.Node) []string {
	var found []string
	ast.Inspect(piece, func(node ast.Node) bool {
		if literal, ok := node.(*ast.BasicLit); ok && literal.Kind == token.STRING {
			if text, err := strconv.Unquote(literal.Value); err == nil {
				found = append(found, text)
			}
		}
		return true
	})
	return found
}

// The strings in the Go files below a folder of a module that could be labels.
func literals(module, below string) []string {
	var found []string
	err := filepath.WalkDir(filepath.Join(folder(module), below), func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return err
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		for _, text := range texts(file) {
			if labelForm.MatchString(text) {
				found = append(found, text)
			}
		}
		return nil
	})
	if err != nil {
		log.Fatal(err)
	}
	return found
}
