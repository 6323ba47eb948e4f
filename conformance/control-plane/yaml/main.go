// Command yaml writes what the real packages make of YAML: JSON of the texts in texts.txt, which stand between lines `====`, and YAML of
// the JSON in values.txt, one value a line, and of random values.
//
// Usage: go run ./yaml READ PRINTED (`cargo xtask schema` knows the paths).
package main

import (
	"bytes"
	_ "embed"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"log"
	"math/rand"
	"os"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"sigs.k8s.io/yaml"
)

//go:embed texts.txt
var texts string

//go:embed values.txt
var values string

// A reading is a text with what it is in JSON.
type reading struct {
	Text string `json:"text,omitempty"`
	// Hex is the text, if it is not UTF-8.
	Hex  string          `json:"hex,omitempty"`
	JSON json.RawMessage `json:"json,omitempty"`
	// Error says why it has none.
	Error string `json:"error,omitempty"`
	// Strict says why it is refused where keys may not be repeated.
	Strict string `json:"strict,omitempty"`
}

func read(text string) reading {
	found := reading{Text: text}
	if !utf8.ValidString(text) {
		found = reading{Hex: hex.EncodeToString([]byte(text))}
	}
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

// inUTF16 encodes a text, with a byte order mark.
func inUTF16(text string, order binary.AppendByteOrder) string {
	encoded := order.AppendUint16(nil, 0xFEFF)
	for _, unit := range utf16.Encode([]rune(text)) {
		encoded = order.AppendUint16(encoded, unit)
	}
	return string(encoded)
}

// bodies are texts that are not UTF-8, or not allowed.
var bodies = []string{
	inUTF16("a: b\n", binary.LittleEndian),
	inUTF16("a: b\n", binary.BigEndian),
	inUTF16("é: \"😀\u2028\"\n- x\n", binary.LittleEndian),
	inUTF16("{\"a\": [1, 2]}", binary.BigEndian),
	inUTF16("", binary.BigEndian),
	inUTF16("a: \x01", binary.BigEndian),
	inUTF16("a: b", binary.BigEndian) + "\x00",
	"\xfe\xff\xd8\x3d",
	"\xfe\xff\xd8\x3d\x00a",
	"\xfe\xff\xde\x00\x00a",
	"\xfe\xff" + "a: b",
	"a: \xff",
	"a: \xc3",
	"a: \xc3(",
	"a: \xc0\x80",
	"a: \xe0\x80\x80",
	"a: \xed\xa0\x80",
	"a: \xf4\x90\x80\x80",
	"a: \xf8\x88\x80\x80\x80",
	"a: \x01",
	"a: \x00",
	"a: \x7f",
	"a: \u0080",
	"a: \ufffe",
	"a: [}\n" + strings.Repeat("#\n", 600) + "\x01",
	"a: b\n---\n" + strings.Repeat("#\n", 600) + "\x01",
	"a: b\n" + strings.Repeat("#\n", 600) + "\xff",
	"\xef\xbb\xbfa: b",
}

// pieces are what random texts consist of.
var pieces = []string{
	"a", "b", "1", "a: ", "b:", "- ", "-", "? ", ": ", ":", "\n", "\n", "\n", "\n  ", "\n  ", "\n    ", " ", "  ", "\t", "[", "]", "{", "}", ",", ", ", "\"", "\"",
	"'", "'", "|\n", "|-\n  ", ">\n", ">+\n  ", "&x ", "*x", "!!str ", "!y ", " #c", "#", "---\n", "--- ", "...\n", "%YAML 1.1\n---\n", "\u0085", "\u2028", "\\",
	"\r", "\r\n", "<<: ", "é", "x y", "\\n", "''",
}

func randomYAML(source *rand.Rand) string {
	var text strings.Builder
	for range 1 + source.Intn(12) {
		text.WriteString(pieces[source.Intn(len(pieces))])
	}
	return text.String()
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
	for _, body := range bodies {
		readings = append(readings, read(body))
	}
	for random := rand.New(rand.NewSource(2)); len(readings) < 3000; {
		readings = append(readings, read(randomYAML(random)))
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
