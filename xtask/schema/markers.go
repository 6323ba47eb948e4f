package main

import (
	"encoding/json"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"log"
	"os/exec"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
)

// sources holds the declarations of packages, by path.
type sources map[string]*declarations

// declarations is what the Go files of a package say that reflection does not.
type declarations struct {
	types     map[string][]string            // markers, without their "+"
	fields    map[string]map[string][]string // markers by type and field
	constants map[string]string              // strings by name
	values    map[string][]string            // strings by the type of their constants
}

// unknown stands for a constant that this program cannot evaluate.
const unknown = "?"

// packageDir is where the sources of a package are.
func packageDir(path string) string {
	dir, err := exec.Command("go", "list", "-f", "{{.Dir}}", path).Output()
	if err != nil {
		log.Fatalf("where is %s? %v", path, err)
	}
	return strings.TrimSpace(string(dir))
}

func (s sources) of(path string) *declarations {
	if known, found := s[path]; found {
		return known
	}
	found := &declarations{
		types: map[string][]string{}, fields: map[string]map[string][]string{},
		constants: map[string]string{}, values: map[string][]string{},
	}
	files, err := filepath.Glob(filepath.Join(packageDir(path), "*.go"))
	if err != nil {
		log.Fatal(err)
	}
	for _, name := range files {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			log.Fatal(err)
		}
		imports := map[string]string{}
		for _, spec := range file.Imports {
			path, _ := strconv.Unquote(spec.Path.Value)
			if spec.Name != nil {
				imports[spec.Name.Name] = path
			}
		}
		for _, decl := range file.Decls {
			if decl, is := decl.(*ast.GenDecl); is {
				found.read(decl, imports, s)
			}
		}
	}
	s[path] = found
	return found
}

func (d *declarations) read(decl *ast.GenDecl, imports map[string]string, all sources) {
	for _, spec := range decl.Specs {
		switch spec := spec.(type) {
		case *ast.TypeSpec:
			name := spec.Name.Name
			d.types[name] = slices.Concat(markers(decl.Doc), markers(spec.Doc))
			if body, is := spec.Type.(*ast.StructType); is {
				d.fields[name] = map[string][]string{}
				for _, field := range body.Fields.List {
					for _, ident := range slices.Concat(field.Names, embedded(field)) {
						d.fields[name][ident.Name] = markers(field.Doc)
					}
				}
			}
		case *ast.ValueSpec:
			if decl.Tok == token.CONST {
				d.readConstants(spec, imports, all)
			}
		}
	}
}

// embedded is the name of an embedded field.
func embedded(field *ast.Field) []*ast.Ident {
	switch t := field.Type.(type) {
	case *ast.Ident:
		return []*ast.Ident{t}
	case *ast.SelectorExpr:
		return []*ast.Ident{t.Sel}
	}
	return nil
}

// readConstants reads strings: literals, and constants of other packages that are converted.
func (d *declarations) readConstants(spec *ast.ValueSpec, imports map[string]string, all sources) {
	for i, value := range spec.Values {
		kind, _ := spec.Type.(*ast.Ident)
		if call, is := value.(*ast.CallExpr); is && len(call.Args) == 1 {
			kind, _ = call.Fun.(*ast.Ident)
			value = call.Args[0]
		}
		var text string
		var known bool
		switch value := value.(type) {
		case *ast.BasicLit:
			if value.Kind == token.STRING {
				text, _ = strconv.Unquote(value.Value)
				known = true
			}
		case *ast.SelectorExpr:
			if from, is := value.X.(*ast.Ident); is && kind != nil {
				text, known = all.of(imports[from.Name]).constants[value.Sel.Name]
			}
		}
		if known {
			d.constants[spec.Names[i].Name] = text
		}
		if kind != nil && known {
			d.values[kind.Name] = append(d.values[kind.Name], text)
		} else if kind != nil {
			d.values[kind.Name] = append(d.values[kind.Name], unknown)
		}
	}
}

// markers are the lines of a comment that begin with "+", without it.
func markers(comment *ast.CommentGroup) []string {
	if comment == nil {
		return nil
	}
	var found []string
	for _, line := range comment.List {
		text := strings.TrimSpace(strings.TrimPrefix(line.Text, "//"))
		if marker, is := strings.CutPrefix(text, "+"); is {
			found = append(found, marker)
		}
	}
	return found
}

// common describes what types and fields may both be marked with.
func (d *declarations) common(markers []string) string {
	var out strings.Builder
	var list string
	var keys []string
	for _, marker := range markers {
		name, value, _ := strings.Cut(marker, "=")
		switch {
		case name == "listType":
			list = value
		case name == "listMapKey":
			keys = append(keys, value)
		case name == "mapType" || name == "structType":
			fmt.Fprintf(&out, "    %s\n", value)
		case name == "default":
			fmt.Fprintf(&out, "    default %s\n", d.constant(value))
		}
	}
	switch {
	case list == "map" && len(keys) > 0:
		fmt.Fprintf(&out, "    list %s\n", strings.Join(keys, " "))
	case (list == "atomic" || list == "set") && len(keys) == 0:
		fmt.Fprintf(&out, "    list %s\n", list)
	case list != "" || len(keys) > 0:
		log.Fatalf("no type of lists: %q with keys %q", list, keys)
	}
	return out.String()
}

// constant is a default as JSON.
func (d *declarations) constant(value string) string {
	if name, is := strings.CutPrefix(value, "ref("); is {
		text, found := d.constants[strings.TrimSuffix(name, ")")]
		if !found {
			log.Fatalf("no constant is the default %s", value)
		}
		value = strconv.Quote(text)
	}
	if !json.Valid([]byte(value)) {
		log.Fatalf("the default %s is not JSON", value)
	}
	return value
}

// ofType describes the markers of a type.
func (s sources) ofType(t reflect.Type) string {
	declared := s.of(t.PkgPath())
	markers := declared.types[t.Name()]
	out := declared.common(markers)
	if slices.Contains(markers, "enum") {
		values := slices.Clone(declared.values[t.Name()])
		slices.Sort(values)
		values = slices.Compact(values)
		text, err := json.Marshal(values)
		if err != nil || len(values) == 0 || slices.Contains(values, unknown) {
			log.Fatalf("the values of %v cannot be listed: %q", t, values)
		}
		out += fmt.Sprintf("    enum %s\n", text)
	}
	return out
}

// ofField describes the markers and tags of a field.
func (s sources) ofField(t reflect.Type, field reflect.StructField) string {
	declared := s.of(t.PkgPath())
	markers := declared.fields[t.Name()][field.Name]
	out := declared.common(markers)
	if strategies, found := field.Tag.Lookup("patchStrategy"); found {
		out += strings.TrimSuffix(fmt.Sprintf("    patch %s %s", strategies, field.Tag.Get("patchMergeKey")), " ") + "\n"
	}
	json := field.Tag.Get("json")
	omitted := strings.Contains(json, ",omitempty") || strings.Contains(json, ",omitzero")
	if !omitted && slices.Contains(markers, "optional") {
		out += "    optional\n"
	}
	if omitted && slices.Contains(markers, "required") {
		out += "    required\n"
	}
	return out
}
