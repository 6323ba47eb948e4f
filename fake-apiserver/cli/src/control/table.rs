//! The paths of the control port: a table, each line with the order or question that it stands for. So a path says nothing that an order does not,
//! and the document that describes the port is made of the same table.

/// The beginning of all paths.
pub(super) const ROOT: &str = "/_fake/v1";

/// The meaning of a line of the table.
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
