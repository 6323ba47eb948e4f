//! Initial inputs, made from other fixtures: vectors of Kubernetes' own codecs, and scenarios.

use crate::documents::KINDS;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use std::path::{Path, PathBuf};
use tree::Value;

/// The folder of the fixtures.
pub fn fixtures() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures")
}

/// The inputs, each with the name of its target.
///
/// # Panics
/// If the fixtures cannot be read.
pub fn seeds() -> Vec<(&'static str, Vec<u8>)> {
    let mut seeds = Vec::new();
    for (name, vector) in
        ["json", "full", "protobuf"].into_iter().flat_map(|name| vectors(name).map(move |it| (name, it)))
    {
        let text = |field: &str| vector[field].as_str().unwrap_or_default().as_bytes().to_vec();
        let decoded = |field: &str| STANDARD.decode(text(field)).expect("vectors hold base64");
        let chosen = |bytes: Vec<u8>| {
            let kind = (vector["apiVersion"].as_str()?, vector["kind"].as_str()?);
            let index = KINDS.iter().position(|known| *known == kind)?;
            Some([&[u8::try_from(index).ok()?][..], &bytes].concat())
        };
        let json = if name == "protobuf" { text("output") } else { text("input") };
        seeds.extend(chosen(json.clone()).map(|input| ("json", input)));
        seeds.extend(chosen([&json[..], b"\na", &json].concat()).map(|input| ("apply", input)));
        seeds.extend(chosen([&json[..], b"\n", &json].concat()).map(|input| ("strategic-patch", input)));
        seeds.push(("untyped-json", json));
        for message in [decoded("bytes"), decoded("encoded")] {
            seeds.extend(chosen(message).map(|input| ("protobuf", input)));
        }
    }
    for (target, name) in [("quantity", "quantities"), ("time", "times"), ("time", "microtimes")] {
        seeds.extend(vectors(name).filter_map(|vector| Some((target, vector["input"].as_str()?.into()))));
    }
    seeds.extend(vectors("../custom/rules").filter(is_cheap).map(|vector| ("rules", vector.to_string().into())));
    seeds.extend(files(&fixtures().join("scenarios")).into_iter().map(|(_, text)| ("scenario", text)));
    seeds.extend(vectors("../yaml/read").filter_map(|vector| Some(("yaml", vector["text"].as_str()?.into()))));
    seeds.extend(vectors("../yaml/printed").map(|vector| ("yaml-print", vector["json"].to_string().into())));
    seeds.retain(|(_, input)| input.len() <= 4096);
    seeds.sort();
    seeds.dedup();
    seeds
}

/// Whether the rules of a vector cost little, so that tests can replay it.
fn is_cheap(vector: &Value) -> bool {
    vector["left"].as_i64().is_some_and(|left| left > 9_900_000)
}

fn vectors(name: &str) -> impl Iterator<Item = Value> {
    let path = fixtures().join(format!("schema/{name}.jsonl"));
    let text = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let lines: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).expect("a line is a vector")).collect();
    lines.into_iter()
}

/// The files in a folder and below, with their content, in the order of their paths; none if the folder does not exist.
///
/// # Panics
/// If one cannot be read.
pub fn files(folder: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    let Ok(entries) = std::fs::read_dir(folder) else { return Vec::new() };
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.expect("an entry").path()).collect();
    paths.sort();
    let read = |path: PathBuf| {
        if path.is_dir() { files(&path) } else { vec![(path.clone(), std::fs::read(path).expect("a file"))] }
    };
    paths.into_iter().flat_map(read).collect()
}
