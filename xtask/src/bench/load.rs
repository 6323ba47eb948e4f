//! Load: on each of some connections one request after the other, without a pause.

use super::client::{Call, Connection};
use super::server::Server;
use futures::future::try_join_all;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Duration of a server's turn.
const ROUND: Duration = Duration::from_millis(600);

/// A kind of load.
pub(super) struct Load {
    pub(super) name: &'static str,
    pub(super) connections: u64,
    /// Makes the next request of the connection with that number.
    pub(super) call: fn(&Server, u64) -> Call,
}

pub(super) const CREATES: Load = Load { name: "creates", connections: 8, call: |server, _| server.create() };
pub(super) const CREATES_AT_ONCE: Load =
    Load { name: "creates in eight namespaces", connections: 8, call: Server::create_in_one_of_many };
pub(super) const POD_CREATES: Load =
    Load { name: "creates of pods", connections: 8, call: |server, _| server.create_pod() };
pub(super) const DEPLOYMENT_CREATES: Load =
    Load { name: "creates of deployments", connections: 8, call: |server, _| server.create_deployment() };
pub(super) const COUNTED_CREATES: Load =
    Load { name: "creates that a quota counts", connections: 8, call: |server, _| server.create_in_one_of_many(0) };
pub(super) const HOOKED_CREATES: Load =
    Load { name: "creates past a webhook", connections: 8, call: |server, _| server.create_in_one_of_many(1) };
pub(super) const POLICED_CREATES: Load =
    Load { name: "creates past five policies", connections: 8, call: |server, _| server.create_in_one_of_many(2) };
pub(super) const WIDE_CREATES: Load =
    Load { name: "creates of config maps with 30 entries", connections: 8, call: |server, _| server.create_wide() };
pub(super) const CUSTOM_CREATES: Load =
    Load { name: "creates of custom objects", connections: 8, call: |server, _| server.create_custom(false) };
pub(super) const RULED_CREATES: Load =
    Load { name: "creates of custom objects with rules", connections: 8, call: |server, _| server.create_custom(true) };
pub(super) const UPDATES: Load = Load { name: "updates", connections: 8, call: Server::update };
pub(super) const GETS: Load = Load { name: "gets", connections: 8, call: Server::get };
pub(super) const RBAC_GETS: Load = Load { name: "gets by a user under RBAC", ..GETS };
pub(super) const PAGES: Load =
    Load { name: "pages of 500 of 100,000", connections: 2, call: |server, _| server.page() };
pub(super) const LISTS: Load = Load { name: "lists of 4,000", connections: 2, call: |server, _| server.list() };
pub(super) const PROTOBUF_GETS: Load =
    Load { name: "gets in protobuf", connections: 8, call: |server, object| server.get(object).in_protobuf() };
pub(super) const PROTOBUF_LISTS: Load =
    Load { name: "lists of 4,000 in protobuf", connections: 2, call: |server, _| server.list().in_protobuf() };
pub(super) const APPLIES: Load = Load { name: "applies", connections: 8, call: Server::apply };

/// The result of a round.
pub(super) struct Round {
    /// Requests per second.
    pub(super) rate: f64,
    /// The server's processor time per request, in microseconds, if known.
    pub(super) cpu: Option<f64>,
}

/// A load on a server, with its connections open.
pub(super) struct Session {
    load: &'static Load,
    server: Arc<Server>,
    connections: Vec<Connection>,
}

impl Session {
    pub(super) async fn open(load: &'static Load, server: &Arc<Server>) -> anyhow::Result<Self> {
        let connections = try_join_all((0..load.connections).map(|_| server.target.connect())).await?;
        Ok(Session { load, server: server.clone(), connections })
    }

    pub(super) async fn round(&mut self) -> anyhow::Result<Round> {
        let cpu_before = self.server.cpu_time();
        let start = Instant::now();
        let mut tasks = Vec::new();
        for (number, mut connection) in (0..).zip(self.connections.drain(..)) {
            let (server, call) = (self.server.clone(), self.load.call);
            tasks.push(tokio::spawn(async move {
                let mut requests = 0_u32;
                while start.elapsed() < ROUND {
                    connection.exchange(call(&server, number)).await?;
                    requests += 1;
                }
                anyhow::Ok((connection, requests))
            }));
        }
        let mut requests = 0;
        for task in tasks {
            let (connection, answered) = task.await??;
            self.connections.push(connection);
            requests += answered;
        }
        let requests = f64::from(requests);
        let rate = requests / start.elapsed().as_secs_f64();
        let cpu = self.server.cpu_time().zip(cpu_before).map(|(now, before)| (now - before).as_secs_f64());
        Ok(Round { rate, cpu: cpu.map(|seconds| seconds * 1e6 / requests) })
    }
}
