//! The binary `kubelet-volumes`: it gives the pods of a node their volumes, on any API server.

use clap::Parser;
use controller::program::{self, Cluster};
use kubelet::flags::Flags;
use kubelet::node::Node;
use std::process::ExitCode;

fn main() -> ExitCode {
    let flags = Flags::parse();
    program::start_logging(flags.verbosity);
    program::exit_code(run(flags))
}

#[tokio::main]
async fn run(flags: Flags) -> anyhow::Result<()> {
    let stop = program::stop_on_signal()?;
    if flags.wait_for_kubeconfig {
        program::wait_for(flags.kubeconfig.as_deref(), &stop).await;
    }
    let cluster = Cluster::load(flags.kubeconfig.as_deref()).await?;
    let client = kubelet::client::new(cluster.config, concat!("kubelet-volumes/v", env!("CARGO_PKG_VERSION")))?;
    let node = Node::start(client, flags.options());
    stop.cancelled().await;
    node.stop().await;
    Ok(())
}
