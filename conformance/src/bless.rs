//! Rewrites the observations of scenarios, and the recordings of whole answers, from a real kube-apiserver. It takes a
//! [`Real`], and no other target: the server under test never writes its own expectations.

use crate::play::play;
use crate::subject::{Real, Target as _};
use anyhow::{Context as _, Result, bail, ensure};
use conformance_judge::baseline::recording;
use conformance_judge::dialogue::Dialogue;
use conformance_judge::exchange::{self, Exchange};
use conformance_judge::ledger::{Ledger, Omission};
use conformance_judge::scenario::power::Power;
use conformance_judge::scenario::text::Text;
use conformance_judge::scenario::{Scenario, Step};
use fake_apiserver::{Clock as _, SystemClock};
use std::path::Path;

/// The stamp of a blessed scenario: `kube-apiserver v1.37.1 on `, `2026-11-21`.
struct Stamp {
    server: String,
    date: String,
}

/// Blesses `scenarios`, all that their files make, which are in the folder `fixtures`. Observations that still hold keep their text and
/// their stamp.
///
/// # Errors
/// If a scenario cannot be played, two runs of it differ, or the scenarios of a file do: then it has to be rewritten.
pub async fn bless(scenarios: &[Scenario], real: &Real, fixtures: &Path) -> Result<()> {
    let ledger = Ledger::load(&fixtures.join("expectations.toml"))?;
    let server = format!("kube-apiserver {} on ", real.version().await?);
    let stamp = Stamp { server, date: SystemClock.now().strftime("%Y-%m-%d").to_string() };
    let mut failed = 0;
    for scenarios in scenarios.chunk_by(|one, other| one.file == other.file) {
        let Scenario { file, needs, .. } = &scenarios[0];
        // A port's calls say nothing about the real server.
        let ported = needs.contains(&Power::Controllers);
        if ported || needs.iter().any(|power| !real.powers().contains(power)) {
            println!("skipped   {file}");
            continue;
        }
        match bless_file(scenarios, real, fixtures, &ledger.omitted, &stamp).await {
            Ok(changed) => println!("{} {file}", if changed { "rewritten" } else { "unchanged" }),
            Err(error) => {
                failed += 1;
                println!("FAILED    {file}: {error:#}");
            }
        }
    }
    ensure!(failed == 0, "{failed} files could not be blessed");
    Ok(())
}

/// Blesses the scenarios of a file; returns whether anything was rewritten.
async fn bless_file(
    scenarios: &[Scenario],
    real: &Real,
    fixtures: &Path,
    omitted: &[Omission],
    stamp: &Stamp,
) -> Result<bool> {
    let (mut dialogues, mut recordings) = (Vec::new(), Vec::new());
    for scenario in scenarios {
        let (dialogue, exchanges) = twice(scenario, real, omitted).await.with_context(|| scenario.name.clone())?;
        dialogues.push((scenario, dialogue));
        recordings.push((recording(fixtures, &scenario.name), exchanges));
    }
    let file = &scenarios[0].file;
    let path = fixtures.join("scenarios").join(format!("{file}.txt"));
    let written = Text::parse(&std::fs::read_to_string(&path)?)?;
    let mut text = rewritten(&written, &dialogues)?;
    let stamped = written.blessed_by().is_some_and(|by| by.starts_with(&stamp.server));
    let mut known = true;
    for (path, exchanges) in &recordings {
        known &= path.exists() && exchange::load(path)? == *exchanges;
    }
    if stamped && known && without_stamp(&text) == without_stamp(&written) {
        return Ok(false);
    }
    text.bless(Some(&format!("{}{}", stamp.server, stamp.date)));
    Scenario::parse_file(file, &text.to_string()).context("the answers cannot be written down")?;
    std::fs::write(path, text.to_string())?;
    for (path, exchanges) in &recordings {
        exchange::save(exchanges, path)?;
    }
    Ok(true)
}

/// Plays a scenario twice; it has to be observed alike.
async fn twice(scenario: &Scenario, real: &Real, omitted: &[Omission]) -> Result<(Dialogue, Vec<Exchange>)> {
    let played = play(scenario, real).await?;
    let exchanges = exchange::exchanges(scenario, &played, omitted);
    let again = play(scenario, real).await?;
    let again = exchange::exchanges(scenario, &again, omitted);
    if let Some(difference) = exchange::differences(&exchanges, &again).first() {
        let command = scenario.command(difference.step).unwrap_or_default();
        bail!("{command}: not the same twice:\n{difference}");
    }
    Ok((played.dialogue, exchanges))
}

/// The text of a file, with what was observed in its scenarios in place of the expected results.
fn rewritten(written: &Text, dialogues: &[(&Scenario, Dialogue)]) -> Result<Text> {
    let mut text = written.clone();
    let (first, _) = dialogues.first().context("a file makes a scenario")?;
    for step in first.steps.iter().filter(|step| step.expectation.is_some()) {
        let lines = &mut text.blocks[step.block].observed;
        let all: Vec<_> =
            dialogues.iter().map(|(scenario, dialogue)| spelled(scenario, dialogue, step, lines)).collect();
        if let Some(other) = all.iter().position(|lines| *lines != all[0]) {
            let shown =
                |at: usize| format!("{}:\n{}", dialogues[at].0.name, all[at].as_deref().unwrap_or_default().join("\n"));
            let command = first.command_line(step);
            bail!("{command}: the scenarios of a file have to be observed alike:\n{}\n{}", shown(0), shown(other));
        }
        *lines = all.into_iter().next().flatten();
    }
    Ok(text)
}

/// The lines observed at a step, with the names of the file's rows; the lines `written` there, if these hold or the step was not played.
fn spelled(
    scenario: &Scenario,
    dialogue: &Dialogue,
    step: &Step,
    written: &Option<Vec<String>>,
) -> Option<Vec<String>> {
    let observed = dialogue.observed(step.line);
    if observed.is_none() || observed == scenario.text.blocks[step.block].observed.as_deref() {
        return written.clone();
    }
    observed.map(|lines| lines.iter().map(|line| scenario.row.spell(line)).collect())
}

fn without_stamp(text: &Text) -> Text {
    let mut text = text.clone();
    text.bless(None);
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use conformance_judge::observation::{Item, Observation};
    use serde_json::json;

    const TEXT: &str =
        "# Why.\n\nfor $resource $Kind in pods Pod, nodes Node\n\nget $resource/a\n----\n200\n  kind = \"a Pod\"\n";

    /// The text, after both scenarios were observed with these kinds.
    fn blessed(kinds: [&str; 2]) -> Result<String> {
        let scenarios = Scenario::parse_file("get/x", TEXT)?;
        let mut dialogues = Vec::new();
        for (scenario, kind) in scenarios.iter().zip(kinds) {
            let items = vec![Item::new("200", json!({"kind": kind}))];
            let mut dialogue = Dialogue::default();
            dialogue.observe(&scenario.steps[0], &Observation { items, ..Observation::default() });
            dialogues.push((scenario, dialogue));
        }
        Ok(rewritten(&Text::parse(TEXT)?, &dialogues)?.to_string())
    }

    #[test]
    fn scenarios_of_a_file_have_to_be_observed_alike() {
        assert_eq!(blessed(["a Pod", "a Pod"]).unwrap(), TEXT);
        assert_eq!(blessed(["the Pod", "the Node"]).unwrap(), TEXT.replace("a Pod", "the $Kind"));
        let refusal = blessed(["a Pod", "a Node"]).unwrap_err().to_string();
        let expected = "get pods/a: the scenarios of a file have to be observed alike:\nget/x[pods]:\n200\n  kind = \"a Pod\"\n\
                        get/x[nodes]:\n200\n  kind = \"a $Kind\"";
        assert_eq!(refusal, expected);
    }
}
