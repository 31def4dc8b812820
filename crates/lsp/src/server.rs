//! The protocol: documents are opened and changed, requests are answered, findings are published.
//!
//! One thread answers requests; none waits for a check of a text that changes faster than it is read, since findings
//! are sought only when no message has arrived for `TYPING_PAUSE`. Deep checks have threads of their own.

mod deep;
mod document;
mod requests;
pub mod uri;

use std::cell::OnceCell;
use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::Duration;

use ioxide_model::diag::Diagnostic;
use ioxide_smt::halt::Halt;
use lsp_server::{Connection, ErrorCode, Message, Notification, ProtocolError, Request, Response};
use lsp_types::{
    DidChangeTextDocumentParams, DidCloseTextDocumentParams, DidOpenTextDocumentParams,
    DidSaveTextDocumentParams, InitializeParams, PublishDiagnosticsParams, Uri,
};
use serde_json::json;

use self::deep::DeepCheck;
use self::document::OpenDocument;
use self::uri::{file_uri, uri_path};
use crate::analysis::{TextAnalysis, TextCheckup, TextLibrary, check_up, normalise_path};
use crate::answers::action::RepairedText;
use crate::answers::diagnostic::FindingsView;
use crate::answers::lens::LastCampaign;
use crate::text::DocumentText;

/// The time without messages after which findings are sought. Less than the pause between two keys, so that a burst of
/// changes is checked once; chosen by feel.
const TYPING_PAUSE: Duration = Duration::from_millis(30);

/// The environment of the server: files, records and time.
pub trait ServerEnvironment: Send + Sync {
    /// Returns the text of a file.
    ///
    /// # Errors
    /// If the file cannot be read.
    fn read(&self, path: &str) -> std::io::Result<String>;

    /// Returns the paths of the models in the folders of the workspace, or beside `path` if there is none.
    fn models(&self, roots: &[String], path: &str) -> Vec<String>;

    /// Returns the coverage by the last recorded campaign on the model at `path`; `None` if there is no record.
    fn last_campaign(&self, roots: &[String], path: &str) -> Option<LastCampaign>;

    /// Returns the text of the model at `path`, which is `text` now, with the smallest change under which it allows
    /// every run of the record; `None` if none is found in a few seconds.
    fn repair(&self, path: &str, text: &str, record: &str) -> Option<RepairedText>;

    /// Returns a halt signal that is raised after `time`.
    fn deadline(&self, time: Duration) -> Halt;
}

/// The reason why the server ended without a request to shut down.
#[derive(Debug)]
pub enum ServerError {
    /// The editor violated the protocol, or closed the connection.
    Protocol(ProtocolError),
    /// The parameters of the initialisation could not be read.
    Greeting(serde_json::Error),
    /// The connection broke.
    Gone,
}

impl std::fmt::Display for ServerError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Protocol(error) => write!(f, "the editor broke the protocol: {error}"),
            Self::Greeting(error) => write!(f, "cannot read the initialize request of the editor: {error}"),
            Self::Gone => f.write_str("the editor closed the connection"),
        }
    }
}

impl std::error::Error for ServerError {}

impl From<ProtocolError> for ServerError {
    fn from(error: ProtocolError) -> Self {
        Self::Protocol(error)
    }
}

/// Serves an editor until it shuts the server down.
///
/// # Errors
/// If the editor violates the protocol or closes the connection.
pub fn serve(connection: &Connection, host: Arc<dyn ServerEnvironment>) -> Result<(), ServerError> {
    let server = json!({ "name": "ioxide", "version": env!("CARGO_PKG_VERSION") });
    let greeting = json!({ "capabilities": requests::capabilities(), "serverInfo": server });
    let (id, params) = connection.initialize_start()?;
    connection.initialize_finish(id, greeting)?;
    let params: InitializeParams = serde_json::from_value(params).map_err(ServerError::Greeting)?;
    LspServer::new(connection, host, &params).run_loop()
}

/// A server with its open documents.
pub(crate) struct LspServer<'c> {
    connection: &'c Connection,
    host: Arc<dyn ServerEnvironment>,
    documents: BTreeMap<String, OpenDocument>,
    /// The folders of the workspace.
    roots: Vec<String>,
    /// True if deep checks are wanted.
    deep: bool,
}

impl<'c> LspServer<'c> {
    /// Makes a server without documents; its roots and `deep` come from the parameters of the client.
    fn new(connection: &'c Connection, host: Arc<dyn ServerEnvironment>, params: &InitializeParams) -> Self {
        let folders = params.workspace_folders.iter().flatten();
        let roots = folders.map(|folder| uri_path(&folder.uri)).collect();
        let wanted =
            params.initialization_options.as_ref().and_then(|options| options.get("deep")?.as_bool());
        Self { connection, host, documents: BTreeMap::new(), roots, deep: wanted.unwrap_or(true) }
    }

    fn run_loop(mut self) -> Result<(), ServerError> {
        loop {
            let has_news = self.documents.values().any(|document| document.findings.is_none());
            let message = if has_news {
                match self.connection.receiver.recv_timeout(TYPING_PAUSE) {
                    Ok(message) => message,
                    Err(error) if error.is_timeout() => {
                        self.check_one()?;
                        continue;
                    }
                    Err(_) => return Err(ServerError::Gone),
                }
            } else {
                self.connection.receiver.recv().map_err(|_| ServerError::Gone)?
            };
            match message {
                Message::Request(request) => {
                    if self.connection.handle_shutdown(&request)? {
                        return Ok(());
                    }
                    self.handle_request(request)?;
                }
                Message::Notification(notification) => self.handle_notification(notification),
                Message::Response(_) => {}
            }
        }
    }

    /// Sends a message to the editor; fails if it is gone.
    fn send(&self, message: Message) -> Result<(), ServerError> {
        self.connection.sender.send(message).map_err(|_| ServerError::Gone)
    }

    /// Answers a request; a panic in an answer becomes an error response and ends nothing.
    fn handle_request(&mut self, request: Request) -> Result<(), ServerError> {
        let id = request.id.clone();
        let answered = catch_unwind(AssertUnwindSafe(|| self.answer_request(request)));
        let response = answered.unwrap_or_else(|_| {
            let message = "this is a bug in ioxide; please report it with the text of the document";
            Response::new_err(id, ErrorCode::InternalError as i32, message.to_owned())
        });
        self.send(Message::Response(response))
    }

    fn handle_notification(&mut self, notification: Notification) {
        match notification.method.as_str() {
            "textDocument/didOpen" => {
                if let Ok(params) = serde_json::from_value(notification.params) {
                    self.open_document(params);
                }
            }
            "textDocument/didChange" => {
                if let Ok(params) = serde_json::from_value(notification.params) {
                    self.change_document(params);
                }
            }
            "textDocument/didClose" => {
                if let Ok(params) = serde_json::from_value(notification.params) {
                    self.close_document(&params);
                }
            }
            "textDocument/didSave" => {
                if let Ok(params) = serde_json::from_value::<DidSaveTextDocumentParams>(notification.params) {
                    self.recheck_after_save(&params.text_document.uri);
                }
            }
            _ => {}
        }
    }

    fn open_document(&mut self, params: DidOpenTextDocumentParams) {
        let uri = params.text_document.uri;
        let path = document_path(&uri, &params.text_document.language_id);
        let document =
            OpenDocument::new(uri.clone(), path, params.text_document.version, params.text_document.text);
        self.documents.insert(uri.as_str().to_owned(), document);
    }

    fn change_document(&mut self, params: DidChangeTextDocumentParams) {
        let Some(document) = self.documents.get_mut(params.text_document.uri.as_str()) else { return };
        let mut text: DocumentText = document.text().clone();
        for change in params.content_changes {
            text = text.replace_range(change.range, &change.text);
        }
        document.change(params.text_document.version, text);
    }

    fn close_document(&mut self, params: &DidCloseTextDocumentParams) {
        let uri = params.text_document.uri.clone();
        self.documents.remove(uri.as_str());
        let params = PublishDiagnosticsParams { uri, diagnostics: Vec::new(), version: None };
        let _ = self.send(publish_message(&params));
    }

    /// Has open systems that use other files checked again, since one of these may have been saved.
    fn recheck_after_save(&mut self, uri: &Uri) {
        // Campaigns are run beside the editor; saving is the usual moment in which a new one has come.
        self.documents.values_mut().for_each(|document| document.campaign = OnceCell::new());
        let others = self.documents.values_mut().filter(|document| document.uri != *uri);
        for document in others.filter(|document| !document.analysis().index.files.is_empty()) {
            (document.findings, document.model, document.deep) = (None, None, None);
        }
    }

    /// Seeks and publishes the findings of one document.
    fn check_one(&mut self) -> Result<(), ServerError> {
        let waiting = self.documents.iter().find(|(_, document)| document.findings.is_none());
        let Some(key) = waiting.map(|(key, _)| key.clone()) else { return Ok(()) };
        let checkup = self.check_document(&key);
        let Some(document) = self.documents.get_mut(&key) else { return Ok(()) };
        let Some(checkup) = checkup else {
            document.findings = Some(Vec::new());
            return Ok(());
        };
        let (uri, version) = (document.uri.clone(), document.version);
        document.findings = Some(checkup.split_by_file().0.into_iter().cloned().collect());
        document.model = Some(checkup.loaded.model.clone().map(Arc::new));
        let uses = used_files(document.analysis());
        let first = diagnostics_message(&checkup, &uses, &uri, version, &[]);
        self.send(publish_message(&first))?;
        if self.deep && checkup.loaded.model.is_some() {
            let sender = self.connection.sender.clone();
            let check = DeepCheck::start(checkup, &self.host, move |checkup, found| {
                // A client that has gone away gets no answer.
                let _ =
                    sender.send(publish_message(&diagnostics_message(checkup, &uses, &uri, version, found)));
            });
            if let Some(document) = self.documents.get_mut(&key) {
                document.deep = Some(check);
            }
        }
        Ok(())
    }

    /// Checks a document; returns `None` if the check panicked.
    fn check_document(&self, key: &str) -> Option<TextCheckup> {
        let document = self.documents.get(key)?;
        let mut read = |path: &str| self.read_text(path);
        let look = || check_up(&document.path, document.text().as_str(), &mut read);
        catch_unwind(AssertUnwindSafe(look)).ok()
    }

    /// Returns the text of an open document, or of a file.
    fn read_text(&self, path: &str) -> std::io::Result<String> {
        let path = &normalise_path(path);
        let open = self.documents.values().find(|document| document.path == *path);
        open.map_or_else(|| self.host.read(path), |document| Ok(document.text().as_str().to_owned()))
    }
}

impl TextLibrary for LspServer<'_> {
    fn analysis(&self, path: &str) -> Option<Arc<TextAnalysis>> {
        let path = &normalise_path(path);
        if let Some(document) = self.documents.values().find(|document| document.path == *path) {
            return Some(Arc::clone(document.analysis()));
        }
        let text = self.host.read(path).ok()?;
        Some(Arc::new(TextAnalysis::new(path, DocumentText::new(text))))
    }
}

/// Returns the path of a document; one that was never saved gets the extension of its language.
fn document_path(uri: &Uri, language: &str) -> String {
    let path = uri_path(uri);
    let has_extension = path.rsplit('/').next().is_some_and(|name| name.contains('.'));
    if language == "ioxide" && !has_extension { format!("{path}.iox") } else { path }
}

/// Returns the paths of the files that a text uses, each with the place where it is named.
fn used_files(analysis: &TextAnalysis) -> Vec<(String, lsp_types::Range)> {
    let items = analysis.tree.system.iter().flat_map(|system| &system.items);
    let used = items.filter_map(|item| match &item.kind {
        ioxide_lang::ast::SystemItemKind::Use(used) => {
            let at = used.path_span.range();
            let path = crate::analysis::resolve_path(&analysis.path, &used.path);
            Some((path, analysis.text.range(at.start, at.end)))
        }
        _ => None,
    });
    let shared = analysis.tree.preamble.iter().filter_map(|item| match item {
        ioxide_lang::ast::PreambleItem::Use(used) => Some((&used.path, used.path_span)),
        ioxide_lang::ast::PreambleItem::Item(_) => None,
    });
    let shared = shared.map(|(path, span)| {
        let path = crate::analysis::resolve_path(&analysis.path, path);
        (path, analysis.text.range(span.range().start, span.range().end))
    });
    used.chain(shared).collect()
}

/// Returns the findings of a check and of a deep check for publication.
fn diagnostics_message(
    checkup: &TextCheckup,
    uses: &[(String, lsp_types::Range)],
    uri: &Uri,
    version: i32,
    deep: &[Diagnostic],
) -> PublishDiagnosticsParams {
    let address = |path: &str| {
        if path == checkup.sources.file(checkup.file).name { Some(uri.clone()) } else { file_uri(path) }
    };
    let mut view = FindingsView::new(&checkup.sources, &address);
    let all = checkup.loaded.diagnostics.iter().chain(deep);
    let diagnostics = all.map(|finding| {
        if finding.span.file == checkup.file {
            return view.to_protocol(finding);
        }
        let file = &checkup.sources.file(finding.span.file).name;
        let used = uses.iter().find(|(path, _)| path == file);
        view.to_protocol_at(finding, used.map(|(_, range)| *range).unwrap_or_default())
    });
    PublishDiagnosticsParams { uri: uri.clone(), diagnostics: diagnostics.collect(), version: Some(version) }
}

fn publish_message(params: &PublishDiagnosticsParams) -> Message {
    Message::Notification(Notification::new("textDocument/publishDiagnostics".to_owned(), params))
}
