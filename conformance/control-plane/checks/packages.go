package main

import (
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

// packages are the Go packages that were read, by path.
type packages map[string]*source

// source is a package.
type source struct {
	files     *token.FileSet
	functions map[string]function
	variables map[string]ast.Expr
	tags      map[string]map[string]string // JSON names by struct and field
	imports   map[string]string            // by name, of the generated file or, without one, of all
	all       packages
}

type function struct {
	decl *ast.FuncDecl
}

// kind is a kind that is validated.
type kind struct {
	typed     string
	validated reference
}

func (p packages) of(path string) *source {
	if known, found := p[path]; found {
		return known
	}
	dir, err := exec.Command("go", "list", "-f", "{{.Dir}}", path).Output()
	if err != nil {
		log.Fatalf("where is %s? %v", path, err)
	}
	read := &source{
		files: token.NewFileSet(), functions: map[string]function{}, variables: map[string]ast.Expr{},
		tags: map[string]map[string]string{}, imports: map[string]string{}, all: p,
	}
	p[path] = read
	names, err := filepath.Glob(filepath.Join(strings.TrimSpace(string(dir)), "*.go"))
	if err != nil {
		log.Fatal(err)
	}
	generates := slices.ContainsFunc(names, isGenerated)
	for _, name := range names {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(read.files, name, nil, parser.SkipObjectResolution)
		if err != nil {
			log.Fatal(err)
		}
		if isGenerated(name) || !generates {
			read.importsOf(file, path)
		}
		for _, decl := range file.Decls {
			read.declare(decl)
		}
	}
	return read
}

func isGenerated(file string) bool {
	return filepath.Base(file) == "zz_generated.validations.go"
}

func (s *source) importsOf(file *ast.File, own string) {
	s.imports[""] = own
	for _, spec := range file.Imports {
		path, _ := strconv.Unquote(spec.Path.Value)
		if spec.Name == nil {
			s.imports[filepath.Base(path)] = path
			continue
		}
		s.imports[spec.Name.Name] = path
	}
}

func (s *source) declare(decl ast.Decl) {
	if decl, is := decl.(*ast.FuncDecl); is && decl.Recv == nil {
		s.functions[decl.Name.Name] = function{decl}
	}
	general, is := decl.(*ast.GenDecl)
	if !is {
		return
	}
	for _, spec := range general.Specs {
		switch spec := spec.(type) {
		case *ast.ValueSpec:
			for i, value := range spec.Values {
				s.variables[spec.Names[i].Name] = value
			}
		case *ast.TypeSpec:
			if body, is := spec.Type.(*ast.StructType); is {
				s.structs(spec.Name.Name, body)
			}
		}
	}
}

func (s *source) structs(name string, body *ast.StructType) {
	s.tags[name] = map[string]string{}
	for _, field := range body.Fields.List {
		json := ""
		if field.Tag != nil {
			tag, _ := strconv.Unquote(field.Tag.Value)
			json, _, _ = strings.Cut(reflect.StructTag(tag).Get("json"), ",")
		}
		for _, ident := range field.Names {
			s.tags[name][ident.Name] = json
		}
	}
}

func (s *source) position(node ast.Node) token.Position {
	return s.files.Position(node.Pos())
}

// prefixes of the packages' paths that say nothing.
var prefixes = []string{"k8s.io/api/", "k8s.io/apimachinery/pkg/"}

// named is the path of the package and the name of a type.
func (s *source) named(expr ast.Expr) (string, string) {
	switch expr := expr.(type) {
	case *ast.StarExpr:
		return s.named(expr.X)
	case *ast.ArrayType:
		return s.named(expr.Elt)
	case *ast.SelectorExpr:
		return s.imports[expr.X.(*ast.Ident).Name], expr.Sel.Name
	}
	log.Fatalf("%s: not the name of a type", s.position(expr))
	return "", ""
}

// typeName is the type that a function validates.
func (s *source) typeName(function function) string {
	params := function.decl.Type.Params.List
	path, name := s.named(params[len(params)-1].Type)
	for _, prefix := range prefixes {
		path = strings.TrimPrefix(path, prefix)
	}
	return path + "." + name
}

// json is the JSON name of a field of a struct.
func (s *source) json(typed ast.Expr, field string) string {
	path, name := s.named(typed)
	found := s.all.of(path).tags[name][field]
	if found == "" {
		log.Fatalf("%s: %s has no field %s with a name in JSON", s.position(typed), name, field)
	}
	return found
}

// constant is the value of a constant, named or not.
func (s *source) constant(expr ast.Expr) string {
	switch expr := expr.(type) {
	case *ast.BasicLit:
		text, err := strconv.Unquote(expr.Value)
		if err != nil {
			return expr.Value
		}
		return text
	case *ast.CallExpr: // a conversion
		return s.constant(expr.Args[0])
	case *ast.SelectorExpr:
		from := s.all.of(s.imports[expr.X.(*ast.Ident).Name])
		if value, found := from.variables[expr.Sel.Name]; found {
			return from.constant(value)
		}
	}
	log.Fatalf("%s: not a constant", s.position(expr))
	return ""
}

// kinds are those that the package registers.
func (s *source) kinds() []kind {
	var kinds []kind
	ast.Inspect(s.functions["RegisterValidations"].decl, func(node ast.Node) bool {
		clause, is := node.(*ast.CaseClause)
		if !is || len(clause.List) == 0 {
			return true
		}
		one := kind{}
		call := clause.Body[0].(*ast.ReturnStmt).Results[0].(*ast.CallExpr)
		one.validated = s.reference(call.Fun)
		one.typed = s.typeName(s.functions[one.validated.function])
		kinds = append(kinds, one)
		return true
	})
	slices.SortFunc(kinds, func(a, b kind) int { return strings.Compare(a.typed, b.typed) })
	return kinds
}

// reference is what the name of a function refers to.
func (s *source) reference(expr ast.Expr) reference {
	switch expr := expr.(type) {
	case *ast.Ident:
		return reference{s.imports[""], expr.Name}
	case *ast.SelectorExpr:
		return reference{s.imports[expr.X.(*ast.Ident).Name], expr.Sel.Name}
	}
	log.Fatalf("%s: not the name of a function", s.position(expr))
	return reference{}
}
