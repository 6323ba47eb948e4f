//! The judge: applies objects in their order, and writes down what the server says.

mod finding;
mod precheck;

use crate::capture::{self, Capture};
use crate::documents::{self, Document, Place, Reading, Unreadable};
use crate::kinds::{DEFINITIONS, Kind};
use crate::kubectl::{self, Application, Applied};
use crate::options::Options;
use crate::order::{self, Rank};
use crate::report::Report;
use crate::session::Session;
use crate::verdict::{Change, Finding, Identity, Judged, Rule, RuleKind, Verdict};
use crate::webhooks::{self, Webhooks};
use anyhow::{Context as _, Result, bail};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use precheck::Known;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use tree::Value;

/// Judges objects.
///
/// # Errors
/// If nobody could be asked: a file or folder cannot be read, or the server does not answer.
///
/// # Panics
/// Outside of a tokio runtime.
pub async fn check(options: &Options) -> Result<Report> {
    let given = readings(&options.given)?;
    let readings = readings(&options.files)?;
    let mut webhooks = webhooks(options)?;
    let capture = options.cluster.as_deref().map(|path| captured(path, &mut webhooks)).transpose()?;
    let notes = capture.iter().flat_map(missing).collect();
    let parameters = policies(capture.as_ref());
    let mut session = Session::start(options.user.as_ref(), capture).await?;
    let mut judge = Judge { parameters, ..Judge::new(&mut session, options, webhooks) };
    // Before there are policies against it.
    judge.make_namespaces(&readings).await?;
    judge.give(given).await?;
    let judged = judge.judge(readings).await?;
    Ok(Report { judged, notes: [notes, judge.webhooks.notes()].concat() })
}

/// The treatment of webhooks.
pub(crate) fn webhooks(options: &Options) -> Result<Webhooks> {
    let authority = options.webhook_authority.as_ref().map(|path| {
        let failed = || format!("unable to read {}", path.display());
        std::fs::read(path).with_context(failed).map(|pem| STANDARD.encode(pem))
    });
    Ok(Webhooks::new(&options.webhooks, options.unreached, authority.transpose()?))
}

/// The captured cluster, whose webhooks lead to where they are.
pub(crate) fn captured(path: &Path, webhooks: &mut Webhooks) -> Result<Capture> {
    let mut capture = capture::read(path).with_context(|| format!("unable to load {}", path.display()))?;
    capture.objects = capture
        .objects
        .into_iter()
        .filter_map(|object| match webhooks::is_configuration(&Value::from(object.clone())) {
            true => webhooks.redirected(&object.into()).map(Into::into),
            false => Some(object),
        })
        .collect();
    Ok(capture)
}

/// The notes about what a capture lacks.
pub(crate) fn missing(capture: &Capture) -> Vec<String> {
    let missing = capture.missing.iter().map(|one| format!("the capture lacks {}: {}", one.resource, one.why));
    missing.chain(capture.stopped.iter().map(|why| format!("the capture is incomplete: {why}"))).collect()
}

/// The kinds of parameters of a capture's policies.
fn policies(capture: Option<&Capture>) -> BTreeSet<(String, String)> {
    let objects = capture.into_iter().flat_map(|capture| &capture.objects);
    objects.filter_map(|object| order::parameters(&Value::from(object.clone()))).collect()
}

/// The objects in files and folders.
pub(crate) fn readings(paths: &[PathBuf]) -> Result<Vec<Reading>> {
    let mut readings = Vec::new();
    for path in paths {
        let failed = || format!("unable to read {}", path.display());
        let files = documents::files(path).with_context(failed)?;
        if files.is_empty() {
            bail!("there are no manifests in {}: no files that end in .yaml, .yml or .json", path.display());
        }
        for file in files {
            let failed = || format!("unable to read {}", file.display());
            readings.extend(documents::read_file(&file).with_context(failed)?);
        }
    }
    Ok(readings)
}

/// The state while objects are judged.
pub(crate) struct Judge<'a> {
    pub(crate) session: &'a mut Session,
    pub(crate) options: &'a Options,
    /// The kinds of parameters of policies.
    parameters: BTreeSet<(String, String)>,
    pub(crate) webhooks: Webhooks,
}

/// Those who apply.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum By {
    Admin,
    User,
}

impl<'a> Judge<'a> {
    pub(crate) fn new(session: &'a mut Session, options: &'a Options, webhooks: Webhooks) -> Judge<'a> {
        Judge { session, options, parameters: BTreeSet::new(), webhooks }
    }

    /// Stores the objects that are in the cluster already, as an administrator.
    ///
    /// # Errors
    /// If one of them cannot be stored, or the server does not answer.
    pub(crate) async fn give(&mut self, readings: Vec<Reading>) -> Result<()> {
        let readable: std::result::Result<Vec<Document>, Unreadable> = readings.into_iter().collect();
        let documents = readable.map_err(|why| anyhow::anyhow!("{}: {}", why.place, why.message))?;
        for index in self.ordered(&documents) {
            let judged = self.one(&documents[index], By::Admin, false).await?;
            if let Some(finding) = judged.findings.iter().find(|finding| finding.verdict > Verdict::Warning) {
                bail!("{}: {} cannot be given: {}", finding.place, judged.identity, finding.message);
            }
        }
        Ok(())
    }

    /// Judges objects, and returns the verdicts in the order of the objects.
    async fn judge(&mut self, readings: Vec<Reading>) -> Result<Vec<Judged>> {
        let mut all: Vec<(usize, Judged)> = Vec::new();
        let (mut documents, mut places, mut known) = (Vec::new(), Vec::new(), Known::default());
        for (place, reading) in readings.into_iter().enumerate() {
            match reading {
                Err(unreadable) => all.push((place, finding::unreadable(unreadable))),
                Ok(document) => match known.refuses(&document, &self.options.namespace) {
                    Some(finding) => all.push((place, judged(&document, vec![finding]))),
                    None => {
                        documents.push(document);
                        places.push(place);
                    }
                },
            }
        }
        for index in self.ordered(&documents) {
            let document = &documents[index];
            let is_stored = Rank::of(document, &self.parameters).is_stored();
            all.push((places[index], self.one(document, By::User, !is_stored).await?));
        }
        all.sort_by_key(|(place, _)| *place);
        Ok(all.into_iter().map(|(_, judged)| judged).collect())
    }

    /// The order in which objects are applied.
    fn ordered(&mut self, documents: &[Document]) -> Vec<usize> {
        self.parameters.extend(documents.iter().filter_map(|document| order::parameters(&document.object)));
        let mut order: Vec<usize> = (0..documents.len()).collect();
        order.sort_by_key(|index| Rank::of(&documents[*index], &self.parameters));
        order
    }

    /// Makes the namespaces that have to be there.
    async fn make_namespaces(&mut self, readings: &[Reading]) -> Result<()> {
        let documents: Vec<&Document> = readings.iter().filter_map(|reading| reading.as_ref().ok()).collect();
        let mut names = BTreeSet::new();
        if self.options.cluster.is_none() {
            names.insert(self.options.namespace.clone());
        }
        if self.options.create_namespaces {
            names.extend(documents.iter().map(|document| document.text("/metadata/namespace").to_owned()));
        }
        let is_own = |name: &str| {
            let mut namespaces = documents.iter().filter(|document| document.text("/kind") == "Namespace");
            namespaces.any(|document| document.text("/metadata/name") == name)
        };
        for name in names.iter().filter(|name| !name.is_empty() && !is_own(name)) {
            self.session.make_namespace(name).await?;
        }
        Ok(())
    }

    /// Applies one object.
    pub(crate) async fn one(&mut self, document: &Document, by: By, dry_run: bool) -> Result<Judged> {
        let (api_version, name) = (document.text("/apiVersion"), document.text("/kind"));
        let Some(kind) = self.session.kinds.find(api_version, name).cloned() else {
            let finding = finding::no_kind(document, &self.session.kinds);
            return Ok(judged(document, vec![finding]));
        };
        let object = placed(document, &kind, &self.options.namespace);
        let client = if by == By::Admin { &mut self.session.admin } else { &mut self.session.user };
        let is_webhook = webhooks::is_configuration(&object);
        let application = kubectl::apply(client, &kind, object.clone(), dry_run || is_webhook).await?;
        if !dry_run && !matches!(application.applied, Applied::Refused(..)) {
            self.settle(&kind, &object).await?;
        }
        let identity = Identity {
            namespace: object["metadata"]["namespace"].as_str().unwrap_or_default().to_owned(),
            ..Identity::of(&document.object)
        };
        Ok(Judged { identity, stored: !dry_run, ..self.told(document, object, application) })
    }

    /// Brings about what follows in a cluster once an object is stored.
    async fn settle(&mut self, kind: &Kind, object: &Value) -> Result<()> {
        if webhooks::is_configuration(object)
            && let Some(redirected) = self.webhooks.redirected(object)
        {
            kubectl::apply(&mut self.session.admin, kind, redirected, false).await?;
        }
        match (kind.group.as_str(), kind.kind.as_str()) {
            (DEFINITIONS, _) => self.session.discover().await,
            ("", "Namespace") => {
                self.session.settle_namespace(object["metadata"]["name"].as_str().unwrap_or_default()).await
            }
            ("", "ResourceQuota") => self.session.settle_quota(object).await,
            _ => Ok(()),
        }
    }

    /// The verdict on an application.
    fn told(&self, document: &Document, object: Value, application: Application) -> Judged {
        let Application { applied, warnings } = application;
        let mut findings: Vec<Finding> = warnings.iter().map(|text| finding::warning(document, text)).collect();
        let (change, before, after) = match applied {
            Applied::Created(after) => (Some(Change::Created), Some(object), Some(after)),
            Applied::Configured { before, after } => (Some(Change::Configured), Some(before), Some(after)),
            Applied::Unchanged(before) => (Some(Change::Unchanged), Some(before.clone()), Some(before)),
            Applied::Refused(step, answer) => {
                findings.push(finding::refused(document, step, &answer));
                (None, None, None)
            }
        };
        Judged { change, before, after, ..judged(document, findings) }
    }
}

/// The object with the namespace that it is for, if its kind has one.
fn placed(document: &Document, kind: &Kind, namespace: &str) -> Value {
    let mut object = document.object.clone();
    if kind.is_namespaced && document.text("/metadata/namespace").is_empty() {
        object["metadata"]["namespace"] = namespace.into();
    }
    object
}

/// An object with its findings.
fn judged(document: &Document, findings: Vec<Finding>) -> Judged {
    Judged::of(document.place.clone(), Identity::of(&document.object), findings)
}

/// A finding about a place without fields.
pub(crate) fn finding_at(place: &Place, verdict: Verdict, kind: RuleKind, message: String) -> Finding {
    Finding { verdict, rule: Rule::of(kind), message, place: place.clone(), causes: Vec::new(), hint: None }
}
