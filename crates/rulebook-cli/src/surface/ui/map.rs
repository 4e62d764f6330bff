//! The view of the tree: folders as large as they have files, coloured by how many rules reach them.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use maud::{Markup, html};
use rulebook::coverage::{InFolder, Report};
use rulebook::evidence::Roots;

use super::cache::{CachedRules, Caches};
use super::chart::percent;
use super::http::{Query, Response, query};
use super::page::{Text, counted, frame, grouped, name, path_link, rule_link};
use super::treemap::{Area, squarify};

/// How many folders are drawn in one; the rest is counted.
const MAX_TILES: usize = 40;

/// How high a line of text is in a map of this height; what has no room for it goes without.
const LINE: f64 = 2.2;
const HEIGHT: f64 = 62.0;

/// How high the bar with a folder's name is, and the whole map, in pixels.
const BAR: f64 = 20.0;
const PIXELS: f64 = 520.0;

/// How many steps the colours have.
const STEPS: usize = 5;

/// How many folders and globs are listed beside.
const MAX_LISTED: usize = 50;

/// A folder with everything below it.
#[derive(Clone, Debug, Default)]
struct Folder {
    files: usize,
    rules: usize,
    tokens: usize,
    /// The files right here, as a folder of their own.
    own: Option<Box<Folder>>,
    below: BTreeMap<String, Folder>,
}

/// What the colour stands for.
#[derive(Clone, Copy, PartialEq, Eq)]
enum By {
    Rules,
    Tokens,
}

impl Folder {
    /// The tree of all folders; with several roots, each root's name on top.
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

    /// How much of it a file has, on average.
    fn mean(&self, by: By) -> f64 {
        let sum = if by == By::Rules { self.rules } else { self.tokens };
        sum as f64 / self.files.max(1) as f64
    }

    fn at(&self, path: &str) -> Option<&Folder> {
        path.split('/').filter(|part| !part.is_empty()).try_fold(self, |folder, part| folder.below.get(part))
    }

    /// What is in it, the largest first, files right here among them under no name.
    fn parts(&self) -> Vec<(&str, &Folder)> {
        let below = self.below.iter().map(|(name, folder)| (name.as_str(), folder));
        let mut parts: Vec<_> = below.chain(self.own.as_deref().map(|own| ("", own))).collect();
        parts.sort_by_key(|(name, folder)| (Reverse(folder.files), *name));
        parts.truncate(MAX_TILES);
        parts
    }
}

pub(super) fn show(looks: &Caches<'_>, asked: &Query) -> anyhow::Result<Response> {
    let (look, tree) = (looks.rules()?, looks.tree()?);
    let roots = &look.workspace.roots;
    let by = if asked.get("by") == "tokens" { By::Tokens } else { By::Rules };
    let all = Folder::of(&tree.report.by_folder, roots);
    let path = asked.get("folder").trim_matches('/');
    let here = all.at(path).unwrap_or(&all);
    let body = html! {
        h1 { "Map" }
        p .lead { (counted(tree.report.files, "file")) ". Each tile is a folder, as large as it has files; the stronger its colour, the more "
            (if by == By::Rules { "rules a file in it brings on" } else { "tokens of rules a prompt about it has" }) "." }
        nav .chips aria-label="Colour" {
            @for (value, title, this) in [("", "Rules", By::Rules), ("tokens", "Tokens", By::Tokens)] {
                a href=(format!("map{}", asked.with(&[("by", value)]))) aria-current=[(this == by).then_some("true")] { (title) }
            }
        }
        p .crumbs { (crumbs(path, asked)) }
        div .columns .wide-first {
            div {
                @if here.files == 0 { p .none { "No files here." } } @else { (draw(&look, here, path, by, asked)) }
            }
            (beside(&look, &tree.report))
        }
    };
    Ok(frame("map", "Map", &look, &body))
}

fn crumbs(path: &str, asked: &Query) -> Markup {
    let parts: Vec<&str> = path.split('/').filter(|part| !part.is_empty()).collect();
    html! {
        a href=(format!("map{}", asked.with(&[("folder", "")]))) { "the whole tree" }
        @for at in 0..parts.len() {
            " / " a href=(format!("map{}", asked.with(&[("folder", &parts[..=at].join("/"))]))) { (name(parts[at])) }
        }
    }
}

fn draw(look: &CachedRules, here: &Folder, path: &str, by: By, asked: &Query) -> Markup {
    let whole = Area { x: 0.0, y: 0.0, width: 100.0, height: HEIGHT };
    let parts = here.parts();
    let means = parts.iter().flat_map(|(_, folder)| folder.parts()).map(|(_, folder)| folder.mean(by));
    let most = means.chain(parts.iter().map(|(_, folder)| folder.mean(by))).fold(0.0, f64::max);
    let scale = Scale { look, by, most };
    let areas = squarify(&sizes(&parts), whole);
    html! {
        svg .treemap width="100%" height=(PIXELS) role="group" aria-label="Folders by files and rules" {
            @for ((part, folder), area) in parts.iter().zip(areas) {
                @let full = joined(path, part);
                @if folder.below.is_empty() { (tile(&full, part, folder, &area, &whole, &scale)) }
                @else { (group(folder, &full, part, &area, &whole, &scale, asked)) }
            }
        }
        @let left = (here.below.len() + usize::from(here.own.is_some())).saturating_sub(parts.len());
        @if left > 0 { p .detail { "And " (counted(left, "smaller folder")) "." } }
        p .legend { span .swatch .t0 {} " none " @for step in 1..=STEPS { span class=(format!("swatch t{step}")) {} } " " (worth(most, by)) " a file" }
    }
}

/// How strong a colour is, and where tiles lead.
struct Scale<'l> {
    look: &'l CachedRules,
    by: By,
    most: f64,
}

impl Scale<'_> {
    fn step(&self, folder: &Folder) -> usize {
        let mean = folder.mean(self.by);
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

fn worth(mean: f64, by: By) -> String {
    match by {
        By::Rules => format!("{mean:.1} rules"),
        By::Tokens => format!("~{mean:.0} tokens"),
    }
}

fn joined(path: &str, part: &str) -> String {
    [path, part].into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join("/")
}

/// A folder with what is in it. Its name leads into it, its parts to what applies there.
fn group(
    folder: &Folder,
    path: &str,
    title: &str,
    area: &Area,
    whole: &Area,
    scale: &Scale<'_>,
    asked: &Query,
) -> Markup {
    let bar = (BAR / PIXELS * HEIGHT).min(area.height);
    let inside = Area { x: 0.0, y: 0.0, width: area.width, height: area.height - bar };
    let parts = folder.parts();
    let told = format!(
        "{path}: {}, {} a file; look into it",
        counted(folder.files, "file"),
        worth(folder.mean(scale.by), scale.by)
    );
    html! {
        (nested(area, whole, &html! {
            rect .frame width="100%" height="100%" {}
            a href=(format!("map{}", asked.with(&[("folder", path)]))) aria-label=(Text(&told)) {
                title { (Text(&told)) }
                rect .bar width="100%" height=(BAR) {}
                text .title x="6" y="14" { (Text(title)) }
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
    // What is seen comes first in what is said.
    let told = format!("{title} {files}, {} a file: {shown}", worth(folder.mean(scale.by), scale.by));
    let step = scale.step(folder);
    nested(
        area,
        whole,
        &html! {
            a href=(format!("path{}", query(&[("path", &scale.look.full(shown))]))) aria-label=(Text(&told)) {
                title { (Text(&told)) }
                rect class=(format!("tile t{step}")) width="100%" height="100%" {}
                @if area.height > LINE { text class=(format!("label on{step}")) x="6" y="15" { (Text(title)) " " } }
                @if area.height > 2.0 * LINE { text class=(format!("label small on{step}")) x="6" y="29" { (files) } }
            }
        },
    )
}

/// Something in its place; what is too long for it is cut.
fn nested(area: &Area, whole: &Area, inner: &Markup) -> Markup {
    let part = |of: f64, all: f64| percent(of / all.max(f64::EPSILON) * 100.0);
    html! {
        svg x=(part(area.x, whole.width)) y=(part(area.y, whole.height)) width=(part(area.width, whole.width)) height=(part(area.height, whole.height)) { (inner) }
    }
}

/// What the map cannot show: globs for nothing, and files for no rule.
fn beside(look: &CachedRules, report: &Report) -> Markup {
    html! {
        div {
            section aria-labelledby="dead" {
                h2 #dead { "Globs that match no file " span .count { (grouped(report.dead.len())) } }
                @if report.dead.is_empty() { p .none { "Every glob matches something." } }
                ul .plain { @for dead in report.dead.iter().take(MAX_LISTED) {
                    li { code .glob .dead { (Text(&dead.pattern)) } " in " (rule_link(&dead.source, &dead.source)) }
                } }
                @if report.dead.len() > MAX_LISTED { p { "And " (grouped(report.dead.len() - MAX_LISTED)) " more: " code { "rulebook coverage" } } }
            }
            section aria-labelledby="unreached" {
                h2 #unreached { "Files no rule is for " span .count { (grouped(report.unreached.files)) } }
                @if report.unreached.files == 0 { p .none { "Every file has a rule of its own." } }
                ul .plain { @for folder in report.unreached.folders.iter().take(MAX_LISTED) {
                    li { (path_link(&look.full(&folder.path))) " " span .detail { (counted(folder.files, "file")) @if folder.deep { ", all of it" } } }
                } }
            }
            @if look.rows.is_empty() { p .none { "There are no rules yet." } }
        }
    }
}
