"""Checks of the official Python client: a line a check, on the server of KUBECONFIG."""

import base64
import importlib.metadata
import os
import sys
import threading
import traceback

from kubernetes import client, config, dynamic, utils, watch
from kubernetes.client.exceptions import ApiException
from kubernetes.dynamic.exceptions import ConflictError, NotFoundError
from kubernetes.leaderelection import electionconfig, leaderelection
from kubernetes.leaderelection.resourcelock.leaselock import LeaseLock
from stories import STORIES

CHECKS = []


def check(function):
    """Makes the function a check: it gets a scene."""
    CHECKS.append((function.__name__.replace("_", "-"), function))
    return function


class Scene:
    """A namespace of the check's own, and clients."""

    def __init__(self, namespace):
        self.namespace = namespace
        self.core = client.CoreV1Api()
        self.apps = client.AppsV1Api()
        self.custom = client.CustomObjectsApi()

    def config_map(self, name, **fields):
        body = client.V1ConfigMap(metadata=client.V1ObjectMeta(name=name, **fields.pop("metadata", {})), **fields)
        return self.core.create_namespaced_config_map(self.namespace, body)

    def deployment(self, name):
        labels = {"app": name}
        template = client.V1PodTemplateSpec(
            metadata=client.V1ObjectMeta(labels=labels),
            spec=client.V1PodSpec(containers=[client.V1Container(name="a", image="a")]),
        )
        spec = client.V1DeploymentSpec(selector=client.V1LabelSelector(match_labels=labels), template=template)
        body = client.V1Deployment(metadata=client.V1ObjectMeta(name=name), spec=spec)
        return self.apps.create_namespaced_deployment(self.namespace, body)


def same(actual, expected):
    if actual != expected:
        raise AssertionError(f"expected {expected!r}, was {actual!r}")


def refused(status, call, *arguments, **named):
    try:
        call(*arguments, **named)
    except ApiException as error:
        same(error.status, status)
        return error
    raise AssertionError(f"expected {status}, was no error")


@check
def typed_crud(s):
    created = s.config_map("a", data={"k": "ü"}, binary_data={"b": base64.b64encode(b"\0\xff").decode()})
    read = s.core.read_namespaced_config_map("a", s.namespace)
    same((read.metadata.uid, read.data, read.binary_data), (created.metadata.uid, {"k": "ü"}, {"b": "AP8="}))
    read.data["k"] = "v"
    same(s.core.replace_namespaced_config_map("a", s.namespace, read).data, {"k": "v"})
    refused(409, s.core.replace_namespaced_config_map, "a", s.namespace, created)
    same(s.core.delete_namespaced_config_map("a", s.namespace)["status"], "Success")
    refused(404, s.core.read_namespaced_config_map, "a", s.namespace)


@check
def errors_have_bodies(s):
    s.config_map("a")
    error = refused(409, s.config_map, "a")
    same('"reason":"AlreadyExists"' in error.body, True)
    same("must consist of" in refused(422, s.config_map, "No_Name").body, True)


@check
def lists_and_selectors(s):
    for name in ["a", "b", "c"]:
        s.config_map(name, metadata={"labels": {"name": name}})
    found = s.core.list_namespaced_config_map(s.namespace, label_selector="name in (a, b)")
    same([item.metadata.name for item in found.items], ["a", "b"])
    page = s.core.list_namespaced_config_map(s.namespace, label_selector="name", limit=2)
    rest = s.core.list_namespaced_config_map(s.namespace, label_selector="name", limit=2, _continue=page.metadata._continue)
    same((len(page.items), len(rest.items)), (2, 1))


@check
def patch_strategic_by_default(s):
    s.deployment("d")
    body = {"spec": {"template": {"spec": {"containers": [{"name": "b", "image": "b"}]}}}}
    patched = s.apps.patch_namespaced_deployment("d", s.namespace, body)
    same(sorted(container.name for container in patched.spec.template.spec.containers), ["a", "b"])


@check
def patch_json_for_a_list(s):
    s.config_map("a", data={"k": "v"})
    patched = s.core.patch_namespaced_config_map("a", s.namespace, [{"op": "replace", "path": "/data/k", "value": "w"}])
    same(patched.data, {"k": "w"})


@check
def apply_with_a_field_manager(s):
    body = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"}, "data": {"k": "v"}}
    send = lambda manager, **more: s.core.patch_namespaced_config_map(
        "a", s.namespace, body, field_manager=manager, _content_type="application/apply-patch+yaml", **more
    )
    same(send("one").metadata.managed_fields[0].operation, "Apply")
    body["data"]["k"] = "w"
    same("conflict with" in refused(409, send, "two").body, True)
    same(send("two", force=True).data, {"k": "w"})


@check
def status_and_scale(s):
    s.deployment("d")
    patched = s.apps.patch_namespaced_deployment_status("d", s.namespace, {"status": {"replicas": 2}})
    same((patched.status.replicas, patched.metadata.generation), (2, 1))
    scale = s.apps.patch_namespaced_deployment_scale("d", s.namespace, {"spec": {"replicas": 3}})
    same((scale.kind, scale.spec.replicas), ("Scale", 3))


@check
def watch_follows(s):
    seen = []
    started = s.core.list_namespaced_config_map(s.namespace).metadata.resource_version
    s.config_map("a")
    s.core.patch_namespaced_config_map("a", s.namespace, {"data": {"k": "v"}})
    s.core.delete_namespaced_config_map("a", s.namespace)
    stream = watch.Watch()
    for event in stream.stream(s.core.list_namespaced_config_map, s.namespace, resource_version=started, timeout_seconds=20,
                               field_selector="metadata.name=a"):
        seen.append((event["type"], event["object"].metadata.name))
        if event["type"] == "DELETED":
            stream.stop()
    same(seen, [("ADDED", "a"), ("MODIFIED", "a"), ("DELETED", "a")])


@check
def watch_ends_in_time(s):
    same(list(watch.Watch().stream(s.core.list_namespaced_secret, s.namespace, timeout_seconds=1)), [])


@check
def delete_collection(s):
    s.config_map("a", metadata={"labels": {"x": "y"}})
    s.config_map("b")
    s.core.delete_collection_namespaced_config_map(s.namespace, label_selector="x=y")
    refused(404, s.core.read_namespaced_config_map, "a", s.namespace)
    s.core.read_namespaced_config_map("b", s.namespace)


@check
def pods_bind_and_delete(s):
    spec = client.V1PodSpec(containers=[client.V1Container(name="a", image="a")], termination_grace_period_seconds=0)
    s.core.create_namespaced_pod(s.namespace, client.V1Pod(metadata=client.V1ObjectMeta(name="p"), spec=spec))
    binding = client.V1Binding(metadata=client.V1ObjectMeta(name="p"), target=client.V1ObjectReference(kind="Node", name="n"))
    s.core.create_namespaced_pod_binding("p", s.namespace, binding, _preload_content=False)
    same(s.core.read_namespaced_pod("p", s.namespace).spec.node_name, "n")
    same(s.core.delete_namespaced_pod("p", s.namespace).metadata.name, "p")


@check
def tokens_and_reviews(s):
    s.core.create_namespaced_service_account(s.namespace, client.V1ServiceAccount(metadata=client.V1ObjectMeta(name="a")))
    request = client.AuthenticationV1TokenRequest(spec=client.V1TokenRequestSpec(audiences=[]))
    token = s.core.create_namespaced_service_account_token("a", s.namespace, request).status.token
    review = client.V1TokenReview(spec=client.V1TokenReviewSpec(token=token))
    reviewed = client.AuthenticationV1Api().create_token_review(review)
    same(reviewed.status.user.username, f"system:serviceaccount:{s.namespace}:a")


@check
def dynamic_crud(s):
    maps = dynamic.DynamicClient(client.ApiClient()).resources.get(api_version="v1", kind="ConfigMap")
    body = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"}, "data": {"k": "v"}}
    created = maps.create(body=body, namespace=s.namespace)
    same(created.data.k, "v")
    patched = maps.patch(name="a", namespace=s.namespace, body={"data": {"k": "w"}}, content_type="application/merge-patch+json")
    same(patched.data.k, "w")
    try:
        maps.create(body=body, namespace=s.namespace)
    except ConflictError:
        maps.delete(name="a", namespace=s.namespace)
    try:
        maps.get(name="a", namespace=s.namespace)
    except NotFoundError:
        return
    raise AssertionError("it is still there")


@check
def dynamic_apply(s):
    maps = dynamic.DynamicClient(client.ApiClient()).resources.get(api_version="v1", kind="ConfigMap")
    body = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"}, "data": {"k": "v"}}
    applied = maps.server_side_apply(body=body, name="a", namespace=s.namespace, field_manager="one")
    same(applied.data.k, "v")


@check
def dynamic_watch(s):
    maps = dynamic.DynamicClient(client.ApiClient()).resources.get(api_version="v1", kind="ConfigMap")
    s.config_map("a")
    events = maps.watch(namespace=s.namespace, timeout=10, field_selector="metadata.name=a")
    same(next(iter(events))["object"].metadata.name, "a")


@check
def discovery(_):
    resources = dynamic.DynamicClient(client.ApiClient()).resources
    same(resources.get(kind="Deployment").group_version, "apps/v1")
    same("apps" in [group.name for group in client.ApisApi().get_api_versions().groups], True)
    same(client.VersionApi().get_code().git_version, "v1.37.1")


@check
def utils_create_from_yaml(s):
    documents = [
        {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"}},
        {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "b"}},
    ]
    utils.create_from_yaml(client.ApiClient(), yaml_objects=documents, namespace=s.namespace)
    same(s.core.read_namespaced_secret("b", s.namespace).type, "Opaque")


@check
def custom_objects(s):
    schema = {
        "type": "object",
        "properties": {
            "spec": {"type": "object", "properties": {"watts": {"type": "integer", "minimum": 0}, "bulbs": {"type": "integer", "default": 1}}},
            "status": {"type": "object", "properties": {"on": {"type": "boolean"}}},
        },
    }
    definition = {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": "lamps.example.com"},
        "spec": {
            "group": "example.com",
            "scope": "Namespaced",
            "names": {"plural": "lamps", "kind": "Lamp"},
            "versions": [{"name": "v1", "served": True, "storage": True, "schema": {"openAPIV3Schema": schema}, "subresources": {"status": {}}}],
        },
    }
    definitions = client.ApiextensionsV1Api()
    definitions.create_custom_resource_definition(definition)
    for event in watch.Watch().stream(definitions.list_custom_resource_definition, timeout_seconds=20):
        conditions = event["object"].status.conditions or []
        if any(condition.type == "Established" and condition.status == "True" for condition in conditions):
            break
    place = ("example.com", "v1", s.namespace, "lamps")
    lamp = lambda watts: {"apiVersion": "example.com/v1", "kind": "Lamp", "metadata": {"name": "hall"}, "spec": {"watts": watts}}
    same(s.custom.create_namespaced_custom_object(*place, lamp(40))["spec"], {"watts": 40, "bulbs": 1})
    patched = s.custom.patch_namespaced_custom_object(*place, "hall", {"spec": {"watts": 60}})
    same(patched["metadata"]["generation"], 2)
    refused(422, s.custom.patch_namespaced_custom_object, *place, "hall", {"spec": {"watts": -1}})
    same(s.custom.patch_namespaced_custom_object_status(*place, "hall", {"status": {"on": True}})["status"], {"on": True})
    same(len(s.custom.list_namespaced_custom_object(*place)["items"]), 1)
    s.custom.delete_namespaced_custom_object(*place, "hall")
    definitions.delete_custom_resource_definition("lamps.example.com")


@check
def services(s):
    body = client.V1Service(metadata=client.V1ObjectMeta(name="s"), spec=client.V1ServiceSpec(ports=[client.V1ServicePort(port=80)]))
    same(s.core.create_namespaced_service(s.namespace, body).spec.type, "ClusterIP")


@check
def leader_election(s):
    led = threading.Event()
    settings = electionconfig.Config(
        LeaseLock("leader", s.namespace, "one"), lease_duration=3, renew_deadline=2, retry_period=1, onstarted_leading=led.set, onstopped_leading=None
    )
    threading.Thread(target=leaderelection.LeaderElection(settings).run, daemon=True).start()
    same(led.wait(20), True)
    lease = client.CoordinationV1Api().read_namespaced_lease("leader", s.namespace)
    same(lease.spec.holder_identity, "one")


def main():
    config.load_kube_config(os.environ["KUBECONFIG"])
    print("client kubernetes", importlib.metadata.version("kubernetes"), flush=True)
    # Only the fake can be told what to do.
    told = STORIES if "FAKE_APISERVER_CONTROL_URL" in os.environ else []
    for number, (name, function) in enumerate(CHECKS + told):
        namespace = f"c-{number}"
        try:
            scene = Scene(namespace)
            scene.core.create_namespace(client.V1Namespace(metadata=client.V1ObjectMeta(name=namespace)))
            function(scene)
            print("ok", name, flush=True)
        except Exception as error:
            traceback.print_exc()
            print(f"FAIL {name}: {' '.join(repr(error).split())[:400]}", flush=True)


# The thread of an election would go on.
main()
sys.stdout.flush()
os._exit(0)
