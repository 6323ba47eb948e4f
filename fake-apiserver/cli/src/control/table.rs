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
    /// The answers to the question of that name, as they come.
    Stream(&'static str),
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

use Means::{Document, Index, Order, Orders, Question, Stream};
use Takes::{List, Nothing, Query, Text, Words};

/// A line whose success is a 200.
const fn route(method: &'static str, path: &'static str, means: Means, takes: Takes, summary: &'static str) -> Route {
    Route { method, path, means, takes, code: 200, summary }
}

impl Route {
    /// The same, but its success is a 201.
    const fn created(self) -> Route {
        Route { code: 201, ..self }
    }
}

#[rustfmt::skip]
pub(super) const ROUTES: &[Route] = &[
    route("GET", "", Index, Nothing, "The paths"),
    route("GET", "/openapi.json", Document, Nothing, "This document"),
    route("POST", "/orders", Orders, List("orders"), "Several orders, one after the other, until one is refused"),
    route("GET", "/faults", Question("faults"), Query, "The rules by which requests fail; with unused=true those that never struck"),
    route("POST", "/faults", Order("addFault"), Words, "Adds a rule").created(),
    route("PUT", "/faults", Order("replaceFaults"), List("rules"), "Puts rules in the place of all others"),
    route("DELETE", "/faults", Order("clearFaults"), Nothing, "Removes all rules"),
    route("GET", "/faults/{id}", Question("fault"), Nothing, "A rule, with the numbers of requests that it saw and struck"),
    route("DELETE", "/faults/{id}", Order("removeFault"), Nothing, "Removes a rule; requests that it holds go on"),
    route("GET", "/clock", Question("clock"), Nothing, "The clock"),
    route("PATCH", "/clock", Order("setClock"), Words, "Sets the clock, freezes it, lets it run"),
    route("POST", "/clock/advance", Order("advanceClock"), Words, "Advances the clock, and does what is due"),
    route("POST", "/history/compact", Order("compact"), Words, "Forgets the history: who needs it gets 410"),
    route("POST", "/revision/advance", Order("advanceRevision"), Words, "Takes revisions without a change"),
    route("GET", "/watches", Question("watches"), Query, "The open watches: verb, resource, namespace, name, user, userAgent"),
    route("POST", "/watches/end", Order("endWatches"), Words, "Ends open watches: all as a restarted server does, or those that a pattern matches; with 410 or broken off"),
    route("POST", "/watches/bookmark", Order("sendBookmarks"), Words, "Sends a bookmark now to the watches that have asked for bookmarks: all, or those that a pattern matches"),
    route("GET", "/events", Question("changes"), Query, "Changes of objects, each with the request that made it: since, limit, objects, timeoutSeconds; resource, namespace, name, user, verb"),
    route("GET", "/events/stream", Stream("changes"), Query, "The same as server-sent events, as they come; Last-Event-ID resumes"),
    route("POST", "/events/query", Question("changes"), Words, "Changes that a pattern matches"),
    route("GET", "/objects/{resource}/{name}/history", Question("history"), Nothing, "The versions of an object without a namespace, each with the request that wrote it"),
    route("GET", "/objects/{resource}/{namespace}/{name}/history", Question("history"), Nothing, "The versions of an object, each with the request that wrote it"),
    route("POST", "/watches/thaw", Order("thawWatches"), Words, "Lets watches go on that a rule has frozen: all, or those that a pattern matches"),
    route("GET", "/replicas", Question("replicas"), Nothing, "The replicas"),
    route("POST", "/replicas", Order("addReplica"), Words, "Adds a replica, on ports of its own").created(),
    route("PATCH", "/replicas/{replica}", Order("replica"), Words, "Stops or starts a replica, holds its cache, sets its clock wrong, ends its watches"),
    route("GET", "/controllers", Question("controllers"), Nothing, "The controllers that run"),
    route("PATCH", "/controllers/{name}", Order("controller"), Words, "Pauses a controller, or lets it run"),
    route("POST", "/controllers/{name}/step", Order("step"), Words, "Lets a paused controller deal with some keys"),
    route("POST", "/settle", Order("settle"), Words, "Waits until controllers have nothing left to do; says who has"),
    route("GET", "/clusters", Question("clusters"), Nothing, "The clusters"),
    route("POST", "/clusters", Order("createCluster"), Words, "Makes a cluster that begins with the objects of another one, or of a seed").created(),
    route("GET", "/clusters/{name}", Question("cluster"), Nothing, "A cluster: its URL, its kubeconfig"),
    route("PUT", "/clusters/{name}", Order("ensureCluster"), Words, "Makes such a cluster, unless there is one of that name"),
    route("POST", "/hold", Order("hold"), Nothing, "Says that a cluster is still needed, under its path: /clusters/NAME/hold"),
    route("DELETE", "/clusters/{cluster}", Order("deleteCluster"), Nothing, "Removes a cluster that was made"),
    route("GET", "/kubeconfig", Question("kubeconfig"), Nothing, "The kubeconfig of the administrator, for a file; of another cluster under its path"),
    route("GET", "/seeds", Question("seeds"), Nothing, "The seeds"),
    route("PUT", "/seeds/{seed}", Order("ensureSeed"), Words, "Makes sure that there is a seed: the first who asks gets a cluster to fill, others wait"),
    route("POST", "/seeds/{seed}/ready", Order("seedReady"), Nothing, "Says that a seed is filled: clusters can begin from it"),
    route("DELETE", "/seeds/{seed}", Order("forgetSeed"), Nothing, "Forgets a seed"),
    route("GET", "/snapshots", Question("snapshots"), Nothing, "The snapshots"),
    route("POST", "/snapshots", Order("save"), Words, "Saves the objects").created(),
    route("GET", "/snapshots/{name}", Question("snapshot"), Nothing, "A snapshot, for a file"),
    route("PUT", "/snapshots/{snapshot}", Order("import"), Text("content"), "Takes in a snapshot from a file").created(),
    route("DELETE", "/snapshots/{snapshot}", Order("forget"), Nothing, "Forgets a snapshot"),
    route("POST", "/snapshots/{snapshot}/restore", Order("restore"), Words, "Puts the objects of a snapshot in the place of those that there are"),
    route("POST", "/reset", Order("reset"), Words, "Objects, faults, replicas and controllers as at the start, or with the objects of a snapshot"),
    route("POST", "/seed", Order("seed"), Text("objects"), "Applies objects, a stream of YAML or JSON: all, or none"),
    route("POST", "/objects/wait", Question("waitObject"), Words, "An object, once it contains something, an expression is true of it, or it is gone"),
    route("GET", "/requests", Question("requests"), Query, "Recorded requests: verb, resource, namespace, name, user, userAgent, since, limit, writes"),
    route("GET", "/requests/stream", Stream("requests"), Query, "The same as server-sent events, as they come; Last-Event-ID resumes"),
    route("POST", "/requests/query", Question("requests"), Words, "Recorded requests that a pattern matches"),
    route("POST", "/requests/wait", Question("wait"), Words, "Recorded requests, once there are enough; says which came close"),
    route("POST", "/requests/verify", Question("verify"), Words, "Whether the recorded requests are the expected ones"),
    route("GET", "/coverage", Question("coverage"), Query, "The rules that were in force, with what they decided; with gaps=true those with outcomes that they never had"),
    route("GET", "/findings", Question("findings"), Query, "What is odd about the recorded requests"),
    route("GET", "/findings/stream", Stream("findings"), Query, "The same as server-sent events, each once it has been true for five seconds"),
];
