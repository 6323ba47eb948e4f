package lamps_test

import (
	"context"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/rest"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/config"
	"sigs.k8s.io/controller-runtime/pkg/envtest"
	"sigs.k8s.io/controller-runtime/pkg/log/zap"
	"sigs.k8s.io/controller-runtime/pkg/metrics/server"
	"sigs.k8s.io/controller-runtime/pkg/webhook"

	"example.com/lamps"
)

func TestLamps(t *testing.T) {
	RegisterFailHandler(Fail)
	SetDefaultEventuallyTimeout(10 * time.Second)
	SetDefaultEventuallyPollingInterval(10 * time.Millisecond)
	RunSpecs(t, "lamps")
}

var (
	environment *envtest.Environment
	scheme      *runtime.Scheme
	admin       *rest.Config
	// api asks the server, and no cache.
	api client.WithWatch
)

var _ = BeforeSuite(func() {
	ctrl.SetLogger(zap.New(zap.WriteTo(GinkgoWriter)))
	var err error
	scheme, err = lamps.NewScheme()
	Expect(err).NotTo(HaveOccurred())
	environment = &envtest.Environment{
		// Kinds of the scheme that convert get a conversion webhook.
		Scheme:                scheme,
		CRDDirectoryPaths:     []string{filepath.Join("config", "crd")},
		ErrorIfCRDPathMissing: true,
		WebhookInstallOptions: envtest.WebhookInstallOptions{Paths: []string{filepath.Join("config", "webhook")}},
	}
	admin, err = environment.Start()
	Expect(err).NotTo(HaveOccurred())
	// Cleanups run last to first: the manager ends before its server.
	DeferCleanup(environment.Stop)
	api, err = client.NewWithWatch(admin, client.Options{Scheme: scheme})
	Expect(err).NotTo(HaveOccurred())

	manager := newManager("the-suite", environment.WebhookInstallOptions.LocalServingPort)
	Expect(lamps.Setup(manager)).To(Succeed())
	run(manager)
	Expect(manager.GetWebhookServer().StartedChecker()).NotTo(BeNil())
	Eventually(func() error { return manager.GetWebhookServer().StartedChecker()(nil) }).Should(Succeed())
})

// newManager makes a manager that works once it has the lease of that name. A port of 0 is none.
func newManager(lease string, webhooks int) ctrl.Manager {
	installed := environment.WebhookInstallOptions
	seconds := func(seconds float64) *time.Duration {
		duration := time.Duration(seconds * float64(time.Second))
		return &duration
	}
	sameNames := true
	manager, err := ctrl.NewManager(admin, ctrl.Options{
		Scheme:                        scheme,
		Metrics:                       server.Options{BindAddress: "0"},
		Controller:                    config.Controller{SkipNameValidation: &sameNames},
		LeaderElection:                true,
		LeaderElectionID:              lease,
		LeaderElectionNamespace:       "default",
		LeaderElectionReleaseOnCancel: true,
		LeaseDuration:                 seconds(60),
		RenewDeadline:                 seconds(40),
		RetryPeriod:                   seconds(0.1),
		WebhookServer: webhook.NewServer(webhook.Options{
			Host: installed.LocalServingHost, Port: webhooks, CertDir: installed.LocalServingCertDir,
		}),
	})
	Expect(err).NotTo(HaveOccurred())
	return manager
}

// run starts a manager, and returns what stops it; the end of the spec does, too.
func run(manager ctrl.Manager) (stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan struct{})
	go func() {
		defer GinkgoRecover()
		defer close(ended)
		Expect(manager.Start(ctx)).To(Succeed())
	}()
	stop = func() {
		cancel()
		Eventually(ended).Should(BeClosed())
	}
	DeferCleanup(stop)
	return stop
}

var names int

// name is one that no other spec has.
func name() string {
	names++
	return "lamp-" + strconv.Itoa(names)
}
