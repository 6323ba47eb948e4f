package main

import (
	"errors"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	appsapply "k8s.io/client-go/applyconfigurations/apps/v1"
	coreapply "k8s.io/client-go/applyconfigurations/core/v1"
	metaapply "k8s.io/client-go/applyconfigurations/meta/v1"
)

// applied are checks of apply configurations.
var applied = []check{
	{"apply-and-extract", func(s scene) error {
		client := s.client.AppsV1().Deployments(s.namespace)
		object, err := client.Apply(s, deploymentConfiguration(s, "a:1", 1), metav1.ApplyOptions{FieldManager: "one"})
		if err != nil {
			return err
		}
		other := appsapply.Deployment("d", s.namespace).WithLabels(map[string]string{"other": "x"})
		if object, err = client.Apply(s, other, metav1.ApplyOptions{FieldManager: "two"}); err != nil {
			return err
		}
		mine, err := appsapply.ExtractDeployment(object, "one")
		if err != nil {
			return err
		}
		theirs, err := appsapply.ExtractDeployment(object, "two")
		if err != nil {
			return err
		}
		mine.Spec.Template.Spec.Containers[0].WithImage("a:2")
		object, err = client.Apply(s, mine, metav1.ApplyOptions{FieldManager: "one"})
		return errors.Join(err, same(len(mine.Labels), 0), same(theirs.Labels, map[string]string{"other": "x"}),
			same(theirs.Spec == nil, true), same(object.Spec.Template.Spec.Containers[0].Image, "a:2"), same(object.Labels["other"], "x"))
	}},
	{"apply-conflict-and-force", func(s scene) error {
		client := s.client.AppsV1().Deployments(s.namespace)
		if _, err := client.Apply(s, deploymentConfiguration(s, "a:1", 1), metav1.ApplyOptions{FieldManager: "one"}); err != nil {
			return err
		}
		_, conflict := client.Apply(s, deploymentConfiguration(s, "a:2", 1), metav1.ApplyOptions{FieldManager: "two"})
		object, err := client.Apply(s, deploymentConfiguration(s, "a:2", 1), metav1.ApplyOptions{FieldManager: "two", Force: true})
		return errors.Join(err, refused(conflict, metav1.StatusReasonConflict), same(object.Spec.Template.Spec.Containers[0].Image, "a:2"),
			same(len(object.ManagedFields), 2))
	}},
	{"apply-gives-up-fields", func(s scene) error {
		client := s.client.CoreV1().ConfigMaps(s.namespace)
		full := coreapply.ConfigMap("a", s.namespace).WithData(map[string]string{"one": "1", "two": "2"})
		if _, err := client.Apply(s, full, metav1.ApplyOptions{FieldManager: "one"}); err != nil {
			return err
		}
		less := coreapply.ConfigMap("a", s.namespace).WithData(map[string]string{"one": "1"})
		object, err := client.Apply(s, less, metav1.ApplyOptions{FieldManager: "one"})
		return errors.Join(err, same(object.Data, map[string]string{"one": "1"}))
	}},
	{"apply-status", func(s scene) error {
		client := s.client.AppsV1().Deployments(s.namespace)
		if _, err := client.Apply(s, deploymentConfiguration(s, "a:1", 1), metav1.ApplyOptions{FieldManager: "one"}); err != nil {
			return err
		}
		status := appsapply.Deployment("d", s.namespace).WithStatus(appsapply.DeploymentStatus().WithReplicas(2))
		object, err := client.ApplyStatus(s, status, metav1.ApplyOptions{FieldManager: "status"})
		if err != nil {
			return err
		}
		extracted, err := appsapply.ExtractDeploymentStatus(object, "status")
		return errors.Join(err, same(*extracted.Status.Replicas, int32(2)), same(extracted.Spec == nil, true))
	}},
	{"apply-is-idempotent", func(s scene) error {
		client := s.client.AppsV1().Deployments(s.namespace)
		first, err := client.Apply(s, deploymentConfiguration(s, "a:1", 1), metav1.ApplyOptions{FieldManager: "one"})
		if err != nil {
			return err
		}
		second, err := client.Apply(s, deploymentConfiguration(s, "a:1", 1), metav1.ApplyOptions{FieldManager: "one"})
		return errors.Join(err, same(second.ResourceVersion, first.ResourceVersion))
	}},
}

func deploymentConfiguration(s scene, image string, replicas int32) *appsapply.DeploymentApplyConfiguration {
	labels := map[string]string{"app": "d"}
	container := coreapply.Container().WithName("a").WithImage(image)
	template := coreapply.PodTemplateSpec().WithLabels(labels).WithSpec(coreapply.PodSpec().WithContainers(container))
	spec := appsapply.DeploymentSpec().WithReplicas(replicas).WithTemplate(template)
	return appsapply.Deployment("d", s.namespace).WithSpec(spec.WithSelector(metaapply.LabelSelector().WithMatchLabels(labels)))
}
