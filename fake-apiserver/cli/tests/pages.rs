//! The blocks of shell in README and `docs/`: each runs as it is pasted, and ends what it began.
#![cfg(unix)]

use std::path::{Path, PathBuf};
use std::process::Command;

/// The blocks of a page that are for a shell. Those that need more than this program and kubectl are marked otherwise.
fn blocks(page: &str) -> Vec<&str> {
    page.split("\n```sh\n").skip(1).filter_map(|rest| rest.split_once("\n```")).map(|(block, _)| block).collect()
}

/// The pages in a folder and below.
fn pages(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    entries
        .flat_map(|path| if path.is_dir() { pages(&path) } else { vec![path] })
        .filter(|path| is_page(path))
        .collect()
}

fn is_page(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension == "md")
}

/// The folder of a kubectl: one on `PATH`, or that which `cargo xtask real build` makes.
fn kubectl() -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let built = std::env::var_os("HOME").map(|home| PathBuf::from(home).join(".cache/fake-apiserver/v1.37.1"));
    std::env::split_paths(&path).chain(built).find(|folder| folder.join("kubectl").is_file())
}

#[test]
fn blocks_of_shell_run_as_they_are_pasted() {
    let Some(kubectl) = kubectl() else {
        eprintln!("the pages' blocks were not run: there is no kubectl");
        return;
    };
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let program = Path::new(env!("CARGO_BIN_EXE_fake-apiserver"));
    let own = [program.parent().unwrap().to_owned(), kubectl];
    let path = std::env::var_os("PATH").unwrap_or_default();
    let path = std::env::join_paths(own.into_iter().chain(std::env::split_paths(&path))).unwrap();
    let mut count = 0;
    for page in pages(&root.join("docs")).into_iter().chain([root.join("README.md")]) {
        let text = std::fs::read_to_string(&page).unwrap();
        for block in blocks(&text) {
            let folder = tempfile::tempdir().unwrap();
            let output = Command::new("bash")
                .args(["-euo", "pipefail", "-c", block])
                .current_dir(&folder)
                .env("PATH", &path)
                .env("HOME", folder.path())
                .env_remove("KUBECONFIG")
                .output()
                .unwrap();
            let [out, err] = [output.stdout, output.stderr].map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
            assert!(output.status.success(), "{}:\n{block}\n{}\n{out}{err}", page.display(), output.status);
            count += 1;
        }
    }
    assert!(count >= 3, "{count} blocks");
}
