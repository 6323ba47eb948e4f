//! The verbs of the scenario language: one family a file, each with its usage at the top. The list is closed.

pub mod controllers;
pub mod kubelets;
pub mod replicas;
pub mod requests;
pub mod server;
pub mod tokens;
pub mod waits;
pub mod watches;

use crate::observation::Observation;
use crate::scenario::command::{Prefixes, Written};
use crate::stage::Stage;
use anyhow::Result;

/// What a command does.
#[derive(Debug, Clone, PartialEq)]
pub enum Verb {
    /// Starts, stops and watches over controllers.
    Controller(controllers::Controller),
    /// Starts, stops and looks at kubelets.
    Kubelet(kubelets::KubeletVerb),
    /// Something befalls an API server.
    Replica(replicas::Replica),
    /// Sends a request.
    Request(requests::RequestVerb),
    /// Turns the server's knobs, reads its log.
    Server(server::ServerVerb),
    /// Signs a token, or looks into one.
    Token(tokens::TokenVerb),
    /// Waits for objects.
    Wait(waits::Wait),
    /// Opens a watch, or waits for its events.
    Watch(watches::Watch),
}

impl Verb {
    /// Reads a command.
    pub fn parse(written: &Written<'_>) -> Result<Verb, String> {
        match written.verb {
            "calls" | "controller" | "tally" => controllers::Controller::parse(written).map(Verb::Controller),
            "claims" | "sign" => tokens::TokenVerb::parse(written).map(Verb::Token),
            "clock" | "compact" | "fault" | "log" => server::ServerVerb::parse(written).map(Verb::Server),
            "files" | "kubelet" => kubelets::KubeletVerb::parse(written).map(Verb::Kubelet),
            "replica" => replicas::Replica::parse(written).map(Verb::Replica),
            "watch" => watches::Watch::parse(written).map(Verb::Watch),
            "await" => match waits::Wait::parse(written)? {
                Some(wait) => Ok(Verb::Wait(wait)),
                None => watches::Watch::parse(written).map(Verb::Watch),
            },
            _ => requests::RequestVerb::parse(written).map(Verb::Request),
        }
    }

    /// Whether somebody acts on their own from now on.
    pub fn starts_actor(&self) -> bool {
        matches!(
            self,
            Verb::Controller(controllers::Controller::Start { .. })
                | Verb::Kubelet(kubelets::KubeletVerb::Start { .. })
        )
    }

    /// Whether who, where and how often may be said of it.
    pub fn takes_prefixes(&self) -> bool {
        matches!(self, Verb::Request(_) | Verb::Wait(_) | Verb::Watch(_))
    }

    /// Carries it out.
    pub async fn play(&self, prefixes: &Prefixes, stage: &mut Stage<'_>) -> Result<Observation> {
        match self {
            Verb::Controller(controller) => controller.play(stage).await,
            Verb::Kubelet(kubelet) => kubelet.play(stage).await,
            Verb::Replica(replica) => replica.play(stage).await,
            Verb::Request(request) => request.play(prefixes, stage).await,
            Verb::Server(server) => server.play(stage).await,
            Verb::Token(token) => token.play(stage).await,
            Verb::Wait(wait) => wait.play(prefixes, stage).await,
            Verb::Watch(watch) => watch.play(prefixes, stage).await,
        }
    }
}
