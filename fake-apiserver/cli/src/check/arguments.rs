//! The arguments of `check`.

use clap::{Parser, ValueEnum};
use fake_apiserver_check::report::Form;
use fake_apiserver_check::{Options, Unreached, User};
use std::path::PathBuf;

/// Would a cluster admit these objects? Each is asked about as `kubectl apply --dry-run=server` does, without a cluster.
#[derive(Debug, Parser)]
#[command(name = "fake-apiserver check", max_term_width = 100, after_help = CODES)]
pub(super) struct Arguments {
    /// File or folder with manifests in YAML or JSON; - is the standard input. Repeatable
    #[arg(short, long, value_name = "PATH", required_unless_present = "upgrade", num_args = 1..)]
    filename: Vec<PathBuf>,
    /// File or folder with objects that are in the cluster already: they are stored first, and not judged. Repeatable
    #[arg(long, value_name = "PATH")]
    given: Vec<PathBuf>,
    /// File of a captured cluster, as `fake-apiserver capture` writes it; by default the cluster is a new one
    #[arg(long, value_name = "FILE")]
    cluster: Option<PathBuf>,
    /// Files with the definitions of custom resources, as they are and as they are to be: what becomes of the objects of the captured cluster?
    #[arg(long, value_names = ["OLD", "NEW"], num_args = 2, requires = "cluster", conflicts_with_all = ["filename", "given"])]
    pub(super) upgrade: Vec<PathBuf>,
    /// Namespace of objects that name none; in a new cluster it is made
    #[arg(short, long, value_name = "NAME", default_value = "default")]
    namespace: String,
    /// Make all namespaces that objects name
    #[arg(long)]
    create_namespaces: bool,
    /// User that applies the objects, such as system:serviceaccount:NAMESPACE:NAME; an administrator by default
    #[arg(long = "as", value_name = "USER")]
    user: Option<String>,
    /// Group of that user; repeatable
    #[arg(long = "as-group", value_name = "GROUP", requires = "user")]
    groups: Vec<String>,
    /// Address at which a webhook is called, such as policy.example.com=https://127.0.0.1:9443/validate; repeatable
    #[arg(long, value_name = "NAME=URL", value_parser = webhook)]
    webhook: Vec<(String, String)>,
    /// PEM file with the certificates that those addresses are verified with; by default those of the webhook's configuration
    #[arg(long, value_name = "FILE", requires = "webhook")]
    webhook_ca_file: Option<PathBuf>,
    /// Treatment of other webhooks: they are not asked, which the report says, or they fail, and their failure policy decides
    #[arg(long, value_enum, default_value_t = Others::Skip)]
    webhooks: Others,
    /// Form of the report
    #[arg(short, long, value_enum, default_value_t = Output::Text)]
    pub(super) output: Output,
    /// Verdict from which on the command fails
    #[arg(long, value_enum, default_value_t = FailOn::Denied)]
    pub(super) fail_on: FailOn,
    /// Print the objects as they would be stored, with what defaults and admission add
    #[arg(long, conflicts_with = "diff")]
    pub(super) show_defaults: bool,
    /// Print how the objects as they would be stored differ from those that are there, or from their description
    #[arg(long)]
    pub(super) diff: bool,
}

const CODES: &str = "Exit codes: 0 all are admitted, 1 there are findings, 2 something could not be asked.";

/// A form of the report.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Output {
    Text,
    Json,
    Junit,
    Sarif,
    Github,
}

impl From<Output> for Form {
    fn from(output: Output) -> Form {
        match output {
            Output::Text => Form::Text,
            Output::Json => Form::Json,
            Output::Junit => Form::Junit,
            Output::Sarif => Form::Sarif,
            Output::Github => Form::Github,
        }
    }
}

/// The verdicts that fail.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum FailOn {
    Denied,
    Warning,
}

/// The treatment of webhooks without an address.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Others {
    Skip,
    Fail,
}

/// The name and the address of a webhook.
fn webhook(text: &str) -> Result<(String, String), String> {
    let (name, url) = text.split_once('=').ok_or("not NAME=URL")?;
    match url.starts_with("https://") {
        true => Ok((name.to_owned(), url.to_owned())),
        false => Err("webhooks are called at URLs that begin with https://".to_owned()),
    }
}

impl Arguments {
    /// The question.
    ///
    /// # Errors
    /// If the arguments contradict each other.
    pub(super) fn options(&self) -> anyhow::Result<Options> {
        let shows = self.show_defaults || self.diff;
        anyhow::ensure!(!shows || self.output == Output::Text, "--show-defaults and --diff are for --output text");
        let user = self.user.as_ref().map(|name| User { name: name.clone(), groups: self.groups.clone() });
        Ok(Options {
            files: self.filename.clone(),
            given: self.given.clone(),
            namespace: self.namespace.clone(),
            create_namespaces: self.create_namespaces,
            user,
            cluster: self.cluster.clone(),
            webhooks: self.webhook.iter().cloned().collect(),
            webhook_authority: self.webhook_ca_file.clone(),
            unreached: match self.webhooks {
                Others::Skip => Unreached::Skip,
                Others::Fail => Unreached::Fail,
            },
        })
    }
}
