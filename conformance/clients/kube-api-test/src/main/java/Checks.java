import io.fabric8.kubeapitest.KubeAPIServer;
import io.fabric8.kubeapitest.KubeAPIServerConfigBuilder;
import io.fabric8.kubernetes.api.model.ConfigMap;
import io.fabric8.kubernetes.api.model.ConfigMapBuilder;
import io.fabric8.kubernetes.api.model.GenericKubernetesResource;
import io.fabric8.kubernetes.client.Config;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientBuilder;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.fabric8.kubernetes.client.Watcher;
import io.fabric8.kubernetes.client.WatcherException;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

/** Checks of fabric8's port of envtest, which starts the programs of KUBE_API_TEST_DIR by itself: a line a check. */
public final class Checks {
    private static final String DEFINITION = """
            apiVersion: apiextensions.k8s.io/v1
            kind: CustomResourceDefinition
            metadata: {name: gadgets.example.com}
            spec:
              group: example.com
              scope: Namespaced
              names: {plural: gadgets, singular: gadget, kind: Gadget}
              versions:
                - name: v1
                  served: true
                  storage: true
                  schema:
                    openAPIV3Schema:
                      type: object
                      properties: {spec: {type: object, properties: {size: {type: integer, minimum: 1}}}}
            """;

    private interface Check {
        void run() throws Exception;
    }

    public static void main(String[] arguments) {
        System.out.println("client kube-api-test " + arguments[0]);
        var server = new KubeAPIServer(
                KubeAPIServerConfigBuilder.anAPIServerConfig().withOfflineMode(true).withUpdateKubeConfig(false).build());
        tell("start", server::start);
        // A port that starts a server as its first one did, with the same folder.
        var second = new KubeAPIServer(
                KubeAPIServerConfigBuilder.anAPIServerConfig().withOfflineMode(true).withUpdateKubeConfig(false).build());
        try (var client = client(server)) {
            tell("objects", () -> objects(client));
            tell("watches", () -> watches(client));
            tell("definitions", () -> definitions(client));
            tell("another-server-beside", () -> {
                second.start();
                try (var other = client(second)) {
                    assertThat(other.configMaps().inNamespace("default").withName("kept").get() == null, "it has objects of the first");
                } finally {
                    second.stop();
                }
            });
        }
        tell("stop", server::stop);
        System.exit(0);
    }

    private static KubernetesClient client(KubeAPIServer server) {
        return new KubernetesClientBuilder().withConfig(Config.fromKubeconfig(server.getKubeConfigYaml())).build();
    }

    private static ConfigMap map(String name) {
        return new ConfigMapBuilder().withNewMetadata().withName(name).withNamespace("default").endMetadata().build();
    }

    private static void objects(KubernetesClient client) {
        var created = client.resource(map("kept")).create();
        var read = client.configMaps().inNamespace("default").withName("kept").get();
        assertThat(created.getMetadata().getUid().equals(read.getMetadata().getUid()), "another uid");
        refused(409, () -> client.resource(map("kept")).create());
    }

    private static void watches(KubernetesClient client) throws Exception {
        var seen = new CompletableFuture<String>();
        var watcher = new Watcher<ConfigMap>() {
            @Override
            public void eventReceived(Action action, ConfigMap map) {
                if (map.getMetadata().getName().equals("later")) {
                    seen.complete(action.name());
                }
            }

            @Override
            public void onClose(WatcherException cause) {
                seen.completeExceptionally(cause);
            }
        };
        try (var watch = client.configMaps().inNamespace("default").watch(watcher)) {
            client.resource(map("later")).create();
            assertThat(seen.get(10, TimeUnit.SECONDS).equals("ADDED"), "no ADDED");
        }
    }

    private static void definitions(KubernetesClient client) {
        client.load(new java.io.ByteArrayInputStream(DEFINITION.getBytes(StandardCharsets.UTF_8))).create();
        client.apiextensions().v1().customResourceDefinitions().withName("gadgets.example.com").waitUntilCondition(
                definition -> definition.getStatus() != null && definition.getStatus().getConditions().stream()
                        .anyMatch(condition -> condition.getType().equals("Established") && condition.getStatus().equals("True")),
                10, TimeUnit.SECONDS);
        client.resource(gadget("good", 1)).create();
        refused(422, () -> client.resource(gadget("bad", 0)).create());
    }

    private static GenericKubernetesResource gadget(String name, int size) {
        var gadget = new GenericKubernetesResource();
        gadget.setApiVersion("example.com/v1");
        gadget.setKind("Gadget");
        gadget.setMetadata(map(name).getMetadata());
        gadget.setAdditionalProperties(Map.of("spec", Map.of("size", size)));
        return gadget;
    }

    private static void refused(int code, Runnable request) {
        try {
            request.run();
        } catch (KubernetesClientException exception) {
            assertThat(exception.getCode() == code, "it is refused with " + exception.getCode());
            return;
        }
        throw new AssertionError("it is not refused");
    }

    private static void assertThat(boolean holds, String otherwise) {
        if (!holds) {
            throw new AssertionError(otherwise);
        }
    }

    private static void tell(String name, Check check) {
        try {
            check.run();
            System.out.println("ok " + name);
        } catch (Throwable problem) {
            System.out.println("FAIL " + name + ": " + String.valueOf(problem.getMessage()).replace('\n', ' '));
        }
    }
}
