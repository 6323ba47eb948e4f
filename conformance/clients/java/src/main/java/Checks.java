import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import io.kubernetes.client.Discovery;
import io.kubernetes.client.ProtoClient;
import io.kubernetes.client.custom.V1Patch;
import io.kubernetes.client.informer.ResourceEventHandler;
import io.kubernetes.client.informer.SharedIndexInformer;
import io.kubernetes.client.informer.SharedInformerFactory;
import io.kubernetes.client.openapi.ApiClient;
import io.kubernetes.client.openapi.ApiException;
import io.kubernetes.client.openapi.JSON;
import io.kubernetes.client.openapi.apis.ApiextensionsV1Api;
import io.kubernetes.client.openapi.apis.AppsV1Api;
import io.kubernetes.client.openapi.apis.AuthorizationV1Api;
import io.kubernetes.client.openapi.apis.CoreV1Api;
import io.kubernetes.client.openapi.apis.CustomObjectsApi;
import io.kubernetes.client.openapi.models.AuthenticationV1TokenRequest;
import io.kubernetes.client.openapi.models.CoreV1Event;
import io.kubernetes.client.openapi.models.V1ConfigMap;
import io.kubernetes.client.openapi.models.V1ConfigMapList;
import io.kubernetes.client.openapi.models.V1Container;
import io.kubernetes.client.openapi.models.V1CustomResourceDefinition;
import io.kubernetes.client.openapi.models.V1CustomResourceDefinitionList;
import io.kubernetes.client.openapi.models.V1Deployment;
import io.kubernetes.client.openapi.models.V1DeploymentList;
import io.kubernetes.client.openapi.models.V1DeploymentStatus;
import io.kubernetes.client.openapi.models.V1Namespace;
import io.kubernetes.client.openapi.models.V1ObjectMeta;
import io.kubernetes.client.openapi.models.V1ObjectReference;
import io.kubernetes.client.openapi.models.V1Pod;
import io.kubernetes.client.openapi.models.V1PodList;
import io.kubernetes.client.openapi.models.V1PodSpec;
import io.kubernetes.client.openapi.models.V1Secret;
import io.kubernetes.client.openapi.models.V1SelfSubjectAccessReview;
import io.kubernetes.client.openapi.models.V1Service;
import io.kubernetes.client.openapi.models.V1ServiceAccount;
import io.kubernetes.client.openapi.models.V1TokenRequestSpec;
import io.kubernetes.client.proto.Meta;
import io.kubernetes.client.proto.V1;
import io.kubernetes.client.util.Config;
import io.kubernetes.client.util.PatchUtils;
import io.kubernetes.client.util.ResourceClient;
import io.kubernetes.client.util.ResourceLoader;
import io.kubernetes.client.util.ServerSideApply;
import io.kubernetes.client.util.Watch;
import io.kubernetes.client.util.Yaml;
import io.kubernetes.client.util.generic.GenericKubernetesApi;
import io.kubernetes.client.util.generic.dynamic.DynamicKubernetesApi;
import io.kubernetes.client.util.generic.dynamic.Dynamics;
import io.kubernetes.client.util.generic.options.ListOptions;
import io.kubernetes.client.util.generic.options.PatchOptions;
import io.kubernetes.client.util.version.Version;
import java.lang.reflect.Type;
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
import java.util.logging.Level;
import java.util.logging.Logger;

/** Checks of the official Java client: a line a check, on the server of KUBECONFIG. */
public final class Checks {
    /** Held here, so that its level stays: the client's generated types are older than the library wants, which it says of each. */
    private static final Logger PROTOBUF = Logger.getLogger("com.google.protobuf");
    private static final Map<String, Check> CHECKS = new LinkedHashMap<>();
    private final ApiClient client;
    private final CoreV1Api core;
    private final AppsV1Api apps;
    private final GenericKubernetesApi<V1ConfigMap, V1ConfigMapList> configMaps;
    private final String namespace;

    private interface Check {
        void run(Checks scene) throws Exception;
    }

    private interface Call {
        void run() throws Exception;
    }

    private Checks(ApiClient client, String namespace) {
        this.client = client;
        this.namespace = namespace;
        core = new CoreV1Api(client);
        apps = new AppsV1Api(client);
        configMaps = new GenericKubernetesApi<>(V1ConfigMap.class, V1ConfigMapList.class, "", "v1", "configmaps", client);
    }

    static {
        CHECKS.put("crud", Checks::crud);
        CHECKS.put("errors-have-bodies", Checks::errors);
        CHECKS.put("selectors", Checks::selectors);
        CHECKS.put("pages", Checks::pages);
        CHECKS.put("patch-types", Checks::patchTypes);
        CHECKS.put("patch-generic", Checks::patchGeneric);
        CHECKS.put("server-side-apply", Checks::apply);
        CHECKS.put("status-and-scale", Checks::statusAndScale);
        CHECKS.put("dry-run", Checks::dryRun);
        CHECKS.put("field-validation", Checks::fieldValidation);
        CHECKS.put("watch", Checks::watch);
        CHECKS.put("watch-generic", Checks::watchGeneric);
        CHECKS.put("informer", Checks::informer);
        CHECKS.put("edit-and-wait", Checks::editAndWait);
        CHECKS.put("pods", Checks::pods);
        CHECKS.put("delete-collection", Checks::deleteCollection);
        CHECKS.put("custom-objects", Checks::customObjects);
        CHECKS.put("dynamic-objects", Checks::dynamicObjects);
        CHECKS.put("yaml", Checks::yaml);
        CHECKS.put("protobuf", Checks::protobuf);
        CHECKS.put("tokens", Checks::tokens);
        CHECKS.put("access-review", Checks::accessReview);
        CHECKS.put("events", Checks::events);
        CHECKS.put("discovery", Checks::discovery);
        CHECKS.put("services", Checks::services);
    }

    public static void main(String[] arguments) throws Exception {
        PROTOBUF.setLevel(Level.OFF);
        ApiClient client = Config.defaultClient();
        // Watches and informers read for as long as nothing happens.
        client.setReadTimeout(0);
        System.out.println("client client-java " + clientVersion());
        // Only the fake can be told what to do.
        if (System.getenv("FAKE_APISERVER_CONTROL_URL") != null) {
            CHECKS.put("story-ambiguous-write", scene -> scene.stories().ambiguousWrite());
            CHECKS.put("story-stale-read", scene -> scene.stories().staleRead());
            CHECKS.put("story-throttling", scene -> scene.stories().throttling());
            CHECKS.put("story-expired-history", scene -> scene.stories().expiredHistory());
            CHECKS.put("story-lost-watch", scene -> scene.stories().lostWatch());
            CHECKS.put("story-leader-lost", scene -> scene.stories().leaderLost());
            CHECKS.put("story-webhook-timeout", scene -> scene.stories().webhookTimeout());
            CHECKS.put("story-clock-jump", scene -> scene.stories().clockJump());
        }
        int number = 0;
        for (Map.Entry<String, Check> check : CHECKS.entrySet()) {
            report(check.getKey(), perform(client, check.getValue(), "c-" + number++));
        }
        System.exit(0);
    }

    private Stories stories() {
        return new Stories(client, namespace);
    }

    /** The version of the client: the name of the archive says it. */
    private static String clientVersion() {
        String archive = Config.class.getProtectionDomain().getCodeSource().getLocation().getPath();
        return archive.replaceAll(".*client-java-(.*)\\.jar", "$1");
    }

    private static void report(String name, Throwable error) {
        if (error == null) {
            System.out.println("ok " + name);
            return;
        }
        String body = error instanceof ApiException refusal ? " " + refusal.getCode() + " " + refusal.getResponseBody() : "";
        String text = (error + body).replaceAll("\\s+", " ");
        System.out.println("FAIL " + name + ": " + text.substring(0, Math.min(text.length(), 400)));
    }

    private static Throwable perform(ApiClient client, Check check, String namespace) {
        try {
            new CoreV1Api(client).createNamespace(new V1Namespace().metadata(new V1ObjectMeta().name(namespace))).execute();
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

    /** The Status with which the call is refused. */
    private static JsonObject refused(int code, String reason, Call call) throws Exception {
        try {
            call.run();
        } catch (ApiException error) {
            same(error.getCode(), code);
            JsonObject status = JsonParser.parseString(error.getResponseBody()).getAsJsonObject();
            same(status.get("reason").getAsString(), reason);
            return status;
        }
        throw new AssertionError("expected " + code + ", was no error");
    }

    private static void within(CountDownLatch latch) throws InterruptedException {
        same(latch.await(20, TimeUnit.SECONDS), true);
    }

    private V1ObjectMeta metadata(String name) {
        return new V1ObjectMeta().name(name).namespace(namespace);
    }

    /** A config map as an apply wants it, with its kind. */
    private V1ConfigMap configMap(String name, String value) {
        return new V1ConfigMap().apiVersion("v1").kind("ConfigMap").metadata(metadata(name)).data(Map.of("k", value));
    }

    private V1ConfigMap create(String name, Map<String, String> labels) throws ApiException {
        V1ConfigMap object = configMap(name, "v");
        object.getMetadata().labels(labels);
        return core.createNamespacedConfigMap(namespace, object).execute();
    }

    private V1Deployment deployment() throws Exception {
        String yaml = "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: d}\nspec:\n  selector: {matchLabels: {app: d}}\n"
            + "  template:\n    metadata: {labels: {app: d}}\n    spec: {containers: [{name: a, image: a}]}\n";
        return apps.createNamespacedDeployment(namespace, (V1Deployment) Yaml.load(yaml)).execute();
    }

    private ResourceClient<V1ConfigMap, V1ConfigMapList> named(String name) {
        return ResourceClient.create(client, configMaps, V1ConfigMap.class).inNamespace(namespace).withName(name);
    }

    private void crud() throws Exception {
        V1ConfigMap created = create("a", Map.of());
        V1ConfigMap read = core.readNamespacedConfigMap("a", namespace).execute();
        same(read, created);
        read.putDataItem("k", "ü");
        same(core.replaceNamespacedConfigMap("a", namespace, read).execute().getData(), Map.of("k", "ü"));
        same(core.listNamespacedConfigMap(namespace).fieldSelector("metadata.name=a").execute().getItems().size(), 1);
        same(core.deleteNamespacedConfigMap("a", namespace).execute().getStatus(), "Success");
        refused(404, "NotFound", () -> core.readNamespacedConfigMap("a", namespace).execute());
    }

    private void errors() throws Exception {
        V1ConfigMap created = create("a", Map.of());
        refused(409, "AlreadyExists", () -> create("a", Map.of()));
        JsonObject invalid = refused(422, "Invalid", () -> create("No_Name", Map.of()));
        same(invalid.getAsJsonObject("details").getAsJsonArray("causes").get(0).getAsJsonObject().get("field").getAsString(), "metadata.name");
        V1ConfigMap changed = core.readNamespacedConfigMap("a", namespace).execute().putDataItem("x", "y");
        core.replaceNamespacedConfigMap("a", namespace, changed).execute();
        refused(409, "Conflict", () -> core.replaceNamespacedConfigMap("a", namespace, created).execute());
    }

    private void selectors() throws Exception {
        for (String name : List.of("a", "b", "c")) {
            create(name, Map.of("name", name));
        }
        var labelled = core.listNamespacedConfigMap(namespace).labelSelector("name in (a, b)").execute();
        same(labelled.getItems().stream().map(item -> item.getMetadata().getName()).toList(), List.of("a", "b"));
        var selected = configMaps.list(namespace, new ListOptions().labelSelector("name").fieldSelector("metadata.name!=a"));
        same(selected.getObject().getItems().size(), 2);
    }

    private void pages() throws Exception {
        for (String name : List.of("a", "b", "c")) {
            create(name, Map.of("page", "x"));
        }
        V1ConfigMapList page = core.listNamespacedConfigMap(namespace).labelSelector("page").limit(2).execute();
        V1ConfigMapList rest = core.listNamespacedConfigMap(namespace).labelSelector("page").limit(2)
            ._continue(page.getMetadata().getContinue()).execute();
        same(List.of(page.getItems().size(), rest.getItems().size()), List.of(2, 1));
        same(rest.getMetadata().getResourceVersion(), page.getMetadata().getResourceVersion());
    }

    private V1Deployment patched(String format, String patch) throws ApiException {
        return PatchUtils.patch(V1Deployment.class,
            () -> apps.patchNamespacedDeployment("d", namespace, new V1Patch(patch)).buildCall(null), format, client);
    }

    private void patchTypes() throws Exception {
        deployment();
        patched(V1Patch.PATCH_FORMAT_JSON_PATCH, "[{\"op\":\"replace\",\"path\":\"/spec/replicas\",\"value\":2}]");
        patched(V1Patch.PATCH_FORMAT_JSON_MERGE_PATCH, "{\"metadata\":{\"labels\":{\"x\":\"y\"}}}");
        V1Deployment last = patched(V1Patch.PATCH_FORMAT_STRATEGIC_MERGE_PATCH,
            "{\"spec\":{\"template\":{\"spec\":{\"containers\":[{\"name\":\"b\",\"image\":\"b\"}]}}}}");
        same(List.of(last.getSpec().getReplicas(), last.getSpec().getTemplate().getSpec().getContainers().size(),
            last.getMetadata().getLabels()), List.of(2, 2, Map.of("x", "y")));
    }

    private void patchGeneric() throws Exception {
        create("a", Map.of());
        V1Patch patch = new V1Patch("{\"data\":{\"k\":null,\"x\":\"y\"}}");
        same(configMaps.patch(namespace, "a", V1Patch.PATCH_FORMAT_JSON_MERGE_PATCH, patch).getObject().getData(), Map.of("x", "y"));
        var missing = configMaps.patch(namespace, "b", V1Patch.PATCH_FORMAT_JSON_MERGE_PATCH, patch);
        same(List.of(missing.getHttpStatusCode(), missing.getStatus().getDetails().getName()), List.of(404, "b"));
    }

    private void apply() throws Exception {
        V1ConfigMap applied = ServerSideApply.apply(configMaps, configMap("a", "v"), "one");
        same(applied.getData(), Map.of("k", "v"));
        // The client's own types leave the owners out.
        JsonObject raw = new DynamicKubernetesApi("", "v1", "configmaps", client).get(namespace, "a").getObject().getRaw();
        JsonObject owner = raw.getAsJsonObject("metadata").getAsJsonArray("managedFields").get(0).getAsJsonObject();
        same(List.of(owner.get("manager").getAsString(), owner.get("operation").getAsString()), List.of("one", "Apply"));
        var options = new PatchOptions();
        options.setFieldManager("two");
        V1Patch other = new V1Patch(JSON.serialize(configMap("a", "w")));
        var conflict = configMaps.patch(namespace, "a", V1Patch.PATCH_FORMAT_APPLY_YAML, other, options).getStatus();
        var fields = conflict.getDetails().getCauses().stream().map(cause -> cause.getField()).toList();
        // Among those of the empty maps that the client sends, too.
        same(List.of(conflict.getReason(), fields.contains(".data.k")), List.of("Conflict", true));
        same(ServerSideApply.apply(configMaps, configMap("a", "w"), "two", true).getData(), Map.of("k", "w"));
    }

    private void statusAndScale() throws Exception {
        V1Deployment updated = apps.replaceNamespacedDeploymentStatus("d", namespace,
            deployment().status(new V1DeploymentStatus().replicas(2))).execute();
        same(List.of(updated.getStatus().getReplicas(), updated.getMetadata().getGeneration()), List.of(2, 1L));
        var scale = apps.readNamespacedDeploymentScale("d", namespace).execute();
        scale.getSpec().replicas(3);
        same(apps.replaceNamespacedDeploymentScale("d", namespace, scale).execute().getSpec().getReplicas(), 3);
        var deployments = new GenericKubernetesApi<>(V1Deployment.class, V1DeploymentList.class, "apps", "v1", "deployments", client);
        V1Deployment read = deployments.get(namespace, "d").throwsApiException().getObject();
        read.getStatus().observedGeneration(2L);
        V1Deployment again = deployments.updateStatus(read, V1Deployment::getStatus).throwsApiException().getObject();
        same(List.of(again.getStatus().getObservedGeneration(), again.getSpec().getReplicas()), List.of(2L, 3));
    }

    private void dryRun() throws Exception {
        V1ConfigMap would = core.createNamespacedConfigMap(namespace, configMap("a", "v")).dryRun("All").execute();
        same(would.getMetadata().getResourceVersion(), null);
        refused(404, "NotFound", () -> core.readNamespacedConfigMap("a", namespace).execute());
    }

    private void fieldValidation() throws Exception {
        create("a", Map.of());
        Call strict = () -> PatchUtils.patch(V1ConfigMap.class, () -> core.patchNamespacedConfigMap("a", namespace,
            new V1Patch("{\"dota\":{}}")).fieldValidation("Strict").buildCall(null), V1Patch.PATCH_FORMAT_JSON_MERGE_PATCH, client);
        same(refused(422, "Invalid", strict).get("message").getAsString().contains("unknown field \"dota\""), true);
    }

    private void watch() throws Exception {
        String start = core.listNamespacedConfigMap(namespace).execute().getMetadata().getResourceVersion();
        create("a", Map.of());
        named("a").patch("{\"data\":null}", V1Patch.PATCH_FORMAT_JSON_MERGE_PATCH);
        named("a").delete();
        Type event = new com.google.gson.reflect.TypeToken<Watch.Response<V1ConfigMap>>() { }.getType();
        List<String> seen = new ArrayList<>();
        var call = core.listNamespacedConfigMap(namespace).fieldSelector("metadata.name=a").resourceVersion(start).watch(true);
        try (Watch<V1ConfigMap> events = Watch.createWatch(client, call.buildCall(null), event)) {
            while (!seen.contains("DELETED") && events.hasNext()) {
                seen.add(events.next().type);
            }
        }
        same(seen, List.of("ADDED", "MODIFIED", "DELETED"));
    }

    private void watchGeneric() throws Exception {
        create("a", Map.of("x", "y"));
        try (var events = (Watch<V1ConfigMap>) configMaps.watch(namespace, new ListOptions().labelSelector("x"))) {
            same(events.next().object.getMetadata().getName(), "a");
            create("b", Map.of("x", "z"));
            same(events.next().object.getMetadata().getName(), "b");
        }
    }

    private void informer() throws Exception {
        create("a", Map.of());
        CountDownLatch added = new CountDownLatch(1);
        CountDownLatch deleted = new CountDownLatch(1);
        SharedInformerFactory factory = new SharedInformerFactory(client);
        SharedIndexInformer<V1ConfigMap> informer = factory.sharedIndexInformerFor(configMaps, V1ConfigMap.class, 0, namespace);
        informer.addEventHandler(new ResourceEventHandler<V1ConfigMap>() {
            @Override
            public void onAdd(V1ConfigMap object) {
                if (object.getMetadata().getName().equals("b")) {
                    added.countDown();
                }
            }

            @Override
            public void onUpdate(V1ConfigMap before, V1ConfigMap after) {
            }

            @Override
            public void onDelete(V1ConfigMap object, boolean unknown) {
                deleted.countDown();
            }
        });
        factory.startAllRegisteredInformers();
        create("b", Map.of());
        within(added);
        named("a").delete();
        within(deleted);
        factory.stopAllRegisteredInformers();
        same(List.of(informer.getIndexer().getByKey(namespace + "/a") == null, informer.getIndexer().getByKey(namespace + "/b") == null),
            List.of(true, false));
    }

    private void editAndWait() throws Exception {
        named("a").createOrReplace(configMap("a", "v"));
        CompletableFuture<V1ConfigMap> waiting = named("a").waitUntilConditionAsync(
            object -> "w".equals(object.getData().get("k")), Duration.ofSeconds(20));
        named("a").edit(object -> object.putDataItem("k", "w"));
        same(waiting.get(20, TimeUnit.SECONDS).getData(), Map.of("k", "w"));
        same(named("a").createOrReplace(configMap("a", "x")).getData(), Map.of("k", "x"));
        named("a").delete();
        named("a").waitUntilDeleted(Duration.ofSeconds(20));
    }

    private void pods() throws Exception {
        // The client would send an empty overhead, which a server without runtime classes refuses.
        var spec = new V1PodSpec().containers(List.of(new V1Container().name("a").image("a"))).overhead(null);
        core.createNamespacedPod(namespace, new V1Pod().metadata(metadata("p")).spec(spec)).execute();
        var ready = new V1Patch("{\"status\":{\"phase\":\"Running\",\"conditions\":[{\"type\":\"Ready\",\"status\":\"True\"}]}}");
        PatchUtils.patch(V1Pod.class, () -> core.patchNamespacedPodStatus("p", namespace, ready).buildCall(null),
            V1Patch.PATCH_FORMAT_STRATEGIC_MERGE_PATCH, client);
        var pod = ResourceClient.create(client, V1Pod.class, V1PodList.class, "", "v1", "pods").inNamespace(namespace).withName("p");
        same(pod.waitUntilReady(Duration.ofSeconds(20)).getStatus().getPhase(), "Running");
        core.deleteNamespacedPod("p", namespace).gracePeriodSeconds(0).execute();
        refused(404, "NotFound", () -> core.readNamespacedPod("p", namespace).execute());
    }

    private void deleteCollection() throws Exception {
        create("a", Map.of("x", "y"));
        create("b", Map.of());
        core.deleteCollectionNamespacedConfigMap(namespace).labelSelector("x=y").execute();
        same(List.of(named("a").exists(), named("b").exists()), List.of(false, true));
    }

    /** Defines lamps, in a group of the check's own. */
    private V1CustomResourceDefinition define(String group) throws Exception {
        String yaml = "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {name: lamps." + group + "}\n"
            + "spec:\n  group: " + group + "\n  scope: Namespaced\n  names: {plural: lamps, kind: Lamp}\n  versions:\n"
            + "  - name: v1\n    served: true\n    storage: true\n    subresources: {status: {}}\n    schema:\n      openAPIV3Schema:\n"
            + "        type: object\n        properties:\n          spec:\n            type: object\n            properties:\n"
            + "              watts: {type: integer, minimum: 0}\n              bulbs: {type: integer, default: 1}\n"
            + "          status: {type: object, x-kubernetes-preserve-unknown-fields: true}\n";
        // The client's own type would send empty fields that schemas must not have.
        new DynamicKubernetesApi("apiextensions.k8s.io", "v1", "customresourcedefinitions", client)
            .create(Dynamics.newFromYaml(yaml)).throwsApiException();
        var definitions = ResourceClient.create(client, V1CustomResourceDefinition.class, V1CustomResourceDefinitionList.class,
            "apiextensions.k8s.io", "v1", "customresourcedefinitions");
        return definitions.withName("lamps." + group).waitUntilCondition(found -> found.getStatus() != null
            && found.getStatus().getConditions() != null && found.getStatus().getConditions().stream()
            .anyMatch(condition -> condition.getType().equals("Established") && condition.getStatus().equals("True")), Duration.ofSeconds(20));
    }

    private void undefine(V1CustomResourceDefinition definition) throws ApiException {
        new ApiextensionsV1Api(client).deleteCustomResourceDefinition(definition.getMetadata().getName()).execute();
    }

    private void customObjects() throws Exception {
        V1CustomResourceDefinition definition = define("one.example.com");
        CustomObjectsApi custom = new CustomObjectsApi(client);
        Map<String, Object> lamp = Map.of("apiVersion", "one.example.com/v1", "kind", "Lamp", "metadata", Map.of("name", "hall"),
            "spec", Map.of("watts", 40));
        Map<?, ?> created = (Map<?, ?>) custom.createNamespacedCustomObject("one.example.com", "v1", namespace, "lamps", lamp).execute();
        same(((Number) ((Map<?, ?>) created.get("spec")).get("bulbs")).intValue(), 1);
        Map<?, ?> list = (Map<?, ?>) custom.listNamespacedCustomObject("one.example.com", "v1", namespace, "lamps").execute();
        same(((List<?>) list.get("items")).size(), 1);
        Map<String, Object> dark = new LinkedHashMap<>(lamp);
        dark.put("metadata", Map.of("name", "cellar"));
        dark.put("spec", Map.of("watts", -1));
        refused(422, "Invalid", () -> custom.createNamespacedCustomObject("one.example.com", "v1", namespace, "lamps", dark).execute());
        custom.deleteNamespacedCustomObject("one.example.com", "v1", namespace, "lamps", "hall").execute();
        refused(404, "NotFound", () -> custom.getNamespacedCustomObject("one.example.com", "v1", namespace, "lamps", "hall").execute());
        undefine(definition);
    }

    private void dynamicObjects() throws Exception {
        V1CustomResourceDefinition definition = define("two.example.com");
        var lamps = new DynamicKubernetesApi("two.example.com", "v1", "lamps", client);
        var lamp = Dynamics.newFromJson("{\"apiVersion\":\"two.example.com/v1\",\"kind\":\"Lamp\",\"metadata\":{\"name\":\"hall\",\"namespace\":\""
            + namespace + "\"},\"spec\":{\"watts\":40}}");
        var created = lamps.create(lamp).throwsApiException().getObject();
        same(created.getRaw().getAsJsonObject("spec").get("bulbs").getAsInt(), 1);
        var patched = lamps.patch(namespace, "hall", V1Patch.PATCH_FORMAT_JSON_MERGE_PATCH, new V1Patch("{\"spec\":{\"watts\":60}}"));
        same(List.of(patched.getObject().getRaw().getAsJsonObject("spec").get("watts").getAsInt(),
            patched.getObject().getMetadata().getGeneration()), List.of(60, 2L));
        var status = patched.getObject();
        status.getRaw().add("status", JsonParser.parseString("{\"lit\":true}"));
        var lit = lamps.updateStatus(status, object -> object.getRaw().get("status")).throwsApiException().getObject();
        same(lit.getRaw().getAsJsonObject("status").get("lit").getAsBoolean(), true);
        same(lamps.list(namespace).getObject().getItems().size(), 1);
        same(lamps.delete(namespace, "hall").isSuccess(), true);
        undefine(definition);
    }

    private void yaml() throws Exception {
        String two = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n---\n"
            + "apiVersion: v1\nkind: Secret\nmetadata: {name: b}\nstringData: {k: v}\n";
        List<Object> loaded = ResourceLoader.loadAll(two);
        core.createNamespacedConfigMap(namespace, (V1ConfigMap) loaded.get(0)).execute();
        core.createNamespacedSecret(namespace, (V1Secret) loaded.get(1)).execute();
        String account = "apiVersion: v1\nkind: ServiceAccount\nmetadata: {name: c, namespace: " + namespace + "}\n";
        same(((V1ServiceAccount) Yaml.createResource(client, account)).getMetadata().getName(), "c");
        V1Secret secret = core.readNamespacedSecret("b", namespace).execute();
        same(List.of(secret.getType(), new String(secret.getData().get("k"))), List.of("Opaque", "v"));
        V1Secret again = Yaml.loadAs(Yaml.dump(secret), V1Secret.class);
        same(core.replaceNamespacedSecret("b", namespace, again).execute(), secret);
    }

    private void protobuf() throws Exception {
        ProtoClient proto = new ProtoClient(client);
        String path = "/api/v1/namespaces/" + namespace + "/configmaps";
        V1.ConfigMap wanted = V1.ConfigMap.newBuilder().putData("k", "v")
            .setMetadata(Meta.ObjectMeta.newBuilder().setName("a")).build();
        same(proto.create(wanted, path, "v1", "ConfigMap").object.getDataMap(), Map.of("k", "v"));
        same(proto.<V1.ConfigMapList>list(V1.ConfigMapList.newBuilder(), path + "?fieldSelector=metadata.name%3Da").object.getItemsCount(), 1);
        V1.ConfigMap read = proto.<V1.ConfigMap>get(V1.ConfigMap.newBuilder(), path + "/a").object;
        V1.ConfigMap changed = proto.update(read.toBuilder().putData("k", "w").build(), path + "/a", "v1", "ConfigMap").object;
        same(changed.getDataMap(), Map.of("k", "w"));
        same(proto.update(read, path + "/a", "v1", "ConfigMap").status.getReason(), "Conflict");
    }

    private void tokens() throws Exception {
        core.createNamespacedServiceAccount(namespace, new V1ServiceAccount().metadata(metadata("a"))).execute();
        var request = new AuthenticationV1TokenRequest().spec(new V1TokenRequestSpec().audiences(List.of()).expirationSeconds(600L));
        var answer = core.createNamespacedServiceAccountToken("a", namespace, request).execute();
        same(answer.getStatus().getToken().split("\\.").length, 3);
        same(answer.getStatus().getExpirationTimestamp() != null, true);
    }

    private void accessReview() throws Exception {
        var review = (V1SelfSubjectAccessReview) Yaml.load("apiVersion: authorization.k8s.io/v1\nkind: SelfSubjectAccessReview\n"
            + "spec: {resourceAttributes: {verb: get, resource: pods}}\n");
        same(new AuthorizationV1Api(client).createSelfSubjectAccessReview(review).execute().getStatus().getAllowed(), true);
    }

    private void events() throws Exception {
        V1ConfigMap about = create("a", Map.of());
        var reference = new V1ObjectReference().apiVersion("v1").kind("ConfigMap").name("a").namespace(namespace).uid(about.getMetadata().getUid());
        core.createNamespacedEvent(namespace, new CoreV1Event().metadata(metadata("a.1")).involvedObject(reference)
            .reason("Checked").message("It is there.").type("Normal").count(1)).execute();
        var found = core.listNamespacedEvent(namespace).fieldSelector("involvedObject.name=a,reason=Checked").execute().getItems();
        same(found.stream().map(CoreV1Event::getMessage).toList(), List.of("It is there."));
    }

    private void discovery() throws Exception {
        same(new Version(client).getVersion().getGitVersion(), "v1.37.1");
        Discovery discovery = new Discovery(client);
        var deployments = discovery.findAll("apps", List.of("v1"), "v1").stream()
            .filter(resource -> resource.getResourcePlural().equals("deployments")).toList();
        same(List.of(deployments.size(), deployments.get(0).getKind(), deployments.get(0).getNamespaced()), List.of(1, "Deployment", true));
    }

    private void services() throws Exception {
        var service = (V1Service) Yaml.load("apiVersion: v1\nkind: Service\nmetadata: {name: s}\nspec: {ports: [{port: 80}]}\n");
        same(core.createNamespacedService(namespace, service).execute().getSpec().getType(), "ClusterIP");
    }
}
