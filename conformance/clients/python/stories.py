"""Stories, told by the official Python client: what a server can do to a client, as a test tells it over the control port.

They are those of docs/stories/, and the same in every language. There is a control port on the fake only.
"""

import json
import os
import socket
import threading
import urllib.request

import urllib3
from kubernetes import client
from kubernetes.leaderelection import electionconfig, leaderelection
from kubernetes.leaderelection.resourcelock.leaselock import LeaseLock
from kubernetes.client.exceptions import ApiException

STORIES = []


def story(function):
    """Makes the function a story: it gets a scene and a control port."""
    STORIES.append(("story-" + function.__name__.replace("_", "-"), lambda scene: function(scene, Control())))
    return function


class Control:
    """The control port of the server."""

    def __init__(self):
        self.url = os.environ["FAKE_APISERVER_CONTROL_URL"] + "/_fake/v1"
        self.token = os.environ["FAKE_APISERVER_CONTROL_TOKEN"]

    def __call__(self, method, path, body=None):
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(self.url + path, data, {"authorization": "Bearer " + self.token}, method=method)
        with urllib.request.urlopen(request) as answer:
            return json.load(answer)

    def fault(self, match, *actions, **fields):
        return self("POST", "/faults", {"match": match, "actions": list(actions), **fields})["id"]

    def cursor(self):
        return self("GET", "/requests?limit=0")["cursor"]

    def codes(self, since, **match):
        """The codes of the requests since then that match."""
        found = self("POST", "/requests/query", {"since": since, "match": match})["items"]
        return [request["code"] for request in found]


def same(actual, expected):
    if actual != expected:
        raise AssertionError(f"expected {expected!r}, was {actual!r}")


def refused(call):
    """The status of a call that is refused; 0 if there was no answer."""
    try:
        call()
    except ApiException as error:
        return error.status
    except (urllib3.exceptions.HTTPError, OSError):
        return 0
    raise AssertionError("expected a refusal")


@story
def ambiguous_write(s, control):
    since, on = control.cursor(), {"verbs": ["create"], "resources": ["configmaps"], "namespaces": [s.namespace]}
    control.fault(on, {"connection": {"do": "reset", "when": "afterCommit"}}, times=1)
    # The answer is lost, so the object may have been created or not: a get tells.
    same(refused(lambda: s.config_map("a", data={"k": "v"})), 0)
    same(refused(lambda: s.config_map("a", data={"k": "v"})), 409)
    same(s.core.read_namespaced_config_map("a", s.namespace).data, {"k": "v"})
    same(control.codes(since, **on), [0, 409])


@story
def stale_read(s, control):
    first = s.config_map("a", data={"k": "old"})
    first.data = {"k": "new"}
    s.core.replace_namespaced_config_map("a", s.namespace, first)
    on = {"verbs": ["list"], "namespaces": [s.namespace], "query": {"resourceVersion": "0"}}
    fault = control.fault(on, {"stale": {"behind": 1}})
    # Another server, whose cache is behind, is asked after a failover.
    stale = s.core.list_namespaced_config_map(s.namespace, resource_version="0").items[0]
    same(stale.data, {"k": "old"})
    # An update based on the stale read conflicts, as it names the stale resourceVersion.
    stale.data = {"k": "wrong"}
    same(refused(lambda: s.core.replace_namespaced_config_map("a", s.namespace, stale)), 409)
    same(s.core.list_namespaced_config_map(s.namespace).items[0].data, {"k": "new"})
    control("DELETE", "/faults/" + fault)
    same(s.core.list_namespaced_config_map(s.namespace, resource_version="0").items[0].data, {"k": "new"})


@story
def throttling(s, control):
    since, on = control.cursor(), {"verbs": ["create"], "resources": ["configmaps"], "namespaces": [s.namespace]}
    control("POST", "/faults", {"match": on, "sequence": ["apf-rejected", "apf-rejected"]})
    waited = []
    while True:
        try:
            s.config_map("a")
            break
        except ApiException as error:
            same(error.status, 429)
            # This client leaves it to its user to wait for so long.
            waited.append(error.headers["Retry-After"])
    same(waited, ["1", "1"])
    same(control.codes(since, **on), [429, 429, 201])


@story
def expired_history(s, control):
    first = s.config_map("a")
    s.config_map("b")
    control("POST", "/history/compact", {})
    old = first.metadata.resource_version
    events = s.core.list_namespaced_config_map(s.namespace, watch=True, resource_version=old, _preload_content=False)
    error = json.loads(next(iter(events.stream())).splitlines()[0])
    same((error["type"], error["object"]["code"], error["object"]["reason"]), ("ERROR", 410, "Expired"))
    # The way back is a list, and a watch from there.
    listed = s.core.list_namespaced_config_map(s.namespace)
    same([item.metadata.name for item in listed.items], ["a", "b"])
    s.config_map("c")
    now = listed.metadata.resource_version
    events = s.core.list_namespaced_config_map(s.namespace, watch=True, resource_version=now, timeout_seconds=5, _preload_content=False)
    same(json.loads(next(iter(events.stream())).splitlines()[0])["object"]["metadata"]["name"], "c")


@story
def lost_watch(s, control):
    on = {"verbs": ["watch"], "namespaces": [s.namespace]}
    events = s.core.list_namespaced_config_map(s.namespace, watch=True, timeout_seconds=60, _preload_content=False)
    s.config_map("a")
    lines = iter(events.stream())
    first = json.loads(next(lines).splitlines()[0])
    same(first["type"], "ADDED")
    same(control("POST", "/watches/end", {"match": on})["watches"], 1)
    s.config_map("b")
    same(list(lines), [])
    # The next watch goes on where the last one was, and nothing is missed.
    seen = first["object"]["metadata"]["resourceVersion"]
    events = s.core.list_namespaced_config_map(s.namespace, watch=True, resource_version=seen, timeout_seconds=5, _preload_content=False)
    same(json.loads(next(iter(events.stream())).splitlines()[0])["object"]["metadata"]["name"], "b")


@story
def leader_lost(s, control):
    led, lost = threading.Event(), threading.Event()
    settings = electionconfig.Config(
        LeaseLock("leader", s.namespace, "one"), lease_duration=3, renew_deadline=2, retry_period=1, onstarted_leading=led.set, onstopped_leading=lost.set
    )
    threading.Thread(target=leaderelection.LeaderElection(settings).run, daemon=True).start()
    same(led.wait(20), True)
    # Its renewals fail; before another one could lead, it has to stop.
    control.fault({"verbs": ["update"], "resources": ["leases"], "namespaces": [s.namespace]}, {"preset": "etcd-timeout"})
    same(lost.wait(20), True)
    lease = client.CoordinationV1Api().read_namespaced_lease("leader", s.namespace)
    same(lease.spec.holder_identity, "one")


@story
def webhook_timeout(s, control):
    # It takes connections, and never answers.
    silent = socket.create_server(("127.0.0.1", 0))
    url = f"https://127.0.0.1:{silent.getsockname()[1]}/"
    admission, name = client.AdmissionregistrationV1Api(), s.namespace + ".example.com"
    rule = client.V1RuleWithOperations(api_groups=[""], api_versions=["v1"], resources=["configmaps"], operations=["CREATE"])
    selector = client.V1LabelSelector(match_labels={"kubernetes.io/metadata.name": s.namespace})
    hook = client.V1ValidatingWebhook(
        name=name, client_config=client.AdmissionregistrationV1WebhookClientConfig(url=url), rules=[rule], namespace_selector=selector,
        side_effects="None", admission_review_versions=["v1"], timeout_seconds=1, failure_policy="Fail",
    )
    body = client.V1ValidatingWebhookConfiguration(metadata=client.V1ObjectMeta(name=name), webhooks=[hook])
    admission.create_validating_webhook_configuration(body)
    # Nobody can write what it looks at; with failurePolicy Ignore it costs a second only.
    same(refused(lambda: s.config_map("a")), 500)
    patch = [{"op": "replace", "path": "/webhooks/0/failurePolicy", "value": "Ignore"}]
    admission.patch_validating_webhook_configuration(name, patch)
    s.config_map("a")
    admission.delete_validating_webhook_configuration(name)
    silent.close()


@story
def clock_jump(s, control):
    s.core.create_namespaced_service_account(s.namespace, client.V1ServiceAccount(metadata=client.V1ObjectMeta(name="a")))
    request = client.AuthenticationV1TokenRequest(spec=client.V1TokenRequestSpec(audiences=[], expiration_seconds=600))
    token = s.core.create_namespaced_service_account_token("a", s.namespace, request).status.token
    other = client.ApiClient(client.Configuration.get_default_copy())
    other.configuration.cert_file = other.configuration.key_file = None
    other.configuration.refresh_api_key_hook = None
    other.configuration.api_key = {"authorization": "Bearer " + token}
    look = lambda: client.VersionApi(other).get_code().git_version
    same(look().startswith("v1."), True)
    # The server's clock jumps, as after a pause of its machine: a token that the client believes in for ten minutes has expired.
    control("POST", "/clock/advance", {"seconds": 700})
    same(refused(look), 401)
    control("POST", "/clock/advance", {"seconds": -700})
    same(look().startswith("v1."), True)
