// Checks of a cluster that lives: a line a check, on what controller-runtime's envtest starts from KUBEBUILDER_ASSETS.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/debug"
	"strings"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/envtest"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/go-logr/logr"
)

// The time that a check may take.
const deadline = 90 * time.Second

const many = 1000

type check struct {
	name string
	run  func(ctx context.Context, c client.Client, namespace string) error
}

func main() {
	log.SetLogger(logr.Discard())
	environment := &envtest.Environment{}
	config, err := environment.Start()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	config.QPS = -1
	stop, err := manager(environment)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	fmt.Println("client", version())
	number := 0
	for _, one := range checks {
		number++
		report(one.name, perform(one, config, fmt.Sprintf("c-%d", number)))
	}
	report("stops", errors.Join(stop(), environment.Stop()))
}

// version names the module with its version.
func version() string {
	info, _ := debug.ReadBuildInfo()
	for _, dependency := range info.Deps {
		if dependency.Path == "sigs.k8s.io/controller-runtime" {
			return "controller-runtime " + dependency.Version
		}
	}
	return "controller-runtime"
}

// manager starts a real kube-controller-manager, where there is one, and plays the kubelet of pods that no node runs.
func manager(environment *envtest.Environment) (func() error, error) {
	program := os.Getenv("MANAGER")
	if program == "" {
		return func() error { return nil }, nil
	}
	user, err := environment.AddUser(envtest.User{Name: "manager", Groups: []string{"system:masters"}}, nil)
	if err != nil {
		return nil, err
	}
	kubeconfig, err := user.KubeConfig()
	if err != nil {
		return nil, err
	}
	path := filepath.Join(os.Getenv("HOME"), "manager.kubeconfig")
	if err := os.WriteFile(path, kubeconfig, 0o600); err != nil {
		return nil, err
	}
	command := exec.Command(program, "--kubeconfig="+path, "--leader-elect=false", "--secure-port=0",
		"--kube-api-qps=10000", "--kube-api-burst=10000")
	if err := command.Start(); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancel(context.Background())
	c, err := client.New(environment.Config, client.Options{})
	if err != nil {
		cancel()
		return nil, err
	}
	go wait.UntilWithContext(ctx, func(ctx context.Context) { run(ctx, c) }, 50*time.Millisecond)
	return func() error {
		cancel()
		return errors.Join(command.Process.Kill(), ignore(command.Wait()))
	}, nil
}

func ignore(error) error { return nil }

// run lets all pods run, and those of jobs succeed.
func run(ctx context.Context, c client.Client) {
	var pods corev1.PodList
	if c.List(ctx, &pods) != nil {
		return
	}
	for _, pod := range pods.Items {
		if pod.DeletionTimestamp != nil {
			_ = c.Delete(ctx, &pod, client.GracePeriodSeconds(0))
			continue
		}
		if pod.Status.Phase != corev1.PodPending {
			continue
		}
		pod.Status.Phase = corev1.PodRunning
		if owner := metav1.GetControllerOf(&pod); owner != nil && owner.Kind == "Job" {
			pod.Status.Phase = corev1.PodSucceeded
		} else {
			pod.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue, LastTransitionTime: metav1.Now()}}
		}
		_ = c.Status().Update(ctx, &pod)
	}
}

func report(name string, err error) {
	if err == nil {
		fmt.Println("ok", name)
		return
	}
	fmt.Printf("FAIL %s: %s\n", name, strings.Join(strings.Fields(err.Error()), " "))
}

func perform(one check, config *rest.Config, namespace string) error {
	ctx, cancel := context.WithTimeout(context.Background(), deadline)
	defer cancel()
	c, err := client.New(config, client.Options{})
	if err != nil {
		return err
	}
	object := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: namespace}}
	if err := c.Create(ctx, object); err != nil {
		return err
	}
	return one.run(ctx, c, namespace)
}

// until waits until a condition holds.
func until(ctx context.Context, what string, holds func(ctx context.Context) (bool, error)) error {
	err := wait.PollUntilContextCancel(ctx, 20*time.Millisecond, true, holds)
	if err != nil {
		return fmt.Errorf("%s: %w", what, err)
	}
	return nil
}

func gone(ctx context.Context, c client.Client, object client.Object) error {
	key := client.ObjectKeyFromObject(object)
	return until(ctx, key.Name+" is gone", func(ctx context.Context) (bool, error) {
		err := c.Get(ctx, key, object)
		if apierrors.IsNotFound(err) {
			return true, nil
		}
		return false, err
	})
}

func configMap(namespace, name string, owner *corev1.ConfigMap) *corev1.ConfigMap {
	object := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}}
	if owner != nil {
		blocks := true
		object.OwnerReferences = []metav1.OwnerReference{{
			APIVersion: "v1", Kind: "ConfigMap", Name: owner.Name, UID: owner.UID, BlockOwnerDeletion: &blocks,
		}}
	}
	return object
}

// deletes an owner with that policy, and checks what becomes of its dependent.
func owner(policy metav1.DeletionPropagation, stays bool) func(context.Context, client.Client, string) error {
	return func(ctx context.Context, c client.Client, namespace string) error {
		owner := configMap(namespace, "owner", nil)
		if err := c.Create(ctx, owner); err != nil {
			return err
		}
		dependent := configMap(namespace, "dependent", owner)
		if err := c.Create(ctx, dependent); err != nil {
			return err
		}
		if err := c.Delete(ctx, owner, client.PropagationPolicy(policy)); err != nil {
			return err
		}
		if err := gone(ctx, c, owner); err != nil {
			return err
		}
		if !stays {
			return gone(ctx, c, dependent)
		}
		return until(ctx, "an orphan has no owner", func(ctx context.Context) (bool, error) {
			err := c.Get(ctx, client.ObjectKeyFromObject(dependent), dependent)
			return len(dependent.OwnerReferences) == 0, err
		})
	}
}

func template(restart corev1.RestartPolicy) corev1.PodTemplateSpec {
	return corev1.PodTemplateSpec{
		ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{"app": "web"}},
		Spec:       corev1.PodSpec{RestartPolicy: restart, Containers: []corev1.Container{{Name: "c", Image: "i"}}},
	}
}

var checks = []check{
	{"owner-background", owner(metav1.DeletePropagationBackground, false)},
	{"owner-foreground", owner(metav1.DeletePropagationForeground, false)},
	{"owner-orphan", owner(metav1.DeletePropagationOrphan, true)},
	{"namespace-of-many", func(ctx context.Context, c client.Client, namespace string) error {
		for number := range many {
			if err := c.Create(ctx, configMap(namespace, fmt.Sprintf("c-%d", number), nil)); err != nil {
				return err
			}
		}
		object := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: namespace}}
		if err := c.Delete(ctx, object); err != nil {
			return err
		}
		return gone(ctx, c, object)
	}},
	{"deployment-available", func(ctx context.Context, c client.Client, namespace string) error {
		replicas := int32(3)
		deployment := &appsv1.Deployment{
			ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "web"},
			Spec: appsv1.DeploymentSpec{
				Replicas: &replicas,
				Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": "web"}},
				Template: template(corev1.RestartPolicyAlways),
			},
		}
		if err := c.Create(ctx, deployment); err != nil {
			return err
		}
		err := until(ctx, "it is available", func(ctx context.Context) (bool, error) {
			err := c.Get(ctx, client.ObjectKeyFromObject(deployment), deployment)
			for _, condition := range deployment.Status.Conditions {
				if condition.Type == appsv1.DeploymentAvailable && condition.Status == corev1.ConditionTrue {
					return deployment.Status.AvailableReplicas == replicas, err
				}
			}
			return false, err
		})
		if err != nil {
			return err
		}
		if err := c.Delete(ctx, deployment); err != nil {
			return err
		}
		return until(ctx, "its pods are gone", func(ctx context.Context) (bool, error) {
			var pods corev1.PodList
			err := c.List(ctx, &pods, client.InNamespace(namespace))
			return len(pods.Items) == 0, err
		})
	}},
	{"job-complete", func(ctx context.Context, c client.Client, namespace string) error {
		completions := int32(3)
		job := &batchv1.Job{
			ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "work"},
			Spec:       batchv1.JobSpec{Completions: &completions, Template: template(corev1.RestartPolicyNever)},
		}
		if err := c.Create(ctx, job); err != nil {
			return err
		}
		return until(ctx, "it is complete", func(ctx context.Context) (bool, error) {
			err := c.Get(ctx, client.ObjectKeyFromObject(job), job)
			for _, condition := range job.Status.Conditions {
				if condition.Type == batchv1.JobComplete && condition.Status == corev1.ConditionTrue {
					return job.Status.Succeeded == completions, err
				}
			}
			return false, err
		})
	}},
}
