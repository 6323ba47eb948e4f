// Prints what a kube-apiserver does not tell about its resources, sorted:
//
//	directory RESOURCE[.GROUP] DIRECTORY          where etcd has the objects, if not under the plural
//	field VERSION[.GROUP] KIND LABEL FIELD        a label of field selectors, and the field that it means; for kinds with labels of
//	                                              their own, besides metadata.name
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
	"regexp"
	"slices"
	"strconv"
	"strings"

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
	slices.Sort(lines)
	fmt.Println(strings.Join(lines, "\n"))
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

// The strings in the Go files below a folder of a module that could be labels.
func literals(module, folder string) []string {
	root, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", module).Output()
	if err != nil {
		log.Fatalf("where is %s? %v", module, err)
	}
	var found []string
	err = filepath.WalkDir(filepath.Join(strings.TrimSpace(string(root)), folder), func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return err
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		ast.Inspect(file, func(node ast.Node) bool {
			if literal, ok := node.(*ast.BasicLit); ok && literal.Kind == token.STRING {
				if text, err := strconv.Unquote(literal.Value); err == nil && labelForm.MatchString(text) {
					found = append(found, text)
				}
			}
			return true
		})
		return nil
	})
	if err != nil {
		log.Fatal(err)
	}
	return found
}
