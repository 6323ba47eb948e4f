import com.google.gson.Gson;
import com.google.gson.JsonArray;
import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import com.google.gson.reflect.TypeToken;
import io.kubernetes.client.openapi.ApiClient;
import io.kubernetes.client.openapi.ApiException;
import io.kubernetes.client.openapi.apis.AdmissionregistrationV1Api;
import io.kubernetes.client.openapi.apis.CoordinationV1Api;
import io.kubernetes.client.openapi.apis.CoreV1Api;
import io.kubernetes.client.openapi.apis.VersionApi;
import io.kubernetes.client.openapi.models.AdmissionregistrationV1WebhookClientConfig;
import io.kubernetes.client.openapi.models.AuthenticationV1TokenRequest;
import io.kubernetes.client.openapi.models.V1ConfigMap;
import io.kubernetes.client.openapi.models.V1LabelSelector;
import io.kubernetes.client.openapi.models.V1Lease;
import io.kubernetes.client.openapi.models.V1LeaseSpec;
import io.kubernetes.client.openapi.models.V1ObjectMeta;
import io.kubernetes.client.openapi.models.V1RuleWithOperations;
import io.kubernetes.client.openapi.models.V1ServiceAccount;
import io.kubernetes.client.openapi.models.V1TokenRequestSpec;
import io.kubernetes.client.openapi.models.V1ValidatingWebhook;
import io.kubernetes.client.openapi.models.V1ValidatingWebhookConfiguration;
import io.kubernetes.client.util.Config;
import io.kubernetes.client.util.Watch;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;

/**
 * Stories, told by the official Java client: what a server can do to a client, as a test tells it over the control port. They are those of
 * docs/stories/, and the same in every language. There is a control port on the fake only.
 */
final class Stories {
    private static final Gson GSON = new Gson();
    private final ApiClient client;
    private final CoreV1Api core;
    private final String namespace;

    Stories(ApiClient client, String namespace) {
        this.client = client;
        this.namespace = namespace;
        core = new CoreV1Api(client);
    }

    void ambiguousWrite() throws Exception {
        int since = cursor();
        Map<String, Object> on = Map.of("verbs", List.of("create"), "resources", List.of("configmaps"), "namespaces", List.of(namespace));
        fault(on, Map.of("times", 1, "actions", List.of(Map.of("connection", Map.of("do", "reset", "when", "afterCommit")))));
        // There is no answer, and this client tries again without a word: what its user is told is that somebody has made the object.
        same(refused(() -> create("a", "v")), 409);
        same(core.readNamespacedConfigMap("a", namespace).execute().getData(), Map.of("k", "v"));
        same(codes(since, on), List.of(0, 409));
    }

    void staleRead() throws Exception {
        V1ConfigMap first = create("a", "old");
        core.replaceNamespacedConfigMap("a", namespace, first.data(Map.of("k", "new"))).execute();
        Map<String, Object> on = Map.of("verbs", List.of("list"), "namespaces", List.of(namespace), "query", Map.of("resourceVersion", "0"));
        fault(on, Map.of("actions", List.of(Map.of("stale", Map.of("behind", 1)))));
        // Another server, whose cache is behind, is asked after a failover.
        V1ConfigMap stale = core.listNamespacedConfigMap(namespace).resourceVersion("0").fieldSelector("metadata.name=a").execute().getItems().get(0);
        same(stale.getData(), Map.of("k", "old"));
        // An update based on the stale read conflicts, as it names the stale resourceVersion.
        same(refused(() -> core.replaceNamespacedConfigMap("a", namespace, stale.data(Map.of("k", "wrong"))).execute()), 409);
        same(core.readNamespacedConfigMap("a", namespace).execute().getData(), Map.of("k", "new"));
    }

    void throttling() throws Exception {
        int since = cursor();
        Map<String, Object> on = Map.of("verbs", List.of("create"), "resources", List.of("configmaps"), "namespaces", List.of(namespace));
        fault(on, Map.of("sequence", List.of("apf-rejected", "apf-rejected")));
        // This client leaves it to its user to try again.
        same(refused(() -> create("a", "v")), 429);
        same(refused(() -> create("a", "v")), 429);
        create("a", "v");
        same(codes(since, on), List.of(429, 429, 201));
    }

    void expiredHistory() throws Exception {
        V1ConfigMap first = create("a", "v");
        create("b", "v");
        told("POST", "/history/compact", Map.of());
        var expired = next(first.getMetadata().getResourceVersion());
        same(List.of(expired.type, expired.status.getCode(), expired.status.getReason()), List.of("ERROR", 410, "Expired"));
        // The way back is a list, and a watch from there.
        String now = core.listNamespacedConfigMap(namespace).execute().getMetadata().getResourceVersion();
        create("c", "v");
        same(next(now).object.getMetadata().getName(), "c");
    }

    void lostWatch() throws Exception {
        create("a", "v");
        try (Watch<V1ConfigMap> events = watch(null)) {
            var first = events.next();
            same(first.type, "ADDED");
            Map<String, Object> on = Map.of("verbs", List.of("watch"), "namespaces", List.of(namespace));
            same(told("POST", "/watches/end", Map.of("match", on)).get("watches").getAsInt(), 1);
            create("b", "v");
            same(events.hasNext(), false);
            // The next watch goes on where the last one was, and nothing is missed.
            same(next(first.object.getMetadata().getResourceVersion()).object.getMetadata().getName(), "b");
        }
    }

    void leaderLost() throws Exception {
        CoordinationV1Api leases = new CoordinationV1Api(client);
        V1LeaseSpec spec = new V1LeaseSpec().holderIdentity("one").leaseDurationSeconds(3).leaseTransitions(0);
        leases.createNamespacedLease(namespace, new V1Lease().metadata(new V1ObjectMeta().name("leader")).spec(spec)).execute();
        // The lease of the leader is renewed by hand: without another library this client has no leader election.
        Call renew = () -> {
            V1Lease lease = leases.readNamespacedLease("leader", namespace).execute();
            lease.getSpec().leaseTransitions(lease.getSpec().getLeaseTransitions() + 1);
            return leases.replaceNamespacedLease("leader", namespace, lease).execute();
        };
        renew.run();
        Map<String, Object> on = Map.of("verbs", List.of("update"), "resources", List.of("leases"), "namespaces", List.of(namespace));
        fault(on, Map.of("actions", List.of(Map.of("preset", "etcd-timeout"))));
        // Its renewals fail; before another one could lead, it has to stop.
        for (long deadline = System.nanoTime() + 1_000_000_000L; System.nanoTime() < deadline; Thread.sleep(100)) {
            same(refused(renew), 500);
        }
        same(leases.readNamespacedLease("leader", namespace).execute().getSpec().getHolderIdentity(), "one");
    }

    void webhookTimeout() throws Exception {
        AdmissionregistrationV1Api admission = new AdmissionregistrationV1Api(client);
        // It takes connections, and never answers.
        try (ServerSocket silent = new ServerSocket(0, 50, InetAddress.getByName("127.0.0.1"))) {
            String name = namespace + ".example.com", url = "https://127.0.0.1:" + silent.getLocalPort() + "/";
            V1RuleWithOperations rule = new V1RuleWithOperations().apiGroups(List.of("")).apiVersions(List.of("v1"))
                .resources(List.of("configmaps")).operations(List.of("CREATE"));
            V1LabelSelector here = new V1LabelSelector().matchLabels(Map.of("kubernetes.io/metadata.name", namespace));
            V1ValidatingWebhook hook = new V1ValidatingWebhook().name(name).clientConfig(new AdmissionregistrationV1WebhookClientConfig().url(url))
                .rules(List.of(rule)).namespaceSelector(here).sideEffects("None").admissionReviewVersions(List.of("v1")).timeoutSeconds(1)
                .failurePolicy("Fail");
            V1ValidatingWebhookConfiguration body =
                new V1ValidatingWebhookConfiguration().metadata(new V1ObjectMeta().name(name)).webhooks(List.of(hook));
            V1ValidatingWebhookConfiguration created = admission.createValidatingWebhookConfiguration(body).execute();
            // Nobody can write what it looks at; with failurePolicy Ignore it costs a second only.
            same(refused(() -> create("a", "v")), 500);
            created.getWebhooks().get(0).failurePolicy("Ignore");
            admission.replaceValidatingWebhookConfiguration(name, created).execute();
            create("a", "v");
            admission.deleteValidatingWebhookConfiguration(name).execute();
        }
    }

    void clockJump() throws Exception {
        core.createNamespacedServiceAccount(namespace, new V1ServiceAccount().metadata(new V1ObjectMeta().name("a"))).execute();
        V1TokenRequestSpec spec = new V1TokenRequestSpec().audiences(List.of()).expirationSeconds(600L);
        var made = core.createNamespacedServiceAccountToken("a", namespace, new AuthenticationV1TokenRequest().spec(spec)).execute();
        ApiClient other = Config.fromToken(client.getBasePath(), made.getStatus().getToken(), false);
        Call look = () -> new VersionApi(other).getCode().execute();
        look.run();
        // The server's clock jumps, as after a pause of its machine: a token that the client believes in for ten minutes has expired.
        told("POST", "/clock/advance", Map.of("seconds", 700));
        same(refused(look), 401);
        told("POST", "/clock/advance", Map.of("seconds", -700));
        look.run();
    }

    /** The first event of a watch from a revision on. */
    private Watch.Response<V1ConfigMap> next(String revision) throws Exception {
        try (Watch<V1ConfigMap> events = watch(revision)) {
            return events.next();
        }
    }

    private Watch<V1ConfigMap> watch(String revision) throws ApiException {
        var event = new TypeToken<Watch.Response<V1ConfigMap>>() { }.getType();
        var call = core.listNamespacedConfigMap(namespace).resourceVersion(revision).watch(true);
        return Watch.createWatch(client, call.buildCall(null), event);
    }

    private V1ConfigMap create(String name, String value) throws ApiException {
        return core.createNamespacedConfigMap(namespace, new V1ConfigMap().metadata(new V1ObjectMeta().name(name)).data(Map.of("k", value))).execute();
    }

    private interface Call {
        Object run() throws Exception;
    }

    /** The code of a call that is refused; 0 if there was no answer. */
    private static int refused(Call call) throws Exception {
        try {
            call.run();
        } catch (ApiException error) {
            return error.getCode();
        }
        throw new AssertionError("expected a refusal");
    }

    private static void same(Object actual, Object expected) {
        if (!Objects.equals(actual, expected)) {
            throw new AssertionError("expected " + expected + ", was " + actual);
        }
    }

    private static void fault(Map<String, Object> on, Map<String, Object> more) throws Exception {
        JsonObject rule = GSON.toJsonTree(more).getAsJsonObject();
        rule.add("match", GSON.toJsonTree(on));
        told("POST", "/faults", rule);
    }

    private static int cursor() throws Exception {
        return told("POST", "/requests/query", Map.of("limit", 0)).get("cursor").getAsInt();
    }

    /** The codes of the requests since then that match. */
    private static List<Integer> codes(int since, Map<String, Object> on) throws Exception {
        JsonArray items = told("POST", "/requests/query", Map.of("since", since, "match", on)).getAsJsonArray("items");
        List<Integer> codes = new ArrayList<>();
        items.forEach(item -> codes.add(item.getAsJsonObject().get("code").getAsInt()));
        return codes;
    }

    /** Tells the control port something, or asks it. */
    private static JsonObject told(String method, String path, Object words) throws Exception {
        var request = HttpRequest.newBuilder(URI.create(System.getenv("FAKE_APISERVER_CONTROL_URL") + "/_fake/v1" + path))
            .header("Authorization", "Bearer " + System.getenv("FAKE_APISERVER_CONTROL_TOKEN"))
            .method(method, HttpRequest.BodyPublishers.ofString(GSON.toJson(words))).build();
        var answer = HttpClient.newHttpClient().send(request, HttpResponse.BodyHandlers.ofString());
        JsonObject said = JsonParser.parseString(answer.body()).getAsJsonObject();
        if (answer.statusCode() >= 300) {
            throw new AssertionError(said.get("message").getAsString());
        }
        return said;
    }
}
