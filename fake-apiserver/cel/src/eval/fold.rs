//! Comprehensions: the variables that they add, and the rounds that they make.

use super::{CHECK_FREQUENCY, Run};
use crate::ast::ACCUMULATOR;
use crate::plan::Fold;
use crate::value::{EvalError, Outcome, Value, fail};

/// The variables of a comprehension under way.
pub(super) struct Frame<'a> {
    fold: &'a Fold,
    parent: Option<usize>,
    /// The accumulator, from when it is first looked at.
    accu: Option<Outcome>,
    var: Value,
    var2: Value,
    /// Only the accumulator is there.
    has_ended: bool,
}

impl<'a> Run<'a> {
    /// A variable of a comprehension, the innermost first.
    pub(super) fn lookup_local(&mut self, name: &str) -> Option<Outcome> {
        let mut at = self.current;
        while let Some(i) = at {
            let frame = &self.frames[i];
            let fold = frame.fold;
            if name == fold.accu {
                return Some(self.accumulator(i));
            }
            if !frame.has_ended {
                if name == fold.var {
                    return Some(Ok(frame.var.clone()));
                }
                if fold.var2.as_deref() == Some(name) {
                    return Some(Ok(frame.var2.clone()));
                }
            }
            at = frame.parent;
        }
        None
    }

    fn accumulator(&mut self, i: usize) -> Outcome {
        if self.frames[i].accu.is_none() {
            let here = self.current;
            self.frames[i].accu = Some(Ok(Value::Null));
            self.current = self.frames[i].parent;
            let fold = self.frames[i].fold;
            let init = self.eval(&fold.init);
            self.current = here;
            self.frames[i].accu = Some(init);
        }
        let frame = &mut self.frames[i];
        // A macro reads its accumulator once a round, to replace it: it is moved out, so that it can grow in place.
        if frame.fold.accu == ACCUMULATOR
            && let Some(Ok(collected @ (Value::List(_) | Value::Map(_)))) = &mut frame.accu
        {
            return Ok(std::mem::replace(collected, Value::Null));
        }
        frame.accu.clone().unwrap_or(Ok(Value::Null))
    }

    pub(super) fn eval_fold(&mut self, fold: &'a Fold) -> Outcome {
        let range = self.eval(&fold.range)?;
        let rounds: Vec<(Value, Value)> = match (&range, fold.var2.is_some()) {
            (Value::List(list), true) => {
                list.items().iter().enumerate().map(|(i, item)| (Value::Int(i as i64), item.clone())).collect()
            }
            (Value::Map(map), true) => map.entries(),
            (Value::List(list), false) => list.items().iter().map(|item| (item.clone(), Value::Null)).collect(),
            (Value::Map(map), false) => map.keys().into_iter().map(|key| (key, Value::Null)).collect(),
            (other, true) => return fail(format!("unsupported comprehension range type: {}", other.go_type())),
            (other, false) => return fail(format!("got '{}', expected iterable type", other.go_type())),
        };
        let parent = self.current;
        let i = self.frames.len();
        self.frames.push(Frame { fold, parent, accu: None, var: Value::Null, var2: Value::Null, has_ended: false });
        self.current = Some(i);
        let result = self.fold_rounds(i, fold, rounds);
        self.frames.truncate(i);
        self.current = parent;
        result.map(|value| match value {
            Value::List(list) => Value::List(list.settled()),
            value => value,
        })
    }

    fn fold_rounds(&mut self, i: usize, fold: &'a Fold, rounds: Vec<(Value, Value)>) -> Outcome {
        for (var, var2) in rounds {
            self.frames[i].var = var;
            self.frames[i].var2 = var2;
            match self.eval(&fold.condition) {
                Err(error) if error.ends_evaluation() => return Err(error),
                Ok(Value::Bool(false)) => break,
                _ => {}
            }
            let accu = self.eval(&fold.step);
            if accu.as_ref().is_err_and(EvalError::ends_evaluation) {
                return accu;
            }
            self.frames[i].accu = Some(accu);
            self.iterations += 1;
            if self.iterations.is_multiple_of(CHECK_FREQUENCY) && (self.interrupt)() {
                return Err(EvalError::Interrupted);
            }
        }
        self.frames[i].has_ended = true;
        self.eval(&fold.result)
    }
}
