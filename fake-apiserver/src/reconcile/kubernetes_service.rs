//! The service `kubernetes`, by which pods reach the server: its addresses, and the default range of cluster IPs.
//!
//! Upstream checks every ten seconds that all of it exists; here it is repaired before the response to the write that changed it.
//! Follows `pkg/controlplane/controller/{kubernetesservice,defaultservicecidr}` and `pkg/controlplane/reconcilers` (v1.37.1).

use super::client::Client;
use super::event::Event;
use super::reconciler::{Context, Reconciler};
use super::shared::Shared;
use crate::allocation::first_address;
use crate::clock::format_seconds;
use crate::commit::namespace;
use crate::error::{ApiError, ApiResult};
use crate::object::meta;
use crate::registry::{Registry, ids, items, text};
use crate::store::{CreateError, Key, ResourceId};
use futures::FutureExt;
use futures::future::BoxFuture;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use tree::{Value, json};

const NAMESPACE: &str = "default";
const NAME: &str = "kubernetes";
/// The key of a start.
const START: &str = "start";
/// `LabelSkipMirror`.
const SKIP_MIRROR: &str = "endpointslice.kubernetes.io/skip-mirror";
/// `controllerName` of the controller of the default range.
const RANGE_CONTROLLER: &str = "kubernetes-service-cidr-controller";

/// Whether an object belongs to that service.
fn is_about(key: &Key) -> bool {
    match key.resource {
        ids::SERVICE_CIDRS => key.name() == NAME,
        ids::SERVICES | ids::ENDPOINTS | ids::ENDPOINT_SLICES => key.name() == NAME && key.namespace() == NAMESPACE,
        _ => false,
    }
}

pub(super) struct KubernetesService;

impl Reconciler for KubernetesService {
    /// One key stands for all objects, and another one for all at a start.
    fn wants(&self, event: &Event<'_>, _: &Shared) -> Vec<Box<str>> {
        match event {
            Event::Start => vec![START.into()],
            Event::Stored(entry, _) | Event::Removed(entry) if is_about(&entry.key) => vec!["".into()],
            _ => Vec::new(),
        }
    }

    fn sync<'a>(&'a self, key: &'a str, context: &'a Context<'a>) -> BoxFuture<'a, ApiResult<()>> {
        sync(context, key == START).boxed()
    }
}

/// Creates missing objects, and repairs wrong ones. At a start these may be those of a server before, whose port is another one.
async fn sync(cluster: &Context<'_>, is_start: bool) -> ApiResult<()> {
    let catalog = cluster.catalog();
    let sync = Sync { cluster, registry: &catalog.registry };
    sync.range().await?;
    if sync.get(ids::SERVICES).is_none() {
        sync.client(ids::SERVICES).create(sync.service()).await?;
    }
    if !cluster.options.endpoints {
        return Ok(());
    }
    sync.endpoints(is_start).await?;
    sync.slice().await
}

struct Sync<'a> {
    cluster: &'a Context<'a>,
    registry: &'a Registry,
}

impl Sync<'_> {
    fn key(id: ResourceId) -> Key {
        Key::new(id, if id == ids::SERVICE_CIDRS { "" } else { NAMESPACE }, NAME)
    }

    fn get(&self, id: ResourceId) -> Option<Value> {
        self.cluster.store.get(&Self::key(id)).map(|entry| entry.object())
    }

    fn client(&self, id: ResourceId) -> Client<'_> {
        Client::of_server(self.cluster, self.registry.known(id))
    }

    /// Stores endpoints, or a slice of them, if `new`; otherwise changes them so that they are as `wanted`. No request could: their address may
    /// be that of the host alone.
    async fn put(&self, id: ResourceId, new: Option<Value>, wanted: impl Fn(&mut Value)) -> ApiResult<()> {
        let (own, key) = (self.cluster.own(self.registry.known(id)), Self::key(id));
        if let Some(object) = new {
            return match own.create(object, namespace::parent(NAMESPACE).as_ref()).await? {
                Ok(_) | Err(CreateError::Exists(_)) => Ok(()),
                Err(_) => Err(ApiError::internal(format!("the namespace {NAMESPACE} takes no {NAME}"))),
            };
        }
        let changed = own.change(&key, |_, old| {
            let mut object = old.clone();
            wanted(&mut object);
            if object != *old && own.resource.rules.owns_generation {
                meta::set(&mut object, "generation", meta::generation(old).wrapping_add(1));
            }
            Ok(Some(object))
        });
        changed.await.map(drop)
    }

    /// The default range, which is ready.
    async fn range(&self) -> ApiResult<()> {
        let id = ids::SERVICE_CIDRS;
        let ranges: Vec<String> = self.cluster.allocations.ranges().iter().map(ToString::to_string).collect();
        let is_right = |object: &Value| {
            let is_ready =
                items(object, "/status/conditions").iter().any(|condition| text(condition, "/type") == "Ready");
            is_ready
                || object["spec"]["cidrs"] != Value::from(ranges.clone())
                || meta::deletion_timestamp(object).is_some()
        };
        match self.get(id) {
            Some(object) if is_right(&object) => return Ok(()),
            Some(_) => {}
            None => {
                let object = json!({
                    "apiVersion": "networking.k8s.io/v1", "kind": "ServiceCIDR",
                    "metadata": {"name": NAME}, "spec": {"cidrs": ranges},
                });
                self.client(id).create(object).await?;
            }
        }
        let status = json!({"conditions": [{
            "type": "Ready", "status": "True", "message": "Kubernetes default Service CIDR is ready",
            "lastTransitionTime": format_seconds(self.cluster.now),
        }]});
        let client = self.client(id).by(RANGE_CONTROLLER).through("status");
        client.apply(&Self::key(id), [("status", status)].into_iter().collect()).await
    }

    fn address(&self) -> IpAddr {
        match self.cluster.options.advertised.ip() {
            IpAddr::V4(address) if address.is_unspecified() => Ipv4Addr::LOCALHOST.into(),
            IpAddr::V6(address) if address.is_unspecified() => Ipv6Addr::LOCALHOST.into(),
            address => address,
        }
    }

    fn service(&self) -> Value {
        let ip = self.cluster.allocations.ranges().first().map(|range| first_address(*range).to_string());
        json!({
            "apiVersion": "v1", "kind": "Service",
            "metadata": {
                "name": NAME, "namespace": NAMESPACE,
                "labels": {"provider": "kubernetes", "component": "apiserver"},
            },
            "spec": {
                "ports": [{
                    "name": "https", "protocol": "TCP", "port": 443,
                    "targetPort": self.cluster.options.advertised.port(),
                }],
                "clusterIP": ip, "ipFamilyPolicy": "SingleStack", "sessionAffinity": "None", "type": "ClusterIP",
            },
        })
    }

    fn port(&self) -> Value {
        json!({"name": "https", "port": self.cluster.options.advertised.port(), "protocol": "TCP"})
    }

    /// The endpoints, with the addresses of the server. Their ports are checked at a start only: a real server removes its endpoints when it stops,
    /// and makes them anew when it starts.
    async fn endpoints(&self, is_start: bool) -> ApiResult<()> {
        let addresses = json!([{"ip": self.address().to_string()}]);
        let ports = json!([self.port()]);
        let subsets = json!([{"addresses": addresses, "ports": ports}]);
        let new = self.get(ids::ENDPOINTS).is_none().then(|| {
            json!({
                "apiVersion": "v1", "kind": "Endpoints",
                "metadata": {"name": NAME, "namespace": NAMESPACE, "labels": {SKIP_MIRROR: "true"}},
                "subsets": subsets,
            })
        });
        let put = self.put(ids::ENDPOINTS, new, |object| {
            if meta::labels(object).get(SKIP_MIRROR) != Some("true") {
                object["metadata"]["labels"][SKIP_MIRROR] = "true".into();
            }
            let own = items(object, "/subsets");
            let ips = |subset: &Value| -> Vec<String> {
                items(subset, "/addresses").iter().map(|address| text(address, "/ip").to_owned()).collect()
            };
            match own {
                [subset] if is_start && subset["ports"] != ports => object["subsets"] = subsets.clone(),
                [subset] if ips(subset) == [self.address().to_string()] => {}
                [_] => object["subsets"][0]["addresses"] = addresses.clone(),
                _ => object["subsets"] = subsets.clone(),
            }
        });
        put.await
    }

    /// The endpoint slice with the same content as the endpoints.
    async fn slice(&self) -> ApiResult<()> {
        let Some(endpoints) = self.get(ids::ENDPOINTS) else { return Ok(()) };
        let address_type = if self.address().is_ipv6() { "IPv6" } else { "IPv4" };
        let subset = items(&endpoints, "/subsets").first();
        let of = |list| subset.map(|subset| items(subset, list)).unwrap_or_default();
        let ready = [("/addresses", true), ("/notReadyAddresses", false)];
        let all = ready.into_iter().flat_map(|(list, ready)| of(list).iter().map(move |address| (address, ready)));
        let all: Vec<Value> = all
            .map(|(address, ready)| json!({"addresses": [text(address, "/ip")], "conditions": {"ready": ready}}))
            .collect();
        let port = |port: &Value| json!({"name": text(port, "/name"), "port": port["port"].clone(), "protocol": text(port, "/protocol")});
        let ports: Vec<Value> = of("/ports").iter().map(port).collect();
        let labels = json!({"kubernetes.io/service-name": NAME});
        let new = self.get(ids::ENDPOINT_SLICES).is_none().then(|| {
            json!({
                "apiVersion": "discovery.k8s.io/v1", "kind": "EndpointSlice", "addressType": address_type,
                "metadata": {"name": NAME, "namespace": NAMESPACE, "labels": labels}, "endpoints": all, "ports": ports,
            })
        });
        let put = self.put(ids::ENDPOINT_SLICES, new, |object| {
            object["endpoints"] = all.clone().into();
            object["ports"] = ports.clone().into();
            object["metadata"]["labels"] = labels.clone();
        });
        put.await
    }
}
