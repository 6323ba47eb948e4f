//! The way of a recommendation: it is held against those before it, the behavior and the bounds of the autoscaler.
//!
//! Ports `normalizeDesiredReplicas`, `normalizeDesiredReplicasWithBehaviors` and what they call, of `horizontal.go` (v1.37.1).

use crate::workloads::facts::read;
use jiff::Timestamp;
use tree::Value;

/// How long high recommendations are remembered: `--horizontal-pod-autoscaler-downscale-stabilization`.
const STABILIZATION: i64 = 5 * 60;
const MOST: i64 = i32::MAX as i64;
const LEAST: i64 = i32::MIN as i64;

/// The history of an autoscaler: its recommendations and its steps.
#[derive(Debug, Default)]
pub(super) struct History {
    recommendations: Vec<(i64, Timestamp)>,
    ups: Vec<(i64, Timestamp)>,
    downs: Vec<(i64, Timestamp)>,
    /// The reason of the last change of the size.
    pub(super) reason: String,
}

/// A recommendation, with what bounds it.
pub(super) struct Normal<'a> {
    pub(super) behavior: Option<&'a Value>,
    pub(super) least: i64,
    pub(super) most: i64,
    pub(super) current: i64,
    pub(super) desired: i64,
    pub(super) now: Timestamp,
}

/// The outcome of it.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Limited {
    pub(super) replicas: i64,
    /// The reason and message of the condition `AbleToScale`.
    pub(super) able: (&'static str, &'static str),
    /// Whether it was limited, and the reason and message for that.
    pub(super) limited: (bool, &'static str, &'static str),
}

const READY: (&str, &str) = ("ReadyForNewScale", "recommended size matches current size");
const DOWN_STABILIZED: (&str, &str) = (
    "ScaleDownStabilized",
    "recent recommendations were higher than current one, applying the highest recent recommendation",
);
const UP_STABILIZED: (&str, &str) = (
    "ScaleUpStabilized",
    "recent recommendations were lower than current one, applying the lowest recent recommendation",
);
const WITHIN: (&str, &str) = ("DesiredWithinRange", "the desired count is within the acceptable range");
const TOO_FEW: (&str, &str) = ("TooFewReplicas", "the desired replica count is less than the minimum replica count");
const TOO_MANY: (&str, &str) = ("TooManyReplicas", "the desired replica count is more than the maximum replica count");
const UP_LIMIT: (&str, &str) =
    ("ScaleUpLimit", "the desired replica count is increasing faster than the maximum scale rate");
const DOWN_LIMIT: (&str, &str) =
    ("ScaleDownLimit", "the desired replica count is decreasing faster than the maximum scale rate");

/// Puts what is new in the place of the last one that is too old, or behind all.
fn remember(list: &mut Vec<(i64, Timestamp)>, new: (i64, Timestamp), is_old: impl Fn(Timestamp) -> bool) {
    match list.iter().rposition(|(_, at)| is_old(*at)) {
        Some(index) => list[index] = new,
        None => list.push(new),
    }
}

impl History {
    /// Begins with the present size.
    pub(super) fn begin(&mut self, current: i64, now: Timestamp) {
        if self.recommendations.is_empty() {
            self.recommendations.push((current, now));
        }
    }

    /// The recommendation as it may be followed now.
    pub(super) fn normalize(&mut self, normal: &Normal<'_>) -> Limited {
        let (stabilized, reason) = match normal.behavior {
            None => self.stabilized(normal),
            Some(behavior) => self.stabilized_by(behavior, normal),
        };
        let able = if stabilized == normal.desired { READY } else { reason };
        let wanted = Normal { desired: stabilized, ..*normal };
        let (replicas, (why, message)) = match normal.behavior {
            None => wanted.bounded(),
            Some(behavior) => self.bounded_by(behavior, &wanted),
        };
        Limited { replicas, able, limited: (replicas != stabilized, why, message) }
    }

    /// `stabilizeRecommendation`
    fn stabilized(&mut self, normal: &Normal<'_>) -> (i64, (&'static str, &'static str)) {
        let cutoff = read::after(normal.now, -STABILIZATION);
        let recent = self.recommendations.iter().filter(|(_, at)| *at >= cutoff).map(|(size, _)| *size);
        let highest = recent.chain([normal.desired]).max().unwrap_or(normal.desired);
        remember(&mut self.recommendations, (normal.desired, normal.now), |at| at < cutoff);
        (highest, DOWN_STABILIZED)
    }

    /// `stabilizeRecommendationWithBehaviors`
    fn stabilized_by(&mut self, behavior: &Value, normal: &Normal<'_>) -> (i64, (&'static str, &'static str)) {
        let window = |at: &str, default: i64| read::number(behavior, at).unwrap_or(default);
        let up = read::after(normal.now, -window("/scaleUp/stabilizationWindowSeconds", 0));
        let down = read::after(normal.now, -window("/scaleDown/stabilizationWindowSeconds", STABILIZATION));
        let since = |cutoff: Timestamp| {
            let all = self.recommendations.iter().filter(move |(_, at)| *at > cutoff).map(|(size, _)| *size);
            all.chain([normal.desired])
        };
        let lowest = since(up).min().unwrap_or(normal.desired);
        let highest = since(down).max().unwrap_or(normal.desired);
        let stabilized = normal.current.max(lowest).min(highest);
        remember(&mut self.recommendations, (normal.desired, normal.now), |at| at < up && at < down);
        let reason = if normal.desired >= normal.current { UP_STABILIZED } else { DOWN_STABILIZED };
        (stabilized, reason)
    }

    /// `convertDesiredReplicasWithBehaviorRate`
    fn bounded_by(&self, behavior: &Value, normal: &Normal<'_>) -> (i64, (&'static str, &'static str)) {
        let Normal { least, most, current, desired, .. } = *normal;
        if desired > current {
            let limit = self.limit(&behavior["scaleUp"], normal, true).max(current);
            let (bound, why) = if most > limit { (limit, UP_LIMIT) } else { (most, TOO_MANY) };
            return if desired > bound { (bound, why) } else { (desired, WITHIN) };
        }
        if desired < current {
            let limit = self.limit(&behavior["scaleDown"], normal, false).min(current);
            let (bound, why) = if least < limit { (limit, DOWN_LIMIT) } else { (least, TOO_FEW) };
            return if desired < bound { (bound, why) } else { (desired, WITHIN) };
        }
        (desired, WITHIN)
    }

    /// The number of replicas that the policies allow (`calculateScaleUpLimitWithScalingRules`, `calculateScaleDownLimitWithBehaviors`).
    fn limit(&self, rules: &Value, normal: &Normal<'_>, up: bool) -> i64 {
        let select = read::text(rules, "/selectPolicy");
        if select == "Disabled" {
            return normal.current;
        }
        let policies = read::list(rules, "/policies").iter().map(|policy| {
            let period = read::int(policy, "/periodSeconds");
            let start =
                normal.current - changed(&self.ups, period, normal.now) + changed(&self.downs, period, normal.now);
            let value = read::int(policy, "/value");
            match (read::text(policy, "/type"), up) {
                ("Pods", true) => start.saturating_add(value),
                ("Pods", false) => start.saturating_sub(value),
                (_, true) => (start as f64 * (1.0 + value as f64 / 100.0)).ceil() as i64,
                (_, false) => (start as f64 * (1.0 - value as f64 / 100.0)) as i64,
            }
        });
        // The smallest change is the lowest number upwards, and the highest downwards.
        match (select == "Min") == up {
            true => policies.min().unwrap_or(MOST),
            false => policies.max().unwrap_or(LEAST),
        }
    }

    /// Takes note of a change of the size (`storeScaleEvent`).
    pub(super) fn scaled(&mut self, behavior: Option<&Value>, from: i64, to: i64, now: Timestamp) {
        let Some(behavior) = behavior else { return };
        let (list, rules) = match to > from {
            true => (&mut self.ups, &behavior["scaleUp"]),
            false => (&mut self.downs, &behavior["scaleDown"]),
        };
        let periods = read::list(rules, "/policies").iter().map(|policy| read::int(policy, "/periodSeconds"));
        let cutoff = read::after(now, -periods.max().unwrap_or_default());
        remember(list, ((to - from).abs(), now), |at| at < cutoff);
    }
}

/// By how much the size has changed within a period (`getReplicasChangePerPeriod`).
fn changed(list: &[(i64, Timestamp)], period: i64, now: Timestamp) -> i64 {
    let cutoff = read::after(now, -period);
    list.iter().filter(|(_, at)| *at > cutoff).map(|(change, _)| change).sum()
}

impl Normal<'_> {
    /// `convertDesiredReplicasWithRules`
    fn bounded(&self) -> (i64, (&'static str, &'static str)) {
        let limit = self.current.saturating_mul(2).max(4);
        let (bound, why) = if self.most > limit { (limit, UP_LIMIT) } else { (self.most, TOO_MANY) };
        match self.desired {
            few if few < self.least => (self.least, TOO_FEW),
            many if many > bound => (bound, why),
            desired => (desired, WITHIN),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tree::json;

    fn at(seconds: i64) -> Timestamp {
        Timestamp::from_second(seconds).unwrap()
    }

    fn normal(behavior: Option<&Value>, current: i64, desired: i64, seconds: i64) -> Normal<'_> {
        Normal { behavior, least: 1, most: 20, current, desired, now: at(seconds) }
    }

    #[test]
    fn the_highest_recommendation_of_five_minutes_counts() {
        let mut history = History::default();
        history.begin(5, at(1000));
        let limited = history.normalize(&normal(None, 5, 2, 1015));
        assert_eq!(
            (limited.replicas, limited.able.0, limited.limited.1),
            (5, "ScaleDownStabilized", "DesiredWithinRange")
        );
        let limited = history.normalize(&normal(None, 5, 2, 1301));
        assert_eq!((limited.replicas, limited.able.0), (2, "ReadyForNewScale"));
    }

    #[test]
    fn it_doubles_at_most() {
        let mut history = History::default();
        history.begin(3, at(1000));
        let limited = history.normalize(&normal(None, 3, 15, 1000));
        assert_eq!((limited.replicas, limited.limited.0, limited.limited.1), (6, true, "ScaleUpLimit"));
        let limited = history.normalize(&normal(None, 12, 30, 1000));
        assert_eq!((limited.replicas, limited.limited.1), (20, "TooManyReplicas"));
    }

    #[test]
    fn a_behavior_limits_the_rate() {
        let policy = |kind: &str, value: i64| json!({"type": kind, "value": value, "periodSeconds": 60});
        let behavior = json!({
            "scaleUp": {"stabilizationWindowSeconds": 0, "selectPolicy": "Max", "policies": [policy("Pods", 2), policy("Percent", 10)]},
            "scaleDown": {"stabilizationWindowSeconds": 0, "selectPolicy": "Disabled", "policies": [policy("Pods", 2)]},
        });
        let behavior = Some(&behavior);
        let mut history = History::default();
        history.begin(5, at(1000));
        let limited = history.normalize(&normal(behavior, 5, 12, 1000));
        assert_eq!((limited.replicas, limited.limited.1), (7, "ScaleUpLimit"));
        history.scaled(behavior, 5, 7, at(1000));
        assert_eq!(history.normalize(&normal(behavior, 7, 12, 1015)).replicas, 7, "not more within the minute");
        assert_eq!(history.normalize(&normal(behavior, 7, 12, 1061)).replicas, 9);
        let limited = history.normalize(&normal(behavior, 9, 3, 1100));
        assert_eq!((limited.replicas, limited.limited.1), (9, "ScaleDownLimit"));
    }
}
