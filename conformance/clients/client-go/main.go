// Checks of client-go and controller-runtime: a line a check, on the server of KUBECONFIG.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"reflect"
	"runtime/debug"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
)

// The time that a check may take.
const deadline = 30 * time.Second

// A scene is what a check has: a namespace of its own, and a configured client.
type scene struct {
	context.Context
	namespace string
	config    *rest.Config
	client    *kubernetes.Clientset
}

// A check is a name and what must not fail.
type check struct {
	name string
	run  func(s scene) error
}

func main() {
	config, err := clientcmd.BuildConfigFromFlags("", os.Getenv("KUBECONFIG"))
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	config.QPS = -1
	fmt.Println("client", versions("k8s.io/client-go", "sigs.k8s.io/controller-runtime"))
	all := [][]check{typed, applied, untyped, informers, elections, runtimeClient, runtimeManager}
	if os.Getenv("FAKE_APISERVER_CONTROL_URL") != "" {
		// Only the fake can be told what to do.
		all = append(all, stories)
	}
	number := 0
	for _, checks := range all {
		for _, one := range checks {
			number++
			report(one.name, perform(one, config, fmt.Sprintf("c-%d", number)))
		}
	}
}

func report(name string, err error) {
	if err == nil {
		fmt.Println("ok", name)
		return
	}
	fmt.Printf("FAIL %s: %s\n", name, strings.Join(strings.Fields(err.Error()), " "))
}

// perform runs a check in a new namespace.
func perform(one check, config *rest.Config, namespace string) (err error) {
	defer func() {
		if broken := recover(); broken != nil {
			err = fmt.Errorf("panic: %v", broken)
		}
	}()
	ctx, cancel := context.WithTimeout(context.Background(), deadline)
	defer cancel()
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return err
	}
	object := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: namespace}}
	if _, err := client.CoreV1().Namespaces().Create(ctx, object, metav1.CreateOptions{}); err != nil {
		return err
	}
	if err := one.run(scene{ctx, namespace, config, client}); err != nil {
		return err
	}
	return client.CoreV1().Namespaces().Delete(ctx, namespace, metav1.DeleteOptions{})
}

// versions names the modules with the versions that are linked.
func versions(modules ...string) string {
	info, _ := debug.ReadBuildInfo()
	var found []string
	for _, module := range modules {
		for _, dependency := range info.Deps {
			if dependency.Path == module {
				found = append(found, module[strings.LastIndex(module, "/")+1:]+" "+dependency.Version)
			}
		}
	}
	return strings.Join(found, ", ")
}

// same fails unless both are deeply equal.
func same(actual, expected any) error {
	if !reflect.DeepEqual(actual, expected) {
		return fmt.Errorf("expected %v, was %v", expected, actual)
	}
	return nil
}

// refused fails unless err is of that reason.
func refused(err error, reason metav1.StatusReason) error {
	if err == nil {
		return fmt.Errorf("expected %s, was no error", reason)
	}
	if apierrors.ReasonForError(err) != reason {
		return fmt.Errorf("expected %s, was %w", reason, err)
	}
	return nil
}

// within waits until ok says true; every look is cheap and local.
func (s scene) within(what string, ok func() bool) error {
	for !ok() {
		select {
		case <-s.Done():
			return errors.New("waited in vain for " + what)
		case <-time.After(5 * time.Millisecond):
		}
	}
	return nil
}
