//! The map: a treemap of folders, sized by their files and coloured by their rules.

use std::cmp::Reverse;
use std::collections::{BTreeMap, HashSet};

use maud::{Markup, html};
use rulebook::coverage::{CoverageReport, InFolder};
use rulebook::diagnostic::Code;
use rulebook::evidence::Roots;

use super::cache::{CachedRules, Caches};
use super::chart::percent;
use super::http::{Query, Response};
use super::links::Links;
use super::matrix::Column;
use super::page::{first_rule, frame};
use super::text::{Text, counted, grouped, name};
use super::treemap::{Area, squarify};

/// The most folders that are drawn in one folder.
const MAX_TILES: usize = 40;

/// The height of a line of text in a map of this height. Tiles that are smaller have no label.
const LINE: f64 = 2.2;
const HEIGHT: f64 = 62.0;

/// The heights of a folder's title bar and of the whole map, in pixels.
const BAR: f64 = 20.0;
const PIXELS: f64 = 520.0;

/// The number of colours.
const STEPS: usize = 5;

/// How many folders and globs are listed next to the map.
const MAX_LISTED: usize = 50;

/// A folder and everything below it.
#[derive(Clone, Debug, Default)]
struct Folder {
    files: usize,
    rules: usize,
    tokens: usize,
    /// The folder's own files, as if they were a folder.
    own: Option<Box<Folder>>,
    below: BTreeMap<String, Folder>,
}

/// What the colour shows.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Measure {
    Rules,
    Tokens,
}

impl Folder {
    /// Builds the tree of all folders. With several roots, their names are the top level.
    fn of(folders: &[InFolder], roots: &Roots) -> Folder {
        let mut top = Folder::default();
        for found in folders {
            let root = (roots.roots.len() > 1).then(|| roots.roots[found.root].name.as_str());
            let parts = root.into_iter().chain(found.path.split('/').filter(|part| !part.is_empty()));
            let mut folder = &mut top;
            folder.add(found);
            for part in parts {
                folder = folder.below.entry(part.to_owned()).or_default();
                folder.add(found);
            }
            folder.own.get_or_insert_default().add(found);
        }
        top
    }

    fn add(&mut self, found: &InFolder) {
        self.files += found.files;
        self.rules += found.rules;
        self.tokens += found.tokens;
    }

    /// Returns the average per file.
    fn mean(&self, measure: Measure) -> f64 {
        let sum = if measure == Measure::Rules { self.rules } else { self.tokens };
        sum as f64 / self.files.max(1) as f64
    }

    fn at(&self, path: &str) -> Option<&Folder> {
        path.split('/').filter(|part| !part.is_empty()).try_fold(self, |folder, part| folder.below.get(part))
    }

    /// Returns the folders in it, the largest first. Its own files have an empty name.
    fn parts(&self) -> Vec<(&str, &Folder)> {
        let below = self.below.iter().map(|(name, folder)| (name.as_str(), folder));
        let mut parts: Vec<_> = below.chain(self.own.as_deref().map(|own| ("", own))).collect();
        parts.sort_by_key(|(name, folder)| (Reverse(folder.files), *name));
        parts.truncate(MAX_TILES);
        parts
    }
}

pub(super) fn show(caches: &Caches<'_>, query: &Query) -> anyhow::Result<Response> {
    let (rules, tree) = (caches.rules_for(query)?, caches.tree()?);
    let roots = &rules.workspace.roots;
    let measure = if query.get("by") == "tokens" { Measure::Tokens } else { Measure::Rules };
    // One agent at a time: the first, unless the address names another.
    let column = rules.matrix.column(query.get("for")).or_else(|| rules.matrix.used().next());
    let has_others = rules.matrix.used().count() > 1;
    let of_agent = column.map(|column| caches.coverage_of(column.agent.name)).transpose()?;
    let report = of_agent.as_ref().map_or(&tree.report, |cached| &cached.1);
    let all = Folder::of(&report.by_folder, roots);
    let path = query.get("folder").trim_matches('/');
    let here = all.at(path).unwrap_or(&all);
    let links = Links::of(query);
    let body = html! {
        h1 { "Map" @if let Some(column) = column { " for " (column.title) } }
        p .lead { (counted(report.files, "file")) ". Each tile is a folder, sized by its number of files. The stronger its colour, the more "
            (if measure == Measure::Rules { "path-specific rules apply to its files" } else { "tokens of path-specific rules its files add to a prompt" }) ", "
            @match column {
                Some(column) if column.wired.is_empty() => { "of those that " (column.agent.title) " reads by itself." }
                Some(column) => { "of those that " (column.agent.title) " reads by itself or Rulebook adds for it." }
                None => "as meant, for any agent.",
            }
            @if let Some(column) = column.filter(|column| column.loaded.most > 0) {
                " In addition, " (column.title) " has " (column.loaded.counted("rule")) " (about " (column.tokens.counted("token")) ") in context for every file."
            }
        }
        @if has_others { nav .chips aria-label="Agent" {
            @for other in rules.matrix.used() {
                a href=(format!("map{}", query.with(&[("for", other.agent.name)]))) aria-current=[column.is_some_and(|column| column.agent.name == other.agent.name).then_some("true")] { (other.title) }
            }
        } }
        nav .chips aria-label="Colour" {
            @for (value, title, this) in [("", "Rules", Measure::Rules), ("tokens", "Tokens", Measure::Tokens)] {
                a href=(format!("map{}", query.with(&[("by", value)]))) aria-current=[(this == measure).then_some("true")] { (title) }
            }
        }
        p .crumbs { (crumbs(path, query)) }
        div .columns .wide-first {
            div {
                @if here.files == 0 { p .none { "No files here." } } @else { (draw(&rules, here, path, measure, query)) }
            }
            @if rules.rows.is_empty() { (first_rule()) } @else { (lists(&rules, report, column, links)) }
        }
    };
    Ok(frame("map", "Map", query, &rules, &body))
}

fn crumbs(path: &str, query: &Query) -> Markup {
    let parts: Vec<&str> = path.split('/').filter(|part| !part.is_empty()).collect();
    html! {
        a href=(format!("map{}", query.with(&[("folder", "")]))) { "Whole tree" }
        @for at in 0..parts.len() {
            " / " a href=(format!("map{}", query.with(&[("folder", &parts[..=at].join("/"))]))) { (name(parts[at])) }
        }
    }
}

fn draw(rules: &CachedRules, here: &Folder, path: &str, measure: Measure, query: &Query) -> Markup {
    let whole = Area { x: 0.0, y: 0.0, width: 100.0, height: HEIGHT };
    let parts = here.parts();
    let means = parts.iter().flat_map(|(_, folder)| folder.parts()).map(|(_, folder)| folder.mean(measure));
    let most = means.chain(parts.iter().map(|(_, folder)| folder.mean(measure))).fold(0.0, f64::max);
    let scale = Scale { rules, measure, most, links: Links::of(query) };
    let areas = squarify(&sizes(&parts), whole);
    html! {
        svg .treemap width="100%" height=(PIXELS) role="group" aria-label="Folders by files and rules" {
            @for ((part, folder), area) in parts.iter().zip(areas) {
                @let full = joined(path, part);
                @if folder.below.is_empty() { (tile(&full, part, folder, &area, &whole, &scale)) }
                @else { (group(folder, &full, part, &area, &whole, &scale, query)) }
            }
        }
        @let left = (here.below.len() + usize::from(here.own.is_some())).saturating_sub(parts.len());
        @if left > 0 { p .detail { "And " (counted(left, "smaller folder")) "." } }
        (legend(most, measure))
        (table(&parts, path))
    }
}

/// What each colour stands for.
fn legend(most: f64, measure: Measure) -> Markup {
    let limit = |step: usize| within(most * step as f64 / STEPS as f64, most, measure);
    let unit = if measure == Measure::Rules { "rules" } else { "tokens" };
    html! {
        ul .legend aria-label="Legend" {
            li { "Path-specific " (unit) " per file:" }
            li { span .swatch .t0 {} "none" }
            @if most > 0.0 {
                // Small numbers may look the same once rounded: of those, the last one counts.
                @for step in (1..=STEPS).filter(|step| *step == STEPS || limit(*step) != limit(step + 1)) {
                    li { span class=(format!("swatch t{step}")) {} "up to " (limit(step)) }
                }
            }
        }
    }
}

/// The numbers of the tiles.
fn table(parts: &[(&str, &Folder)], path: &str) -> Markup {
    html! {
        details {
            summary { "Numbers" }
            table .data {
                thead { tr { th scope="col" { "Folder" } th scope="col" .number { "Files" } th scope="col" .number { "Path-specific rules per file" } th scope="col" .number { "Their tokens" } } }
                tbody { @for (part, folder) in parts {
                    tr {
                        th scope="row" .file { @if part.is_empty() { "files here" } @else { (name(&joined(path, part))) } }
                        td .number { (grouped(folder.files)) }
                        @for measure in [Measure::Rules, Measure::Tokens] { td .number { (number(folder.mean(measure), measure)) } }
                    }
                } }
            }
        }
    }
}

/// The colour scale, and the rules for the links of tiles.
struct Scale<'l> {
    rules: &'l CachedRules,
    measure: Measure,
    most: f64,
    links: Links<'l>,
}

impl Scale<'_> {
    fn step(&self, folder: &Folder) -> usize {
        let mean = folder.mean(self.measure);
        if mean <= 0.0 || self.most <= 0.0 {
            0
        } else {
            ((mean / self.most * STEPS as f64).ceil() as usize).clamp(1, STEPS)
        }
    }
}

fn sizes(parts: &[(&str, &Folder)]) -> Vec<f64> {
    parts.iter().map(|(_, folder)| folder.files as f64).collect()
}

fn amount(mean: f64, measure: Measure) -> String {
    format!("{} {}", number(mean, measure), if measure == Measure::Rules { "rules" } else { "tokens" })
}

fn number(mean: f64, measure: Measure) -> String {
    within(mean, mean, measure)
}

/// Writes a number with as many digits as the largest one of its scale needs.
fn within(mean: f64, most: f64, measure: Measure) -> String {
    let digits = match most {
        0.0 | 1.0.. => 1,
        0.1.. => 2,
        0.01.. => 3,
        _ => 4,
    };
    match measure {
        Measure::Rules => format!("{mean:.digits$}"),
        Measure::Tokens => grouped(mean.round() as usize),
    }
}

fn joined(path: &str, part: &str) -> String {
    [path, part].into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join("/")
}

/// A folder and its parts. Its title links to its map, its parts to the rules for them.
fn group(
    folder: &Folder,
    path: &str,
    title: &str,
    area: &Area,
    whole: &Area,
    scale: &Scale<'_>,
    query: &Query,
) -> Markup {
    let bar = (BAR / PIXELS * HEIGHT).min(area.height);
    let inside = Area { x: 0.0, y: 0.0, width: area.width, height: area.height - bar };
    let parts = folder.parts();
    let described = format!(
        "{path}: {}, {} per file; zoom in",
        counted(folder.files, "file"),
        amount(folder.mean(scale.measure), scale.measure)
    );
    html! {
        (nested(area, whole, &html! {
            rect .frame width="100%" height="100%" {}
            a href=(format!("map{}", query.with(&[("folder", path)]))) aria-label=(Text(&described)) {
                title { (Text(&described)) }
                rect .bar width="100%" height=(BAR) {}
                (label("heading", &[title]))
            }
            (nested(&Area { y: bar, ..inside }, &Area { x: 0.0, y: 0.0, ..*area }, &html! {
                @for ((part, below), area) in parts.iter().zip(squarify(&sizes(&parts), inside)) {
                    (tile(&joined(path, part), part, below, &area, &inside, scale))
                }
            }))
        }))
    }
}

fn tile(path: &str, part: &str, folder: &Folder, area: &Area, whole: &Area, scale: &Scale<'_>) -> Markup {
    let title = if part.is_empty() { "files here" } else { part };
    let shown = if path.is_empty() { "." } else { path };
    let files = counted(folder.files, "file");
    // The accessible name starts with the visible text.
    let described =
        format!("{title} {files}, {} per file: {shown}", amount(folder.mean(scale.measure), scale.measure));
    let step = scale.step(folder);
    nested(
        area,
        whole,
        &html! {
            a href=(scale.links.to("path", &[("path", &scale.rules.full(shown))])) aria-label=(Text(&described)) {
                title { (Text(&described)) }
                rect class=(format!("tile t{step}")) width="100%" height="100%" {}
                @if area.height > 2.0 * LINE { (label(&format!("on{step}"), &[title, &files])) }
                @else if area.height > LINE { (label(&format!("on{step}"), &[title])) }
            }
        },
    )
}

/// Lines of text in a tile. The style sheet shortens them, and hides them if the tile is too narrow.
fn label(class: &str, lines: &[&str]) -> Markup {
    html! {
        foreignObject width="100%" height="100%" {
            div class=(format!("label {class}")) { @for line in lines { span { (Text(line)) } " " } }
        }
    }
}

/// Markup in an area, clipped to it.
fn nested(area: &Area, whole: &Area, inner: &Markup) -> Markup {
    let part = |of: f64, all: f64| percent(of / all.max(f64::EPSILON) * 100.0);
    html! {
        svg x=(part(area.x, whole.width)) y=(part(area.y, whole.height)) width=(part(area.width, whole.width)) height=(part(area.height, whole.height)) { (inner) }
    }
}

/// Globs that match nothing, and files without rules.
fn lists(rules: &CachedRules, report: &CoverageReport, column: Option<&Column>, links: Links<'_>) -> Markup {
    // Problems are those of all rules.
    let listed: HashSet<&str> = report.dead.iter().map(|dead| dead.source.as_str()).collect();
    let dead = rules.views.meant.diagnostics.iter().filter(|found| found.code == Code::DeadGlob);
    let others: HashSet<&str> =
        dead.map(|found| found.path.as_str()).filter(|path| !listed.contains(path)).collect();
    let more = others.len();
    let has_globs = rules.rows.iter().any(|row| !row.globs.is_empty());
    html! {
        div {
            section aria-labelledby="dead" {
                h2 #dead { "Globs that match no file " span .count { (grouped(report.dead.len())) } }
                @if !has_globs { p .none { "No rule has globs. Give a rule globs, and it is delivered only for the files that match." } }
                @else if report.dead.is_empty() {
                    p .none { @match column {
                        Some(column) => { "Every glob of the rules that " (column.title) " has matches a file." }
                        None => "Every glob matches a file.",
                    } }
                }
                ul .plain { @for dead in report.dead.iter().take(MAX_LISTED) {
                    li { code .glob { (Text(&dead.pattern)) } " in " (links.file(&dead.source)) }
                } }
                @if more > 0 { p .detail { (counted(more, "other rule")) (if more == 1 { " has" } else { " have" }) " globs that match no file: " a href=(links.to("problems", &[("code", "dead-glob")])) { "Problems" } "." } }
                @if report.dead.len() > MAX_LISTED { p { "And " (grouped(report.dead.len() - MAX_LISTED)) " more: run " code { "rulebook coverage" } "." } }
            }
            section aria-labelledby="unreached" {
                h2 #unreached { "Files without path-specific rules " span .count { (grouped(report.unreached.files)) } }
                @if report.unreached.files == 0 { p .none { "Every file has path-specific rules." } }
                ul .plain { @for folder in report.unreached.folders.iter().take(MAX_LISTED) {
                    li {
                        @if folder.path == "." { "Files at the root" } @else { (links.path(&rules.full(&folder.path))) }
                        " " span .detail { (counted(folder.files, "file")) @if folder.deep { ", the whole folder" } }
                    }
                } }
            }
        }
    }
}
