//! Requests beside what others ask of the server: a short computation beside eight clients of another user who send long ones, and
//! `/readyz` while a namespace of very many objects goes.

use super::client::{Call, Target};
use super::report::{Unit, milliseconds, quantile};
use super::server::Server;
use super::{Bench, OWN, Programs, TOKEN, USER, server};
use anyhow::anyhow;
use http::Method;
use serde_json::{Value, json};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};
use tokio::runtime;
use tokio::task::spawn_blocking;

/// The figures.
const LIGHT: &str = "creates of 5 ms beside eight clients whose creates take 300 ms, 99 %";
const GOING: &str = "/readyz while a namespace of 200,000 objects goes, 99 %";
/// Clients that ask for long computations.
const HEAVY_CLIENTS: usize = 8;
/// Duration of the measurement of short ones.
const TURN: Duration = Duration::from_secs(10);
/// Number of objects of the namespace.
const MANY: u64 = 200_000;
const DEFINITIONS: &str = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
const THINGS: &str = "/apis/bench.example.com/v1/namespaces/default/things";

impl Bench<'_> {
    /// Measures both, each on a server of its own.
    pub(super) async fn crowds(&mut self, programs: &Programs) -> anyhow::Result<()> {
        if self.wants(LIGHT) {
            let process = programs.start_own()?;
            let [heavy, light] = [TOKEN, USER].map(|token| Target::new(process.url(), token, None));
            let (heavy, light) = (heavy?, light?);
            let durations = spawn_blocking(move || beside_heavy_clients(&heavy, &light)).await??;
            self.slowest(LIGHT, durations);
        }
        if self.wants(GOING) {
            let server = server("fake-apiserver", programs.start_own()?)?;
            server.populate(MANY).await?;
            let durations = spawn_blocking(move || beside_a_namespace_that_goes(&server)).await??;
            self.slowest(GOING, durations);
        }
        Ok(())
    }

    fn slowest(&mut self, name: &str, durations: Vec<Duration>) {
        let mut samples = self.no_samples();
        let durations: Vec<f64> = durations.into_iter().map(milliseconds).collect();
        samples[OWN].extend(quantile(&durations, 0.99));
        self.add(name, Unit::Milliseconds, samples);
    }
}

fn beside_heavy_clients(heavy: &Target, light: &Target) -> anyhow::Result<Vec<Duration>> {
    let runtime = runtime::Builder::new_current_thread().enable_all().build()?;
    let mut connection = runtime.block_on(async {
        heavy.connect().await?.exchange(Call::new(Method::POST, DEFINITIONS, definition().to_string())).await?;
        light.connect().await
    })?;
    let over = Arc::new(AtomicBool::new(false));
    let clients: Vec<_> = (0..HEAVY_CLIENTS).map(|_| sender(heavy.clone(), thing(600), over.clone())).collect();
    let durations = runtime.block_on(async {
        let (begin, mut durations) = (Instant::now(), Vec::new());
        while begin.elapsed() < TURN {
            let sent = Instant::now();
            connection.answer(thing(60)).await?;
            durations.push(sent.elapsed());
        }
        anyhow::Ok(durations)
    });
    over.store(true, Ordering::Relaxed);
    for client in clients {
        client.join().map_err(|_| anyhow!("a client has panicked"))??;
    }
    durations
}

/// A client that sends that request without a pause.
fn sender(target: Target, call: Call, over: Arc<AtomicBool>) -> JoinHandle<anyhow::Result<()>> {
    thread::spawn(move || {
        let runtime = runtime::Builder::new_current_thread().enable_all().build()?;
        runtime.block_on(async {
            let mut connection = target.connect().await?;
            while !over.load(Ordering::Relaxed) {
                connection.answer(call.clone()).await?;
            }
            Ok(())
        })
    })
}

/// A definition whose rule compares each number of a list with each.
fn definition() -> Value {
    let rule = json!({"rule": "self.list.all(a, self.list.all(b, a + b > 0))"});
    let list = json!({"type": "array", "maxItems": 800, "items": {"type": "integer"}});
    let spec = json!({"type": "object", "properties": {"list": list}, "x-kubernetes-validations": [rule]});
    let schema = json!({"openAPIV3Schema": {"type": "object", "properties": {"spec": spec}}});
    json!({
        "metadata": {"name": "things.bench.example.com"},
        "spec": {
            "group": "bench.example.com", "scope": "Namespaced", "names": {"plural": "things", "kind": "Thing"},
            "versions": [{"name": "v1", "served": true, "storage": true, "schema": schema}],
        },
    })
}

fn thing(numbers: usize) -> Call {
    let object = json!({
        "apiVersion": "bench.example.com/v1", "kind": "Thing", "metadata": {"generateName": "t-"},
        "spec": {"list": vec![1; numbers]},
    });
    Call::new(Method::POST, format!("{THINGS}?dryRun=All"), object.to_string())
}

fn beside_a_namespace_that_goes(server: &Server) -> anyhow::Result<Vec<Duration>> {
    let runtime = runtime::Builder::new_current_thread().enable_all().build()?;
    let (target, path) = (server.target.clone(), server.path_of_lists());
    let going = thread::spawn({
        let target = target.clone();
        move || {
            let runtime = runtime::Builder::new_current_thread().enable_all().build()?;
            runtime.block_on(async { target.connect().await?.exchange(Call::new(Method::DELETE, path, "")).await })
        }
    });
    let durations = runtime.block_on(async {
        let mut connection = target.connect().await?;
        let mut durations = Vec::new();
        while !going.is_finished() {
            let sent = Instant::now();
            connection.exchange(Call::get("/readyz")).await?;
            durations.push(sent.elapsed());
        }
        anyhow::Ok(durations)
    })?;
    going.join().map_err(|_| anyhow!("a client has panicked"))??;
    Ok(durations)
}
