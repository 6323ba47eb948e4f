//! The real tokens controller, in a kube-controller-manager of its own: of the emulated version, or of 1.25, the last one able to
//! create tokens for accounts without one, if it has to.

use crate::control_plane::cache::{TOKEN_GENERATING_VERSION, VERSION};
use crate::control_plane::manager::{self, Access, Invocation, Manager};
use crate::control_plane::sentinel::{ACCOUNT_NAME, Sentinel};
use crate::credentials::SIGNING_KEY;
use crate::subject::cluster::Cluster;
use crate::subject::controller::{Controller, TokenSettings};
use anyhow::{Context as _, Result, anyhow, bail, ensure};
use conformance_judge::history::Call;
use futures::future::BoxFuture;
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

/// Time for the controller to start; it takes a second unless the machine is busy.
const DEADLINE: Duration = Duration::from_secs(60);
/// The sentinel needs one worker a queue.
const ONE_WORKER: &str = "--concurrent-serviceaccount-token-syncs=1";
/// The flag with which 1.25 creates tokens for accounts without one.
const GENERATE: &str = "--feature-gates=LegacyServiceAccountTokenNoAutoGeneration=false";

/// The real tokens controller. Stopping it kills its process.
pub(crate) struct Real {
    user: String,
    /// Number of earlier calls of its user: a killed predecessor may have left one unfinished.
    calls_before: usize,
    manager: Manager,
    sentinel: Arc<Sentinel>,
}

impl Real {
    /// Starts it as `user` and waits until it works.
    ///
    /// # Errors
    /// If it was not built, does not start, or does not support the settings.
    pub(crate) async fn start(
        cluster: &dyn Cluster,
        user: &str,
        settings: TokenSettings,
        sentinel: Arc<Sentinel>,
        folder: &Path,
    ) -> Result<Real> {
        ensure!(settings.max_retries.is_none(), "kube-controller-manager has no flag for how often it tries again");
        let key = format!("--service-account-private-key-file={SIGNING_KEY}");
        let flags = [&key, ONE_WORKER, "--v=4", GENERATE];
        let (version, flags) = match settings.auto_generate {
            true => (TOKEN_GENERATING_VERSION, &flags[..]),
            false => (VERSION, &flags[..3]),
        };
        let invocation = Invocation {
            version,
            controllers: &["serviceaccount-token"],
            server: Access {
                url: &cluster.endpoints()[0].url,
                ca_pem: &cluster.ca_pem().context("it needs TLS")?,
                token: &cluster.token(user).with_context(|| format!("this target knows no user {user:?}"))?,
            },
            flags,
        };
        let calls_before = cluster.calls(user).await?.len();
        let manager = Manager::start(folder, &invocation)?;
        let works = tokio::time::timeout(DEADLINE, sentinel.pass()).await;
        works.map_err(|_| {
            let log = std::fs::read_to_string(manager::log(folder)).unwrap_or_default();
            anyhow!("kube-controller-manager {version} does not work after {DEADLINE:?}: {log}")
        })??;
        Ok(Real { user: user.to_owned(), calls_before, manager, sentinel })
    }
}

impl Controller for Real {
    /// It is quiet once the sentinel passes and no call was made meanwhile: without calls there are no events, hence no work.
    fn quiet<'a>(&'a self, cluster: &'a dyn Cluster) -> BoxFuture<'a, Result<()>> {
        Box::pin(async {
            let mut before = cluster.calls(&self.user).await?.len();
            loop {
                self.sentinel.pass().await?;
                let calls = cluster.calls(&self.user).await?;
                if calls.len() == before && !will_try_again(&calls[self.calls_before..]) {
                    return Ok(());
                }
                before = calls.len();
            }
        })
    }

    fn stop(self: Box<Self>) -> BoxFuture<'static, Result<()>> {
        Box::pin(self.manager.kill())
    }
}

/// Whether the last call for some account or secret failed with an error that the controller retries. It does so after a
/// delay, which the sentinel cannot detect.
fn will_try_again(calls: &[Call]) -> bool {
    let last: BTreeMap<String, u16> = calls.iter().map(|call| (subject(call), call.status)).collect();
    last.into_values().any(|status| status >= 400 && ![404, 409].contains(&status))
}

/// The object that a call is for: an account, if the call names one.
fn subject(call: &Call) -> String {
    match call.body["metadata"]["annotations"][ACCOUNT_NAME].as_str() {
        Some(account) => format!("serviceaccounts/{account}"),
        None => call.target.clone(),
    }
}

/// A controller that runs from the start of the cluster to its end. When it is quiet is not known.
pub(crate) struct AlwaysOn;

impl Controller for AlwaysOn {
    fn quiet<'a>(&'a self, _: &'a dyn Cluster) -> BoxFuture<'a, Result<()>> {
        Box::pin(async { bail!("nothing tells when this controller is quiet; wait for what it makes") })
    }

    fn stop(self: Box<Self>) -> BoxFuture<'static, Result<()>> {
        Box::pin(async { Ok(()) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    #[test]
    fn what_was_refused_is_tried_again_unless_that_was_an_answer() {
        let secret = json!({"metadata": {"annotations": {ACCOUNT_NAME: "a"}}});
        let call = |method: &str, target: &str, status, body: &Value| Call {
            user: "tokens".into(),
            method: method.into(),
            target: target.into(),
            status,
            body: body.clone(),
        };
        let get = |target, status| call("GET", target, status, &Value::Null);
        let post = |status| call("POST", "secrets", status, &secret);
        let (a, b) = ("serviceaccounts/a", "serviceaccounts/b");
        for (calls, expected) in [
            (vec![], false),
            (vec![get(a, 200), post(201)], false),
            (vec![get(a, 200), post(403)], true),
            (vec![get(a, 200), post(403), get(b, 200)], true),
            (vec![get(a, 200), post(403), get(a, 200)], false),
            (vec![get(a, 404)], false),
            (vec![get(a, 500), get(a, 404)], false),
            (vec![call("PUT", a, 409, &Value::Null)], false),
            (vec![call("DELETE", "secrets/x", 500, &Value::Null)], true),
        ] {
            assert_eq!(will_try_again(&calls), expected, "{calls:?}");
        }
    }
}
