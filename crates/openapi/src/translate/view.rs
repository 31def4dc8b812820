//! The places of items in answers: the body, a member of it, or a list.

use super::resource::{ItemView, Resource, ResourceRole, is_json_body, is_success, is_whole, plain_name};
use super::{DocumentedResponse, RecordMember, Translator};

impl Translator<'_> {
    /// Returns the record that shows an item: that of the operation that gets it, or of the list.
    pub(super) fn shown_record(&self, resource: &Resource, parameter: &str) -> Option<String> {
        let shown_by = |role: ResourceRole| {
            let operations = resource.roles.iter().filter(move |(_, other)| **other == role);
            operations.flat_map(|(at, _)| self.asked[*at].answers.iter()).filter(|answer| is_success(answer))
        };
        let by_get =
            shown_by(ResourceRole::Get).find_map(|answer| self.view_with(resource, parameter, answer));
        let by_list =
            || shown_by(ResourceRole::List).find_map(|answer| self.list_with(resource, parameter, answer));
        by_get.or_else(by_list).map(|view| view.record)
    }

    /// Returns the place of an item in an answer.
    pub(super) fn item_view(&self, resource: &Resource, answer: &DocumentedResponse) -> Option<ItemView> {
        self.view_with(resource, self.id_parameters.get(&resource.path)?, answer)
    }

    /// Returns the place of the items in the answer of a list; the view is that of an item `x`.
    pub(super) fn list_view(
        &self,
        resource: &Resource,
        answer: &DocumentedResponse,
    ) -> Option<(String, ItemView)> {
        let view = self.list_with(resource, self.id_parameters.get(&resource.path)?, answer)?;
        Some((view.place.clone(), ItemView { place: "x".into(), ..view }))
    }

    fn view_with(
        &self,
        resource: &Resource,
        parameter: &str,
        answer: &DocumentedResponse,
    ) -> Option<ItemView> {
        let (sort, _) = answer.body.as_ref().filter(|_| is_json_body(answer))?;
        let view = |record: &str, place: String| {
            let id = self.id_member(record, parameter, resource)?;
            Some(ItemView { place, record: record.to_owned(), id })
        };
        let direct = view(sort, "body".into());
        let inner = || {
            let members = self.records.get(sort.as_str())?;
            members.iter().find_map(|member| view(&member.sort, format!("body.{}", member.name)))
        };
        direct.or_else(inner)
    }

    /// Returns the place of the list in the answer, with the record of its items.
    fn list_with(
        &self,
        resource: &Resource,
        parameter: &str,
        answer: &DocumentedResponse,
    ) -> Option<ItemView> {
        let (sort, _) = answer.body.as_ref().filter(|_| is_json_body(answer))?;
        let view = |list: &str, place: String| {
            let record = list.strip_prefix("list<")?.strip_suffix('>')?;
            let id = self.id_member(record, parameter, resource)?;
            Some(ItemView { place, record: record.to_owned(), id })
        };
        let inner = || {
            let members = self.records.get(sort.as_str())?;
            members.iter().find_map(|member| view(&member.sort, format!("body.{}", member.name)))
        };
        view(sort, "body".into()).or_else(inner)
    }

    /// Returns the field of a record with the id of an item.
    fn id_member(&self, record: &str, parameter: &str, resource: &Resource) -> Option<RecordMember> {
        let members = self.records.get(record)?;
        let (parameter, singular) = (plain_name(parameter), plain_name(&resource.singular));
        let names =
            [parameter, "id".into(), format!("{singular}id"), "uuid".into(), format!("{singular}uuid")];
        let fits = |member: &&RecordMember| {
            let sort = member.sort.trim_end_matches('?');
            // A number can be written as a text of the path, but a text need not be a number.
            sort == resource.id_sort || is_whole(sort)
        };
        names.iter().find_map(|name| {
            members.iter().filter(fits).find(|member| plain_name(&member.wire) == *name).cloned()
        })
    }
}
