package lamps_test

import (
	"context"
	"io"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/envtest"

	v1 "example.com/lamps/api/v1"
	v2 "example.com/lamps/api/v2"
)

func lamp(name string, spec v1.LampSpec) *v1.Lamp {
	return &v1.Lamp{ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: "default"}, Spec: spec}
}

var _ = Describe("a lamp", func() {
	It("is completed by the definition and the defaulting webhook", func(ctx SpecContext) {
		dim := lamp(name(), v1.LampSpec{Percent: 5})
		Expect(api.Create(ctx, dim)).To(Succeed())
		Expect(dim.Spec.Color).To(Equal("white"))
		Expect(dim.Generation).To(BeEquivalentTo(1))
	})

	It("is refused by its schema", func(ctx SpecContext) {
		err := api.Create(ctx, lamp(name(), v1.LampSpec{Percent: 101}))
		Expect(err).To(Satisfy(apierrors.IsInvalid))
		Expect(err).To(MatchError(ContainSubstring("spec.percent in body should be less than or equal to 100")))
	})

	It("is refused by the validating webhook", func(ctx SpecContext) {
		red := lamp(name(), v1.LampSpec{Color: "red"})
		Expect(api.Create(ctx, red)).To(Succeed())
		red.Spec.Color = "blue"
		err := api.Update(ctx, red)
		Expect(err).To(Satisfy(apierrors.IsForbidden))
		Expect(err).To(MatchError(ContainSubstring(`admission webhook "validate.lamps.example.com" denied the request`)))
	})

	It("is converted, also where webhooks know one version only", func(ctx SpecContext) {
		key := client.ObjectKey{Namespace: "default", Name: name()}
		later := &v2.Lamp{ObjectMeta: metav1.ObjectMeta{Name: key.Name, Namespace: key.Namespace}}
		later.Spec.Light = "green 40%"
		Expect(api.Create(ctx, later)).To(Succeed())
		var stored v1.Lamp
		Expect(api.Get(ctx, key, &stored)).To(Succeed())
		Expect(stored.Spec).To(Equal(v1.LampSpec{Color: "green", Percent: 40}))

		// The controller writes too, so that an update could meet a conflict.
		before := later.DeepCopyObject().(*v2.Lamp)
		later.Spec.Light = "yellow 40%"
		Expect(api.Patch(ctx, later, client.MergeFrom(before))).To(MatchError(ContainSubstring("the color of a lamp stays green")))
	})

	It("is lit by the controller", func(ctx SpecContext) {
		bright := lamp(name(), v1.LampSpec{Percent: 80})
		Expect(api.Create(ctx, bright)).To(Succeed())
		Eventually(func(g Gomega) {
			var seen v1.Lamp
			g.Expect(api.Get(ctx, client.ObjectKeyFromObject(bright), &seen)).To(Succeed())
			g.Expect(seen.Status.Lit).To(BeTrue())
			g.Expect(seen.Generation).To(BeEquivalentTo(1))
		}).Should(Succeed())
		var light corev1.ConfigMap
		Expect(api.Get(ctx, client.ObjectKey{Namespace: "default", Name: bright.Name + "-light"}, &light)).To(Succeed())
		Expect(light.Data).To(HaveKeyWithValue("light", "white at 80"))
		Expect(metav1.IsControlledBy(&light, bright)).To(BeTrue())
	})

	It("keeps the controller's config map right", func(ctx SpecContext) {
		kept := lamp(name(), v1.LampSpec{Percent: 10})
		Expect(api.Create(ctx, kept)).To(Succeed())
		light := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: kept.Name + "-light"}}
		Eventually(func() error { return api.Get(ctx, client.ObjectKeyFromObject(light), light) }).Should(Succeed())
		first := light.UID
		Expect(api.Delete(ctx, light)).To(Succeed())
		Eventually(func(g Gomega) {
			g.Expect(api.Get(ctx, client.ObjectKeyFromObject(light), light)).To(Succeed())
			g.Expect(light.UID).NotTo(Equal(first))
		}).Should(Succeed())
	})
})

var _ = Describe("a user", func() {
	It("may what a role allows", func(ctx SpecContext) {
		user, err := environment.AddUser(envtest.User{Name: "ada", Groups: []string{"electricians"}}, nil)
		Expect(err).NotTo(HaveOccurred())
		ada, err := client.New(user.Config(), client.Options{Scheme: scheme})
		Expect(err).NotTo(HaveOccurred())
		Expect(ada.List(ctx, &v1.LampList{}, client.InNamespace("default"))).To(Satisfy(apierrors.IsForbidden))

		role := &rbacv1.Role{ObjectMeta: metav1.ObjectMeta{Name: "electricians", Namespace: "default"}}
		role.Rules = []rbacv1.PolicyRule{{APIGroups: []string{"example.com"}, Resources: []string{"lamps"}, Verbs: []string{"list"}}}
		Expect(api.Create(ctx, role)).To(Succeed())
		binding := &rbacv1.RoleBinding{ObjectMeta: role.ObjectMeta}
		binding.ResourceVersion = ""
		binding.Subjects = []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: "Group", Name: "electricians"}}
		binding.RoleRef = rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: role.Name}
		Expect(api.Create(ctx, binding)).To(Succeed())
		// A real kube-apiserver hears of the binding a little later.
		Eventually(func() error { return ada.List(ctx, &v1.LampList{}, client.InNamespace("default")) }).Should(Succeed())
		Expect(ada.Create(ctx, lamp(name(), v1.LampSpec{}))).To(Satisfy(apierrors.IsForbidden))
	})

	It("runs kubectl", func() {
		user, err := environment.AddUser(envtest.User{Name: "grace", Groups: []string{"system:masters"}}, nil)
		Expect(err).NotTo(HaveOccurred())
		kubectl, err := user.Kubectl()
		Expect(err).NotTo(HaveOccurred())
		output, _, err := kubectl.Run("get", "namespace", "default", "-o", "name")
		Expect(err).NotTo(HaveOccurred())
		Expect(io.ReadAll(output)).To(BeEquivalentTo("namespace/default\n"))
	})
})

var _ = Describe("two managers", func() {
	It("work one after the other", func(ctx SpecContext) {
		first, second := newManager("two", 0), newManager("two", 0)
		stop := run(first)
		Eventually(first.Elected()).Should(BeClosed())
		run(second)
		Consistently(second.Elected(), "300ms").ShouldNot(BeClosed())
		stop()
		Eventually(second.Elected()).Should(BeClosed())
		var lease coordinationv1.Lease
		Expect(api.Get(ctx, client.ObjectKey{Namespace: "default", Name: "two"}, &lease)).To(Succeed())
		Expect(*lease.Spec.LeaseTransitions).To(BeEquivalentTo(1))
	})
})

var _ = Describe("an API server that was stopped", func() {
	It("has its objects when it is started again, and goes on from their revisions", func(ctx SpecContext) {
		own := &envtest.Environment{Scheme: scheme}
		_, err := own.Start()
		Expect(err).NotTo(HaveOccurred())
		DeferCleanup(own.Stop)
		// A started API server has a certificate and users of its own.
		connect := func() client.WithWatch {
			user, err := own.AddUser(envtest.User{Name: "admin", Groups: []string{"system:masters"}}, nil)
			Expect(err).NotTo(HaveOccurred())
			connected, err := client.NewWithWatch(user.Config(), client.Options{Scheme: scheme})
			Expect(err).NotTo(HaveOccurred())
			return connected
		}
		api := connect()
		before := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "kept", Namespace: "default"}}
		Expect(api.Create(ctx, before)).To(Succeed())

		Expect(own.ControlPlane.APIServer.Stop()).To(Succeed())
		Expect(api.Get(ctx, client.ObjectKeyFromObject(before), before)).NotTo(Succeed())
		Expect(own.ControlPlane.APIServer.Start()).To(Succeed())
		api = connect()

		var after corev1.ConfigMap
		Expect(api.Get(ctx, client.ObjectKeyFromObject(before), &after)).To(Succeed())
		Expect(after.UID).To(Equal(before.UID))
		// Watches begin where the API server did: from before, there is only an error that says so.
		Expect(firstEvent(ctx, api, before.ResourceVersion)).To(HaveField("Type", watch.Error))

		var list corev1.ConfigMapList
		Expect(api.List(ctx, &list, client.InNamespace("default"))).To(Succeed())
		after.Data = map[string]string{"seen": "again"}
		Expect(api.Update(ctx, &after)).To(Succeed())
		Expect(firstEvent(ctx, api, list.ResourceVersion)).To(HaveField("Type", watch.Modified))
	})
})

// firstEvent is the first of config maps after a revision.
func firstEvent(ctx context.Context, api client.WithWatch, revision string) watch.Event {
	from := &client.ListOptions{Namespace: "default", Raw: &metav1.ListOptions{ResourceVersion: revision}}
	events, err := api.Watch(ctx, &corev1.ConfigMapList{}, from)
	Expect(err).NotTo(HaveOccurred())
	defer events.Stop()
	var event watch.Event
	Eventually(events.ResultChan()).Should(Receive(&event))
	return event
}
