//! The paths of the control port: a table, each line with the order or question that it stands for.
//!
//! A request becomes words in JSON: its body, the parts of its path that the line names, and what the line adds. So a path says nothing that an
//! order does not, and the document that describes the port is made of the same table.

use super::answers::{Reply, json, text};
use super::openapi;
use control::near::hint;
use control::{Obeys, Order, Question, Refusal, decode};
use http_body_util::{BodyExt as _, LengthLimitError, Limited};
use hyper::body::Incoming;
use hyper::{Method, Request, Response};
use percent_encoding::percent_decode_str;
use serde_json::{Map, Value};
use std::time::Duration;

/// The beginning of all paths.
pub(super) const ROOT: &str = "/_fake/v1";
/// The name of the cluster, in paths that name one.
const CLUSTER: &str = "default";
/// The most bytes of words.
const LONGEST: usize = 3 * 1024 * 1024;
/// The most bytes of objects: of a seed, or a snapshot.
const LONGEST_OBJECTS: usize = 256 * 1024 * 1024;
/// The time that a client has for the body of a request.
const PATIENCE: Duration = Duration::from_secs(60);
/// The most orders in one request.
const MOST_ORDERS: usize = 1000;

/// What a line of the table stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Means {
    /// The order of that name.
    Order(&'static str),
    /// The question of that name.
    Question(&'static str),
    /// Several orders.
    Orders,
    /// The list of paths.
    Index,
    /// The document that describes the port.
    Document,
}

/// The body of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Takes {
    /// None.
    Nothing,
    /// Words in JSON.
    Words,
    /// A list, as the field of that name.
    List(&'static str),
    /// A text, as the field of that name.
    Text(&'static str),
    /// None; the query has words.
    Query,
}

/// A line of the table.
pub(super) struct Route {
    pub(super) method: &'static str,
    /// The path, with the fields that its parts stand for: `/faults/{id}`.
    pub(super) path: &'static str,
    pub(super) means: Means,
    pub(super) takes: Takes,
    /// The status of a success.
    pub(super) code: u16,
    pub(super) summary: &'static str,
}

use Means::{Document, Index, Orders};
use Takes::{List, Nothing, Query, Text, Words};

const fn order(
    method: &'static str,
    path: &'static str,
    name: &'static str,
    takes: Takes,
    summary: &'static str,
) -> Route {
    Route { method, path, means: Means::Order(name), takes, code: 200, summary }
}

const fn made(
    method: &'static str,
    path: &'static str,
    name: &'static str,
    takes: Takes,
    summary: &'static str,
) -> Route {
    Route { method, path, means: Means::Order(name), takes, code: 201, summary }
}

const fn asks(
    method: &'static str,
    path: &'static str,
    name: &'static str,
    takes: Takes,
    summary: &'static str,
) -> Route {
    Route { method, path, means: Means::Question(name), takes, code: 200, summary }
}

#[rustfmt::skip]
pub(super) const ROUTES: &[Route] = &[
    Route { method: "GET", path: "", means: Index, takes: Nothing, code: 200, summary: "The paths" },
    Route { method: "GET", path: "/openapi.json", means: Document, takes: Nothing, code: 200, summary: "This document" },
    Route { method: "POST", path: "/orders", means: Orders, takes: List("orders"), code: 200, summary: "Several orders, one after the other, until one is refused" },
    asks("GET", "/faults", "faults", Query, "The rules by which requests fail; with unused=true those that never struck"),
    made("POST", "/faults", "addFault", Words, "Adds a rule"),
    order("PUT", "/faults", "replaceFaults", List("rules"), "Puts rules in the place of all others"),
    order("DELETE", "/faults", "clearFaults", Nothing, "Removes all rules"),
    asks("GET", "/faults/{id}", "fault", Nothing, "A rule, with the numbers of requests that it saw and struck"),
    order("DELETE", "/faults/{id}", "removeFault", Nothing, "Removes a rule; requests that it holds go on"),
    asks("GET", "/clock", "clock", Nothing, "The clock"),
    order("PATCH", "/clock", "setClock", Words, "Sets the clock, freezes it, lets it run"),
    order("POST", "/clock/advance", "advanceClock", Words, "Advances the clock, and does what is due"),
    order("POST", "/history/compact", "compact", Words, "Forgets the history: who needs it gets 410"),
    order("POST", "/watches/end", "endWatches", Words, "Ends open watches as a restarted server does"),
    asks("GET", "/replicas", "replicas", Nothing, "The replicas"),
    order("PATCH", "/replicas/{replica}", "replica", Words, "Stops or starts a replica, holds its cache, sets its clock wrong, ends its watches"),
    asks("GET", "/controllers", "controllers", Nothing, "The controllers that run"),
    order("PATCH", "/controllers/{name}", "controller", Words, "Pauses a controller, or lets it run"),
    order("POST", "/controllers/{name}/step", "step", Words, "Lets a paused controller deal with some keys"),
    order("POST", "/settle", "settle", Words, "Waits until controllers have nothing left to do; says who has"),
    asks("GET", "/snapshots", "snapshots", Nothing, "The snapshots"),
    made("POST", "/snapshots", "save", Words, "Saves the objects"),
    asks("GET", "/snapshots/{name}", "snapshot", Nothing, "A snapshot, for a file"),
    made("PUT", "/snapshots/{snapshot}", "import", Text("content"), "Takes in a snapshot from a file"),
    order("DELETE", "/snapshots/{snapshot}", "forget", Nothing, "Forgets a snapshot"),
    order("POST", "/snapshots/{snapshot}/restore", "restore", Words, "Puts the objects of a snapshot in the place of those that there are"),
    order("POST", "/reset", "reset", Words, "The server as it was at its start, or with the objects of a snapshot"),
    order("POST", "/seed", "seed", Text("objects"), "Applies objects, a stream of YAML or JSON: all, or none"),
    asks("GET", "/requests", "requests", Query, "Recorded requests: verb, resource, namespace, name, user, userAgent, since, limit, writes"),
    asks("POST", "/requests/query", "requests", Words, "Recorded requests that a pattern matches"),
    asks("POST", "/requests/wait", "wait", Words, "Recorded requests, once there are enough; says which came close"),
    asks("POST", "/requests/verify", "verify", Words, "Whether the recorded requests are the expected ones"),
    asks("GET", "/findings", "findings", Query, "What is odd about the recorded requests"),
];

/// The parameters of a query that are lists of a pattern: by their names there.
const PATTERNS: [(&str, &str); 7] = [
    ("apiGroup", "apiGroups"),
    ("name", "names"),
    ("namespace", "namespaces"),
    ("resource", "resources"),
    ("user", "users"),
    ("userAgent", "userAgents"),
    ("verb", "verbs"),
];

/// Answers a request of someone who was let in.
pub(super) async fn answer(server: &dyn Obeys, request: Request<Incoming>) -> Result<Response<Reply>, Refusal> {
    let path = request.uri().path().to_owned();
    let (route, mut words) = find(request.method(), &path)?;
    let query = request.uri().query().unwrap_or_default().to_owned();
    match route.takes {
        Query => words.append(&mut of_query(&query)?),
        _ if query.is_empty() => {}
        _ => return Err(Refusal::bad_request(format_args!("{path:?} takes no query"))),
    }
    let limit = if matches!(route.takes, Text(_)) { LONGEST_OBJECTS } else { LONGEST };
    let body = read(request.into_body(), limit).await?;
    match route.takes {
        Nothing | Query if body.trim_ascii().is_empty() => {}
        Nothing | Query => return Err(Refusal::bad_request(format_args!("{path:?} takes no body"))),
        Words => {
            for (field, value) in decode::<Map<String, Value>>(&body)? {
                if words.insert(field.clone(), value).is_some() {
                    return Err(Refusal::bad_field(&field, format_args!("the path says {field:?} already")));
                }
            }
        }
        List(field) => {
            words.insert(field.into(), listed(field, &body)?);
        }
        Text(field) => {
            let text = String::from_utf8(body).map_err(|_| Refusal::bad_request("the body is not UTF-8"))?;
            words.insert(field.into(), text.into());
        }
    }
    match route.means {
        Index => Ok(json(route.code, &openapi::index())),
        Document => Ok(json(route.code, openapi::document())),
        Orders => orders(server, words.remove("orders").unwrap_or_default()).await,
        Means::Order(name) => Ok(json(route.code, &server.obey(named::<Order>("order", name, words)?).await?)),
        Means::Question(name) => match server.ask(named::<Question>("question", name, words)?).await? {
            Value::String(content) => Ok(text(content)),
            answer => Ok(json(route.code, &answer)),
        },
    }
}

/// The line of the table for a request, and the fields that its path has.
fn find(method: &Method, path: &str) -> Result<(&'static Route, Map<String, Value>), Refusal> {
    let rest = path.strip_prefix(ROOT).filter(|rest| rest.is_empty() || rest.starts_with('/'));
    let rest = rest.ok_or_else(|| Refusal::no_such_path(path, &format!("; all begin with {ROOT}")))?;
    let rest = match rest.strip_prefix("/clusters/") {
        None => rest,
        Some(named) => {
            let (cluster, rest) = named.split_at(named.find('/').unwrap_or(named.len()));
            if cluster != CLUSTER {
                return Err(Refusal::not_found("clusters", cluster, &hint(cluster, [CLUSTER])));
            }
            rest
        }
    };
    let rest = rest.strip_suffix('/').unwrap_or(rest);
    let matching: Vec<_> = ROUTES.iter().filter_map(|route| Some((route, fields(route.path, rest)?))).collect();
    if matching.is_empty() {
        let known = ROUTES.iter().map(|route| route.path);
        return Err(Refusal::no_such_path(path, &hint(rest, known)));
    }
    let methods: Vec<&str> = matching.iter().map(|(route, _)| route.method).collect();
    let found = matching.into_iter().find(|(route, _)| route.method == method.as_str());
    found.ok_or_else(|| Refusal::no_such_method(method.as_str(), path, &methods.join(", ")))
}

/// The fields that a path has, if it is like that of a line.
fn fields(pattern: &str, path: &str) -> Option<Map<String, Value>> {
    let (patterns, parts): (Vec<&str>, Vec<&str>) = (pattern.split('/').collect(), path.split('/').collect());
    let mut fields = Map::new();
    if patterns.len() != parts.len() {
        return None;
    }
    for (pattern, part) in patterns.into_iter().zip(parts) {
        match pattern.strip_prefix('{').and_then(|rest| rest.strip_suffix('}')) {
            None if pattern == part => {}
            Some(field) if !part.is_empty() => {
                let text = percent_decode_str(part).decode_utf8().ok()?;
                let number = (field == "replica").then(|| text.parse::<u64>().ok()).flatten();
                fields.insert(field.into(), number.map_or_else(|| text.as_ref().into(), Value::from));
            }
            _ => return None,
        }
    }
    Some(fields)
}

/// The words of a query.
fn of_query(query: &str) -> Result<Map<String, Value>, Refusal> {
    let mut words = Map::new();
    for pair in query.split('&').filter(|pair| !pair.is_empty()) {
        let (name, value) = pair.split_once('=').unwrap_or((pair, "true"));
        let plain = value.replace('+', " ");
        let text = percent_decode_str(&plain).decode_utf8().map_err(Refusal::bad_request)?;
        if let Some((_, list)) = PATTERNS.iter().find(|(known, _)| *known == name) {
            let on = words.entry("match").or_insert_with(|| Map::new().into());
            match on
                .as_object_mut()
                .and_then(|on| on.entry(*list).or_insert_with(|| Value::Array(Vec::new())).as_array_mut())
            {
                Some(list) => list.push(text.as_ref().into()),
                None => return Err(Refusal::bad_field(name, "it stands for a list")),
            }
            continue;
        }
        // Numbers and truths are written in a query as in JSON.
        let value = serde_json::from_str(&text).ok().filter(|value: &Value| value.is_number() || value.is_boolean());
        words.insert(name.into(), value.unwrap_or_else(|| text.as_ref().into()));
    }
    Ok(words)
}

/// A list: alone, or as a field.
fn listed(field: &str, body: &[u8]) -> Result<Value, Refusal> {
    match decode::<Value>(body)? {
        list @ Value::Array(_) => Ok(list),
        Value::Object(mut words) if words.len() == 1 && words.contains_key(field) => {
            Ok(words.remove(field).unwrap_or_default())
        }
        _ => Err(Refusal::bad_request(format_args!("the body is a list of {field}"))),
    }
}

/// Words with their name.
fn named<W: serde::de::DeserializeOwned>(tag: &str, name: &str, mut words: Map<String, Value>) -> Result<W, Refusal> {
    if words.insert(tag.into(), name.into()).is_some() {
        return Err(Refusal::bad_field(tag, format_args!("the path says the {tag} already")));
    }
    decode(&serde_json::to_vec(&words).map_err(Refusal::bad_request)?)
}

async fn orders(server: &dyn Obeys, orders: Value) -> Result<Response<Reply>, Refusal> {
    let orders: Vec<Order> = decode(&serde_json::to_vec(&orders).map_err(Refusal::bad_request)?)?;
    if orders.len() > MOST_ORDERS {
        return Err(Refusal::bad_request(format_args!("there are at most {MOST_ORDERS} orders at a time")));
    }
    let (number, mut items) = (orders.len(), Vec::new());
    for (index, order) in orders.into_iter().enumerate() {
        match server.obey(order).await {
            Ok(answer) => items.push(answer),
            Err(mut refusal) => {
                refusal.message = format!("order {} of {number}: {refusal}", index + 1);
                return Err(refusal);
            }
        }
    }
    Ok(json(200, &serde_json::json!({"items": items})))
}

async fn read(body: Incoming, limit: usize) -> Result<Vec<u8>, Refusal> {
    let collected = tokio::time::timeout(PATIENCE, Limited::new(body, limit).collect()).await;
    let collected = collected.map_err(|_| Refusal::bad_request("the body has not come in a minute"))?;
    match collected {
        Ok(body) => Ok(body.to_bytes().to_vec()),
        Err(error) if error.is::<LengthLimitError>() => Err(Refusal::too_large(limit)),
        Err(error) => Err(Refusal::bad_request(format_args!("the body breaks off: {error}"))),
    }
}
