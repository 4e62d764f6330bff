//! `mcp`: a server for agents, over standard input and output.
//!
//! The runtime starts here. Every request opens the workspace again: rules, settings and toggles change while an agent
//! works.

mod client;
mod hook;
mod roots;
mod skills;
mod tools;
mod watch;

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, OnceLock};
use std::time::SystemTime;

use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, CustomRequest, CustomResult,
    DiscoverResult, ErrorCode, ExtensionCapabilities, Implementation, InitializeRequestParams,
    InitializeResult, JsonObject, ListResourceTemplatesResult, ListResourcesResult, ListToolsResult,
    PaginatedRequestParams, ProtocolVersion, ReadResourceRequestParams, ReadResourceResponse,
    ReadResourceResult, Resource, ResourceContents, ResourceTemplate, ServerCapabilities, ServerConfig,
    SubscribeRequestParams, SubscriptionFilter, UnsubscribeRequestParams,
};
use rmcp::service::{NotificationContext, RequestContext, SubscriptionContext, serve_directly};
use rmcp::{ErrorData, RoleServer, ServerHandler, transport};
use rulebook::id::rule_uri;
use rulebook::resolve::Rulebook;
use rulebook::session::Session;
use rulebook_workspace::{MARKDOWN, Reach, Workspace};
use serde_json::json;
use tokio::sync::watch::Sender;

use super::read;
use crate::args::Args;
use crate::input::open_workspace;
use crate::lock::lock;
use crate::out;
use client::KnownClient;

/// What a model reads about the server. Like every description here it does not change within a session, so that a prompt
/// cache keeps its prefix.
const INSTRUCTIONS: &str = "Rulebook knows which of this workspace's rules apply, and why. \
Before you read or change files, call `rules_for` with their paths and what you were asked to do, and follow the text \
it returns. Where that text lists `rule://NAME`, call `read_rule` when you work in that domain. \
`explain` says why a rule applies to a path or does not.";

/// The same for an agent whose hooks deliver the rules.
const WITH_HOOKS: &str = "Rulebook knows which of this workspace's rules apply, and why. Rules that apply to your work \
are added to the conversation without a call. Where a text lists `rule://NAME`, call `read_rule` when you work in that \
domain. `explain` says why a rule applies to a path or does not, and `rules_for` returns the rules for paths that you \
have not used yet.";

/// Answers until the client goes away.
pub(super) fn run(args: &Args) -> anyhow::Result<()> {
    let opener = Arc::new(Opener { args: args.lasting(), ..Opener::default() });
    // A missing root is reported now, not with the first request.
    opener.workspace()?;
    let fresh = Arc::clone(&opener);
    super::keep_fresh::keep_fresh(move || fresh.workspace());
    let server = Server {
        opener,
        is_watching: AtomicBool::new(false),
        started: SystemTime::now(),
        client: OnceLock::new(),
        session: Mutex::default(),
    };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    // Directly: the handshake is then a request like the others, and what a client sends before it is answered instead of
    // ending the server.
    let ended = runtime.block_on(async { serve_directly(server, transport::stdio(), None).waiting().await });
    // A scan of the files that is still running need not be waited for.
    runtime.shutdown_background();
    ended?;
    Ok(())
}

struct Server {
    opener: Arc<Opener>,
    is_watching: AtomicBool,
    /// When it started.
    started: SystemTime,
    /// The agent that the client says it is, if it is a known one.
    client: OnceLock<KnownClient>,
    /// The conversation: this process is the session. `None` for a client that made no handshake and has no session.
    session: Mutex<Option<Session>>,
}

/// Opens the workspace for each request.
#[derive(Default)]
struct Opener {
    args: Args,
    /// The client's roots; empty if it has none, or if the command line names some.
    client_roots: Mutex<Vec<PathBuf>>,
    /// Whether the client still has to name its roots.
    awaits_roots: Sender<bool>,
    /// The list of rules that the client knows: the last one it received, or was notified of.
    known: Mutex<Option<Vec<Resource>>>,
    /// The rules that the client subscribed to, each with its last text; `None` while it does not exist.
    followed: Mutex<BTreeMap<String, Option<String>>>,
}

impl Opener {
    fn workspace(&self) -> anyhow::Result<Workspace> {
        let root = lock(&self.client_roots).clone();
        if root.is_empty() {
            open_workspace(&self.args)
        } else {
            open_workspace(&Args { root, ..self.args.lasting() })
        }
    }

    fn book(&self) -> anyhow::Result<Rulebook> {
        Ok(self.workspace()?.load(Reach::Tree).book)
    }

    /// Every rule that can be read, by name.
    fn resources(&self) -> anyhow::Result<Vec<Resource>> {
        self.book().map(|book| resources_of(&book))
    }

    /// Replaces the list that the client knows, and returns the previous one.
    fn replace_known(&self, resources: Vec<Resource>) -> Option<Vec<Resource>> {
        lock(&self.known).replace(resources)
    }
}

/// The text of a rule, if it exists.
fn text_of(book: &Rulebook, uri: &str) -> Option<String> {
    book.read(uri).ok().map(|rule| rule.readable().into_owned())
}

fn resources_of(book: &Rulebook) -> Vec<Resource> {
    let readable = book.rules().filter(|(_, off)| off.is_none()).map(|(rule, _)| {
        let resource = Resource::new(rule_uri(rule.address()), out::clean(rule.address()))
            .with_title(out::clean(&rule.origin.display))
            .with_mime_type(MARKDOWN)
            .with_size(rule.readable().len() as u64);
        match &rule.description {
            Some(description) => resource.with_description(out::clean(description)),
            None => resource,
        }
    });
    let mut resources: Vec<Resource> = readable.collect();
    resources.sort_by(|a, b| a.uri.cmp(&b.uri));
    resources
}

type McpResult<T> = Result<T, ErrorData>;
type Request = RequestContext<RoleServer>;
type Notification = NotificationContext<RoleServer>;

impl ServerHandler for Server {
    fn get_info(&self) -> ServerConfig {
        let extensions = ExtensionCapabilities::from([(skills::EXTENSION.to_owned(), JsonObject::new())]);
        let capabilities = ServerCapabilities::builder()
            .enable_tools()
            .enable_resources()
            .enable_resources_list_changed()
            .enable_resources_subscribe()
            .enable_extensions_with(extensions)
            .build();
        ServerConfig::new(capabilities)
            .with_protocol_version(ProtocolVersion::LATEST_WITH_INITIALIZE)
            .with_server_info(Implementation::new("rulebook", env!("CARGO_PKG_VERSION")))
            .with_instructions(INSTRUCTIONS)
    }

    async fn initialize(
        &self,
        mut request: InitializeRequestParams,
        context: Request,
    ) -> McpResult<InitializeResult> {
        let mut agreed = self.negotiate_initialize(&request)?;
        agreed.instructions = Some(self.instructions_for(&request.client_info.name));
        request.protocol_version = agreed.protocol_version.clone();
        self.opener.expect_roots(&request);
        context.peer.set_peer_info(request);
        *lock(&self.session) = Some(Session::default());
        Ok(agreed)
    }

    /// The first request of a client that makes no handshake. Such a client has no session.
    async fn discover(&self, context: Request) -> McpResult<DiscoverResult> {
        let mut info = self.get_info();
        info.instructions = context.client_info().map(|client| self.instructions_for(&client.name));
        Ok(DiscoverResult::from_server_info(self.supported_protocol_versions().into_owned(), info))
    }

    fn accepted_subscription_filter(&self, requested: &SubscriptionFilter) -> Option<SubscriptionFilter> {
        Some(requested.clone())
    }

    async fn listen(&self, context: SubscriptionContext) -> McpResult<()> {
        watch::listen(Arc::clone(&self.opener), &context).await;
        Ok(())
    }

    async fn on_initialized(&self, context: Notification) {
        if !self.is_watching.swap(true, Ordering::Relaxed) {
            tokio::spawn(roots::query(Arc::clone(&self.opener), context.peer.clone()));
            tokio::spawn(watch::watch(Arc::clone(&self.opener), context.peer));
        }
    }

    async fn on_roots_list_changed(&self, context: Notification) {
        if let Some(client) = context.peer.peer_info() {
            self.opener.expect_roots(&client);
        }
        tokio::spawn(roots::query(Arc::clone(&self.opener), context.peer));
    }

    async fn subscribe(&self, request: SubscribeRequestParams, _: Request) -> McpResult<()> {
        self.opener.roots_known().await;
        self.read_uri(&request.uri)?;
        let text = self.opener.book().ok().and_then(|book| text_of(&book, &request.uri));
        lock(&self.opener.followed).insert(request.uri, text);
        Ok(())
    }

    async fn unsubscribe(&self, request: UnsubscribeRequestParams, _: Request) -> McpResult<()> {
        lock(&self.opener.followed).remove(&request.uri);
        Ok(())
    }

    async fn list_tools(&self, _: Option<PaginatedRequestParams>, _: Request) -> McpResult<ListToolsResult> {
        Ok(ListToolsResult::with_all_items(tools::list()))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: Request,
    ) -> McpResult<CallToolResponse> {
        self.opener.roots_known().await;
        let arguments = request.arguments.unwrap_or_default().into();
        if let Some(client) = context.client_info() {
            self.recognise(&client.name);
        }
        let result = match tools::call(self, &request.name, arguments)? {
            Ok(output) => {
                let mut result = CallToolResult::success(vec![ContentBlock::text(output.text)]);
                result.structured_content = output.structured.filter(|_| knows_structured(&context));
                result
            }
            Err(error) => CallToolResult::error(vec![ContentBlock::text(words(&error))]),
        };
        Ok(result.into())
    }

    async fn list_resources(
        &self,
        _: Option<PaginatedRequestParams>,
        _: Request,
    ) -> McpResult<ListResourcesResult> {
        self.opener.roots_known().await;
        let listed = self.opener.resources().map_err(|error| internal(&error))?;
        self.opener.replace_known(listed.clone());
        Ok(ListResourcesResult::with_all_items(listed))
    }

    async fn list_resource_templates(
        &self,
        _: Option<PaginatedRequestParams>,
        _: Request,
    ) -> McpResult<ListResourceTemplatesResult> {
        let rule = ResourceTemplate::new("rule://{+name}", "rule")
            .with_description("One rule's text, by its name")
            .with_mime_type(MARKDOWN);
        Ok(ListResourceTemplatesResult::with_all_items(vec![rule]))
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        _: Request,
    ) -> McpResult<ReadResourceResponse> {
        self.opener.roots_known().await;
        self.read_uri(&request.uri).map(ReadResourceResponse::from)
    }

    /// Answers the methods of extensions, an unknown method, or a known one whose parameters cannot be read.
    async fn on_custom_request(&self, request: CustomRequest, _: Request) -> McpResult<CustomResult> {
        self.opener.roots_known().await;
        let book = || self.opener.book().map_err(|error| internal(&error));
        let uri = || request.params.as_ref().and_then(|params| params["uri"].as_str());
        match (request.method.as_str(), uri()) {
            ("skills/list", _) => Ok(CustomResult::new(skills::list(&book()?))),
            ("skills/get", Some(uri)) => match skills::get(&book()?, uri) {
                Some(skill) => Ok(CustomResult::new(skill)),
                None => Err(no_skill(uri)),
            },
            (method, _) => Err(match NEEDS.iter().find(|(needy, _)| *needy == method) {
                Some((_, needs)) => ErrorData::invalid_params(*needs, None),
                None => {
                    let message = format!("unknown method `{}`", out::clean(method));
                    ErrorData::new(ErrorCode::METHOD_NOT_FOUND, message, None)
                }
            }),
        }
    }
}

fn no_skill(uri: &str) -> ErrorData {
    let message = format!("no skill `{}`; `skills/list` lists the skills", out::clean(uri));
    ErrorData::invalid_params(message, Some(json!({ "uri": uri })))
}

/// Methods that need parameters, and what to write.
const NEEDS: &[(&str, &str)] = &[
    ("initialize", "write `params` with `protocolVersion`, `capabilities` and `clientInfo`"),
    ("server/discover", "write `params` with `_meta`: protocol version, client information and capabilities"),
    ("resources/subscribe", "write `params` as {\"uri\": \"rule://NAME\"}"),
    ("resources/unsubscribe", "write `params` as {\"uri\": \"rule://NAME\"}"),
    ("resources/read", "write `params` as {\"uri\": \"rule://NAME\"}"),
    ("skills/get", "write `params` as {\"uri\": \"skill://NAME/SKILL.md\"}"),
    ("tools/call", "write `params` as {\"name\": \"rules_for\", \"arguments\": {…}}"),
];

impl Server {
    /// Remembers which agent the client is, if it is a known one.
    fn recognise(&self, name: &str) -> Option<&KnownClient> {
        if self.client.get().is_none() {
            let workspace = self.opener.workspace();
            let known = KnownClient::named(name, workspace.as_ref().ok());
            let _ = known.map(|client| self.client.set(client));
        }
        self.client.get()
    }

    fn instructions_for(&self, client: &str) -> String {
        let is_hooked = self.recognise(client).is_some_and(|client| client.hooks.is_some());
        (if is_hooked { WITH_HOOKS } else { INSTRUCTIONS }).to_owned()
    }

    fn read_uri(&self, uri: &str) -> McpResult<ReadResourceResult> {
        let loaded = self.opener.workspace().map_err(|error| internal(&error))?.load(Reach::Tree);
        if uri.starts_with("skill://") {
            let skill = skills::find(&loaded.book, uri).ok_or_else(|| no_skill(uri))?;
            let text = ResourceContents::text(skill.text, uri).with_mime_type(MARKDOWN);
            return Ok(ReadResourceResult::new(vec![text]));
        }
        let named = if uri.starts_with("rule://") { loaded.book.read(uri).ok() } else { None };
        let rule = named.ok_or_else(|| {
            let message = words(&read::unknown(uri, &loaded, usize::MAX));
            ErrorData::resource_not_found(message, Some(json!({ "uri": uri })))
        })?;
        let text = ResourceContents::text(rule.readable(), uri).with_mime_type(MARKDOWN);
        Ok(ReadResourceResult::new(vec![text]))
    }
}

/// Whether the client's protocol has structured content.
fn knows_structured(context: &Request) -> bool {
    let version = context.protocol_version();
    version.is_none_or(|version| version.as_str() >= ProtocolVersion::V_2025_06_18.as_str())
}

fn internal(error: &anyhow::Error) -> ErrorData {
    ErrorData::internal_error(words(error), None)
}

/// An error and what to do about it.
fn words(error: &anyhow::Error) -> String {
    error.chain().map(ToString::to_string).collect::<Vec<_>>().join("\nhelp: ")
}
