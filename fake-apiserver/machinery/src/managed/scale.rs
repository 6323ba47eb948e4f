//! The managers of a workload's replicas, as those of its scale, and back (`scalehandler.go` of
//! `k8s.io/apimachinery/pkg/util/managedfields`, v0.37.1).

use super::element::Element;
use super::managers::{Manager, Managers, Owned};
use super::set::Set;

/// The version of scales.
const SCALE: &str = "autoscaling/v1";

/// The place of the replicas in each version of a workload; none in versions without a scale.
pub(super) type Places = [(String, Option<Vec<Element>>)];

fn place<'p>(places: &'p Places, api_version: &str) -> Option<&'p Option<Vec<Element>>> {
    places.iter().find(|(version, _)| version == api_version).map(|(_, place)| place)
}

fn replicas() -> Set {
    Set::of_fields(&[&["spec", "replicas"]])
}

/// The managers of the scale of a workload with these managers.
pub fn of_scale(workload: &Managers, places: &Places) -> Managers {
    let owns = |owned: &Owned| matches!(place(places, &owned.api_version), Some(Some(path)) if owned.set.has(path));
    let scaled = workload.iter().filter(|(_, owned)| owns(owned)).map(|(manager, owned)| {
        let manager = Manager::new(&manager.name, manager.operation, SCALE, &manager.subresource);
        (manager, Owned { set: replicas(), api_version: SCALE.to_owned(), time: owned.time.clone() })
    });
    scaled.collect()
}

/// The managers of a workload whose scale, written in that version of the workload, has these managers.
pub fn of_workload(workload: &Managers, mut scale: Managers, places: &Places, api_version: &str) -> Managers {
    let mut result = Managers::new();
    for (manager, owned) in workload {
        let Some(path) = place(places, &owned.api_version) else { continue };
        let mut owned = owned.clone();
        if let Some(path) = path.as_ref().filter(|path| owned.set.has(path))
            && scale.remove(manager).is_none()
        {
            let mut taken = Set::default();
            taken.insert(path);
            owned.set = std::mem::take(&mut owned.set).difference(&taken);
        }
        if !owned.set.is_empty() {
            result.insert(manager.clone(), owned);
        }
    }
    let Some(Some(path)) = place(places, api_version) else { return result };
    let whole = [Element::field("spec"), Element::field("replicas")];
    // Until they are read again, a manager that updated the scale differs from one of the same name that updated the workload.
    for manager in scale.into_iter().filter(|(_, owned)| owned.set.has(&whole)).map(|(manager, _)| manager) {
        let mut set = Set::default();
        set.insert(path);
        // Upstream looks for the time of a manager of scales, which no workload has.
        result.insert(manager, Owned { set, api_version: api_version.to_owned(), time: None });
    }
    result
}
