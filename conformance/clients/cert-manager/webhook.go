package main

import (
	"context"

	"github.com/spf13/pflag"

	certmanager "github.com/cert-manager/cert-manager/internal/webhook"
	logf "github.com/cert-manager/cert-manager/pkg/logs"
	"github.com/cert-manager/cert-manager/pkg/webhook/options"
)

// webhook serves the admission webhooks. Its flags are upstream's.
func webhook(ctx context.Context, arguments []string) error {
	settings, err := options.NewWebhookConfiguration()
	if err != nil {
		return err
	}
	flags := pflag.NewFlagSet("webhook", pflag.ContinueOnError)
	options.AddConfigFlags(flags, settings)
	if err := flags.Parse(arguments); err != nil {
		return err
	}
	if err := logf.ValidateAndApply(&settings.Logging); err != nil {
		return err
	}
	server, err := certmanager.NewCertManagerWebhookServer(logf.FromContext(ctx), *settings)
	if err != nil {
		return err
	}
	return server.Run(ctx)
}
