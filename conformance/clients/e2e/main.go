// Kubernetes' end-to-end tests: a line a test. `checks VERSION SPECS PROGRAM FLAG...` runs PROGRAM with those tests that SPECS lists: a pattern a
// line; behind a dash, of those that are left out, with the reason.
package main

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
)

// A report is what Ginkgo tells of a run.
type report struct {
	SpecReports []struct {
		ContainerHierarchyTexts []string
		LeafNodeType            string
		LeafNodeText            string
		State                   string
		Failure                 struct{ Message string }
	}
}

func main() {
	if err := run(os.Args[1], os.Args[2], os.Args[3], os.Args[4:]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(version, specs, program string, flags []string) error {
	fmt.Println("client Kubernetes' end-to-end tests", version)
	chosen, left, err := read(specs)
	if err != nil {
		return err
	}
	folder, err := os.MkdirTemp("", "e2e")
	if err != nil {
		return err
	}
	defer os.RemoveAll(folder)
	told := filepath.Join(folder, "report.json")
	flags = append(flags, "--ginkgo.focus="+chosen, "--ginkgo.skip="+left, "--ginkgo.json-report="+told, "--ginkgo.no-color", "--ginkgo.timeout=1h")
	command := exec.Command(program, flags...)
	command.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	command.Stdout, command.Stderr = os.Stderr, os.Stderr
	ended := command.Run()
	text, err := os.ReadFile(told)
	if err != nil {
		return fmt.Errorf("%w, and no report: %w", ended, err)
	}
	var reports []report
	if err := json.Unmarshal(text, &reports); err != nil {
		return err
	}
	for _, of := range reports {
		for _, spec := range of.SpecReports {
			words := append(spec.ContainerHierarchyTexts, spec.LeafNodeText)
			// Behind a colon and a blank stands why a test failed.
			name := strings.ReplaceAll(strings.Join(strings.Fields(strings.Join(words, " ")), " "), ": ", ":")
			switch {
			case spec.LeafNodeType != "It":
				if spec.State != "passed" && spec.State != "skipped" {
					return fmt.Errorf("%s: %s", spec.LeafNodeType, spec.Failure.Message)
				}
			case spec.State == "passed":
				fmt.Println("ok", name)
			case spec.State != "skipped":
				reason := strings.Join(strings.Fields(spec.Failure.Message), " ")
				fmt.Printf("FAIL %s: %s\n", name, reason[:min(len(reason), 300)])
			}
		}
	}
	return nil
}

// read reads a list of patterns; it returns those of chosen and of left tests.
func read(list string) (chosen, left string, err error) {
	text, err := os.ReadFile(list)
	if err != nil {
		return "", "", err
	}
	var patterns [2][]string
	for line := range strings.Lines(string(text)) {
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		pattern, isLeft := strings.CutPrefix(line, "- ")
		if isLeft {
			pattern, _, _ = strings.Cut(pattern, "  ")
			patterns[1] = append(patterns[1], pattern)
		} else {
			patterns[0] = append(patterns[0], pattern)
		}
	}
	return strings.Join(patterns[0], "|"), strings.Join(patterns[1], "|"), nil
}
