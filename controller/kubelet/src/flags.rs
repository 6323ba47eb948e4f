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
    /// Path to a kubeconfig file with how to reach the API server. Without it: as a pod of the cluster does.
    #[arg(long, value_name = "FILE")]
    pub kubeconfig: Option<PathBuf>,

    /// The node to be: pods that are bound to it get their volumes. It need not exist.
    #[arg(long, value_name = "NAME")]
    pub node_name: String,

    /// Where volumes appear: DIR/pods/UID/volumes/kubernetes.io~KIND/NAME. What is below DIR/pods and belongs to no pod
    /// of the node is removed; so never name a real kubelet's directory.
    #[arg(long, value_name = "DIR")]
    pub root_dir: PathBuf,

    /// How changes of secrets and config maps are learned of: Watch, Cache or Get.
    #[arg(long, value_name = "STRATEGY", default_value_t)]
    pub change_detection_strategy: Strategy,

    /// How often volumes are brought up to date.
    #[arg(long, value_name = "DURATION", default_value = "1m", value_parser = duration)]
    pub sync_frequency: SignedDuration,

    /// Delete pods for good that are being deleted, once they have nothing left: there is no kubelet to do so.
    #[arg(long, default_value_t = true, default_missing_value = "true", num_args = 0..=1, require_equals = true)]
    #[arg(action = ArgAction::Set, value_name = "BOOL")]
    pub finish_deletions: bool,

    /// How much to log: 4 and up is for debugging, 8 and up is everything.
    #[arg(short = 'v', long = "v", value_name = "LEVEL", default_value_t = 0)]
    pub verbosity: u8,
}

impl Flags {
    /// The node that the flags ask for.
    pub fn options(&self) -> Options {
        Options {
            strategy: self.change_detection_strategy,
            sync_frequency: self.sync_frequency,
            finish_deletions: self.finish_deletions,
            ..Options::new(&self.node_name, &self.root_dir)
        }
    }
}

/// A Go duration like `1m30s`, more than nothing.
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
