//! The variables of a policy, which are computed when an expression reads them.
//!
//! Follows `pkg/admission/plugin/cel/composition.go` and `pkg/cel/lazy` of `k8s.io/apiserver` (v0.37.1).

use crate::deadline::Deadline;
use crate::registry::expressions::{Code, VARIABLES_TYPE};
use crate::schema::quote;
use kubernetes_cel::{Bindings, Budget, Computed, EvalError, Map, Outcome, PER_CALL_LIMIT, Value};
use std::collections::{BTreeMap, HashMap};
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError, Weak};

/// The variables that may read each other in a row. Go has no limit but its memory.
const MAX_DEPTH: usize = 200;
/// The variables in a row that any stack has room for.
const SHALLOW: usize = 8;

/// Compiled variables by name: the code of each, or the message of the error that it does not compile with.
pub(super) type Compiled = BTreeMap<String, Result<Code, String>>;

/// The variables in a round of evaluations.
pub(super) struct Variables {
    this: Weak<Variables>,
    compiled: Arc<Compiled>,
    bindings: Bindings,
    deadline: Deadline,
    /// The values known so far.
    values: Mutex<HashMap<String, Outcome>>,
    /// The number of variables that are being computed.
    depth: AtomicUsize,
    /// The cost since it was last asked for.
    cost: AtomicU64,
}

impl Variables {
    /// The variables, whose expressions can name those of `bindings`, too.
    pub(super) fn new(compiled: Arc<Compiled>, bindings: Bindings, deadline: &Deadline) -> Arc<Variables> {
        Arc::new_cyclic(|this| Variables {
            this: this.clone(),
            compiled,
            bindings,
            deadline: deadline.clone(),
            values: Mutex::default(),
            depth: AtomicUsize::new(0),
            cost: AtomicU64::new(0),
        })
    }

    /// The cost of all variables that were computed since the last call.
    pub(super) fn take_cost(&self) -> u64 {
        self.cost.swap(0, Ordering::Relaxed)
    }

    fn compute(&self, name: &str, code: &Result<Code, String>) -> Outcome {
        let name = quote(name);
        let fail = |message: String| Err(EvalError::Failed(message.into()));
        let code = match code {
            Ok(code) => code,
            Err(error) => return fail(format!("composited variable {name} fails to compile: {error}")),
        };
        let depth = self.depth.fetch_add(1, Ordering::Relaxed);
        if depth >= MAX_DEPTH {
            self.depth.fetch_sub(1, Ordering::Relaxed);
            return fail(format!(
                "composited variable {name} fails to evaluate: more than {MAX_DEPTH} variables in a row"
            ));
        }
        let mut bindings = self.bindings.clone();
        if let Some(this) = self.this.upgrade() {
            bindings.set("variables", Value::Map(Map::Computed(this)));
        }
        let interrupt = || self.deadline.check().is_err();
        let mut budget = Budget::new(PER_CALL_LIMIT).interrupted_by(&interrupt);
        let value = match depth {
            _ if interrupt() => Err(EvalError::Interrupted),
            SHALLOW => code.program.evaluate_within(&bindings, &mut budget),
            _ => code.program.evaluate(&bindings, &mut budget),
        };
        self.depth.fetch_sub(1, Ordering::Relaxed);
        self.cost.fetch_add(budget.cost(), Ordering::Relaxed);
        match value {
            Err(EvalError::Interrupted) => Err(EvalError::Interrupted),
            Err(error) => fail(format!("composited variable {name} fails to evaluate: {error}")),
            value => value,
        }
    }
}

impl Computed for Variables {
    fn type_name(&self) -> &str {
        VARIABLES_TYPE
    }

    fn names(&self) -> Vec<&str> {
        self.compiled.keys().map(String::as_str).collect()
    }

    fn field(&self, name: &str) -> Option<Outcome> {
        let code = self.compiled.get(name)?;
        let values = || self.values.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(value) = values().get(name) {
            return Some(value.clone());
        }
        let value = self.compute(name, code);
        values().insert(name.to_owned(), value.clone());
        Some(value)
    }
}

impl std::fmt::Debug for Variables {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Variables").field("names", &self.names()).finish_non_exhaustive()
    }
}
