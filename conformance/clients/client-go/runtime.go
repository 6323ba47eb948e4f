package main

import (
	"context"
	"errors"
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	autoscalingv1 "k8s.io/api/autoscaling/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/kubernetes/scheme"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
	"sigs.k8s.io/controller-runtime/pkg/log"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"

	"github.com/go-logr/logr"
	coreapply "k8s.io/client-go/applyconfigurations/core/v1"
)

// with gives the check a client of controller-runtime.
func with(check func(s scene, c client.Client) error) func(s scene) error {
	return func(s scene) error {
		log.SetLogger(logr.Discard())
		c, err := client.New(s.config, client.Options{Scheme: scheme.Scheme})
		if err != nil {
			return err
		}
		return check(s, c)
	}
}

// runtimeClient are checks of controller-runtime's client.
var runtimeClient = []check{
	{"runtime-crud", with(func(s scene, c client.Client) error {
		object := configMap("a")
		object.Namespace = s.namespace
		if err := c.Create(s, object); err != nil {
			return err
		}
		object.Data = map[string]string{"a": "b"}
		if err := c.Update(s, object); err != nil {
			return err
		}
		var list corev1.ConfigMapList
		err := c.List(s, &list, client.InNamespace(s.namespace), client.MatchingFields{"metadata.name": "a"})
		return errors.Join(err, same(list.Items[0].Data["a"], "b"), c.Delete(s, object), client.IgnoreNotFound(c.Delete(s, object)))
	})},
	{"runtime-create-or-update", with(func(s scene, c client.Client) error {
		object := deployment("d")
		object.Namespace = s.namespace
		wanted := object.Spec
		var results []controllerutil.OperationResult
		for range 2 {
			result, err := controllerutil.CreateOrUpdate(s, c, object, func() error {
				object.Spec.Selector = wanted.Selector
				object.Spec.Template.Labels = wanted.Template.Labels
				if len(object.Spec.Template.Spec.Containers) == 0 {
					object.Spec.Template.Spec.Containers = wanted.Template.Spec.Containers
				}
				return nil
			})
			if err != nil {
				return err
			}
			results = append(results, result)
		}
		return same(fmt.Sprint(results), "[created unchanged]")
	})},
	{"runtime-merge-from", with(func(s scene, c client.Client) error {
		object := configMap("a")
		object.Namespace, object.Data = s.namespace, map[string]string{"a": "1", "b": "2"}
		if err := c.Create(s, object); err != nil {
			return err
		}
		base := object.DeepCopy()
		delete(object.Data, "a")
		err := c.Patch(s, object, client.MergeFrom(base))
		return errors.Join(err, same(object.Data, map[string]string{"b": "2"}))
	})},
	{"runtime-merge-from-with-lock", with(func(s scene, c client.Client) error {
		object := configMap("a")
		object.Namespace = s.namespace
		if err := c.Create(s, object); err != nil {
			return err
		}
		base := object.DeepCopy()
		other := object.DeepCopy()
		other.Data = map[string]string{"x": "y"}
		if err := c.Update(s, other); err != nil {
			return err
		}
		object.Data = map[string]string{"a": "b"}
		locked := client.MergeFromWithOptions(base, client.MergeFromWithOptimisticLock{})
		return refused(c.Patch(s, object, locked), metav1.StatusReasonConflict)
	})},
	{"runtime-strategic-merge-from", with(func(s scene, c client.Client) error {
		object := deployment("d")
		object.Namespace = s.namespace
		if err := c.Create(s, object); err != nil {
			return err
		}
		base := object.DeepCopy()
		containers := object.Spec.Template.Spec.Containers
		object.Spec.Template.Spec.Containers = append([]corev1.Container{{Name: "b", Image: "b"}}, containers...)
		err := c.Patch(s, object, client.StrategicMergeFrom(base))
		return errors.Join(err, same(object.Spec.Template.Spec.Containers[0].Name, "b"), same(object.Spec.Template.Spec.Containers[1].Name, "a"))
	})},
	{"runtime-status-writer", with(func(s scene, c client.Client) error {
		object := deployment("d")
		object.Namespace = s.namespace
		if err := c.Create(s, object); err != nil {
			return err
		}
		base := object.DeepCopy()
		object.Status.Replicas = 2
		if err := c.Status().Patch(s, object, client.MergeFrom(base)); err != nil {
			return err
		}
		object.Status.ReadyReplicas = 1
		err := c.Status().Update(s, object)
		return errors.Join(err, same([]int32{object.Status.Replicas, object.Status.ReadyReplicas}, []int32{2, 1}), same(object.Generation, int64(1)))
	})},
	{"runtime-apply", with(func(s scene, c client.Client) error {
		wanted := coreapply.ConfigMap("a", s.namespace).WithData(map[string]string{"a": "b"})
		if err := c.Apply(s, wanted, client.FieldOwner("one")); err != nil {
			return err
		}
		wanted.Data["a"] = "c"
		conflict := c.Apply(s, coreapply.ConfigMap("a", s.namespace).WithData(wanted.Data), client.FieldOwner("two"))
		forced := c.Apply(s, coreapply.ConfigMap("a", s.namespace).WithData(wanted.Data), client.FieldOwner("two"), client.ForceOwnership)
		return errors.Join(refused(conflict, metav1.StatusReasonConflict), forced)
	})},
	{"runtime-unstructured-and-metadata", with(func(s scene, c client.Client) error {
		object := unstructuredOf("v1", "ConfigMap", "a", map[string]any{"data": map[string]any{"a": "b"}})
		object.SetNamespace(s.namespace)
		if err := c.Create(s, object); err != nil {
			return err
		}
		partial := &metav1.PartialObjectMetadata{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "ConfigMap"}}
		if err := c.Get(s, client.ObjectKeyFromObject(object), partial); err != nil {
			return err
		}
		list := &unstructured.UnstructuredList{}
		list.SetAPIVersion("v1")
		list.SetKind("ConfigMapList")
		err := c.List(s, list, client.InNamespace(s.namespace), client.Limit(1))
		return errors.Join(err, same(partial.UID, object.GetUID()), same(len(list.Items), 1))
	})},
	{"runtime-delete-all-of", with(func(s scene, c client.Client) error {
		for _, name := range []string{"a", "b"} {
			object := configMap(name)
			object.Namespace, object.Labels = s.namespace, map[string]string{"all": "yes"}
			if err := c.Create(s, object); err != nil {
				return err
			}
		}
		if err := c.DeleteAllOf(s, &corev1.ConfigMap{}, client.InNamespace(s.namespace), client.MatchingLabels{"all": "yes"}); err != nil {
			return err
		}
		var list corev1.ConfigMapList
		err := c.List(s, &list, client.InNamespace(s.namespace), client.MatchingLabels{"all": "yes"})
		return errors.Join(err, same(len(list.Items), 0))
	})},
	{"runtime-finalizers", with(func(s scene, c client.Client) error {
		object := configMap("a")
		object.Namespace = s.namespace
		controllerutil.AddFinalizer(object, "example.com/hold")
		if err := c.Create(s, object); err != nil {
			return err
		}
		if err := c.Delete(s, object); err != nil {
			return err
		}
		if err := c.Get(s, client.ObjectKeyFromObject(object), object); err != nil {
			return err
		}
		deleting := object.DeletionTimestamp != nil
		controllerutil.RemoveFinalizer(object, "example.com/hold")
		err := c.Update(s, object)
		return errors.Join(err, same(deleting, true), refused(c.Get(s, client.ObjectKeyFromObject(object), object), metav1.StatusReasonNotFound))
	})},
	{"runtime-subresource-scale", with(func(s scene, c client.Client) error {
		object := deployment("d")
		object.Namespace = s.namespace
		if err := c.Create(s, object); err != nil {
			return err
		}
		scale := &autoscalingv1.Scale{}
		if err := c.SubResource("scale").Get(s, object, scale); err != nil {
			return err
		}
		scale.Spec.Replicas = 3
		err := c.SubResource("scale").Update(s, object, client.WithSubResourceBody(scale))
		return errors.Join(err, c.Get(s, client.ObjectKeyFromObject(object), object), same(*object.Spec.Replicas, int32(3)))
	})},
}

// runtimeManager are checks of controller-runtime's manager: caches, a controller, leader election.
var runtimeManager = []check{
	{"runtime-manager", func(s scene) error {
		manager, err := ctrl.NewManager(s.config, ctrl.Options{
			Scheme: scheme.Scheme, Logger: logr.Discard(), Metrics: metricsserver.Options{BindAddress: "0"},
			Cache:          cache.Options{DefaultNamespaces: map[string]cache.Config{s.namespace: {}}},
			LeaderElection: true, LeaderElectionID: "checks", LeaderElectionNamespace: s.namespace, LeaderElectionReleaseOnCancel: true,
		})
		if err != nil {
			return err
		}
		// For each deployment a config map that it owns.
		reconcile := func(ctx context.Context, request ctrl.Request) (ctrl.Result, error) {
			var owner appsv1.Deployment
			if err := manager.GetClient().Get(ctx, request.NamespacedName, &owner); err != nil {
				return ctrl.Result{}, client.IgnoreNotFound(err)
			}
			owned := configMap(owner.Name + "-settings")
			owned.Namespace = owner.Namespace
			_, err := controllerutil.CreateOrUpdate(ctx, manager.GetClient(), owned, func() error {
				owned.Data = map[string]string{"image": owner.Spec.Template.Spec.Containers[0].Image}
				return controllerutil.SetControllerReference(&owner, owned, scheme.Scheme)
			})
			return ctrl.Result{}, err
		}
		err = ctrl.NewControllerManagedBy(manager).For(&appsv1.Deployment{}).Owns(&corev1.ConfigMap{}).Complete(reconcileFunc(reconcile))
		if err != nil {
			return err
		}
		ctx, stop := context.WithCancel(s)
		ended := make(chan error, 1)
		go func() { ended <- manager.Start(ctx) }()
		deployments, maps := s.client.AppsV1().Deployments(s.namespace), s.client.CoreV1().ConfigMaps(s.namespace)
		object, err := deployments.Create(s, deployment("d"), metav1.CreateOptions{})
		if err != nil {
			stop()
			return err
		}
		shows := func(image string) error {
			return s.within("the image "+image, func() bool {
				found, err := maps.Get(s, "d-settings", metav1.GetOptions{})
				return err == nil && found.Data["image"] == image
			})
		}
		first := shows("a")
		object.Spec.Template.Spec.Containers[0].Image = "b"
		_, updated := deployments.Update(s, object, metav1.UpdateOptions{})
		second := shows("b")
		// What was owned and is deleted comes back.
		deleted := maps.Delete(s, "d-settings", metav1.DeleteOptions{})
		third := shows("b")
		stop()
		return errors.Join(first, updated, second, deleted, third, <-ended)
	}},
}

type reconcileFunc func(ctx context.Context, request ctrl.Request) (ctrl.Result, error)

func (f reconcileFunc) Reconcile(ctx context.Context, request ctrl.Request) (ctrl.Result, error) {
	return f(ctx, request)
}
