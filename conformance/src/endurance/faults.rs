//! The fault rules: one of every kind.

use fake_apiserver::{Fault, On};
use std::time::Duration;

const MAPS: &str = "configmaps";

/// All rules.
pub(super) const FAULTS: &[fn() -> Fault] = &[
    || On::create(MAPS).status(503),
    || On::update(MAPS).status(500),
    || On::patch(MAPS).status(409),
    || On::delete(MAPS).status(504),
    || On::get(MAPS).status(429).retry_after(1),
    || On::list(MAPS).status(500),
    || On::watch(MAPS).status(429),
    || On::watch(MAPS).status(410).times(1000),
    || On::any().namespace("n-1").delay(Duration::from_millis(300)),
    || On::any().name("o-7").status(403),
    || On::any().user("admin").status(401).times(200),
    || On::any().user_agent_prefix("endurance").delay(Duration::from_millis(50)),
    || On::any().status(503).times(500),
    || On::update(MAPS).any_subresource().status(422),
];
