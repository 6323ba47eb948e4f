package main

import (
	"context"
	"errors"
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	authenticationv1 "k8s.io/api/authentication/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	autoscalingv1 "k8s.io/api/autoscaling/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/scheme"
	typedcorev1 "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/pager"
	"k8s.io/client-go/tools/record"
	"k8s.io/client-go/util/retry"
)

// typed are checks of the typed clients, which send and read protobuf unless they are told otherwise.
var typed = []check{
	{"crud-protobuf", func(s scene) error { return crud(s, s.client) }},
	{"crud-json", func(s scene) error {
		config := rest.CopyConfig(s.config)
		config.ContentType, config.AcceptContentTypes = runtime.ContentTypeJSON, runtime.ContentTypeJSON
		client, err := kubernetes.NewForConfig(config)
		if err != nil {
			return err
		}
		return crud(s, client)
	}},
	{"errors-have-reasons", func(s scene) error {
		maps := s.client.CoreV1().ConfigMaps(s.namespace)
		_, err := maps.Get(s, "none", metav1.GetOptions{})
		_, invalid := maps.Create(s, configMap("No_Name"), metav1.CreateOptions{})
		created, _ := maps.Create(s, configMap("a"), metav1.CreateOptions{})
		_, exists := maps.Create(s, configMap("a"), metav1.CreateOptions{})
		first, _ := maps.Update(s, created, metav1.UpdateOptions{})
		created.Data = map[string]string{"a": "b"}
		_, updated := maps.Update(s, created, metav1.UpdateOptions{})
		created.ResourceVersion = first.ResourceVersion
		_, conflict := maps.Update(s, created, metav1.UpdateOptions{})
		var status apierrors.APIStatus
		if !errors.As(invalid, &status) || len(status.Status().Details.Causes) != 1 {
			return fmt.Errorf("expected one cause: %v", invalid)
		}
		return errors.Join(refused(err, metav1.StatusReasonNotFound), refused(invalid, metav1.StatusReasonInvalid),
			refused(exists, metav1.StatusReasonAlreadyExists), updated, refused(conflict, metav1.StatusReasonConflict))
	}},
	{"retry-on-conflict", func(s scene) error {
		maps := s.client.CoreV1().ConfigMaps(s.namespace)
		if _, err := maps.Create(s, configMap("a"), metav1.CreateOptions{}); err != nil {
			return err
		}
		tries := 0
		err := retry.RetryOnConflict(retry.DefaultRetry, func() error {
			tries++
			object, err := maps.Get(s, "a", metav1.GetOptions{})
			if err != nil {
				return err
			}
			if tries == 1 {
				body := []byte(`{"data":{"other":"x"}}`)
				if _, err := maps.Patch(s, "a", types.MergePatchType, body, metav1.PatchOptions{}); err != nil {
					return err
				}
			}
			object.Labels = map[string]string{"mine": "y"}
			_, err = maps.Update(s, object, metav1.UpdateOptions{})
			return err
		})
		object, last := maps.Get(s, "a", metav1.GetOptions{})
		return errors.Join(err, last, same(tries, 2), same(object.Data["other"]+object.Labels["mine"], "xy"))
	}},
	{"patch-types", func(s scene) error {
		client := s.client.AppsV1().Deployments(s.namespace)
		if _, err := client.Create(s, deployment("d"), metav1.CreateOptions{}); err != nil {
			return err
		}
		for kind, body := range map[types.PatchType]string{
			types.JSONPatchType:           `[{"op":"replace","path":"/spec/replicas","value":2}]`,
			types.MergePatchType:          `{"metadata":{"labels":{"merged":"yes"}}}`,
			types.StrategicMergePatchType: `{"spec":{"template":{"spec":{"containers":[{"name":"b","image":"b"}]}}}}`,
		} {
			if _, err := client.Patch(s, "d", kind, []byte(body), metav1.PatchOptions{}); err != nil {
				return err
			}
		}
		object, err := client.Get(s, "d", metav1.GetOptions{})
		return errors.Join(err, same(*object.Spec.Replicas, int32(2)), same(object.Labels["merged"], "yes"),
			same(len(object.Spec.Template.Spec.Containers), 2), same(object.Generation, int64(3)))
	}},
	{"update-status", func(s scene) error {
		client := s.client.AppsV1().Deployments(s.namespace)
		object, err := client.Create(s, deployment("d"), metav1.CreateOptions{})
		if err != nil {
			return err
		}
		object.Spec.Paused, object.Status.Replicas = true, 3
		object, err = client.UpdateStatus(s, object, metav1.UpdateOptions{})
		return errors.Join(err, same(object.Spec.Paused, false), same(object.Status.Replicas, int32(3)))
	}},
	{"scale", func(s scene) error {
		client := s.client.AppsV1().Deployments(s.namespace)
		if _, err := client.Create(s, deployment("d"), metav1.CreateOptions{}); err != nil {
			return err
		}
		scale, err := client.GetScale(s, "d", metav1.GetOptions{})
		if err != nil {
			return err
		}
		scale.Spec.Replicas = 4
		scale, err = client.UpdateScale(s, "d", scale, metav1.UpdateOptions{})
		return errors.Join(err, same(scale.Spec, autoscalingv1.ScaleSpec{Replicas: 4}), same(scale.Status.Selector, "app=d"))
	}},
	{"delete-collection", func(s scene) error {
		maps := s.client.CoreV1().ConfigMaps(s.namespace)
		for _, name := range []string{"a", "b"} {
			object := configMap(name)
			object.Labels = map[string]string{"name": name}
			if _, err := maps.Create(s, object, metav1.CreateOptions{}); err != nil {
				return err
			}
		}
		err := maps.DeleteCollection(s, metav1.DeleteOptions{}, metav1.ListOptions{LabelSelector: "name in (a,c)"})
		_, gone := maps.Get(s, "a", metav1.GetOptions{})
		_, kept := maps.Get(s, "b", metav1.GetOptions{})
		return errors.Join(err, refused(gone, metav1.StatusReasonNotFound), kept)
	}},
	{"delete-preconditions", func(s scene) error {
		maps := s.client.CoreV1().ConfigMaps(s.namespace)
		object, err := maps.Create(s, configMap("a"), metav1.CreateOptions{})
		if err != nil {
			return err
		}
		wrong := types.UID("wrong")
		refusal := maps.Delete(s, "a", metav1.DeleteOptions{Preconditions: &metav1.Preconditions{UID: &wrong}})
		right := &metav1.Preconditions{UID: &object.UID, ResourceVersion: &object.ResourceVersion}
		return errors.Join(refused(refusal, metav1.StatusReasonConflict), maps.Delete(s, "a", metav1.DeleteOptions{Preconditions: right}))
	}},
	{"dry-run", func(s scene) error {
		maps := s.client.CoreV1().ConfigMaps(s.namespace)
		object, err := maps.Create(s, configMap("a"), metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
		_, gone := maps.Get(s, "a", metav1.GetOptions{})
		return errors.Join(err, same(object.UID != "", true), refused(gone, metav1.StatusReasonNotFound))
	}},
	{"generate-name", func(s scene) error {
		object := configMap("")
		object.GenerateName = "a-"
		object, err := s.client.CoreV1().ConfigMaps(s.namespace).Create(s, object, metav1.CreateOptions{})
		return errors.Join(err, same(len(object.Name), 7))
	}},
	{"pager", func(s scene) error {
		maps := s.client.CoreV1().ConfigMaps(s.namespace)
		for number := range 7 {
			if _, err := maps.Create(s, configMap(fmt.Sprintf("m-%d", number)), metav1.CreateOptions{}); err != nil {
				return err
			}
		}
		pages := 0
		list := pager.New(func(ctx context.Context, options metav1.ListOptions) (runtime.Object, error) {
			pages++
			return maps.List(ctx, options)
		})
		list.PageSize = 3
		seen := 0
		err := list.EachListItem(s, metav1.ListOptions{LabelSelector: "!none", FieldSelector: "metadata.name!=kube-root-ca.crt"}, func(runtime.Object) error { seen++; return nil })
		return errors.Join(err, same(seen, 7), same(pages, 3))
	}},
	{"watch-protobuf", func(s scene) error {
		maps := s.client.CoreV1().ConfigMaps(s.namespace)
		watch, err := maps.Watch(s, metav1.ListOptions{FieldSelector: "metadata.name=a"})
		if err != nil {
			return err
		}
		defer watch.Stop()
		created, err := maps.Create(s, configMap("a"), metav1.CreateOptions{})
		if err != nil {
			return err
		}
		added := <-watch.ResultChan()
		if err := maps.Delete(s, "a", metav1.DeleteOptions{}); err != nil {
			return err
		}
		deleted := <-watch.ResultChan()
		return errors.Join(same(added.Object.(*corev1.ConfigMap).UID, created.UID), same(string(added.Type+deleted.Type), "ADDEDDELETED"))
	}},
	{"secrets-and-string-data", func(s scene) error {
		object := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: "s"}, StringData: map[string]string{"a": "b"}}
		object, err := s.client.CoreV1().Secrets(s.namespace).Create(s, object, metav1.CreateOptions{})
		return errors.Join(err, same(string(object.Data["a"]), "b"), same(object.Type, corev1.SecretTypeOpaque))
	}},
	{"pods-bind-and-status", func(s scene) error {
		pods := s.client.CoreV1().Pods(s.namespace)
		if _, err := pods.Create(s, pod("p"), metav1.CreateOptions{}); err != nil {
			return err
		}
		target := corev1.ObjectReference{Kind: "Node", Name: "n"}
		err := pods.Bind(s, &corev1.Binding{ObjectMeta: metav1.ObjectMeta{Name: "p"}, Target: target}, metav1.CreateOptions{})
		if err != nil {
			return err
		}
		object, err := pods.Get(s, "p", metav1.GetOptions{})
		if err != nil {
			return err
		}
		object.Status.Phase = corev1.PodRunning
		object, err = pods.UpdateStatus(s, object, metav1.UpdateOptions{})
		listed, last := pods.List(s, metav1.ListOptions{FieldSelector: "spec.nodeName=n,status.phase=Running"})
		return errors.Join(err, last, same(object.Spec.NodeName, "n"), same(len(listed.Items), 1))
	}},
	{"pods-evict", func(s scene) error {
		evicted, now := pod("p"), int64(0)
		evicted.Spec.TerminationGracePeriodSeconds = &now
		if _, err := s.client.CoreV1().Pods(s.namespace).Create(s, evicted, metav1.CreateOptions{}); err != nil {
			return err
		}
		err := s.client.PolicyV1().Evictions(s.namespace).Evict(s, &policyv1.Eviction{ObjectMeta: metav1.ObjectMeta{Name: "p", Namespace: s.namespace}})
		_, gone := s.client.CoreV1().Pods(s.namespace).Get(s, "p", metav1.GetOptions{})
		return errors.Join(err, refused(gone, metav1.StatusReasonNotFound))
	}},
	{"token-request-and-review", func(s scene) error {
		accounts := s.client.CoreV1().ServiceAccounts(s.namespace)
		if _, err := accounts.Create(s, &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Name: "a"}}, metav1.CreateOptions{}); err != nil {
			return err
		}
		request, err := accounts.CreateToken(s, "a", &authenticationv1.TokenRequest{}, metav1.CreateOptions{})
		if err != nil {
			return err
		}
		review := &authenticationv1.TokenReview{Spec: authenticationv1.TokenReviewSpec{Token: request.Status.Token}}
		review, err = s.client.AuthenticationV1().TokenReviews().Create(s, review, metav1.CreateOptions{})
		return errors.Join(err, same(review.Status.User.Username, "system:serviceaccount:"+s.namespace+":a"))
	}},
	{"access-reviews", func(s scene) error {
		attributes := &authorizationv1.ResourceAttributes{Namespace: s.namespace, Verb: "get", Resource: "pods"}
		own := &authorizationv1.SelfSubjectAccessReview{Spec: authorizationv1.SelfSubjectAccessReviewSpec{ResourceAttributes: attributes}}
		own, err := s.client.AuthorizationV1().SelfSubjectAccessReviews().Create(s, own, metav1.CreateOptions{})
		if err != nil {
			return err
		}
		other := &authorizationv1.SubjectAccessReview{Spec: authorizationv1.SubjectAccessReviewSpec{User: "jane", ResourceAttributes: attributes}}
		other, err = s.client.AuthorizationV1().SubjectAccessReviews().Create(s, other, metav1.CreateOptions{})
		return errors.Join(err, same(own.Status.Allowed, true), same(other.Status.Allowed, false))
	}},
	{"impersonation-and-rbac", func(s scene) error {
		rules := []rbacv1.PolicyRule{{APIGroups: []string{""}, Resources: []string{"configmaps"}, Verbs: []string{"get", "list"}}}
		role := &rbacv1.Role{ObjectMeta: metav1.ObjectMeta{Name: "r"}, Rules: rules}
		binding := &rbacv1.RoleBinding{
			ObjectMeta: metav1.ObjectMeta{Name: "b"}, RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: "r"},
			Subjects: []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: "User", Name: "jane"}},
		}
		if _, err := s.client.RbacV1().Roles(s.namespace).Create(s, role, metav1.CreateOptions{}); err != nil {
			return err
		}
		if _, err := s.client.RbacV1().RoleBindings(s.namespace).Create(s, binding, metav1.CreateOptions{}); err != nil {
			return err
		}
		config := rest.CopyConfig(s.config)
		config.Impersonate = rest.ImpersonationConfig{UserName: "jane"}
		jane, err := kubernetes.NewForConfig(config)
		if err != nil {
			return err
		}
		// The policy of a real server follows its cache.
		allowed := s.within("the role", func() bool {
			_, err := jane.CoreV1().ConfigMaps(s.namespace).List(s, metav1.ListOptions{})
			return err == nil
		})
		_, denied := jane.CoreV1().Secrets(s.namespace).List(s, metav1.ListOptions{})
		return errors.Join(allowed, refused(denied, metav1.StatusReasonForbidden))
	}},
	{"event-recorder", func(s scene) error {
		object, err := s.client.CoreV1().Pods(s.namespace).Create(s, pod("p"), metav1.CreateOptions{})
		if err != nil {
			return err
		}
		broadcaster := record.NewBroadcaster(record.WithContext(s))
		defer broadcaster.Shutdown()
		broadcaster.StartRecordingToSink(&typedcorev1.EventSinkImpl{Interface: s.client.CoreV1().Events("")})
		recorder := broadcaster.NewRecorder(scheme.Scheme, corev1.EventSource{Component: "checks"})
		recorder.Event(object, corev1.EventTypeNormal, "Slept", "it slept")
		recorder.Event(object, corev1.EventTypeNormal, "Slept", "it slept")
		return s.within("the second event", func() bool {
			found, err := s.client.CoreV1().Events(s.namespace).Search(scheme.Scheme, object)
			return err == nil && len(found.Items) == 1 && found.Items[0].Count == 2
		})
	}},
	{"services-and-jobs", func(s scene) error {
		service := &corev1.Service{ObjectMeta: metav1.ObjectMeta{Name: "s"}, Spec: corev1.ServiceSpec{Ports: []corev1.ServicePort{{Port: 80}}}}
		service, err := s.client.CoreV1().Services(s.namespace).Create(s, service, metav1.CreateOptions{})
		if err != nil {
			return err
		}
		spec := pod("").Spec
		spec.RestartPolicy = corev1.RestartPolicyNever
		job := &batchv1.Job{ObjectMeta: metav1.ObjectMeta{Name: "j"}, Spec: batchv1.JobSpec{Template: corev1.PodTemplateSpec{Spec: spec}}}
		job, err = s.client.BatchV1().Jobs(s.namespace).Create(s, job, metav1.CreateOptions{})
		return errors.Join(err, same(*job.Spec.BackoffLimit, int32(6)), same(service.Spec.ClusterIP != "", true))
	}},
}

// crud creates, reads, lists, updates and deletes a config map.
func crud(s scene, client kubernetes.Interface) error {
	maps := client.CoreV1().ConfigMaps(s.namespace)
	object := configMap("a")
	object.Data, object.BinaryData = map[string]string{"k": "ü\n"}, map[string][]byte{"b": {0, 255}}
	created, err := maps.Create(s, object, metav1.CreateOptions{})
	if err != nil {
		return err
	}
	read, err := maps.Get(s, "a", metav1.GetOptions{})
	if err != nil {
		return err
	}
	listed, err := maps.List(s, metav1.ListOptions{FieldSelector: "metadata.name=a"})
	if err != nil {
		return err
	}
	read.Labels = map[string]string{"x": "y"}
	updated, err := maps.Update(s, read, metav1.UpdateOptions{FieldManager: "checks"})
	if err != nil {
		return err
	}
	if err := maps.Delete(s, "a", metav1.DeleteOptions{}); err != nil {
		return err
	}
	_, gone := maps.Get(s, "a", metav1.GetOptions{})
	return errors.Join(same(created.Data, object.Data), same(created.BinaryData, object.BinaryData), same(listed.Items[0].UID, created.UID),
		same(updated.Labels["x"], "y"), same(updated.ResourceVersion != created.ResourceVersion, true),
		refused(gone, metav1.StatusReasonNotFound))
}

func configMap(name string) *corev1.ConfigMap {
	return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: name}}
}

func pod(name string) *corev1.Pod {
	spec := corev1.PodSpec{Containers: []corev1.Container{{Name: "a", Image: "a"}}}
	return &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: spec}
}

func deployment(name string) *appsv1.Deployment {
	labels := map[string]string{"app": name}
	template := corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: labels}, Spec: pod("").Spec}
	spec := appsv1.DeploymentSpec{Selector: &metav1.LabelSelector{MatchLabels: labels}, Template: template}
	return &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: spec}
}
