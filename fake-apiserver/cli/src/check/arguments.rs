//! The arguments of `check`.

use clap::{Parser, ValueEnum};
use fake_apiserver_check::report::Form;
use fake_apiserver_check::{Options, User};
use std::path::PathBuf;

/// Would a cluster admit these objects? Each is asked about as `kubectl apply --dry-run=server` does, without a cluster.
#[derive(Debug, Parser)]
#[command(name = "fake-apiserver check", max_term_width = 100, after_help = CODES)]
pub(super) struct Arguments {
    /// File or folder with manifests in YAML or JSON; - is the standard input. Repeatable
    #[arg(short, long, value_name = "PATH", required = true, num_args = 1..)]
    filename: Vec<PathBuf>,
    /// File or folder with objects that are in the cluster already: they are stored first, and not judged. Repeatable
    #[arg(long, value_name = "PATH")]
    given: Vec<PathBuf>,
    /// Namespace of objects that name none; it is made
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
    /// Form of the report
    #[arg(short, long, value_enum, default_value_t = Output::Text)]
    pub(super) output: Output,
    /// Worst verdict that is no failure is the one below this
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
pub(super) enum Output {
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
            ..Options::default()
        })
    }
}
