//! Field management: sets of fields, and server-side apply.

use crate::documents::typed;
use fake_apiserver::fuzzing::Deadline;
use fake_apiserver::fuzzing::managed::{self, Context, Managers, Set, Trees, Type, Versions};
use fake_apiserver::internals::schema::{self, TypeRef};
use tree::{Value, json};

/// A set of fields survives being written and read, and the laws of sets hold. An input is two sets, with a line feed between.
pub(crate) fn field_set(input: &[u8]) {
    let mut sets = input.split(|byte| *byte == b'\n').map(|line| {
        let fields = schema::parse_json(line).ok()?.object;
        Set::parse(&fields).ok()
    });
    let Some(one) = sets.next().flatten() else { return };
    let written = one.print();
    assert_eq!(Set::parse(&written).as_ref(), Ok(&one), "{written}");
    let Some(other) = sets.next().flatten() else { return };
    let shown = || format!("{written} and {}", other.print());
    let union = one.clone().union(other.clone());
    assert_eq!(union, other.clone().union(one.clone()), "{}", shown());
    let both = one.intersection(&other);
    assert_eq!(both, other.intersection(&one), "{}", shown());
    assert_eq!(one.clone().difference(&other).union(both.clone()), one, "{}", shown());
    assert!(both.difference(&other).is_empty(), "{}", shown());
    assert!(one.clone().recursive_difference(&one).is_empty(), "{}", shown());
    for path in one.clone().recursive_difference(&other).paths() {
        assert!(one.paths().contains(&path), "{path} of {}", shown());
    }
}

/// The only version of a kind.
struct Only<'t>(&'t str, TypeRef<'t>);

impl Versions for Only<'_> {
    fn ty(&self, api_version: &str) -> Option<Type<'_>> {
        (api_version == self.0).then(|| Type::built_in(self.1))
    }

    fn convert(&self, _: &Value, api_version: &str) -> Result<Value, String> {
        Err(format!("there is no version {api_version}"))
    }
}

/// The same apply twice changes nothing the second time, provided that each field has a manager, and managers survive being written and
/// read. (Without managers, a condition `{}` that is applied repeatedly disappears and comes back, on the real server, too.)
///
/// An input is an object, and lines of a manager and the configuration that it applies: `a{"data":{}}`; a capital letter forces.
pub(crate) fn apply(input: &[u8]) {
    let Some((api_version, kind, ty, lines)) = typed(input) else { return };
    let complete = |object: &Value| {
        let decoded = schema::check(object, ty).ok()?;
        schema::parse_json(&schema::encode(&decoded.object, ty).json).ok().map(|tree| tree.object)
    };
    let read = |line: &[u8]| {
        let mut object = schema::parse_json(line).ok()?.object;
        let fields = object.as_object_mut()?;
        fields.insert("apiVersion".into(), api_version.into());
        fields.insert("kind".into(), kind.into());
        // It is known only at commit.
        if let Some(metadata) = fields.get_mut("metadata").and_then(Value::as_object_mut) {
            metadata.remove("resourceVersion");
        }
        Some(object)
    };
    let mut lines = lines.split(|byte| *byte == b'\n');
    let Some(mut live) = lines.next().and_then(read).as_ref().and_then(complete) else { return };
    let versions = Only(api_version, ty);
    let (trees, subresource, now) = (Trees::Complete, "", "2030-01-01T00:00:00Z");
    let context = Context { versions: &versions, api_version, subresource, trees, now, deadline: Deadline::default() };
    let common = Set::of_fields(&[&["apiVersion"], &["kind"], &["metadata"]]);
    let nothing = json!({"apiVersion": api_version, "kind": kind});
    let Ok(mut managers) = context.update(&nothing, &live, Managers::new(), "creator") else { return };
    for line in lines {
        let Some((who, line)) = line.split_first() else { continue };
        let Some(applied) = read(line) else { continue };
        if managed::validate(Type::built_in(ty), &applied, false).is_err() {
            continue;
        }
        let name = char::from(who.to_ascii_lowercase()).to_string();
        let force = who.is_ascii_uppercase();
        let Ok((new, after)) = context.apply(&live, &applied, managers.clone(), &name, force) else { continue };
        let written = managed::encode(&after);
        assert_eq!(managed::decode(Some(&written.clone().into())).as_ref(), Ok(&after), "{written:?}");
        let Some(new) = new.as_ref().map_or_else(|| Some(live.clone()), complete) else { continue };
        let fields = managed::fields_of(Type::built_in(ty), &new).recursive_difference(&common);
        if !after.values().fold(fields, |set, owned| set.difference(&owned.set)).is_empty() {
            (live, managers) = (new, after);
            continue;
        }
        let again = context.apply(&new, &applied, after.clone(), &name, force);
        let Ok((again, same)) = again else { panic!("{applied} on {live}: {new}, and then {again:?}") };
        let again = again.map_or_else(|| Some(new.clone()), |again| complete(&again));
        assert_eq!(again.as_ref(), Some(&new), "{applied} on {live}, twice");
        assert_eq!(same, after, "{applied} on {live}, twice");
        (live, managers) = (new, after);
    }
}
