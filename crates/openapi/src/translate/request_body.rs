//! Bodies of requests as fields: JSON, forms, forms in parts with files, and plain text.

use super::operation::{FieldOf, LeftOut, is_json};
use super::shape::SortOf;
use super::{FieldLocation, Translator};
use crate::document::Operation;
use crate::name::TakenNames;
use crate::node::{SpecNode, pointer_step};

/// The content types, other than JSON, of request bodies that can be written.
const FORM: &str = "application/x-www-form-urlencoded";
const TEXT: &str = "text/plain";
const MULTIPART: &str = "multipart/form-data";

/// The content type of a file if the description names none.
const UNKNOWN_FILE: &str = "application/octet-stream";

/// The body of a request.
pub(super) struct BodyField {
    pub(super) field: FieldOf,
    /// Its content type; `None` if it is JSON.
    pub(super) content: Option<String>,
    /// The members that are files, with their content types.
    pub(super) files: Vec<(String, String)>,
}

/// Returns whether bodies of a content type are fields with names, whose values are texts.
pub(super) fn is_form(content: &str) -> bool {
    content.starts_with(FORM) || content.starts_with(MULTIPART)
}

impl<'t> Translator<'t> {
    /// Returns the body of a request, with its content type if that is not JSON.
    pub(super) fn translate_request_body(
        &mut self,
        operation: &Operation<'t>,
        of: &str,
        taken: &mut TakenNames,
    ) -> Result<Option<BodyField>, (String, LeftOut)> {
        let Some(body) = operation.node.get("requestBody") else { return Ok(None) };
        let place = format!("{}/requestBody", operation.place);
        let Some((body, place)) = self.document.resolve_reference(body, &place) else {
            return Err((place, LeftOut("its body is not in this file".into())));
        };
        let is_required = body.is_true_at("required");
        let contents = body.get("content").map(SpecNode::members).unwrap_or_default();
        let is_text = |kind: &str| kind.starts_with(TEXT);
        let json = contents.iter().find(|(kind, _)| is_json(kind));
        let other = |starts: &str| contents.iter().find(|(kind, _)| kind.starts_with(starts));
        let found = json.or_else(|| other(FORM)).or_else(|| other(MULTIPART)).or_else(|| other(TEXT));
        let Some((kind, media)) = found else {
            let kinds: Vec<&str> = contents.iter().map(|(kind, _)| kind.as_str()).collect();
            let problem = format!("bodies of {} are not written", kinds.join(", "));
            return if is_required {
                Err((place, LeftOut(problem)))
            } else {
                self.add_note(&place, &format!("left out: {problem}"));
                Ok(None)
            };
        };
        let place = format!("{place}/content{}", pointer_step(kind));
        let sort = match media.get("schema") {
            Some(schema) if !is_text(kind) => {
                self.translate_schema(schema, &format!("{place}/schema"), &format!("{of} body"))
            }
            Some(_) | None if is_text(kind) => {
                self.note_text(media, &place);
                SortOf::new("string", &[])
            }
            _ => self.any_json_sort(super::AnyJson::Object),
        };
        let (sort, check) = sort.optional_sort(!is_required);
        // Not as it stands: in a header of a project file `${NAME}` is a variable of the environment.
        let written = [TEXT, FORM, MULTIPART].into_iter().find(|known| kind.starts_with(known));
        let content = written.filter(|_| !is_json(kind)).map(str::to_owned);
        let files = if kind.starts_with(MULTIPART) { self.files_of(media) } else { Vec::new() };
        let field = FieldOf {
            name: taken.fresh_name("body"),
            wire: "body".into(),
            place: FieldLocation::Body,
            sort,
            check,
        };
        Ok(Some(BodyField { field, content, files }))
    }

    /// Returns the members of a body in parts that are files, with the first content type that is named for them.
    fn files_of(&self, media: &'t SpecNode) -> Vec<(String, String)> {
        let members = media.get("schema").and_then(|schema| self.object_members(schema, 0));
        let mut files = Vec::new();
        for member in members.unwrap_or_default() {
            let Some((schema, _)) = self.document.resolve_reference(member.schema, "") else { continue };
            // A list of files is several parts of one name.
            let item = schema.get("items").and_then(|items| self.document.resolve_reference(items, ""));
            let schema = item.map_or(schema, |(item, _)| item);
            let encoding = media.get("encoding").and_then(|all| all.get(member.name));
            let named = encoding.and_then(|encoding| encoding.text_at("contentType"));
            let own = schema.text_at("contentMediaType").filter(|_| schema.get("contentEncoding").is_none());
            let kind = named.or(own).and_then(|kinds| kinds.split(',').next()).map(str::trim);
            let is_binary = schema.text_at("format") == Some("binary") || own.is_some();
            if is_binary {
                // A pattern such as `image/*` is no content type.
                let kind = kind.filter(|kind| !kind.contains('*')).unwrap_or(UNKNOWN_FILE);
                files.push((member.name.to_owned(), kind.to_owned()));
            }
        }
        files
    }
}
