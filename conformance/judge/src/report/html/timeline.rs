//! The timeline of a history: lanes, steps and the messages between the lanes.

use super::marks;
use super::page::{Difference, Exchange, Kind, Lane, Mark, Message, Raw, Step, Timeline};
use crate::dialogue::Played;
use crate::history::{Event, History, Request};
use crate::names::text;
use crate::normalise::Placeholders;
use crate::scenario::command::RawCommand;
use crate::scenario::prefixes::ADMINISTRATOR;
use crate::scenario::{self, Scenario};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};

/// The timeline of `scenario` as it was `played`; `differences` are those of its steps, by line.
pub(super) fn timeline<'a>(
    scenario: &'a Scenario,
    played: &'a Played,
    differences: &BTreeMap<usize, Vec<Difference>>,
) -> Timeline<'a> {
    let writer = Writer::new(scenario, played);
    let mut steps = writer.steps(differences);
    writer.messages(&mut steps);
    let names = writer.names();
    Timeline { steps, names, lanes: writer.lanes(), exchanges: writer.exchanges }
}

/// Field → value → name.
type Named = BTreeMap<String, BTreeMap<String, String>>;

struct Writer<'a> {
    scenario: &'a Scenario,
    history: &'a History,
    placeholders: Placeholders,
    /// Values that the scenario has a name for, with that name.
    bound: BTreeMap<&'a str, &'a str>,
    namespace: &'a str,
    exchanges: BTreeMap<u64, Exchange<'a>>,
    /// The clients, in the order of their lanes.
    clients: Vec<&'a str>,
    servers: usize,
}

impl<'a> Writer<'a> {
    fn new(scenario: &'a Scenario, played: &'a Played) -> Writer<'a> {
        let history = &played.history;
        let mut exchanges = BTreeMap::new();
        let mut clients: Vec<&str> = Vec::new();
        let (mut namespace, mut servers) = ("", scenario.replicas);
        for event in history.events() {
            let client = match event {
                Event::Request(request) => {
                    exchanges.insert(request.request, Exchange { request, reply: None });
                    servers = servers.max(request.replica);
                    &request.user
                }
                Event::Call(call) => &call.user,
                Event::Reply(reply) => {
                    exchanges.entry(reply.request).and_modify(|exchange| exchange.reply = Some(reply));
                    continue;
                }
                Event::Started { namespace: own, .. } => {
                    namespace = own;
                    continue;
                }
                _ => continue,
            };
            if !clients.contains(&client.as_str()) {
                clients.push(client);
            }
        }
        clients.sort_by_key(|client| *client != ADMINISTRATOR);
        let placeholders = Placeholders::collect(documents(history), &played.dialogue.names);
        let bound = played.dialogue.names.iter().filter_map(|(name, value)| Some((value.as_str()?, name))).collect();
        Writer { scenario, history, placeholders, bound, namespace, exchanges, clients, servers }
    }

    fn lanes(&self) -> Vec<Lane> {
        let client = |name: &&str| Lane { name: (*name).to_owned(), server: false, answers: BTreeMap::new() };
        let server = |replica: usize| Lane {
            name: if self.servers == 1 { "server".to_owned() } else { format!("server {replica}") },
            server: true,
            answers: self.answers(replica),
        };
        self.clients.iter().map(client).chain((1..=self.servers).map(server)).collect()
    }

    fn answers(&self, replica: usize) -> BTreeMap<u16, usize> {
        let mut answers = BTreeMap::new();
        let replies = self.exchanges.values().filter(|exchange| exchange.request.replica == replica);
        let calls = self.history.events().filter_map(|event| match event {
            Event::Call(call) if replica == 1 => Some(call.status),
            _ => None,
        });
        for status in replies.filter_map(|exchange| Some(exchange.reply?.status)).chain(calls) {
            *answers.entry(status).or_default() += 1;
        }
        answers
    }

    fn client(&self, user: &str) -> usize {
        self.clients.iter().position(|client| *client == user).unwrap_or_default()
    }

    fn server(&self, replica: usize) -> usize {
        self.clients.len() + replica - 1
    }

    fn steps(&self, differences: &BTreeMap<usize, Vec<Difference>>) -> Vec<Step<'a>> {
        let played: BTreeSet<usize> = self.history.events().filter_map(step_line).collect();
        let step = |(index, step): (usize, &'a scenario::Step)| {
            // The first block is the opening paragraph; later ones without a command belong to the next step.
            let before = index.checked_sub(1).map_or(1, |before| self.scenario.steps[before].block + 1);
            let blocks = &self.scenario.text.blocks[before..=step.block];
            let prose = blocks.iter().flat_map(|block| &block.comment).map(|line| line.trim_start_matches('#').trim());
            Step {
                line: step.line,
                prose: prose.collect::<Vec<_>>().join(" "),
                command: &self.scenario.text.blocks[step.block].command,
                told: step.expectation.as_ref().map(|expectation| expectation.lines()).unwrap_or_default(),
                note: marks::is_note(&step.command),
                marks: self.marks(&step.command),
                played: played.contains(&step.line),
                differences: differences.get(&step.line).cloned().unwrap_or_default(),
                messages: Vec::new(),
            }
        };
        self.scenario.steps.iter().enumerate().map(step).collect()
    }

    fn marks(&self, command: &RawCommand) -> Vec<Mark> {
        let Some(mark) = marks::mark(command) else { return Vec::new() };
        let replicas = mark.replica.map_or(1..=self.servers, |replica| replica..=replica);
        replicas.map(|replica| Mark { lane: self.server(replica), text: mark.text.clone() }).collect()
    }

    /// Puts every message into the step during which it was seen.
    fn messages(&self, steps: &mut [Step<'a>]) {
        let mut current = 0;
        let mut entries = self.history.entries.iter().peekable();
        while let Some(entry) = entries.next() {
            if let Some(line) = step_line(&entry.event) {
                current = steps.iter().position(|step| step.line == line).unwrap_or(current);
            }
            let Some(mut message) = self.message(&entry.event, entry.micros) else { continue };
            let answer = entries.next_if(|next| match (&entry.event, &next.event) {
                (Event::Request(request), Event::Reply(reply)) => request.request == reply.request,
                _ => false,
            });
            if let Some(answer) = answer {
                message.kind = Kind::Exchange;
                message.took_micros = Some(answer.micros.saturating_sub(entry.micros));
                message.status = self.exchanges[&message.exchange.unwrap_or_default()].reply.map(|reply| reply.status);
            }
            if let Some(step) = steps.get_mut(current) {
                step.messages.push(message);
            }
        }
    }

    fn message(&self, event: &'a Event, micros: u64) -> Option<Message<'a>> {
        let answer = |kind, number: u64, title, status, raw| {
            let request = self.exchanges.get(&number)?.request;
            let (from, to) = (self.server(request.replica), self.client(&request.user));
            let (at_micros, exchange) = (Some(micros), Some(number));
            Some(Message { kind, at_micros, took_micros: None, from, to, title, status, exchange, raw })
        };
        match event {
            Event::Request(request) => Some(Message {
                kind: Kind::Request,
                at_micros: Some(micros),
                took_micros: None,
                from: self.client(&request.user),
                to: self.server(request.replica),
                title: self.asked(request),
                status: None,
                exchange: Some(request.request),
                raw: None,
            }),
            Event::Reply(reply) => {
                let title = self.asked(self.exchanges.get(&reply.request)?.request);
                answer(Kind::Reply, reply.request, title, Some(reply.status), None)
            }
            Event::Frame { request, frame } => {
                answer(Kind::Frame, *request, self.delivered(frame), None, Some(Raw::Frame(frame)))
            }
            Event::Closed { request, error } => {
                let title = format!("end of watch {}", error.as_deref().unwrap_or_default());
                answer(Kind::End, *request, title.trim_end().to_owned(), None, error.as_deref().map(Raw::Text))
            }
            Event::Call(call) => Some(Message {
                kind: Kind::Call,
                at_micros: None,
                took_micros: None,
                from: self.client(&call.user),
                // Controllers are clients of the first API server.
                to: self.server(1),
                title: format!(
                    "{} {}{}",
                    call.method,
                    self.named("", &call.target),
                    self.created(&call.method, &call.body)
                ),
                status: Some(call.status),
                exchange: None,
                raw: Some(Raw::Call(call)),
            }),
            Event::Started { .. } | Event::Step { .. } | Event::Observed { .. } => None,
        }
    }

    /// A request in short: `POST configmaps name=a ?dryRun=All`.
    fn asked(&self, request: &Request) -> String {
        let parameter = |(key, value): &(String, String)| format!(" ?{key}={}", self.named(key, value));
        let query: String = request.query.iter().map(parameter).collect();
        let name = self.created(&request.method, &request.body);
        format!("{} {}{name}{query}", request.method, self.named("", short(&request.path, self.namespace)))
    }

    /// The name of the object in the body of a `POST`, which its path does not tell.
    fn created(&self, method: &str, body: &Value) -> String {
        let name = body["metadata"]["name"].as_str().filter(|_| method == "POST");
        name.map(|name| format!(" name={}", self.named("name", name))).unwrap_or_default()
    }

    /// A frame in short: `ADDED a`, `BOOKMARK <revision 3>`, `ERROR Expired`.
    fn delivered(&self, frame: &Value) -> String {
        let Some(kind) = frame["type"].as_str() else { return text(frame) };
        let metadata = &frame["object"]["metadata"];
        let word = match kind {
            "BOOKMARK" => metadata["resourceVersion"].as_str().map(|revision| self.named("resourceVersion", revision)),
            "ERROR" => frame["object"]["reason"].as_str().map(str::to_owned),
            _ => metadata["name"].as_str().map(|name| self.named("name", name)),
        };
        format!("{kind} {}", word.unwrap_or_default()).trim_end().to_owned()
    }

    /// `value` of `field` by its name, if it has one; else as it is.
    fn named(&self, field: &str, value: &str) -> String {
        match self.bound.get(value).filter(|_| field == "resourceVersion" || value.len() > 4) {
            Some(name) => format!("${name}"),
            // Only in the metadata of an object a revision is known to be one.
            None => {
                let mut object = json!({"metadata": {"name": ""}});
                object["metadata"][field] = value.into();
                text(&self.placeholders.normal(&object)["metadata"][field])
            }
        }
    }

    /// The names of all texts that differ from run to run: field → value → name.
    fn names(&self) -> Named {
        let mut found = Named::new();
        documents(self.history).for_each(|document| self.gather("", document, &mut found));
        found
    }

    fn gather(&self, field: &str, value: &Value, found: &mut Named) {
        match value {
            Value::Object(fields) => fields.iter().for_each(|(field, value)| self.gather(field, value, found)),
            Value::Array(items) => items.iter().for_each(|item| self.gather(field, item, found)),
            // Sentences are not values, and a placeholder without a number (`<time>`) is not a name.
            Value::String(value) if !value.contains(char::is_whitespace) => {
                let name = self.named(field, value);
                if name != *value && name.contains(|c: char| c == '$' || c.is_ascii_digit()) {
                    found.entry(field.to_owned()).or_default().insert(value.clone(), name);
                }
            }
            _ => {}
        }
    }
}

fn step_line(event: &Event) -> Option<usize> {
    match event {
        Event::Step { line, .. } => Some(*line),
        _ => None,
    }
}

/// All bodies and frames.
fn documents(history: &History) -> impl Iterator<Item = &Value> {
    history.events().filter_map(|event| match event {
        Event::Request(request) => Some(&request.body),
        Event::Reply(reply) => Some(&reply.body),
        Event::Frame { frame, .. } => Some(frame),
        Event::Call(call) => Some(&call.body),
        _ => None,
    })
}

/// A path without the API version and the scenario's own namespace.
fn short<'p>(path: &'p str, namespace: &str) -> &'p str {
    let parts = match path.split('/').nth(1) {
        Some("api") => 3,
        Some("apis") => 4,
        _ => return path,
    };
    let Some(rest) = path.splitn(parts + 1, '/').nth(parts) else { return path };
    let own = rest.strip_prefix("namespaces/").and_then(|rest| rest.strip_prefix(namespace)?.strip_prefix('/'));
    own.unwrap_or(rest)
}
