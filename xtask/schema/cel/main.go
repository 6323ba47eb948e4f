// Command cel records what the CEL of Kubernetes makes of the expressions in fixtures/cel.
//
// Each expression is compiled in an environment of k8s.io/apiserver, with `self` and `oldSelf` as apiextensions-apiserver
// types them for a custom resource, its cost is estimated, and it is evaluated. The output depends on nothing but the
// pinned modules and the two files that it reads: expressions.txt and schemas.jsonl.
//
// Usage: go run ./cel DIRECTORY FUNCTIONS (`cargo xtask schema` knows the path).
package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"log"
	"math"
	"os"
	"path/filepath"
	"slices"
	"sort"
	"strconv"
	"strings"
	"time"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/checker"
	"github.com/google/cel-go/common/decls"
	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/common/types/traits"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	schemacel "k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel/model"
	"k8s.io/apimachinery/pkg/util/version"
	celconfig "k8s.io/apiserver/pkg/apis/cel"
	"k8s.io/apiserver/pkg/authentication/user"
	"k8s.io/apiserver/pkg/authorization/authorizer"
	apiservercel "k8s.io/apiserver/pkg/cel"
	"k8s.io/apiserver/pkg/cel/environment"
	"k8s.io/apiserver/pkg/cel/library"
)

// resource is a line of schemas.jsonl.
type resource struct {
	Name   string          `json:"name"`
	Schema json.RawMessage `json:"schema"`
	Root   bool            `json:"root,omitempty"`
	Value  json.RawMessage `json:"value"`
	Old    json.RawMessage `json:"old,omitempty"`
}

// setting is what an expression is compiled in.
type setting struct {
	env                *cel.Env
	estimator          *library.CostEstimator
	declarations       *apiservercel.DeclType
	variables          map[string]any
	name, stage, limit string
}

// record is a line of the output.
type record struct {
	Expression  string          `json:"expression"`
	Environment string          `json:"environment"`
	Schema      string          `json:"schema,omitempty"`
	Limit       string          `json:"limit,omitempty"`
	Error       string          `json:"error,omitempty"`
	Type        string          `json:"type,omitempty"`
	Estimate    []string        `json:"estimate,omitempty"`
	Program     string          `json:"programError,omitempty"`
	Result      json.RawMessage `json:"result,omitempty"`
	Failure     string          `json:"failure,omitempty"`
	Cost        string          `json:"cost,omitempty"`
}

func main() {
	log.SetFlags(0)
	dir := os.Args[1]
	resources := map[string]resource{}
	for _, line := range lines(filepath.Join(dir, "schemas.jsonl")) {
		var r resource
		must(json.Unmarshal([]byte(line), &r))
		resources[r.Name] = r
	}
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	stage, name, limit := "new", "", ""
	settings := map[string]*setting{}
	for _, line := range lines(filepath.Join(dir, "expressions.txt")) {
		if directive, ok := strings.CutPrefix(line, "@"); ok {
			word, rest, _ := strings.Cut(directive, " ")
			switch word {
			case "environment":
				stage = rest
			case "schema":
				name = rest
			case "limit":
				limit = rest
			default:
				log.Fatalf("unknown directive %q", line)
			}
			continue
		}
		if strings.TrimSpace(line) == "" || strings.HasPrefix(line, "#") {
			continue
		}
		expression := line
		if quoted, ok := strings.CutPrefix(line, "!json "); ok {
			must(json.Unmarshal([]byte(quoted), &expression))
		}
		key := stage + " " + name
		s := settings[key]
		if s == nil {
			s = prepare(stage, resources[name])
			settings[key] = s
		}
		must(encoder.Encode(run(expression, s, stage, name, limit)))
	}
	must(os.WriteFile(filepath.Join(dir, "recorded.jsonl"), out.Bytes(), 0o644))
	if len(os.Args) > 2 {
		must(os.WriteFile(os.Args[2], functions(), 0o644))
	}
}

const header = `# The functions of the CEL environments of Kubernetes v1.37: those of k8s.io/apiserver v0.37.1 and cel-go v0.29.2, which are
# Copyright The Kubernetes Authors and Google LLC, Apache License 2.0. Made by ` + "`cargo xtask schema`" + `. Do not edit.
#
# variable NAME TYPE
# function NAME                 followed by its overloads, in order:
#   OVERLOAD FORM (TYPES) -> TYPE      FORM: "member", whose first type is that of the target, or "global";
#                               "stored": in the environment of stored expressions only
`

// functions lists what is declared in the environment of stored expressions, and what of that new ones lack.
func functions() []byte {
	set := environment.MustBaseEnvSet(environment.DefaultCompatibilityVersion())
	stored, recent := set.StoredExpressionsEnv(), set.NewExpressionsEnv()
	out := bytes.NewBufferString(header)
	for _, v := range stored.Variables() {
		fmt.Fprintf(out, "variable %s %s\n", v.Name(), checker.FormatCELType(v.Type()))
	}
	all := stored.Functions()
	names := make([]string, 0, len(all))
	for name := range all {
		names = append(names, name)
	}
	sort.Strings(names)
	for _, name := range names {
		if all[name].IsDeclarationDisabled() {
			continue
		}
		fmt.Fprintf(out, "function %s\n", name)
		for _, o := range all[name].OverloadDecls() {
			form := "global"
			if o.IsMemberFunction() {
				form = "member"
			}
			var args []string
			for _, t := range o.ArgTypes() {
				args = append(args, checker.FormatCELType(t))
			}
			fmt.Fprintf(out, "  %s %s (%s) -> %s", o.ID(), form, strings.Join(args, ", "), checker.FormatCELType(o.ResultType()))
			if f, ok := recent.Functions()[name]; !ok || !slices.ContainsFunc(f.OverloadDecls(), func(r *decls.OverloadDecl) bool { return r.ID() == o.ID() }) {
				out.WriteString(" stored")
			}
			out.WriteString("\n")
		}
	}
	return out.Bytes()
}

// prepare makes the environment that apiextensions-apiserver would make, with a type name that does not change.
func prepare(stage string, r resource) *setting {
	set := environment.MustBaseEnvSet(environment.DefaultCompatibilityVersion())
	kind := environment.NewExpressions
	if stage == "stored" {
		kind = environment.StoredExpressions
	}
	options := []environment.VersionedOptions{{
		IntroducedVersion: version.MajorMinor(1, 0),
		EnvOptions:        []cel.EnvOption{cel.Variable("authorizer", library.AuthorizerType)},
	}}
	s := &setting{estimator: &library.CostEstimator{}, variables: map[string]any{}}
	s.variables["authorizer"] = library.NewAuthorizerVal(&user.DefaultInfo{Name: "alice", Groups: []string{"dev"}}, judge{})
	if r.Name != "" {
		structural := parseSchema(r.Schema)
		declared := model.SchemaDeclType(structural, r.Root)
		if declared == nil {
			log.Fatalf("schema %s has no type", r.Name)
		}
		declared = declared.MaybeAssignTypeName("selfType")
		s.declarations = declared
		old := declared.CelType()
		options = append(options, environment.VersionedOptions{
			IntroducedVersion: version.MajorMinor(1, 0),
			EnvOptions: []cel.EnvOption{
				cel.Variable("self", declared.CelType()),
				cel.Variable("oldSelf", old),
				cel.Variable("optionalOldSelf", types.NewOptionalType(old)),
			},
			DeclTypes: []*apiservercel.DeclType{declared},
		})
		s.estimator = &library.CostEstimator{SizeEstimator: &sizes{declared}}
		s.variables["self"] = schemacel.UnstructuredToVal(parseValue(r.Value), structural)
		s.variables["optionalOldSelf"] = types.OptionalNone
		if r.Old != nil {
			val := schemacel.UnstructuredToVal(parseValue(r.Old), structural)
			s.variables["oldSelf"] = val
			s.variables["optionalOldSelf"] = types.OptionalOf(val)
		}
	}
	extended, err := set.Extend(options...)
	must(err)
	s.env, err = extended.Env(kind)
	must(err)
	return s
}

func run(expression string, s *setting, stage, name, limit string) (r record) {
	r = record{Expression: expression, Environment: stage, Schema: name, Limit: limit}
	defer func() {
		if panicked := recover(); panicked != nil {
			log.Fatalf("%q must not be in the table: %v", expression, panicked)
		}
	}()
	ast, issues := s.env.Compile(expression)
	if issues != nil {
		r.Error = issues.String()
		return r
	}
	r.Type = checker.FormatCELType(ast.OutputType())
	estimate, err := s.env.EstimateCost(ast, s.estimator)
	must(err)
	r.Estimate = []string{strconv.FormatUint(estimate.Min, 10), strconv.FormatUint(estimate.Max, 10)}
	most := uint64(celconfig.PerCallLimit)
	if limit != "" {
		most, err = strconv.ParseUint(limit, 10, 64)
		must(err)
	}
	program, err := s.env.Program(ast, cel.CostLimit(most), cel.CostTracking(s.estimator),
		cel.InterruptCheckFrequency(celconfig.CheckFrequency))
	if err != nil {
		r.Program = err.Error()
		return r
	}
	result, details, err := program.ContextEval(context.Background(), s.variables)
	if details != nil && details.ActualCost() != nil {
		r.Cost = strconv.FormatUint(*details.ActualCost(), 10)
	}
	if err != nil {
		r.Failure = err.Error()
		return r
	}
	r.Result, err = json.Marshal(render(result))
	must(err)
	return r
}

// render gives a value as JSON that keeps its type.
func render(val ref.Val) any {
	switch v := val.(type) {
	case types.Null:
		return nil
	case types.Bool:
		return bool(v)
	case types.Int:
		return map[string]any{"int": strconv.FormatInt(int64(v), 10)}
	case types.Uint:
		return map[string]any{"uint": strconv.FormatUint(uint64(v), 10)}
	case types.Double:
		return map[string]any{"double": strconv.FormatUint(math.Float64bits(float64(v)), 10)}
	case types.String:
		return string(v)
	case types.Bytes:
		return map[string]any{"bytes": hex.EncodeToString(v)}
	case types.Timestamp:
		return map[string]any{"timestamp": v.Time.UTC().Format(time.RFC3339Nano)}
	case types.Duration:
		return map[string]any{"duration": strconv.FormatInt(int64(v.Duration), 10)}
	case *types.Type:
		return map[string]any{"type": v.TypeName()}
	case *types.Err:
		return map[string]any{"fault": v.Error()}
	case *types.Optional:
		if !v.HasValue() {
			return map[string]any{"optional": []any{}}
		}
		return map[string]any{"optional": []any{render(v.GetValue())}}
	case traits.Mapper:
		var entries [][2]string
		for it := v.Iterator(); it.HasNext() == types.True; {
			// What an object has beyond its schema has no key.
			key := it.Next()
			if key == nil {
				continue
			}
			value := v.Get(key)
			k, err := json.Marshal(render(key))
			must(err)
			w, err := json.Marshal(render(value))
			must(err)
			entries = append(entries, [2]string{string(k), string(w)})
		}
		sort.Slice(entries, func(i, j int) bool { return entries[i][0] < entries[j][0] })
		list := []any{}
		for _, e := range entries {
			list = append(list, []any{json.RawMessage(e[0]), json.RawMessage(e[1])})
		}
		return map[string]any{"map": list}
	case traits.Lister:
		list := []any{}
		for it := v.Iterator(); it.HasNext() == types.True; {
			list = append(list, render(it.Next()))
		}
		return list
	}
	return map[string]any{"opaque": val.Type().TypeName()}
}

// sizes says how large the parts of a custom resource can be, as the compiler of apiextensions-apiserver does.
type sizes struct{ root *apiservercel.DeclType }

func (s *sizes) EstimateSize(element checker.AstNode) *checker.SizeEstimate {
	if len(element.Path()) == 0 {
		return nil
	}
	node := s.root
	for _, step := range element.Path()[1:] {
		switch step {
		case "@items", "@values":
			node = node.ElemType
		case "@keys":
			node = node.KeyType
		default:
			field, ok := node.Fields[step]
			if !ok {
				return nil
			}
			node = field.Type
		}
		if node == nil {
			return nil
		}
	}
	return &checker.SizeEstimate{Min: 0, Max: uint64(node.MaxElements)}
}

func (s *sizes) EstimateCallCost(string, string, *checker.AstNode, []checker.AstNode) *checker.CallEstimate {
	return nil
}

// judge allows what begins with an a: the path, or the resource; it fails for what begins with an e.
type judge struct{}

func (judge) Authorize(_ context.Context, a authorizer.Attributes) (authorizer.Decision, string, error) {
	subject := a.GetResource()
	if !a.IsResourceRequest() {
		subject = strings.TrimPrefix(a.GetPath(), "/")
	}
	reason := fmt.Sprintf("%s %s %s %s/%s/%s/%s/%s/%s", a.GetUser().GetName(), a.GetVerb(), subject,
		a.GetAPIGroup(), a.GetAPIVersion(), a.GetNamespace(), a.GetName(), a.GetSubresource(), a.GetPath())
	switch {
	case strings.HasPrefix(subject, "e"):
		return authorizer.DecisionDeny, reason, fmt.Errorf("no answer for %s", subject)
	case strings.HasPrefix(subject, "a"):
		return authorizer.DecisionAllow, reason, nil
	case strings.HasPrefix(subject, "n"):
		return authorizer.DecisionNoOpinion, reason, nil
	}
	return authorizer.DecisionDeny, reason, nil
}

func parseSchema(raw json.RawMessage) *schema.Structural {
	var v1 apiextensionsv1.JSONSchemaProps
	must(json.Unmarshal(raw, &v1))
	var internal apiextensions.JSONSchemaProps
	must(apiextensionsv1.Convert_v1_JSONSchemaProps_To_apiextensions_JSONSchemaProps(&v1, &internal, nil))
	structural, err := schema.NewStructural(&internal)
	must(err)
	return structural
}

func parseValue(raw json.RawMessage) any {
	decoder := json.NewDecoder(bytes.NewReader(raw))
	decoder.UseNumber()
	var v any
	must(decoder.Decode(&v))
	return numbers(v)
}

// numbers turns JSON's numbers into int64 or float64, as the API machinery does.
func numbers(v any) any {
	switch v := v.(type) {
	case json.Number:
		if i, err := v.Int64(); err == nil {
			return i
		}
		f, err := v.Float64()
		must(err)
		return f
	case []any:
		for i := range v {
			v[i] = numbers(v[i])
		}
	case map[string]any:
		for k := range v {
			v[k] = numbers(v[k])
		}
	}
	return v
}

func lines(path string) []string {
	file, err := os.Open(path)
	must(err)
	defer file.Close()
	var all []string
	scanner := bufio.NewScanner(file)
	scanner.Buffer(nil, 1<<22)
	for scanner.Scan() {
		all = append(all, scanner.Text())
	}
	must(scanner.Err())
	return all
}

func must(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
