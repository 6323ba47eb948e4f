//! Field management of writes: the manager, endpoint and versions of a request, for `managed/` (`FieldManager` of
//! `k8s.io/apimachinery/pkg/util/managedfields`, v0.37.1, and its callers in `k8s.io/apiserver/pkg/endpoints/handlers`).

use super::Act;
use super::asked::{Answers, Asking};
use super::request::decode::Expected;
use super::request::options::WriteOptions;
use crate::clock::format_seconds;
use crate::deadline::Deadline;
use crate::managed::{self, Context, Element, Empty, Managers, Trees, Type, Versions};
use crate::object::meta::{self, Metadata};
use crate::registry::managers::set_created;
pub(super) use crate::registry::managers::{Endpoint, complete, empty, of, set};
use crate::schema;
use tree::{Text, Value};

/// The field of `metadata`.
const FIELD: &str = "managedFields";
/// The greatest length of a manager's name, in bytes.
const MAX_NAME: usize = 128;

/// The object with its `managedFields` parsed into trees, for code that reads them.
pub(super) fn spelled_out(mut object: Value) -> Value {
    let entries = object.get_mut("metadata").and_then(|metadata| metadata.get_mut(FIELD)).and_then(Value::as_array_mut);
    for entry in entries.into_iter().flatten() {
        if let Some(fields) = entry.get_mut("fieldsV1") {
            *fields = fields.parsed().into_owned();
        }
    }
    object
}

/// The endpoint of a request.
pub(super) fn endpoint<'r>(act: &Act<'r>) -> Endpoint<'r> {
    let target = &act.target;
    Endpoint { resource: target.resource, version: target.version, subresource: target.subresource_name() }
}

/// The name of the manager of a request other than an apply: the given one, or the `User-Agent` up to the first `/`.
pub(super) fn manager(act: &Act<'_>, options: &WriteOptions) -> String {
    if !options.field_manager.is_empty() {
        return options.field_manager.clone();
    }
    let agent = act.user_agent.split('/').next().unwrap_or_default();
    if agent.len() <= MAX_NAME && agent.bytes().all(|byte| byte.is_ascii_graphic()) {
        return agent.to_owned();
    }
    let mut name = String::new();
    for letter in agent.chars().filter(|letter| schema::is_printable(*letter)) {
        if name.len() + letter.len_utf8() > MAX_NAME {
            break;
        }
        name.push(letter);
    }
    name
}

/// Sets the field managers of an object of another kind that a request creates and the server answers at once.
pub(super) fn asked(act: &Act<'_>, options: &WriteOptions, expected: &Expected<'_>, object: &mut Value) {
    let (api_version, kind) = (expected.api_version, expected.kind);
    let subresource = act.target.subresource_name();
    let now = format_seconds(act.now);
    let versions = Single { api_version, kind };
    let deadline = act.deadline.clone();
    let context =
        Context { versions: &versions, api_version, subresource, trees: Trees::Canonical, now: &now, deadline };
    meta::metadata_mut(object).remove(FIELD);
    let created = context.create(object, &manager(act, options));
    set_created(object, created);
}

/// Sets the field managers of a new object.
pub(super) fn created(act: &Act<'_>, options: &WriteOptions, object: &mut Value) {
    let sent = meta::metadata_mut(object).remove(FIELD);
    let managers = match managed::asks_for_reset(sent.as_ref()) {
        true => Managers::new(),
        false => managed::decode(sent.as_ref()).unwrap_or_default(),
    };
    if managers.is_empty() {
        let endpoint = endpoint(act);
        let (now, deadline) = (format_seconds(act.now), act.deadline.clone());
        let context = Context { deadline, ..endpoint.context(endpoint.trees(), &now) };
        let converted = act.target.version.built_in_from_storage(object);
        let created = context.create(converted.as_ref().unwrap_or(object), &manager(act, options));
        return set_created(object, created);
    }
    let old = empty(&act.target.version.api_version, &act.target.version.kind);
    if let Ok(managers) = updated(act, options, &old, object, managers, &Answers::default()) {
        set(object, &managers);
    }
}

/// Sets the field managers of an object that an update or a patch changes. Objects without managers stay so.
pub(super) async fn changed(act: &Act<'_>, options: &WriteOptions, object: &mut Value, old: &Value) {
    let sent = meta::metadata_mut(object).remove(FIELD);
    let stored = Metadata::of(old).field(FIELD);
    let live = || managed::decode(stored).unwrap_or_default();
    let managers = match &sent {
        _ if act.target.subresource.is_some() => live(),
        // Decoding a custom resource drops an empty list.
        Some(Value::Array(entries)) if entries.is_empty() && !act.target.version.is_typed() => live(),
        sent if managed::asks_for_reset(sent.as_ref()) => Managers::new(),
        sent => managed::decode(sent.as_ref()).ok().filter(|sent| !sent.is_empty()).unwrap_or_else(live),
    };
    if managers.is_empty() {
        return;
    }
    let mut answers = Answers::default();
    let managers = loop {
        let managers = updated(act, options, old, object, managers.clone(), &answers);
        if !answers.ask(act).await {
            break managers;
        }
    };
    match managers {
        Ok(managers) => set(object, &managers),
        Err(_) => keep(object, stored),
    }
}

/// The managers after an update.
fn updated(
    act: &Act<'_>,
    options: &WriteOptions,
    old: &Value,
    new: &Value,
    managers: Managers,
    answers: &Answers,
) -> Result<Managers, String> {
    let endpoint = endpoint(act);
    let now = format_seconds(act.now);
    let asking = Asking { endpoint: &endpoint, answers };
    let deadline = act.deadline.clone();
    let context = Context { versions: &asking, deadline, ..endpoint.context(endpoint.trees(), &now) };
    let name = manager(act, options);
    match act.target.version.built_in_from_storage(new) {
        Some(new) => {
            let old = act.target.version.built_in_from_storage(old).unwrap_or_else(|| old.clone());
            context.update(&old, &new, managers, &name)
        }
        None => context.update(old, new, managers, &name),
    }
}

/// A kind that is not stored, in its only version.
pub(super) struct Single<'k> {
    pub(super) api_version: &'k str,
    pub(super) kind: &'k str,
}

/// Scales are the same for all workloads.
pub(super) const SCALES: Single<'static> = Single { api_version: "autoscaling/v1", kind: "Scale" };

impl Versions for Single<'_> {
    fn ty(&self, api_version: &str) -> Option<Type<'_>> {
        (api_version == self.api_version).then(|| schema::lookup(api_version, self.kind).map(Type::built_in))?
    }

    fn convert(&self, _: &Value, api_version: &str) -> Result<Value, String> {
        Err(format!("{} has no version {api_version}", self.kind))
    }
}

/// The context for `managed/` of a write to a scale at the time `now`.
pub(super) fn of_scale(trees: Trees, now: &str) -> Context<'_> {
    let deadline = Deadline::default();
    Context { versions: &SCALES, api_version: SCALES.api_version, subresource: "scale", trees, now, deadline }
}

/// The places of the replicas in all versions of the resource of a request.
pub(super) fn scale_places(act: &Act<'_>) -> Vec<(String, Option<Vec<Element>>)> {
    let versions = act.target.resource.versions.iter().map(|version| {
        let path = match &version.scale {
            Some(paths) => Some(paths.replicas.as_str()),
            None => version.is_typed().then_some(".spec.replicas"),
        };
        let path = path.map(|path| path.split('.').skip(1).map(Element::field).collect());
        (version.api_version.to_string(), path)
    });
    versions.collect()
}

/// The managers of a scale that an update changes. A scale without managers stays so.
pub(super) fn scaled(act: &Act<'_>, options: &WriteOptions, old: &Value, new: &Value, managers: Managers) -> Managers {
    if managers.is_empty() {
        return managers;
    }
    let now = format_seconds(act.now);
    let context = of_scale(Trees::Canonical, &now);
    context.update(old, new, managers.clone(), &manager(act, options)).unwrap_or(managers)
}

fn keep(object: &mut Value, stored: Option<&Value>) {
    match stored {
        Some(stored) => meta::set(object, FIELD, stored.clone()),
        None => meta::remove(object, FIELD),
    }
}

/// Keeps the managers' old times, if nothing else has changed (`IgnoreManagedFieldsTimestampsTransformer`).
pub(super) fn settle_times(act: &Act<'_>, new: &mut Value, old: &Value) {
    let stored = Metadata::of(old).field(FIELD).and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    let sent = take(new);
    let same = |(one, other)| timeless(one).eq(timeless(other));
    if sent != stored && sent.len() == stored.len() && sent.iter().zip(stored).all(same) {
        let ty = match act.target.version.is_typed() {
            true => Type::built_in(act.target.resource.storage().ty()),
            false => Type::Atomic,
        };
        put(new, stored.to_vec());
        if managed::equal(ty, old, new, Empty::OrNone) {
            return;
        }
        meta::remove(new, FIELD);
    }
    put(new, sent);
}

/// The fields of an entry but for its time.
fn timeless(entry: &Value) -> impl Iterator<Item = (&Text, &Value)> {
    entry.as_object().into_iter().flatten().filter(|(name, _)| *name != "time")
}

fn take(object: &mut Value) -> Vec<Value> {
    match meta::metadata_mut(object).remove(FIELD) {
        Some(Value::Array(entries)) => entries,
        _ => Vec::new(),
    }
}

fn put(object: &mut Value, entries: Vec<Value>) {
    if !entries.is_empty() {
        meta::set(object, FIELD, entries);
    }
}
