//! What commands start from: the workspace, the evidence and the files that the arguments name.

use std::io::Read as _;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, anyhow};
use rulebook::diagnostic::{Code, Diagnostic};
use rulebook::evidence::Input;
use rulebook_workspace::{Homes, OpenError, Overlay, Workspace, canonical, find_root, read};

use crate::alert::alert_line;
use crate::args::{Args, EvidenceArgs};
use crate::code;
use crate::out;

/// The largest evidence file that is read, in bytes.
const MAX_EVIDENCE: usize = 64 << 20;

/// Opens the workspace that the arguments name, or the one around the current folder.
pub(crate) fn open_workspace(args: &Args) -> anyhow::Result<Workspace> {
    let here = current_folder()?;
    let roots = if args.root.is_empty() { vec![find_root(&here).to_owned()] } else { args.root.clone() };
    open_roots(args, &roots).map_err(|error| match error.downcast::<OpenError>() {
        Ok(error) => {
            anyhow!("name an existing folder with `--root`, or run inside one").context(error.to_string())
        }
        Err(other) => other,
    })
}

/// Opens the workspace of these roots, with the settings of the flags.
pub(crate) fn open_roots(args: &Args, roots: &[PathBuf]) -> anyhow::Result<Workspace> {
    open_over(args, roots, Overlay::default())
}

/// The same, with the unsaved texts of an editor.
pub(crate) fn open_over(args: &Args, roots: &[PathBuf], overlay: Overlay) -> anyhow::Result<Workspace> {
    let flags = settings_of(&args.set)?;
    let workspace = Workspace::open_over(roots, Homes::from_environment(), &flags, overlay)?;
    let workspace = code::parsing(workspace);
    match workspace.diagnostics.iter().find(|diagnostic| diagnostic.path == FLAGS) {
        Some(wrong) => {
            // The text of the flags is not a file.
            let help = if wrong.code == Code::BadSettings { KEY_VALUE } else { wrong.help.as_str() };
            Err(anyhow!(help.to_owned()).context(format!("cannot use `{FLAGS}`: {}", wrong.message)))
        }
        None => Ok(workspace),
    }
}

/// The name of the flag for settings, which its diagnostics have as their path.
const FLAGS: &str = "--set";

/// What to write instead of a flag that is no setting.
const KEY_VALUE: &str = "write `--set KEY=VALUE`, such as `--set budget.tokens=4000`";

/// Writes `KEY=VALUE` flags as TOML. A value that is not TOML is text; the last of one key counts.
pub(crate) fn settings_of(flags: &[String]) -> anyhow::Result<String> {
    let mut settings: Vec<(&str, String)> = Vec::new();
    for flag in flags {
        let Some((key, value)) = flag.split_once('=') else {
            return Err(anyhow!(KEY_VALUE).context(format!("`{FLAGS} {flag}` has no `=`")));
        };
        let (key, value) = (key.trim(), value.trim());
        let is_toml = value.parse::<toml_edit::Value>().is_ok();
        let value = if is_toml { value.to_owned() } else { toml_edit::Value::from(value).to_string() };
        settings.retain(|(other, _)| *other != key);
        settings.push((key, value));
    }
    Ok(settings.into_iter().map(|(key, value)| format!("{key} = {value}\n")).collect())
}

/// Returns the current folder as the shell names it, so that paths through a symbolic link work; otherwise its canonical
/// path.
pub(crate) fn current_folder() -> anyhow::Result<PathBuf> {
    let real =
        std::env::current_dir().context("the current folder does not exist: change to one that does")?;
    let named =
        std::env::var_os("PWD").map(PathBuf::from).filter(|named| named.is_absolute() && *named != real);
    Ok(named.filter(|named| canonical(named).is_ok_and(|path| path == real)).unwrap_or(real))
}

/// Reads the evidence from the flags and the evidence file. `paths` are relative to the current folder.
pub(crate) fn read_evidence(
    args: &Args,
    flags: &EvidenceArgs,
    paths: &[String],
) -> anyhow::Result<(Input, Vec<Diagnostic>)> {
    let (mut input, diagnostics) = match &flags.evidence {
        None => (Input::default(), Vec::new()),
        Some(file) => {
            let shown =
                if file == Path::new("-") { "standard input".to_owned() } else { file.display().to_string() };
            let read = read_file(file, MAX_EVIDENCE)
                .and_then(|bytes| String::from_utf8(bytes).map_err(std::io::Error::other));
            let text = read.map_err(|error| {
                anyhow!("name a readable file with `--evidence`, or `-` for standard input")
                    .context(format!("cannot read the evidence in {shown}: {error}"))
            })?;
            Input::from_json(&text).map_err(|error| {
                anyhow!("write an object such as {{\"message\": \"…\", \"openTabs\": [\"src/a.ts\"]}}")
                    .context(format!("the evidence in {shown} {error}"))
            })?
        }
    };
    let here = current_folder()?;
    input.arguments.extend(paths.iter().map(|path| absolute(&here, path)));
    let set = |to: &mut Option<String>, from: &Option<String>| {
        if from.is_some() {
            to.clone_from(from);
        }
    };
    set(&mut input.message, &flags.message);
    set(&mut input.mode, &flags.mode);
    set(&mut input.provider, &flags.provider);
    set(&mut input.model, &flags.model);
    set(&mut input.agent, &flags.agent);
    set(&mut input.env, &flags.env);
    set(&mut input.branch, &flags.branch);
    set(&mut input.os, &flags.os);
    if !flags.tags.is_empty() {
        input.tags.get_or_insert_with(Vec::new).extend(flags.tags.iter().cloned());
    }
    input.requested.extend(flags.requested.iter().cloned());
    if !args.json {
        let lines: String = diagnostics.iter().map(|found| alert_line(found) + "\n").collect();
        out::print_aside(&lines);
    }
    Ok((input, diagnostics))
}

/// Reads a file that an argument names, or standard input for `-`; fails if it is longer than `limit` bytes.
pub(crate) fn read_file(file: &Path, limit: usize) -> std::io::Result<Vec<u8>> {
    if file != Path::new("-") {
        return read::argument(file, limit);
    }
    let mut bytes = Vec::new();
    std::io::stdin().lock().take(limit as u64 + 1).read_to_end(&mut bytes)?;
    if bytes.len() > limit {
        return Err(std::io::Error::other(format!("larger than {limit} bytes")));
    }
    Ok(bytes)
}

fn absolute(here: &Path, path: &str) -> String {
    let is_drive = path.get(1..3).is_some_and(|rest| rest == ":/" || rest == ":\\");
    // Windows paths (`C:\…`, `\\share\…`, `\…`) are absolute on every system.
    let is_windows = is_drive || path.starts_with('\\');
    if is_windows || Path::new(path).is_absolute() || path.starts_with("~/") {
        return path.to_owned();
    }
    here.join(path).to_string_lossy().into_owned()
}
