//! Loss: why a rule is not written for a target.

use super::proof::Proof;
use super::target::{Kind, Target};
use crate::agent::SizeUnit;
use crate::rule::{Activation, Rule};
use crate::words::words;

/// Why a rule is not written for a target.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Loss {
    /// The target cannot express it.
    NoForm(String),
    /// The nearest form applies where the rule was not meant to.
    Wider(Box<Proof>),
    /// It is written, but the copy does less than was meant.
    Partly(Box<Proof>),
    /// The agent would cut the text.
    TooLong {
        /// How many characters it reads.
        limit: usize,
    },
    /// With the other rules, the agent would cut it or leave it out.
    Full {
        /// How much it reads of all files together.
        limit: usize,
        /// The unit of that.
        unit: SizeUnit,
    },
    /// The agent would not read the file, because it reads this one instead.
    Unread(String),
    /// Another agent, which is used here, would read the copy and apply it to more than meant.
    Spoiled {
        /// The name that people know.
        title: String,
    },
    /// A file that Rulebook did not write is in the way.
    Taken(String),
}

words! {
    /// What happens to a rule that a target cannot express.
    LossPolicy {
        /// It is not written.
        LeaveOut = "leave-out",
        /// A file lists it, and the agent can read it on request.
        Index = "index",
        /// Rulebook delivers it.
        Deliver = "deliver",
    }
}

impl Loss {
    /// Returns the loss of a rule of which the target has no form.
    pub(super) fn no_form(rule: &Rule, kind: Option<Kind>, target: &Target) -> Loss {
        let title = target.title();
        let further: Vec<String> = rule
            .conditions
            .iter()
            .filter(|condition| condition.key != "paths")
            .map(|condition| format!("`{}`", condition.key))
            .collect();
        Loss::NoForm(match kind {
            Some(Kind::Always) => format!("{title} has no rules for a folder"),
            Some(Kind::Paths) => format!("{title} has no rules for paths"),
            Some(Kind::Offered) => format!("{title} cannot offer rules to the model"),
            Some(Kind::Manual) => format!("{title} has no rules that apply only when mentioned"),
            None if rule.stream.is_some() => format!("{title} has no rules that watch the output"),
            None if rule.activation == Activation::Never => "nothing activates it".to_owned(),
            None => format!("{title} has no condition {}", further.join(" and ")),
        })
    }

    /// Returns a word for programs.
    pub fn code(&self) -> &'static str {
        match self {
            Loss::NoForm(_) => "no-form",
            Loss::Wider(_) => "wider",
            Loss::Partly(proof) => match proof.files.narrower.count + proof.near.narrower.count {
                _ if proof.is_wider() => "wider",
                0 if proof.without_files.is_none() => "unenforced",
                0 => "without-files",
                _ => "narrower",
            },
            Loss::TooLong { .. } => "too-long",
            Loss::Full { .. } => "full",
            Loss::Unread(_) => "unread",
            Loss::Spoiled { .. } => "wider",
            Loss::Taken(_) => "taken",
        }
    }
}

impl std::fmt::Display for Loss {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Loss::NoForm(why) => f.write_str(why),
            Loss::Wider(proof) => {
                match (&proof.files.wider.example, &proof.near.wider.example, proof.without_files) {
                    (Some(path), ..) => write!(
                        f,
                        "it would also apply to `{path}`{}",
                        match proof.files.wider.count {
                            1 => String::new(),
                            count => format!(" and {} more", count - 1),
                        }
                    ),
                    (None, Some(path), _) => {
                        write!(f, "it would also apply to paths like `{path}`, which no file here has")
                    }
                    (None, None, Some((was, is))) => write!(f, "it would be {is}, not {was}"),
                    (None, None, None) => f.write_str("it would apply to more than meant"),
                }
            }
            Loss::Partly(proof) => {
                let narrower = &proof.files.narrower;
                match (&narrower.example, &proof.near.narrower.example, proof.without_files) {
                    (Some(path), ..) if narrower.count > 1 => {
                        write!(f, "it does not apply to `{path}` and {} more", narrower.count - 1)
                    }
                    (Some(path), ..) => write!(f, "it does not apply to `{path}`"),
                    (None, Some(path), _) => write!(f, "it does not apply to paths like `{path}`"),
                    (None, None, Some((was, is))) => {
                        write!(f, "when no file matches, it is {is} instead of {was}")
                    }
                    (None, None, None) if !proof.unenforced.is_empty() && !proof.is_wider() => {
                        let keys: Vec<String> =
                            proof.unenforced.iter().map(|key| format!("`{key}`")).collect();
                        write!(f, "the agent reads its text, but does not enforce {}", keys.join(" and "))
                    }
                    (None, None, None) => f.write_str("it applies to more than meant"),
                }
            }
            Loss::TooLong { limit } => write!(f, "longer than the {limit} characters that the agent reads"),
            Loss::Full { limit, unit } => {
                write!(
                    f,
                    "with the other rules, longer than the {limit} {unit} that the agent reads in total"
                )
            }
            Loss::Spoiled { title } => {
                write!(f, "{title}, used here, would read the same file and apply it to more")
            }
            Loss::Unread(other) => write!(f, "the agent reads `{other}` instead"),
            Loss::Taken(path) => write!(f, "another file or copy is at `{path}`"),
        }
    }
}
