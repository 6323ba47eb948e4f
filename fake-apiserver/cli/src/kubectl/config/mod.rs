//! `kubectl config`, as test environments use it for a kubeconfig of the user: fabric8's kube-api-test names its server there, and takes it
//! away again.
//!
//! Follows `pkg/cmd/config` of `k8s.io/kubectl`, and `tools/clientcmd/config.go` of `k8s.io/client-go` (v0.37.1). Fields that these do not
//! know stay as they are.

mod files;
mod stanza;

use anyhow::{Context as _, bail};
use clap::{Args, Parser, Subcommand};
use files::{Files, List};
use stanza::{Change, apply};
use std::path::PathBuf;

/// The commands that it has.
#[derive(Debug, Parser)]
#[command(name = "kubectl", disable_help_flag = true, disable_help_subcommand = true)]
struct Kubectl {
    #[arg(long, global = true)]
    kubeconfig: Option<PathBuf>,
    #[command(subcommand)]
    command: Group,
}

#[derive(Debug, Subcommand)]
#[command(disable_help_flag = true, disable_help_subcommand = true)]
enum Group {
    #[command(subcommand)]
    Config(Command),
}

#[derive(Debug, Subcommand)]
#[command(disable_help_flag = true, disable_help_subcommand = true)]
enum Command {
    CurrentContext,
    SetCluster(SetCluster),
    SetCredentials(SetCredentials),
    SetContext(SetContext),
    #[command(alias = "use")]
    UseContext {
        name: String,
    },
    Unset {
        property: String,
    },
}

#[derive(Debug, Args)]
struct SetCluster {
    name: String,
    #[arg(long)]
    server: Option<String>,
    #[arg(long)]
    tls_server_name: Option<String>,
    #[arg(long)]
    proxy_url: Option<String>,
    #[arg(long)]
    certificate_authority: Option<PathBuf>,
    #[arg(long, num_args = 0..=1, require_equals = true, default_missing_value = "true")]
    insecure_skip_tls_verify: Option<bool>,
    #[arg(long, num_args = 0..=1, require_equals = true, default_missing_value = "true")]
    embed_certs: Option<bool>,
}

#[derive(Debug, Args)]
struct SetCredentials {
    name: String,
    #[arg(long)]
    client_certificate: Option<PathBuf>,
    #[arg(long)]
    client_key: Option<PathBuf>,
    #[arg(long)]
    token: Option<String>,
    #[arg(long)]
    username: Option<String>,
    #[arg(long)]
    password: Option<String>,
    #[arg(long, num_args = 0..=1, require_equals = true, default_missing_value = "true")]
    embed_certs: Option<bool>,
}

#[derive(Debug, Args)]
struct SetContext {
    name: Option<String>,
    #[arg(long)]
    current: bool,
    #[arg(long)]
    cluster: Option<String>,
    #[arg(long)]
    user: Option<String>,
    #[arg(long)]
    namespace: Option<String>,
}

/// Carries a command out, if it is one of these, and returns what it prints; `None` for others.
pub(super) fn main(arguments: &[String]) -> Option<anyhow::Result<String>> {
    let words = std::iter::once("kubectl").chain(arguments.iter().map(String::as_str));
    let Kubectl { kubeconfig, command: Group::Config(command) } = Kubectl::try_parse_from(words).ok()?;
    Some(Files::read(kubeconfig).and_then(|files| carry_out(command, files)))
}

fn carry_out(command: Command, mut files: Files) -> anyhow::Result<String> {
    match command {
        Command::CurrentContext => match files.current_context() {
            "" => bail!("current-context is not set"),
            name => Ok(format!("{name}\n")),
        },
        Command::SetCluster(SetCluster { name, .. }) if name.is_empty() => {
            bail!("you must specify a non-empty cluster name")
        }
        Command::SetCluster(wanted) => {
            files.set(List::Clusters, &wanted.name, |stanza, folder| apply(stanza, folder, &wanted.changes()?))?;
            Ok(format!("Cluster {:?} set.\n", wanted.name))
        }
        Command::SetCredentials(wanted) => {
            let (token, basic) = (wanted.token.is_some(), wanted.username.is_some() || wanted.password.is_some());
            if token && basic {
                bail!(
                    "you cannot specify more than one authentication method at the same time: --token, --username/--password"
                );
            }
            files.set(List::Users, &wanted.name, |stanza, folder| apply(stanza, folder, &wanted.changes()?))?;
            Ok(format!("User {:?} set.\n", wanted.name))
        }
        Command::SetContext(wanted) => set_context(&wanted, &mut files),
        Command::UseContext { name } => {
            if files.find(List::Contexts, &name).is_none() {
                bail!("no context exists with the name: {name:?}");
            }
            files.use_context(&name)?;
            Ok(format!("Switched to context {name:?}.\n"))
        }
        Command::Unset { property } => {
            unset(&property, &mut files)?;
            Ok(format!("Property {property:?} unset.\n"))
        }
    }
}

fn set_context(wanted: &SetContext, files: &mut Files) -> anyhow::Result<String> {
    let name = match (&wanted.name, wanted.current) {
        (Some(_), true) => bail!("you cannot specify both a context name and --current"),
        (None, true) if files.current_context().is_empty() => bail!("no current context is set"),
        (None, true) => files.current_context().to_owned(),
        (Some(name), false) if !name.is_empty() => name.clone(),
        _ => bail!("you must specify a non-empty context name or --current"),
    };
    let is_new = files.find(List::Contexts, &name).is_none();
    files.set(List::Contexts, &name, |stanza, folder| apply(stanza, folder, &wanted.changes()))?;
    Ok(format!("Context {name:?} {}.\n", if is_new { "created" } else { "modified" }))
}

/// Takes away a stanza, a list of them, or the name of the current context.
fn unset(property: &str, files: &mut Files) -> anyhow::Result<()> {
    if property == "current-context" {
        return files.use_context("");
    }
    let (list, name) = property.split_once('.').map_or((property, None), |(list, name)| (list, Some(name)));
    let list = List::named(list).with_context(|| format!("unable to parse {list} after [] at api.Config"))?;
    match name {
        Some(name) if name.contains('.') && files.find(list, name).is_none() => {
            bail!("the kubectl of fake-apiserver can take away whole entries only, not {property}: install kubectl")
        }
        name => files.remove(list, name),
    }
}

impl SetCluster {
    fn changes(&self) -> anyhow::Result<Vec<Change>> {
        let mut changes = Vec::new();
        changes.extend(self.server.as_ref().map(|text| Change::Text("server", text.clone())));
        changes.extend(self.tls_server_name.as_ref().map(|text| Change::Text("tls-server-name", text.clone())));
        changes.extend(self.proxy_url.as_ref().map(|text| Change::Text("proxy-url", text.clone())));
        if let Some(is_insecure) = self.insecure_skip_tls_verify {
            changes.push(Change::Flag("insecure-skip-tls-verify", is_insecure));
            if is_insecure {
                changes.extend(["certificate-authority", "certificate-authority-data"].map(Change::Without));
            }
        }
        if let Some(path) = &self.certificate_authority {
            changes.push(Change::Without("insecure-skip-tls-verify"));
            changes.push(Change::file("certificate-authority", path, self.embed_certs == Some(true))?);
        }
        Ok(changes)
    }
}

impl SetCredentials {
    fn changes(&self) -> anyhow::Result<Vec<Change>> {
        let mut changes = Vec::new();
        let embedded = self.embed_certs == Some(true);
        for (field, path) in [("client-certificate", &self.client_certificate), ("client-key", &self.client_key)] {
            changes.extend(path.as_ref().map(|path| Change::file(field, path, embedded)).transpose()?);
        }
        if let Some(token) = &self.token {
            changes.push(Change::Text("token", token.clone()));
            changes.extend(["username", "password"].map(Change::Without));
        }
        for (field, text) in [("username", &self.username), ("password", &self.password)] {
            if let Some(text) = text {
                changes.extend([Change::Text(field, text.clone()), Change::Without("token")]);
            }
        }
        Ok(changes)
    }
}

impl SetContext {
    fn changes(&self) -> Vec<Change> {
        let fields = [("cluster", &self.cluster), ("user", &self.user), ("namespace", &self.namespace)];
        fields.into_iter().filter_map(|(field, text)| Some(Change::Text(field, text.clone()?))).collect()
    }
}
