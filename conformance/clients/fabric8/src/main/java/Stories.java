import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.fabric8.kubernetes.api.model.ConfigMap;
import io.fabric8.kubernetes.api.model.ConfigMapBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;

/**
 * Stories, told by fabric8's client: those of docs/stories/ in which a client may try again by itself. There is a control port on the fake
 * only.
 */
final class Stories {
    private static final ObjectMapper JSON = new ObjectMapper();
    private final KubernetesClient client;
    private final String namespace;
    private final Map<String, Object> creates;

    Stories(KubernetesClient client, String namespace) {
        this.client = client;
        this.namespace = namespace;
        creates = Map.of("verbs", List.of("create"), "resources", List.of("configmaps"), "namespaces", List.of(namespace));
    }

    void ambiguousWrite() throws Exception {
        int since = cursor();
        fault(Map.of("times", 1, "actions", List.of(Map.of("connection", Map.of("do", "reset", "when", "afterCommit")))));
        // There is no answer, and this client tries again without a word: what its user is told is that somebody has made the object.
        same(refused(), 409);
        same(client.configMaps().inNamespace(namespace).withName("a").get().getData(), Map.of("k", "v"));
        same(codes(since), List.of(0, 409));
    }

    void throttling() throws Exception {
        int since = cursor();
        fault(Map.of("sequence", List.of("apf-rejected", "apf-rejected")));
        // This client waits and tries again by itself.
        create();
        same(codes(since), List.of(429, 429, 201));
    }

    private void create() {
        ConfigMap made = new ConfigMapBuilder().withNewMetadata().withName("a").withNamespace(namespace).endMetadata().addToData("k", "v").build();
        client.resource(made).create();
    }

    /** The code with which a creation is refused. */
    private int refused() {
        try {
            create();
        } catch (KubernetesClientException error) {
            return error.getCode();
        }
        throw new AssertionError("it was not refused");
    }

    private void fault(Map<String, Object> more) throws Exception {
        Map<String, Object> rule = new HashMap<>(more);
        rule.put("match", creates);
        told("/faults", rule);
    }

    private static int cursor() throws Exception {
        return told("/requests/query", Map.of("limit", 0)).get("cursor").asInt();
    }

    /** The codes of the creations since then. */
    private List<Integer> codes(int since) throws Exception {
        List<Integer> codes = new ArrayList<>();
        told("/requests/query", Map.of("since", since, "match", creates)).get("items").forEach(item -> codes.add(item.get("code").asInt()));
        return codes;
    }

    /** Posts something to the control port. */
    private static JsonNode told(String path, Object words) throws Exception {
        var request = HttpRequest.newBuilder(URI.create(System.getenv("FAKE_APISERVER_CONTROL_URL") + "/_fake/v1" + path))
            .header("Authorization", "Bearer " + System.getenv("FAKE_APISERVER_CONTROL_TOKEN"))
            .POST(HttpRequest.BodyPublishers.ofString(JSON.writeValueAsString(words))).build();
        var answer = HttpClient.newHttpClient().send(request, HttpResponse.BodyHandlers.ofString());
        JsonNode said = JSON.readTree(answer.body());
        if (answer.statusCode() >= 300) {
            throw new AssertionError(said.get("message").asText());
        }
        return said;
    }

    private static void same(Object actual, Object expected) {
        if (!Objects.equals(actual, expected)) {
            throw new AssertionError("expected " + expected + ", was " + actual);
        }
    }
}
