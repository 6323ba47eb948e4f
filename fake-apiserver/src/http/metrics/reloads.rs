//! The metrics about reloads of configurations.

use super::families::{Families, Kind};
use crate::http::replica::Replica;
use crate::reconcile::server_id;
use crate::reloads::{Subject, Told, hash_of};

/// The families about a kind of configurations: the beginning of their names, and their helps.
struct Names {
    prefix: &'static str,
    times: &'static str,
    numbers: &'static str,
    info: &'static str,
    is_of: fn(Subject) -> bool,
}

const ALL: [Names; 3] = [
    Names {
        prefix: "apiserver_authentication_config_controller",
        times: "[BETA] Timestamp of the last automatic reload of authentication configuration split by status and apiserver identity.",
        numbers: "[BETA] Total number of automatic reloads of authentication configuration split by status and apiserver identity.",
        info: "[ALPHA] Information about the last applied authentication configuration with hash as label, split by apiserver identity.",
        is_of: |subject| subject == Subject::Authentication,
    },
    Names {
        prefix: "apiserver_authorization_config_controller",
        times: "[BETA] Timestamp of the last automatic reload of authorization configuration split by status and apiserver identity.",
        numbers: "[BETA] Total number of automatic reloads of authorization configuration split by status and apiserver identity.",
        info: "[ALPHA] Information about the last applied authorization configuration with hash as label, split by apiserver identity.",
        is_of: |subject| subject == Subject::Authorization,
    },
    Names {
        prefix: "apiserver_manifest_admission_config_controller",
        times: "[ALPHA] Timestamp of the last automatic reload of admission manifest configuration split by status, plugin, and apiserver identity.",
        numbers: "[ALPHA] Total number of automatic reloads of admission manifest configuration split by status, plugin, and apiserver identity.",
        info: "[ALPHA] Information about the last applied admission manifest configuration with hash as label, split by plugin and apiserver identity.",
        is_of: |subject| matches!(subject, Subject::Manifests(_)),
    },
];

/// The labels of a value, sorted: the server, what is told, the plugin, and the status.
fn labels<'l>(
    server: &'l str,
    hash: Option<&'l str>,
    plugin: Option<&'l str>,
    status: Option<&'l str>,
) -> Vec<(&'static str, &'l str)> {
    let all = [("apiserver_id_hash", Some(server)), ("hash", hash), ("plugin", plugin), ("status", status)];
    all.into_iter().filter_map(|(label, value)| Some((label, value?))).collect()
}

/// Adds the families of all configurations that are reloaded.
pub(super) fn write(families: &mut Families, replica: &Replica) {
    let server = hash_of(server_id(replica.index).as_bytes());
    for Names { prefix, times, numbers, info, is_of } in ALL {
        let own = replica.cluster.policy.reloads.iter().filter(|reloads| is_of(reloads.subject));
        let mut told: Vec<(Option<&str>, Told)> =
            own.map(|reloads| (reloads.subject.plugin(), reloads.told())).collect();
        told.sort_by_key(|(plugin, _)| *plugin);
        let by_status = || {
            let of = |(plugin, told): &(Option<&'static str>, Told)| {
                [("failure", *plugin, told.failed), ("success", *plugin, told.succeeded)]
            };
            told.iter().flat_map(of).filter_map(|(status, plugin, times)| Some((status, plugin, times, times.last?)))
        };
        families.family(&format!("{prefix}_automatic_reload_last_timestamp_seconds"), times, Kind::Gauge);
        for (status, plugin, _, last) in by_status() {
            families.sample(&labels(&server, None, plugin, Some(status)), last.as_duration().as_secs_f64());
        }
        families.family(&format!("{prefix}_automatic_reloads_total"), numbers, Kind::Counter);
        for (status, plugin, times, _) in by_status() {
            families.sample(&labels(&server, None, plugin, Some(status)), times.number as f64);
        }
        families.family(&format!("{prefix}_last_config_info"), info, Kind::Gauge);
        for (plugin, told) in &told {
            families.sample(&labels(&server, Some(&told.hash), *plugin, None), 1.0);
        }
    }
}
