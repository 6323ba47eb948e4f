// Command openapi writes what the real packages publish about custom resources in OpenAPI v3 and v2.
//
// Usage: go run ./openapi TEMPLATE VECTORS (`cargo xtask schema` knows the paths).
//
// TEMPLATE gets the documents of one definition, in pieces, with placeholders for its names. VECTORS gets definitions with the hash
// of their documents, and schemas (those of ../../fixtures/custom/values.jsonl among them) with what is published of them.
package main

import (
	"bytes"
	"crypto/sha512"
	_ "embed"
	"encoding/json"
	"fmt"
	"log"
	"os"
	"slices"
	"strings"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	structuralschema "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apiextensions-apiserver/pkg/controller/openapi/builder"
	utiljson "k8s.io/apimachinery/pkg/util/json"
	"k8s.io/kube-openapi/pkg/handler"
	"k8s.io/kube-openapi/pkg/spec3"
	"k8s.io/kube-openapi/pkg/validation/spec"
)

// schemas is where the schemas of values are, which are published here.
const schemas = "../../fixtures/custom/values.jsonl"

//go:embed definitions.json
var definitions []byte

func main() {
	log.SetFlags(0)
	if len(os.Args) != 3 {
		log.Fatal("usage: go run ./openapi TEMPLATE VECTORS")
	}
	write(os.Args[1], template())
	write(os.Args[2], vectors())
}

func write(path string, lines []string) {
	if err := os.WriteFile(path, []byte(strings.Join(lines, "\n")+"\n"), 0o644); err != nil {
		log.Fatal(err)
	}
}

func must[T any](value T, err error) T {
	if err != nil {
		log.Fatal(err)
	}
	return value
}

// plain is the JSON that is published in v2, where nothing is escaped.
func plain(value any) string {
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(value); err != nil {
		log.Fatal(err)
	}
	return strings.TrimSuffix(out.String(), "\n")
}

// v3 is the document of a version.
func v3(crd *apiextensionsv1.CustomResourceDefinition, version string) *spec3.OpenAPI {
	return must(builder.BuildOpenAPIV3(crd, version, builder.Options{IncludeSelectableFields: true}))
}

// v2 is what a version adds to the document of all, as the aggregator reads it.
func v2(crd *apiextensionsv1.CustomResourceDefinition, version string) *spec.Swagger {
	document := must(builder.BuildOpenAPIV2(crd, version, builder.Options{V2: true, IncludeSelectableFields: true}))
	document.Definitions = handler.PruneDefaults(document.Definitions)
	aggregated := &spec.Swagger{}
	if err := aggregated.UnmarshalJSON(must(document.MarshalJSON())); err != nil {
		log.Fatal(err)
	}
	return aggregated
}

// definition is a definition as it is stored.
func definition(text string) *apiextensionsv1.CustomResourceDefinition {
	crd := &apiextensionsv1.CustomResourceDefinition{}
	if err := utiljson.Unmarshal([]byte(`{"spec":`+text+`}`), crd); err != nil {
		log.Fatalf("%s: %v", text, err)
	}
	apiextensionsv1.SetDefaults_CustomResourceDefinitionSpec(&crd.Spec)
	return crd
}

// vectors are the definitions with the hashes of their documents, and the schemas.
func vectors() []string {
	var lines []string
	var specs []json.RawMessage
	if err := json.Unmarshal(definitions, &specs); err != nil {
		log.Fatal(err)
	}
	var texts []string
	for _, text := range specs {
		crd := definition(string(text))
		served := must(json.Marshal(crd.Spec))
		for _, version := range crd.Spec.Versions {
			three, two := must(json.Marshal(v3(crd, version.Name))), v2(crd, version.Name)
			lines = append(lines, plain(map[string]any{
				"definition": json.RawMessage(served),
				"version":    version.Name,
				"v3":         fmt.Sprintf("%X", sha512.Sum512(three)),
				"v2Paths":    fmt.Sprintf("%X", sha512.Sum512(must(two.Paths.MarshalJSON()))),
			}))
			texts = append(texts, string(must(json.Marshal(version.Schema.OpenAPIV3Schema))))
		}
	}
	for _, line := range strings.Split(strings.TrimSpace(string(must(os.ReadFile(schemas)))), "\n") {
		var value struct{ Schema json.RawMessage }
		if err := json.Unmarshal([]byte(line), &value); err != nil {
			log.Fatal(err)
		}
		if text := string(value.Schema); isStructural(text) && !slices.Contains(texts, text) {
			texts = append(texts, text)
		}
	}
	for _, text := range texts {
		lines = append(lines, plain(map[string]any{
			"schema": json.RawMessage(text),
			"v3":     abbreviated.Replace(string(models3(text)[templateModel+templateKind])),
			"v2":     abbreviated.Replace(string(models2(text)[templateModel+templateKind])),
		}))
	}
	return lines
}

// isStructural says whether a definition can have the schema.
func isStructural(text string) bool {
	var served apiextensionsv1.JSONSchemaProps
	var props apiextensions.JSONSchemaProps
	if err := utiljson.Unmarshal([]byte(text), &served); err != nil {
		log.Fatalf("%s: %v", text, err)
	}
	if err := apiextensionsv1.Convert_v1_JSONSchemaProps_To_apiextensions_JSONSchemaProps(&served, &props, nil); err != nil {
		log.Fatalf("%s: %v", text, err)
	}
	structural, err := structuralschema.NewStructural(&props)
	return err == nil && len(structuralschema.ValidateStructural(nil, structural)) == 0
}
