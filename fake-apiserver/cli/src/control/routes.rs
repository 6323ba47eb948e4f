//! Requests to the control port, each answered by a line of the table.
//!
//! A request becomes words in JSON: its body, the parts of its path that the line names, and what the line adds.

use super::answers::{Reply, events, json, text};
use super::table::Means::{self, Document, Index, Orders, Stream};
use super::table::Takes::{List, Nothing, Query, Text, Words};
use super::table::{ROOT, ROUTES, Route};
use super::{openapi, stream};
use control::near::hint;
use control::{Changes, Obeys, Order, Question, Refusal, Requests, decode};
use http_body_util::{BodyExt as _, LengthLimitError, Limited};
use hyper::body::{Body as _, Incoming};
use hyper::{Method, Request, Response};
use percent_encoding::percent_decode_str;
use serde_json::{Map, Value};
use std::sync::Arc;
use std::time::Duration;

/// The name of the cluster, in paths that name one.
const CLUSTER: &str = "default";
/// The most bytes of words.
const LONGEST: usize = 3 * 1024 * 1024;
/// The most bytes of objects: of a seed, or a snapshot.
const LONGEST_OBJECTS: usize = 256 * 1024 * 1024;
/// The most bytes that are read of what is too long.
const PASSED_OVER: u64 = 64 * 1024 * 1024;
/// The time that a client has for the body of a request.
const PATIENCE: Duration = Duration::from_secs(60);
/// The most orders in one request.
const MOST_ORDERS: usize = 1000;

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
pub(super) async fn answer(server: &Arc<dyn Obeys>, request: Request<Incoming>) -> Result<Response<Reply>, Refusal> {
    let path = request.uri().path().to_owned();
    let Found { cluster, route, mut words } = find(request.method(), &path)?;
    let cluster = cluster.filter(|name| *name != CLUSTER).map(|name| server.cluster(name)).transpose()?;
    let server = cluster.as_ref().unwrap_or(server);
    let resumes = last_event(&request)?;
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
        Stream(name) => match (named::<Question>("question", name, words)?, server.clone()) {
            (Question::Changes(wanted), server) => {
                Ok(events(stream::changes(server, Changes { since: resumes.or(wanted.since), ..*wanted }).await?))
            }
            (Question::Findings { since }, server) => Ok(events(stream::findings(server, since).await?)),
            (Question::Requests(wanted), server) => {
                let since = resumes.unwrap_or(wanted.since);
                Ok(events(stream::requests(server, Requests { since, ..wanted }).await?))
            }
            _ => Err(Refusal::internal(format_args!("{name} has no stream"))),
        },
        Orders => orders(&**server, words.remove("orders").unwrap_or_default()).await,
        Means::Order(name) => Ok(json(route.code, &server.obey(named::<Order>("order", name, words)?).await?)),
        Means::Question(name) => match server.ask(named::<Question>("question", name, words)?).await? {
            Value::String(content) => Ok(text(content)),
            answer => Ok(json(route.code, &answer)),
        },
    }
}

/// The cursor of the last event that a client has had, if it says so.
fn last_event(request: &Request<Incoming>) -> Result<Option<u64>, Refusal> {
    let Some(value) = request.headers().get("last-event-id") else { return Ok(None) };
    let cursor = value.to_str().ok().and_then(|text| text.parse().ok());
    cursor.map(Some).ok_or_else(|| Refusal::bad_request("Last-Event-ID is not a cursor"))
}

/// The meaning of a request's method and path.
struct Found<'p> {
    /// The cluster that it is about, if it is about one.
    cluster: Option<&'p str>,
    /// The line of the table.
    route: &'static Route,
    /// The fields that its path has.
    words: Map<String, Value>,
}

/// The meaning of a request.
fn find<'p>(method: &Method, path: &'p str) -> Result<Found<'p>, Refusal> {
    let rest = path.strip_prefix(ROOT).filter(|rest| rest.is_empty() || rest.starts_with('/'));
    let rest = rest.ok_or_else(|| Refusal::no_such_path(path, &format!("; all begin with {ROOT}")))?;
    // A cluster itself is a thing of the first one.
    let below = rest.strip_prefix("/clusters/").and_then(|named| Some(named.split_at(named.find('/')?)));
    let (cluster, rest) = match below {
        Some((cluster, below)) if below.len() > 1 => (Some(cluster), below),
        _ => (None, rest),
    };
    let rest = rest.strip_suffix('/').unwrap_or(rest);
    let matching: Vec<_> = ROUTES.iter().filter_map(|route| Some((route, fields(route.path, rest)?))).collect();
    if matching.is_empty() {
        let known = ROUTES.iter().map(|route| route.path);
        return Err(Refusal::no_such_path(path, &hint(rest, known)));
    }
    let methods: Vec<&str> = matching.iter().map(|(route, _)| route.method).collect();
    let found = matching.into_iter().find(|(route, _)| route.method == method.as_str());
    let found = found.map(|(route, words)| Found { cluster, route, words });
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

/// Reads a body, and keeps nothing of it.
async fn pass_over(mut body: Incoming) {
    while let Some(Ok(_)) = body.frame().await {}
}

async fn read(body: Incoming, limit: usize) -> Result<Vec<u8>, Refusal> {
    // Not even begun to read, if its head says so. But a client that sends all before it reads should see why.
    let length = body.size_hint().lower();
    if length > limit as u64 {
        if length <= PASSED_OVER {
            tokio::time::timeout(PATIENCE, pass_over(body)).await.ok();
        }
        return Err(Refusal::too_large(limit));
    }
    let collected = tokio::time::timeout(PATIENCE, Limited::new(body, limit).collect()).await;
    let collected = collected.map_err(|_| Refusal::bad_request("the body has not come in a minute"))?;
    match collected {
        Ok(body) => Ok(body.to_bytes().to_vec()),
        Err(error) if error.is::<LengthLimitError>() => Err(Refusal::too_large(limit)),
        Err(error) => Err(Refusal::bad_request(format_args!("the body breaks off: {error}"))),
    }
}
