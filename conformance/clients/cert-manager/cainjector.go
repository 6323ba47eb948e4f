package main

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	extensions "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/runtime"
	kubernetes "k8s.io/client-go/kubernetes/scheme"
	registration "k8s.io/kube-aggregator/pkg/apis/apiregistration/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	runtimeclient "sigs.k8s.io/controller-runtime/pkg/client"
	metrics "sigs.k8s.io/controller-runtime/pkg/metrics/server"

	certmanager "github.com/cert-manager/cert-manager/pkg/client/clientset/versioned/scheme"
	injector "github.com/cert-manager/cert-manager/pkg/controller/cainjector"
)

// cainjector writes CA bundles into configurations of webhooks, definitions and API services. Its manager is set up as upstream sets it up.
func cainjector(ctx context.Context, arguments []string) error {
	told, err := parse("cainjector", arguments)
	if err != nil {
		return err
	}
	config, err := client("cainjector")
	if err != nil {
		return err
	}
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{
		kubernetes.AddToScheme, certmanager.AddToScheme, extensions.AddToScheme, registration.AddToScheme,
	} {
		if err := add(scheme); err != nil {
			return err
		}
	}
	manager, err := ctrl.NewManager(config, ctrl.Options{
		Scheme:                        scheme,
		Cache:                         cache.Options{ReaderFailOnMissingInformer: true},
		Client:                        runtimeclient.Options{Cache: &runtimeclient.CacheOptions{DisableFor: []runtimeclient.Object{&corev1.Secret{}}}},
		Metrics:                       metrics.Options{BindAddress: "0"},
		LeaderElection:                true,
		LeaderElectionID:              "cert-manager-cainjector-leader-election",
		LeaderElectionNamespace:       told.leases,
		LeaderElectionReleaseOnCancel: true,
	})
	if err != nil {
		return err
	}
	err = injector.RegisterAllInjectors(ctx, manager, injector.SetupOptions{
		EnableCertificatesDataSource: true,
		EnabledReconcilersFor: map[string]bool{
			injector.MutatingWebhookConfigurationName:   true,
			injector.ValidatingWebhookConfigurationName: true,
			injector.APIServiceName:                     true,
			injector.CustomResourceDefinitionName:       true,
		},
	})
	if err != nil {
		return err
	}
	return manager.Start(ctx)
}
