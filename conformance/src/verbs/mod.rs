//! The verbs of the scenario language: one family a file, each with its usage at the top. The list is closed.

pub mod audits;
pub mod controllers;
pub mod definitions;
pub mod files;
pub mod kubelets;
pub mod requests;
pub mod server;
pub mod tokens;
pub mod waits;
pub mod watches;
pub mod webhooks;

use crate::stage::Stage;
use anyhow::Result;
use conformance_judge::observation::Observation;
use conformance_judge::scenario::CustomResource;
use conformance_judge::scenario::command::RawCommand;
use conformance_judge::scenario::prefixes::Prefixes;

/// A verb with its arguments.
#[derive(Debug, Clone, PartialEq)]
pub enum Verb {
    /// Reads audit events.
    Audit(audits::Audit),
    /// Starts, stops, pauses controllers, and reads their calls.
    Controller(controllers::ControllerVerb),
    /// Defines a custom resource.
    Define(Box<definitions::Define>),
    /// Writes a file of the scenario.
    File(files::FileVerb),
    /// Starts and stops kubelets, and reads their files.
    Kubelet(kubelets::KubeletVerb),
    /// Sends a request.
    Request(requests::RequestVerb),
    /// Gives an order: about clocks, faults, history, API servers; reads logs.
    Server(server::ServerVerb),
    /// Signs a token, or decodes one.
    Token(tokens::TokenVerb),
    /// Waits for objects.
    Wait(waits::Wait),
    /// Opens a watch, or waits for its events.
    Watch(watches::Watch),
    /// Starts and changes a webhook.
    Webhook(webhooks::WebhookVerb),
}

impl Verb {
    /// Reads a command of a scenario with these `customs`.
    pub fn parse(command: &RawCommand, customs: &[CustomResource]) -> Result<Verb, String> {
        match command.verb.as_str() {
            "audit" => audits::Audit::parse(command).map(Verb::Audit),
            "calls" | "controller" | "tally" => controllers::ControllerVerb::parse(command).map(Verb::Controller),
            "claims" | "sign" => tokens::TokenVerb::parse(command).map(Verb::Token),
            "clock" | "compact" | "fault" | "log" | "replica" => server::ServerVerb::parse(command).map(Verb::Server),
            "file" => files::FileVerb::parse(command).map(Verb::File),
            "files" | "kubelet" => kubelets::KubeletVerb::parse(command).map(Verb::Kubelet),
            "watch" => watches::Watch::parse(command, customs).map(Verb::Watch),
            "webhook" => webhooks::WebhookVerb::parse(command).map(Verb::Webhook),
            "await" => match waits::Wait::parse(command, customs)? {
                Some(wait) => Ok(Verb::Wait(wait)),
                None => watches::Watch::parse(command, customs).map(Verb::Watch),
            },
            "define" => definitions::Define::parse(command, customs).map(Box::new).map(Verb::Define),
            _ => requests::RequestVerb::parse(command, customs).map(Verb::Request),
        }
    }

    /// Whether it accepts prefixes.
    pub fn takes_prefixes(&self) -> bool {
        matches!(self, Verb::Define(_) | Verb::Request(_) | Verb::Wait(_) | Verb::Watch(_))
    }

    /// Carries it out.
    pub async fn play(&self, prefixes: &Prefixes, stage: &mut Stage<'_>) -> Result<Observation> {
        match self {
            Verb::Audit(audit) => audit.play(stage).await,
            Verb::Controller(controller) => controller.play(stage).await,
            Verb::Define(define) => define.play(prefixes, stage).await,
            Verb::File(file) => file.play(stage).await,
            Verb::Kubelet(kubelet) => kubelet.play(stage).await,
            Verb::Request(request) => request.play(prefixes, stage).await,
            Verb::Server(server) => server.play(stage).await,
            Verb::Token(token) => token.play(stage).await,
            Verb::Wait(wait) => wait.play(prefixes, stage).await,
            Verb::Watch(watch) => watch.play(prefixes, stage).await,
            Verb::Webhook(webhook) => webhook.play(stage).await,
        }
    }
}
