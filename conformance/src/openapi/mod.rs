//! The record of the real kube-apiserver's OpenAPI documents about its own resources, in pieces that documents share. The fake
//! puts them together again (`fake-apiserver/src/discovery/openapi/`), and is held to the hashes of the documents.

mod pieces;
mod record;

use crate::subject::Real;
use anyhow::{Context as _, Result, ensure};
use aws_lc_rs::digest::{SHA512, digest};
use fake_apiserver::git_version;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;

/// The record's path, from the workspace's folder.
const FILE: &str = "fake-apiserver/src/discovery/openapi/recorded.txt";
/// The path of the record of what it publishes, too, if it is asked for optional versions.
const OPTIONAL: &str = "fake-apiserver/src/discovery/openapi/recorded_optional.txt";
/// The path of the hashes of the documents.
const HASHES: &str = "fixtures/openapi.txt";
/// The path of those of the documents that are others then.
const OPTIONAL_HASHES: &str = "fixtures/openapi_optional.txt";
const JSON: &str = "application/json";
const PROTOBUF_2: &str = "application/com.github.proto-openapi.spec.v2.v1.0+protobuf";
const PROTOBUF_3: &str = "application/com.github.proto-openapi.spec.v3.v1.0+protobuf";

/// A document in both encodings.
struct Document {
    path: String,
    json: String,
    protobuf: Vec<u8>,
}

/// All that a server publishes.
struct Published {
    /// The documents of version 3.
    three: Vec<Document>,
    two: Document,
    /// The kinds of resources by the paths of their collections in no namespace.
    kinds: BTreeMap<String, String>,
}

/// Writes the records below `root`, the workspace's folder, or with `check` only compares.
///
/// # Errors
/// If a real server does not start or does not answer as expected, or `check` finds a difference.
pub async fn run(root: &Path, check: bool) -> Result<()> {
    let usual = Published::by(&Real::start(true).await?).await?;
    let mut asked = Published::by(&Real::start_with(true, &[crate::kinds::ASKED]).await?).await?;
    asked
        .three
        .retain(|document| !usual.three.iter().any(|other| other.path == document.path && other.json == document.json));
    let version = git_version();
    let title = format!("# What kube-apiserver {version} publishes of its own resources in OpenAPI, in pieces.\n");
    let record = title + &usual.record(None)?;
    let title =
        format!("# What kube-apiserver {version} publishes, too, if it is asked for optional versions of groups.\n");
    let optional = title + &asked.record(Some(&record))?;
    let (hashes, optional_hashes) = (usual.hashes()?, asked.hashes()?);
    let files = [(FILE, record), (OPTIONAL, optional), (HASHES, hashes), (OPTIONAL_HASHES, optional_hashes)];
    for (file, text) in files {
        let path = root.join(file);
        match check {
            true => ensure!(std::fs::read_to_string(&path)? == text, "{file} is not what the server publishes"),
            false => std::fs::write(&path, text).with_context(|| path.display().to_string())?,
        }
    }
    Ok(())
}

impl Published {
    async fn by(real: &Real) -> Result<Published> {
        ensure!(real.version().await? == git_version(), "the server is not {}", git_version());
        let mut three = Vec::new();
        let index = real.ask("GET", "/openapi/v3").await?;
        for path in index["paths"].as_object().context("the index has paths")?.keys() {
            three.push(Document::get(real, format!("/openapi/v3/{path}"), PROTOBUF_3).await?);
        }
        let two = Document::get(real, "/openapi/v2".to_owned(), PROTOBUF_2).await?;
        Ok(Published { kinds: kinds(real, &three).await?, three, two })
    }

    /// The lines of the record; if there is another one, those that it does not have.
    fn record(&self, other: Option<&str>) -> Result<String> {
        let three: Vec<&str> = self.three.iter().map(|document| &*document.json).collect();
        record::record(&self.kinds, &three, &self.two.json, other)
    }

    fn hashes(&self) -> Result<String> {
        let mut hashes =
            format!("# SHA-512 of the documents of kube-apiserver {}, as JSON and as protobuf.\n", git_version());
        hashes += "# Written by `cargo xtask conformance openapi`. Do not edit.\n";
        for Document { path, json, protobuf } in self.three.iter().chain([&self.two]) {
            writeln!(hashes, "{path} {} {}", sha512(json.as_bytes()), sha512(protobuf))?;
        }
        Ok(hashes)
    }
}

impl Document {
    async fn get(real: &Real, path: String, protobuf: &str) -> Result<Document> {
        let json = String::from_utf8(real.bytes_for(JSON, &path).await?.to_vec())?;
        ensure!(!json.contains(['⟨', '⟩', '\t']), "a placeholder cannot be told from {path}");
        let protobuf = real.bytes_for(protobuf, &path).await?.to_vec();
        Ok(Document { path, json, protobuf })
    }
}

/// The kinds of resources by the paths of their collections in no namespace.
async fn kinds(real: &Real, documents: &[Document]) -> Result<BTreeMap<String, String>> {
    let mut kinds = BTreeMap::new();
    for document in documents {
        let path = document.path.strip_prefix("/openapi/v3").context("the path of a document")?;
        if path != "/api/v1" && !(path.starts_with("/apis/") && path.matches('/').count() == 3) {
            continue;
        }
        let list = real.ask("GET", path).await?;
        for resource in list["resources"].as_array().into_iter().flatten() {
            let [name, kind] = ["name", "kind"].map(|member| resource[member].as_str().unwrap_or_default());
            kinds.insert(format!("{path}/{name}"), kind.to_owned());
        }
    }
    Ok(kinds)
}

fn sha512(bytes: &[u8]) -> String {
    digest(&SHA512, bytes).as_ref().iter().map(|byte| format!("{byte:02X}")).collect()
}
