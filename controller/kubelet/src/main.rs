//! `kubelet-volumes`: gives the pods of a node their volumes, on any API server.

use anyhow::Context;
use clap::Parser;
use controller::program;
use kube::Config;
use kube::config::{KubeConfigOptions, Kubeconfig};
use kubelet::flags::Flags;
use kubelet::node::Node;
use std::path::Path;
use std::process::ExitCode;

fn main() -> ExitCode {
    let flags = Flags::parse();
    program::start_logging(flags.verbosity);
    program::exit_code(run(flags))
}

#[tokio::main]
async fn run(flags: Flags) -> anyhow::Result<()> {
    let stop = program::stop_on_signal()?;
    let config = config(flags.kubeconfig.as_deref()).await?;
    let client = kubelet::client::new(config, concat!("kubelet-volumes/v", env!("CARGO_PKG_VERSION")))?;
    let node = Node::start(client, flags.options());
    stop.cancelled().await;
    node.stop().await;
    Ok(())
}

async fn config(kubeconfig: Option<&Path>) -> anyhow::Result<Config> {
    let Some(path) = kubeconfig else { return Ok(Config::incluster()?) };
    let load = async {
        let kubeconfig = Kubeconfig::read_from(path)?;
        anyhow::Ok(Config::from_custom_kubeconfig(kubeconfig, &KubeConfigOptions::default()).await?)
    };
    load.await.with_context(|| format!("error loading kubeconfig {}", path.display()))
}
