//! The complement of an expression as instructions: its deterministic automaton with inverted results.

use std::collections::HashMap;

use super::super::error::{GlobError, MAX_STEPS};
use super::class::{Class, Range, is_line_break};
use super::program::{Cost, Draft, Inst, Take};

/// The limit on work for all complements of a pattern: nesting them multiplies it.
const MAX_VISITED: usize = 1 << 16;

/// The instructions to continue from, and whether only the first half of a surrogate pair has been read.
type State = (Vec<usize>, bool);

/// Units that no instruction distinguishes, and the instructions that take them.
struct Group {
    class: Class,
    takers: Vec<usize>,
    is_high: bool,
}

/// Writes instructions for the texts without a slash that `code` does not match.
///
/// Such a text never ends within a surrogate pair.
pub(super) fn write(
    code: &[Inst],
    classes: &mut Vec<Class>,
    draft: &mut Draft,
    cost: &mut Cost,
) -> Result<(), GlobError> {
    let groups = groups(code, classes);
    let mut closure = Closure { code, seen: vec![0; code.len()], round: 0, visited: &mut cost.visited };
    let mut states: Vec<State> = vec![(closure.from([0]), false)];
    let mut known: HashMap<State, usize> = HashMap::from([(states[0].clone(), 0)]);
    let mut edges: Vec<Vec<usize>> = Vec::new();
    while let Some((set, _)) = states.get(edges.len()).cloned() {
        cost.steps += set.len() + groups.len();
        if cost.steps > MAX_STEPS || *closure.visited > MAX_VISITED {
            return Err(GlobError::TooLarge);
        }
        let targets = groups.iter().map(|group| {
            let taken = set.iter().copied().filter(|at| group.takers.binary_search(at).is_ok());
            let next = closure.from(taken.map(|at| if let Inst::Or(_, to) = code[at] { to } else { at + 1 }));
            let state = (next, group.is_high);
            *known.entry(state.clone()).or_insert_with(|| {
                states.push(state);
                states.len() - 1
            })
        });
        let targets = targets.collect();
        *closure.visited += groups.len() * (1 + set.len());
        edges.push(targets);
    }
    emit(code, &groups, &states, &edges, classes, draft);
    Ok(())
}

fn emit(
    code: &[Inst],
    groups: &[Group],
    states: &[State],
    edges: &[Vec<usize>],
    classes: &mut Vec<Class>,
    draft: &mut Draft,
) {
    let takes: Vec<Take> = groups.iter().map(|group| Take::Class(index_of(&group.class, classes))).collect();
    let never = Take::Class(index_of(&Class::default(), classes));
    let may_end =
        |(set, is_half): &State| !is_half && !set.iter().any(|&at| matches!(code[at], Inst::Accept));
    let mut end = draft.len();
    let mut starts = Vec::with_capacity(states.len());
    for state in states {
        starts.push(end);
        end += usize::from(may_end(state)) + takes.len() + 1;
    }
    for (state, targets) in states.iter().zip(edges) {
        if may_end(state) {
            draft.push(Inst::Split(end));
        }
        draft.extend(takes.iter().zip(targets).map(|(&take, &target)| Inst::Or(take, starts[target])));
        // No group takes the unit.
        draft.push(Inst::One(never));
    }
}

fn index_of(class: &Class, classes: &mut Vec<Class>) -> usize {
    classes.iter().position(|known| known == class).unwrap_or_else(|| {
        classes.push(class.clone());
        classes.len() - 1
    })
}

/// Finds the instructions that are reachable without taking a unit.
struct Closure<'c> {
    code: &'c [Inst],
    /// The round in which each instruction was last seen.
    seen: Vec<u32>,
    round: u32,
    visited: &'c mut usize,
}

impl Closure<'_> {
    /// The instructions reachable from these that take a unit or accept; sorted.
    fn from(&mut self, from: impl IntoIterator<Item = usize>) -> Vec<usize> {
        self.round += 1;
        let mut open: Vec<usize> = from.into_iter().collect();
        let mut reached = Vec::new();
        while let Some(at) = open.pop() {
            if std::mem::replace(&mut self.seen[at], self.round) == self.round {
                continue;
            }
            *self.visited += 1;
            match self.code[at] {
                Inst::Split(to) => open.extend([at + 1, to]),
                Inst::Jump(to) => open.push(to),
                Inst::Or(..) => {
                    reached.push(at);
                    open.push(at + 1);
                }
                Inst::One(_) | Inst::Accept => reached.push(at),
                _ => {}
            }
        }
        reached.sort_unstable();
        reached
    }
}

fn groups(code: &[Inst], classes: &[Class]) -> Vec<Group> {
    let takes: Vec<(usize, Take)> = code
        .iter()
        .enumerate()
        .filter_map(|(at, inst)| match inst {
            Inst::One(take) | Inst::Or(take, _) => Some((at, *take)),
            _ => None,
        })
        .collect();
    let mut edges: Vec<u32> = vec![0, 0x2f, 0x30, 0xd800, 0xdc00, 0x1_0000];
    for (_, take) in &takes {
        match take {
            Take::Unit(unit) => edges.extend([u32::from(*unit), u32::from(*unit) + 1]),
            Take::Class(class) => classes[*class].add_edges(&mut edges),
            Take::Any | Take::GlobstarUnit => edges.extend([0x0a, 0x0b, 0x0d, 0x0e, 0x2028, 0x202a]),
        }
    }
    edges.sort_unstable();
    edges.dedup();
    let mut found: Vec<(Vec<usize>, bool, Vec<Range>)> = Vec::new();
    for pair in edges.windows(2) {
        let (low, high) = (pair[0] as u16, (pair[1] - 1) as u16);
        if low == u16::from(b'/') {
            continue;
        }
        let takes_it = |take: &Take| match take {
            Take::Unit(unit) => *unit == low,
            Take::Class(class) => classes[*class].contains(low),
            Take::Any | Take::GlobstarUnit => !is_line_break(low),
        };
        let takers: Vec<usize> = takes.iter().filter(|(_, take)| takes_it(take)).map(|(at, _)| *at).collect();
        let is_high = (0xd800..0xdc00).contains(&low);
        match found.iter_mut().find(|group| group.0 == takers && group.1 == is_high) {
            Some(group) => group.2.push((low, high)),
            None => found.push((takers, is_high, vec![(low, high)])),
        }
    }
    let group = |(takers, is_high, ranges)| Group { class: Class::of(ranges), takers, is_high };
    found.into_iter().map(group).collect()
}

#[cfg(test)]
mod tests {
    use super::super::super::{Dialect, Glob, GlobError};

    #[track_caller]
    fn check(pattern: &str, want: Result<(), GlobError>) {
        let glob = Glob::new(pattern, Dialect::Minimatch);
        assert_eq!(
            glob.map(|glob| assert!(glob.is_match("some/other.name"), "{pattern}")),
            want,
            "{pattern}"
        );
    }

    #[test]
    fn nested_complements_take_bounded_work() {
        let names: Vec<String> = (0..60).map(|at| format!("generated-part-{at}")).collect();
        check(&format!("**/!({})", names.join("|")), Ok(()));
        check("**/!(*.test|*.spec|*.d).name", Ok(()));
        check("**/!(*.!(name|ts))", Ok(()));
        let deep = format!("!(*tool!(*edit!(*{})a)b)", "x".repeat(400));
        check(&deep, Err(GlobError::TooLarge));
        check(&format!("{{1..900}}/!(*edit!(*{}))", "x".repeat(60)), Err(GlobError::TooLarge));
    }
}
