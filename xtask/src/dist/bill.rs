//! The packages that are in the program: their licences, and a bill of materials in CycloneDX's form.

use super::NAME;
use anyhow::{Context as _, Result, ensure};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;
use std::process::Command;

/// The beginnings of the names of files with licences, in capitals.
const LICENCES: [&str; 5] = ["LICENSE", "LICENCE", "COPYING", "COPYRIGHT", "NOTICE"];

/// The packages that the program is linked from, as `cargo metadata` describes them, by name and version.
pub(super) fn packages(root: &Path, target: &str) -> Result<Vec<Value>> {
    let cargo = |arguments: &[&str]| -> Result<Vec<u8>> {
        let output = Command::new("cargo").current_dir(root).args(arguments).output().context("running cargo")?;
        ensure!(output.status.success(), "cargo {}: {}", arguments[0], String::from_utf8_lossy(&output.stderr));
        Ok(output.stdout)
    };
    let tree = cargo(&[
        "tree",
        "--locked",
        "--package",
        "fake-apiserver-cli",
        "--edges",
        "normal",
        "--target",
        target,
        "--prefix",
        "none",
        "--format",
        "{p}",
    ])?;
    let tree = String::from_utf8(tree)?;
    let metadata: Value = serde_json::from_slice(&cargo(&[
        "metadata",
        "--locked",
        "--format-version",
        "1",
        "--filter-platform",
        target,
    ])?)?;
    let text = |package: &Value, field: &str| package[field].as_str().unwrap_or_default().to_owned();
    let all = metadata["packages"].as_array().context("the packages")?;
    let all: BTreeMap<(String, String), &Value> =
        all.iter().map(|package| ((text(package, "name"), text(package, "version")), package)).collect();
    let mut linked = BTreeMap::new();
    for line in tree.lines() {
        let mut words = line.split(' ');
        let (name, version) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
        let key = (name.to_owned(), version.trim_start_matches('v').to_owned());
        let package = all.get(&key).with_context(|| format!("{line} is no package"))?;
        linked.insert(key, (*package).clone());
    }
    Ok(linked.into_values().collect())
}

/// Whether a package comes from elsewhere.
fn is_dependency(package: &&Value) -> bool {
    !package["source"].is_null()
}

/// The texts of the licences of all packages from elsewhere.
pub(super) fn licences(packages: &[Value]) -> Result<String> {
    let mut all = String::new();
    for package in packages.iter().filter(is_dependency) {
        let manifest = Path::new(package["manifest_path"].as_str().context("a path")?);
        let folder = manifest.parent().context("a folder")?;
        let (name, version) = (package["name"].as_str(), package["version"].as_str());
        writeln!(
            all,
            "==== {} {}: {}\n",
            name.unwrap_or_default(),
            version.unwrap_or_default(),
            package["license"].as_str().unwrap_or("see its licence file")
        )?;
        let mut files: Vec<_> = std::fs::read_dir(folder)?.filter_map(|entry| Some(entry.ok()?.path())).collect();
        files.sort();
        for file in files {
            let name = file.file_name().unwrap_or_default().to_string_lossy().to_uppercase();
            if file.is_file() && LICENCES.iter().any(|start| name.starts_with(start)) {
                all.push_str(String::from_utf8_lossy(&std::fs::read(&file)?).trim_end());
                all.push_str("\n\n");
            }
        }
    }
    Ok(all)
}

/// The bill of materials.
pub(super) fn document(packages: &[Value], target: &str) -> Result<String> {
    let component = |package: &Value| {
        let (name, version) = (&package["name"], &package["version"]);
        let purl = format!("pkg:cargo/{}@{}", name.as_str().unwrap_or_default(), version.as_str().unwrap_or_default());
        let licence = package["license"].as_str().map(|text| json!([{"expression": text.replace('/', " OR ")}]));
        json!({"type": "library", "name": name, "version": version, "purl": purl, "bom-ref": purl, "licenses": licence.unwrap_or_else(|| json!([]))})
    };
    let components: Vec<Value> = packages.iter().filter(is_dependency).map(component).collect();
    let document = json!({
        "bomFormat": "CycloneDX", "specVersion": "1.5", "version": 1,
        "metadata": {
            "component": {"type": "application", "name": NAME, "version": env!("CARGO_PKG_VERSION")},
            "properties": [{"name": "target", "value": target}],
        },
        "components": components,
    });
    Ok(serde_json::to_string_pretty(&document)? + "\n")
}
