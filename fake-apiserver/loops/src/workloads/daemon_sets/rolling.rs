//! The rolling update of a daemon set (`rollingUpdate` of `pkg/controller/daemon/update.go`, v1.37.1).

use super::super::facts::pods;
use super::nodes;
use super::pass::Pass;
use machinery::object::meta;
use std::collections::BTreeMap;
use tree::Value;

/// The nodes that get a pod, and the pods that go.
type Steps<'v> = (Vec<String>, Vec<&'v Value>);

impl<'v> Pass<'v> {
    pub(super) fn roll(&self) -> Steps<'v> {
        let mut on_node = self.on_node.clone();
        let mut wanted = 0;
        for node in self.nodes.iter().filter(|node| nodes::runs(self.set, node).0) {
            wanted += 1;
            on_node.entry(meta::name(node).to_owned()).or_default();
        }
        match self.limits(wanted) {
            (0, unavailable) => (Vec::new(), self.replace(&on_node, unavailable)),
            (surge, _) => self.surge(&on_node, surge, wanted),
        }
    }

    /// The pod of the present template and the other one on a node; `None` if there are more.
    fn pair(&self, pods: &[&'v Value]) -> Option<(Option<&'v Value>, Option<&'v Value>)> {
        let (mut new, mut old) = (None, None);
        for pod in pods.iter().copied().filter(|pod| !pods::is_going(pod)) {
            let place = if self.is_updated(pod) { &mut new } else { &mut old };
            if place.replace(pod).is_some() {
                return None;
            }
        }
        Some((new, old))
    }

    /// Old pods that are not available go, and so many of the others.
    fn replace(&self, on_node: &BTreeMap<String, Vec<&'v Value>>, most: i64) -> Vec<&'v Value> {
        let (mut unavailable, mut gone, mut candidates) = (0, Vec::new(), Vec::new());
        for pods in on_node.values() {
            match self.pair(pods) {
                None | Some((None, None) | (Some(_), Some(_))) => unavailable += 1,
                Some((Some(new), None)) => unavailable += i64::from(!self.is_available(new)),
                Some((None, Some(old))) if !self.is_available(old) => {
                    gone.push(old);
                    unavailable += 1;
                }
                Some((None, Some(old))) => candidates.push(old),
            }
        }
        let left = usize::try_from(most - unavailable).unwrap_or_default();
        gone.extend(candidates.into_iter().take(left));
        gone
    }

    /// New pods run beside the old ones, which go once those are available.
    fn surge(&self, on_node: &BTreeMap<String, Vec<&'v Value>>, most: i64, wanted: i64) -> Steps<'v> {
        let (mut surging, mut available) = (0, 0);
        let (mut gone, mut misplaced, mut allowed, mut candidates) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        for (name, pods) in on_node {
            let Some((new, old)) = self.pair(pods) else {
                surging += 1;
                continue;
            };
            available += i64::from(old.or(new).is_some_and(|pod| self.is_available(pod)));
            let runs = || {
                let node = self.nodes.iter().find(|node| meta::name(node) == name);
                node.is_some_and(|node| nodes::runs(self.set, node).0)
            };
            match (new, old) {
                (_, None) => {}
                (None, Some(old)) => match (self.is_available(old), runs()) {
                    (false, false) => gone.push(old),
                    (false, true) => allowed.push(name.clone()),
                    (true, false) => misplaced.push(old),
                    (true, true) => candidates.push(name.clone()),
                },
                (Some(new), Some(_)) if !self.is_available(new) => surging += 1,
                (Some(_), Some(old)) => gone.push(old),
            }
        }
        let count = |left: i64| usize::try_from(left).unwrap_or_default();
        gone.extend(misplaced.into_iter().take(count(available - wanted)));
        allowed.extend(candidates.into_iter().take(count(most - surging)));
        (allowed, gone)
    }
}
