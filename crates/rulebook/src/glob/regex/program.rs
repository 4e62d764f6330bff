//! The expression as a list of instructions.

use super::super::error::{GlobError, MAX_STEPS};
use super::class::Class;
use super::complement;
use super::is_line_break;
use super::node::{Assertion, Node, Step};

/// An expression ready to run.
#[derive(Clone, Debug)]
pub(in super::super) struct Program {
    pub(super) code: Vec<Inst>,
    pub(super) classes: Vec<Class>,
    /// A look-ahead's part comes before the parts that ask for it; the last one is the expression.
    pub(super) parts: Vec<Part>,
    /// Where each jump stands that goes back, in order. All other ways that take nothing lead onward.
    pub(super) loops: Vec<usize>,
    /// Where splits and jumps go, and where they stand; sorted. Left out where nothing goes back.
    pub(super) sources: Vec<(usize, usize)>,
    /// Where the expression itself starts in `code`.
    pub(super) start: usize,
    pub(super) is_anchored: bool,
    /// The ASCII bytes that instructions name.
    pub(super) named: u128,
    /// Whether a step depends on the unit before it.
    pub(super) looks_back: bool,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Part {
    pub(super) start: usize,
    pub(super) end: usize,
}

/// Unless it says otherwise, an instruction goes on to the next.
#[derive(Clone, Copy, Debug)]
pub(super) enum Inst {
    One(Take),
    /// Goes on to the next, or there behind a unit: as often as it may, where it leads to itself.
    Or(Take, usize),
    Assert(Assertion),
    /// Whether the part starting there holds here.
    Look {
        start: usize,
        negated: bool,
    },
    /// Goes on to the next, or there.
    Split(usize),
    Jump(usize),
    Accept,
}

#[derive(Clone, Copy, Debug)]
pub(super) enum Take {
    Unit(u16),
    Any,
    Stride,
    Class(usize),
}

pub(super) fn compile(node: &Node) -> Result<Program, GlobError> {
    let mut compiler = Compiler {
        program: Program {
            code: Vec::new(),
            classes: Vec::new(),
            parts: Vec::new(),
            loops: Vec::new(),
            sources: Vec::new(),
            start: 0,
            is_anchored: node.is_anchored(),
            // Assertions name these.
            named: 1 << b'/' | 1 << b'.',
            looks_back: false,
        },
        spent: Spent::default(),
    };
    compiler.program.start = compiler.part(node)?;
    let mut program = compiler.program;
    program.find_loops();
    Ok(program)
}

impl Program {
    /// How many steps it has.
    pub(in super::super) fn steps(&self) -> usize {
        self.code.len()
    }

    fn find_loops(&mut self) {
        let goes_back = |&(at, inst): &(usize, &Inst)| matches!(inst, Inst::Jump(to) if *to < at);
        self.loops = self.code.iter().enumerate().filter(goes_back).map(|(at, _)| at).collect();
        if self.loops.is_empty() {
            return;
        }
        let source = |(at, inst): (usize, &Inst)| match inst {
            Inst::Split(to) | Inst::Jump(to) => Some((*to, at)),
            _ => None,
        };
        self.sources = self.code.iter().enumerate().filter_map(source).collect();
        self.sources.sort_unstable();
    }

    /// All that instructions can tell of a byte that none of them names.
    pub(super) fn traits_of(&self, byte: u8) -> Option<u64> {
        if self.named >> byte & 1 == 1 || self.classes.len() > 63 {
            return None;
        }
        let unit = u16::from(byte);
        let traits = self.classes.iter().map(|class| class.contains(unit));
        Some(traits.fold(is_line_break(unit).into(), |traits, holds| traits << 1 | u64::from(holds)))
    }
}

struct Compiler {
    program: Program,
    spent: Spent,
}

/// How much of what a pattern may cost is used up.
#[derive(Default)]
pub(super) struct Spent {
    /// What is written down.
    pub(super) steps: usize,
    /// What was looked at on the way.
    pub(super) visited: usize,
}

/// The part being written; its jumps count from its own start.
pub(super) type Draft = Vec<Inst>;

impl Compiler {
    fn part(&mut self, node: &Node) -> Result<usize, GlobError> {
        let mut draft = Draft::default();
        self.write(node, &mut draft)?;
        draft.push(Inst::Accept);
        let start = self.program.code.len();
        self.program.code.extend(draft.into_iter().map(|inst| match inst {
            Inst::Or(take, to) => Inst::Or(take, start + to),
            Inst::Split(to) => Inst::Split(start + to),
            Inst::Jump(to) => Inst::Jump(start + to),
            inst => inst,
        }));
        let end = self.program.code.len();
        self.program.parts.push(Part { start, end });
        Ok(start)
    }

    fn write(&mut self, node: &Node, draft: &mut Draft) -> Result<(), GlobError> {
        self.spent.steps += 1;
        if self.spent.steps > MAX_STEPS {
            return Err(GlobError::TooLarge);
        }
        match node {
            Node::One(step) => {
                let take = self.take(step);
                draft.push(Inst::One(take));
            }
            Node::Assert(assertion) => {
                self.program.looks_back |=
                    matches!(assertion, Assertion::WordEdge { .. } | Assertion::Inside);
                draft.push(Inst::Assert(*assertion));
            }
            Node::Look { body, negated } => {
                let start = self.part(body)?;
                draft.push(Inst::Look { start, negated: *negated });
            }
            Node::Sequence(nodes) => {
                for node in nodes {
                    self.write(node, draft)?;
                }
            }
            Node::Either(branches) => self.write_either(branches, draft)?,
            Node::Repeat { body, min, max } => self.write_repeat(body, *min, *max, draft)?,
            Node::Not(body) => {
                let mut inner = Draft::default();
                self.write(body, &mut inner)?;
                inner.push(Inst::Accept);
                complement::write(&inner, &mut self.program.classes, draft, &mut self.spent)?;
            }
        }
        Ok(())
    }

    fn write_either(&mut self, branches: &[Node], draft: &mut Draft) -> Result<(), GlobError> {
        let mut exits = Vec::with_capacity(branches.len());
        for (i, branch) in branches.iter().enumerate() {
            let split = draft.len();
            let is_last = i + 1 == branches.len();
            if !is_last {
                draft.push(Inst::Split(0));
            }
            self.write(branch, draft)?;
            if !is_last {
                exits.push(draft.len());
                draft.push(Inst::Jump(0));
                draft[split] = Inst::Split(draft.len());
            }
        }
        for exit in exits {
            draft[exit] = Inst::Jump(draft.len());
        }
        Ok(())
    }

    fn write_repeat(
        &mut self,
        body: &Node,
        min: u32,
        max: Option<u32>,
        draft: &mut Draft,
    ) -> Result<(), GlobError> {
        for _ in 0..min {
            self.write(body, draft)?;
        }
        let Some(max) = max else {
            return self.write_loop(body, draft);
        };
        let mut splits = Vec::new();
        for _ in min..max {
            splits.push(draft.len());
            draft.push(Inst::Split(0));
            self.write(body, draft)?;
        }
        for split in splits {
            draft[split] = Inst::Split(draft.len());
        }
        Ok(())
    }

    fn write_loop(&mut self, body: &Node, draft: &mut Draft) -> Result<(), GlobError> {
        if let Node::One(step) = body {
            let take = self.take(step);
            draft.push(Inst::Or(take, draft.len()));
            return Ok(());
        }
        let head = draft.len();
        draft.push(Inst::Split(0));
        self.write(body, draft)?;
        draft.push(Inst::Jump(head));
        draft[head] = Inst::Split(draft.len());
        Ok(())
    }

    fn take(&mut self, step: &Step) -> Take {
        match step {
            Step::Unit(unit) => {
                self.program.named |= if *unit < 128 { 1 << *unit } else { 0 };
                Take::Unit(*unit)
            }
            Step::Any => Take::Any,
            Step::Stride => Take::Stride,
            Step::Class(class) => {
                let known = self.program.classes.iter().position(|known| known == class);
                Take::Class(known.unwrap_or_else(|| {
                    self.program.classes.push(class.clone());
                    self.program.classes.len() - 1
                }))
            }
        }
    }
}
