//! The table of codes: every kind of problem, with its severity, its meaning and its remedy.

use serde::{Serialize, Serializer};

use crate::words::words;

words! {
    /// How much a diagnostic matters. Worse sorts first.
    Severity {
        /// The file, or a part of it, is not used; or it must not stay as it is.
        Error = "error",
        /// The file is used, but probably not as its author meant.
        Warning = "warning",
        /// Worth knowing.
        Note = "note",
    }
}

/// One row of [`CODES`].
#[derive(Debug)]
#[non_exhaustive]
pub struct CodeRow {
    /// The code itself.
    pub code: Code,
    /// The name in output, links and baselines.
    pub name: &'static str,
    /// Its usual severity.
    pub severity: Severity,
    /// What it means, in one sentence.
    pub meaning: &'static str,
    /// What to do about it, unless the diagnostic has a better help line.
    pub remedy: &'static str,
}

impl Code {
    /// Returns its row of the table.
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
        /// The kind of problem that a diagnostic reports.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[non_exhaustive]
        pub enum Code {
            $(#[doc = $meaning] $code),*
        }

        /// Every code, sorted by name. Documentation and reports are generated from it.
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
        "The file's agent always applies the rule, although its header says otherwise."
        "write the rule so that the agent reads it; `rulebook explain --as AGENT` shows its view";
    AgentDiffers "agent-differs" Warning
        "The file's agent does not treat the rule as its header says."
        "write the rule so that the agent reads it; `rulebook explain --as AGENT` shows its view";
    AgentNever "agent-never" Warning
        "The file's agent never applies the rule, although its header says otherwise."
        "write the rule so that the agent reads it; `rulebook explain --as AGENT` shows its view";
    AlwaysLoaded "always-loaded" Note
        "An agent loads many rules in every session, because none of them is limited to certain files."
        "say in the headers which files the rules are for";
    AlwaysOverridden "always-overridden" Warning
        "Whenever the rule could apply, another rule with the same id overrides it."
        "give it a different id, or remove one of the two";
    BadGlob "bad-glob" Warning
        "A glob is too long or expands to too many patterns; it matches nothing."
        "split it into several shorter globs";
    BadPriority "bad-priority" Warning
        "`priority` is not a whole number from 0 to 100."
        "write `priority: 50`: a whole number from 0 to 100, without quotes";
    BadRegex "bad-regex" Warning
        "A regular expression is invalid and is ignored."
        "fix the expression; in single quotes, `\\` needs no escape";
    BadRequirement "bad-requirement" Warning
        "A requirement cannot be read and has no effect."
        "write `requires: {do: …, before: …}` or `forbids: {…}`, with events such as `{command: \"git commit*\"}`";
    BadScope "bad-scope" Warning
        "The scope of a trigger is invalid and is ignored."
        "use `text`, `thinking`, `tool`, `tool:NAME`, `tool:NAME.FIELD` or `tool:NAME(GLOB)`";
    BadSettings "bad-settings" Error
        "A settings file is invalid and is ignored."
        "fix the file; settings from other files still apply";
    BadState "bad-state" Warning
        "A state file of Rulebook is invalid. When Rulebook writes a new one, it keeps this one as a backup."
        "no action needed; remove the file to silence this message";
    BadSyntaxRule "bad-syntax-rule" Warning
        "A pattern on syntax trees cannot be read and is ignored, or it can never match."
        "write `ast: {language: ts, pattern: \"new Map($$$)\"}`";
    BadValue "bad-value" Warning
        "A key does not accept this value; it is ignored."
        "write another value, or remove the key";
    BadWhen "bad-when" Warning
        "A `when` expression is invalid; the rule stays inactive."
        "write `key:value` terms joined by AND, OR, NOT and parentheses";
    BoundedRegex "bounded-regex" Note
        "A trigger uses look-around or back-references; it is matched within a bounded window."
        "rewrite it without them for exact matching";
    BrokenHeader "broken-header" Warning
        "The header is not valid YAML and could not be repaired."
        "fix the header; quote values that contain `*`, `!`, `{` or `: `";
    Changed "changed" Warning
        "A file is new or has changed since the workspace was trusted."
        "review it with `rulebook trust --show`, then run `rulebook trust`";
    DeadGlob "dead-glob" Warning
        "The globs of a rule match no file in the tree. Files that git ignores do not count."
        "correct the pattern, or remove the rule: a rule without patterns may always apply";
    DeadKey "dead-key" Warning
        "A key has no effect because another key takes precedence."
        "remove one of the two";
    DoubtfulGlob "doubtful-glob" Warning
        "A glob probably does not match what its author intended."
        "write it relative to the workspace, with `/` between folders";
    DriftedCopy "drifted-copy" Warning
        "Two formats have copies of one rule that differ in some lines. An agent gets one of them."
        "make the texts equal, or rename one of them if they are meant to differ";
    DuplicateBody "duplicate-body" Warning
        "Two rule files of one agent have the same text for the same folder."
        "remove one of them";
    DuplicateId "duplicate-id" Warning
        "Two rules of one scope share an id. When both apply, only one is delivered."
        "give one of them a different id";
    DuplicateKey "duplicate-key" Warning
        "A header has the same key twice; the first one counts, in Claude Code rules the last."
        "remove one of them";
    EmptyBody "empty-body" Warning
        "The file has no text after its header, so there is nothing to deliver."
        "write the rule after the header, or remove the file";
    EmptyValue "empty-value" Warning
        "A condition is empty and has no effect."
        "give it at least one value, or remove the key";
    EvidenceOutside "evidence-outside" Note
        "A path is outside all workspace roots and is ignored."
        "add its folder with `--root`, or omit the path";
    ForeignKey "foreign-key" Warning
        "A key belongs to another agent's format."
        "use this format's own key";
    Forged "forged" Warning
        "The text of a rule contains markup that Rulebook writes around rules, as if to end the rule or start another."
        "rephrase the text";
    FusedFence "fused-fence" Warning
        "The closing `---` has other text on its line; it is read as the end of the header."
        "put `---` alone on its line";
    HeaderAnchor "header-anchor" Warning
        "A header uses YAML anchors, aliases or merge keys, which are not supported."
        "write out the value; quote it if it only looks like an alias";
    HeaderTooDeep "header-too-deep" Warning
        "A header has more than 16 levels of nesting."
        "flatten the header";
    HeaderTooLarge "header-too-large" Warning
        "A header is larger than 64 KiB."
        "move text from the header into the body";
    HiddenComment "hidden-comment" Warning
        "A comment instructs the model. Models read it, and people who look at the rendered page do not see it."
        "write it as visible text, or remove it";
    HiddenText "hidden-text" Warning
        "A rule contains characters that models read and people do not see."
        "remove the hidden text, or retype the line";
    ImportCyclic "import-cyclic" Warning
        "A file imports itself, directly or through others; it is included once."
        "remove one of the `@` imports";
    ImportMissing "import-missing" Warning
        "A file imported with `@` does not exist."
        "fix the path, which is relative to the importing file; put it in backticks if it is not an import";
    ImportOutside "import-outside" Warning
        "A file imported with `@` is outside the workspace and is not read."
        "copy the file into the workspace, or allow its folder with `rules.allow_links` in your own settings";
    ImportTooDeep "import-too-deep" Warning
        "Imports are nested deeper than the agent follows."
        "import the file directly";
    LegacyPlace "legacy-place" Note
        "A rule file is in an outdated place: its agent has moved to a new one."
        "move the file to the new place";
    LineHeader "line-header" Warning
        "The header is not valid YAML; it is read line by line as `key: value`."
        "fix the YAML, so that every agent reads it the same way";
    LookAlike "look-alike" Warning
        "A key uses letters that look like those of a known key; it is ignored."
        "retype the key in plain letters";
    MandatoryMissing "mandatory-missing" Warning
        "A mandatory rule does not reach an agent used here."
        "wire the agent with `rulebook install`";
    MissingDescription "missing-description" Error
        "The format requires a `description`."
        "add `description: what the rule is for`";
    MissingHeader "missing-header" Error
        "The format requires a header."
        "start the file with `---`, `description: …`, `priority: 50`, `---`";
    MissingLink "missing-link" Warning
        "The text of a rule links to a file that does not exist."
        "fix or remove the link; it is relative to the rule file or to the workspace";
    MissingPriority "missing-priority" Error
        "The format requires a `priority`."
        "add `priority: 50`; higher values come first";
    NamedMissing "named-missing" Warning
        "The settings of an agent name a file that does not exist, or a pattern that matches no file."
        "fix or remove the entry";
    NamedRemote "named-remote" Note
        "The settings of an agent contain a URL. The agent fetches it; Rulebook does not."
        "no action needed; `[[remote]]` of your own settings adds remote rules";
    NearName "near-name" Note
        "A file at the root has the name of a rule file, but with different letter case; where file names are case-sensitive, no agent finds it."
        "rename it";
    NotAFile "not-a-file" Warning
        "Something that has the name of a rule file is not a regular file."
        "rename it or move it out of the rule folder";
    NotARule "not-a-rule" Note
        "A file has no header although its format requires one; it is treated as documentation."
        "no action needed; add a header to make it a rule";
    NotRead "not-read" Warning
        "An agent does not read a text file in its rule folder, or no agent used here reads a rule."
        "rename or move the file";
    NotUtf8 "not-utf8" Error
        "A rule file is not UTF-8 text."
        "save the file as UTF-8";
    OutsideRoot "outside-root" Warning
        "A link points outside the workspace and is not followed."
        "copy the file, or allow the target with `rules.allow_links` in your own settings";
    OverLimit "over-limit" Warning
        "A file is longer than its agent reads or recommends."
        "split or shorten the rule";
    PackageManager "package-manager" Warning
        "A rule uses a different package manager from the project or the other rules."
        "use the package manager of the project";
    PatternList "pattern-list" Warning
        "Patterns are separated by white space, or by a comma inside a list entry."
        "separate patterns with commas, or make each a list entry";
    Protection "protection" Error
        "A setting that protects you cannot be read; the strict value is used."
        "fix the value in your own settings";
    RawHeader "raw-header" Warning
        "The format has no headers, but the file starts with lines that look like one; they are sent to the model as text."
        "remove the lines between the fences, or move the rule to a format with headers";
    RefusedSetting "refused-setting" Warning
        "The settings of a workspace may not set this; it is ignored."
        "put it in your user settings";
    RemoteFailed "remote-failed" Warning
        "Remote rules could not be fetched; the cached copy is used."
        "run `rulebook remote sync` to try again";
    RemoteMissing "remote-missing" Warning
        "Remote rules have not been fetched, so they do not apply."
        "fetch them with `rulebook remote sync`";
    RemoteRefused "remote-refused" Error
        "Remote rules do not match their hash or signature; they are not used."
        "find out who changed the rules, or fix `sha256` or `minisign_key` in your user settings";
    Secret "secret" Error
        "A rule appears to contain a secret, which is exposed to every model and every reader of the repository."
        "revoke the secret, and keep its replacement out of rule files";
    SkillBudget "skill-budget" Note
        "The descriptions of all skills together take up a large part of every prompt; some agents cut them."
        "shorten the descriptions, or remove skills";
    SkillCollision "skill-collision" Warning
        "An agent reads two different skills of the same name."
        "rename one of them, or remove it";
    SkillDescription "skill-description" Warning
        "The description of a skill is missing or too long. Agents choose skills by it."
        "describe in at most 1,024 characters what the skill does and when to use it";
    SkillName "skill-name" Warning
        "The `name` of a skill is not the name of its folder."
        "give both the same name";
    StaleBaseline "stale-baseline" Note
        "A baseline records a problem that no longer occurs."
        "update the baseline with `--write-baseline`";
    StrayHeader "stray-header" Warning
        "Lines that look like a header are not at the start of the file, so they are text."
        "start the file with `---` alone on its line, and close the header with another";
    TooLarge "too-large" Error
        "A rule file is larger than 1 MiB."
        "split it, or move reference material out of the rule";
    TooMany "too-many" Error
        "There are too many rule files; not all of them are read."
        "move files that are not rules out of the rule folders";
    TwoHeaders "two-headers" Warning
        "The file has two headers in a row."
        "merge them into one";
    UnclosedFence "unclosed-fence" Warning
        "A code block is never closed. Rules that follow it in a prompt become part of the code."
        "close the block";
    UnclosedHeader "unclosed-header" Warning
        "The header starts with `---` and is never closed."
        "put a line `---` after the last key";
    UnclosedList "unclosed-list" Warning
        "A list in the header is not closed; it is read as if it were."
        "add the closing `]`";
    UnexpandedImport "unexpanded-import" Note
        "A file imports another with `@`, and an agent that reads it does not follow imports."
        "write out what the agents need, or say in the text that the file must be read";
    UnknownEvidence "unknown-evidence" Warning
        "The evidence has an unknown key, which is ignored."
        "correct the name of the key, or remove it";
    UnknownId "unknown-id" Warning
        "A setting refers to a rule that does not exist."
        "use an id that `rulebook status` shows";
    UnknownKey "unknown-key" Warning
        "A header has a key that the format does not know, which is ignored."
        "correct the name of the key, or remove it";
    UnknownScript "unknown-script" Warning
        "A rule names a script that no `package.json`, `Makefile` or `justfile` in the tree has."
        "fix the name, or add the script";
    UnknownSetting "unknown-setting" Warning
        "A settings file has an unknown key, which is ignored."
        "correct the name of the key, or remove it";
    UnquotedValue "unquoted-value" Warning
        "A value needs quotes in YAML; it is read as if it had them."
        "put the value in quotes; in single quotes, write each `'` inside it twice";
    Unreachable "unreachable" Warning
        "The rule can never apply."
        "add a key that activates the rule";
    Unreadable "unreadable" Error
        "A file or folder cannot be read."
        "check its permissions";
    Untrusted "untrusted" Warning
        "The workspace is not trusted and your settings require trust, so its files are ignored."
        "review them with `rulebook trust --show`, then run `rulebook trust`";
    WrongType "wrong-type" Warning
        "A value has the wrong type; it is ignored."
        "correct the value, or remove the key";
}
