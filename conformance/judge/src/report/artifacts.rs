//! Artifacts: the folder of a failed scenario, with its history as JSON lines and as readable text, and the server's log.

use crate::history::{Event, History};
use crate::names::{Names, text};
use crate::normalise::Placeholders;
use crate::report::Report;
use crate::verdict::Outcome;
use anyhow::{Context as _, Result};
use serde_json::Value;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

/// Writes the artifacts of a failed scenario under `folder` and returns their path; those of an earlier run are removed.
///
/// # Errors
/// If a file or a folder cannot be written or removed.
pub fn write_artifacts(folder: &Path, report: &Report) -> Result<Option<PathBuf>> {
    let place = folder.join(&report.scenario);
    if place.exists() {
        std::fs::remove_dir_all(&place).with_context(|| place.display().to_string())?;
    }
    let (Outcome::Failed(findings), Some(played)) = (&report.outcome, &report.played) else { return Ok(None) };
    std::fs::create_dir_all(&place)?;
    let findings = findings.iter().map(|finding| format!("{finding}\n")).collect::<String>();
    std::fs::write(place.join("findings.txt"), findings)?;
    std::fs::write(place.join("history.jsonl"), played.history.to_json_lines())?;
    std::fs::write(place.join("story.txt"), story(&played.history, &played.dialogue.names))?;
    std::fs::write(place.join("server.log"), &played.server_log)?;
    Ok(Some(place))
}

/// A history as readable text: requests, responses and events, with names in place of volatile values.
pub(super) fn story(history: &History, names: &Names) -> String {
    let documents = history.events().filter_map(|event| match event {
        Event::Request(request) => Some(&request.body),
        Event::Reply(reply) => Some(&reply.body),
        Event::Frame { frame, .. } => Some(frame),
        _ => None,
    });
    let placeholders = Placeholders::collect(documents, names);
    let shown = |value: &Value| if value.is_null() { String::new() } else { text(&placeholders.normal(value)) };
    let mut story = String::new();
    for entry in &history.entries {
        let line = match &entry.event {
            Event::Started { scenario, target, namespace, .. } => {
                format!("{scenario} on {target}, namespace {namespace}")
            }
            Event::Step { line, command } => format!("\nline {line}: {command}"),
            Event::Observed { observation, .. } => match &observation.problem {
                Some(problem) => format!("  ! {problem}"),
                None => continue,
            },
            Event::Request(request) => {
                let query = request.query.iter().map(|(key, value)| format!(" ?{key}={value}")).collect::<String>();
                let path = shown(&Value::String(request.path.clone()));
                let (number, user, replica) = (request.request, &request.user, request.replica);
                format!("  {number} {user} → {replica}: {} {path}{query} {}", request.method, shown(&request.body))
            }
            Event::Reply(reply) => {
                let body = reply.text.clone().unwrap_or_else(|| shown(&reply.body));
                format!("  {} ← {} {body}", reply.request, reply.status)
            }
            Event::Frame { request, frame } => format!("  {request} ← {}", shown(frame)),
            Event::Closed { request, error } => format!("  {request} ← end {}", error.as_deref().unwrap_or_default()),
            Event::Call(call) => {
                format!("  {} called {} {} {} {}", call.user, call.method, call.target, call.status, shown(&call.body))
            }
        };
        writeln!(story, "{:>8.3} ms {line}", entry.micros as f64 / 1000.0).expect("writing to a string");
    }
    story
}
