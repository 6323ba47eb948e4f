package main

import (
	"errors"

	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apiextensions "k8s.io/apiextensions-apiserver/pkg/client/clientset/clientset"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/discovery/cached/memory"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/restmapper"
	"k8s.io/client-go/scale"
)

var (
	configMaps = corev1.SchemeGroupVersion.WithResource("configmaps")
	lamps      = schema.GroupVersionResource{Group: "example.com", Version: "v1", Resource: "lamps"}
)

// untyped are checks of discovery and of the clients that know no types.
var untyped = []check{
	{"dynamic-crud", func(s scene) error {
		client, err := dynamic.NewForConfig(s.config)
		if err != nil {
			return err
		}
		maps := client.Resource(configMaps).Namespace(s.namespace)
		object := unstructuredOf("v1", "ConfigMap", "a", map[string]any{"data": map[string]any{"a": "b"}})
		if object, err = maps.Create(s, object, metav1.CreateOptions{}); err != nil {
			return err
		}
		if err := unstructured.SetNestedField(object.Object, "c", "data", "a"); err != nil {
			return err
		}
		if object, err = maps.Update(s, object, metav1.UpdateOptions{}); err != nil {
			return err
		}
		value, _, _ := unstructured.NestedString(object.Object, "data", "a")
		listed, err := maps.List(s, metav1.ListOptions{FieldSelector: "metadata.name=a"})
		return errors.Join(err, same(value, "c"), same(len(listed.Items), 1), maps.Delete(s, "a", metav1.DeleteOptions{}))
	}},
	{"dynamic-apply", func(s scene) error {
		client, err := dynamic.NewForConfig(s.config)
		if err != nil {
			return err
		}
		object := unstructuredOf("v1", "ConfigMap", "a", map[string]any{"data": map[string]any{"a": "b"}})
		object, err = client.Resource(configMaps).Namespace(s.namespace).Apply(s, "a", object, metav1.ApplyOptions{FieldManager: "one"})
		return errors.Join(err, same(object.GetManagedFields()[0].Operation, metav1.ManagedFieldsOperationApply))
	}},
	{"metadata-client", func(s scene) error {
		if _, err := s.client.CoreV1().ConfigMaps(s.namespace).Create(s, configMap("a"), metav1.CreateOptions{}); err != nil {
			return err
		}
		client, err := metadata.NewForConfig(s.config)
		if err != nil {
			return err
		}
		maps := client.Resource(configMaps).Namespace(s.namespace)
		object, err := maps.Patch(s, "a", types.MergePatchType, []byte(`{"metadata":{"labels":{"a":"b"}}}`), metav1.PatchOptions{})
		if err != nil {
			return err
		}
		listed, err := maps.List(s, metav1.ListOptions{LabelSelector: "a=b"})
		return errors.Join(err, same(object.Labels["a"], "b"), same(len(listed.Items), 1), same(listed.Items[0].UID, object.UID))
	}},
	{"discovery", func(s scene) error {
		groups, resources, err := s.client.Discovery().ServerGroupsAndResources()
		if err != nil {
			return err
		}
		version, err := s.client.Discovery().ServerVersion()
		if err != nil {
			return err
		}
		verbs := discovery.FilteredBy(discovery.SupportsAllVerbs{Verbs: []string{"watch", "patch"}}, resources)
		preferred, err := s.client.Discovery().ServerPreferredNamespacedResources()
		return errors.Join(err, same(len(groups) > 5, true), same(len(verbs) > 5, true), same(len(preferred) > 5, true), same(version.GitVersion, "v1.37.1"))
	}},
	{"rest-mapper", func(s scene) error {
		mapper := restmapper.NewDeferredDiscoveryRESTMapper(memory.NewMemCacheClient(s.client.Discovery()))
		mapping, err := mapper.RESTMapping(schema.GroupKind{Group: "apps", Kind: "Deployment"})
		if err != nil {
			return err
		}
		expanded := restmapper.NewShortcutExpander(mapper, s.client.Discovery(), nil)
		resource, err := expanded.ResourceFor(schema.GroupVersionResource{Resource: "cm"})
		return errors.Join(err, same(mapping.Resource.String(), "apps/v1, Resource=deployments"), same(string(mapping.Scope.Name()), "namespace"), same(resource, configMaps))
	}},
	{"openapi-v3", func(s scene) error {
		paths, err := s.client.Discovery().OpenAPIV3().Paths()
		if err != nil {
			return err
		}
		group, found := paths["apis/apps/v1"]
		if !found {
			return errors.New("no apis/apps/v1")
		}
		document, err := group.Schema("application/json")
		return errors.Join(err, same(len(document) > 1000, true))
	}},
	{"scale-client", func(s scene) error {
		if _, err := s.client.AppsV1().Deployments(s.namespace).Create(s, deployment("d"), metav1.CreateOptions{}); err != nil {
			return err
		}
		mapper := restmapper.NewDeferredDiscoveryRESTMapper(memory.NewMemCacheClient(s.client.Discovery()))
		kinds := scale.NewDiscoveryScaleKindResolver(s.client.Discovery())
		client, err := scale.NewForConfig(s.config, mapper, dynamic.LegacyAPIPathResolverFunc, kinds)
		if err != nil {
			return err
		}
		resource := schema.GroupResource{Group: "apps", Resource: "deployments"}
		object, err := client.Scales(s.namespace).Get(s, resource, "d", metav1.GetOptions{})
		if err != nil {
			return err
		}
		object.Spec.Replicas = 6
		object, err = client.Scales(s.namespace).Update(s, resource, object, metav1.UpdateOptions{})
		return errors.Join(err, same(object.Spec.Replicas, int32(6)))
	}},
	{"custom-resources", func(s scene) error {
		remove, err := defineLamps(s)
		if err != nil {
			return err
		}
		defer remove()
		client, err := dynamic.NewForConfig(s.config)
		if err != nil {
			return err
		}
		own := client.Resource(lamps).Namespace(s.namespace)
		object, err := own.Create(s, lamp(40), metav1.CreateOptions{})
		if err != nil {
			return err
		}
		_, invalid := own.Apply(s, "hall", lamp(-1), metav1.ApplyOptions{FieldManager: "one", Force: true})
		if err := unstructured.SetNestedField(object.Object, true, "status", "on"); err != nil {
			return err
		}
		object, err = own.UpdateStatus(s, object, metav1.UpdateOptions{})
		if err != nil {
			return err
		}
		on, _, _ := unstructured.NestedBool(object.Object, "status", "on")
		bulbs, _, _ := unstructured.NestedInt64(object.Object, "spec", "bulbs")
		return errors.Join(refused(invalid, metav1.StatusReasonInvalid), same(on, true), same(bulbs, int64(1)), same(object.GetGeneration(), int64(1)))
	}},
}

func unstructuredOf(version, kind, name string, content map[string]any) *unstructured.Unstructured {
	object := &unstructured.Unstructured{Object: content}
	object.SetAPIVersion(version)
	object.SetKind(kind)
	object.SetName(name)
	return object
}

func lamp(watts int64) *unstructured.Unstructured {
	return unstructuredOf("example.com/v1", "Lamp", "hall", map[string]any{"spec": map[string]any{"watts": watts}})
}

// defineLamps creates a definition and waits until it is served. The result removes it.
func defineLamps(s scene) (func(), error) {
	client, err := apiextensions.NewForConfig(s.config)
	if err != nil {
		return nil, err
	}
	minimum := 0.0
	integer := apiextensionsv1.JSONSchemaProps{Type: "integer"}
	watts, bulbs := integer, integer
	watts.Minimum, bulbs.Default = &minimum, &apiextensionsv1.JSON{Raw: []byte("1")}
	object := func(properties map[string]apiextensionsv1.JSONSchemaProps) apiextensionsv1.JSONSchemaProps {
		return apiextensionsv1.JSONSchemaProps{Type: "object", Properties: properties}
	}
	all := object(map[string]apiextensionsv1.JSONSchemaProps{
		"spec":   object(map[string]apiextensionsv1.JSONSchemaProps{"watts": watts, "bulbs": bulbs}),
		"status": object(map[string]apiextensionsv1.JSONSchemaProps{"on": {Type: "boolean"}}),
	})
	definition := &apiextensionsv1.CustomResourceDefinition{
		ObjectMeta: metav1.ObjectMeta{Name: "lamps.example.com"},
		Spec: apiextensionsv1.CustomResourceDefinitionSpec{
			Group: "example.com", Scope: apiextensionsv1.NamespaceScoped,
			Names: apiextensionsv1.CustomResourceDefinitionNames{Plural: "lamps", Kind: "Lamp"},
			Versions: []apiextensionsv1.CustomResourceDefinitionVersion{{
				Name: "v1", Served: true, Storage: true, Schema: &apiextensionsv1.CustomResourceValidation{OpenAPIV3Schema: &all},
				Subresources: &apiextensionsv1.CustomResourceSubresources{Status: &apiextensionsv1.CustomResourceSubresourceStatus{}},
			}},
		},
	}
	definitions := client.ApiextensionsV1().CustomResourceDefinitions()
	if _, err := definitions.Create(s, definition, metav1.CreateOptions{}); err != nil {
		return nil, err
	}
	remove := func() {
		_ = definitions.Delete(s, definition.Name, metav1.DeleteOptions{})
		_ = s.within("the definition's end", func() bool {
			_, err := definitions.Get(s, definition.Name, metav1.GetOptions{})
			return err != nil
		})
	}
	return remove, s.within("the definition", func() bool {
		present, err := definitions.Get(s, definition.Name, metav1.GetOptions{})
		if err != nil {
			return false
		}
		for _, condition := range present.Status.Conditions {
			if condition.Type == apiextensionsv1.Established && condition.Status == apiextensionsv1.ConditionTrue {
				_, err := s.client.Discovery().ServerResourcesForGroupVersion("example.com/v1")
				return err == nil
			}
		}
		return false
	})
}
