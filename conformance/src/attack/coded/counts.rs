//! Counts of many objects at once: in quotas, and of those that are left of namespaces and of definitions.

use crate::attack::catalogue::{Coded, Run};
use crate::attack::ground::Ground;
use crate::attack::verdict::Bounds;
use anyhow::{Result, ensure};
use futures::stream::{StreamExt as _, TryStreamExt as _, iter};
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;
use std::time::{Duration, Instant};

const BOUNDS: Bounds = Bounds { memory_mib: 192, peak_mib: 384, descriptors: 8, threads: 24 };
/// The clients of an attack.
const CLIENTS: usize = 64;
/// The resources of a large quota: nearly as many as it can hold.
const RESOURCES: usize = 12_000;
/// The objects with finalizers.
const OBJECTS: usize = 1500;
/// The time within which what waits for its objects goes.
const GONE: Duration = Duration::from_secs(30);
/// The pause between two looks.
const AGAIN: Duration = Duration::from_millis(20);

const SLOW: &str = "the real controller looks again only after a while";

const fn attack(name: &'static str, about: &'static str, run: Run) -> Coded {
    Coded::new(name, about, run).slow(BOUNDS)
}

/// The attacks.
pub(super) const ATTACKS: &[Coded] = &[
    attack(
        "a-large-quota",
        "64 creates at once, in a namespace with a quota of 12,000 resources that has room for 40.",
        |ground| Box::pin(a_large_quota(ground)),
    ),
    attack(
        "many-quotas",
        "64 creates at once, in a namespace with 100 quotas, of which the last has room for 40.",
        |ground| Box::pin(many_quotas(ground)),
    ),
    attack("creates-that-leave", "Clients that leave while their creates are counted in a large quota.", |ground| {
        Box::pin(creates_that_leave(ground))
    })
    .stated("as many counted as stored, or a few more", "which clients leave in time is up to the moment"),
    attack("a-quota-that-changes", "64 creates, while the quota is raised again and again.", |ground| {
        Box::pin(a_quota_that_changes(ground))
    }),
    attack(
        "finalizers-of-a-namespace",
        "The finalizers of 1,500 objects of a deleted namespace are removed.",
        |ground| Box::pin(finalizers_of_a_namespace(ground)),
    )
    .stated("1500x 200, gone", SLOW),
    attack(
        "finalizers-of-a-definition",
        "The finalizers of 1,500 objects of a deleted definition are removed.",
        |ground| Box::pin(finalizers_of_a_definition(ground)),
    )
    .stated("1500x 200, gone", SLOW),
];

/// The number of times of each code.
fn counted(codes: impl IntoIterator<Item = u16>) -> String {
    let mut counts = BTreeMap::<u16, usize>::new();
    codes.into_iter().for_each(|code| *counts.entry(code).or_default() += 1);
    counts.iter().map(|(code, count)| format!("{count}x {code}")).collect::<Vec<_>>().join(", ")
}

/// A namespace of an attack, in which the administrator attacks.
struct Place<'g> {
    ground: &'g Ground,
    name: String,
}

impl<'g> Place<'g> {
    async fn create(ground: &'g Ground, name: &str) -> Result<Place<'g>> {
        let name = format!("{}-{name}", ground.namespace());
        ground.must("POST", "/api/v1/namespaces", &json!({"metadata": {"name": name}})).await?;
        Ok(Place { ground, name })
    }

    fn path(&self, resource: &str) -> String {
        format!("/api/v1/namespaces/{}/{resource}", self.name)
    }

    /// The answer to a request of the administrator.
    async fn ask(&self, method: &str, path: &str, body: &Value) -> Result<(u16, Value)> {
        let token = self.ground.cluster().token(crate::credentials::ADMINISTRATOR).unwrap_or_default();
        self.ground.ask_with(&[("authorization", format!("Bearer {token}"))], method, path, body).await
    }

    /// Creates a quota that knows what is used: nothing.
    async fn quota(&self, name: &str, hard: &Value) -> Result<()> {
        let none: Map<_, _> =
            hard.as_object().into_iter().flatten().map(|(name, _)| (name.clone(), json!("0"))).collect();
        let quota = json!({"metadata": {"name": name}, "spec": {"hard": hard}});
        self.ground.must("POST", &self.path("resourcequotas"), &quota).await?;
        let status = json!({"status": {"hard": hard, "used": none}});
        self.patch(&format!("resourcequotas/{name}/status"), &status).await
    }

    /// Patches an object of the namespace, which must succeed.
    async fn patch(&self, object: &str, patch: &Value) -> Result<()> {
        let (code, answer) = self.ask("PATCH", &self.path(object), patch).await?;
        ensure!(code == 200, "{code} {answer}");
        Ok(())
    }

    /// The number of config maps that a quota has counted.
    async fn used(&self, quota: &str) -> Result<usize> {
        let quota = self.ground.must("GET", &self.path(&format!("resourcequotas/{quota}")), &Value::Null).await?;
        Ok(quota["status"]["used"]["configmaps"].as_str().unwrap_or_default().parse()?)
    }

    /// The number of config maps that are stored.
    async fn stored(&self) -> Result<usize> {
        let list = self.ground.must("GET", &self.path("configmaps"), &Value::Null).await?;
        Ok(list["items"].as_array().map_or(0, Vec::len))
    }

    /// The codes of so many creates at once.
    async fn created(&self, prefix: &str, count: usize) -> Result<Vec<u16>> {
        let create = |number: usize| async move {
            let object = json!({"metadata": {"name": format!("{prefix}-{number}")}});
            Ok::<_, anyhow::Error>(self.ask("POST", &self.path("configmaps"), &object).await?.0)
        };
        iter(0..count).map(create).buffer_unordered(CLIENTS).try_collect().await
    }

    async fn delete(self) -> Result<()> {
        self.ground.must("DELETE", &format!("/api/v1/namespaces/{}", self.name), &Value::Null).await.map(drop)
    }
}

/// The amounts of a large quota, of config maps so many.
fn large(config_maps: usize) -> Value {
    let others = (0..RESOURCES).map(|number| (format!("count/things-{number}.example.com"), json!("1")));
    Value::Object(others.chain([("configmaps".to_owned(), json!(config_maps.to_string()))]).collect())
}

async fn a_large_quota(ground: &Ground) -> Result<String> {
    let place = Place::create(ground, "large").await?;
    place.quota("large", &large(40)).await?;
    let codes = place.created("c", CLIENTS).await?;
    ensure!(place.used("large").await? == 40 && place.stored().await? == 40, "another number is counted or stored");
    ground.vigil.rounds(3).await;
    place.delete().await?;
    Ok(counted(codes))
}

async fn many_quotas(ground: &Ground) -> Result<String> {
    let place = Place::create(ground, "many").await?;
    for number in 0..100 {
        let room = if number == 99 { "40" } else { "100" };
        place.quota(&format!("q-{number:02}"), &json!({"configmaps": room, "secrets": "1"})).await?;
    }
    let codes = place.created("c", CLIENTS).await?;
    for number in [0, 50, 99] {
        ensure!(place.used(&format!("q-{number:02}")).await? >= 40, "some are not counted");
    }
    ensure!(place.stored().await? == 40, "another number is stored");
    ground.vigil.rounds(3).await;
    place.delete().await?;
    Ok(counted(codes))
}

async fn creates_that_leave(ground: &Ground) -> Result<String> {
    let place = Place::create(ground, "leave").await?;
    place.quota("large", &large(1000)).await?;
    for round in 0..5_u64 {
        for wait in 1..8 {
            let prefix = format!("l-{round}-{wait}");
            let creates = place.created(&prefix, CLIENTS / 2);
            tokio::time::timeout(Duration::from_millis(wait * 5), creates).await.ok();
        }
    }
    let before = place.stored().await?;
    let codes = place.created("stay", 40).await?;
    ensure!(codes.iter().all(|code| *code == 201), "those who stay: {}", counted(codes));
    ground.vigil.rounds(3).await;
    let (used, stored) = (place.used("large").await?, place.stored().await?);
    ensure!(stored >= before + 40 && used >= stored, "{used} are counted, {stored} stored");
    place.delete().await?;
    Ok("as many counted as stored, or a few more".to_owned())
}

async fn a_quota_that_changes(ground: &Ground) -> Result<String> {
    let place = Place::create(ground, "changes").await?;
    place.quota("q", &json!({"configmaps": "1000"})).await?;
    let raise = async {
        for turn in 0..40 {
            let hard = json!({"configmaps": (1000 + turn).to_string()});
            place.patch("resourcequotas/q/status", &json!({"status": {"hard": hard}})).await?;
        }
        anyhow::Ok(())
    };
    let (codes, ()) = tokio::try_join!(place.created("c", 200), raise)?;
    let (used, stored) = (place.used("q").await?, place.stored().await?);
    // A real server gives up after three conflicts, and a count is not given back.
    ensure!(used >= stored && codes.iter().filter(|code| **code == 201).count() == stored, "{used}, {stored}");
    ensure!(ground.real || codes.iter().all(|code| *code == 201) && used == 200, "{used} {}", counted(codes));
    place.delete().await?;
    Ok("counted".to_owned())
}

/// Removes the finalizers of objects, each by its path. Returns the codes.
async fn released(place: &Place<'_>, paths: Vec<String>) -> Result<Vec<u16>> {
    let release = |path: String| async move {
        let released = json!({"metadata": {"finalizers": null}});
        Ok::<_, anyhow::Error>(place.ask("PATCH", &path, &released).await?.0)
    };
    iter(paths).map(release).buffer_unordered(16).try_collect().await
}

/// Waits until nothing is found there.
async fn gone(place: &Place<'_>, path: &str) -> Result<()> {
    let begin = Instant::now();
    while place.ask("GET", path, &Value::Null).await?.0 != 404 {
        ensure!(begin.elapsed() < place.ground.patience(GONE), "{path} is still there");
        tokio::time::sleep(AGAIN).await;
    }
    Ok(())
}

/// Creates objects with a finalizer. Returns their paths.
async fn held(place: &Place<'_>, collection: &str, object: &Value) -> Result<Vec<String>> {
    let create = |number: usize| async move {
        let (name, mut object) = (format!("held-{number}"), object.clone());
        object["metadata"] = json!({"name": name, "finalizers": ["example.com/held"]});
        place.ground.must("POST", collection, &object).await?;
        Ok::<_, anyhow::Error>(format!("{collection}/{name}"))
    };
    iter(0..OBJECTS).map(create).buffer_unordered(16).try_collect().await
}

async fn finalizers_of_a_namespace(ground: &Ground) -> Result<String> {
    let place = Place::create(ground, "held").await?;
    let paths = held(&place, &place.path("configmaps"), &json!({})).await?;
    let own = format!("/api/v1/namespaces/{}", place.name);
    ground.must("DELETE", &own, &Value::Null).await?;
    let codes = released(&place, paths).await?;
    gone(&place, &own).await?;
    ground.vigil.rounds(3).await;
    Ok(format!("{}, gone", counted(codes)))
}

async fn finalizers_of_a_definition(ground: &Ground) -> Result<String> {
    let place = Place::create(ground, "defined").await?;
    let (group, definitions) = ("counts.example.com", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions");
    let schema = json!({"openAPIV3Schema": {"type": "object"}});
    let version = json!({"name": "v1", "served": true, "storage": true, "schema": schema});
    let names = json!({"plural": "helds", "kind": "Held"});
    let spec = json!({"group": group, "scope": "Namespaced", "names": names, "versions": [version]});
    let definition = json!({"metadata": {"name": format!("helds.{group}")}, "spec": spec});
    ground.must("POST", definitions, &definition).await?;
    let collection = format!("/apis/{group}/v1/namespaces/{}/helds", place.name);
    ground.prepared("GET", &collection, &Value::Null).await?;
    let object = json!({"apiVersion": format!("{group}/v1"), "kind": "Held"});
    let paths = held(&place, &collection, &object).await?;
    let own = format!("{definitions}/helds.{group}");
    ground.must("DELETE", &own, &Value::Null).await?;
    let codes = released(&place, paths).await?;
    gone(&place, &own).await?;
    ground.vigil.rounds(3).await;
    place.delete().await?;
    Ok(format!("{}, gone", counted(codes)))
}
