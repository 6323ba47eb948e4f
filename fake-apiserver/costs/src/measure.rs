//! The measurement: a server, a client, and the counts before and after.

use crate::cases::{CASES, Case, TOKEN, Template, WATCH, WEBHOOK};
use crate::connection::Connection;
use crate::table::{Row, Table};
use crate::webhook;
use crate::work::Costs;
use anyhow::Context;
use fake_apiserver::FakeApiServer;
use std::net::SocketAddr;
use std::sync::mpsc;
use std::thread::{self, JoinHandle};
use tokio::runtime;
use tokio::sync::oneshot;

/// The requests before those that are measured: they fill caches and buffers.
const WARM: u64 = 30;
/// The requests that are measured.
const MEASURED: u64 = 100;

/// Measures one request of a case: of each cost the least of 100 requests. A busy machine makes most of them dearer.
///
/// # Errors
/// If the server does not start, or refuses a request.
fn measure(case: &Case) -> anyhow::Result<Costs> {
    let server = Server::start()?;
    let mut ready = Ready::of(case, server.address, WARM + MEASURED)?;
    let (warm, measured) = ready.requests.split_at(WARM as usize);
    exchange(&mut ready.connection, &mut ready.watches, warm)?;
    let mut all = Vec::with_capacity(measured.len());
    for request in measured.chunks(1) {
        let begin = Costs::so_far();
        exchange(&mut ready.connection, &mut ready.watches, request)?;
        all.push(Costs::so_far().since(begin));
    }
    server.stop()?;
    Ok(Costs::least(&all))
}

/// Measures all cases. Instructions are not counted.
///
/// # Errors
/// If the server does not start, or refuses a request.
pub fn table() -> anyhow::Result<Table> {
    let row = |case: &Case| Ok(Row { name: case.name.to_owned(), costs: measure(case)?, instructions: None });
    CASES.iter().map(row).collect::<anyhow::Result<_>>().map(Table)
}

/// Sends that many requests of a case, for others to measure.
///
/// # Errors
/// If the server does not start, or refuses a request.
pub fn send(case: &Case, requests: u64) -> anyhow::Result<()> {
    let server = Server::start()?;
    let mut ready = Ready::of(case, server.address, requests)?;
    exchange(&mut ready.connection, &mut ready.watches, &ready.requests)?;
    server.stop()
}

/// All that a case needs once its requests begin.
struct Ready {
    connection: Connection,
    watches: Vec<Connection>,
    requests: Vec<Vec<u8>>,
}

impl Ready {
    fn of(case: &Case, address: SocketAddr, requests: u64) -> anyhow::Result<Ready> {
        let mut connection = Connection::open(address)?;
        for template in case.before {
            connection.exchange(&template.request(0))?;
        }
        for (template, number) in case.each.iter().flat_map(|each| (0..requests).map(move |number| (each, number))) {
            connection.exchange(&template.request(number))?;
        }
        if case.webhook {
            connection.exchange(&WEBHOOK.with_body("", webhook::start()?.into_bytes()))?;
        }
        let requests = match case.protobuf {
            false => (0..requests).map(|number| case.request.request(number)).collect(),
            true => {
                let zeroth = in_protobuf(case, &mut connection)?;
                (0..requests).map(|number| case.request.with_content(number, &zeroth)).collect()
            }
        };
        let mut watches = (0..case.watches).map(|_| Connection::open(address)).collect::<anyhow::Result<Vec<_>>>()?;
        watches.iter_mut().try_for_each(|watch| watch.watch(&WATCH.request(0)))?;
        Ok(Ready { connection, watches, requests })
    }
}

/// The content of a case's request of number 0 in protobuf, as a dry run answers it.
fn in_protobuf(case: &Case, connection: &mut Connection) -> anyhow::Result<Vec<u8>> {
    let json = Template { media: "application/json", ..case.request };
    let path = format!("{} ", json.path);
    let request = String::from_utf8(json.request(0))?.replacen(&path, &format!("{}?dryRun=All ", json.path), 1);
    Ok(connection.exchange(request.as_bytes())?.to_vec())
}

/// Sends requests one after the other, and reads all that comes of each.
fn exchange(connection: &mut Connection, watches: &mut [Connection], requests: &[Vec<u8>]) -> anyhow::Result<()> {
    for request in requests {
        connection.exchange(request)?;
        watches.iter_mut().try_for_each(Connection::event)?;
    }
    Ok(())
}

/// A server on a thread of its own.
struct Server {
    address: SocketAddr,
    stop: oneshot::Sender<()>,
    thread: JoinHandle<anyhow::Result<()>>,
}

impl Server {
    fn start() -> anyhow::Result<Server> {
        let (stop, stopped) = oneshot::channel();
        let (say, started) = mpsc::channel();
        let thread = thread::spawn(move || {
            let runtime = runtime::Builder::new_current_thread().enable_all().build()?;
            runtime.block_on(async {
                let server = FakeApiServer::builder()
                    .insecure()
                    .seed(1)
                    .add_static_token(TOKEN, "costs", &["system:masters"])
                    .start()
                    .await?;
                say.send(server.replica(0).address())?;
                // Also if the sender is gone.
                let _ = stopped.await;
                server.shutdown().await;
                Ok(())
            })
        });
        match started.recv() {
            Ok(address) => Ok(Server { address, stop, thread }),
            Err(_) => Err(join(thread).err().context("the server ended")?),
        }
    }

    fn stop(self) -> anyhow::Result<()> {
        drop(self.stop);
        join(self.thread)
    }
}

fn join(thread: JoinHandle<anyhow::Result<()>>) -> anyhow::Result<()> {
    thread.join().map_err(|_| anyhow::anyhow!("the server panicked"))?
}
