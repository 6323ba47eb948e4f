//! The verb `await` for objects. It follows a watch; it neither polls nor sleeps.
//!
//! ```text
//! await 1 secrets type=kubernetes.io/service-account-token     until exactly that many objects match
//! ----
//! $old data.token=base64($t)
//!
//! await 100 secrets as $old                       and binds the list of their names
//! await 100 secrets as base64($t) of data.token   and binds the list of their values at that path
//! await serviceaccounts/builder secrets==[]       until that object matches
//! await secrets/$old gone                         until that object does not exist
//! ----
//! nothing
//! ```
//!
//! Each object is an item: its name. In a condition a name without a value stands for anything.

use super::requests::{Arguments, Headers, Query, object_item};
use super::watches;
use crate::resources::Reference;
use crate::stage::Stage;
use anyhow::{Context as _, Result, ensure};
use conformance_judge::history::Request;
use conformance_judge::names::Names;
use conformance_judge::observation::Observation;
use conformance_judge::scenario::CustomResource;
use conformance_judge::scenario::command::RawCommand;
use conformance_judge::scenario::field::Field;
use conformance_judge::scenario::path::Path;
use conformance_judge::scenario::prefixes::Prefixes;
use serde_json::Value;
use std::collections::BTreeMap;

/// A verb that waits for objects.
#[derive(Debug, Clone, PartialEq)]
pub struct Wait {
    /// The number of objects that have to match.
    count: usize,
    reference: Reference,
    query: Query,
    conditions: Vec<Field>,
    /// The pattern with the list's name, and where in each object its values are.
    list: Option<(Value, Path)>,
}

type Objects = BTreeMap<(String, String), Value>;

impl Wait {
    /// Reads the command; `None` if it waits for a watch.
    pub fn parse(command: &RawCommand, customs: &[CustomResource]) -> Result<Option<Wait>, String> {
        let words = command.words();
        let (count, reference, rest) = match words[..] {
            [reference, "gone"] if reference.contains('/') => (0, reference, &words[2..]),
            [reference, ..] if reference.contains('/') => (1, reference, &words[1..]),
            [count, reference, ..] if count.parse::<usize>().is_ok() => {
                (count.parse().unwrap_or_default(), reference, &words[2..])
            }
            _ => return Ok(None),
        };
        let (rest, list) = match rest {
            [rest @ .., "as", list, "of", path] => (rest, Some((list, Path::parse(path)?))),
            [rest @ .., "as", list] => (rest, Some((list, Path::parse("name")?))),
            rest => (rest, None),
        };
        let (query, conditions) = Arguments::parse(rest, &command.details)?.condition()?;
        Ok(Some(Wait {
            count,
            reference: Reference::parse(reference, customs)?,
            query,
            conditions,
            list: list.map(|(pattern, path)| (Value::from(*pattern), path)),
        }))
    }

    /// Carries it out.
    pub async fn play(&self, prefixes: &Prefixes, stage: &mut Stage<'_>) -> Result<Observation> {
        let mut objects = Objects::new();
        let waited = tokio::time::timeout(stage.patience, self.wait(prefixes, stage, &mut objects)).await;
        let matching = self.matching(&objects, stage);
        let Ok(waited) = waited else {
            let items = objects.into_values().map(object_item).collect();
            let (patience, found) = (stage.patience, matching.len());
            let problem = format!("after {patience:?} {found} instead of {} are like that; all are shown", self.count);
            return Ok(Observation { items, problem: Some(problem), ..Observation::default() });
        };
        waited?;
        if let Some((pattern, path)) = &self.list {
            let (list, values) = gather(pattern, path, &matching)?;
            return Ok(Observation { bound: [(list, values.into())].into(), ..Observation::default() });
        }
        Ok(matching.into_iter().map(object_item).collect::<Vec<_>>().into())
    }

    async fn wait(&self, prefixes: &Prefixes, stage: &mut Stage<'_>, objects: &mut Objects) -> Result<()> {
        loop {
            let revision = self.list(prefixes, stage, objects).await?;
            if self.matching(objects, stage).len() == self.count {
                return Ok(());
            }
            let mut query = self.query.clone();
            query.push(("resourceVersion".to_owned(), revision));
            let outgoing = watches::open(&self.reference, &query, &Headers::new(), prefixes, stage)?;
            let (reply, stream) = stage.watch(outgoing).await?;
            let mut stream = stream.with_context(|| format!("the watch was refused: {}", reply.body))?;
            while let Some(frame) = stream.next().await {
                if !apply(frame, objects) {
                    break;
                }
                if self.matching(objects, stage).len() == self.count {
                    return Ok(());
                }
            }
        }
    }

    async fn list(&self, prefixes: &Prefixes, stage: &mut Stage<'_>, objects: &mut Objects) -> Result<String> {
        let mut query = stage.fill_query(&self.query)?;
        if let Some(name) = &self.reference.name {
            query.push(("fieldSelector".to_owned(), format!("metadata.name={}", stage.fill(name)?)));
        }
        let request = Request {
            method: "GET".to_owned(),
            path: stage.fill(&self.reference.collection(stage.namespace(prefixes)?.as_deref()))?,
            query,
            headers: [("accept".to_owned(), "application/json".to_owned())].into(),
            ..Request::default()
        };
        let outgoing = stage.address(prefixes, request, Vec::new())?;
        let reply = stage.exchange(outgoing).await?;
        ensure!(reply.succeeded(), "the list was refused: {}", reply.body);
        *objects = reply.body["items"].as_array().into_iter().flatten().map(keyed).collect();
        Ok(reply.body["metadata"]["resourceVersion"].as_str().context("a list without a revision")?.to_owned())
    }

    fn matching(&self, objects: &Objects, stage: &Stage<'_>) -> Vec<Value> {
        let like = |object: &&Value| {
            let mut names = stage.dialogue.names.clone();
            self.conditions.iter().all(|field| field.holds(object, &mut names))
        };
        objects.values().filter(like).cloned().collect()
    }
}

/// An object by its key; without its type, which watch events have and items of a list do not.
fn keyed(object: &Value) -> ((String, String), Value) {
    let part = |name: &str| object["metadata"][name].as_str().unwrap_or_default().to_owned();
    let mut untyped = object.clone();
    if let Some(fields) = untyped.as_object_mut() {
        fields.retain(|field, _| field != "apiVersion" && field != "kind");
    }
    ((part("namespace"), part("name")), untyped)
}

/// Applies a watch frame. False if the watch has to be restarted.
fn apply(frame: Value, objects: &mut Objects) -> bool {
    let (key, object) = keyed(&frame["object"]);
    match frame["type"].as_str() {
        Some("ADDED" | "MODIFIED") => {
            objects.insert(key, object);
        }
        Some("DELETED") => {
            objects.remove(&key);
        }
        Some("BOOKMARK") => {}
        _ => return false,
    }
    true
}

/// The value of the name in `pattern` in each of `objects`.
fn gather(pattern: &Value, path: &Path, objects: &[Value]) -> Result<(String, Vec<Value>)> {
    let mut list = None;
    let mut values = Vec::new();
    for object in objects {
        let mut names = Names::default();
        let value = path.find(object).with_context(|| format!("no {path} in {object}"))?;
        ensure!(names.matches(pattern, value, false), "{value} does not look like {pattern}");
        let (name, value) = names.iter().next().with_context(|| format!("no name in {pattern}"))?;
        list = Some(name.to_owned());
        values.push(value.clone());
    }
    Ok((list.context("an empty list")?, values))
}
