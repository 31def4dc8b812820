//! Parameters of operations as fields of requests.

use super::check::ValueCondition;
use super::operation::{FieldOf, LeftOut, is_json};
use super::resource::plain_name;
use super::shape::{JsonKind, SortOf};
use super::text::{LOWER_CASE_UUID, UUID};
use super::{FieldLocation, Translator};
use crate::credential::AUTHORIZATION;
use crate::name::{self, TakenNames};
use crate::node::{SpecNode, pointer_step};

/// Names of parameters that select the members of an answer, without case and separators.
const SELECTIONS: [&str; 6] = ["fields", "xfields", "fieldmask", "xfieldmask", "select", "omit"];

/// The rule that services write UUIDs in small letters.
pub(super) const LOWER_CASE_RULE: &str = "uuid.lower_case";

impl<'t> Translator<'t> {
    /// Returns a parameter as a field; `None` for a header that others set.
    pub(super) fn translate_parameter(
        &mut self,
        node: &'t SpecNode,
        place: &str,
        of: &str,
        taken: &mut TakenNames,
    ) -> Result<Option<FieldOf>, LeftOut> {
        let wire = node.text_at("name").unwrap_or_default().to_owned();
        let at = match node.text_at("in") {
            Some("path") => FieldLocation::Path,
            Some("query") => FieldLocation::Query,
            Some("header") if is_set_by_others(&wire) => {
                self.note_own_header(&wire, place);
                return Ok(None);
            }
            Some("header") => FieldLocation::Header,
            Some("cookie") => FieldLocation::Cookie,
            _ => return Err(LeftOut("`in` is not `path`, `query`, `header` or `cookie`".into())),
        };
        let is_required = node.is_true_at("required");
        let is_needed = is_required || at == FieldLocation::Path;
        if !is_needed && SELECTIONS.contains(&plain_name(&wire).as_str()) {
            self.add_note(
                place,
                "left out: it selects members, and answers without them do not fit their schema",
            );
            return Ok(None);
        }
        let Some(schema) = node.get("schema") else {
            return self.translate_json_parameter(node, place, of, (wire, at), taken).map(Some);
        };
        let plain = |style: &str| !matches!(style, "simple" | "form");
        if let Some(style) = node.text_at("style").filter(|style| plain(style)) {
            return Err(LeftOut(format!("the style `{style}` is not supported")));
        }
        let sort = self.parameter_sort(schema, &format!("{place}/schema"), &format!("{of} {wire}"));
        let is_list = sort.sort.starts_with("list<");
        if is_list && node.get("explode") == Some(&SpecNode::Bool(false)) {
            return Err(LeftOut("comma-separated lists are not supported".into()));
        }
        if !self.is_written_plainly(item_sort(&sort.sort)) || is_list && at != FieldLocation::Query {
            return Err(LeftOut("a value that is not plain text is not supported here".into()));
        }
        let sort = self.sort_that_arrives(sort, schema, at);
        let sort = if is_list && is_required {
            sort.with_condition(ValueCondition::Says("@.length() > 0".into()))
        } else {
            sort
        };
        let may_miss = !is_needed && !is_list;
        let (written, check) = SortOf { is_nullable: false, ..sort }.optional_sort(may_miss);
        Ok(Some(FieldOf {
            name: taken.fresh_name(&name::field_name(&wire)),
            wire,
            place: at,
            sort: written,
            check,
        }))
    }

    /// Returns the sort of the values of a parameter; any value at all is a text here, like every value.
    fn parameter_sort(&mut self, schema: &'t SpecNode, place: &str, of: &str) -> SortOf {
        let needed_any = self.needs_any;
        let sort = self.translate_schema(schema, place, of);
        if sort.sort != super::ANY {
            return sort;
        }
        self.needs_any = needed_any;
        SortOf::new("string", &[JsonKind::Text])
    }

    /// Returns whether a value of this sort is one plain text in a request.
    fn is_written_plainly(&self, item: &str) -> bool {
        let is_plain = matches!(item, "int" | "real" | "string" | "bool") || item.contains("..");
        let prefix = format!("{}_", name::snake_case(item));
        is_plain || self.form.cases.iter().any(|(case, _)| case.starts_with(&prefix))
    }

    /// Returns the sort without texts that arrive otherwise than they were sent.
    fn sort_that_arrives(&self, sort: SortOf, schema: &SpecNode, at: FieldLocation) -> SortOf {
        let schema = self.document.resolve_reference(schema, "");
        let is_uuid = schema.is_some_and(|(schema, _)| schema.text_at("format") == Some("uuid"));
        if at == FieldLocation::Path && is_uuid && !self.rules.is_broken(LOWER_CASE_RULE) {
            // Many services take an id in other letters for the same, and show it in small ones. One pattern says so:
            // texts for two are seldom drawn, and the solver takes long for each.
            SortOf { check: sort.check.with_other_pattern(UUID, LOWER_CASE_UUID), ..sort }
        } else if sort.sort == "string" {
            sort.with_condition(safe_text_condition(at))
        } else {
            sort
        }
    }

    /// Notes a header that is not a field: the credential, or one that the HTTP layer sets.
    fn note_own_header(&mut self, header: &str, place: &str) {
        let is_authorization = header.eq_ignore_ascii_case(AUTHORIZATION);
        let is_sent = self.credential.as_ref().is_some_and(|own| own.name.eq_ignore_ascii_case(header));
        if is_authorization && !is_sent {
            self.add_note(
                place,
                "left out: set API_TOKEN, or API_USER and API_PASSWORD, and it is sent as the credential",
            );
        } else if !is_authorization {
            self.add_note(
                place,
                &format!("no field of the model: the header `{header}` is set by the HTTP layer"),
            );
        }
    }

    /// Returns a parameter that is written as JSON, which must be an object, since a text would need its quotes.
    fn translate_json_parameter(
        &mut self,
        node: &'t SpecNode,
        place: &str,
        of: &str,
        (wire, at): (String, FieldLocation),
        taken: &mut TakenNames,
    ) -> Result<FieldOf, LeftOut> {
        let contents = node.get("content").map(SpecNode::members).unwrap_or_default();
        let json = contents.iter().find(|(kind, _)| is_json(kind));
        let Some((kind, schema)) = json.and_then(|(kind, media)| Some((kind, media.get("schema")?))) else {
            return Err(LeftOut("it has no `schema`".into()));
        };
        let place = format!("{place}/content{}/schema", pointer_step(kind));
        let sort = self.translate_schema(schema, &place, &format!("{of} {wire}"));
        let is_object = sort.kinds.iter().eq([&JsonKind::Object]) && !sort.sort.contains('<');
        if !is_object || at != FieldLocation::Query {
            return Err(LeftOut("JSON that is not an object is not supported here".into()));
        }
        let (written, check) =
            SortOf { is_nullable: false, ..sort }.optional_sort(!node.is_true_at("required"));
        Ok(FieldOf {
            name: taken.fresh_name(&name::field_name(&wire)),
            wire,
            place: at,
            sort: written,
            check,
        })
    }
}

/// Returns whether a header is one that descriptions must not define (OpenAPI, Parameter Object), or delimits messages.
fn is_set_by_others(header: &str) -> bool {
    let described = ["accept", "content-type", "authorization"];
    let delimiting = ["host", "content-length", "transfer-encoding", "connection"];
    described.iter().chain(&delimiting).any(|name| header.eq_ignore_ascii_case(name))
}

/// Returns the sort of the items of a list; another sort as it is.
fn item_sort(sort: &str) -> &str {
    sort.trim_start_matches("list<").trim_end_matches('>')
}

/// Returns the condition under which a text arrives as it was sent.
fn safe_text_condition(at: FieldLocation) -> ValueCondition {
    match at {
        // A path is split at slashes before it is decoded by some and after that by others; dots are taken away.
        FieldLocation::Path => {
            ValueCondition::Says("@ != \"\" && @ != \".\" && @ != \"..\" && !@.contains(\"/\")".into())
        }
        FieldLocation::Header => ValueCondition::Matches("[!-~]*".into()),
        FieldLocation::Cookie => ValueCondition::Matches("[0-9A-Za-z_-]*".into()),
        FieldLocation::Query | FieldLocation::Body | FieldLocation::Method => ValueCondition::Anything,
    }
}
