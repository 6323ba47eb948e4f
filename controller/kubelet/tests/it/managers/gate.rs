//! A client whose requests of one kind wait until a test lets them through.

use http::Request;
use kube::Client;
use kube::client::Body;
use tokio::sync::watch;
use tower::service_fn;

/// Where lists wait.
pub(crate) struct Gate {
    state: watch::Sender<State>,
}

#[derive(Default)]
struct State {
    open: bool,
    waiting: usize,
}

impl Gate {
    pub(crate) fn closed() -> Self {
        Gate { state: watch::Sender::default() }
    }

    /// Lets through who waits, and who comes later.
    pub(crate) fn open(&self) {
        self.state.send_modify(|state| state.open = true);
    }

    /// Waits until somebody waits.
    pub(crate) async fn waiting(&self) {
        self.state.subscribe().wait_for(|state| state.waiting > 0).await.expect("self holds the sender");
    }

    /// A client like `inner`, but for its lists.
    pub(crate) fn client(&self, inner: Client) -> Client {
        let gate = self.state.clone();
        let service = service_fn(move |request: Request<Body>| {
            let (gate, inner) = (gate.clone(), inner.clone());
            async move {
                let query = request.uri().query().unwrap_or_default();
                if query.contains("fieldSelector=") && !query.contains("watch=true") {
                    gate.send_modify(|state| state.waiting += 1);
                    gate.subscribe().wait_for(|state| state.open).await.expect("gate is the sender");
                    gate.send_modify(|state| state.waiting -= 1);
                }
                inner.send(request).await
            }
        });
        Client::new(service, "default")
    }
}
