//! Pods that refer to secrets, as upstream's tests make them, and to config maps of the same names.

use k8s_openapi::api::core::v1::Pod;
use kubelet::objects::ObjectManager;
use serde_json::{Value, json};

/// The names that a pod refers to: as pull secrets (and as config map volumes), and in the environment of each container.
pub(crate) struct Secrets(pub(crate) &'static [&'static str], pub(crate) &'static [Environment]);

/// The names that a container refers to in `env`, and in `envFrom`.
pub(crate) type Environment = (&'static [&'static str], &'static [&'static str]);

/// A pod whose uid is made of its namespace and name.
pub(crate) fn pod(namespace: &str, name: &str, secrets: &Secrets) -> Pod {
    pod_with_uid(namespace, name, &format!("{namespace}/{name}"), secrets)
}

pub(crate) fn pod_with_uid(namespace: &str, name: &str, uid: &str, Secrets(pull, environments): &Secrets) -> Pod {
    let reference = |name: &&str| json!({"name": name});
    let container = |(index, (variables, whole)): (usize, &Environment)| {
        let from = |source: &str, name: &str| json!({"name": "V", "valueFrom": {source: {"name": name, "key": "k"}}});
        let variable = |name: &&str| [from("secretKeyRef", name), from("configMapKeyRef", name)];
        let env: Vec<Value> = variables.iter().flat_map(variable).collect();
        let source = |name: &&str| [json!({"secretRef": reference(name)}), json!({"configMapRef": reference(name)})];
        let env_from: Vec<Value> = whole.iter().flat_map(source).collect();
        json!({"name": format!("container-{index}"), "env": env, "envFrom": env_from})
    };
    let containers: Vec<Value> = environments.iter().enumerate().map(container).collect();
    let volumes: Vec<Value> = pull.iter().map(|name| json!({"name": name, "configMap": reference(name)})).collect();
    let pull: Vec<Value> = pull.iter().map(reference).collect();
    let pod = json!({
        "metadata": {"namespace": namespace, "name": name, "uid": uid},
        "spec": {"imagePullSecrets": pull, "containers": containers, "volumes": volumes},
    });
    serde_json::from_value(pod).expect("a pod")
}

/// The steps of upstream's `TestCacheBasedSecretManager`.
pub(crate) fn register_and_unregister<K>(manager: &dyn ObjectManager<K>) {
    let first = Secrets(&["s1"], &[(&["s1"], &[]), (&["s2"], &[]), (&[], &["s20"])]);
    let second = Secrets(&["s1"], &[(&["s3"], &[]), (&["s4"], &[]), (&[], &["s40"])]);
    let third = Secrets(&["s5"], &[(&["s6"], &[]), (&[], &["s60"])]);
    manager.register_pod(&pod("ns1", "name1", &first));
    manager.register_pod(&pod("ns1", "name1", &second));
    manager.register_pod(&pod("ns2", "name2", &second));
    manager.register_pod(&pod("ns3", "name", &third));
    manager.unregister_pod(&pod("ns3", "name", &third));
}
