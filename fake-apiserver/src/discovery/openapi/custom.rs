//! The part of a document about a version of a custom resource: its paths, and the schemas that they refer to.
//!
//! Follows `pkg/controller/openapi/builder/builder.go` of k8s.io/apiextensions-apiserver (v0.37.1), and `mergeSpecs` of
//! `pkg/aggregator/aggregator.go` (k8s.io/kube-openapi of 2026-07-21).

use super::document::Document;
use super::recorded::Recorded;
use super::template::{Form, Names, Template};
use super::{schema, simplify};
use crate::deadline::Deadline;
use crate::error::ApiResult;
use crate::registry::{Served, items};
use crate::schema::parse_json;
use std::borrow::Cow;
use tree::{Value, json};

/// The schemas that only a scale needs.
const SCALE_MODELS: &str = "io.k8s.api.autoscaling.";
/// An extension of the schemas of a kind and its list.
const KINDS: &str = "x-kubernetes-group-version-kind";
/// Another one.
const SELECTABLE: &str = "x-kubernetes-selectable-fields";

/// Adds a version of a custom resource to a document; others are left out. In version 2, where all groups have one document, a schema that is
/// called like a built-in one is added under another name.
///
/// # Errors
/// 504, if the time is up.
pub(super) fn add(document: &mut Document, served: Served<'_>, form: Form, deadline: &Deadline) -> ApiResult<()> {
    deadline.check()?;
    let Some(definition) = &served.version.definition else { return Ok(()) };
    let template = Template::of(form);
    let names = Names::of(served);
    let renames = match form {
        Form::V2 => Renames::of(&names, document),
        Form::V3 => Renames(Vec::new()),
    };
    let Served { resource, version, .. } = served;
    for (path, operations) in &template.paths {
        let is_there = match path.rsplit_once("{name}/") {
            Some((_, "scale")) => version.scale.is_some(),
            Some(_) => version.has_status(),
            // The objects of all namespaces have the path of those in none.
            None => resource.meta.namespaced || path.contains("⟨in namespace⟩"),
        };
        if is_there {
            let operations = renames.in_references(template.fill(operations, &names));
            document.paths.insert(template.fill(path, &names), operations);
        }
    }
    for (name, parameter) in &template.parameters {
        document.parameters.entry((*name).to_owned()).or_insert(Cow::Borrowed(parameter));
    }
    let definition = parse_json(definition).map(|parsed| parsed.object).unwrap_or_default();
    let described = items(&definition, "/spec/versions").iter().find(|described| described["name"] == *version.name);
    let described = described.unwrap_or(&Value::Null);
    let selectable = selectable(described);
    for (name, model) in &template.models {
        if !name.contains('⟨') && (version.scale.is_some() || !name.starts_with(SCALE_MODELS)) {
            document.models.entry((*name).to_owned()).or_insert(Cow::Borrowed(model));
        } else if name.contains('⟨') {
            let mut list = renames.in_references(template.fill(model, &names));
            if let Some(kinds) = built_in_kinds(&names.list_model()) {
                let own = own_kinds(served, &version.list_kind);
                list = list.replacen(&own.to_string(), &kinds.to_string(), 1);
            }
            if !selectable.is_empty() {
                list.truncate(list.len() - 1);
                list += &format!(r#","{SELECTABLE}":{}}}"#, Value::from(selectable.clone()));
            }
            document.models.insert(renames.name(template.fill(name, &names)), Cow::Owned(list));
        }
    }
    let mut kind = described["schema"]["openAPIV3Schema"].clone();
    kind[KINDS] = built_in_kinds(&names.model()).unwrap_or_else(|| own_kinds(served, &version.kind));
    if !selectable.is_empty() {
        kind[SELECTABLE] = selectable.into();
    }
    document.models.insert(renames.name(names.model()), Cow::Owned(self::kind(kind, form, deadline)));
    deadline.check()
}

fn own_kinds(served: Served<'_>, kind: &str) -> Value {
    json!([{"group": served.version.group, "version": served.version.name, "kind": kind}])
}

/// The kinds of a built-in schema of that name, which upstream takes a custom one for, too (`GetDefinitionName`).
fn built_in_kinds(name: &str) -> Option<Value> {
    let model = Some(name).filter(|name| name.starts_with("io.k8s."));
    let model = model.and_then(|name| Recorded::get().model(name, Form::V3, "", ""))?;
    let schema: Value = serde_json::from_str(&model).ok()?;
    schema.get(KINDS).cloned()
}

/// The names of a resource's schemas that others have, each with the one that it gets instead.
struct Renames(Vec<(String, String)>);

impl Renames {
    /// The renames of a resource that is added to a document.
    fn of(names: &Names<'_>, document: &Document) -> Self {
        let is_taken = |name: &String| document.models.contains_key(name);
        let free = |name: String| {
            let free = (2..).map(|number| format!("{name}_v{number}")).find(|other| !is_taken(other));
            free.map(|free| (name, free))
        };
        Renames([names.model(), names.list_model()].into_iter().filter(is_taken).filter_map(free).collect())
    }

    /// The name under which a schema is added.
    fn name(&self, name: String) -> String {
        self.0.iter().find(|(taken, _)| *taken == name).map_or(name, |(_, free)| free.clone())
    }

    /// A piece of a document whose references name the schemas so.
    fn in_references(&self, piece: String) -> String {
        self.0.iter().fold(piece, |piece, (taken, free)| {
            piece.replace(&format!("\"#/definitions/{taken}\""), &format!("\"#/definitions/{free}\""))
        })
    }
}

/// The fields that selectors may name.
fn selectable(version: &Value) -> Vec<Value> {
    let path = |field: &Value| field["jsonPath"].as_str().map(|path| path.strip_prefix('.').unwrap_or(path).to_owned());
    items(version, "/selectableFields").iter().map(|field| json!({ "fieldPath": path(field) })).collect()
}

/// The schema of a kind, given that of its definition with the extensions; a part of it, if the time is up.
pub(super) fn kind(mut schema: Value, form: Form, deadline: &Deadline) -> String {
    simplify::unfold(&mut schema, deadline);
    // Clients would take other fields for unknown if some were named.
    if form == Form::V2 && schema[simplify::PRESERVES_UNKNOWN] == true {
        let extensions = [KINDS, SELECTABLE].into_iter();
        let extensions = extensions.filter_map(|name| Some((name.to_owned(), schema.get(name)?.clone())));
        schema = std::iter::once(("type".to_owned(), "object".into())).chain(extensions).collect();
        return schema::write(&schema, form, deadline);
    }
    if form == Form::V2 {
        simplify::to_v2(&mut schema, deadline);
    }
    simplify::set_standard(&mut schema, form, deadline);
    schema::write(&schema, form, deadline)
}
