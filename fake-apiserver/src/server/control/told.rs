//! The orders that a recording has: what was told, without the objects.

use control::Order;

/// The order as the recording has it; `None` of one that is noted where it is carried out, as the library can do that without an order.
pub(super) fn told(order: &Order) -> Option<Order> {
    match order {
        Order::AddFault(_)
        | Order::ReplaceFaults { .. }
        | Order::RemoveFault { .. }
        | Order::ClearFaults
        | Order::SetClock { .. }
        | Order::AdvanceClock { .. }
        | Order::Compact { .. }
        | Order::AddReplica { .. }
        | Order::Replica(_)
        | Order::Controller { .. } => None,
        Order::Import { snapshot, content } => {
            Some(Order::Import { snapshot: snapshot.clone(), content: elided(content) })
        }
        Order::Seed { objects } => Some(Order::Seed { objects: elided(objects) }),
        order => Some(order.clone()),
    }
}

/// The text that stands for objects, whose writes are recorded.
fn elided(objects: &str) -> String {
    format!("({} bytes)", objects.len())
}
