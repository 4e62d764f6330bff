//! The table of codes: every kind of problem, with its severity, its meaning and its remedy.

use serde::{Serialize, Serializer};

use super::Severity;

/// One row of [`CODES`].
#[derive(Debug)]
pub struct CodeRow {
    /// The code itself.
    pub code: Code,
    /// As written in output, in links and in baselines.
    pub name: &'static str,
    /// Its usual severity.
    pub severity: Severity,
    /// What it means, one sentence.
    pub meaning: &'static str,
    /// What to do about it, where the message has nothing better.
    pub remedy: &'static str,
}

impl Code {
    /// The row of the table.
    pub fn row(self) -> &'static CodeRow {
        &CODES[self as usize]
    }
}

impl Serialize for Code {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.row().name)
    }
}

macro_rules! codes {
    ($($code:ident $name:literal $severity:ident $meaning:literal $remedy:literal;)*) => {
        /// What kind of problem a diagnostic tells.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Code {
            $(#[doc = $meaning] $code),*
        }

        /// Every code there is, sorted by name: documentation and reports are made from it.
        pub const CODES: &[CodeRow] = &[
            $(CodeRow {
                code: Code::$code,
                name: $name,
                severity: Severity::$severity,
                meaning: $meaning,
                remedy: $remedy,
            }),*
        ];
    };
}

codes! {
    AgentAlways "agent-always" Warning
        "The agent a file belongs to has it always on, which its author did not mean."
        "write the rule the way the agent reads it; `rulebook explain --as AGENT` shows its view";
    AgentDiffers "agent-differs" Warning
        "The agent a file belongs to does something else with it than its author meant."
        "write the rule the way the agent reads it; `rulebook explain --as AGENT` shows its view";
    AgentNever "agent-never" Warning
        "The agent a file belongs to never takes it, which its author did not mean."
        "write the rule the way the agent reads it; `rulebook explain --as AGENT` shows its view";
    AlwaysGlob "always-glob" Note
        "A glob of a rule's paths matches every file, so the rule is on with any path at all."
        "name the files the rule is about, or say that it is always on";
    AlwaysOverridden "always-overridden" Warning
        "Whenever the rule could come on, another rule of the same id takes its place."
        "give it an id of its own, or remove one of the two";
    BadGlob "bad-glob" Warning
        "A glob is too long or expands too far; it matches nothing."
        "split it into several shorter globs";
    BadPriority "bad-priority" Warning
        "`priority` is not a whole number from 0 to 100."
        "write a whole number from 0 to 100, without quotes";
    BadRegex "bad-regex" Warning
        "A regular expression cannot be read; it is left out."
        "mend the expression, or quote it with single quotes so that `\\` stays as it is";
    BadScope "bad-scope" Warning
        "A trigger's scope cannot be read; it is ignored."
        "use `text`, `thinking`, `tool`, `tool:NAME`, `tool:NAME.FIELD` or `tool:NAME(GLOB)`";
    BadSettings "bad-settings" Error
        "A settings file cannot be read; it is left out."
        "mend the file; the other settings still apply";
    BadState "bad-state" Warning
        "A file Rulebook keeps for itself cannot be read; it is kept aside when the next one is written."
        "nothing to do; remove the file to be rid of the message";
    BadValue "bad-value" Warning
        "A value is not one of those the key takes; it is ignored."
        "use one of the values named";
    BadWhen "bad-when" Warning
        "A `when` expression cannot be read; the rule stays off."
        "write `key:value` terms joined by AND, OR, NOT and parentheses";
    BoundedRegex "bounded-regex" Note
        "A trigger needs look-around or back-references; it runs on a bounded window."
        "write it without them to have it exact";
    BrokenHeader "broken-header" Warning
        "The header is not valid YAML and could not be mended."
        "mend the header; values with `*`, `!`, `{` or `: ` in them need quotes";
    Changed "changed" Warning
        "A file of the workspace is new, or another, since the workspace was trusted."
        "look at it with `rulebook trust --show`, and record it with `rulebook trust`";
    DeadGlob "dead-glob" Warning
        "A glob matches no file of the tree; files that git ignores do not count."
        "mend the glob, or remove it";
    DeadKey "dead-key" Warning
        "A key has no effect because another key decides."
        "remove one of the two";
    DoubtfulGlob "doubtful-glob" Warning
        "A glob probably does not match what its author meant."
        "write it relative to the workspace, with `/` between folders";
    DuplicateBody "duplicate-body" Note
        "Two rule files say the same."
        "keep one of them, or make one a link to the other";
    DuplicateId "duplicate-id" Warning
        "Two rules of one scope share an id and may come on together; only one is delivered then."
        "give one of them an id of its own";
    DuplicateKey "duplicate-key" Warning
        "A key stands twice in one header; the first one counts."
        "keep one of them";
    EmptyBody "empty-body" Warning
        "The file has no text below its header, so there is nothing to deliver."
        "write the rule below the header, or remove the file";
    EmptyValue "empty-value" Warning
        "A condition names nothing, so it constrains nothing."
        "name at least one, or remove the key";
    EvidenceOutside "evidence-outside" Note
        "A path lies outside every workspace root and is not considered."
        "add its folder with `--root`, or leave the path out";
    ForeignKey "foreign-key" Warning
        "A key belongs to another agent's format."
        "use this format's own key";
    Forged "forged" Warning
        "A rule has what is written around rules inside it, as if to end itself or to begin another."
        "write it in other words, if it is meant";
    FusedFence "fused-fence" Warning
        "A `---` fence has text on its own line; it was taken as the fence it was meant to be."
        "put `---` alone on its line";
    HeaderAnchor "header-anchor" Warning
        "A header uses YAML anchors, aliases or merge keys, which are refused."
        "write the value out, or quote it if it only looks like an alias";
    HeaderTooDeep "header-too-deep" Warning
        "A header nests deeper than 16 levels."
        "flatten the header";
    HeaderTooLarge "header-too-large" Warning
        "A header is larger than 64 KiB."
        "move text from the header into the body";
    HiddenComment "hidden-comment" Warning
        "A comment tells the model something that people do not see where Markdown is shown."
        "write it as text, or remove it";
    HiddenText "hidden-text" Warning
        "A rule has characters that people do not see and models read."
        "remove them, or write the rule's line anew";
    ImportCyclic "import-cyclic" Warning
        "A file imports itself, directly or through others; it is taken once."
        "remove one of the `@` imports";
    ImportMissing "import-missing" Warning
        "A file imported with `@` is not there."
        "mend the path, which is relative to the importing file, or write it in backticks if no import is meant";
    ImportOutside "import-outside" Warning
        "A file imported with `@` lies outside the workspace and is not read."
        "copy the file into the workspace, or allow its folder with `rules.allow_links` in your own settings";
    ImportTooDeep "import-too-deep" Warning
        "Imports lead further than the agent follows them."
        "import the file directly";
    LineHeader "line-header" Warning
        "The header is not YAML; it was read line by line as `key: value`."
        "mend the YAML so that every agent reads the same";
    LookAlike "look-alike" Warning
        "A key of a header has letters that only look like those of a known key; it is ignored."
        "write the key anew, with plain letters";
    MissingDescription "missing-description" Error
        "The format requires a `description` and there is none."
        "add `description: what the rule is for`";
    MissingHeader "missing-header" Error
        "The format requires a header and there is none."
        "begin the file with `---`, `description: …`, `priority: 50`, `---`";
    MissingPriority "missing-priority" Error
        "The format requires a `priority` and there is none."
        "add `priority: 50`; higher goes first";
    NearName "near-name" Note
        "A file at the root is called like a rule file but for its capitals; on most systems no agent finds it."
        "rename it";
    NotAFile "not-a-file" Warning
        "Something with the name of a rule file is not a regular file."
        "rename it or move it out of the rule folder";
    NotARule "not-a-rule" Note
        "A file without a header in a folder whose format requires one is taken for documentation."
        "nothing to do; give it a header to make it a rule";
    NotUtf8 "not-utf8" Error
        "A rule file is not UTF-8 text."
        "save the file as UTF-8";
    OutsideRoot "outside-root" Warning
        "A link leads out of the workspace and is not followed."
        "copy the file, or allow the target with `rules.allow_links` in your own settings";
    OverLimit "over-limit" Warning
        "A file is longer than what its agent takes of it, or than its makers advise."
        "split the rule, or shorten it";
    PatternList "pattern-list" Warning
        "White space, or a comma in the entry of a list, stands between patterns."
        "put commas between patterns of a text, or give each an entry of a list";
    RawHeader "raw-header" Warning
        "A file that has no header by its format opens with lines that look like one; the agent reads them as text."
        "remove the lines between the fences, or move the file to where headers count";
    RefusedSetting "refused-setting" Warning
        "A workspace's settings may not do this; it is ignored."
        "put it into your own settings file";
    RemoteFailed "remote-failed" Warning
        "Rules from elsewhere could not be fetched; their copy is used."
        "`rulebook remote sync` tries again";
    RemoteMissing "remote-missing" Warning
        "Rules from elsewhere are not on this machine, so they contribute nothing."
        "fetch them with `rulebook remote sync`";
    RemoteRefused "remote-refused" Error
        "Rules from elsewhere are not what the settings say they are; they are not used."
        "find out who changed them, or mend `sha256` or `minisign_key` in your own settings";
    SameFile "same-file" Note
        "Two names lead to one file; it counts once."
        "nothing to do";
    Secret "secret" Error
        "A rule has what looks like a secret in it; every model and every reader of the repository is told it."
        "withdraw the secret where it was issued, and keep the new one out of rule files";
    StaleBaseline "stale-baseline" Note
        "A baseline records a problem that no longer occurs."
        "write the baseline anew with `--write-baseline`";
    StrayHeader "stray-header" Warning
        "Lines that look like a header do not open the file, so they are text."
        "open the file with `---` alone on its line, and close the header with another";
    TooLarge "too-large" Error
        "A rule file is larger than 1 MiB."
        "split it, or move reference material out of the rule";
    TooMany "too-many" Error
        "There are more rule files than are read."
        "remove what is no rule, or move it out of the rule folder";
    TwoHeaders "two-headers" Warning
        "The file has two headers in a row."
        "merge them into one";
    UnclosedHeader "unclosed-header" Warning
        "The header opens with `---` and is never closed."
        "put a line `---` after the last key";
    UnknownEvidence "unknown-evidence" Warning
        "The evidence has a key that is not known; it is ignored."
        "use the nearest known key, or leave it out";
    UnknownId "unknown-id" Warning
        "A setting names a rule that does not exist."
        "use the id `rulebook status` shows";
    UnknownKey "unknown-key" Warning
        "A header has a key that the format does not know; it is ignored."
        "remove it, or use the nearest known key";
    UnknownSetting "unknown-setting" Warning
        "A settings file has a key that is not known; it is ignored."
        "remove it, or use the nearest known key";
    UnquotedValue "unquoted-value" Warning
        "A value that YAML cannot read unquoted was read as it was meant."
        "put the value in quotes";
    Unreachable "unreachable" Warning
        "Nothing can ever bring the rule on."
        "add a `description`, `globs`, or `alwaysApply: true`";
    Unreadable "unreadable" Error
        "A file or folder cannot be read."
        "check its permissions";
    Untrusted "untrusted" Warning
        "Files of a workspace that is not trusted contribute nothing, as your settings want it."
        "look at them with `rulebook trust --show`, and record them with `rulebook trust`";
    WrongType "wrong-type" Warning
        "A value has the wrong type; it is ignored."
        "write the value as the message says";
}
