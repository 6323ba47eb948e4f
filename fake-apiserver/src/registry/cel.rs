//! The environment of the expressions in built-in kinds.

use kubernetes_cel::Environment;
use std::sync::LazyLock;

/// The environment, which does not change, and is costly to make.
pub(crate) static ENVIRONMENT: LazyLock<Environment> = LazyLock::new(Environment::new);
