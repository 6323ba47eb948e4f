//! The parse tree, without unused parts, also of texts with errors.

use super::lexer::Token;

/// The index of a node.
pub(crate) type NodeId = usize;

/// The label of a node: a rule, or the chosen alternative of a rule.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Label {
    /// A rule with only one alternative, or whose alternative was not found.
    Plain,
    LogicalNot,
    Negate,
    MemberExpr,
    PrimaryExpr,
    Select,
    MemberCall,
    Index,
    Ident,
    GlobalCall,
    Nested,
    CreateList,
    CreateStruct,
    CreateMessage,
    ConstantLiteral,
    Int,
    Uint,
    Double,
    String,
    Bytes,
    True,
    False,
    Null,
    SimpleIdentifier,
    EscapedIdentifier,
}

/// The rules of the grammar, by number.
pub(crate) mod rule {
    pub(crate) const START: usize = 0;
    pub(crate) const EXPR: usize = 1;
    pub(crate) const OR: usize = 2;
    pub(crate) const AND: usize = 3;
    pub(crate) const RELATION: usize = 4;
    pub(crate) const CALC: usize = 5;
    pub(crate) const UNARY: usize = 6;
    pub(crate) const MEMBER: usize = 7;
    pub(crate) const PRIMARY: usize = 8;
    pub(crate) const EXPR_LIST: usize = 9;
    pub(crate) const LIST_INIT: usize = 10;
    pub(crate) const FIELD_LIST: usize = 11;
    pub(crate) const OPT_FIELD: usize = 12;
    pub(crate) const MAP_LIST: usize = 13;
    pub(crate) const ESCAPE_IDENT: usize = 14;
    pub(crate) const OPT_EXPR: usize = 15;
    pub(crate) const LITERAL: usize = 16;
}

#[derive(Debug, Clone)]
pub(crate) struct Node {
    pub(crate) rule: usize,
    pub(crate) label: Label,
    /// The start of the first token.
    pub(crate) start: usize,
    pub(crate) parent: Option<NodeId>,
    /// The state from which the rule was called; `None` for the first.
    pub(crate) invoked: Option<usize>,
    pub(crate) children: Vec<NodeId>,
    /// The node that the grammar calls `e`, `args`, `elems`, `entries`, `index` or `id`.
    pub(crate) e: Option<NodeId>,
    pub(crate) e1: Option<NodeId>,
    pub(crate) e2: Option<NodeId>,
    /// The nodes of a list: operands, elements, fields, keys.
    pub(crate) list: Vec<NodeId>,
    pub(crate) values: Vec<NodeId>,
    /// The token called `op`, `open` or `sign`.
    pub(crate) op: Option<Token>,
    pub(crate) ops: Vec<Option<Token>>,
    /// The token called `id` or `tok`.
    pub(crate) id: Option<Token>,
    pub(crate) ids: Vec<Option<Token>>,
    pub(crate) opt: Option<Token>,
    pub(crate) dot: Option<Token>,
}

impl Node {
    pub(crate) fn new(rule: usize, parent: Option<NodeId>, invoked: Option<usize>, start: usize) -> Self {
        Self {
            rule,
            label: Label::Plain,
            start,
            parent,
            invoked,
            children: Vec::new(),
            e: None,
            e1: None,
            e2: None,
            list: Vec::new(),
            values: Vec::new(),
            op: None,
            ops: Vec::new(),
            id: None,
            ids: Vec::new(),
            opt: None,
            dot: None,
        }
    }
}
