//! The verbs about kubelets: ports of the part that deals with credentials. They are ordinary clients and run no containers.
//!
//! ```text
//! kubelet start node-1                            mounts the volumes of that node's pods, as the user system:node:node-1
//! kubelet start node-1 as admin strategy=Cache clock-offset=-120s
//! kubelet sync node-1                             makes the sync of all pods due
//! kubelet stop node-1
//!
//! files of pods/a on node-1                       once no work is due: the files that the pod's containers would see
//! ----
//! credentials/ca.crt mode=0644
//!   content = $ca
//! credentials/token content=$token version=$v1    the version changes when the volume's content does
//! ```
//!
//! Before the clock is moved, kubelets catch up with their watches, so that the next sync sees a change. They sync each pod when
//! it changes, and once a minute.

use super::server::seconds;
use crate::credentials::ADMINISTRATOR;
use crate::kubelets::{Kubelet, Settings};
use crate::stage::Stage;
use anyhow::{Context as _, Result, ensure};
use conformance_judge::observation::Observation;
use conformance_judge::scenario::command::RawCommand;
use kubelet::objects::Strategy;
use serde_json::Value;

/// A verb of kubelets.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum KubeletVerb {
    /// `kubelet start NODE …`.
    Start {
        /// The name of the node.
        node: String,
        /// The kubelet's settings.
        settings: Settings,
    },
    /// `kubelet sync NODE`.
    Sync(String),
    /// `kubelet stop NODE`.
    Stop(String),
    /// `files of pods/NAME on NODE`.
    Files {
        /// The name of the pod.
        pod: String,
        /// The name of its node.
        node: String,
    },
}

impl KubeletVerb {
    /// Reads the command.
    pub fn parse(command: &RawCommand) -> Result<KubeletVerb, String> {
        match (command.verb.as_str(), &command.words()[..]) {
            ("kubelet", ["start", node, "as", user, settings @ ..]) => start(node, user, settings),
            ("kubelet", ["start", node, settings @ ..]) => start(node, &format!("system:node:{node}"), settings),
            ("kubelet", ["sync", node]) => Ok(KubeletVerb::Sync((*node).to_owned())),
            ("kubelet", ["stop", node]) => Ok(KubeletVerb::Stop((*node).to_owned())),
            ("files", ["of", pod, "on", node]) if pod.starts_with("pods/") => {
                Ok(KubeletVerb::Files { pod: pod["pods/".len()..].to_owned(), node: (*node).to_owned() })
            }
            ("kubelet", _) => Err(command.usage("kubelet start NODE [as USER] … | kubelet stop|sync NODE")),
            _ => Err(command.usage("files of pods/NAME on NODE")),
        }
    }

    /// Carries it out.
    pub async fn play(&self, stage: &mut Stage<'_>) -> Result<Observation> {
        match self {
            KubeletVerb::Start { node, settings } => {
                ensure!(!stage.kubelets.contains_key(node), "a kubelet of {node:?} runs already");
                let kubelet = Kubelet::start(stage.cluster, node, settings, stage.clock_moved.subscribe())?;
                stage.nodes.insert(node.clone());
                stage.kubelets.insert(node.clone(), kubelet);
            }
            KubeletVerb::Sync(node) => running(stage, node)?.sync().await?,
            KubeletVerb::Stop(node) => {
                let kubelet = stage.kubelets.remove(node).with_context(|| none(node))?;
                kubelet.stop().await?;
            }
            KubeletVerb::Files { pod, node } => {
                let pod = stage.fill(pod)?;
                running(stage, node)?.settled().await?;
                let uid = uid(stage, &pod).await?;
                return Ok(running(stage, node)?.files(&uid)?.into());
            }
        }
        Ok(Observation::default())
    }
}

fn running<'s>(stage: &'s Stage<'_>, node: &str) -> Result<&'s Kubelet> {
    stage.kubelets.get(node).with_context(|| none(node))
}

fn none(node: &str) -> String {
    format!("no kubelet of {node:?} runs")
}

/// The pod's uid; the last known one if it is gone.
async fn uid(stage: &mut Stage<'_>, pod: &str) -> Result<String> {
    let path = format!("/api/v1/namespaces/{}/pods?fieldSelector=metadata.name%3D{pod}", stage.cluster.namespace());
    let token = stage.cluster.token(ADMINISTRATOR);
    let found = stage.cluster.endpoints()[0].ask(token.as_deref(), "GET", &path, &Value::Null).await?;
    if let Some(uid) = found["items"][0]["metadata"]["uid"].as_str() {
        stage.pod_uids.insert(pod.to_owned(), uid.to_owned());
    }
    stage
        .pod_uids
        .get(pod)
        .cloned()
        .with_context(|| format!("there is no pod {pod:?}, and its files were never looked at"))
}

fn start(node: &str, user: &str, written: &[&str]) -> Result<KubeletVerb, String> {
    let mut settings = Settings { user: user.to_owned(), strategy: Strategy::default(), clock_offset: 0 };
    for setting in written {
        match setting.split_once('=') {
            Some(("strategy", strategy)) => {
                settings.strategy = strategy.parse().map_err(|error| format!("{error}"))?;
            }
            Some(("clock-offset", offset)) => settings.clock_offset = seconds(offset)?,
            _ => return Err(format!("{setting:?} is none of clock-offset=SECONDSs, strategy=Cache|Get|Watch")),
        }
    }
    Ok(KubeletVerb::Start { node: node.to_owned(), settings })
}
