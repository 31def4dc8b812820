//! The names in a form, checked against those of the model.

use ioxide_model::sort::{Constructor, DataKind, Sort};
use ioxide_model::term::TermPool;

use super::{BadJsonForm, JsonFormConfig};

/// Fails with the first name that the model does not have, or that stands for something of another kind.
pub(super) fn check_names(config: &JsonFormConfig, pool: &TermPool) -> Result<(), BadJsonForm> {
    let of_kind = |name: &str, kind: DataKind| {
        pool.data_types().map(|(_, data)| data).find(|data| data.kind == kind && *data.name == *name)
    };
    let unknown = |kind, name: &str| BadJsonForm::Unknown { kind, name: name.to_owned() };
    let of_case = |name: &str| {
        let enums = pool.data_types().map(|(_, data)| data).filter(|data| data.kind == DataKind::Enum);
        enums.flat_map(|data| &data.ctors).find(|ctor| *ctor.name == *name)
    };
    for name in &config.closed {
        let is_type =
            [DataKind::Record, DataKind::Enum].into_iter().any(|kind| of_kind(name, kind).is_some());
        if !is_type && of_case(name).is_none() {
            return Err(unknown("record, enum or case", name));
        }
    }
    for name in &config.text {
        let record = of_kind(name, DataKind::Record).ok_or_else(|| unknown("record", name))?;
        let fields = record.ctors.first().map(|ctor| &*ctor.fields);
        let is_text = matches!(fields, Some([field]) if field.sort == Sort::Str);
        if !is_text {
            return Err(BadJsonForm::NotOneField(name.clone(), ", a string"));
        }
    }
    for name in &config.untagged {
        let of = of_kind(name, DataKind::Enum).ok_or_else(|| unknown("enum", name))?;
        if let Some(bad) = of.ctors.iter().find(|ctor| ctor.fields.len() > 1) {
            return Err(BadJsonForm::NotOneField(bad.name.to_string(), " at most"));
        }
    }
    for place in config.absent.iter().chain(&config.null).chain(config.names.iter().map(|(place, _)| place)) {
        let (name, field) = place.split_once('.').unwrap_or((place, ""));
        let record = of_kind(name, DataKind::Record).and_then(|record| record.ctors.first());
        let has_field = |ctor: &Constructor| ctor.fields.iter().any(|other| *other.name == *field);
        if !record.is_some_and(has_field) && !of_case(name).is_some_and(has_field) {
            return Err(unknown("field of a record or case", place));
        }
    }
    match config.cases.iter().find(|(name, _)| of_case(name).is_none()) {
        Some((name, _)) => Err(unknown("case of an enum", name)),
        None => Ok(()),
    }
}
