//! The text of the record, made from the documents.

use super::pieces::{Pieces, member, members, model_of_all};
use anyhow::{Context as _, Result, ensure};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

/// The comment at the head of the file.
const HEAD: &str = "\
# Written by `cargo xtask conformance openapi`. Descriptions are Copyright The Kubernetes Authors, Apache License 2.0. Do not edit.
# Columns are separated by tabs; ⟨NAME⟩ stands for a text, or for a name of the resource that a path is about.
#
# path PATH V3 V2 KIND          the operations of a path, by the numbers of their texts in either version of OpenAPI
# FORM paths NUMBER JSON        such operations
# FORM text NUMBER JSON         what occurs in several of them
# v3 model NAME JSON            a schema; that of version 2 follows from it,
# v2 model NAME JSON            if it is not recorded
# v2 parameter NAME JSON        a parameter that operations refer to
";

/// The lines about the documents of version 3, and the one of version 2. `kinds` has the kinds by the paths of their collections. If there
/// is another record, of other documents of version 3, those of its lines about schemas and parameters are left out.
///
/// # Errors
/// If the documents do not fit to each other.
pub(super) fn record(
    kinds: &BTreeMap<String, String>,
    documents: &[&str],
    two: &str,
    other: Option<&str>,
) -> Result<String> {
    let mut models: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    let mut paths = BTreeMap::new();
    for document in documents {
        for (path, operations) in members(member(document, "paths").context("a document has paths")?) {
            paths.insert(path, operations);
        }
        let schemas = member(document, "components").and_then(|components| member(components, "schemas"));
        for (name, json) in members(schemas.unwrap_or("{}")) {
            models.entry(name).or_default().push(json);
        }
    }
    let mut in_v2: BTreeMap<&str, &str> =
        members(member(two, "paths").context("version 2 has paths")?).into_iter().collect();
    in_v2.retain(|path, _| other.is_none() || paths.contains_key(path));
    ensure!(paths.keys().eq(in_v2.keys()), "the versions of OpenAPI are about different paths");
    let mut lines = String::new();
    let pieces = [&paths, &in_v2].map(|paths| Pieces::of(paths, |path| kind(kinds, path)));
    let [numbers_3, numbers_2] = [&pieces[0], &pieces[1]].map(|pieces| &pieces.of_paths);
    for (path, number) in numbers_3 {
        writeln!(lines, "path\t{path}\t{number}\t{}\t{}", numbers_2[path], kind(kinds, path).unwrap_or_default())?;
    }
    for (form, pieces) in ["v3", "v2"].into_iter().zip(&pieces) {
        pieces.paths.iter().enumerate().try_for_each(|(at, json)| writeln!(lines, "{form}\tpaths\t{at}\t{json}"))?;
        pieces.texts.iter().enumerate().try_for_each(|(at, json)| writeln!(lines, "{form}\ttext\t{at}\t{json}"))?;
    }
    let in_v2: BTreeMap<&str, &str> =
        members(member(two, "definitions").context("it has schemas")?).into_iter().collect();
    let known: BTreeSet<&str> = other.into_iter().flat_map(str::lines).collect();
    let mut add = |line: String| {
        if !known.contains(&*line) {
            lines += &format!("{line}\n");
        }
    };
    for (name, found) in &models {
        if found.iter().all(|json| *json == found[0]) {
            add(format!("v3\tmodel\t{name}\t{}", found[0]));
            continue;
        }
        let of_all: BTreeSet<Option<String>> = found.iter().map(|json| model_of_all(name, json)).collect();
        let of_all = of_all.first().cloned().flatten().filter(|_| of_all.len() == 1);
        let of_all = of_all.with_context(|| format!("{name} is described in more than one way"))?;
        add(format!("v3\tmodel\t{name}\t{of_all}"));
        add(format!("v2\tmodel\t{name}\t{}", in_v2[name]));
    }
    for (name, json) in members(member(two, "parameters").context("it has parameters")?) {
        add(format!("v2\tparameter\t{name}\t{json}"));
    }
    Ok(format!("{HEAD}{lines}"))
}

/// The kind of the resource that a path is about.
fn kind<'k>(kinds: &'k BTreeMap<String, String>, path: &str) -> Option<&'k str> {
    let path = path.replacen("/watch/", "/", 1).replacen("/namespaces/{namespace}/", "/", 1);
    let length = if path.starts_with("/api/") { 4 } else { 5 };
    let collection: Vec<&str> = path.split('/').take(length).collect();
    kinds.get(&collection.join("/")).map(String::as_str)
}
