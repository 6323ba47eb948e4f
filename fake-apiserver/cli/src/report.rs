//! `fake-apiserver report FILE`: a recorded run as a page of HTML, which needs nothing but itself.
//!
//! ```text
//!   recording ──▶ data.rs: what the page shows ──▶ JSON in template.html, with style.css and the scripts, which draw it
//! ```

mod data;

use crate::check::{ended, refused};
use crate::recorded;
use anyhow::Context as _;
use clap::Parser;
use data::Page;
use std::ffi::OsString;
use std::io::{self, Write as _};
use std::path::PathBuf;
use std::process::ExitCode;

const TEMPLATE: &str = include_str!("report/template.html");
const STYLE: &str = include_str!("report/style.css");
const SCRIPTS: [&str; 4] = [
    include_str!("report/model.js"),
    include_str!("report/timeline.js"),
    include_str!("report/list.js"),
    include_str!("report/page.js"),
];

/// Draw a recorded run: who asked for what and when, watches, faults, the clock, and what is odd about it, as one page of HTML.
#[derive(Debug, Parser)]
#[command(name = "fake-apiserver report", max_term_width = 100)]
struct Arguments {
    /// File that a server with --record has written
    file: PathBuf,
    /// File to write the page to; the standard output by default
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,
}

/// Writes the page of the recording that the arguments name.
pub(crate) fn main(arguments: Vec<OsString>) -> ExitCode {
    match Arguments::try_parse_from(std::iter::once("fake-apiserver report".into()).chain(arguments)) {
        Ok(arguments) => ended(run(&arguments)),
        Err(error) => refused(&error),
    }
}

fn run(arguments: &Arguments) -> anyhow::Result<ExitCode> {
    let recording = recorded::read(&arguments.file)?;
    let html = html(&Page::of(&recording, &arguments.file));
    match &arguments.output {
        Some(path) => std::fs::write(path, html).with_context(|| format!("unable to write {}", path.display()))?,
        None => io::stdout().write_all(html.as_bytes()).context("unable to print the page")?,
    }
    Ok(ExitCode::SUCCESS)
}

/// The HTML page of a recorded run.
fn html(page: &Page<'_>) -> String {
    let data = serde_json::to_string(page).expect("it has texts as keys");
    // In JSON a `<` is always part of a text. So nothing in it can end the element, or open a comment.
    let data = data.replace('<', "\\u003c");
    let parts = [("style", STYLE.to_owned()), ("script", SCRIPTS.concat()), ("data", data)];
    let mut html = TEMPLATE.to_owned();
    for (name, part) in parts {
        let (before, after) = html.split_once(&format!("{{{{{name}}}}}")).expect("the template has each part once");
        html = [before, &part, after].concat();
    }
    html
}
