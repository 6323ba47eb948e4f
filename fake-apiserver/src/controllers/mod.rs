//! The controllers of a control plane in the server's process, by the names of kube-controller-manager: with them a cluster lives.
//!
//! All but the three that the server does itself are ordinary clients: their requests are authorized, recorded, and struck by faults. A test can pause them, and step through the
//! states in between:
//!
//! ```
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! use fake_apiserver::{Controller, FakeApiServer};
//!
//! let server = FakeApiServer::builder().controllers([Controller::GarbageCollector]).start().await?;
//! let controllers = server.controllers();
//! controllers.pause(Controller::GarbageCollector).await?;
//! // ... delete an object: those that it owns stay, until the controller is stepped ...
//! assert_eq!(controllers.step(Controller::GarbageCollector).await?, None);
//! controllers.resume(Controller::GarbageCollector)?;
//! controllers.quiet().await?;                                  // all is done that follows from what was written
//! # server.shutdown().await;
//! # Ok(())
//! # }
//! ```

#[cfg(feature = "controllers")]
mod ported;
mod settings;

pub use loops::nodes::{RuleError as PodRuleError, Rules as PodRules, StageError, Stages};
pub use loops::{Controller, UnknownController};
#[cfg(feature = "controllers")]
pub(crate) use ported::{ControllerContext, Ported};
pub(crate) use settings::Settings;

use crate::admission::QuotaMeasure;
use crate::living::Living;
use crate::recorder::Recorder;
use crate::store::Store;
use control::recording::What;
use control::{Order, Pace};
use loops::{Rest, Tools};
use std::fmt;
use std::sync::Arc;

/// The way in which a controller runs that is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Making {
    /// A loop does its work.
    Loop,
    /// A port, which is a client over a connection.
    Port,
    /// The server itself, as it answers.
    Server,
    /// Nobody.
    Nobody,
}

/// The server, as loops need it.
pub(crate) fn tools(settings: &Settings) -> Tools {
    let Settings { nodes, pods, stages, signing, .. } = settings;
    Tools {
        measure: Some(Arc::new(QuotaMeasure)),
        certificates: Some(Arc::new(signing.clone())),
        nodes: nodes.clone(),
        version: crate::version::git_version(),
        pods: pods.clone(),
        stages: stages.clone(),
    }
}

/// Who does the work of a controller.
pub(crate) fn making(controller: Controller) -> Making {
    match controller {
        Controller::Namespace | Controller::ClusterRoleAggregation | Controller::ValidatingAdmissionPolicyStatus => {
            Making::Server
        }
        Controller::ServiceAccountToken
        | Controller::ServiceAccount
        | Controller::RootCaPublisher
        | Controller::LegacyTokenCleaner => Making::Port,
        one if one.make(&tools(&Settings::default())).is_some() => Making::Loop,
        _ => Making::Nobody,
    }
}

/// An error of pausing or stepping a controller.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ControllersError {
    /// The controller is not enabled in the builder.
    #[error("controller {:?} does not run", .0.name())]
    Absent(Controller),
    /// Only a paused controller can be stepped.
    #[error("controller {:?} is not paused", .0.name())]
    NotPaused(Controller),
    /// The objects that the controller works on cannot be listed.
    #[cfg(feature = "controllers")]
    #[error(transparent)]
    Api(#[from] kube::Error),
}

/// A step of a controller.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Step {
    /// The key that it dealt with: a namespace, `secret a/b`, `delete pods a/b`.
    pub key: String,
    /// The requests that it made, as `POST /api/v1/...`, with the status codes of the answers; 0 for none. Empty for a controller that is a
    /// client over a connection: see the record of requests.
    pub requests: Vec<(String, u16)>,
}

/// The controllers that run beside a server.
pub struct Controllers {
    pub(crate) store: Store,
    pub(crate) recorder: Recorder,
    /// With which they were started.
    pub(crate) settings: Settings,
    pub(crate) living: Option<Living>,
    #[cfg(feature = "controllers")]
    pub(crate) ported: Option<Ported>,
}

impl Controllers {
    /// Pauses a controller; waits until its syncs in progress have ended. What changes meanwhile, it looks at later.
    ///
    /// # Errors
    /// If the controller does not run.
    pub async fn pause(&self, controller: Controller) -> Result<(), ControllersError> {
        self.check(controller)?;
        if let Some((living, name)) = self.living(controller) {
            living.pause(name, true).await;
        }
        #[cfg(feature = "controllers")]
        if let Some(ported) = &self.ported {
            ported.pause(controller).await;
        }
        self.note(controller, Pace::Paused);
        Ok(())
    }

    /// Puts a change of a controller's pace into the recording.
    fn note(&self, controller: Controller, state: Pace) {
        let order = Order::Controller { name: controller.name().to_owned(), state };
        self.recorder.note(move || What::Order(Box::new(order)));
    }

    /// Resumes a paused controller.
    ///
    /// # Errors
    /// If the controller does not run.
    pub fn resume(&self, controller: Controller) -> Result<(), ControllersError> {
        self.check(controller)?;
        let was_paused = self.is_paused(controller);
        if let Some((living, name)) = self.living(controller) {
            living.resume(name);
        }
        #[cfg(feature = "controllers")]
        if let Some(ported) = &self.ported {
            ported.resume(controller);
        }
        if was_paused {
            self.note(controller, Pace::Running);
        }
        Ok(())
    }

    /// Lets a paused controller deal with its next key, and returns what it did. `None` if the controller has caught up with the server and
    /// has nothing to do. Failed keys come last, without the delay of a retry; the legacy token cleaner always has a key.
    ///
    /// # Errors
    /// If the controller does not run or is not paused, or its objects cannot be listed.
    pub async fn step(&self, controller: Controller) -> Result<Option<Step>, ControllersError> {
        self.check(controller)?;
        if !self.is_paused(controller) {
            return Err(ControllersError::NotPaused(controller));
        }
        if let Some((living, name)) = self.living(controller) {
            let stepped = living.step(name).await;
            return Ok(stepped.map(|stepped| Step { key: stepped.key, requests: stepped.requests }));
        }
        #[cfg(feature = "controllers")]
        if let Some(ported) = &self.ported {
            return Ok(ported.step(controller).await?.map(|key| Step { key, requests: Vec::new() }));
        }
        Ok(None)
    }

    /// Waits until all controllers that are not paused have caught up with the server, and have nothing left to do now. Keys that failed, and
    /// are tried again later than in a second, are not waited for; nor is the server's clock.
    ///
    /// # Errors
    /// If the controllers' objects cannot be listed.
    pub async fn quiet(&self) -> Result<(), ControllersError> {
        loop {
            let before = self.store.revision();
            #[cfg(feature = "controllers")]
            if let Some(ported) = &self.ported {
                ported.quiet().await?;
            }
            if let Some(living) = &self.living {
                living.settled().await;
            }
            if self.store.revision() == before {
                return Ok(());
            }
        }
    }

    /// The controllers that run.
    pub(crate) fn all(&self) -> Vec<Controller> {
        let names = self.living.iter().flat_map(|living| living.names());
        let loops = names.map(|name| name.parse().expect("loops have names of controllers"));
        #[cfg(feature = "controllers")]
        let loops = loops.chain(self.ported.iter().flat_map(Ported::all));
        loops.collect()
    }

    /// Whether a controller is paused.
    pub(crate) fn is_paused(&self, controller: Controller) -> bool {
        let loops = self.living(controller).is_some_and(|(living, name)| living.is_paused(name));
        #[cfg(feature = "controllers")]
        let loops = loops || self.ported.as_ref().is_some_and(|ported| ported.is_paused(controller));
        loops
    }

    /// The work that they have begun so far.
    pub(crate) fn begun(&self) -> Vec<(Controller, u64)> {
        #[cfg(feature = "controllers")]
        if let Some(ported) = &self.ported {
            return ported.handed_out();
        }
        Vec::new()
    }

    /// The controllers that have work, or have begun some since then.
    pub(crate) async fn busy_since(&self, begun: &[(Controller, u64)]) -> Vec<&'static str> {
        let loops = self.rest().await.busy.into_iter();
        #[cfg(feature = "controllers")]
        let ported = self.ported.iter().flat_map(|ported| ported.busy_since(begun)).map(Controller::name);
        // None of them has begun anything.
        #[cfg(not(feature = "controllers"))]
        let ported = begun.iter().map(|(controller, _)| controller.name());
        loops.chain(ported).collect()
    }

    /// The work that the loops have left.
    pub(crate) async fn rest(&self) -> Rest {
        match &self.living {
            Some(living) => living.rest().await,
            None => Rest::default(),
        }
    }

    /// Stops all controllers that are clients over connections; waits until the syncs in progress have ended.
    pub(crate) async fn stop(&self) {
        #[cfg(feature = "controllers")]
        if let Some(ported) = &self.ported {
            ported.stop().await;
        }
    }

    /// Completes when the loops have ended.
    pub(crate) async fn ended(&self) {
        if let Some(living) = &self.living {
            living.ended().await;
        }
    }

    fn living(&self, controller: Controller) -> Option<(&Living, &'static str)> {
        let living = self.living.as_ref()?;
        let name = living.names().iter().find(|name| **name == controller.name())?;
        Some((living, name))
    }

    fn check(&self, controller: Controller) -> Result<(), ControllersError> {
        match self.all().contains(&controller) {
            true => Ok(()),
            false => Err(ControllersError::Absent(controller)),
        }
    }
}

impl fmt::Debug for Controllers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Controllers").finish_non_exhaustive()
    }
}
