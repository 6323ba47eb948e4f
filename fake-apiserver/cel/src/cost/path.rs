//! Paths from a variable to its parts.
//!
//! A port of Go's slices where cel-go v0.29.2 appends to them: a path and a longer one share their parts as long as there is
//! capacity behind the shorter one, so another path that grows from the same beginning overwrites the parts of the first. It
//! matters: of two variables of a comprehension, the second changes the path of the first.

use std::cell::RefCell;
use std::rc::Rc;

#[derive(Debug, Clone, Default)]
pub(super) struct Path {
    parts: Rc<RefCell<Vec<String>>>,
    length: usize,
    capacity: usize,
}

impl Path {
    pub(super) fn of(name: &str) -> Self {
        Self { parts: Rc::new(RefCell::new(vec![name.to_owned()])), length: 1, capacity: 1 }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.length == 0
    }

    /// The same path, with parts of its own.
    pub(super) fn copy(&self) -> Self {
        Self { parts: Rc::new(RefCell::new(self.parts())), length: self.length, capacity: self.length }
    }

    /// The path to a part of this one's target.
    pub(super) fn then(&self, part: &str) -> Self {
        let length = self.length + 1;
        if length <= self.capacity {
            let mut parts = self.parts.borrow_mut();
            match parts.get_mut(self.length) {
                Some(old) => part.clone_into(old),
                None => parts.push(part.to_owned()),
            }
            return Self { parts: Rc::clone(&self.parts), length, capacity: self.capacity };
        }
        let mut parts = self.parts();
        parts.push(part.to_owned());
        Self { parts: Rc::new(RefCell::new(parts)), length, capacity: (2 * self.capacity).max(1) }
    }

    /// The parts of the path, as they are now.
    pub(super) fn parts(&self) -> Vec<String> {
        self.parts.borrow()[..self.length].to_vec()
    }
}
