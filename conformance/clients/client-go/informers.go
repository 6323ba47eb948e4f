package main

import (
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/dynamic/dynamicinformer"
	clientinformers "k8s.io/client-go/informers"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/metadata/metadatainformer"
	"k8s.io/client-go/tools/cache"
	watchtools "k8s.io/client-go/tools/watch"
)

// informers are checks of what follows a resource; by default they get their lists as streams.
var informers = []check{
	{"informer-follows", func(s scene) error {
		maps := s.client.CoreV1().ConfigMaps(s.namespace)
		if _, err := maps.Create(s, configMap("a"), metav1.CreateOptions{}); err != nil {
			return err
		}
		factory := clientinformers.NewSharedInformerFactoryWithOptions(s.client, 0, clientinformers.WithNamespace(s.namespace))
		seen, informer := follow(factory.Core().V1().ConfigMaps().Informer())
		factory.Start(s.Done())
		if !cache.WaitForCacheSync(s.Done(), informer.HasSynced) {
			return errors.New("it did not sync")
		}
		if _, exists, _ := informer.GetStore().GetByKey(s.namespace + "/a"); !exists {
			return errors.New("the first one is missing")
		}
		object, err := maps.Create(s, configMap("b"), metav1.CreateOptions{})
		if err != nil {
			return err
		}
		object.Data = map[string]string{"a": "b"}
		if _, err := maps.Update(s, object, metav1.UpdateOptions{}); err != nil {
			return err
		}
		if err := maps.Delete(s, "a", metav1.DeleteOptions{}); err != nil {
			return err
		}
		listed, err := factory.Core().V1().ConfigMaps().Lister().List(labels.Everything())
		return errors.Join(err, same(len(listed) > 0, true), s.within("the events", func() bool {
			return seen.added.Load() >= 2 && seen.updated.Load() == 1 && seen.deleted.Load() == 1
		}))
	}},
	{"informer-selects", func(s scene) error {
		options := func(options *metav1.ListOptions) { options.LabelSelector = "show=yes" }
		factory := clientinformers.NewSharedInformerFactoryWithOptions(s.client, 0, clientinformers.WithNamespace(s.namespace),
			clientinformers.WithTweakListOptions(options))
		seen, informer := follow(factory.Core().V1().ConfigMaps().Informer())
		factory.Start(s.Done())
		if !cache.WaitForCacheSync(s.Done(), informer.HasSynced) {
			return errors.New("it did not sync")
		}
		object := configMap("a")
		object.Labels = map[string]string{"show": "yes"}
		maps := s.client.CoreV1().ConfigMaps(s.namespace)
		object, err := maps.Create(s, object, metav1.CreateOptions{})
		if err != nil {
			return err
		}
		object.Labels["show"] = "no"
		if _, err := maps.Update(s, object, metav1.UpdateOptions{}); err != nil {
			return err
		}
		return s.within("its appearance and disappearance", func() bool { return seen.added.Load() == 1 && seen.deleted.Load() == 1 })
	}},
	{"informer-of-many-kinds", func(s scene) error {
		factory := clientinformers.NewSharedInformerFactory(s.client, 0)
		core, apps, rbac := factory.Core().V1(), factory.Apps().V1(), factory.Rbac().V1()
		for _, informer := range []cache.SharedIndexInformer{
			core.Pods().Informer(), core.Nodes().Informer(), core.Namespaces().Informer(), core.Secrets().Informer(),
			core.ServiceAccounts().Informer(), apps.Deployments().Informer(), apps.ReplicaSets().Informer(), core.Events().Informer(),
			rbac.ClusterRoles().Informer(), rbac.RoleBindings().Informer(), factory.Coordination().V1().Leases().Informer(),
		} {
			_ = informer
		}
		factory.Start(s.Done())
		for kind, synced := range factory.WaitForCacheSync(s.Done()) {
			if !synced {
				return fmt.Errorf("%v did not sync", kind)
			}
		}
		roles, err := rbac.ClusterRoles().Lister().Get("cluster-admin")
		return errors.Join(err, same(len(roles.Rules), 2))
	}},
	{"dynamic-informer", func(s scene) error {
		client, err := dynamic.NewForConfig(s.config)
		if err != nil {
			return err
		}
		factory := dynamicinformer.NewFilteredDynamicSharedInformerFactory(client, 0, s.namespace, nil)
		seen, informer := follow(factory.ForResource(configMaps).Informer())
		return watchOne(s, seen, informer, factory.Start)
	}},
	{"metadata-informer", func(s scene) error {
		client, err := metadata.NewForConfig(s.config)
		if err != nil {
			return err
		}
		factory := metadatainformer.NewFilteredSharedInformerFactory(client, 0, s.namespace, nil)
		seen, informer := follow(factory.ForResource(configMaps).Informer())
		return watchOne(s, seen, informer, factory.Start)
	}},
	{"custom-informer", func(s scene) error {
		remove, err := defineLamps(s)
		if err != nil {
			return err
		}
		defer remove()
		client, err := dynamic.NewForConfig(s.config)
		if err != nil {
			return err
		}
		factory := dynamicinformer.NewFilteredDynamicSharedInformerFactory(client, 0, s.namespace, nil)
		seen, informer := follow(factory.ForResource(lamps).Informer())
		factory.Start(s.Done())
		if !cache.WaitForCacheSync(s.Done(), informer.HasSynced) {
			return errors.New("it did not sync")
		}
		if _, err := client.Resource(lamps).Namespace(s.namespace).Create(s, lamp(40), metav1.CreateOptions{}); err != nil {
			return err
		}
		return s.within("the lamp", func() bool { return seen.added.Load() == 1 })
	}},
	{"list-then-watch", func(s scene) error {
		maps := s.client.CoreV1().ConfigMaps(s.namespace)
		list, err := maps.List(s, metav1.ListOptions{ResourceVersion: "0"})
		if err != nil {
			return err
		}
		created, err := maps.Create(s, configMap("a"), metav1.CreateOptions{})
		if err != nil {
			return err
		}
		follower, err := maps.Watch(s, metav1.ListOptions{ResourceVersion: list.ResourceVersion, FieldSelector: "metadata.name=a"})
		if err != nil {
			return err
		}
		defer follower.Stop()
		event := <-follower.ResultChan()
		return errors.Join(same(event.Type, watch.Added), same(event.Object.(*corev1.ConfigMap).ResourceVersion, created.ResourceVersion))
	}},
	{"watch-bookmarks", func(s scene) error {
		yes := true
		options := metav1.ListOptions{AllowWatchBookmarks: true, SendInitialEvents: &yes, ResourceVersionMatch: metav1.ResourceVersionMatchNotOlderThan}
		follower, err := s.client.CoreV1().Namespaces().Watch(s, options)
		if err != nil {
			return err
		}
		defer follower.Stop()
		for event := range follower.ResultChan() {
			if event.Type == watch.Bookmark {
				return same(event.Object.(*corev1.Namespace).Annotations[metav1.InitialEventsAnnotationKey], "true")
			}
		}
		return errors.New("it ended")
	}},
	{"watch-until", func(s scene) error {
		maps := s.client.CoreV1().ConfigMaps(s.namespace)
		selector := fields.OneTermEqualSelector("metadata.name", "a")
		source := cache.NewListWatchFromClient(s.client.CoreV1().RESTClient(), "configmaps", s.namespace, selector)
		result := make(chan error, 1)
		go func() {
			_, err := watchtools.UntilWithSync(s, source, &corev1.ConfigMap{}, nil, func(event watch.Event) (bool, error) {
				return event.Object.(*corev1.ConfigMap).Data["done"] == "yes", nil
			})
			result <- err
		}()
		object := configMap("a")
		object.Data = map[string]string{"done": "yes"}
		if _, err := maps.Create(s, object, metav1.CreateOptions{}); err != nil {
			return err
		}
		return <-result
	}},
	{"watch-times-out", func(s scene) error {
		seconds := int64(1)
		follower, err := s.client.CoreV1().ConfigMaps(s.namespace).Watch(s, metav1.ListOptions{TimeoutSeconds: &seconds, FieldSelector: "metadata.name=none"})
		if err != nil {
			return err
		}
		begun := time.Now()
		for event := range follower.ResultChan() {
			return fmt.Errorf("unexpected: %v", event)
		}
		return same(time.Since(begun) < 10*time.Second, true)
	}},
}

// A tally is how many events of each kind were seen.
type tally struct{ added, updated, deleted atomic.Int32 }

func follow(informer cache.SharedIndexInformer) (*tally, cache.SharedIndexInformer) {
	seen := &tally{}
	_, _ = informer.AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc:    func(any) { seen.added.Add(1) },
		UpdateFunc: func(any, any) { seen.updated.Add(1) },
		DeleteFunc: func(any) { seen.deleted.Add(1) },
	})
	return seen, informer
}

// watchOne fails unless the informer sees a config map come and go.
func watchOne(s scene, seen *tally, informer cache.SharedIndexInformer, start func(<-chan struct{})) error {
	start(s.Done())
	if !cache.WaitForCacheSync(s.Done(), informer.HasSynced) {
		return errors.New("it did not sync")
	}
	before := seen.added.Load()
	maps := s.client.CoreV1().ConfigMaps(s.namespace)
	if _, err := maps.Create(s, configMap("a"), metav1.CreateOptions{}); err != nil {
		return err
	}
	if err := maps.Delete(s, "a", metav1.DeleteOptions{}); err != nil {
		return err
	}
	return s.within("the events", func() bool { return seen.added.Load() == before+1 && seen.deleted.Load() == 1 })
}
