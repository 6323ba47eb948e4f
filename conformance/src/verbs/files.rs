//! The verb about the scenario's files.
//!
//! ```text
//! file webhook.yaml                               writes it; before the first command: before the servers start
//!   clusters: [{name: hook, cluster: {server: "https://$hook/authorize"}}]
//! ```
//!
//! Flags and files name the folder `$files`.

use crate::props::write;
use crate::stage::Stage;
use anyhow::{Context as _, Result};
use conformance_judge::observation::Observation;
use conformance_judge::scenario::command::RawCommand;
use conformance_judge::scenario::file_lines;

/// The verb that writes a file anew.
#[derive(Debug, Clone, PartialEq)]
pub struct FileVerb {
    name: String,
    lines: Vec<String>,
}

impl FileVerb {
    /// Reads the command.
    pub fn parse(command: &RawCommand) -> Result<FileVerb, String> {
        match command.words()[..] {
            [name] => Ok(FileVerb { name: name.to_owned(), lines: file_lines(&command.details) }),
            _ => Err(command.usage("file NAME")),
        }
    }

    /// Carries it out.
    pub async fn play(&self, stage: &mut Stage<'_>) -> Result<Observation> {
        let folder = stage.folder.as_ref().context("no file was there before the servers started")?;
        write(folder.path(), &self.name, &self.lines, &stage.dialogue.names)?;
        Ok(Observation::default())
    }
}
