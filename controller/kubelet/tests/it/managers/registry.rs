//! References of registered pods: the tables of `cache_based_manager_test.go` about counts.

use super::pods::{Secrets, pod, pod_with_uid};
use futures::future::BoxFuture;
use k8s_openapi::api::core::v1::{ConfigMap, Pod, Secret};
use kubelet::objects::{GetError, ObjectManager, PodObject, Registry, Store};
use serde_json::json;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

/// A store that counts references, and records the calls in order.
#[derive(Default)]
struct Counts(Mutex<(BTreeMap<String, i32>, Vec<String>)>);

impl Counts {
    fn count(&self, sign: char, namespace: &str, name: &str, uid: &str) {
        let (counts, told) = &mut *self.0.lock().expect("not poisoned");
        *counts.entry(format!("{namespace}/{name}")).or_default() += if sign == '+' { 1 } else { -1 };
        told.push(format!("{sign}{namespace}/{name} {uid}"));
    }
}

impl<K: PodObject> Store<K> for Counts {
    fn get<'a>(&'a self, _: &'a str, _: &'a str) -> BoxFuture<'a, Result<Arc<K>, GetError>> {
        unimplemented!("it only counts")
    }

    fn add_reference(&self, namespace: &str, name: &str, uid: &str) {
        self.count('+', namespace, name, uid);
    }

    fn delete_reference(&self, namespace: &str, name: &str, uid: &str) {
        self.count('-', namespace, name, uid);
    }
}

type Manager<K = Secret> = Registry<K, Counts>;

/// A step: to register a pod, or to unregister it.
type Step = fn(&Manager, &Pod);

fn manager<K: PodObject>() -> Manager<K> {
    Registry::new(Counts::default())
}

impl Counts {
    fn of(&self, object: &str) -> i32 {
        self.0.lock().expect("not poisoned").0.get(object).copied().unwrap_or(0)
    }

    fn told(&self) -> Vec<String> {
        std::mem::take(&mut self.0.lock().expect("not poisoned").1)
    }
}

#[test]
fn a_pod_counts_once_however_often_it_is_registered() {
    let s1 = Secrets(&["s1"], &[]);
    let [one, two] = ["name1", "name2"].map(|name| pod("ns1", name, &s1));
    let manager: Manager = manager();
    let steps: [(Step, _, _); 6] = [
        (Manager::register_pod, &one, 1),
        (Manager::register_pod, &one, 1),
        (Manager::register_pod, &two, 2),
        (Manager::unregister_pod, &one, 1),
        (Manager::unregister_pod, &one, 1),
        (Manager::unregister_pod, &two, 0),
    ];
    for (number, (step, pod, expected)) in steps.into_iter().enumerate() {
        step(&manager, pod);
        assert_eq!(manager.store().of("ns1/s1"), expected, "after step {number}");
    }
}

#[test]
fn references_add_up_over_pods_that_come_change_and_go() {
    let s1 = Secrets(&["s1"], &[(&["s1"], &["s10"]), (&["s2"], &[]), (&["s3"], &[])]);
    let s2 = Secrets(&["s2"], &[(&["s4"], &[]), (&["s5"], &["s50"])]);
    let s3 = Secrets(&["s1"], &[(&["s3"], &["s30"]), (&["s5"], &[])]);
    let s4 = Secrets(&["s3"], &[(&["s6"], &[]), (&[], &["s60"])]);
    let s5 = Secrets(&[], &[(&["s7"], &[]), (&[], &["s70"])]);
    let manager: Manager = manager();
    let register = |name, secrets| manager.register_pod(&pod("ns1", name, secrets));
    let unregister = |name, secrets| manager.unregister_pod(&pod("ns1", name, secrets));
    register("name1", &s1);
    register("name2", &s1);
    register("name2", &s2);
    register("name3", &s2);
    register("name4", &s2);
    unregister("name3", &s2);
    register("name5", &s3);
    register("name6", &s3);
    register("name7", &s4);
    unregister("name7", &s4);
    register("other-name", &s1);
    register("other-name", &s2);
    unregister("other-name", &s2);
    register("noop-pod", &s5);
    register("noop-pod", &s5);
    for (name, expected) in [
        ("s1", 3),
        ("s10", 1),
        ("s2", 3),
        ("s3", 3),
        ("s30", 2),
        ("s4", 2),
        ("s5", 4),
        ("s50", 2),
        ("s6", 0),
        ("s60", 0),
        ("s7", 1),
        ("s70", 1),
    ] {
        assert_eq!(manager.store().of(&format!("ns1/{name}")), expected, "{name}");
    }
}

#[test]
fn pods_of_one_name_and_different_uids_are_different_pods() {
    let [one, two] = [Secrets(&[], &[(&["secret1"], &[])]), Secrets(&[], &[(&["secret2"], &[])])];
    let nothing = Secrets(&[], &[]);
    let manager: Manager = manager();
    let steps: [(Step, _, _, _); 4] = [
        (Manager::register_pod, "poduid1", &one, (1, 0)),
        (Manager::register_pod, "poduid2", &two, (1, 1)),
        (Manager::unregister_pod, "poduid1", &nothing, (0, 1)),
        (Manager::unregister_pod, "poduid2", &nothing, (0, 0)),
    ];
    for (step, uid, secrets, expected) in steps {
        step(&manager, &pod_with_uid("ns", "pod", uid, secrets));
        assert_eq!((manager.store().of("ns/secret1"), manager.store().of("ns/secret2")), expected, "{uid}");
    }
}

#[test]
fn what_is_new_comes_before_what_is_gone_and_the_rest_is_left_alone() {
    let manager: Manager = manager();
    manager.register_pod(&pod("ns", "pod", &Secrets(&["gone", "kept", "kept"], &[(&["kept"], &[])])));
    assert_eq!(manager.store().told(), ["+ns/gone ns/pod", "+ns/kept ns/pod"]);
    manager.register_pod(&pod("ns", "pod", &Secrets(&["kept", "new"], &[])));
    assert_eq!(manager.store().told(), ["+ns/new ns/pod", "-ns/gone ns/pod"]);
    manager.unregister_pod(&pod("ns", "pod", &Secrets(&["never-registered"], &[])));
    assert_eq!(manager.store().told(), ["-ns/kept ns/pod", "-ns/new ns/pod"], "what the remembered pod refers to");
    manager.unregister_pod(&pod("ns", "pod", &Secrets(&["kept"], &[])));
    assert_eq!(manager.store().told(), [""; 0], "it is unknown by now");
}

#[test]
fn each_kind_is_told_of_its_own_references() {
    let pod = json!({
        "metadata": {"namespace": "ns", "name": "pod", "uid": "u"},
        "spec": {"containers": [], "imagePullSecrets": [{"name": "pull"}], "volumes": [
            {"name": "s", "secret": {"secretName": "secret"}},
            {"name": "c", "configMap": {"name": "config"}},
        ]},
    });
    let pod: Pod = serde_json::from_value(pod).expect("a pod");
    let (secrets, config_maps) = (manager::<Secret>(), manager::<ConfigMap>());
    secrets.register_pod(&pod);
    config_maps.register_pod(&pod);
    assert_eq!(secrets.store().told(), ["+ns/pull u", "+ns/secret u"]);
    assert_eq!(config_maps.store().told(), ["+ns/config u"]);
}
