//! The answers of the stand-in for etcd on a connection.

use super::states::{Claim, PATH, States, Taken};
use bytes::Bytes;
use http::{HeaderValue, Method, Request, Response, StatusCode, header};
use http_body_util::{BodyExt as _, Full};
use hyper::body::Incoming;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

/// The version that clients are told: the one that kube-apiserver 1.37 is tested with.
pub(super) const VERSION: &str = "3.6.5";
const TEXT: &str = "text/plain; charset=utf-8";
const JSON: &str = "application/json";

/// A connection, with the states that it has claimed.
pub(super) struct Session {
    states: Arc<States>,
    /// By prefix. They are given up when the connection ends, as it does with the process at its other end.
    claims: Mutex<BTreeMap<String, Claim>>,
}

impl Session {
    pub(super) fn new(states: Arc<States>) -> Session {
        Session { states, claims: Mutex::default() }
    }

    pub(super) async fn answer(&self, request: Request<Incoming>) -> Response<Full<Bytes>> {
        let is_grpc = |value: &HeaderValue| value.as_bytes().starts_with(b"application/grpc");
        if request.headers().get(header::CONTENT_TYPE).is_some_and(is_grpc) {
            return unimplemented();
        }
        match request.uri().path() {
            "/health" => whole(StatusCode::OK, JSON, r#"{"health":"true","reason":""}"#),
            "/livez" | "/readyz" => whole(StatusCode::OK, TEXT, "ok\n"),
            "/version" => {
                let version = format!(r#"{{"etcdserver":"{VERSION}","etcdcluster":"3.6.0","storage":"3.6.0"}}"#);
                whole(StatusCode::OK, JSON, version)
            }
            "/metrics" => {
                whole(StatusCode::OK, TEXT, "# TYPE etcd_server_has_leader gauge\netcd_server_has_leader 1\n")
            }
            PATH => self.state(request).await,
            _ => whole(StatusCode::NOT_FOUND, TEXT, "404 page not found\n"),
        }
    }

    /// `POST` claims the state of a prefix and returns it, `PUT` replaces it.
    async fn state(&self, request: Request<Incoming>) -> Response<Full<Bytes>> {
        let prefix = request.uri().query().unwrap_or_default().to_owned();
        match *request.method() {
            Method::POST => match self.states.claim(&prefix) {
                Ok(claim) => {
                    let state = claim.state();
                    self.claims().insert(prefix, claim);
                    whole(StatusCode::OK, TEXT, state.unwrap_or_default())
                }
                Err(Taken) => whole(StatusCode::CONFLICT, TEXT, "another API server has it\n"),
            },
            Method::PUT => {
                let Ok(state) = request.into_body().collect().await else {
                    return whole(StatusCode::BAD_REQUEST, TEXT, "the state is not whole\n");
                };
                match self.claims().get(&prefix) {
                    Some(claim) => {
                        claim.keep(state.to_bytes());
                        whole(StatusCode::OK, TEXT, "")
                    }
                    None => whole(StatusCode::CONFLICT, TEXT, "it has to be claimed first\n"),
                }
            }
            _ => whole(StatusCode::METHOD_NOT_ALLOWED, TEXT, "it is claimed by POST, replaced by PUT\n"),
        }
    }

    fn claims(&self) -> std::sync::MutexGuard<'_, BTreeMap<String, Claim>> {
        self.claims.lock().expect("no code that runs under this lock panics")
    }
}

fn whole(status: StatusCode, kind: &'static str, text: impl Into<Bytes>) -> Response<Full<Bytes>> {
    let mut response = Response::new(Full::from(text.into()));
    *response.status_mut() = status;
    response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static(kind));
    response
}

/// To those who need etcd itself.
fn unimplemented() -> Response<Full<Bytes>> {
    let mut response = Response::new(Full::default());
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/grpc"));
    // UNIMPLEMENTED.
    headers.insert("grpc-status", HeaderValue::from_static("12"));
    headers.insert("grpc-message", HeaderValue::from_static("this stands in for etcd and has no keys"));
    response
}
