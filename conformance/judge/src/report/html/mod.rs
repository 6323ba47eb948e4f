//! The HTML report: one self-contained page. Each scenario is a timeline of messages between clients and API servers; its raw
//! exchanges are a click away.

mod marks;
mod page;
mod story;
#[cfg(test)]
mod tests;
mod timeline;

use crate::check::Finding;
use crate::report::Report;
use crate::scenario::Scenario;
use page::{Ending, Page};
use serde_json::Value;
use std::collections::BTreeMap;
use std::fmt::Write as _;

const TEMPLATE: &str = include_str!("page.html");
const STYLE: &str = include_str!("style.css");
const SCRIPTS: [&str; 3] = [include_str!("timeline.js"), include_str!("exchange.js"), include_str!("script.js")];

/// The longest text on the page, in bytes.
const LONGEST: usize = 4096;

/// The page of `runs` (targets with their reports) of `scenarios`. `version` is the emulated Kubernetes version, `across`
/// holds the differences between the targets.
///
/// # Panics
/// If the template names an unknown part.
pub fn html(version: &str, scenarios: &[Scenario], runs: &[(&str, Vec<Report>)], across: &[Finding]) -> String {
    let page = story::page(version, scenarios, runs, across);
    let part = |name: &str| match name {
        "targets" => escaped(&page.targets.join(", ")),
        "version" => escaped(version),
        "style" => STYLE.to_owned(),
        "script" => SCRIPTS.concat(),
        "summary" => summary(&page),
        "data" => embedded(&page),
        _ => unreachable!("the template names {name:?}"),
    };
    let mut pieces = TEMPLATE.split("{{");
    let mut html = pieces.next().unwrap_or_default().to_owned();
    for piece in pieces {
        let (name, rest) = piece.split_once("}}").unwrap_or((piece, ""));
        html += &part(name);
        html += rest;
    }
    html
}

/// The page as JSON that can stand inside `<script>`.
fn embedded(page: &Page<'_>) -> String {
    let mut page = serde_json::to_value(page).expect("string keys only");
    shorten(&mut page);
    // In JSON a `<` is always part of a string. So nothing in it can end the element, or open a comment.
    page.to_string().replace('<', "\\u003c")
}

/// Truncates long texts, such as bodies of megabytes that a server has to refuse.
fn shorten(value: &mut Value) {
    match value {
        Value::String(text) if text.len() > LONGEST => {
            let kept = (0..=LONGEST).rev().find(|end| text.is_char_boundary(*end)).unwrap_or_default();
            let cut = text.len() - kept;
            text.truncate(kept);
            write!(text, "… and {cut} bytes more").expect("writing to a string");
        }
        Value::Array(items) => items.iter_mut().for_each(shorten),
        Value::Object(fields) => fields.values_mut().for_each(shorten),
        _ => {}
    }
}

/// The rows of the table of areas: the number of scenarios by outcome.
fn summary(page: &Page<'_>) -> String {
    let mut areas = BTreeMap::<&str, [usize; Ending::ALL.len()]>::new();
    for story in &page.scenarios {
        areas.entry(story.name.split('/').next().unwrap_or_default()).or_default()[story.outcome as usize] += 1;
    }
    let mut rows = String::new();
    for (area, counts) in areas {
        let cell = |(ending, count): (&Ending, usize)| match count {
            0 => "<td class=\"none\">0</td>".to_owned(),
            _ => format!("<td class=\"{}\">{count}</td>", ending.word()),
        };
        let cells: String = Ending::ALL.iter().zip(counts).map(cell).collect();
        let area = escaped(area);
        writeln!(rows, "<tr><th scope=\"row\" data-area=\"{area}\">{area}</th>{cells}</tr>")
            .expect("writing to a string");
    }
    rows
}

/// Text, escaped for HTML.
fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}
