//! The flow schemas and priority levels of a server at a revision, in the order in which they are asked, and the seats of each level.
//!
//! Follows `cfgMeal` and `updateBorrowingLocked` of `pkg/util/flowcontrol/apf_controller.go` of `k8s.io/apiserver` (v0.37.1).

use super::allocation::{Wish, allocate};
use super::counts::Counts;
use super::level::{Level, Limits};
use super::matching::{is_about, is_subject};
use crate::auth::User;
use crate::auth::authorizer::Target;
use crate::memo::Memo;
use crate::registry::{FlowSchema, PriorityLevel, ids};
use crate::store::{ResourceId, Scope, Snapshot};
use bytes::Bytes;
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;
use std::time::Duration;
use tree::json;

/// The mandatory schemas and levels, which have the same names.
const EXEMPT: &str = "exempt";
const CATCH_ALL: &str = "catch-all";
/// The number of rules from which on it is remembered which of them are about a user.
const MANY: usize = 64;
/// The part of its seats that a request of a level may need, as those of a server are few (`priorityLevelMaxSeatsPercent`).
const WIDEST: f64 = 0.15;

/// The resources that it is derived from.
pub(super) const RESOURCES: &[ResourceId] = &[ids::FLOW_SCHEMAS, ids::PRIORITY_LEVEL_CONFIGURATIONS];

/// Flow schemas and priority levels.
#[derive(Default)]
pub(super) struct Arrangement {
    /// Those of schemas whose level exists, in the order in which they are asked.
    pub(super) flows: Vec<Arc<Flow>>,
    pub(super) levels: BTreeMap<Box<str>, Arranged>,
    /// The number of all rules.
    rules: usize,
    /// The rules about a user: numbers of schemas and of rules.
    of_users: Memo<String, Arc<[(usize, usize)]>>,
}

/// A level with its configuration.
pub(super) struct Arranged {
    pub(super) digest: Arc<PriorityLevel>,
    pub(super) level: Arc<Level>,
    limits: Limits,
}

/// The requests of a flow schema.
pub(crate) struct Flow {
    pub(crate) schema: Arc<FlowSchema>,
    pub(crate) level: Arc<Level>,
    /// The uids of the schema and of the level.
    pub(crate) uids: [Bytes; 2],
    pub(super) queues: u32,
    /// The most seats that a request may need; `None` if the level has no queues.
    pub(super) widest: Option<usize>,
    pub(crate) counts: Arc<Counts>,
}

impl Arrangement {
    /// The arrangement of what is stored, for that many seats in all. Levels that were there before go on; those that are gone do until
    /// nobody is there.
    pub(super) fn of(snapshot: &Snapshot, before: &Arrangement, seats: usize) -> Arrangement {
        let range = |id: ResourceId| Scope::all(id);
        let of_levels = range(ids::PRIORITY_LEVEL_CONFIGURATIONS);
        let mut digests: BTreeMap<Box<str>, Arc<PriorityLevel>> = snapshot
            .range(&of_levels, "")
            .map(|entry| (entry.key.name().into(), PriorityLevel::stored(entry)))
            .collect();
        let of_schemas = range(ids::FLOW_SCHEMAS);
        let mut schemas: Vec<Arc<FlowSchema>> =
            snapshot.range(&of_schemas, "").map(|entry| FlowSchema::stored(entry)).collect();
        // A mandatory level is there even if it is not stored, but no schema finds it then.
        schemas.retain(|schema| digests.contains_key(&schema.level));
        for mandatory in mandatory_levels() {
            digests.entry(mandatory.name.clone()).or_insert_with(|| mandatory.into());
        }
        with_mandatory(&mut schemas);
        let arranged = |digest: Arc<PriorityLevel>, is_quiescing| {
            let known = before.levels.get(&digest.name);
            let level = known.map_or_else(|| Arc::new(Level::new(&digest)), |known| known.level.clone());
            level.state().is_quiescing = is_quiescing;
            (digest.name.clone(), Arranged { digest, level, limits: Limits::default() })
        };
        let gone = before.levels.values().filter(|old| !digests.contains_key(&old.digest.name) && !old.level.is_idle());
        let gone: Vec<_> = gone.map(|old| arranged(old.digest.clone(), true)).collect();
        let mut levels: BTreeMap<Box<str>, Arranged> =
            digests.into_values().map(|digest| arranged(digest, false)).chain(gone).collect();
        share(&mut levels, seats);
        let counts: HashMap<(&str, &str), &Arc<Counts>> =
            before.flows.iter().map(|flow| ((&*flow.schema.name, &*flow.level.name), &flow.counts)).collect();
        let flow = |schema: Arc<FlowSchema>| {
            let arranged = &levels[&schema.level];
            let known = counts.get(&(&*schema.name, &*schema.level)).map(|counts| (*counts).clone());
            Arc::new(Flow::new(schema, arranged, known.unwrap_or_default()))
        };
        let flows: Vec<Arc<Flow>> = schemas.into_iter().map(flow).collect();
        let rules = flows.iter().map(|flow| flow.schema.rules.len()).sum();
        Arrangement { flows, levels, rules, of_users: Memo::default() }
    }

    /// The flow of a request: of the first schema that matches, or of that which takes all.
    pub(super) fn classify(&self, user: &User, verb: &str, target: &Target<'_>) -> &Arc<Flow> {
        let found = match self.rules >= MANY {
            true => {
                let of_user = self.of_user(user);
                let place =
                    of_user.iter().find(|(flow, rule)| is_about(&self.flows[*flow].schema.rules[*rule], verb, target));
                place.map(|(flow, _)| &self.flows[*flow])
            }
            false => self.flows.iter().find(|flow| {
                let mut rules = flow.schema.rules.iter();
                rules.any(|rule| is_subject(&rule.subjects, user) && is_about(rule, verb, target))
            }),
        };
        let takes_all = || self.flows.iter().find(|flow| &*flow.schema.name == CATCH_ALL);
        found.or_else(takes_all).expect("there is always one that takes all")
    }

    /// The rules about a user, in their order.
    fn of_user(&self, user: &User) -> Arc<[(usize, usize)]> {
        let key = std::iter::once(&user.name).chain(&user.groups).map(|name| format!("{name}\n")).collect::<String>();
        self.of_users.get(&key).unwrap_or_else(|| {
            let all = self.flows.iter().enumerate().flat_map(|(flow, one)| {
                let rules = one.schema.rules.iter().enumerate();
                rules.filter(|(_, rule)| is_subject(&rule.subjects, user)).map(move |(rule, _)| (flow, rule))
            });
            let found: Arc<[(usize, usize)]> = all.collect();
            self.of_users.insert(key.clone(), found.clone(), key.len() + size_of_val(&*found));
            found
        })
    }

    /// Lets levels lend and borrow by what they needed lately, and tells them.
    pub(super) fn adjust(&self, now: Duration) -> f64 {
        let known: Vec<_> = self.levels.values().map(|arranged| (arranged, arranged.level.adjusted(now))).collect();
        let sum: f64 = self.levels.values().map(|arranged| arranged.limits.nominal as f64).sum();
        let (mut left, mut lowest, mut needed) = (sum, 0.0, 0.0);
        let mut wishes = Vec::new();
        for (Arranged { digest, limits, .. }, known) in &known {
            let [nominal, least] = [limits.nominal, limits.lowest].map(|seats| seats as f64);
            if digest.is_exempt {
                left -= least.max(known.most);
                continue;
            }
            let own = least.max(nominal.min(known.most));
            wishes.push(Wish { target: own.max(known.smoothed), lowest: own, highest: limits.highest as f64 });
            lowest += least;
            needed += own;
        }
        let (allocated, fraction) = match () {
            () if left <= lowest || left <= needed => (None, 0.0),
            () => allocate(sum, &wishes).map_or((None, 0.0), |(seats, fraction)| (Some(seats), fraction)),
        };
        let part = if left <= lowest { 0.0 } else { ((left - lowest) / (needed - lowest)).min(1.0) };
        let mut places = 0..wishes.len();
        for (Arranged { digest, level, limits, .. }, known) in known {
            let least = limits.lowest as f64;
            let current = match (digest.is_exempt, &allocated) {
                (true, _) => least.max(known.most),
                (false, allocated) => {
                    let place = places.next().expect("each has a wish");
                    let part = || least + ((wishes[place].lowest - least) * part).round();
                    allocated.as_ref().map_or_else(part, |seats| seats[place].round())
                }
            };
            level.configure(now, Limits { current: current as usize, ..*limits }, digest.queuing);
        }
        fraction
    }
}

/// Shares the seats of a server out among levels (`finishQueueSetReconfigsLocked`).
fn share(levels: &mut BTreeMap<Box<str>, Arranged>, seats: usize) {
    let sum: f64 = levels.values().map(|arranged| f64::from(arranged.digest.shares)).sum();
    for Arranged { digest, limits, .. } in levels.values_mut() {
        let nominal = (seats as f64 * f64::from(digest.shares) / sum).ceil();
        let percent = |percent: u32| (nominal * f64::from(percent) / 100.0).round();
        let borrowed = digest.borrowing.map_or(seats as f64, percent);
        *limits = Limits {
            nominal: nominal as usize,
            lowest: (nominal - percent(digest.lendable)).max(0.0) as usize,
            highest: (nominal + borrowed) as usize,
            current: 0,
        };
    }
}

impl Flow {
    fn new(schema: Arc<FlowSchema>, arranged: &Arranged, counts: Arc<Counts>) -> Flow {
        let nominal = arranged.limits.nominal;
        let widest = arranged.digest.queuing.map(|queuing| {
            let part = (nominal as f64 * WIDEST).ceil() as usize;
            part.min(nominal / usize::try_from(queuing.hand.max(1)).unwrap_or(usize::MAX)).max(1)
        });
        let uids = [&schema.uid, &arranged.digest.uid].map(|uid| Bytes::copy_from_slice(uid.as_bytes()));
        let queues = arranged.digest.queuing.map_or(0, |queuing| queuing.queues);
        Flow { schema, level: arranged.level.clone(), uids, queues, widest, counts }
    }
}

/// Sorts the schemas, and adds those mandatory ones that are missing.
fn with_mandatory(schemas: &mut Vec<Arc<FlowSchema>>) {
    schemas.sort_by(|one, other| (one.precedence, &one.name).cmp(&(other.precedence, &other.name)));
    let has = |schemas: &[Arc<FlowSchema>], name: &str| schemas.iter().any(|schema| &*schema.name == name);
    if !has(schemas, EXEMPT) {
        schemas.insert(0, mandatory_schema(EXEMPT, 1, &["system:masters"]).into());
    }
    if !has(schemas, CATCH_ALL) {
        schemas.push(mandatory_schema(CATCH_ALL, 10_000, &["system:unauthenticated", "system:authenticated"]).into());
    }
}

/// One of `MandatoryFlowSchemas`.
fn mandatory_schema(name: &str, precedence: i64, groups: &[&str]) -> FlowSchema {
    let subjects = groups.iter().map(|group| json!({"kind": "Group", "group": {"name": group}}));
    let subjects: tree::Value = subjects.collect::<Vec<_>>().into();
    FlowSchema::of(&json!({"metadata": {"name": name}, "spec": {
        "matchingPrecedence": precedence,
        "priorityLevelConfiguration": {"name": name},
        "rules": [{
            "subjects": subjects,
            "resourceRules": [{"verbs": ["*"], "apiGroups": ["*"], "resources": ["*"], "clusterScope": true, "namespaces": ["*"]}],
            "nonResourceRules": [{"verbs": ["*"], "nonResourceURLs": ["*"]}],
        }],
    }}))
}

/// `MandatoryPriorityLevelConfigurations`.
fn mandatory_levels() -> [PriorityLevel; 2] {
    let level = |name: &str, is_exempt, shares| PriorityLevel {
        name: name.into(),
        uid: "".into(),
        is_exempt,
        shares,
        lendable: 0,
        borrowing: None,
        queuing: None,
    };
    [level(EXEMPT, true, 0), level(CATCH_ALL, false, 5)]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn level(name: &str, shares: u32, lendable: u32, borrowing: Option<u32>) -> (Box<str>, Arranged) {
        let digest = PriorityLevel {
            name: name.into(),
            uid: "".into(),
            is_exempt: name == EXEMPT,
            shares,
            lendable,
            borrowing,
            queuing: None,
        };
        let level = Arc::new(Level::new(&digest));
        (name.into(), Arranged { digest: digest.into(), level, limits: Limits::default() })
    }

    /// The limits of the levels of a new cluster, as metrics of kube-apiserver 1.37 tell them.
    #[test]
    fn seats_are_shared_out_and_lent() {
        let mut levels = BTreeMap::from([
            level("catch-all", 5, 0, None),
            level("exempt", 0, 0, None),
            level("global-default", 20, 50, None),
            level("leader-election", 10, 0, None),
            level("node-high", 40, 25, None),
            level("system", 30, 33, None),
            level("workload-high", 40, 50, None),
            level("workload-low", 100, 90, None),
        ]);
        share(&mut levels, 600);
        let limits = |levels: &BTreeMap<Box<str>, Arranged>| -> Vec<[usize; 3]> {
            levels
                .values()
                .map(|arranged| [arranged.limits.nominal, arranged.limits.lowest, arranged.limits.highest])
                .collect()
        };
        assert_eq!(
            limits(&levels),
            [
                [13, 13, 613],
                [0, 0, 600],
                [49, 24, 649],
                [25, 25, 625],
                [98, 73, 698],
                [74, 50, 674],
                [98, 49, 698],
                [245, 24, 845],
            ]
        );
        let arrangement = Arrangement { levels, ..Arrangement::default() };
        arrangement.adjust(Duration::ZERO);
        let current: Vec<usize> =
            arrangement.levels.values().map(|arranged| arranged.level.told().limits.current).collect();
        assert_eq!(current, [30, 0, 56, 58, 170, 117, 114, 56]);
    }

    #[test]
    fn a_level_without_shares_that_may_not_borrow_has_no_seats() {
        let mut levels = BTreeMap::from([level("catch-all", 5, 0, None), level("none", 0, 0, Some(0))]);
        share(&mut levels, 600);
        let arrangement = Arrangement { levels, ..Arrangement::default() };
        arrangement.adjust(Duration::ZERO);
        assert_eq!(arrangement.levels["none"].level.told().limits, Limits::default());
    }
}
