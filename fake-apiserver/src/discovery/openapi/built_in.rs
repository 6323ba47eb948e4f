//! The part of a document about built-in resources: the recorded paths of the served ones.

use super::document::Document;
use super::recorded::{About, Path, Recorded};
use super::template::Form;
use crate::registry::{Registry, Served};
use std::borrow::Cow;

/// Adds recorded paths to a document about that version of that group, or (version 2) all, with the schemas and parameters that they
/// refer to.
pub(super) fn add<'p>(document: &mut Document, form: Form, of: (&str, &str), paths: impl Iterator<Item = &'p Path>) {
    document.describes_built_in = true;
    let mut due = Vec::new();
    let mut records = vec![Recorded::get()];
    for path in paths {
        if path.is_optional && records.len() == 1 {
            records.push(Recorded::optional());
        }
        let operations = records[usize::from(path.is_optional)].operations(path, form);
        due.extend(references(&operations));
        document.paths.insert(path.path.to_owned(), operations);
    }
    due.sort_unstable();
    due.dedup();
    while let Some(reference) = due.pop() {
        match reference {
            Reference::Model(name) if !document.models.contains_key(&name) => {
                let model = records.iter().find_map(|record| record.model(&name, form, of.0, of.1));
                let model = model.expect("the record has what it refers to");
                due.extend(references(&model));
                document.models.insert(name, model);
            }
            Reference::Parameter(name) if !document.parameters.contains_key(&*name) => {
                let parameter = records.iter().find_map(|record| record.parameter(&name));
                let parameter = parameter.expect("the record has what it refers to");
                due.extend(references(parameter));
                document.parameters.insert(name, Cow::Borrowed(parameter));
            }
            Reference::Model(_) | Reference::Parameter(_) => {}
        }
    }
}

/// The recorded paths that a registry serves.
pub(super) fn served(registry: &Registry) -> impl Iterator<Item = &'static Path> {
    let optional: &[Path] = if registry.has_optional() { &Recorded::optional().paths } else { &[] };
    Recorded::get().paths.iter().chain(optional).filter(|path| is_served(path.about, registry))
}

/// Whether a registry serves the resource of a path.
fn is_served(about: About, registry: &Registry) -> bool {
    let is_built_in = |served: &Served<'_>| !served.version.is_defined();
    match about {
        About::Server => true,
        About::Group(group) => registry.versions().any(|served| served.version.group == group && is_built_in(&served)),
        About::Version(group, version) => registry.has_built_in(group, version),
        About::Resource { group, version, plural, subresource } => {
            let served = registry.path(group, version, plural).filter(is_built_in);
            let mut subresources = served.iter().flat_map(|served| &served.version.subresources);
            served.is_some() && (subresource.is_empty() || subresources.any(|other| *other.name == *subresource))
        }
    }
}

/// A reference from a piece of a document.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
enum Reference {
    Model(String),
    Parameter(String),
}

/// The references in a piece of a document.
fn references(json: &str) -> impl Iterator<Item = Reference> {
    json.split("\"#/").skip(1).filter_map(|behind| {
        let reference = behind.split('"').next()?;
        let name = |kind: &str| Some(reference.strip_prefix(kind)?.to_owned());
        let model = name("components/schemas/").or_else(|| name("definitions/")).map(Reference::Model);
        model.or_else(|| name("parameters/").map(Reference::Parameter))
    })
}
