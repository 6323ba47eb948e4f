// Kubernetes' own integration tests: a line a test. `checks FOLDER VERSION` runs the programs FOLDER/*.test, one after the other. With a third
// argument, `by-program`, the tests' names begin with those of their programs.
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
)

// An event is what test2json tells of a test.
type event struct {
	Action, Test, Output string
}

func main() {
	folder, version, byProgram := os.Args[1], os.Args[2], slices.Contains(os.Args[3:], "by-program")
	fmt.Println("client Kubernetes' tests", version)
	skip, err := skipped(filepath.Join(folder, "skipped.txt"))
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	programs, err := filepath.Glob(filepath.Join(folder, "*.test"))
	if err == nil && len(programs) == 0 {
		err = fmt.Errorf("%s has no tests", folder)
	}
	for _, program := range programs {
		prefix := ""
		if byProgram {
			prefix = strings.TrimSuffix(filepath.Base(program), ".test") + "/"
		}
		if err == nil {
			err = run(filepath.Join(folder, "test2json"), program, skip, prefix)
		}
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// skipped reads a list of tests, a name and a reason a line; it returns the pattern that leaves them out.
func skipped(list string) (string, error) {
	text, err := os.ReadFile(list)
	if err != nil {
		return "", err
	}
	var patterns []string
	for line := range strings.Lines(string(text)) {
		name, _, _ := strings.Cut(strings.TrimSpace(line), " ")
		if name != "" && name != "#" {
			patterns = append(patterns, "^"+strings.ReplaceAll(regexp.QuoteMeta(name), "/", "$/^")+"$")
		}
	}
	return strings.Join(patterns, "|"), nil
}

// run prints the lines of a program's tests, without those that match a pattern; their names get a prefix. That some fail is no error; that they
// break off is.
func run(test2json, program, skip, prefix string) error {
	command := exec.Command(test2json, program, "-test.v=test2json", "-test.skip="+skip)
	command.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGTERM}
	command.Stderr = os.Stderr
	output, err := command.StdoutPipe()
	if err != nil {
		return err
	}
	if err := command.Start(); err != nil {
		return err
	}
	name := strings.TrimSuffix(filepath.Base(program), ".test")
	said := map[string][]string{}
	failed := false
	lines := bufio.NewScanner(output)
	lines.Buffer(nil, 16<<20)
	for lines.Scan() {
		var one event
		if err := json.Unmarshal(lines.Bytes(), &one); err != nil {
			return fmt.Errorf("%s: %q: %w", name, lines.Text(), err)
		}
		if one.Test == "" {
			continue
		}
		switch one.Action {
		case "output":
			said[one.Test] = append(said[one.Test], one.Output)
		case "pass":
			fmt.Println("ok", prefix+one.Test)
		case "fail":
			failed = true
			fmt.Printf("FAIL %s%s: %s\n", prefix, one.Test, reason(said[one.Test]))
		}
	}
	if err := command.Wait(); err != nil && !failed {
		return fmt.Errorf("%s: %w", name, err)
	}
	return lines.Err()
}

// reason is the last of what a test says, on one line of bearable length; what follows of it is put back, which says nothing.
func reason(said []string) string {
	for _, line := range slices.Backward(said) {
		line = strings.Join(strings.Fields(line), " ")
		if line == "" || slices.ContainsFunc([]string{"--- ", "=== ", "feature_gate.go:"}, func(start string) bool { return strings.HasPrefix(line, start) }) {
			continue
		}
		return line[:min(len(line), 300)]
	}
	return "a test in it"
}
