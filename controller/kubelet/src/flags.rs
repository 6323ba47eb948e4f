//! The flags of `kubelet-volumes`, named as the kubelet's where it has them.

use crate::node::Options;
use crate::objects::Strategy;
use clap::{ArgAction, Parser};
use jiff::SignedDuration;
use std::path::PathBuf;

/// Gives the pods of a node their volumes, on any API server and without containers: secrets, config maps, tokens and
/// downward API files appear below --root-dir and change as they do on a real node.
#[derive(Debug, Clone, Parser)]
#[command(name = "kubelet-volumes", version, about)]
pub struct Flags {
    /// Path to the kubeconfig of the API server. Without it: the in-cluster configuration of a pod.
    #[arg(long, value_name = "FILE")]
    pub kubeconfig: Option<PathBuf>,

    /// Wait for the kubeconfig until it is there, instead of ending with an error.
    #[arg(long, requires = "kubeconfig")]
    pub wait_for_kubeconfig: bool,

    /// The name of the node: pods that are bound to it get their volumes. The node need not exist.
    #[arg(long, value_name = "NAME")]
    pub node_name: String,

    /// The directory for volumes: DIR/pods/UID/volumes/kubernetes.io~KIND/NAME. Directories below DIR/pods that belong to
    /// no pod of the node are removed; so never name a real kubelet's directory.
    #[arg(long, value_name = "DIR")]
    pub root_dir: PathBuf,

    /// The strategy to detect changes of secrets and config maps: Watch, Cache or Get.
    #[arg(long, value_name = "STRATEGY", default_value_t)]
    pub change_detection_strategy: Strategy,

    /// The time between two syncs of a pod's volumes.
    #[arg(long, value_name = "DURATION", default_value = "1m", value_parser = duration)]
    pub sync_frequency: SignedDuration,

    /// Finish the deletion of pods once their volumes are removed, as no kubelet does it.
    #[arg(long, default_value_t = true, default_missing_value = "true", num_args = 0..=1, require_equals = true)]
    #[arg(action = ArgAction::Set, value_name = "BOOL")]
    pub finish_deletions: bool,

    /// The verbosity of the log: 4 and up for debugging, 8 and up for everything.
    #[arg(short = 'v', long = "v", value_name = "LEVEL", default_value_t = 0)]
    pub verbosity: u8,
}

impl Flags {
    /// The options of the node.
    pub fn options(&self) -> Options {
        Options {
            strategy: self.change_detection_strategy,
            sync_frequency: self.sync_frequency,
            finish_deletions: self.finish_deletions,
            ..Options::new(&self.node_name, &self.root_dir)
        }
    }
}

/// Parses a positive Go duration like `1m30s`.
fn duration(text: &str) -> Result<SignedDuration, String> {
    let duration: SignedDuration = text.parse().map_err(|error: jiff::Error| error.to_string())?;
    if duration.is_positive() { Ok(duration) } else { Err("must be positive".to_owned()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(arguments: &[&str]) -> Result<Flags, String> {
        let required = ["kubelet-volumes", "--node-name=n", "--root-dir=/r"];
        Flags::try_parse_from(required.iter().chain(arguments)).map_err(|error| error.to_string())
    }

    #[test]
    fn defaults_are_the_kubelets() {
        let options = parse(&[]).expect("nothing else is required").options();
        assert_eq!((options.name.as_str(), options.root), ("n", "/r".into()));
        assert_eq!((options.strategy, options.sync_frequency), (Strategy::Watch, SignedDuration::from_mins(1)));
        assert!(options.finish_deletions);
    }

    #[test]
    fn values_are_understood_or_named() {
        let flags = ["--change-detection-strategy=Get", "--sync-frequency=1m30s", "--finish-deletions=false", "-v=4"];
        let flags = parse(&flags).expect("valid flags");
        assert_eq!(flags.options().sync_frequency, SignedDuration::from_secs(90));
        assert_eq!((flags.options().strategy, flags.finish_deletions, flags.verbosity), (Strategy::Get, false, 4));
        for (argument, named) in [
            ("--change-detection-strategy=Guess", "unknown configmap and secret manager mode: Guess"),
            ("--sync-frequency=soon", "soon"),
            ("--sync-frequency=0s", "must be positive"),
            ("--pod-cidr=10.0.0.0/8", "--pod-cidr"),
        ] {
            let error = parse(&[argument]).expect_err(argument);
            assert!(error.contains(named), "{argument}: {error}");
        }
    }
}
