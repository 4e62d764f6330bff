//! The disk side of Rulebook: finds rule files, settings and toggles, keeps sessions, and hands them to the engine.
//!
//! ```no_run
//! use rulebook::evidence::Input;
//! use rulebook_workspace::Workspace;
//!
//! let workspace = Workspace::open(".")?;
//! let mut session = workspace.session("my-agent", "conversation-17")?;
//! let turn = session.turn(Input::message("add a component to apps/web"));
//! println!("{}", turn.system());
//! turn.sent();
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! `docs/library.md` in the repository shows a whole agent. [`Workspace::prepare`] answers one question without a session.
//! [`Workspace::sources`] reads rule files once, for many views of the same texts: [`Sources::meant`] and, for each agent,
//! [`Sources::native`].
//!
//! | module | is about |
//! |---|---|
//! | [`settings`] | `rulebook.toml`, the person's own settings, flags |
//! | [`toggles`], [`team`] | a person's and a team's switches |
//! | [`remote`] | copies of rules that an organisation publishes |
//! | [`hosts`], [`wiring`] | the agents that Rulebook can be wired into, and the files that wire them |
//! | [`ledger`] | the sessions of agents |
//! | [`state`] | files that are kept between runs |
//! | [`read`], [`mod@write`] | every file that is opened or written |

#![forbid(unsafe_code)]

mod agents;
mod around;
mod canonical;
#[cfg(feature = "certificates")]
pub mod certificates;
mod checked;
mod coverage;
mod delivery;
mod discover;
mod disk;
mod editing;
mod editors;
mod explain;
mod export;
mod facts;
mod git;
mod guard;
mod homes;
pub mod hosts;
mod imports;
pub mod ledger;
mod links;
mod load;
mod open;
mod overlay;
mod prepare;
mod prompt;
pub mod read;
mod readers;
mod recorded;
pub mod remote;
mod review;
pub mod revision;
mod rule_text;
mod schema;
mod session;
pub mod settings;
mod skills;
mod sources;
pub mod state;
mod storage;
pub mod team;
pub mod toggles;
mod transcript;
mod tree;
mod trust;
mod unread;
mod views;
pub mod wiring;
mod workspace;
pub mod write;

pub use agents::{AgentSearch, UsedAgent};
pub use canonical::canonical;
pub use coverage::{AgentCoverage, RuleFiles};
pub use editing::Rechecked;
pub use editors::{EditorFiles, EditorSnapshot};
pub use explain::{
    Differing, ExplainOutput, Explanation, JSON_VERSION, OutsideRoots, Viewpoint, not_searched,
};
pub use export::{
    AdoptError, Adopted, Candidate, CopyState, ExportOptions, ExportPlan, ExportRow, Outcome, PlanError,
    PlannedFile, Removes, SelectError, WriteError,
};
pub use facts::FileTexts;
pub use homes::Homes;
pub use load::Readings;
pub use open::{OpenError, find_root};
pub use overlay::Overlay;
pub use prepare::Prepared;
pub use prompt::PromptOutput;
pub use readers::FixableFile;
pub use recorded::{Record, RecordedCopies};
pub use review::{Review, Reviewed, Standing};
pub use rule_text::{MARKDOWN, RuleText};
pub use session::{AgentSession, SessionError};
pub use sources::{Loaded, Reach, Sources};
pub use state::sha256;
pub use tree::{Tree, Wanted};
pub use trust::TrustStore;
pub use unread::{NotRead, SeenFile};
pub use views::{AgentView, Views};
pub use workspace::{OpenParser, Workspace};

/// The code of the page about the library.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/library.md")]
struct LibraryPage;
