//! Tables of names that distinguish files from prose. Each is sorted and in lower case.

/// Extensions that make a bare name a file. Words such as `map`, `name` and `target` are missing on purpose: with them, every
/// property access in code would count as a file.
#[rustfmt::skip]
const EXTENSIONS: &[&str] = &[
    "adoc", "asm", "asp", "aspx", "astro", "avif", "avro", "awk", "bash", "bat", "bazel", "bib", "bicep",
    "bin", "bmp", "bzl", "c", "cc", "cfg", "cfm", "cjs", "clj", "cljc", "cljs", "cls", "cmake", "cmd",
    "coffee", "conf", "config", "cpp", "cr", "cs", "csh", "csproj", "css", "csv", "cts", "cu", "cue", "cxx",
    "d2", "dart", "db", "diff", "dockerfile", "docx", "dot", "dtd", "dts", "edn", "eex", "ejs", "el", "elm",
    "env", "eot", "epub", "erb", "erl", "ex", "exs", "fish", "fs", "fsproj", "fsx", "ftl", "gd", "gemspec",
    "gif", "gitignore", "glsl", "go", "gql", "gradle", "graphql", "graphqls", "groovy", "gz", "h", "haml",
    "hbs", "hcl", "heex", "hpp", "hrl", "hs", "htm", "html", "hxx", "ico", "iml", "ini", "ino", "ipynb",
    "j2", "jar", "java", "jinja", "jinja2", "jl", "jpeg", "jpg", "js", "json", "json5", "jsonc", "jsonl",
    "jsonnet", "jsp", "jsx", "kdl", "ksh", "kt", "kts", "lean", "less", "lhs", "liquid", "lisp", "lock",
    "log", "lua", "m", "mako", "markdown", "md", "mdc", "mdx", "mjs", "mk", "ml", "mli", "mm", "mod", "mov",
    "mp3", "mp4", "mts", "mustache", "nim", "nix", "njk", "ogg", "otf", "parquet", "pas", "patch", "pdf",
    "pem", "php", "phtml", "pl", "plist", "pm", "png", "po", "pot", "pptx", "prisma", "properties", "proto",
    "ps1", "psd1", "psm1", "pug", "py", "pyi", "pyw", "pyx", "qml", "r", "rake", "raml", "rb", "rbi", "rbs",
    "rkt", "rmd", "rs", "rst", "ru", "s", "sass", "sbt", "scala", "scm", "scss", "sh", "sln", "snap", "sol",
    "sql", "sqlite", "starlark", "styl", "sv", "svelte", "svg", "swift", "tar", "tcl", "templ", "tex", "tf",
    "tfvars", "tgz", "thrift", "tmpl", "toml", "tpl", "ts", "tsv", "tsx", "ttf", "twig", "txt", "typ", "v",
    "vala", "vb", "vbs", "vert", "vhd", "vhdl", "vim", "vue", "wasm", "wat", "webm", "webp", "wgsl", "woff",
    "woff2", "wsdl", "xaml", "xhtml", "xls", "xlsx", "xml", "xsd", "xsl", "xslt", "yaml", "yml", "zig",
    "zip", "zsh",
];

/// Top-level domains. None of them is in [`EXTENSIONS`].
#[rustfmt::skip]
const DOMAINS: &[&str] = &[
    "ai", "app", "au", "biz", "br", "ca", "ch", "cloud", "cn", "co", "com", "de", "dev", "edu", "es", "eu",
    "fr", "gg", "gov", "info", "io", "jp", "kr", "ly", "me", "net", "nl", "online", "org", "se", "site",
    "tech", "to", "tv", "uk", "us", "xyz",
];

/// Names of products and expressions in code that look like files.
#[rustfmt::skip]
const LOOKALIKES: &[&str] = &[
    "ado.net", "adonis.js", "alpine.js", "angular.js", "anime.js", "asp.net", "babylon.js", "backbone.js",
    "brain.js", "bun.js", "chart.js", "console.log", "d3.js", "day.js", "deno.js", "discord.js",
    "electron.js", "ember.js", "express.js", "fabric.js", "gatsby.js", "handlebars.js", "hapi.js",
    "import.meta.env", "knockout.js", "koa.js", "lodash.js", "math.log", "matter.js", "meteor.js",
    "moment.js", "mustache.js", "nest.js", "next.js", "node.js", "nuxt.js", "p5.js", "paper.js",
    "phaser.js", "pixi.js", "polymer.js", "preact.js", "process.env", "react.js", "require.js", "rollup.js",
    "sails.js", "socket.io", "solid.js", "stimulus.js", "strapi.js", "svelte.js", "tensorflow.js",
    "three.js", "transformers.js", "underscore.js", "vb.net", "velocity.js", "video.js", "vite.js",
    "vue.js", "webpack.js",
];

/// Abbreviations that end like a file with an extension.
const ABBREVIATIONS: &[&str] = &["a.k.a", "a.m", "e.g", "i.e", "p.m", "p.s", "u.s"];

/// Common file names without an extension. Names that end in `file` are recognized by their ending.
const UNEXTENDED: &[&str] = &["build", "codeowners", "license", "notice", "readme", "workspace"];

/// Types of media types, as in `image/*`.
const MEDIA: &[&str] = &["application", "audio", "font", "image", "multipart", "text", "video"];

/// Words between two paths that are not part of a path.
const JOINERS: &[&str] = &["and", "as", "for", "from", "in", "into", "is", "of", "or", "the", "to", "with"];

const MAX_EXTENSION: usize = 10;

/// The extension of a file name: a letter, then up to nine letters or digits. `c++` counts too.
pub(super) fn extension(name: &str) -> Option<&str> {
    let (_, extension) = name.rsplit_once('.')?;
    let plain = extension.trim_end_matches('+');
    let is_plausible = plain.starts_with(|first: char| first.is_ascii_alphabetic())
        && plain.len() <= MAX_EXTENSION
        && plain.bytes().all(|byte| byte.is_ascii_alphanumeric());
    is_plausible.then_some(extension)
}

/// Whether the text ends in an extension, so that the path ends here. Examines only the end of the text.
pub(super) fn is_complete(text: &str) -> bool {
    let plain = text.trim_end_matches('+');
    let length = plain.bytes().rev().take(MAX_EXTENSION + 1).take_while(u8::is_ascii_alphanumeric).count();
    let (stem, extension) = plain.split_at(plain.len() - length);
    extension.starts_with(|first: char| first.is_ascii_alphabetic())
        && length <= MAX_EXTENSION
        && stem
            .strip_suffix('.')
            .is_some_and(|stem| stem.ends_with(|last: char| !matches!(last, '.' | '/' | '\\')))
}

pub(super) fn is_familiar(extension: &str) -> bool {
    contains(EXTENSIONS, extension.trim_end_matches('+'))
}

/// Whether the name is like `docs.example.com`, `localhost` or `127.0.0.1`.
pub(super) fn is_host(name: &str) -> bool {
    let is_address = || {
        name.split('.').count() == 4
            && name.split('.').all(|part| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit()))
    };
    name == "localhost" || is_domain(name) || is_address()
}

/// Whether the name is like `example.com`.
pub(super) fn is_domain(name: &str) -> bool {
    name.rsplit_once('.').is_some_and(|(stem, last)| {
        !stem.is_empty()
            && contains(DOMAINS, last)
            && stem.chars().all(|c| c.is_alphanumeric() || matches!(c, '.' | '-'))
    })
}

pub(super) fn is_lookalike(name: &str) -> bool {
    contains(LOOKALIKES, name)
}

pub(super) fn is_abbreviation(name: &str) -> bool {
    contains(ABBREVIATIONS, name)
}

/// Whether the name is like `Makefile` or `LICENSE`: a file by convention.
pub(super) fn is_unextended(name: &str) -> bool {
    name.starts_with(|first: char| first.is_ascii_uppercase())
        && (is_filename_word(name) || (is_all_caps(name) && contains(UNEXTENDED, name)))
}

/// Whether the name is like `Makefile`, `justfile` or `profile`.
pub(super) fn is_filename_word(name: &str) -> bool {
    name.len() > "file".len() && name.ends_with("file")
}

/// Whether the name is like `LICENSE` or `HTTP`.
pub(super) fn is_all_caps(name: &str) -> bool {
    name.len() > 2 && name.bytes().all(|byte| byte.is_ascii_uppercase() || matches!(byte, b'_' | b'-'))
}

pub(super) fn is_media(name: &str) -> bool {
    contains(MEDIA, name)
}

pub(super) fn is_joiner(word: &str) -> bool {
    contains(JOINERS, word)
}

fn contains(table: &[&str], name: &str) -> bool {
    table.binary_search(&name.to_ascii_lowercase().as_str()).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_are_sorted_and_disjoint() {
        for table in [EXTENSIONS, DOMAINS, LOOKALIKES, ABBREVIATIONS, UNEXTENDED, MEDIA, JOINERS] {
            assert!(table.is_sorted_by(|a, b| a < b), "{table:?}");
        }
        assert_eq!(DOMAINS.iter().find(|last| EXTENSIONS.contains(last)), None);
    }
}
