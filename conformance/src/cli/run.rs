//! Playing scenarios: those of the project, or of a folder.

use super::{Kind, SCENARIOS, Server, filtered, loaded, target_folder};
use crate::pages;
use crate::play::Options;
use crate::subject::Target;
use crate::suite::{self, Progress};
use anyhow::{Context as _, Result, bail, ensure};
use clap::Args;
use conformance_judge::baseline::Baseline;
use conformance_judge::report::{self, Report};
use conformance_judge::scenario::Scenario;
use conformance_judge::score::Score;
use conformance_judge::verdict::Outcome;
use fake_apiserver::git_version;
use std::cell::Cell;
use std::fs::File;
use std::io::{self, ErrorKind, IsTerminal as _, Write as _};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

/// The targets that are scored; the others are the reference.
const SCORED: [&str; 2] = ["embedded", "process"];

#[derive(Debug, Args)]
pub(super) struct Run {
    /// Target to play against
    #[arg(long, value_enum, default_value_t = Kind::Embedded)]
    target: Kind,
    /// Play the scenarios of this folder and below in place of the project's; histories are left in the present folder's `target`
    #[arg(long, value_name = "FOLDER")]
    scenarios: Option<PathBuf>,
    /// Time after which a wait of a scenario has failed
    #[arg(long, value_name = "SECONDS", default_value_t = 300)]
    timeout: u64,
    /// Also write the results as JUnit XML
    #[arg(long, value_name = "PATH")]
    junit: Option<PathBuf>,
    /// Also write a page that shows each scenario as a timeline, with every exchange
    #[arg(long, value_name = "PATH")]
    html: Option<PathBuf>,
    /// Fail where another client has to wait for longer than that meanwhile; scenarios are played one after the other. For a machine
    /// that does nothing else
    #[arg(long, value_name = "MILLISECONDS")]
    beside: Option<u64>,
    /// Print the scenarios and their subjects, play none
    #[arg(long)]
    list: bool,
    #[command(flatten)]
    server: Server,
    /// Only scenarios whose name contains this, or, with a slash at its end, begins with it
    filter: Option<String>,
}

impl Run {
    /// Plays what is asked for; `root` is the workspace's folder. Succeeds only if everything passed.
    pub(super) async fn main(&self, root: &Path) -> Result<ExitCode> {
        let all = match &self.scenarios {
            Some(folder) => loaded(folder).with_context(|| folder.display().to_string())?,
            None => loaded(&root.join(SCENARIOS))?,
        };
        let scenarios = filtered(all.clone(), self.filter.as_deref())?;
        if self.list {
            return list(&scenarios);
        }
        let (mut junit, mut html) = (created(self.junit.as_deref())?, created(self.html.as_deref())?);
        let baseline = match &self.scenarios {
            Some(_) => Baseline::plain(&root.join("fixtures"))?,
            None => Baseline::load(&root.join("fixtures"), &scenarios)?,
        };
        let home = if self.scenarios.is_some() { std::env::current_dir()? } else { root.to_owned() };
        let names: Vec<String> = all.iter().map(|scenario| scenario.name.clone()).collect();
        let mut runs = Vec::new();
        for kind in self.target.each() {
            let target = kind.target(&self.server).await?;
            if let Some(entry) = baseline.ledger.unmatched(target.name(), &names).first() {
                bail!("the ledger names {:?}, and there is no such scenario", entry.scenario);
            }
            runs.push((target.name(), self.play_on(&*target, &scenarios, &baseline, &home).await?));
        }
        if let Some((path, file)) = &mut junit {
            file.write_all(report::junit(&runs).as_bytes()).with_context(|| path.display().to_string())?;
        }
        let mut failed = runs.iter().flat_map(|(_, reports)| reports).any(Report::failed);
        let across = baseline.across(&scenarios, &runs);
        for finding in &across {
            println!("{finding}");
            failed = true;
        }
        if let Some((path, file)) = &mut html {
            let page = report::html(&git_version(), &scenarios, &runs, &across);
            file.write_all(page.as_bytes()).with_context(|| path.display().to_string())?;
        }
        if self.scenarios.is_none() && self.target == Kind::All && scenarios.len() == all.len() && !failed {
            write_score(&runs, &baseline, root)?;
        }
        Ok(if failed { ExitCode::FAILURE } else { ExitCode::SUCCESS })
    }

    /// Plays on one target and prints its reports. Histories are left below `home`.
    async fn play_on(
        &self,
        target: &dyn Target,
        scenarios: &[Scenario],
        baseline: &Baseline,
        home: &Path,
    ) -> Result<Vec<Report>> {
        println!("on {}", target.name());
        let folder = target_folder(home).join("conformance").join(target.name());
        let options =
            Options { patience: Duration::from_secs(self.timeout), beside: self.beside.map(Duration::from_millis) };
        let ended = Cell::new(0);
        let colored = std::io::stdout().is_terminal() && std::env::var_os("NO_COLOR").is_none();
        let reports = suite::run(scenarios, target, baseline, options, |progress| match progress {
            Progress::Long(scenario) => println!("        {scenario} goes on"),
            Progress::Ended(report) => {
                ended.set(ended.get() + 1);
                let line = if colored { report::colored_progress } else { report::progress };
                println!("{}", line(report, ended.get(), scenarios.len()));
            }
        })
        .await;
        println!("\n{}", report::table(&reports));
        for report in &reports {
            if let Some(place) = report::write_artifacts(&folder, report)? {
                // Again, for those who see the end of a long run.
                println!("{} left its history in {}{}", report.scenario, place.display(), report::findings(report));
            }
        }
        ensure!(
            reports.iter().any(|report| !matches!(report.outcome, Outcome::Skipped { .. })),
            "all scenarios were skipped"
        );
        Ok(reports)
    }
}

/// Prints scenarios and their subjects, as far as there is a reader.
fn list(scenarios: &[Scenario]) -> Result<ExitCode> {
    let mut output = io::stdout().lock();
    for scenario in scenarios {
        match writeln!(output, "{}\n    {}", scenario.name, scenario.text.summary()) {
            Err(error) if error.kind() == ErrorKind::BrokenPipe => break,
            written => written.context("unable to print")?,
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// A file to be written at the end, which fails now if it cannot be.
fn created(path: Option<&Path>) -> Result<Option<(&Path, File)>> {
    let created = |path| Ok((path, File::create(path).with_context(|| Path::display(path).to_string())?));
    path.map(created).transpose()
}

/// Writes the score into its page, and its total into that about fidelity.
fn write_score(runs: &[(&str, Vec<Report>)], baseline: &Baseline, root: &Path) -> Result<()> {
    let scored = runs.iter().filter(|(target, _)| SCORED.contains(target));
    let scored: Vec<_> = scored.map(|(target, reports)| (*target, reports.as_slice())).collect();
    let score = Score::of(baseline, &scored);
    println!("{score}");
    pages::write(root, pages::SCORE, "score", &score.to_string())?;
    pages::write(root, pages::FIDELITY, "score", &score.summary().to_string())
}
