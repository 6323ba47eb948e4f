//! README's list of what is measured: a sentence about each table.

use super::{ATTACKS, FIDELITY};
use anyhow::{Context as _, Result};
use conformance_judge::report::section;
use std::path::Path;

/// The name of the list's section in README.
pub const SECTION: &str = "measured";
/// The row of sums.
const ALL: &str = "**all**";
/// The beginning of the names of suites of Kubernetes' own integration tests, most of which have servers of their own.
const UPSTREAM: &str = "upstream";

/// The list, made of the tables below `root`.
///
/// # Errors
/// If a table or a row of it is missing.
pub fn text(root: &Path) -> Result<String> {
    let fidelity = std::fs::read_to_string(root.join(FIDELITY))?;
    let attacks = std::fs::read_to_string(root.join(ATTACKS))?;
    let score = row(&rows(&fidelity, "score")?, "**total**")?;
    let crds = row(&rows(&fidelity, "crds")?, ALL)?;
    let manifests = row(&rows(&fidelity, "manifests")?, ALL)?;
    let clients = rows(&fidelity, "clients")?;
    let (upstream, clients): (Vec<_>, Vec<_>) = clients.into_iter().partition(|row| row[0].starts_with(UPSTREAM));
    let envtest = rows(&fidelity, "suites")?;
    let count = clients.len();
    let attacks = row(&rows(&attacks, "attacks")?, ALL)?;
    let (passed, possible) = (sum(&envtest, 3), sum(&envtest, 2));
    let lines = [
        (format!("{passed} tests of suites for envtest pass unchanged; {possible} do with the real pair."), FIDELITY),
        (
            format!("{} of {} recorded answers of a real kube-apiserver are repeated exactly.", score[2], score[1]),
            FIDELITY,
        ),
        (
            format!(
                "{} of {} public definitions and {} of {} of their examples fare alike.",
                crds[2], crds[1], crds[7], crds[5]
            ),
            FIDELITY,
        ),
        (format!("{} of {} public manifests are stored alike.", manifests[3], manifests[1]), FIDELITY),
        (
            format!(
                "{} of {} checks by {count} clients and tools pass that pass there.",
                sum(&clients, 4),
                sum(&clients, 3)
            ),
            FIDELITY,
        ),
        (
            format!(
                "{} of {} of Kubernetes' own tests of its API server and its controllers pass that pass there.",
                sum(&upstream, 4),
                sum(&upstream, 3)
            ),
            FIDELITY,
        ),
        (format!("{} attacks are endured.", attacks[1]), ATTACKS),
    ];
    Ok(lines.iter().map(|(line, page)| format!("- {line} ([how]({page}))\n")).collect())
}

/// The sum of a column.
fn sum(rows: &[Vec<String>], column: usize) -> u64 {
    rows.iter().filter_map(|row| row[column].parse::<u64>().ok()).sum()
}

/// The rows of a table, without its head, by cells.
fn rows(page: &str, name: &str) -> Result<Vec<Vec<String>>> {
    let table = section(page, name).with_context(|| format!("there is no section {name:?}"))?;
    let cells = |row: &str| row.trim_matches('|').split('|').map(|cell| cell.trim().to_owned()).collect();
    Ok(table.lines().skip(2).map(cells).collect())
}

/// The row that begins with that cell.
fn row(rows: &[Vec<String>], first: &str) -> Result<Vec<String>> {
    rows.iter().find(|row| row[0] == first).cloned().with_context(|| format!("there is no row {first:?}"))
}
