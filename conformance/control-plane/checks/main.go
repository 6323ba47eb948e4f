// Command checks writes the declarative validation of the kinds that the server stores: the calls in Kubernetes' generated
// zz_generated.validations.go files, which are made from the markers in the Go types.
//
// It reads the generated code rather than the markers, because that has the order of the calls, what ends the validation of a
// field, and which values are compared with old ones. A statement that it does not know ends the program.
//
// Usage: go run ./checks OUTPUT OPTIONAL (`cargo xtask schema` knows the path).
package main

import (
	"fmt"
	"go/ast"
	"log"
	"os"
	"slices"
	"strings"
)

const header = `# The declarative validation of Kubernetes v1.37, as its generated Go code does it.
# Made by ` + "`cargo xtask schema`" + ` from k8s.io/kubernetes v1.37.1 and apimachinery v0.37.1, which are Copyright The Kubernetes
# Authors, Apache License 2.0. Do not edit.
#
# kind TYPE                     a kind whose objects are validated, whatever subresource they are written through
# type TYPE                     followed by the calls on a value of the type, and then its fields:
#  field NAME EQUALITY          a field (".": an embedded struct), how an unchanged value is found, and the calls on its value
#   STAGE CALL ARGUMENT...      STAGE is alpha, beta or ga; with "!" findings end the validation of the value, with "?" they do and
#                               are not reported
#
# What a call applies to other values is indented below it. EQUALITY: "deep" (Semantic.DeepEqual), "=" or "-" (never equal).
`

const optionalHeader = `# The declarative validation of versions that a server has only if it is asked for them, but for what they have in common with
# checks.txt, whose head explains the lines.
# Made by ` + "`cargo xtask schema`" + ` from k8s.io/kubernetes v1.37.1 and apimachinery v0.37.1, which are Copyright The Kubernetes
# Authors, Apache License 2.0. Do not edit.
`

// groups are the packages of the kinds.
var groups = []string{
	"admissionregistration/v1", "apps/v1", "autoscaling/v2", "batch/v1", "certificates/v1", "coordination/v1", "core/v1",
	"discovery/v1", "flowcontrol/v1", "networking/v1", "node/v1", "policy/v1", "rbac/v1", "resource/v1",
	"scheduling/v1", "storage/v1", "storagemigration/v1",
}

// optional are those of versions that a server has only if it is asked for them.
var optional = []string{"resource/v1beta1", "resource/v1beta2"}

// elsewhere are kinds of those packages that are stored, if at all, as others.
var elsewhere = []string{"autoscaling/v1.Scale"}

func main() {
	log.SetFlags(0)
	if len(os.Args) != 3 {
		log.Fatal("usage: go run ./checks OUTPUT OPTIONAL")
	}
	program := program{all: packages{}, known: map[string]bool{}}
	write(os.Args[1], header+program.text(groups))
	write(os.Args[2], optionalHeader+program.text(optional))
}

func write(path, text string) {
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		log.Fatal(err)
	}
}

// program is what was written so far.
type program struct {
	all   packages
	known map[string]bool // types
}

// text is the lines about the kinds of packages and their types, but for those types that were written before.
func (p *program) text(groups []string) string {
	var kinds []string
	types := map[string]string{}
	var queue []reference
	for _, group := range groups {
		from := p.all.of("k8s.io/kubernetes/pkg/apis/" + group)
		for _, kind := range from.kinds() {
			if slices.Contains(elsewhere, kind.typed) {
				continue
			}
			kinds = append(kinds, "kind "+kind.typed+"\n")
			queue = append(queue, kind.validated)
		}
	}
	for len(queue) > 0 {
		next := queue[0]
		queue = queue[1:]
		from := p.all.of(next.path)
		function, found := from.functions[next.function]
		if !found {
			log.Fatalf("%s has no %s", next.path, next.function)
		}
		typed := from.typeName(function)
		if p.known[typed] {
			continue
		}
		p.known[typed] = true
		writer := writer{from: from, all: p.all, in: next.function}
		writer.block(function.decl.Body.List, 0, true)
		types[typed] = "type " + typed + "\n" + writer.out.String()
		queue = append(queue, writer.needed...)
	}
	slices.Sort(kinds)
	names := make([]string, 0, len(types))
	for name := range types {
		names = append(names, name)
	}
	slices.Sort(names)
	text := strings.Join(kinds, "")
	for _, name := range names {
		text += types[name]
	}
	return text
}

// reference names a function.
type reference struct {
	path     string // of the package
	function string
}

func (w *writer) fail(node ast.Node, what string) {
	log.Fatalf("%s: %s: %s", w.from.position(node), w.in, what)
}

func (w *writer) line(depth int, parts ...any) {
	w.out.WriteString(strings.Repeat(" ", depth+1))
	for i, part := range parts {
		if i > 0 {
			w.out.WriteString(" ")
		}
		fmt.Fprint(&w.out, part)
	}
	w.out.WriteString("\n")
}
