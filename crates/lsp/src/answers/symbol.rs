//! The outline of a text.

use lsp_types::{DocumentSymbol, SymbolKind};

use crate::analysis::TextAnalysis;
use crate::index::{DefinitionId, DefinitionKind};

/// Returns the definitions of the text, each below its owner.
#[must_use]
pub fn document_outline(analysis: &TextAnalysis) -> Vec<DocumentSymbol> {
    let index = &analysis.index;
    let mut children: Vec<Vec<DefinitionId>> = vec![Vec::new(); index.definitions.len()];
    let mut roots = Vec::new();
    for (id, definition) in index.definitions() {
        if matches!(definition.kind, DefinitionKind::Bound | DefinitionKind::Parameter)
            || definition.name.is_empty()
        {
            continue;
        }
        match definition.owner {
            Some(owner) => children[owner.0].push(id),
            None => roots.push(id),
        }
    }
    roots.into_iter().map(|id| document_symbol(analysis, id, &children)).collect()
}

/// Owners come before what they own, so this ends.
#[expect(deprecated, reason = "the type has a field that is deprecated and must be given")]
fn document_symbol(
    analysis: &TextAnalysis,
    id: DefinitionId,
    children: &[Vec<DefinitionId>],
) -> DocumentSymbol {
    let definition = analysis.index.get(id);
    let inner: Vec<DocumentSymbol> =
        children[id.0].iter().map(|child| document_symbol(analysis, *child, children)).collect();
    let (start, end) =
        (definition.whole.start.min(definition.at.start), definition.whole.end.max(definition.at.end));
    DocumentSymbol {
        name: definition.name.clone(),
        detail: Some(definition.kind.word().to_owned()),
        kind: symbol_kind(definition.kind),
        tags: None,
        deprecated: None,
        range: analysis.text.range(start, end),
        selection_range: analysis.text.range(definition.at.start, definition.at.end),
        children: (!inner.is_empty()).then_some(inner),
    }
}

fn symbol_kind(kind: DefinitionKind) -> SymbolKind {
    match kind {
        DefinitionKind::Model | DefinitionKind::System | DefinitionKind::UsedModel => SymbolKind::MODULE,
        DefinitionKind::Input | DefinitionKind::Observed | DefinitionKind::Output => SymbolKind::EVENT,
        DefinitionKind::Field => SymbolKind::FIELD,
        DefinitionKind::Variable
        | DefinitionKind::Clock
        | DefinitionKind::Parameter
        | DefinitionKind::Bound => SymbolKind::VARIABLE,
        DefinitionKind::Constant => SymbolKind::CONSTANT,
        DefinitionKind::TypeName | DefinitionKind::Record => SymbolKind::STRUCT,
        DefinitionKind::Enum => SymbolKind::ENUM,
        DefinitionKind::Variant => SymbolKind::ENUM_MEMBER,
        DefinitionKind::Function => SymbolKind::FUNCTION,
        DefinitionKind::State => SymbolKind::CLASS,
        DefinitionKind::Label => SymbolKind::METHOD,
        DefinitionKind::Purpose | DefinitionKind::Property | DefinitionKind::Test => SymbolKind::INTERFACE,
        DefinitionKind::Part | DefinitionKind::Channel => SymbolKind::OBJECT,
    }
}
