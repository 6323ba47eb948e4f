import io.fabric8.kubernetes.api.model.ConfigMap;
import io.fabric8.kubernetes.api.model.ConfigMapBuilder;
import io.fabric8.kubernetes.api.model.GenericKubernetesResource;
import io.fabric8.kubernetes.api.model.ListOptionsBuilder;
import io.fabric8.kubernetes.api.model.NamespaceBuilder;
import io.fabric8.kubernetes.api.model.PodBuilder;
import io.fabric8.kubernetes.api.model.ServiceAccountBuilder;
import io.fabric8.kubernetes.api.model.ServiceBuilder;
import io.fabric8.kubernetes.api.model.apiextensions.v1.CustomResourceDefinition;
import io.fabric8.kubernetes.api.model.apps.Deployment;
import io.fabric8.kubernetes.api.model.apps.DeploymentBuilder;
import io.fabric8.kubernetes.api.model.authorization.v1.SelfSubjectAccessReviewBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientBuilder;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.fabric8.kubernetes.client.Watcher;
import io.fabric8.kubernetes.client.WatcherException;
import io.fabric8.kubernetes.client.dsl.Resource;
import io.fabric8.kubernetes.client.dsl.base.PatchContext;
import io.fabric8.kubernetes.client.dsl.base.PatchType;
import io.fabric8.kubernetes.client.extended.leaderelection.LeaderCallbacks;
import io.fabric8.kubernetes.client.extended.leaderelection.LeaderElectionConfigBuilder;
import io.fabric8.kubernetes.client.extended.leaderelection.resourcelock.LeaseLock;
import io.fabric8.kubernetes.client.informers.ResourceEventHandler;
import io.fabric8.kubernetes.client.informers.SharedIndexInformer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;

/** Checks of fabric8's client: a line a check, on the server of KUBECONFIG. */
public final class Checks {
    private static final Map<String, Check> CHECKS = new LinkedHashMap<>();
    private final KubernetesClient client;
    private final String namespace;

    private interface Check {
        void run(Checks scene) throws Exception;
    }

    private Checks(KubernetesClient client, String namespace) {
        this.client = client;
        this.namespace = namespace;
    }

    private Stories stories() {
        return new Stories(client, namespace);
    }

    static {
        CHECKS.put("crud", Checks::crud);
        CHECKS.put("errors-have-statuses", Checks::errors);
        CHECKS.put("lists-and-selectors", Checks::lists);
        CHECKS.put("edit", Checks::edit);
        CHECKS.put("edit-status", Checks::editStatus);
        CHECKS.put("patch-types", Checks::patchTypes);
        CHECKS.put("server-side-apply", Checks::apply);
        CHECKS.put("create-or-update", Checks::createOrUpdate);
        CHECKS.put("scale", Checks::scale);
        CHECKS.put("watch", Checks::watch);
        CHECKS.put("informer", Checks::informer);
        CHECKS.put("wait-until", Checks::waitUntil);
        CHECKS.put("delete-many", Checks::deleteMany);
        CHECKS.put("pods-and-status", Checks::pods);
        CHECKS.put("resource-list", Checks::resourceList);
        CHECKS.put("generic-resources", Checks::genericResources);
        CHECKS.put("tokens", Checks::tokens);
        CHECKS.put("access-review", Checks::accessReview);
        CHECKS.put("leader-election", Checks::leaderElection);
        CHECKS.put("version-and-groups", Checks::versionAndGroups);
        CHECKS.put("services", Checks::services);
        if (System.getenv("FAKE_APISERVER_CONTROL_URL") != null) {
            CHECKS.put("story-ambiguous-write", scene -> scene.stories().ambiguousWrite());
            CHECKS.put("story-throttling", scene -> scene.stories().throttling());
        }
    }

    public static void main(String[] arguments) {
        try (KubernetesClient client = new KubernetesClientBuilder().build()) {
            System.out.println("client fabric8 kubernetes-client " + io.fabric8.kubernetes.client.Version.clientVersion());
            int number = 0;
            for (Map.Entry<String, Check> check : CHECKS.entrySet()) {
                report(check.getKey(), perform(client, check.getValue(), "c-" + number++));
            }
        }
        System.exit(0);
    }

    private static void report(String name, Throwable error) {
        if (error == null) {
            System.out.println("ok " + name);
            return;
        }
        String text = error.toString().replaceAll("\\s+", " ");
        System.out.println("FAIL " + name + ": " + text.substring(0, Math.min(text.length(), 400)));
    }

    private static Throwable perform(KubernetesClient client, Check check, String namespace) {
        try {
            client.resource(new NamespaceBuilder().withNewMetadata().withName(namespace).endMetadata().build()).create();
            // In a thread of its own: a call that is never answered ends the check only.
            CompletableFuture<Void> done = new CompletableFuture<>();
            Thread running = new Thread(() -> {
                try {
                    check.run(new Checks(client, namespace));
                    done.complete(null);
                } catch (Throwable error) {
                    done.completeExceptionally(error);
                }
            });
            running.setDaemon(true);
            running.start();
            done.get(30, TimeUnit.SECONDS);
            return null;
        } catch (ExecutionException error) {
            return error.getCause();
        } catch (Throwable error) {
            return error;
        }
    }

    private static void same(Object actual, Object expected) {
        if (!Objects.equals(actual, expected)) {
            throw new AssertionError("expected " + expected + ", was " + actual);
        }
    }

    private static void refused(int code, Runnable call) {
        try {
            call.run();
        } catch (KubernetesClientException error) {
            same(error.getCode(), code);
            return;
        }
        throw new AssertionError("expected " + code + ", was no error");
    }

    private static void within(CountDownLatch latch) throws InterruptedException {
        same(latch.await(20, TimeUnit.SECONDS), true);
    }

    private Resource<ConfigMap> map(String name) {
        return client.configMaps().inNamespace(namespace).withName(name);
    }

    private ConfigMapBuilder configMap(String name) {
        return new ConfigMapBuilder().withNewMetadata().withName(name).withNamespace(namespace).endMetadata();
    }

    private ConfigMap create(String name, Map<String, String> labels) {
        return client.resource(configMap(name).editMetadata().withLabels(labels).endMetadata().addToData("k", "v").build()).create();
    }

    private Resource<Deployment> deployment() {
        client.resource(new DeploymentBuilder().withNewMetadata().withName("d").withNamespace(namespace).endMetadata()
            .withNewSpec().withNewSelector().addToMatchLabels("app", "d").endSelector()
            .withNewTemplate().withNewMetadata().addToLabels("app", "d").endMetadata()
            .withNewSpec().addNewContainer().withName("a").withImage("a").endContainer().endSpec()
            .endTemplate().endSpec().build()).create();
        return client.apps().deployments().inNamespace(namespace).withName("d");
    }

    private void crud() {
        ConfigMap created = create("a", Map.of());
        ConfigMap read = map("a").get();
        same(read.getMetadata().getUid(), created.getMetadata().getUid());
        read.getData().put("k", "w");
        same(client.resource(read).update().getData(), Map.of("k", "w"));
        same(map("a").delete().size(), 1);
        same(map("a").get(), null);
    }

    private void errors() {
        ConfigMap created = create("a", Map.of());
        refused(409, () -> create("a", Map.of()));
        refused(422, () -> create("No_Name", Map.of()));
        map("a").edit(object -> new ConfigMapBuilder(object).addToData("x", "y").build());
        refused(409, () -> client.resource(created).lockResourceVersion().update());
    }

    private void lists() {
        for (String name : List.of("a", "b", "c")) {
            create(name, Map.of("name", name));
        }
        same(client.configMaps().inNamespace(namespace).withLabelIn("name", "a", "b").list().getItems().size(), 2);
        var labelled = client.configMaps().inNamespace(namespace).withLabel("name");
        var page = labelled.list(new ListOptionsBuilder().withLimit(2L).build());
        var rest = labelled.list(new ListOptionsBuilder().withLimit(2L).withContinue(page.getMetadata().getContinue()).build());
        same(List.of(page.getItems().size(), rest.getItems().size()), List.of(2, 1));
    }

    private void edit() {
        create("a", Map.of());
        ConfigMap edited = map("a").edit(object -> new ConfigMapBuilder(object).addToData("x", "y").removeFromData("k").build());
        same(edited.getData(), Map.of("x", "y"));
    }

    private void editStatus() {
        Deployment edited = deployment().editStatus(object -> new DeploymentBuilder(object).editOrNewStatus().withReplicas(2).endStatus().build());
        same(List.of(edited.getStatus().getReplicas(), edited.getMetadata().getGeneration()), List.of(2, 1L));
    }

    private void patchTypes() {
        Resource<Deployment> deployment = deployment();
        deployment.patch(PatchContext.of(PatchType.JSON), "[{\"op\":\"replace\",\"path\":\"/spec/replicas\",\"value\":2}]");
        deployment.patch(PatchContext.of(PatchType.JSON_MERGE), "{\"metadata\":{\"labels\":{\"x\":\"y\"}}}");
        String containers = "{\"spec\":{\"template\":{\"spec\":{\"containers\":[{\"name\":\"b\",\"image\":\"b\"}]}}}}";
        Deployment patched = deployment.patch(PatchContext.of(PatchType.STRATEGIC_MERGE), containers);
        same(List.of(patched.getSpec().getReplicas(), patched.getSpec().getTemplate().getSpec().getContainers().size(),
            patched.getMetadata().getLabels()), List.of(2, 2, Map.of("x", "y")));
    }

    private void apply() {
        ConfigMap wanted = configMap("a").addToData("k", "v").build();
        ConfigMap applied = client.resource(wanted).fieldManager("one").serverSideApply();
        same(applied.getMetadata().getManagedFields().get(0).getOperation(), "Apply");
        ConfigMap other = configMap("a").addToData("k", "w").build();
        refused(409, () -> client.resource(other).fieldManager("two").serverSideApply());
        same(client.resource(other).fieldManager("two").forceConflicts().serverSideApply().getData(), Map.of("k", "w"));
    }

    private void createOrUpdate() {
        for (String value : List.of("v", "w")) {
            ConfigMap wanted = configMap("a").addToData("k", value).build();
            same(client.resource(wanted).createOr(io.fabric8.kubernetes.client.dsl.NonDeletingOperation::update).getData(), Map.of("k", value));
        }
    }

    private void scale() {
        deployment();
        var scalable = client.apps().deployments().inNamespace(namespace).withName("d");
        same(scalable.scale(3).getSpec().getReplicas(), 3);
    }

    private void watch() throws Exception {
        List<Watcher.Action> seen = new ArrayList<>();
        CountDownLatch gone = new CountDownLatch(1);
        try (var ignored = map("a").watch(new Watcher<ConfigMap>() {
            @Override
            public void eventReceived(Action action, ConfigMap object) {
                seen.add(action);
                if (action == Action.DELETED) {
                    gone.countDown();
                }
            }

            @Override
            public void onClose(WatcherException cause) {
                gone.countDown();
            }
        })) {
            create("a", Map.of());
            map("a").patch(PatchContext.of(PatchType.JSON_MERGE), "{\"data\":null}");
            map("a").delete();
            within(gone);
        }
        same(seen, List.of(Watcher.Action.ADDED, Watcher.Action.MODIFIED, Watcher.Action.DELETED));
    }

    private void informer() throws Exception {
        create("a", Map.of("x", "y"));
        CountDownLatch added = new CountDownLatch(2);
        CountDownLatch deleted = new CountDownLatch(1);
        try (SharedIndexInformer<ConfigMap> informer = client.configMaps().inNamespace(namespace).withLabel("x").inform(
            new ResourceEventHandler<ConfigMap>() {
                @Override
                public void onAdd(ConfigMap object) {
                    added.countDown();
                }

                @Override
                public void onUpdate(ConfigMap before, ConfigMap after) {
                }

                @Override
                public void onDelete(ConfigMap object, boolean unknown) {
                    deleted.countDown();
                }
            })) {
            same(informer.getIndexer().list().size(), 1);
            create("b", Map.of("x", "z"));
            within(added);
            map("a").delete();
            within(deleted);
            same(informer.getIndexer().list().get(0).getMetadata().getName(), "b");
        }
    }

    private void waitUntil() throws Exception {
        create("a", Map.of());
        CompletableFuture<List<ConfigMap>> done = map("a").informOnCondition(
            objects -> objects.stream().anyMatch(object -> "w".equals(object.getData().get("k"))));
        map("a").edit(object -> new ConfigMapBuilder(object).addToData("k", "w").build());
        same(done.get(20, TimeUnit.SECONDS).size(), 1);
    }

    private void deleteMany() {
        create("a", Map.of("x", "y"));
        create("b", Map.of());
        client.configMaps().inNamespace(namespace).withLabel("x", "y").delete();
        same(List.of(map("a").get() == null, map("b").get() == null), List.of(true, false));
    }

    private void pods() {
        client.resource(new PodBuilder().withNewMetadata().withName("p").withNamespace(namespace).endMetadata()
            .withNewSpec().addNewContainer().withName("a").withImage("a").endContainer().endSpec().build()).create();
        var pod = client.pods().inNamespace(namespace).withName("p");
        pod.editStatus(object -> new PodBuilder(object).editOrNewStatus().withPhase("Running")
            .addNewCondition().withType("Ready").withStatus("True").endCondition().endStatus().build());
        same(pod.waitUntilReady(20, TimeUnit.SECONDS).getStatus().getPhase(), "Running");
        pod.withGracePeriod(0).delete();
        same(pod.get(), null);
    }

    private void resourceList() {
        String yaml = "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: a\n---\napiVersion: v1\nkind: Secret\nmetadata:\n  name: b\n";
        same(client.load(new java.io.ByteArrayInputStream(yaml.getBytes())).inNamespace(namespace).create().size(), 2);
        same(client.secrets().inNamespace(namespace).withName("b").get().getType(), "Opaque");
    }

    private void genericResources() throws Exception {
        String yaml = "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {name: lamps.example.com}\n"
            + "spec:\n  group: example.com\n  scope: Namespaced\n  names: {plural: lamps, kind: Lamp}\n  versions:\n"
            + "  - name: v1\n    served: true\n    storage: true\n    subresources: {status: {}}\n    schema:\n      openAPIV3Schema:\n"
            + "        type: object\n        properties:\n          spec:\n            type: object\n            properties:\n"
            + "              watts: {type: integer, minimum: 0}\n              bulbs: {type: integer, default: 1}\n"
            + "          status: {type: object, x-kubernetes-preserve-unknown-fields: true}\n";
        CustomResourceDefinition definition = client.getKubernetesSerialization().unmarshal(yaml, CustomResourceDefinition.class);
        client.resource(definition).create();
        client.resource(definition).waitUntilCondition(found -> found.getStatus().getConditions().stream()
            .anyMatch(condition -> condition.getType().equals("Established") && condition.getStatus().equals("True")), 20, TimeUnit.SECONDS);
        var lamps = client.genericKubernetesResources("example.com/v1", "Lamp").inNamespace(namespace);
        GenericKubernetesResource lamp = client.getKubernetesSerialization().unmarshal(
            "apiVersion: example.com/v1\nkind: Lamp\nmetadata: {name: hall}\nspec: {watts: 40}\n", GenericKubernetesResource.class);
        same(lamps.resource(lamp).create().get("spec", "bulbs"), 1);
        refused(422, () -> lamps.withName("hall").patch(PatchContext.of(PatchType.JSON_MERGE), "{\"spec\":{\"watts\":-1}}"));
        same(lamps.list().getItems().size(), 1);
        lamps.withName("hall").delete();
        client.resource(definition).delete();
    }

    private void tokens() {
        client.resource(new ServiceAccountBuilder().withNewMetadata().withName("a").withNamespace(namespace).endMetadata().build()).create();
        var request = new io.fabric8.kubernetes.api.model.authentication.TokenRequestBuilder().withNewSpec().withAudiences().endSpec().build();
        String token = client.serviceAccounts().inNamespace(namespace).withName("a").tokenRequest(request).getStatus().getToken();
        same(token.split("\\.").length, 3);
    }

    private void accessReview() {
        var review = new SelfSubjectAccessReviewBuilder().withNewSpec().withNewResourceAttributes().withVerb("get").withResource("pods")
            .endResourceAttributes().endSpec().build();
        same(client.authorization().v1().selfSubjectAccessReview().create(review).getStatus().getAllowed(), true);
    }

    private void leaderElection() throws Exception {
        CountDownLatch led = new CountDownLatch(1);
        var settings = new LeaderElectionConfigBuilder().withName("checks").withReleaseOnCancel(true)
            .withLock(new LeaseLock(namespace, "leader", "one")).withLeaseDuration(Duration.ofSeconds(3))
            .withRenewDeadline(Duration.ofSeconds(2)).withRetryPeriod(Duration.ofMillis(200))
            .withLeaderCallbacks(new LeaderCallbacks(led::countDown, () -> { }, identity -> { })).build();
        CompletableFuture<?> election = client.leaderElector().withConfig(settings).build().start();
        within(led);
        same(client.leases().inNamespace(namespace).withName("leader").get().getSpec().getHolderIdentity(), "one");
        election.cancel(true);
    }

    private void versionAndGroups() {
        same(client.getKubernetesVersion().getGitVersion(), "v1.37.1");
        same(client.hasApiGroup("apps", true), true);
        same(client.supports("apps/v1", "Deployment"), true);
    }

    private void services() {
        var service = new ServiceBuilder().withNewMetadata().withName("s").withNamespace(namespace).endMetadata()
            .withNewSpec().addNewPort().withPort(80).endPort().endSpec().build();
        same(client.resource(service).create().getSpec().getType(), "ClusterIP");
    }
}
