// The servers of tests that change a server's options, in the place of Kubernetes' test/integration/framework/test_server.go: programs, which get
// the changed options as flags.
package framework

import (
	"context"
	"strings"
	"testing"

	"github.com/spf13/pflag"
	client "k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/kubernetes/cmd/kube-apiserver/app/options"
	kubeapiservertesting "k8s.io/kubernetes/cmd/kube-apiserver/app/testing"
	"k8s.io/kubernetes/pkg/controlplane"
)

// TestServerSetup is what a test changes of a server.
type TestServerSetup struct {
	ModifyServerRunOptions func(*options.ServerRunOptions)
	ModifyServerConfig     func(*controlplane.Config)
	DisableInvariantChecks bool
}

// TearDownFunc ends a server.
type TearDownFunc func()

// StartTestServer starts a server, or ends the test: one that changes more than flags say is skipped.
func StartTestServer(_ context.Context, t testing.TB, setup TestServerSetup) (client.Interface, *rest.Config, TearDownFunc) {
	t.Helper()
	if setup.ModifyServerConfig != nil {
		t.Skip("it changes the configuration of a server in its process")
	}
	opts := options.NewServerRunOptions()
	defaults := values(opts)
	opts.Authorization.Modes = []string{"Node", "RBAC"}
	if setup.ModifyServerRunOptions != nil {
		setup.ModifyServerRunOptions(opts)
	}
	var flags []string
	for name, value := range values(opts) {
		if value != defaults[name] {
			flags = append(flags, "--"+name+"="+value)
		}
	}
	server := kubeapiservertesting.StartTestServerOrDie(t, nil, flags, SharedEtcd())
	clients, err := client.NewForConfig(server.ClientConfig)
	if err != nil {
		t.Fatal(err)
	}
	return clients, server.ClientConfig, TearDownFunc(server.TearDownFn)
}

// values returns the values of all flags, by their names, as the options have them now.
func values(opts *options.ServerRunOptions) map[string]string {
	values := map[string]string{}
	for _, set := range opts.Flags().FlagSets {
		set.VisitAll(func(flag *pflag.Flag) {
			if slice, ok := flag.Value.(pflag.SliceValue); ok {
				values[flag.Name] = strings.Join(slice.GetSlice(), ",")
			} else {
				values[flag.Name] = flag.Value.String()
			}
		})
	}
	return values
}
