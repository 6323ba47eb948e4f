//! What tests put into a world, and look at in it.

use super::World;
use loops::{Key, Resource};
use tree::{Value, json};

pub(crate) const PODS: Resource = Resource::new("", "v1", "pods");
pub(crate) const SETS: Resource = Resource::new("apps", "v1", "replicasets");
pub(crate) const DEPLOYMENTS: Resource = Resource::new("apps", "v1", "deployments");

pub(crate) fn key(name: &str) -> Key {
    Key { namespace: "ns".to_owned(), name: name.to_owned() }
}

/// A template of pods with a label `app` and an image.
pub(crate) fn template(app: &str, image: &str) -> Value {
    json!({
        "metadata": {"labels": {"app": app}},
        "spec": {"containers": [{"name": "c", "image": image}], "restartPolicy": "Always"},
    })
}

impl World {
    /// Creates an object in the namespace `ns`.
    pub(crate) fn add(&mut self, resource: &Resource, object: Value) {
        self.add_to("ns", resource, object);
    }

    /// Creates an object in a namespace, or with an empty one outside of any.
    pub(crate) fn add_to(&mut self, namespace: &str, resource: &Resource, object: Value) {
        let name = object["metadata"]["name"].as_str().unwrap().to_owned();
        let key = Key { namespace: namespace.to_owned(), name };
        self.act(&loops::Act::Create { resource: resource.clone(), key, subresource: "", object }).unwrap();
    }

    /// A world with a node `node-1` and its kubelet, beside these loops.
    pub(crate) fn with_kubelet(mut loops: Vec<Box<dyn loops::Loop>>, rules: &str) -> World {
        loops.push(loops::nodes::kubelet(
            vec!["node-1".to_owned()],
            String::new(),
            rules.parse().unwrap(),
            Default::default(),
        ));
        let mut world = World::new(loops);
        let namespace = json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "kube-node-lease"}});
        world.add_to("", &Resource::new("", "v1", "namespaces"), namespace);
        world.settle();
        world
    }

    /// Creates a pod on the node.
    pub(crate) fn add_pod(&mut self, name: &str, app: &str, spec: Value) {
        let mut pod = json!({
            "apiVersion": "v1", "kind": "Pod", "metadata": {"name": name, "labels": {"app": app}}, "spec": spec,
        });
        pod["spec"]["nodeName"] = "node-1".into();
        self.add(&PODS, pod);
    }

    /// The phase of a pod, and the state of its first container.
    pub(crate) fn state(&self, name: &str) -> String {
        let pod = self.get(&PODS, name);
        let status = &pod["status"]["containerStatuses"][0];
        let state = match &status["state"] {
            state if state["running"].is_object() => "running".to_owned(),
            state if state["waiting"].is_object() => state["waiting"]["reason"].as_str().unwrap().to_owned(),
            state => format!("exit {}", state["terminated"]["exitCode"]),
        };
        let ready = if status["ready"] == true { " ready" } else { "" };
        format!("{} {state}{ready} {}", pod["status"]["phase"].as_str().unwrap(), status["restartCount"])
    }

    /// Changes an object as a user does.
    pub(crate) fn edit(&mut self, resource: &Resource, name: &str, change: impl FnOnce(&mut Value)) {
        let mut object = self.get(resource, name);
        change(&mut object);
        self.act(&loops::Act::Update { resource: resource.clone(), subresource: "", object }).unwrap();
    }

    /// Changes an object's status.
    pub(crate) fn edit_status(&mut self, resource: &Resource, name: &str, change: impl FnOnce(&mut Value)) {
        let mut object = self.get(resource, name);
        change(&mut object["status"]);
        self.act(&loops::Act::Update { resource: resource.clone(), subresource: "status", object }).unwrap();
    }

    pub(crate) fn get(&self, resource: &Resource, name: &str) -> Value {
        let object = self.objects.get(resource, &key(name));
        (**object.unwrap_or_else(|| panic!("no {resource} {name}"))).clone()
    }

    pub(crate) fn names(&self, resource: &Resource) -> Vec<String> {
        self.objects.all(resource).map(|(key, _)| key.name.clone()).collect()
    }

    /// Makes all pods that have not ended run and be ready, on a node.
    pub(crate) fn run_pods(&mut self) {
        let time = self.now.strftime("%Y-%m-%dT%H:%M:%SZ").to_string();
        for name in self.names(&PODS) {
            let mut pod = self.get(&PODS, &name);
            if pod["status"]["phase"] != "Pending" {
                continue;
            }
            pod["spec"]["nodeName"] = "node-1".into();
            let ready = json!([{"type": "Ready", "status": "True", "lastTransitionTime": time.as_str()}]);
            pod["status"] = json!({"phase": "Running", "conditions": ready});
            self.set(&PODS, &key(&name), Some(pod));
        }
    }

    /// Settles, lets pods run and ends those that are being deleted, until nothing changes.
    pub(crate) fn live(&mut self) {
        loop {
            self.settle();
            let before = self.count;
            self.run_pods();
            for name in self.names(&PODS) {
                if !self.get(&PODS, &name)["metadata"]["deletionTimestamp"].is_null() {
                    self.delete(&PODS, &key(&name), Some(0));
                }
            }
            if self.count == before {
                return;
            }
        }
    }

    /// The conditions of an object, as `type=status reason`.
    pub(crate) fn conditions(&self, resource: &Resource, name: &str) -> Vec<String> {
        let object = self.get(resource, name);
        let conditions = object["status"]["conditions"].as_array().cloned().unwrap_or_default();
        let text = |condition: &Value, field: &str| condition[field].as_str().unwrap_or_default().to_owned();
        let print = |c: &Value| format!("{}={} {}", text(c, "type"), text(c, "status"), text(c, "reason"));
        conditions.iter().map(|condition| print(condition).trim_end().to_owned()).collect()
    }
}
