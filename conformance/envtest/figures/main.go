// Figures prints the seconds that environments of envtest take, a line each: their number, a tab, what took them.
package main

import (
	"context"
	"fmt"
	"log"
	"sync"
	"time"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/envtest"
	"sigs.k8s.io/controller-runtime/pkg/log/zap"
)

const (
	definitions  = 20
	watches      = 1000
	environments = 10
)

func main() {
	ctrl.SetLogger(zap.New(zap.WriteTo(log.Writer())))
	var plain envtest.Environment
	took("Start()", func() error { return started(&plain) })
	took("Stop()", plain.Stop)

	defined := envtest.Environment{CRDs: widgets()}
	took(fmt.Sprintf("Start() with %d definitions", definitions), func() error { return started(&defined) })
	if err := watch(defined.Config); err != nil {
		log.Fatal(err)
	}
	took(fmt.Sprintf("Stop() with %d watches", watches), defined.Stop)

	many := make([]envtest.Environment, environments)
	took(fmt.Sprintf("Start() of %d at once", environments), func() error {
		return all(many, started)
	})
	took("Stop() of all these", func() error {
		return all(many, (*envtest.Environment).Stop)
	})
}

// took prints how long something took, and its error.
func took(what string, do func() error) {
	begin := time.Now()
	err := do()
	seconds := time.Since(begin).Seconds()
	if err != nil {
		what += ", which fails"
		log.Printf("%s: %v", what, err)
	}
	fmt.Printf("%.3f\t%s\n", seconds, what)
}

func started(environment *envtest.Environment) error {
	_, err := environment.Start()
	return err
}

// all does something to environments at once.
func all(environments []envtest.Environment, do func(*envtest.Environment) error) error {
	errors := make([]error, len(environments))
	var group sync.WaitGroup
	for i := range environments {
		group.Go(func() { errors[i] = do(&environments[i]) })
	}
	group.Wait()
	for _, err := range errors {
		if err != nil {
			return err
		}
	}
	return nil
}

// watch opens the watches, and leaves them open.
func watch(config *rest.Config) error {
	// Its transport opens as many connections as so many streams need.
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return err
	}
	for range watches {
		maps := client.CoreV1().ConfigMaps(metav1.NamespaceDefault)
		if _, err := maps.Watch(context.Background(), metav1.ListOptions{}); err != nil {
			return err
		}
	}
	return nil
}

// widgets are definitions.
func widgets() []*apiextensionsv1.CustomResourceDefinition {
	made := make([]*apiextensionsv1.CustomResourceDefinition, 0, definitions)
	for i := range definitions {
		singular := fmt.Sprintf("widget%d", i)
		made = append(made, &apiextensionsv1.CustomResourceDefinition{
			ObjectMeta: metav1.ObjectMeta{Name: singular + "s.example.com"},
			Spec: apiextensionsv1.CustomResourceDefinitionSpec{
				Group: "example.com",
				Scope: apiextensionsv1.NamespaceScoped,
				Names: apiextensionsv1.CustomResourceDefinitionNames{
					Kind: fmt.Sprintf("Widget%d", i), Plural: singular + "s", Singular: singular,
				},
				Versions: []apiextensionsv1.CustomResourceDefinitionVersion{{
					Name: "v1", Served: true, Storage: true,
					Schema: &apiextensionsv1.CustomResourceValidation{
						OpenAPIV3Schema: &apiextensionsv1.JSONSchemaProps{Type: "object"},
					},
				}},
			},
		})
	}
	return made
}
