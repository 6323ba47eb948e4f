// Command flags writes the flags of kube-apiserver: a line each with its name, type, the value that it has when it is given without one (`-` if it needs
// one), its default and, if it is deprecated, the reason, separated by tabs.
//
// Usage: go run ./flags FILE (`cargo xtask schema` knows the path).
package main

import (
	"log"
	"os"
	"slices"
	"strings"

	"github.com/spf13/pflag"
	cliflag "k8s.io/component-base/cli/flag"
	"k8s.io/component-base/logs"
	_ "k8s.io/component-base/logs/json/register"
	"k8s.io/kubernetes/cmd/kube-apiserver/app"
)

func main() {
	if len(os.Args) != 2 {
		log.Fatal("usage: flags FILE")
	}
	// As `cli.Run` of k8s.io/component-base prepares the command.
	command := app.NewAPIServerCommand()
	command.SetGlobalNormalizationFunc(cliflag.WordSepNormalizeFunc)
	logs.AddFlags(command.PersistentFlags())
	command.InitDefaultHelpFlag()
	var lines []string
	command.LocalFlags().VisitAll(func(flag *pflag.Flag) {
		bare := flag.NoOptDefVal
		if bare == "" {
			bare = "-"
		}
		fields := []string{flag.Name, flag.Value.Type(), bare, flag.DefValue, flag.Deprecated}
		lines = append(lines, strings.TrimRight(strings.Join(fields, "\t"), "\t")+"\n")
	})
	slices.Sort(lines)
	if err := os.WriteFile(os.Args[1], []byte(strings.Join(lines, "")), 0o644); err != nil {
		log.Fatal(err)
	}
}
