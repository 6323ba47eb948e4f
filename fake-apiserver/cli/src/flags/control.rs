//! The flags of the control port, and of the clock that it moves.

use anyhow::Context as _;
use clap::Args;
use control::Order;
use fake_apiserver::internals::yaml;
use jiff::Timestamp;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::PathBuf;
use std::str::FromStr;

/// The heading of the help.
const CONTROL: &str = "Under a test's control";

/// The flags of the control port.
#[derive(Debug, Clone, Default, Args)]
pub struct ControlFlags {
    /// Take orders over HTTP, under /_fake/v1, at this address: 127.0.0.1 and any free port by default
    #[arg(help_heading = CONTROL, long = "control", value_name = "ADDRESS", num_args = 0..=1, require_equals = true, default_missing_value = "127.0.0.1:0", value_parser = address)]
    pub address: Option<SocketAddr>,
    /// Write the URL and the token of the control port to this file, as JSON, before the line that says that the server is ready
    #[arg(help_heading = CONTROL, long = "write-control", value_name = "FILE")]
    pub file: Option<PathBuf>,
    /// Write a line of JSON for wrappers to this file, before the line that says that the server is ready: the process, the URLs, the certificate to
    /// trust, the token, a kubeconfig, and the control port if there is one. With - it stands in the place of that line
    #[arg(help_heading = CONTROL, long, value_name = "FILE")]
    pub info: Option<PathBuf>,
    /// File with the token of the control port; one is made by default
    #[arg(help_heading = CONTROL, long = "control-token-file", value_name = "FILE")]
    token_file: Option<PathBuf>,
    /// Begin with these rules by which requests fail, a list in YAML or JSON
    #[arg(help_heading = CONTROL, long, value_name = "FILE")]
    faults: Option<PathBuf>,
    /// Record what happens in this file, as it happens: fake-apiserver report FILE draws it, fake-apiserver replay FILE serves the objects of any
    /// moment of it. Only its owner can read it: secrets are in it
    #[arg(help_heading = CONTROL, long, value_name = "FILE")]
    pub(super) record: Option<PathBuf>,
    /// Count what rules decide (of policies, definitions, webhooks and roles), and add that to this file at the end: fake-apiserver cover FILE
    /// says what was never tried
    #[arg(help_heading = CONTROL, long, value_name = "FILE")]
    pub coverage: Option<PathBuf>,
    /// Clock: system, the default, or a time at which it stands still, such as 2030-01-01T00:00:00Z. With --control orders can move either
    #[arg(help_heading = CONTROL, long, value_name = "TIME")]
    clock: Option<Start>,
}

/// The clock at the start.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Start {
    System,
    At(Timestamp),
}

impl FromStr for Start {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "system" => Ok(Start::System),
            time => {
                let time = time.parse();
                time.map(Start::At).map_err(|_| "it is neither system nor a time like 2030-01-01T00:00:00Z".into())
            }
        }
    }
}

/// An address with its port, or one of both.
fn address(text: &str) -> Result<SocketAddr, String> {
    let port = text.strip_prefix(':').unwrap_or(text).parse().map(|port| (Ipv4Addr::LOCALHOST.into(), port));
    let host = text.parse::<IpAddr>().map(|host| (host, 0));
    let both = text.parse::<SocketAddr>();
    both.or_else(|_| port.or(host).map(SocketAddr::from)).map_err(|_| "it is not an address like 127.0.0.1:7443".into())
}

impl ControlFlags {
    /// Whether there is a control port.
    pub(super) fn is_on(&self) -> bool {
        self.address.is_some() || self.file.is_some() || self.token_file.is_some()
    }

    /// The clock that orders move, if there is one or a time was given.
    pub(super) fn clock(&self) -> Option<fake_apiserver::ManualClock> {
        match self.clock {
            Some(Start::At(time)) => Some(fake_apiserver::ManualClock::new(time)),
            _ => self.is_on().then(fake_apiserver::ManualClock::running),
        }
    }

    /// Whether a clock was asked for.
    pub(super) fn has_clock(&self) -> bool {
        self.clock.is_some()
    }

    /// The order that adds the rules of the flags, if they name a file.
    ///
    /// # Errors
    /// If the file cannot be read, or has no rules; the error names it.
    pub fn faults(&self) -> anyhow::Result<Option<Order>> {
        let Some(path) = &self.faults else { return Ok(None) };
        let failed = || format!("unable to read --faults {}", path.display());
        let text = std::fs::read(path).with_context(failed)?;
        let document =
            yaml::parse(&text, &yaml::Deadline::default()).map_err(anyhow::Error::msg).with_context(failed)?;
        let rules = control::decode(document.value.to_string().as_bytes()).with_context(failed)?;
        Ok(Some(Order::ReplaceFaults { rules }))
    }

    /// The address of the control port, and its token if that was given; `None` without one.
    ///
    /// # Errors
    /// If the file with the token cannot be read, or has none.
    pub fn port(&self) -> anyhow::Result<Option<(SocketAddr, Option<String>)>> {
        if !self.is_on() {
            return Ok(None);
        }
        let address = self.address.unwrap_or((Ipv4Addr::LOCALHOST, 0).into());
        let Some(path) = &self.token_file else { return Ok(Some((address, None))) };
        let shown = path.display();
        let text =
            std::fs::read_to_string(path).with_context(|| format!("unable to read --control-token-file {shown}"))?;
        let token = text.trim();
        let is_token = |c: char| c.is_ascii_graphic();
        anyhow::ensure!(
            token.len() >= 8 && token.chars().all(is_token),
            "--control-token-file {shown}: a token has at least 8 letters, digits or signs, and no spaces"
        );
        Ok(Some((address, Some(token.to_owned()))))
    }
}
