// Package lamps is an operator: a controller that lights lamps, and the webhooks of their kind.
package lamps

import (
	"context"
	"errors"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	v1 "example.com/lamps/api/v1"
	v2 "example.com/lamps/api/v2"
)

// NewScheme knows the kinds of Kubernetes and those of lamps.
func NewScheme() (*runtime.Scheme, error) {
	scheme := runtime.NewScheme()
	return scheme, errors.Join(clientgoscheme.AddToScheme(scheme), v1.AddToScheme(scheme), v2.AddToScheme(scheme))
}

// Setup gives a manager the controller and the webhooks.
func Setup(manager ctrl.Manager) error {
	reconciler := &Reconciler{Client: manager.GetClient(), Identity: "lamps"}
	return errors.Join(
		ctrl.NewControllerManagedBy(manager).For(&v1.Lamp{}).Owns(&corev1.ConfigMap{}).Complete(reconciler),
		ctrl.NewWebhookManagedBy(manager, &v1.Lamp{}).WithDefaulter(defaulter{}).WithValidator(validator{}).Complete(),
	)
}

// Reconciler keeps a config map for each lamp.
type Reconciler struct {
	client.Client
	// Identity is the field manager of what it writes.
	Identity string
}

// Reconcile writes the lamp's config map, then its status.
func (r *Reconciler) Reconcile(ctx context.Context, request ctrl.Request) (ctrl.Result, error) {
	var lamp v1.Lamp
	if err := r.Get(ctx, request.NamespacedName, &lamp); err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	light := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: lamp.Name + "-light", Namespace: lamp.Namespace}}
	if _, err := controllerutil.CreateOrUpdate(ctx, r.Client, light, func() error {
		light.Data = map[string]string{"light": fmt.Sprintf("%s at %d", lamp.Spec.Color, lamp.Spec.Percent)}
		return controllerutil.SetControllerReference(&lamp, light, r.Scheme())
	}); err != nil {
		return ctrl.Result{}, err
	}
	if lit := lamp.Spec.Percent > 0; lamp.Status.Lit != lit {
		before := lamp.DeepCopyObject().(*v1.Lamp)
		lamp.Status.Lit = lit
		return ctrl.Result{}, r.Status().Patch(ctx, &lamp, client.MergeFrom(before), client.FieldOwner(r.Identity))
	}
	return ctrl.Result{}, nil
}

type defaulter struct{}

// Default makes a lamp white.
func (defaulter) Default(_ context.Context, lamp *v1.Lamp) error {
	if lamp.Spec.Color == "" {
		lamp.Spec.Color = "white"
	}
	return nil
}

type validator struct{}

func (validator) ValidateCreate(_ context.Context, lamp *v1.Lamp) (admission.Warnings, error) {
	if lamp.Spec.Percent > 90 {
		return admission.Warnings{"so bright a lamp does not last"}, nil
	}
	return nil, nil
}

func (validator) ValidateUpdate(_ context.Context, before, lamp *v1.Lamp) (admission.Warnings, error) {
	if lamp.Spec.Color != before.Spec.Color {
		return nil, fmt.Errorf("the color of a lamp stays %s", before.Spec.Color)
	}
	return nil, nil
}

func (validator) ValidateDelete(context.Context, *v1.Lamp) (admission.Warnings, error) {
	return nil, nil
}
