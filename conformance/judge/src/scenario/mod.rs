//! Scenarios: text files. `fixtures/README.md` is the manual of their language.
//!
//! Commands are only parsed into words here; the player gives verbs their meaning.

pub mod command;
pub mod expectation;
pub mod field;
pub mod path;
pub mod power;
pub mod prefixes;
pub mod rows;
pub mod text;
pub mod words;

use anyhow::{Context as _, Result, ensure};
use command::RawCommand;
use expectation::Expectation;
use power::Power;
use prefixes::Prefixes;
use rows::Row;
use std::path::Path;
use text::{Block, SyntaxError, Text};

/// A parsed scenario.
#[derive(Debug, Clone)]
pub struct Scenario {
    /// The name, `area/behaviour`; if its file makes several scenarios, with the first word of its row: `area/behaviour[deployments]`.
    pub name: String,
    /// The file, without its extension: `area/behaviour`.
    pub file: String,
    /// The words of the file's line `for`.
    pub row: Row,
    /// The text of the file, with the words in place of their names.
    pub text: Text,
    /// The powers that the target has to have.
    pub needs: Vec<Power>,
    /// The number of API servers it is played on.
    pub replicas: usize,
    /// The flags that they are started with, beside those that all have, and `--controllers` with kube-controller-manager's names of
    /// controllers to run as well.
    pub flags: Vec<String>,
    /// The name of the webhook that is started before the servers.
    pub webhook: Option<String>,
    /// The files that are written before the servers start: names and lines, in which `$files` is their folder.
    pub files: Vec<(String, Vec<String>)>,
    /// The custom resources that its commands call by their plural.
    pub customs: Vec<CustomResource>,
    /// The commands, in order.
    pub steps: Vec<Step>,
}

/// A resource that the scenario itself defines.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CustomResource {
    /// The plural: `widgets`.
    pub plural: String,
    /// The API version; may have `$names` in it: `$namespace.example.com/v1`.
    pub api_version: String,
    /// The kind: `Widget`.
    pub kind: String,
    /// Whether its objects live in namespaces.
    pub namespaced: bool,
}

/// A command and its expectation.
#[derive(Debug, Clone)]
pub struct Step {
    /// The index in [`Text::blocks`].
    pub block: usize,
    /// The line in the file, from 1.
    pub line: usize,
    /// The prefixes: sender, destination, repetition.
    pub prefixes: Prefixes,
    /// The command without its prefixes.
    pub command: RawCommand,
    /// The expected observation; without one the command has to succeed.
    pub expectation: Option<Expectation>,
}

impl Scenario {
    /// Reads the scenarios of a file: one, unless there is a line `for`.
    ///
    /// # Errors
    /// If the text is not one of blocks, or a header, a prefix or an expectation cannot be read.
    pub fn parse_file(file: &str, source: &str) -> Result<Vec<Scenario>, SyntaxError> {
        let text = Text::parse(source)?;
        rows::rows(&text)?.into_iter().map(|row| Scenario::of_row(file, row, &text)).collect()
    }

    /// Reads the scenario of a file that makes one.
    ///
    /// # Errors
    /// If the file cannot be read, or makes several.
    pub fn parse(file: &str, source: &str) -> Result<Scenario, SyntaxError> {
        let mut scenarios = Scenario::parse_file(file, source)?;
        match scenarios.pop() {
            Some(only) if scenarios.is_empty() => Ok(only),
            _ => Err(SyntaxError::new(1, "several scenarios")),
        }
    }

    /// Whether it sees or changes more of a server than its own namespace. A scheduler sees all nodes.
    pub fn is_exclusive(&self) -> bool {
        self.needs.iter().any(|need| need.is_exclusive()) || self.has_scheduler()
    }

    fn has_scheduler(&self) -> bool {
        self.flags.iter().any(|flag| flag.starts_with("--controllers=") && flag.contains("kube-scheduler"))
    }

    fn of_row(file: &str, row: Row, text: &Text) -> Result<Scenario, SyntaxError> {
        let mut scenario = Scenario {
            name: row.name(file),
            file: file.to_owned(),
            text: row.fill(text),
            row,
            needs: vec![],
            replicas: 1,
            flags: vec![],
            webhook: None,
            files: vec![],
            customs: vec![],
            steps: vec![],
        };
        for (index, block) in scenario.text.blocks.iter().enumerate() {
            let Some(first) = block.command.first() else { continue };
            let header = match first.split_once(' ') {
                Some(("needs", powers)) => needs(powers).map(|powers| scenario.needs.extend(powers)),
                Some(("apiserver", written)) => flags(written).map(|written| scenario.flags.extend(written)),
                Some(("controllers", names)) => {
                    scenario.flags.push(format!("--controllers={names}"));
                    Ok(())
                }
                Some(("webhook", name)) if name.starts_with('$') && scenario.steps.is_empty() => {
                    scenario.webhook = Some(name[1..].to_owned());
                    Ok(())
                }
                Some(("file", name)) if scenario.steps.is_empty() => {
                    scenario.files.push((name.to_owned(), file_lines(&block.command[1..])));
                    Ok(())
                }
                Some(("custom", written)) => custom(written).map(|custom| scenario.customs.push(custom)),
                Some(("for", _)) => Ok(()),
                Some(("replicas", count)) => replicas(count).map(|count| scenario.replicas = count),
                _ => {
                    scenario.steps.push(step(index, block)?);
                    continue;
                }
            };
            header.map_err(|problem| SyntaxError::new(block.line, problem))?;
            if !scenario.steps.is_empty() {
                return Err(SyntaxError::new(block.line, "this belongs before the first command"));
            }
        }
        if scenario.replicas > 1 {
            scenario.needs.push(Power::Replicas);
        }
        if !scenario.flags.is_empty() {
            scenario.needs.push(Power::Flags);
        }
        if scenario.steps.is_empty() {
            return Err(SyntaxError::new(1, "a scenario without a command"));
        }
        Ok(scenario)
    }

    /// The first line of a step's command.
    pub fn command_line(&self, step: &Step) -> &str {
        &self.text.blocks[step.block].command[0]
    }

    /// The first line of the command number `step`, counted from 1.
    pub fn command(&self, step: usize) -> Option<&str> {
        Some(self.command_line(self.steps.get(step.checked_sub(1)?)?))
    }

    /// The first lines of all commands.
    pub fn commands(&self) -> Vec<&str> {
        self.steps.iter().map(|step| self.command_line(step)).collect()
    }

    /// Whether several clients write at the same time, so that the order of their writes is not fixed.
    pub fn has_several_writers(&self) -> bool {
        let mut parallel = self.steps.iter().filter_map(|step| step.prefixes.repetition.as_ref());
        let actors = self.steps.iter().filter(|step| step.command.starts_actor()).count();
        // A scenario waits until a single controller is quiet; a scheduler writes its events beside what it says of pods.
        let beside = self.needs.contains(&Power::Outages) || self.has_scheduler();
        actors > 1 || parallel.any(|many| many.parallel) || beside
    }

    /// The area: the folder that the scenario is in.
    pub fn area(&self) -> &str {
        self.name.split('/').next().unwrap_or_default()
    }

    /// Reads all scenarios under `folder`, in the order of their names.
    ///
    /// # Errors
    /// If there is none, or one cannot be read.
    pub fn load_all(folder: &Path) -> Result<Vec<Scenario>> {
        let mut scenarios = Vec::new();
        let mut folders = vec![folder.to_owned()];
        while let Some(next) = folders.pop() {
            for entry in std::fs::read_dir(&next).with_context(|| next.display().to_string())? {
                let path = entry?.path();
                if path.is_dir() {
                    folders.push(path);
                } else if path.extension().is_some_and(|extension| extension == "txt") {
                    let source = std::fs::read_to_string(&path)?;
                    let name = path.strip_prefix(folder)?.with_extension("");
                    let read = Scenario::parse_file(&name.to_string_lossy(), &source);
                    scenarios.extend(read.with_context(|| path.display().to_string())?);
                }
            }
        }
        ensure!(!scenarios.is_empty(), "there are no scenarios under {}", folder.display());
        scenarios.sort_by(|one, other| one.name.cmp(&other.name));
        Ok(scenarios)
    }
}

fn needs(powers: &str) -> Result<Vec<Power>, String> {
    let known = || Power::ALL.map(|power| power.to_string()).join(", ");
    let power = |name: &str| Power::parse(name).ok_or_else(|| format!("{name:?} is none of {}", known()));
    powers.split(", ").map(power).collect()
}

fn flags(written: &str) -> Result<Vec<String>, String> {
    let flag = |word: &str| match word.starts_with("--") && word.contains('=') {
        true => Ok(word.to_owned()),
        false => Err(format!("{word:?} is no --FLAG=VALUE")),
    };
    written.split(' ').map(flag).collect()
}

fn custom(written: &str) -> Result<CustomResource, String> {
    let (plural, api_version, kind, namespaced) = match written.split(' ').collect::<Vec<_>>()[..] {
        [plural, api_version, kind] => (plural, api_version, kind, true),
        [plural, api_version, kind, "cluster"] => (plural, api_version, kind, false),
        _ => return Err(format!("custom {written}: expected `custom PLURAL GROUP/VERSION KIND [cluster]`")),
    };
    let (plural, api_version, kind) = (plural.to_owned(), api_version.to_owned(), kind.to_owned());
    Ok(CustomResource { plural, api_version, kind, namespaced })
}

/// The lines of a file, which are indented in a scenario.
pub fn file_lines(details: &[String]) -> Vec<String> {
    details.iter().map(|line| line.strip_prefix("  ").unwrap_or(line).to_owned()).collect()
}

fn replicas(count: &str) -> Result<usize, String> {
    count.parse().ok().filter(|count| *count > 0).ok_or_else(|| format!("{count:?} is not a number of replicas"))
}

fn step(index: usize, block: &Block) -> Result<Step, SyntaxError> {
    let command = command::parse(&block.command).map_err(|problem| SyntaxError::new(block.line, problem))?;
    let (prefixes, command) = command;
    let first = block.line + block.command.len() + 1;
    let expectation = block.observed.as_deref().map(Expectation::parse).transpose();
    let expectation = expectation.map_err(|(line, problem)| SyntaxError::new(first + line, problem))?;
    Ok(Step { block: index, line: block.line, prefixes, command, expectation })
}
