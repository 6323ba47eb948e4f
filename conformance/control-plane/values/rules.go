package main

import (
	"context"
	_ "embed"
	"encoding/json"
	"reflect"
	"regexp"
	"slices"
	"strings"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	structuralschema "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel/model"
	celconfig "k8s.io/apiserver/pkg/apis/cel"
	"k8s.io/apiserver/pkg/cel/common"
	"k8s.io/apiserver/pkg/warning"
)

// The rules are evaluated so often, to see whether the order of what they find is always the same; those that are costly, less often.
const evaluations, costlyEvaluations = 100, 4

//go:embed rules.txt
var ruleCases string

// The name of the type of a rule's value, which is another each time.
var selfType = regexp.MustCompile(`selfType\d+`)

// A ruled case is a value with what the rules in its schema find.
type ruled struct {
	testCase
	Errors   []finding `json:"errors,omitempty"`
	Warnings []string  `json:"warnings,omitempty"`
	// Left is what remains of the budget.
	Left      int64 `json:"left"`
	Unordered bool  `json:"unordered,omitempty"`
}

// The recorder of warnings.
type recorder struct{ warnings []string }

func (r *recorder) AddWarning(_, text string) { r.warnings = append(r.warnings, text) }

func runRules(one testCase) ruled {
	first := evaluate(one)
	times := evaluations
	if first.Left < celconfig.RuntimeCELCostBudget-50_000 {
		times = costlyEvaluations
	}
	for range times {
		again := evaluate(one)
		if !reflect.DeepEqual(first, again) {
			first.Unordered = true
		}
	}
	if first.Unordered {
		slices.SortFunc(first.Errors, func(a, b finding) int { return strings.Compare(strings.Join(a[:], ""), strings.Join(b[:], "")) })
		slices.Sort(first.Warnings)
	}
	return first
}

func evaluate(one testCase) ruled {
	structural := structuralOf(one.Schema)
	value := parse(one.Value)
	var old any
	var options []cel.Option
	if one.Old != nil {
		old = parse(one.Old)
		options = append(options, cel.WithRatcheting(common.NewCorrelatedObject(value, old, &model.Structural{Structural: structural})))
	}
	warned := &recorder{}
	ctx := warning.WithWarningRecorder(context.Background(), warned)
	validator := validatorOf(string(one.Schema), structural)
	errors, left := validator.Validate(ctx, nil, structural, value, old, celconfig.RuntimeCELCostBudget, options...)
	result := ruled{testCase: one, Errors: findings(errors), Warnings: warned.warnings, Left: left}
	for i := range result.Errors {
		result.Errors[i][2] = selfType.ReplaceAllString(result.Errors[i][2], "selfType1")
	}
	return result
}

var validators = map[string]*cel.Validator{}

// The validator of a schema, which is costly to make.
func validatorOf(text string, structural *structuralschema.Structural) *cel.Validator {
	validator, known := validators[text]
	if !known {
		validator = cel.NewValidator(structural, true, celconfig.PerCallLimit)
		validators[text] = validator
	}
	return validator
}

func structuralOf(text json.RawMessage) *structuralschema.Structural {
	var served apiextensionsv1.JSONSchemaProps
	must(0, json.Unmarshal(text, &served))
	var props apiextensions.JSONSchemaProps
	must(0, apiextensionsv1.Convert_v1_JSONSchemaProps_To_apiextensions_JSONSchemaProps(&served, &props, nil))
	return must(structuralschema.NewStructural(&props))
}
