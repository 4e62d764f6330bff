//! Compiles an expression into instructions.

use super::super::error::{GlobError, MAX_STEPS};
use super::complement;
use super::node::{Assertion, Node, Step};
use super::program::{Cost, Draft, Inst, Part, Program, Take};

pub(super) fn compile(node: &Node) -> Result<Program, GlobError> {
    // Assertions depend on these bytes.
    let named = 1 << b'/' | 1 << b'.';
    let program = Program { is_anchored: node.is_anchored(), named, ..Program::default() };
    let mut compiler = Compiler { program, cost: Cost::default() };
    compiler.program.start = compiler.part(node)?;
    let mut program = compiler.program;
    program.find_loops();
    Ok(program)
}

struct Compiler {
    program: Program,
    cost: Cost,
}

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
        self.cost.steps += 1;
        if self.cost.steps > MAX_STEPS {
            return Err(GlobError::TooLarge);
        }
        match node {
            Node::One(step) => draft.push(Inst::One(self.take(step))),
            Node::Assert(assertion) => {
                self.program.looks_back |=
                    matches!(assertion, Assertion::WordEdge { .. } | Assertion::Inside);
                draft.push(Inst::Assert(*assertion));
            }
            Node::LookAhead { body, negated } => {
                let start = self.part(body)?;
                draft.push(Inst::LookAhead { start, negated: *negated });
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
                complement::write(&inner, &mut self.program.classes, draft, &mut self.cost)?;
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
            Step::GlobstarUnit => Take::GlobstarUnit,
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
