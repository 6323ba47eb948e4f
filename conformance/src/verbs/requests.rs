//! The verbs that send a request.
//!
//! ```text
//! create configmaps/a data.k=v                    POST; the body is kind, API version, name and the fields given
//! create serviceaccounts/builder/token            POST to a subresource
//! get configmaps/a                                GET
//! list configmaps ?limit=2 ?labelSelector="a in (b, c)"   GET; each object of the answer is an item: its name
//! update configmaps/a rv=$r data.k=w              PUT
//! patch merge configmaps/a data.k=null            PATCH; the body is the fields; also `strategic` and `apply`
//! patch json configmaps/a                         PATCH; the body is an indented JSON list
//! delete configmaps/a preconditions.uid=$u        DELETE; fields make DeleteOptions
//! deletecollection configmaps ?labelSelector=a=b  DELETE of a collection
//! request GET /healthz                            any method and path
//! ```
//!
//! `?key=value` is a query parameter. Indented lines are fields, request headers (`Accept: text/plain`; one that stands twice is
//! sent twice), or the whole body: JSON from a line that begins with `{` or `[`, or text on lines that begin with `|`.

use crate::credentials::ADMINISTRATOR;
use crate::resources::Reference;
use crate::stage::{Outgoing, Stage, unbound};
use crate::webhook::Webhook;
use anyhow::{Context as _, Result, bail};
use conformance_judge::history::{Reply, Request};
use conformance_judge::names::text;
use conformance_judge::observation::{Item, Observation};
use conformance_judge::scenario::CustomResource;
use conformance_judge::scenario::command::RawCommand;
use conformance_judge::scenario::expectation::header;
use conformance_judge::scenario::field::{Field, word_value};
use conformance_judge::scenario::path::Path;
use conformance_judge::scenario::prefixes::{Prefixes, Repetition, Until};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::time::{Duration, Instant};

/// The pause between one request and the next, under `until`.
const PACE: Duration = Duration::from_millis(10);

/// A verb that sends a request.
#[derive(Debug, Clone, PartialEq)]
pub struct RequestVerb {
    method: &'static str,
    address: Address,
    body: Body,
    arguments: Arguments,
    lists: bool,
}

#[derive(Debug, Clone, PartialEq)]
enum Address {
    Collection(Reference),
    Object(Reference),
    Path(String),
}

/// The body before the fields are put in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Body {
    /// Nothing is sent unless fields are given.
    Optional,
    /// Kind, API version and name.
    Object,
    /// A patch of that content type.
    Patch(&'static str),
    /// DeleteOptions if fields are given.
    Options,
}

/// Query parameters; values may have names in them.
pub type Query = Vec<(String, String)>;
/// Headers, lower case; values may have names in them. A repeated header has one value a line.
pub type Headers = BTreeMap<String, String>;

/// The arguments behind the address: query, headers, body.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Arguments {
    query: Query,
    headers: Headers,
    fields: Vec<Field>,
    json: Option<Value>,
    text: Option<String>,
}

impl Arguments {
    /// Reads the words behind the address and the indented lines.
    pub fn parse(words: &[&str], details: &[String]) -> Result<Arguments, String> {
        let mut arguments = Arguments::default();
        for word in words {
            arguments.read(word)?;
        }
        for (index, line) in details.iter().enumerate() {
            let line = line.trim_start();
            if line.starts_with(['{', '[']) {
                let rest = details[index..].join("\n");
                arguments.json = Some(serde_json::from_str(&rest).map_err(|error| format!("the body: {error}"))?);
                break;
            }
            match (line.strip_prefix('|'), header(line)) {
                (Some(text), _) => {
                    let body = arguments.text.get_or_insert_default();
                    body.push_str(text.strip_prefix(' ').unwrap_or(text));
                    body.push('\n');
                }
                (None, Some((name, value))) => {
                    let values = arguments.headers.entry(name.to_ascii_lowercase());
                    values.and_modify(|values| values.push_str(&format!("\n{value}"))).or_insert(value);
                }
                (None, None) => arguments.read(line)?,
            }
        }
        let bodies = [!arguments.fields.is_empty(), arguments.json.is_some(), arguments.text.is_some()];
        if bodies.into_iter().filter(|given| *given).count() > 1 {
            return Err("a body is made of fields, or is JSON, or is text".to_owned());
        }
        Ok(arguments)
    }

    fn read(&mut self, word: &str) -> Result<(), String> {
        if let Some(parameter) = word.strip_prefix('?') {
            let (key, value) = parameter.split_once('=').ok_or_else(|| format!("{word:?} has no value"))?;
            self.query.push((key.to_owned(), text(&word_value(value)?)));
            return Ok(());
        }
        let field = Field::parse(word)?.ok_or_else(|| format!("{word:?} is no `path=value` and no `?key=value`"))?;
        self.fields.push(field);
        Ok(())
    }

    /// The query and the headers of a request without a body.
    pub fn without_body(self) -> Result<(Query, Headers), String> {
        match self {
            Arguments { query, headers, fields, json: None, text: None } if fields.is_empty() => Ok((query, headers)),
            _ => Err("this takes only `?key=value` and headers".to_owned()),
        }
    }

    /// The headers and the body of an answer: JSON, an object made of the fields, a text, or null.
    pub fn answer(self) -> Result<(Headers, Value), String> {
        let Arguments { query, headers, fields, json, text } = self;
        if !query.is_empty() {
            return Err("an answer has no query".to_owned());
        }
        let mut body = json.or_else(|| text.map(Value::from)).unwrap_or_default();
        for field in fields {
            field.path.set(&mut body, field.value.ok_or("`absent` cannot be sent")?);
        }
        Ok((headers, body))
    }

    /// The query and the fields of a condition.
    pub fn condition(self) -> Result<(Query, Vec<Field>), String> {
        match self {
            Arguments { query, headers, fields, json: None, text: None } if headers.is_empty() => Ok((query, fields)),
            _ => Err("this takes only `?key=value` and `path=value`".to_owned()),
        }
    }
}

impl RequestVerb {
    /// Reads the command.
    pub fn parse(command: &RawCommand, customs: &[CustomResource]) -> Result<RequestVerb, String> {
        let words = command.words();
        let (method, body, words) = match (command.verb.as_str(), &words[..]) {
            ("create", rest) => ("POST", Body::Object, rest),
            ("get" | "list", rest) => ("GET", Body::Optional, rest),
            ("update", rest) => ("PUT", Body::Object, rest),
            ("delete" | "deletecollection", rest) => ("DELETE", Body::Options, rest),
            ("patch", ["apply", rest @ ..]) => ("PATCH", Body::Patch("application/apply-patch+yaml"), rest),
            ("patch", ["json", rest @ ..]) => ("PATCH", Body::Patch("application/json-patch+json"), rest),
            ("patch", ["merge", rest @ ..]) => ("PATCH", Body::Patch("application/merge-patch+json"), rest),
            ("patch", ["strategic", rest @ ..]) => {
                ("PATCH", Body::Patch("application/strategic-merge-patch+json"), rest)
            }
            ("request", [method, rest @ ..]) => (known_method(method)?, Body::Optional, rest),
            ("patch", _) => return Err(command.usage("patch apply|json|merge|strategic RESOURCE/NAME …")),
            (verb, _) => return Err(format!("{verb:?} is not a verb; `fixtures/README.md` lists them")),
        };
        let (address, words) = words.split_first().ok_or_else(|| command.usage("VERB RESOURCE[/NAME] …"))?;
        let arguments = Arguments::parse(words, &command.details)?;
        let address = match command.verb.as_str() {
            "request" => Address::Path((*address).to_owned()),
            verb => reference(verb, Reference::parse(address, customs)?)?,
        };
        Ok(RequestVerb { method, address, body, arguments, lists: command.verb == "list" })
    }

    /// Carries it out.
    pub async fn play(&self, prefixes: &Prefixes, stage: &mut Stage<'_>) -> Result<Observation> {
        self.catch_up(prefixes, stage).await?;
        let Some(repetition) = &prefixes.repetition else {
            let reply = match &prefixes.until {
                None => {
                    let outgoing = self.outgoing(prefixes, stage)?;
                    stage.exchange(outgoing).await?
                }
                Some(until) => self.repeat_until(until, prefixes, stage).await?,
            };
            let refused = !reply.succeeded();
            return Ok(Observation { items: items(reply, self.lists), refused, ..Observation::default() });
        };
        let mut outgoing = Vec::new();
        for value in values(repetition, stage)? {
            stage.dialogue.names.bind("i", value);
            outgoing.push(self.outgoing(prefixes, stage)?);
        }
        let replies = if repetition.parallel {
            futures::future::try_join_all(outgoing.into_iter().map(|outgoing| stage.exchange(outgoing))).await?
        } else {
            let mut replies = Vec::new();
            for outgoing in outgoing {
                replies.push(stage.exchange(outgoing).await?);
            }
            replies
        };
        let refused = replies.iter().any(|reply| !reply.succeeded());
        Ok(Observation { items: tally(replies.iter().map(head)), refused, ..Observation::default() })
    }

    /// Waits until the watch cache has the objects that this is about, if a webhook is called for them: a list without a revision does.
    async fn catch_up(&self, prefixes: &Prefixes, stage: &Stage<'_>) -> Result<()> {
        let reference = match &self.address {
            Address::Object(reference) => reference,
            Address::Collection(reference) if self.method == "DELETE" => reference,
            _ => return Ok(()),
        };
        if stage.webhook.as_ref().is_some_and(Webhook::admits) && self.method != "GET" {
            let path = stage.fill(&reference.collection(stage.namespace(prefixes)?.as_deref()))? + "?limit=1";
            let token = stage.cluster.token(ADMINISTRATOR);
            stage.cluster.endpoints()[0].ask(token.as_deref(), "GET", &path, &Value::Null).await?;
        }
        Ok(())
    }

    /// The first response that meets the condition, or the last one before the deadline.
    async fn repeat_until(&self, until: &Until, prefixes: &Prefixes, stage: &mut Stage<'_>) -> Result<Reply> {
        let deadline = Instant::now() + stage.patience;
        if let (Until::Called(_), Some(webhook)) = (until, &stage.webhook) {
            webhook.take_reviews(None);
        }
        loop {
            let outgoing = self.outgoing(prefixes, stage)?;
            let reply = stage.exchange(outgoing).await?;
            let done = match until {
                Until::Status(status) => reply.status == *status,
                Until::Field(field) => field.holds(&reply.body, &mut stage.dialogue.names.clone()),
                Until::Called(path) => {
                    let webhook = stage.webhook.as_ref().context("no webhook was started")?;
                    let called = webhook.was_called(path);
                    webhook.take_reviews(None);
                    called
                }
            };
            if done || Instant::now() > deadline {
                return Ok(reply);
            }
            tokio::time::sleep(PACE).await;
        }
    }

    fn outgoing(&self, prefixes: &Prefixes, stage: &mut Stage<'_>) -> Result<Outgoing> {
        let mut headers = self.arguments.headers.clone();
        let body = self.body(stage)?;
        let content_type = match self.body {
            Body::Patch(content_type) => content_type,
            _ => "application/json",
        };
        if !body.is_null() {
            headers.entry("content-type".to_owned()).or_insert_with(|| content_type.to_owned());
        }
        headers.entry("accept".to_owned()).or_insert_with(|| "application/json".to_owned());
        for value in headers.values_mut() {
            *value = stage.fill(value)?;
        }
        let bytes = match &body {
            Value::Null => Vec::new(),
            Value::String(text) if self.arguments.text.is_some() => text.clone().into_bytes(),
            json => serde_json::to_vec(json)?,
        };
        let query = stage.fill_query(&self.arguments.query)?;
        let request = Request {
            method: self.method.to_owned(),
            path: self.path(prefixes, stage)?,
            query,
            headers,
            body,
            ..Request::default()
        };
        stage.address(prefixes, request, bytes)
    }

    fn path(&self, prefixes: &Prefixes, stage: &Stage<'_>) -> Result<String> {
        let namespace = stage.namespace(prefixes)?;
        let path = match &self.address {
            Address::Path(path) => path.clone(),
            Address::Collection(reference) => reference.collection(namespace.as_deref()),
            Address::Object(reference) => {
                let mut path = reference.collection(namespace.as_deref());
                for part in reference.name.iter().chain(&reference.subresource) {
                    path.push('/');
                    path.push_str(part);
                }
                path
            }
        };
        stage.fill(&path)
    }

    fn body(&self, stage: &Stage<'_>) -> Result<Value> {
        let Arguments { fields, json, text, .. } = &self.arguments;
        if let Some(text) = text {
            return Ok(stage.fill(text)?.into());
        }
        if let Some(json) = json {
            return stage.dialogue.names.fill(json).map_err(unbound);
        }
        let mut body = match self.body {
            Body::Object => self.template()?,
            Body::Patch("application/apply-patch+yaml") => self.template()?,
            Body::Patch(_) if fields.is_empty() => bail!("a patch without a body"),
            Body::Options if !fields.is_empty() => json!({"apiVersion": "v1", "kind": "DeleteOptions"}),
            _ => Value::Null,
        };
        for field in fields {
            let value = field.value.as_ref().context("`absent` cannot be sent")?;
            field.path.set(&mut body, value.clone());
        }
        stage.dialogue.names.fill(&body).map_err(unbound)
    }

    fn template(&self) -> Result<Value> {
        let (Address::Collection(reference) | Address::Object(reference)) = &self.address else {
            bail!("only a resource has a kind");
        };
        let (api_version, kind) = reference.written_as();
        let mut body = json!({"apiVersion": api_version, "kind": kind});
        let is_object = reference.subresource.is_none() || kind == reference.resource.kind;
        if let Some(name) = reference.name.as_ref().filter(|_| is_object) {
            Path::parse("metadata.name").map_err(anyhow::Error::msg)?.set(&mut body, name.as_str().into());
        }
        Ok(body)
    }
}

/// The address that a verb sends its request to: an object is created by a POST to its collection.
fn reference(verb: &str, reference: Reference) -> Result<Address, String> {
    let named = reference.name.is_some();
    match verb {
        "create" if reference.subresource.is_none() => Ok(Address::Collection(reference)),
        "list" | "deletecollection" if !named => Ok(Address::Collection(reference)),
        "list" | "deletecollection" => Err(format!("{verb} takes a whole resource, not one object")),
        _ if named => Ok(Address::Object(reference)),
        _ => Err(format!("{verb} needs RESOURCE/NAME")),
    }
}

fn known_method(method: &str) -> Result<&'static str, String> {
    let known = ["DELETE", "GET", "HEAD", "OPTIONS", "PATCH", "POST", "PUT"];
    known.into_iter().find(|known| *known == method).ok_or_else(|| format!("{method:?} is none of {known:?}"))
}

/// The values that a repetition goes through.
fn values(repetition: &Repetition, stage: &Stage<'_>) -> Result<Vec<Value>> {
    if let Ok(count) = repetition.over.parse::<u64>() {
        return Ok((1..=count).map(|number| number.to_string().into()).collect());
    }
    match stage.dialogue.names.fill(&Value::String(repetition.over.clone())).map_err(unbound)? {
        Value::Array(values) => Ok(values),
        _ => bail!("{} is neither a number nor a list", repetition.over),
    }
}

/// The number of items with each head, alphabetically.
pub fn tally(heads: impl Iterator<Item = String>) -> Vec<Item> {
    let mut counts = BTreeMap::<String, usize>::new();
    for head in heads {
        *counts.entry(head).or_default() += 1;
    }
    counts.into_iter().map(|(head, count)| Item::new(format!("{count} times {head}"), Value::Null)).collect()
}

/// The status, and the reason of a refusal: `200`, `404 NotFound`.
pub fn head(reply: &Reply) -> String {
    match reply.body["reason"].as_str().filter(|_| reply.body["kind"] == "Status" && !reply.succeeded()) {
        Some(reason) => format!("{} {reason}", reply.status),
        None => reply.status.to_string(),
    }
}

/// A reply as an item, and each object of a list as one.
pub fn items(reply: Reply, lists: bool) -> Vec<Item> {
    let objects = reply.body["items"].as_array().filter(|_| lists).cloned().unwrap_or_default();
    let first = Item { head: head(&reply), document: reply.body, headers: reply.headers, text: reply.text };
    std::iter::once(first).chain(objects.into_iter().map(object_item)).collect()
}

/// An object as an item: its name.
pub fn object_item(object: Value) -> Item {
    Item::new(object["metadata"]["name"].as_str().unwrap_or_default().to_owned(), object)
}
