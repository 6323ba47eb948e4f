// cert-manager's three programs in one: `cert-manager webhook|cainjector|controller FLAGS`.
//
// cert-manager publishes their packages, and not the programs, which are modules within its repository. Its packages in `internal/` may be imported only
// from below its path, which is why this module has such a name. The controllers are those without ACME, Vault and other services.
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/pflag"
	"golang.org/x/sys/unix"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	logs "k8s.io/component-base/logs/api/v1"
	"k8s.io/klog/v2"
	ctrl "sigs.k8s.io/controller-runtime"

	logf "github.com/cert-manager/cert-manager/pkg/logs"
	"github.com/cert-manager/cert-manager/pkg/util"
	"github.com/cert-manager/cert-manager/pkg/util/feature"
)

// The programs by their names, each with the rest of the command line.
var programs = map[string]func(ctx context.Context, arguments []string) error{
	"webhook":    webhook,
	"cainjector": cainjector,
	"controller": controllers,
}

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(arguments []string) error {
	if len(arguments) == 0 || programs[arguments[0]] == nil {
		return fmt.Errorf("which program? webhook, cainjector or controller")
	}
	// None outlives the script that starts it.
	if err := unix.Prctl(unix.PR_SET_PDEATHSIG, uintptr(unix.SIGTERM), 0, 0, 0); err != nil {
		return err
	}
	logf.InitLogs()
	defer logf.FlushLogs()
	ctrl.SetLogger(klog.Background())
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	return programs[arguments[0]](logf.NewContext(ctx, klog.Background(), arguments[0]), arguments[1:])
}

// A deployed program is told this by its deployment.
type deployed struct {
	leases    string // The namespace of its lease.
	resources string // The namespace of secrets of cluster issuers.
}

// parse reads the flags of a deployment, of which many do not matter here.
func parse(program string, arguments []string) (told deployed, err error) {
	flags := pflag.NewFlagSet(program, pflag.ContinueOnError)
	flags.ParseErrorsAllowlist.UnknownFlags = true
	flags.StringVar(&told.leases, "leader-election-namespace", "", "")
	flags.StringVar(&told.resources, "cluster-resource-namespace", "", "")
	gates := flags.String("feature-gates", "", "")
	logging := logs.NewLoggingConfiguration()
	logf.AddFlags(logging, flags)
	if err := flags.Parse(arguments); err != nil {
		return told, err
	}
	if err := feature.DefaultMutableFeatureGate.Set(*gates); err != nil {
		return told, err
	}
	return told, logf.ValidateAndApply(logging)
}

// client is the configuration of a program's client, with the user agent that the program has upstream.
func client(component ...string) (*rest.Config, error) {
	config, err := clientcmd.BuildConfigFromFlags("", os.Getenv("KUBECONFIG"))
	if err != nil {
		return nil, err
	}
	return util.RestConfigWithUserAgent(config, component...), nil
}
