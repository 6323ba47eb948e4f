//! Measurements of custom resources: how fast objects are created, how soon after their definition, and the cost of definitions.

use super::client::{Call, Connection, Target};
use super::load::{CUSTOM_CREATES, GETS, RULED_CREATES, Session, WIDE_CREATES};
use super::report::{Unit, milliseconds};
use super::server::Server;
use super::{BARE, Bench, OWN, Programs};
use anyhow::Context;
use http::{Method, StatusCode};
use serde_json::{Map, Value, json};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Number of definitions that a server is to hold.
const MANY: usize = 1000;
/// Number of fields of objects.
const FIELDS: usize = 30;
/// Number of such groups of fields in a long schema: pretty-printed, it has 2,000 lines.
const LONG: usize = 11;
/// Number of measurements.
const ROUNDS: usize = 5;

/// Names of figures.
const CUSTOM: [&str; 2] =
    ["custom objects of 30 fields created, of config maps with 30 entries", "the same with three rules"];
const FIRST: [&str; 2] = ["definition to first object", "the same, with a schema of 2,000 lines"];
const COSTS: [&str; 2] = ["memory of 1,000 definitions", "gets kept beside them"];

const DEFINITIONS: &str = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";

/// A custom resource whose `spec` has [`FIELDS`] fields, and perhaps more.
pub(super) struct Custom<'g> {
    pub(super) group: &'g str,
    /// The plural; the kind is the same.
    pub(super) plural: &'g str,
    /// Number of such groups of fields.
    pub(super) groups: usize,
    /// Whether there are rules, three of them.
    pub(super) ruled: bool,
}

impl Bench<'_> {
    /// Measures creates of custom objects, and how soon after their definition they can be made.
    pub(super) async fn custom_objects(&mut self) -> anyhow::Result<()> {
        let (mut kept, mut first) = ([(); 2].map(|()| self.no_samples()), [(); 2].map(|()| self.no_samples()));
        for (index, server) in self.servers.iter().enumerate().filter(|(index, _)| *index != BARE) {
            if CUSTOM.iter().any(|name| self.wants(name)) {
                server.define().await?;
                for (samples, of_server) in kept.iter_mut().zip(creates(server).await?) {
                    samples[index] = of_server;
                }
                server.undefine().await?;
            }
            if FIRST.iter().any(|name| self.wants(name)) {
                for (samples, of_server) in first.iter_mut().zip(first_objects(server).await?) {
                    samples[index] = of_server.into_iter().map(milliseconds).collect();
                }
            }
        }
        let kept = CUSTOM.iter().zip(kept).map(|(name, samples)| (name, Unit::Percent, samples));
        let first = FIRST.iter().zip(first).map(|(name, samples)| (name, Unit::Milliseconds, samples));
        for (name, unit, samples) in kept.chain(first) {
            if samples.iter().any(|samples| !samples.is_empty()) {
                self.add(name, unit, samples);
            }
        }
        Ok(())
    }

    /// Measures the cost of many definitions, on servers of their own.
    pub(super) async fn definitions(&mut self, programs: &Programs) -> anyhow::Result<()> {
        if !COSTS.iter().any(|name| self.wants(name)) {
            return Ok(());
        }
        let [with, without] =
            [programs.start_own()?, programs.start_own()?].map(|process| super::server("fake-apiserver", process));
        let (with, without) = (with?, without?);
        for server in [&with, &without] {
            server.populate(0).await?;
        }
        let (memory, kept) = many(&with, &without).await?;
        let [mut of_memory, mut of_gets] = [(); 2].map(|()| self.no_samples());
        of_memory[OWN].extend(memory.map(|bytes| bytes as f64 / 1e6));
        of_gets[OWN] = kept;
        self.add(COSTS[0], Unit::Megabytes, of_memory);
        self.add(COSTS[1], Unit::Percent, of_gets);
        Ok(())
    }
}

impl Custom<'_> {
    fn definition(&self) -> Call {
        let fields: Map<String, Value> = (0..FIELDS)
            .map(|number| {
                let schema = match number % 3 {
                    0 => json!({"type": "string", "maxLength": 50}),
                    1 => json!({"type": "integer", "minimum": 0}),
                    _ => json!({"type": "object", "properties": {"x": {"type": "string"}, "y": {"type": "boolean"}}}),
                };
                (field(number), schema)
            })
            .collect();
        let mut spec = json!({"type": "object", "properties": fields});
        if self.ruled {
            let rules = ["self.f01 <= self.f04", "self.f00.startsWith('v')", "self.f02.y || self.f05.x != self.f08.x"];
            spec["x-kubernetes-validations"] = rules.map(|rule| json!({"rule": rule})).into();
        }
        for group in 1..self.groups {
            spec["properties"][format!("group{group}")] = json!({"type": "object", "properties": fields});
        }
        let schema = json!({"type": "object", "properties": {"spec": spec}});
        let version = json!({"name": "v1", "served": true, "storage": true, "schema": {"openAPIV3Schema": schema}});
        let names = json!({"plural": self.plural, "kind": self.plural});
        let spec = json!({"group": self.group, "scope": "Namespaced", "names": names, "versions": [version]});
        let definition = json!({"metadata": {"name": format!("{}.{}", self.plural, self.group)}, "spec": spec});
        Call::new(Method::POST, DEFINITIONS, definition.to_string())
    }

    /// Creates an object.
    pub(super) fn create(&self, namespace: &str, name: &str) -> Call {
        let spec: Map<String, Value> = (0..FIELDS)
            .map(|number| {
                let value = match number % 3 {
                    0 => "value of the field".into(),
                    1 => number.into(),
                    _ => json!({"x": "text", "y": true}),
                };
                (field(number), value)
            })
            .collect();
        let path = format!("/apis/{}/v1/namespaces/{namespace}/{}", self.group, self.plural);
        let api_version = format!("{}/v1", self.group);
        let object = json!({"apiVersion": api_version, "kind": self.plural, "metadata": {"name": name}, "spec": spec});
        Call::new(Method::POST, path, object.to_string())
    }

    /// Defines the resource and waits until an object of it is created. The server has to be asked again until then: a real one
    /// serves a resource some time after it says so.
    pub(super) async fn define(&self, connection: &mut Connection, namespace: &str) -> anyhow::Result<()> {
        connection.exchange(self.definition()).await?;
        while connection.answer(self.create(namespace, "first")).await? != StatusCode::CREATED {}
        Ok(())
    }

    /// Deletes the definition, and with it all objects.
    pub(super) async fn delete(&self, connection: &mut Connection) -> anyhow::Result<()> {
        let path = format!("{DEFINITIONS}/{}.{}", self.plural, self.group);
        connection.exchange(Call::new(Method::DELETE, path, "")).await?;
        Ok(())
    }
}

/// A config map of [`FIELDS`] entries.
pub(super) fn config_map(name: &str) -> String {
    let data: Map<String, Value> = (0..FIELDS).map(|number| (field(number), "value of the field".into())).collect();
    json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}, "data": data}).to_string()
}

fn field(number: usize) -> String {
    format!("f{number:02}")
}

/// The time from the sending of a definition to the answer to the creation of an object: of a short schema, and of a long one.
async fn first_objects(server: &Server) -> anyhow::Result<[Vec<Duration>; 2]> {
    let mut durations = [Vec::new(), Vec::new()];
    let mut connection = server.target.connect().await?;
    for _ in 0..ROUNDS {
        for (groups, durations) in [1, LONG].into_iter().zip(&mut durations) {
            let group = format!("first{}.example.com", server.next_number());
            let custom = Custom { group: &group, plural: "firsts", groups, ruled: false };
            let start = Instant::now();
            custom.define(&mut connection, "default").await?;
            durations.push(start.elapsed());
            custom.delete(&mut connection).await?;
        }
    }
    Ok(durations)
}

/// Custom objects created per second, without and with rules, in percent of config maps.
async fn creates(server: &Arc<Server>) -> anyhow::Result<[Vec<f64>; 2]> {
    let mut config_maps = Session::open(&WIDE_CREATES, server).await?;
    let mut sessions = [Session::open(&CUSTOM_CREATES, server).await?, Session::open(&RULED_CREATES, server).await?];
    let mut kept = [Vec::new(), Vec::new()];
    for _ in 0..ROUNDS {
        // One right after the other, so that other load on the machine affects all alike.
        let plain = config_maps.round().await?.rate;
        for (session, kept) in sessions.iter_mut().zip(&mut kept) {
            kept.push(session.round().await?.rate / plain * 100.0);
        }
    }
    Ok(kept)
}

/// The memory that [`MANY`] definitions cost a server, in bytes, if known, and the gets that it answers per second with them, in percent
/// of those of a server without.
async fn many(server: &Arc<Server>, without: &Arc<Server>) -> anyhow::Result<(Option<u64>, Vec<f64>)> {
    let before = server.memory();
    define_many(&server.target).await?;
    let memory = server.memory().zip(before).map(|(now, before)| now.saturating_sub(before));
    let mut sessions = [Session::open(&GETS, server).await?, Session::open(&GETS, without).await?];
    let mut kept = Vec::new();
    for _ in 0..ROUNDS {
        let [with, without] = &mut sessions;
        kept.push(with.round().await?.rate / without.round().await?.rate * 100.0);
    }
    Ok((memory, kept))
}

async fn define_many(target: &Target) -> anyhow::Result<()> {
    let mut connection = target.connect().await?;
    for number in 0..MANY {
        let (group, plural) = (format!("group{}.example.com", number % 50), format!("kinds{number}"));
        let custom = Custom { group: &group, plural: &plural, groups: 1, ruled: false };
        connection.exchange(custom.definition()).await.with_context(|| format!("definition {number}"))?;
    }
    Ok(())
}
