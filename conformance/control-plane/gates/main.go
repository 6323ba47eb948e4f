// Command gates writes the feature gates of kube-apiserver: a line each with its name, stage, default, and `locked` if it has no other value.
//
// Usage: go run ./gates FILE (`cargo xtask schema` knows the path).
package main

import (
	"fmt"
	"log"
	"os"
	"slices"
	"strings"

	utilfeature "k8s.io/apiserver/pkg/util/feature"
	_ "k8s.io/kubernetes/cmd/kube-apiserver/app"
)

func main() {
	if len(os.Args) != 2 {
		log.Fatal("usage: gates FILE")
	}
	var lines []string
	for name, spec := range utilfeature.DefaultMutableFeatureGate.GetAll() {
		stage := strings.ToLower(string(spec.PreRelease))
		if stage == "" {
			stage = "ga"
		}
		line := fmt.Sprintf("%s %s %t", name, stage, spec.Default)
		if spec.LockToDefault {
			line += " locked"
		}
		lines = append(lines, line+"\n")
	}
	slices.Sort(lines)
	if err := os.WriteFile(os.Args[1], []byte(strings.Join(lines, "")), 0o644); err != nil {
		log.Fatal(err)
	}
}
