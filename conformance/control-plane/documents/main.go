// Command documents prints the YAML documents in a folder and below as JSON, one line a document, in the order of their paths:
// {"file": PATH, "document": VALUE}, and {"file": PATH, "unreadable": ERROR} for what is not YAML, such as a template.
//
// Usage: go run ./documents FOLDER (`cargo xtask crds` does that).
package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"log"
	"os"
	"path/filepath"

	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
	"sigs.k8s.io/yaml"
)

type line struct {
	File       string          `json:"file"`
	Document   json.RawMessage `json:"document,omitempty"`
	Unreadable string          `json:"unreadable,omitempty"`
}

func main() {
	log.SetFlags(0)
	if len(os.Args) != 2 {
		log.Fatal("usage: go run ./documents FOLDER")
	}
	folder := os.Args[1]
	out := bufio.NewWriter(os.Stdout)
	encoder := json.NewEncoder(out)
	encoder.SetEscapeHTML(false)
	err := filepath.WalkDir(folder, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || !isYAML(path) {
			return err
		}
		name, err := filepath.Rel(folder, path)
		if err != nil {
			return err
		}
		content, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		for _, one := range documents(content) {
			one.File = filepath.ToSlash(name)
			if err := encoder.Encode(one); err != nil {
				return err
			}
		}
		return nil
	})
	if err := errors.Join(err, out.Flush()); err != nil {
		log.Fatal(err)
	}
}

func isYAML(path string) bool {
	extension := filepath.Ext(path)
	return extension == ".yaml" || extension == ".yml"
}

// documents reads as kubectl does. Documents without a value are left out.
func documents(content []byte) []line {
	var lines []line
	reader := utilyaml.NewYAMLReader(bufio.NewReader(bytes.NewReader(content)))
	for {
		text, err := reader.Read()
		if errors.Is(err, io.EOF) {
			return lines
		}
		if err != nil {
			return append(lines, line{Unreadable: err.Error()})
		}
		document, err := yaml.YAMLToJSON(text)
		switch {
		case err != nil:
			lines = append(lines, line{Unreadable: err.Error()})
		case string(document) != "null":
			lines = append(lines, line{Document: document})
		}
	}
}
