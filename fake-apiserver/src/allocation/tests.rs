//! Allocations, one after the other and side by side.

use super::*;
use crate::commit::{Commits, Own};
use crate::ids::Ids;
use crate::registry::services::type_of;
use crate::registry::{Registry, ids};
use crate::store::Key;
use crate::store::Store;
use jiff::Timestamp;
use tree::json;

/// A cluster of pools.
struct World {
    store: Store,
    ids: Ids,
    registry: Registry,
    pools: Allocations,
}

impl World {
    fn new(ranges: &[&str], node_ports: RangeInclusive<u16>) -> World {
        let store = Store::with_history(1000, 1 << 20);
        let ranges: Vec<Cidr> = ranges.iter().filter_map(|range| Some(Cidr::parse(range)?.1)).collect();
        let world = World {
            ids: Ids::seeded(1),
            registry: Registry::built_in(),
            pools: Allocations::new(ranges, node_ports),
            store,
        };
        let cidrs: Vec<String> = world.pools.ranges.iter().map(ToString::to_string).collect();
        let range = json!({
            "apiVersion": "networking.k8s.io/v1", "kind": "ServiceCIDR",
            "metadata": {"name": "kubernetes"}, "spec": {"cidrs": cidrs},
        });
        world.put(ids::SERVICE_CIDRS, range);
        world
    }

    fn access(&self) -> Access<'_> {
        let World { store, ids, registry, .. } = self;
        Access { store, commits: Commits::new(store, None), ids, registry, now: Timestamp::UNIX_EPOCH, dry_run: false }
    }

    fn put(&self, id: crate::store::ResourceId, object: Value) {
        let commits = Commits::new(&self.store, None);
        let own = Own::new(self.registry.known(id), commits, &self.ids, Timestamp::UNIX_EPOCH);
        let created = own.create(object, None).now_or_never().expect("the store does not wait");
        created.expect("the object is sound").expect("it is new");
    }

    async fn begin(&self, service: &mut Value) -> ApiResult<Begun<'_>> {
        self.pools.begin(self.access(), service, None).await
    }

    /// Creates a service as a write does.
    async fn create(&self, mut service: Value) -> ApiResult<Value> {
        let begun = self.begin(&mut service).await?;
        self.put(ids::SERVICES, service.clone());
        begun.finish(true).await;
        Ok(service)
    }

    fn has_address(&self, address: &str) -> bool {
        self.store.get(&Key::new(ids::IP_ADDRESSES, "", address)).is_some()
    }
}

fn named(name: &str, spec: Value) -> Value {
    json!({"apiVersion": "v1", "kind": "Service", "metadata": {"name": name, "namespace": "default"}, "spec": spec})
}

fn of_nodes(name: &str, port: u16) -> Value {
    let ports = json!([{"port": 80, "protocol": "TCP", "nodePort": port}]);
    named(name, json!({"type": "NodePort", "clusterIP": "10.0.0.9", "ports": ports}))
}

#[tokio::test]
async fn a_cancelled_write_gives_all_back() {
    let world = World::new(&["10.0.0.0/24"], 30000..=30100);
    let begun = world.begin(&mut of_nodes("a", 30001)).await.expect("both are free");
    assert!(world.has_address("10.0.0.9"));
    let ports = json!([{"port": 80, "nodePort": 30001}]);
    let mut other = named("b", json!({"type": "NodePort", "clusterIP": "10.0.0.8", "ports": ports}));
    let refusal = world.begin(&mut other).await.err().expect("the port is reserved").to_string();
    assert!(refusal.contains("provided port is already allocated"), "{refusal}");
    assert!(!world.has_address("10.0.0.8"), "a refused write gives its address back");
    drop(begun);
    assert!(!world.has_address("10.0.0.9"));
    world.create(of_nodes("b", 30001)).await.expect("both are free again");
}

#[tokio::test]
async fn a_write_that_is_not_stored_gives_all_back_and_a_stored_one_keeps_it() {
    let world = World::new(&["10.0.0.0/24"], 30000..=30100);
    let begun = world.begin(&mut of_nodes("a", 30001)).await.expect("both are free");
    begun.finish(false).await;
    assert!(!world.has_address("10.0.0.9"));
    world.create(of_nodes("a", 30001)).await.expect("both are free again");
    assert!(world.has_address("10.0.0.9"));
    let refusal = world.begin(&mut of_nodes("b", 30001)).await.err().expect("a has both").to_string();
    assert!(refusal.contains("failed to allocate IP 10.0.0.9: provided IP is already allocated"), "{refusal}");
}

#[tokio::test]
async fn pools_come_to_an_end() {
    let world = World::new(&["10.0.0.0/29"], 30000..=30001);
    let plain = |index: usize| named(&format!("s{index}"), json!({"type": "ClusterIP", "ports": [{"port": 80}]}));
    let mut addresses = std::collections::BTreeSet::new();
    for index in 0..6 {
        let service = world.create(plain(index)).await.expect("an address is left");
        addresses.insert(service["spec"]["clusterIP"].to_string());
    }
    assert_eq!(addresses.len(), 6);
    let refusal = world.create(plain(6)).await.expect_err("none is left").to_string();
    assert!(refusal.ends_with(r#"failed to allocate a serviceIP for Service "s6": range is full"#), "{refusal}");

    let world = World::new(&["10.0.0.0/24"], 30000..=30001);
    let ports = json!([{"name": "a", "port": 80}, {"name": "b", "port": 81}]);
    let two = named("two", json!({"type": "NodePort", "ports": ports}));
    let two = world.create(two).await.expect("two are left");
    assert_eq!(type_of(&two), "NodePort");
    let one = named("one", json!({"type": "NodePort", "ports": [{"port": 80}]}));
    let refusal = world.create(one).await.expect_err("none is left").to_string();
    assert!(refusal.ends_with("failed to allocate a nodePort: range is full"), "{refusal}");
}

#[tokio::test]
async fn two_families_have_an_address_each() {
    let world = World::new(&["fd00::/112", "10.0.0.0/24"], 30000..=30001);
    let spec = json!({"type": "ClusterIP", "ipFamilyPolicy": "PreferDualStack", "ports": [{"port": 80}]});
    let service = world.create(named("a", spec)).await.expect("both are left");
    assert_eq!(service["spec"]["ipFamilies"], json!(["IPv6", "IPv4"]));
    assert_eq!(service["spec"]["clusterIP"], service["spec"]["clusterIPs"][0]);
    let kinds: Vec<bool> = addresses_of(&service).iter().map(|address| address.contains(':')).collect();
    assert_eq!(kinds, [true, false]);
}

fn service(type_: &str, ips: &[&str], families: &[&str]) -> Value {
    json!({"spec": {"type": type_, "clusterIPs": ips, "ipFamilies": families}})
}

/// The new service, the old one, the places of addresses that are taken, and the addresses that are left.
type Line<'a> = (&'a Value, Option<&'a Value>, &'a [usize], &'a [&'a str]);

#[test]
fn addresses_follow_the_type_and_the_families() {
    let one = service("ClusterIP", &["10.0.0.9"], &["IPv4"]);
    let two = service("ClusterIP", &["10.0.0.9", "fd00::9"], &["IPv4", "IPv6"]);
    let external = service("ExternalName", &[], &[]);
    let headless = service("ClusterIP", &["None"], &["IPv4"]);
    let wanted = service("ClusterIP", &[], &["IPv4"]);
    let table: [Line<'_>; 9] = [
        (&wanted, None, &[0], &[]),
        (&two, None, &[0, 1], &[]),
        (&external, None, &[], &[]),
        (&headless, None, &[], &[]),
        (&one, Some(&one), &[], &[]),
        (&wanted, Some(&external), &[0], &[]),
        (&external, Some(&two), &[], &["10.0.0.9", "fd00::9"]),
        (&two, Some(&one), &[1], &[]),
        (&one, Some(&two), &[], &["fd00::9"]),
    ];
    for (new, old, places, left) in table {
        let expected = Plan { places: places.into(), left: left.iter().map(|ip| (*ip).to_owned()).collect() };
        assert_eq!(plan(new, old), expected, "{new} {old:?}");
    }
}
