// Command zones writes the names of the time zones that Go has built in (package time/tzdata), one a line. A kube-apiserver knows
// these wherever it runs.
//
// Usage: go run ./zones FILE (`cargo xtask schema` knows the path).
package main

import (
	"archive/zip"
	"log"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

func main() {
	log.SetFlags(0)
	root, err := exec.Command("go", "env", "GOROOT").Output()
	check(err)
	archive, err := zip.OpenReader(filepath.Join(strings.TrimSpace(string(root)), "lib", "time", "zoneinfo.zip"))
	check(err)
	var names []string
	for _, file := range archive.File {
		names = append(names, file.Name)
	}
	slices.Sort(names)
	check(os.WriteFile(os.Args[1], []byte(strings.Join(names, "\n")+"\n"), 0o644))
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
