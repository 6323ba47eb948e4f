//! The service `kubernetes`, and services of two families; the rest is in the scenarios.

use crate::support::*;
use fake_apiserver::FakeApiServer;
use serde_json::json;

const SERVICES: &str = "/api/v1/namespaces/default/services";
const OWN: [&str; 4] = [
    "/api/v1/namespaces/default/services/kubernetes",
    "/api/v1/namespaces/default/endpoints/kubernetes",
    "/apis/discovery.k8s.io/v1/namespaces/default/endpointslices/kubernetes",
    "/apis/networking.k8s.io/v1/servicecidrs/kubernetes",
];

#[tokio::test]
async fn the_server_is_a_service_and_repairs_that() {
    let server = start().await;
    let mut client = Client::new(&server).await;
    let address = server.replica(0).address();
    for path in OWN {
        let first = client.get(path).await.expect(200);
        client.delete(path).await.expect(200);
        let second = client.get(path).await.expect(200);
        assert_ne!(first["metadata"]["uid"], second["metadata"]["uid"], "{path}");
        for part in ["spec", "subsets", "endpoints", "ports"] {
            assert_eq!(first[part], second[part], "{path}");
        }
    }
    client.get("/apis/networking.k8s.io/v1/ipaddresses/10.0.0.1").await.expect(200);
    let patch = json!({"subsets": null, "metadata": {"labels": null}}).to_string();
    client.ask("PATCH", OWN[1], &[("content-type", MERGE_PATCH)], patch).await.expect(200);
    let endpoints = client.get(OWN[1]).await.expect(200);
    let port = json!({"name": "https", "port": address.port(), "protocol": "TCP"});
    assert_eq!(endpoints["subsets"], json!([{"addresses": [{"ip": address.ip().to_string()}], "ports": [port]}]));
}

#[tokio::test]
async fn addresses_go_with_their_namespace() {
    let server = start().await;
    let mut client = Client::new(&server).await;
    client.post("/api/v1/namespaces", &json!({"metadata": {"name": "n"}})).await.expect(201);
    let service = json!({"metadata": {"name": "a"}, "spec": {"clusterIP": "10.0.0.9", "ports": [{"port": 80}]}});
    client.post("/api/v1/namespaces/n/services", &service).await.expect(201);
    client.post(SERVICES, &service).await.expect(422);
    client.delete("/api/v1/namespaces/n").await.expect(200);
    client.get("/api/v1/namespaces/n").await.expect(404);
    client.post(SERVICES, &service).await.expect(201);
}

#[tokio::test]
async fn the_pools_are_options() {
    let ranges =
        FakeApiServer::builder().service_cluster_ip_range("fd00::/108,10.9.0.0/16").service_node_port_range(7..=9);
    let server = start_with(ranges).await;
    let mut client = Client::new(&server).await;
    assert_eq!(client.get(OWN[0]).await.expect(200)["spec"]["clusterIP"], "fd00::1");
    let spec = json!({"type": "NodePort", "ipFamilyPolicy": "RequireDualStack", "ports": [{"port": 80}]});
    let service = client.post(SERVICES, &json!({"metadata": {"name": "a"}, "spec": spec})).await.expect(201);
    assert_eq!(service["spec"]["ipFamilies"], json!(["IPv6", "IPv4"]));
    assert!(service["spec"]["ports"][0]["nodePort"].as_u64().is_some_and(|port| (7..=9).contains(&port)));
    let bad = ["", "x", "10.0.0.0/30", "10.0.0.0/24,10.1.0.0/24", "10.0.0.0/24,fd00::/108,10.1.0.0/24", "fd00::/56"];
    for ranges in bad {
        let refused = FakeApiServer::builder().insecure().service_cluster_ip_range(ranges).start().await;
        let refused = refused.expect_err("no cluster IPs can be allocated").to_string();
        assert!(refused.starts_with(&format!("unable to allocate cluster IPs from {ranges:?}")), "{refused}");
    }
    let refused = FakeApiServer::builder().insecure().service_node_port_range(0..=8).start().await;
    assert_eq!(refused.expect_err("there are none").to_string(), "there are no node ports from 0 to 8");
}

#[tokio::test]
async fn a_lost_address_is_restored_with_its_service() {
    let server = start().await;
    let mut client = Client::new(&server).await;
    let services = "/api/v1/namespaces/default/services";
    let service = json!({"metadata": {"name": "s"}, "spec": {"ports": [{"port": 80}]}});
    let service = client.post(services, &service).await.expect(201);
    let address = format!("/apis/networking.k8s.io/v1/ipaddresses/{}", text(&service, "/spec/clusterIP"));
    client.delete(&address).await.expect(200);
    client.get(&address).await.expect(404);
    let label = json!({"metadata": {"labels": {"a": "b"}}});
    client.patch(MERGE_PATCH, &format!("{services}/s"), &label).await.expect(200);
    let restored = client.get(&address).await.expect(200);
    assert_eq!(text(&restored, "/spec/parentRef/name"), "s");
    // One whose service goes, too, stays away.
    client.delete(&format!("{services}/s")).await.expect(200);
    client.get(&address).await.expect(404);
}

#[tokio::test]
async fn a_definition_in_a_group_of_built_in_resources_is_not_served() {
    let server = start().await;
    let mut client = Client::new(&server).await;
    let version = |name: &str, storage: bool| json!({"name": name, "served": true, "storage": storage, "schema": {"openAPIV3Schema": {"type": "object"}}});
    let definition = json!({
        "metadata": {"name": "foos.networking.k8s.io", "annotations": {
            "api-approved.kubernetes.io": "https://github.com/kubernetes/kubernetes/pull/1",
        }},
        "spec": {"group": "networking.k8s.io", "scope": "Namespaced", "names": {"plural": "foos", "kind": "Foo"},
            "versions": [version("v1", true), version("v7", false)]},
    });
    let path = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
    client.post(path, &definition).await.expect(201);
    let stored = client.get(&format!("{path}/foos.networking.k8s.io")).await.expect(200);
    assert_eq!(text(&stored, "/status/acceptedNames/plural"), "foos");
    for version in ["v1", "v7"] {
        let path = format!("/apis/networking.k8s.io/{version}/namespaces/default/foos");
        assert_eq!(client.get(&path).await.code, 404, "{version}");
    }
}
