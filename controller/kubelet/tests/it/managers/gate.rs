//! A client whose lists wait until a test lets them through.

use http::Request;
use kube::Client;
use kube::client::Body;
use tokio::sync::watch;
use tower::service_fn;

/// A gate that lists wait at.
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

    /// Lets all lists through, waiting and later ones.
    pub(crate) fn open(&self) {
        self.state.send_modify(|state| state.open = true);
    }

    /// Waits until a list waits.
    pub(crate) async fn waiting(&self) {
        self.state.subscribe().wait_for(|state| state.waiting > 0).await.expect("self holds the sender");
    }

    /// A client like `inner`, whose lists wait at the gate.
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
