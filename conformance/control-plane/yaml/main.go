// Command yaml writes what the real packages make of YAML: JSON of the texts in texts.txt, which stand between lines `====`.
//
// Usage: go run ./yaml READ (`cargo xtask schema` knows the paths).
package main

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"log"
	"os"
	"strings"

	"sigs.k8s.io/yaml"
)

//go:embed texts.txt
var texts string

// A reading is a text with what it is in JSON.
type reading struct {
	Text string          `json:"text"`
	JSON json.RawMessage `json:"json,omitempty"`
	// Error says why it has none.
	Error string `json:"error,omitempty"`
	// Strict says why it is refused where keys may not be repeated.
	Strict string `json:"strict,omitempty"`
}

func read(text string) reading {
	found := reading{Text: text}
	made, err := yaml.YAMLToJSON([]byte(text))
	if err != nil {
		found.Error = err.Error()
		return found
	}
	found.JSON = made
	if _, err := yaml.YAMLToJSONStrict([]byte(text)); err != nil {
		found.Strict = err.Error()
	}
	return found
}

func main() {
	log.SetFlags(0)
	if len(os.Args) != 2 {
		log.Fatal("usage: go run ./yaml READ")
	}
	var lines bytes.Buffer
	encoder := json.NewEncoder(&lines)
	encoder.SetEscapeHTML(false)
	for _, text := range strings.Split(texts, "====\n") {
		if err := encoder.Encode(read(text)); err != nil {
			log.Fatal(err)
		}
	}
	if err := os.WriteFile(os.Args[1], lines.Bytes(), 0o644); err != nil {
		log.Fatal(err)
	}
}
