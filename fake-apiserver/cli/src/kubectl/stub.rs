//! A kubectl for those who only ask whether a namespace is there, as fabric8's kube-api-test does before its tests.

use anyhow::{Context as _, bail};
use clap::Parser;
use kube::config::{AuthInfo, Cluster, KubeConfigOptions, Kubeconfig, NamedAuthInfo, NamedCluster, NamedContext};
use serde_json::Value;
use std::io::{self, Write as _};
use tokio::runtime;

/// The Accept header of a table.
const TABLE: &str = "application/json;as=Table;v=v1;g=meta.k8s.io,application/json";

/// The commands that it has.
#[derive(Debug, Parser)]
#[command(name = "kubectl", disable_help_flag = true)]
struct Flags {
    #[arg(long)]
    server: Option<String>,
    #[arg(long)]
    certificate_authority: Option<String>,
    #[arg(long)]
    client_certificate: Option<String>,
    #[arg(long)]
    client_key: Option<String>,
    /// As the server limits its time, too.
    #[arg(long)]
    request_timeout: Option<String>,
    words: Vec<String>,
}

/// Carries a command out, if it is one of those few; `None` for others.
pub(super) fn main(arguments: &[String]) -> Option<anyhow::Result<()>> {
    let words = std::iter::once("kubectl").chain(arguments.iter().map(String::as_str));
    let flags = Flags::try_parse_from(words).ok()?;
    let words: Vec<&str> = flags.words.iter().map(String::as_str).collect();
    let ["get", "ns" | "namespace" | "namespaces", name] = words[..] else { return None };
    let name = name.to_owned();
    Some(
        runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .context("unable to start")
            .and_then(|runtime| runtime.block_on(get(flags, &name))),
    )
}

async fn get(flags: Flags, name: &str) -> anyhow::Result<()> {
    if name.contains(['/', '?', '#', '%']) {
        bail!("invalid name {name:?} of a namespace");
    }
    let Flags { server, certificate_authority, client_certificate, client_key, .. } = flags;
    // As for kubectl, an empty value is none.
    let [server, certificate_authority, client_certificate, client_key] =
        [server, certificate_authority, client_certificate, client_key]
            .map(|value| value.filter(|text| !text.is_empty()));
    let cluster = Cluster { server, certificate_authority, ..Cluster::default() };
    let user = AuthInfo { client_certificate, client_key, ..AuthInfo::default() };
    let context = kube::config::Context {
        cluster: "kubectl".into(),
        user: Some("kubectl".into()),
        ..kube::config::Context::default()
    };
    let name_of = || "kubectl".to_owned();
    let kubeconfig = Kubeconfig {
        clusters: vec![NamedCluster { name: name_of(), cluster: Some(cluster), ..NamedCluster::default() }],
        auth_infos: vec![NamedAuthInfo { name: name_of(), auth_info: Some(user), ..NamedAuthInfo::default() }],
        contexts: vec![NamedContext { name: name_of(), context: Some(context), ..NamedContext::default() }],
        current_context: Some(name_of()),
        ..Kubeconfig::default()
    };
    let config = kube::Config::from_custom_kubeconfig(kubeconfig, &KubeConfigOptions::default()).await?;
    let client = kube::Client::try_from(config)?;
    let request = http::Request::get(format!("/api/v1/namespaces/{name}")).header("Accept", TABLE);
    let answer = client.request_text(request.body(Vec::new())?).await?;
    let table: Value = serde_json::from_str(&answer).context("the answer is not JSON")?;
    // As of any program: who does not read it does not want it.
    io::stdout().write_all(printed(&table).as_bytes()).ok();
    Ok(())
}

/// The columns that a terminal is wide enough for, each as wide as its widest cell.
fn printed(table: &Value) -> String {
    let list = |value: &Value| value.as_array().cloned().unwrap_or_default();
    let columns: Vec<(usize, String)> = list(&table["columnDefinitions"])
        .iter()
        .enumerate()
        .filter(|(_, column)| column["priority"] == 0)
        .map(|(index, column)| (index, column["name"].as_str().unwrap_or_default().to_uppercase()))
        .collect();
    let cell = |row: &Value, index: usize| match &row["cells"][index] {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    };
    let mut lines = vec![columns.iter().map(|(_, name)| name.clone()).collect::<Vec<_>>()];
    lines.extend(list(&table["rows"]).iter().map(|row| columns.iter().map(|(index, _)| cell(row, *index)).collect()));
    let width = |column: usize| lines.iter().map(|line| line[column].len()).max().unwrap_or_default();
    let widths: Vec<usize> = (0..columns.len()).map(width).collect();
    let line = |cells: &Vec<String>| {
        let padded = cells.iter().zip(&widths).map(|(cell, width)| format!("{cell:width$}"));
        padded.collect::<Vec<_>>().join("   ").trim_end().to_owned() + "\n"
    };
    lines.iter().map(line).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn tables_are_printed_as_by_kubectl() {
        let columns = json!([{"name": "Name", "priority": 0}, {"name": "Status", "priority": 0}, {"name": "Wide", "priority": 1},
                             {"name": "Age", "priority": 0}]);
        let table = json!({"columnDefinitions": columns, "rows": [{"cells": ["default", "Active", "x", "5s"]}]});
        assert_eq!(printed(&table), "NAME      STATUS   AGE\ndefault   Active   5s\n");
    }

    #[test]
    fn other_commands_are_left_to_kubectl() {
        for words in
            [&["apply", "-f", "x"][..], &["get", "pods"], &["get", "ns"], &["get", "ns", "a", "-o", "yaml"], &[]]
        {
            let words: Vec<String> = words.iter().map(ToString::to_string).collect();
            assert!(main(&words).is_none(), "{words:?}");
        }
    }
}
