//! The props of a scenario, which it has before its servers start: a webhook, and files that flags name.

use crate::webhook::{Manner, Webhook};
use anyhow::{Context as _, Result};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use conformance_judge::names::Names;
use conformance_judge::scenario::Scenario;
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::Path;
use tempfile::TempDir;

/// A webhook and a folder of files, as far as the scenario has them.
#[derive(Default)]
pub struct Props {
    /// The webhook.
    pub webhook: Option<Webhook>,
    /// The folder.
    pub folder: Option<TempDir>,
    /// The names that have a value by now.
    pub names: BTreeMap<String, Value>,
}

impl Props {
    /// The props that a scenario asks for.
    ///
    /// # Errors
    /// If the webhook cannot be started, or a file cannot be written.
    pub async fn of(scenario: &Scenario) -> Result<Props> {
        let mut props = Props::default();
        if let Some(name) = &scenario.webhook {
            let webhook = Webhook::start(Manner::Signed).await?;
            props.names = names_of(name, &webhook)?;
            props.webhook = Some(webhook);
        }
        if !scenario.files.is_empty() {
            let folder = tempfile::tempdir()?;
            props.names.insert("files".to_owned(), folder.path().display().to_string().into());
            let mut names = Names::default();
            props.names.iter().for_each(|(name, value)| names.bind(name, value.clone()));
            for (name, lines) in &scenario.files {
                write(folder.path(), name, lines, &names)?;
            }
            props.folder = Some(folder);
        }
        Ok(props)
    }

    /// A flag of the scenario, with the values of names in it.
    pub fn fill(&self, flag: &str) -> String {
        let mut names = Names::default();
        self.names.iter().for_each(|(name, value)| names.bind(name, value.clone()));
        names.fill_text(flag).unwrap_or_else(|_| flag.to_owned())
    }
}

/// The names about a webhook: its host and port, and the certificates that vouch for it, as a `caBundle`, as PEM in quotes, and as PEM.
///
/// # Errors
/// If these are not PEM.
pub fn names_of(name: &str, webhook: &Webhook) -> Result<BTreeMap<String, Value>> {
    let pem = String::from_utf8(BASE64.decode(webhook.ca_bundle())?)?;
    let (quoted, lines) = (pem.replace('\n', "\\n"), pem);
    Ok(BTreeMap::from([
        (name.to_owned(), webhook.host().into()),
        (format!("{name}_ca"), webhook.ca_bundle().into()),
        (format!("{name}_pem"), quoted.into()),
        (format!("{name}_lines"), lines.into()),
    ]))
}

/// Writes a file, with the values of names in it, in place of an older one, all at once.
///
/// # Errors
/// If it cannot be written, or a name has no value.
pub fn write(folder: &Path, name: &str, lines: &[String], names: &Names) -> Result<()> {
    let text = names.fill_text(&(lines.join("\n") + "\n"));
    let text = text.map_err(|name| anyhow::anyhow!("${name} has no value yet"))?;
    let draft = folder.join(format!(".{name}"));
    std::fs::write(&draft, text).and_then(|()| std::fs::rename(&draft, folder.join(name))).context(name.to_owned())
}
