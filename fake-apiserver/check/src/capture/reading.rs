//! The reading of a cluster, page by page.

use super::file::{Missing, Writer};
use super::kept::{DEFINITIONS, Kept, Stored};
use super::noise;
use crate::kinds::{DISCOVERY, Kind, Kinds};
use crate::order;
use anyhow::{Context as _, Result, anyhow, bail};
use http::Request;
use http::header::ACCEPT;
use kube::config::{KubeConfigOptions, Kubeconfig};
use kube::{Client, Config};
use serde_json::Value;
use std::collections::BTreeSet;
use std::io::Write;
use std::path::PathBuf;
use std::time::Duration;
use tokio::time::timeout;

/// The objects of a page.
const PAGE: usize = 500;

/// The parts of a cluster that are asked for.
#[derive(Debug, Clone)]
pub struct Asked {
    /// The kubeconfig; by default what `KUBECONFIG` names, or `~/.kube/config`.
    pub kubeconfig: Option<PathBuf>,
    /// The context in it; the present one by default.
    pub context: Option<String>,
    /// The resources.
    pub kept: Kept,
    /// Whether secrets are left out, rather than replaced by noise.
    pub without_secrets: bool,
    /// The longest time that an answer may take.
    pub timeout: Duration,
}

/// The outcome of a reading.
#[derive(Debug)]
pub struct Outcome {
    /// The number of objects.
    pub objects: usize,
    /// The resources that could not be read.
    pub missing: Vec<Missing>,
    /// The reason why nothing else was read.
    pub stopped: Option<String>,
}

/// How far a reading has come.
#[derive(Debug)]
pub struct Progress<'p> {
    /// The resource that is read.
    pub resource: &'p str,
    /// The number of resources before it.
    pub done: usize,
    /// The number of all resources.
    pub all: usize,
    /// The number of objects so far.
    pub objects: usize,
}

/// The reason why a list is incomplete.
enum Failure {
    /// This resource cannot be read.
    Refused(String),
    /// The cluster does not answer.
    Silent(String),
}

/// Reads a cluster. What was read is kept if it does not answer any more.
///
/// # Errors
/// If the kubeconfig cannot be read, the cluster does not tell its kinds, or the capture cannot be written.
pub async fn capture(asked: &Asked, out: impl Write, mut progress: impl FnMut(&Progress<'_>)) -> Result<Outcome> {
    let client = client(asked).await?;
    let (server, kinds) = timeout(asked.timeout, described(&client)).await.context("the cluster does not answer")??;
    let mut writer = Writer::begin(out, &server)?;
    let mut reading =
        Reading { client, asked, writer: &mut writer, stored: Stored::default(), parameters: BTreeSet::new() };
    let stopped = reading.all(&kinds, &mut progress).await?;
    let objects = writer.objects();
    Ok(Outcome { objects, missing: writer.end(stopped.clone())?, stopped })
}

/// The client of the cluster.
async fn client(asked: &Asked) -> Result<Client> {
    let options = KubeConfigOptions { context: asked.context.clone(), ..KubeConfigOptions::default() };
    let config = match &asked.kubeconfig {
        Some(path) => {
            let failed = || format!("unable to read the kubeconfig {}", path.display());
            let kubeconfig = Kubeconfig::read_from(path).with_context(failed)?;
            Config::from_custom_kubeconfig(kubeconfig, &options).await.with_context(failed)?
        }
        None => Config::from_kubeconfig(&options).await.context("unable to read the kubeconfig")?,
    };
    Client::try_from(config).context("unable to make a client from the kubeconfig")
}

/// The version of the server, and its kinds.
async fn described(client: &Client) -> Result<(String, Kinds)> {
    let version =
        get(client, "/version", None).await.map_err(|why| anyhow!("the cluster does not tell its version: {why}"))?;
    let mut documents = Vec::new();
    for path in ["/api", "/apis"] {
        let document = get(client, path, Some(DISCOVERY)).await;
        let document = document.map_err(|why| anyhow!("the cluster does not tell its kinds: {why}"))?;
        if document["kind"] != "APIGroupDiscoveryList" {
            bail!("the cluster does not tell its kinds in one document, as Kubernetes does from 1.27 on");
        }
        documents.push(tree::Value::from(document));
    }
    Ok((version["gitVersion"].as_str().unwrap_or_default().to_owned(), Kinds::of_documents(&documents)))
}

async fn get(client: &Client, path: &str, accept: Option<&str>) -> std::result::Result<Value, kube::Error> {
    let mut request = Request::get(path);
    if let Some(accept) = accept {
        request = request.header(ACCEPT, accept);
    }
    client.request(request.body(Vec::new()).expect("the path is one of a URL")).await
}

struct Reading<'r, W> {
    client: Client,
    asked: &'r Asked,
    writer: &'r mut Writer<W>,
    stored: Stored,
    /// The kinds of parameters of policies.
    parameters: BTreeSet<(String, String)>,
}

impl<W: Write> Reading<'_, W> {
    /// Reads all resources. Returns the reason why it stops early.
    async fn all(&mut self, kinds: &Kinds, progress: &mut impl FnMut(&Progress<'_>)) -> Result<Option<String>> {
        let mut listed: Vec<&Kind> = kinds.preferred().filter(|kind| kind.is_listed).collect();
        // Definitions say how custom resources are read, and policies which parameters are.
        listed.sort_by_key(|kind| (kind.resource() != DEFINITIONS, !kind.resource().contains("admissionpolicies.")));
        let count =
            |reading: &Self| listed.iter().filter(|kind| reading.asked.kept.has(kind, &reading.parameters)).count();
        let mut done = 0;
        for kind in &listed {
            if !self.asked.kept.has(kind, &self.parameters) {
                continue;
            }
            let resource = kind.resource();
            let all = count(self);
            let objects = self.writer.objects();
            progress(&Progress { resource: &resource, done, all, objects });
            done += 1;
            if resource == "secrets" && self.asked.without_secrets {
                continue;
            }
            let Some(version) = self.stored.version(kind, kinds) else {
                self.writer.missing(resource, "no definition of it is known: another API server has it".to_owned());
                continue;
            };
            match self.list(&version).await? {
                Ok(()) => {}
                Err(Failure::Refused(why)) => self.writer.missing(resource, why),
                Err(Failure::Silent(why)) => {
                    let after = format!(
                        "{why}, after {} objects: {resource} and what comes after it is missing",
                        self.writer.objects()
                    );
                    self.writer.missing(resource, why);
                    return Ok(Some(after));
                }
            }
        }
        Ok(None)
    }

    /// Reads the objects of a resource.
    async fn list(&mut self, kind: &Kind) -> Result<std::result::Result<(), Failure>> {
        let (api_version, mut token) = (kind.api_version(), String::new());
        loop {
            let path = format!("{}?limit={PAGE}{token}", kind.collection(""));
            let page = match timeout(self.asked.timeout, get(&self.client, &path, None)).await {
                Ok(Ok(page)) => page,
                Ok(Err(kube::Error::Api(status))) => return Ok(Err(Failure::Refused(status.message.clone()))),
                Ok(Err(why)) => return Ok(Err(Failure::Silent(format!("the cluster does not answer: {why}")))),
                Err(_) => {
                    let why = format!("the cluster did not answer within {:?}", self.asked.timeout);
                    return Ok(Err(Failure::Silent(why)));
                }
            };
            let Value::Object(mut page) = page else {
                return Ok(Err(Failure::Refused("its list is no object".to_owned())));
            };
            if let Some(Value::Array(items)) = page.remove("items") {
                for mut item in items {
                    item["apiVersion"] = api_version.clone().into();
                    item["kind"] = kind.kind.clone().into();
                    self.keep(item)?;
                }
            }
            token = match page.get("metadata").and_then(|metadata| metadata["continue"].as_str()) {
                Some(next) if !next.is_empty() => {
                    format!(
                        "&continue={}",
                        percent_encoding::utf8_percent_encode(next, percent_encoding::NON_ALPHANUMERIC)
                    )
                }
                _ => return Ok(Ok(())),
            };
        }
    }

    /// Writes an object, and notes what follows from it.
    fn keep(&mut self, mut object: Value) -> Result<()> {
        match object["kind"].as_str().unwrap_or_default() {
            "CustomResourceDefinition" => self.stored.note(&object),
            "Secret" => noise::blur(&mut object),
            _ => {}
        }
        self.parameters.extend(order::parameters(&tree::Value::from(object.clone())));
        self.writer.object(&object).context("unable to write the capture")
    }
}
