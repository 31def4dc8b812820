//! Completion: proposals for the word at the cursor.

use std::sync::Arc;

use ioxide_lang::builtin::BuiltIn;
use ioxide_lang::words::{DECLARATION_WORDS, SYSTEM_WORDS, TEST_WORDS, TRANSITION_WORDS};
use lsp_types::{
    CompletionItem, CompletionItemKind, Documentation, InsertTextFormat, MarkupContent, MarkupKind,
};

use super::surround::{CursorBlock, CursorPlace};
use crate::analysis::{TextAnalysis, TextLibrary, resolve_path};
use crate::index::expr::functions_of;
use crate::index::{Definition, DefinitionKind, SourceIndex};

/// The greatest number of proposals; typing further letters brings the others. Chosen by feel.
const MAX_PROPOSALS: usize = 1_000;

const OBSERVER_VERBS: &[&str] = &["on", "emit", "quiet"];
const OPERAND_WORDS: &[&str] = &["true", "false", "none", "some", "if", "match", "exists", "forall", "count"];
const TYPES: &[&str] = &["bool", "int", "real", "string", "list", "set", "map"];

/// Returns the proposals at `offset`; none within comments and strings.
#[must_use]
pub fn complete(
    analysis: &Arc<TextAnalysis>,
    offset: usize,
    library: &dyn TextLibrary,
) -> Vec<CompletionItem> {
    if analysis.is_prose(offset) {
        return Vec::new();
    }
    let place = CursorPlace::new(analysis, offset);
    let mut proposals =
        CompletionProposals { index: &analysis.index, items: Vec::new(), typed: place.typed.to_lowercase() };
    proposals.propose_at(&place, analysis, library);
    proposals.items
}

struct CompletionProposals<'a> {
    index: &'a SourceIndex,
    items: Vec<CompletionItem>,
    typed: String,
}

impl CompletionProposals<'_> {
    fn propose_at(
        &mut self,
        place: &CursorPlace<'_>,
        analysis: &Arc<TextAnalysis>,
        library: &dyn TextLibrary,
    ) {
        use DefinitionKind as Kind;
        let block = place.outer_block();
        if place.lexeme_back(0) == "." {
            return self.propose_behind_dot(place, analysis, library);
        }
        if place.begins_item() {
            return self.propose_items(block);
        }
        match place.lexeme_back(0) {
            "@" => self.propose_words(&["req", "weight"]),
            "->" => self.propose_behind_arrow(place, block),
            "on" => self.propose_kinds(&[Kind::Input, Kind::Observed]),
            "emit" => self.propose_kinds(&[Kind::Output]),
            "send" => self.propose_kinds(&[Kind::Input]),
            "expect" => self.propose_kinds(&[Kind::Output, Kind::Observed]),
            "reset" => self.propose_kinds(&[Kind::Clock]),
            "reach" => self.propose_kinds(&[Kind::State]),
            "observed" => self.propose_words(&["input"]),
            "between" | "and" | "hide" | "expose" if block == CursorBlock::System => {
                self.propose_kinds(&[Kind::Part])
            }
            "input" | "output" | "var" | "clock" | "const" | "type" | "enum" | "record" | "fn" | "state"
            | "model" | "system" | "purpose" | "test" | "use" | "from" | "as"
                if !place.is_in_brackets() => {}
            ":" => self.propose_behind_colon(place, block),
            _ => self.propose_inside_item(place, block),
        }
    }

    /// Proposes the words that begin an item of a block.
    fn propose_items(&mut self, block: CursorBlock) {
        match block {
            CursorBlock::Top => self.propose_words(&["model", "system"]),
            CursorBlock::Model => {
                self.propose_words(DECLARATION_WORDS);
                self.propose_words(TRANSITION_WORDS);
            }
            CursorBlock::State => self.propose_words(TRANSITION_WORDS),
            CursorBlock::Observer => self.propose_words(&["var", "clock", "state"]),
            CursorBlock::ObserverState => self.propose_words(OBSERVER_VERBS),
            CursorBlock::Test => self.propose_words(TEST_WORDS),
            CursorBlock::System => {
                self.propose_words(SYSTEM_WORDS);
                self.propose_words(&["const"]);
                self.propose_kinds(&[DefinitionKind::Part]);
            }
            _ => {}
        }
    }

    fn propose_behind_arrow(&mut self, place: &CursorPlace<'_>, block: CursorBlock) {
        match block {
            CursorBlock::System => self.propose_kinds(&[DefinitionKind::Part]),
            _ if place.lexeme_at(place.item_start()) == "fn" => self.propose_types(),
            CursorBlock::ObserverState => {
                self.propose_words(&["hit", "miss"]);
                self.propose_kinds(&[DefinitionKind::State]);
            }
            _ => self.propose_model_states(),
        }
    }

    /// Proposes the states of models, but not those of observers, which lie inside purposes.
    fn propose_model_states(&mut self) {
        let index = self.index;
        let in_model = |definition: &Definition| {
            definition.owner.is_none_or(|owner| index.get(owner).kind == DefinitionKind::Model)
        };
        let states = index.definitions().map(|(_, found)| found);
        states
            .filter(|found| found.kind == DefinitionKind::State && in_model(found))
            .for_each(|found| self.propose_definition(found));
    }

    fn propose_behind_colon(&mut self, place: &CursorPlace<'_>, block: CursorBlock) {
        let start = place.item_start();
        let first = place.lexeme_at(start);
        let is_label = place.pieces.len() == start + 2;
        match (block, first) {
            (CursorBlock::System, _) if !place.is_in_brackets() => {
                self.propose_kinds(&[DefinitionKind::Model, DefinitionKind::UsedModel]);
                self.propose_words(&["fifo", "bag"]);
            }
            (CursorBlock::Data, _) | (_, "input" | "output" | "observed" | "record" | "enum") => {
                self.propose_types()
            }
            (_, "var" | "const" | "fn") if !has_equals(place, start) => self.propose_types(),
            (_, "purpose") if !place.is_in_brackets() && place.pieces.len() == start + 3 => {
                self.propose_words(&["reach"]);
                self.propose_kinds(&[DefinitionKind::Label]);
            }
            (CursorBlock::State, _) if is_label => self.propose_words(TRANSITION_WORDS),
            (CursorBlock::ObserverState, _) if is_label => self.propose_words(OBSERVER_VERBS),
            (CursorBlock::Model, _) if is_label => {
                self.propose_words(&["on", "emit", "internal", "always", "sometimes", "assume", "every"])
            }
            _ => self.propose_operands(place),
        }
    }

    /// Proposes what may follow a word or a sign within an item.
    fn propose_inside_item(&mut self, place: &CursorPlace<'_>, block: CursorBlock) {
        let start = place.item_start();
        let first = place.lexeme_at(start);
        let last = place.lexeme_back(0);
        if first == "purpose" && block == CursorBlock::Model && last == "," {
            return self.propose_kinds(&[DefinitionKind::Label]);
        }
        let declares = matches!(first, "var" | "const" | "fn" | "type" | "input" | "output" | "observed");
        if declares
            && matches!(last, "<" | ",")
            && !has_equals(place, start)
            && !(last == "," && place.is_in_brackets())
        {
            return self.propose_types();
        }
        if first == "type" && last == "=" {
            return self.propose_types();
        }
        if place.block() == CursorBlock::Updates && matches!(last, "{" | ",") && !place.is_in_brackets() {
            self.propose_words(&["reset"]);
            return self.propose_kinds(&[DefinitionKind::Variable]);
        }
        if place.block() == CursorBlock::Cases && matches!(last, "{" | ",") && !place.is_in_brackets() {
            self.propose_words(&["none", "some", "_"]);
            return self.propose_kinds(&[DefinitionKind::Variant]);
        }
        if matches!(last, "(" | ",") && self.propose_fields(place) {
            return;
        }
        if place.wants_operand() {
            return self.propose_operands(place);
        }
        self.propose_continuations(place, block);
    }

    /// Proposes the fields that a call has not named yet, and returns whether the call names fields at all.
    fn propose_fields(&mut self, place: &CursorPlace<'_>) -> bool {
        let Some(call) = place.innermost_call() else { return false };
        let Some((_, called)) = place.called_definition(&call) else { return false };
        if called.kind == DefinitionKind::Function {
            return false;
        }
        let index = self.index;
        for part in &called.parts {
            let field = index.get(*part);
            if !call.given.contains(&field.name) {
                let mut item = completion_item(field);
                item.insert_text = Some(format!("{}: ", field.name));
                self.push(item);
            }
        }
        true
    }

    /// Proposes the names and words that an operand may begin with.
    fn propose_operands(&mut self, place: &CursorPlace<'_>) {
        use DefinitionKind as Kind;
        let index = self.index;
        let inner = place.current_message().or_else(|| place.current_function());
        for part in inner.map(|found| found.parts.clone()).unwrap_or_default() {
            self.propose_definition(index.get(part));
        }
        let start = place.item_start();
        place.bound_names().for_each(|found| self.propose_definition(found));
        match place.lexeme_at(start) {
            "fn" | "const" | "type" => {}
            _ => self.propose_kinds(&[Kind::Variable, Kind::Clock]),
        }
        self.propose_kinds(&[Kind::Constant, Kind::Variant, Kind::Function, Kind::Record]);
        self.propose_words(OPERAND_WORDS);
        if place.lexeme_back(0) == "when" {
            self.propose_words(&["let"]);
        }
    }

    /// Proposes the words that may follow a complete operand.
    fn propose_continuations(&mut self, place: &CursorPlace<'_>, block: CursorBlock) {
        let start = place.item_start();
        let has = |word: &str| (start..place.pieces.len()).any(|at| place.lexeme_at(at) == word);
        if has("if") {
            self.propose_words(&["then", "else"]);
        }
        match block {
            CursorBlock::State | CursorBlock::ObserverState | CursorBlock::Test | CursorBlock::Model => {
                self.propose_words(&["when"]);
            }
            CursorBlock::System => self.propose_words(&["from", "between", "and", "as"]),
            _ => {}
        }
    }

    fn propose_types(&mut self) {
        self.propose_words(TYPES);
        self.propose_kinds(&[DefinitionKind::TypeName, DefinitionKind::Enum, DefinitionKind::Record]);
    }

    fn propose_behind_dot(
        &mut self,
        place: &CursorPlace<'_>,
        analysis: &Arc<TextAnalysis>,
        library: &dyn TextLibrary,
    ) {
        let dot = place.pieces.len() - 1;
        if place.outer_block() == CursorBlock::System {
            return self.propose_messages_of_part(place, dot, analysis, library);
        }
        let Some(ty) = place.chain_type(dot) else { return };
        let index = self.index;
        for field in index.fields_of(&ty) {
            self.propose_definition(index.get(field));
        }
        functions_of(&ty).iter().for_each(|function| self.propose_function(function));
    }

    /// Proposes the messages of the model of a part, which may be in another file, behind `part.` or `part[i].`.
    fn propose_messages_of_part(
        &mut self,
        place: &CursorPlace<'_>,
        dot: usize,
        analysis: &Arc<TextAnalysis>,
        library: &dyn TextLibrary,
    ) {
        let Some(part) = place.part_before(dot) else { return };
        let Some(model) = model_of_part(analysis, part) else { return };
        let other = analysis
            .index
            .files
            .get(&model)
            .and_then(|file| library.analysis(&resolve_path(&analysis.path, file)));
        let (index, owner) = match &other {
            Some(other) => (&other.index, None),
            None => {
                let here = analysis.index.definitions_named(&model, &[DefinitionKind::Model]).next();
                (&analysis.index, here.map(|(id, _)| id))
            }
        };
        for (_, found) in index.definitions().filter(|(_, found)| found.kind.is_message()) {
            if owner.is_none() || found.owner == owner {
                self.propose_definition(found);
            }
        }
    }

    fn propose_kinds(&mut self, kinds: &[DefinitionKind]) {
        let index = self.index;
        for (_, found) in index.definitions().filter(|(_, found)| kinds.contains(&found.kind)) {
            self.propose_definition(found);
        }
    }

    fn propose_definition(&mut self, definition: &Definition) {
        if self.matches_typed(&definition.name) {
            self.push(completion_item(definition));
        }
    }

    fn propose_function(&mut self, function: &BuiltIn) {
        if !self.matches_typed(function.name) {
            return;
        }
        let has_arguments = !function.parameters.is_empty();
        self.push(CompletionItem {
            label: function.name.to_owned(),
            kind: Some(CompletionItemKind::METHOD),
            detail: Some(format!("({}) -> {}", function.parameters.join(", "), function.result)),
            documentation: Some(Documentation::String(function.about.to_owned())),
            insert_text: Some(format!("{}({}", function.name, if has_arguments { "" } else { ")" })),
            insert_text_format: Some(InsertTextFormat::PLAIN_TEXT),
            ..CompletionItem::default()
        });
    }

    fn propose_words(&mut self, words: &[&str]) {
        for word in words {
            if self.matches_typed(word) {
                self.push(CompletionItem {
                    label: (*word).to_owned(),
                    kind: Some(CompletionItemKind::KEYWORD),
                    ..CompletionItem::default()
                });
            }
        }
    }

    /// Returns whether the letters typed so far occur in `name`, in order.
    fn matches_typed(&self, name: &str) -> bool {
        let mut rest = name.chars().flat_map(char::to_lowercase);
        self.typed.chars().all(|typed| rest.any(|letter| letter == typed))
    }

    /// Adds a proposal, unless the same one is among the last 64 or there are enough.
    fn push(&mut self, item: CompletionItem) {
        let is_new = self
            .items
            .iter()
            .rev()
            .take(64)
            .all(|other| other.label != item.label || other.kind != item.kind);
        if is_new && self.items.len() < MAX_PROPOSALS {
            self.items.push(item);
        }
    }
}

fn has_equals(place: &CursorPlace<'_>, start: usize) -> bool {
    (start..place.pieces.len()).any(|at| place.lexeme_at(at) == "=")
}

/// Returns the name of the model that `part` is an instance of.
fn model_of_part(analysis: &TextAnalysis, part: &str) -> Option<String> {
    let items = analysis.tree.system.iter().flat_map(|system| &system.items);
    items.into_iter().find_map(|item| match &item.kind {
        ioxide_lang::ast::SystemItemKind::Part(decl) if decl.name.text == part => {
            Some(decl.model.text.clone())
        }
        _ => None,
    })
}

fn completion_item(definition: &Definition) -> CompletionItem {
    let docs = (!definition.docs.is_empty()).then(|| {
        Documentation::MarkupContent(MarkupContent {
            kind: MarkupKind::Markdown,
            value: definition.docs.clone(),
        })
    });
    let detail = match &definition.ty {
        Some(ty) => format!("{} of sort {ty}", definition.kind.word()),
        None => definition.detail.clone(),
    };
    CompletionItem {
        label: definition.name.clone(),
        kind: Some(item_kind(definition.kind)),
        detail: Some(detail),
        documentation: docs,
        ..CompletionItem::default()
    }
}

fn item_kind(kind: DefinitionKind) -> CompletionItemKind {
    match kind {
        DefinitionKind::Model | DefinitionKind::System | DefinitionKind::UsedModel => {
            CompletionItemKind::MODULE
        }
        DefinitionKind::Input | DefinitionKind::Observed | DefinitionKind::Output => {
            CompletionItemKind::EVENT
        }
        DefinitionKind::Field => CompletionItemKind::FIELD,
        DefinitionKind::Constant => CompletionItemKind::CONSTANT,
        DefinitionKind::TypeName | DefinitionKind::Record => CompletionItemKind::STRUCT,
        DefinitionKind::Enum => CompletionItemKind::ENUM,
        DefinitionKind::Variant => CompletionItemKind::ENUM_MEMBER,
        DefinitionKind::Function => CompletionItemKind::FUNCTION,
        DefinitionKind::State => CompletionItemKind::CLASS,
        DefinitionKind::Label | DefinitionKind::Purpose | DefinitionKind::Property | DefinitionKind::Test => {
            CompletionItemKind::REFERENCE
        }
        DefinitionKind::Part | DefinitionKind::Channel => CompletionItemKind::PROPERTY,
        DefinitionKind::Variable
        | DefinitionKind::Clock
        | DefinitionKind::Parameter
        | DefinitionKind::Bound => CompletionItemKind::VARIABLE,
    }
}
