//! The digests of flow schemas and priority levels: what requests are classified by, and what limits them.

use crate::object::meta;
use crate::registry::{flag, items, number, text};
use crate::store::{Digest, Entry};
use std::sync::Arc;
use tree::Value;

/// The wildcard of names.
const ALL: &str = "*";
/// `ServiceAccountUsernamePrefix`.
const ACCOUNTS: &str = "system:serviceaccount:";

/// A flow schema.
#[derive(Debug, Clone)]
pub struct FlowSchema {
    /// Its name.
    pub name: Box<str>,
    /// Its uid; empty if nobody has stored it.
    pub uid: Box<str>,
    /// Its place in the order: that with the lowest one is asked first.
    pub precedence: i64,
    /// The name of its priority level.
    pub level: Box<str>,
    /// The way to tell its flows apart; `None` if all its requests are one.
    pub distinguisher: Option<Distinguisher>,
    /// Its rules, of which one has to match.
    pub rules: Box<[FlowRule]>,
}

/// A way to tell flows apart (`FlowDistinguisherMethodType`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Distinguisher {
    /// The names of users.
    User,
    /// The namespaces of requests.
    Namespace,
}

/// A rule of a flow schema.
#[derive(Debug, Clone)]
pub struct FlowRule {
    /// The users, of whom one has to make the request.
    pub subjects: FlowSubjects,
    /// The requests for resources that match.
    pub resources: Box<[ResourceFlow]>,
    /// The other requests that match.
    pub paths: Box<[PathFlow]>,
}

/// The subjects of a rule.
#[derive(Debug, Clone, Default)]
pub struct FlowSubjects {
    /// Whether it is everybody.
    pub all: bool,
    /// The names of users, sorted.
    pub users: Box<[Box<str>]>,
    /// The names of groups, sorted.
    pub groups: Box<[Box<str>]>,
    /// The beginnings of the user names of all accounts of a namespace.
    pub accounts: Box<[Box<str>]>,
}

/// Requests for resources.
#[derive(Debug, Clone)]
pub struct ResourceFlow {
    /// The verbs.
    pub verbs: Names,
    /// The groups.
    pub groups: Names,
    /// The resources; a subresource is behind a slash.
    pub resources: Names,
    /// The namespaces of requests that have one.
    pub namespaces: Names,
    /// Whether requests without a namespace match.
    pub is_cluster_scoped: bool,
}

/// Requests for paths.
#[derive(Debug, Clone)]
pub struct PathFlow {
    /// The verbs.
    pub verbs: Names,
    /// The paths.
    pub paths: Names,
}

/// Names of which one has to match.
#[derive(Debug, Clone)]
pub enum Names {
    /// Any name does.
    All,
    /// One of these.
    Of(Box<[Box<str>]>),
}

/// A priority level.
#[derive(Debug, Clone)]
pub struct PriorityLevel {
    /// Its name.
    pub name: Box<str>,
    /// Its uid; empty if nobody has stored it.
    pub uid: Box<str>,
    /// Whether nothing limits it.
    pub is_exempt: bool,
    /// Its shares of the seats of a server.
    pub shares: u32,
    /// The part of its seats that other levels may use, in percent.
    pub lendable: u32,
    /// The seats that it may take of others, in percent of its own; `None` for any number.
    pub borrowing: Option<u32>,
    /// How requests wait; `None` if they are refused.
    pub queuing: Option<Queuing>,
}

/// The queues of a priority level.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Queuing {
    /// The number of queues.
    pub queues: u32,
    /// The number of queues that a flow is dealt.
    pub hand: u32,
    /// The number of requests that may wait in a queue while no seat is free.
    pub length: u32,
}

impl FlowSchema {
    /// A flow schema.
    pub fn of(schema: &Value) -> FlowSchema {
        FlowSchema {
            name: meta::name(schema).into(),
            uid: meta::uid(schema).into(),
            precedence: number(schema, "/spec/matchingPrecedence").unwrap_or_default(),
            level: text(schema, "/spec/priorityLevelConfiguration/name").into(),
            distinguisher: match text(schema, "/spec/distinguisherMethod/type") {
                "ByUser" => Some(Distinguisher::User),
                "ByNamespace" => Some(Distinguisher::Namespace),
                _ => None,
            },
            rules: items(schema, "/spec/rules").iter().map(FlowRule::of).collect(),
        }
    }

    /// A stored flow schema: the digest that it was stored with, or one made now, of the small ones that a server starts with.
    pub fn stored(entry: &Entry) -> Arc<FlowSchema> {
        entry.digest().unwrap_or_else(|| Arc::new(FlowSchema::of(&entry.object())))
    }
}

impl FlowRule {
    fn of(rule: &Value) -> FlowRule {
        FlowRule {
            subjects: FlowSubjects::of(items(rule, "/subjects")),
            resources: items(rule, "/resourceRules").iter().map(ResourceFlow::of).collect(),
            paths: items(rule, "/nonResourceRules").iter().map(PathFlow::of).collect(),
        }
    }
}

impl FlowSubjects {
    fn of(subjects: &[Value]) -> FlowSubjects {
        let (mut all, mut users, mut groups, mut accounts) = (false, Vec::new(), Vec::new(), Vec::new());
        for subject in subjects {
            let (user, group) = (text(subject, "/user/name"), text(subject, "/group/name"));
            let (namespace, account) =
                (text(subject, "/serviceAccount/namespace"), text(subject, "/serviceAccount/name"));
            match text(subject, "/kind") {
                "User" if user == ALL => all = true,
                "User" => users.push(user.into()),
                "Group" if group == ALL => all = true,
                "Group" => groups.push(group.into()),
                _ if account == ALL => accounts.push(format!("{ACCOUNTS}{namespace}:").into()),
                _ => users.push(format!("{ACCOUNTS}{namespace}:{account}").into()),
            }
        }
        let sorted = |mut names: Vec<Box<str>>| {
            names.sort_unstable();
            names.dedup();
            names.into_boxed_slice()
        };
        FlowSubjects { all, users: sorted(users), groups: sorted(groups), accounts: sorted(accounts) }
    }
}

impl ResourceFlow {
    fn of(rule: &Value) -> ResourceFlow {
        ResourceFlow {
            verbs: Names::of(rule, "/verbs"),
            groups: Names::of(rule, "/apiGroups"),
            resources: Names::of(rule, "/resources"),
            namespaces: Names::of(rule, "/namespaces"),
            is_cluster_scoped: flag(rule, "/clusterScope"),
        }
    }
}

impl PathFlow {
    fn of(rule: &Value) -> PathFlow {
        PathFlow { verbs: Names::of(rule, "/verbs"), paths: Names::of(rule, "/nonResourceURLs") }
    }
}

impl Names {
    /// The names in a list, in which a wildcard stands alone.
    fn of(rule: &Value, list: &str) -> Names {
        match items(rule, list) {
            [one] if one.as_str() == Some(ALL) => Names::All,
            names => Names::Of(names.iter().filter_map(|name| name.as_str().map(Into::into)).collect()),
        }
    }
}

impl PriorityLevel {
    /// A priority level (`plSpecCommons`).
    pub fn of(level: &Value) -> PriorityLevel {
        let is_exempt = text(level, "/spec/type") == "Exempt";
        let spec = &level["spec"][if is_exempt { "exempt" } else { "limited" }];
        let count = |pointer: &str| number(spec, pointer).map(|number| u32::try_from(number).unwrap_or_default());
        let of_queues = |field: &str| count(&format!("/limitResponse/queuing/{field}")).unwrap_or_default();
        PriorityLevel {
            name: meta::name(level).into(),
            uid: meta::uid(level).into(),
            is_exempt,
            shares: count("/nominalConcurrencyShares").unwrap_or_default(),
            lendable: count("/lendablePercent").unwrap_or_default(),
            borrowing: count("/borrowingLimitPercent"),
            queuing: (text(spec, "/limitResponse/type") == "Queue").then(|| Queuing {
                queues: of_queues("queues"),
                hand: of_queues("handSize"),
                length: of_queues("queueLengthLimit"),
            }),
        }
    }

    /// A stored priority level: the digest that it was stored with, or one made now, of those that a server starts with.
    pub fn stored(entry: &Entry) -> Arc<PriorityLevel> {
        entry.digest().unwrap_or_else(|| Arc::new(PriorityLevel::of(&entry.object())))
    }
}

/// The digest of a flow schema.
pub(super) fn of_schema(schema: &Value) -> Digest {
    let schema = FlowSchema::of(schema);
    let bytes = schema.rules.iter().map(FlowRule::bytes).sum();
    Digest::new(schema, bytes)
}

/// The digest of a priority level.
pub(super) fn of_level(level: &Value) -> Digest {
    Digest::new(PriorityLevel::of(level), size_of::<PriorityLevel>())
}

fn bytes_of(names: &[Box<str>]) -> usize {
    names.iter().map(|name| size_of::<Box<str>>() + name.len()).sum()
}

impl Names {
    fn bytes(&self) -> usize {
        match self {
            Names::All => 0,
            Names::Of(names) => bytes_of(names),
        }
    }
}

impl FlowRule {
    /// The memory that it takes, in bytes.
    fn bytes(&self) -> usize {
        let FlowSubjects { users, groups, accounts, .. } = &self.subjects;
        let subjects = [users, groups, accounts].map(|names| bytes_of(names));
        let resources = self.resources.iter().map(|rule| {
            let lists = [&rule.verbs, &rule.groups, &rule.resources, &rule.namespaces];
            size_of::<ResourceFlow>() + lists.map(Names::bytes).iter().sum::<usize>()
        });
        let paths = self.paths.iter().map(|rule| size_of::<PathFlow>() + rule.verbs.bytes() + rule.paths.bytes());
        size_of::<FlowRule>() + subjects.iter().sum::<usize>() + resources.chain(paths).sum::<usize>()
    }
}
