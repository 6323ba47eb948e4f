// Command yaml writes what the real packages make of YAML: JSON of the texts in texts.txt, which stand between lines `====`, and YAML of
// the JSON in values.txt, one value a line, and of random values.
//
// Usage: go run ./yaml READ PRINTED (`cargo xtask schema` knows the paths).
package main

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"log"
	"math/rand"
	"os"
	"strings"

	"sigs.k8s.io/yaml"
)

//go:embed texts.txt
var texts string

//go:embed values.txt
var values string

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

// A printing is a value with its YAML.
type printing struct {
	JSON json.RawMessage `json:"json"`
	YAML string          `json:"yaml,omitempty"`
	// Error says why it has none.
	Error string `json:"error,omitempty"`
}

// printed encodes a value in JSON, as servers do, which is what YAML is made of.
func printed(value any) printing {
	encoded, err := json.Marshal(value)
	if err != nil {
		log.Fatal(err)
	}
	made, err := yaml.JSONToYAML(encoded)
	if err != nil {
		return printing{JSON: encoded, Error: err.Error()}
	}
	return printing{JSON: encoded, YAML: string(made)}
}

func decoded(text string) any {
	decoder := json.NewDecoder(strings.NewReader(text))
	// Its digits stay as they are.
	decoder.UseNumber()
	var value any
	if err := decoder.Decode(&value); err != nil {
		log.Fatalf("%s: %v", text, err)
	}
	return value
}

// alphabet are the pieces of random strings: what printing depends on.
var alphabet = []string{
	"a", "b", "word", "longer-word", "0", "1", "7", "e", "x", "true", "no", "null", "~", " ", " ", " ", "  ", "\n", "\n\n", "\t", "\r", "-", "- ", "--- ", "...",
	":", ": ", " :", "#", " #", ",", "[", "]", "{", "}", "&", "*", "!", "|", ">", "'", "\"", "%", "@", "`", "?", "? ", "=", "<<", "<", ".", "_", "+", "/", "\\",
	"\u0000", "\u0007", "\u0085", "\u00a0", "\u2028", "\ufeff", "\ufffd", "é", "日本", "😀", "2001-01-01", "12:30", "0x1F", "1e3", "1.5",
}

func randomText(source *rand.Rand) string {
	var text strings.Builder
	pieces := source.Intn(6)
	if source.Intn(4) == 0 {
		pieces = source.Intn(60)
	}
	for range pieces {
		text.WriteString(alphabet[source.Intn(len(alphabet))])
	}
	return text.String()
}

func randomValue(source *rand.Rand, depth int) any {
	switch source.Intn(8) {
	case 0:
		list := []any{}
		for range source.Intn(4) * depth {
			list = append(list, randomValue(source, depth-1))
		}
		return list
	case 1, 2:
		fields := map[string]any{}
		for range source.Intn(4) * depth {
			fields[randomText(source)] = randomValue(source, depth-1)
		}
		return fields
	case 3:
		return []any{nil, true, false, 0, -1, 1.5, 1e21, 1e-7, 12345678901234, 100000.5}[source.Intn(10)]
	default:
		return randomText(source)
	}
}

func write[T any](path string, vectors []T) {
	var lines bytes.Buffer
	encoder := json.NewEncoder(&lines)
	encoder.SetEscapeHTML(false)
	for _, vector := range vectors {
		if err := encoder.Encode(vector); err != nil {
			log.Fatal(err)
		}
	}
	if err := os.WriteFile(path, lines.Bytes(), 0o644); err != nil {
		log.Fatal(err)
	}
}

func main() {
	log.SetFlags(0)
	if len(os.Args) != 3 {
		log.Fatal("usage: go run ./yaml READ PRINTED")
	}
	var readings []reading
	for _, text := range strings.Split(texts, "====\n") {
		readings = append(readings, read(text))
	}
	write(os.Args[1], readings)
	var printings []printing
	for _, line := range strings.Split(strings.TrimSpace(values), "\n") {
		printings = append(printings, printed(decoded(line)))
	}
	source := rand.New(rand.NewSource(1))
	for range 1500 {
		printings = append(printings, printed(randomValue(source, 2)))
	}
	write(os.Args[2], printings)
}
