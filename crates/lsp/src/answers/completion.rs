//! Completion: proposals for the word at the cursor.

use std::sync::Arc;

use ioxide_lang::builtin::BuiltIn;
use ioxide_lang::words::{DECLARATION_WORDS, SYSTEM_WORDS, TEST_WORDS, TRANSITION_WORDS};
use lsp_types::{
    CompletionItem, CompletionItemKind, Documentation, InsertTextFormat, MarkupContent, MarkupKind,
};

use super::surround::{CursorBlock, CursorPlace};
use crate::analysis::{TextAnalysis, TextLibrary, beside};
use crate::index::expr::functions_of;
use crate::index::{Definition, DefinitionKind, SourceIndex};

/// The greatest number of proposals; typing further letters brings the others.
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
    proposals.at(&place, analysis, library);
    proposals.items
}

struct CompletionProposals<'a> {
    index: &'a SourceIndex,
    items: Vec<CompletionItem>,
    typed: String,
}

impl CompletionProposals<'_> {
    fn at(&mut self, place: &CursorPlace<'_>, analysis: &Arc<TextAnalysis>, library: &dyn TextLibrary) {
        use DefinitionKind as Kind;
        let block = place.outer_block();
        if place.back(0) == "." {
            return self.behind_dot(place, analysis, library);
        }
        if place.begins_part() {
            return self.parts(block);
        }
        match place.back(0) {
            "@" => self.words(&["req", "weight"]),
            "->" => self.behind_arrow(place, block),
            "on" => self.kinds(&[Kind::Input, Kind::Observed]),
            "emit" => self.kinds(&[Kind::Output]),
            "send" => self.kinds(&[Kind::Input]),
            "expect" => self.kinds(&[Kind::Output, Kind::Observed]),
            "reset" => self.kinds(&[Kind::Clock]),
            "reach" => self.kinds(&[Kind::State]),
            "observed" => self.words(&["input"]),
            "between" | "and" | "hide" | "expose" if block == CursorBlock::System => {
                self.kinds(&[Kind::Part])
            }
            "input" | "output" | "var" | "clock" | "const" | "type" | "enum" | "record" | "fn" | "state"
            | "model" | "system" | "purpose" | "test" | "use" | "from" | "as"
                if !place.in_brackets() => {}
            ":" => self.behind_colon(place, block),
            _ => self.inside(place, block),
        }
    }

    /// Proposes the words that begin an item of a block.
    fn parts(&mut self, block: CursorBlock) {
        match block {
            CursorBlock::Top => self.words(&["model", "system"]),
            CursorBlock::Model => {
                self.words(DECLARATION_WORDS);
                self.words(TRANSITION_WORDS);
            }
            CursorBlock::State => self.words(TRANSITION_WORDS),
            CursorBlock::Observer => self.words(&["var", "clock", "state"]),
            CursorBlock::ObserverState => self.words(OBSERVER_VERBS),
            CursorBlock::Test => self.words(TEST_WORDS),
            CursorBlock::System => {
                self.words(SYSTEM_WORDS);
                self.words(&["const"]);
                self.kinds(&[DefinitionKind::Part]);
            }
            _ => {}
        }
    }

    fn behind_arrow(&mut self, place: &CursorPlace<'_>, block: CursorBlock) {
        match block {
            CursorBlock::System => self.kinds(&[DefinitionKind::Part]),
            _ if place.word(place.statement()) == "fn" => self.types(),
            CursorBlock::ObserverState => {
                self.words(&["hit", "miss"]);
                self.kinds(&[DefinitionKind::State]);
            }
            _ => self.model_states(),
        }
    }

    /// Proposes the states of models, but not those of observers, which lie inside purposes.
    fn model_states(&mut self) {
        let index = self.index;
        let in_model = |found: &Definition| {
            found.owner.is_none_or(|owner| index.get(owner).kind == DefinitionKind::Model)
        };
        let states = index.all().map(|(_, found)| found);
        states
            .filter(|found| found.kind == DefinitionKind::State && in_model(found))
            .for_each(|found| self.definition(found));
    }

    fn behind_colon(&mut self, place: &CursorPlace<'_>, block: CursorBlock) {
        let start = place.statement();
        let first = place.word(start);
        let is_label = place.pieces.len() == start + 2;
        match (block, first) {
            (CursorBlock::System, _) if !place.in_brackets() => {
                self.kinds(&[DefinitionKind::Model, DefinitionKind::UsedModel]);
                self.words(&["fifo", "bag"]);
            }
            (CursorBlock::Data, _) | (_, "input" | "output" | "observed" | "record" | "enum") => self.types(),
            (_, "var" | "const" | "fn") if !has_equals(place, start) => self.types(),
            (_, "purpose") if !place.in_brackets() && place.pieces.len() == start + 3 => {
                self.words(&["reach"]);
                self.kinds(&[DefinitionKind::Label]);
            }
            (CursorBlock::State, _) if is_label => self.words(TRANSITION_WORDS),
            (CursorBlock::ObserverState, _) if is_label => self.words(OBSERVER_VERBS),
            (CursorBlock::Model, _) if is_label => {
                self.words(&["on", "emit", "internal", "always", "sometimes"])
            }
            _ => self.operands(place),
        }
    }

    /// Proposes what may follow a word or a sign within an item.
    fn inside(&mut self, place: &CursorPlace<'_>, block: CursorBlock) {
        let start = place.statement();
        let first = place.word(start);
        let last = place.back(0);
        if first == "purpose" && block == CursorBlock::Model && last == "," {
            return self.kinds(&[DefinitionKind::Label]);
        }
        let declares = matches!(first, "var" | "const" | "fn" | "type" | "input" | "output" | "observed");
        if declares
            && matches!(last, "<" | ",")
            && !has_equals(place, start)
            && !(last == "," && place.in_brackets())
        {
            return self.types();
        }
        if first == "type" && last == "=" {
            return self.types();
        }
        if place.block() == CursorBlock::Updates && matches!(last, "{" | ",") && !place.in_brackets() {
            self.words(&["reset"]);
            return self.kinds(&[DefinitionKind::Variable]);
        }
        if place.block() == CursorBlock::Cases && matches!(last, "{" | ",") && !place.in_brackets() {
            self.words(&["none", "some", "_"]);
            return self.kinds(&[DefinitionKind::Variant]);
        }
        if matches!(last, "(" | ",") && self.fields(place) {
            return;
        }
        if place.wants_operand() {
            return self.operands(place);
        }
        self.continuing(place, block);
    }

    /// Proposes the fields that a call has not named yet, and returns whether the call names fields at all.
    fn fields(&mut self, place: &CursorPlace<'_>) -> bool {
        let Some(call) = place.call() else { return false };
        let Some((_, called)) = place.called(&call) else { return false };
        if called.kind == DefinitionKind::Function {
            return false;
        }
        let index = self.index;
        for part in &called.parts {
            let field = index.get(*part);
            if !call.given.contains(&field.name) {
                let mut item = item_of(field);
                item.insert_text = Some(format!("{}: ", field.name));
                self.push(item);
            }
        }
        true
    }

    /// Proposes the names and words that an operand may begin with.
    fn operands(&mut self, place: &CursorPlace<'_>) {
        use DefinitionKind as Kind;
        let index = self.index;
        let inner = place.message().or_else(|| place.function());
        for part in inner.map(|found| found.parts.clone()).unwrap_or_default() {
            self.definition(index.get(part));
        }
        let start = place.statement();
        place.bound().for_each(|found| self.definition(found));
        match place.word(start) {
            "fn" | "const" | "type" => {}
            _ => self.kinds(&[Kind::Variable, Kind::Clock]),
        }
        self.kinds(&[Kind::Constant, Kind::Variant, Kind::Function, Kind::Record]);
        self.words(OPERAND_WORDS);
        if place.back(0) == "when" {
            self.words(&["let"]);
        }
    }

    /// Proposes the words that may follow a complete operand.
    fn continuing(&mut self, place: &CursorPlace<'_>, block: CursorBlock) {
        let start = place.statement();
        let has = |word: &str| (start..place.pieces.len()).any(|at| place.word(at) == word);
        if has("if") {
            self.words(&["then", "else"]);
        }
        match block {
            CursorBlock::State | CursorBlock::ObserverState | CursorBlock::Test | CursorBlock::Model => {
                self.words(&["when"]);
            }
            CursorBlock::System => self.words(&["from", "between", "and", "as"]),
            _ => {}
        }
    }

    fn types(&mut self) {
        self.words(TYPES);
        self.kinds(&[DefinitionKind::TypeName, DefinitionKind::Enum, DefinitionKind::Record]);
    }

    fn behind_dot(
        &mut self,
        place: &CursorPlace<'_>,
        analysis: &Arc<TextAnalysis>,
        library: &dyn TextLibrary,
    ) {
        let dot = place.pieces.len() - 1;
        if place.outer_block() == CursorBlock::System {
            return self.messages_of_part(place, dot, analysis, library);
        }
        let Some(ty) = place.chain_type(dot) else { return };
        let index = self.index;
        for field in index.fields_of(&ty) {
            self.definition(index.get(field));
        }
        functions_of(&ty).iter().for_each(|function| self.function(function));
    }

    /// Proposes the messages of the model of a part, which may be in another file, behind `part.` or `part[i].`.
    fn messages_of_part(
        &mut self,
        place: &CursorPlace<'_>,
        dot: usize,
        analysis: &Arc<TextAnalysis>,
        library: &dyn TextLibrary,
    ) {
        let Some(part) = place.part_before(dot) else { return };
        let Some(model) = model_of_part(analysis, part) else { return };
        let other =
            analysis.index.files.get(&model).and_then(|file| library.analysis(&beside(&analysis.path, file)));
        let (index, owner) = match &other {
            Some(other) => (&other.index, None),
            None => {
                let here = analysis.index.named(&model, &[DefinitionKind::Model]).next();
                (&analysis.index, here.map(|(id, _)| id))
            }
        };
        for (_, found) in index.all().filter(|(_, found)| found.kind.is_message()) {
            if owner.is_none() || found.owner == owner {
                self.definition(found);
            }
        }
    }

    fn kinds(&mut self, kinds: &[DefinitionKind]) {
        let index = self.index;
        for (_, found) in index.all().filter(|(_, found)| kinds.contains(&found.kind)) {
            self.definition(found);
        }
    }

    fn definition(&mut self, found: &Definition) {
        if self.wanted(&found.name) {
            self.push(item_of(found));
        }
    }

    fn function(&mut self, function: &BuiltIn) {
        if !self.wanted(function.name) {
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

    fn words(&mut self, words: &[&str]) {
        for word in words {
            if self.wanted(word) {
                self.push(CompletionItem {
                    label: (*word).to_owned(),
                    kind: Some(CompletionItemKind::KEYWORD),
                    ..CompletionItem::default()
                });
            }
        }
    }

    /// Returns whether the letters typed so far occur in `name`, in order.
    fn wanted(&self, name: &str) -> bool {
        let mut rest = name.chars().flat_map(char::to_lowercase);
        self.typed.chars().all(|typed| rest.any(|letter| letter == typed))
    }

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
    (start..place.pieces.len()).any(|at| place.word(at) == "=")
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

fn item_of(found: &Definition) -> CompletionItem {
    let docs = (!found.docs.is_empty()).then(|| {
        Documentation::MarkupContent(MarkupContent { kind: MarkupKind::Markdown, value: found.docs.clone() })
    });
    let detail = match &found.ty {
        Some(ty) => format!("{} of sort {ty}", found.kind.word()),
        None => found.detail.clone(),
    };
    CompletionItem {
        label: found.name.clone(),
        kind: Some(item_kind(found.kind)),
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
