//! The subresources by name: each has one meaning, whatever resource it belongs to.

/// The way requests to a resource or subresource are served.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Handler {
    /// Objects are stored, read and changed.
    Objects,
    /// Questions are answered on creation, and not stored.
    Review(Review),
    /// A pod is put on a node.
    Binding,
    /// A pod that the object names is put on a node.
    LegacyBinding,
    /// A pod is deleted, if its disruption budget allows it.
    Eviction,
    /// The replicas of an object are read and changed.
    Scale,
    /// A token is issued.
    Token,
    /// The log of a container is read.
    Log,
    /// Streams to a pod are opened.
    Stream(Stream),
    /// Requests of any method are forwarded.
    Proxy,
    /// The health of components is looked for.
    ComponentStatuses,
}

impl Handler {
    /// Whether its writes are those of objects that are stored.
    pub(crate) fn stores(self) -> bool {
        matches!(
            self,
            Handler::Objects | Handler::Binding | Handler::LegacyBinding | Handler::Eviction | Handler::Scale
        )
    }
}

/// The kinds of questions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Review {
    Token,
    SelfSubject,
    SubjectAccess,
    LocalSubjectAccess,
    SelfSubjectAccess,
    SelfSubjectRules,
}

/// The ends of streams in a pod.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Stream {
    Container,
    Ports,
}

impl Handler {
    /// Whether its requests are forwarded rather than answered (`rest.Connecter`): their bodies are not read, and any answer is
    /// acceptable.
    pub(crate) fn connects(self) -> bool {
        matches!(self, Handler::Stream(_) | Handler::Proxy)
    }
}

/// The meaning of a subresource.
#[derive(Debug, Clone, Copy)]
pub(super) struct Meaning {
    name: &'static str,
    pub(super) handler: Handler,
    /// The field that clients write through it, besides metadata; "" if they write another kind.
    pub(super) owns: &'static str,
}

const fn of_object(name: &'static str, owns: &'static str) -> Meaning {
    Meaning { name, handler: Handler::Objects, owns }
}

const fn action(name: &'static str, handler: Handler) -> Meaning {
    Meaning { name, handler, owns: "" }
}

const MEANINGS: &[Meaning] = &[
    of_object("approval", "status"),
    action("attach", Handler::Stream(Stream::Container)),
    action("binding", Handler::Binding),
    of_object("ephemeralcontainers", "spec"),
    action("eviction", Handler::Eviction),
    action("exec", Handler::Stream(Stream::Container)),
    of_object("finalize", "spec"),
    action("log", Handler::Log),
    action("portforward", Handler::Stream(Stream::Ports)),
    action("proxy", Handler::Proxy),
    of_object("resize", "spec"),
    action("scale", Handler::Scale),
    of_object("status", "status"),
    action("token", Handler::Token),
];

/// The meaning of the subresource of that name; `None` if this server does not serve it.
pub(super) fn meaning(name: &str) -> Option<&'static Meaning> {
    MEANINGS.iter().find(|meaning| meaning.name == name)
}
