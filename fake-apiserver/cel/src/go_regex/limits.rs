//! The limits of Go's parser on the size and the nesting of an expression (`checkLimits` of `regexp/syntax/parse.go` of Go 1.26).

/// The most instructions of a compiled expression, as its parser counts them (`maxSize`).
const MAX_SIZE: usize = (128 << 20) / 40;
/// The greatest height of the tree of an expression (`maxHeight`).
const MAX_HEIGHT: usize = 1000;

/// The measures of a node of the tree.
#[derive(Debug, Clone, Copy)]
pub(super) struct Measure {
    size: usize,
    height: usize,
    is_literal: bool,
}

/// The measures of the nodes of a list, which become one node.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Sum {
    count: usize,
    size: usize,
    height: usize,
    ends_in_literal: bool,
}

impl Measure {
    /// Of a literal character.
    pub(super) const LITERAL: Measure = Measure { is_literal: true, ..Measure::ONE };
    /// Of any other node without parts.
    pub(super) const ONE: Measure = Measure { size: 1, height: 1, is_literal: false };

    fn around(self, size: usize) -> Measure {
        Measure { size, height: self.height + 1, is_literal: false }
    }

    /// The same as an alternative, which does not join with others.
    pub(super) fn as_alternative(self) -> Measure {
        Measure { is_literal: false, ..self }
    }

    /// Of a group that captures this.
    pub(super) fn captured(self) -> Measure {
        self.around(self.size.saturating_add(2))
    }

    /// The measure of a repetition; `max` is `None` if there is no bound.
    pub(super) fn repeated(self, min: usize, max: Option<usize>) -> Measure {
        self.around(match (min, max) {
            (0, None) => self.size.saturating_add(2),
            (min, None) => self.size.saturating_mul(min).saturating_add(1),
            (min, Some(max)) => self.size.saturating_mul(max).saturating_add(max - min).max(1),
        })
    }

    /// The limit that it exceeds, in Go's words.
    pub(super) fn excess(self) -> Option<&'static str> {
        match self {
            _ if self.size > MAX_SIZE => Some("expression too large"),
            _ if self.height > MAX_HEIGHT => Some("expression nests too deeply"),
            _ => None,
        }
    }
}

impl Sum {
    /// Adds a node, if there is one.
    pub(super) fn add_all(&mut self, node: Option<Measure>) {
        node.into_iter().for_each(|node| self.add(node));
    }

    /// Adds a node. Adjacent literals are one node.
    pub(super) fn add(&mut self, node: Measure) {
        self.count += usize::from(!(self.ends_in_literal && node.is_literal));
        self.size = self.size.saturating_add(node.size);
        self.height = self.height.max(node.height);
        self.ends_in_literal = node.is_literal;
    }

    /// The nodes one after the other.
    pub(super) fn concatenated(self) -> Measure {
        self.joined(0)
    }

    /// The nodes as alternatives.
    pub(super) fn alternatives(self) -> Measure {
        self.joined(self.count.saturating_sub(1))
    }

    fn joined(self, more: usize) -> Measure {
        let Sum { count, size, height, ends_in_literal } = self;
        match count {
            0 => Measure::ONE,
            1 => Measure { size, height, is_literal: ends_in_literal },
            _ => Measure { size: size.saturating_add(more), height: height + 1, is_literal: false },
        }
    }
}
