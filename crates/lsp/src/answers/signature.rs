//! The parameters of the call that the cursor is in.

use lsp_types::{Documentation, ParameterInformation, ParameterLabel, SignatureHelp, SignatureInformation};

use super::surround::{CursorCall, CursorPlace};
use crate::analysis::TextAnalysis;
use crate::index::expr::functions_of;
use crate::index::{Definition, DefinitionKind};
use crate::text::to_protocol_number;

/// The call around `offset`, with the parameter that is being written.
#[must_use]
pub fn signature_help(analysis: &TextAnalysis, offset: usize) -> Option<SignatureHelp> {
    if analysis.is_prose(offset) {
        return None;
    }
    let place = CursorPlace::new(analysis, offset);
    let call = place.innermost_call()?;
    if call.at.checked_sub(1).is_some_and(|dot| place.lexeme_at(dot) == ".") {
        return method_help(&place, &call);
    }
    let (_, called) = place.called_definition(&call)?;
    let parameters =
        called.parts.iter().map(|part| parameter_information(analysis.index.get(*part))).collect();
    let by_position = called.kind == DefinitionKind::Function;
    let active = if by_position {
        call.n_before
    } else {
        let name = call.given.get(call.n_before);
        let at = name
            .and_then(|name| called.parts.iter().position(|part| analysis.index.get(*part).name == *name));
        at.unwrap_or(call.n_before)
    };
    Some(build_help(signature_label(called), called.docs.clone(), parameters, active))
}

/// The declaration up to its parameters and result.
fn signature_label(called: &Definition) -> String {
    match called.detail.split_once(") -> ") {
        Some((front, behind)) => {
            let result = behind.split(" = ").next().unwrap_or(behind);
            format!("{front}) -> {result}")
        }
        None => called.detail.clone(),
    }
}

fn parameter_information(part: &Definition) -> ParameterInformation {
    let ty = part.ty.as_ref().map(|ty| format!(": {ty}")).unwrap_or_default();
    ParameterInformation {
        label: ParameterLabel::Simple(part.name.clone()),
        documentation: Some(Documentation::String(format!("{}{ty}", part.name))),
    }
}

fn method_help(place: &CursorPlace<'_>, call: &CursorCall) -> Option<SignatureHelp> {
    let ty = place.chain_type(call.at.checked_sub(1)?)?;
    let function = functions_of(&ty).iter().find(|function| function.name == call.callee)?;
    let label = format!("{}({}) -> {}", function.name, function.parameters.join(", "), function.result);
    let parameters = function.parameters.iter().map(|parameter| ParameterInformation {
        label: ParameterLabel::Simple((*parameter).to_owned()),
        documentation: None,
    });
    Some(build_help(label, function.about.to_owned(), parameters.collect(), call.n_before))
}

fn build_help(
    label: String,
    docs: String,
    parameters: Vec<ParameterInformation>,
    active: usize,
) -> SignatureHelp {
    let active_parameter =
        (!parameters.is_empty()).then(|| to_protocol_number(active.min(parameters.len() - 1)));
    let documentation = (!docs.is_empty()).then_some(Documentation::String(docs));
    let one = SignatureInformation { label, documentation, parameters: Some(parameters), active_parameter };
    SignatureHelp { signatures: vec![one], active_signature: Some(0), active_parameter }
}
