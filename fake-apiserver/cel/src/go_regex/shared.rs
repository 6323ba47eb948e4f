//! Expressions that were compiled lately, shared by all who use them: within bounds, as one definition may have a hundred thousand.

use super::expression::Expression;
use std::collections::HashMap;
use std::sync::{Arc, LazyLock, Mutex, MutexGuard, PoisonError};

/// The bytes of a generation.
const ROOM: usize = 32 << 20;

/// Two generations of expressions by their texts: when the current one is full, the previous one is dropped.
#[derive(Default)]
struct Shared {
    current: HashMap<Arc<str>, Arc<Expression>>,
    previous: HashMap<Arc<str>, Arc<Expression>>,
    bytes: usize,
}

/// The expression of a text, compiled by `compile`, unless that was done lately.
///
/// # Errors
/// Those of `compile`.
pub(super) fn get(text: &str, compile: impl FnOnce() -> Result<Expression, String>) -> Result<Arc<Expression>, String> {
    if let Some(known) = shared().get(text) {
        return Ok(known);
    }
    let compiled = Arc::new(compile()?);
    shared().insert(text.into(), compiled.clone());
    Ok(compiled)
}

fn shared() -> MutexGuard<'static, Shared> {
    static SHARED: LazyLock<Mutex<Shared>> = LazyLock::new(Mutex::default);
    SHARED.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Shared {
    fn get(&mut self, text: &str) -> Option<Arc<Expression>> {
        if let Some(known) = self.current.get(text) {
            return Some(known.clone());
        }
        let (text, known) = self.previous.remove_entry(text)?;
        self.insert(text, known.clone());
        Some(known)
    }

    fn insert(&mut self, text: Arc<str>, expression: Arc<Expression>) {
        let bytes = expression.bytes() + text.len();
        if self.bytes + bytes > ROOM {
            self.previous = std::mem::take(&mut self.current);
            self.bytes = 0;
        }
        if self.current.insert(text, expression).is_none() {
            self.bytes += bytes;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn expressions_are_forgotten_when_there_are_many() {
        let mut shared = Shared::default();
        let most = 2 * ROOM / Expression::new("a").unwrap().bytes();
        let compiled = Arc::new(Expression::new("a").unwrap());
        for number in 0..2 * most {
            shared.insert(number.to_string().into(), compiled.clone());
            assert!(shared.get("0").is_some(), "it is in use");
        }
        assert!(shared.current.len() + shared.previous.len() <= most);
        assert!(shared.get("1").is_none());
    }

    #[test]
    fn equal_expressions_are_compiled_once() {
        let first = get("shared [a-z]+", || Expression::new("a")).unwrap();
        let second = get("shared [a-z]+", || panic!("it is known")).unwrap();
        assert!(Arc::ptr_eq(&first, &second));
    }
}
