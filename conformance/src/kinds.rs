//! The record of the real kube-apiserver's resources: each as discovery and tables describe it, with the facts that only Go knows
//! (`control-plane/facts`). The fake reads it (`fake-apiserver/src/registry/kinds.txt`), and a record of the versions that a server has only
//! if it is asked for them (`kinds_optional.txt`) where it is.

use crate::subject::Real;
use anyhow::{Context as _, Result, bail, ensure};
use aws_lc_rs::digest::{SHA256, digest};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use fake_apiserver::git_version;
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::Path;
use std::process::{Command, Stdio};

/// The record's path, from the workspace's folder.
const FILE: &str = "fake-apiserver/src/registry/kinds.txt";
/// The path of the record of the versions that a server has only if it is asked for them.
const OPTIONAL: &str = "fake-apiserver/src/registry/kinds_optional.txt";
/// The flag that asks for them.
pub(crate) const ASKED: &str = "--runtime-config=resource.k8s.io/v1beta1=true,resource.k8s.io/v1beta2=true";

/// Number of columns from which a shared description is written only once.
const MANY: usize = 10;

/// The comment at the head of the file.
const HEAD: &str = "\
# Written by `cargo xtask conformance kinds`, which asks it, and asks Kubernetes' Go packages for the rest.
# Descriptions are Copyright The Kubernetes Authors, Apache License 2.0. Do not edit.
#
# GROUP/VERSION PLURAL SINGULAR KIND SCOPE
#   stored GROUP/VERSION                  the version that is stored, if it is another one of these
#   hash HASH                             the hash of the stored kind that discovery shows, if that kind is not one of these
#   known GROUP/VERSION...                the versions of the kind that are decoded and not served
#   directory NAME                        the directory in etcd, if it is not the plural
#   verbs VERB...
#   update unconditional                  an update without a resourceVersion overwrites
#   short NAME...
#   categories NAME...
#   field LABEL FIELD                     a label of field selectors besides metadata.name, and what the storage version calls
#                                         the field; where there are none, metadata.namespace is one
#   sub NAME GROUP/VERSION KIND VERB...   a subresource, and the kind that is sent and received (-: of the same version)
#   column PRIORITY TYPE FORMAT NAME      a column of tables (FORMAT -: none)
#     DESCRIPTION                         with \\n for line feeds; or = NAME, one of these:
#
# text NAME                               a description that many columns have
#     DESCRIPTION
";

/// The comment at the head of the record of versions that a server has only if it is asked for them.
const OPTIONAL_HEAD: &str = "\
# Written by `cargo xtask conformance kinds`. Do not edit.
# The head of kinds.txt explains the lines. Columns are those of the version that is served by default.
";

/// A version of a resource, as discovery has it.
struct Served<'a> {
    group: &'a str,
    version: &'a str,
    /// Item of the `APIResourceList`.
    itself: &'a Value,
    /// Items of the subresources.
    below: Vec<&'a Value>,
}

/// Writes the records below `root`, the workspace's folder, or with `check` only compares.
///
/// # Errors
/// If a real server does not start or Go does not answer, they do not agree, or `check` finds a difference.
pub async fn run(root: &Path, check: bool) -> Result<()> {
    let facts = facts(root)?;
    let record = record(&Real::start(true).await?, &facts).await?;
    let optional = optional(&Real::start_with(true, &[ASKED]).await?, &facts, &record).await?;
    for (file, told) in [(FILE, record), (OPTIONAL, optional)] {
        let path = root.join(file);
        if !check {
            std::fs::write(&path, told).with_context(|| path.display().to_string())?;
            continue;
        }
        let found = std::fs::read_to_string(&path).with_context(|| path.display().to_string())?;
        let differs = found.lines().zip(told.lines()).position(|(found, told)| found != told);
        let line = differs.unwrap_or(found.lines().count().min(told.lines().count())) + 1;
        ensure!(found == told, "{file}:{line} is not what kube-apiserver {} says", git_version());
    }
    Ok(())
}

/// The record according to `real`, with the facts of the Go program.
async fn record(real: &Real, facts: &[Vec<String>]) -> Result<String> {
    let documents = documents(real).await?;
    let served = served(&documents)?;
    let mut text = String::new();
    for one in &served {
        text += &one.description_checked(real, &served, facts).await?;
        for column in one.columns(real).await? {
            text += &column_lines(&column)?;
        }
    }
    let (texts, text) = share(&text)?;
    let title =
        format!("# The resources that kube-apiserver {} serves by default, as it describes them.", git_version());
    Ok(format!("{title}\n{HEAD}\n{texts}{text}"))
}

/// The record of the versions that `real` serves and that are not in `record`.
async fn optional(real: &Real, facts: &[Vec<String>], record: &str) -> Result<String> {
    let documents = documents(real).await?;
    let served = served(&documents)?;
    let is_default = |one: &&Served<'_>| record.contains(&format!("\n{} {} ", one.group_version(), one.plural()));
    let mut text = String::new();
    for one in served.iter().filter(|one| !is_default(one)) {
        text += &one.description_checked(real, &served, facts).await?;
        let same =
            |other: &&Served<'_>| (other.group, other.plural()) == (one.group, one.plural()) && is_default(other);
        let default = served.iter().find(same).with_context(|| format!("{} is in no other version", one.plural()))?;
        ensure!(one.columns(real).await? == default.columns(real).await?, "{} has columns of its own", one.path());
    }
    let title = format!(
        "# The versions of resources that kube-apiserver {} serves only if it is asked for them.",
        git_version()
    );
    Ok(format!("{title}\n{OPTIONAL_HEAD}{text}"))
}

/// The descriptions that many columns have, each named like the first of these, and the lines with those names in their place.
fn share(lines: &str) -> Result<(String, String)> {
    let mut columns: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for (column, description) in lines.lines().zip(lines.lines().skip(1)).filter(|(_, next)| next.starts_with("    ")) {
        ensure!(!description.starts_with("    ="), "a description begins with what stands for another: {description}");
        columns.entry(description).or_default().push(column.trim_start().splitn(5, ' ').last().unwrap_or_default());
    }
    let (mut texts, mut shared) = (String::new(), lines.to_owned());
    for (description, columns) in columns.iter().filter(|(_, columns)| columns.len() >= MANY) {
        texts += &format!("text {}\n{description}\n", columns[0]);
        shared = shared.replace(&format!("\n{description}\n"), &format!("\n    = {}\n", columns[0]));
    }
    Ok((texts, shared))
}

/// The words of each line that the Go program prints.
fn facts(root: &Path) -> Result<Vec<Vec<String>>> {
    let go = Command::new("go")
        .current_dir(root.join("conformance/control-plane"))
        .args(["run", "-trimpath", "./facts"])
        .stderr(Stdio::inherit())
        .output()
        .context("running go, which is needed")?;
    ensure!(go.status.success(), "`go run ./facts` in conformance/control-plane failed: {}", go.status);
    let text = String::from_utf8(go.stdout)?;
    Ok(text.lines().map(|line| line.split(' ').map(str::to_owned).collect()).collect())
}

/// The `APIResourceList`s of all versions of all groups.
async fn documents(real: &Real) -> Result<Vec<Value>> {
    ensure!(real.version().await? == git_version(), "the server is not {}", git_version());
    let groups = real.ask("GET", "/apis").await?;
    let mut documents = vec![real.ask("GET", "/api/v1").await?];
    for version in array(&groups, "groups").flat_map(|group| array(group, "versions")) {
        documents.push(real.ask("GET", &format!("/apis/{}", text(version, "groupVersion"))).await?);
    }
    Ok(documents)
}

/// All resources of all versions, in order.
fn served(documents: &[Value]) -> Result<Vec<Served<'_>>> {
    let mut served = Vec::new();
    for document in documents {
        served.extend(resources(document)?);
    }
    served.sort_by_key(|one| (one.group, one.version, one.plural()));
    Ok(served)
}

/// The resources of one version of one group.
fn resources(document: &Value) -> Result<Vec<Served<'_>>> {
    let group_version = text(document, "groupVersion");
    let (group, version) = group_version.split_once('/').unwrap_or(("", group_version));
    let (below, themselves): (Vec<_>, Vec<_>) =
        array(document, "resources").partition(|item| text(item, "name").contains('/'));
    let parent = |item: &Value| text(item, "name").split('/').next().unwrap_or_default().to_owned();
    for item in &below {
        ensure!(themselves.iter().any(|one| text(one, "name") == parent(item)), "{} is below nothing", item["name"]);
    }
    let of = |itself: &'_ Value| below.iter().copied().filter(|item| parent(item) == text(itself, "name")).collect();
    Ok(themselves.into_iter().map(|itself| Served { group, version, below: of(itself), itself }).collect())
}

impl<'a> Served<'a> {
    fn plural(&self) -> &'a str {
        text(self.itself, "name")
    }

    fn kind(&self) -> &'a str {
        text(self.itself, "kind")
    }

    fn verbs(&self) -> Vec<&'a str> {
        texts(self.itself, "verbs")
    }

    /// Path of the objects of all namespaces.
    fn path(&self) -> String {
        let root = if self.group.is_empty() { "/api" } else { "/apis/" };
        format!("{root}{}/{}/{}", self.group, self.version, self.plural())
    }

    /// Group and version: `apps/v1`, `/v1`.
    fn group_version(&self) -> String {
        format!("{}/{}", self.group, self.version)
    }

    /// Labels of field selectors, each with the field that it means; none for kinds without labels of their own.
    fn fields<'f>(&self, facts: &'f [Vec<String>]) -> Vec<(&'f str, &'f str)> {
        let version = dotted(self.version, self.group);
        let field = |fact: &'f Vec<String>| match &fact.iter().map(String::as_str).collect::<Vec<_>>()[..] {
            ["field", of, kind, label, field] if *of == version && *kind == self.kind() => Some((*label, *field)),
            _ => None,
        };
        facts.iter().filter_map(field).collect()
    }

    /// The lines of the resource but for the columns, behind an empty one. `real` is asked whether it knows the labels of fields.
    async fn description_checked(&self, real: &Real, all: &[Served<'_>], facts: &[Vec<String>]) -> Result<String> {
        let fields = self.fields(facts);
        for (label, _) in fields.iter().filter(|_| self.is_listed()) {
            let path = format!("{}?fieldSelector={label}%3Dx", self.path());
            real.ask("GET", &path).await.with_context(|| format!("it does not know the label {label}"))?;
        }
        Ok(format!("\n{}", self.description(all, facts, &fields)?))
    }

    fn is_listed(&self) -> bool {
        self.verbs().contains(&"list")
    }

    /// The columns of its tables; none of a resource without lists.
    async fn columns(&self, real: &Real) -> Result<Vec<Value>> {
        if !self.is_listed() {
            return Ok(Vec::new());
        }
        let table = real.ask_for("application/json;as=Table;v=v1;g=meta.k8s.io", &self.path()).await?;
        Ok(array(&table, "columnDefinitions").cloned().collect())
    }

    /// The lines of the resource but for the columns.
    fn description(&self, all: &[Served<'_>], facts: &[Vec<String>], fields: &[(&str, &str)]) -> Result<String> {
        let scope = if self.itself["namespaced"] == true { "namespaced" } else { "cluster" };
        let (of, plural, kind) = (self.group_version(), self.plural(), self.kind());
        let mut lines = format!("{of} {plural} {} {kind} {scope}\n", text(self.itself, "singularName"));
        let mut line = |words: &str| lines += &format!("  {words}\n");
        match self.stored(all)? {
            Some(stored) => line(&format!("stored {stored}")),
            None if self.hash().is_some_and(|hash| hash != self.own_hash()) => {
                line(&format!("hash {}", self.hash().unwrap_or_default()));
            }
            None => {}
        }
        let resource = dotted(plural, self.group);
        if let Some(fact) = facts.iter().find(|fact| fact[0] == "directory" && fact[1] == resource) {
            line(&format!("directory {}", fact[2]));
        }
        let known = |fact: &&Vec<String>| fact[0] == "known" && fact[1] == self.group_version() && fact[2] == kind;
        let known = facts.iter().filter(known).map(|fact| fact[3].as_str());
        let served = |version: &&str| all.iter().any(|one| one.group_version() == *version && one.kind() == kind);
        let known: Vec<&str> = known.filter(|version| !served(version)).collect();
        let mut list = |word: &str, texts: Vec<&str>| match texts.is_empty() {
            true => {}
            false => line(&format!("{word} {}", texts.join(" "))),
        };
        list("known", known);
        list("verbs", self.verbs());
        let unconditional = ["unconditional", &format!("{plural}.{}", dotted(self.version, self.group))];
        let overwrites = facts.iter().any(|fact| fact.iter().eq(unconditional));
        list("update", if overwrites { vec!["unconditional"] } else { Vec::new() });
        list("short", texts(self.itself, "shortNames"));
        list("categories", texts(self.itself, "categories"));
        for (label, field) in fields {
            line(&format!("field {label} {field}"));
        }
        for sub in &self.below {
            let name = text(sub, "name").split_once('/').map(|(_, name)| name).unwrap_or_default();
            let of = match (text(sub, "group"), text(sub, "version")) {
                ("", "") => "-".to_owned(),
                (group, version) => format!("{group}/{version}"),
            };
            line(&format!("sub {name} {of} {} {}", text(sub, "kind"), texts(sub, "verbs").join(" ")));
        }
        Ok(lines)
    }

    /// The hash of the stored kind, as discovery shows it.
    fn hash(&self) -> Option<&'a str> {
        self.itself["storageVersionHash"].as_str()
    }

    /// The hash of this kind.
    fn own_hash(&self) -> String {
        let kind = format!("{}/{}/{}", self.group, self.version, self.kind());
        STANDARD.encode(&digest(&SHA256, kind.as_bytes()).as_ref()[..8])
    }

    /// The storage version, if that is another of `all`: the hash that discovery shows is that of the stored kind
    /// (`StorageVersionHash` of `k8s.io/apiserver/pkg/endpoints/discovery/storageversionhash.go`, v0.37.1).
    fn stored(&self, all: &[Served<'_>]) -> Result<Option<String>> {
        let Some(hash) = self.hash() else { return Ok(None) };
        let same: Vec<_> = all.iter().filter(|other| other.hash() == Some(hash)).collect();
        if same.len() == 1 {
            return Ok(None);
        }
        match same.iter().find(|other| other.own_hash() == hash) {
            None => bail!("none of the versions of {} is the one that is stored", self.plural()),
            Some(stored) if stored.group_version() == self.group_version() => Ok(None),
            Some(stored) => Ok(Some(stored.group_version())),
        }
    }
}

/// The lines of a column.
fn column_lines(column: &Value) -> Result<String> {
    let (name, description) = (text(column, "name"), text(column, "description"));
    ensure!(!description.contains('\\'), "the description of the column {name} has a backslash");
    let format = if text(column, "format").is_empty() { "-" } else { text(column, "format") };
    let mut lines = format!("  column {} {} {format} {name}\n", column["priority"], text(column, "type"));
    if !description.is_empty() {
        lines += &format!("    {}\n", description.replace('\n', "\\n"));
    }
    Ok(lines)
}

/// A resource or a version with its group, as Go writes it: `deployments.apps`.
fn dotted(name: &str, group: &str) -> String {
    if group.is_empty() { name.to_owned() } else { format!("{name}.{group}") }
}

fn text<'v>(value: &'v Value, member: &str) -> &'v str {
    value[member].as_str().unwrap_or_default()
}

fn texts<'v>(value: &'v Value, member: &str) -> Vec<&'v str> {
    array(value, member).filter_map(Value::as_str).collect()
}

fn array<'v>(value: &'v Value, member: &str) -> impl Iterator<Item = &'v Value> {
    value[member].as_array().into_iter().flatten()
}
