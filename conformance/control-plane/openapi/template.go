package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log"
	"maps"
	"slices"
	"strings"
)

// Names of the definition whose documents become the template. They occur nowhere else in them.
const (
	templateGroup   = "g.openapi.template"
	templateVersion = "v9beta9"
	templateKind    = "Zemplate"
	templateModel   = "template.openapi.g.v9beta9."
	embedded        = `{"type":"object","properties":{"spec":{"type":"object","properties":{"a":{"type":"string"}},"x-kubernetes-embedded-resource":true}}}`
)

// placeholders stand for the names, the longer ones first.
var placeholders = strings.NewReplacer(
	"GOpenapiTemplateV9beta9CollectionNamespacedZemplate", "⟨Group⟩Collection⟨Namespaced⟩⟨raw⟩",
	"GOpenapiTemplateV9beta9NamespacedZemplate", "⟨Group⟩⟨Namespaced⟩⟨id⟩",
	"GOpenapiTemplateV9beta9Zemplate", "⟨Group⟩⟨Kind⟩",
	"gOpenapiTemplate_v9beta9", "⟨tag⟩",
	templateModel, "⟨model⟩",
	templateGroup, "⟨group⟩",
	templateVersion, "⟨version⟩",
	"zemplates", "⟨plural⟩",
	"ZemplateList", "⟨list kind⟩",
	" a Zemplate", "⟨a⟩⟨kind⟩",
	"Zemplate", "⟨kind⟩",
	"/namespaces/{namespace}", "⟨in namespace⟩",
)

// abbreviated shortens the schemas that all kinds have, and all embedded objects.
var abbreviated = func() *strings.Replacer {
	var texts []string
	for _, models := range []raw{models3(embedded), models2(embedded)} {
		standard, embedded := standardProperties(models)
		for _, name := range names {
			// That of metadata is the same in both.
			texts = append(texts, string(standard[name]), `"standard"`, string(embedded[name]), `"embedded"`)
		}
	}
	return strings.NewReplacer(texts...)
}()

// names are the properties that all objects have.
var names = []string{"apiVersion", "kind", "metadata"}

// models3 are the schemas of the definition with a schema, in v3.
func models3(schema string) raw {
	document := parse(must(json.Marshal(v3(definition(templateSpec(schema)), templateVersion))))
	return parse(parse(document["components"])["schemas"])
}

// models2 are those in v2.
func models2(schema string) raw {
	return parse(parse(must(v2(definition(templateSpec(schema)), templateVersion).MarshalJSON()))["definitions"])
}

// standardProperties are the schemas of what all objects have, and all that are embedded in others.
func standardProperties(models raw) (standard, embedded raw) {
	standard = parse(parse(models[templateModel+templateKind])["properties"])
	return standard, parse(parse(standard["spec"])["properties"])
}

// templateSpec is the definition with a schema.
func templateSpec(schema string) string {
	return `{"group":"` + templateGroup + `","scope":"Namespaced","names":{"kind":"` + templateKind + `","plural":"zemplates"},
		"versions":[{"name":"` + templateVersion + `","served":true,"storage":true,"schema":{"openAPIV3Schema":` + schema + `},
		"subresources":{"status":{},"scale":{"specReplicasPath":".spec.replicas","statusReplicasPath":".status.replicas"}}}]}`
}

// raw is a JSON object whose values keep their text.
type raw = map[string]json.RawMessage

// template is the documents in pieces, a line each: the form, what the piece is, its name, and its JSON.
func template() []string {
	crd := definition(templateSpec(embedded))
	three := parse(must(json.Marshal(v3(crd, templateVersion))))
	two := parse(must(v2(crd, templateVersion).MarshalJSON()))
	lines := pieces("v3", parse(three["paths"]), models3(embedded))
	lines = append(lines, pieces("v2", parse(two["paths"]), models2(embedded))...)
	parameters := parse(two["parameters"])
	for _, name := range slices.Sorted(maps.Keys(parameters)) {
		lines = append(lines, line("v2", "parameter", name, string(parameters[name])))
	}
	return lines
}

func parse(text []byte) raw {
	var object raw
	if bytes.ContainsAny(text, "⟨⟩\t\n") {
		log.Fatalf("a placeholder cannot be told from %s", text)
	}
	if err := json.Unmarshal(text, &object); err != nil {
		log.Fatalf("%s: %v", text, err)
	}
	return object
}

func line(form, what, name, text string) string {
	return strings.Join([]string{form, what, placeholders.Replace(name), placeholders.Replace(text)}, "\t")
}

func pieces(form string, paths, models raw) []string {
	shared := parametersOf(paths)
	var lines []string
	var replacements []string
	for number, parameter := range shared {
		placeholder := fmt.Sprintf("⟨parameter %d⟩", number)
		if isNamespace(parameter) {
			// Together with the comma behind it.
			replacements = append(replacements, parameter+",", "⟨namespace⟩")
		} else {
			replacements = append(replacements, parameter, placeholder)
		}
		name := fmt.Sprintf("parameter %d", number)
		if isNamespace(parameter) {
			name, parameter = "namespace", parameter+","
		}
		lines = append(lines, line(form, "text", name, parameter))
	}
	replacer := strings.NewReplacer(replacements...)
	for _, path := range slices.Sorted(maps.Keys(paths)) {
		lines = append(lines, line(form, "path", path, replacer.Replace(string(paths[path]))))
	}
	for _, name := range slices.Sorted(maps.Keys(models)) {
		if name != templateModel+templateKind {
			lines = append(lines, line(form, "model", name, string(models[name])))
		}
	}
	standard, embedded := standardProperties(models)
	for _, name := range names {
		lines = append(lines, line(form, "standard", name, string(standard[name])))
		lines = append(lines, line(form, "embedded", name, string(embedded[name])))
	}
	return lines
}

func isNamespace(parameter string) bool {
	return strings.Contains(parameter, `"name":"namespace"`) || strings.Contains(parameter, "#/parameters/namespace-")
}

// parametersOf are the parameters of all operations, each once, sorted; references only if they are to the namespace.
func parametersOf(paths raw) []string {
	found := map[string]bool{}
	for _, path := range paths {
		for name, operation := range parse(path) {
			list := operation
			if name != "parameters" {
				list = parse(operation)["parameters"]
			}
			if list == nil {
				continue
			}
			var parameters []json.RawMessage
			if err := json.Unmarshal(list, &parameters); err != nil {
				log.Fatalf("%s: %v", list, err)
			}
			for _, parameter := range parameters {
				if text := string(parameter); isNamespace(text) || !strings.Contains(text, "$ref") {
					found[text] = true
				}
			}
		}
	}
	return slices.Sorted(maps.Keys(found))
}
