//! Drafts: a rule in the form of a target, read back as the target reads it.

use super::block::fits_in_block;
use super::loss::Loss;
use super::proof::{Meant, Proof};
use super::render::render;
use super::target::{Form, Holder, Kind, Target};
use super::translate::candidates;
use crate::format::Format;
use crate::parse::{Entry, corrected, parse};
use crate::rule::{Activation, Rule};
use crate::source::Source;

/// A rule in the form of a target.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Draft {
    /// The path of its file in the workspace.
    pub path: String,
    /// Its text: a whole file, or what goes into a block.
    pub text: String,
    /// What the target's agent reads in it.
    pub rule: Rule,
    /// How that compares with what was meant.
    pub proof: Proof,
}

impl Draft {
    /// Makes a draft of a file that an agent already reads.
    pub fn of(rule: Rule, proof: Proof) -> Draft {
        Draft { path: rule.origin.display.clone(), text: String::new(), rule, proof }
    }
}

/// Writes a rule in the form of a target, by this name, and compares what its agent reads with what was meant. `source` is
/// the path of the rule's file in its root.
///
/// # Errors
/// If the target has no form for it.
pub fn draft(meant: &Meant<'_>, target: &Target, name: &str, source: &str) -> Result<Draft, Loss> {
    let rule = meant.rule;
    let kind = Kind::of(rule);
    let Shape { folder, kind, lists } =
        shape(rule, kind, target).ok_or_else(|| Loss::no_form(rule, kind, target))?;
    let form = target.form(kind);
    if form == Form::No {
        return Err(Loss::no_form(rule, Some(kind), target));
    }
    if target.is_block() && !fits_in_block(super::without_marker(&rule.body)) {
        return Err(Loss::NoForm("its text contains the line that begins or ends a copy".to_owned()));
    }
    let path = target.path(&folder, name);
    if !target.is_path(&path) {
        return Err(Loss::NoForm(format!("it would be in `{path}`, which is not a plain path")));
    }
    let origin = target.reads(&path).ok_or_else(|| Loss::no_form(rule, Some(kind), target))?;
    // All candidates are compared on the same paths: those of the natural ones.
    let natural = lists.iter().take(2).flatten().filter(|pattern| !pattern.contains("/.*"));
    let probes = meant.probes(Some(target), natural.map(String::as_str));
    let read = |patterns: &[String], description: Option<&str>| {
        let own_name = name.rsplit('/').next().unwrap_or(name);
        let text = render(target, form, rule, [own_name, source], &origin, description, patterns);
        let read = parse(Source { origin: origin.clone(), text: Ok(text.as_str().into()) });
        let Entry::Rule(copy) = read.entry else { return None };
        let proof = Proof::near(meant, &copy, &probes);
        Some(Draft { path: path.clone(), text, rule: *copy, proof })
    };
    let mut best: Option<(&[String], Draft)> = None;
    for patterns in &lists {
        let Some(draft) = read(patterns, rule.description.as_deref()) else { continue };
        // A pattern for everything makes the rule always on in some agents.
        let is_always = kind == Kind::Paths && draft.rule.activation == Activation::Always;
        let near = &draft.proof.near;
        let is_exact = near.wider.count + near.narrower.count + near.unknown.count == 0 && !is_always;
        // A copy that applies nowhere is worse than none: then what is wider is reported.
        let rank = |proof: &Proof| (proof.is_dead, proof.distance());
        if best.as_ref().is_none_or(|(_, best)| rank(&draft.proof) < rank(&best.proof)) {
            best = Some((patterns, draft));
        }
        if is_exact {
            break;
        }
    }
    // Some agents offer a rule to the model because it has a description.
    let best = best.map(|(patterns, draft)| {
        let bare = if draft.proof.is_wider_without_files { read(patterns, None) } else { None };
        match bare {
            Some(bare) if bare.proof.distance() < draft.proof.distance() => bare,
            _ => draft,
        }
    });
    let best = best.ok_or_else(|| Loss::no_form(rule, Some(kind), target))?;
    let limit = best.rule.origin.place.limit.or(best.rule.origin.format.limit);
    if let Some(limit) = limit.filter(|limit| best.text.chars().count() > *limit) {
        return Err(Loss::TooLong { limit });
    }
    Ok(best)
}

/// Writes a rule in one form for several targets that read the same files: in the text that suits all of them best.
pub fn draft_shared(
    meant: &Meant<'_>,
    targets: &[&'static Target],
    name: &str,
    source: &str,
) -> Vec<Result<Draft, Loss>> {
    let drafts: Vec<Result<Draft, Loss>> =
        targets.iter().map(|target| draft(meant, target, name, source)).collect();
    let texts: Vec<(String, String)> =
        drafts.iter().flatten().map(|draft| (draft.path.clone(), draft.text.clone())).collect();
    let are_blocks = targets.iter().any(|target| target.is_block());
    if targets.len() < 2 || texts.is_empty() || are_blocks {
        return drafts;
    }
    let read = |text: &(String, String)| -> Vec<Option<Draft>> {
        targets.iter().map(|target| reread(meant, target, &text.0, &text.1)).collect()
    };
    let sum = |all: &Vec<Option<Draft>>| {
        let proofs = all.iter().flatten().map(|draft| draft.proof.distance());
        proofs.fold((0, 0, 0), |sum, (is_wider, wider, _, narrower, unknown)| {
            (sum.0 + usize::from(is_wider) + wider, sum.1 + narrower, sum.2 + unknown)
        })
    };
    let best = texts.iter().map(read).min_by_key(sum).unwrap_or_default();
    let lost = || Loss::NoForm("the agent rejects it".to_owned());
    // An agent that has no form for the rule reads the file nevertheless.
    let mut readers = targets.iter().zip(drafts.iter().zip(&best));
    let spoiled = readers.find_map(|(target, (own, shared))| {
        let is_wider = shared.as_ref().is_some_and(|shared| shared.proof.is_wider());
        (own.is_err() && is_wider).then(|| target.title())
    });
    let choose = |(own, shared): (Result<Draft, Loss>, Option<Draft>)| match (own, spoiled) {
        (Err(loss), _) => Err(loss),
        (Ok(_), Some(title)) => {
            Err(Loss::NoForm(format!("{title} reads the same file and would apply it to more")))
        }
        (Ok(_), None) => shared.ok_or_else(lost),
    };
    drafts.into_iter().zip(best).map(choose).collect()
}

/// Reads a copy as the agent of another target does; `None` if it does not read files there.
pub fn reread(meant: &Meant<'_>, target: &Target, path: &str, text: &str) -> Option<Draft> {
    let origin = target.reads(path)?;
    let Entry::Rule(copy) = parse(Source { origin, text: Ok(text.into()) }).entry else { return None };
    let probes = meant.probes(Some(target), copy.globs.iter().map(String::as_str));
    let proof = Proof::near(meant, &copy, &probes);
    Some(Draft { path: path.to_owned(), text: text.to_owned(), rule: *copy, proof })
}

/// Compares a rule with another reading of it.
pub fn compare_readings(meant: &Meant<'_>, other: &Rule) -> Proof {
    Proof::near(meant, other, &meant.probes(None, other.globs.iter().map(String::as_str)))
}

/// Where a copy is, what it states, and the possible lists of its patterns.
struct Shape {
    folder: String,
    kind: Kind,
    lists: Vec<Vec<String>>,
}

fn shape(rule: &Rule, kind: Option<Kind>, target: &Target) -> Option<Shape> {
    let kind = kind?;
    let source = rule.origin.format;
    let folder = rule.origin.nest().map_or("", |(_, folder)| folder);
    let patterns: Vec<String> = rule.globs.iter().map(|glob| meant_pattern(glob, source)).collect();
    let plain = |folder: &str| Shape { folder: folder.to_owned(), kind, lists: vec![Vec::new()] };
    match (target.holder, kind) {
        (Holder::Blocks { .. }, Kind::Always) if folder.is_empty() || target.is_nested() => {
            Some(plain(folder))
        }
        (Holder::Blocks { .. }, Kind::Paths) if target.is_nested() => {
            let inner = whole_folder(&patterns, source)?;
            let path = if folder.is_empty() { inner } else { format!("{folder}/{inner}") };
            Some(Shape { kind: Kind::Always, ..plain(&path) })
        }
        (Holder::Blocks { .. }, _) => None,
        (Holder::Files { .. }, Kind::Paths) => {
            let format = target.reads(&target.path("", "x"))?.format;
            let (own, prefix) = match target.is_nested() {
                true if format.from_root => (folder, folder),
                true => (folder, ""),
                false => ("", folder),
            };
            let lists = candidates(&patterns, source.dialect, format.dialect, prefix);
            Some(Shape { folder: own.to_owned(), kind, lists })
        }
        (Holder::Files { .. }, _) if folder.is_empty() || target.is_nested() => Some(plain(folder)),
        // In a folder that the agent does not look into, "always" means everything below it.
        (Holder::Files { .. }, Kind::Always) => {
            let dialect = target.reads(&target.path("", "x"))?.format.dialect;
            let all = candidates(&["**".to_owned()], crate::glob::Dialect::Picomatch, dialect, folder);
            Some(Shape { folder: String::new(), kind: Kind::Paths, lists: all })
        }
        (Holder::Files { .. }, Kind::Offered | Kind::Manual) => None,
    }
}

/// Returns a pattern as it was meant.
fn meant_pattern(pattern: &str, format: &Format) -> String {
    corrected(pattern, format.dialect).unwrap_or_else(|| pattern.to_owned())
}

/// Returns the folder that the patterns are for, if they are for everything in one folder.
fn whole_folder(patterns: &[String], format: &Format) -> Option<String> {
    let [pattern] = patterns else { return None };
    let list = candidates(std::slice::from_ref(pattern), format.dialect, crate::glob::Dialect::Picomatch, "");
    let is_folder = |pattern: &String| {
        let folder = pattern.strip_suffix("/**").or_else(|| pattern.strip_suffix("/**/*"))?;
        let is_plain =
            !folder.contains(['*', '?', '[', '{', '(', '!', '\\']) && !folder.starts_with(['/', '.']);
        (is_plain && !folder.is_empty()).then(|| folder.to_owned())
    };
    let last = list.last().filter(|list| list.len() == 1)?;
    is_folder(&last[0])
}
