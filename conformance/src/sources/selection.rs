//! The arguments that select sources: sets of a list, or folders.

use super::{Source, download, sets};
use anyhow::{Result, ensure};
use clap::Args;
use std::path::{Path, PathBuf};

/// The arguments that select sources.
#[derive(Debug, Args)]
pub struct Selection {
    /// Instead of the sets, the YAML files of this folder and below; may be repeated
    #[arg(long, value_name = "FOLDER", conflicts_with_all = ["only", "list"])]
    directory: Vec<PathBuf>,
    /// Only sets whose module or project contains this; a run of all writes the table in its page
    #[arg(long, value_name = "SUBSTRING", default_value = "")]
    only: String,
    /// Print the sets without comparing them
    #[arg(long)]
    list: bool,
}

/// The sources that were selected.
pub(crate) struct Selected {
    /// The sources; none if the sets were only printed.
    pub(crate) sources: Vec<Source>,
    /// Whether they are all sets of the list.
    pub(crate) is_complete: bool,
}

impl Selection {
    /// The selected sources, where `list` is the path of the list of sets. Prints the sets if that was asked for.
    ///
    /// # Errors
    /// If the list cannot be read, no set is meant, or a module or folder cannot be had.
    pub(crate) fn select(&self, list: &Path) -> Result<Selected> {
        if !self.directory.is_empty() {
            let sources = self.directory.iter().map(|path| Source::directory(path)).collect::<Result<_>>()?;
            return Ok(Selected { sources, is_complete: false });
        }
        let mut sets = sets::load(list)?;
        let all = sets.len();
        sets.retain(|set| set.module.contains(&self.only) || set.project.contains(&self.only));
        ensure!(!sets.is_empty(), "no set contains {:?}", self.only);
        if self.list {
            sets.iter().for_each(|set| println!("{}: {set}", set.project));
            return Ok(Selected { sources: Vec::new(), is_complete: false });
        }
        Ok(Selected { sources: download(&sets)?, is_complete: sets.len() == all })
    }
}
