package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"time"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/leaderelection"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
)

// stories are those of docs/stories/, the same in every language: what a server can do to a client, as a test tells it over the control port.
// There is one on the fake only.
var stories = []check{
	{"story-ambiguous-write", func(s scene) error {
		on := match{Verbs: []string{"create"}, Resources: []string{"configmaps"}, Namespaces: []string{s.namespace}}
		since, err := cursor(s)
		if err != nil {
			return err
		}
		rule := fault{Match: on, Times: 1, Actions: []any{map[string]any{"connection": map[string]any{"do": "reset", "when": "afterCommit"}}}}
		if err := rule.add(s); err != nil {
			return err
		}
		// The answer is lost, so the object may have been created or not: a get tells.
		maps := s.client.CoreV1().ConfigMaps(s.namespace)
		_, lost := maps.Create(s, configMap("a"), metav1.CreateOptions{})
		if status := apierrors.APIStatus(nil); lost == nil || errors.As(lost, &status) {
			return fmt.Errorf("expected a broken connection, was %v", lost)
		}
		_, again := maps.Create(s, configMap("a"), metav1.CreateOptions{})
		found, err := maps.Get(s, "a", metav1.GetOptions{})
		if err != nil {
			return err
		}
		return errors.Join(refused(again, metav1.StatusReasonAlreadyExists), same(found.Name, "a"), codes(s, since, on, 0, 409))
	}},
	{"story-stale-read", func(s scene) error {
		maps := s.client.CoreV1().ConfigMaps(s.namespace)
		object := configMap("a")
		object.Data = map[string]string{"k": "old"}
		object, err := maps.Create(s, object, metav1.CreateOptions{})
		if err != nil {
			return err
		}
		object.Data["k"] = "new"
		if _, err := maps.Update(s, object, metav1.UpdateOptions{}); err != nil {
			return err
		}
		on := match{Verbs: []string{"list"}, Namespaces: []string{s.namespace}, Query: map[string]string{"resourceVersion": "0"}}
		if err := (fault{Match: on, Actions: []any{map[string]any{"stale": map[string]any{"behind": 1}}}}).add(s); err != nil {
			return err
		}
		// Another server, whose cache is behind, is asked after a failover.
		listed, err := maps.List(s, metav1.ListOptions{ResourceVersion: "0"})
		if err != nil {
			return err
		}
		stale := listed.Items[0]
		if err := same(stale.Data["k"], "old"); err != nil {
			return err
		}
		// An update based on the stale read conflicts, as it names the stale resourceVersion.
		_, conflict := maps.Update(s, &stale, metav1.UpdateOptions{})
		listed, err = maps.List(s, metav1.ListOptions{})
		if err != nil {
			return err
		}
		return errors.Join(refused(conflict, metav1.StatusReasonConflict), same(listed.Items[0].Data["k"], "new"))
	}},
	{"story-throttling", func(s scene) error {
		on := match{Verbs: []string{"create"}, Resources: []string{"configmaps"}, Namespaces: []string{s.namespace}}
		since, err := cursor(s)
		if err != nil {
			return err
		}
		if err := (fault{Match: on, Sequence: []any{"apf-rejected", "apf-rejected"}}).add(s); err != nil {
			return err
		}
		// This client waits for as long as it is told, and tries again: its user sees nothing but the time that it takes.
		if _, err := s.client.CoreV1().ConfigMaps(s.namespace).Create(s, configMap("a"), metav1.CreateOptions{}); err != nil {
			return err
		}
		return codes(s, since, on, 429, 429, 201)
	}},
	{"story-expired-history", func(s scene) error {
		maps := s.client.CoreV1().ConfigMaps(s.namespace)
		first, err := maps.Create(s, configMap("a"), metav1.CreateOptions{})
		if err != nil {
			return err
		}
		if _, err := maps.Create(s, configMap("b"), metav1.CreateOptions{}); err != nil {
			return err
		}
		if err := told(s, "POST", "/history/compact", map[string]any{}, nil); err != nil {
			return err
		}
		event, err := next(s, first.ResourceVersion)
		if err != nil {
			return err
		}
		gone := apierrors.FromObject(event.Object)
		if event.Type != watch.Error || !apierrors.IsResourceExpired(gone) {
			return fmt.Errorf("expected 410, was %s %v", event.Type, gone)
		}
		// The way back is a list, and a watch from there.
		listed, err := maps.List(s, metav1.ListOptions{})
		if err != nil {
			return err
		}
		if _, err := maps.Create(s, configMap("c"), metav1.CreateOptions{}); err != nil {
			return err
		}
		event, err = next(s, listed.ResourceVersion)
		if err != nil {
			return err
		}
		object, _ := event.Object.(metav1.Object)
		return errors.Join(same(len(listed.Items), 2), same(object.GetName(), "c"))
	}},
	{"story-lost-watch", func(s scene) error {
		maps := s.client.CoreV1().ConfigMaps(s.namespace)
		watching, err := maps.Watch(s, metav1.ListOptions{})
		if err != nil {
			return err
		}
		if _, err := maps.Create(s, configMap("a"), metav1.CreateOptions{}); err != nil {
			return err
		}
		first := <-watching.ResultChan()
		var ended struct{ Watches int }
		on := match{Verbs: []string{"watch"}, Namespaces: []string{s.namespace}}
		if err := told(s, "POST", "/watches/end", map[string]any{"match": on}, &ended); err != nil {
			return err
		}
		if _, err := maps.Create(s, configMap("b"), metav1.CreateOptions{}); err != nil {
			return err
		}
		_, open := <-watching.ResultChan()
		// The next watch goes on where the last one was, and nothing is missed.
		seen, _ := first.Object.(metav1.Object)
		event, err := next(s, seen.GetResourceVersion())
		if err != nil {
			return err
		}
		object, _ := event.Object.(metav1.Object)
		return errors.Join(same(ended.Watches, 1), same(open, false), same(object.GetName(), "b"))
	}},
	{"story-leader-lost", leaderLost},
	{"story-webhook-timeout", webhookTimeout},
	{"story-clock-jump", clockJump},
}

func leaderLost(s scene) error {
	ctx, cancel := context.WithCancel(s)
	defer cancel()
	led, lost := make(chan struct{}), make(chan struct{})
	go leaderelection.RunOrDie(ctx, leaderelection.LeaderElectionConfig{
		Lock: &resourcelock.LeaseLock{
			LeaseMeta:  metav1.ObjectMeta{Name: "leader", Namespace: s.namespace},
			Client:     s.client.CoordinationV1(),
			LockConfig: resourcelock.ResourceLockConfig{Identity: "one"},
		},
		LeaseDuration: 3 * time.Second,
		RenewDeadline: 2 * time.Second,
		RetryPeriod:   500 * time.Millisecond,
		Callbacks: leaderelection.LeaderCallbacks{
			OnStartedLeading: func(context.Context) { close(led) },
			OnStoppedLeading: func() { close(lost) },
		},
	})
	if err := s.happens("leading", led); err != nil {
		return err
	}
	// Its renewals fail; before another one could lead, it has to stop.
	on := match{Verbs: []string{"update", "patch"}, Resources: []string{"leases"}, Namespaces: []string{s.namespace}}
	if err := (fault{Match: on, Actions: []any{map[string]any{"preset": "etcd-timeout"}}}).add(s); err != nil {
		return err
	}
	if err := s.happens("the end of that", lost); err != nil {
		return err
	}
	lease, err := s.client.CoordinationV1().Leases(s.namespace).Get(s, "leader", metav1.GetOptions{})
	if err != nil {
		return err
	}
	return same(*lease.Spec.HolderIdentity, "one")
}

// happens waits for a signal.
func (s scene) happens(what string, signal chan struct{}) error {
	select {
	case <-signal:
		return nil
	case <-s.Done():
		return errors.New("waited in vain for " + what)
	}
}

func webhookTimeout(s scene) error {
	// It takes connections, and never answers.
	silent, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	defer silent.Close()
	url, name := "https://"+silent.Addr().String()+"/", s.namespace+".example.com"
	none, second, fail := admissionv1.SideEffectClassNone, int32(1), admissionv1.Fail
	hook := admissionv1.ValidatingWebhook{
		Name:         name,
		ClientConfig: admissionv1.WebhookClientConfig{URL: &url},
		Rules: []admissionv1.RuleWithOperations{{
			Operations: []admissionv1.OperationType{admissionv1.Create},
			Rule:       admissionv1.Rule{APIGroups: []string{""}, APIVersions: []string{"v1"}, Resources: []string{"configmaps"}},
		}},
		NamespaceSelector:       &metav1.LabelSelector{MatchLabels: map[string]string{"kubernetes.io/metadata.name": s.namespace}},
		SideEffects:             &none,
		AdmissionReviewVersions: []string{"v1"},
		TimeoutSeconds:          &second,
		FailurePolicy:           &fail,
	}
	hooks := s.client.AdmissionregistrationV1().ValidatingWebhookConfigurations()
	object := &admissionv1.ValidatingWebhookConfiguration{ObjectMeta: metav1.ObjectMeta{Name: name}, Webhooks: []admissionv1.ValidatingWebhook{hook}}
	if _, err := hooks.Create(s, object, metav1.CreateOptions{}); err != nil {
		return err
	}
	// Nobody can write what it looks at; with failurePolicy Ignore it costs a second only.
	maps := s.client.CoreV1().ConfigMaps(s.namespace)
	_, failed := maps.Create(s, configMap("a"), metav1.CreateOptions{})
	patch := []byte(`[{"op": "replace", "path": "/webhooks/0/failurePolicy", "value": "Ignore"}]`)
	if _, err := hooks.Patch(s, name, types.JSONPatchType, patch, metav1.PatchOptions{}); err != nil {
		return err
	}
	_, ignored := maps.Create(s, configMap("a"), metav1.CreateOptions{})
	return errors.Join(refused(failed, metav1.StatusReasonInternalError), ignored, hooks.Delete(s, name, metav1.DeleteOptions{}))
}

func clockJump(s scene) error {
	accounts := s.client.CoreV1().ServiceAccounts(s.namespace)
	if _, err := accounts.Create(s, &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Name: "a"}}, metav1.CreateOptions{}); err != nil {
		return err
	}
	lifetime := int64(600)
	request := &authenticationv1.TokenRequest{Spec: authenticationv1.TokenRequestSpec{ExpirationSeconds: &lifetime}}
	made, err := accounts.CreateToken(s, "a", request, metav1.CreateOptions{})
	if err != nil {
		return err
	}
	config := rest.AnonymousClientConfig(s.config)
	config.BearerToken = made.Status.Token
	other, err := kubernetes.NewForConfig(config)
	if err != nil {
		return err
	}
	look := func() error {
		_, err := other.Discovery().ServerVersion()
		return err
	}
	jump := func(seconds int) error {
		return told(s, "POST", "/clock/advance", map[string]any{"seconds": seconds}, nil)
	}
	// The server's clock jumps, as after a pause of its machine: a token that the client believes in for ten minutes has expired.
	return errors.Join(look(), jump(700), refused(look(), metav1.StatusReasonUnauthorized), jump(-700), look())
}

// next is the first event of a watch from a revision on.
func next(s scene, revision string) (watch.Event, error) {
	watching, err := s.client.CoreV1().ConfigMaps(s.namespace).Watch(s, metav1.ListOptions{ResourceVersion: revision})
	if err != nil {
		return watch.Event{}, err
	}
	defer watching.Stop()
	event, open := <-watching.ResultChan()
	if !open {
		return event, errors.New("the watch has ended")
	}
	return event, nil
}

// A match is a pattern of requests.
type match struct {
	Verbs      []string          `json:"verbs,omitempty"`
	Resources  []string          `json:"resources,omitempty"`
	Namespaces []string          `json:"namespaces,omitempty"`
	Query      map[string]string `json:"query,omitempty"`
}

// A fault is a rule by which requests fail.
type fault struct {
	Match    match `json:"match"`
	Times    int   `json:"times,omitempty"`
	Actions  []any `json:"actions,omitempty"`
	Sequence []any `json:"sequence,omitempty"`
}

func (f fault) add(ctx context.Context) error {
	return told(ctx, "POST", "/faults", f, nil)
}

// told tells the control port something, or asks it.
func told(ctx context.Context, method, path string, words, answer any) error {
	body, err := json.Marshal(words)
	if err != nil {
		return err
	}
	request, err := http.NewRequestWithContext(ctx, method, os.Getenv("FAKE_APISERVER_CONTROL_URL")+"/_fake/v1"+path, bytes.NewReader(body))
	if err != nil {
		return err
	}
	request.Header.Set("Authorization", "Bearer "+os.Getenv("FAKE_APISERVER_CONTROL_TOKEN"))
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	if response.StatusCode >= 300 {
		var refusal metav1.Status
		return errors.Join(json.NewDecoder(response.Body).Decode(&refusal), errors.New(refusal.Message))
	}
	if answer == nil {
		return nil
	}
	return json.NewDecoder(response.Body).Decode(answer)
}

// cursor is that of the newest request.
func cursor(ctx context.Context) (int, error) {
	var answer struct{ Cursor int }
	err := told(ctx, "POST", "/requests/query", map[string]any{"limit": 0}, &answer)
	return answer.Cursor, err
}

// codes fails unless the requests since then that match were answered so; 0 is no answer.
func codes(ctx context.Context, since int, on match, expected ...int) error {
	var answer struct{ Items []struct{ Code int } }
	if err := told(ctx, "POST", "/requests/query", map[string]any{"since": since, "match": on}, &answer); err != nil {
		return err
	}
	var found []int
	for _, item := range answer.Items {
		found = append(found, item.Code)
	}
	return same(found, expected)
}
