package main

import (
	"go/ast"
	"go/token"
	"slices"
	"strings"
)

// writer writes what a function does.
type writer struct {
	from   *source
	all    packages
	in     string
	out    strings.Builder
	needed []reference
}

// block writes statements. Those of a function may be those of a type, with fields.
func (w *writer) block(statements []ast.Stmt, depth int, fields bool) {
	for _, statement := range statements {
		switch statement := statement.(type) {
		case *ast.IfStmt:
			w.branch(statement, depth)
		case *ast.AssignStmt:
			w.assignment(statement, depth)
		case *ast.BlockStmt:
			if !fields {
				w.fail(statement, "a block")
			}
			w.field(statement)
		case *ast.ExprStmt:
			// func() { ... }(): calls on a part of the value, which end only each other.
			call, is := statement.X.(*ast.CallExpr)
			if !is {
				w.fail(statement, "an unknown statement")
			}
			w.line(depth, "ga", "Cohort")
			w.block(call.Fun.(*ast.FuncLit).Body.List, depth+1, false)
		case *ast.ReturnStmt:
			if len(statement.Results) == 1 {
				if call, is := statement.Results[0].(*ast.CallExpr); is {
					w.call(call, depth, false, true)
				}
			}
		default:
			w.fail(statement, "an unknown statement")
		}
	}
}

// branch writes `if e := CALL; len(e) != 0 { ... }`.
func (w *writer) branch(statement *ast.IfStmt, depth int) {
	if statement.Init == nil {
		switch condition := statement.Cond.(type) {
		case *ast.Ident:
			if condition.Name == "earlyReturn" {
				return
			}
		case *ast.BinaryExpr:
			// The comparison with the old value, which is written with its field.
			if first, is := condition.X.(*ast.Ident); is && first.Name == "oldValueCorrelated" {
				return
			}
		}
		w.fail(statement, "an unknown condition")
	}
	init, is := statement.Init.(*ast.AssignStmt)
	if !is {
		w.fail(statement, "an unknown condition")
	}
	var appends, ends bool
	for _, inner := range statement.Body.List {
		assignment, is := inner.(*ast.AssignStmt)
		if !is {
			w.fail(inner, "an unknown statement")
		}
		switch assignment.Lhs[0].(*ast.Ident).Name {
		case "errs":
			appends = true
		case "earlyReturn":
			ends = true
		default:
			w.fail(inner, "an unknown assignment")
		}
	}
	w.call(init.Rhs[0].(*ast.CallExpr), depth, ends, appends)
}

// assignment writes `errs = append(errs, CALL...)`.
func (w *writer) assignment(statement *ast.AssignStmt, depth int) {
	call, is := statement.Rhs[0].(*ast.CallExpr)
	if statement.Tok == token.DEFINE && !is {
		return // earlyReturn, errs
	}
	if !is || call.Fun.(*ast.Ident).Name != "append" || len(call.Args) != 2 {
		w.fail(statement, "an unknown assignment")
	}
	w.call(call.Args[1].(*ast.CallExpr), depth, false, true)
}

// field writes a block of a field: fn := func(...) {...}; oldVal := ...; errs = append(errs, fn(PATH, ...)...).
func (w *writer) field(block *ast.BlockStmt) {
	if len(block.List) != 3 {
		w.fail(block, "an unknown block")
	}
	body := block.List[0].(*ast.AssignStmt).Rhs[0].(*ast.FuncLit).Body
	call := block.List[2].(*ast.AssignStmt).Rhs[0].(*ast.CallExpr).Args[1].(*ast.CallExpr)
	name := "."
	path := call.Args[0].(*ast.CallExpr)
	if path.Fun.(*ast.SelectorExpr).Sel.Name == "Child" {
		name = w.from.constant(path.Args[0])
	}
	equality := "-"
	for _, statement := range body.List {
		if branch, is := statement.(*ast.IfStmt); is && branch.Init == nil {
			if _, is := branch.Cond.(*ast.BinaryExpr); is {
				equality = "="
				if _, is := branch.Body.List[0].(*ast.IfStmt).Cond.(*ast.CallExpr); is {
					equality = "deep"
				}
			}
		}
	}
	w.line(0, "field", name, equality)
	w.block(body.List, 1, false)
}

// call writes a call: validate.NAME(ctx, op, fldPath, obj, oldObj, ARGUMENTS...).MarkX(), or that of another function.
func (w *writer) call(call *ast.CallExpr, depth int, ends, appends bool) {
	stage := "ga"
	for {
		selector, is := call.Fun.(*ast.SelectorExpr)
		if !is {
			break
		}
		inner, is := selector.X.(*ast.CallExpr)
		if !is {
			break
		}
		switch selector.Sel.Name {
		case "MarkAlpha":
			stage = "alpha"
		case "MarkBeta":
			stage = "beta"
		case "MarkShortCircuit":
			if !ends {
				w.fail(call, "a short circuit that does not end the validation")
			}
		default:
			w.fail(call, "an unknown mark")
		}
		call = inner
	}
	switch {
	case ends && appends:
		stage += "!"
	case ends:
		stage += "?"
	}
	called := w.from.reference(call.Fun)
	if called.path != "k8s.io/apimachinery/pkg/api/validate" {
		w.other(called, stage, depth)
		return
	}
	if !appends && !ends {
		w.fail(call, "a call without effect")
	}
	w.validate(call, called.function, stage, call.Args[5:], depth)
}

// other writes a call of the validation of a type, or of validation that is written by hand.
func (w *writer) other(called reference, stage string, depth int) {
	if custom, is := strings.CutPrefix(called.function, "ValidateCustom_"); is {
		w.line(depth, stage, "Custom", custom)
		return
	}
	w.needed = append(w.needed, called)
	from := w.all.of(called.path)
	w.line(depth, stage, "Type", from.typeName(from.functions[called.function]))
}

func (w *writer) validate(call *ast.CallExpr, name, stage string, arguments []ast.Expr, depth int) {
	line := []any{stage, name}
	switch name {
	case "Enum":
		line = append(line, w.symbols(arguments)...)
	case "UpdatePointer", "UpdateValueByCompare":
		for _, constraint := range arguments {
			line = append(line, constraint.(*ast.SelectorExpr).Sel.Name)
		}
	case "ValSliceUnique":
		line = append(line, w.match(arguments[0]))
	case "EachValSliceVal":
		w.line(depth, append(line, w.match(arguments[0]), w.match(arguments[1]))...)
		w.function(arguments[2], depth+1)
		return
	case "EachMapVal":
		w.line(depth, append(line, w.match(arguments[0]))...)
		w.function(arguments[1], depth+1)
		return
	case "EachMapKey":
		w.line(depth, line...)
		w.function(arguments[0], depth+1)
		return
	case "IfOption":
		w.line(depth, append(line, w.from.constant(arguments[0]), arguments[1].(*ast.Ident).Name)...)
		w.function(arguments[2], depth+1)
		return
	case "Subfield":
		w.line(depth, append(line, w.from.constant(arguments[0]), w.match(arguments[2]))...)
		w.function(arguments[3], depth+1)
		return
	case "Union", "ZeroOrOneOfUnion":
		w.line(depth, line...)
		w.members(call, arguments, depth+1)
		return
	case "DependentRequired", "DependentForbidden":
		line = append(line, w.from.constant(arguments[0]), w.from.constant(arguments[2]))
	case "Discriminated":
		discriminator := arguments[2].(*ast.FuncLit)
		w.line(depth, append(line, w.from.constant(arguments[0]), w.accessed(discriminator), w.match(arguments[3]))...)
		w.discriminated(arguments[4], arguments[5].(*ast.CompositeLit), depth+1)
		return
	default:
		for _, argument := range arguments {
			line = append(line, w.from.constant(argument))
		}
	}
	w.line(depth, line...)
}

// symbols are the values of an enumeration, sorted.
func (w *writer) symbols(arguments []ast.Expr) []any {
	if exclusions, is := arguments[1].(*ast.Ident); !is || exclusions.Name != "nil" {
		w.fail(arguments[1], "values that are excluded")
	}
	var values []string
	for _, value := range w.from.variables[arguments[0].(*ast.Ident).Name].(*ast.CallExpr).Args {
		values = append(values, w.from.constant(value))
	}
	slices.Sort(values)
	all := make([]any, len(values))
	for i, value := range values {
		all[i] = value
	}
	return all
}

// match is how items are found equal: "-" never, "=", "deep", or the fields of the keys.
func (w *writer) match(expr ast.Expr) string {
	switch expr := expr.(type) {
	case *ast.Ident:
		if expr.Name == "nil" {
			return "-"
		}
	case *ast.SelectorExpr:
		switch expr.Sel.Name {
		case "DirectEqual":
			return "="
		case "SemanticDeepEqual":
			return "deep"
		}
	case *ast.FuncLit:
		typed := expr.Type.Params.List[0].Type
		return "keys:" + strings.Join(w.keys(typed, expr.Body.List[0].(*ast.ReturnStmt).Results[0]), ",")
	}
	w.fail(expr, "an unknown comparison")
	return ""
}

// keys are the fields in a.X == b.X && ..., where those that are pointers are compared with care.
func (w *writer) keys(typed ast.Expr, expr ast.Expr) []string {
	var found []string
	ast.Inspect(expr, func(node ast.Node) bool {
		if selector, is := node.(*ast.SelectorExpr); is {
			if object, is := selector.X.(*ast.Ident); is && object.Name == "a" {
				name := w.from.json(typed, selector.Sel.Name)
				if !slices.Contains(found, name) {
					found = append(found, name)
				}
			}
		}
		return true
	})
	if len(found) == 0 {
		w.fail(expr, "no keys")
	}
	return found
}

// function writes what a function argument does: a named one or one that is written here.
func (w *writer) function(expr ast.Expr, depth int) {
	if literal, is := expr.(*ast.FuncLit); is {
		w.block(literal.Body.List, depth, false)
		return
	}
	called := w.from.reference(expr)
	if called.path == "k8s.io/apimachinery/pkg/api/validate" {
		w.line(depth, "ga", called.function)
		return
	}
	w.other(called, "ga", depth)
}

// accessed is the field that a function returns or looks at.
func (w *writer) accessed(function *ast.FuncLit) string {
	field := ""
	ast.Inspect(function.Body, func(node ast.Node) bool {
		if selector, is := node.(*ast.SelectorExpr); is {
			field = w.from.json(function.Type.Params.List[0].Type, selector.Sel.Name)
		}
		return true
	})
	return field
}

// members writes the members of a union: MEMBER NAME FIELD, or MEMBER NAME [KEY=VALUE] for one that is an item of a list.
func (w *writer) members(call *ast.CallExpr, arguments []ast.Expr, depth int) {
	membership := w.from.variables[arguments[0].(*ast.Ident).Name].(*ast.CallExpr)
	if len(membership.Args) != len(arguments)-1 {
		w.fail(call, "members and functions are not as many")
	}
	for i, member := range membership.Args {
		name := w.from.constant(member.(*ast.CallExpr).Args[0])
		function := arguments[i+1].(*ast.FuncLit)
		list, is := function.Type.Params.List[0].Type.(*ast.ArrayType)
		if !is {
			w.line(depth, "member", w.accessed(function), name)
			continue
		}
		var key, value string
		ast.Inspect(function.Body, func(node ast.Node) bool {
			if binary, is := node.(*ast.BinaryExpr); is && binary.Op == token.EQL {
				key = w.from.json(list.Elt, binary.X.(*ast.SelectorExpr).Sel.Name)
				value = w.from.constant(binary.Y)
			}
			return true
		})
		w.line(depth, "item", key, value, name)
	}
}

// discriminated writes the calls by the value of the discriminator, and those for other values.
func (w *writer) discriminated(fallback ast.Expr, rules *ast.CompositeLit, depth int) {
	for _, rule := range rules.Elts {
		members := rule.(*ast.CompositeLit).Elts
		w.line(depth, "case", w.from.constant(members[0].(*ast.KeyValueExpr).Value))
		w.function(members[1].(*ast.KeyValueExpr).Value, depth+1)
	}
	w.line(depth, "else")
	w.function(fallback, depth+1)
}
