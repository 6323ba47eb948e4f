//! The controller that deletes generated service account tokens that have not been used for long.
//!
//! Once a day it looks at all token secrets. One that was not used for [`Options::clean_up_period`] is first marked, so
//! that the API server refuses it, and deleted when the mark is that old too:
//!
//! ```text
//!   in use ──unused for the period──▶ marked invalid ──for the period──▶ deleted
//!      ▲                                    │
//!      └──────── a user takes the mark off ─┘
//! ```
//!
//! It does nothing before the API server has tracked uses for as long. The config map that says since when it does is read each
//! time. `verdict.rs` decides about a secret.
//!
//! Follows kubernetes v1.37.1 `pkg/controller/serviceaccount/legacy_serviceaccount_token_cleaner.go`.

mod cleaner;
mod evaluation;
mod labels;
mod verdict;

pub use cleaner::Stores;
pub use evaluation::EVALUATION;
pub use labels::{INVALID_SINCE_LABEL, LAST_USED_LABEL, TRACKED_SINCE_KEY, TRACKING_CONFIG_MAP};

use crate::clock::Clock;
use crate::controller::{Controller, Source};
use cleaner::Cleaner;
use evaluation::Evaluations;
use kube::Client;
use std::sync::Arc;
use std::time::Duration;

/// Default pause between evaluations (`DefaultCleanerSyncInterval`).
pub const SYNC_INTERVAL: Duration = Duration::from_secs(24 * 60 * 60);
/// Default time for which a token may be unused: 365 days.
pub const DEFAULT_CLEAN_UP_PERIOD: Duration = Duration::from_secs(8760 * 60 * 60);
/// The options of the controller (`LegacySATokenCleanerOptions`).
#[derive(Debug, Clone, Copy)]
pub struct Options {
    /// Time for which a token may be unused, and then for which it stays marked.
    pub clean_up_period: Duration,
    /// The pause between evaluations.
    pub sync_interval: Duration,
}

impl Default for Options {
    fn default() -> Self {
        Options { clean_up_period: DEFAULT_CLEAN_UP_PERIOD, sync_interval: SYNC_INTERVAL }
    }
}

/// An invalid option.
#[derive(Debug, thiserror::Error)]
pub enum OptionsError {
    /// The period is zero.
    #[error("invalid CleanUpPeriod: {0:?}")]
    CleanUpPeriod(Duration),
    /// The interval is zero.
    #[error("invalid SyncInterval: {0:?}")]
    SyncInterval(Duration),
}

/// The controller, which acts through `client` on the informers' objects by the time of `clock`.
///
/// # Errors
/// If an option is invalid.
pub fn controller(client: Client, stores: Stores, clock: Clock, options: Options) -> Result<Controller, OptionsError> {
    if options.clean_up_period.is_zero() {
        return Err(OptionsError::CleanUpPeriod(options.clean_up_period));
    }
    if options.sync_interval.is_zero() {
        return Err(OptionsError::SyncInterval(options.sync_interval));
    }
    let informers: Vec<Arc<dyn Source>> =
        vec![stores.service_accounts.clone(), stores.secrets.clone(), stores.pods.clone()];
    let cleaner = Cleaner { client: client.clone(), stores, clock, clean_up_period: options.clean_up_period };
    Ok(Controller::new(client, informers, vec![Box::new(Evaluations::new(cleaner, options.sync_interval))]))
}
