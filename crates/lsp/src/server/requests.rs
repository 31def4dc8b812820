//! The requests of the protocol, one function each.

#![expect(clippy::mutable_key_type, reason = "the protocol's own type of changes is a map by address")]

use std::collections::HashMap;
use std::sync::Arc;

use ioxide_model::sts::Model;
use lsp_server::{ErrorCode, Request, Response};
use lsp_types::{
    CodeAction, CodeActionKind, CodeActionOptions, CodeActionOrCommand, CodeActionParams,
    CodeActionProviderCapability, CodeLensOptions, CodeLensParams, CompletionList, CompletionOptions,
    CompletionParams, DocumentFormattingParams, DocumentSymbolParams, DocumentSymbolResponse,
    FoldingRangeParams, FoldingRangeProviderCapability, GotoDefinitionParams, HoverParams,
    HoverProviderCapability, Location, NumberOrString, OneOf, PrepareRenameResponse, ReferenceParams,
    RenameOptions, RenameParams, SaveOptions, SemanticTokens, SemanticTokensFullOptions,
    SemanticTokensLegend, SemanticTokensOptions, SemanticTokensParams, ServerCapabilities,
    SignatureHelpOptions, SignatureHelpParams, TextDocumentPositionParams, TextDocumentSyncCapability,
    TextDocumentSyncKind, TextDocumentSyncOptions, TextDocumentSyncSaveOptions, TextEdit, Uri,
    WorkDoneProgressOptions, WorkspaceEdit,
};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value as Json, json};

use super::uri::file_uri;
use super::{LspServer, OpenDocument};
use crate::analysis::{TextAnalysis, TextLibrary};
use crate::answers::definition::PlaceIn;
use crate::answers::{
    action, completion, definition, fold, hover, layout, lens, rename, signature, symbol, token,
};
use crate::text::DocumentText;

/// The error response to a request.
pub(super) struct NoAnswer {
    code: ErrorCode,
    message: String,
}

impl NoAnswer {
    /// Returns a refusal that editors show to the user.
    fn refuse(message: String) -> Self {
        Self { code: ErrorCode::RequestFailed, message }
    }
}

type LspAnswer = Result<Json, NoAnswer>;

/// Returns the capabilities that the server announces.
pub(super) fn capabilities() -> ServerCapabilities {
    let no_progress = WorkDoneProgressOptions::default();
    ServerCapabilities {
        text_document_sync: Some(TextDocumentSyncCapability::Options(TextDocumentSyncOptions {
            open_close: Some(true),
            change: Some(TextDocumentSyncKind::INCREMENTAL),
            save: Some(TextDocumentSyncSaveOptions::SaveOptions(SaveOptions { include_text: Some(false) })),
            ..TextDocumentSyncOptions::default()
        })),
        hover_provider: Some(HoverProviderCapability::Simple(true)),
        definition_provider: Some(OneOf::Left(true)),
        references_provider: Some(OneOf::Left(true)),
        rename_provider: Some(OneOf::Right(RenameOptions {
            prepare_provider: Some(true),
            work_done_progress_options: no_progress,
        })),
        completion_provider: Some(CompletionOptions {
            trigger_characters: Some([".", "@", ">", "(", ":", " "].map(str::to_owned).to_vec()),
            ..CompletionOptions::default()
        }),
        signature_help_provider: Some(SignatureHelpOptions {
            trigger_characters: Some(["(", ","].map(str::to_owned).to_vec()),
            ..SignatureHelpOptions::default()
        }),
        document_formatting_provider: Some(OneOf::Left(true)),
        document_symbol_provider: Some(OneOf::Left(true)),
        folding_range_provider: Some(FoldingRangeProviderCapability::Simple(true)),
        code_action_provider: Some(CodeActionProviderCapability::Options(CodeActionOptions {
            code_action_kinds: Some(vec![CodeActionKind::QUICKFIX]),
            resolve_provider: Some(true),
            ..CodeActionOptions::default()
        })),
        code_lens_provider: Some(CodeLensOptions { resolve_provider: Some(false) }),
        semantic_tokens_provider: Some(
            SemanticTokensOptions {
                legend: SemanticTokensLegend {
                    token_types: token::TYPES.to_vec(),
                    token_modifiers: token::MODIFIERS.to_vec(),
                },
                full: Some(SemanticTokensFullOptions::Bool(true)),
                ..SemanticTokensOptions::default()
            }
            .into(),
        ),
        ..ServerCapabilities::default()
    }
}

impl LspServer<'_> {
    pub(super) fn answer_request(&mut self, request: Request) -> Response {
        let Request { id, method, params } = request;
        let answered = match method.as_str() {
            "textDocument/hover" => with_params(params, |params| self.answer_hover(&params)),
            "textDocument/definition" => with_params(params, |params| self.answer_definition(&params)),
            "textDocument/references" => with_params(params, |params| self.answer_references(&params)),
            "textDocument/prepareRename" => with_params(params, |params| self.prepare_rename(&params)),
            "textDocument/rename" => with_params(params, |params| self.answer_rename(&params)),
            "textDocument/completion" => with_params(params, |params| self.answer_completion(&params)),
            "textDocument/signatureHelp" => with_params(params, |params| self.answer_signature(&params)),
            "textDocument/formatting" => with_params(params, |params| self.answer_formatting(&params)),
            "textDocument/documentSymbol" => with_params(params, |params| self.answer_symbols(&params)),
            "textDocument/foldingRange" => with_params(params, |params| self.answer_folding(&params)),
            "textDocument/codeAction" => with_params(params, |params| self.answer_actions(&params)),
            "codeAction/resolve" => with_params(params, |action| self.resolve_action(action)),
            "textDocument/codeLens" => with_params(params, |params| self.answer_lenses(&params)),
            "textDocument/semanticTokens/full" => with_params(params, |params| self.answer_tokens(&params)),
            _ => Err(NoAnswer {
                code: ErrorCode::MethodNotFound,
                message: format!("there is no method `{method}` here"),
            }),
        };
        match answered {
            Ok(result) => Response { id, result: Some(result), error: None },
            Err(no) => Response::new_err(id, no.code as i32, no.message),
        }
    }

    /// Returns an open document; fails if the editor has not opened it.
    fn find_document(&self, uri: &Uri) -> Result<&OpenDocument, NoAnswer> {
        let unknown = || NoAnswer::refuse(format!("`{}` is not open", uri.as_str()));
        self.documents.get(uri.as_str()).ok_or_else(unknown)
    }

    /// Returns the document and the byte that a request is about.
    fn analysis_at(
        &self,
        place: &TextDocumentPositionParams,
    ) -> Result<(&Arc<TextAnalysis>, usize), NoAnswer> {
        let document = self.find_document(&place.text_document.uri)?;
        Ok((document.analysis(), document.text().offset(place.position)))
    }

    /// Answers `textDocument/hover`; the model is compiled first if the text to show needs it.
    fn answer_hover(&mut self, params: &HoverParams) -> LspAnswer {
        let place = &params.text_document_position_params;
        let (analysis, offset) = self.analysis_at(place)?;
        let mut wants_model = false;
        let known = self.find_document(&place.text_document.uri)?.model.clone();
        let found = hover::hover(analysis, offset, self, &mut || {
            wants_model = known.is_none();
            known.clone().flatten()
        });
        if !wants_model {
            return json_answer(found);
        }
        let model = self.compile_model(place.text_document.uri.as_str());
        let (analysis, offset) = self.analysis_at(place)?;
        json_answer(hover::hover(analysis, offset, self, &mut || model.clone()))
    }

    /// Compiles the model of a document and keeps it.
    fn compile_model(&mut self, key: &str) -> Option<Arc<Model>> {
        let model = self.check_document(key).and_then(|checkup| checkup.loaded.model).map(Arc::new);
        self.documents.get_mut(key)?.model = Some(model.clone());
        model
    }

    /// Answers `textDocument/definition`.
    fn answer_definition(&self, params: &GotoDefinitionParams) -> LspAnswer {
        let (analysis, offset) = self.analysis_at(&params.text_document_position_params)?;
        let place = definition::definition_place(analysis, offset, self);
        json_answer(place.and_then(|place| self.protocol_location(&place)))
    }

    /// Answers `textDocument/references`, in all open documents.
    fn answer_references(&self, params: &ReferenceParams) -> LspAnswer {
        let (analysis, offset) = self.analysis_at(&params.text_document_position)?;
        let places = definition::find_references(analysis, offset, self, &self.other_analyses(analysis));
        let skipped = usize::from(!params.context.include_declaration);
        let found = places.iter().skip(skipped).filter_map(|place| self.protocol_location(place));
        json_answer(found.collect::<Vec<_>>())
    }

    /// Returns the open documents, and the models of the workspace.
    fn other_analyses(&self, analysis: &TextAnalysis) -> Vec<Arc<TextAnalysis>> {
        let open = self.documents.values().map(|document| document.path.clone());
        let near = self.host.models(&self.roots, &analysis.path);
        let mut paths: Vec<String> = open.chain(near).collect();
        paths.sort();
        paths.dedup();
        paths.iter().filter_map(|path| self.analysis(path)).collect()
    }

    fn prepare_rename(&self, params: &TextDocumentPositionParams) -> LspAnswer {
        let (analysis, offset) = self.analysis_at(params)?;
        let at = rename::prepare_rename(analysis, offset, self);
        json_answer(at.map(|at| PrepareRenameResponse::Range(analysis.text.range(at.start, at.end))))
    }

    /// Answers `textDocument/rename` with the edits in all documents that use the name.
    fn answer_rename(&self, params: &RenameParams) -> LspAnswer {
        let (analysis, offset) = self.analysis_at(&params.text_document_position)?;
        let places = rename::rename(analysis, offset, &params.new_name, self, &self.other_analyses(analysis))
            .map_err(|why| NoAnswer::refuse(why.to_string()))?;
        let mut changes: HashMap<Uri, Vec<TextEdit>> = HashMap::new();
        for place in &places {
            let Some(location) = self.protocol_location(place) else { continue };
            let edit = TextEdit { range: location.range, new_text: params.new_name.clone() };
            changes.entry(location.uri).or_default().push(edit);
        }
        json_answer(WorkspaceEdit { changes: Some(changes), ..WorkspaceEdit::default() })
    }

    /// Returns a place for the protocol; open documents keep the address the editor gave them.
    fn protocol_location(&self, place: &PlaceIn) -> Option<Location> {
        let open = self.documents.values().find(|document| document.path == place.path);
        let (uri, text) = match open {
            Some(document) => (document.uri.clone(), document.text().clone()),
            None => (file_uri(&place.path)?, DocumentText::new(self.host.read(&place.path).ok()?)),
        };
        Some(Location { uri, range: text.range(place.at.start, place.at.end) })
    }

    /// Answers `textDocument/completion`; the list is asked for again while the user types.
    fn answer_completion(&self, params: &CompletionParams) -> LspAnswer {
        let (analysis, offset) = self.analysis_at(&params.text_document_position)?;
        let items = completion::complete(analysis, offset, self);
        json_answer(CompletionList { is_incomplete: true, items })
    }

    /// Answers `textDocument/signatureHelp`.
    fn answer_signature(&self, params: &SignatureHelpParams) -> LspAnswer {
        let (analysis, offset) = self.analysis_at(&params.text_document_position_params)?;
        json_answer(signature::signature_help(analysis, offset))
    }

    /// Answers `textDocument/formatting` with the edits that lay the text out.
    fn answer_formatting(&self, params: &DocumentFormattingParams) -> LspAnswer {
        json_answer(layout::format_edits(self.find_document(&params.text_document.uri)?.analysis()))
    }

    /// Answers `textDocument/documentSymbol` with the outline.
    fn answer_symbols(&self, params: &DocumentSymbolParams) -> LspAnswer {
        let outline = symbol::document_outline(self.find_document(&params.text_document.uri)?.analysis());
        json_answer(DocumentSymbolResponse::Nested(outline))
    }

    /// Answers `textDocument/foldingRange`.
    fn answer_folding(&self, params: &FoldingRangeParams) -> LspAnswer {
        json_answer(fold::folding_ranges(self.find_document(&params.text_document.uri)?.analysis()))
    }

    /// Answers `textDocument/codeAction`; a document that was not checked yet is checked first.
    fn answer_actions(&mut self, params: &CodeActionParams) -> LspAnswer {
        let uri = &params.text_document.uri;
        if self.find_document(uri)?.findings.is_none()
            && let Some(checkup) = self.check_document(uri.as_str())
            && let Some(document) = self.documents.get_mut(uri.as_str())
        {
            // They are published once no message has come for a while; here they are only computed.
            let findings: Vec<_> = checkup.split_by_file().0.into_iter().cloned().collect();
            let fixes = action::find_fixes(document.text(), &findings, params.range);
            return json_answer(actions(uri, fixes, params));
        }
        let document = self.find_document(uri)?;
        let fixes = action::find_fixes(document.text(), &document.all_findings(), params.range);
        let mut all = actions(uri, fixes, params);
        all.extend(self.repair_action(document, params));
        json_answer(all)
    }

    /// Returns the action that looks for a change of the model, if a failing run of the last campaign contradicts a
    /// transition in the range. The change is looked for when the action is chosen: that takes seconds.
    fn repair_action(
        &self,
        document: &OpenDocument,
        params: &CodeActionParams,
    ) -> Option<CodeActionOrCommand> {
        let last = document.campaign.get_or_init(|| self.host.last_campaign(&self.roots, &document.path));
        let last = last.as_ref()?;
        let label = action::failing_transition(document.analysis(), last, params.range)?;
        Some(CodeActionOrCommand::CodeAction(CodeAction {
            title: format!(
                "if the system is right: change the model so that it allows the failing runs at `{label}`"
            ),
            kind: Some(CodeActionKind::QUICKFIX),
            data: Some(json!({ "uri": params.text_document.uri, "record": last.record })),
            ..CodeAction::default()
        }))
    }

    /// Answers `codeAction/resolve` with the smallest change that explains the runs of a record.
    fn resolve_action(&self, mut action: CodeAction) -> LspAnswer {
        let place = |name: &str| action.data.as_ref().and_then(|data| data.get(name)?.as_str());
        let (Some(uri), Some(record)) = (place("uri"), place("record")) else { return json_answer(action) };
        let unknown = || NoAnswer::refuse(format!("`{uri}` is not open"));
        let document = self.documents.get(uri).ok_or_else(unknown)?;
        let none = || NoAnswer::refuse("no small change of the model explains the recorded runs".to_owned());
        let found = self.host.repair(&document.path, document.text().as_str(), record).ok_or_else(none)?;
        let edit = action::smallest_edit(document.text(), &found.text);
        action.edit = Some(WorkspaceEdit {
            changes: Some(HashMap::from([(document.uri.clone(), vec![edit])])),
            ..WorkspaceEdit::default()
        });
        action.title = format!("if the system is right: {}", found.reason);
        json_answer(action)
    }

    /// Answers `textDocument/codeLens` with the results of the last campaign.
    fn answer_lenses(&self, params: &CodeLensParams) -> LspAnswer {
        let document = self.find_document(&params.text_document.uri)?;
        let last = self.host.last_campaign(&self.roots, &document.path);
        json_answer(lens::lenses(document.analysis(), last.as_ref()))
    }

    /// Answers `textDocument/semanticTokens`.
    fn answer_tokens(&self, params: &SemanticTokensParams) -> LspAnswer {
        let data = token::semantic_tokens(self.find_document(&params.text_document.uri)?.analysis());
        json_answer(SemanticTokens { result_id: None, data })
    }
}

/// Returns the fixes for the protocol, each with the finding it mends.
fn actions(uri: &Uri, fixes: Vec<action::QuickFix>, params: &CodeActionParams) -> Vec<CodeActionOrCommand> {
    let one = |fix: action::QuickFix| {
        let mended = params.context.diagnostics.iter().filter(|shown| {
            let code = NumberOrString::String(fix.mends.1.to_owned());
            shown.range == fix.mends.0 && shown.code == Some(code)
        });
        CodeActionOrCommand::CodeAction(CodeAction {
            title: fix.title.clone(),
            kind: Some(CodeActionKind::QUICKFIX),
            diagnostics: Some(mended.cloned().collect()),
            edit: Some(WorkspaceEdit {
                changes: Some(HashMap::from([(uri.clone(), vec![fix.edit])])),
                ..WorkspaceEdit::default()
            }),
            is_preferred: Some(true),
            ..CodeAction::default()
        })
    };
    fixes.into_iter().map(one).collect()
}

fn with_params<P: DeserializeOwned>(params: Json, answer: impl FnOnce(P) -> LspAnswer) -> LspAnswer {
    let params = serde_json::from_value(params)
        .map_err(|error| NoAnswer { code: ErrorCode::InvalidParams, message: error.to_string() })?;
    answer(params)
}

fn json_answer(answer: impl Serialize) -> LspAnswer {
    serde_json::to_value(answer)
        .map_err(|error| NoAnswer { code: ErrorCode::InternalError, message: error.to_string() })
}
