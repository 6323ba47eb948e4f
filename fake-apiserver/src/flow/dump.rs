//! The state of levels, queues and waiting requests as tables for people, at `/debug/api_priority_and_fairness/`.
//!
//! Follows `pkg/util/flowcontrol/apf_controller_debug.go` of `k8s.io/apiserver` (v0.37.1) and Go's `text/tabwriter`. Requests that have seats
//! are counted, not listed; of a level with more than ten thousand queues, those that nobody is in are left out.

use super::level::LevelState;
use super::queues::printed;
use std::collections::BTreeMap;

/// The beginning of the paths.
const PATHS: &str = "/debug/api_priority_and_fairness/";
/// The least width of a column, and what is between two.
const LEAST: usize = 8;
const PADDING: usize = 1;
/// The most queues of a level that are listed though nobody is in them.
const MOST: u32 = 10_000;
/// The time of those who have not begun.
const NEVER: &str = "0001-01-01T00:00:00Z";

/// The page at that path, if there is one, about these levels by name.
pub(crate) fn dump(
    path: &str,
    has_details: bool,
    levels: impl FnOnce() -> Vec<(Box<str>, LevelState)>,
) -> Option<String> {
    let rows = match path.strip_prefix(PATHS)? {
        "dump_priority_levels" => of_levels(&levels()),
        "dump_queues" => of_queues(&levels()),
        "dump_requests" => of_requests(&levels(), has_details),
        _ => return None,
    };
    Some(table(&rows))
}

fn row<const N: usize>(cells: [&str; N]) -> Vec<String> {
    cells.map(str::to_owned).into()
}

fn of_levels(levels: &[(Box<str>, LevelState)]) -> Vec<Vec<String>> {
    let heads = row([
        "PriorityLevelName",
        "ActiveQueues",
        "IsIdle",
        "IsQuiescing",
        "WaitingRequests",
        "ExecutingRequests",
        "DispatchedRequests",
        "RejectedRequests",
        "TimedoutRequests",
        "CancelledRequests",
    ]);
    let of_level = |(name, state): &(Box<str>, LevelState)| {
        let active = state.queues.values().filter(|queue| !queue.waiting.is_empty()).count();
        vec![
            name.to_string(),
            active.to_string(),
            state.is_idle.to_string(),
            state.is_quiescing.to_string(),
            state.waiting.to_string(),
            state.executing.to_string(),
            state.dispatched.to_string(),
            state.rejected.to_string(),
            // Upstream counts none of these.
            "0".to_owned(),
            state.cancelled.to_string(),
        ]
    };
    std::iter::once(heads).chain(levels.iter().map(of_level)).collect()
}

fn of_queues(levels: &[(Box<str>, LevelState)]) -> Vec<Vec<String>> {
    let mut rows = vec![row([
        "PriorityLevelName",
        "Index",
        "PendingRequests",
        "ExecutingRequests",
        "SeatsInUse",
        "NextDispatchR",
        "InitialSeatsSum",
        "MaxSeatsSum",
        "TotalWorkSum",
    ])];
    for (name, state) in levels {
        let idle = state.queuing.map_or(0, |queuing| queuing.queues);
        let mut all: BTreeMap<u32, Vec<String>> = BTreeMap::new();
        for index in 0..if idle > MOST { 0 } else { idle } {
            let cells = ["0", "0", "0", "0.00000000ss", "0", "0", "0.00000000ss"];
            all.insert(index, cells.map(str::to_owned).into());
        }
        for (index, queue) in &state.queues {
            let counts = [queue.waiting.len(), queue.executing, queue.seats].map(|count| count.to_string());
            let seats = [queue.waiting_seats, queue.waiting_seats].map(|count| count.to_string());
            let cells = counts.into_iter().chain([printed(queue.next)]).chain(seats).chain([printed(queue.work)]);
            all.insert(*index, cells.collect());
        }
        rows.extend(all.into_iter().map(|(index, cells)| [vec![name.to_string(), index.to_string()], cells].concat()));
    }
    rows
}

fn of_requests(levels: &[(Box<str>, LevelState)], has_details: bool) -> Vec<Vec<String>> {
    let heads = [
        "PriorityLevelName",
        "FlowSchemaName",
        "QueueIndex",
        "RequestIndexInQueue",
        "FlowDistingsher",
        "ArriveTime",
        "InitialSeats",
        "FinalSeats",
        "AdditionalLatency",
        "StartTime",
    ];
    let of_details = ["UserName", "Verb", "APIPath", "Namespace", "Name", "APIVersion", "Resource", "SubResource"];
    let details = |cells: [&str; 8]| if has_details { row(cells) } else { Vec::new() };
    let mut rows = vec![[row(heads), details(of_details)].concat()];
    for (name, state) in levels {
        for (index, queue) in &state.queues {
            let waiting = queue.waiting.iter().filter_map(|id| state.about.get(id));
            for (place, about) in waiting.enumerate() {
                let numbers = [index.to_string(), place.to_string(), about.seats.to_string()];
                let [index, place, seats] = numbers.each_ref().map(String::as_str);
                let own = [
                    &**name,
                    &*about.schema,
                    index,
                    place,
                    &*about.distinguisher,
                    &*about.arrived,
                    seats,
                    "0",
                    "0s",
                    NEVER,
                ];
                let rest = [
                    &*about.user,
                    &*about.verb,
                    &*about.path,
                    &*about.namespace,
                    &*about.name,
                    &*about.api_version,
                    &*about.resource,
                    &*about.subresource,
                ];
                rows.push([row(own), details(rest)].concat());
            }
        }
    }
    rows
}

/// The rows with a comma behind all cells but the last, in columns of equal widths.
fn table(rows: &[Vec<String>]) -> String {
    let columns = rows.first().map_or(0, Vec::len);
    let width = |column: usize| {
        let cells = rows.iter().filter_map(|row| row.get(column));
        cells.map(|cell| cell.chars().count() + 1 + PADDING).max().unwrap_or_default().max(LEAST)
    };
    let widths: Vec<usize> = (0..columns.saturating_sub(1)).map(width).collect();
    let line = |row: &Vec<String>| {
        let cells = row.iter().enumerate().map(|(column, cell)| match widths.get(column) {
            Some(width) => format!("{:<width$}", format!("{cell},")),
            None => format!("{cell}\n"),
        });
        cells.collect::<String>()
    };
    rows.iter().map(line).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_as_wide_as_go_makes_them() {
        let rows = [row(["PriorityLevelName", "Index", "Last"]), row(["a", "12345678", "b"])];
        assert_eq!(table(&rows), "PriorityLevelName, Index,    Last\na,                 12345678, b\n");
        assert_eq!(table(&[row(["a", "b"])]), "a,      b\n");
    }
}
